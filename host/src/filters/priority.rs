//! Priorities of pods.
//!
//! Upstream: admission plugin Priority, which an API server runs before the scheduler sees the pod.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::Object;

/// Classes that every cluster has.
const BUILT_IN: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

/// The PriorityClasses of a cluster.
#[derive(Clone, Debug, Default)]
pub struct PriorityClasses(BTreeMap<String, (i64, bool)>);

impl PriorityClasses {
    /// Adds or replaces a class. The error names the field.
    pub fn put(&mut self, class: &Object) -> Result<(), String> {
        let value = class.value().get("value").and_then(Value::as_i64);
        let value = value.ok_or_else(|| "value is missing or not an integer".to_owned())?;
        let is_default = class
            .value()
            .get("globalDefault")
            .and_then(Value::as_bool)
            .unwrap_or_default();
        self.0
            .insert(class.id().name.to_string(), (value, is_default));
        Ok(())
    }

    /// Removes a class.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// The value of a class.
    pub fn value_of(&self, name: &str) -> Option<i64> {
        let built_in = BUILT_IN
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value);
        built_in.or_else(|| self.0.get(name).map(|(value, _)| *value))
    }

    /// Of several defaults the lowest counts.
    fn default_value(&self) -> i64 {
        self.0
            .values()
            .filter(|(_, is_default)| *is_default)
            .map(|(value, _)| *value)
            .min()
            .unwrap_or_default()
    }

    /// The priority of a pod; in its spec if it went through an API server. An error if its class is unknown: without the
    /// class, the pod counts as one without.
    pub fn of(&self, pod: &Object) -> Result<i64, String> {
        if let Some(priority) = pod
            .value()
            .pointer("/spec/priority")
            .and_then(Value::as_i64)
        {
            return Ok(priority);
        }
        match pod.text("/spec/priorityClassName").unwrap_or_default() {
            "" => Ok(self.default_value()),
            name => self.value_of(name).ok_or_else(|| {
                format!("there is no usable PriorityClass {name} in the input; add it, or the pod is scheduled with the default priority")
            }),
        }
    }

    /// As `of`, with the default priority for a class that is unknown.
    pub fn of_or_default(&self, pod: &Object) -> i64 {
        self.of(pod).unwrap_or_else(|_| self.default_value())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(spec: serde_json::Value) -> Object {
        Object::from_value(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}),
        )
        .expect("a pod")
    }

    fn classes(list: &[(&str, i64, bool)]) -> PriorityClasses {
        let mut classes = PriorityClasses::default();
        for (name, value, default) in list {
            let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
                "value": value, "globalDefault": default});
            classes
                .put(&Object::from_value(class).expect("a class"))
                .expect("a good class");
        }
        classes
    }

    #[test]
    fn priorities_are_resolved() {
        let classes = classes(&[("high", 1000, false), ("a", 20, true), ("b", 10, true)]);
        for (spec, expected) in [
            (json!({"priority": -5, "priorityClassName": "high"}), Ok(-5)),
            (json!({"priorityClassName": "high"}), Ok(1000)),
            (
                json!({"priorityClassName": "system-node-critical"}),
                Ok(2_000_001_000),
            ),
            (
                json!({"priorityClassName": "system-cluster-critical"}),
                Ok(2_000_000_000),
            ),
            (json!({}), Ok(10)),
            (json!({"priorityClassName": "missing"}), Err(10)),
        ] {
            let pod = pod(spec);
            assert_eq!(
                classes.of(&pod).map_err(|_| classes.of_or_default(&pod)),
                expected,
                "{pod:?}"
            );
        }
        assert_eq!(PriorityClasses::default().of(&pod(json!({}))), Ok(0));
    }

    #[test]
    fn a_class_without_value_is_an_error() {
        let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "c"}});
        let result = PriorityClasses::default().put(&Object::from_value(class).expect("a class"));
        assert_eq!(result, Err("value is missing or not an integer".to_owned()));
    }
}
