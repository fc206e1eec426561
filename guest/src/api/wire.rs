//! JSON of every served API version into the model (design section 6, spec section 1).
//!
//! One pass of serde over wire structs that hold the union of all versions' fields; conversions then take what belongs to
//! the object's version and refuse what is not implemented. Unknown fields are ignored. Where this fails, or a key is
//! missing that should be there, `diagnose` looks again, slowly, to say what is wrong and where.

use std::cell::Cell;

use serde::Deserialize;
use serde_json::Value;

use super::{
    ApiVersion, DeviceClass, DeviceResult, DeviceTaintRule, Node, Pod, PodSchedulingContext, Reach,
    ResourceClaim, ResourceSlice,
};
use crate::profile::{Feature, Profile};

mod claim;
mod common;
mod core;
mod diagnose;
mod fault;
mod raw;
mod salvage;
mod schema;
mod slice;
mod strays;
mod taint;
#[cfg(test)]
mod tests;
mod text;

use fault::Fault;
pub use fault::Problem;
pub use strays::{Belongs, Stray};
use text::brief;

/// Reads a core/v1 Pod.
///
/// # Errors
/// As all readers here: when the object cannot be used, with what to do about it.
pub fn pod(json: &[u8]) -> Result<Pod, Problem> {
    read(Kind::Pod, json, &Profile::current(), core::pod)
}

/// Reads a core/v1 Node.
///
/// # Errors
/// See [`pod`].
pub fn node(json: &[u8]) -> Result<Node, Problem> {
    read(Kind::Node, json, &Profile::current(), core::node)
}

/// Reads a ResourceClaim; the profile decides which features' fields are refused.
///
/// # Errors
/// See [`pod`]. The devices of an allocated claim are still taken: see [`devices_of_broken_claim`].
pub fn resource_claim(json: &[u8], profile: &Profile) -> Result<ResourceClaim, Problem> {
    read(Kind::ResourceClaim, json, profile, claim::claim)
}

/// Reads a ResourceClaimTemplate as the claim that it makes, without a status.
///
/// # Errors
/// See [`pod`].
pub fn resource_claim_template(json: &[u8], profile: &Profile) -> Result<ResourceClaim, Problem> {
    read(Kind::ResourceClaimTemplate, json, profile, claim::template)
}

/// Reads a DeviceClass.
///
/// # Errors
/// See [`pod`].
pub fn device_class(json: &[u8], profile: &Profile) -> Result<DeviceClass, Problem> {
    read(Kind::DeviceClass, json, profile, claim::class)
}

/// Reads a ResourceSlice; the profile decides which features' fields are refused.
///
/// # Errors
/// See [`pod`]. Nodes that such a slice reaches cannot be judged: see [`reach_of_broken_slice`].
pub fn resource_slice(json: &[u8], profile: &Profile) -> Result<ResourceSlice, Problem> {
    read(Kind::ResourceSlice, json, profile, slice::slice)
}

/// Reads a DeviceTaintRule.
///
/// # Errors
/// See [`pod`].
pub fn device_taint_rule(json: &[u8], profile: &Profile) -> Result<DeviceTaintRule, Problem> {
    read(Kind::DeviceTaintRule, json, profile, taint::rule)
}

/// Reads a PodSchedulingContext.
///
/// # Errors
/// See [`pod`].
pub fn pod_scheduling_context(json: &[u8]) -> Result<PodSchedulingContext, Problem> {
    read(
        Kind::PodSchedulingContext,
        json,
        &Profile::v1_31(),
        core::context,
    )
}

/// Which nodes a slice reaches that could not be read; all nodes where that cannot be told.
pub fn reach_of_broken_slice(json: &[u8]) -> Reach {
    salvage::reach(json)
}

/// The devices that a claim holds which could not be read; as many as can be told. `None`: it is not allocated.
pub fn devices_of_broken_claim(json: &[u8]) -> Option<Vec<DeviceResult>> {
    salvage::devices(json)
}

/// Keys that stand where the object's version has no such key; nothing for an object of an unknown kind or version.
pub fn strays(kind: &str, object: &Value) -> Vec<Stray> {
    let api_version = object.get("apiVersion").and_then(Value::as_str);
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind);
    match kind.and_then(|kind| Some((kind, kind.version(api_version?)?))) {
        Some((kind, version)) => strays::find(kind, version, object),
        None => Vec::new(),
    }
}

/// Kinds that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pod,
    Node,
    ResourceClaim,
    ResourceClaimTemplate,
    DeviceClass,
    ResourceSlice,
    DeviceTaintRule,
    PodSchedulingContext,
}

impl Kind {
    /// Those whose keys are all known.
    const ALL: [Kind; 6] = [
        Kind::ResourceClaim,
        Kind::ResourceClaimTemplate,
        Kind::DeviceClass,
        Kind::ResourceSlice,
        Kind::DeviceTaintRule,
        Kind::PodSchedulingContext,
    ];

    fn name(self) -> &'static str {
        match self {
            Kind::Pod => "Pod",
            Kind::Node => "Node",
            Kind::ResourceClaim => "ResourceClaim",
            Kind::ResourceClaimTemplate => "ResourceClaimTemplate",
            Kind::DeviceClass => "DeviceClass",
            Kind::ResourceSlice => "ResourceSlice",
            Kind::DeviceTaintRule => "DeviceTaintRule",
            Kind::PodSchedulingContext => "PodSchedulingContext",
        }
    }

    /// The `apiVersion` to use if there is a choice.
    fn preferred(self) -> &'static str {
        match self {
            Kind::Pod | Kind::Node => "v1",
            Kind::PodSchedulingContext => "resource.k8s.io/v1alpha3",
            Kind::ResourceClaim
            | Kind::ResourceClaimTemplate
            | Kind::DeviceClass
            | Kind::ResourceSlice
            | Kind::DeviceTaintRule => "resource.k8s.io/v1",
        }
    }

    fn version(self, api_version: &str) -> Option<ApiVersion> {
        match (self, api_version) {
            (Kind::Pod | Kind::Node, "v1") => Some(ApiVersion::V1),
            (Kind::PodSchedulingContext, "resource.k8s.io/v1alpha3") => Some(ApiVersion::V1Alpha3),
            (Kind::Pod | Kind::Node | Kind::PodSchedulingContext, _) => None,
            // Never served.
            (Kind::DeviceTaintRule, "resource.k8s.io/v1beta1") => None,
            (_, "resource.k8s.io/v1alpha3") => Some(ApiVersion::V1Alpha3),
            (_, "resource.k8s.io/v1beta1") => Some(ApiVersion::V1Beta1),
            (_, "resource.k8s.io/v1beta2") => Some(ApiVersion::V1Beta2),
            (_, "resource.k8s.io/v1") => Some(ApiVersion::V1),
            _ => None,
        }
    }
}

/// What every wire struct can tell before it is converted.
struct Header<'a> {
    api_version: Option<&'a str>,
    kind: Option<&'a str>,
    named: bool,
}

trait Object<'a>: Deserialize<'a> {
    fn header(&self) -> Header<'_>;
}

/// What a conversion may ask, and tell.
struct Reading<'p> {
    version: ApiVersion,
    profile: &'p Profile,
    missed: Cell<bool>,
}

impl Reading<'_> {
    /// A key that should be there is not: it may be written in another case.
    fn miss(&self) {
        self.missed.set(true);
    }

    /// Notes when a value is missing that should be there.
    fn should<T>(&self, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.miss();
        }
        value
    }

    /// Fails closed on a field that says something while its feature is off. `what` is in the plural.
    fn need(&self, filled: bool, path: &str, what: &str, feature: Feature) -> Result<(), Fault> {
        if filled && !self.profile.enabled(feature) {
            return Err(Fault::unsupported(path, what, feature.name()));
        }
        Ok(())
    }
}

fn read<'a, W: Object<'a>, T>(
    kind: Kind,
    json: &'a [u8],
    profile: &Profile,
    convert: fn(W, &Reading<'_>) -> Result<T, Fault>,
) -> Result<T, Problem> {
    let mut missed = false;
    let outcome = serde_json::from_slice::<W>(json)
        .map_err(|error| Fault::new("", format!("cannot be read: {error}")))
        .and_then(|wire| {
            let version = check_header(kind, &wire.header())?;
            let reading = Reading {
                version,
                profile,
                missed: Cell::new(false),
            };
            let converted = convert(wire, &reading);
            missed = reading.missed.get();
            converted
        });
    match outcome {
        Ok(object) if !missed => Ok(object),
        outcome => second_look(kind, json, outcome),
    }
}

fn check_header(kind: Kind, header: &Header<'_>) -> Result<ApiVersion, Fault> {
    let api_version = header.api_version.unwrap_or_default();
    if api_version.is_empty() {
        let message = format!(
            "required, but missing; set it, for example to {}",
            kind.preferred()
        );
        return Err(Fault::new("apiVersion", message));
    }
    let Some(version) = kind.version(api_version) else {
        let message = format!(
            "this version is not supported; convert it to {}",
            kind.preferred()
        );
        return Err(Fault {
            names_version: true,
            ..Fault::new("", message)
        });
    };
    match header.kind {
        Some(other) if other != kind.name() => Err(Fault::new(
            "kind",
            format!("expected {}, found {other:?}", kind.name()),
        )),
        _ if !header.named => Err(Fault::required("metadata.name")),
        _ => Ok(version),
    }
}

/// Names the object and gives the best description of what is wrong; a missed key may turn out to be none.
fn second_look<T>(kind: Kind, json: &[u8], outcome: Result<T, Fault>) -> Result<T, Problem> {
    let value = match serde_json::from_slice::<Value>(json) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("not valid JSON: {error}");
            return Err(Fault::new("", message).of(kind.name().to_owned()));
        }
    };
    let api_version = value
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let object = object_name(kind, &value);
    let Some(version) = kind.version(api_version) else {
        let fault = check_header(
            kind,
            &Header {
                api_version: Some(api_version),
                kind: None,
                named: true,
            },
        )
        .err()
        .unwrap_or_else(|| Fault::required("apiVersion"));
        let object = if fault.names_version {
            format!("{} {object}", brief(api_version))
        } else {
            object
        };
        return Err(fault.of(object));
    };
    diagnose::check(&value, schema::shape(kind, version), "")
        .and(outcome)
        .map_err(|fault| fault.of(object))
}

/// Kind and namespace/name as far as they can be told.
fn object_name(kind: Kind, value: &Value) -> String {
    let metadata = |key: &str| {
        value
            .pointer(&format!("/metadata/{key}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match (metadata("namespace"), brief(metadata("name"))) {
        (_, name) if name.is_empty() => format!("{} without a name", kind.name()),
        ("", name) => format!("{} {name}", kind.name()),
        (namespace, name) => format!("{} {}/{name}", kind.name(), brief(namespace)),
    }
}
