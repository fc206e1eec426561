//! Which pods an event helps. A plugin that exports `waiting` is given each pod that waits once, under a number; any other one is
//! given all of them with each event.

use std::collections::HashMap;
use std::sync::Arc;

use super::contract::exports::{enqueue, waiting};
use super::convert;
use super::instance::Call;
use super::scheduling::{Scheduling, aside};
use crate::object::Object;
use crate::plugin::{Fault, Hint, ObjectEvent, PluginError};

/// Bytes of pods that are given in one call, roughly.
const BATCH_BYTES: usize = 1 << 20;

/// Numbers beyond those of the pods that are asked about that may be in use before they are given out again.
const SPARE: usize = 1024;

type Answers = Vec<Result<Hint, String>>;

/// The pods that an instance knows, by uid.
#[derive(Default)]
pub(super) struct Numbers {
    known: HashMap<Arc<str>, (u32, Object)>,
    free: Vec<u32>,
}

impl Numbers {
    /// The numbers of these pods, in order, and which of them the instance does not know as they are now.
    fn of(&mut self, pods: &[Object]) -> (Vec<u32>, Vec<(u32, Object)>) {
        if self.known.len() > 2 * pods.len() + SPARE {
            self.keep_only(pods);
        }
        let mut unknown = Vec::new();
        let numbers = pods.iter().map(|pod| {
            let next = self.known.len() as u32;
            match self.known.get_mut(&pod.id().uid) {
                Some((number, known)) => {
                    if !known.is(pod) {
                        if known.bytes() != pod.bytes() {
                            unknown.push((*number, pod.clone()));
                        }
                        *known = pod.clone();
                    }
                    *number
                }
                None => {
                    // Without free ones all numbers below are in use.
                    let number = self.free.pop().unwrap_or(next);
                    self.known
                        .insert(pod.id().uid.clone(), (number, pod.clone()));
                    unknown.push((number, pod.clone()));
                    number
                }
            }
        });
        let numbers = numbers.collect();
        (numbers, unknown)
    }

    /// Takes back the numbers of all other pods: they may have stopped waiting, and if not they are given again.
    fn keep_only(&mut self, pods: &[Object]) {
        let mut before = std::mem::take(&mut self.known);
        for pod in pods {
            if let Some((uid, known)) = before.remove_entry(&pod.id().uid) {
                self.known.insert(uid, known);
            }
        }
        let mut free: Vec<u32> = before.into_values().map(|(number, _)| number).collect();
        free.sort_unstable_by(|a, b| b.cmp(a));
        self.free.splice(0..0, free);
    }
}

impl Scheduling {
    /// The answers have the order of the pods.
    pub(super) fn ask_hints(
        &mut self,
        event: &ObjectEvent,
        pods: &[Object],
    ) -> Result<Answers, PluginError> {
        let states: Vec<&Object> = event.old.iter().chain(&event.new).collect();
        let event = self.converting(&states, || convert::event(event));
        let remembers = |live: &super::instance::Live| live.functions.waiting.is_some();
        match self.live.as_ref().is_some_and(remembers) {
            true => self.ask_by_number(&event, pods),
            false => self.ask_with_pods(&event, pods),
        }
    }

    fn ask_with_pods(
        &mut self,
        event: &enqueue::Event,
        pods: &[Object],
    ) -> Result<Answers, PluginError> {
        let call = Call {
            nodes: pods.len(),
            ..aside("hints", "")
        };
        let objects: Vec<_> = pods.iter().map(|pod| self.convert_object(pod)).collect();
        let answers = self.call(call, |store, functions| match &functions.enqueue {
            Some(enqueue) => enqueue.call_hints(store, event, &objects),
            None => Ok(Vec::new()),
        })?;
        self.check_count(call.name, "hints", answers.len(), pods.len())?;
        let errors = answers.iter().filter_map(|answer| answer.as_ref().err());
        self.check_size(call.name, "hints", errors.map(String::len).sum())?;
        Ok(answers
            .into_iter()
            .map(|answer| answer.map(convert::hint))
            .collect())
    }

    fn ask_by_number(
        &mut self,
        event: &enqueue::Event,
        pods: &[Object],
    ) -> Result<Answers, PluginError> {
        let (numbers, unknown) = self.waiting.of(pods);
        self.put_waiting(&unknown)?;
        let call = Call {
            nodes: pods.len(),
            ..aside("hints", "")
        };
        let helped = self.call(call, |store, functions| match &functions.waiting {
            Some(waiting) => waiting.call_hints(store, event, &numbers),
            None => Ok(Vec::new()),
        })?;
        let errors = helped.iter().filter_map(|helped| helped.error.as_ref());
        self.check_size(call.name, "hints", errors.map(String::len).sum())?;
        let mut helped = helped.into_iter().peekable();
        let answers: Answers = numbers
            .iter()
            .map(
                |number| match helped.next_if(|helped| helped.number == *number) {
                    Some(waiting::Helped {
                        error: Some(error), ..
                    }) => Err(error),
                    Some(_) => Ok(Hint::Queue),
                    None => Ok(Hint::Skip),
                },
            )
            .collect();
        match helped.next() {
            None => Ok(answers),
            Some(other) => {
                let cause = format!(
                    "returned number {}, which was not asked about or is out of order",
                    other.number
                );
                self.reject(Fault::Contract, call.name, cause)
            }
        }
    }

    /// `waiting.put`, in parts.
    fn put_waiting(&mut self, pods: &[(u32, Object)]) -> Result<(), PluginError> {
        let mut rest = pods;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take_while(|(_, pod)| {
                bytes += pod.bytes().len();
                bytes <= BATCH_BYTES
            });
            let (batch, later) = rest.split_at(fits.count().max(1));
            rest = later;
            let objects: Vec<_> = batch
                .iter()
                .map(|(number, pod)| waiting::WaitingPod {
                    number: *number,
                    pod: self.convert_object(pod),
                })
                .collect();
            let call = Call {
                nodes: batch.len(),
                ..aside("put", "")
            };
            self.call(call, |store, functions| match &functions.waiting {
                Some(waiting) => waiting.call_put(store, &objects),
                None => Ok(()),
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(name: &str, label: &str) -> Object {
        let metadata = json!({"name": name, "uid": name, "labels": {"l": label}});
        let value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
        Object::from_value(value).expect("an object")
    }

    fn named(unknown: &[(u32, Object)]) -> Vec<(u32, &str)> {
        let named = unknown.iter();
        named
            .map(|(number, pod)| (*number, &*pod.id().name))
            .collect()
    }

    #[test]
    fn a_pod_is_unknown_once_and_when_it_has_changed() {
        let mut numbers = Numbers::default();
        let [a, b] = [pod("a", "1"), pod("b", "1")];
        let (given, unknown) = numbers.of(&[a.clone(), b.clone()]);
        assert_eq!(given, [0, 1]);
        assert_eq!(named(&unknown), [(0, "a"), (1, "b")]);
        // Another copy of the same content is no change.
        let (given, unknown) = numbers.of(&[b.clone(), pod("a", "1")]);
        assert_eq!((given, unknown.len()), (vec![1, 0], 0));
        let (given, unknown) = numbers.of(&[a.clone(), pod("b", "2")]);
        assert_eq!(given, [0, 1]);
        assert_eq!(named(&unknown), [(1, "b")]);
        let (_, unknown) = numbers.of(&[b]);
        assert_eq!(named(&unknown), [(1, "b")], "it changed back");
    }

    #[test]
    fn numbers_of_pods_that_are_gone_are_given_out_again() {
        let mut numbers = Numbers::default();
        let mut most = 0;
        for round in 0..10 {
            let pods: Vec<_> = (0..SPARE)
                .map(|i| pod(&format!("{round}-{i}"), ""))
                .collect();
            let (given, unknown) = numbers.of(&pods);
            assert_eq!(unknown.len(), SPARE);
            let mut distinct = given.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), SPARE, "each has its own");
            most = most.max(distinct[SPARE - 1]);
        }
        assert!((most as usize) < 5 * SPARE, "{most}");
    }
}
