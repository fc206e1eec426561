//! What a scheduler has to write to use plugins that are components: load one, feed it the cluster, schedule, and swap it while
//! pods are on their way.
//!
//!     cargo run --release --example embed

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use dractl::api::Caller;
use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::generations::SelfCheck;
use dractl::object::Object;
use dractl::plugin::{ApiCall, BUILT_IN, CompileCache, Runtime, Settings};
use dractl::scheduler::chooser::OneAtATime;
use dractl::scheduler::outcome::Ended;
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use serde_json::{Value, json};

fn main() -> anyhow::Result<()> {
    // One engine per process. Compiled code is kept on disk, readable for this user only.
    let runtime = Runtime::new(&CompileCache::User)?;
    let plugin = Rc::new(runtime.load(BUILT_IN, "the built-in plugin", &Settings::default())?);

    // The cluster: here an imitation of the API server and its caches; a live scheduler would put informers behind `Services`.
    let mut cluster = Cluster::new(ClusterSettings::default());
    cluster.load(objects(cluster_objects())?);
    let cluster = Arc::new(Mutex::new(cluster));
    let mut scheduler = Scheduler::new(cluster.clone(), plugin, SchedulerSettings::default())?;

    // A version is loaded on another thread: compiling takes a second, and scheduling goes on.
    let next = {
        let runtime = runtime.clone();
        std::thread::spawn(move || runtime.load(BUILT_IN, "the next version", &Settings::default()))
    };

    let mut next = Some(next);
    for number in 0..8 {
        create(&cluster, pod(number))?;
        // One task at a time: a scheduling cycle, or a binding call up to its next import.
        while scheduler.step(&mut OneAtATime) {}
        if number == 2
            && let Some(loaded) = next.take()
        {
            let loaded = loaded
                .join()
                .map_err(|_| anyhow::anyhow!("the loader panicked"))??;
            // For three cycles both decide, and only the active one has a say.
            let check = SelfCheck {
                cycles: 3,
                ..SelfCheck::default()
            };
            scheduler.propose(Rc::new(loaded), check)?;
        }
        for notice in scheduler.take_notices() {
            say(&notice.to_string());
        }
    }
    for outcome in scheduler.outcomes() {
        let place = match &outcome.ended {
            Ended::Bound { node } => format!("runs on {node}"),
            Ended::Failed(failure) => format!("waits: {}", failure.status.message()),
            other => format!("{other:?}"),
        };
        say(&format!("{} {place}", outcome.pod.id().name));
    }
    Ok(())
}

/// Events come from writes: here a user's.
fn create(cluster: &Mutex<Cluster>, pod: Value) -> anyhow::Result<()> {
    let mut cluster = cluster
        .lock()
        .map_err(|_| anyhow::anyhow!("a thread panicked"))?;
    let object = Object::from_value(pod)?;
    cluster
        .api()
        .call(Caller::Other, &ApiCall::Create { object })?;
    Ok(())
}

fn cluster_objects() -> Vec<Value> {
    let slice = |node: &str| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": node}, "spec": {
            "driver": "gpu.example.com", "nodeName": node, "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}, {"name": "gpu-2"}],
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}})
    };
    vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}}),
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-b"}}),
        slice("node-a"),
        slice("node-b"),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"namespace": "default", "name": "gpu"},
            "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}}),
    ]
}

fn pod(number: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default", "name": format!("pod-{number}")},
        "spec": {"containers": [{"name": "main", "image": "example"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}})
}

fn objects(values: Vec<Value>) -> anyhow::Result<Vec<Object>> {
    let objects: Result<Vec<Object>, _> = values.into_iter().map(Object::from_value).collect();
    Ok(objects?)
}

#[allow(clippy::print_stdout, reason = "an example speaks to its reader")]
fn say(line: &str) {
    println!("{line}");
}
