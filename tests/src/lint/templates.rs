//! Templates of pods that are not there yet are judged like pods, each once.

use super::lint;

const BASE: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: there}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: d}]
---
"#;

/// A pod template that names this ResourceClaimTemplate, twice in the containers of some.
const TEMPLATE: &str = "template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {claims: [{name: x}]}}], resourceClaims: [{name: x, resourceClaimTemplateName: NAME}]}}";
const SELECTOR: &str = "selector: {matchLabels: {a: b}}";

/// Kind with its API version, and what stands around the template.
fn workloads() -> Vec<[String; 3]> {
    let row = |[api, kind]: [&str; 2], spec: String| [api.to_owned(), kind.to_owned(), spec];
    let plain = |more: &str| format!("spec: {{{more}{SELECTOR}, {TEMPLATE}}}");
    let job = |more: &str| format!("spec: {{{more}{TEMPLATE}}}");
    vec![
        row(["apps/v1", "Deployment"], plain("")),
        row(["apps/v1", "Deployment"], plain("replicas: 3, ")),
        row(["apps/v1", "Deployment"], plain("replicas: 0, ")),
        row(["apps/v1", "ReplicaSet"], plain("replicas: 2, ")),
        row(["apps/v1", "StatefulSet"], plain("serviceName: s, ")),
        row(["apps/v1", "DaemonSet"], plain("")),
        row(["batch/v1", "Job"], job("parallelism: 2, completions: 4, ")),
        row(["batch/v1", "Job"], job("suspend: true, ")),
        row(
            ["batch/v1", "CronJob"],
            format!(
                "spec: {{schedule: \"0 1 * * *\", jobTemplate: {{{}}}}}",
                job("")
            ),
        ),
        row(
            ["batch/v1", "CronJob"],
            format!(
                "spec: {{schedule: \"0 1 * * *\", suspend: true, jobTemplate: {{{}}}}}",
                job("")
            ),
        ),
    ]
}

#[test]
fn templates_of_all_workloads() {
    for [api, kind, spec] in workloads() {
        let workload = format!("apiVersion: {api}\nkind: {kind}\nmetadata: {{name: w}}\n{spec}\n");
        let found = lint(&format!("{BASE}{workload}").replace("NAME", "there"), &[]);
        assert!(found.is_empty(), "{workload}: {found:#?}");
        let found = lint(&format!("{BASE}{workload}").replace("NAME", "other"), &[]);
        let [it] = &found[..] else {
            panic!("{workload}: {found:#?}");
        };
        let template = match kind.as_str() {
            "CronJob" => "spec.jobTemplate.spec.template",
            _ => "spec.template",
        };
        assert_eq!(
            [&*it.severity, &*it.object, &*it.path],
            [
                "error",
                &format!("{kind} default/w"),
                &format!("{template}.spec.resourceClaims[0].resourceClaimTemplateName")
            ]
        );
        // What another object made before makes nothing more.
        let old = workload.replace("{name: w}", "{name: w, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: u, controller: true}]}");
        if spec.contains("replicas: 0") {
            let old = format!("{BASE}{old}").replace("Deployment\nmeta", "ReplicaSet\nmeta");
            let found = lint(&old.replace("NAME", "other"), &[]);
            assert!(found.is_empty(), "{old}: {found:#?}");
        }
    }
}
