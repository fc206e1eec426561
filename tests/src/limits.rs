//! What happens to the host when a plugin misbehaves: the call fails with a fault that is known by type, the instance is
//! gone, and a fresh one works.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dractl::plugin::{
    BindingCall, BindingRun, Code, CycleId, Fault, Limits, LogLevel, Plugin, PluginError, Problem,
    Progress, SchedulingInstance, Scope, Settings, Step, Suspension, Verb,
};

use crate::fixture::{Double, MISBEHAVING, RUNTIME, misbehaving, pod, shared, tight};

/// Runs a whole cycle up to this call; the statuses that came back are joined.
fn cycle_until(instance: &mut dyn SchedulingInstance, call: &str) -> Result<String, PluginError> {
    let pod = pod("pod-uid");
    if call == "events-to-register" {
        return instance
            .events_to_register()
            .map(|interests| format!("{interests:?}"));
    }
    if call == "pre-enqueue" {
        return instance.pre_enqueue(&pod).map(|status| status.message());
    }
    let (cycle, scope) = instance.pre_filter(&pod, 0)?;
    let said = match call {
        "pre-filter" => format!("{scope:?}"),
        "filter" => format!("{:?}", instance.filter(cycle, &[9])?),
        "post-filter" => instance.post_filter(cycle)?.status.message(),
        "pre-score" => instance.pre_score(cycle, &[0])?.message(),
        "score" => format!("{:?}", instance.score(cycle, &[0])?),
        "reserve" => instance.reserve(cycle, 0)?.status.message(),
        other => panic!("no such call: {other}"),
    };
    instance.end_cycle(cycle)?;
    Ok(said)
}

/// Does the deed in the call, on a new instance.
fn provoke(call: &str, deed: &str) -> Result<String, PluginError> {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving(&format!("{call}:{deed}"), tight());
    let mut instance = plugin.scheduling(shared(&cluster))?;
    let outcome = cycle_until(&mut *instance, call);
    if let Err(error) = &outcome {
        assert_eq!(
            (error.plugin.as_str(), error.call.as_str()),
            ("misbehaving 1.2.3", call)
        );
        // The store is gone: nothing is called in it again, and its memory is given back.
        assert_eq!(plugin.live_instances(), 0, "{error}");
        assert!(
            cycle_until(&mut *instance, call)
                .is_err_and(|error| error.cause.contains("was dropped"))
        );
    }
    outcome
}

fn failure(call: &str, deed: &str) -> (Fault, String) {
    match provoke(call, deed) {
        Err(error) => (error.fault, error.cause),
        Ok(said) => panic!("{call}:{deed} went on and said {said}"),
    }
}

const CALLS: [&str; 8] = [
    "events-to-register",
    "pre-enqueue",
    "pre-filter",
    "filter",
    "post-filter",
    "pre-score",
    "score",
    "reserve",
];

#[test]
fn a_trap_in_each_call_costs_the_instance() {
    for call in CALLS {
        assert_eq!(
            failure(call, "trap"),
            (
                Fault::Trap,
                "trapped: wasm `unreachable` instruction executed".to_owned()
            )
        );
    }
}

#[test]
fn an_endless_loop_runs_into_the_deadline() {
    for call in ["pre-filter", "filter"] {
        assert_eq!(
            failure(call, "loop"),
            (Fault::Deadline, "ran past its deadline".to_owned())
        );
    }
}

/// Reads the cluster, which takes longer than a call may.
fn read_slowly(read_microseconds: u64) -> Result<String, PluginError> {
    let cluster = Double::with_one_of_each();
    cluster.lock().unwrap().nap = Duration::from_millis(200);
    let limits = Limits {
        call_milliseconds: 1,
        read_microseconds,
        ..tight()
    };
    let mut instance = misbehaving("", limits).scheduling(shared(&cluster))?;
    cycle_until(&mut *instance, "pre-filter")
}

#[test]
fn what_a_call_reads_for_the_first_time_gives_it_time() {
    assert!(read_slowly(60_000_000).is_ok());
    assert_eq!(read_slowly(0).unwrap_err().fault, Fault::Deadline);
}

#[test]
fn a_call_of_the_host_in_an_endless_loop_runs_into_its_own_limit() {
    assert_eq!(
        failure("filter", "host-calls"),
        (
            Fault::HostCalls,
            "made more than 20000 calls of the host".to_owned()
        )
    );
}

#[test]
fn growing_memory_is_refused_by_size() {
    let (fault, cause) = failure("filter", "memory");
    assert_eq!(fault, Fault::Memory);
    assert!(
        cause.starts_with("wanted ") && cause.ends_with("the limit is 32 MiB"),
        "{cause}"
    );
}

#[test]
fn recursion_ends_at_the_stack() {
    assert_eq!(
        failure("filter", "recurse"),
        (Fault::Trap, "trapped: call stack exhausted".to_owned())
    );
}

#[test]
fn an_access_outside_of_memory_is_a_trap() {
    assert_eq!(
        failure("filter", "null"),
        (
            Fault::Trap,
            "trapped: out of bounds memory access".to_owned()
        )
    );
}

#[test]
fn a_panic_shows_its_message() {
    let (fault, cause) = failure("reserve", "panic");
    assert_eq!(fault, Fault::Trap);
    assert!(cause.contains("on purpose\\nin two lines"), "{cause}");
}

#[test]
fn ending_the_process_is_not_granted() {
    let (fault, cause) = failure("filter", "exit");
    assert_eq!(fault, Fault::Trap);
    assert!(cause.contains("wasi:cli/exit#"), "{cause}");
}

#[test]
fn files_and_the_real_clock_are_not_granted() {
    let (fault, cause) = failure("filter", "file");
    assert!(
        fault == Fault::Trap && cause.contains("wasi:filesystem/"),
        "{cause}"
    );
    let (fault, cause) = failure("filter", "time");
    assert!(
        fault == Fault::Trap && cause.contains("wasi:clocks/"),
        "{cause}"
    );
}

#[test]
fn giant_outputs_are_refused() {
    for call in [
        "pre-enqueue",
        "pre-filter",
        "filter",
        "post-filter",
        "pre-score",
        "score",
        "reserve",
    ] {
        let (fault, cause) = failure(call, "giant-status");
        assert_eq!(fault, Fault::Output, "{call}: {cause}");
        assert_eq!(
            cause,
            "returned 2097152 bytes of statuses, the limit is 1048576"
        );
    }
    let (fault, cause) = failure("reserve", "giant-plan");
    assert_eq!(
        (fault, cause.as_str()),
        (
            Fault::Output,
            "returned 2097152 bytes of plan, the limit is 1048576"
        )
    );
}

#[test]
fn answers_that_do_not_fit_the_question_are_refused() {
    assert_eq!(
        failure("filter", "miscount"),
        (Fault::Contract, "returned 2 verdicts for 1".to_owned())
    );
    assert_eq!(
        failure("filter", "misindex"),
        (
            Fault::Contract,
            format!("returned verdict {} and only 2 statuses", u32::MAX)
        )
    );
    assert_eq!(
        failure("score", "miscount"),
        (Fault::Contract, "returned 0 scores for 1".to_owned())
    );
}

#[test]
fn values_that_are_none_of_their_type_are_refused() {
    let (fault, cause) = failure("filter", "bad-utf8");
    assert!(
        fault == Fault::Contract && cause.contains("utf-8"),
        "{cause}"
    );
}

#[test]
fn more_data_than_a_call_may_move_is_refused_before_it_is_copied() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("filter:fuel", Limits::default());
    let error =
        cycle_until(&mut *plugin.scheduling(shared(&cluster)).unwrap(), "filter").unwrap_err();
    assert_eq!(error.fault, Fault::Contract, "{error}");
}

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
fn what_was_not_declared_is_forbidden_and_has_no_effect() {
    let cluster = Double::with_one_of_each();
    // Where the API may be called, only the declaration stands in the way.
    let plugin = misbehaving("post-filter:undeclared", Limits::default());
    let mut instance = plugin.scheduling(shared(&cluster)).unwrap();
    let said = cycle_until(&mut *instance, "post-filter").unwrap();
    let forbidden = "Err(ApiErrorReason::Forbidden) ".repeat(7);
    assert_eq!(said, format!("{forbidden}true false"));
    let cluster = cluster.lock().unwrap();
    assert_eq!(cluster.effects, [""; 0]);
    assert!(
        cluster
            .logs
            .iter()
            .any(|(_, message, _)| message.contains("did not declare")),
        "{:?}",
        cluster.logs
    );
}

#[test]
fn the_api_and_sleeping_are_refused_in_a_cycle_and_the_holder_is_checked() {
    let forbidden = "Err(ApiErrorReason::Forbidden)";
    for call in ["filter", "reserve"] {
        let said = provoke(call, "refused").unwrap();
        let expected =
            format!("{forbidden} Err(ApiErrorReason::Invalid) {forbidden} Err(SleepError");
        assert!(
            said.contains(&expected) && said.contains("not-here"),
            "{call}: {said}"
        );
    }
}

#[test]
fn logs_are_escaped_cut_and_throttled() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("filter:log", Limits::default());
    cycle_until(&mut *plugin.scheduling(shared(&cluster)).unwrap(), "filter").unwrap();
    let logs = std::mem::take(&mut cluster.lock().unwrap().logs);
    assert_eq!(
        (logs[0].0, logs[0].1.as_str()),
        (LogLevel::Info, "one\\nERROR two\\u{1b}[31m")
    );
    assert_eq!(logs[0].2[0].0, "key\\n");
    assert!(logs[0].2[0].1.len() < 5000 && logs[0].2[0].1.contains(" bytes cut)"));
    assert!(
        logs[1].1.len() < 5000 && logs[1].1.ends_with("(95904 bytes cut)"),
        "{}",
        logs[1].1
    );

    let plugin = misbehaving(
        "filter:log-flood",
        Limits {
            host_calls: 100_000,
            ..Limits::default()
        },
    );
    cycle_until(&mut *plugin.scheduling(shared(&cluster)).unwrap(), "filter").unwrap();
    let logs = std::mem::take(&mut cluster.lock().unwrap().logs);
    let bytes: usize = logs.iter().map(|(_, message, _)| message.len()).sum();
    assert!(bytes < (64 << 10) + 200, "{bytes}");
    let last = &logs[logs.len() - 1].1;
    assert_eq!(
        *last,
        format!(
            "{} messages were dropped: more than 65536 bytes in one call",
            50_000 - (logs.len() - 1)
        )
    );
}

#[test]
fn what_a_plugin_prints_goes_to_the_log() {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving("filter:print", Limits::default());
    cycle_until(&mut *plugin.scheduling(shared(&cluster)).unwrap(), "filter").unwrap();
    let logs = &cluster.lock().unwrap().logs;
    let messages: Vec<&str> = logs
        .iter()
        .map(|(_, message, _)| message.as_str())
        .collect();
    assert_eq!(messages, ["to the output", "to the error", "in two lines"]);
}

#[test]
fn a_runtime_library_finds_an_empty_world_and_a_fixed_seed() {
    let first = provoke("filter", "wasi").unwrap();
    assert!(first.contains("\"0 0 "), "{first}");
    assert_eq!(first, provoke("filter", "wasi").unwrap());
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

fn begun(instance: &mut dyn SchedulingInstance) -> CycleId {
    instance.pre_filter(&pod("pod-uid"), 2).unwrap().0
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

    let call = BindingCall::PreBind {
        pod: pod("pod-uid"),
        node: "n1".into(),
        plan,
    };
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

/// Resumes to the end.
fn finish(run: &mut dyn BindingRun) -> Result<Option<Progress>, PluginError> {
    loop {
        if let Step::Done(outcome) = run.resume() {
            return outcome;
        }
    }
}

fn bind(deed: &str, cluster: &Arc<Mutex<Double>>) -> (Result<Option<Progress>, PluginError>, u64) {
    let plugin = misbehaving(&format!("pre-bind:{deed}"), tight());
    let call = BindingCall::PreBind {
        pod: pod("pod-uid"),
        node: "n1".into(),
        plan: b"plan".as_slice().into(),
    };
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
        let call = BindingCall::PreBind {
            pod: pod(uid),
            node: "n1".into(),
            plan: b"".as_slice().into(),
        };
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
    let call = BindingCall::PreBind {
        pod: pod("pod-uid"),
        node: "n1".into(),
        plan: b"".as_slice().into(),
    };
    let mut run = plugin.binding(shared(&cluster), call).unwrap();
    while let Step::Suspended(_) = run.resume() {
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    assert_eq!(cluster.lock().unwrap().effects.len(), 4);
}

#[test]
fn a_plugin_that_does_not_start_is_refused_with_its_reason() {
    let load = |deed: &str| {
        let settings = Settings {
            config: format!("\"configure:{deed}\"").into_bytes(),
            limits: Limits {
                start_milliseconds: 300,
                ..tight()
            },
            ..Settings::default()
        };
        RUNTIME
            .load(&MISBEHAVING, "bad.wasm", &settings)
            .map(|_| ())
            .unwrap_err()
    };
    for (deed, fault, text) in [
        (
            "no such field",
            Fault::Start,
            "bad.wasm: the plugin does not start: configure: the configuration was refused: no such field",
        ),
        (
            "trap",
            Fault::Trap,
            "bad.wasm: the plugin does not start: configure: trapped: wasm `unreachable` instruction executed",
        ),
        (
            "loop",
            Fault::Deadline,
            "bad.wasm: the plugin does not start: configure: ran past its deadline",
        ),
    ] {
        let error = load(deed);
        assert_eq!(error.to_string(), text);
        assert!(
            matches!(error.problem, Problem::Start(PluginError { fault: found, .. }) if found == fault)
        );
    }
}

#[test]
fn reasons_and_advice_are_limited_like_everything_else() {
    let cluster = Double::with_one_of_each();
    let ask = |deed: &str, limits: Limits| {
        let plugin = misbehaving(deed, limits);
        let mut advisor = plugin.advisor(&shared(&cluster)).unwrap();
        let names = ["n1".to_owned(), "n2".to_owned()];
        let explained = advisor.explain(&pod("a"), 2, &names)?.unwrap_or_default();
        assert_eq!(explained, [b"n1", b"n2"]);
        Ok::<_, PluginError>((
            advisor.lint(2)?.unwrap_or_default(),
            advisor.devices(2)?.unwrap_or_default(),
        ))
    };
    let (findings, devices) = ask("", Limits::default()).unwrap();
    assert_eq!(
        (
            findings.len(),
            findings[0].message.as_str(),
            devices.as_slice()
        ),
        (1, "a thing", &b"[]"[..])
    );
    for call in ["explain", "lint", "devices"] {
        let error = ask(&format!("{call}:loop"), tight()).unwrap_err();
        assert_eq!((error.fault, error.call.as_str()), (Fault::Deadline, call));
    }
    let error = ask(
        "",
        Limits {
            report_bytes: 3,
            ..Limits::default()
        },
    )
    .unwrap_err();
    assert_eq!(
        (error.fault, error.cause.as_str()),
        (Fault::Output, "returned 4 bytes of text, the limit is 3")
    );
}
