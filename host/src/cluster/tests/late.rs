//! Events that are late or lost: what is shown meanwhile, and that everybody ends with what the API holds.

use super::*;
use crate::api::Fault;

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
