//! Builds the plugin as a component and leaves it in `OUT_DIR` for `include_bytes!`, so that the binary works alone and never
//! holds a stale plugin.
//!
//! The build is a cargo of its own: other target, other profile, and nothing of the outer build's flags. Its folder is shared by all
//! profiles of the host, so the component is compiled once, and its bytes do not depend on where the sources lie.

#![allow(
    clippy::print_stdout,
    reason = "a build script speaks to cargo on stdout"
)]

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "component";
const COMPONENT: &str = "dynamic_resources.wasm";

/// What the component is made of, relative to the workspace.
const INPUTS: [&str; 6] = [
    "guest/src",
    "guest/build.rs",
    "guest/Cargo.toml",
    "wit",
    "Cargo.toml",
    "Cargo.lock",
];

const NO_TARGET: &str = "the Rust target wasm32-wasip2, which the plugin is built for, is not installed: run `cargo xtask setup` once, then build again";

fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::read()?;
    if !environment.has_target() {
        // cargo fails the build for this line and shows nothing else.
        println!("cargo::error={NO_TARGET}");
        return Ok(());
    }
    let built = environment.build_component()?;
    copy_if_different(&built, &environment.out_dir.join(COMPONENT))?;
    // After a failure the script runs again in any case, so these are printed last, out of the way of the message.
    for input in INPUTS {
        // Relative to this package: checkouts that share a target folder share this script's fingerprint too, and an absolute
        // path would make cargo watch the other one's sources.
        println!("cargo::rerun-if-changed=../{input}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}

/// What cargo tells a build script.
struct Environment {
    cargo: PathBuf,
    rustc: PathBuf,
    out_dir: PathBuf,
    workspace: PathBuf,
}

impl Environment {
    fn read() -> Result<Environment, String> {
        let get = |name: &str| {
            println!("cargo::rerun-if-env-changed={name}");
            std::env::var_os(name).map(PathBuf::from)
        };
        let required = |name: &str| get(name).ok_or_else(|| format!("cargo did not set {name}"));
        let manifest = required("CARGO_MANIFEST_DIR")?;
        let workspace = manifest.parent().ok_or("the host has no parent folder")?;
        Ok(Environment {
            cargo: required("CARGO")?,
            rustc: required("RUSTC")?,
            out_dir: required("OUT_DIR")?,
            workspace: workspace.to_owned(),
        })
    }

    /// Asks the compiler; a build without the target would fail with one error per crate.
    fn has_target(&self) -> bool {
        let Some(folder) = self.ask_rustc(&["--print", "target-libdir", "--target", TARGET]) else {
            return false;
        };
        let Ok(entries) = std::fs::read_dir(folder) else {
            return false;
        };
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
    }

    fn ask_rustc(&self, arguments: &[&str]) -> Option<String> {
        // The loader's path names the toolchain that runs the outer build, whose parts another compiler must not load.
        let answer = Command::new(&self.rustc)
            .args(arguments)
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .ok()?;
        let text = String::from_utf8(answer.stdout).ok()?;
        answer.status.success().then(|| text.trim_end().to_owned())
    }

    fn build_component(&self) -> Result<PathBuf, Box<dyn Error>> {
        let folder = component_folder(&self.out_dir, &self.workspace);
        let mut command = Command::new(&self.cargo);
        command
            .args([
                "build",
                "--locked",
                "--package",
                "dynamic-resources",
                "--lib",
            ])
            .args(["--profile", PROFILE, "--target", TARGET])
            .current_dir(&self.workspace);
        for (name, _) in std::env::vars_os().filter(|(name, _)| belongs_to_outer_build(name)) {
            command.env_remove(name);
        }
        // These three also outrank what a configuration file says. The compiler's output goes to this script's
        // stderr, which cargo shows when the script fails.
        let status = command
            .env("CARGO_TARGET_DIR", &folder)
            .env("CARGO_BUILD_BUILD_DIR", &folder)
            .env("CARGO_ENCODED_RUSTFLAGS", self.remappings().join("\u{1f}"))
            .env("RUSTC", &self.rustc)
            .status()?;
        if !status.success() {
            return Err(format!("the plugin's component does not build ({status}): see the compiler's messages above").into());
        }
        Ok(folder.join(TARGET).join(PROFILE).join(COMPONENT))
    }

    /// Panic locations name source files: the same names on every machine.
    fn remappings(&self) -> Vec<String> {
        let mut flags = vec![remap(&self.workspace, ".")];
        let cargo_home = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
        let registries = cargo_home.map(|home| home.join("registry/src"));
        // One folder per registry, named after its address, which a mirror changes.
        for registry in registries
            .iter()
            .flat_map(std::fs::read_dir)
            .flatten()
            .flatten()
        {
            flags.push(remap(&registry.path(), "/registry"));
        }
        // Where the library's sources are installed, rustc names them by that place.
        if let (Some(sysroot), Some(commit)) =
            (self.ask_rustc(&["--print", "sysroot"]), self.commit())
        {
            let sources = Path::new(&sysroot).join("lib/rustlib/src/rust");
            flags.push(remap(&sources, &format!("/rustc/{commit}")));
        }
        flags
    }

    fn commit(&self) -> Option<String> {
        let verbose = self.ask_rustc(&["-vV"])?;
        let line = verbose
            .lines()
            .find_map(|line| line.strip_prefix("commit-hash: "));
        line.map(str::to_owned)
    }
}

fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

/// Whether an environment variable says how the host is to be built. What says how cargo reaches registries and
/// talks is kept, and so are the job slots of the outer build.
pub fn belongs_to_outer_build(name: &OsStr) -> bool {
    const KEPT: [&str; 8] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_MAKEFLAGS",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
        "RUSTUP_",
    ];
    const TAKEN: [&str; 6] = ["CARGO", "__CARGO", "RUSTC", "RUSTFLAGS", "RUSTDOC", "DEP_"];
    const TAKEN_WHOLE: [&str; 8] = [
        "DEBUG",
        "HOST",
        "LD_LIBRARY_PATH",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "TARGET",
    ];
    let name = name.to_string_lossy();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    TAKEN_WHOLE.contains(&&*name) || starts(&TAKEN) && !starts(&KEPT)
}

/// Where the component is built: beside the host's profiles.
///
/// cargo names a workspace's intermediate files by paths relative to it, so two checkouts that share a target folder would take
/// each other's plugin for their own. A checkout whose target folder lies elsewhere gets a folder named after its path.
pub fn component_folder(out_dir: &Path, workspace: &Path) -> PathBuf {
    let Some(target) = target_folder(out_dir) else {
        return out_dir.join(PROFILE);
    };
    if target.starts_with(workspace) {
        return target.join(PROFILE);
    }
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    target.join(format!("{PROFILE}-{:016x}", hasher.finish()))
}

/// The folder that cargo marked as one to leave out of backups is the root of its intermediate files, however deep it puts
/// `OUT_DIR`.
fn target_folder(out_dir: &Path) -> Option<&Path> {
    out_dir
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())
}

/// Leaves an equal file untouched, because its time decides whether the host is compiled again.
pub fn copy_if_different(from: &Path, to: &Path) -> Result<(), String> {
    let new =
        std::fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    if std::fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    std::fs::write(to, new).map_err(|error| format!("cannot write {}: {error}", to.display()))
}
