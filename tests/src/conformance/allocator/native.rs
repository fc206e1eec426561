//! The guest's allocator by itself, for lines that form no pod as well.

use std::collections::BTreeMap;
use std::rc::Rc;

use dynamic_resources::allocator::{Allocator, INVALID_POOLS, Inventory, Outcome};
use dynamic_resources::api::wire::{self, Problem};
use dynamic_resources::api::{AllocationResult, edit};
use dynamic_resources::config::Config;
use dynamic_resources::selectors::SelectorCache;
use serde_json::Value;

use super::case::{Answer, Case, without_empty};

/// The answer for one node. The error is what keeps the line from being run.
pub fn answer(case: &Case<'_>, config: &Value, node: &Value) -> Result<Answer, String> {
    match run(case, config, node) {
        Ok(answer) => Ok(answer),
        Err(Trouble::Object(Problem {
            gate: Some(gate), ..
        })) => Ok(Answer::NotImplemented(gate.to_owned())),
        Err(Trouble::Object(problem)) => Err(problem.to_string()),
        Err(Trouble::Line(error)) => Err(error),
    }
}

enum Trouble {
    Object(Problem),
    /// Of the line as a whole.
    Line(String),
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Object(problem)
    }
}

fn run(case: &Case<'_>, config: &Value, node: &Value) -> Result<Answer, Trouble> {
    let (config, _) = Config::from_json(config.to_string().as_bytes()).map_err(Trouble::Line)?;
    let profile = &config.profile;
    let node = wire::node(&bytes(&case.object("Node", node)))?;
    let inventory = inventory(case, &config)?;
    let mut classes = BTreeMap::new();
    for class in case.objects("DeviceClass", "classes") {
        let class = wire::device_class(&bytes(&class), profile)?;
        classes.insert(class.name.clone(), Rc::new(class));
    }
    let mut lookup = |name: &str| {
        let class = classes.get(name).cloned();
        class.ok_or_else(|| format!("deviceclass.resource.k8s.io {name:?} not found"))
    };
    let mut claims = Vec::new();
    for claim in case.objects("ResourceClaim", "claimsToAllocate") {
        claims.push(Rc::new(wire::resource_claim(&bytes(&claim), profile)?));
    }
    let version = claims.first().map(|claim| claim.version);
    let mut allocator = Allocator::new(claims);
    let outcome = allocator.allocate(
        &node,
        &inventory,
        &mut lookup,
        &mut SelectorCache::new(profile, crate::conformance::CACHES.get()),
        profile,
        config.allocator_steps,
    );
    let most = case.field("expectNumAllocateOneInvocations").as_u64();
    let tried = allocator.places_tried();
    if most.is_some_and(|most| tried > most) {
        let text = format!("{tried} times another device, at most {most:?} calls recorded");
        return Err(Trouble::Line(text));
    }
    let written = |result: &AllocationResult| {
        version.map(|version| without_empty(&edit::allocation_json(version, result)))
    };
    Ok(match outcome {
        Outcome::Allocated(results) => {
            Answer::Allocated(results.iter().filter_map(written).collect())
        }
        Outcome::DoesNotFit => Answer::DoesNotFit,
        Outcome::InvalidPools => Answer::Error(INVALID_POOLS.to_owned()),
        Outcome::InvalidObject(text) => gate_of(&text).map_or_else(
            || Answer::Error(text.clone()),
            |gate| Answer::NotImplemented(gate.to_owned()),
        ),
        Outcome::Error(text) | Outcome::BadPool(text) | Outcome::BudgetExhausted(text) => {
            Answer::Error(text)
        }
    })
}

/// The gate that the text of an unusable object names.
pub fn gate_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(" are not supported (gate ")?;
    rest.split(')').next()
}

fn bytes(object: &Value) -> Vec<u8> {
    object.to_string().into_bytes()
}

fn inventory(case: &Case<'_>, config: &Config) -> Result<Inventory, Problem> {
    let mut inventory = Inventory::default();
    for (slot, slice) in case.objects("ResourceSlice", "slices").iter().enumerate() {
        let (slot, json) = (slot as u32, bytes(slice));
        match wire::resource_slice(&json, &config.profile) {
            Ok(slice) => inventory.put(slot, slice),
            // As in the plugin, this concerns the nodes that the slice reaches.
            Err(problem) if problem.gate.is_some() => {
                let reach = wire::reach_of_broken_slice(&json);
                inventory.put_invalid(slot, &reach, problem.to_string());
            }
            Err(problem) => return Err(problem),
        }
    }
    for (i, claim) in case.allocated_claims().iter().enumerate() {
        let claim = wire::resource_claim(&bytes(claim), &config.profile)?;
        inventory.set_stored(&i.to_string(), claim.allocation.as_ref());
    }
    Ok(inventory)
}
