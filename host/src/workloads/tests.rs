//! Workloads and the pods that they stand for.

use serde_json::{Value, json};

use super::*;
use crate::manifest::read_text;

/// Reads and expands.
fn expanded(text: &str) -> Input {
    let mut input = read_text("in.yaml", text, &|_| true).unwrap_or_else(|error| panic!("{error}"));
    expand(&mut input);
    assert_eq!(input.objects.len(), input.origins.len());
    input
}

fn names(input: &Input) -> Vec<String> {
    input
        .objects
        .iter()
        .map(|object| object.id().to_string())
        .collect()
}

fn messages(input: &Input) -> Vec<String> {
    let warnings = input
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.object, warning.message));
    warnings
        .chain(input.object_errors.iter().map(ToString::to_string))
        .collect()
}

const TEMPLATE: &str = "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}";

fn workload(api_version: &str, kind: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: w}}\nspec: {{{TEMPLATE}{spec}}}\n"
    )
}

#[test]
fn each_kind_makes_its_number_of_pods() {
    for (api_version, kind, spec, numbers) in [
        ("apps/v1", "Deployment", "", 0..1),
        ("apps/v1", "Deployment", ", replicas: 3", 0..3),
        ("apps/v1", "Deployment", ", replicas: 0", 0..0),
        ("apps/v1", "ReplicaSet", ", replicas: 2", 0..2),
        ("v1", "ReplicationController", ", replicas: 2", 0..2),
        (
            "apps/v1",
            "StatefulSet",
            ", replicas: 2, ordinals: {start: 5}",
            5..7,
        ),
        ("batch/v1", "Job", "", 0..1),
        ("batch/v1", "Job", ", parallelism: 3", 0..3),
        ("batch/v1", "Job", ", completions: 5", 0..1),
        ("batch/v1", "Job", ", parallelism: 3, completions: 2", 0..2),
        ("batch/v1", "Job", ", parallelism: 2, completions: 5", 0..2),
        ("batch/v1", "Job", ", parallelism: 0", 0..0),
    ] {
        let input = expanded(&workload(api_version, kind, spec));
        let expected: Vec<_> = numbers
            .map(|number| format!("Pod default/w-{number}"))
            .collect();
        assert_eq!(names(&input), expected, "{kind} {spec}");
        assert_eq!(
            input.warnings.len(),
            usize::from(!expected.is_empty()),
            "{kind} {spec}"
        );
    }
}

#[test]
fn what_was_made_is_said() {
    let input = expanded(&workload("apps/v1", "Deployment", ", replicas: 3"));
    assert_eq!(
        messages(&input),
        ["Deployment default/w: expanded to 3 pods, w-0 to w-2: the input has none of its pods"]
    );
    let input = expanded(&workload(
        "batch/v1",
        "Job",
        ", parallelism: 1, completions: 5",
    ));
    let expected = "Job default/w: expanded to 1 pod, w-0 (of 5 completions, at most 1 at once): the input has none of its pods";
    assert_eq!(messages(&input), [expected]);
    let input = expanded(&workload("batch/v1", "Job", ", suspend: true"));
    assert_eq!(
        (names(&input), messages(&input)),
        (
            vec![],
            vec!["Job default/w: suspended, so it has no pods".to_owned()]
        )
    );
}

#[test]
fn a_job_makes_what_is_still_to_do() {
    let job = |status: &str| {
        format!(
            "{}status: {{{status}}}\n",
            workload("batch/v1", "Job", ", parallelism: 3, completions: 4")
        )
    };
    assert_eq!(names(&expanded(&job("succeeded: 2"))).len(), 2);
    assert_eq!(names(&expanded(&job("succeeded: 4"))).len(), 0);
    assert_eq!(
        names(&expanded(&job(
            "conditions: [{type: Failed, status: 'True'}]"
        )))
        .len(),
        0
    );
    assert_eq!(
        names(&expanded(&job(
            "conditions: [{type: Failed, status: 'False'}]"
        )))
        .len(),
        3
    );
}

#[test]
fn a_pod_is_made_from_the_template() {
    let input = expanded(
        "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: w, namespace: n, uid: u1}
spec:
  volumeClaimTemplates: [{metadata: {name: data}}]
  template:
    metadata: {name: ignored, namespace: ignored, labels: {a: b}, annotations: {c: d}}
    spec: {containers: [{name: c}], volumes: [{name: v}], resourceClaims: [{name: r, resourceClaimName: x}]}
",
    );
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "labels": {"a": "b"},
            "annotations": {"c": "d"},
            "name": "w-0",
            "namespace": "n",
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "w", "controller": true, "uid": "u1"}
            ],
        },
        "spec": {
            "containers": [{"name": "c"}],
            "volumes": [{"name": "v"}, {"name": "data", "persistentVolumeClaim": {"claimName": "data-w-0"}}],
            "resourceClaims": [{"name": "r", "resourceClaimName": "x"}],
        },
    });
    assert_eq!(input.objects[0].value(), &expected);
}

fn pod(name: &str, owner: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, ownerReferences: [{owner}]}}\n"
    )
}

#[test]
fn pods_in_the_input_are_not_made_again() {
    let deployment = workload("apps/v1", "Deployment", ", replicas: 2");
    let job = workload("batch/v1", "Job", "").replace("name: w", "name: w, uid: u1");
    let replica_set = workload("apps/v1", "ReplicaSet", ", replicas: 2").replace(
        "name: w",
        "name: w-5d4f, ownerReferences: [{kind: Deployment, name: w}]",
    );
    for (text, expected) in [
        // By kind and name, through a ReplicaSet that is not in the input.
        (
            deployment.clone() + &pod("x", "{kind: ReplicaSet, name: w-5d4f}"),
            &["Pod x"][..],
        ),
        (
            deployment.clone() + &pod("x", "{kind: ReplicaSet, name: other-5d4f}"),
            &["Pod default/w-0", "Pod default/w-1", "Pod x"],
        ),
        // By uid, whatever the name.
        (
            job.clone() + &pod("x", "{kind: Job, name: old, uid: u1}"),
            &["Pod x"],
        ),
        // The ReplicaSet makes the pods, not the Deployment.
        (
            deployment.clone() + &replica_set,
            &["Pod default/w-5d4f-0", "Pod default/w-5d4f-1"],
        ),
        (
            deployment.clone() + &replica_set + &pod("x", "{kind: ReplicaSet, name: w-5d4f}"),
            &["Pod x"],
        ),
        // By their own name, where the owner was stripped.
        (
            deployment + &pod("w-1", ""),
            &["Pod default/w-0", "Pod w-1"],
        ),
    ] {
        assert_eq!(names(&expanded(&text)), expected, "{text}");
    }
}

#[test]
fn pods_of_another_namespace_are_others() {
    let other = pod("x", "{kind: Job, name: w}").replace("name: x", "name: x, namespace: other");
    let input = expanded(&(workload("batch/v1", "Job", "") + &other));
    assert_eq!(names(&input), ["Pod default/w-0", "Pod other/x"]);
}

#[test]
fn a_daemon_set_has_a_pod_on_each_eligible_node() {
    let node = |name: &str, more: &str| {
        format!(
            "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{on: {name}}}}}\n{more}"
        )
    };
    let nodes = node("c", "")
        + &node("b", "spec: {taints: [{key: k, effect: NoSchedule}]}\n")
        + &node(
            "a",
            "spec: {unschedulable: true}\nstatus: {allocatable: {pods: 0}}\n",
        );
    let on = |input: &Input| -> Vec<(String, Value)> {
        let pods = input
            .objects
            .iter()
            .filter(|object| object.id().kind.as_str() == "Pod");
        let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
        pods.map(|pod| {
            (
                pod.id().name.to_string(),
                pod.value().pointer(path).cloned().unwrap_or_default(),
            )
        })
        .collect()
    };
    let pinned = |number: usize, node: &str| {
        let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        (format!("w-{number}"), json!([{"matchFields": [field]}]))
    };
    let daemon_set = workload("apps/v1", "DaemonSet", "");
    assert_eq!(
        on(&expanded(&(daemon_set.clone() + &nodes))),
        [pinned(0, "a"), pinned(1, "c")]
    );
    let selecting = daemon_set.replace(
        "containers:",
        "nodeSelector: {on: b}, tolerations: [{operator: Exists}], containers:",
    );
    let input = expanded(&(nodes.clone() + &selecting));
    assert_eq!(on(&input), [pinned(0, "b")]);
    assert!(
        input
            .objects
            .iter()
            .all(|object| object.text("/spec/nodeName").is_none())
    );
    let broken = daemon_set.replace("containers:", "nodeSelector: {on: 1}, containers:");
    assert_eq!(
        messages(&expanded(&(broken + &nodes))),
        [
            "in.yaml:2: DaemonSet default/w: spec.template.spec.nodeSelector[on] is not a string; put it in quotes"
        ]
    );
}

#[test]
fn workloads_that_cannot_be_expanded_are_named() {
    for (kind, text, expected) in [
        (
            "Deployment",
            workload("apps/v1", "Deployment", ", replicas: 10001"),
            "asks for 10001 pods; at most 10000 are made for one object",
        ),
        (
            "StatefulSet",
            workload(
                "apps/v1",
                "StatefulSet",
                ", replicas: 18446744073709551615, ordinals: {start: 9}",
            ),
            "asks for 18446744073709551615 pods; at most 10000 are made for one object",
        ),
        (
            "Job",
            workload("batch/v1", "Job", ", parallelism: -1"),
            "spec.parallelism is not a whole number of 0 or more",
        ),
        (
            "Deployment",
            workload("apps/v1", "Deployment", ", replicas: x"),
            "spec.replicas is not a whole number of 0 or more",
        ),
        (
            "Deployment",
            workload("apps/v1", "Deployment", "").replace(TEMPLATE, ""),
            "spec.template is missing or not a mapping",
        ),
        (
            "Deployment",
            workload("apps/v1", "Deployment", "").replace("[{name: c}]", "{}"),
            "spec.template makes no good pod: spec.containers is a mapping, not a list",
        ),
        (
            "Deployment",
            workload("apps/v1", "Deployment", "").replace("{a: b}", "{a: 1}"),
            "spec.template makes no good pod: metadata.labels[a] is a number; put it in quotes",
        ),
        (
            "Deployment",
            workload("apps/v1", "Deployment", "").replace("containers", "Containers"),
            "key spec.template.spec.Containers is in the wrong case; write containers",
        ),
    ] {
        let input = expanded(&text);
        assert_eq!(
            messages(&input),
            [format!("in.yaml:2: {kind} default/w: {expected}")]
        );
        assert!(input.objects.is_empty());
    }
}

#[test]
fn all_workloads_together_are_bounded() {
    let one = |index: usize| {
        workload("apps/v1", "Deployment", ", replicas: 10000")
            .replace("name: w", &format!("name: w{index}"))
    };
    let text: String = (0..11).map(one).collect();
    let input = expanded(&text);
    assert_eq!(input.objects.len(), 100_000);
    assert_eq!(input.object_errors.len(), 1);
    assert!(
        input.object_errors[0]
            .to_string()
            .contains("Deployment default/w10: the workloads of the input ask for more than")
    );
}

/// Its pods are pending at times that the input does not tell; where its Jobs are in the input, those speak for it.
#[test]
fn a_cron_job_is_not_expanded_and_that_is_said() {
    let cron_job = "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {jobTemplate: {}}\n";
    let input = expanded(cron_job);
    let [message] = &messages(&input)[..] else {
        panic!("{:?}", messages(&input))
    };
    assert!(
        message.starts_with("CronJob default/nightly: not expanded"),
        "{message}"
    );
    assert!(message.contains("--from=cronjob/nightly"), "{message}");
    assert_eq!(names(&input), [""; 0]);

    let job = workload("batch/v1", "Job", "").replace(
        "{name: w}",
        "{name: nightly-1, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: nightly}]}",
    );
    let input = expanded(&format!("{cron_job}{job}"));
    assert_eq!(names(&input), ["Pod default/nightly-1-0"]);
    let told = messages(&input);
    assert!(
        told.len() == 1 && told[0].starts_with("Job default/nightly-1"),
        "{told:?}"
    );
}
