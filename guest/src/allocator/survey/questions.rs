//! What the claims ask for, request by request; other than for a plan, one that cannot be checked does not hide the others
//! (spec section 9.2).

use std::sync::Arc;

use super::Found;
use crate::allocator::ClassLookup;
use crate::allocator::constraints::Constraint;
use crate::allocator::requests::{NameIds, Request, check_request};
use crate::allocator::selectors::Selectors;
use crate::api::{Attribute, ExactRequest, RequestBody, ResourceClaim};
use crate::profile::Profile;

/// A claim and what it asks for.
pub(crate) struct ClaimQuestions {
    pub requests: Vec<Question>,
    /// In the claim's order; `None`: of an unsupported type.
    pub constraints: Vec<Option<Constraint>>,
}

/// A request, or one of its alternatives.
pub(crate) struct Question {
    /// `parent/name` for an alternative.
    pub name: String,
    /// Index of the request in the claim.
    pub group: usize,
    pub class: String,
    /// `None`: all.
    pub count: Option<i64>,
    pub admin: bool,
    /// Checked, or why it cannot be.
    pub request: Result<Request, String>,
    /// Expressions of its own selectors.
    own: Vec<Option<Arc<str>>>,
}

impl Question {
    /// The selector of the request's chain: whether it is the class's, its index there, its expression.
    pub(crate) fn selector(&self, index: usize) -> Option<(bool, usize, Option<&Arc<str>>)> {
        let request = self.request.as_ref().ok()?;
        let selector = request.selectors.get(index)?;
        let text = if selector.of_class {
            request.class.selectors.get(selector.index)?.cel.as_ref()
        } else {
            self.own.get(selector.index)?.as_ref()
        };
        Some((selector.of_class, selector.index, text))
    }
}

impl ClaimQuestions {
    pub(crate) fn new(
        claim: &ResourceClaim,
        classes: &mut ClassLookup<'_>,
        selectors: &mut dyn Selectors,
        profile: &Profile,
    ) -> Self {
        let mut name_ids = NameIds::default();
        let mut requests = Vec::new();
        for (group, given) in claim.requests.iter().enumerate() {
            let parent = name_ids.acquire(&given.name);
            let mut add = |name: &str, full_name: String, exact: &ExactRequest, ids: [u32; 2]| {
                let checked = check_request(claim, name, exact, classes, selectors, profile);
                requests.push(Question {
                    name: full_name,
                    group,
                    class: exact.device_class_name.clone(),
                    count: (exact.allocation_mode != "All").then_some(exact.count),
                    admin: exact.admin_access,
                    own: exact
                        .selectors
                        .iter()
                        .map(|selector| selector.cel.clone())
                        .collect(),
                    request: checked.map(|request| Request {
                        name_ids: ids,
                        ..request
                    }),
                });
            };
            match &given.body {
                RequestBody::Exactly(exact) => {
                    add(&given.name, given.name.clone(), exact, [parent; 2]);
                }
                RequestBody::FirstAvailable(alternatives) if alternatives.is_empty() => {
                    let nothing = ExactRequest::default();
                    add(&given.name, given.name.clone(), &nothing, [parent; 2]);
                }
                RequestBody::FirstAvailable(alternatives) => {
                    for (name, exact) in alternatives {
                        let full_name = format!("{}/{name}", given.name);
                        let id = name_ids.acquire(&full_name);
                        add(name, full_name, exact, [parent, id]);
                    }
                }
            }
        }
        let constraints = claim.constraints.iter();
        Self {
            requests,
            constraints: constraints
                .map(|given| Constraint::new(given, &name_ids))
                .collect(),
        }
    }

    /// The first constraint that refuses a device whatever else is picked: it has no value for it.
    pub(crate) fn refusing(&self, request: &Request, found: Found<'_>) -> Option<usize> {
        self.constraints.iter().position(|constraint| {
            constraint.as_ref().is_some_and(|constraint| {
                constraint.covers(request.name_ids)
                    && match value_of(constraint, found) {
                        None => true,
                        // Whether a value of unknown kind is different from others nobody can tell.
                        Some(value) => constraint.is_distinct() && *value == Attribute::Unknown,
                    }
            })
        })
    }
}

/// Value of a constraint's attribute.
pub(super) fn value_of<'a>(constraint: &Constraint, found: Found<'a>) -> Option<&'a Attribute> {
    let index = constraint.find(&found.slice.driver, found.device)?;
    Some(&found.device.attributes[index].1)
}
