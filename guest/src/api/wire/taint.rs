//! Device taints, tolerations and DeviceTaintRule.

use super::Reading;
use super::common::{metadata, shared};
use super::fault::Fault;
use super::raw;
use super::text::text;
use crate::api::{DeviceTaint, DeviceTaintRule, DeviceToleration, TaintEffect, TaintSelector};

pub(super) fn rule(
    wire: raw::TaintRule<'_>,
    reading: &Reading<'_>,
) -> Result<DeviceTaintRule, Fault> {
    let spec = reading.should(wire.spec).unwrap_or_default();
    let taint_fault = |fault: Fault| fault.under("spec.taint");
    let given = reading.should(spec.device_selector);
    let selector =
        given.map(|wire| selector(wire).map_err(|fault| fault.under("spec.deviceSelector")));
    Ok(DeviceTaintRule {
        name: metadata(wire.metadata).name,
        selector: selector.transpose()?,
        taint: reading
            .should(spec.taint)
            .ok_or_else(|| Fault::required(""))
            .and_then(|wire| taint(wire, reading))
            .map_err(taint_fault)?,
    })
}

fn selector(wire: raw::TaintSelector<'_>) -> Result<TaintSelector, Fault> {
    let removed = [
        ("deviceClassName", wire.device_class_name),
        ("selectors", wire.selectors),
    ];
    if let Some((field, _)) = removed.into_iter().find(|(_, filled)| filled.0) {
        let message = "this field was removed in Kubernetes 1.35; select by driver, pool or device";
        return Err(Fault::new(field, message));
    }
    Ok(TaintSelector {
        driver: wire.driver.map(|name| text(Some(name))),
        pool: wire.pool.map(|name| text(Some(name))),
        device: wire.device.map(|name| text(Some(name))),
    })
}

pub(super) fn taint(wire: raw::Taint<'_>, reading: &Reading<'_>) -> Result<DeviceTaint, Fault> {
    let effect = text(reading.should(wire.effect));
    let Some(known) = TaintEffect::named(&effect) else {
        let message = format!("expected None, NoSchedule or NoExecute, found {effect:?}");
        return Err(Fault::new("effect", message));
    };
    Ok(DeviceTaint {
        key: shared(reading.should(wire.key)),
        value: shared(wire.value),
        effect: known,
    })
}

pub(super) fn tolerations(
    wire: Option<Vec<raw::Toleration<'_>>>,
) -> Result<Vec<DeviceToleration>, Fault> {
    let one = |(i, wire): (usize, raw::Toleration<'_>)| {
        let toleration = DeviceToleration {
            key: text(wire.key),
            operator: text(wire.operator),
            value: text(wire.value),
            effect: text(wire.effect),
            toleration_seconds: wire.toleration_seconds,
        };
        if ["", "Equal", "Exists"].contains(&toleration.operator.as_str()) {
            return Ok(toleration);
        }
        let message = format!("expected Equal or Exists, found {:?}", toleration.operator);
        Err(Fault::new("operator", message).under_index("tolerations", i))
    };
    wire.unwrap_or_default()
        .into_iter()
        .enumerate()
        .map(one)
        .collect()
}
