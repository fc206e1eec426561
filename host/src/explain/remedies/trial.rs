//! Tries changes out: on a copy of the objects, with a fresh instance of the plugin, by the attempt that a simulation makes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cluster::Cluster;
use crate::explain::{Explainer, NodeAnswer, look};
use crate::object::Object;
use crate::plugin::{Plugin, PluginError, SharedServices};
use crate::scheduler::chooser::OneAtATime;
use crate::scheduler::outcome::Ended;
use crate::scheduler::{Scheduler, Settings};
use crate::stand_ins::change::{Change, Objects, apply};

/// Makes somebody who explains what reads through these services.
pub type Explainers<'a> = dyn Fn(&SharedServices) -> Result<Box<dyn Explainer>, PluginError> + 'a;

/// What every trial needs.
pub struct Bench<'a> {
    /// The pod, as it is in the cluster.
    pub pod: &'a Object,
    /// Where it was tried: what is changed is a copy.
    pub cluster: &'a Cluster,
    /// Decides.
    pub plugin: Rc<dyn Plugin>,
    /// Says why.
    pub explainers: &'a Explainers<'a>,
    /// See [`Settings::input_errors`].
    pub input_errors: &'a BTreeMap<String, String>,
    /// How many trials are left.
    pub left: usize,
}

/// How one ended.
pub enum Trial {
    /// The pod was placed, there.
    Fits(Arc<str>),
    /// It was not; with what stands in the way then, if that was asked.
    Refused(Vec<NodeAnswer>),
}

impl Bench<'_> {
    /// Makes the changes to a copy of these objects and tries the pod. None if nothing is left for it, or the plugin fails.
    pub fn trial(&mut self, objects: &Objects, changes: &[Change], why: bool) -> Option<Trial> {
        self.left = self.left.checked_sub(1)?;
        let mut objects = objects.clone();
        apply(&mut objects, changes, self.pod.id());
        let cluster = self.cluster.copy_with(objects.into_objects());
        let cluster = Arc::new(Mutex::new(cluster));
        let uid = self.pod.id().uid.clone();
        let settings = Settings {
            input_errors: self.input_errors.clone(),
            only: Some(uid.clone()),
            ..Settings::default()
        };
        let mut scheduler = Scheduler::new(cluster.clone(), self.plugin.clone(), settings).ok()?;
        let seen = Rc::new(RefCell::new(Vec::new()));
        if why {
            let services: SharedServices = cluster.clone();
            let mut explainer = (self.explainers)(&services).ok()?;
            let shared = seen.clone();
            scheduler.watch(
                &uid,
                Box::new(move |scene| {
                    *shared.borrow_mut() = look(scene, explainer.as_mut()).nodes;
                }),
            );
        }
        scheduler.run(&mut OneAtATime);
        if why {
            let locked = cluster.lock().unwrap_or_else(PoisonError::into_inner);
            let id = self.pod.id();
            let entry = locked.entry(&id.kind, &id.namespace, &id.name);
            let pod = entry.map_or_else(|| self.pod.clone(), |entry| entry.object.clone());
            drop(locked);
            scheduler.show_unseen(&pod);
        }
        let outcomes = scheduler.outcomes();
        let own = outcomes.into_iter().find(|one| one.pod.id().uid == uid);
        Some(match own.map(|one| one.ended) {
            Some(Ended::Bound { node }) => Trial::Fits(node),
            _ => Trial::Refused(seen.take()),
        })
    }
}
