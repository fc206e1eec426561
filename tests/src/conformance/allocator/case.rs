//! A line of an allocator table: its objects as the API holds them, and what was recorded.

use dynamic_resources::profile::Feature;
use serde_json::{Map, Value, json};

/// What an allocator says of one node.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// An AllocationResult for each claim, in the form of the claims' API version, without empty values.
    Allocated(Vec<Value>),
    /// The claims cannot be allocated on this node.
    DoesNotFit,
    /// The attempt ends with this text.
    Error(String),
    /// An object has a field of this feature, which is not implemented: fails closed.
    NotImplemented(String),
}

impl Answer {
    /// From results and the text of an error as they are recorded. Without claims nothing is allocated, which is no failure.
    fn recorded(of: &Value, fields: [&str; 2], claims: usize) -> Result<Self, String> {
        if fields.iter().all(|field| of.get(field).is_none()) {
            return Err(format!(
                "neither {} nor {} is recorded",
                fields[0], fields[1]
            ));
        }
        match fields.map(|field| &of[field]).into() {
            (_, Value::String(error)) => Ok(Self::Error(error.clone())),
            (Value::Array(results), Value::Null) if results.len() == claims => {
                Ok(Self::Allocated(results.iter().map(without_empty).collect()))
            }
            (Value::Array(results), Value::Null) if results.is_empty() => Ok(Self::DoesNotFit),
            (Value::Null, Value::Null) if claims == 0 => Ok(Self::Allocated(Vec::new())),
            (Value::Null, Value::Null) => Ok(Self::DoesNotFit),
            (results, error) => Err(format!(
                "not an answer for {claims} claims: results {results}, error {error}"
            )),
        }
    }
}

/// A value without what Go leaves out: null, `""`, `[]`, `{}` and an `adminAccess` that is false.
pub fn without_empty(value: &Value) -> Value {
    let is_empty = |key: &str, value: &Value| match value {
        Value::Null => true,
        Value::Bool(flag) => key == "adminAccess" && !flag,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    match value {
        Value::Array(list) => list.iter().map(without_empty).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), without_empty(value)))
            .filter(|(key, value)| !is_empty(key, value))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// One line.
pub struct Case<'a> {
    json: &'a Value,
    /// Version of resource.k8s.io of its objects.
    api: &'static str,
    /// Minor version of Kubernetes that it was recorded with.
    pub minor: u32,
}

impl<'a> Case<'a> {
    /// The line; `file` says the version where the tag does not.
    pub fn new(file: &str, json: &'a Value) -> Result<Self, String> {
        let tag = json.get("tag").and_then(Value::as_str).unwrap_or_default();
        let minor = minor_of(tag).or_else(|| minor_of(file));
        let (minor, api) = match minor {
            Some(31) => (31, "resource.k8s.io/v1alpha3"),
            Some(36) => (36, "resource.k8s.io/v1"),
            _ => {
                return Err(format!(
                    "recorded with an unknown version: tag {tag:?}, file {file}"
                ));
            }
        };
        let known = ["classes", "slices", "claimsToAllocate"];
        match known
            .iter()
            .find(|field| !json.get(**field).is_some_and(is_list))
        {
            Some(field) => Err(format!("{field} is missing, or no list")),
            None => Ok(Self { json, api, minor }),
        }
    }

    /// A list of the line; empty if it is missing.
    pub fn list(&self, field: &str) -> &'a [Value] {
        self.json
            .get(field)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// A field of the line; null if it is missing.
    pub fn field(&self, field: &str) -> &'a Value {
        &self.json[field]
    }

    /// What the plugin is configured with: the version, and the features that the line lists.
    pub fn config(&self) -> Value {
        if self.minor == 31 {
            return json!({"profile": "1.31"});
        }
        let optional = |feature: &Feature| feature.name().starts_with("DRA");
        let mut features: Map<String, Value> = Feature::ALL
            .into_iter()
            .filter(optional)
            .map(|feature| (feature.name().to_owned(), false.into()))
            .collect();
        let listed = self.list("features").iter().filter_map(Value::as_str);
        for gate in listed.flat_map(|gates| gates.split('+')) {
            features.insert(gate.to_owned(), true.into());
        }
        json!({"profile": "current", "features": features})
    }

    /// An object of the line with the type that it has there.
    pub fn object(&self, kind: &str, object: &Value) -> Value {
        let mut object = object.clone();
        object["apiVersion"] = match kind {
            "Node" => "v1".into(),
            _ => self.api.into(),
        };
        object["kind"] = kind.into();
        object
    }

    /// Objects of one list.
    pub fn objects(&self, kind: &str, field: &str) -> Vec<Value> {
        self.list(field)
            .iter()
            .map(|object| self.object(kind, object))
            .collect()
    }

    /// Claims that hold devices; the newer tables list the devices, and each gets a claim.
    pub fn allocated_claims(&self) -> Vec<Value> {
        let mut claims = self.objects("ResourceClaim", "allocatedClaims");
        let listed = [
            ("allocatedDevices", None),
            ("allocatedSharedDeviceIDs", Some("shareID")),
            ("allocatedCapacity", Some("consumedCapacity")),
        ];
        for (field, sharing) in listed {
            for (i, device) in self.list(field).iter().enumerate() {
                let mut result = match device {
                    Value::Object(_) => device.clone(),
                    other => json!({"device": other}),
                };
                result["request"] = "r".into();
                // Whatever the table calls it: the device is shared.
                if let Some(key) = sharing.filter(|key| device.get(key).is_none()) {
                    result[key] = device.clone();
                }
                let name = format!("{}-{i}", field.to_ascii_lowercase());
                let claim = json!({"metadata": {"name": name, "namespace": "default", "uid": name},
                    "spec": {"devices": {"requests": [{"name": "r"}]}},
                    "status": {"allocation": {"devices": {"results": [result]}}}});
                claims.push(self.object("ResourceClaim", &claim));
            }
        }
        claims
    }

    /// The recorded answers for a line of one node, any of which is right.
    pub fn answers(&self) -> Result<Vec<Answer>, String> {
        let claims = self.list("claimsToAllocate").len();
        let mut answers = vec![match self.newest_channel() {
            Some(of) => Answer::recorded(of, ["results", "error"], claims)?,
            None => Answer::recorded(self.json, ["expectResults", "expectError"], claims)?,
        }];
        for other in self.list("alsoObserved") {
            answers.push(Answer::recorded(other, ["results", "error"], claims)?);
        }
        Ok(answers)
    }

    /// The answer of the newest implementation, if the implementations differ.
    fn newest_channel(&self) -> Option<&'a Value> {
        if self.field("implementationsDiffer") != true {
            return None;
        }
        let implementations = self.field("implementations").as_object()?;
        ["experimental", "incubating", "stable"]
            .into_iter()
            .find_map(|channel| {
                implementations.values().find(|implementation| {
                    implementation["channel"] == channel && implementation.get("results").is_some()
                })
            })
    }

    /// The recorded answer of one entry of `expectPerNode`.
    pub fn answer_for(&self, entry: &Value) -> Result<Answer, String> {
        let claims = self.list("claimsToAllocate").len();
        Answer::recorded(entry, ["results", "error"], claims)
    }
}

fn is_list(value: &Value) -> bool {
    value.is_array() || value.is_null()
}

/// The number after `v0.`.
fn minor_of(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("v0.")?;
    rest.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}
