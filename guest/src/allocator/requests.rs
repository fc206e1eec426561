//! What the claims ask for, worked out once per pod: spec section 9.2.
//!
//! The checks that depend on no node are made here; what they find is reported by each node at the place where upstream's
//! check would find it, since an earlier error of that node wins.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::constraints::Constraint;
use super::selectors::{ExpressionId, Selectors};
use crate::api::{DeviceClass, DeviceSelector, ExactRequest, RequestBody, ResourceClaim};
use crate::profile::{Feature, Profile};

/// Most devices that one claim may get (spec section 1.8).
pub(crate) const MAX_RESULTS: i64 = 32;

/// Looks a device class up; the error is the text that follows `could not retrieve device class <class>: `.
pub type ClassLookup<'a> = dyn FnMut(&str) -> Result<Rc<DeviceClass>, String> + 'a;

/// The claims of a pod that need devices.
#[derive(Debug)]
pub(crate) struct Plan {
    pub claims: Vec<ClaimPlan>,
    /// Of all claims, in order.
    pub requests: Vec<Request>,
    /// Of all claims, in order.
    pub constraints: Vec<Constraint>,
    /// What is left to check for each node, in order.
    pub checks: Vec<Check>,
    /// Some request asks for all devices.
    pub has_all: bool,
    /// Some request has admin access.
    pub has_admin: bool,
}

#[derive(Debug)]
pub(crate) struct ClaimPlan {
    pub claim: Rc<ResourceClaim>,
    /// Its part of [`Plan::requests`].
    pub requests: Range<usize>,
    /// Its part of [`Plan::constraints`].
    pub constraints: Range<usize>,
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

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    /// Index of its claim.
    pub claim: usize,
    /// Name within the claim.
    pub name: String,
    /// Number of the name: equal names of one claim have equal numbers.
    pub name_id: u32,
    pub class: Rc<DeviceClass>,
    /// Those of the class, then its own.
    pub selectors: Vec<Selector>,
    pub admin: bool,
    /// `None`: all devices that match.
    pub count: Option<i64>,
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
        };
        for claim in claims {
            let (first_request, first_constraint) = (plan.requests.len(), plan.constraints.len());
            plan.claims.push(ClaimPlan {
                claim: claim.clone(),
                requests: 0..0,
                constraints: 0..0,
            });
            let checked = plan.add_claim(claim, classes, selectors, profile);
            if let Some(last) = plan.claims.last_mut() {
                last.requests = first_request..plan.requests.len();
                last.constraints = first_constraint..plan.constraints.len();
            }
            if let Err(error) = checked {
                plan.checks.push(Check::Fail(error));
                break;
            }
        }
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
        let index = self.claims.len() - 1;
        let mut name_ids: BTreeMap<&str, u32> = BTreeMap::new();
        let mut exact: i64 = 0;
        let mut limit_is_open = false;
        for given in &claim.requests {
            let next = name_ids.len() as u32;
            let name_id = *name_ids.entry(&given.name).or_insert(next);
            let request =
                check_request(claim, &given.name, &given.body, classes, selectors, profile).map(
                    |request| Request {
                        claim: index,
                        name_id,
                        ..request
                    },
                )?;
            self.has_admin |= request.admin;
            match request.count {
                // D8: the sum saturates. A negative count means that nothing is needed.
                Some(count) => exact = exact.saturating_add(count.max(0)),
                None => {
                    limit_is_open = true;
                    self.has_all = true;
                    self.checks.push(Check::All(self.requests.len()));
                }
            }
            self.requests.push(request);
        }
        if limit_is_open {
            self.checks.push(Check::Limit(index));
        } else {
            check_limit(claim, exact)?;
        }
        for (i, constraint) in claim.constraints.iter().enumerate() {
            self.constraints.push(Constraint::new(constraint, &name_ids).ok_or_else(|| {
                let claim = object_name(claim);
                format!("claim {claim}, constraint #{i}: empty constraint (unsupported constraint type?)")
            })?);
        }
        Ok(())
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
fn check_request(
    claim: &ResourceClaim,
    name: &str,
    body: &RequestBody,
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
    let nothing = ExactRequest::default();
    let exact = match body {
        RequestBody::Exactly(exact) => exact,
        RequestBody::FirstAvailable(alternatives) if alternatives.is_empty() => &nothing,
        RequestBody::FirstAvailable(_) => return fail(": firstAvailable is not supported".into()),
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
        name: name.into(),
        name_id: 0,
        class,
        selectors: chain,
        admin: exact.admin_access,
        count,
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
