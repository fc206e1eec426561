//! Conversions that several kinds share: metadata, selectors, configs, node selectors.

use std::sync::Arc;

use serde_json::Value;

use super::Reading;
use super::diagnose::noun;
use super::fault::Fault;
use super::raw;
use super::text::{Str, text, texts};
use crate::api::{
    DeviceConfiguration, DeviceSelector, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm,
    ObjectMeta,
};

pub(super) fn metadata(wire: Option<raw::Metadata<'_>>) -> ObjectMeta {
    let wire = wire.unwrap_or_default();
    ObjectMeta {
        name: text(wire.name),
        namespace: text(wire.namespace),
        uid: text(wire.uid),
        resource_version: text(wire.resource_version),
        being_deleted: wire.deletion_timestamp.is_some(),
        finalizers: texts(wire.finalizers),
        controller_uid: wire
            .owner_references
            .unwrap_or_default()
            .into_iter()
            .find(|owner| owner.controller == Some(true))
            .map(|owner| text(owner.uid)),
    }
}

pub(super) fn shared(value: Option<Str<'_>>) -> Arc<str> {
    value.map_or_else(|| Arc::from(""), |v| Arc::from(v.as_str()))
}

pub(super) fn selectors(
    wire: Option<Vec<raw::Selector<'_>>>,
    reading: &Reading<'_>,
) -> Vec<DeviceSelector> {
    let selector = |wire: raw::Selector<'_>| {
        let cel = reading.should(wire.cel);
        DeviceSelector {
            cel: cel.map(|cel| shared(reading.should(cel.expression))),
        }
    };
    wire.unwrap_or_default().into_iter().map(selector).collect()
}

/// Entries of `config`, of a claim or a class, found under `field`.
pub(super) fn configs(
    wire: Option<Vec<raw::Config<'_>>>,
    reading: &Reading<'_>,
    field: &str,
) -> Result<Vec<DeviceConfiguration>, Fault> {
    let entry = |(i, wire)| config(wire, reading).map_err(|fault| fault.under_index(field, i));
    wire.unwrap_or_default()
        .into_iter()
        .enumerate()
        .map(entry)
        .collect()
}

pub(super) fn config(
    wire: raw::Config<'_>,
    reading: &Reading<'_>,
) -> Result<DeviceConfiguration, Fault> {
    let opaque = reading.should(wire.opaque);
    match &opaque {
        None | Some(Value::Object(_)) => Ok(DeviceConfiguration {
            requests: texts(wire.requests),
            opaque,
        }),
        Some(other) => Err(Fault::new(
            "opaque",
            format!("expected an object, found {}", noun(other)),
        )),
    }
}

pub(super) fn node_selector(wire: raw::NodeSelector<'_>, reading: &Reading<'_>) -> NodeSelector {
    let terms = reading.should(wire.node_selector_terms).unwrap_or_default();
    NodeSelector {
        terms: terms
            .into_iter()
            .map(|term| node_selector_term(term, reading))
            .collect(),
    }
}

fn node_selector_term(wire: raw::NodeSelectorTerm<'_>, reading: &Reading<'_>) -> NodeSelectorTerm {
    if wire.match_expressions.is_none() && wire.match_fields.is_none() {
        reading.miss();
    }
    NodeSelectorTerm {
        match_expressions: requirements(wire.match_expressions, reading),
        match_fields: requirements(wire.match_fields, reading),
    }
}

fn requirements(
    wire: Option<Vec<raw::Requirement<'_>>>,
    reading: &Reading<'_>,
) -> Vec<NodeSelectorRequirement> {
    let requirement = |wire: raw::Requirement<'_>| NodeSelectorRequirement {
        key: text(reading.should(wire.key)),
        operator: text(reading.should(wire.operator)),
        values: texts(wire.values),
    };
    wire.unwrap_or_default()
        .into_iter()
        .map(requirement)
        .collect()
}
