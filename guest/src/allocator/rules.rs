//! Which taints a device has: those of its slice, and those of DeviceTaintRules (KEP 5055, upstream's slice tracker).

use std::sync::Arc;

use crate::api::{
    Device, DeviceTaint, DeviceTaintRule, DeviceToleration, ResourceSlice, TaintEffect,
};

/// Positions of the devices with taints that prevent allocation, and these taints.
pub(crate) fn taints<'a>(
    slice: &ResourceSlice,
    rules: impl Iterator<Item = &'a DeviceTaintRule>,
) -> Vec<(u32, Arc<[DeviceTaint]>)> {
    let rules: Vec<_> = rules.filter(|rule| concerns(rule, slice)).collect();
    let of_device = |(position, device): (usize, &Device)| {
        let own = device.extra.iter().flat_map(|extra| &extra.taints);
        let others = rules.iter().filter(|rule| selects(rule, device));
        let all = own.chain(others.map(|rule| &rule.taint));
        let taints: Vec<_> = all
            .filter(|taint| taint.effect != TaintEffect::None)
            .cloned()
            .collect();
        (!taints.is_empty()).then(|| (position as u32, taints.into()))
    };
    slice
        .devices
        .iter()
        .enumerate()
        .filter_map(of_device)
        .collect()
}

/// Whether the rule taints the device.
pub(crate) fn taints_device(
    rule: &DeviceTaintRule,
    slice: &ResourceSlice,
    device: &Device,
) -> bool {
    concerns(rule, slice) && selects(rule, device)
}

/// Whether the rule may select a device of the slice. Without a selector it selects nothing at all.
pub(crate) fn concerns(rule: &DeviceTaintRule, slice: &ResourceSlice) -> bool {
    let is_or_any =
        |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    rule.selector.as_ref().is_some_and(|selector| {
        is_or_any(&selector.driver, &slice.driver) && is_or_any(&selector.pool, &slice.pool)
    })
}

/// Whether a rule that concerns the device's slice selects the device.
pub(crate) fn selects(rule: &DeviceTaintRule, device: &Device) -> bool {
    let selector = rule.selector.as_ref();
    selector.is_some_and(|selector| {
        let wanted = selector.device.as_deref();
        wanted.is_none_or(|wanted| *wanted == *device.name)
    })
}

/// Whether each taint is tolerated.
pub(crate) fn tolerated(taints: &[DeviceTaint], tolerations: &[DeviceToleration]) -> bool {
    taints.iter().all(|taint| {
        let mut tolerations = tolerations.iter();
        tolerations.any(|toleration| toleration.tolerates(taint))
    })
}
