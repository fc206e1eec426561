//! A map from namespace and name, which can be asked with borrowed text and walked by namespace.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Values by namespace, then name.
#[derive(Clone, Debug)]
pub struct Keyed<V> {
    namespaces: BTreeMap<Arc<str>, BTreeMap<Arc<str>, V>>,
    len: usize,
}

impl<V> Default for Keyed<V> {
    fn default() -> Self {
        Self {
            namespaces: BTreeMap::new(),
            len: 0,
        }
    }
}

impl<V> Keyed<V> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of one object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&V> {
        self.namespaces.get(namespace)?.get(name)
    }

    /// The value of one object, to be changed.
    pub fn get_mut(&mut self, namespace: &str, name: &str) -> Option<&mut V> {
        self.namespaces.get_mut(namespace)?.get_mut(name)
    }

    /// Puts a value in place and returns the one that was there.
    pub fn insert(&mut self, namespace: Arc<str>, name: Arc<str>, value: V) -> Option<V> {
        let old = self
            .namespaces
            .entry(namespace)
            .or_default()
            .insert(name, value);
        self.len += usize::from(old.is_none());
        old
    }

    /// Takes a value out.
    pub fn remove(&mut self, namespace: &str, name: &str) -> Option<V> {
        let names = self.namespaces.get_mut(namespace)?;
        let old = names.remove(name)?;
        if names.is_empty() {
            self.namespaces.remove(namespace);
        }
        self.len -= 1;
        Some(old)
    }

    /// All values, by namespace, then name.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.namespaces.values().flat_map(BTreeMap::values)
    }
}
