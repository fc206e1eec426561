//! The pods that wait, each read when it was given and not with every event.

use crate::api::{Pod, wire};
use crate::host::Object;

/// Pods by the host's number. What could not be read is kept as text.
#[derive(Debug, Default)]
pub struct Waiting(Vec<Option<Result<Pod, String>>>);

impl Waiting {
    /// From now on the number means this pod.
    pub fn put(&mut self, number: u32, pod: &Object) {
        let index = number as usize;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        let read = wire::pod(&pod.json).map_err(|problem| problem.to_string());
        self.0[index] = Some(read);
    }

    /// The pod with this number.
    ///
    /// # Errors
    /// It could not be read, or was never given.
    pub fn get(&self, number: u32) -> Result<&Pod, String> {
        match self.0.get(number as usize) {
            Some(Some(read)) => read.as_ref().map_err(Clone::clone),
            _ => Err(format!("no pod was given with number {number}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ObjectRef;

    fn pod(name: &str, json: &str) -> Object {
        Object {
            id: ObjectRef {
                kind: "Pod".into(),
                namespace: "ns".into(),
                name: name.into(),
                uid: name.into(),
            },
            resource_version: "1".into(),
            json: json.into(),
        }
    }

    #[test]
    fn a_number_means_what_was_given_last() {
        let json = |name| {
            format!(r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}"}}}}"#)
        };
        let mut waiting = Waiting::default();
        let name = |waiting: &Waiting, number| waiting.get(number).map(|pod| pod.meta.name.clone());
        assert_eq!(
            name(&waiting, 0),
            Err("no pod was given with number 0".into())
        );
        waiting.put(1, &pod("a", &json("a")));
        assert_eq!(name(&waiting, 1), Ok("a".into()));
        assert_eq!(
            name(&waiting, 0),
            Err("no pod was given with number 0".into())
        );
        waiting.put(0, &pod("b", &json("b")));
        waiting.put(1, &pod("c", &json("c")));
        assert_eq!(name(&waiting, 0), Ok("b".into()));
        assert_eq!(name(&waiting, 1), Ok("c".into()));
        waiting.put(1, &pod("c", "{"));
        assert!(name(&waiting, 1).is_err());
        assert_eq!(name(&waiting, 0), Ok("b".into()));
    }
}
