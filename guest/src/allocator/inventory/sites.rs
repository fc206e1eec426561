//! What is kept of the nodes from one pod to the next, where that is simple: a node has few devices, all its own, and nothing
//! but selectors, constraints and other claims keeps a pod from them. Then a word says which of them are free, and others which
//! match: see `glance`.
//!
//! A change of a slice forgets the sites of the nodes that reach its pool; a change of a claim, which devices are free there.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::Inventory;
use crate::allocator::constraints::Constraint;
use crate::allocator::pools::NodePools;
use crate::allocator::selectors::Content;
use crate::api::{Attribute, Node, Reach};

/// Slices of a pool beyond which its nodes are not kept: each change of the pool concerns all of them.
pub(super) const FEW_SLICES: usize = 4;

/// Attributes whose values are kept.
const ATTRIBUTES: usize = 32;

/// Sites by number of the node's name.
#[derive(Debug, Default)]
pub(super) struct Sites {
    kept: Vec<Cell<Kept>>,
    last: Cell<u64>,
    groups: RefCell<Groups>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Kept {
    /// Nobody looked since the last change.
    #[default]
    Nothing,
    /// It takes a search to tell what a pod may get there.
    NotSimple,
    /// Which devices are free is not known.
    Devices {
        stamp: u64,
    },
    Free {
        stamp: u64,
        free: u64,
    },
}

/// A node that is simple.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Number of the node's name.
    pub number: u32,
    /// Another one whenever the devices may be others.
    pub stamp: u64,
    /// The devices that no claim holds, in visiting order.
    pub free: u64,
}

/// By attribute, then by node: which devices have equal values.
#[derive(Debug, Default)]
struct Groups {
    attributes: Vec<(Arc<str>, Vec<Grouped>)>,
    /// How often the list began anew.
    round: u32,
}

/// The devices of a node by value of an attribute; `None` if that does not say all.
#[derive(Debug, Default)]
struct Grouped {
    stamp: u64,
    sets: Option<Box<[u64]>>,
}

/// Where the groups of an attribute are: round and index.
pub(crate) type GroupsAt = Cell<Option<(u32, u32)>>;

impl Sites {
    pub(super) fn make_room(&mut self, number: u32) {
        let index = number as usize;
        if self.kept.len() <= index {
            self.kept.resize_with(index + 1, Cell::default);
        }
    }

    /// The nodes may have other devices.
    pub(super) fn forget(&self, nodes: &[u32]) {
        for kept in nodes
            .iter()
            .filter_map(|node| self.kept.get(*node as usize))
        {
            kept.set(Kept::Nothing);
        }
    }

    /// Others may be free.
    pub(super) fn forget_free(&self, nodes: &[u32]) {
        for kept in nodes
            .iter()
            .filter_map(|node| self.kept.get(*node as usize))
        {
            if let Kept::Free { stamp, .. } = kept.get() {
                kept.set(Kept::Devices { stamp });
            }
        }
    }
}

impl Inventory {
    /// The node, if it is known to be simple. `admin_holds` as in [`Inventory::is_held`], always the same for one inventory.
    #[inline]
    pub(crate) fn site(&self, node: &Node, admin_holds: bool) -> Option<Site> {
        if self.has_unbound() {
            return None;
        }
        let number = self.number_of(node)?;
        let kept = self.sites.kept.get(number as usize)?;
        match kept.get() {
            Kept::Free { stamp, free } => Some(Site {
                number,
                stamp,
                free,
            }),
            Kept::Devices { stamp } => {
                let free = self.find_free(number, admin_holds);
                kept.set(Kept::Free { stamp, free });
                Some(Site {
                    number,
                    stamp,
                    free,
                })
            }
            Kept::Nothing | Kept::NotSimple => None,
        }
    }

    /// Some slices are for several nodes, or nobody knows for which.
    #[inline]
    fn has_unbound(&self) -> bool {
        !(self.shared.is_empty() && self.broken.is_empty() && self.invalid.is_empty())
    }

    /// Remembers whether a node is simple, after its pools were gathered.
    pub(crate) fn keep_site(&self, node: &Node, pools: &NodePools) {
        let Some(number) = self.number_of(node).filter(|_| !self.has_unbound()) else {
            return;
        };
        let Some(kept) = self.sites.kept.get(number as usize) else {
            return;
        };
        if !matches!(kept.get(), Kept::Nothing) {
            return;
        }
        let slots = self.by_node.of(number).iter();
        let is_own = slots.clone().all(|slot| {
            let entry = self.entry(*slot);
            let few = self.totals(entry.pool).slices().len() <= FEW_SLICES;
            few && matches!(entry.slice.reach, Reach::NodeName(_))
        });
        let devices: usize = slots.map(|slot| self.entry(*slot).devices.len()).sum();
        let simple = is_own && devices <= 64 && pools.are_simple(devices);
        kept.set(match simple {
            true => Kept::Devices {
                stamp: self.sites.last.replace(self.sites.last.get() + 1) + 1,
            },
            false => Kept::NotSimple,
        });
    }

    fn find_free(&self, number: u32, admin_holds: bool) -> u64 {
        let slots = self.by_node.of(number).iter();
        let devices = slots.flat_map(|slot| &self.entry(*slot).devices);
        devices.enumerate().fold(0, |free, (position, device)| {
            free | u64::from(!self.is_held(*device, admin_holds)) << position
        })
    }

    /// What selectors can see of the devices of a site, in visiting order.
    pub(crate) fn contents_at(&self, number: u32) -> impl Iterator<Item = Content> {
        let slots = self.by_node.of(number).iter();
        slots.flat_map(|slot| self.entry(*slot).contents.iter().copied())
    }

    /// Whether a question is true of some of the sets of devices with equal values. `None`: values are not that simple.
    #[inline]
    pub(crate) fn any_group(
        &self,
        site: Site,
        constraint: &Constraint,
        at: &GroupsAt,
        is_true: impl Fn(u64) -> bool,
    ) -> Option<bool> {
        let groups = self.sites.groups.borrow();
        let known = at.get().filter(|(round, _)| *round == groups.round);
        let kept = known.and_then(|(_, index)| {
            let (_, kept) = groups.attributes.get(index as usize)?;
            let kept = kept.get(site.number as usize)?;
            (kept.stamp == site.stamp).then_some(kept)
        });
        if let Some(kept) = kept {
            let sets = kept.sets.as_ref()?;
            return Some(sets.iter().any(|set| is_true(*set)));
        }
        drop(groups);
        let sets = self.keep_groups(site, constraint, at)?;
        Some(sets.into_iter().any(is_true))
    }

    fn keep_groups(&self, site: Site, constraint: &Constraint, at: &GroupsAt) -> Option<Vec<u64>> {
        let sets = self.find_groups(site.number, constraint);
        let groups = &mut *self.sites.groups.borrow_mut();
        let name = constraint.attribute();
        let mut known = groups.attributes.iter();
        let index = known.position(|(known, _)| known == name);
        let index = index.unwrap_or_else(|| {
            if groups.attributes.len() >= ATTRIBUTES {
                groups.attributes.clear();
                groups.round += 1;
            }
            groups.attributes.push((name.clone(), Vec::new()));
            groups.attributes.len() - 1
        });
        at.set(Some((groups.round, index as u32)));
        let (kept, number) = (&mut groups.attributes[index].1, site.number as usize);
        if kept.len() <= number {
            kept.resize_with(number + 1, Grouped::default);
        }
        kept[number] = Grouped {
            stamp: site.stamp,
            sets: sets.as_deref().map(Box::from),
        };
        sets
    }

    /// The devices with each of the values; those without one are in no set. `None`: some value is a list or unknown.
    fn find_groups(&self, number: u32, constraint: &Constraint) -> Option<Vec<u64>> {
        let slots = self.by_node.of(number).iter();
        let devices = slots.flat_map(|slot| {
            let slice = &self.entry(*slot).slice;
            slice.devices.iter().map(|device| (&slice.driver, device))
        });
        let (mut values, mut sets): (Vec<&Attribute>, Vec<u64>) = Default::default();
        for (position, (driver, device)) in devices.enumerate() {
            let Some(index) = constraint.find(driver, device) else {
                continue;
            };
            let value = &device.attributes[index].1;
            if matches!(value, Attribute::List(_) | Attribute::Unknown) {
                return None;
            }
            match values.iter().position(|known| *known == value) {
                Some(group) => sets[group] |= 1 << position,
                None => {
                    values.push(value);
                    sets.push(1 << position);
                }
            }
        }
        Some(sets)
    }
}
