//! What is known about a pool as a whole, whoever can reach its slices: generations, repeated devices, counters.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::counters::Layout;
use super::inventory::Entry;
use crate::api::{Device, ResourceSlice};

/// Over all slices of a pool, whoever can reach them.
#[derive(Debug, Default)]
pub(crate) struct PoolTotals {
    /// The last one of the generations: nearly always the only one, and a look at the list would cost as much as a search.
    newest: Option<(i64, u32)>,
    /// (generation, number of slices), sorted.
    generations: Vec<(i64, u32)>,
    /// Number of devices that are published more than once.
    pub duplicates: u32,
    /// (generation, `resourceSliceCount`): how many slices say so.
    counts: BTreeMap<(i64, i64), u32>,
    /// Slots.
    slices: BTreeSet<u32>,
    /// Number of slices that define or consume counters.
    counted: u32,
    layout: OnceCell<Layout>,
    available: OnceCell<Option<Vec<i128>>>,
}

impl PoolTotals {
    /// Whether counters matter.
    pub(crate) fn has_counters(&self) -> bool {
        self.counted > 0
    }

    /// The newest generation that any slice has.
    pub(crate) fn newest(&self) -> Option<i64> {
        self.newest.map(|(generation, _)| generation)
    }

    /// How many slices have this generation.
    pub(crate) fn slices_of(&self, generation: i64) -> u32 {
        if let Some((newest, slices)) = self.newest
            && newest == generation
        {
            return slices;
        }
        match self
            .generations
            .binary_search_by_key(&generation, |entry| entry.0)
        {
            Ok(i) => self.generations[i].1,
            Err(_) => 0,
        }
    }

    /// Whether slices of a generation disagree about their number.
    pub(crate) fn disagrees(&self, generation: i64) -> bool {
        // Nearly always.
        if self.counts.len() < 2 {
            return false;
        }
        let given = self
            .counts
            .range((generation, i64::MIN)..=(generation, i64::MAX));
        given.count() > 1
    }

    /// A slice is published.
    pub(crate) fn add(&mut self, slot: u32, slice: &ResourceSlice) {
        self.slices.insert(slot);
        *self.counts.entry(count_of(slice)).or_default() += 1;
        self.counted += u32::from(counts(slice));
        self.forget_layout();
        let generation = slice.generation;
        match self
            .generations
            .binary_search_by_key(&generation, |entry| entry.0)
        {
            Ok(i) => self.generations[i].1 += 1,
            Err(i) => self.generations.insert(i, (generation, 1)),
        }
        self.newest = self.generations.last().copied();
    }

    /// A slice is withdrawn.
    pub(crate) fn remove(&mut self, slot: u32, slice: &ResourceSlice) {
        self.slices.remove(&slot);
        let count = self.counts.entry(count_of(slice)).or_default();
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.counts.remove(&count_of(slice));
        }
        self.counted -= u32::from(counts(slice));
        self.forget_layout();
        let generation = slice.generation;
        if let Ok(i) = self
            .generations
            .binary_search_by_key(&generation, |entry| entry.0)
        {
            self.generations[i].1 -= 1;
            if self.generations[i].1 == 0 {
                self.generations.remove(i);
            }
        }
        self.newest = self.generations.last().copied();
    }

    /// Slots of all slices.
    pub(crate) fn slices(&self) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        self.slices.iter().copied()
    }

    /// Counters of the newest generation; `entries` are the slices.
    pub(crate) fn layout<'a>(&self, entries: impl Iterator<Item = &'a Entry> + Clone) -> &Layout {
        let newest = self.newest().unwrap_or_default();
        self.layout.get_or_init(|| Layout::new(newest, entries))
    }

    /// What is left of the counters, worked out if it is not known.
    pub(crate) fn available(
        &self,
        work_out: impl FnOnce() -> Option<Vec<i128>>,
    ) -> Option<&[i128]> {
        self.available.get_or_init(work_out).as_deref()
    }

    /// Other devices are held now.
    pub(crate) fn forget_available(&mut self) {
        self.available.take();
    }

    fn forget_layout(&mut self) {
        self.layout.take();
        self.available.take();
    }
}

fn count_of(slice: &ResourceSlice) -> (i64, i64) {
    (slice.generation, slice.resource_slice_count)
}

/// Whether counters matter for the slice's pool because of it.
fn counts(slice: &ResourceSlice) -> bool {
    let consumes = |device: &Device| {
        device
            .extra
            .as_ref()
            .is_some_and(|extra| !extra.consumes.is_empty())
    };
    !slice.counters.is_empty() || slice.devices.iter().any(consumes)
}
