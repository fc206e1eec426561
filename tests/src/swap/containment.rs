//! The active version misbehaves, and there is none to go back to: what its pods are told, that nothing it did remains, and that
//! they get their nodes as soon as a better version serves.

use dractl::api::Caller;
use dractl::generations::SelfCheck;

use super::*;

fn thing(name: &str) -> Object {
    object(json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"namespace": "default", "name": name, "uid": name},
    }))
}

/// A pod that wants no device, so that a plugin may bind it that knows nothing of claims.
fn plain(name: &str) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "soak", "name": name, "uid": name},
        "spec": {"containers": [{"name": "c"}]},
    }))
}

impl Bench {
    fn of_misbehaving(deeds: &str, objects: Vec<Object>) -> (Component, Self) {
        let plugin = misbehaving(deeds, tight());
        let bench = Self::new(&plugin, objects, Policy::default());
        (plugin, bench)
    }

    fn load(&mut self, objects: Vec<Object>) {
        self.cluster.lock().unwrap().load(objects);
        self.run();
    }

    /// Calls of the API by plugins that changed something.
    fn writes(&self) -> usize {
        let cluster = self.cluster.lock().unwrap();
        let calls = cluster.stored().journal();
        calls
            .filter(|call| call.caller == Caller::Plugin && call.took_effect)
            .filter(|call| format!("{:?}", call.operation) != "Api(Get)")
            .count()
    }

    /// The real plugin takes over.
    #[track_caller]
    fn relieve(&mut self, bad: &Component, context: &str) {
        self.scheduler.swap(Rc::new(real(&json!({})))).unwrap();
        self.run();
        let places = self.places();
        assert_eq!(self.bound(), places.len(), "{context}: {places:?}");
        self.assert_in_order(context);
        // It may be kept for a while as the one to go back to, without an instance.
        assert_eq!(bad.live_instances(), 0, "{context}");
    }
}

/// What the only version does, and a part of what its pods are told.
const DEEDS: [(&str, &str); 40] = [
    ("pre-enqueue:trap", "pre-enqueue: trapped"),
    ("pre-enqueue:loop", "pre-enqueue: ran past its deadline"),
    ("pre-enqueue:giant-status", "bytes of statuses"),
    ("pre-filter:trap", "pre-filter: trapped"),
    ("pre-filter:loop", "pre-filter: ran past its deadline"),
    ("pre-filter:memory", "the limit is 32 MiB"),
    // It never looks at the cluster.
    ("pre-filter:idle", "unknown node"),
    ("filter:trap", "filter: trapped"),
    ("filter:loop", "filter: ran past its deadline"),
    ("filter:memory", "the limit is 32 MiB"),
    ("filter:recurse", "call stack exhausted"),
    ("filter:panic", "on purpose"),
    ("filter:null", "out of bounds memory access"),
    ("filter:host-calls", "calls of the host"),
    ("filter:giant-status", "bytes of statuses"),
    ("filter:many-statuses", "statuses and reasons, the limit is"),
    ("filter:miscount", "verdicts for"),
    ("filter:misindex", "and only 2 statuses"),
    ("filter:bad-utf8", "utf-8"),
    ("filter:exit", "wasi:cli/exit"),
    ("filter:file", "wasi:filesystem/"),
    ("filter:time", "wasi:clocks/"),
    ("filter:refuse", "2 not here"),
    ("filter:refuse,hints:trap", "2 not here"),
    ("filter:refuse,hints:miscount", "2 not here"),
    ("filter:refuse,post-filter:trap", "post-filter: trapped"),
    ("filter:refuse,post-filter:undeclared", "Forbidden"),
    ("pre-score:trap", "pre-score: trapped"),
    ("score:trap", "score: trapped"),
    ("score:miscount", "0 scores for 2"),
    ("end-cycle:trap", "end-cycle: trapped"),
    ("reserve:trap", "reserve: trapped"),
    ("reserve:giant-plan", "bytes of plan"),
    ("reserve:undeclared", "Forbidden"),
    ("reserve:lie", "this is the plan of another pod"),
    ("pre-bind:trap", "pre-bind: trapped"),
    ("pre-bind:loop", "pre-bind: ran past its deadline"),
    ("pre-bind:undeclared", "Forbidden"),
    ("pre-bind:giant-plan", "bytes of plan"),
    (
        "pre-bind:trap,unreserve:trap",
        "giving back what was reserved failed",
    ),
];

#[test]
fn pods_of_a_bad_version_are_told_and_get_their_nodes_from_the_next_one() {
    for (deeds, told) in DEEDS {
        let mut all = objects(&PODS);
        all.push(thing("thing"));
        let (bad, mut bench) = Bench::of_misbehaving(deeds, all);
        bench.run();
        // Wakes whom the plugin refused, after asking it.
        bench.load(vec![thing("news")]);
        assert_eq!(bench.bound(), 0, "{deeds}: {:?}", bench.places());
        for (pod, _) in PODS {
            let shown = bench.shown(pod);
            assert!(shown.contains(told), "{deeds}: {pod}: {shown}");
        }
        // What it reserved in the ledger is given back, and what it wrote was declared.
        bench.assert_in_order(deeds);
        assert_eq!(bench.writes(), 0, "{deeds}");
        bench.relieve(&bad, deeds);
    }
}

#[test]
fn a_pod_that_was_bound_stays_bound_whatever_happens_afterwards() {
    for (deeds, warned) in [
        ("", None),
        (
            "post-bind:trap",
            Some("cleaning up after binding failed: plugin misbehaving 1.2.3: post-bind: trapped"),
        ),
        (
            "post-bind:loop",
            Some("cleaning up after binding failed: plugin misbehaving 1.2.3: post-bind: ran past"),
        ),
        // It says that it wrote, and leaves what it had reserved.
        (
            "pre-bind:lie",
            Some("the plugin left claims in flight, which were removed: Thing default/thing"),
        ),
    ] {
        let mut all = objects(&[]);
        all.extend([thing("thing"), plain("a"), plain("b")]);
        let (bad, mut bench) = Bench::of_misbehaving(deeds, all);
        bench.run();
        assert_eq!(bench.bound(), 2, "{deeds}: {:?}", bench.places());
        for pod in ["a", "b"] {
            let shown = bench.shown(pod);
            assert!(
                warned.is_none_or(|warned| shown.contains(warned)),
                "{deeds}: {shown}"
            );
        }
        bench.assert_in_order(deeds);
        bench.add(&PODS.map(|(_, template)| (template, template)));
        bench.relieve(&bad, deeds);
    }
}

#[test]
fn an_instance_that_comes_back_with_a_corrupt_state_places_no_pod() {
    for (corrupt, told) in [
        ("pre-filter-later:idle", "unknown node"),
        ("pre-filter-later:trap", "pre-filter: trapped"),
        ("filter-later:misindex", "and only 2 statuses"),
        ("filter-later:miscount", "verdicts for"),
        ("filter-later:loop", "ran past its deadline"),
        ("filter-later:refuse", "2 not here"),
    ] {
        let deeds = format!("filter-of-bomb:trap,{corrupt}");
        let mut all = objects(&[]);
        all.extend([thing("thing"), plain("a")]);
        let (bad, mut bench) = Bench::of_misbehaving(&deeds, all);
        bench.run();
        assert_eq!(bench.bound(), 1, "{corrupt}");
        bench.load(vec![thing("later"), plain("b")]);
        assert_eq!(bench.bound(), 2, "{corrupt}: the first instance is healthy");
        bench.load(vec![plain("bomb")]);
        bench.load(vec![plain("c")]);
        let shown = bench.shown("c");
        assert!(shown.contains(told), "{corrupt}: {shown}");
        assert_eq!(bench.bound(), 2, "{corrupt}: {:?}", bench.places());
        bench.assert_in_order(corrupt);
        bench.add(&PODS.map(|(_, template)| (template, template)));
        bench.relieve(&bad, corrupt);

        // With somebody to go back to, the bomb costs the version its place before its successor is asked.
        let mut bench = Bench::new(&real(&json!({})), objects(&[]), Policy::default());
        bench.scheduler.swap(Rc::new(bad)).unwrap();
        bench.load(vec![thing("later"), plain("bomb"), plain("c")]);
        assert_eq!(bench.scheduler.active().number, 1, "{corrupt}");
        assert_eq!(bench.bound(), 2, "{corrupt}: {:?}", bench.places());
    }
}

#[test]
fn a_version_that_only_says_that_it_reserves_is_found_out_in_its_trial() {
    let check = SelfCheck {
        cycles: 3,
        ..SelfCheck::default()
    };
    for deeds in ["", "reserve:lie", "reserve:undeclared"] {
        let mut bench = Bench::new(&real(&json!({})), objects(&[]), Policy::default());
        let bad = misbehaving(deeds, tight());
        bench.scheduler.propose(Rc::new(bad), check).unwrap();
        bench.add(&PODS);
        bench.run();
        let text = bench.refusal();
        assert!(
            text.starts_with(
                "generation 2 (misbehaving 1.2.3) is refused: it decides otherwise: Pod soak/"
            ),
            "{text}"
        );
        assert_eq!(bench.bound(), PODS.len(), "{deeds}");
        bench.assert_in_order(deeds);
    }
}
