//! Small clusters, written shortly, and a stand-in for CEL that notes what is evaluated.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use crate::allocator::selectors::{Content, DeviceRef, ExpressionId, SelectorError, Selectors};
use crate::allocator::{Allocator, DEFAULT_STEPS, Inventory, Limits, Outcome};
use crate::api::{
    AllocationResult, ApiVersion, Attribute, CounterSet, Device, DeviceClass, DeviceConfiguration,
    DeviceConstraint, DeviceExtra, DeviceRequest, DeviceResult, DeviceSelector, DeviceTaint,
    DeviceTaintRule, DeviceToleration, ExactRequest, Node, NodeSelector, NodeSelectorRequirement,
    NodeSelectorTerm, ObjectMeta, Reach, RequestBody, ResourceClaim, ResourceSlice, TaintEffect,
};
use crate::profile::Profile;

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
        let mut allocator = Allocator::new(self.claims.iter().cloned().map(Rc::new).collect());
        let outcome = self.attempt(&mut allocator, &inventory, &mut selectors, profile, steps);
        let steps_used = allocator.steps_used();
        let log = std::mem::take(&mut selectors.log);
        let mut lookup = |name: &str| self.find_class(name).cloned().map(Rc::new);
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
        let mut lookup = |name: &str| self.find_class(name).cloned().map(Rc::new);
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
        let mut lookup = |name: &str| self.find_class(name).cloned().map(Rc::new);
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
        let mut allocator = Allocator::new(cluster.claims.iter().cloned().map(Rc::new).collect());
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

/// A tiny selector language: `true`, `false`, `driver=D`, `has A`, `A=text` (an error where A is missing), `broken` (does not
/// compile).
#[derive(Default)]
pub struct Stub {
    texts: Vec<Arc<str>>,
    pub log: Vec<Evaluation>,
    /// Devices of which some verdicts are remembered.
    remembered: BTreeMap<Content, (Arc<str>, Device)>,
    /// Which ones.
    seed: u64,
}

impl Stub {
    /// Remembers half of the verdicts, as if other pods had asked for them; which half depends on the seed.
    pub fn with_memory(cluster: &Cluster, inventory: &Inventory, seed: u64) -> Self {
        let entries = (0..cluster.slices.len()).map(|slot| inventory.entry(slot as u32));
        let devices = entries.flat_map(|entry| {
            let devices = entry.contents.iter().zip(&entry.slice.devices);
            devices
                .map(|(content, device)| (*content, (entry.slice.driver.clone(), device.clone())))
        });
        Self {
            remembered: devices.collect(),
            seed,
            ..Self::default()
        }
    }
}

impl Selectors for Stub {
    fn expression(&mut self, text: &Arc<str>) -> ExpressionId {
        self.texts.push(text.clone());
        ExpressionId(self.texts.len() as u32 - 1)
    }

    fn matches(
        &mut self,
        expression: ExpressionId,
        device: DeviceRef<'_>,
    ) -> Result<bool, SelectorError> {
        let text = &self.texts[expression.0 as usize];
        self.log.push((text.to_string(), device.slot, device.index));
        evaluate(text, device.driver, device.device)
    }

    fn remembered(&self, expression: ExpressionId, content: Content) -> Option<bool> {
        let (driver, device) = self.remembered.get(&content)?;
        let text = &self.texts[expression.0 as usize];
        let mut hasher = DefaultHasher::new();
        (self.seed, text, content.number).hash(&mut hasher);
        let verdict = evaluate(text, driver, device).ok();
        verdict.filter(|_| hasher.finish().is_multiple_of(2))
    }
}

pub fn evaluate(text: &str, driver: &str, device: &Device) -> Result<bool, SelectorError> {
    let find = |name: &str| {
        device
            .attributes
            .iter()
            .find(|(given, _)| **given == *name)
            .map(|(_, value)| value)
    };
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        "broken" => Err(SelectorError::Compile("does not parse".into())),
        _ => match (text.strip_prefix("has "), text.split_once('=')) {
            (Some(name), _) => Ok(find(name).is_some()),
            (None, Some(("driver", wanted))) => Ok(wanted == driver),
            (None, Some((name, wanted))) => match find(name) {
                Some(Attribute::String(value)) => Ok(**value == *wanted),
                Some(Attribute::Int(value)) => Ok(value.to_string() == wanted),
                Some(_) => Ok(false),
                None => Err(SelectorError::Runtime(format!("no such key: {name}"))),
            },
            (None, None) => panic!("unknown expression {text}"),
        },
    }
}

/// Devices `d0`, `d1` and so on without content.
pub fn devices(count: usize) -> Vec<Device> {
    (0..count).map(|i| device(&format!("d{i}"), &[])).collect()
}

pub fn device(name: &str, attributes: &[(&str, Attribute)]) -> Device {
    let attributes = attributes
        .iter()
        .map(|(name, value)| (Arc::from(*name), value.clone()))
        .collect();
    Device {
        name: name.into(),
        usable: true,
        attributes,
        capacity: Arc::default(),
        extra: None,
    }
}

pub fn extra(device: &mut Device) -> &mut DeviceExtra {
    device.extra.get_or_insert_default()
}

pub fn taint(key: &str, effect: TaintEffect) -> DeviceTaint {
    DeviceTaint {
        key: key.into(),
        value: "v".into(),
        effect,
    }
}

pub fn tainted(mut device: Device, key: &str, effect: TaintEffect) -> Device {
    extra(&mut device).taints.push(taint(key, effect));
    device
}

/// Tolerates a key with any value and effect.
pub fn tolerating(mut request: DeviceRequest, key: &str) -> DeviceRequest {
    exact(&mut request).tolerations.push(toleration(key));
    request
}

pub fn toleration(key: &str) -> DeviceToleration {
    DeviceToleration {
        key: key.into(),
        operator: "Exists".into(),
        ..DeviceToleration::default()
    }
}

/// Counters in whole units.
pub fn counter_set(name: &str, counters: &[(&str, i64)]) -> CounterSet {
    let counters = counters
        .iter()
        .map(|(name, amount)| (Arc::from(*name), i128::from(*amount) * 1_000_000_000));
    CounterSet {
        name: name.into(),
        counters: counters.collect(),
    }
}

pub fn consuming(mut device: Device, set: &str, counters: &[(&str, i64)]) -> Device {
    extra(&mut device).consumes.push(counter_set(set, counters));
    device
}

/// A request for the first of these that can be had; each is given by its own name.
pub fn first_of(name: &str, alternatives: Vec<DeviceRequest>) -> DeviceRequest {
    let alternative = |request: DeviceRequest| match request.body {
        RequestBody::Exactly(exact) => (request.name, exact),
        RequestBody::FirstAvailable(_) => panic!("alternatives have none"),
    };
    DeviceRequest {
        name: name.into(),
        body: RequestBody::FirstAvailable(alternatives.into_iter().map(alternative).collect()),
    }
}

pub fn list(values: &[Attribute]) -> Attribute {
    Attribute::List(values.into())
}

pub fn text(value: &str) -> Attribute {
    Attribute::String(value.into())
}

/// A slice of driver `drv` for node `n1`: generation 1, the only one of its pool.
pub fn slice(name: &str, pool: &str, devices: Vec<Device>) -> ResourceSlice {
    ResourceSlice {
        name: name.into(),
        driver: "drv".into(),
        pool: pool.into(),
        generation: 1,
        resource_slice_count: 1,
        reach: Reach::NodeName("n1".into()),
        devices,
        counters: Vec::new(),
    }
}

/// Selects nodes with `label In [values]` for each pair.
pub fn selector(labels: &[(&str, &[&str])]) -> NodeSelector {
    let requirement = |(key, values): &(&str, &[&str])| NodeSelectorRequirement {
        key: key.to_string(),
        operator: "In".into(),
        values: values.iter().map(|value| value.to_string()).collect(),
    };
    let match_expressions = labels.iter().map(requirement).collect();
    NodeSelector {
        terms: vec![NodeSelectorTerm {
            match_expressions,
            match_fields: Vec::new(),
        }],
    }
}

pub fn class(name: &str, selectors: &[&str]) -> DeviceClass {
    DeviceClass {
        name: name.into(),
        selectors: cel(selectors),
        ..DeviceClass::default()
    }
}

fn cel(selectors: &[&str]) -> Vec<DeviceSelector> {
    selectors
        .iter()
        .map(|text| DeviceSelector {
            cel: Some((*text).into()),
        })
        .collect()
}

pub fn claim(name: &str, requests: Vec<DeviceRequest>) -> ResourceClaim {
    let meta = ObjectMeta {
        name: name.into(),
        namespace: "ns".into(),
        uid: name.into(),
        ..ObjectMeta::default()
    };
    ResourceClaim {
        meta,
        version: ApiVersion::V1Alpha3,
        requests,
        constraints: Vec::new(),
        config: Vec::new(),
        controller: String::new(),
        allocation: None,
        reserved_for: Vec::new(),
        deallocation_requested: false,
    }
}

/// An ExactCount request for class `any`.
pub fn count(name: &str, count: i64) -> DeviceRequest {
    request(
        name,
        ExactRequest {
            allocation_mode: "ExactCount".into(),
            count,
            ..any()
        },
    )
}

/// An All request for class `any`.
pub fn all(name: &str) -> DeviceRequest {
    request(
        name,
        ExactRequest {
            allocation_mode: "All".into(),
            ..any()
        },
    )
}

fn any() -> ExactRequest {
    ExactRequest {
        device_class_name: "any".into(),
        ..ExactRequest::default()
    }
}

fn request(name: &str, exact: ExactRequest) -> DeviceRequest {
    DeviceRequest {
        name: name.into(),
        body: RequestBody::Exactly(exact),
    }
}

pub fn exact(request: &mut DeviceRequest) -> &mut ExactRequest {
    match &mut request.body {
        RequestBody::Exactly(exact) => exact,
        RequestBody::FirstAvailable(_) => panic!("not an exact request"),
    }
}

pub fn admin(mut request: DeviceRequest) -> DeviceRequest {
    exact(&mut request).admin_access = true;
    request
}

pub fn of_class(mut request: DeviceRequest, class: &str) -> DeviceRequest {
    exact(&mut request).device_class_name = class.into();
    request
}

pub fn select(mut request: DeviceRequest, selectors: &[&str]) -> DeviceRequest {
    exact(&mut request).selectors = cel(selectors);
    request
}

pub fn matching(mut claim: ResourceClaim, attribute: &str, requests: &[&str]) -> ResourceClaim {
    let requests = requests.iter().map(|name| name.to_string()).collect();
    claim.constraints.push(DeviceConstraint {
        requests,
        match_attribute: Some(attribute.into()),
        distinct_attribute: None,
    });
    claim
}

pub fn distinct(mut claim: ResourceClaim, attribute: &str, requests: &[&str]) -> ResourceClaim {
    claim = matching(claim, attribute, requests);
    if let Some(constraint) = claim.constraints.last_mut() {
        constraint.distinct_attribute = constraint.match_attribute.take();
    }
    claim
}

pub fn config(parameters: &str, requests: &[&str]) -> DeviceConfiguration {
    DeviceConfiguration {
        requests: requests.iter().map(|name| name.to_string()).collect(),
        opaque: Some(serde_json::json!({ "driver": "drv", "parameters": parameters })),
    }
}

/// Devices as `driver/pool/device`.
pub fn allocation(devices: &[&str], admin_access: bool) -> AllocationResult {
    let result = |name: &&str| {
        let mut parts = name.split('/').map(Arc::<str>::from);
        let mut next = || parts.next().expect("driver/pool/device");
        DeviceResult {
            request: "r".into(),
            driver: next(),
            pool: next(),
            device: next(),
            admin_access,
            tolerations: Vec::new(),
        }
    };
    AllocationResult {
        results: devices.iter().map(result).collect(),
        ..AllocationResult::default()
    }
}
