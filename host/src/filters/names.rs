//! Numbers for strings that come again and again: label keys and values, names of resources. Comparing numbers instead of
//! strings is what makes a check per node cheap.

use std::collections::HashMap;

/// Number of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(u32);

impl Id {
    /// Of a string that no node and no placed pod has used.
    pub(super) const UNKNOWN: Self = Self(u32::MAX);
}

/// All strings that have a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    ids: HashMap<Box<str>, Id>,
    texts: Vec<Box<str>>,
}

impl Names {
    /// The number of a string, if it has one.
    pub(super) fn get(&self, text: &str) -> Id {
        self.ids.get(text).copied().unwrap_or(Id::UNKNOWN)
    }

    /// The number of a string, which gets one if need be.
    pub(super) fn intern(&mut self, text: &str) -> Id {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        // More strings than numbers would need more memory than there is.
        let id = u32::try_from(self.texts.len()).map_or(Id::UNKNOWN, Id);
        self.ids.insert(text.into(), id);
        self.texts.push(text.into());
        id
    }

    /// The string of a number.
    pub(super) fn text(&self, id: Id) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// How many there are: as long as this stays the same, so does every answer of `get`.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }
}

/// A string that a pod asks for, with its number.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub text: String,
    pub id: Id,
}

impl Name {
    /// Without number yet.
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            id: Id::UNKNOWN,
        }
    }

    /// Looks the number up.
    pub(super) fn resolve(&mut self, names: &Names) {
        self.id = names.get(&self.text);
    }
}
