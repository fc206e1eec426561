//! Names for objects that only have `generateName`, and objects that come more than once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::error::Warning;
use super::kinds;
use super::objects::{Candidate, Found};
use crate::object::Kind;

/// Kind, namespace and name. `default` and no namespace are the same: kinds without namespaces have neither.
type Key = (Kind, String, String);

fn key(kind: &Kind, namespace: &str, name: &str) -> Key {
    let namespace = if namespace == "default" {
        ""
    } else {
        namespace
    };
    (kind.clone(), namespace.to_owned(), name.to_owned())
}

/// Gives every object a name, the same for the same input.
pub(super) fn name_all(found: Vec<Found>, warnings: &mut Vec<Warning>) -> Vec<Candidate> {
    let mut taken: HashSet<Key> = HashSet::new();
    if found
        .iter()
        .any(|found| matches!(found, Found::Nameless(_)))
    {
        taken.extend(found.iter().filter_map(|found| match found {
            Found::Named(candidate) => Some(key_of(candidate)),
            Found::Nameless(_) => None,
        }));
    }
    let mut next: HashMap<Key, usize> = HashMap::new();
    let mut name = |found| match found {
        Found::Named(candidate) => candidate,
        Found::Nameless(nameless) => {
            let (kind, namespace, stem) = nameless.stem();
            let (namespace, stem): (Arc<str>, Arc<str>) = (namespace.into(), stem.into());
            let counter = next.entry(key(kind, &namespace, &stem)).or_default();
            let name = loop {
                let name = format!("{stem}{counter}");
                *counter += 1;
                if taken.insert(key(kind, &namespace, &Arc::from(name.as_str()))) {
                    break name;
                }
            };
            let candidate = nameless.with_name(&name);
            let message = "has only metadata.generateName; this name was made for it".to_owned();
            warnings.push(Warning {
                object: kinds::display(&candidate.id),
                message,
            });
            candidate
        }
    };
    found.into_iter().map(&mut name).collect()
}

fn key_of(candidate: &Candidate) -> Key {
    key(
        &candidate.id.kind,
        &candidate.id.namespace,
        &candidate.id.name,
    )
}

/// Leaves the last definition of each object, in the place of the first: an API server would take it as an update.
pub(super) fn last_wins(candidates: Vec<Candidate>, warnings: &mut Vec<Warning>) -> Vec<Candidate> {
    let mut places: HashMap<Key, usize> = HashMap::with_capacity(candidates.len());
    let mut kept: Vec<Candidate> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let at = *places.entry(key_of(&candidate)).or_insert(kept.len());
        let Some(earlier) = kept.get_mut(at) else {
            kept.push(candidate);
            continue;
        };
        if differ(earlier, &candidate) {
            let message = format!(
                "defined more than once, and differently: the definition at {} is used, not the one at {}",
                candidate.origin, earlier.origin
            );
            warnings.push(Warning {
                object: kinds::display(&candidate.id),
                message,
            });
        }
        *earlier = candidate;
    }
    kept
}

fn differ(one: &Candidate, other: &Candidate) -> bool {
    match (&one.outcome, &other.outcome) {
        (Ok(one), Ok(other)) => one.value() != other.value(),
        (Err(one), Err(other)) => one != other,
        _ => true,
    }
}
