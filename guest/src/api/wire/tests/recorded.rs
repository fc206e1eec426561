//! The recorded objects of the Go implementation can all be read, or say which feature they need.

use std::path::PathBuf;

use super::*;

fn shared(file: &str) -> Option<String> {
    let root = std::env::var_os("DRACTL_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let path = root.join("conformance").join(file);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("SKIPPED: {} is not there", path.display());
    }
    text
}

fn objects<'a>(case: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    case.get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Adds what recordings leave out.
fn typed(object: &Value, api_version: &str, kind: &str) -> Vec<u8> {
    let mut object = object.clone();
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    bytes(&object)
}

/// Reads all objects of a file; returns how many, and the problems.
fn read_all(file: &str, api_version: &str) -> Option<(usize, Vec<Problem>)> {
    let (mut count, mut problems) = (0, Vec::new());
    let profile = Profile::current();
    for line in shared(file)?.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let slices = objects(&case, "slices").chain(objects(&case, "resourceSlices"));
        let slices = slices
            .map(|o| resource_slice(&typed(o, api_version, "ResourceSlice"), &profile).map(drop));
        let classes = objects(&case, "classes").chain(objects(&case, "deviceClasses"));
        let classes = classes
            .map(|o| device_class(&typed(o, api_version, "DeviceClass"), &profile).map(drop));
        let claims = objects(&case, "claimsToAllocate").chain(objects(&case, "allocatedClaims"));
        let stored = objects(&case, "objects")
            .filter(|o| o["kind"] == "ResourceClaim")
            .map(|o| &o["object"]);
        let claims = claims.chain(stored);
        let claims = claims
            .map(|o| resource_claim(&typed(o, api_version, "ResourceClaim"), &profile).map(drop));
        let nodes = objects(&case, "nodes").chain(case.get("node").filter(|node| node.is_object()));
        let nodes = nodes.map(|o| node(&typed(o, "v1", "Node")).map(drop));
        for outcome in slices.chain(classes).chain(claims).chain(nodes) {
            count += 1;
            problems.extend(outcome.err());
        }
    }
    Some((count, problems))
}

#[test]
fn of_1_31() {
    for file in [
        "structured-allocator-v0.31.jsonl",
        "structured-allocator-random-v0.31.jsonl",
        "plugin-seed.jsonl",
    ] {
        let Some((count, problems)) = read_all(file, "resource.k8s.io/v1alpha3") else {
            continue;
        };
        assert!(count > 50, "{file}: {count}");
        assert_eq!(problems, [], "{file}");
    }
}

#[test]
fn of_1_36() {
    let Some((count, problems)) =
        read_all("structured-allocator-v0.36.jsonl", "resource.k8s.io/v1")
    else {
        return;
    };
    assert!(count > 300, "{count}");
    for problem in problems {
        assert!(problem.gate.is_some(), "{problem}");
    }
}
