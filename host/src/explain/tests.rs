//! What is asked, of whom and when, and which pod a name means.

use serde_json::json;

use super::*;
use crate::cluster::Settings;

fn pod(namespace: &str, name: &str, more: serde_json::Value) -> Object {
    let mut value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "name": name}, "spec": {}});
    for (key, more) in more.as_object().unwrap() {
        match (value[key].as_object_mut(), more.as_object()) {
            (Some(fields), Some(more)) => fields.extend(more.clone()),
            _ => value[key] = more.clone(),
        }
    }
    Object::from_value(value).unwrap()
}

fn of(kind: &str, name: &str) -> serde_json::Value {
    json!({"metadata": {"ownerReferences": [{"kind": kind, "name": name}]}})
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new(Settings::default());
    let mut replica = of("ReplicaSet", "api-5d9f");
    replica["metadata"]["labels"] = json!({"pod-template-hash": "5d9f"});
    let mut running = of("StatefulSet", "db");
    running["spec"] = json!({"nodeName": "n1"});
    cluster.load(vec![
        pod("a", "web", json!({})),
        pod("b", "web", json!({})),
        pod("a", "db-0", running),
        pod("a", "db-1", of("StatefulSet", "db")),
        pod("a", "api-5d9f-x7", replica),
    ]);
    cluster.deliver();
    cluster
}

fn found(namespace: Option<&str>, name: &str) -> Result<(String, Option<String>), String> {
    let target = target::find(&cluster(), &[], namespace, name)?;
    let id = target.pod.id();
    Ok((format!("{}/{}", id.namespace, id.name), target.remark))
}

#[test]
fn pods_are_found_by_their_name_or_their_workloads() {
    assert_eq!(found(Some("b"), "web"), Ok(("b/web".to_owned(), None)));
    let remark = |text: &str| Some(text.to_owned());
    assert_eq!(
        found(None, "db"),
        Ok((
            "a/db-1".to_owned(),
            remark("db stands for 2 pods, of which db-1 is the first that is pending")
        ))
    );
    for name in ["api", "deployment/api", "api-5d9f"] {
        let (pod, remark) = found(None, name).unwrap();
        assert_eq!(pod, "a/api-5d9f-x7");
        assert!(remark.unwrap().ends_with("stands for the pod api-5d9f-x7"));
    }
}

#[test]
fn what_is_not_found_is_told_with_what_there_is() {
    assert_eq!(
        found(None, "web").unwrap_err(),
        "web is there in several namespaces: a, b; say which with -n"
    );
    assert_eq!(
        found(Some("b"), "db-0").unwrap_err(),
        "there is no pod db-0 in namespace b in the input; it is in a"
    );
    assert_eq!(
        found(Some("a"), "db-2").unwrap_err(),
        "there is no pod db-2 in namespace a in the input; the nearest names are a/db-0, a/db-1, a/web, a/api-5d9f-x7"
    );
    let nobody = Cluster::new(Settings::default());
    assert_eq!(
        target::find(&nobody, &[], None, "x").unwrap_err(),
        "there is no pod x in the input, and no other pod either"
    );
}

#[test]
fn where_a_pod_stands() {
    for (more, standing) in [
        (json!({}), Standing::Pending),
        (
            json!({"spec": {"nodeName": "n"}}),
            Standing::Placed("n".to_owned()),
        ),
        (
            json!({"spec": {"nodeName": "n"}, "status": {"phase": "Failed"}}),
            Standing::Ended("Failed".to_owned()),
        ),
        (
            json!({"metadata": {"deletionTimestamp": "2025-01-01T00:00:00Z"}}),
            Standing::Deleted,
        ),
    ] {
        assert_eq!(Standing::of(&pod("a", "p", more)), standing);
    }
}
