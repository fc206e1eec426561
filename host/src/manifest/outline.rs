//! An object that only a plugin will read: checked and written as compact JSON while it is parsed, without making a tree of it.
//!
//! A tree takes some fifteen times the memory of its text, and most of a dump are objects of which the host needs metadata.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::Serialize;
use serde_json::{Map, Value};

use super::kinds::needed_by_host;
use crate::object::Kind;
use crate::object::tree::{Tree, TreeVisitor, duplicate, finite, insert_once};

/// An entry of a list of objects.
#[derive(Debug)]
pub(super) enum Item {
    /// What the host reads, and whatever is unusual.
    Tree(Value),
    /// What it passes on.
    Outline(Outline),
}

/// The top level of an object, and its text.
#[derive(Debug)]
pub(super) struct Outline {
    /// All keys. Scalars and `metadata` are there; other mappings and lists are empty ones.
    pub head: Map<String, Value>,
    /// The whole object as compact JSON.
    pub json: Vec<u8>,
    /// Where the value of `metadata` stands in it.
    pub metadata: Range<usize>,
}

impl Item {
    /// The whole object.
    pub(super) fn into_tree(self) -> Value {
        match self {
            Self::Tree(value) => value,
            // This was written from what a parser gave.
            Self::Outline(outline) => {
                serde_json::from_slice(&outline.json).map_or(Value::Null, |Tree(value)| value)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Item, A::Error> {
        let mut head = Map::with_capacity(KEYS_OF_MOST);
        while let Some(key) = access.next_key::<String>()? {
            if is_passed_on(&head, &key) {
                return Outline::go_on(head, key, access).map(Item::Outline);
            }
            let Tree(value) = access.next_value()?;
            insert_once(&mut head, key, value)?;
        }
        Ok(Item::Tree(Value::Object(head)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Item, A::Error> {
        TreeVisitor.visit_seq(access).map(Item::Tree)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Item, E> {
        TreeVisitor.visit_bool(value).map(Item::Tree)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Item, E> {
        TreeVisitor.visit_i64(value).map(Item::Tree)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Item, E> {
        TreeVisitor.visit_u64(value).map(Item::Tree)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Item, E> {
        TreeVisitor.visit_f64(value).map(Item::Tree)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Item, E> {
        TreeVisitor.visit_str(value).map(Item::Tree)
    }

    fn visit_unit<E: Error>(self) -> Result<Item, E> {
        Ok(Item::Tree(Value::Null))
    }
}

/// What is parsed before it is decided how to go on.
const HEAD: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// `apiVersion`, `kind`, `metadata`, `spec`, `status`.
const KEYS_OF_MOST: usize = 5;

/// Whether the object has a name, and is neither a list nor of a kind that the host reads, as is known before the value of `key`.
pub(super) fn is_passed_on(head: &Map<String, Value>, key: &str) -> bool {
    if HEAD.contains(&key) {
        return false;
    }
    let text = |key: &str| head.get(key).and_then(Value::as_str);
    let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
        return false;
    };
    let name = head
        .get("metadata")
        .and_then(|metadata| metadata.get("name"));
    let is_named = name
        .and_then(Value::as_str)
        .is_some_and(|name| !name.is_empty());
    is_named && !kind.ends_with("List") && !needed_by_host(&Kind::of(api_version, kind))
}

impl Outline {
    /// Reads the rest of an object, from the value of `key` on.
    pub(super) fn go_on<'de, A: MapAccess<'de>>(
        mut head: Map<String, Value>,
        key: String,
        mut access: A,
    ) -> Result<Self, A::Error> {
        let mut text = Text::default();
        let mut metadata = 0..0;
        text.json.push(b'{');
        for (key, value) in &head {
            text.key(key)?;
            let start = text.json.len();
            text.scalar(value)?;
            if key == "metadata" {
                metadata = start..text.json.len();
            }
            text.json.push(b',');
        }
        let mut next = Some(key);
        while let Some(key) = next {
            text.key(&key)?;
            let start = text.json.len();
            access.next_value_seed(&mut text)?;
            let written = text.json.get(start..).unwrap_or_default();
            insert_once(&mut head, key, stump(written))?;
            text.json.push(b',');
            next = access.next_key()?;
        }
        text.close(b'}');
        Ok(Self {
            head,
            json: text.json,
            metadata,
        })
    }
}

/// A value of the same type without content; a scalar as it is.
fn stump(json: &[u8]) -> Value {
    match json.first() {
        Some(b'{') => Value::Object(Map::new()),
        Some(b'[') => Value::Array(Vec::new()),
        _ => serde_json::from_slice(json).unwrap_or_default(),
    }
}

/// Compact JSON that grows with what a parser gives.
#[derive(Debug, Default)]
struct Text {
    json: Vec<u8>,
    /// Where the first keys of each mapping that is open stand in it.
    keys: Vec<Range<usize>>,
}

/// Keys of a mapping that are compared one by one.
const FEW: usize = 16;

impl Text {
    fn key<E: Error>(&mut self, key: &str) -> Result<(), E> {
        self.scalar(key)?;
        self.json.push(b':');
        Ok(())
    }

    fn scalar<E: Error, T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), E> {
        serde_json::to_writer(&mut self.json, value).map_err(E::custom)
    }

    /// Ends a mapping or a list, of which every entry is followed by a comma.
    fn close(&mut self, bracket: u8) {
        self.json.pop_if(|last| *last == b',');
        self.json.push(bracket);
    }

    /// Whether the key at `at` comes the second time. The keys from `first` on are of the same mapping, `more` has all of them
    /// once they are many.
    fn is_duplicate(
        &mut self,
        at: Range<usize>,
        first: usize,
        more: &mut HashSet<Vec<u8>>,
    ) -> bool {
        let key = self.json.get(at.clone()).unwrap_or_default();
        let places = self.keys.get(first..).unwrap_or_default();
        let mut known = places
            .iter()
            .filter_map(|place| self.json.get(place.clone()));
        if places.len() < FEW {
            let is_known = known.any(|other| other == key);
            self.keys.push(at);
            return is_known;
        }
        if more.is_empty() {
            more.extend(known.map(<[u8]>::to_vec));
        }
        !more.insert(key.to_vec())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Text {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Text {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.scalar(&finite(value)?)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.scalar(&())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar(&())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        self.json.push(b'[');
        while access.next_element_seed(&mut *self)?.is_some() {
            self.json.push(b',');
        }
        self.close(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let first = self.keys.len();
        let mut more = HashSet::new();
        self.json.push(b'{');
        while let Some(at) = access.next_key_seed(Key(self))? {
            if self.is_duplicate(at.clone(), first, &mut more) {
                let key = self.json.get(at).unwrap_or_default();
                return Err(duplicate(
                    &serde_json::from_slice::<String>(key).unwrap_or_default(),
                ));
            }
            self.json.push(b':');
            access.next_value_seed(&mut *self)?;
            self.json.push(b',');
        }
        self.keys.truncate(first);
        self.close(b'}');
        Ok(())
    }
}

/// Writes a key and says where.
struct Key<'a>(&'a mut Text);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Range<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Range<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        let start = self.0.json.len();
        self.0.scalar(key)?;
        Ok(start..self.0.json.len())
    }
}

#[cfg(test)]
mod tests;
