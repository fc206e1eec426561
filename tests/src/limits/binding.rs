//! Binding calls: where they stop, and what a failure costs.

use super::*;

fn pre_bind(uid: &str, plan: &[u8]) -> BindingCall {
    BindingCall::PreBind {
        pod: pod(uid),
        node: "n1".into(),
        plan: plan.into(),
    }
}

#[test]
fn a_whole_cycle_and_its_binding() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("", Limits::default());
    let mut instance = plugin.scheduling(shared(&cluster)).unwrap();
    let cycle = begun(&mut *instance);
    let answers = instance.filter(cycle, &[0, 1]).unwrap();
    assert_eq!(answers.verdicts, [0, 1]);
    assert_eq!(
        [answers.statuses[0].code, answers.statuses[1].code],
        [Code::Success, Code::Error]
    );
    assert_eq!(instance.score(cycle, &[0, 5]).unwrap(), Ok(vec![0, 5]));
    let Progress { status, plan } = instance.reserve(cycle, 0).unwrap();
    assert_eq!(
        (status.code, &*plan),
        (Code::Success, &b"plan of pod-uid on 0"[..])
    );
    assert_eq!(cluster.lock().unwrap().effects, ["put-in-flight pod-uid"]);
    instance.end_cycle(cycle).unwrap();

    let call = pre_bind("pod-uid", &plan);
    let mut run = plugin.binding(shared(&cluster), call).unwrap();
    let steps = [
        (Suspension::Api(Verb::Get), "put-in-flight pod-uid"),
        (
            Suspension::Sleep {
                nanoseconds: 1_000_000,
            },
            "Get Thing",
        ),
        (Suspension::Api(Verb::Update), "Get Thing"),
        (Suspension::State("assume"), "Update Thing"),
        (
            Suspension::State("remove-in-flight"),
            "assume Thing default/thing",
        ),
    ];
    for (suspension, last_effect) in steps {
        assert_eq!(run.resume(), Step::Suspended(suspension));
        // Nothing took effect yet of what it waits for.
        assert_eq!(
            cluster.lock().unwrap().effects.last().map(String::as_str),
            Some(last_effect)
        );
    }
    let Step::Done(Ok(Some(progress))) = run.resume() else {
        panic!("not done")
    };
    assert_eq!(
        (progress.status.code, &*progress.plan),
        (Code::Success, &b"written"[..])
    );
    assert_eq!(
        cluster.lock().unwrap().effects.last().map(String::as_str),
        Some("remove-in-flight pod-uid")
    );

    // The instance is idle now, and serves the next call.
    assert_eq!(plugin.live_instances(), 2);
    let call = BindingCall::PostBind {
        pod: pod("pod-uid"),
        node: "n1".into(),
        plan: progress.plan,
    };
    assert_eq!(
        plugin.binding(shared(&cluster), call).unwrap().resume(),
        Step::Done(Ok(None))
    );
    assert_eq!(plugin.live_instances(), 2);
    plugin.drop_idle();
    drop(instance);
    assert_eq!(plugin.live_instances(), 0);
    let stats = plugin.stats();
    assert!(
        stats.crossings > 10 && stats.bytes_in > 100 && stats.peak_memory_bytes >= 1 << 16,
        "{stats:?}"
    );
    assert!(
        stats.nanoseconds > stats.import_nanoseconds && stats.import_nanoseconds > 0,
        "{stats:?}"
    );
}

fn bind(deed: &str, cluster: &Arc<Mutex<Double>>) -> (Result<Option<Progress>, PluginError>, u64) {
    let plugin = misbehaving(&format!("pre-bind:{deed}"), tight());
    let call = pre_bind("pod-uid", b"plan");
    let outcome = finish(&mut *plugin.binding(shared(cluster), call).unwrap());
    (outcome, plugin.live_instances())
}

#[test]
fn a_binding_call_that_fails_costs_its_instance() {
    let cluster = Double::with_one_of_each();
    for (deed, fault) in [
        ("trap", Fault::Trap),
        ("panic", Fault::Trap),
        ("recurse", Fault::Trap),
        ("loop", Fault::Deadline),
        ("memory", Fault::Memory),
        ("host-calls", Fault::HostCalls),
        ("giant-status", Fault::Output),
        ("giant-plan", Fault::Output),
    ] {
        let (outcome, live) = bind(deed, &cluster);
        let error = outcome.unwrap_err();
        assert_eq!(
            (error.fault, error.call.as_str(), live),
            (fault, "pre-bind", 0),
            "{deed}: {error}"
        );
    }
    let (outcome, live) = bind("undeclared", &cluster);
    assert!(
        outcome
            .unwrap()
            .unwrap()
            .status
            .message()
            .contains("Forbidden")
    );
    assert_eq!(live, 1);
    assert_eq!(cluster.lock().unwrap().effects, [""; 0]);
}

#[test]
fn runs_of_two_pods_interleave_and_one_may_be_given_up() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("", Limits::default());
    let start = |uid: &str| {
        let call = pre_bind(uid, b"");
        plugin.binding(shared(&cluster), call).unwrap()
    };
    let (mut first, mut second) = (start("first"), start("second"));
    assert_eq!(first.resume(), Step::Suspended(Suspension::Api(Verb::Get)));
    assert_eq!(second.resume(), Step::Suspended(Suspension::Api(Verb::Get)));
    assert_eq!(
        first.resume(),
        Step::Suspended(Suspension::Sleep {
            nanoseconds: 1_000_000
        })
    );
    drop(first);
    assert_eq!(plugin.live_instances(), 1);
    assert!(finish(&mut *second).is_ok());
    assert_eq!(
        cluster
            .lock()
            .unwrap()
            .effects
            .iter()
            .filter(|effect| *effect == "Update Thing")
            .count(),
        1
    );
}

#[test]
fn waiting_does_not_count_against_the_deadline() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving(
        "",
        Limits {
            call_milliseconds: 50,
            ..Limits::default()
        },
    );
    let call = pre_bind("pod-uid", b"");
    let mut run = plugin.binding(shared(&cluster), call).unwrap();
    while let Step::Suspended(_) = run.resume() {
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    assert_eq!(cluster.lock().unwrap().effects.len(), 4);
}
