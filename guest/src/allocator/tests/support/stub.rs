//! A stand-in for CEL that notes what is evaluated.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{Cluster, Evaluation};
use crate::allocator::Inventory;
use crate::allocator::selectors::{Content, DeviceRef, ExpressionId, SelectorError, Selectors};
use crate::api::{Attribute, Device};

/// A tiny selector language: `true`, `false`, `driver=D`, `has A`, `A=text` (an error where A is missing), `broken` (does not
/// compile).
#[derive(Default)]
pub struct Stub {
    texts: Vec<Arc<str>>,
    pub log: Vec<Evaluation>,
    /// Devices of which some verdicts are remembered.
    remembered: BTreeMap<Content, (Arc<str>, Device)>,
    /// Which ones.
    seed: u64,
}

impl Stub {
    /// Remembers half of the verdicts, as if other pods had asked for them; which half depends on the seed.
    pub fn with_memory(cluster: &Cluster, inventory: &Inventory, seed: u64) -> Self {
        let entries = (0..cluster.slices.len()).map(|slot| inventory.entry(slot as u32));
        let devices = entries.flat_map(|entry| {
            let devices = entry.contents.iter().zip(&entry.slice.devices);
            devices
                .map(|(content, device)| (*content, (entry.slice.driver.clone(), device.clone())))
        });
        Self {
            remembered: devices.collect(),
            seed,
            ..Self::default()
        }
    }
}

impl Selectors for Stub {
    fn expression(&mut self, text: &Arc<str>) -> ExpressionId {
        self.texts.push(text.clone());
        ExpressionId(self.texts.len() as u32 - 1)
    }

    fn matches(
        &mut self,
        expression: ExpressionId,
        device: DeviceRef<'_>,
    ) -> Result<bool, SelectorError> {
        let text = &self.texts[expression.0 as usize];
        self.log.push((text.to_string(), device.slot, device.index));
        evaluate(text, device.driver, device.device)
    }

    fn remembered(&self, expression: ExpressionId, content: Content) -> Option<bool> {
        let (driver, device) = self.remembered.get(&content)?;
        let text = &self.texts[expression.0 as usize];
        let mut hasher = DefaultHasher::new();
        (self.seed, text, content.number).hash(&mut hasher);
        let verdict = evaluate(text, driver, device).ok();
        verdict.filter(|_| hasher.finish().is_multiple_of(2))
    }
}

pub fn evaluate(text: &str, driver: &str, device: &Device) -> Result<bool, SelectorError> {
    let find = |name: &str| {
        device
            .attributes
            .iter()
            .find(|(given, _)| **given == *name)
            .map(|(_, value)| value)
    };
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        "broken" => Err(SelectorError::Compile("does not parse".into())),
        _ => match (text.strip_prefix("has "), text.split_once('=')) {
            (Some(name), _) => Ok(find(name).is_some()),
            (None, Some(("driver", wanted))) => Ok(wanted == driver),
            (None, Some((name, wanted))) => match find(name) {
                Some(Attribute::String(value)) => Ok(**value == *wanted),
                Some(Attribute::Int(value)) => Ok(value.to_string() == wanted),
                Some(_) => Ok(false),
                None => Err(SelectorError::Runtime(format!("no such key: {name}"))),
            },
            (None, None) => panic!("unknown expression {text}"),
        },
    }
}
