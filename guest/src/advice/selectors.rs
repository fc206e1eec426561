//! Expressions that do not compile, fail, or are true for no published device, and why. Each is tried as the allocator
//! would: selectors of the class first, each only for devices that passed those before it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::causes::causes;
use super::claims::Place;
use super::findings::{Findings, count};
use super::limits::LONGEST_EXPRESSION;
use super::pools::Gaps;
use super::published::Published;
use super::remedies;
use crate::api::{Device, DeviceClass, DeviceSelector, DeviceToleration, ResourceSlice};
use crate::cel::{Environment, Program, malformed};
use crate::host::ObjectRef;
use crate::profile::{Feature, Profile};
use shields::Shields;

mod shields;
mod wanted;

/// What all evaluations of one answer may cost, in units of CEL: a few seconds. Devices behind that are not tried.
const MOST_COST: u64 = 200_000_000;
/// What an evaluation costs beside that.
const COST_OF_ONE: u64 = 100;

/// Selectors that are tried one after the other, and what came of it.
#[derive(Default)]
struct Chain {
    /// Numbers of expressions; the class's come first.
    expressions: Vec<usize>,
    of_class: usize,
    /// Not if the class is unknown: which devices it selects cannot be told.
    is_tried: bool,
    trials: Vec<Trial>,
    /// Devices that all of the class's selectors let through.
    selected: usize,
    /// Devices that all selectors let through.
    passed: usize,
    shields: Shields,
}

#[derive(Default)]
struct Trial {
    tried: usize,
    matched: usize,
    failed: usize,
    error: Option<Rc<str>>,
}

#[derive(Clone)]
enum Verdict {
    Yes,
    No,
    Error(Rc<str>),
}

/// What depends on the devices that an expression lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stake {
    /// Classes for devices that this cluster lacks are common.
    Class,
    /// An alternative that cannot be had leaves the others.
    Alternative,
    /// The claim has its devices already, or no pod uses the template.
    Nothing,
    /// A claim that waits: without such a device it is never allocated.
    Allocation,
}

/// Where an expression stands.
struct Site<'a> {
    object: &'a ObjectRef,
    path: String,
    chain: usize,
    class: Option<&'a str>,
    stake: Stake,
    /// A claim waits for what is selected here.
    is_needed: bool,
    /// Devices that are wanted; 0 if that is not to be told.
    count: usize,
    tolerations: &'a [DeviceToleration],
}

/// An expression at its place, and what came of it.
struct Tried<'s> {
    site: &'s Site<'s>,
    path: String,
    number: usize,
    trial: &'s Trial,
}

/// All selectors of a cluster.
pub(super) struct Selectors<'a> {
    environment: Environment,
    has_taints: bool,
    texts: BTreeMap<Arc<str>, usize>,
    /// By number.
    sources: Vec<Arc<str>>,
    programs: Vec<Result<Program, String>>,
    chains: Vec<Chain>,
    by_selectors: BTreeMap<Vec<usize>, usize>,
    sites: Vec<Site<'a>>,
    tried: usize,
    is_complete: bool,
    /// Devices are there that cannot be told.
    has_hidden: bool,
}

impl<'a> Selectors<'a> {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            environment: Environment::new(profile),
            has_taints: profile.enabled(Feature::DraDeviceTaints),
            texts: BTreeMap::new(),
            sources: Vec::new(),
            programs: Vec::new(),
            chains: Vec::new(),
            by_selectors: BTreeMap::new(),
            sites: Vec::new(),
            tried: 0,
            is_complete: true,
            has_hidden: false,
        }
    }

    /// Selectors of a class.
    pub(super) fn add_class(&mut self, object: &'a ObjectRef, class: &DeviceClass) {
        let selectors = self.expressions(&class.selectors);
        let chain = self.chain(selectors, 0, true);
        self.sites.push(Site {
            object,
            path: "spec".into(),
            chain,
            class: None,
            stake: Stake::Class,
            is_needed: false,
            count: 0,
            tolerations: &[],
        });
    }

    /// Selectors of a request, behind those of its class, if that is known.
    pub(super) fn add_request(
        &mut self,
        object: &'a ObjectRef,
        place: Place<'a>,
        class: Option<&DeviceClass>,
        is_needed: bool,
    ) {
        let stake = match (place.path.contains(".firstAvailable["), is_needed) {
            (true, _) => Stake::Alternative,
            (false, false) => Stake::Nothing,
            (false, true) => Stake::Allocation,
        };
        let mut expressions = class
            .map(|class| self.expressions(&class.selectors))
            .unwrap_or_default();
        let of_class = expressions.len();
        expressions.extend(self.expressions(&place.exact.selectors));
        let chain = self.chain(expressions, of_class, class.is_some());
        self.sites.push(Site {
            object,
            path: place.path,
            chain,
            class: class.map(|_| place.exact.device_class_name.as_str()),
            stake,
            is_needed,
            count: usize::try_from(place.exact.count).unwrap_or_default(),
            tolerations: &place.exact.tolerations,
        });
    }

    /// Drivers that some expression names.
    pub(super) fn drivers(&self) -> BTreeSet<String> {
        let programs = self
            .programs
            .iter()
            .filter_map(|program| program.as_ref().ok());
        programs
            .flat_map(|program| program.drivers().into_iter().map(str::to_owned))
            .collect()
    }

    fn expressions(&mut self, selectors: &[DeviceSelector]) -> Vec<usize> {
        let mut numbers = Vec::with_capacity(selectors.len());
        for selector in selectors {
            let text = selector.cel.clone().unwrap_or_default();
            let next = self.programs.len();
            let number = *self.texts.entry(Arc::clone(&text)).or_insert(next);
            if number == next {
                self.sources.push(Arc::clone(&text));
                self.programs.push(match text.len() {
                    // Told apart from those that do not compile, with words of its own.
                    0 => Err(String::new()),
                    length if length > LONGEST_EXPRESSION => Err(String::new()),
                    _ => self
                        .environment
                        .compile(&text)
                        .map_err(|error| error.to_string()),
                });
            }
            numbers.push(number);
        }
        numbers
    }

    fn chain(&mut self, expressions: Vec<usize>, of_class: usize, is_tried: bool) -> usize {
        let mut key = expressions.clone();
        key.extend([of_class, usize::from(is_tried)]);
        let next = self.chains.len();
        let chain = *self.by_selectors.entry(key).or_insert(next);
        if chain == next {
            self.chains.push(Chain {
                trials: expressions.iter().map(|_| Trial::default()).collect(),
                expressions,
                of_class,
                is_tried,
                selected: 0,
                passed: 0,
                shields: Shields::default(),
            });
        }
        chain
    }

    /// Tries everything on the devices of these slices.
    pub(super) fn run<'s>(
        &mut self,
        slices: impl Iterator<Item = &'s ResourceSlice>,
        gaps: &Gaps<'_>,
    ) {
        self.has_hidden = gaps.hidden().next().is_some();
        let mut spent = 0;
        // A broken value fails everybody's selectors, and is told of its slice.
        let is_sound = |device: &&Device| device.usable && malformed(device).is_none();
        for slice in slices {
            for device in slice.devices.iter().filter(is_sound) {
                if spent > MOST_COST {
                    self.is_complete = false;
                    return;
                }
                self.tried += 1;
                let value = self.environment.device(&slice.driver, device);
                let mut verdicts: Vec<Option<Verdict>> = vec![None; self.programs.len()];
                let programs = &self.programs;
                let mut verdict = |number: usize| {
                    if let Some(known) = &verdicts[number] {
                        return known.clone();
                    }
                    let fresh = match &programs[number] {
                        Ok(program) => {
                            let evaluation = program.evaluate(&value);
                            spent += evaluation.cost + COST_OF_ONE;
                            match evaluation.verdict {
                                Ok(true) => Verdict::Yes,
                                Ok(false) => Verdict::No,
                                Err(error) => Verdict::Error(error.to_string().into()),
                            }
                        }
                        Err(_) => Verdict::No,
                    };
                    verdicts[number] = Some(fresh.clone());
                    fresh
                };
                self.chains
                    .iter_mut()
                    .filter(|chain| chain.is_tried)
                    .for_each(|chain| chain.try_on(device, &mut verdict));
            }
        }
    }

    /// What came of it. `gaps` tells whether not all devices of a driver are in the input.
    pub(super) fn tell(&self, published: &Published, gaps: &Gaps, findings: &mut Findings) {
        for site in &self.sites {
            let chain = &self.chains[site.chain];
            if let Some(class) = site.class
                && chain.of_class > 0
                && chain.selected == 0
                && self.tried > 0
                && chain.class_is_sound(&self.programs)
            {
                self.empty_class(class, site, published, gaps, findings);
            }
            let own = chain
                .expressions
                .iter()
                .zip(&chain.trials)
                .skip(chain.of_class);
            for (i, (number, trial)) in own.enumerate() {
                let expression = Tried {
                    site,
                    path: format!("{}.selectors[{i}].cel.expression", site.path),
                    number: *number,
                    trial,
                };
                self.one(&expression, published, gaps, findings);
            }
            self.too_many(site, published, gaps, findings);
            self.all_tainted(site, gaps, findings);
        }
        self.alternatives(published, gaps, findings);
    }

    fn is_sound(&self, chain: &Chain) -> bool {
        let mut numbers = chain.expressions.iter();
        numbers.all(|number| self.programs[*number].is_ok())
    }

    /// Whether the claim can never be allocated with the devices that are published: all of them were tried, those of the
    /// drivers in question are there, and nothing else would do.
    fn is_hopeless(&self, site: &Site<'_>, published: &Published, gaps: &Gaps) -> bool {
        if !site.is_needed || !self.is_complete {
            return false;
        }
        let drivers = self.drivers_of(&self.chains[site.chain]);
        drivers.iter().all(|driver| published.knows(driver)) && !gaps.concern(&drivers)
    }

    /// Whether a claim waits, and nothing of the drivers that it names is hidden or was not tried.
    fn waits_for_known(&self, site: &Site<'_>, gaps: &Gaps) -> bool {
        let drivers = self.drivers_of(&self.chains[site.chain]);
        site.is_needed && self.is_complete && !gaps.concern(&drivers)
    }

    /// Drivers and domains that the expressions name.
    fn drivers_of(&self, chain: &Chain) -> BTreeSet<String> {
        let programs = chain.expressions.iter();
        let mut drivers = BTreeSet::new();
        for program in programs.filter_map(|number| self.programs[*number].as_ref().ok()) {
            drivers.extend(program.drivers().into_iter().map(str::to_owned));
            let references = program.references().into_keys();
            drivers.extend(references.map(|reference| reference.domain));
        }
        drivers
    }

    fn one(&self, tried: &Tried<'_>, published: &Published, gaps: &Gaps, findings: &mut Findings) {
        let Tried { site, trial, .. } = tried;
        let path = tried.path.as_str();
        let source = &*self.sources[tried.number];
        let mut about = findings.about(site.object);
        let program = match &self.programs[tried.number] {
            Ok(program) => program,
            Err(text) if text.is_empty() => return,
            Err(text) if remedies::is_gated(text) => {
                return about.warning(path, remedies::GATED[0], remedies::GATED[1]);
            }
            Err(text) => {
                return about.error(
                    path,
                    format!(
                        "the expression does not compile: {}",
                        remedies::one_line(text)
                    ),
                    remedies::for_compiling(text, source, published),
                );
            }
        };
        let mut causes = causes(program, published);
        let contradiction = self.contradiction(tried);
        let is_impossible = contradiction.is_some();
        // What was meant says more.
        if !causes.first().is_some_and(|cause| cause.is_slip) {
            causes.splice(0..0, contradiction);
        }
        let among = self.among(tried);
        let is_hidden = gaps.hide(&self.drivers_of(&self.chains[site.chain]));
        let error = trial.error.as_deref().unwrap_or_default();
        let remedy = || remedies::for_running(error, source, program, published, &causes);
        if trial.tried == 0 {
            // An expression before it let nothing through, and was told.
        } else if trial.failed == trial.tried {
            let message = format!("the expression fails on {among}: {error}");
            match is_hidden {
                true => about.warning(path, message, remedy()),
                false => about.error(path, message, remedy()),
            }
        } else if trial.failed > 0 {
            let message = format!(
                "the expression fails on {} of {among}: {error}; a pod that meets such a device is not scheduled",
                trial.failed
            );
            about.warning(path, message, remedy());
        } else if is_hidden {
            // What is wrong with the slices that hide devices was told of them.
        } else if trial.matched == 0 {
            let cause = causes.first();
            let why = cause.map(|cause| format!(": {}", cause.message));
            let message = format!(
                "the expression is true for none of {among}{}",
                why.unwrap_or_default()
            );
            let remedy = match cause {
                Some(cause) => cause.remedy.clone(),
                None => remedies::values(program, published, trial.tried < self.tried),
            };
            let is_slip = cause.is_some_and(|cause| cause.is_slip);
            match site.stake {
                Stake::Class | Stake::Alternative if !is_slip => about.hint(path, message, remedy),
                Stake::Allocation
                    if is_impossible
                        || self.is_hopeless(site, published, gaps)
                        || is_slip && self.waits_for_known(site, gaps) =>
                {
                    about.error(path, message, remedy);
                }
                _ => about.warning(path, message, remedy),
            }
        } else if let Some(cause) = causes.into_iter().find(|cause| cause.is_name) {
            about.warning(path, cause.message, cause.remedy);
        }
    }

    fn all(&self) -> String {
        match self.is_complete {
            true if self.has_hidden => {
                format!("the {} that could be read", count(self.tried, "device"))
            }
            true => format!("the {} published", count(self.tried, "device")),
            false => format!("the first {} that were tried", count(self.tried, "device")),
        }
    }

    fn among(&self, tried: &Tried<'_>) -> String {
        let Tried { site, trial, .. } = tried;
        let number = count(trial.tried, "device");
        let left = self.chains[site.chain].selected;
        match site.class {
            _ if trial.tried >= self.tried => self.all(),
            Some(class) if trial.tried == left => {
                format!("the {number} that DeviceClass {class} leaves")
            }
            _ => format!("the {number} that the selectors before it leave"),
        }
    }

    fn first_failure(&self, chain: &Chain) -> String {
        let failed = chain.trials.iter().find_map(|trial| trial.error.as_deref());
        failed
            .map(|error| format!(" ({error})"))
            .unwrap_or_default()
    }
}

impl Chain {
    fn try_on(&mut self, device: &Device, verdict: &mut impl FnMut(usize) -> Verdict) {
        for (i, number) in self.expressions.iter().enumerate() {
            if i == self.of_class {
                self.selected += 1;
            }
            let trial = &mut self.trials[i];
            trial.tried += 1;
            match verdict(*number) {
                Verdict::Yes => trial.matched += 1,
                Verdict::No => return,
                Verdict::Error(text) => {
                    trial.failed += 1;
                    trial.error.get_or_insert(text);
                    return;
                }
            }
        }
        if self.expressions.len() == self.of_class {
            self.selected += 1;
        }
        self.passed += 1;
        self.shields.add(device);
    }

    fn class_is_sound(&self, programs: &[Result<Program, String>]) -> bool {
        let of_class = self.expressions.iter().take(self.of_class);
        of_class.into_iter().all(|number| programs[*number].is_ok())
    }
}
