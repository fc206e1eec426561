//! What can be said about a file before it is compiled: its outermost layer tells what it is, for which version of the
//! contract it was made, and what it imports and exports.

use std::fmt;

use wasmparser::{Chunk, Encoding, Parser, Payload};
use wasmtime::Engine;

use super::contract::{PACKAGE, TRACK};

/// What every WebAssembly file begins with.
const MAGIC: &[u8] = b"\0asm";

/// Why a file cannot be loaded, before it was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// No bytes.
    Empty,
    /// Another kind of file.
    NotWasm,
    /// Code that an engine compiled, perhaps this one. It would be run as it is, so nothing of that comes from outside.
    Compiled,
    /// A module, not a component.
    CoreModule,
    /// It ends in the middle.
    Truncated,
    /// It is damaged, or uses something that this host does not know.
    Invalid(String),
    /// Made for another version track of the package: the version it names.
    Version(String),
    /// A component of another world: what it exports.
    World(Vec<String>),
    /// It lacks an interface that every plugin exports.
    Missing(String),
    /// It imports something that is neither in the package nor WASI.
    Import(String),
    /// The types of an interface, or its functions, are not those of the contract.
    Types(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the file is empty"),
            Self::NotWasm => write!(f, "this is not a WebAssembly file"),
            Self::Compiled => write!(
                f,
                "this is compiled code, which is never taken from a file; give the component that it was compiled from"
            ),
            Self::CoreModule => write!(
                f,
                "this is a core WebAssembly module, not a component; build it for wasm32-wasip2 or run `wasm-tools component new`"
            ),
            Self::Truncated => write!(
                f,
                "the component ends in the middle; the file is incomplete"
            ),
            Self::Invalid(why) => write!(f, "the component is not valid: {why}"),
            Self::Version(version) => {
                write!(
                    f,
                    "component was built for {PACKAGE}{version}, this host speaks {PACKAGE}@{TRACK}"
                )
            }
            Self::World(exports) if exports.is_empty() => {
                write!(
                    f,
                    "this component exports nothing; a plugin exports {PACKAGE}/lifecycle and {PACKAGE}/scheduling"
                )
            }
            Self::World(exports) => write!(
                f,
                "this is a component of another world: it exports {}; a plugin exports {PACKAGE}/lifecycle and {PACKAGE}/scheduling",
                exports.join(", ")
            ),
            Self::Missing(interface) => write!(
                f,
                "the component does not export {PACKAGE}/{interface}, which every plugin must"
            ),
            Self::Import(name) => write!(
                f,
                "the component imports {name}, which this host does not offer"
            ),
            Self::Types(what) => write!(f, "the component does not fit the contract: {what}"),
        }
    }
}

impl std::error::Error for Unusable {}

/// Names in the outermost layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub imports: Vec<String>,
    pub exports: Vec<String>,
}

/// Checks everything that needs no compiler.
pub(super) fn verify(bytes: &[u8]) -> Result<(), Unusable> {
    let names = outer_names(bytes)?;
    check_version(&names)?;
    check_exports(&names)?;
    match names.imports.iter().find(|name| !is_known_import(name)) {
        Some(name) => Err(Unusable::Import(shown(name))),
        None => Ok(()),
    }
}

/// Reads the names; nested modules and components are jumped over.
pub(super) fn outer_names(bytes: &[u8]) -> Result<Names, Unusable> {
    if bytes.is_empty() {
        return Err(Unusable::Empty);
    }
    let magic = MAGIC.len().min(bytes.len());
    if bytes[..magic] != MAGIC[..magic] {
        return Err(match Engine::detect_precompiled(bytes) {
            Some(_) => Unusable::Compiled,
            None => Unusable::NotWasm,
        });
    }
    let mut names = Names::default();
    let mut parser = Parser::new(0);
    let mut rest = bytes;
    loop {
        let (used, payload) = match parser.parse(rest, rest.is_empty()) {
            Ok(Chunk::Parsed { consumed, payload }) => (consumed, payload),
            Ok(Chunk::NeedMoreData(_)) => return Err(Unusable::Truncated),
            Err(error) => return Err(invalid(&error)),
        };
        rest = &rest[used..];
        match payload {
            Payload::Version {
                encoding: Encoding::Module,
                ..
            } => return Err(Unusable::CoreModule),
            Payload::ModuleSection {
                unchecked_range, ..
            }
            | Payload::ComponentSection {
                unchecked_range, ..
            } => {
                rest = rest
                    .get(unchecked_range.len()..)
                    .ok_or(Unusable::Truncated)?;
            }
            Payload::ComponentImportSection(section) => {
                for import in section {
                    names.imports.push(
                        import
                            .map_err(|error| invalid(&error))?
                            .name
                            .name
                            .to_owned(),
                    );
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    names.exports.push(
                        export
                            .map_err(|error| invalid(&error))?
                            .name
                            .name
                            .to_owned(),
                    );
                }
            }
            Payload::End(_) => return Ok(names),
            _ => {}
        }
    }
}

fn invalid(error: &wasmparser::BinaryReaderError) -> Unusable {
    let message = error.message().lines().next().unwrap_or_default();
    Unusable::Invalid(format!("{} at byte {}", shown(message), error.offset()))
}

/// A text of the file, as far as it is fit to be shown.
fn shown(text: &str) -> String {
    super::output::one_line(text, 200)
}

/// Interface and version of a name in the package, for example `scheduling` and `@0.1.0`.
fn in_package(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix(PACKAGE)?.strip_prefix('/')?;
    Some(rest.split_at(rest.find('@').unwrap_or(rest.len())))
}

fn is_our_track(version: &str) -> bool {
    let patch = version
        .strip_prefix('@')
        .and_then(|version| version.strip_prefix(TRACK))
        .and_then(|rest| rest.strip_prefix('.'));
    patch.is_some_and(|patch| !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit()))
}

fn check_version(names: &Names) -> Result<(), Unusable> {
    let versions = names
        .exports
        .iter()
        .chain(&names.imports)
        .filter_map(|name| in_package(name));
    match versions
        .map(|(_, version)| version)
        .find(|version| !is_our_track(version))
    {
        Some("") => Err(Unusable::Version(" without a version".to_owned())),
        Some(version) => Err(Unusable::Version(shown(version))),
        None => Ok(()),
    }
}

fn check_exports(names: &Names) -> Result<(), Unusable> {
    let exported: Vec<&str> = names
        .exports
        .iter()
        .filter_map(|name| in_package(name))
        .map(|(name, _)| name)
        .collect();
    if exported.is_empty() {
        return Err(Unusable::World(
            names
                .exports
                .iter()
                .take(5)
                .map(|name| shown(name))
                .collect(),
        ));
    }
    match ["lifecycle", "scheduling"]
        .into_iter()
        .find(|required| !exported.contains(required))
    {
        Some(missing) => Err(Unusable::Missing(missing.to_owned())),
        None => Ok(()),
    }
}

fn is_known_import(name: &str) -> bool {
    const OFFERED: [&str; 7] = [
        "types", "cluster", "ledger", "api", "clock", "random", "log",
    ];
    name.starts_with("wasi:")
        || in_package(name).is_some_and(|(interface, _)| OFFERED.contains(&interface))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::{CompileCache, Problem, Runtime, Settings};

    #[test]
    fn compiled_code_is_refused_even_if_this_engine_made_it() {
        let runtime = Runtime::new(&CompileCache::Off).unwrap();
        // The smallest component.
        let component = b"\0asm\x0d\0\x01\0";
        let compiled = runtime.engine().precompile_component(component).unwrap();
        let refused = |bytes: &[u8]| {
            let error = runtime.load(bytes, "x.cwasm", &Settings::default());
            error.map(|_| ()).unwrap_err()
        };
        assert_eq!(
            refused(&compiled).problem,
            Problem::File(Unusable::Compiled)
        );
        assert_eq!(
            refused(component).problem,
            Problem::File(Unusable::World(Vec::new()))
        );
    }
}
