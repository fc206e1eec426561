//! What is decided at a glance, against searches that know nothing, while slices, claims and rules change.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;

use super::random;
use super::support::*;
use crate::allocator::selectors::{
    Content, DeviceRef, ExpressionId, Recalled, SelectorError, Selectors,
};
use crate::allocator::{DEFAULT_STEPS, Inventory, Outcome};
use crate::api::{Attribute, DeviceTaintRule, Reach, ResourceSlice, TaintEffect, TaintSelector};
use crate::profile::Profile;

/// Remembers verdicts, and what it recalled of a site as long as that has its stamp.
#[derive(Default)]
struct Memory {
    texts: Vec<Arc<str>>,
    verdicts: BTreeMap<(ExpressionId, Content), bool>,
    sites: BTreeMap<(ExpressionId, u32), (u64, Recalled)>,
}

impl Selectors for Memory {
    fn expression(&mut self, text: &Arc<str>) -> ExpressionId {
        let known = self.texts.iter().position(|known| known == text);
        let index = known.unwrap_or_else(|| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        });
        ExpressionId(index as u32)
    }

    fn matches(
        &mut self,
        expression: ExpressionId,
        device: DeviceRef<'_>,
    ) -> Result<bool, SelectorError> {
        let text = &self.texts[expression.0 as usize];
        let matches = evaluate(text, device.driver, device.device)?;
        self.verdicts.insert((expression, device.content), matches);
        Ok(matches)
    }

    fn remembered(&self, expression: ExpressionId, content: Content) -> Option<bool> {
        self.verdicts.get(&(expression, content)).copied()
    }

    fn recall<C: Iterator<Item = Content>>(
        &mut self,
        expression: ExpressionId,
        (number, stamp): (u32, u64),
        anew: bool,
        contents: impl FnOnce() -> C,
    ) -> Recalled {
        let kept = self.sites.get(&(expression, number));
        if let Some((_, recalled)) = kept.filter(|(at, _)| *at == stamp && !anew) {
            return *recalled;
        }
        let recalled =
            Recalled::new(contents().map(|content| self.remembered(expression, content)));
        self.sites.insert((expression, number), (stamp, recalled));
        recalled
    }
}

/// One inventory and one memory that live through all changes.
struct World {
    cluster: Cluster,
    inventory: Inventory,
    memory: Memory,
    /// How many answers were given at a glance, and how many by a search.
    counts: [u32; 2],
}

impl World {
    /// Compares what the long-lived things say with what new ones find.
    #[track_caller]
    fn check(&mut self, seed: u64, profile: &Profile, what: &str) {
        for shaped in 0..3 {
            let claims = random::cluster(seed * 3 + shaped, random::TAME).claims;
            self.cluster.claims = claims;
            let (expected, ..) = self.cluster.run(profile, DEFAULT_STEPS);
            let mut allocator = self.cluster.allocator();
            for round in 0..3 {
                let fits =
                    self.cluster
                        .fits(&mut allocator, &self.inventory, &mut self.memory, profile);
                let glanced = allocator.places_tried() == 0;
                self.counts[usize::from(!glanced)] += u32::from(round > 0);
                let same = match &expected {
                    Outcome::Allocated(_) => fits.is_ok(),
                    refusal => fits.as_ref() == Err(refusal),
                };
                assert!(
                    same,
                    "seed {seed}.{shaped}, after {what}, round {round}, glanced {glanced}: {fits:?} {:#?}",
                    self.cluster
                );
            }
        }
    }

    fn put(&mut self, slot: usize, slice: ResourceSlice) {
        self.inventory.put(slot as u32, slice.clone());
        self.cluster.slices[slot] = slice;
    }

    /// Changes one thing; what.
    fn change(&mut self, rng: &mut Rng, seed: u64) -> &'static str {
        let slot = rng.usize(0..self.cluster.slices.len());
        match rng.u32(0..8) {
            0 => {
                let like = &self.cluster.slices[slot];
                let from = random::cluster(seed + 77, random::TAME).slices;
                let devices = from.into_iter().flat_map(|slice| slice.devices);
                let odd = [Attribute::Unknown, list(&[text("a"), text("b")])];
                let devices = devices.map(|like| match rng.u32(0..6) {
                    odd_one @ 0..2 => device(&like.name, &[("m", odd[odd_one as usize].clone())]),
                    _ => like,
                });
                let devices = devices.collect();
                let slice = ResourceSlice {
                    devices,
                    ..like.clone()
                };
                self.put(slot, slice);
                "other devices"
            }
            1 => {
                let mut slice = self.cluster.slices[slot].clone();
                slice.reach = match slice.reach {
                    // Another node's slices still count for the pool.
                    Reach::NodeName(name) if name == "n1" => Reach::NodeName("n2".into()),
                    Reach::NodeName(_) if rng.bool() => Reach::AllNodes,
                    _ => Reach::NodeName("n1".into()),
                };
                self.put(slot, slice);
                "another reach"
            }
            2 => {
                let mut slice = self.cluster.slices[slot].clone();
                slice.generation = 3 - slice.generation;
                self.put(slot, slice);
                "another generation"
            }
            3 => {
                let rule = DeviceTaintRule {
                    name: "rule".into(),
                    selector: Some(TaintSelector {
                        pool: Some(self.cluster.slices[slot].pool.to_string()),
                        ..TaintSelector::default()
                    }),
                    taint: taint("k", TaintEffect::NoSchedule),
                };
                match self.cluster.rules.pop() {
                    Some(_) => self.inventory.remove_taint_rule(0),
                    None => {
                        self.inventory.put_taint_rule(0, rule.clone());
                        self.cluster.rules.push(rule);
                    }
                }
                "a rule"
            }
            _ => {
                let slice = &self.cluster.slices[slot];
                let Some(device) = rng.choice(&slice.devices) else {
                    return "nothing";
                };
                let name = format!("{}/{}/{}", slice.driver, slice.pool, device.name);
                let held = allocation(&[&name], rng.f32() < 0.3);
                // Takes the place of another claim, or is a new one.
                let index = rng.usize(0..self.cluster.held.len() + 1);
                let uid = format!("held-{index}");
                self.inventory.set_stored(&uid, Some(&held));
                match self.cluster.held.get_mut(index) {
                    Some(before) => *before = held,
                    None => self.cluster.held.push(held),
                }
                "another claim"
            }
        }
    }
}

/// A cluster most of which is simple.
fn world(seed: u64) -> World {
    let mut cluster = random::cluster(seed, random::TAME);
    for (i, slice) in cluster.slices.iter_mut().enumerate() {
        slice.reach = Reach::NodeName("n1".into());
        slice.name = format!("s{i}");
    }
    World {
        inventory: cluster.inventory(),
        cluster,
        memory: Memory::default(),
        counts: [0; 2],
    }
}

#[test]
fn a_glance_says_what_a_search_would_say_whatever_changed_before() {
    let mut counts = [0; 2];
    for seed in 0..600 {
        let mut rng = Rng::with_seed(seed);
        let profile = [Profile::current(), Profile::v1_31()][seed as usize % 2].clone();
        let mut world = world(seed);
        world.check(seed, &profile, "nothing");
        for step in 0..6 {
            let what = world.change(&mut rng, seed * 6 + step);
            world.check(seed * 6 + step, &profile, what);
        }
        counts = [0, 1].map(|i| counts[i] + world.counts[i]);
    }
    let [glanced, searched] = counts;
    assert!(
        glanced > searched / 5,
        "{glanced} of {}",
        glanced + searched
    );
}
