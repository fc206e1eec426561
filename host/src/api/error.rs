//! Texts and classes of API errors, worded as the API server words them (upstream: apimachinery `errors`).

use std::fmt;

use crate::object::{Kind, NotAnObject};
use crate::plugin::{ApiError, ApiErrorReason};

/// What is wrong with one field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// For example `status.reservedFor`.
    pub path: String,
    /// Class and explanation, for example `Forbidden: …`.
    pub detail: String,
}

impl FieldError {
    /// The field may not be like this now.
    pub fn forbidden(path: impl Into<String>, why: impl fmt::Display) -> Self {
        Self {
            path: path.into(),
            detail: format!("Forbidden: {why}"),
        }
    }

    /// The field's value is never right.
    pub fn invalid(
        path: impl Into<String>,
        value: impl fmt::Display,
        why: impl fmt::Display,
    ) -> Self {
        Self {
            path: path.into(),
            detail: format!("Invalid value: {value}: {why}"),
        }
    }

    /// The value stands twice in a list whose entries differ.
    pub fn duplicate(path: impl Into<String>, value: impl fmt::Display) -> Self {
        Self {
            path: path.into(),
            detail: format!("Duplicate value: {value}"),
        }
    }

    /// The list is longer than it may be.
    pub fn too_many(path: impl Into<String>, count: usize, limit: usize) -> Self {
        Self {
            path: path.into(),
            detail: format!("Too many: {count}: must have at most {limit} items"),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.detail)
    }
}

/// The resource of a kind as it stands in messages: plural, lower case, with the group.
pub fn resource(kind: &Kind) -> String {
    let singular = kind.short().to_lowercase();
    let plural = match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if singular.ends_with('s') => format!("{singular}es"),
        None => format!("{singular}s"),
    };
    match kind.as_str().split_once('.') {
        Some((_, group)) => format!("{plural}.{group}"),
        None => plural,
    }
}

pub(crate) fn not_found(kind: &Kind, name: &str) -> ApiError {
    error(
        ApiErrorReason::NotFound,
        format!("{} {name:?} not found", resource(kind)),
    )
}

pub(crate) fn already_exists(kind: &Kind, name: &str) -> ApiError {
    error(
        ApiErrorReason::AlreadyExists,
        format!("{} {name:?} already exists", resource(kind)),
    )
}

pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> ApiError {
    conflict_on(&resource(kind), name, why)
}

pub(crate) fn conflict_on(resource: &str, name: &str, why: &str) -> ApiError {
    error(
        ApiErrorReason::Conflict,
        format!("Operation cannot be fulfilled on {resource} {name:?}: {why}"),
    )
}

/// The sent resourceVersion is not the stored one.
pub(crate) fn stale(kind: &Kind, name: &str) -> ApiError {
    conflict(
        kind,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )
}

/// The sent uid is not the stored one.
pub(crate) fn other_uid(kind: &Kind, name: &str, sent: &str, stored: &str) -> ApiError {
    conflict(
        kind,
        name,
        &format!("Precondition failed: UID in precondition: {sent}, UID in object meta: {stored}"),
    )
}

/// Several errors in one list, as the server joins them.
pub(crate) fn invalid(kind: &Kind, name: &str, errors: &[FieldError]) -> ApiError {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let joined = match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    error(
        ApiErrorReason::Invalid,
        format!("{kind} {name:?} is invalid: {joined}"),
    )
}

/// A body that is no API object.
pub(crate) fn unreadable(kind: &Kind, why: NotAnObject) -> ApiError {
    error(
        ApiErrorReason::Invalid,
        format!("{} cannot be stored: {why}", resource(kind)),
    )
}

pub(crate) fn error(reason: ApiErrorReason, message: String) -> ApiError {
    ApiError { reason, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_plural() {
        for (kind, expected) in [
            ("Pod", "pods"),
            (
                "ResourceClaim.resource.k8s.io",
                "resourceclaims.resource.k8s.io",
            ),
            (
                "DeviceClass.resource.k8s.io",
                "deviceclasses.resource.k8s.io",
            ),
            (
                "NetworkPolicy.networking.k8s.io",
                "networkpolicies.networking.k8s.io",
            ),
        ] {
            assert_eq!(resource(&Kind::new(kind)), expected);
        }
    }

    /// The text that the recorded runs of the Go plugin carry.
    #[test]
    fn stale_is_worded_as_by_the_server() {
        assert_eq!(
            stale(
                &Kind::new("ResourceClaim.resource.k8s.io"),
                "my-pod-my-resource"
            )
            .message,
            "Operation cannot be fulfilled on resourceclaims.resource.k8s.io \"my-pod-my-resource\": the object has \
             been modified; please apply your changes to the latest version and try again"
        );
    }

    #[test]
    fn several_errors_are_listed() {
        let errors = [
            FieldError::duplicate("a", 1),
            FieldError::forbidden("b", "no"),
        ];
        let text = |errors| invalid(&Kind::new("Thing.example.com"), "x", errors).message;
        assert_eq!(
            text(&errors[..1]),
            "Thing.example.com \"x\" is invalid: a: Duplicate value: 1"
        );
        assert_eq!(
            text(&errors[..]),
            "Thing.example.com \"x\" is invalid: [a: Duplicate value: 1, b: Forbidden: no]"
        );
    }
}
