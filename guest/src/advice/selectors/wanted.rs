//! Requests compared with how many devices there are, and with whose.

use super::{Findings, Gaps, Published, Selectors, Site, Stake};

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
}
