//! The allocator against recorded answers of the Go implementation; rules in the README beside the tables.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::allocator::{Allocator, DEFAULT_STEPS, INVALID_POOLS, Inventory, Outcome};
use crate::api::{AllocationResult, DeviceClass, Node, ResourceClaim, wire};
use crate::profile::{Feature, Profile};
use crate::selectors::SelectorCache;

/// A table as values, or `None` where the tables are not there.
fn table(file: &str) -> Option<Vec<Value>> {
    let folder = std::env::var_os("CONFORMANCE_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            let shared = std::env::var_os("DRACTL_SHARED").map(PathBuf::from);
            shared
                .unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared").into())
                .join("conformance")
        });
    let path = folder.join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: {} is not there", path.display());
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect(),
    )
}

/// Reads the objects of a case as `version` of resource.k8s.io.
struct Reader<'a> {
    version: &'a str,
    profile: &'a Profile,
}

type Read<T> = Result<T, wire::Problem>;

impl Reader<'_> {
    fn bytes(&self, object: &Value, kind: &str) -> Vec<u8> {
        let mut object = object.clone();
        object["kind"] = kind.into();
        object["apiVersion"] = if kind == "Node" {
            "v1".into()
        } else {
            self.version.into()
        };
        object.to_string().into_bytes()
    }

    fn node(&self, object: &Value) -> Node {
        wire::node(&self.bytes(object, "Node")).expect("a node")
    }

    fn claims(&self, list: &Value) -> Read<Vec<ResourceClaim>> {
        each(list)
            .map(|object| wire::resource_claim(&self.bytes(object, "ResourceClaim"), self.profile))
            .collect()
    }

    fn classes(&self, list: &Value) -> Read<Vec<DeviceClass>> {
        each(list)
            .map(|object| wire::device_class(&self.bytes(object, "DeviceClass"), self.profile))
            .collect()
    }

    fn inventory(&self, case: &Value) -> Read<Inventory> {
        let mut inventory = Inventory::default();
        for (slot, slice) in each(&case["slices"]).enumerate() {
            inventory.put(
                slot as u32,
                wire::resource_slice(&self.bytes(slice, "ResourceSlice"), self.profile)?,
            );
        }
        for (i, claim) in self.claims(&case["allocatedClaims"])?.iter().enumerate() {
            inventory.set_stored(&format!("allocated-{i}"), claim.allocation.as_ref());
        }
        // v0.36 lists devices; they become a claim.
        for (i, device) in each(&case["allocatedDevices"]).enumerate() {
            let mut device = device.clone();
            device["request"] = "r".into();
            let held = self.results(&json!([{ "devices": { "results": [device] } }]))?;
            inventory.set_stored(&format!("device-{i}"), held.first());
        }
        Ok(inventory)
    }

    /// Allocation results, read as the status of claims.
    fn results(&self, list: &Value) -> Read<Vec<AllocationResult>> {
        let claim = |allocation: &Value| json!({ "metadata": { "name": "x", "namespace": "x" }, "spec": { "devices": {} }, "status": { "allocation": allocation } });
        let claims = Value::Array(each(list).map(claim).collect());
        Ok(self
            .claims(&claims)?
            .into_iter()
            .filter_map(|claim| claim.allocation)
            .collect())
    }
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn run(case: &Value, node: &Node, reader: &Reader<'_>) -> Read<Outcome> {
    let classes: BTreeMap<String, Rc<DeviceClass>> = reader
        .classes(&case["classes"])?
        .into_iter()
        .map(|class| (class.name.clone(), Rc::new(class)))
        .collect();
    let mut lookup = |name: &str| {
        classes
            .get(name)
            .cloned()
            .ok_or_else(|| format!("{name} not found"))
    };
    let inventory = reader.inventory(case)?;
    let mut allocator = Allocator::new(
        reader
            .claims(&case["claimsToAllocate"])?
            .into_iter()
            .map(Rc::new)
            .collect(),
    );
    let mut selectors = SelectorCache::new(reader.profile);
    Ok(allocator.allocate(
        node,
        &inventory,
        &mut lookup,
        &mut selectors,
        reader.profile,
        DEFAULT_STEPS,
    ))
}

/// The recorded answer: results, or the text of an error; `None` for neither.
struct Recorded {
    results: Vec<AllocationResult>,
    error: Option<String>,
}

/// Whether our answer is the recorded one.
fn agrees(outcome: &Outcome, recorded: &Recorded, ordered: bool) -> bool {
    match (outcome, &recorded.error) {
        (Outcome::Error(error), Some(expected)) => same_error(error, expected),
        (Outcome::InvalidPools, Some(expected)) => expected == INVALID_POOLS,
        (Outcome::Allocated(results), None) => {
            sorted(results.clone(), ordered) == sorted(recorded.results.clone(), ordered)
        }
        (Outcome::DoesNotFit, None) => recorded.results.is_empty(),
        _ => false,
    }
}

fn sorted(mut results: Vec<AllocationResult>, ordered: bool) -> Vec<AllocationResult> {
    for result in &mut results {
        if !ordered {
            result.results.sort_by(|a, b| {
                (&a.request, &a.driver, &a.pool, &a.device)
                    .cmp(&(&b.request, &b.driver, &b.pool, &b.device))
            });
        }
    }
    results
}

/// Texts must be equal, but of a missing class and of a compile error only the kind.
fn same_error(error: &str, expected: &str) -> bool {
    let comparable = |text: &str| match ["could not retrieve device class", "compilation failed: "]
        .iter()
        .find_map(|cut| Some(text.split_once(cut)?.0))
    {
        Some(start) => start.to_string(),
        None => text.to_string(),
    };
    comparable(error) == comparable(expected)
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_string)
}

/// Counts and prints what a table gave.
#[derive(Default)]
struct Tally {
    passed: u32,
    differs: u32,
    failed: Vec<String>,
}

impl Tally {
    #[track_caller]
    fn finish(self, file: &str) {
        let (passed, failed, differs) = (self.passed, self.failed.len(), self.differs);
        eprintln!(
            "conformance {file} passed={passed} failed={failed} differs={differs} (component=0 native={passed})"
        );
        assert!(self.failed.is_empty(), "{}", self.failed.join("\n"));
    }
}

#[test]
fn recorded_0_31() {
    let file = "structured-allocator-v0.31.jsonl";
    let Some(cases) = table(file) else { return };
    let profile = Profile::v1_31();
    let reader = Reader {
        version: "resource.k8s.io/v1alpha3",
        profile: &profile,
    };
    let mut tally = Tally::default();
    for case in &cases {
        check_case(case, &reader, &mut tally);
    }
    tally.finish(file);
}

/// A case with one node.
fn check_case(case: &Value, reader: &Reader<'_>, tally: &mut Tally) {
    let outcome = match run(case, &reader.node(&case["node"]), reader) {
        Ok(outcome) => outcome,
        // A field that is refused: the case needs a feature that is not there.
        Err(problem) if problem.to_string().contains(" are not supported (gate ") => {
            tally.differs += 1;
            return;
        }
        Err(problem) => panic!("{}: {problem}", case["name"]),
    };
    let recorded = |results: &Value, error: &Value| Recorded {
        results: reader.results(results).expect("recorded results"),
        error: text_of(error),
    };
    let mut answers = vec![recorded(&case["expectResults"], &case["expectError"])];
    answers.extend(
        each(&case["alsoObserved"]).map(|other| recorded(&other["results"], &other["error"])),
    );
    let ordered = case["resultOrderMatters"].as_bool().unwrap_or(true);
    if answers
        .iter()
        .any(|answer| agrees(&outcome, answer, ordered))
    {
        tally.passed += 1;
    } else {
        tally.failed.push(format!(
            "{}: {outcome:?}, recorded {} {}",
            case["name"], case["expectResults"], case["expectError"]
        ));
    }
}

#[test]
fn recorded_0_36() {
    let file = "structured-allocator-v0.36.jsonl";
    let Some(cases) = table(file) else { return };
    let mut tally = Tally::default();
    for case in &cases {
        let mut profile = Profile::current();
        let admin = each(&case["features"]).any(|feature| feature == "DRAAdminAccess");
        profile.set(Feature::DraAdminAccess, admin);
        let reader = Reader {
            version: "resource.k8s.io/v1",
            profile: &profile,
        };
        check_case(case, &reader, &mut tally);
    }
    tally.finish(file);
}

#[test]
fn recorded_random_0_31() {
    let file = "structured-allocator-random-v0.31.jsonl";
    let Some(cases) = table(file) else { return };
    let (old, new) = (Profile::v1_31(), Profile::current());
    let reader = |profile| Reader {
        version: "resource.k8s.io/v1alpha3",
        profile,
    };
    let (mut tally, mut current) = (Tally::default(), Tally::default());
    for case in &cases {
        let nodes: Vec<Node> = each(&case["nodes"])
            .map(|node| reader(&old).node(node))
            .collect();
        let mut failures = Vec::new();
        let mut same = true;
        for (node, expected) in nodes.iter().zip(each(&case["expectPerNode"])) {
            assert_eq!(expected["node"].as_str(), Some(node.name.as_str()));
            let recorded = Recorded {
                results: reader(&old)
                    .results(&expected["results"])
                    .expect("recorded results"),
                error: text_of(&expected["error"]),
            };
            let outcome = run(case, node, &reader(&old)).expect("readable");
            if !agrees(&outcome, &recorded, true) {
                failures.push(format!(
                    "{} on {}: {outcome:?}, recorded {expected}",
                    case["name"], node.name
                ));
            }
            same &= placement(&run(case, node, &reader(&new)).expect("readable"))
                == recorded_placement(&recorded);
        }
        tally.passed += u32::from(failures.is_empty());
        tally.failed.extend(failures);
        match (same, case["v0.36.2SamePlacement"] == true) {
            (true, true) => current.passed += 1,
            // By D1, D2, D4, D6, D7, L1, L2 or L3; the newer version differs from the recording, and so do we.
            (false, false) => current.differs += 1,
            (ours, theirs) => current.failed.push(format!(
                "{}: same placement {ours}, recorded {theirs}",
                case["name"]
            )),
        }
    }
    tally.finish(file);
    current.finish(&format!("{file} (current)"));
}

/// Devices of each claim, and whether there was an error.
type Placement = (Vec<Vec<[String; 4]>>, bool);

fn placement(outcome: &Outcome) -> Placement {
    match outcome {
        Outcome::Allocated(results) => (devices(results), false),
        Outcome::DoesNotFit => (Vec::new(), false),
        _ => (Vec::new(), true),
    }
}

fn recorded_placement(recorded: &Recorded) -> Placement {
    (devices(&recorded.results), recorded.error.is_some())
}

fn devices(results: &[AllocationResult]) -> Vec<Vec<[String; 4]>> {
    let device = |result: &crate::api::DeviceResult| {
        [
            result.request.clone(),
            result.driver.to_string(),
            result.pool.to_string(),
            result.device.to_string(),
        ]
    };
    results
        .iter()
        .map(|result| result.results.iter().map(device).collect())
        .collect()
}
