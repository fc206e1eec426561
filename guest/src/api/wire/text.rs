//! Leaf types of the wire structs: borrowed strings, quantities, maps that keep their order, and mere presence.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Longest text that is read; no field of these objects may hold as much (CEL expressions: 10 KiB). Opaque parameters are no
/// such texts.
pub(super) const MAX_TEXT_BYTES: usize = 64 << 10;

/// The text, unless it is too long.
fn within_limit<E: Error>(text: &str) -> Result<&str, E> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(E::custom(too_long(text)));
    }
    Ok(text)
}

/// What is wrong with a text that is too long.
pub(super) fn too_long(text: &str) -> String {
    format!(
        "a text of {} bytes, at most {MAX_TEXT_BYTES} are read",
        text.len()
    )
}

/// Enough of a text to tell what is meant.
pub(super) fn brief(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 320;
    if text.len() <= LONGEST {
        return text.into();
    }
    let start: String = text.chars().take(LONGEST / 4).collect();
    format!("{start}...").into()
}

/// A string, borrowed from the input unless it holds escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Str<'a>(pub(super) Cow<'a, str>);

impl Str<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, v: &'de str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Borrowed(within_limit(v)?)))
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Owned(within_limit(v)?.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Text of an optional string: empty when absent, as in Go.
pub(super) fn text(value: Option<Str<'_>>) -> String {
    value.map(|v| v.0.into_owned()).unwrap_or_default()
}

/// A list of strings as the model holds it.
pub(super) fn texts(values: Option<Vec<Str<'_>>>) -> Vec<String> {
    values
        .unwrap_or_default()
        .into_iter()
        .map(|v| v.0.into_owned())
        .collect()
}

/// JSON does not say how many entries follow; devices have about this many attributes.
const USUAL_PAIRS: usize = 8;

/// A JSON object as pairs in the order of the input.
#[derive(Clone, Debug)]
pub(super) struct Pairs<'a, V>(pub(super) Vec<(Str<'a>, V)>);

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Pairs<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<'a, V>(PhantomData<(&'a (), V)>);
        impl<'de: 'a, 'a, V: Deserialize<'de>> Visitor<'de> for Entries<'a, V> {
            type Value = Pairs<'a, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(USUAL_PAIRS));
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// A quantity: bare in v1alpha3, inside an object with `value` since v1beta1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Quantity<'a> {
    Bare(Cow<'a, str>),
    /// `None`: an object without `value`.
    Wrapped(Option<Cow<'a, str>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Quantity<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl<'de> Visitor<'de> for QuantityVisitor {
    type Value = Quantity<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity")
    }

    fn visit_borrowed_str<E: Error>(self, v: &'de str) -> Result<Self::Value, E> {
        Ok(Quantity::Bare(Cow::Borrowed(within_limit(v)?)))
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<Self::Value, E> {
        Ok(Quantity::Bare(Cow::Owned(within_limit(v)?.to_owned())))
    }

    // Hand-written YAML says `memory: 80`; Go takes the number's text as well.
    fn visit_u64<E: Error>(self, v: u64) -> Result<Self::Value, E> {
        Ok(Quantity::Bare(Cow::Owned(v.to_string())))
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<Self::Value, E> {
        Ok(Quantity::Bare(Cow::Owned(v.to_string())))
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<Self::Value, E> {
        Ok(Quantity::Bare(Cow::Owned(v.to_string())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut value = None;
        while let Some(key) = map.next_key::<Str<'de>>()? {
            if key.as_str() != "value" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            value = match map.next_value::<Option<Quantity<'de>>>()? {
                Some(Quantity::Bare(text)) => Some(text),
                Some(Quantity::Wrapped(_)) => return Err(A::Error::custom("expected a quantity")),
                None => None,
            };
        }
        Ok(Quantity::Wrapped(value))
    }
}

/// Whether a field that is not implemented says anything: null, false, zero, `""`, `[]` and `{}` do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Filled(pub(super) bool);

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FilledVisitor).map(Filled)
    }
}

struct FilledVisitor;

impl<'de> Visitor<'de> for FilledVisitor {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<bool, E> {
        Ok(v)
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<bool, E> {
        Ok(v != 0)
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<bool, E> {
        Ok(v != 0)
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<bool, E> {
        Ok(v != 0.0)
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<bool, E> {
        Ok(!v.is_empty())
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let mut filled = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            filled = true;
        }
        Ok(filled)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut filled = false;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            filled = true;
        }
        Ok(filled)
    }
}

/// First field of every wire struct. serde would fill a struct from a list, by position; a list's first element goes here
/// and is refused, while an object never has this field's key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OnlyObject;

impl<'de> Deserialize<'de> for OnlyObject {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("expected an object"))
    }
}
