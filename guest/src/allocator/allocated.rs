//! Which devices are held by allocated claims: "list allocated" of spec section 9.6, kept from the stream of changes.
//!
//! Two layers by claim uid: what the claim cache stores, and what is in flight. An in-flight allocation replaces the stored
//! one, and counts only while the cache knows the claim.

use std::collections::HashMap;

use super::names::{DeviceKey, FixedHasher, Names, PoolKey};
use crate::api::AllocationResult;

/// Devices held by claims, with a count for each: several claims may name the same device.
#[derive(Debug, Default)]
pub(crate) struct Allocated {
    claims: HashMap<Box<str>, Claim, FixedHasher>,
    holders: Vec<Holders>,
    /// By pool number: how many of its devices ordinary results hold.
    by_pool: Vec<u32>,
    /// Pools for which that changed, or which of them it is.
    touched: Vec<PoolKey>,
}

/// How many results name a device.
#[derive(Clone, Copy, Debug, Default)]
struct Holders {
    ordinary: u32,
    admin: u32,
}

#[derive(Debug, Default)]
struct Claim {
    /// Outer `None`: the cache does not know the claim.
    stored: Option<Box<[Held]>>,
    in_flight: Option<Box<[Held]>>,
}

impl Claim {
    fn effective(&self) -> &[Held] {
        match (&self.stored, &self.in_flight) {
            (None, _) => &[],
            (Some(_), Some(in_flight)) => in_flight,
            (Some(stored), None) => stored,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Held {
    device: DeviceKey,
    admin: bool,
}

impl Allocated {
    /// The claim cache has the claim, with this allocation.
    pub(crate) fn set_stored(
        &mut self,
        names: &mut Names,
        uid: &str,
        allocation: Option<&AllocationResult>,
    ) {
        let held = acquire(names, allocation);
        self.change(names, uid, |claim| claim.stored.replace(held));
    }

    /// The claim cache no longer has the claim.
    pub(crate) fn remove_stored(&mut self, names: &mut Names, uid: &str) {
        self.change(names, uid, |claim| claim.stored.take());
    }

    /// The claim cache has no claims.
    pub(crate) fn clear_stored(&mut self, names: &mut Names) {
        for uid in self.uids() {
            self.remove_stored(names, &uid);
        }
    }

    /// No claim is in flight.
    pub(crate) fn clear_in_flight(&mut self, names: &mut Names) {
        for uid in self.uids() {
            self.remove_in_flight(names, &uid);
        }
    }

    /// The claim is in flight with this allocation.
    pub(crate) fn set_in_flight(
        &mut self,
        names: &mut Names,
        uid: &str,
        allocation: &AllocationResult,
    ) {
        let held = acquire(names, Some(allocation));
        self.change(names, uid, |claim| claim.in_flight.replace(held));
    }

    /// The claim is no longer in flight.
    pub(crate) fn remove_in_flight(&mut self, names: &mut Names, uid: &str) {
        self.change(names, uid, |claim| claim.in_flight.take());
    }

    /// Whether the device is held. `admin_holds`: results marked as admin access hold their device too (D6).
    pub(crate) fn holds(&self, device: DeviceKey, admin_holds: bool) -> bool {
        let holders = self.holders.get(device.index());
        holders.is_some_and(|holders| {
            let admin = if admin_holds { holders.admin } else { 0 };
            holders.ordinary | admin != 0
        })
    }

    /// How many devices of the pool are held, other than by results marked as admin access.
    pub(crate) fn held_in(&self, pool: PoolKey) -> u32 {
        self.by_pool.get(pool.index()).copied().unwrap_or_default()
    }

    /// Pools whose held devices changed since this was called last.
    pub(crate) fn take_touched(&mut self) -> Vec<PoolKey> {
        std::mem::take(&mut self.touched)
    }

    fn uids(&self) -> Vec<Box<str>> {
        self.claims.keys().cloned().collect()
    }

    /// Applies an edit that returns the list which is no longer needed.
    fn change(
        &mut self,
        names: &mut Names,
        uid: &str,
        edit: impl FnOnce(&mut Claim) -> Option<Box<[Held]>>,
    ) {
        let mut claim = self.claims.remove(uid).unwrap_or_default();
        for held in claim.effective() {
            let count = self.count(*held);
            *count = count.saturating_sub(1);
            if *count == 0 {
                let pool = self.touch(names.pool_of(held.device));
                *pool -= u32::from(!held.admin);
            }
        }
        let old = edit(&mut claim);
        for held in claim.effective() {
            let count = self.count(*held);
            *count += 1;
            if *count == 1 {
                let pool = self.touch(names.pool_of(held.device));
                *pool += u32::from(!held.admin);
            }
        }
        for held in old.iter().flatten() {
            names.release_device(held.device);
        }
        if claim.stored.is_some() || claim.in_flight.is_some() {
            self.claims.insert(uid.into(), claim);
        }
    }

    fn touch(&mut self, pool: PoolKey) -> &mut u32 {
        let index = pool.index();
        if index >= self.by_pool.len() {
            self.by_pool.resize(index + 1, 0);
        }
        self.touched.push(pool);
        &mut self.by_pool[index]
    }

    fn count(&mut self, held: Held) -> &mut u32 {
        let index = held.device.index();
        if index >= self.holders.len() {
            self.holders.resize(index + 1, Holders::default());
        }
        let holders = &mut self.holders[index];
        if held.admin {
            &mut holders.admin
        } else {
            &mut holders.ordinary
        }
    }
}

fn acquire(names: &mut Names, allocation: Option<&AllocationResult>) -> Box<[Held]> {
    let results = allocation.map_or(&[][..], |allocation| &allocation.results);
    results
        .iter()
        .map(|result| Held {
            device: names.acquire_device(&result.driver, &result.pool, &result.device),
            admin: result.admin_access,
        })
        .collect()
}
