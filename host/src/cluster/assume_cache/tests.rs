//! The rules of spec section 3, by number.

use serde_json::json;

use super::*;
use crate::cluster::stream::FIRST_REVISION;

fn claim(version: &str, mark: &str) -> Object {
    claim_with_uid("u", version, mark)
}

fn claim_with_uid(uid: &str, version: &str, mark: &str) -> Object {
    let metadata = json!({"name": "c", "namespace": "ns", "uid": uid, "resourceVersion": version});
    let value = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "mark": mark});
    Object::from_value(value).expect("an object")
}

struct Fixture {
    cache: AssumeCache,
    revision: Revision,
}

impl Fixture {
    fn empty() -> Self {
        let cache = AssumeCache::new(Kind::new("ResourceClaim.resource.k8s.io"));
        Self {
            cache,
            revision: FIRST_REVISION,
        }
    }

    /// With the claim in version 5, marked `api`.
    fn new() -> Self {
        let mut fixture = Self::empty();
        fixture.informed(claim("5", "api")).expect("an add");
        fixture
    }

    fn informed(&mut self, object: Object) -> Option<ObjectEvent> {
        self.cache.informed(object, &mut self.revision)
    }

    fn assume(&mut self, object: Object) -> Result<ObjectEvent, ApiError> {
        self.cache.assume(object, &mut self.revision)
    }

    fn restore(&mut self) -> Option<ObjectEvent> {
        self.cache.restore("ns", "c", &mut self.revision)
    }

    /// Mark of what is shown, and whether it is assumed.
    fn shown(&self) -> Option<(&str, bool)> {
        self.cache.get("ns", "c").map(|entry| {
            (
                entry.object.text("/mark").unwrap_or_default(),
                entry.assumed,
            )
        })
    }
}

/// Action, mark of the old and mark of the new object.
fn told(event: &ObjectEvent) -> (Action, Option<&str>, Option<&str>) {
    let mark = |object: &'_ Option<Object>| {
        object
            .as_ref()
            .map(|object| object.text("/mark").unwrap_or_default().to_owned())
    };
    let leak = |text: Option<String>| text.map(|text| &*text.leak());
    (event.action, leak(mark(&event.old)), leak(mark(&event.new)))
}

#[test]
fn rule_1_get_gives_the_latest_or_the_upstream_text() {
    assert_eq!(Fixture::new().shown(), Some(("api", false)));
    let kind = Kind::new("ResourceClaim.resource.k8s.io");
    assert_eq!(
        missing(&kind, "ns", "c").message,
        "could not find ResourceClaim \"ns/c\""
    );
    assert_eq!(
        missing(&Kind::new("DeviceClass.resource.k8s.io"), "", "x").message,
        "could not find DeviceClass \"x\""
    );
}

#[test]
fn rule_2_list_gives_the_latest() {
    let mut fixture = Fixture::new();
    fixture.assume(claim("6", "assumed")).expect("assumed");
    let marks: Vec<_> = fixture
        .cache
        .entries()
        .map(|entry| entry.object.text("/mark"))
        .collect();
    assert_eq!(marks, [Some("assumed")]);
}

#[test]
fn rule_3_only_newer_objects_replace() {
    for (version, taken) in [
        ("4", false),
        ("5", false),
        ("6", true),
        ("10", true),
        ("x", false),
        ("", false),
    ] {
        let mut fixture = Fixture::new();
        let before = fixture.revision;
        let event = fixture.informed(claim(version, "new"));
        assert_eq!(
            event.as_ref().map(told),
            taken.then_some((Action::Update, Some("api"), Some("new"))),
            "{version}"
        );
        assert_eq!(
            fixture.shown(),
            Some((if taken { "new" } else { "api" }, false)),
            "{version}"
        );
        assert_eq!(fixture.revision > before, taken, "{version}");
    }
}

#[test]
fn rule_3_new_keys_are_added_whatever_their_version() {
    let mut fixture = Fixture::empty();
    let event = fixture.informed(claim("x", "odd")).expect("an add");
    assert_eq!(told(&event), (Action::Add, None, Some("odd")));
    assert!(
        fixture.informed(claim("6", "new")).is_none(),
        "the held version cannot be compared"
    );
    assert_eq!(fixture.shown(), Some(("odd", false)));
}

/// Rule 3: the confirmation of an assumed object changes nothing that is shown. DIFFERENCE: upstream's `restore` goes back
/// behind the confirmation, ours does not; see `Item::confirmed`.
#[test]
fn t22_an_equal_version_does_not_refresh() {
    let mut fixture = Fixture::new();
    fixture.assume(claim("6", "assumed")).expect("assumed");
    assert!(fixture.informed(claim("6", "confirmed")).is_none());
    assert_eq!(fixture.shown(), Some(("assumed", true)));
    let event = fixture.restore().expect("an update");
    assert_eq!(
        told(&event),
        (Action::Update, Some("assumed"), Some("confirmed"))
    );
    assert_eq!(fixture.shown(), Some(("confirmed", false)));
    assert!(fixture.restore().is_none());
}

#[test]
fn rule_3_a_newer_object_ends_the_assumption() {
    let mut fixture = Fixture::new();
    fixture.assume(claim("6", "assumed")).expect("assumed");
    let event = fixture.informed(claim("7", "newer")).expect("an update");
    assert_eq!(
        told(&event),
        (Action::Update, Some("assumed"), Some("newer"))
    );
    assert_eq!(fixture.shown(), Some(("newer", false)));
    assert!(fixture.restore().is_none());
}

#[test]
fn rule_4_delete_tells_the_latest() {
    let mut fixture = Fixture::new();
    fixture.assume(claim("6", "assumed")).expect("assumed");
    let event = fixture
        .cache
        .deleted("ns", "c", &mut fixture.revision)
        .expect("a delete");
    assert_eq!(told(&event), (Action::Delete, Some("assumed"), None));
    assert_eq!(fixture.shown(), None);
    assert!(
        fixture
            .cache
            .deleted("ns", "c", &mut fixture.revision)
            .is_none()
    );
    assert!(fixture.restore().is_none());
}

#[test]
fn rule_5_assume_needs_a_known_key() {
    let mut fixture = Fixture::empty();
    let error = fixture
        .assume(claim("6", "assumed"))
        .expect_err("nothing to assume on");
    assert_eq!(error.reason, ApiErrorReason::NotFound);
    assert_eq!(error.message, "could not find ResourceClaim \"ns/c\"");
    let mut fixture = Fixture::new();
    let error = fixture
        .assume(claim_with_uid("other", "6", "assumed"))
        .expect_err("another object");
    assert_eq!(error.reason, ApiErrorReason::NotFound);
    assert_eq!(fixture.shown(), Some(("api", false)));
}

#[test]
fn rule_5_assume_accepts_equal_and_newer_versions() {
    for version in ["5", "6"] {
        let mut fixture = Fixture::new();
        let event = fixture.assume(claim(version, "assumed")).expect("assumed");
        assert_eq!(told(&event), (Action::Update, Some("api"), Some("assumed")));
        assert_eq!(fixture.shown(), Some(("assumed", true)));
    }
}

#[test]
fn rule_5_assume_refuses_older_and_odd_versions() {
    let mut fixture = Fixture::new();
    let error = fixture.assume(claim("4", "assumed")).expect_err("older");
    assert_eq!(error.reason, ApiErrorReason::Conflict);
    assert_eq!(
        error.message,
        "ResourceClaim \"ns/c\" is out of sync (stored: 5, assume: 4)"
    );
    let error = fixture.assume(claim("x", "assumed")).expect_err("odd");
    assert_eq!(error.reason, ApiErrorReason::Invalid);
    assert_eq!(fixture.shown(), Some(("api", false)));
}

#[test]
fn rule_6_restore_takes_back_and_is_silent_otherwise() {
    let mut fixture = Fixture::new();
    let before = fixture.revision;
    assert!(fixture.restore().is_none());
    assert_eq!(fixture.revision, before);
    fixture.assume(claim("6", "assumed")).expect("assumed");
    assert_eq!(
        fixture.restore().as_ref().map(told),
        Some((Action::Update, Some("assumed"), Some("api")))
    );
    assert!(fixture.restore().is_none());
}

#[test]
fn rule_7_versions_are_numbers() {
    let mut fixture = Fixture::new();
    fixture.informed(claim("9", "nine")).expect("newer");
    fixture
        .informed(claim("10", "ten"))
        .expect("newer as a number, older as a text");
    assert!(fixture.informed(claim("9", "nine")).is_none());
    assert_eq!(fixture.shown(), Some(("ten", false)));
}

#[test]
fn slots_are_dense_and_used_again() {
    let mut fixture = Fixture::empty();
    let object = |name: &str| {
        let metadata = json!({"name": name, "uid": name, "resourceVersion": "1"});
        Object::from_value(json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata}))
            .expect("an object")
    };
    for name in ["a", "b", "c"] {
        fixture.informed(object(name)).expect("an add");
    }
    fixture
        .cache
        .deleted("", "b", &mut fixture.revision)
        .expect("a delete");
    fixture.informed(object("d")).expect("an add");
    let slots: Vec<(Slot, String)> = fixture
        .cache
        .entries()
        .map(|entry| (entry.slot, entry.object.id().name.to_string()))
        .collect();
    assert_eq!(
        slots,
        [
            (0, "a".to_owned()),
            (1, "d".to_owned()),
            (2, "c".to_owned())
        ]
    );
    let page = fixture
        .cache
        .page(FIRST_REVISION + 3, fixture.revision, PageLimit::default());
    let changes: Vec<String> = page.changes.iter().map(described).collect();
    assert_eq!(
        changes,
        ["deleted 1 b", "put 1 d"],
        "the slot is free before it is taken"
    );
}

/// The deletion in between was lost: readers are told of it, the scheduler sees an update as upstream's does.
#[test]
fn a_recreated_object_is_another_one() {
    let mut fixture = Fixture::new();
    let before = fixture.revision;
    let event = fixture
        .informed(claim_with_uid("v", "6", "again"))
        .expect("an update");
    assert_eq!(told(&event), (Action::Update, Some("api"), Some("again")));
    let page = fixture
        .cache
        .page(before, fixture.revision, PageLimit::default());
    let changes: Vec<String> = page.changes.iter().map(described).collect();
    assert_eq!(changes, ["deleted 0 c", "put 0 c"]);
    assert!(fixture.restore().is_none(), "it is what the API has");
}

#[test]
fn the_stream_shows_assumed_copies_with_their_flag() {
    let mut fixture = Fixture::new();
    let before = fixture.revision;
    fixture.assume(claim("6", "assumed")).expect("assumed");
    let page = fixture
        .cache
        .page(before, fixture.revision, PageLimit::default());
    assert!(matches!(page.changes.as_slice(), [Change::Put(entry)] if entry.assumed));
    fixture.restore().expect("an update");
    let page = fixture
        .cache
        .page(before, fixture.revision, PageLimit::default());
    assert!(
        matches!(page.changes.as_slice(), [Change::Put(entry)] if !entry.assumed),
        "one change per object"
    );
}

fn described(change: &Change) -> String {
    match change {
        Change::Put(entry) => format!("put {} {}", entry.slot, entry.object.id().name),
        Change::Deleted { slot, id } => format!("deleted {slot} {}", id.name),
    }
}
