//! What a plugin may not do, though it lives on: undeclared calls, the API in a cycle, floods of logs, the world outside.

use super::*;

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
