//! Taints of the devices that selectors let through, and requests that tolerate none of these devices.
//!
//! Upstream: `DeviceToleration.ToleratesTaint`, by which the allocator leaves tainted devices out.

use super::{Findings, Gaps, Selectors, Site, Stake};
use crate::api::{Device, DeviceTaint, DeviceToleration, TaintEffect};

/// Different sets of taints that are kept for one chain.
const MOST: usize = 64;

/// What keeps claims away from the devices that selectors let through.
#[derive(Default)]
pub(super) struct Shields {
    /// A device without taints, or more sets than are kept.
    is_open: bool,
    sets: Vec<Vec<DeviceTaint>>,
}

impl Shields {
    /// Notes a device.
    pub(super) fn add(&mut self, device: &Device) {
        if self.is_open {
            return;
        }
        let taints = device.extra.iter().flat_map(|extra| &extra.taints);
        let blocking: Vec<DeviceTaint> = taints
            .filter(|taint| taint.effect != TaintEffect::None)
            .cloned()
            .collect();
        if blocking.is_empty() || self.sets.len() == MOST {
            self.is_open = true;
        } else if !self.sets.contains(&blocking) {
            self.sets.push(blocking);
        }
    }

    /// The first taint of all that are not tolerated, if no device is left.
    fn first(&self, tolerations: &[DeviceToleration]) -> Option<&DeviceTaint> {
        let is_tolerated = |taint: &&DeviceTaint| {
            let mut tolerations = tolerations.iter();
            tolerations.any(|toleration| toleration.tolerates(taint))
        };
        if self.is_open {
            return None;
        }
        let mut sets = self.sets.iter();
        let missing: Option<Vec<&DeviceTaint>> = sets
            .by_ref()
            .map(|set| set.iter().find(|taint| !is_tolerated(taint)))
            .collect();
        missing?.first().copied()
    }
}

impl Selectors<'_> {
    /// A claim that waits although the taints of everything that it could get are not tolerated. They may be removed.
    pub(super) fn all_tainted(&self, site: &Site<'_>, gaps: &Gaps<'_>, findings: &mut Findings) {
        let chain = &self.chains[site.chain];
        let is_asked = site.stake == Stake::Allocation && self.has_taints && self.is_complete;
        if !is_asked || gaps.concern(&self.drivers_of(chain)) {
            return;
        }
        let Some(taint) = chain.shields.first(site.tolerations) else {
            return;
        };
        let (key, effect) = (&taint.key, taint.effect.name());
        let value = match &*taint.value {
            "" => String::new(),
            value => format!("={value}"),
        };
        findings.about(site.object).warning(
            site.path.clone(),
            format!("no device is left: all that match have taints that the request does not tolerate, for example {key}{value}:{effect}"),
            format!("add {{key: {key}, operator: Exists, effect: {effect}}} to its tolerations, or wait until the taints are removed"),
        );
    }
}
