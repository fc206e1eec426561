//! Any YAML or JSON value as a tree, with the rules both forms share: keys are strings, and no key comes twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Deserialises like [`Value`], but refuses duplicate keys, which an API server refuses too, and numbers that JSON lacks.
#[derive(Debug)]
pub(crate) struct Tree(pub Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(Tree)
    }
}

/// Builds the tree.
pub(crate) struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        finite(value).map(Value::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Tree(item)) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut few = [const { None }; FEW];
        let mut known = 0;
        while let Some(key) = access.next_key::<String>()? {
            let Tree(value) = access.next_value()?;
            if known == FEW {
                return many(few, (key, value), access);
            }
            if few[..known]
                .iter()
                .flatten()
                .any(|(other, _)| *other == key)
            {
                return Err(duplicate(&key));
            }
            few[known] = Some((key, value));
            known += 1;
        }
        let mut map = Map::with_capacity(known);
        map.extend(few.into_iter().flatten());
        Ok(Value::Object(map))
    }
}

/// Entries of a mapping that are gathered before the mapping is made. Most have only a few, and one of the right size is much
/// smaller, and faster made, than one that grew.
const FEW: usize = 6;

/// Goes on with a mapping that has more.
fn many<'de, A: MapAccess<'de>>(
    few: [Option<(String, Value)>; FEW],
    next: (String, Value),
    mut access: A,
) -> Result<Value, A::Error> {
    let mut map = Map::with_capacity(4 * FEW);
    map.extend(few.into_iter().flatten());
    insert_once(&mut map, next.0, next.1)?;
    while let Some(key) = access.next_key::<String>()? {
        let Tree(value) = access.next_value()?;
        insert_once(&mut map, key, value)?;
    }
    Ok(Value::Object(map))
}

/// Adds an entry that must be new.
pub(crate) fn insert_once<E: Error>(
    map: &mut Map<String, Value>,
    key: String,
    value: Value,
) -> Result<(), E> {
    match map.entry(key) {
        serde_json::map::Entry::Vacant(entry) => {
            entry.insert(value);
            Ok(())
        }
        serde_json::map::Entry::Occupied(entry) => Err(duplicate(entry.key())),
    }
}

/// A number as JSON has it.
pub(crate) fn finite<E: Error>(value: f64) -> Result<Number, E> {
    Number::from_f64(value).ok_or_else(|| E::custom(format_args!("{value} is not a JSON number")))
}

/// The error for a key that comes twice.
pub(crate) fn duplicate<E: Error>(key: &str) -> E {
    E::custom(format_args!("duplicate key {key:?}"))
}

/// What a value is, for people.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
