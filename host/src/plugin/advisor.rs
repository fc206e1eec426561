//! The optional interfaces `explain` and `advice`: questions that are not part of any cycle.

use super::component::Component;
use super::contract::exports::advice;
use super::convert;
use super::instance::Call;
use super::scheduling::{Scheduling, aside};
use crate::object::{Object, ObjectRef};
use crate::plugin::{PluginError, Revision, SharedServices};

/// Contract: `advice.severity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Severity {
    Error,
    Warning,
    Hint,
}

/// Contract: `advice.finding`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Which object.
    pub object: ObjectRef,
    /// Where in it; empty for all of it.
    pub path: String,
    /// One sentence.
    pub message: String,
    /// What to do; may be empty.
    pub remedy: String,
}

/// An instance that is asked for reasons and advice. After an error it must be dropped.
///
/// Each answer is `None` if the plugin does not export the interface.
pub struct Advisor {
    instance: Scheduling,
    report_bytes: usize,
}

impl Component {
    /// Makes an instance that reads through `services`.
    pub fn advisor(&self, services: &SharedServices) -> Result<Advisor, PluginError> {
        Ok(Advisor {
            instance: self.start(services)?,
            report_bytes: self.limits().report_bytes,
        })
    }
}

impl Advisor {
    /// `explain.explain`: one answer per node.
    pub fn explain(
        &mut self,
        pod: &Object,
        at: Revision,
        nodes: &[String],
    ) -> Result<Option<Vec<Vec<u8>>>, PluginError> {
        let name = "explain";
        let object = self.instance.convert_object(pod);
        let call = Call {
            nodes: nodes.len(),
            ..aside(name, &pod.id().uid)
        };
        let answers = self
            .instance
            .call(call, |store, functions| match &functions.explain {
                Some(explain) => explain.call_explain(store, &object, at, nodes).map(Some),
                None => Ok(None),
            })?;
        if let Some(answers) = &answers {
            self.instance
                .check_count(name, "explanations", answers.len(), nodes.len())?;
            self.check(name, answers.iter().map(Vec::len).sum())?;
        }
        Ok(answers)
    }

    /// `advice.lint`.
    pub fn lint(&mut self, at: Revision) -> Result<Option<Vec<Finding>>, PluginError> {
        let findings =
            self.instance.call(aside("lint", ""), |store, functions| {
                match &functions.advice {
                    Some(advice) => advice.call_lint(store, at).map(Some),
                    None => Ok(None),
                }
            })?;
        let size = |finding: &advice::Finding| {
            finding.path.len() + finding.message.len() + finding.remedy.len()
        };
        let count = findings.as_ref().map_or(0, Vec::len);
        self.instance.check_results("lint", "findings", count)?;
        self.check("lint", findings.iter().flatten().map(size).sum())?;
        Ok(findings.map(|findings| findings.into_iter().map(finding).collect()))
    }

    /// `advice.devices`.
    pub fn devices(&mut self, at: Revision) -> Result<Option<Vec<u8>>, PluginError> {
        let devices =
            self.instance
                .call(aside("devices", ""), |store, functions| {
                    match &functions.advice {
                        Some(advice) => advice.call_devices(store, at).map(Some),
                        None => Ok(None),
                    }
                })?;
        self.check("devices", devices.as_ref().map_or(0, Vec::len))?;
        Ok(devices)
    }

    fn check(&mut self, call: &str, size: usize) -> Result<(), PluginError> {
        self.instance
            .check_limit(call, "text", size, self.report_bytes)
    }
}

fn finding(finding: advice::Finding) -> Finding {
    Finding {
        severity: match finding.severity {
            advice::Severity::Error => Severity::Error,
            advice::Severity::Warning => Severity::Warning,
            advice::Severity::Hint => Severity::Hint,
        },
        object: convert::host_ref(finding.object),
        path: finding.path,
        message: finding.message,
        remedy: finding.remedy,
    }
}
