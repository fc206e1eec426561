//! Requests compared with how many devices there are, with whose, and with what their class leaves.

use std::collections::{BTreeMap, BTreeSet};

use super::super::causes::{Cause, causes};
use super::super::findings::some_of;
use super::super::limits::MOST_OF_CLAIM;
use super::{Findings, Gaps, Published, Selectors, Site, Stake, Tried};
use crate::host::ObjectRef;

impl Selectors<'_> {
    /// A claim that waits for more devices than there are. Nodes that are added may bring them.
    pub(super) fn too_many(
        &self,
        site: &Site<'_>,
        published: &Published,
        gaps: &Gaps<'_>,
        findings: &mut Findings,
    ) {
        let passed = self.chains[site.chain].passed;
        // That no claim may ask for so many was told.
        if site.count > MOST_OF_CLAIM {
            return;
        }
        if site.stake != Stake::Allocation || !(1..site.count).contains(&passed) {
            return;
        }
        if self.is_hopeless(site, published, gaps) {
            findings.about(site.object).warning(
                format!("{}.count", site.path),
                format!(
                    "the request is for {} devices, and {passed} of {} will do",
                    site.count,
                    self.all()
                ),
                "ask for fewer, or add devices",
            );
        }
    }

    /// Whether nobody waits, and no slice is of a driver that the class is for: its devices may be another cluster's.
    pub(super) fn is_elsewhere(&self, site: &Site<'_>, published: &Published) -> bool {
        let chain = &self.chains[site.chain];
        let of_class = chain.expressions.iter().take(chain.of_class);
        let mut programs = of_class.filter_map(|number| self.programs[*number].as_ref().ok());
        let is_of_others = |driver: &&str| !published.drivers.contains(*driver);
        !site.is_needed
            && programs.any(|program| {
                let drivers = program.drivers();
                !drivers.is_empty() && drivers.iter().all(is_of_others)
            })
    }

    /// A class that selects no device, told where it is asked for.
    pub(super) fn empty_class(
        &self,
        class: &str,
        site: &Site<'_>,
        published: &Published,
        gaps: &Gaps<'_>,
        findings: &mut Findings,
    ) {
        let chain = &self.chains[site.chain];
        if gaps.hide(&self.drivers_of(chain)) {
            return;
        }
        let of_class = chain.expressions.iter().take(chain.of_class);
        let mut causes = of_class
            .filter_map(|number| self.programs[*number].as_ref().ok())
            .flat_map(|program| causes(program, published));
        if causes.any(|cause| cause.is_slip) {
            // That was told of the class.
            return;
        }
        let message = format!(
            "DeviceClass {class} selects none of {}{}",
            self.all(),
            self.first_failure(chain)
        );
        let remedy = "look at the selectors of the class, or ask for another class";
        let path = format!("{}.deviceClassName", site.path);
        let mut about = findings.about(site.object);
        let is_error = site.stake == Stake::Allocation && self.is_hopeless(site, published, gaps);
        match is_error {
            true => about.error(path, message, remedy),
            false if self.is_elsewhere(site, published) => about.hint(path, message, remedy),
            false => about.warning(path, message, remedy),
        }
    }

    /// Requests of which no alternative can be had.
    pub(super) fn alternatives(
        &self,
        published: &Published,
        gaps: &Gaps<'_>,
        findings: &mut Findings,
    ) {
        let mut requests: BTreeMap<(&ObjectRef, &str), bool> = BTreeMap::new();
        for site in self
            .sites
            .iter()
            .filter(|site| site.stake == Stake::Alternative)
        {
            let Some((request, _)) = site.path.split_once(".firstAvailable[") else {
                continue;
            };
            let chain = &self.chains[site.chain];
            let fails = chain.trials.iter().any(|trial| trial.failed > 0);
            let is_hopeless = self.tried > 0
                && chain.is_tried
                && chain.passed == 0
                && !fails
                && self.is_sound(chain)
                && self.is_hopeless(site, published, gaps);
            *requests.entry((site.object, request)).or_insert(true) &= is_hopeless;
        }
        for ((object, path), _) in requests.into_iter().filter(|(_, is_hopeless)| *is_hopeless) {
            findings.about(object).error(
                format!("{path}.firstAvailable"),
                format!("none of {} satisfies any of the alternatives", self.all()),
                "change the selectors of one of them",
            );
        }
    }

    /// A driver that the class excludes: whatever is published, no device is of both.
    pub(super) fn contradiction(&self, tried: &Tried<'_>) -> Option<Cause> {
        let Tried { site, number, .. } = tried;
        let class = site.class?;
        let chain = &self.chains[site.chain];
        let of_class = &chain.expressions[..chain.of_class];
        // Names of drivers mean something else below these.
        let is_plain = |number: &usize| {
            let source = &self.sources[*number];
            !["!", "||", "?"].iter().any(|part| source.contains(part))
        };
        let named = |numbers: &[usize]| -> BTreeSet<String> {
            let plain = numbers.iter().filter(|number| is_plain(number));
            let programs = plain.filter_map(|number| self.programs[*number].as_ref().ok());
            programs
                .flat_map(|program| program.drivers().into_iter().map(str::to_owned))
                .collect()
        };
        let (theirs, own) = (named(of_class), named(&[*number]));
        if theirs.is_empty() || own.is_empty() || !theirs.is_disjoint(&own) {
            return None;
        }
        let own = some_of(&own);
        Some(Cause {
            message: format!(
                "DeviceClass {class} is for {}, the expression for {own}",
                some_of(&theirs)
            ),
            remedy: format!("ask for a class for {own}, or leave the driver out of the expression"),
            is_name: false,
            is_slip: true,
        })
    }
}
