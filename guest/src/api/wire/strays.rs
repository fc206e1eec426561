//! Keys that stand where the object's version has no such key, and where they belong.

use serde_json::{Map, Value};

use super::Kind;
use super::fault::join;
use super::schema::{self, Field, Shape};
use super::text::brief;
use crate::api::ApiVersion;
use crate::nearest::meant;

/// A key that its object does not have in this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Path of the key.
    pub path: String,
    /// The key.
    pub key: String,
    /// What may have been meant.
    pub belongs: Belongs,
}

/// Where a stray key belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// The same place, in this spelling; whether only the case is wrong.
    Spelled(&'static str, bool),
    /// Another place of the object; `[]` stands for an entry of a list.
    At(String),
    /// Other versions have it here.
    OtherVersion(&'static str),
    /// Nobody knows; these are the keys that may stand here.
    Unknown(Vec<&'static str>),
}

/// Strays of one object at most: nobody reads on.
const MOST: usize = 1_000;

/// All strays in the order of the object.
pub(super) fn find(kind: Kind, version: ApiVersion, object: &Value) -> Vec<Stray> {
    let mut search = Search {
        kind,
        version,
        object,
        found: Vec::new(),
    };
    search.value(object, schema::shape(kind, version), &mut Vec::new());
    search.found
}

/// A step into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'a> {
    Key(&'a str),
    /// Entry of a map with free keys.
    Entry(&'a str),
    Index(usize),
    /// Some entry of a list.
    Some,
}

struct Search<'a> {
    kind: Kind,
    version: ApiVersion,
    object: &'a Value,
    found: Vec<Stray>,
}

impl<'a> Search<'a> {
    /// Depth is that of the schema, not of the input.
    fn value(&mut self, value: &'a Value, shape: &'static Shape, at: &mut Vec<Step<'a>>) {
        match (shape, value) {
            (Shape::Object(fields), Value::Object(map)) => self.fields(map, fields, at),
            (Shape::List(element), Value::Array(values)) => {
                for (i, value) in values.iter().enumerate() {
                    at.push(Step::Index(i));
                    self.value(value, element, at);
                    at.pop();
                }
            }
            (Shape::Map(entry), Value::Object(map)) => {
                for (key, value) in map {
                    at.push(Step::Entry(key));
                    self.value(value, entry, at);
                    at.pop();
                }
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        map: &'a Map<String, Value>,
        fields: &'static [Field],
        at: &mut Vec<Step<'a>>,
    ) {
        for (key, value) in map {
            if let Some(field) = fields.iter().find(|field| field.key == key) {
                at.push(Step::Key(key));
                self.value(value, field.shape, at);
                at.pop();
            } else if !is_header(key, at) && !value.is_null() && self.found.len() < MOST {
                let stray = Stray {
                    path: join(&path(at), &brief(key)),
                    key: brief(key).into_owned(),
                    belongs: self.belongs(key, map, fields, at),
                };
                self.found.push(stray);
            }
        }
    }

    fn belongs(
        &self,
        key: &str,
        map: &Map<String, Value>,
        fields: &'static [Field],
        at: &[Step<'a>],
    ) -> Belongs {
        let here = || fields.iter().map(|field| field.key);
        if let Some(right) = here().find(|known| known.eq_ignore_ascii_case(key)) {
            return Belongs::Spelled(right, true);
        }
        if let Some(place) = self.elsewhere(key, at) {
            return Belongs::At(place);
        }
        // What is there already was not misspelled.
        let free = || here().filter(|known| !map.contains_key(*known));
        if let Some(right) = meant(key, free()).or_else(|| shortened(key, free())) {
            return Belongs::Spelled(right, false);
        }
        match self.other_version(key, at) {
            Some(version) => Belongs::OtherVersion(version),
            None => Belongs::Unknown(here().collect()),
        }
    }

    /// The place of this version where the key belongs: the one that has most of the way in common.
    fn elsewhere(&self, key: &str, at: &[Step<'a>]) -> Option<String> {
        let mut places: Vec<Vec<Step<'static>>> = Vec::new();
        collect(
            schema::shape(self.kind, self.version),
            key,
            &mut Vec::new(),
            &mut places,
        );
        let common = |place: &[Step<'_>]| {
            let pairs = place.iter().zip(at);
            pairs.take_while(|(a, b)| same(a, b)).count()
        };
        // Metadata has keys of its own, and nobody writes a status by hand.
        let in_spec = |place: &Vec<Step<'_>>| place.first() == Some(&Step::Key("spec"));
        let sound = places
            .into_iter()
            .filter(|place| !at.is_empty() || place.len() <= 3)
            .filter(in_spec);
        let best = sound.min_by_key(|place| (std::cmp::Reverse(common(place)), place.len()))?;
        Some(self.filled_in(&best, at))
    }

    /// The place with the indexes of the way that both have in common, and of lists with one entry.
    fn filled_in(&self, place: &[Step<'static>], at: &[Step<'a>]) -> String {
        let mut value = Some(self.object);
        let mut shared = true;
        let mut out = String::new();
        for (i, step) in place.iter().enumerate() {
            shared = shared && at.get(i).is_some_and(|other| same(step, other));
            let step = match (step, at.get(i)) {
                (_, Some(other)) if shared => *other,
                (Step::Some, _) => match value.and_then(Value::as_array).map(Vec::len) {
                    Some(1) => Step::Index(0),
                    _ => Step::Some,
                },
                (step, _) => *step,
            };
            value = match step {
                Step::Key(key) | Step::Entry(key) => value.and_then(|value| value.get(key)),
                Step::Index(i) => value.and_then(|value| value.get(i)),
                Step::Some => None,
            };
            push(&mut out, step);
        }
        out
    }

    /// The newest version that has the key here.
    fn other_version(&self, key: &str, at: &[Step<'_>]) -> Option<&'static str> {
        let versions = [
            (ApiVersion::V1, "v1"),
            (ApiVersion::V1Beta2, "v1beta2"),
            (ApiVersion::V1Beta1, "v1beta1"),
            (ApiVersion::V1Alpha3, "v1alpha3"),
        ];
        let has = |version: ApiVersion| {
            let shape =
                at.iter()
                    .try_fold(schema::shape(self.kind, version), |shape, step| {
                        match (shape, step) {
                            (Shape::Object(fields), Step::Key(key)) => fields
                                .iter()
                                .find(|field| field.key == *key)
                                .map(|field| field.shape),
                            (Shape::List(element), Step::Index(_)) => Some(*element),
                            (Shape::Map(entry), Step::Entry(_)) => Some(*entry),
                            _ => None,
                        }
                    });
            matches!(shape, Some(Shape::Object(fields)) if fields.iter().any(|field| field.key == key))
        };
        let mut others = versions
            .into_iter()
            .filter(|(version, _)| *version != self.version);
        others
            .find(|(version, _)| has(*version))
            .map(|(_, name)| name)
    }
}

/// Names under which people know a field.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("class", "deviceClassName"),
    ("nodeAffinity", "nodeSelector"),
    ("number", "int"),
    ("amount", "count"),
    ("text", "string"),
    ("quantity", "value"),
    ("resourceClassName", "deviceClassName"),
    ("mode", "allocationMode"),
    ("counters", "sharedCounters"),
    ("semver", "version"),
];

/// The known key of which this one is a beginning, or a longer form: `admin`, `str`, `boolean`.
fn shortened(
    key: &str,
    mut known: impl Iterator<Item = &'static str> + Clone,
) -> Option<&'static str> {
    const SHORTEST: usize = 3;
    let begins = |long: &str, short: &str| {
        short.len() >= SHORTEST
            && long
                .get(..short.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(short))
    };
    let alike = known
        .clone()
        .filter(|known| begins(known, key) || begins(key, known));
    alike.min_by_key(|known| known.len()).or_else(|| {
        let other = |known: &&str| OTHER_NAMES.contains(&(key, known));
        known.find(other)
    })
}

/// `apiVersion` and `kind` were looked at before.
fn is_header(key: &str, at: &[Step<'_>]) -> bool {
    at.is_empty() && ["apiVersion", "kind"].contains(&key)
}

fn same(place: &Step<'_>, at: &Step<'_>) -> bool {
    match (place, at) {
        (Step::Some, Step::Index(_)) => true,
        (place, at) => place == at,
    }
}

/// All places of a key below a shape.
fn collect(
    shape: &'static Shape,
    key: &str,
    at: &mut Vec<Step<'static>>,
    places: &mut Vec<Vec<Step<'static>>>,
) {
    match shape {
        Shape::Object(fields) => {
            for field in *fields {
                at.push(Step::Key(field.key));
                if field.key == key {
                    places.push(at.clone());
                }
                collect(field.shape, key, at, places);
                at.pop();
            }
        }
        Shape::List(element) => {
            at.push(Step::Some);
            collect(element, key, at, places);
            at.pop();
        }
        _ => {}
    }
}

fn path(at: &[Step<'_>]) -> String {
    let mut out = String::new();
    at.iter().for_each(|step| push(&mut out, *step));
    out
}

fn push(out: &mut String, step: Step<'_>) {
    match step {
        Step::Key(key) => *out = join(out, key),
        Step::Entry(key) => out.push_str(&format!("[{}]", brief(key))),
        Step::Index(i) => out.push_str(&format!("[{i}]")),
        Step::Some => out.push_str("[]"),
    }
}
