//! From bytes to a plugin that is known to run: verify, compile, link, instantiate, describe, configure.
//!
//! Each step refuses with one sentence that names the file, and nothing after it happens.

use std::fmt;
use std::sync::{Arc, Mutex};

use wasmtime::component::{Component as Compiled, HasSelf, InstancePre, Linker};

use super::binding::{BindingInstance, BindingPre};
use super::component::{Component, Parts};
use super::contract::exports::{advice, enqueue, explain, lifecycle, scheduling, waiting};
use super::contract::{imports, interface};
use super::convert;
use super::engine::Runtime;
use super::failure::{self, root_cause, whole_chain};
use super::grant::Grant;
use super::instance::{Call, Indices, Live};
use super::limits::Limits;
use super::nothing::NoServices;
use super::state::{Phase, Shared, State};
use super::stats::{Counted, Counters, Sort};
use super::verify::{Unusable, verify};
use super::{suspend, wasi};
use crate::plugin::{Description, Fault, PluginError, SharedServices};

/// How a component is to be run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Given to `configure`: JSON.
    pub config: Vec<u8>,
    /// What it may use.
    pub limits: Limits,
    /// What it may read and write.
    pub grant: Grant,
    /// Whether to ask it for what it counts itself.
    pub counts: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            config: b"{}".to_vec(),
            limits: Limits::default(),
            grant: Grant::default(),
            counts: false,
        }
    }
}

/// Why a component cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Where the bytes came from.
    pub file: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// With the file.
    File(Unusable),
    /// With what it did when it was tried.
    Start(PluginError),
    /// It declares something that it is not granted.
    Grant {
        /// All of that, as the rest of a sentence.
        what: String,
        /// What is granted and was not declared, which may be why: a sentence.
        slip: Option<String>,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(unusable) => write!(f, "{unusable}"),
            Self::Start(failed) => write!(
                f,
                "the plugin does not start: {}: {}",
                failed.call, failed.cause
            ),
            Self::Grant { what, slip } => {
                write!(
                    f,
                    "the plugin declares that it may {what}, which it is not granted"
                )?;
                slip.iter().try_for_each(|slip| write!(f, "; {slip}"))
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<Unusable> for Problem {
    fn from(unusable: Unusable) -> Self {
        Self::File(unusable)
    }
}

impl From<PluginError> for Problem {
    fn from(failed: PluginError) -> Self {
        Self::Start(failed)
    }
}

impl Runtime {
    /// Makes a plugin of the bytes of a component. `file` names them in errors.
    ///
    /// It is tried once: a component that is refused here would have failed in the first cycle.
    pub fn load(
        &self,
        bytes: &[u8],
        file: &str,
        settings: &Settings,
    ) -> Result<Component, LoadError> {
        load(self, bytes, file, settings).map_err(|problem| LoadError {
            file: file.to_owned(),
            problem,
        })
    }
}

fn load(
    runtime: &Runtime,
    bytes: &[u8],
    file: &str,
    settings: &Settings,
) -> Result<Component, Problem> {
    verify(bytes)?;
    let engine = runtime.engine();
    let compiled = Compiled::from_binary(engine, bytes)
        .map_err(|error| Unusable::Invalid(root_cause(&error)))?;
    let (pre, indices, binding) =
        link(runtime, &compiled).map_err(|error| Unusable::Types(whole_chain(&error)))?;

    let mut shared = Shared {
        limits: settings.limits.clone(),
        counters: Arc::new(Counters::within(runtime.living())),
        description: Description {
            name: file.to_owned(),
            ..Description::default()
        },
        clock: runtime.clock(),
        counts: settings.counts,
    };
    let services: SharedServices = Arc::new(Mutex::new(NoServices));
    shared.description = describe(&Arc::new(shared.clone()), &services, &pre, &indices)?;
    if let Some(what) = settings.grant.refusal(&shared.description) {
        return Err(Problem::Grant {
            what,
            slip: settings.grant.undeclared([&shared.description]),
        });
    }
    let shared = Arc::new(shared);
    Live::new(&shared, &services, &pre, &indices)?.configure(&settings.config)?;
    if let Some(binding) = &binding {
        BindingInstance::start(&shared, &services, binding, &settings.config)?;
    }
    Ok(Component::new(Parts {
        shared,
        pre,
        indices,
        binding,
        config: settings.config.clone(),
        _counted: Counted::new(runtime.living(), Sort::Component),
    }))
}

fn link(
    runtime: &Runtime,
    compiled: &Compiled,
) -> wasmtime::Result<(InstancePre<State>, Indices, Option<BindingPre>)> {
    let has = |name: &str| compiled.get_export_index(None, name).is_some();
    let pre = scheduling_linker(runtime, compiled)?.instantiate_pre(compiled)?;
    let indices = Indices {
        lifecycle: lifecycle::GuestIndices::new(&pre)?,
        scheduling: scheduling::GuestIndices::new(&pre)?,
        enqueue: has(interface!("enqueue"))
            .then(|| enqueue::GuestIndices::new(&pre))
            .transpose()?,
        // Without `enqueue` nobody asks.
        waiting: (has(interface!("enqueue")) && has(interface!("waiting")))
            .then(|| waiting::GuestIndices::new(&pre))
            .transpose()?,
        explain: has(interface!("explain"))
            .then(|| explain::GuestIndices::new(&pre))
            .transpose()?,
        advice: has(interface!("advice"))
            .then(|| advice::GuestIndices::new(&pre))
            .transpose()?,
    };
    let binding = match has(interface!("binding")) {
        true => Some(BindingPre::new(
            &binding_linker(runtime, compiled)?,
            compiled,
        )?),
        false => None,
    };
    Ok((pre, indices, binding))
}

fn scheduling_linker(runtime: &Runtime, compiled: &Compiled) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(runtime.engine());
    add_simple(&mut linker)?;
    imports::cluster::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    imports::ledger::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    imports::api::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    imports::clock::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    wasi::define(&mut linker, compiled)?;
    Ok(linker)
}

fn binding_linker(runtime: &Runtime, compiled: &Compiled) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(runtime.engine());
    add_simple(&mut linker)?;
    suspend::add_to_linker(&mut linker)?;
    wasi::define(&mut linker, compiled)?;
    Ok(linker)
}

/// What never waits.
fn add_simple(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    imports::types::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    imports::random::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    imports::log::add_to_linker::<_, HasSelf<State>>(linker, |state| state)
}

/// `lifecycle.describe`, on an instance that is thrown away: grants depend on the answer.
fn describe(
    shared: &Arc<Shared>,
    services: &SharedServices,
    pre: &InstancePre<State>,
    indices: &Indices,
) -> Result<Description, PluginError> {
    let call = Call::new("describe", Phase::Start, "");
    let mut live = Live::new(shared, services, pre, indices)?;
    let description = live.call(call, |store, functions| {
        functions.lifecycle.call_describe(store)
    })?;
    let description = convert::description(description);
    match check_description(&description) {
        Ok(()) => Ok(description),
        Err(cause) => Err(failure::new(
            Fault::Contract,
            call.name,
            cause,
            live.store.data(),
        )),
    }
}

/// Longest name, and most entries of a list, in a description.
const SANE: usize = 200;

fn check_description(description: &Description) -> Result<(), String> {
    let Description {
        name,
        version,
        points,
        accesses,
    } = description;
    let kinds = accesses.iter().flat_map(|access| {
        access
            .versions
            .iter()
            .map(String::as_str)
            .chain([access.kind.as_str()])
    });
    let texts = kinds
        .chain(points.iter().map(String::as_str))
        .chain([name.as_str(), version.as_str()]);
    if name.is_empty() {
        return Err("the plugin has no name".to_owned());
    }
    for text in texts {
        if text.len() > SANE || text.chars().any(char::is_control) {
            return Err(format!(
                "{} is not a name",
                super::output::one_line(text, 60)
            ));
        }
    }
    let longest = points.len().max(accesses.len()).max(
        accesses
            .iter()
            .map(|access| access.versions.len())
            .max()
            .unwrap_or(0),
    );
    match longest > SANE {
        true => Err(format!(
            "a list of {longest} entries is more than a plugin can need"
        )),
        false => Ok(()),
    }
}
