//! What a component is, for people: its world as text, and what it declares.

use std::fmt::{self, Write as _};

use wit_component::{DecodedWasm, WitPrinter};

use super::engine::Runtime;
use super::load::{LoadError, Problem, Settings};
use super::verify::{Unusable, outer_names};
use crate::plugin::{Access, Description, Exports, Plugin, Verb};

/// What can be seen of a component.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Where the bytes came from.
    pub file: String,
    /// Bytes.
    pub size: usize,
    /// Names of what it imports.
    pub imports: Vec<String>,
    /// Names of what it exports.
    pub exports: Vec<String>,
    /// Its world as WIT.
    pub world: String,
    /// What it declares, or why this host cannot run it.
    pub declared: Result<(Description, Exports), LoadError>,
}

impl Runtime {
    /// Looks at the bytes of a component, also of one that this host cannot run.
    pub fn inspect(
        &self,
        bytes: &[u8],
        file: &str,
        settings: &Settings,
    ) -> Result<Inspection, LoadError> {
        let fail = |unusable| LoadError {
            file: file.to_owned(),
            problem: Problem::File(unusable),
        };
        let names = outer_names(bytes).map_err(fail)?;
        let world = world_text(bytes).map_err(fail)?;
        let declared = self
            .load(bytes, file, settings)
            .map(|component| (component.description().clone(), component.exports()));
        Ok(Inspection {
            file: file.to_owned(),
            size: bytes.len(),
            imports: names.imports,
            exports: names.exports,
            world,
            declared,
        })
    }
}

fn world_text(bytes: &[u8]) -> Result<String, Unusable> {
    let invalid = |error: anyhow::Error| {
        let why = error.root_cause().to_string();
        Unusable::Invalid(super::output::one_line(
            why.lines().next().unwrap_or_default(),
            200,
        ))
    };
    let decoded = wit_component::decode(bytes).map_err(invalid)?;
    let mut printer = WitPrinter::default();
    match &decoded {
        DecodedWasm::WitPackage(resolve, package) => printer.print(resolve, *package, &[]),
        DecodedWasm::Component(resolve, world) => {
            let package = resolve.worlds[*world]
                .package
                .ok_or_else(|| Unusable::Invalid("no world".to_owned()))?;
            printer.print(resolve, package, &[])
        }
    }
    .map_err(invalid)?;
    Ok(printer.output.to_string())
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: component, {} bytes", self.file, self.size)?;
        match &self.declared {
            Ok((description, exports)) => f.write_str(&declared_text(description, exports))?,
            Err(error) => writeln!(f, "this host cannot run it: {}", error.problem)?,
        }
        writeln!(f, "\n{}", self.world.trim_end())
    }
}

fn declared_text(description: &Description, exports: &Exports) -> String {
    let optional = [
        ("enqueue", exports.enqueue),
        ("waiting", exports.waiting),
        ("binding", exports.binding),
        ("explain", exports.explain),
        ("advice", exports.advice),
    ];
    let optional: Vec<&str> = optional
        .iter()
        .filter(|(_, exported)| *exported)
        .map(|(name, _)| *name)
        .collect();
    let mut text = format!("plugin {} {}\n", description.name, description.version);
    let _ = writeln!(text, "optional interfaces: {}", or_none(&optional));
    let points: Vec<&str> = description.points.iter().map(String::as_str).collect();
    let _ = writeln!(text, "calls: {}", or_none(&points));
    for access in &description.accesses {
        let _ = writeln!(text, "{}", access_text(access));
    }
    text
}

fn or_none(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

fn access_text(access: &Access) -> String {
    let read = access.read.then(|| "reads".to_owned());
    let verbs: Vec<String> = read
        .into_iter()
        .chain(access.verbs.iter().map(|verb| verb_name(*verb).to_owned()))
        .collect();
    format!(
        "{} ({}): {}",
        access.kind,
        access.versions.join(", "),
        verbs.join(", ")
    )
}

/// The contract's name.
fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::UpdateStatus => "update-status",
        Verb::PatchStatus => "patch-status",
        Verb::Apply => "apply",
        Verb::Delete => "delete",
    }
}
