//! Objects that own each other in a circle: no cluster makes them so, and none of them would ever be expanded.

use std::collections::HashMap;

use serde_json::Value;

use super::{display, error_of, namespace_of};
use crate::manifest::Input;
use crate::object::{Kind, Object};

/// Most objects of a circle that an error names.
const NAMED: usize = 8;

/// Takes objects that stand in a circle of owners, themselves included, out of the input, with an error each.
pub(super) fn remove(input: &mut Input) {
    let mut messages = messages(&input.objects);
    if messages.iter().all(Option::is_none) {
        return;
    }
    let objects = std::mem::take(&mut input.objects);
    let origins = std::mem::take(&mut input.origins);
    for ((object, origin), message) in objects.into_iter().zip(origins).zip(messages.drain(..)) {
        match message {
            Some(message) => input.object_errors.push(error_of(&object, origin, message)),
            None => {
                input.objects.push(object);
                input.origins.push(origin);
            }
        }
    }
}

/// What is wrong with each object, if anything.
fn messages(objects: &[Object]) -> Vec<Option<String>> {
    let mut messages = vec![None; objects.len()];
    let owners = trim(owners_of(objects));
    let mut seen = vec![false; objects.len()];
    for start in 0..objects.len() {
        let mut path = Vec::new();
        let mut at = start;
        // Where several owners are left the first will do: every way ends in a circle.
        while let Some(&owner) = owners[at].first().filter(|_| !seen[at]) {
            seen[at] = true;
            path.push(at);
            at = owner;
        }
        let entry = path.iter().position(|&index| index == at);
        let message = match entry {
            Some(entry) => describe(objects, &path[entry..]),
            None => messages[at].clone(),
        };
        for index in path {
            messages[index].clone_from(&message);
        }
    }
    messages
}

fn describe(objects: &[Object], circle: &[usize]) -> Option<String> {
    let (&first, rest) = circle.split_first()?;
    if rest.is_empty() {
        return Some("names itself as its owner; remove that owner reference".to_owned());
    }
    let mut names: Vec<String> = circle
        .iter()
        .take(NAMED)
        .map(|&index| display(&objects[index]))
        .collect();
    if circle.len() > NAMED {
        names.push(format!("{} more", circle.len() - NAMED));
    }
    names.push(display(&objects[first]));
    Some(format!(
        "its owners form a circle, {}; remove one of these owner references",
        names.join(" -> ")
    ))
}

/// Owners of each object among the objects, by index.
fn owners_of(objects: &[Object]) -> Vec<Vec<usize>> {
    let references: Vec<&[Value]> = objects.iter().map(references_of).collect();
    // What has no owner itself cannot stand in a circle.
    let owned = || {
        let pairs = objects.iter().zip(&references).enumerate();
        pairs.filter(|(_, (_, references))| !references.is_empty())
    };
    let mut by_uid = HashMap::new();
    let mut by_name = HashMap::new();
    for (index, (object, _)) in owned() {
        let id = object.id();
        if !id.uid.is_empty() {
            by_uid.insert(&*id.uid, index);
        }
        let key = (id.kind.clone(), namespace_of(object), &*id.name);
        by_name.insert(key, index);
    }
    let mut owners = vec![Vec::new(); objects.len()];
    for (index, (object, references)) in owned() {
        for reference in *references {
            let text = |key: &str| {
                let value = reference.get(key).and_then(Value::as_str);
                value.unwrap_or_default()
            };
            let named = || {
                let kind = Kind::of(text("apiVersion"), text("kind"));
                by_name
                    .get(&(kind, namespace_of(object), text("name")))
                    .copied()
                    .filter(|&owner| text("uid").is_empty() || objects[owner].id().uid.is_empty())
            };
            let owner = by_uid.get(text("uid")).copied().or_else(named);
            owners[index].extend(owner);
        }
    }
    owners
}

fn references_of(object: &Object) -> &[Value] {
    let references = object.metadata().get("ownerReferences");
    references
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Leaves the references in circles, and those that lead from one circle to another.
fn trim(owners: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    // An object without owners is in no circle, and neither is one that owns nothing: once each way round.
    reversed(&without_ends(reversed(&without_ends(owners))))
}

/// Removes objects without owners until each has one.
fn without_ends(mut owners: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let owned = reversed(&owners);
    let mut left: Vec<usize> = owners.iter().map(Vec::len).collect();
    let mut ends: Vec<usize> = (0..owners.len())
        .filter(|&index| left[index] == 0)
        .collect();
    let mut gone = vec![false; owners.len()];
    while let Some(end) = ends.pop() {
        gone[end] = true;
        for &index in &owned[end] {
            left[index] -= 1;
            if left[index] == 0 {
                ends.push(index);
            }
        }
    }
    for (index, owners) in owners.iter_mut().enumerate() {
        owners.retain(|&owner| !gone[index] && !gone[owner]);
    }
    owners
}

fn reversed(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        for &to in targets {
            reversed[to].push(from);
        }
    }
    reversed
}

#[cfg(test)]
mod tests;
