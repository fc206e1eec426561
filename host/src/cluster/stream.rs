//! The change stream behind `cluster.changes` and `ledger.in-flight-changes`: what changed after a revision, found in
//! time proportional to the answer.
//!
//! Each living thing has one place in the log, at the revision of its last change, so that a stream is compacted by
//! construction. What is gone leaves a tombstone; of those only so many are kept as there are living things, and who is
//! further behind starts over.

use std::collections::{BTreeMap, VecDeque};

use crate::plugin::{Page, Revision};

/// The first revision. Everything below is either zero, before everything, or the name of a cut in a snapshot.
pub(super) const FIRST_REVISION: Revision = 1 << 32;

/// Tombstones that are kept in any case.
const TOMBSTONES: usize = 1_024;

/// Cuts of snapshots that are remembered.
const CUTS: usize = 256;

/// How much one page may hold. One change is always handed out.
#[derive(Clone, Copy, Debug)]
pub struct PageLimit {
    /// Changes.
    pub changes: usize,
    /// Bytes of their JSON.
    pub bytes: usize,
}

impl Default for PageLimit {
    fn default() -> Self {
        Self {
            changes: 2_000,
            // A plugin holds the text of a page beside what it makes of it.
            bytes: 1 << 20,
        }
    }
}

/// What stands in the log.
#[derive(Debug)]
pub(super) enum Step<L, D> {
    Live(L),
    Dead(D),
}

/// A log of changes of living things, named by `L`; `D` is what is told of the dead.
#[derive(Debug)]
pub(super) struct Stream<L, D> {
    log: BTreeMap<Revision, Step<L, D>>,
    dead: VecDeque<Revision>,
    /// Revision of the newest tombstone that was forgotten.
    horizon: Revision,
    last: Revision,
    cuts: VecDeque<(Revision, Cut)>,
    next_cut: Revision,
}

/// Where a reader stands in the log.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// It has read up to here.
    position: Revision,
    /// It has no need of tombstones up to here. Larger than `position` inside a snapshot.
    began: Revision,
}

impl<L, D> Default for Stream<L, D> {
    fn default() -> Self {
        let (log, dead, cuts) = (BTreeMap::new(), VecDeque::new(), VecDeque::new());
        Self {
            log,
            dead,
            horizon: 0,
            last: FIRST_REVISION,
            cuts,
            next_cut: 0,
        }
    }
}

impl<L, D> Stream<L, D> {
    /// Notes a change of something alive that stood at `before`, if it is not new.
    pub(super) fn put(&mut self, before: Option<Revision>, at: Revision, live: L) {
        if let Some(before) = before {
            self.log.remove(&before);
        }
        self.log.insert(at, Step::Live(live));
        self.last = at;
    }

    /// Notes the end of something that stood at `before`.
    pub(super) fn delete(&mut self, before: Revision, at: Revision, dead: D) {
        self.log.remove(&before);
        self.log.insert(at, Step::Dead(dead));
        self.dead.push_back(at);
        self.last = at;
        let living = self.log.len() - self.dead.len();
        while self.dead.len() > living.max(TOMBSTONES) {
            let Some(oldest) = self.dead.pop_front() else {
                break;
            };
            self.log.remove(&oldest);
            self.horizon = oldest;
        }
    }

    /// Changes after `since`; `now` is the revision of the whole host. `render` gives a change and its size in bytes.
    pub(super) fn page<C>(
        &mut self,
        since: Revision,
        now: Revision,
        limit: PageLimit,
        mut render: impl FnMut(&Step<L, D>) -> Option<(C, usize)>,
    ) -> Page<C> {
        if since >= self.last && since <= now {
            return Page {
                reset: false,
                changes: Vec::new(),
                until: now,
                more: false,
            };
        }
        let known = self.place(since, now);
        let start = known.unwrap_or(Cut {
            position: 0,
            began: now,
        });
        let mut page = Page {
            reset: known.is_none(),
            changes: Vec::new(),
            until: now,
            more: false,
        };
        let (mut position, mut bytes) = (start.position, 0);
        for (revision, step) in self.log.range(start.position + 1..) {
            if matches!(step, Step::Dead(_)) && *revision <= start.began {
                continue;
            }
            let Some((change, size)) = render(step) else {
                continue;
            };
            let full = page.changes.len() >= limit.changes || bytes + size > limit.bytes;
            if full && !page.changes.is_empty() {
                page.more = true;
                break;
            }
            page.changes.push(change);
            (position, bytes) = (*revision, bytes + size);
        }
        if page.more {
            page.until = match start.began > position {
                true => self.cut(Cut {
                    position,
                    began: start.began,
                }),
                false => position,
            };
        }
        page
    }

    /// Where a reader with this revision stands; `None` if it has to start over.
    fn place(&self, since: Revision, now: Revision) -> Option<Cut> {
        let place = match since {
            FIRST_REVISION.. => Cut {
                position: since,
                began: since,
            },
            _ => self.cuts.iter().find(|(name, _)| *name == since)?.1,
        };
        (place.began >= self.horizon && place.began <= now).then_some(place)
    }

    /// Remembers a cut in a snapshot and names it.
    ///
    /// The revision of the last change handed out would not do as a name: somebody who holds the whole state at that
    /// revision asks with the same number, and must be told of deletions that the reader of the snapshot need not know.
    fn cut(&mut self, cut: Cut) -> Revision {
        let known = self
            .cuts
            .iter()
            .find(|(_, known)| (known.position, known.began) == (cut.position, cut.began));
        if let Some((name, _)) = known {
            return *name;
        }
        self.next_cut = self.next_cut % (FIRST_REVISION - 1) + 1;
        self.cuts.push_back((self.next_cut, cut));
        if self.cuts.len() > CUTS {
            self.cuts.pop_front();
        }
        self.next_cut
    }
}

#[cfg(test)]
mod tests;
