//! Reads manifests and dumps: files, directories and standard input, YAML and JSON, Lists, into API objects in document
//! order.
//!
//! What makes the input as a whole unusable is an [`InputError`]; what makes one object unusable is an [`ObjectError`], and
//! the run goes on without that object. The reader knows metadata and the fields of core kinds that the host itself needs;
//! what a plugin needs beyond that passes through untouched.

mod documents;
mod error;
mod header;
mod json;
mod kinds;
mod names;
mod objects;
mod outline;
mod parallel;
mod problems;
mod salvage;
mod source;
mod yaml;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::object::{Kind, Object};
pub use error::{InputError, ObjectError, Origin, Warning};
pub use kinds::{is_slip_of, needed_by_host};
use objects::Collector;
pub use objects::Judge;
pub(crate) use problems::problem_of;

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Usable objects in document order, as they were read: without defaults, some without namespace or uid.
    pub objects: Vec<Object>,
    /// Where each of `objects` stands, in the same order.
    pub origins: Vec<Origin>,
    /// Objects that cannot be used. A pod among them is an input error of its own.
    pub object_errors: Vec<ObjectError>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// Names of the files that were read.
    pub files: Vec<String>,
}

/// Reads all inputs of a command line. `stdin` stands for `-`.
///
/// Objects of kinds that `keep` does not want are dropped silently; give it what [`needed_by_host`] names and every kind, or
/// better every API group, that the plugin reads.
pub fn read<P: AsRef<Path>>(
    inputs: &[P],
    stdin: &mut dyn Read,
    keep: &dyn Fn(&Kind) -> bool,
) -> Result<Input, InputError> {
    read_into(Collector::new(keep), inputs, stdin, &mut |_| ())
}

/// Like [`read`], for one who wants to know all mistakes: what would end the reading becomes an [`ObjectError`] without a
/// name. `judge` says of API version and kind what is wrong with them, for kinds that are dropped too; every text is shown
/// as it was before it was parsed.
pub fn read_leniently<P: AsRef<Path>>(
    inputs: &[P],
    stdin: &mut dyn Read,
    keep: &dyn Fn(&Kind) -> bool,
    judge: &Judge<'_>,
    show: &mut dyn FnMut(&str),
) -> Result<Input, InputError> {
    read_into(Collector::lenient(keep, judge), inputs, stdin, show)
}

fn read_into<P: AsRef<Path>>(
    mut collector: Collector<'_>,
    inputs: &[P],
    stdin: &mut dyn Read,
    show: &mut dyn FnMut(&str),
) -> Result<Input, InputError> {
    let mut files = Vec::new();
    for input in inputs {
        let sources = source::sources_of(input.as_ref())?;
        let from_directory = sources.iter().all(|source| source.from_directory);
        let seen = collector.seen;
        for source in sources {
            let text = match source.read(stdin) {
                Ok(text) => text,
                // Nobody named this very file.
                Err(error) if from_directory => {
                    collector.unreadable(error)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            show(&text);
            add_source(&mut collector, &text, &source.name, from_directory)?;
            files.push(source.name);
        }
        if collector.seen == seen {
            let name = source::name_of(input.as_ref());
            return Err(InputError::of_file(&name, "no Kubernetes object in it"));
        }
    }
    if files.is_empty() && collector.seen == 0 {
        return Err(InputError::of_file(
            "",
            "no input; name a file, a directory, or - for standard input",
        ));
    }
    Ok(finish(collector, files))
}

/// Reads one text, as `read` does with a file of this name.
pub fn read_text(
    name: &str,
    text: &str,
    keep: &dyn Fn(&Kind) -> bool,
) -> Result<Input, InputError> {
    let mut collector = Collector::new(keep);
    add_source(&mut collector, text, name, false)?;
    if collector.seen == 0 {
        return Err(InputError::of_file(name, "no Kubernetes object in it"));
    }
    Ok(finish(collector, vec![name.to_owned()]))
}

fn add_source(
    collector: &mut Collector<'_>,
    text: &str,
    name: &str,
    may_be_empty: bool,
) -> Result<(), InputError> {
    if text.trim().is_empty() {
        if !may_be_empty {
            return Err(InputError::of_file(
                name,
                "empty; expected YAML or JSON manifests",
            ));
        }
        collector.warnings.push(Warning {
            object: name.to_owned(),
            message: "the file is empty".to_owned(),
        });
        return Ok(());
    }
    let file: Arc<str> = name.into();
    for document in parallel::on_deep_stack(|| documents::parse(name, text)) {
        match document {
            Ok(document) => collector.add(&file, document)?,
            Err(broken) => collector.broken(&file, broken)?,
        }
    }
    Ok(())
}

fn finish(collector: Collector<'_>, files: Vec<String>) -> Input {
    let Collector {
        found,
        mut warnings,
        nameless,
        ..
    } = collector;
    let candidates = names::name_all(found, &mut warnings);
    let candidates = names::last_wins(candidates, &mut warnings);
    let mut input = Input {
        warnings,
        files,
        ..Input::default()
    };
    for candidate in candidates {
        let objects::Candidate {
            mut id,
            origin,
            outcome,
        } = candidate;
        match outcome {
            Ok(object) => {
                input.objects.push(object);
                input.origins.push(origin);
            }
            Err(message) => {
                if id.namespace.is_empty() && kinds::is_namespaced(&id.kind) {
                    id.namespace = "default".into();
                }
                input.object_errors.push(ObjectError {
                    object: id,
                    origin,
                    message,
                });
            }
        }
    }
    input.object_errors.extend(nameless);
    input
}

#[cfg(test)]
mod tests;
