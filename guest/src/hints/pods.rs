//! Pods that wait are asked about with each event; parsing them each time would be most of the work.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::api::{Pod, wire};
use crate::host::Object;

/// Bytes of JSON that are kept at most; then all is forgotten.
const BYTES_LIMIT: usize = 8 << 20;

/// A pod larger than this is parsed each time.
const POD_LIMIT: usize = 16 << 10;

/// Pods as they were parsed before, by uid, with the JSON that they were parsed from.
#[derive(Debug, Default)]
pub struct ParsedPods {
    pods: BTreeMap<String, (Vec<u8>, Rc<Pod>)>,
    bytes: usize,
}

impl ParsedPods {
    /// The pod, parsed now or before. Only the very same JSON is taken for the same pod.
    ///
    /// # Errors
    /// What is wrong with the pod, as text.
    pub fn get(&mut self, pod: &Object) -> Result<Rc<Pod>, String> {
        if let Some((json, parsed)) = self.pods.get(&pod.id.uid)
            && *json == pod.json
        {
            return Ok(Rc::clone(parsed));
        }
        let parsed = Rc::new(wire::pod(&pod.json).map_err(|problem| problem.to_string())?);
        if pod.json.len() <= POD_LIMIT {
            if self.bytes + pod.json.len() > BYTES_LIMIT {
                *self = Self::default();
            }
            self.bytes += pod.json.len();
            let entry = (pod.json.clone(), Rc::clone(&parsed));
            if let Some((old, _)) = self.pods.insert(pod.id.uid.clone(), entry) {
                self.bytes -= old.len();
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ObjectRef;

    fn pod(uid: &str, name: &str, filling: usize) -> Object {
        let filling = "x".repeat(filling);
        let json = format!(
            r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}", "uid": "{uid}"}}, "spec": {{"f": "{filling}"}}}}"#
        );
        Object {
            id: ObjectRef {
                kind: "Pod".into(),
                namespace: "ns".into(),
                name: name.into(),
                uid: uid.into(),
            },
            resource_version: "1".into(),
            json: json.into_bytes(),
        }
    }

    #[test]
    fn only_the_same_json_is_the_same_pod() {
        let mut pods = ParsedPods::default();
        let first = pods.get(&pod("1", "a", 0)).unwrap();
        assert!(Rc::ptr_eq(&first, &pods.get(&pod("1", "a", 0)).unwrap()));
        // The same uid and version, and yet another one.
        assert_eq!(pods.get(&pod("1", "b", 0)).unwrap().meta.name, "b");
        assert_eq!(pods.get(&pod("1", "a", 0)).unwrap().meta.name, "a");
        assert_eq!(pods.pods.len(), 1);
        assert_eq!(pods.bytes, pod("1", "a", 0).json.len());
        let broken = Object {
            json: b"{".to_vec(),
            ..pod("1", "a", 0)
        };
        assert!(pods.get(&broken).is_err());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut pods = ParsedPods::default();
        pods.get(&pod("large", "a", POD_LIMIT)).unwrap();
        assert_eq!(pods.bytes, 0);
        let half = POD_LIMIT / 2;
        for number in 0..2 * BYTES_LIMIT / half {
            pods.get(&pod(&number.to_string(), "a", half)).unwrap();
            assert!(pods.bytes <= BYTES_LIMIT);
            let kept: usize = pods.pods.values().map(|(json, _)| json.len()).sum();
            assert_eq!(kept, pods.bytes);
        }
    }
}
