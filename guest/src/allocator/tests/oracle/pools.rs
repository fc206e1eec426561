//! The pools of a node: spec section 9.1, and KEP 4815 for counters.

use super::*;

impl<'a> Oracle<'a> {
    pub(super) fn gather(&mut self) -> Result<(), String> {
        let slices = &self.cluster.slices;
        let mut list: Vec<usize> = (0..slices.len()).collect();
        list.sort_by_key(|&slot| (&slices[slot].name, slot));
        let mut reached = Vec::new();
        for &slot in &list {
            if reaches(&slices[slot], &self.cluster.node).map_err(|error| {
                format!(
                    "gather pool information: node selector in resource slice {}: {error}",
                    slices[slot].name
                )
            })? {
                reached.push(slot);
            }
        }
        if self.profile.completeness_over_whole_pool() {
            // The node's own slices come first.
            reached.sort_by_key(|&slot| !matches!(slices[slot].reach, Reach::NodeName(_)));
        }
        let mut pools: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for slot in reached {
            let slice = &slices[slot];
            let kept = pools
                .entry((slice.driver.to_string(), slice.pool.to_string()))
                .or_default();
            match kept.first().map(|&first| slices[first].generation) {
                Some(newest) if slice.generation < newest => {}
                Some(newest) if slice.generation > newest => {
                    *kept = if self.profile.newer_generation_stored_once() {
                        vec![slot]
                    } else {
                        vec![slot, slot]
                    };
                }
                _ => kept.push(slot),
            }
        }
        for ((driver, pool), kept) in pools {
            self.add_pool(&driver, &pool, kept);
        }
        Ok(())
    }

    fn add_pool(&mut self, driver: &str, pool: &str, mut kept: Vec<usize>) {
        let slices = &self.cluster.slices;
        let first = &slices[kept[0]];
        let mut count = kept.len() as i64;
        let of_pool = || {
            slices
                .iter()
                .filter(|slice| *slice.driver == *driver && *slice.pool == *pool)
        };
        let uses_counters = of_pool().any(|slice| {
            let mut devices = slice.devices.iter();
            !slice.counters.is_empty() || devices.any(|device| !consumed(device).is_empty())
        });
        if uses_counters && of_pool().any(|slice| slice.generation > first.generation) {
            return;
        }
        if count != first.resource_slice_count && self.profile.completeness_over_whole_pool() {
            if of_pool().any(|slice| slice.generation > first.generation) {
                return;
            }
            count = of_pool()
                .filter(|slice| slice.generation == first.generation)
                .count() as i64;
        }
        let incomplete = count != first.resource_slice_count;
        kept.sort_by_key(|&slot| (&slices[slot].name, slot));
        let mut names = BTreeSet::new();
        let repeated = kept
            .iter()
            .flat_map(|&slot| &slices[slot].devices)
            .any(|device| !names.insert(&device.name));
        let invalid = repeated && self.profile.duplicate_devices_invalidate_pool();
        let generation = slices[kept[0]].generation;
        let counts: BTreeSet<i64> = of_pool()
            .filter(|slice| slice.generation == generation)
            .map(|slice| slice.resource_slice_count)
            .collect();
        let invalid =
            invalid || (counts.len() > 1 && self.profile.disagreeing_counts_invalidate_pool());
        let invalid = invalid || self.counters_are_invalid(driver, pool, generation);
        self.pools.push(Pool {
            slices: kept,
            name: format!("{driver}/{pool}"),
            incomplete,
            invalid,
        });
    }

    /// Slices of a pool, whoever can reach them.
    pub(super) fn slices_of(
        &self,
        driver: &str,
        pool: &str,
        generation: i64,
    ) -> impl Iterator<Item = &'a ResourceSlice> {
        let (driver, pool) = (driver.to_string(), pool.to_string());
        self.cluster.slices.iter().filter(move |slice| {
            (&*slice.driver, &*slice.pool, slice.generation) == (&driver, &pool, generation)
        })
    }

    fn counters_are_invalid(&self, driver: &str, pool: &str, generation: i64) -> bool {
        let sets: Vec<_> = self
            .slices_of(driver, pool, generation)
            .flat_map(|slice| &slice.counters)
            .collect();
        let names: BTreeSet<_> = sets.iter().map(|set| &set.name).collect();
        let is_missing = |consumed: &CounterSet| {
            let set = sets.iter().find(|set| set.name == consumed.name);
            set.is_none_or(|set| {
                let has = |name| set.counters.iter().any(|(other, _)| other == name);
                !consumed.counters.iter().all(|(name, _)| has(name))
            })
        };
        let devices = self
            .slices_of(driver, pool, generation)
            .flat_map(|slice| &slice.devices);
        names.len() < sets.len() || devices.flat_map(consumed).any(is_missing)
    }
}

fn reaches(slice: &ResourceSlice, node: &Node) -> Result<bool, String> {
    if slice.reach != Reach::PerDevice {
        return includes(&slice.reach, node);
    }
    let mut any = false;
    for device in &slice.devices {
        any |= is_for(device, node)?;
    }
    Ok(any)
}
