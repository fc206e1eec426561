//! The facade: what the scheduler and plugins may rely on.

mod in_flight;
mod late;

use serde_json::{Value, json};

use super::*;
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
