//! The calls of a scheduling cycle, made directly.

use dractl::object::{Kind, Object};
use dractl::plugin::{
    Action, Answers, CycleId, Fault, Hint, Interest, Nomination, ObjectEvent, PluginError,
    Progress, Revision, SchedulingInstance, Scope, Slot, Status,
};
use dynamic_resources::cycle::{self, Cycle};
use dynamic_resources::{hints, plugin};

use super::host::NativeHost;
use super::values::{to_guest, to_status};

/// An instance of the plugin, and its cycles by their number.
pub struct NativeInstance {
    pub plugin: plugin::Plugin,
    pub host: NativeHost,
    pub cycles: Vec<Option<Cycle>>,
}

impl NativeInstance {
    fn begin(&mut self, pod: &Object, may_write: bool) {
        self.host.pod_uid = pod.id().uid.to_string();
        self.host.may_write = may_write;
    }
}

/// Runs a method of a living cycle.
macro_rules! in_cycle {
    ($self:ident, $id:ident, |$cycle:ident| $call:expr) => {
        match $self
            .cycles
            .get(usize::try_from($id.0).unwrap_or(usize::MAX))
        {
            Some(Some($cycle)) => $call,
            _ => {
                return Err(PluginError {
                    fault: Fault::Contract,
                    plugin: plugin::NAME.into(),
                    call: "cycle".into(),
                    cause: "unknown cycle".into(),
                });
            }
        }
    };
}

impl SchedulingInstance for NativeInstance {
    fn events_to_register(&mut self) -> Result<Vec<Interest>, PluginError> {
        let action = |action: &hints::Action| match action {
            hints::Action::Add => Action::Add,
            hints::Action::Update => Action::Update,
            hints::Action::Delete => Action::Delete,
        };
        let interests = self
            .plugin
            .events_to_register()
            .into_iter()
            .map(|interest| Interest {
                kind: Kind::new(interest.kind),
                actions: interest.actions.iter().map(action).collect(),
                hinted: interest.hinted,
            });
        Ok(interests.collect())
    }

    fn pre_enqueue(&mut self, pod: &Object) -> Result<Status, PluginError> {
        self.begin(pod, false);
        Ok(to_status(
            self.plugin.pre_enqueue(&self.host, &to_guest(pod)),
        ))
    }

    fn hints(
        &mut self,
        event: &ObjectEvent,
        pods: &[Object],
    ) -> Result<Vec<Result<Hint, String>>, PluginError> {
        let event = hints::Event {
            kind: event.kind.as_str().into(),
            old: event.old.as_ref().map(to_guest),
            new: event.new.as_ref().map(to_guest),
        };
        let pods: Vec<_> = pods.iter().map(to_guest).collect();
        let hints = self
            .plugin
            .hints(&self.host, &event, &pods)
            .into_iter()
            .map(|hint| {
                hint.map(|hint| match hint {
                    hints::Hint::Skip => Hint::Skip,
                    hints::Hint::Queue => Hint::Queue,
                })
            });
        Ok(hints.collect())
    }

    fn pre_filter(&mut self, pod: &Object, _at: Revision) -> Result<(CycleId, Scope), PluginError> {
        self.begin(pod, false);
        let (cycle, scope) = self.plugin.pre_filter(&self.host, &to_guest(pod));
        let scope = match scope {
            cycle::Scope::AllNodes => Scope::AllNodes,
            cycle::Scope::Skip => Scope::Skip,
            cycle::Scope::Rejected(status) => Scope::Rejected(to_status(status)),
        };
        self.cycles.push(Some(cycle));
        Ok((CycleId(self.cycles.len() as u64 - 1), scope))
    }

    fn filter(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Answers, PluginError> {
        let answers = in_cycle!(self, cycle, |cycle| self
            .plugin
            .filter(&self.host, cycle, nodes));
        Ok(Answers {
            verdicts: answers.verdicts,
            statuses: answers.statuses.into_iter().map(to_status).collect(),
        })
    }

    fn post_filter(&mut self, cycle: CycleId) -> Result<Nomination, PluginError> {
        self.host.may_write = true;
        let status = in_cycle!(self, cycle, |cycle| self
            .plugin
            .post_filter(&self.host, cycle));
        self.host.may_write = false;
        Ok(Nomination {
            status: to_status(status),
            node: None,
        })
    }

    fn pre_score(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Status, PluginError> {
        Ok(to_status(in_cycle!(self, cycle, |cycle| self
            .plugin
            .pre_score(&self.host, cycle, nodes))))
    }

    fn score(
        &mut self,
        cycle: CycleId,
        nodes: &[Slot],
    ) -> Result<Result<Vec<i64>, Status>, PluginError> {
        Ok(Ok(in_cycle!(self, cycle, |cycle| plugin::Plugin::score(
            cycle, nodes
        ))))
    }

    fn reserve(&mut self, cycle: CycleId, node: Slot) -> Result<Progress, PluginError> {
        let (status, plan) = in_cycle!(self, cycle, |cycle| self
            .plugin
            .reserve(&self.host, cycle, node));
        Ok(Progress {
            status: to_status(status),
            plan: plan.into(),
        })
    }

    fn end_cycle(&mut self, cycle: CycleId) -> Result<(), PluginError> {
        if let Some(slot) = self
            .cycles
            .get_mut(usize::try_from(cycle.0).unwrap_or(usize::MAX))
        {
            *slot = None;
        }
        while self.cycles.last().is_some_and(Option::is_none) {
            self.cycles.pop();
        }
        Ok(())
    }
}
