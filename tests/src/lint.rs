//! `dractl lint`: one slip after the other in a cluster that is in order, the scenarios with published mistakes, and the ones
//! without.

use serde_json::Value;

use crate::command::{Finished, dractl_with};
use crate::schema::check_against;

mod causes;
mod core;
mod expressions;
mod innocent;
mod limits;
mod one_bad_object;
mod paths;
mod policies;
mod remedies;
mod scenarios;
mod slips;
mod templates;
mod text;
mod unseen;
mod versions;

const SCHEMA: &str = include_str!("../../host/schemas/lint.schema.json");

/// A cluster with a bit of everything, in order.
const CLUSTER: &str = include_str!("lint/cluster.yaml");

/// A finding as the JSON output has it.
#[derive(Debug)]
struct Found {
    severity: String,
    /// `Kind namespace/name` or `Kind name`.
    object: String,
    path: String,
    message: String,
    remedy: String,
}

/// What is found, after a look at schema and exit status.
fn found(finished: &Finished) -> Vec<Found> {
    let report: Value = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", finished.stdout, finished.stderr));
    assert_eq!(check_against(SCHEMA, &report), Vec::<String>::new());
    let errors = report["summary"]["errors"].as_u64().unwrap();
    assert_eq!(finished.status, u8::from(errors > 0));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |finding: &Value| {
        let object = &finding["object"];
        let name = match (text(&object["namespace"]), text(&object["name"])) {
            (namespace, name) if namespace.is_empty() => name,
            (namespace, name) => format!("{namespace}/{name}"),
        };
        Found {
            severity: text(&finding["severity"]),
            object: format!("{} {name}", text(&object["kind"]))
                .trim()
                .to_owned(),
            path: text(&finding["path"]),
            message: text(&finding["message"]),
            remedy: text(&finding["remedy"]),
        }
    };
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(one)
        .collect()
}

/// Judges a text. Every finding says what to do, and its path is one of the object's.
fn lint(input: &str, flags: &[&str]) -> Vec<Found> {
    let arguments = [&["lint", "-o", "json"], flags, &["-"]].concat();
    let found = found(&dractl_with(&arguments, input.into()));
    assert_eq!(paths::astray(input, &found), [""; 0], "{input}");
    found
}

#[test]
fn a_cluster_in_order_is_not_criticised() {
    let found = lint(CLUSTER, &[]);
    assert!(found.is_empty(), "{found:#?}");
}

/// There is nothing to judge.
#[test]
fn what_cannot_be_read_at_all_is_no_finding() {
    for (input, part) in [
        (&b""[..], "empty"),
        (b"# nothing\n", "no Kubernetes object"),
        (b"\x00\x01\xff\xfe binary", "not UTF-8"),
    ] {
        let finished = dractl_with(&["lint", "-"], input.into());
        assert_eq!(
            (finished.status, finished.stdout.as_str()),
            (2, ""),
            "{part}"
        );
        assert!(finished.stderr.contains(part), "{}", finished.stderr);
    }
}

/// Manifests that were never applied: what they need may be in the cluster.
#[test]
fn manifests_alone_are_judged_by_themselves() {
    let manifests: Vec<&str> = CLUSTER
        .split("---\n")
        .filter(|document| {
            ["kind: Pod\n", "kind: Deployment\n"]
                .iter()
                .any(|kind| document.contains(kind))
        })
        .collect();
    let found = lint(&manifests.join("---\n"), &[]);
    assert!(
        !found.is_empty() && found.iter().all(|found| found.severity == "warning"),
        "{found:#?}"
    );
    let claims = CLUSTER
        .split("---\n")
        .filter(|document| document.contains("kind: ResourceClaimTemplate\n"));
    let claims: Vec<&str> = claims.collect();
    let found = lint(&claims.join("---\n"), &[]);
    assert!(
        found.iter().all(|found| found.severity == "hint"),
        "{found:#?}"
    );
    assert!(
        found.iter().any(|found| found.object == "ResourceSlice"),
        "{found:#?}"
    );
}
