//! Runs the allocator on what is known of the cluster, and counts what that takes.

use std::cell::Cell;
use std::rc::Rc;

use super::table::Table;
use super::{Read, View};
use crate::allocator::{Allocator, ClassLookup, Inventory, Limits, Observer, Outcome};
use crate::api::{DeviceClass, Node};
use crate::config::Config;
use crate::host::{Host, Level, Slot};
use crate::selectors::SelectorCache;

impl View {
    /// Runs the allocator for one node.
    pub fn allocate(&mut self, allocator: &mut Allocator, slot: Slot, config: &Config) -> Outcome {
        let outcome = self.with_allocator_input(slot, |node, inventory, classes, selectors| {
            let (profile, steps) = (&config.profile, config.allocator_steps);
            allocator.allocate(node, inventory, classes, selectors, profile, steps)
        });
        self.search_steps += allocator.steps_used();
        outcome.unwrap_or_else(|| unknown_node(slot))
    }

    /// The same without the work of writing results down, and only as long as Filter may take.
    pub fn fits<O: Observer>(
        &mut self,
        allocator: &mut Allocator,
        slot: Slot,
        (config, host): (&Config, &dyn Host),
        observer: &mut O,
    ) -> Result<i64, Outcome> {
        // Counted from the first look at the clock: most attempts end before it.
        let began = Cell::new(None);
        let is_late = || {
            let now = host.now();
            let began = began.get().unwrap_or_else(|| {
                began.set(Some(now));
                now
            });
            config
                .filter_timeout
                .is_some_and(|most| now.saturating_sub(began) >= most)
        };
        let limits = Limits {
            steps: config.allocator_steps,
            is_late: config.filter_timeout.is_some().then_some(&is_late),
        };
        let outcome = self.with_allocator_input(slot, |node, inventory, classes, selectors| {
            let cluster = (node, inventory, classes, selectors);
            allocator.fits_observed(cluster, &config.profile, limits, observer)
        });
        self.search_steps += allocator.steps_used();
        outcome.unwrap_or_else(|| Err(unknown_node(slot)))
    }

    /// Tells the host what was counted since the last call.
    pub fn tell_counts(&mut self, host: &dyn Host) {
        let counts = [self.selectors.evaluations(), self.search_steps];
        let before = std::mem::replace(&mut self.told, counts);
        if counts != before {
            let [evaluations, steps] = [0, 1].map(|i| (counts[i] - before[i]).to_string());
            let fields = [
                ("celEvaluations", evaluations.as_str()),
                ("searchSteps", steps.as_str()),
            ];
            host.log(Level::Trace, "counts", &fields);
        }
    }

    /// Looks at a node as the allocator does. `None`: it is not known.
    pub fn with_allocator_input<R>(
        &mut self,
        slot: Slot,
        run: impl FnOnce(&Node, &Inventory, &mut ClassLookup<'_>, &mut SelectorCache) -> R,
    ) -> Option<R> {
        let node = self.nodes.at(slot)?;
        let mut lookup = class_lookup(&self.classes);
        Some(run(node, &self.inventory, &mut lookup, &mut self.selectors))
    }

    /// Looks at classes while expressions are compiled.
    pub fn with_classes<R>(
        &mut self,
        run: impl FnOnce(&mut ClassLookup<'_>, &mut SelectorCache) -> R,
    ) -> R {
        run(&mut class_lookup(&self.classes), &mut self.selectors)
    }
}

fn class_lookup(
    classes: &Table<Read<DeviceClass>>,
) -> impl FnMut(&str) -> Result<Rc<DeviceClass>, String> {
    |name| match classes.get("", name) {
        Some(Ok(class)) => Ok(Rc::clone(class)),
        Some(Err(problem)) => Err(problem.to_string()),
        // Text of the lister; PreFilter refuses the pod before it can be seen.
        None => Err(format!("deviceclass.resource.k8s.io \"{name}\" not found")),
    }
}

fn unknown_node(slot: Slot) -> Outcome {
    Outcome::Error(format!("node with slot {slot} is not known"))
}
