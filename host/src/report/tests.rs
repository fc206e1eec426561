//! Reports from outcomes written by hand.

use expect_test::{Expect, expect};
use serde_json::json;

use super::table::{Colour, Detail};
use super::*;

/// Nothing is said of it yet.
pub(super) fn pod(name: &str, verdict: Verdict) -> PodReport {
    PodReport {
        namespace: "default".into(),
        name: name.into(),
        verdict,
        node: None,
        feasible_nodes: Vec::new(),
        nodes_visited: 2,
        attempts: 1,
        retries: Vec::new(),
        claims: Vec::new(),
        at: None,
        code: "success",
        message: String::new(),
        reasons: Vec::new(),
        warnings: Vec::new(),
    }
}

fn device(request: &str, pool: &str, device: &str) -> DeviceReport {
    DeviceReport {
        request: request.into(),
        driver: "gpu.example.com".into(),
        pool: pool.into(),
        device: device.into(),
    }
}

fn placed() -> PodReport {
    let devices = vec![
        device("gpu", "n1", "gpu-0"),
        device("gpu", "n1", "gpu-1"),
        device("net", "fabric", "port-3"),
    ];
    let claims = vec![
        ClaimReport {
            name: "gpus".into(),
            claim: Some("a-gpus".into()),
            devices,
            allocation: json!({"devices": {}}),
        },
        ClaimReport {
            name: "none".into(),
            claim: Some("a-none".into()),
            devices: vec![],
            allocation: json!({}),
        },
    ];
    let node = Some("n1".into());
    PodReport {
        node,
        claims,
        feasible_nodes: vec!["n1".into()],
        ..pod("a", Verdict::Scheduled)
    }
}

fn refused() -> PodReport {
    let reason = ReasonReport {
        plugin: "DynamicResources".into(),
        code: "unschedulable-and-unresolvable",
        message: "cannot allocate all claims".into(),
        count: 37,
        nodes: vec!["n2".into()],
    };
    PodReport {
        at: Some("Filter".into()),
        code: "unschedulable",
        message: "0/50 nodes are available: 37 cannot allocate all claims, 13 node(s) had untolerated taint {gpu: only}. still not schedulable".into(),
        reasons: vec![reason],
        attempts: 2,
        retries: vec![RetryReport {
            attempt: 2,
            after_seconds: 300.0,
            why: "five minutes passed".into(),
            trigger: "flush".into(),
            previous: Some(EndReport {
                at: "Filter".into(),
                code: "unschedulable",
                message: "0/49 nodes are available".into(),
            }),
        }],
        ..pod("b-with-a-longer-name", Verdict::Unschedulable)
    }
}

fn report() -> Report {
    Report {
        pods: vec![placed(), refused()],
        ..Report::default()
    }
}

fn check_table(report: &Report, detail: Detail, expected: Expect) {
    let mut out = Vec::new();
    table::write(report, detail, Colour::Off, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    expected.assert_eq(&text);
}

/// One device of a pool that is not the node's names its pool; two of one driver share a line.
#[test]
fn the_table_fits_a_terminal() {
    check_table(
        &report(),
        Detail::Short,
        expect![[r#"
        NAMESPACE  POD                   VERDICT        NODE  DEVICES / REASON
        default    a                     scheduled      n1    gpus: gpu.example.com gpu-0 gpu-1;
                                                              gpu.example.com/fabric port-3
                                                              none: no device
        default    b-with-a-longer-name  unschedulable  -     Filter: 0/50 nodes are available: 37 cannot
                                                              allocate all claims, 13 node(s) had
                                                              untolerated taint {gpu: only}. still not
                                                              schedulable
    "#]],
    );
}

#[test]
fn the_wide_table_says_why_a_pod_was_tried_again() {
    check_table(
        &report(),
        Detail::Wide,
        expect![[r#"
            NAMESPACE  POD                   VERDICT        NODE  AT      FEASIBLE  VISITED  ATTEMPTS
            default    a                     scheduled      n1    -       1         2        1
                gpus: gpu.example.com gpu-0 gpu-1; gpu.example.com/fabric port-3
                none: no device
            default    b-with-a-longer-name  unschedulable  -     Filter  0         2        2
                Filter: 0/50 nodes are available: 37 cannot allocate all claims, 13 node(s) had untolerated
                taint {gpu: only}. still not schedulable
                attempt 2 after 300 s, woken by flush (five minutes passed); attempt 1 ended in Filter: 0/49
                nodes are available
        "#]],
    );
}

#[test]
fn colour_marks_the_verdict_only() {
    let report = Report {
        pods: vec![pod("a", Verdict::Scheduled)],
        ..Report::default()
    };
    let mut out = Vec::new();
    table::write(&report, Detail::Short, Colour::On, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let line = "default    a    \u{1b}[32mscheduled\u{1b}[0m  -";
    assert_eq!(text.lines().nth(1), Some(line));
}

#[test]
fn an_object_cannot_send_control_characters_to_the_terminal() {
    let pod = PodReport {
        message: "\u{1b}[2J\nrm".to_owned(),
        warnings: vec!["\u{7}".into()],
        ..refused()
    };
    let report = Report {
        pods: vec![pod],
        ..Report::default()
    };
    let mut out = Vec::new();
    table::write(&report, Detail::Short, Colour::Off, &mut out).unwrap();
    table::write_warnings(&report, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("Filter:  [2J rm"), "{text}");
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n'),
        "{text:?}"
    );
}

#[test]
fn a_warning_that_pods_share_is_written_once() {
    let warnings = vec!["w".to_owned()];
    let pods = vec![
        PodReport {
            warnings: warnings.clone(),
            ..placed()
        },
        PodReport {
            warnings,
            ..refused()
        },
    ];
    let warnings = vec![WarningReport {
        object: "a.yaml".into(),
        message: "m".into(),
    }];
    let mut out = Vec::new();
    table::write_warnings(
        &Report {
            pods,
            warnings,
            stats: None,
        },
        &mut out,
    )
    .unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "warning: a.yaml: m\nwarning: Pod default/a and 1 more: w\n"
    );
}

#[test]
fn nothing_pending_is_a_sentence() {
    check_table(
        &Report::default(),
        Detail::Short,
        expect![[r#"
        nothing is pending: every pod in the input has a node already, or there is no pod
    "#]],
    );
}

/// The names are the command line's contract.
#[test]
fn the_json_form() {
    let mut report = report();
    report.pods[0].claims.truncate(1);
    report.pods[0].claims[0].devices.truncate(1);
    report.warnings.push(WarningReport {
        object: "ResourceClaim default/x".into(),
        message: "m".into(),
    });
    let expected = json!({
        "pods": [
            {
                "namespace": "default", "name": "a", "verdict": "scheduled", "node": "n1", "feasibleNodes": ["n1"],
                "nodesVisited": 2, "attempts": 1, "retries": [],
                "claims": [{
                    "name": "gpus", "claim": "a-gpus",
                    "devices": [{"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}],
                    "allocation": {"devices": {}},
                }],
                "at": null, "code": "success", "message": "", "reasons": [], "warnings": [],
            },
            {
                "namespace": "default", "name": "b-with-a-longer-name", "verdict": "unschedulable", "node": null,
                "feasibleNodes": [], "nodesVisited": 2, "attempts": 2,
                "retries": [{"attempt": 2, "afterSeconds": 300.0, "why": "five minutes passed", "trigger": "flush",
                    "previous": {"at": "Filter", "code": "unschedulable", "message": "0/49 nodes are available"}}],
                "claims": [], "at": "Filter", "code": "unschedulable",
                "message": "0/50 nodes are available: 37 cannot allocate all claims, 13 node(s) had untolerated taint {gpu: only}. still not schedulable",
                "reasons": [{
                    "plugin": "DynamicResources", "code": "unschedulable-and-unresolvable",
                    "message": "cannot allocate all claims", "count": 37, "nodes": ["n2"],
                }],
                "warnings": [],
            },
        ],
        "warnings": [{"object": "ResourceClaim default/x", "message": "m"}],
    });
    let mut out = Vec::new();
    json::write(&report, &mut out).unwrap();
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&out).unwrap(),
        expected
    );
    assert!(serde_json::to_string(&Verdict::InputError).unwrap() == "\"input-error\"");
}

#[test]
fn the_summary_counts_verdicts() {
    assert_eq!(report().summary(), "2 pods: 1 scheduled, 1 unschedulable");
    assert!(!report().is_complete());
    let one = Report {
        pods: vec![placed()],
        ..Report::default()
    };
    assert_eq!(
        (one.summary().as_str(), one.is_complete()),
        ("1 pod: 1 scheduled", true)
    );
}

/// 3 placed pods in 1.5 s are 2 per second; the plugin's time leaves out what it called.
#[test]
fn stats_from_what_was_measured() {
    let calls = crate::plugin::CallStats {
        crossings: 5,
        objects_in: 2,
        bytes_in: 4096,
        nanoseconds: 900_000,
        import_nanoseconds: 200_000,
        crossing_nanoseconds: 50_000,
        peak_memory_bytes: 1 << 20,
        counts: [("searchSteps".to_owned(), 7)].into(),
    };
    let counts = crate::scheduler::Counts {
        cycles: 4,
        nodes_visited: 8,
        bound: 3,
    };
    let measured = collect::Measured {
        load: 3_100_000,
        read: 1_200_000,
        elapsed: 1_500_000_000,
        calls,
        counts,
    };
    let pods = vec![placed(), placed(), placed(), refused()];
    let stats = Report {
        pods,
        ..Report::default()
    }
    .with_stats(measured)
    .stats
    .unwrap();
    assert_eq!((stats.pods, stats.cycles, stats.nodes_visited), (4, 4, 8));
    assert_eq!(
        (
            stats.load_ms,
            stats.read_ms,
            stats.elapsed_ms,
            stats.pods_per_second,
            stats.plugin_ms,
            stats.crossing_ms,
            stats.host_ms,
        ),
        (3.1, 1.2, 1500.0, 2.0, 0.7, 0.05, 1499.25)
    );
    assert_eq!(
        (stats.objects_in, stats.cel_evaluations, stats.search_steps),
        (2, 0, 7)
    );
    let mut out = Vec::new();
    table::write_stats(&stats, &mut out).unwrap();
    assert!(
        String::from_utf8(out)
            .unwrap()
            .contains("4 pods in 4 cycles, 8 nodes visited")
    );
}

#[test]
fn the_yaml_writer() {
    let value = json!({
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {}, "annotations": {"on": "yes", "n": "1", "empty": "", "note": "a: b # c"}},
        "list": [1, [true, null], {"x": [], "y": {"z": "line\nbreak"}}],
        "time": "2024-01-01T00:00:00Z",
        "path": "/dev/null",
        "ends:": "x:",
        "uid": "12e4",
        "odd": "nel\u{85}",
    });
    let mut out = Vec::new();
    yaml::write(&value, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    expect![[r#"
        apiVersion: v1
        metadata:
          name: a
          labels: {}
          annotations:
            "on": "yes"
            "n": "1"
            empty: ""
            note: "a: b # c"
        list:
        - 1
        - - true
          - null
        - x: []
          "y":
            z: "line\nbreak"
        time: "2024-01-01T00:00:00Z"
        path: /dev/null
        "ends:": "x:"
        uid: "12e4"
        odd: "nel\u0085"
    "#]]
    .assert_eq(&text);
    let read: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(read, value);
}
