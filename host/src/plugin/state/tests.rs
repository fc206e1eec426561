//! What one instance may use, and what it is told when that is used up.

use super::{Reading, Stream};
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{
    ApiCall, ApiError, Change, Entry, InFlight, InFlightChange, LogLevel, Page, Revision, Services,
};

/// Streams that show one thing: what is new after this revision.
struct Newest {
    nodes: Revision,
    in_flight: Revision,
    now: Revision,
    more: bool,
    asked: usize,
}

impl Newest {
    fn page<C>(&mut self, at: Revision, since: Revision, change: C) -> Page<C> {
        self.asked += 1;
        let changes = if at > since { vec![change] } else { Vec::new() };
        Page {
            reset: since == 0,
            changes,
            until: self.now,
            more: self.more,
        }
    }
}

fn id() -> ObjectRef {
    ObjectRef {
        kind: Kind::new("Node"),
        namespace: "".into(),
        name: "n".into(),
        uid: "u".into(),
    }
}

impl Services for Newest {
    fn changes(&mut self, _: &Kind, since: Revision) -> Page<Change> {
        self.page(self.nodes, since, Change::Deleted { slot: 0, id: id() })
    }
    fn in_flight_changes(&mut self, since: Revision) -> Page<InFlightChange> {
        self.page(self.in_flight, since, InFlightChange::Removed(id()))
    }
    fn get(&mut self, _: &Kind, _: &str, _: &str) -> Result<Entry, ApiError> {
        unreachable!()
    }
    fn get_in_flight(&mut self, _: &Kind, _: &str) -> Option<InFlight> {
        unreachable!()
    }
    fn put_in_flight(&mut self, _: &str, _: Vec<InFlight>) -> Result<(), ApiError> {
        unreachable!()
    }
    fn remove_in_flight(&mut self, _: &str, _: &Kind, _: &str, _: bool) -> bool {
        unreachable!()
    }
    fn assume(&mut self, _: Object) -> Result<(), ApiError> {
        unreachable!()
    }
    fn restore(&mut self, _: &Kind, _: &str, _: &str) {
        unreachable!()
    }
    fn call(&mut self, _: ApiCall) -> Result<Option<Object>, ApiError> {
        unreachable!()
    }
    fn now(&mut self) -> u64 {
        unreachable!()
    }
    fn random(&mut self) -> u64 {
        unreachable!()
    }
    fn log_enabled(&self, _: LogLevel) -> bool {
        unreachable!()
    }
    fn log(&mut self, _: LogLevel, _: &str, _: &str, _: &[(String, String)]) {
        unreachable!()
    }
}

fn nodes() -> Stream {
    Stream::Objects(Kind::new("Node"))
}

fn held(revision: Revision) -> Reading {
    let mut reading = Reading::default();
    reading.begin_call();
    reading.hand_out(nodes(), revision);
    reading.hand_out(Stream::InFlight, revision);
    reading.end_call();
    reading
}

const NOTHING_NEW: Newest = Newest {
    nodes: 3,
    in_flight: 4,
    now: 9,
    more: false,
    asked: 0,
};

#[test]
fn what_is_handed_out_again_is_not_new() {
    let mut reading = held(4);
    reading.begin_call();
    assert!(!reading.hand_out(nodes(), 4));
    assert!(reading.hand_out(nodes(), 5));
    assert!(!reading.hand_out(nodes(), 5));
    assert!(!reading.hand_out(nodes(), 3));
    assert!(!reading.hand_out(nodes(), 5));
    assert!(reading.hand_out(Stream::Objects(Kind::new("Pod")), 3));
}

#[test]
fn up_to_date_is_known_without_asking() {
    let mut services = NOTHING_NEW;
    assert_eq!(held(9).behind(9, &mut services), None);
    assert_eq!(services.asked, 0);
}

#[test]
fn an_older_page_holds_while_nothing_is_new() {
    let mut services = NOTHING_NEW;
    let mut reading = held(4);
    assert_eq!(reading.behind(9, &mut services), None);
    assert_eq!(services.asked, 2);
    // The answer is remembered.
    assert_eq!(reading.behind(9, &mut services), None);
    assert_eq!(services.asked, 2);
}

#[test]
fn the_stream_that_is_behind_is_named() {
    let behind = |nodes, in_flight| {
        held(4).behind(
            9,
            &mut Newest {
                nodes,
                in_flight,
                ..NOTHING_NEW
            },
        )
    };
    assert_eq!(behind(5, 4), Some(nodes()));
    assert_eq!(behind(4, 5), Some(Stream::InFlight));
}

#[test]
fn the_end_of_a_page_is_not_the_end_of_the_stream() {
    assert_eq!(
        held(4).behind(
            9,
            &mut Newest {
                more: true,
                ..NOTHING_NEW
            }
        ),
        Some(nodes())
    );
}

#[test]
fn a_page_of_a_call_that_did_not_return_is_not_held() {
    let mut reading = Reading::default();
    reading.begin_call();
    reading.hand_out(nodes(), 9);
    // The call failed; the next one reads an older page.
    reading.begin_call();
    reading.hand_out(nodes(), 2);
    reading.end_call();
    assert_eq!(reading.behind(9, &mut { NOTHING_NEW }), Some(nodes()));
}

#[test]
fn what_was_never_read_is_not_missed() {
    assert_eq!(Reading::default().behind(9, &mut { NOTHING_NEW }), None);
}
