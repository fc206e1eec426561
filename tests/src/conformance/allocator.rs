//! `structured-allocator-*`: which devices the claims of a pod get on a node. Natively, and through PreFilter, Filter and
//! Reserve of the component where the objects of a line form a pod.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::compare::same_text;
use super::{Outcome, Verdict};
use case::{Answer, Case};
use component::Scene;

pub(super) mod case;
pub(super) mod component;
mod native;
mod rules;

/// A line with one node.
pub fn run(file: &str, _number: usize, json: &Value) -> Outcome {
    let mut outcome = Outcome {
        verdict: Verdict::Passed,
        component: false,
        native: false,
    };
    if let Err(why) = run_one(file, json, &mut outcome) {
        outcome.verdict = Verdict::Failed(why);
    }
    outcome
}

fn run_one(file: &str, json: &Value, outcome: &mut Outcome) -> Result<(), String> {
    let case = Case::new(file, json)?;
    let answers = case.answers()?;
    // Only the older recordings keep the order where it is not said.
    let ordered = json["resultOrderMatters"] != false;
    let is_right = |answer: &Answer| {
        answers
            .iter()
            .any(|recorded| agrees(answer, recorded, ordered))
    };
    let (config, node) = (case.config(), case.field("node"));

    let native = native::answer(&case, &config, node)?;
    outcome.native = true;
    let name = node["metadata"]["name"].as_str().unwrap_or_default();
    let component = match scene(&case, &config, std::slice::from_ref(node))? {
        Some(mut scene) => Some(with_given_names(scene.answer(name)?)),
        None => None,
    };
    outcome.component = component.is_some();
    if let Answer::NotImplemented(gate) = &native {
        let rule = rules::refused(gate);
        outcome.verdict = Verdict::Differs(rule.ok_or_else(|| format!("no rule for gate {gate}"))?);
        return match component {
            Some(Answer::Allocated(_)) => Err(format!("component: allocates in spite of {gate}")),
            _ => Ok(()),
        };
    }
    for (implementation, answer) in [("native", Some(native)), ("component", component)] {
        match answer {
            Some(answer) if !is_right(&answer) => {
                return Err(format!(
                    "{implementation}: {answer:?}, recorded {answers:?}"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A line with several nodes and an answer for each, in profile 1.31 and, for the devices chosen, in `current`.
pub fn run_random(file: &str, _number: usize, json: &Value) -> Outcome {
    let mut outcome = Outcome {
        verdict: Verdict::Passed,
        component: false,
        native: true,
    };
    outcome.verdict = match random(file, json, &mut outcome.component) {
        Ok(verdict) => verdict,
        Err(why) => Verdict::Failed(why),
    };
    outcome
}

fn random(file: &str, json: &Value, in_component: &mut bool) -> Result<Verdict, String> {
    let case = Case::new(file, json)?;
    let nodes = case.list("nodes");
    let expected = case.list("expectPerNode");
    if nodes.is_empty() || nodes.len() != expected.len() {
        return Err(format!(
            "{} nodes and {} answers",
            nodes.len(),
            expected.len()
        ));
    }
    let mut ran = Ran {
        case: &case,
        component: in_component,
    };
    let recorded = ran.recorded(&case.config(), nodes, expected)?;
    let same_placement = json["v0.36.2SamePlacement"]
        .as_bool()
        .ok_or("v0.36.2SamePlacement is missing")?;
    let current = ran.answers(&json!({"profile": "current"}), nodes)?;
    let mut differences = recorded
        .iter()
        .zip(&current)
        .zip(nodes)
        .filter(|((recorded, current), _)| placement(recorded) != placement(current));
    match (same_placement, differences.next()) {
        (true, None) => Ok(Verdict::Passed),
        (true, Some(((recorded, current), _))) => Err(format!(
            "current: {current:?}, recorded as the same as {recorded:?}"
        )),
        (false, None) => Err("current: no difference, recorded that there is one".to_owned()),
        (false, Some(((recorded, current), node))) => rules::of_difference(&case, node, recorded)
            .map(Verdict::Differs)
            .ok_or_else(|| {
                format!("current: no rule explains {current:?} instead of {recorded:?}")
            }),
    }
}

/// How a line with several nodes is run.
struct Ran<'a> {
    case: &'a Case<'a>,
    /// Set when the component ran it.
    component: &'a mut bool,
}

impl Ran<'_> {
    /// The recorded answers, after checking that ours are the same.
    fn recorded(
        &mut self,
        config: &Value,
        nodes: &[Value],
        expected: &[Value],
    ) -> Result<Vec<Answer>, String> {
        let answers = self.answers(config, nodes)?;
        let mut recorded = Vec::new();
        for ((node, answer), entry) in nodes.iter().zip(&answers).zip(expected) {
            if node["metadata"]["name"] != entry["node"] {
                return Err(format!("an answer for node {}", entry["node"]));
            }
            let right = self.case.answer_for(entry)?;
            if !agrees(answer, &right, true) {
                return Err(format!("{}: {answer:?}, recorded {right:?}", entry["node"]));
            }
            recorded.push(right);
        }
        Ok(recorded)
    }

    /// An answer for each node, the same from both implementations.
    fn answers(&mut self, config: &Value, nodes: &[Value]) -> Result<Vec<Answer>, String> {
        let mut scene = scene(self.case, config, nodes)?;
        let mut answers = Vec::new();
        for node in nodes {
            let native = native::answer(self.case, config, node)?;
            if let Some(scene) = &mut scene {
                *self.component = true;
                let name = node["metadata"]["name"].as_str().unwrap_or_default();
                let component = with_given_names(scene.answer(name)?);
                if !agrees(&component, &native, true) {
                    return Err(format!(
                        "{config} on {name}: component {component:?}, native {native:?}"
                    ));
                }
            }
            answers.push(native);
        }
        Ok(answers)
    }
}

fn scene(case: &Case<'_>, config: &Value, nodes: &[Value]) -> Result<Option<Scene>, String> {
    let mut others: Vec<Value> = nodes.iter().map(|node| case.object("Node", node)).collect();
    others.extend(case.objects("DeviceClass", "classes"));
    others.extend(with_distinct_names(case.objects("ResourceSlice", "slices")));
    // Allocated claims may be called as those to be allocated; nothing names them.
    for (i, mut held) in case.allocated_claims().into_iter().enumerate() {
        held["metadata"]["name"] = format!("held-{i}").into();
        others.push(held);
    }
    let claims = with_distinct_names(case.objects("ResourceClaim", "claimsToAllocate"));
    Scene::new(config, others, claims)
}

/// Marks a name that upstream's tables repeat, which the API does not allow. Objects of one name keep their order.
const REPEATED: &str = "-repeated-";

fn with_distinct_names(mut objects: Vec<Value>) -> Vec<Value> {
    let mut seen = BTreeMap::new();
    for object in &mut objects {
        let metadata = &object["metadata"];
        let key = (metadata["namespace"].to_string(), metadata["name"].clone());
        let Some(name) = key.1.as_str().map(str::to_owned) else {
            continue;
        };
        let times = seen.entry((key.0, name.clone())).or_insert(0);
        if *times > 0 {
            object["metadata"]["name"] = format!("{name}{REPEATED}{times:03}").into();
        }
        *times += 1;
    }
    objects
}

/// The component's answer with the names of the recording.
fn with_given_names(answer: Answer) -> Answer {
    let Answer::Error(mut text) = answer else {
        return answer;
    };
    while let Some(at) = text.find(REPEATED) {
        text.replace_range(at..at + REPEATED.len() + 3, "");
    }
    Answer::Error(text)
}

/// Whether an answer is the recorded one.
fn agrees(answer: &Answer, recorded: &Answer, ordered: bool) -> bool {
    match (answer, recorded) {
        (Answer::Allocated(ours), Answer::Allocated(theirs)) if !ordered => {
            let as_sets = |results: &[Value]| results.iter().map(as_set).collect::<Vec<_>>();
            as_sets(ours) == as_sets(theirs)
        }
        (Answer::Error(ours), Answer::Error(theirs)) => same_error(ours, theirs),
        _ => answer == recorded,
    }
}

/// Whether our text counts as the recorded one.
fn same_error(ours: &str, recorded: &str) -> bool {
    // Of a class that cannot be used the kind of failure counts; PreFilter refuses such a pod before the allocator sees it.
    if recorded.contains("could not retrieve device class") {
        return ours.contains("could not retrieve device class")
            || ours.ends_with(" does not exist");
    }
    if recorded.contains("missing device class name") && ours.ends_with("unsupported request type")
    {
        return true;
    }
    same_text(recorded, ours)
}

/// An allocation with its results in an order of their own.
fn as_set(allocation: &Value) -> Value {
    let mut allocation = allocation.clone();
    if let Some(results) = allocation
        .pointer_mut("/devices/results")
        .and_then(Value::as_array_mut)
    {
        results.sort_by_cached_key(|result| {
            ["request", "driver", "pool", "device"].map(|field| result[field].to_string())
        });
    }
    allocation
}

/// What two versions of the allocator are compared by: request, driver, pool and device of each result, or that there is an
/// error.
fn placement(answer: &Answer) -> Option<Vec<Vec<[String; 4]>>> {
    let device = |result: &Value| {
        ["request", "driver", "pool", "device"].map(|field| result[field].to_string())
    };
    let devices = |allocation: &Value| {
        let results = allocation
            .pointer("/devices/results")
            .and_then(Value::as_array);
        results.into_iter().flatten().map(device).collect()
    };
    match answer {
        Answer::Allocated(results) => Some(results.iter().map(devices).collect()),
        Answer::DoesNotFit => Some(Vec::new()),
        Answer::Error(_) | Answer::NotImplemented(_) => None,
    }
}

#[test]
fn a_line_that_cannot_be_interpreted_fails() {
    let case = json!({"tag": "dynamic-resource-allocation v0.31.13", "node": {"metadata": {"name": "n"}}, "classes": [],
        "slices": [], "claimsToAllocate": [], "expectResults": [], "expectError": null});
    let file = "structured-allocator-v0.31.jsonl";
    assert_eq!(run(file, 0, &case).verdict, Verdict::Passed);
    let changes = [
        ("tag", json!("dynamic-resource-allocation v0.99.0")),
        ("node", json!({})),
        ("expectResults", json!([{"devices": {}}])),
        ("expectError", json!("stop allocation")),
        ("slices", json!("none")),
    ];
    for (field, value) in changes {
        let mut changed = case.clone();
        changed[field] = value;
        let verdict = run(file, 0, &changed).verdict;
        assert!(
            matches!(verdict, Verdict::Failed(_)),
            "{field}: {verdict:?}"
        );
        let verdict = run_random(file, 0, &changed).verdict;
        assert!(
            matches!(verdict, Verdict::Failed(_)),
            "{field}: {verdict:?}"
        );
    }
    for runner in [run, run_random, super::cel::run, super::helpers::run] {
        let verdict = runner("x.jsonl", 0, &json!({})).verdict;
        assert!(matches!(verdict, Verdict::Failed(_)), "{verdict:?}");
    }
}
