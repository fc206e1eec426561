//! Allocations in flight: who may put them in, replace them and take them out.

use super::*;

fn in_flight(cluster: &Cluster, name: &str, holder: &str) -> InFlight {
    InFlight {
        target: shown(cluster, name).id().clone(),
        holder: holder.into(),
        json: b"{}".as_slice().into(),
    }
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
