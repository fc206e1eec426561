//! What is wrong with the pod's claims as such, found as PreEnqueue, PreFilter and Filter find it, but claim by claim: one does
//! not hide the others (spec sections 6, 7.1 to 7.3).

use std::rc::Rc;

use crate::allocator::survey::{ClaimQuestions, Question};
use crate::api::{Node, Pod, PodResourceClaim, ResourceClaim};
use crate::claims::{self, ClaimName, Unresolved};
use crate::cluster::View;
use crate::cycle::State;
use crate::host::Host;
use crate::node_selector::NodeSelector;
use crate::plugin::Instance;
use crate::profile::{Feature, Profile};

use super::holders;
use super::report::{Claim, Reason};
use super::words;

/// Claims and requests that are told at most; the API allows far fewer.
const MOST_CLAIMS: usize = 64;
const MOST_REQUESTS: usize = 256;

/// A claim of the pod, as far as it is the same on all nodes.
pub struct Facts {
    told: Claim,
    /// There, unless it is missing or cannot be read.
    pub claim: Option<Rc<ResourceClaim>>,
    /// Where an allocated claim can be used.
    nodes: Option<NodeSelector>,
    /// Other pods that use it.
    others: Vec<String>,
    /// What a claim asks for that is to be allocated.
    pub questions: Option<ClaimQuestions>,
}

/// The claims of the pod.
pub fn all(instance: &Instance, host: &dyn Host, pod: &Pod) -> Vec<Facts> {
    let claims = pod.resource_claims.iter().take(MOST_CLAIMS);
    claims
        .map(|entry| facts(instance, host, pod, entry))
        .collect()
}

fn facts(instance: &Instance, host: &dyn Host, pod: &Pod, entry: &PodResourceClaim) -> Facts {
    let mut told = Claim {
        name: words::name(&entry.name),
        state: "missing",
        ..Claim::default()
    };
    let nothing = |told| Facts {
        told,
        claim: None,
        nodes: None,
        others: Vec::new(),
        questions: None,
    };
    let ClaimName { name, check_owner } = match claims::claim_name(pod, entry) {
        Ok(name) => name,
        Err(text) => {
            told.reasons.push(Reason::text("claim-missing", text));
            return nothing(told);
        }
    };
    let Some(name) = name else {
        told.state = "not-needed";
        return nothing(told);
    };
    told.claim = Some(words::name(&format!("{}/{name}", pod.meta.namespace)));
    let claim = match instance.claim(host, &pod.meta.namespace, name) {
        Ok(claim) => claim,
        Err(Unresolved::Refused(text)) => {
            told.reasons.push(Reason::text("claim-missing", text));
            return nothing(told);
        }
        Err(Unresolved::Invalid(text)) => {
            told.state = "pending";
            told.reasons.push(Reason::text("invalid-object", text));
            return nothing(told);
        }
    };
    if claim.meta.being_deleted {
        told.reasons.push(Reason::new("claim-deleted"));
    }
    if check_owner && let Err(text) = claims::is_for_pod(&pod.meta, &claim.meta, instance.profile())
    {
        told.reasons.push(Reason::text("claim-not-owned", text));
    }
    check_classic(&claim, instance.profile(), &mut told);
    let nodes = check_allocation(&claim, pod, instance.profile(), &mut told);
    if claim.allocation.is_none() && told.state != "classic" {
        told.state = "pending";
        if instance.view.is_in_flight(&claim.meta.uid) {
            told.state = "in-flight";
            told.reasons.push(Reason::new("claim-in-flight"));
        }
    }
    let mut others = claim.reserved_for.clone();
    others.retain(|consumer| consumer.uid != pod.meta.uid);
    Facts {
        told,
        others: holders::pods(&claim.meta.namespace, &others),
        claim: Some(claim),
        nodes,
        questions: None,
    }
}

fn check_classic(claim: &ResourceClaim, profile: &Profile, told: &mut Claim) {
    let gate = Feature::DraControlPlaneController;
    if !claim.controller.is_empty() {
        told.state = "classic";
        if !profile.enabled(gate) {
            told.reasons.push(Reason {
                gate: Some(gate.name().to_owned()),
                ..Reason::new("gate-disabled")
            });
        }
    }
    if claim.deallocation_requested {
        told.reasons.push(Reason::new("deallocation-requested"));
    }
}

/// Where an allocated claim can be used, and whether it has room for the pod.
fn check_allocation(
    claim: &ResourceClaim,
    pod: &Pod,
    profile: &Profile,
    told: &mut Claim,
) -> Option<NodeSelector> {
    let allocation = claim.allocation.as_ref()?;
    told.state = "allocated";
    if let Some(most) = profile.most_consumers()
        && claim.reserved_for.len() >= most
        && !claims::is_reserved_for(claim, &pod.meta.uid)
    {
        told.reasons.push(Reason {
            needed: i64::try_from(most).ok(),
            have: i64::try_from(claim.reserved_for.len()).ok(),
            pods: holders::pods(&claim.meta.namespace, &claim.reserved_for),
            ..Reason::new("claim-full")
        });
    }
    match NodeSelector::parse(allocation.node_selector.as_ref()?) {
        Ok(selector) => Some(selector),
        Err(text) => {
            told.reasons.push(Reason::text("invalid-object", text));
            None
        }
    }
}

/// Works out what the claims ask for that are to be allocated.
pub fn ask(facts: &mut [Facts], instance: &mut Instance) {
    let profile = instance.profile().clone();
    for facts in facts {
        let Some(claim) = facts
            .claim
            .as_ref()
            .filter(|_| facts.told.state == "pending")
        else {
            continue;
        };
        let questions = instance.view.with_classes(|classes, selectors| {
            ClaimQuestions::new(claim, classes, selectors, &profile)
        });
        if let Some(problem) = instance.view.unusable_taint_rule() {
            facts
                .told
                .reasons
                .push(Reason::text("invalid-object", problem));
        }
        let refused = questions.requests.iter().take(MOST_REQUESTS);
        let refused =
            refused.filter_map(|question| cannot_be_asked(question, &instance.view, &profile));
        facts.told.reasons.extend(refused);
        facts.questions = (questions.requests.len() <= MOST_REQUESTS).then_some(questions);
    }
}

/// Why no node can satisfy a request.
fn cannot_be_asked(question: &Question, view: &View, profile: &Profile) -> Option<Reason> {
    let text = question.request.as_ref().err()?;
    let gate = Feature::DraAdminAccess;
    if question.admin && profile.admin_access_needs_gate() && !profile.enabled(gate) {
        return Some(Reason {
            gate: Some(gate.name().to_owned()),
            ..Reason::text("gate-disabled", text)
        });
    }
    Some(match view.class(&question.class) {
        None if question.class.is_empty() => Reason::text("bad-request", text),
        None => Reason {
            class: Some(words::name(&question.class)),
            ..Reason::text("class-missing", text)
        },
        Some(Err(problem)) => Reason {
            class: Some(words::name(&question.class)),
            ..Reason::text("invalid-object", problem)
        },
        Some(Ok(_)) => Reason::text("bad-request", text),
    })
}

impl Facts {
    /// The claim on a node, before its requests are looked at.
    pub fn on(&self, node: Option<&Node>, state: &State) -> Claim {
        let mut told = self.told.clone();
        let (Some(claim), Some(node)) = (&self.claim, node) else {
            return told;
        };
        if self
            .nodes
            .as_ref()
            .is_some_and(|nodes| !nodes.matches(node))
        {
            let selector = claim
                .allocation
                .as_ref()
                .and_then(|found| found.node_selector.as_ref());
            told.reasons.push(Reason {
                nodes: selector.map(words::selector),
                pods: self.others.clone(),
                ..Reason::new("claim-elsewhere")
            });
        }
        if told.state == "classic" {
            on_classic(claim, node, state, &mut told);
        }
        told
    }
}

/// What a claim that a control plane controller allocates waits for.
fn on_classic(claim: &ResourceClaim, node: &Node, state: &State, told: &mut Claim) {
    let mut infos = state.claims.iter();
    let info = infos.find(|info| info.claim.meta.uid == claim.meta.uid);
    let Some(info) = info else { return };
    let mut classes = info.available_on_nodes.iter();
    if let Some((class, _)) = classes.find(|(_, selector)| !selector.matches(node)) {
        told.reasons.push(Reason {
            class: Some(words::name(class)),
            ..Reason::new("classic-class-nodes")
        });
    }
    let mut unsuitable = info.unsuitable_nodes.iter().flatten();
    if unsuitable.any(|name| *name == node.name) {
        told.reasons.push(Reason::new("classic-unsuitable"));
    } else if told.reasons.is_empty() {
        told.reasons.push(Reason::new("classic-waiting"));
    }
}
