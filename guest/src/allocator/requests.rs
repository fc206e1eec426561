//! What the claims ask for, worked out once per pod: spec section 9.2.
//!
//! The checks that depend on no node are made here; what they find is reported by each node at the place where upstream's
//! check would find it, since an earlier error of that node wins.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::constraints::Constraint;
use super::glance::Glance;
use super::selectors::{ExpressionId, Selectors};
use crate::api::{
    DeviceClass, DeviceRequest, DeviceSelector, DeviceToleration, ExactRequest, RequestBody,
    ResourceClaim,
};
use crate::profile::{Feature, Profile};

/// Most devices that one claim may get (spec section 1.8).
pub(crate) const MAX_RESULTS: i64 = 32;

/// Looks a device class up; the error is the text that follows `could not retrieve device class <class>: `.
pub type ClassLookup<'a> = dyn FnMut(&str) -> Result<Rc<DeviceClass>, String> + 'a;

/// The claims of a pod that need devices.
#[derive(Debug)]
pub(crate) struct Plan {
    pub claims: Vec<ClaimPlan>,
    /// Of all claims, in order; of a request with alternatives, each of them.
    pub requests: Vec<Request>,
    /// Of all claims, in order.
    pub constraints: Vec<Constraint>,
    /// What is left to check for each node, in order.
    pub checks: Vec<Check>,
    /// Some request asks for all devices.
    pub has_all: bool,
    /// Some request has admin access.
    pub has_admin: bool,
    /// Some request has alternatives.
    pub has_alternatives: bool,
    /// For nodes where no search is needed.
    pub glance: Option<Glance>,
}

#[derive(Debug)]
pub(crate) struct ClaimPlan {
    pub claim: Rc<ResourceClaim>,
    /// Its part of [`Plan::requests`].
    pub requests: Range<usize>,
    /// Its part of [`Plan::constraints`].
    pub constraints: Range<usize>,
    /// Some of its requests have alternatives.
    pub has_alternatives: bool,
}

/// A check that a node makes before the search.
#[derive(Debug)]
pub(crate) enum Check {
    /// Determine the devices of an `All` request.
    All(usize),
    /// Enforce the limit of a claim with `All` requests.
    Limit(usize),
    /// Fail, whatever the node.
    Fail(String),
}

/// One request, or one alternative of a request.
#[derive(Debug)]
pub(crate) struct Request {
    /// Index of its claim.
    pub claim: usize,
    /// Index of the request in the claim: alternatives of one request share it.
    pub group: usize,
    /// Index among the alternatives; `None` for a request without.
    pub alternative: Option<usize>,
    /// Its own name, without the parent's: for messages.
    pub name: String,
    /// Name in results: `parent/name` for an alternative.
    pub full_name: String,
    /// Those of the claim's constraints that cover it, as indexes in the plan.
    pub covered_by: Box<[usize]>,
    /// Numbers of the claim's request name and of the full name: equal names of one claim have equal numbers.
    pub name_ids: [u32; 2],
    pub class: Rc<DeviceClass>,
    /// Those of the class, then its own.
    pub selectors: Vec<Selector>,
    pub admin: bool,
    /// `None`: all devices that match.
    pub count: Option<i64>,
    pub tolerations: Vec<DeviceToleration>,
}

/// A selector and where it stands, for messages.
#[derive(Debug)]
pub(crate) struct Selector {
    /// `None` without `cel`.
    pub expression: Option<ExpressionId>,
    pub of_class: bool,
    pub index: usize,
}

impl Plan {
    pub(crate) fn new(
        claims: &[Rc<ResourceClaim>],
        classes: &mut ClassLookup<'_>,
        selectors: &mut dyn Selectors,
        profile: &Profile,
    ) -> Self {
        let mut plan = Plan {
            claims: Vec::new(),
            requests: Vec::new(),
            constraints: Vec::new(),
            checks: Vec::new(),
            has_all: false,
            has_admin: false,
            has_alternatives: false,
            glance: None,
        };
        for claim in claims {
            let (first_request, first_constraint) = (plan.requests.len(), plan.constraints.len());
            plan.claims.push(ClaimPlan {
                claim: claim.clone(),
                requests: 0..0,
                constraints: 0..0,
                has_alternatives: false,
            });
            let checked = plan.add_claim(claim, classes, selectors, profile);
            if let Some(last) = plan.claims.last_mut() {
                last.requests = first_request..plan.requests.len();
                last.constraints = first_constraint..plan.constraints.len();
                for request in &mut plan.requests[first_request..] {
                    let covers = |i: &usize| plan.constraints[*i].covers(request.name_ids);
                    request.covered_by = last.constraints.clone().filter(covers).collect();
                }
                last.has_alternatives = plan.requests[first_request..]
                    .iter()
                    .any(|request| request.alternative.is_some());
                plan.has_alternatives |= last.has_alternatives;
            }
            if let Err(error) = checked {
                plan.checks.push(Check::Fail(error));
                break;
            }
        }
        plan.glance = Glance::new(&plan);
        plan
    }

    /// The constraints of the claim of a request, whether they cover the request or not.
    pub(crate) fn constraints_of(&self, request: usize) -> Range<usize> {
        self.claims[self.requests[request].claim]
            .constraints
            .clone()
    }

    /// `namespace/name` of a claim, or its bare name.
    pub(crate) fn claim_name(&self, claim: usize) -> String {
        object_name(&self.claims[claim].claim)
    }

    fn add_claim(
        &mut self,
        claim: &ResourceClaim,
        classes: &mut ClassLookup<'_>,
        selectors: &mut dyn Selectors,
        profile: &Profile,
    ) -> Result<(), String> {
        let mut name_ids = NameIds::default();
        let mut least: i64 = 0;
        let mut limit_is_open = false;
        for (group, given) in claim.requests.iter().enumerate() {
            let first = self.requests.len();
            self.add_request(group, given, &mut name_ids, &mut |name, exact| {
                check_request(claim, name, exact, classes, selectors, profile)
            })?;
            // D8: the sum saturates. A negative count means that nothing is needed.
            let counts = self.requests[first..].iter().map(|request| request.count);
            match counts.min_by_key(|count| count.map(|count| count.max(0))) {
                // An All request sorts first.
                Some(Some(count)) => least = least.saturating_add(count.max(0)),
                _ => limit_is_open = true,
            }
        }
        if limit_is_open {
            self.checks.push(Check::Limit(self.claims.len() - 1));
        } else {
            check_limit(claim, least)?;
        }
        for (i, constraint) in claim.constraints.iter().enumerate() {
            self.constraints.push(Constraint::new(constraint, &name_ids).ok_or_else(|| {
                let claim = object_name(claim);
                format!("claim {claim}, constraint #{i}: empty constraint (unsupported constraint type?)")
            })?);
        }
        Ok(())
    }

    /// Adds a request, or each of its alternatives.
    fn add_request(
        &mut self,
        group: usize,
        given: &DeviceRequest,
        name_ids: &mut NameIds,
        check: &mut dyn FnMut(&str, &ExactRequest) -> Result<Request, String>,
    ) -> Result<(), String> {
        let parent = name_ids.acquire(&given.name);
        let one = |plan: &mut Self, request: Request| {
            plan.has_admin |= request.admin;
            if request.count.is_none() {
                plan.has_all = true;
                plan.checks.push(Check::All(plan.requests.len()));
            }
            plan.requests.push(Request {
                claim: plan.claims.len() - 1,
                group,
                ..request
            });
        };
        let alternatives = match &given.body {
            RequestBody::FirstAvailable(alternatives) if !alternatives.is_empty() => alternatives,
            RequestBody::FirstAvailable(_) => {
                return check(&given.name, &ExactRequest::default()).map(drop);
            }
            RequestBody::Exactly(exact) => {
                let request = check(&given.name, exact)?;
                let name_ids = [parent; 2];
                one(
                    self,
                    Request {
                        name_ids,
                        ..request
                    },
                );
                return Ok(());
            }
        };
        for (i, (name, exact)) in alternatives.iter().enumerate() {
            let full_name = format!("{}/{name}", given.name);
            let request = check(name, exact)?;
            let name_ids = [parent, name_ids.acquire(&full_name)];
            one(
                self,
                Request {
                    name_ids,
                    full_name,
                    alternative: Some(i),
                    ..request
                },
            );
        }
        Ok(())
    }
}

/// Numbers for the names of a claim's requests.
#[derive(Debug, Default)]
pub(crate) struct NameIds(BTreeMap<String, u32>);

impl NameIds {
    /// The number of a name, a new one if necessary.
    pub(crate) fn acquire(&mut self, name: &str) -> u32 {
        match self.0.get(name) {
            Some(&id) => id,
            None => {
                let id = self.0.len() as u32;
                self.0.insert(name.to_owned(), id);
                id
            }
        }
    }

    /// The number of a name, if some request has it.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }
}

/// Whether the claim asks for more devices than one claim may get.
pub(crate) fn check_limit(claim: &ResourceClaim, devices: i64) -> Result<(), String> {
    if devices <= MAX_RESULTS {
        return Ok(());
    }
    let claim = object_name(claim);
    Err(format!(
        "claim {claim}: number of requested devices {devices} exceeds the claim limit of {MAX_RESULTS}"
    ))
}

/// `namespace/name`, or the bare name of a claim without a namespace.
pub(crate) fn object_name(claim: &ResourceClaim) -> String {
    if claim.meta.namespace.is_empty() {
        return claim.meta.name.clone();
    }
    format!("{}/{}", claim.meta.namespace, claim.meta.name)
}

/// A checked request; its place in the plan is filled in by the caller.
pub(crate) fn check_request(
    claim: &ResourceClaim,
    name: &str,
    exact: &ExactRequest,
    classes: &mut ClassLookup<'_>,
    selectors: &mut dyn Selectors,
    profile: &Profile,
) -> Result<Request, String> {
    let fail = |what: String| {
        Err(format!(
            "claim {}, request {name}{what}",
            object_name(claim)
        ))
    };
    if let Some(i) = exact
        .selectors
        .iter()
        .position(|selector| selector.cel.is_none())
    {
        return fail(format!(
            ", selector #{i}: CEL expression empty (unsupported selector type?)"
        ));
    }
    if exact.admin_access
        && profile.admin_access_needs_gate()
        && !profile.enabled(Feature::DraAdminAccess)
    {
        return fail(": admin access is requested, but the feature is disabled".into());
    }
    if exact.device_class_name.is_empty() {
        return fail(": missing device class name (unsupported request type?)".into());
    }
    let class = match classes(&exact.device_class_name) {
        Ok(class) => class,
        Err(error) => {
            return fail(format!(
                ": could not retrieve device class {}: {error}",
                exact.device_class_name
            ));
        }
    };
    let count = match exact.allocation_mode.as_str() {
        "ExactCount" => Some(exact.count),
        "All" => None,
        mode => return fail(format!(": unsupported count mode {mode}")),
    };
    let mut chain = Vec::with_capacity(class.selectors.len() + exact.selectors.len());
    if count.is_some() || profile.all_mode_applies_class_selectors() {
        add_selectors(&mut chain, &class.selectors, true, selectors);
    }
    add_selectors(&mut chain, &exact.selectors, false, selectors);
    Ok(Request {
        claim: 0,
        group: 0,
        alternative: None,
        name: name.into(),
        full_name: name.into(),
        covered_by: Box::default(),
        name_ids: [0; 2],
        class,
        selectors: chain,
        admin: exact.admin_access,
        count,
        tolerations: exact.tolerations.clone(),
    })
}

fn add_selectors(
    chain: &mut Vec<Selector>,
    given: &[DeviceSelector],
    of_class: bool,
    selectors: &mut dyn Selectors,
) {
    chain.extend(given.iter().enumerate().map(|(index, selector)| {
        Selector {
            expression: selector
                .cel
                .as_ref()
                .map(|text: &Arc<str>| selectors.expression(text)),
            of_class,
            index,
        }
    }));
}
