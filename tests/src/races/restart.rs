//! The host stops between two calls of the API, and a new one goes on with nothing but what the server stores: fresh lists,
//! a fresh ledger, a fresh instance.
//!
//! Systematic: each scene is run without a stop first, and then once for every number of calls after which the host can
//! stop, the ones inside a scheduling cycle (PostFilter) included.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use dractl::api::{Fault, Operation};
use dractl::cluster::{Cluster, Settings};
use dractl::object::{Kind, Object};
use dractl::plugin::{ApiError, ApiErrorReason, Plugin};
use dractl::scheduler::chooser::OneAtATime;
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use serde_json::{Value, json};

use super::world::{CLAIM, DRIVER, FINALIZER, NAMESPACE, POD, lock, of, on_node, stored};
use super::{Plugins, classic, components, invariants, native};

/// Calls that a host which is gone may still try.
const AFTERLIFE: u32 = 40;

/// A cluster, and what is to come out of it.
struct Scene {
    name: &'static str,
    /// Number of the configuration.
    config: usize,
    objects: Vec<Value>,
    /// Makes the first bind fail, so that there is something to give back.
    bind_fails: bool,
    /// Pods that end with a node.
    bound: usize,
    /// Calls in a run without a stop, at least: the scene is about these.
    calls: u64,
}

fn version(config: usize) -> &'static str {
    match config {
        0 => "resource.k8s.io/v1",
        _ => "resource.k8s.io/v1alpha3",
    }
}

/// Nodes `n0` and `n1` with these many devices each.
fn nodes(config: usize, devices: [usize; 2]) -> Vec<Value> {
    let mut objects = vec![
        json!({"apiVersion": version(config), "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}}),
    ];
    for (number, devices) in devices.into_iter().enumerate() {
        let name = format!("n{number}");
        let device = |number: usize| match config {
            0 => json!({"name": format!("d{number}")}),
            _ => json!({"name": format!("d{number}"), "basic": {}}),
        };
        let devices: Value = (0..devices).map(device).collect();
        objects.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}));
        objects.push(json!({"apiVersion": version(config), "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": DRIVER, "nodeName": name, "devices": devices,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}));
    }
    objects
}

fn claim(config: usize, name: &str) -> Value {
    let exactly = json!({"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1});
    let mut request = match config {
        0 => json!({"exactly": exactly}),
        _ => exactly,
    };
    request["name"] = "r".into();
    json!({"apiVersion": version(config), "kind": "ResourceClaim", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"devices": {"requests": [request]}}})
}

fn classic_claim(name: &str) -> Value {
    let mut claim = claim(2, name);
    claim["spec"]["controller"] = DRIVER.into();
    claim
}

/// The claim allocated on a node, where the pod cannot use it.
fn allocated_on(mut claim: Value, node: &str) -> Value {
    let result = json!({"request": "r", "driver": DRIVER, "pool": node, "device": "d0"});
    let mut allocation = json!({"devices": {"results": [result]}, "nodeSelector": on_node(node)});
    if let Some(controller) = claim["spec"].get("controller") {
        allocation["controller"] = controller.clone();
    }
    claim["metadata"]["finalizers"] = json!([FINALIZER]);
    claim["status"] = json!({"allocation": allocation});
    claim
}

fn pod(name: &str, claims: &[&str]) -> Value {
    let entry = |claim: &&str| json!({"name": claim, "resourceClaimName": claim});
    let entries: Value = claims.iter().map(entry).collect();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"resourceClaims": entries}})
}

/// A pod that only `n1` takes.
fn pod_for_n1(name: &str, claims: &[&str]) -> Value {
    let mut pod = pod(name, claims);
    pod["spec"]["nodeSelector"] = json!({"n": "1"});
    pod
}

/// `n1` with the label that [`pod_for_n1`] wants.
fn label_n1(objects: &mut [Value]) {
    let n1 = objects
        .iter_mut()
        .find(|object| object["kind"] == "Node" && object["metadata"]["name"] == "n1");
    if let Some(n1) = n1 {
        n1["metadata"]["labels"] = json!({"n": "1"});
    }
}

fn scene(
    name: &'static str,
    config: usize,
    objects: [Vec<Value>; 2],
    bound: usize,
    calls: u64,
) -> Scene {
    Scene {
        name,
        config,
        objects: objects.concat(),
        bind_fails: false,
        bound,
        calls,
    }
}

fn scenes() -> Vec<Scene> {
    let mut scenes = Vec::new();
    for config in [0, 1] {
        let one = || vec![claim(config, "a"), pod("p", &["a"])];
        let two = vec![
            claim(config, "a"),
            claim(config, "b"),
            pod("p", &["a", "b"]),
        ];
        let shared = vec![claim(config, "a"), pod("p", &["a"]), pod("q", &["a"])];
        // Finalizer, status, bind; in 1.31 the scheduling context is deleted as well.
        scenes.push(scene(
            "one claim",
            config,
            [nodes(config, [1, 0]), one()],
            1,
            3,
        ));
        scenes.push(scene(
            "two claims",
            config,
            [nodes(config, [2, 1]), two],
            1,
            5,
        ));
        scenes.push(scene(
            "a shared claim",
            config,
            [nodes(config, [1, 1]), shared],
            2,
            5,
        ));
        let mut undone = scene(
            "a bind that fails",
            config,
            [nodes(config, [1, 0]), one()],
            1,
            6,
        );
        undone.bind_fails = true;
        scenes.push(undone);
        let mut elsewhere = nodes(config, [1, 1]);
        label_n1(&mut elsewhere);
        let moved = vec![
            allocated_on(claim(config, "a"), "n0"),
            pod_for_n1("p", &["a"]),
        ];
        // PostFilter clears the allocation with one call; the finalizer is there already.
        scenes.push(scene("deallocation", config, [elsewhere, moved], 1, 3));
    }
    let one = || vec![classic_claim("a"), pod("p", &["a"])];
    let two = vec![
        classic_claim("a"),
        classic_claim("b"),
        pod("p", &["a", "b"]),
    ];
    // The context with its selected node, the reservation, bind, deletion of the context.
    scenes.push(scene("a classic claim", 2, [nodes(2, [0, 0]), one()], 1, 4));
    scenes.push(scene(
        "two classic claims",
        2,
        [nodes(2, [0, 0]), two],
        1,
        6,
    ));
    let mut undone = scene(
        "a classic bind that fails",
        2,
        [nodes(2, [0, 0]), one()],
        1,
        6,
    );
    undone.bind_fails = true;
    scenes.push(undone);
    let mut elsewhere = nodes(2, [0, 0]);
    label_n1(&mut elsewhere);
    let moved = vec![
        allocated_on(classic_claim("a"), "n0"),
        selected("p", "n0"),
        pod_for_n1("p", &["a"]),
    ];
    // PostFilter first takes the selected node back: two calls in one scheduling cycle.
    scenes.push(scene("classic deallocation", 2, [elsewhere, moved], 1, 6));
    scenes
}

/// A scheduling context of the pod that has selected a node.
fn selected(pod: &str, node: &str) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1alpha3", "kind": "PodSchedulingContext",
        "metadata": {"name": pod, "namespace": NAMESPACE, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid_of(pod), "controller": true}]},
        "spec": {"selectedNode": node, "potentialNodes": [node]}})
}

fn uid_of(pod: &str) -> String {
    format!("uid-of-{pod}")
}

fn with_uids(objects: &[Value]) -> Vec<Object> {
    let with_uid = |object: &Value| {
        let mut object = object.clone();
        if object["kind"] == POD {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            object["metadata"]["uid"] = uid_of(name).into();
        }
        of(object)
    };
    objects.iter().map(with_uid).collect()
}

/// A host's life: from objects to objects. It ends by itself, or stops after so many calls.
struct Life {
    cluster: Arc<Mutex<Cluster>>,
    calls: u64,
}

impl Life {
    fn new(
        plugin: &Rc<dyn Plugin>,
        objects: Vec<Object>,
        stop: Option<u64>,
        bind_fails: bool,
    ) -> Result<Self, String> {
        let cluster = Arc::new(Mutex::new(Cluster::new(Settings::default())));
        {
            let mut cluster = lock(&cluster);
            cluster.load(objects);
            if bind_fails {
                cluster.api().inject(failing(Some(Operation::Bind), 1));
            }
            // No call reaches the server any more.
            for call in 1..=stop.map_or(0, |_| AFTERLIFE) {
                let nth = u32::try_from(stop.unwrap_or_default()).unwrap_or(u32::MAX);
                cluster.api().inject(failing(None, nth + call));
            }
        }
        let settings = SchedulerSettings::default();
        let mut scheduler = Scheduler::new(cluster.clone(), plugin.clone(), settings)
            .map_err(|error| error.to_string())?;
        let stopped = || stop.is_some_and(|stop| calls(&cluster) > stop);
        loop {
            let busy = scheduler.step(&mut OneAtATime);
            if stopped() {
                break;
            }
            invariants::during(&lock(&cluster), false)?;
            if !busy && !classic::drive(&mut lock(&cluster)) {
                break;
            }
        }
        let calls = calls(&cluster);
        Ok(Self { cluster, calls })
    }

    fn objects(&self) -> Vec<Object> {
        let cluster = lock(&self.cluster);
        let kinds: Vec<Kind> = cluster.stored().kinds().cloned().collect();
        kinds
            .iter()
            .flat_map(|kind| stored(&cluster, kind.as_str()))
            .collect()
    }
}

/// Calls so far, the driver's among them.
fn calls(cluster: &Mutex<Cluster>) -> u64 {
    lock(cluster).stored().calls_made()
}

fn failing(operation: Option<Operation>, nth: u32) -> Fault {
    let (reason, message) = (ApiErrorReason::Timeout, "nobody is there".into());
    Fault {
        operation,
        kind: None,
        nth,
        error: ApiError { reason, message },
        after_effect: false,
    }
}

/// Runs a scene, stopped after so many calls, and once more after so many.
fn live(plugin: &Rc<dyn Plugin>, scene: &Scene, stops: &[u64]) -> Result<u64, String> {
    let mut objects = with_uids(&scene.objects);
    let mut bind_fails = scene.bind_fails;
    for stop in stops {
        let life = Life::new(plugin, objects, Some(*stop), bind_fails)?;
        objects = life.objects();
        bind_fails = false;
    }
    let life = Life::new(plugin, objects, None, bind_fails)?;
    let cluster = lock(&life.cluster);
    invariants::during(&cluster, false)?;
    let bound = stored(&cluster, POD);
    let bound = bound
        .iter()
        .filter(|pod| pod.text("/spec/nodeName").is_some())
        .count();
    if bound != scene.bound {
        return Err(format!("{bound} pods are bound, not {}", scene.bound));
    }
    if let Some(entry) = cluster.in_flight().next() {
        return Err(format!("{} is still in flight", entry.target));
    }
    reserved_once(&cluster)?;
    Ok(life.calls)
}

/// Each claim is reserved exactly for the pods that use it: all of them are bound.
fn reserved_once(cluster: &Cluster) -> Result<(), String> {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pod in stored(cluster, POD) {
        for (_, claim) in super::world::claims_of(&pod) {
            users
                .entry(claim.to_owned())
                .or_default()
                .push(pod.id().uid.to_string());
        }
    }
    for claim in stored(cluster, CLAIM) {
        let consumers = super::world::list(claim.value(), "/status/reservedFor");
        let mut consumers: Vec<String> = consumers
            .iter()
            .map(|one| super::world::text(one, "uid").to_owned())
            .collect();
        let mut users = users.remove(&*claim.id().name).unwrap_or_default();
        consumers.sort_unstable();
        users.sort_unstable();
        if consumers != users {
            return Err(format!(
                "{} is reserved for {consumers:?}, not {users:?}",
                claim.id()
            ));
        }
    }
    Ok(())
}

/// All stops, and all pairs of stops if `twice`.
fn all_stops(plugins: &Plugins, twice: bool) {
    for scene in scenes() {
        let plugin = &plugins[scene.config];
        let run = |stops: &[u64]| {
            live(plugin, &scene, stops).unwrap_or_else(|why| {
                panic!(
                    "{}, profile {}, stops {stops:?}: {why}",
                    scene.name, scene.config
                )
            })
        };
        let calls = run(&[]);
        assert!(
            calls >= scene.calls,
            "{}, profile {}: only {calls} calls",
            scene.name,
            scene.config
        );
        for stop in 0..=calls {
            run(&[stop]);
            for second in 0..=calls.min(if twice { u64::MAX } else { 0 }) {
                run(&[stop, second]);
            }
        }
    }
}

#[test]
fn races_restart_natively_after_any_one_or_two_stops() {
    all_stops(&native(), true);
}

#[test]
fn races_restart_through_the_component_after_any_stop() {
    all_stops(&components(), false);
}
