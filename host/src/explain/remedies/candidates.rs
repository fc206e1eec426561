//! Which changes might take away what the basic filters and the plugin's document say against a node. That one helps is not
//! said here: that is tried.

use crate::explain::NodeAnswer;
use crate::explain::document::{Claim, Document, Reason, Request, Taint};
use crate::filters::{Obstacle, amount};
use crate::nearest::class_meant;
use crate::object::Object;
use crate::stand_ins::change::{Change, Objects, Specified};

use super::selectors;

/// What kind of change it is: the earlier the better, if others do as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Nothing else takes this reason away.
    Needed,
    /// Others end.
    Free,
    /// A taint is accepted, or taken off.
    Tolerate,
    /// A driver publishes what it promised.
    Complete,
    /// A selector is corrected: what it says is near to what devices publish.
    Correct,
    /// Fewer devices are asked for.
    Fewer,
    /// A selector, or a part of it, is left out.
    Selector,
    /// A constraint is left out.
    GiveUp,
    /// A whole request is left out.
    Drop,
}

/// Something that might help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its kind.
    pub class: Class,
    /// It, and what comes to the same.
    pub ways: Vec<Change>,
    /// For a number: how large it may at most become. It begins with the smallest.
    pub most: u64,
}

impl Candidate {
    pub(super) fn new(class: Class, ways: Vec<Change>) -> Self {
        Self {
            class,
            ways,
            most: 0,
        }
    }
}

/// All that an answer suggests for a pod.
pub fn of(answer: &NodeAnswer, pod: &Object, objects: &Objects) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let native = answer.native.iter();
    found.extend(native.filter_map(|obstacle| of_obstacle(obstacle, &answer.name, objects)));
    let document = answer.document.as_ref().and_then(Document::read);
    if let Some(document) = document.filter(|one| one.verdict.at.is_some()) {
        let of = Asked {
            pod,
            objects,
            document: &document,
        };
        of.all(&mut found);
    }
    found
}

fn of_obstacle(obstacle: &Obstacle, node: &str, objects: &Objects) -> Option<Candidate> {
    let node = node.to_owned();
    let ways = match obstacle {
        Obstacle::Unschedulable => vec![Change::Uncordon { node }],
        Obstacle::NodeName { .. } | Obstacle::Unreadable(_) => return None,
        Obstacle::Taint { key, value, effect } => vec![
            Change::TolerateNodeTaint {
                key: key.clone(),
                value: value.clone(),
                effect: (*effect).to_owned(),
            },
            Change::RemoveNodeTaint {
                node,
                key: key.clone(),
                effect: (*effect).to_owned(),
            },
        ],
        Obstacle::Label { key, .. } if key == "metadata.name" => return None,
        Obstacle::Label { key, wanted, .. } => {
            let label = label(wanted).map(|value| Change::LabelNode {
                node,
                key: key.clone(),
                value: value.to_owned(),
            });
            label
                .into_iter()
                .chain([Change::DropNodeSelection {}])
                .collect()
        }
        Obstacle::Resource {
            name,
            wanted,
            allocatable,
            used,
        } => of_resource(name, [*wanted, *allocatable, *used], node, objects),
    };
    (!ways.is_empty()).then(|| Candidate::new(Class::Needed, ways))
}

/// What is left of a resource will do, or other pods end.
fn of_resource(
    name: &str,
    [wanted, allocatable, used]: [i128; 3],
    node: String,
    objects: &Objects,
) -> Vec<Change> {
    let left = match allocatable - used {
        // Without others there is something.
        ..=0 if wanted > allocatable => allocatable,
        left => left,
    };
    let ask = (left > 0 && name != "pods").then(|| Change::AskResource {
        resource: name.to_owned(),
        amount: amount(name, left),
    });
    let short = wanted - (allocatable - used);
    let scale = if name == "cpu" { 1 } else { 1000 };
    let users = objects.users_of(&node, name);
    let pods = enough(users, short * scale).filter(|_| wanted <= allocatable);
    let end = pods.map(|pods| Change::EndPods {
        pods,
        node,
        resource: name.to_owned(),
        amount: amount(name, short),
    });
    ask.into_iter().chain(end).collect()
}

/// A value that a label may get; `wanted` is as [`Obstacle::Label`] says it.
fn label(wanted: &str) -> Option<&str> {
    let first = match wanted.strip_prefix("one of ") {
        Some(several) => several.split(", ").next()?,
        None => wanted,
    };
    (!first.is_empty() && !first.contains(' ')).then_some(first)
}

/// The pod that alone is enough and takes the least, else the largest until it is enough.
fn enough(mut users: Vec<(String, i128)>, short: i128) -> Option<Vec<String>> {
    users.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    if let Some((pod, _)) = users.iter().find(|(_, amount)| *amount >= short) {
        return Some(vec![pod.clone()]);
    }
    let (mut left, mut pods) = (short, Vec::new());
    for (pod, amount) in users.into_iter().rev() {
        if left <= 0 {
            break;
        }
        left -= amount;
        pods.push(pod);
    }
    (left <= 0).then_some(pods)
}

/// What a pod asks for, and what is said about it.
struct Asked<'a> {
    pod: &'a Object,
    objects: &'a Objects,
    document: &'a Document,
}

impl Asked<'_> {
    fn all(&self, found: &mut Vec<Candidate>) {
        for claim in &self.document.claims {
            for reason in &claim.reasons {
                push(found, self.of_claim(claim, reason));
                self.without_class(claim, reason, found);
            }
        }
        let mut reasons: Vec<(&Claim, &Request, &Reason)> = Vec::new();
        for claim in &self.document.claims {
            for request in &claim.requests {
                let own = request.reasons.iter();
                let own = own.flat_map(|reason| std::iter::once(reason).chain(&reason.also));
                reasons.extend(own.map(|reason| (claim, request, reason)));
            }
        }
        self.free(&reasons, found);
        for (claim, request, reason) in &reasons {
            push(found, self.of_taint(claim, request, reason));
            push(found, complete(reason));
            let selectors = selectors::of(self.specified(claim), request, reason);
            selectors.into_iter().for_each(|one| push(found, Some(one)));
        }
        for claim in &self.document.claims {
            let requests = claim.requests.iter();
            let fewer = requests
                .clone()
                .filter_map(|request| self.fewer(claim, request));
            fewer.for_each(|one| push(found, Some(one)));
            for constraint in &claim.constraints {
                let given_up = Change::GiveUpConstraint {
                    of: self.specified(claim),
                    index: usize::try_from(constraint.index).unwrap_or(usize::MAX),
                    attribute: constraint.attribute.clone(),
                };
                push(found, Some(Candidate::new(Class::GiveUp, vec![given_up])));
            }
            let names = requests.map(|request| request.name.split('/').next().unwrap_or_default());
            let mut names: Vec<&str> = names.collect();
            names.dedup();
            for name in names.iter().skip(1).rev() {
                let dropped = Change::DropRequest {
                    of: self.specified(claim),
                    request: (*name).to_owned(),
                };
                push(found, Some(Candidate::new(Class::Drop, vec![dropped])));
            }
        }
    }

    fn specified(&self, claim: &Claim) -> Specified {
        let namespace = &self.pod.id().namespace;
        let entries = self.pod.value().pointer("/spec/resourceClaims");
        let entries = entries
            .and_then(|entries| entries.as_array())
            .into_iter()
            .flatten();
        let template = entries
            .filter(|entry| entry["name"] == *claim.name)
            .find_map(|entry| entry.get("resourceClaimTemplateName")?.as_str());
        Specified {
            claim: claim.claim.clone().unwrap_or_default(),
            template: template.map(|name| format!("{namespace}/{name}")),
        }
    }

    fn of_claim(&self, claim: &Claim, reason: &Reason) -> Option<Candidate> {
        let name = claim.claim.clone()?;
        let change = match reason.kind.as_str() {
            "claim-not-owned" => Change::DeleteClaim { claim: name },
            "claim-reserved" | "claim-full" | "claim-elsewhere" => {
                self.objects.freeing(&name, self.pod)?
            }
            "class-missing" => {
                let from = reason.missing_class();
                let class = class_meant(from, self.objects.names("DeviceClass", ""))?;
                Change::UseClass {
                    of: self.specified(claim),
                    from: from.to_owned(),
                    class: class.to_owned(),
                }
            }
            _ => return None,
        };
        Some(Candidate::new(Class::Needed, vec![change]))
    }

    /// What names a class that does not exist may be left out, if something is left.
    fn without_class(&self, claim: &Claim, reason: &Reason, found: &mut Vec<Candidate>) {
        let of = self.specified(claim);
        for request in self.objects.naming(&of, reason.missing_class()) {
            if reason.kind == "class-missing" {
                let of = of.clone();
                let dropped = Change::DropRequest { of, request };
                push(found, Some(Candidate::new(Class::Drop, vec![dropped])));
            }
        }
    }

    /// Those who hold devices or counters, but for the pod itself: what its claims hold is for its own good.
    fn free(&self, reasons: &[(&Claim, &Request, &Reason)], found: &mut Vec<Candidate>) {
        let constraints = self
            .document
            .claims
            .iter()
            .flat_map(|claim| &claim.constraints);
        let nearest = constraints.filter_map(|one| Some(&one.nearest.as_ref()?.held));
        let together = self.document.together.iter().flat_map(|one| &one.counters);
        let all = nearest
            .chain(reasons.iter().map(|(_, _, reason)| *reason))
            .chain(together);
        for holder in all.flat_map(|reason| &reason.holders) {
            let free = self.objects.freeing(&holder.claim, self.pod);
            let is_other = |change: &Change| matches!(change, Change::FreeClaim { own: false, .. });
            let free = free.filter(|change| !holder.in_flight && is_other(change));
            push(
                found,
                free.map(|free| Candidate::new(Class::Free, vec![free])),
            );
        }
    }

    fn of_taint(&self, claim: &Claim, request: &Request, reason: &Reason) -> Option<Candidate> {
        let Taint {
            key,
            value,
            effect,
            rule,
        } = reason.taint.clone().filter(|_| reason.kind == "taint")?;
        let off = match rule {
            Some(rule) => Some(Change::DeleteTaintRule { rule }),
            None if reason.devices.len() as u64 == reason.count => Some(Change::RemoveTaint {
                devices: reason.devices.clone(),
                key: key.clone(),
                value: value.clone(),
                effect: effect.clone(),
            }),
            // Not all of them are named.
            None => None,
        };
        let tolerate = Change::Tolerate {
            of: self.specified(claim),
            request: request.name.clone(),
            key,
            value,
            effect,
        };
        let ways = std::iter::once(tolerate).chain(off).collect();
        Some(Candidate::new(Class::Tolerate, ways))
    }

    fn fewer(&self, claim: &Claim, request: &Request) -> Option<Candidate> {
        let most = match request.count {
            Some(count) => u64::try_from(count)
                .ok()?
                .checked_sub(1)
                .filter(|most| *most > 0)?,
            None => request.matching,
        };
        let fewer = Change::AskFor {
            of: self.specified(claim),
            request: request.name.clone(),
            count: 1,
            instead_of_all: request.count.is_none(),
        };
        Some(Candidate {
            most,
            ..Candidate::new(Class::Fewer, vec![fewer])
        })
        .filter(|one| one.most > 0)
    }
}

fn complete(reason: &Reason) -> Option<Candidate> {
    let is_incomplete = reason.kind == "pool-incomplete"
        || (reason.kind == "all-spoiled" && reason.message.starts_with("incomplete"));
    let (driver, pool) = reason.pool.split_once('/').filter(|_| is_incomplete)?;
    let change = Change::CompletePool {
        driver: driver.to_owned(),
        pool: pool.to_owned(),
        surplus: reason.have > reason.needed,
    };
    Some(Candidate::new(Class::Complete, vec![change]))
}

/// Something is left of each claim: what would leave out its last request is no candidate.
pub fn keep_some(known: &mut Vec<Candidate>, objects: &Objects) {
    let mut dropped: Vec<Specified> = Vec::new();
    known.retain(|one| match one.ways.first() {
        Some(Change::DropRequest { of, request }) if !request.contains('/') => {
            let already = dropped.iter().filter(|other| *other == of).count();
            dropped.push(of.clone());
            let stays = already + 1 < objects.requests(of).len();
            if !stays {
                dropped.pop();
            }
            stays
        }
        _ => true,
    });
}

/// Each once.
fn push(found: &mut Vec<Candidate>, one: Option<Candidate>) {
    if let Some(one) = one.filter(|one| !is_known(found, one)) {
        found.push(one);
    }
}

/// Whether the change is among the candidates, perhaps with other numbers: then it is part of what was tried.
pub fn is_known(found: &[Candidate], one: &Candidate) -> bool {
    found
        .iter()
        .any(|known| match (known.ways.first(), one.ways.first()) {
            (
                Some(Change::AskFor { of, request, .. }),
                Some(Change::AskFor {
                    of: other,
                    request: name,
                    ..
                }),
            ) => of == other && request == name,
            (known, one) => known == one,
        })
}

/// Whether the change is among the candidates, or changes what one of them leaves out already.
pub fn is_told(found: &[Candidate], one: &Candidate) -> bool {
    let Some(Change::ChangeSelector {
        of, request, index, ..
    }) = one.ways.first()
    else {
        return is_known(found, one);
    };
    let known = found.iter().filter_map(|known| known.ways.first());
    known.into_iter().any(|known| {
        matches!(known, Change::ChangeSelector { of: other, request: name, index: at, .. }
            if other == of && name == request && at == index)
    })
}
