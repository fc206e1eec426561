//! What the tests of the allocator share: a cluster as one decision sees it, with its answer in short; what it is made of in
//! `objects`, and the stand-in for CEL in `stub`.

mod objects;
mod stub;

use std::rc::Rc;

use crate::allocator::selectors::Selectors;
use crate::allocator::{Allocator, DEFAULT_STEPS, Inventory, Limits, Outcome};
use crate::api::{
    AllocationResult, Device, DeviceClass, DeviceRequest, DeviceResult, DeviceTaintRule, Node,
    RequestBody, ResourceClaim, ResourceSlice,
};
use crate::profile::Profile;

pub use objects::*;
pub use stub::{Stub, evaluate};

/// Everything that one decision depends on. The slot of a slice is its position.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub node: Node,
    pub slices: Vec<ResourceSlice>,
    pub classes: Vec<DeviceClass>,
    /// Allocations of other claims.
    pub held: Vec<AllocationResult>,
    pub rules: Vec<DeviceTaintRule>,
    pub claims: Vec<ResourceClaim>,
}

/// What was evaluated: expression, slot of the slice, position of the device.
pub type Evaluation = (String, u32, u32);

impl Cluster {
    /// Node `n1` in zone `a`, class `any` without selectors.
    pub fn new(slices: Vec<ResourceSlice>, claims: Vec<ResourceClaim>) -> Self {
        let node = Node {
            name: "n1".into(),
            labels: [("zone", "a")].into_iter().collect(),
            number: None,
        };
        Self {
            node,
            slices,
            classes: vec![class("any", &[])],
            held: Vec::new(),
            rules: Vec::new(),
            claims,
        }
    }

    pub fn class(mut self, class: DeviceClass) -> Self {
        self.classes.push(class);
        self
    }

    /// Another claim has this device, given as `driver/pool/device`.
    pub fn held(mut self, device: &str) -> Self {
        self.held.push(allocation(&[device], false));
        self
    }

    pub fn held_by_admin(mut self, device: &str) -> Self {
        self.held.push(allocation(&[device], true));
        self
    }

    pub fn inventory(&self) -> Inventory {
        let mut inventory = Inventory::default();
        for (slot, slice) in self.slices.iter().enumerate() {
            inventory.put(slot as u32, slice.clone());
        }
        for (slot, rule) in self.rules.iter().enumerate() {
            inventory.put_taint_rule(slot as u32, rule.clone());
        }
        for (i, held) in self.held.iter().enumerate() {
            inventory.set_stored(&format!("held-{i}"), Some(held));
        }
        inventory
    }

    /// Outcome, evaluations in order, and steps.
    pub fn run(&self, profile: &Profile, steps: u64) -> (Outcome, Vec<Evaluation>, u64) {
        let inventory = self.inventory();
        let mut selectors = Stub::default();
        let mut allocator = self.allocator();
        let outcome = self.attempt(&mut allocator, &inventory, &mut selectors, profile, steps);
        let steps_used = allocator.steps_used();
        let log = std::mem::take(&mut selectors.log);
        let mut lookup = self.lookup();
        let fits = allocator.fits(
            &self.node,
            &inventory,
            &mut lookup,
            &mut selectors,
            profile,
            Limits::steps(steps),
        );
        match (&outcome, fits) {
            (Outcome::Allocated(results), fits) => {
                assert_eq!(fits, Ok(self.score_of(results)));
            }
            (refusal, fits) => assert_eq!(fits.as_ref(), Err(refusal)),
        }
        assert_eq!(selectors.log, log);
        (outcome, log, steps_used)
    }

    /// Eight points for a first alternative, one less for each that was passed over; where an alternative may need nothing,
    /// the results do not tell, and the score is not looked at.
    fn score_of(&self, results: &[AllocationResult]) -> i64 {
        let mut score = 0;
        for (claim, result) in self.claims.iter().zip(results) {
            for request in &claim.requests {
                let RequestBody::FirstAvailable(alternatives) = &request.body else {
                    continue;
                };
                let chosen = alternatives.iter().position(|(name, _)| {
                    let full = format!("{}/{name}", request.name);
                    result.results.iter().any(|device| device.request == full)
                });
                let nothing = alternatives.iter().position(|(_, exact)| {
                    exact.allocation_mode == "ExactCount" && exact.count <= 0
                });
                score += chosen.or(nothing).map_or(0, |index| 8 - index as i64);
            }
        }
        score
    }

    pub fn attempt(
        &self,
        allocator: &mut Allocator,
        inventory: &Inventory,
        selectors: &mut impl Selectors,
        profile: &Profile,
        steps: u64,
    ) -> Outcome {
        let mut lookup = self.lookup();
        allocator.allocate(
            &self.node,
            inventory,
            &mut lookup,
            selectors,
            profile,
            steps,
        )
    }

    /// As [`Allocator::fits`].
    pub fn fits(
        &self,
        allocator: &mut Allocator,
        inventory: &Inventory,
        selectors: &mut impl Selectors,
        profile: &Profile,
    ) -> Result<i64, Outcome> {
        let mut lookup = self.lookup();
        let limits = Limits::steps(DEFAULT_STEPS);
        allocator.fits(
            &self.node,
            inventory,
            &mut lookup,
            selectors,
            profile,
            limits,
        )
    }

    /// One that has seen no node yet.
    pub fn allocator(&self) -> Allocator {
        Allocator::new(self.claims.iter().cloned().map(Rc::new).collect())
    }

    /// As the allocator asks for classes.
    pub fn lookup(&self) -> impl FnMut(&str) -> Result<Rc<DeviceClass>, String> {
        |name| self.find_class(name).cloned().map(Rc::new)
    }

    pub fn find_class(&self, name: &str) -> Result<&DeviceClass, String> {
        self.classes
            .iter()
            .find(|class| class.name == name)
            .ok_or_else(|| "not found".to_string())
    }

    /// The answer in short: devices of each claim as `request:pool/device`, or the kind and text of the refusal.
    pub fn answer(&self, profile: &Profile) -> String {
        short(&self.run(profile, DEFAULT_STEPS).0)
    }

    #[track_caller]
    pub fn check(&self, compat: &str, fixed: &str) {
        assert_eq!(self.answer(&Profile::v1_31()), compat, "profile 1.31");
        assert_eq!(self.answer(&Profile::current()), fixed, "profile current");
    }

    /// The single allocation that is found.
    #[track_caller]
    pub fn allocation(&self, profile: &Profile) -> AllocationResult {
        match self.run(profile, DEFAULT_STEPS).0 {
            Outcome::Allocated(mut results) if results.len() == 1 => results.remove(0),
            other => panic!("{other:?}"),
        }
    }
}

/// Node `n1` has one slice, `s` of pool `p`, with these devices; one claim, `c`, has these requests.
pub fn simple(devices: Vec<Device>, requests: Vec<DeviceRequest>) -> Cluster {
    Cluster::new(vec![slice("s", "p", devices)], vec![claim("c", requests)])
}

/// The answers to claim `c` for All devices where pool `p` is not to be used.
pub const BEING_UPDATED: &str = "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently being updated";
pub const INVALID: &str = "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently invalid";

pub fn short(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Allocated(results) => {
            let device = |result: &DeviceResult| {
                format!("{}:{}/{}", result.request, result.pool, result.device)
            };
            let claim = |result: &AllocationResult| {
                result
                    .results
                    .iter()
                    .map(device)
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            results.iter().map(claim).collect::<Vec<_>>().join(" | ")
        }
        Outcome::DoesNotFit => "does not fit".into(),
        Outcome::InvalidPools => "invalid pools".into(),
        Outcome::Error(text) | Outcome::BadPool(text) => format!("error: {text}"),
        Outcome::InvalidObject(text) => format!("invalid object: {text}"),
        Outcome::BudgetExhausted(text) => format!("budget: {text}"),
    }
}

/// That the search says the same when it knows more than it evaluated: as if it were a hard one, with verdicts remembered, and
/// both.
#[track_caller]
pub fn check_with_knowledge(cluster: &Cluster, profile: &Profile, seed: u64, expected: &str) {
    let inventory = cluster.inventory();
    for (ahead, remembers) in [(true, false), (false, true), (true, true)] {
        let mut allocator = cluster.allocator();
        if ahead {
            allocator.hard_after = seed % 4;
        }
        let mut selectors = if remembers {
            Stub::with_memory(cluster, &inventory, seed)
        } else {
            Stub::default()
        };
        let outcome = cluster.attempt(
            &mut allocator,
            &inventory,
            &mut selectors,
            profile,
            DEFAULT_STEPS,
        );
        assert_eq!(
            short(&outcome),
            expected,
            "seed {seed}, minor {}, ahead {ahead}, remembers {remembers}: {cluster:#?}",
            profile.minor()
        );
        // By now the node is known, so that a glance may do.
        let fits = cluster.fits(&mut allocator, &inventory, &mut selectors, profile);
        match &outcome {
            Outcome::Allocated(_) => assert!(fits.is_ok(), "seed {seed}: {fits:?} {cluster:#?}"),
            refusal => assert_eq!(fits.as_ref(), Err(refusal), "seed {seed}: {cluster:#?}"),
        }
    }
}
