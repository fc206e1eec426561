//! Which version of Kubernetes is imitated: every rule that differs between versions is one predicate here.
//!
//! Ids `D..` and `L..` are those of the behaviour specification, section 14. A profile is a minor version plus feature
//! gates by upstream's names; `configure` chooses it (design section 6).

use std::collections::BTreeMap;

/// Names of the profiles, for messages.
pub const PROFILES: [&str; 2] = ["1.31", "current"];

/// A feature gate of upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// The plugin as a whole.
    DynamicResourceAllocation,
    /// Classic DRA, 1.31 only.
    DraControlPlaneController,
    /// Hint functions decide whom an event wakes.
    SchedulerQueueingHints,
    /// `adminAccess`.
    DraAdminAccess,
    /// Consumable capacity; of it, only `distinctAttribute` is implemented.
    DraConsumableCapacity,
    /// DeviceTaintRule.
    DraDeviceTaintRules,
    /// Taints and tolerations.
    DraDeviceTaints,
    /// Attributes that are lists.
    DraListTypeAttributes,
    /// Counters, and nodes chosen per device.
    DraPartitionableDevices,
    /// `firstAvailable`.
    DraPrioritizedList,
    /// Filter gives up on a node after some time.
    DraSchedulerFilterTimeout,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 11] = [
        Feature::DynamicResourceAllocation,
        Feature::DraControlPlaneController,
        Feature::SchedulerQueueingHints,
        Feature::DraAdminAccess,
        Feature::DraConsumableCapacity,
        Feature::DraDeviceTaintRules,
        Feature::DraDeviceTaints,
        Feature::DraListTypeAttributes,
        Feature::DraPartitionableDevices,
        Feature::DraPrioritizedList,
        Feature::DraSchedulerFilterTimeout,
    ];

    /// Upstream's name of the gate.
    pub fn name(self) -> &'static str {
        match self {
            Feature::DynamicResourceAllocation => "DynamicResourceAllocation",
            Feature::DraControlPlaneController => "DRAControlPlaneController",
            Feature::SchedulerQueueingHints => "SchedulerQueueingHints",
            Feature::DraAdminAccess => "DRAAdminAccess",
            Feature::DraConsumableCapacity => "DRAConsumableCapacity",
            Feature::DraDeviceTaintRules => "DRADeviceTaintRules",
            Feature::DraDeviceTaints => "DRADeviceTaints",
            Feature::DraListTypeAttributes => "DRAListTypeAttributes",
            Feature::DraPartitionableDevices => "DRAPartitionableDevices",
            Feature::DraPrioritizedList => "DRAPrioritizedList",
            Feature::DraSchedulerFilterTimeout => "DRASchedulerFilterTimeout",
        }
    }

    /// Whether the gate is on if nobody says otherwise.
    fn default_in(self, minor: u32) -> bool {
        match self {
            Feature::DynamicResourceAllocation => true,
            Feature::DraControlPlaneController => false,
            Feature::SchedulerQueueingHints => minor >= 32,
            // 1.31 has the field without a gate; the gate came with 1.32 and is GA since 1.36.
            Feature::DraAdminAccess => true,
            Feature::DraPrioritizedList | Feature::DraSchedulerFilterTimeout => minor >= 34,
            Feature::DraConsumableCapacity
            | Feature::DraDeviceTaints
            | Feature::DraPartitionableDevices => minor >= 36,
            Feature::DraDeviceTaintRules | Feature::DraListTypeAttributes => false,
        }
    }
}

/// The version whose behaviour is imitated, and its gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Minor version of Kubernetes: 31, or that of `current`.
    minor: u32,
    features: BTreeMap<Feature, bool>,
}

impl Profile {
    /// The seed: Kubernetes 1.31.
    pub fn v1_31() -> Self {
        Self {
            minor: 31,
            features: BTreeMap::new(),
        }
    }

    /// What upstream does today: 1.36.
    pub fn current() -> Self {
        Self {
            minor: 36,
            features: BTreeMap::new(),
        }
    }

    /// By the name that users give; `None` for an unknown one.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "1.31" => Some(Self::v1_31()),
            "current" => Some(Self::current()),
            _ => None,
        }
    }

    /// Sets a gate.
    pub fn set(&mut self, feature: Feature, on: bool) {
        self.features.insert(feature, on);
    }

    /// Whether a gate is on.
    pub fn enabled(&self, feature: Feature) -> bool {
        self.features
            .get(&feature)
            .copied()
            .unwrap_or_else(|| feature.default_in(self.minor))
    }

    /// Whether somebody said that the gate of this name is off; by default it may only not be known.
    pub fn is_switched_off(&self, gate: &str) -> bool {
        let mut set = self.features.iter();
        set.any(|(feature, on)| feature.name() == gate && !on)
    }

    /// Minor version of Kubernetes, for the CEL libraries, which grow with each.
    pub fn minor(&self) -> u32 {
        self.minor
    }

    /// D1: `All` looks at the class selectors too.
    pub fn all_mode_applies_class_selectors(&self) -> bool {
        self.minor >= 32
    }

    /// D2: a device in use spoils `All` instead of being left out.
    pub fn all_mode_refuses_devices_in_use(&self) -> bool {
        self.minor >= 32
    }

    /// D3: a slice of a newer generation is stored once when it replaces older ones.
    pub fn newer_generation_stored_once(&self) -> bool {
        self.minor >= 32
    }

    /// D4: an `All` request is undone and the search goes on, instead of ending with `stop allocation`.
    pub fn all_mode_backtracks(&self) -> bool {
        self.minor >= 32
    }

    /// D5: a pool that repeats a device name is invalid.
    pub fn duplicate_devices_invalidate_pool(&self) -> bool {
        self.minor >= 32
    }

    /// D6: results carry `adminAccess`, and such results do not hold their device.
    pub fn admin_access_in_results(&self) -> bool {
        self.minor >= 32
    }

    /// `adminAccess` is refused where its gate is off; 1.31 has the field without a gate.
    pub fn admin_access_needs_gate(&self) -> bool {
        self.minor >= 32
    }

    /// D7 and L2: an admin request never gets a device that its claim has already, and what it picked is in use for
    /// ordinary requests that are reached later.
    pub fn admin_access_excludes_own_devices(&self) -> bool {
        self.minor >= 34
    }

    /// D9: class config appears once, with the names of the requests that use the class.
    pub fn class_config_names_requests(&self) -> bool {
        self.minor >= 35
    }

    /// D10: the pod's claim entry is remembered with the claim, instead of its index in a shortened list.
    pub fn claims_keep_their_entry(&self) -> bool {
        self.minor >= 32
    }

    /// D11: a node is selected when all classic claims have information, however many structured ones there are.
    pub fn node_selection_counts_classic_claims_only(&self) -> bool {
        self.minor >= 32
    }

    /// D12: the scheduling context hint waits for classic claims only.
    pub fn context_hint_counts_classic_claims_only(&self) -> bool {
        self.minor >= 32
    }

    /// D13: taking back an in-flight entry wakes those who wait for the claim.
    pub fn unreserve_wakes_waiting_pods(&self) -> bool {
        self.minor >= 32
    }

    /// D14: the in-flight entry that is removed is the one that was put there, also if the claim was recreated.
    pub fn in_flight_removed_by_original_uid(&self) -> bool {
        self.minor >= 32
    }

    /// D15: server-side apply repeats a selected node that did not change.
    pub fn apply_keeps_selected_node(&self) -> bool {
        self.minor >= 32
    }

    /// Most consumers of one claim: a claim that has as many is refused instead of leaving it to the API server, which would
    /// refuse the reservation again and again. 1.31 leaves it to the API server.
    pub fn most_consumers(&self) -> Option<usize> {
        (self.minor >= 32).then_some(256)
    }

    /// Not upstream's: a pod reserves a claim only with the allocation for which its node was chosen. Upstream appends it
    /// blindly after a conflict (T20), also if the claim was meanwhile deallocated and allocated for another node.
    pub fn reservation_keeps_allocation(&self) -> bool {
        self.minor >= 32
    }

    /// Classic DRA was there until 1.31; its object is deleted after a bind whatever the gate says.
    pub fn has_classic_dra(&self) -> bool {
        self.minor <= 31
    }

    /// A DeviceClass can stand for an extended resource that containers ask for.
    pub fn classes_offer_extended_resources(&self) -> bool {
        self.minor >= 34
    }

    /// The deletion of an allocated claim wakes pods that wait for devices.
    pub fn deleted_claims_wake_pods(&self) -> bool {
        self.minor >= 36
    }

    /// Texts about a generated claim's owner tell kinds apart, now that it may belong to a pod group as well (first seen in
    /// the recordings of 1.36; nothing depends on the version in between).
    pub fn owner_texts_name_kind(&self) -> bool {
        self.minor >= 36
    }

    /// L1: `All` needs at least one device.
    pub fn all_mode_needs_a_device(&self) -> bool {
        self.minor >= 33
    }

    /// L3: `ExactCount` does not take from incomplete or invalid pools.
    pub fn exact_count_skips_bad_pools(&self) -> bool {
        self.minor >= 35
    }

    /// `All` on an incomplete or invalid pool refuses the node, not the pod (upstream since September 2026).
    pub fn bad_pools_refuse_the_node_only(&self) -> bool {
        self.minor >= 36
    }

    /// A pool whose slices disagree about their number is invalid.
    pub fn disagreeing_counts_invalidate_pool(&self) -> bool {
        self.minor >= 36
    }

    /// L4: completeness is judged over all slices of a pool if those of the node do not suffice.
    pub fn completeness_over_whole_pool(&self) -> bool {
        self.minor >= 35
    }

    /// L5: claim config is copied once per request that it names.
    pub fn claim_config_per_request(&self) -> bool {
        self.minor >= 33
    }
}
