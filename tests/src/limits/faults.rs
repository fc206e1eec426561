//! Deeds that end the instance: the fault of each, with its words.

use std::time::Duration;

use super::*;

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

/// What each deed ends in, with all that is said of it.
#[test]
fn each_deed_has_its_fault_and_its_words() {
    let misindexed = format!("returned verdict {} and only 2 statuses", u32::MAX);
    for (call, deed, fault, words) in [
        (
            "pre-filter",
            "loop",
            Fault::Deadline,
            "ran past its deadline",
        ),
        ("filter", "loop", Fault::Deadline, "ran past its deadline"),
        (
            "filter",
            "host-calls",
            Fault::HostCalls,
            "made more than 20000 calls of the host",
        ),
        (
            "filter",
            "recurse",
            Fault::Trap,
            "trapped: call stack exhausted",
        ),
        (
            "filter",
            "null",
            Fault::Trap,
            "trapped: out of bounds memory access",
        ),
        (
            "filter",
            "miscount",
            Fault::Contract,
            "returned 2 verdicts for 1",
        ),
        ("filter", "misindex", Fault::Contract, &misindexed),
        (
            "score",
            "miscount",
            Fault::Contract,
            "returned 0 scores for 1",
        ),
        (
            "reserve",
            "giant-plan",
            Fault::Output,
            "returned 2097152 bytes of plan, the limit is 1048576",
        ),
    ] {
        let found = failure(call, deed);
        assert_eq!(found, (fault, words.to_owned()), "{call}:{deed}");
    }
}

/// Where a part is the runtime's own, or depends on the build.
#[test]
fn each_deed_has_its_fault_and_some_words() {
    for (call, deed, fault, words) in [
        ("reserve", "panic", Fault::Trap, "on purpose\\nin two lines"),
        (
            "filter",
            "memory",
            Fault::Memory,
            " of memory, the limit is 32 MiB",
        ),
        ("filter", "bad-utf8", Fault::Contract, "utf-8"),
        // The process, files and the real clock are not granted.
        ("filter", "exit", Fault::Trap, "wasi:cli/exit#"),
        ("filter", "file", Fault::Trap, "wasi:filesystem/"),
        ("filter", "time", Fault::Trap, "wasi:clocks/"),
    ] {
        let (found, cause) = failure(call, deed);
        assert_eq!(found, fault, "{call}:{deed}: {cause}");
        assert!(cause.contains(words), "{call}:{deed}: {cause}");
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
fn giant_outputs_are_refused() {
    // The first has no status to return.
    for call in &CALLS[1..] {
        let (fault, cause) = failure(call, "giant-status");
        assert_eq!(fault, Fault::Output, "{call}: {cause}");
        assert_eq!(
            cause,
            "returned 2097152 bytes of statuses, the limit is 1048576"
        );
    }
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
