//! Changes that were tried, in words: one sentence per type.

use crate::cluster::Cluster;
use crate::explain::document::{Holder, Reason};
use crate::explain::remedies::Ways;
use crate::explain::standing::{self, awaited};
use crate::stand_ins::change::{Change, Specified};

use super::native;
use super::needs::{self, Need};
use super::phrase::some_of;
use super::reasons::{holders, names, shown};

/// How many devices or pods a sentence names.
const SHOWN: usize = 3;

/// How a pod's requests are called, and where it is looked up who holds what.
pub struct Words<'a> {
    /// What the pod asks for.
    pub needs: &'a [Need],
    /// As it was when the changes were looked for.
    pub cluster: &'a Cluster,
}

impl Words<'_> {
    /// Each way of a step.
    pub fn ways(&self, ways: &Ways) -> Vec<String> {
        let ways = ways.iter().map(|changes| self.together(changes));
        ways.collect()
    }

    /// Changes that go together; claims that are freed are one thing to do.
    fn together(&self, changes: &[Change]) -> String {
        let is_freed = |change: &&Change| matches!(change, Change::FreeClaim { own: false, .. });
        let (freed, others): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(is_freed);
        let others = others.into_iter().map(|change| self.one(change));
        let mut parts: Vec<String> = others.collect();
        if !freed.is_empty() {
            parts.push(self.free(&freed));
        }
        // No commas: ways have those between them.
        parts.join(" and ")
    }

    fn one(&self, change: &Change) -> String {
        match change {
            Change::FreeClaim { claim, pods, .. } => self.own(claim, pods),
            Change::DeleteClaim { claim } => {
                format!("delete ResourceClaim {claim}, so that one is made for this pod")
            }
            Change::Tolerate {
                of,
                request,
                key,
                value,
                effect,
            } => format!(
                "tolerate {} in {}",
                native::taint(key, value, effect),
                match self.request(of, request) {
                    Some(request) => request,
                    None => "the request".to_owned(),
                }
            ),
            Change::RemoveTaint { devices, .. } => format!(
                "take the taint off {}",
                some_of(&names(devices), SHOWN, devices.len())
            ),
            Change::DeleteTaintRule { rule } => format!("delete DeviceTaintRule {rule}"),
            Change::AskFor {
                of,
                request,
                count,
                instead_of_all,
            } => {
                let what = match (instead_of_all, count) {
                    (false, count) => format!("ask for at most {count}"),
                    (true, 1) => "ask for 1 device instead of all".to_owned(),
                    (true, count) => format!("ask for {count} devices instead of all"),
                };
                what + &self.within(of, request)
            }
            Change::ChangeSelector { .. } => self.selector(change),
            Change::GiveUpConstraint {
                of,
                attribute,
                index,
            } => {
                let what = self.constraint(of, *index);
                let what = what.unwrap_or_else(|| attribute.clone());
                match self.needs.len() {
                    0 | 1 => format!("give up the constraint on {what}"),
                    _ => format!("give up the constraint on {what} in claim {}", of.claim),
                }
            }
            Change::DropRequest { of, request } => match self.needs.len() {
                0 | 1 => format!("leave out request {request}"),
                _ => format!("leave out request {request} of claim {}", of.claim),
            },
            Change::UseClass { from, class, .. } => {
                format!("name class {class} instead of {from}, which does not exist")
            }
            Change::CompletePool {
                driver,
                pool,
                surplus,
            } => match surplus {
                false => format!("have the driver publish all slices of {driver}/{pool}"),
                true => format!(
                    "have the driver correct {driver}/{pool}: its slices must be as many as their resourceSliceCount says"
                ),
            },
            other => of_core(other),
        }
    }

    fn selector(&self, change: &Change) -> String {
        let Change::ChangeSelector {
            of,
            request,
            expression,
            part,
            instead,
            ..
        } = change
        else {
            return String::new();
        };
        let whose = self.request(of, request);
        let whose = whose.map_or_else(String::new, |request| format!(" of {request}"));
        let guard = instead.as_ref().and_then(|instead| {
            let guard = instead.strip_suffix(')').unwrap_or(instead);
            let guard = guard.strip_suffix(part.as_str())?;
            Some(guard.trim_end_matches('(')).filter(|guard| guard.ends_with(" && "))
        });
        match (expression, instead, guard) {
            (None, ..) => format!("leave out selector `{}`{whose}", shown(part)),
            (_, None, _) => format!("leave `{}` out of the selector{whose}", shown(part)),
            (_, _, Some(guard)) => {
                format!(
                    "put `{guard}` before `{}` in the selector{whose}",
                    shown(part)
                )
            }
            (_, Some(instead), _) => format!(
                "write `{}` instead of `{}` in the selector{whose}",
                shown(instead),
                shown(part)
            ),
        }
    }

    /// What a constraint wants, where its claim has another one on the same attribute.
    fn constraint(&self, of: &Specified, index: usize) -> Option<String> {
        let mut needs = self.needs.iter();
        let need = needs.find(|need| need.claim.as_ref() == Some(&of.claim))?;
        let own = need.constraints.get(index)?;
        let same = need
            .constraints
            .iter()
            .filter(|one| one.attribute == own.attribute);
        (same.count() > 1).then(|| needs::tie(need, own))
    }

    /// A claim of the pod itself that is allocated where it cannot go.
    fn own(&self, claim: &str, pods: &[String]) -> String {
        let standing = standing::of(claim, self.cluster).unwrap_or_default();
        let over = pods.iter().all(|pod| standing.pods.contains_key(pod));
        match (pods.is_empty(), over) {
            (true, _) => format!(
                "take the allocation off ResourceClaim {claim}, which nobody uses: delete it and create it anew"
            ),
            (_, true) => format!(
                "wait until the reservations of ResourceClaim {claim} are taken off: none of its pods uses it any more"
            ),
            (_, false) => format!(
                "let {} end, so that ResourceClaim {claim} is allocated anew",
                some_of(pods, SHOWN, pods.len())
            ),
        }
    }

    /// `free gpu-0, held by claim a/b (pod a/p)`, or how long to wait where nobody uses it any more.
    fn free(&self, changes: &[&Change]) -> String {
        let mut reason = Reason::default();
        for change in changes {
            let Change::FreeClaim {
                claim,
                pods,
                devices,
                ..
            } = change
            else {
                continue;
            };
            reason.devices.extend(devices.iter().cloned());
            reason.holders.push(Holder {
                claim: claim.clone(),
                pods: pods.clone(),
                standing: standing::of(claim, self.cluster).unwrap_or_default(),
                ..Holder::default()
            });
        }
        let devices = some_of(&names(&reason.devices), SHOWN, reason.devices.len());
        let held = holders(&reason);
        let idle = reason.holders.iter().all(|holder| holder.standing.is_idle);
        match (awaited(&reason.holders), idle, reason.holders.len()) {
            (Some(how), ..) => format!("wait for {devices}, held by {held}: {how}"),
            (None, true, 1) => format!("free {devices}, held by {held}: delete that claim"),
            (None, true, _) => format!("free {devices}, held by {held}: delete those claims"),
            (None, false, _) => format!("free {devices}, held by {held}"),
        }
    }

    /// How a request is called, where there are several.
    fn request(&self, of: &Specified, name: &str) -> Option<String> {
        let requests = self.needs.iter().map(|need| need.requests.len());
        match (self.needs.len(), requests.sum::<usize>()) {
            (_, 0 | 1) => None,
            (0 | 1, _) => Some(format!("request {name}")),
            _ => Some(format!("request {name} of claim {}", of.claim)),
        }
    }

    fn within(&self, of: &Specified, name: &str) -> String {
        let request = self.request(of, name);
        request.map_or_else(String::new, |request| format!(" in {request}"))
    }
}

/// Changes of pods, nodes and namespaces.
fn of_core(change: &Change) -> String {
    match change {
        Change::EndPods {
            node,
            resource,
            amount,
            pods,
        } => format!(
            "free {amount} of {resource} on {node}, for example by ending {}",
            some_of(pods, SHOWN, pods.len())
        ),
        Change::Uncordon { node } => format!("kubectl uncordon {node}"),
        Change::TolerateNodeTaint { key, value, effect } => {
            format!("tolerate {} in the pod", native::taint(key, value, effect))
        }
        Change::RemoveNodeTaint { node, key, effect } => {
            format!("take the taint off: kubectl taint node {node} {key}:{effect}-")
        }
        Change::LabelNode { node, key, value } => format!("set label {key} of {node} to {value}"),
        Change::DropNodeSelection {} => {
            "take node selector and required node affinity out of the pod".to_owned()
        }
        Change::AskResource { resource, amount } => {
            format!("ask for at most {amount} of {resource}")
        }
        _ => String::new(),
    }
}
