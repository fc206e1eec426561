//! What `configure` takes: `{"profile": "1.31" | "current", "features": {"GATE": true}, "allocatorSteps": 1000000,
//! "filterTimeoutMs": 10000, "caches": true}`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::nearest::edit_distance;
use crate::profile::{Feature, PROFILES, Profile};

/// Step budget of the search for one pod on one node, if nobody says otherwise (design section 6).
pub const DEFAULT_ALLOCATOR_STEPS: u64 = 1_000_000;

/// Time for the same, as upstream.
const DEFAULT_FILTER_TIMEOUT_MS: u64 = 10_000;
const NANOSECONDS_PER_MS: u64 = 1_000_000;

/// Gates of upstream that this plugin knows but does not implement. They can be named; objects that need them are refused.
const NOT_IMPLEMENTED: [&str; 11] = [
    "DRACompatibilityGroups",
    "DRADerivedAttributes",
    "DRADeviceBindingConditions",
    "DRADeviceCompatibilityGroups",
    "DRAExtendedResource",
    "DRAFractionalCapacityRange",
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "DRAResourceClaimDeviceStatus",
    "DRASharedConsumableCapacity",
    "DRAWorkloadResourceClaims",
];

/// Configuration of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Version and gates.
    pub profile: Profile,
    /// Device visits that the search for one pod on one node may take.
    pub allocator_steps: u64,
    /// Nanoseconds that this search may take (gate DRASchedulerFilterTimeout); then the attempt is an error, which time heals
    /// and no event needs to.
    pub filter_timeout: Option<u64>,
    /// Off: each call reads the cluster anew and evaluates every selector, which changes no answer. For tests of the caches.
    pub caches: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::current(),
            allocator_steps: DEFAULT_ALLOCATOR_STEPS,
            filter_timeout: Some(DEFAULT_FILTER_TIMEOUT_MS * NANOSECONDS_PER_MS),
            caches: true,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wire {
    profile: Option<String>,
    #[serde(default)]
    features: BTreeMap<String, bool>,
    allocator_steps: Option<u64>,
    filter_timeout_ms: Option<u64>,
    caches: Option<bool>,
}

impl Config {
    /// Reads the JSON given to `configure`. Also returns what the operator should know.
    pub fn from_json(json: &[u8]) -> Result<(Self, Vec<String>), String> {
        let wire: Wire =
            serde_json::from_slice(json).map_err(|error| format!("configuration: {error}"))?;
        let mut config = Self::default();
        if let Some(name) = wire.profile {
            config.profile = Profile::named(&name).ok_or_else(|| {
                format!(
                    "unknown profile {name:?}; there are {}",
                    PROFILES.join(" and ")
                )
            })?;
        }
        if let Some(steps) = wire.allocator_steps {
            config.allocator_steps = steps;
        }
        config.caches = wire.caches.unwrap_or(config.caches);
        let timeout = wire.filter_timeout_ms.unwrap_or(DEFAULT_FILTER_TIMEOUT_MS);
        let mut notes = Vec::new();
        for (name, on) in wire.features {
            match Feature::ALL
                .into_iter()
                .find(|feature| feature.name() == name)
            {
                Some(feature) => config.profile.set(feature, on),
                None if NOT_IMPLEMENTED.contains(&name.as_str()) => {
                    if on {
                        notes.push(format!("feature gate {name} is not implemented: objects that need it are refused"));
                    }
                }
                None => return Err(unknown_gate(&name)),
            }
        }
        let is_on = config.profile.enabled(Feature::DraSchedulerFilterTimeout);
        // As upstream: zero is no limit.
        config.filter_timeout =
            (is_on && timeout > 0).then(|| timeout.saturating_mul(NANOSECONDS_PER_MS));
        Ok((config, notes))
    }
}

fn unknown_gate(name: &str) -> String {
    let known = Feature::ALL
        .iter()
        .map(|feature| feature.name())
        .chain(NOT_IMPLEMENTED);
    let mut nearest: Vec<_> = known
        .map(|known| (edit_distance(name, known), known))
        .collect();
    nearest.sort_unstable();
    let names: Vec<_> = nearest.iter().take(3).map(|(_, name)| *name).collect();
    format!(
        "unknown feature gate {name:?}; the nearest names are {}",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_object_is_current() {
        assert_eq!(Config::from_json(b"{}"), Ok((Config::default(), vec![])));
    }

    #[test]
    fn gates_by_upstream_name() {
        let json = br#"{"profile":"1.31","features":{"DRAControlPlaneController":true}}"#;
        let (config, _) = Config::from_json(json).unwrap();
        assert!(config.profile.enabled(Feature::DraControlPlaneController));
        assert_eq!(config.profile.minor(), 31);
    }

    #[test]
    fn filter_timeout_has_a_gate() {
        let timeout = |json: &str| Config::from_json(json.as_bytes()).unwrap().0.filter_timeout;
        assert_eq!(timeout("{}"), Some(10_000_000_000));
        assert_eq!(timeout(r#"{"filterTimeoutMs":5}"#), Some(5_000_000));
        assert_eq!(timeout(r#"{"filterTimeoutMs":0}"#), None);
        let off = r#"{"features":{"DRASchedulerFilterTimeout":false}}"#;
        assert_eq!(timeout(off), None);
        assert_eq!(timeout(r#"{"profile":"1.31"}"#), None);
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let error = Config::from_json(br#"{"features":{"DRAPrioritisedList":true}}"#).unwrap_err();
        assert!(error.starts_with(
            r#"unknown feature gate "DRAPrioritisedList"; the nearest names are DRAPrioritizedList,"#
        ));
        let error = Config::from_json(br#"{"profile":"1.30"}"#).unwrap_err();
        assert_eq!(
            error,
            r#"unknown profile "1.30"; there are 1.31 and current"#
        );
    }

    #[test]
    fn known_gates_that_do_nothing_are_said() {
        let (_, notes) =
            Config::from_json(br#"{"features":{"DRAExtendedResource":true}}"#).unwrap();
        assert_eq!(
            notes,
            [
                "feature gate DRAExtendedResource is not implemented: objects that need it are refused"
            ]
        );
    }
}
