//! Pages, resets and tombstones, by hand and against a model.

use std::collections::BTreeMap;

use super::*;

const SMALL: PageLimit = PageLimit {
    changes: 2,
    bytes: 1_000,
};

/// Things named by a number, with the revision of their last change.
struct Fixture {
    stream: Stream<u32, u32>,
    living: BTreeMap<u32, Revision>,
    now: Revision,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Put(u32),
    Gone(u32),
}

impl Fixture {
    fn new() -> Self {
        Self {
            stream: Stream::default(),
            living: BTreeMap::new(),
            now: FIRST_REVISION,
        }
    }

    fn put(&mut self, name: u32) {
        self.now += 1;
        let before = self.living.insert(name, self.now);
        self.stream.put(before, self.now, name);
    }

    fn delete(&mut self, name: u32) {
        let before = self.living.remove(&name).expect("it lives");
        self.now += 1;
        self.stream.delete(before, self.now, name);
    }

    fn page(&mut self, since: Revision, limit: PageLimit) -> Page<Told> {
        self.stream.page(since, self.now, limit, |step| match step {
            Step::Live(name) => Some((Told::Put(*name), 10)),
            Step::Dead(name) => Some((Told::Gone(*name), 0)),
        })
    }
}

/// Somebody who follows the stream.
#[derive(Default)]
struct Reader {
    since: Revision,
    held: BTreeMap<u32, ()>,
    complete: bool,
}

impl Reader {
    fn take(&mut self, page: Page<Told>) {
        if page.reset {
            self.held.clear();
        }
        for change in page.changes {
            match change {
                Told::Put(name) => _ = self.held.insert(name, ()),
                Told::Gone(name) => _ = self.held.remove(&name),
            }
        }
        (self.since, self.complete) = (page.until, !page.more);
    }
}

#[test]
fn the_first_page_starts_over_and_the_rest_follows() {
    let mut fixture = Fixture::new();
    (1..=5).for_each(|name| fixture.put(name));
    let first = fixture.page(0, SMALL);
    assert_eq!(
        (first.reset, first.more, first.changes.len()),
        (true, true, 2)
    );
    let second = fixture.page(first.until, SMALL);
    assert_eq!((second.reset, second.more), (false, true));
    assert_eq!(second.changes, [Told::Put(3), Told::Put(4)]);
    let third = fixture.page(second.until, SMALL);
    assert_eq!(
        (third.reset, third.more, third.until),
        (false, false, fixture.now)
    );
    assert_eq!(third.changes, [Told::Put(5)]);
    let again = fixture.page(second.until, SMALL);
    assert_eq!(again.changes, third.changes, "asking again is allowed");
    let nothing = fixture.page(third.until, SMALL);
    assert_eq!(
        (nothing.reset, nothing.more, nothing.until),
        (false, false, fixture.now)
    );
    assert!(nothing.changes.is_empty());
}

#[test]
fn an_empty_stream_still_starts_over_at_zero() {
    let mut fixture = Fixture::new();
    let page = fixture.page(0, SMALL);
    assert_eq!(
        (page.reset, page.more, page.until),
        (true, false, FIRST_REVISION)
    );
    assert!(!fixture.page(page.until, SMALL).reset);
}

#[test]
fn changes_are_merged_and_in_order() {
    let mut fixture = Fixture::new();
    fixture.put(1);
    fixture.put(2);
    let since = fixture.now;
    fixture.put(1);
    fixture.put(2);
    fixture.put(1);
    fixture.put(3);
    fixture.delete(2);
    let page = fixture.page(since, PageLimit::default());
    assert_eq!(page.changes, [Told::Put(1), Told::Put(3), Told::Gone(2)]);
    assert!(!page.reset);
    let all = fixture.page(0, PageLimit::default());
    assert_eq!(
        all.changes,
        [Told::Put(1), Told::Put(3)],
        "who starts over needs no tombstones"
    );
}

#[test]
fn pages_are_cut_by_bytes_but_never_empty() {
    let mut fixture = Fixture::new();
    (1..=3).for_each(|name| fixture.put(name));
    let tight = PageLimit {
        changes: 100,
        bytes: 25,
    };
    assert_eq!(fixture.page(FIRST_REVISION, tight).changes.len(), 2);
    let tighter = PageLimit {
        changes: 0,
        bytes: 0,
    };
    let page = fixture.page(FIRST_REVISION, tighter);
    assert_eq!(
        (page.changes.as_slice(), page.more),
        (&[Told::Put(1)][..], true)
    );
}

#[test]
fn a_revision_of_another_host_starts_over() {
    let mut fixture = Fixture::new();
    fixture.put(1);
    assert!(fixture.page(fixture.now + 1, SMALL).reset);
    assert!(fixture.page(12_345, SMALL).reset, "no cut has this name");
}

#[test]
fn tombstones_are_bounded_and_who_is_too_late_starts_over() {
    let mut fixture = Fixture::new();
    fixture.put(0);
    let early = fixture.now;
    for name in 1..=TOMBSTONES as u32 + 1 {
        fixture.put(name);
        fixture.delete(name);
    }
    assert_eq!(fixture.stream.log.len(), TOMBSTONES + 1);
    assert!(fixture.page(early, SMALL).reset);
    let horizon = fixture.stream.horizon;
    let page = fixture.page(
        horizon,
        PageLimit {
            changes: usize::MAX,
            bytes: usize::MAX,
        },
    );
    assert!(
        !page.reset,
        "the forgotten one was seen by who holds this revision"
    );
    assert_eq!(page.changes.len(), TOMBSTONES);
}

/// The reader of a snapshot stands at a revision below the horizon and goes on all the same; somebody who held the whole
/// state at that revision does not.
#[test]
fn a_snapshot_goes_on_below_the_horizon() {
    let mut fixture = Fixture::new();
    (0..4).for_each(|name| fixture.put(name));
    let held_at = FIRST_REVISION + 2;
    for name in 10..12 + TOMBSTONES as u32 {
        fixture.put(name);
        fixture.delete(name);
    }
    let first = fixture.page(0, SMALL);
    assert!(
        first.more && first.until < FIRST_REVISION,
        "a cut looks older than every revision"
    );
    let second = fixture.page(first.until, SMALL);
    assert_eq!((second.reset, second.more), (false, false));
    assert_eq!(second.changes, [Told::Put(2), Told::Put(3)]);
    assert!(fixture.page(held_at, SMALL).reset);
}

#[test]
fn what_dies_during_a_snapshot_is_told() {
    let mut fixture = Fixture::new();
    (1..=4).for_each(|name| fixture.put(name));
    let first = fixture.page(0, SMALL);
    fixture.delete(1);
    fixture.put(5);
    let second = fixture.page(first.until, PageLimit::default());
    assert_eq!(
        second.changes,
        [Told::Put(3), Told::Put(4), Told::Gone(1), Told::Put(5)]
    );
    fixture.delete(2);
    for name in 10..12 + TOMBSTONES as u32 {
        fixture.put(name);
        fixture.delete(name);
    }
    assert!(
        fixture.page(first.until, SMALL).reset,
        "its tombstones were forgotten"
    );
}

/// Readers that come and go while things are put and deleted always end with what lives.
#[test]
fn readers_agree_with_the_model() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut fixture = Fixture::new();
        let mut readers: Vec<Reader> = (0..4).map(|_| Reader::default()).collect();
        for _ in 0..6_000 {
            match random.u32(..10) {
                0..3 => fixture.put(random.u32(..30)),
                3..6 => {
                    let name = random.u32(..30);
                    if fixture.living.contains_key(&name) {
                        fixture.delete(name)
                    } else {
                        fixture.put(name)
                    }
                }
                // The first reader never stops; the last one is left behind for long.
                choice => {
                    let index = choice as usize - 6;
                    if random.usize(..=index * index * 40) == 0 {
                        let limit = PageLimit {
                            changes: random.usize(1..8),
                            bytes: 55,
                        };
                        let page = fixture.page(readers[index].since, limit);
                        readers[index].take(page);
                    }
                }
            }
        }
        for reader in &mut readers {
            for _ in 0..1_000 {
                let page = fixture.page(reader.since, SMALL);
                reader.take(page);
                if reader.complete {
                    break;
                }
            }
            assert_eq!(reader.since, fixture.now, "seed {seed}");
            assert!(reader.held.keys().eq(fixture.living.keys()), "seed {seed}");
        }
    }
}
