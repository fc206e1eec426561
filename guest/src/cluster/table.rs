//! Objects of one kind, by the host's slot and by name.

use std::collections::HashMap;

use crate::allocator::FixedHasher;
use crate::host::{ObjectRef, Slot};

/// Objects by slot, and by name.
#[derive(Debug)]
pub(super) struct Table<T> {
    slots: Vec<Option<(ObjectRef, T)>>,
    /// By `namespace/name`: neither has a slash. Hashed, since names have long beginnings in common.
    names: HashMap<Box<str>, Slot, FixedHasher>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            names: HashMap::default(),
        }
    }
}

impl<T> Table<T> {
    pub(super) fn put(
        &mut self,
        slot: Slot,
        mut id: ObjectRef,
        value: T,
    ) -> Option<(ObjectRef, T)> {
        // The same for all, and long.
        id.kind = String::new();
        let index = slot as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.names.insert(key(&id.namespace, &id.name), slot);
        self.slots[index].replace((id, value))
    }

    pub(super) fn remove(&mut self, slot: Slot) -> Option<(ObjectRef, T)> {
        let (id, value) = self.slots.get_mut(slot as usize)?.take()?;
        let key = key(&id.namespace, &id.name);
        // The name may already belong to another object, whose put came first.
        if self.names.get(&key) == Some(&slot) {
            self.names.remove(&key);
        }
        Some((id, value))
    }

    pub(super) fn at(&self, slot: Slot) -> Option<&T> {
        self.slots
            .get(slot as usize)?
            .as_ref()
            .map(|(_, value)| value)
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&T> {
        self.at(self.slot_of(namespace, name)?)
    }

    pub(super) fn slot_of(&self, namespace: &str, name: &str) -> Option<Slot> {
        // The look-ups of one cycle are few, and making a key is cheap beside a search.
        self.names.get(&key(namespace, name)).copied()
    }

    /// All objects with their names.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&ObjectRef, &T)> {
        let entries = self.slots.iter().flatten();
        entries.map(|(id, value)| (id, value))
    }

    /// All values, by slot.
    pub(super) fn values(&self) -> impl Iterator<Item = (Slot, &T)> {
        let entries = (0..).zip(&self.slots);
        entries.filter_map(|(slot, entry)| entry.as_ref().map(|(_, value)| (slot, value)))
    }
}

fn key(namespace: &str, name: &str) -> Box<str> {
    format!("{namespace}/{name}").into()
}
