//! What the API server checks when a ResourceClaim is written (spec section 1.3; upstream:
//! `pkg/apis/resource/validation`), as far as a scheduler's write can break it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::schema::CLAIM;
use crate::api::FieldError;
use crate::object::Kind;

/// Limit of device results.
const RESULTS_LIMIT: usize = 32;

/// Fields of an allocation result by the API version that brought them. Everything else would be dropped by a real
/// server, and a decision with it.
const RESULT_FIELDS: [(&str, Since); 10] = [
    ("request", Since::V1Alpha3),
    ("driver", Since::V1Alpha3),
    ("pool", Since::V1Alpha3),
    ("device", Since::V1Alpha3),
    ("adminAccess", Since::V1Alpha3),
    ("tolerations", Since::V1Alpha3),
    ("bindingConditions", Since::V1Beta1),
    ("bindingFailureConditions", Since::V1Beta1),
    ("shareID", Since::V1Beta1),
    ("consumedCapacity", Since::V1Beta1),
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Since {
    V1Alpha3,
    V1Beta1,
}

/// Checks a write; a creation has no `old`, and its status does not count.
pub fn validate(kind: &Kind, old: Option<&Value>, new: &Value) -> Vec<FieldError> {
    let (CLAIM, Some(old)) = (kind.as_str(), old) else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    if old.get("spec") != new.get("spec") {
        errors.push(FieldError::forbidden(
            "spec",
            "it cannot be changed after creation",
        ));
    }
    if old.get("status") != new.get("status") {
        let (old, new) = (Status::of(old), Status::of(new));
        reservations(&old, &new, &mut errors);
        deallocation(&old, &new, &mut errors);
        allocation(&old, &new, &mut errors);
    }
    errors
}

/// The status of a claim with absent and empty told apart only where the API does.
struct Status<'a> {
    api_version: &'a str,
    deleted: bool,
    allocation: Option<&'a Value>,
    reserved_for: &'a [Value],
    deallocation_requested: bool,
}

impl<'a> Status<'a> {
    fn of(claim: &'a Value) -> Self {
        let field = |pointer: &str| claim.pointer(pointer).filter(|value| !value.is_null());
        Self {
            api_version: claim
                .get("apiVersion")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            deleted: field("/metadata/deletionTimestamp").is_some(),
            allocation: field("/status/allocation"),
            reserved_for: field("/status/reservedFor")
                .and_then(Value::as_array)
                .map_or(&[], Vec::as_slice),
            deallocation_requested: field("/status/deallocationRequested")
                .is_some_and(|value| value == true),
        }
    }

    /// How many consumers a claim may have: more since the API left alpha.
    fn consumers_limit(&self) -> usize {
        if self.is_alpha() { 32 } else { 256 }
    }

    /// Whether the version is v1alpha3, the only one with classic DRA.
    fn is_alpha(&self) -> bool {
        self.api_version.ends_with("/v1alpha3")
    }
}

fn reservations(old: &Status<'_>, new: &Status<'_>, errors: &mut Vec<FieldError>) {
    let path = "status.reservedFor";
    if new.reserved_for.is_empty() {
        return;
    }
    if new.allocation.is_none() {
        errors.push(FieldError::forbidden(
            path,
            "a claim that is not allocated cannot be reserved",
        ));
    }
    let (count, limit) = (new.reserved_for.len(), new.consumers_limit());
    if count > limit.max(old.reserved_for.len()) {
        errors.push(FieldError::too_many(path, count, limit));
    }
    let uid = |consumer: &'_ Value| {
        consumer
            .get("uid")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut seen = BTreeSet::new();
    for (index, consumer) in new.reserved_for.iter().enumerate() {
        let uid = uid(consumer);
        if !seen.insert(uid.clone()) {
            errors.push(FieldError::duplicate(
                format!("{path}[{index}].uid"),
                format!("{uid:?}"),
            ));
        }
    }
    let before: BTreeSet<String> = old.reserved_for.iter().map(uid).collect();
    if (new.deleted || new.deallocation_requested) && !seen.is_subset(&before) {
        let why = "no consumer can be added to a claim that is being deleted or deallocated";
        errors.push(FieldError::forbidden(path, why));
    }
}

fn deallocation(old: &Status<'_>, new: &Status<'_>, errors: &mut Vec<FieldError>) {
    let path = "status.deallocationRequested";
    if new.deallocation_requested {
        if !new.is_alpha() {
            errors.push(unknown_field(path, new.api_version));
        }
        if new.allocation.is_none() {
            errors.push(FieldError::forbidden(path, "there is no allocation"));
        }
        if !new.reserved_for.is_empty() {
            errors.push(FieldError::forbidden(path, "the claim is reserved"));
        }
    } else if old.deallocation_requested && new.allocation.is_some() {
        errors.push(FieldError::forbidden(
            path,
            "it can only be cleared together with the allocation",
        ));
    }
}

fn allocation(old: &Status<'_>, new: &Status<'_>, errors: &mut Vec<FieldError>) {
    let path = "status.allocation";
    let Some(allocation) = new.allocation else {
        return;
    };
    match old.allocation {
        Some(before) if before == allocation => return,
        Some(_) => {
            errors.push(FieldError::forbidden(
                path,
                "an allocation can be cleared, but not changed",
            ));
            return;
        }
        None => (),
    }
    let controller = allocation
        .get("controller")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !controller.is_empty() && !new.is_alpha() {
        errors.push(unknown_field(
            &format!("{path}.controller"),
            new.api_version,
        ));
    }
    let results = allocation
        .pointer("/devices/results")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    if results.len() > RESULTS_LIMIT {
        errors.push(FieldError::too_many(
            format!("{path}.devices.results"),
            results.len(),
            RESULTS_LIMIT,
        ));
    }
    for (index, result) in results.iter().enumerate() {
        let path = format!("{path}.devices.results[{index}]");
        match result.as_object() {
            Some(result) => result_fields(&path, result, new, errors),
            None => errors.push(FieldError::invalid(path, result, "it is not an object")),
        }
    }
}

fn result_fields(
    path: &str,
    result: &Map<String, Value>,
    status: &Status<'_>,
    errors: &mut Vec<FieldError>,
) {
    for required in ["request", "driver", "pool", "device"] {
        if result
            .get(required)
            .and_then(Value::as_str)
            .is_none_or(str::is_empty)
        {
            errors.push(FieldError {
                path: format!("{path}.{required}"),
                detail: "Required value".into(),
            });
        }
    }
    let version = if status.is_alpha() {
        Since::V1Alpha3
    } else {
        Since::V1Beta1
    };
    for name in result.keys() {
        let since = RESULT_FIELDS
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, since)| *since);
        if since.is_none_or(|since| since > version) {
            errors.push(unknown_field(&format!("{path}.{name}"), status.api_version));
        }
    }
}

fn unknown_field(path: &str, api_version: &str) -> FieldError {
    FieldError::forbidden(
        path,
        format!("{api_version} has no such field; keep the claim in a version that has it"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claim(version: &str, status: Value) -> Value {
        json!({"apiVersion": format!("resource.k8s.io/{version}"), "metadata": {}, "spec": {}, "status": status})
    }

    fn allocated() -> Value {
        json!({"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}})
    }

    /// Paths of the errors of a status write.
    fn errors(version: &str, old: Value, new: Value) -> Vec<String> {
        let errors = validate(
            &Kind::new(CLAIM),
            Some(&claim(version, old)),
            &claim(version, new),
        );
        errors.into_iter().map(|error| error.path).collect()
    }

    #[test]
    fn reservations_need_an_allocation() {
        let user = json!([{"resource": "pods", "name": "a", "uid": "1"}]);
        let both = json!({"allocation": allocated(), "reservedFor": user});
        assert_eq!(errors("v1", json!({}), both.clone()), [""; 0]);
        assert_eq!(
            errors("v1", json!({}), json!({"reservedFor": user})),
            ["status.reservedFor"]
        );
        assert_eq!(
            errors("v1", both.clone(), json!({"reservedFor": user})),
            ["status.reservedFor"]
        );
        assert_eq!(errors("v1", both, json!({})), [""; 0]);
    }

    #[test]
    fn reservations_are_distinct_and_few() {
        let users =
            |count: usize| -> Value { (0..count).map(|n| json!({"uid": n.to_string()})).collect() };
        let status = |users: Value| json!({"allocation": allocated(), "reservedFor": users});
        for (version, limit) in [("v1alpha3", 32), ("v1", 256)] {
            assert_eq!(errors(version, json!({}), status(users(limit))), [""; 0]);
            assert_eq!(
                errors(version, json!({}), status(users(limit + 1))),
                ["status.reservedFor"]
            );
        }
        let twice = json!([{"uid": "1"}, {"uid": "2"}, {"uid": "1"}]);
        assert_eq!(
            errors("v1", json!({}), status(twice)),
            ["status.reservedFor[2].uid"]
        );
    }

    #[test]
    fn allocations_are_cleared_but_not_changed() {
        let other = json!({"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "y"}]}});
        let status = |allocation: Value| json!({"allocation": allocation});
        assert_eq!(errors("v1", status(allocated()), json!({})), [""; 0]);
        assert_eq!(
            errors("v1", status(allocated()), status(other)),
            ["status.allocation"]
        );
        assert_eq!(
            errors(
                "v1",
                status(allocated()),
                json!({"allocation": allocated(), "x": 1})
            ),
            [""; 0]
        );
    }

    #[test]
    fn deallocation_of_classic_claims() {
        let path = "status.deallocationRequested";
        let kept = json!({"allocation": allocated()});
        let requested = json!({"allocation": allocated(), "deallocationRequested": true});
        let user = json!([{"uid": "1"}]);
        let reserved =
            json!({"allocation": allocated(), "deallocationRequested": true, "reservedFor": user});
        assert_eq!(errors("v1alpha3", kept.clone(), requested.clone()), [""; 0]);
        assert_eq!(errors("v1", kept.clone(), requested.clone()), [path]);
        assert_eq!(
            errors(
                "v1alpha3",
                json!({}),
                json!({"deallocationRequested": true})
            ),
            [path]
        );
        assert_eq!(errors("v1alpha3", requested.clone(), kept.clone()), [path]);
        assert_eq!(errors("v1alpha3", requested.clone(), json!({})), [""; 0]);
        assert_eq!(
            errors("v1alpha3", requested, reserved.clone()),
            ["status.reservedFor", path]
        );
        let kept_and_reserved = json!({"allocation": allocated(), "reservedFor": user});
        assert_eq!(errors("v1alpha3", kept_and_reserved, reserved), [path]);
    }

    #[test]
    fn no_new_reservation_of_a_claim_that_is_being_deleted() {
        let claim = |users: Value| {
            let mut claim = claim(
                "v1",
                json!({"allocation": allocated(), "reservedFor": users}),
            );
            claim["metadata"]["deletionTimestamp"] = json!("2024-09-01T10:00:00Z");
            claim
        };
        let (one, two) = (json!([{"uid": "1"}]), json!([{"uid": "1"}, {"uid": "2"}]));
        let kind = Kind::new(CLAIM);
        assert_eq!(
            validate(&kind, Some(&claim(one.clone())), &claim(two.clone())).len(),
            1
        );
        assert_eq!(validate(&kind, Some(&claim(two)), &claim(one)), []);
    }

    #[test]
    fn results_have_the_fields_of_their_version() {
        let status = |result: Value| json!({"allocation": {"devices": {"results": [result]}}});
        let full =
            json!({"request": "r", "driver": "d", "pool": "p", "device": "x", "shareID": "s"});
        let path = "status.allocation.devices.results[0]";
        assert_eq!(errors("v1", json!({}), status(full.clone())), [""; 0]);
        assert_eq!(
            errors("v1alpha3", json!({}), status(full)),
            [format!("{path}.shareID")]
        );
        let odd = json!({"request": "r", "driver": "d", "pool": "p", "odd": 1});
        assert_eq!(
            errors("v1", json!({}), status(odd)),
            [format!("{path}.device"), format!("{path}.odd")]
        );
        let classic = json!({"allocation": {"controller": "c"}});
        assert_eq!(errors("v1alpha3", json!({}), classic.clone()), [""; 0]);
        assert_eq!(
            errors("v1beta1", json!({}), classic),
            ["status.allocation.controller"]
        );
    }

    #[test]
    fn the_spec_stays_and_other_kinds_are_free() {
        let (old, mut new) = (claim("v1", json!({})), claim("v1", json!({})));
        new["spec"] = json!({"devices": {}});
        assert_eq!(validate(&Kind::new(CLAIM), Some(&old), &new).len(), 1);
        assert_eq!(validate(&Kind::new("Pod"), Some(&old), &new), []);
        assert_eq!(validate(&Kind::new(CLAIM), None, &new), []);
    }
}
