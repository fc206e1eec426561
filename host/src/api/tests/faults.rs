//! Faults that tests inject, and events that come late, in another order or never.

use super::*;

fn fault(nth: u32, after_effect: bool) -> Fault {
    let error = ApiError {
        reason: ApiErrorReason::Timeout,
        message: "the answer was lost".into(),
    };
    Fault {
        operation: Some(Verb::Update.into()),
        kind: Some(Kind::new(CLAIM)),
        nth,
        error,
        after_effect,
    }
}

#[test]
fn faults_strike_the_nth_matching_call() {
    let mut server = loaded(claim_value());
    server.inject(fault(2, false));
    let labelled = |server: &ApiServer, label: &str| {
        with(stored(server), "/metadata/labels", json!({"a": label}))
    };
    let sent = labelled(&server, "2");
    update(&mut server, sent).expect("the first");
    get(&mut server).expect("another verb does not count");
    let sent = labelled(&server, "3");
    assert_eq!(
        reason(update(&mut server, sent.clone())),
        ApiErrorReason::Timeout
    );
    assert_eq!(
        stored(&server)["metadata"]["labels"]["a"],
        "2",
        "it did not take effect"
    );
    update(&mut server, sent).expect("the third");
    assert_eq!(server.outstanding_faults(), 0);
    let outcomes: Vec<(bool, bool)> = server
        .journal()
        .map(|call| (call.error.is_none(), call.took_effect))
        .collect();
    assert_eq!(
        outcomes,
        [(true, true), (true, true), (false, false), (true, true)]
    );
}

#[test]
fn after_a_timeout_the_write_may_be_there() {
    let mut server = loaded(claim_value());
    server.inject(fault(1, true));
    let sent = with(claim_value(), "/metadata/labels", json!({"a": "2"}));
    assert_eq!(
        reason(update(&mut server, sent.clone())),
        ApiErrorReason::Timeout
    );
    assert_eq!(stored(&server)["metadata"]["labels"]["a"], "2");
    assert_eq!(
        server.watch().outstanding(&Kind::new(CLAIM)),
        2,
        "watchers see it"
    );
    assert_eq!(
        reason(update(&mut server, sent)),
        ApiErrorReason::Conflict,
        "the caller's version is old now"
    );
    let calls = server.take_journal();
    assert_eq!(
        (calls[0].took_effect, calls[0].error.is_some()),
        (true, true)
    );
    assert_eq!(server.journal().count(), 0);
}

#[test]
fn five_faults_for_five_tries() {
    let mut server = loaded(claim_value());
    (1..=5).for_each(|nth| server.inject(fault(nth, false)));
    for _ in 0..5 {
        assert_eq!(
            reason(update(&mut server, claim_value())),
            ApiErrorReason::Timeout
        );
    }
    update(&mut server, claim_value()).expect("the sixth");
}

#[test]
fn watch_events_can_be_delayed_lost_and_shuffled() {
    let mut server = server();
    let pod =
        |name: &str| object(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}));
    let node = object(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}));
    server.load(vec![pod("a"), node, pod("b"), pod("c")]);
    let kind = Kind::new("Pod");
    server.watch().hold(&kind);
    let names = |events: std::collections::VecDeque<WatchEvent>| -> Vec<String> {
        events
            .iter()
            .map(|event| event.object.id().name.to_string())
            .collect()
    };
    assert_eq!(names(server.watch().take_due()), ["n"]);
    assert_eq!(server.watch().outstanding(&kind), 3);
    assert!(server.watch().exchange(&kind, 0, 2));
    assert!(!server.watch().exchange(&kind, 0, 3));
    let lost = server.watch().lose(&kind, 1).expect("an event");
    assert_eq!(&*lost.object.id().name, "b");
    server.watch().release(&kind);
    assert_eq!(names(server.watch().take_due()), ["c", "a"]);
}
