//! The few rules that look at several keys at a time.

use serde_json::Value;

use super::{MOST_OF_CLAIM, one_of};
use crate::advice::findings::About;

/// `validateDeviceToleration` refuses the value beside Exists; the comments of `DeviceToleration` say the rest, and nothing
/// enforces it.
pub(super) fn toleration(toleration: &Value, path: &str, about: &mut About<'_>) {
    let text = |key: &str| toleration[key].as_str().unwrap_or_default();
    if toleration.is_object() && text("key").is_empty() && ["", "Equal"].contains(&text("operator"))
    {
        about.lacking_perhaps(
            format!("{path}.key"),
            "without a key every taint with this value is tolerated, whatever its key",
            "set the key, or write operator: Exists without a value to tolerate everything",
        );
    }
    let effect = &toleration["effect"];
    let is_other = effect.is_null() || effect.is_string() && text("effect") != "NoExecute";
    if !toleration["tolerationSeconds"].is_null() && is_other {
        about.lacking_perhaps(
            format!("{path}.tolerationSeconds"),
            "tolerationSeconds is ignored: only the effect NoExecute is tolerated for a time",
            "write effect: NoExecute, or remove tolerationSeconds",
        );
    }
    if text("operator") == "Exists" && !text("value").is_empty() {
        about.error(
            format!("{path}.value"),
            "the operator Exists takes no value",
            "remove the value, or write operator: Equal",
        );
    }
}

/// A driver reports on devices of its claim only.
pub(super) fn statuses(status: &Value, _: &str, about: &mut About<'_>) {
    let key = |device: &Value| {
        ["driver", "pool", "device"].map(|key| device[key].as_str().map(str::to_owned))
    };
    let results = status.pointer("/allocation/devices/results");
    let results: Vec<_> = results
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(key)
        .collect();
    let reported = status["devices"].as_array().into_iter().flatten();
    for (i, device) in reported.enumerate().take(MOST_OF_CLAIM) {
        if !results.contains(&key(device)) {
            about.error(
                format!("status.devices[{i}]"),
                "the entry is about a device that is not allocated for the claim",
                "remove it; its driver writes it anew",
            );
        }
    }
}

/// Which of the ways to say who reaches the devices are there.
fn chosen(value: &Value, ways: [&'static str; 4]) -> Vec<&'static str> {
    let says = |way: &&str| match &value[*way] {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    ways.into_iter().filter(says).collect()
}

pub(super) fn reach(spec: &Value, path: &str, about: &mut About<'_>) {
    let ways = [
        "nodeName",
        "nodeSelector",
        "allNodes",
        "perDeviceNodeSelection",
    ];
    if let [_, second, ..] = chosen(spec, ways)[..] {
        about.error(
            format!("{path}.{second}"),
            format!(
                "{} are set: which nodes reach the devices is not clear",
                chosen(spec, ways).join(" and ")
            ),
            "keep one of them",
        );
    }
    let one_term = |selector: &Value, path: String, about: &mut About<'_>| {
        let terms = selector["nodeSelectorTerms"].as_array().map_or(0, Vec::len);
        if terms > 1 {
            about.error(
                format!("{path}.nodeSelector.nodeSelectorTerms"),
                format!("{terms} terms, exactly 1 is allowed"),
                "put all requirements into one term, or use several slices",
            );
        }
    };
    one_term(&spec["nodeSelector"], path.to_owned(), about);
    let is_per_device = spec["perDeviceNodeSelection"] == Value::Bool(true);
    let devices = spec["devices"].as_array().into_iter().flatten().enumerate();
    for (i, device) in devices {
        let (body, basic) = match &device["basic"] {
            Value::Null => (device, ""),
            body => (body, ".basic"),
        };
        let path = format!("{path}.devices[{i}]{basic}");
        one_term(&body["nodeSelector"], path.clone(), about);
        if !is_per_device {
            continue;
        }
        match chosen(body, ["nodeName", "nodeSelector", "allNodes", ""])[..] {
            [] => about.lacking(
                path,
                "no node reaches the device, because the slice leaves that to each device",
                "set one of nodeName, nodeSelector and allNodes",
            ),
            [first, second, ..] => about.error(
                format!("{path}.{second}"),
                format!("{first} and {second} are set: which nodes reach the device is not clear"),
                "keep one of them",
            ),
            _ => {}
        }
    }
}

/// Several values are told by those who read it.
pub(super) fn attribute(attribute: &Value, path: &str, about: &mut About<'_>) {
    const WAYS: [&str; 8] = [
        "int", "bool", "string", "version", "ints", "bools", "strings", "versions",
    ];
    let Some(given) = attribute.as_object() else {
        return;
    };
    let has = |kind: &str| given.get(kind).is_some_and(|value| !value.is_null());
    let mut given = WAYS.iter().filter(|kind| has(kind));
    let Some(first) = given.next() else {
        return about.lacking(
            path,
            "the attribute has no value: every selector that meets this device fails",
            "set int, bool, string or version",
        );
    };
    if attribute[*first].as_array().is_some_and(Vec::is_empty) {
        let message = "the list is empty: every selector that meets this device fails";
        about.error(
            format!("{path}.{first}"),
            message,
            "add a value, or remove the attribute",
        );
    }
}

/// What several keys of a device say together.
pub(super) fn device(device: &Value, path: &str, about: &mut About<'_>) {
    let count = |key: &str| device[key].as_object().map_or(0, serde_json::Map::len);
    about.at_most(
        &format!("{path}.attributes"),
        "attributes and capacities",
        count("attributes") + count("capacity"),
        32,
        "remove some",
    );
    let attributes = device["attributes"].as_object().into_iter().flatten();
    let values = attributes.map(|(_, attribute)| {
        let lists = attribute.as_object().into_iter().flatten();
        let lists = lists.filter_map(|(_, value)| value.as_array());
        lists.map(Vec::len).sum::<usize>().max(1)
    });
    let path_of_values = format!("{path}.attributes");
    let in_all = values.sum();
    about.at_most(&path_of_values, "values", in_all, 48, "shorten the lists");
    let is_shared = device["allowMultipleAllocations"] == Value::Bool(true);
    let capacity = device["capacity"].as_object().into_iter().flatten();
    for (name, _) in capacity.filter(|(_, value)| !is_shared && !value["requestPolicy"].is_null()) {
        about.error(
            format!("{path}.capacity[{name}].requestPolicy"),
            "only a device that is shared has a policy for requests",
            "set allowMultipleAllocations: true, or remove the policy",
        );
    }
    let conditions = ["bindingConditions", "bindingFailureConditions"];
    let lists = conditions.map(|key| device[key].as_array().map_or(&[][..], Vec::as_slice));
    for (mine, other) in [(0, 1), (1, 0)] {
        if lists[mine].is_empty() && !lists[other].is_empty() {
            about.lacking(
                format!("{path}.{}", conditions[mine]),
                format!(
                    "{} is needed beside {}",
                    conditions[mine], conditions[other]
                ),
                "set both, or none",
            );
        }
    }
    for (i, condition) in lists[1]
        .iter()
        .enumerate()
        .filter(|(_, one)| lists[0].contains(one))
    {
        about.error(
            format!("{path}.{}[{i}]", conditions[1]),
            format!("{condition} is among {} as well", conditions[0]),
            "keep it in one of the lists",
        );
    }
}

pub(super) fn requirement(requirement: &Value, path: &str, about: &mut About<'_>) {
    let values = requirement["values"].as_array().map_or(0, Vec::len);
    let operator = requirement["operator"].as_str().unwrap_or_default();
    let (holds, needs) = match operator {
        "In" | "NotIn" => (values > 0, "at least one value"),
        "Exists" | "DoesNotExist" => (values == 0, "no value"),
        "Gt" | "Lt" => (values == 1, "exactly one value, a whole number"),
        _ => {
            let known = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
            let place = format!("{path}.operator");
            return match operator {
                "" => about.lacking(
                    place,
                    "operator is missing",
                    "write one of In, NotIn, Exists, DoesNotExist, Gt, Lt",
                ),
                _ => one_of(operator, &known, &place, about),
            };
        }
    };
    if !holds {
        let message = format!("the operator {operator} needs {needs}");
        about.lacking(
            format!("{path}.values"),
            message,
            "correct the values, or the operator",
        );
    }
}

pub(super) fn field(field: &Value, path: &str, about: &mut About<'_>) {
    if field["key"]
        .as_str()
        .is_some_and(|key| key != "metadata.name")
    {
        about.error(
            format!("{path}.key"),
            "only the field metadata.name can be matched",
            "write metadata.name, or use matchExpressions for labels",
        );
    }
    let is_one = field["values"]
        .as_array()
        .is_some_and(|values| values.len() == 1);
    if !is_one {
        let message = "a field is matched with exactly one value";
        about.lacking(format!("{path}.values"), message, "write one name");
    }
    let operator = field["operator"].as_str().unwrap_or_default();
    one_of(
        operator,
        &["In", "NotIn"],
        &format!("{path}.operator"),
        about,
    );
}
