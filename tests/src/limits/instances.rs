//! Which instance is asked: never one that is dead, or holds something old.

use super::*;

#[test]
fn a_trap_in_one_instance_leaves_the_others_alone() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("filter:trap", Limits::default());
    let mut first = plugin.scheduling(shared(&cluster)).unwrap();
    let mut second = plugin.scheduling(shared(&cluster)).unwrap();
    let (of_first, of_second) = (begun(&mut *first), begun(&mut *second));
    assert!(first.filter(of_first, &[0]).is_err());
    assert_eq!(plugin.live_instances(), 1);
    assert!(second.reserve(of_second, 0).is_ok());
    // A cycle means nothing to another instance.
    assert!(
        second
            .filter(CycleId(77), &[0])
            .is_err_and(|error| error.cause == "there is no such cycle in this instance")
    );
    assert!(second.end_cycle(of_second).is_ok());
}

#[test]
fn an_idle_instance_serves_only_the_cluster_that_it_has_read() {
    let (one, other) = (Double::with_one_of_each(), Double::with_one_of_each());
    let plugin = misbehaving("", Limits::default());
    for cluster in [&one, &other, &one] {
        let call = BindingCall::Unreserve {
            pod: pod("a"),
            node: "n1".into(),
            plan: None,
        };
        assert_eq!(
            finish(&mut *plugin.binding(shared(cluster), call).unwrap()),
            Ok(None)
        );
    }
    assert_eq!(plugin.live_instances(), 2);
    let effects = |cluster: &Arc<Mutex<Double>>| cluster.lock().unwrap().effects.join(", ");
    assert_eq!(effects(&other), "remove-in-flight a, restore Thing thing");
    assert_eq!(effects(&one), format!("{0}, {0}", effects(&other)));
}

#[test]
fn an_instance_that_never_read_holds_nothing_old() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("pre-filter:idle", Limits::default());
    let mut instance = plugin.scheduling(shared(&cluster)).unwrap();
    assert!(instance.pre_filter(&pod("a"), 2).is_ok());
}

#[test]
fn an_instance_that_stopped_reading_is_not_asked() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("pre-filter:read-once", Limits::default());
    let mut instance = plugin.scheduling(shared(&cluster)).unwrap();
    assert!(instance.pre_filter(&pod("a"), 2).is_ok());
    // Nothing new is shown at revision 50, so it still holds everything.
    assert!(instance.pre_filter(&pod("a"), 50).is_ok());
    cluster.lock().unwrap().touch_node();
    let error = instance.pre_filter(&pod("a"), 51).unwrap_err();
    assert_eq!(
        (error.fault, error.cause.as_str()),
        (Fault::Stale, "has not read Node up to revision 51")
    );
    assert_eq!(plugin.live_instances(), 0);
}

#[test]
fn an_instance_that_reads_is_asked() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("", Limits::default());
    let mut instance = plugin.scheduling(shared(&cluster)).unwrap();
    let (cycle, scope) = instance.pre_filter(&pod("a"), 2).unwrap();
    assert_eq!(scope, Scope::AllNodes);
    instance.end_cycle(cycle).unwrap();
    // A revision that the cluster reached without showing anything new.
    assert!(instance.pre_filter(&pod("a"), 50).is_ok());
    cluster.lock().unwrap().touch_node();
    assert!(instance.pre_filter(&pod("a"), 3).is_ok());
}
