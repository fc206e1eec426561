//! Stands in for everybody who changes a busy cluster: users who create and delete pods, the claim controller that releases
//! what finished pods held, and drivers that publish their devices anew. A load for soak runs, from a seed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::schema::{CLAIM, POD, SLICE};
use crate::api::Caller;
use crate::cluster::Cluster;
use crate::object::{Kind, Object};
use crate::plugin::{ApiCall, ApiError, ApiErrorReason};

/// Namespace of all pods.
const NAMESPACE: &str = "soak";
/// Name of the driver, the class and the pools' prefix.
const DRIVER: &str = "gpu.soak.example.com";

/// How large the cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Nodes, with one slice each.
    pub nodes: u32,
    /// Devices per node.
    pub devices: u32,
    /// Pods at a time; somewhat more than fit, so that some wait.
    pub pods: usize,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            nodes: 8,
            devices: 4,
            pods: 28,
        }
    }
}

/// The users. The same seed gives the same deeds for the same answers.
#[derive(Clone, Debug)]
pub struct Users {
    size: Size,
    random: fastrand::Rng,
    created: u64,
    generation: u64,
}

impl Users {
    /// Nothing is created yet.
    pub fn new(size: Size, seed: u64) -> Self {
        Self {
            size,
            random: fastrand::Rng::with_seed(seed),
            created: 0,
            generation: 1,
        }
    }

    /// What the cluster begins with: nodes, their devices, a class and claim templates.
    pub fn first_objects(&self) -> Vec<Object> {
        let nodes = (0..self.size.nodes).map(|number| {
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node(number), "uid": node(number)}})
        });
        let slices = (0..self.size.nodes).map(|number| self.slice(number));
        let class = json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER},
            "spec": {"selectors": [{"cel": {"expression": format!("device.driver == {DRIVER:?}")}}]},
        });
        let templates = [
            ("one", request(1, None)),
            ("two", request(2, None)),
            ("large", request(1, Some("large"))),
        ];
        let templates = templates.into_iter().map(|(name, spec)| {
            json!({
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
                "metadata": {"namespace": NAMESPACE, "name": name}, "spec": {"spec": spec},
            })
        });
        let all = nodes.chain(slices).chain([class]).chain(templates);
        all.filter_map(|value| Object::from_value(value).ok())
            .collect()
    }

    /// One deed. The API may refuse it, as it may refuse everybody's; then it did not happen.
    pub fn act(&mut self, cluster: &mut Cluster) -> Result<(), ApiError> {
        release_claims(cluster)?;
        let pods: Vec<Object> = listed(cluster, POD);
        match self.random.u32(..10) {
            0 => self.update_slice(cluster),
            1..=6 if pods.len() < self.size.pods => self.create_pod(cluster),
            _ => self.finish_pod(cluster, &pods),
        }
    }

    /// Ends all pods, and takes back what they held.
    pub fn leave(&mut self, cluster: &mut Cluster) -> Result<(), ApiError> {
        for pod in listed(cluster, POD) {
            delete(cluster, &pod)?;
        }
        release_claims(cluster)
    }

    fn create_pod(&mut self, cluster: &mut Cluster) -> Result<(), ApiError> {
        self.created += 1;
        let name = format!("p{}", self.created);
        let claims = match self.random.u32(..8) {
            0 => json!([]),
            1 => {
                json!([{"name": "a", "resourceClaimTemplateName": "one"}, {"name": "b", "resourceClaimTemplateName": "large"}])
            }
            2 => json!([{"name": "a", "resourceClaimName": self.shared_claim(cluster)?}]),
            3 | 4 => json!([{"name": "a", "resourceClaimTemplateName": "two"}]),
            5 => json!([{"name": "a", "resourceClaimTemplateName": "large"}]),
            _ => json!([{"name": "a", "resourceClaimTemplateName": "one"}]),
        };
        create(
            cluster,
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"namespace": NAMESPACE, "name": name},
                "spec": {"containers": [{"name": "c", "image": "i"}], "resourceClaims": claims},
            }),
        )
    }

    /// A claim that several pods use.
    fn shared_claim(&mut self, cluster: &mut Cluster) -> Result<String, ApiError> {
        let name = format!("shared-{}", self.random.u32(..3));
        if cluster
            .stored()
            .stored(&Kind::new(CLAIM), NAMESPACE, &name)
            .is_none()
        {
            create(
                cluster,
                json!({
                    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                    "metadata": {"namespace": NAMESPACE, "name": name}, "spec": request(1, None),
                }),
            )?;
        }
        Ok(name)
    }

    fn finish_pod(&mut self, cluster: &mut Cluster, pods: &[Object]) -> Result<(), ApiError> {
        let running: Vec<&Object> = pods
            .iter()
            .filter(|pod| pod.text("/spec/nodeName").is_some())
            .collect();
        // Now and then one that still waits, or is on its way.
        let victim = match running.is_empty() || self.random.u32(..10) == 0 {
            true => self.random.choice(pods),
            false => self.random.choice(running),
        };
        match victim {
            Some(pod) => delete(cluster, pod),
            None => Ok(()),
        }
    }

    fn update_slice(&mut self, cluster: &mut Cluster) -> Result<(), ApiError> {
        self.generation += 1;
        let number = self.random.u32(..self.size.nodes.max(1));
        let mut new = self.slice(number);
        let name = new["metadata"]["name"].as_str().unwrap_or_default();
        let stored = cluster.stored().stored(&Kind::new(SLICE), "", name);
        let Some(mut value) = stored.cloned().map(Object::into_value) else {
            return Ok(());
        };
        value["spec"] = new["spec"].take();
        update(cluster, value)
    }

    /// The devices of a node; half of them are large.
    fn slice(&self, number: u32) -> Value {
        let device = |index: u32| {
            json!({
                "name": format!("d{index}"),
                "attributes": {
                    "size": {"string": if index.is_multiple_of(2) { "large" } else { "small" }},
                    "seen": {"int": self.generation},
                },
            })
        };
        let devices: Vec<Value> = (0..self.size.devices).map(device).collect();
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": format!("{}-{DRIVER}", node(number))},
            "spec": {
                "driver": DRIVER, "nodeName": node(number), "devices": devices,
                "pool": {"name": node(number), "generation": self.generation, "resourceSliceCount": 1},
            },
        })
    }
}

fn node(number: u32) -> String {
    format!("node-{number:03}")
}

/// The spec of a claim that asks for some devices, large ones perhaps.
fn request(count: u32, size: Option<&str>) -> Value {
    let selectors: Vec<Value> = size
        .into_iter()
        .map(|size| {
            let expression = format!("device.attributes[{DRIVER:?}].size == {size:?}");
            json!({"cel": {"expression": expression}})
        })
        .collect();
    json!({"devices": {"requests": [{
        "name": "r",
        "exactly": {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": count, "selectors": selectors},
    }]}})
}

/// What the claim controller and the garbage collector do about claims whose pods are gone (upstream:
/// `pkg/controller/resourceclaim`, `syncClaim`): no longer reserved, no longer allocated, and deleted if generated.
fn release_claims(cluster: &mut Cluster) -> Result<(), ApiError> {
    let pods: BTreeSet<Arc<str>> = cluster
        .stored()
        .list(&Kind::new(POD))
        .map(|pod| pod.id().uid.clone())
        .collect();
    let lives = |uid: Option<&str>| uid.is_some_and(|uid| pods.contains(uid));
    for claim in listed(cluster, CLAIM) {
        let reserved = claim
            .value()
            .pointer("/status/reservedFor")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let kept: Vec<Value> = reserved
            .iter()
            .filter(|consumer| lives(consumer["uid"].as_str()))
            .cloned()
            .collect();
        let owner = claim.text("/metadata/ownerReferences/0/uid");
        let orphan = owner.is_some() && !lives(owner);
        let allocated = claim.value().pointer("/status/allocation").is_some();
        let finalized = claim.value().pointer("/metadata/finalizers/0").is_some();
        if kept.len() != reserved.len() || allocated && kept.is_empty() {
            let mut value = claim.clone().into_value();
            value["status"] = match kept.is_empty() {
                true => json!({}),
                false => {
                    let allocation = value["status"]["allocation"].take();
                    json!({"allocation": allocation, "reservedFor": kept})
                }
            };
            call_with(cluster, value, |object| ApiCall::UpdateStatus { object })?;
        } else if !allocated && orphan && finalized {
            let mut value = claim.into_value();
            value["metadata"]["finalizers"] = json!([]);
            update(cluster, value)?;
        } else if !allocated && orphan {
            delete(cluster, &claim)?;
        }
    }
    Ok(())
}

fn listed(cluster: &Cluster, kind: &str) -> Vec<Object> {
    cluster.stored().list(&Kind::new(kind)).cloned().collect()
}

fn create(cluster: &mut Cluster, value: Value) -> Result<(), ApiError> {
    call_with(cluster, value, |object| ApiCall::Create { object })
}

fn update(cluster: &mut Cluster, value: Value) -> Result<(), ApiError> {
    call_with(cluster, value, |object| ApiCall::Update { object })
}

fn delete(cluster: &mut Cluster, object: &Object) -> Result<(), ApiError> {
    let target = object.id().clone();
    cluster
        .api()
        .call(Caller::Other, &ApiCall::Delete { target })
        .map(|_| ())
}

fn call_with(
    cluster: &mut Cluster,
    value: Value,
    call: impl FnOnce(Object) -> ApiCall,
) -> Result<(), ApiError> {
    let object = Object::from_value(value).map_err(|problem| ApiError {
        reason: ApiErrorReason::Invalid,
        message: problem.to_string(),
    })?;
    cluster.api().call(Caller::Other, &call(object)).map(|_| ())
}

#[cfg(test)]
mod tests;
