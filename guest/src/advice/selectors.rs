//! Expressions that do not compile, fail, or are true for no published device, and why. Each is tried as the allocator
//! would: selectors of the class first, each only for devices that passed those before it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::claims::{LONGEST_EXPRESSION, Place};
use super::findings::{Findings, count, some_of};
use super::published::Published;
use crate::api::{DeviceClass, DeviceSelector, ResourceSlice};
use crate::cel::{Environment, Program};
use crate::host::ObjectRef;
use crate::profile::Profile;

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
    trials: Vec<Trial>,
    /// Devices that all of the class's selectors let through.
    selected: usize,
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

/// Where an expression stands.
struct Site<'a> {
    object: &'a ObjectRef,
    path: String,
    chain: usize,
    class: Option<&'a str>,
}

/// All selectors of a cluster.
pub(super) struct Selectors<'a> {
    environment: Environment,
    texts: BTreeMap<Arc<str>, usize>,
    programs: Vec<Result<Program, String>>,
    chains: Vec<Chain>,
    by_selectors: BTreeMap<Vec<usize>, usize>,
    sites: Vec<Site<'a>>,
    tried: usize,
    is_complete: bool,
}

impl<'a> Selectors<'a> {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            environment: Environment::new(profile),
            texts: BTreeMap::new(),
            programs: Vec::new(),
            chains: Vec::new(),
            by_selectors: BTreeMap::new(),
            sites: Vec::new(),
            tried: 0,
            is_complete: true,
        }
    }

    /// Selectors of a class.
    pub(super) fn add_class(&mut self, object: &'a ObjectRef, class: &DeviceClass) {
        let selectors = self.expressions(&class.selectors);
        let chain = self.chain(selectors, 0);
        self.sites.push(Site {
            object,
            path: "spec".into(),
            chain,
            class: None,
        });
    }

    /// Selectors of a request, behind those of its class, if that is known.
    pub(super) fn add_request(
        &mut self,
        object: &'a ObjectRef,
        place: Place<'a>,
        class: Option<&DeviceClass>,
    ) {
        let mut expressions = class
            .map(|class| self.expressions(&class.selectors))
            .unwrap_or_default();
        let of_class = expressions.len();
        expressions.extend(self.expressions(&place.exact.selectors));
        let chain = self.chain(expressions, of_class);
        self.sites.push(Site {
            object,
            path: place.path,
            chain,
            class: class.map(|_| place.exact.device_class_name.as_str()),
        });
    }

    fn expressions(&mut self, selectors: &[DeviceSelector]) -> Vec<usize> {
        let mut numbers = Vec::with_capacity(selectors.len());
        for selector in selectors {
            let text = selector.cel.clone().unwrap_or_default();
            let next = self.programs.len();
            let number = *self.texts.entry(Arc::clone(&text)).or_insert(next);
            if number == next {
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

    fn chain(&mut self, expressions: Vec<usize>, of_class: usize) -> usize {
        let mut key = expressions.clone();
        key.push(of_class);
        let next = self.chains.len();
        let chain = *self.by_selectors.entry(key).or_insert(next);
        if chain == next {
            self.chains.push(Chain {
                trials: expressions.iter().map(|_| Trial::default()).collect(),
                expressions,
                of_class,
                selected: 0,
            });
        }
        chain
    }

    /// Tries everything on the devices of these slices.
    pub(super) fn run<'s>(&mut self, slices: impl Iterator<Item = &'s ResourceSlice>) {
        let mut spent = 0;
        for slice in slices {
            for device in slice.devices.iter().filter(|device| device.usable) {
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
                    .for_each(|chain| chain.try_on(&mut verdict));
            }
        }
    }

    /// What came of it.
    pub(super) fn tell(&self, published: &Published, findings: &mut Findings) {
        for site in &self.sites {
            let chain = &self.chains[site.chain];
            if let Some(class) = site.class
                && chain.of_class > 0
                && chain.selected == 0
                && self.tried > 0
                && chain.class_is_sound(&self.programs)
            {
                let message = format!(
                    "DeviceClass {class} selects none of {}{}",
                    self.all(),
                    self.first_failure(chain)
                );
                let remedy = "look at the selectors of the class, or ask for another class";
                findings.about(site.object).warning(
                    format!("{}.deviceClassName", site.path),
                    message,
                    remedy,
                );
            }
            let own = chain
                .expressions
                .iter()
                .zip(&chain.trials)
                .skip(chain.of_class);
            for (i, (number, trial)) in own.enumerate() {
                let path = format!("{}.selectors[{i}].cel.expression", site.path);
                self.one(site, &path, *number, trial, published, findings);
            }
        }
    }

    fn one(
        &self,
        site: &Site<'_>,
        path: &str,
        number: usize,
        trial: &Trial,
        published: &Published,
        findings: &mut Findings,
    ) {
        let mut about = findings.about(site.object);
        let program = match &self.programs[number] {
            Ok(program) => program,
            Err(text) if text.is_empty() => return,
            Err(text) => {
                return about.error(
                    path,
                    format!("the expression does not compile: {}", one_line(text)),
                    compile_remedy(text),
                );
            }
        };
        let causes = causes(program, published);
        let among = self.among(site, trial);
        let causes_text = |causes: &[Cause]| match causes.first() {
            Some(cause) => format!(": {}", cause.message),
            None => String::new(),
        };
        let error = trial.error.as_deref().unwrap_or_default();
        if trial.tried == 0 {
            // An expression before it let nothing through, and was told.
        } else if trial.failed == trial.tried {
            let remedy = match causes.first() {
                Some(cause) => cause.remedy.clone(),
                None => "guard the look-up with has(...), or make it optional (.?)".to_owned(),
            };
            about.error(
                path,
                format!("the expression fails on {among}: {error}"),
                remedy,
            );
        } else if trial.failed > 0 {
            let message = format!(
                "the expression fails on {} of {among}: {error}; a pod that meets such a device is not scheduled",
                trial.failed
            );
            about.warning(
                path,
                message,
                "guard the look-up with has(...), or make it optional (.?)",
            );
        } else if trial.matched == 0 {
            let message = format!(
                "the expression is true for none of {among}{}",
                causes_text(&causes)
            );
            let remedy = match causes.first() {
                Some(cause) => cause.remedy.clone(),
                None => values_remedy(program, published),
            };
            // Classes for devices that this cluster lacks, and alternatives that it cannot serve, are common.
            match site.path == "spec" || site.path.contains(".firstAvailable[") {
                true => about.hint(path, message, remedy),
                false => about.warning(path, message, remedy),
            }
        } else if let Some(cause) = causes.into_iter().find(|cause| cause.is_name) {
            about.warning(path, cause.message, cause.remedy);
        }
    }

    fn all(&self) -> String {
        match self.is_complete {
            true => format!("the {} published", count(self.tried, "device")),
            false => format!("the first {} that were tried", count(self.tried, "device")),
        }
    }

    fn among(&self, site: &Site<'_>, trial: &Trial) -> String {
        match site.class {
            Some(class) if trial.tried < self.tried => {
                format!(
                    "the {} that DeviceClass {class} leaves",
                    count(trial.tried, "device")
                )
            }
            _ if trial.tried < self.tried => {
                format!(
                    "the {} that the selectors before it leave",
                    count(trial.tried, "device")
                )
            }
            _ => self.all(),
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
    fn try_on(&mut self, verdict: &mut impl FnMut(usize) -> Verdict) {
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
    }

    fn class_is_sound(&self, programs: &[Result<Program, String>]) -> bool {
        let of_class = self.expressions.iter().take(self.of_class);
        of_class.into_iter().all(|number| programs[*number].is_ok())
    }
}

/// Why an expression may never be true.
struct Cause {
    message: String,
    remedy: String,
    /// A name that nobody publishes, as opposed to a value.
    is_name: bool,
}

fn causes(program: &Program, published: &Published) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (reference, usage) in program.references() {
        let (capacity, domain) = (reference.capacity, reference.domain.as_str());
        let id = reference.id.as_deref();
        if let Some(unknown) = published
            .unknown(capacity, domain, id)
            .filter(|_| !usage.guarded)
        {
            causes.push(Cause {
                message: unknown.message,
                remedy: unknown.remedy,
                is_name: true,
            });
            continue;
        }
        let Some(values) = id.and_then(|id| published.values(capacity, domain, id)) else {
            continue;
        };
        let known = usage
            .wanted
            .iter()
            .any(|wanted| values.texts.contains(wanted));
        if !usage.wanted.is_empty() && !known && !values.is_cut {
            let id = id.unwrap_or_default();
            causes.push(Cause {
                message: format!("no device has {domain}/{id} {}", usage.wanted.join(" or ")),
                remedy: format!("published are {}", some_of(&values.texts)),
                is_name: false,
            });
        }
    }
    causes
}

/// The values that there are of what the expression looks at.
fn values_remedy(program: &Program, published: &Published) -> String {
    let references = program.references();
    let known = references.keys().filter_map(|reference| {
        let id = reference.id.as_deref()?;
        let values = published.values(reference.capacity, &reference.domain, id)?;
        Some(format!(
            "{}/{id} is {}",
            reference.domain,
            some_of(&values.texts)
        ))
    });
    let known: Vec<String> = known.take(3).collect();
    match known.is_empty() {
        true => "compare it with what the slices publish".to_owned(),
        false => format!("published: {}", known.join("; ")),
    }
}

/// The first error with its place, without the source line.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("compilation failed: ").unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    let Some(rest) = first.strip_prefix("ERROR: <input>:") else {
        return first.to_owned();
    };
    let mut parts = rest.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(line), Some(column), Some(message)) => {
            format!("{} (line {line}, column {column})", message.trim())
        }
        _ => rest.to_owned(),
    }
}

fn compile_remedy(text: &str) -> &'static str {
    if text.contains("undeclared reference") {
        "the only variable is device, with driver, attributes and capacity; strings need quotes"
    } else if text.contains("no matching overload") {
        "both sides must have one type; quantities are compared with compareTo, isGreaterThan and the like"
    } else if text.contains("must evaluate to bool") {
        "compare with something, so that the result is true or false"
    } else {
        "correct the expression"
    }
}
