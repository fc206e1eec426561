//! The facade: what the scheduler and plugins may rely on.

use serde_json::{Value, json};

use super::*;
use crate::api::Fault;
use crate::plugin::ApiErrorReason;

const CLAIM: &str = "ResourceClaim.resource.k8s.io";

fn object(value: Value) -> Object {
    Object::from_value(value).expect("an object")
}

fn claim(name: &str) -> Object {
    object(
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")}, "spec": {}}),
    )
}

fn node(name: &str) -> Object {
    object(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
}

/// Two claims and a node.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new(Settings::default());
    assert_eq!(cluster.load(vec![claim("a"), claim("b"), node("n")]), []);
    cluster.deliver();
    cluster
}

fn shown(cluster: &Cluster, name: &str) -> Object {
    cluster
        .entry(&Kind::new(CLAIM), "ns", name)
        .expect("the claim")
        .object
        .clone()
}

fn in_flight(cluster: &Cluster, name: &str, holder: &str) -> InFlight {
    InFlight {
        target: shown(cluster, name).id().clone(),
        holder: holder.into(),
        json: b"{}".as_slice().into(),
    }
}

fn relabelled(object: &Object, label: &str) -> Object {
    let mut value = object.value().clone();
    value["metadata"]["labels"] = json!({"l": label});
    Object::from_value(value).expect("an object")
}

fn update(cluster: &mut Cluster, object: Object) -> Object {
    cluster
        .call(ApiCall::Update { object })
        .expect("an update")
        .expect("an object")
}

#[test]
fn load_shows_and_the_next_delivery_tells() {
    let mut cluster = Cluster::new(Settings::default());
    let before = cluster.revision();
    cluster.load(vec![node("n"), claim("a")]);
    assert!(cluster.revision() > before);
    let kind = Kind::new("Node");
    let entry = cluster.entry(&kind, "", "n").expect("the node").clone();
    assert_eq!(
        cluster
            .by_slot(&kind, entry.slot)
            .map(|entry| entry.object.id()),
        Some(entry.object.id())
    );
    assert_eq!((cluster.list(&kind).count(), cluster.count(&kind)), (1, 1));
    assert_eq!(cluster.list(&Kind::new("Thing")).count(), 0);
    let told: Vec<(String, Action)> = cluster
        .deliver()
        .iter()
        .map(|event| (event.kind.to_string(), event.action))
        .collect();
    assert_eq!(
        told,
        [
            ("Node".to_owned(), Action::Add),
            (CLAIM.to_owned(), Action::Add)
        ]
    );
    assert!(cluster.deliver().is_empty());
}

#[test]
fn writes_show_up_when_delivered() {
    let mut cluster = cluster();
    let before = shown(&cluster, "a");
    let at = cluster.revision();
    let written = update(&mut cluster, relabelled(&before, "1"));
    assert!(shown(&cluster, "a").is(&before), "the event is on its way");
    assert_eq!(cluster.revision(), at);
    let events = cluster.deliver();
    assert!(
        matches!(&events[..], [ObjectEvent { action: Action::Update, old: Some(old), new: Some(new), .. }]
        if old.is(&before) && new.is(&written))
    );
    assert!(shown(&cluster, "a").is(&written));
}

/// Trap T7 and rule 9: what PreBind assumes is seen and told at once, and its confirmation is silent.
#[test]
fn assumed_objects_are_told_at_once() {
    let mut cluster = cluster();
    let written = relabelled(&shown(&cluster, "a"), "1");
    let written = update(&mut cluster, written);
    let at = cluster.revision();
    cluster.assume(written.clone()).expect("assumed");
    assert!(
        cluster
            .get(&Kind::new(CLAIM), "ns", "a")
            .is_ok_and(|entry| entry.assumed)
    );
    let page = cluster.changes(&Kind::new(CLAIM), at);
    assert!(
        matches!(&page.changes[..], [Change::Put(entry)] if entry.assumed && entry.object.is(&written))
    );
    let events = cluster.deliver();
    assert_eq!(
        events.len(),
        1,
        "the update of assuming, not that of the watch"
    );
    // Confirmed meanwhile: there is nothing to go back to.
    cluster.restore(&Kind::new(CLAIM), "ns", "a");
    assert_eq!(cluster.deliver().len(), 0);
    assert!(
        cluster
            .get(&Kind::new(CLAIM), "ns", "a")
            .is_ok_and(|entry| !entry.assumed)
    );
}

#[test]
fn missing_objects_have_the_upstream_text() {
    let mut cluster = cluster();
    let error = cluster
        .get(&Kind::new(CLAIM), "ns", "x")
        .expect_err("no claim");
    assert_eq!(
        (error.reason, &*error.message),
        (
            ApiErrorReason::NotFound,
            "could not find ResourceClaim \"ns/x\""
        )
    );
    let error = cluster
        .get(&Kind::new("DeviceClass.resource.k8s.io"), "", "x")
        .expect_err("no class");
    assert_eq!(error.message, "could not find DeviceClass \"x\"");
    let error = cluster.assume(object(
        json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}}),
    ));
    assert_eq!(
        error.map_err(|error| error.reason),
        Err(ApiErrorReason::NotFound)
    );
}

#[test]
fn in_flight_entries_go_in_together_or_not_at_all() {
    let mut cluster = cluster();
    let (a, b) = (
        in_flight(&cluster, "a", "pod-1"),
        in_flight(&cluster, "b", "pod-1"),
    );
    let stranger = InFlight {
        holder: "pod-2".into(),
        ..b.clone()
    };
    let unknown = InFlight {
        target: ObjectRef {
            name: "x".into(),
            ..b.target.clone()
        },
        ..b.clone()
    };
    let recreated = InFlight {
        target: ObjectRef {
            uid: "old".into(),
            ..b.target.clone()
        },
        ..b.clone()
    };
    for (second, expected) in [
        (stranger, ApiErrorReason::Forbidden),
        (unknown, ApiErrorReason::NotFound),
        (recreated, ApiErrorReason::NotFound),
    ] {
        let refused = cluster.put_in_flight("pod-1", vec![a.clone(), second]);
        assert_eq!(refused.map_err(|error| error.reason), Err(expected));
        assert_eq!(cluster.in_flight().count(), 0);
    }
    cluster
        .put_in_flight("pod-1", vec![b.clone()])
        .expect("free");
    let (a2, b2) = (
        in_flight(&cluster, "a", "pod-2"),
        in_flight(&cluster, "b", "pod-2"),
    );
    let refused = cluster.put_in_flight("pod-2", vec![a2, b2]);
    assert_eq!(
        refused.map_err(|error| error.reason),
        Err(ApiErrorReason::Conflict)
    );
    assert_eq!(cluster.in_flight().cloned().collect::<Vec<_>>(), [b]);
}

#[test]
fn only_the_holder_replaces_and_removes() {
    let mut cluster = cluster();
    let kind = Kind::new(CLAIM);
    let entry = in_flight(&cluster, "a", "pod-1");
    cluster
        .put_in_flight("pod-1", vec![entry.clone()])
        .expect("free");
    let newer = InFlight {
        json: b"{\"n\":1}".as_slice().into(),
        ..entry
    };
    cluster
        .put_in_flight("pod-1", vec![newer.clone()])
        .expect("its own");
    assert_eq!(cluster.get_in_flight(&kind, "uid-a"), Some(newer));
    assert!(!cluster.remove_in_flight("pod-2", &kind, "uid-a", true));
    assert!(
        cluster.deliver().is_empty(),
        "nothing changed, nobody is woken"
    );
    assert!(cluster.remove_in_flight("pod-1", &kind, "uid-a", false));
    assert!(!cluster.remove_in_flight("pod-1", &kind, "uid-a", false));
    assert!(cluster.deliver().is_empty(), "not asked for");
    assert_eq!(cluster.get_in_flight(&kind, "uid-a"), None);
}

#[test]
fn removal_wakes_by_an_update_of_the_object() {
    let mut cluster = cluster();
    let entry = in_flight(&cluster, "a", "pod-1");
    cluster.put_in_flight("pod-1", vec![entry]).expect("free");
    assert!(cluster.remove_in_flight("pod-1", &Kind::new(CLAIM), "uid-a", true));
    let now = shown(&cluster, "a");
    assert!(
        matches!(&cluster.deliver()[..], [ObjectEvent { action: Action::Update, old: Some(old), new: Some(new), .. }]
        if old.is(&now) && new.is(&now))
    );
}

#[test]
fn both_streams_share_a_counter_and_hide_nothing() {
    let mut cluster = cluster();
    let at = cluster.revision();
    let entries = vec![
        in_flight(&cluster, "a", "pod-1"),
        in_flight(&cluster, "b", "pod-1"),
    ];
    cluster
        .put_in_flight("pod-1", entries.clone())
        .expect("free");
    assert!(
        cluster.changes(&Kind::new(CLAIM), at).changes.is_empty(),
        "the claims did not change"
    );
    let page = cluster.in_flight_changes(at);
    let puts: Vec<InFlightChange> = entries.iter().cloned().map(InFlightChange::Put).collect();
    assert_eq!((page.changes, page.until), (puts, cluster.revision()));
    let between = cluster.revision();
    cluster.remove_in_flight("pod-1", &Kind::new(CLAIM), "uid-a", false);
    let page = cluster.in_flight_changes(between);
    assert_eq!(
        page.changes,
        [InFlightChange::Removed(entries[0].target.clone())]
    );
    let fresh = cluster.in_flight_changes(0);
    assert!(fresh.reset);
    assert_eq!(fresh.changes, [InFlightChange::Put(entries[1].clone())]);
}

#[test]
fn a_dead_plugin_is_cleaned_up_after() {
    let mut cluster = cluster();
    let (a, b) = (
        in_flight(&cluster, "a", "pod-1"),
        in_flight(&cluster, "b", "pod-2"),
    );
    cluster
        .put_in_flight("pod-1", vec![a.clone()])
        .expect("free");
    cluster
        .put_in_flight("pod-2", vec![b.clone()])
        .expect("free");
    let changed = relabelled(&shown(&cluster, "a"), "1");
    let written = update(&mut cluster, changed);
    cluster.assume(written.clone()).expect("assumed");
    cluster.deliver();
    assert_eq!(cluster.remove_entries_of("pod-1"), [a]);
    assert_eq!(cluster.in_flight().cloned().collect::<Vec<_>>(), [b]);
    let now = cluster
        .get(&Kind::new(CLAIM), "ns", "a")
        .expect("the claim");
    assert!(
        !now.assumed && now.object.is(&written),
        "the write is not forgotten although its confirmation was dropped"
    );
    assert_eq!(cluster.deliver().len(), 1, "woken");
    assert!(cluster.remove_entries_of("pod-1").is_empty());
}

#[test]
fn what_was_assumed_and_not_written_is_taken_back() {
    let mut cluster = cluster();
    let entry = in_flight(&cluster, "a", "pod-1");
    cluster.put_in_flight("pod-1", vec![entry]).expect("free");
    let before = shown(&cluster, "a");
    let mut ahead = relabelled(&before, "1").into_value();
    ahead["metadata"]["resourceVersion"] = json!("999");
    cluster.assume(object(ahead)).expect("assumed");
    cluster.remove_entries_of("pod-1");
    assert!(shown(&cluster, "a").is(&before));
}

/// A plugin hands in text; what is shown has the text that the API's event will carry.
#[test]
fn one_version_has_one_text() {
    let mut cluster = cluster();
    let changed = relabelled(&shown(&cluster, "a"), "1");
    let written = update(&mut cluster, changed);
    let copy = object(written.value().clone());
    cluster.assume(copy).expect("assumed");
    assert!(shown(&cluster, "a").is(&written));
}

#[test]
fn pages_of_a_kind() {
    let page = PageLimit {
        changes: 2,
        bytes: 1 << 20,
    };
    let mut cluster = Cluster::new(Settings {
        page,
        ..Settings::default()
    });
    cluster.load(["n0", "n1", "n2"].map(node).into());
    let kind = Kind::new("Node");
    let first = cluster.changes(&kind, 0);
    assert_eq!(
        (first.reset, first.more, first.changes.len()),
        (true, true, 2)
    );
    let second = cluster.changes(&kind, first.until);
    assert_eq!(
        (second.reset, second.more, second.changes.len()),
        (false, false, 1)
    );
    assert_eq!(second.until, cluster.revision());
    let unknown = cluster.changes(&Kind::new("Thing"), 0);
    assert_eq!(
        (unknown.reset, unknown.more, unknown.until),
        (true, false, cluster.revision())
    );
    let nothing = cluster.changes(&Kind::new("Thing"), unknown.until);
    assert!(!nothing.reset && nothing.changes.is_empty());
}

#[test]
fn a_relist_repairs_what_the_watch_lost() {
    let mut cluster = cluster();
    let kind = Kind::new(CLAIM);
    let stored = shown(&cluster, "a");
    let written = update(&mut cluster, relabelled(&stored, "1"));
    let target = shown(&cluster, "b").id().clone();
    cluster
        .call(ApiCall::Delete { target })
        .expect("a deletion");
    cluster.api().watch().lose(&kind, 0).expect("the update");
    cluster.api().watch().lose(&kind, 0).expect("the deletion");
    assert!(cluster.deliver().is_empty());
    cluster.relist(&kind);
    assert!(shown(&cluster, "a").is(&written));
    assert!(cluster.entry(&kind, "ns", "b").is_none());
    assert_eq!(cluster.deliver().len(), 2);
}

#[test]
fn plugins_calls_are_marked_in_the_journal() {
    let mut cluster = cluster();
    let object = relabelled(&shown(&cluster, "a"), "1");
    update(&mut cluster, object);
    let calls = cluster.api().take_journal();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].caller, calls[0].operation),
        (Caller::Plugin, Verb::Update.into())
    );
    assert_eq!(calls[0].target.to_string(), "ResourceClaim ns/a");
}

#[test]
fn time_and_chance_are_reproducible() {
    let draw = |seed: u64| {
        let mut cluster = Cluster::new(Settings {
            seed,
            ..Settings::default()
        });
        [cluster.random(), cluster.random()]
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let mut cluster = cluster();
    let before = cluster.now();
    cluster.advance_to(before + 5);
    assert_eq!((cluster.now(), cluster.clock()), (before + 5, before + 5));
}

#[test]
fn logs_are_kept_by_level() {
    let mut cluster = cluster();
    assert!(cluster.log_enabled(LogLevel::Warn) && !cluster.log_enabled(LogLevel::Debug));
    cluster.log(LogLevel::Warn, "p", "careful", &[]);
    cluster.log(LogLevel::Debug, "p", "detail", &[]);
    assert_eq!(cluster.take_logs().len(), 1);
}

/// Whatever is written, delayed and lost: after a relist the caches show what the API holds, and a reader who followed the
/// stream holds the same.
#[test]
fn caches_and_readers_end_with_what_the_api_holds() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let page = PageLimit {
            changes: 3,
            bytes: 1 << 20,
        };
        let mut cluster = Cluster::new(Settings {
            page,
            ..Settings::default()
        });
        let kind = Kind::new(CLAIM);
        let (mut since, mut held) = (0, BTreeMap::new());
        for _ in 0..600 {
            let name = format!("c{}", random.u32(..8));
            let known = cluster.stored().stored(&kind, "ns", &name).cloned();
            match (random.u32(..8), known) {
                (0..3, None) => _ = cluster.load(vec![claim(&name)]),
                (0..2, Some(known)) => {
                    _ = update(
                        &mut cluster,
                        relabelled(&known, &random.u32(..).to_string()),
                    )
                }
                (2, Some(known)) => {
                    let written = update(
                        &mut cluster,
                        relabelled(&known, &random.u32(..).to_string()),
                    );
                    // The caches may not know it yet.
                    _ = cluster.assume(written);
                }
                (3, Some(known)) => {
                    let target = known.id().clone();
                    cluster
                        .call(ApiCall::Delete { target })
                        .expect("a deletion");
                }
                (4, _) => cluster.api().watch().hold(&kind),
                (5, _) => cluster.api().watch().release(&kind),
                (6, _) => _ = cluster.api().watch().lose(&kind, 0),
                _ => _ = cluster.deliver(),
            }
            if random.bool() {
                read(&mut cluster, &kind, &mut since, &mut held);
            }
        }
        cluster.relist(&kind);
        while read(&mut cluster, &kind, &mut since, &mut held) {}
        let object = |object: &Object| {
            (
                object.id().name.clone(),
                object.resource_version().to_owned(),
            )
        };
        let stored: BTreeMap<_, _> = cluster.stored().list(&kind).map(object).collect();
        let cached: BTreeMap<_, _> = cluster
            .list(&kind)
            .map(|entry| object(&entry.object))
            .collect();
        assert_eq!(cached, stored, "seed {seed}");
        let held: BTreeMap<_, _> = held.values().map(object).collect();
        assert_eq!(held, stored, "seed {seed}");
    }
}

/// Reads a page of a kind into what a reader holds, by slot. Whether there is more.
fn read(
    cluster: &mut Cluster,
    kind: &Kind,
    since: &mut Revision,
    held: &mut BTreeMap<Slot, Object>,
) -> bool {
    let page = cluster.changes(kind, *since);
    if page.reset {
        held.clear();
    }
    for change in page.changes {
        match change {
            Change::Put(entry) => _ = held.insert(entry.slot, entry.object),
            Change::Deleted { slot, .. } => _ = held.remove(&slot),
        }
    }
    *since = page.until;
    page.more
}

fn failing(operation: Operation, reason: ApiErrorReason, after_effect: bool) -> Fault {
    let message = "injected".to_owned();
    Fault {
        operation: Some(operation),
        kind: None,
        nth: 1,
        error: ApiError { reason, message },
        after_effect,
    }
}

/// Whether a write is seen although its event is late, after the server's answer.
fn seen_after(reason: ApiErrorReason) -> bool {
    let mut cluster = cluster();
    cluster.api().watch().hold(&Kind::new(CLAIM));
    let fault = failing(Operation::Api(Verb::Update), reason, true);
    cluster.api().inject(fault);
    let object = relabelled(&shown(&cluster, "a"), "1");
    assert!(cluster.call(ApiCall::Update { object }).is_err());
    shown(&cluster, "a").text("/metadata/labels/l") == Some("1")
}

#[test]
fn a_write_whose_outcome_is_open_is_looked_at() {
    assert!(seen_after(ApiErrorReason::Timeout));
    assert!(seen_after(ApiErrorReason::Other));
    // An answer that says what happened is believed.
    assert!(!seen_after(ApiErrorReason::Forbidden));
}

#[test]
fn a_bind_whose_outcome_is_open_is_looked_at() {
    for (reason, after_effect, bound) in [
        (ApiErrorReason::Timeout, true, true),
        (ApiErrorReason::Other, true, true),
        (ApiErrorReason::Timeout, false, false),
    ] {
        let mut cluster = cluster();
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "p"}});
        cluster.load(vec![object(pod)]);
        let fault = failing(Operation::Bind, reason, after_effect);
        cluster.api().inject(fault);
        let pod = cluster
            .entry(&Kind::new("Pod"), "ns", "p")
            .expect("the pod");
        let pod = pod.object.id().clone();
        assert_eq!(cluster.bind(&pod, "n").is_ok(), bound, "{reason:?}");
    }
}

#[test]
fn what_plugins_wrote_is_shown_on_request_though_its_event_is_late() {
    let mut cluster = cluster();
    cluster.api().watch().hold(&Kind::new(CLAIM));
    let first = cluster.stored().calls_made();
    let a = relabelled(&shown(&cluster, "a"), "1");
    update(&mut cluster, a);
    let second = cluster.stored().calls_made();
    let b = relabelled(&shown(&cluster, "b"), "1");
    update(&mut cluster, b);
    let label = |cluster: &Cluster, name| {
        let shown = shown(cluster, name);
        shown.text("/metadata/labels/l").map(str::to_owned)
    };
    cluster.show_writes_since(second);
    assert_eq!(label(&cluster, "a"), None);
    assert_eq!(label(&cluster, "b").as_deref(), Some("1"));
    cluster.show_writes_since(first);
    assert_eq!(label(&cluster, "a").as_deref(), Some("1"));
}

/// The same objects in the same order; what happens to one of them does not happen to the other.
#[test]
fn a_copy_goes_its_own_way() {
    let mut first = cluster();
    first.load(vec![claim("0"), node("m")]);
    first.advance_to(first.clock() + 5 * SECOND);
    let mut second = first.copy();
    let names = |cluster: &Cluster| -> Vec<String> {
        let kinds = [CLAIM, "Node"].map(Kind::new);
        let entries = kinds.iter().flat_map(|kind| cluster.list(kind));
        entries
            .map(|entry| entry.object.id().name.to_string())
            .collect()
    };
    assert_eq!(names(&second), ["a", "b", "0", "n", "m"]);
    assert_eq!(second.clock(), first.clock());
    assert_eq!(second.deliver().len(), 0);
    assert_eq!(shown(&second, "a").value(), shown(&first, "a").value());

    let changed = relabelled(&shown(&second, "a"), "new");
    update(&mut second, changed);
    second.load(vec![claim("c")]);
    second.advance_to(second.clock() + SECOND);
    assert_eq!(shown(&first, "a").text("/metadata/labels/l"), None);
    assert_eq!(names(&first), ["a", "b", "0", "n", "m"]);
    assert!(second.clock() > first.clock());
}
