//! What the loop does about a change in the cluster (upstream's `addAllEventHandlers`).

use super::intake::{self, Intake};
use super::outcome::{Ended, PodOutcome};
use super::state::Memory;
use super::{Note, Record, Scheduler, lock};
use crate::cluster::Warning;
use crate::object::{Kind, Object};
use crate::plugin::{Action, ObjectEvent};
use crate::queue::Time;

impl Scheduler {
    /// Reads the whole cluster once: generates claims, finds nodes and pods.
    pub(super) fn take_over(&mut self) {
        self.run_claim_controller();
        self.cluster().deliver();
        let (notes, pods) = {
            let cluster = lock(&self.cluster);
            let kind = Kind::new("Pod");
            let mut entries: Vec<_> = cluster.list(&kind).collect();
            entries.sort_by_key(|entry| entry.slot);
            let pods: Vec<Object> = entries
                .into_iter()
                .map(|entry| entry.object.clone())
                .collect();
            (self.native.rebuild(&cluster), pods)
        };
        notes.into_iter().for_each(|note| self.note(note));
        for pod in pods {
            self.take_pod(pod);
        }
    }

    /// Takes events until there are no more: the claim controller answers some of them with writes.
    pub(super) fn take_events(&mut self) {
        loop {
            let events = self.cluster().deliver();
            if events.is_empty() {
                return;
            }
            for event in &events {
                self.take_event(event);
            }
            self.run_claim_controller();
        }
    }

    fn run_claim_controller(&mut self) {
        let warnings = self.cluster().run_claim_controller();
        self.note_all(warnings);
    }

    /// What it writes is taken as events before anything else happens.
    pub(super) fn run_classic_driver(&mut self) {
        let warnings = self.cluster().run_classic_driver();
        self.note_all(warnings);
    }

    fn note_all(&mut self, warnings: Vec<Warning>) {
        for warning in warnings {
            self.note(Note {
                object: warning.object,
                message: warning.message,
            });
        }
    }

    fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn take_event(&mut self, event: &ObjectEvent) {
        self.state.change(event);
        let note = {
            let object = event.new.as_ref().or(event.old.as_ref());
            let binding = object.and_then(|object| {
                self.bindings
                    .iter()
                    .find(|binding| binding.pod.id().uid == object.id().uid)
            });
            let assumed = binding
                .filter(|binding| binding.assumed)
                .map(|binding| binding.node.as_ref());
            self.native.on_event(event, assumed, &lock(&self.cluster))
        };
        note.into_iter().for_each(|note| self.note(note));
        let now = self.now();
        match event.new.as_ref().or(event.old.as_ref()) {
            Some(pod) if event.kind.as_str() == "Pod" => self.take_pod_event(event, pod, now),
            _ => self.queue.on_event(event, now, &mut self.seat),
        }
    }

    fn take_pod_event(&mut self, event: &ObjectEvent, pod: &Object, now: Time) {
        let uid = &pod.id().uid;
        if event.action != Action::Delete && intake::is_pending(pod) {
            return match self.pods.get_mut(uid) {
                Some(record) => {
                    record.outcome.pod = pod.clone();
                    self.queue.update(pod.clone(), now, &mut self.seat);
                }
                None => self.take_pod(pod.clone()),
            };
        }
        // While this scheduler binds it, the binding cycle takes note of that itself.
        if !self
            .bindings
            .iter()
            .any(|binding| binding.pod.id().uid == *uid)
        {
            self.queue.remove(uid);
            match self.pods.get_mut(uid) {
                Some(record) if matches!(record.outcome.ended, Ended::Bound { .. }) => {
                    record.outcome.pod = pod.clone();
                }
                _ => _ = self.pods.remove(uid),
            }
        }
        match intake::ends(event) {
            // Upstream's informer does not see pods that have ended: for the queue it is gone.
            true => {
                let gone = ObjectEvent {
                    action: Action::Delete,
                    new: None,
                    ..event.clone()
                };
                self.queue.on_event(&gone, now, &mut self.seat);
            }
            false => self.queue.on_event(event, now, &mut self.seat),
        }
    }

    /// A pod that is new here.
    fn take_pod(&mut self, pod: Object) {
        let only = self.settings.only.as_ref();
        if only.is_some_and(|only| *only != pod.id().uid) {
            return;
        }
        let mut outcome = PodOutcome::new(pod.clone(), self.next_order);
        match intake::sort(&pod, &self.settings.input_errors) {
            Intake::NotPending => return,
            Intake::Refused(status) => outcome.refuse(status),
            Intake::Pending => {
                let (priority, warning) = self.native.priority(&pod);
                outcome.warnings = intake::warnings(&pod);
                outcome.warnings.extend(self.native.not_checked(&pod));
                outcome.warnings.extend(warning);
                let now = self.now();
                self.queue.add(pod.clone(), priority, now, &mut self.seat);
            }
        }
        self.next_order += 1;
        let record = Record {
            outcome,
            memory: Memory::default(),
            first_call: 0,
        };
        self.pods.insert(pod.id().uid.clone(), record);
    }
}
