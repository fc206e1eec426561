//! Two instances that filter half of the nodes each, on a thread each, beside one that filters all of them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use dractl::cluster::Cluster;
use dractl::cycle::Strategy;
use dractl::object::Object;
use dractl::plugin::Slot;
use serde_json::json;

use crate::cluster::{Kind, claim, generate, object, request};
use crate::parts::{feasible, instance, lock, slots};
use crate::run::{Built, Plugins, cluster, run};
use crate::table::{Table, microseconds, ratio};

const NODES: usize = 5_000;
const PODS: usize = 61;
const ROUNDS: usize = 4;

/// Everything from a change of a claim, which each instance has to read, to the last verdict; then what that makes of whole cycles.
pub fn halves(plugins: &Plugins) {
    let table = Table::new(
        "Filter by two instances, half of 5,000 nodes each, all nodes visited",
        &[
            "pods ask for",
            "us: one instance",
            "two",
            "one / two",
            "whole cycles, one / two",
        ],
    );
    for kind in Kind::ALL {
        let generated = generate(kind, NODES, 8, PODS);
        let cycles = (0..3).map(|_| {
            let plugin = plugins.make(Built::Wasm);
            run(&generated.objects, plugin, Strategy::AllNodes, 1).per_pod()
        });
        let cycle = cycles.min().unwrap_or_default();
        let is_pod = |object: &&Object| object.id().kind.as_str() == "Pod";
        let pods: Vec<Object> = generated.objects.iter().filter(is_pod).cloned().collect();
        let cluster = cluster(&generated.objects);
        let [one, two] = compared(plugins, &cluster, &pods);
        let rest = cycle.saturating_sub(one);
        table.row(&[
            kind.name().to_owned(),
            microseconds(one),
            microseconds(two),
            ratio(one, two),
            ratio(cycle, rest + two),
        ]);
    }
}

/// Somebody wrote a claim.
fn change(cluster: &Mutex<Cluster>, version: usize) {
    let mut changed = claim("changing", json!({"requests": [request("r", json!({}))]}));
    changed["metadata"]["resourceVersion"] = (version + 10).to_string().into();
    let mut cluster = lock(cluster);
    cluster.load(vec![object(changed)]);
    cluster.deliver();
}

/// Median over the pods of the best of some rounds: by one instance, and by two.
fn compared(plugins: &Plugins, cluster: &Arc<Mutex<Cluster>>, pods: &[Object]) -> [Duration; 2] {
    let nodes = slots(cluster);
    let (near, far) = nodes.split_at(nodes.len() / 2);
    let mut alone = instance(plugins, Built::Wasm, cluster);
    let mut here = instance(plugins, Built::Wasm, cluster);
    let mut best = vec![[Duration::MAX; 2]; pods.len()];
    thread::scope(|scope| {
        let (pod_of, given) = channel::<Object>();
        let (told, answers) = channel::<usize>();
        scope.spawn(move || there(plugins, cluster, far, &given, &told));
        for round in 0..ROUNDS {
            for (index, (pod, best)) in pods.iter().zip(&mut best).enumerate() {
                change(cluster, 2 * (round * pods.len() + index));
                let begun = Instant::now();
                let all = feasible(&mut *alone, cluster, pod, &nodes);
                best[0] = best[0].min(begun.elapsed());
                change(cluster, 2 * (round * pods.len() + index) + 1);
                let begun = Instant::now();
                let _ = pod_of.send(pod.clone());
                let some = feasible(&mut *here, cluster, pod, near);
                let others = answers.recv().unwrap_or_default();
                best[1] = best[1].min(begun.elapsed());
                assert_eq!(some + others, all);
            }
        }
        drop(pod_of);
    });
    [0, 1].map(|way| {
        let mut times: Vec<Duration> = best.iter().map(|best| best[way]).collect();
        times.sort_unstable();
        times[times.len() / 2]
    })
}

/// The second instance, which ends when there are no more pods.
fn there(
    plugins: &Plugins,
    cluster: &Arc<Mutex<Cluster>>,
    nodes: &[Slot],
    pods: &Receiver<Object>,
    told: &Sender<usize>,
) {
    let mut instance = instance(plugins, Built::Wasm, cluster);
    while let Ok(pod) = pods.recv() {
        let _ = told.send(feasible(&mut *instance, cluster, &pod, nodes));
    }
}
