//! What a device that is shared says about requests for a part of its capacity.
//!
//! Upstream: the comments of `CapacityRequestPolicy` and `CapacityRequestPolicyRange` in `k8s.io/api/resource/v1`, enforced by
//! `validateRequestPolicy`.

use serde_json::Value;

use crate::advice::findings::About;
use crate::quantity::Quantity;

/// A value that is compared, with its key; nothing if it is absent or no quantity, which is told by itself.
struct Amount<'v> {
    text: &'v str,
    value: Quantity,
}

fn amount<'v>(value: &'v Value, key: &str) -> Option<Amount<'v>> {
    let text = value[key].as_str()?;
    let value = Quantity::parse(text).ok()?;
    Some(Amount { text, value })
}

/// A comparison that must hold: path below the policy, and what is wrong.
struct Wrong {
    at: &'static str,
    message: String,
    remedy: &'static str,
}

/// A capacity with its policy.
pub(super) fn capacity(capacity: &Value, path: &str, about: &mut About<'_>) {
    let policy = &capacity["requestPolicy"];
    if !policy.is_object() {
        return;
    }
    let path = format!("{path}.requestPolicy");
    let whole = amount(capacity, "value");
    let default = amount(policy, "default");
    // An empty list is as good as none.
    let has = |key: &str| !policy[key].is_null() && policy[key] != Value::Array(Vec::new());
    let kinds = [has("validValues"), has("validRange")];
    if kinds == [true, true] {
        return about.error(
            format!("{path}.validRange"),
            "validValues and validRange are both set",
            "keep one of them",
        );
    }
    if kinds != [false, false] && !has("default") {
        return about.lacking(
            format!("{path}.default"),
            "default is missing beside the amounts that are allowed",
            "set default to one of them",
        );
    }
    let mut wrong: Vec<Wrong> = Vec::new();
    if has("validValues") {
        values(policy, &default, &whole, &path, about);
    }
    if policy["validRange"].is_object() {
        range(&policy["validRange"], &default, &whole, &mut wrong);
    }
    // Several may follow from one value: the first is told.
    if let Some(wrong) = wrong.into_iter().next() {
        let place = format!("{path}.{}", wrong.at);
        match wrong.message.ends_with("is missing") {
            true => about.lacking(place, wrong.message, wrong.remedy),
            false => about.error(place, wrong.message, wrong.remedy),
        }
    }
}

/// Complains if the first is larger than the second.
fn larger(
    one: &Option<Amount<'_>>,
    at: &'static str,
    other: &Option<Amount<'_>>,
    of: &str,
    wrong: &mut Vec<Wrong>,
) {
    let (Some(one), Some(other)) = (one, other) else {
        return;
    };
    if one.value > other.value {
        let name = at.rsplit('.').next().unwrap_or(at);
        wrong.push(Wrong {
            at,
            message: format!("{name} {} is more than {of}, {}", one.text, other.text),
            remedy: "make it smaller",
        });
    }
}

fn values(
    policy: &Value,
    default: &Option<Amount<'_>>,
    whole: &Option<Amount<'_>>,
    path: &str,
    about: &mut About<'_>,
) {
    let given = policy["validValues"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let read = |value: &Value| value.as_str().and_then(|text| Quantity::parse(text).ok());
    let known: Option<Vec<Quantity>> = given.iter().map(read).collect();
    let Some(known) = known.filter(|known| !known.is_empty()) else {
        return;
    };
    let unsorted = known.windows(2).position(|pair| pair[0] >= pair[1]);
    if let Some(at) = unsorted {
        return about.error(
            format!("{path}.validValues[{}]", at + 1),
            "the value is not larger than the one before it",
            "sort the values, each once, the smallest first",
        );
    }
    let is_too_large = |value: &Quantity| whole.as_ref().is_some_and(|whole| *value > whole.value);
    if let Some(at) = known.iter().position(is_too_large) {
        return about.error(
            format!("{path}.validValues[{at}]"),
            "the value is more than the capacity",
            "remove it",
        );
    }
    if let Some(default) = default
        && !known.contains(&default.value)
    {
        about.error(
            format!("{path}.default"),
            format!("default {} is none of validValues", default.text),
            "set it to one of them",
        );
    }
}

fn range(
    range: &Value,
    default: &Option<Amount<'_>>,
    whole: &Option<Amount<'_>>,
    wrong: &mut Vec<Wrong>,
) {
    if range["min"].is_null() {
        return wrong.push(Wrong {
            at: "validRange.min",
            message: "min is missing".to_owned(),
            remedy: "set min",
        });
    }
    let [min, max, step] = ["min", "max", "step"].map(|key| amount(range, key));
    if min.as_ref().is_some_and(|min| min.value.sign() < 0) {
        wrong.push(Wrong {
            at: "validRange.min",
            message: "min is negative".to_owned(),
            remedy: "write 0 or more",
        });
    }
    larger(&min, "validRange.min", &max, "max", wrong);
    larger(&min, "validRange.min", whole, "the capacity", wrong);
    larger(&max, "validRange.max", whole, "the capacity", wrong);
    larger(default, "default", &max, "max", wrong);
    if let (Some(min), Some(default)) = (&min, default)
        && default.value < min.value
    {
        wrong.push(Wrong {
            at: "default",
            message: format!("default {} is less than min, {}", default.text, min.text),
            remedy: "make it larger",
        });
    }
    let (Some(step), Some(min)) = (&step, &min) else {
        return;
    };
    if step.value.sign() <= 0 {
        return wrong.push(Wrong {
            at: "validRange.step",
            message: format!("step {} is not positive", step.text),
            remedy: "write a positive step, or leave it out",
        });
    }
    let first = min.value.checked_add(&step.value);
    if let (Some(first), Some(whole)) = (first, whole)
        && first > whole.value
    {
        wrong.push(Wrong {
            at: "validRange.step",
            message: format!(
                "min and step {} together are more than the capacity, {}",
                step.text, whole.text
            ),
            remedy: "make it smaller, or leave it out",
        });
    }
    for (amount, at) in [(&max, "validRange.max"), (default, "default")] {
        if amount
            .as_ref()
            .is_some_and(|amount| !is_step(amount, min, step))
        {
            wrong.push(Wrong {
                at,
                message: format!("the value is not min and a multiple of step, {}", step.text),
                remedy: "write min, or min and a multiple of step",
            });
        }
    }
}

/// Whether an amount is reached from the least one in steps. What is too fine or too large to tell is not accused.
fn is_step(amount: &Amount<'_>, min: &Amount<'_>, step: &Amount<'_>) -> bool {
    let [amount, min, step] = [amount, min, step].map(|one| one.value.billionths());
    match (amount, min, step) {
        (Some(amount), Some(min), Some(step)) if step > 0 => (amount - min) % step == 0,
        _ => true,
    }
}
