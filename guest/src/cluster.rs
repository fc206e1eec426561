//! What an instance remembers of the cluster: each object is parsed once per change and indexed here.
//!
//! Everything can be rebuilt from revision 0. [`View::catch_up`] runs at the start of an exported call; between two calls
//! nothing changes, so a cycle sees one state. Upstream's counterparts are the informer listers and the claim assume cache,
//! of which this is a reader.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::allocator::Inventory;
use crate::api::wire;
use crate::api::{
    AllocationResult, DeviceClass, DeviceTaintRule, Node, PodSchedulingContext, ResourceClaim,
    ResourceSlice,
};
use crate::cel;
use crate::config::Config;
use crate::extended_resources;
use crate::host::{Host, InFlightChange, Level, Object, ObjectRef, Revision, Slot, kinds};
use crate::profile::{Feature, Profile};
use crate::selectors::SelectorCache;

mod decide;
mod stream;
mod table;

use stream::{Step, follow};
use table::Table;

/// An object as the model sees it, or why it cannot be used.
pub type Read<T> = Result<Rc<T>, Rc<str>>;

/// How far each stream was read.
#[derive(Debug, Default)]
struct Revisions {
    nodes: Revision,
    claims: Revision,
    classes: Revision,
    slices: Revision,
    contexts: Revision,
    taint_rules: Revision,
    in_flight: Revision,
}

/// The cluster as this instance knows it.
pub struct View {
    read: Revisions,
    nodes: Table<Node>,
    claims: Table<Read<ResourceClaim>>,
    classes: Table<Read<DeviceClass>>,
    contexts: Table<Read<PodSchedulingContext>>,
    taint_rules: Table<Result<(), Rc<str>>>,
    in_flight: BTreeMap<String, String>,
    /// By name of the extended resource: the class that offers it.
    extended_resources: BTreeMap<String, String>,
    /// Slices and devices in use, indexed for the allocator.
    pub inventory: Inventory,
    /// Compiled selectors and their verdicts.
    pub selectors: SelectorCache,
    /// Devices that searches visited.
    search_steps: u64,
    /// Evaluations and steps that the host was told of.
    told: [u64; 2],
}

impl View {
    /// An empty view; the profile decides which CEL libraries there are.
    pub fn new(config: &Config) -> Self {
        Self {
            read: Revisions::default(),
            nodes: Table::default(),
            claims: Table::default(),
            classes: Table::default(),
            contexts: Table::default(),
            taint_rules: Table::default(),
            in_flight: BTreeMap::new(),
            extended_resources: BTreeMap::new(),
            inventory: Inventory::default(),
            selectors: SelectorCache::new(&config.profile, config.caches),
            search_steps: 0,
            told: [0; 2],
        }
    }

    /// Reads everything that is new. The error is an API error text: a kind that may not be read.
    pub fn catch_up(&mut self, host: &dyn Host, profile: &Profile) -> Result<(), String> {
        self.reading(|view, read| {
            view.read_nodes_and_devices(host, profile, read)?;
            view.read_claims_and_classes(host, profile, read)?;
            if profile.enabled(Feature::DraControlPlaneController) {
                let contexts = &mut read.contexts;
                follow(
                    host,
                    kinds::POD_SCHEDULING_CONTEXT,
                    contexts,
                    view,
                    |view, step| {
                        view.apply_context(step);
                    },
                )?;
            }
            view.follow_in_flight(host, profile, &mut read.in_flight);
            Ok(())
        })
    }

    /// The same for what has to be known where no node is looked at: each stream that is asked costs a call of the host.
    pub fn catch_up_with_claims(
        &mut self,
        host: &dyn Host,
        profile: &Profile,
    ) -> Result<(), String> {
        self.reading(|view, read| view.read_claims_and_classes(host, profile, read))
    }

    fn reading(
        &mut self,
        read_streams: impl FnOnce(&mut Self, &mut Revisions) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut read = std::mem::take(&mut self.read);
        let outcome = read_streams(self, &mut read);
        self.read = read;
        outcome
    }

    fn read_nodes_and_devices(
        &mut self,
        host: &dyn Host,
        profile: &Profile,
        read: &mut Revisions,
    ) -> Result<(), String> {
        follow(host, kinds::NODE, &mut read.nodes, self, |view, step| {
            view.apply_node(step)
        })?;
        follow(
            host,
            kinds::RESOURCE_SLICE,
            &mut read.slices,
            self,
            |view, step| view.apply_slice(host, step, profile),
        )?;
        follow(
            host,
            kinds::DEVICE_TAINT_RULE,
            &mut read.taint_rules,
            self,
            |view, step| view.apply_taint_rule(step, profile),
        )
    }

    fn read_claims_and_classes(
        &mut self,
        host: &dyn Host,
        profile: &Profile,
        read: &mut Revisions,
    ) -> Result<(), String> {
        follow(
            host,
            kinds::DEVICE_CLASS,
            &mut read.classes,
            self,
            |view, step| view.apply_class(step, profile),
        )?;
        follow(
            host,
            kinds::RESOURCE_CLAIM,
            &mut read.claims,
            self,
            |view, step| view.apply_claim(host, step, profile),
        )
    }

    fn apply_node(&mut self, step: Step) {
        match step {
            Step::Reset => {
                for (_, node) in std::mem::take(&mut self.nodes).values() {
                    self.forget_node(node);
                }
            }
            Step::Put(slot, object) => {
                // A node that cannot be read matches no selector but its name.
                let mut node = wire::node(&object.json).unwrap_or_else(|_| Node {
                    name: object.id.name.clone(),
                    ..Node::default()
                });
                node.number = Some(self.inventory.acquire_node(&node.name));
                let before = self.nodes.put(slot, object.id, node);
                before.iter().for_each(|(_, node)| self.forget_node(node));
            }
            Step::Deleted(slot) => {
                let before = self.nodes.remove(slot);
                before.iter().for_each(|(_, node)| self.forget_node(node));
            }
        }
    }

    fn forget_node(&mut self, node: &Node) {
        if let Some(number) = node.number {
            self.inventory.release_node(number);
        }
    }

    fn apply_class(&mut self, step: Step, profile: &Profile) {
        match step {
            Step::Reset => {
                self.classes = Table::default();
                self.extended_resources.clear();
            }
            Step::Put(slot, object) => {
                self.forget_extended_resource(&object.id.name);
                if profile.classes_offer_extended_resources()
                    && let Some(resource) = extended_resources::offered_by(&object.json)
                {
                    self.extended_resources
                        .insert(resource, object.id.name.clone());
                }
                let class = readable(wire::device_class(&object.json, profile));
                self.classes.put(slot, object.id, class);
            }
            Step::Deleted(slot) => {
                if let Some((id, _)) = self.classes.remove(slot) {
                    self.forget_extended_resource(&id.name);
                }
            }
        }
    }

    fn forget_extended_resource(&mut self, class: &str) {
        self.extended_resources
            .retain(|_, offering| offering != class);
    }

    fn apply_slice(&mut self, host: &dyn Host, step: Step, profile: &Profile) {
        match step {
            Step::Reset => self.inventory.clear_slices(),
            Step::Put(slot, object) => match wire::resource_slice(&object.json, profile) {
                Ok(slice) => {
                    tell_malformed(host, &slice);
                    self.inventory.put(slot, slice);
                }
                Err(problem) => {
                    host.log(
                        Level::Warn,
                        &format!("{problem}: no pod that asks for devices goes to the nodes that it reaches"),
                        &[],
                    );
                    let reach = wire::reach_of_broken_slice(&object.json);
                    self.inventory
                        .put_invalid(slot, &reach, problem.to_string());
                }
            },
            Step::Deleted(slot) => self.inventory.remove(slot),
        }
    }

    fn apply_taint_rule(&mut self, step: Step, profile: &Profile) {
        match step {
            Step::Reset => {
                for (slot, _) in self.taint_rules.values() {
                    self.inventory.remove_taint_rule(slot);
                }
                self.taint_rules = Table::default();
            }
            Step::Put(slot, object) => {
                let rule = usable_rule(&object, profile);
                match rule {
                    Ok(rule) => {
                        self.inventory.put_taint_rule(slot, rule);
                        self.taint_rules.put(slot, object.id, Ok(()));
                    }
                    Err(problem) => {
                        self.inventory.remove_taint_rule(slot);
                        self.taint_rules
                            .put(slot, object.id, Err(problem.as_str().into()));
                    }
                }
            }
            Step::Deleted(slot) => {
                self.inventory.remove_taint_rule(slot);
                self.taint_rules.remove(slot);
            }
        }
    }

    fn apply_claim(&mut self, host: &dyn Host, step: Step, profile: &Profile) {
        match step {
            Step::Reset => {
                self.claims = Table::default();
                self.inventory.clear_stored();
            }
            Step::Put(slot, object) => {
                let claim = readable(wire::resource_claim(&object.json, profile));
                let uid = object.id.uid.clone();
                let json = object.json;
                if let Some((old, _)) = self.claims.put(slot, object.id, claim.clone())
                    && old.uid != uid
                {
                    self.inventory.remove_stored(&old.uid);
                }
                let allocation = match &claim {
                    Ok(claim) => claim.allocation.clone(),
                    // What a claim holds counts even if the rest of it cannot be used.
                    Err(problem) => wire::devices_of_broken_claim(&json).map(|results| {
                        let count = results.len();
                        let message = format!(
                            "{problem}: of the devices that it holds, {count} could be read; any others count as free"
                        );
                        host.log(Level::Warn, &message, &[]);
                        AllocationResult {
                            results,
                            ..AllocationResult::default()
                        }
                    }),
                };
                self.inventory.set_stored(&uid, allocation.as_ref());
            }
            Step::Deleted(slot) => {
                if let Some((id, _)) = self.claims.remove(slot) {
                    self.inventory.remove_stored(&id.uid);
                }
            }
        }
    }

    fn apply_context(&mut self, step: Step) {
        match step {
            Step::Reset => self.contexts = Table::default(),
            Step::Put(slot, object) => {
                let context = readable(wire::pod_scheduling_context(&object.json));
                self.contexts.put(slot, object.id, context);
            }
            Step::Deleted(slot) => {
                self.contexts.remove(slot);
            }
        }
    }

    fn follow_in_flight(&mut self, host: &dyn Host, profile: &Profile, since: &mut Revision) {
        loop {
            let page = host.in_flight_changes(*since);
            if page.reset {
                self.in_flight.clear();
                self.inventory.clear_in_flight();
            }
            for change in page.changes {
                match change {
                    InFlightChange::Put(entry) if entry.target.kind == kinds::RESOURCE_CLAIM => {
                        let allocation = wire::resource_claim(&entry.json, profile)
                            .map(|claim| claim.allocation.unwrap_or_default())
                            .unwrap_or_default();
                        self.inventory.set_in_flight(&entry.target.uid, &allocation);
                        self.in_flight.insert(entry.target.uid, entry.holder);
                    }
                    InFlightChange::Put(_) => {}
                    InFlightChange::Removed(target) => {
                        self.inventory.remove_in_flight(&target.uid);
                        self.in_flight.remove(&target.uid);
                    }
                }
            }
            *since = page.until;
            if !page.more {
                return;
            }
        }
    }

    /// The node with this number.
    pub fn node(&self, slot: Slot) -> Option<&Node> {
        self.nodes.at(slot)
    }

    /// Number of the node with this name.
    pub fn slot_of_node(&self, name: &str) -> Option<Slot> {
        self.nodes.slot_of("", name)
    }

    /// All claims that the cache has.
    pub fn claims(&self) -> impl Iterator<Item = (&ObjectRef, &Read<ResourceClaim>)> {
        self.claims.entries()
    }

    /// The claim with this name; `None`: the cache does not have it.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Read<ResourceClaim>> {
        self.claims.get(namespace, name)
    }

    /// The class with this name; `None`: it does not exist.
    pub fn class(&self, name: &str) -> Option<&Read<DeviceClass>> {
        self.classes.get("", name)
    }

    /// The scheduling context with the pod's name.
    pub fn scheduling_context(
        &self,
        namespace: &str,
        name: &str,
    ) -> Option<&Read<PodSchedulingContext>> {
        self.contexts.get(namespace, name)
    }

    /// Whether some pod decided about this claim and has not written it yet.
    pub fn is_in_flight(&self, uid: &str) -> bool {
        self.in_flight.contains_key(uid)
    }

    /// The first extended resource a pod asks for that means devices, and its class.
    pub fn extended_resource_wanted_by(&self, pod: &[u8]) -> Option<(String, String)> {
        extended_resources::wanted_by(pod, &self.extended_resources)
    }

    /// Why some DeviceTaintRule cannot be used, if so: nobody knows which devices it means.
    pub fn unusable_taint_rule(&self) -> Option<&str> {
        let rules = self.taint_rules.values();
        let mut problems = rules.filter_map(|(_, rule)| rule.as_ref().err());
        problems.next().map(|problem| &**problem)
    }
}

/// A rule, unless it cannot be read or rules are off, when it would be wrong to ignore it.
fn usable_rule(object: &Object, profile: &Profile) -> Result<DeviceTaintRule, String> {
    for feature in [Feature::DraDeviceTaintRules, Feature::DraDeviceTaints] {
        if !profile.enabled(feature) {
            let (rule, gate) = (&object.id.name, feature.name());
            return Err(format!(
                "DeviceTaintRule {rule}: taint rules are not supported (gate {gate}); switch the gate on, or remove the rule"
            ));
        }
    }
    wire::device_taint_rule(&object.json, profile).map_err(|problem| problem.to_string())
}

/// An evaluation that meets such a device fails with a text that names neither slice nor device, as upstream's.
fn tell_malformed(host: &dyn Host, slice: &ResourceSlice) {
    for device in &slice.devices {
        if let Some(problem) = cel::malformed(device) {
            let message = format!(
                "ResourceSlice {}: device {}: {problem}: every selector that meets this device fails",
                slice.name, device.name
            );
            host.log(Level::Warn, &message, &[]);
        }
    }
}

fn readable<T, P: std::fmt::Display>(read: Result<T, P>) -> Read<T> {
    read.map(Rc::new)
        .map_err(|problem| problem.to_string().into())
}
