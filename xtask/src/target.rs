//! Makes the target that the component is built for work: by rustup where it may download, otherwise from Debian's packages.
//!
//! Safe to repeat and to run twice at once: a lock guards the toolchain, a probe program decides whether anything is to be done,
//! and what was built is put in place by one rename.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::debian::{self, Pinning};
use crate::problem::{Problem, Result};
use crate::process::{self, say};
use crate::rustup;
use crate::standard_library::{self, STAMP};
use crate::toolchain::{Toolchain, clean_command};
use crate::work_folder::WorkFolder;

/// The target of the plugin's component.
pub const TARGET: &str = "wasm32-wasip2";

/// The first eight bytes of every WebAssembly component.
const COMPONENT_HEADER: [u8; 8] = *b"\0asm\x0d\0\x01\0";

const PROBE: &str = "\
use std::collections::HashMap;
fn main() {
    let lengths: HashMap<String, usize> = std::env::args().map(|word| (word.clone(), word.len())).collect();
    println!(\"{lengths:?}\");
}
";

/// What `cargo xtask setup` was asked to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Make it work.
    Install {
        /// Package versions without a known checksum are taken too.
        allow_unpinned: bool,
    },
    /// Say whether it works.
    Check,
    /// Take away what was built.
    Remove,
}

impl Action {
    /// Reads the words after `setup`.
    pub fn parse(flags: &[&str]) -> Option<Action> {
        match flags {
            [] => Some(Action::Install {
                allow_unpinned: false,
            }),
            ["--allow-unpinned"] => Some(Action::Install {
                allow_unpinned: true,
            }),
            ["--check"] => Some(Action::Check),
            ["--remove"] => Some(Action::Remove),
            _ => None,
        }
    }
}

/// Does it, for the active toolchain.
pub fn run(action: Action) -> Result<()> {
    let toolchain = Toolchain::active()?;
    let release = &toolchain.version.release;
    match action {
        Action::Check => {
            probe(&toolchain)?;
            say(&format!("works with rustc {release}"));
        }
        Action::Remove => {
            let _lock = lock(&toolchain)?;
            remove(&toolchain)?;
            say(&format!("removed from {}", toolchain.sysroot.display()));
        }
        Action::Install { allow_unpinned } => {
            // Asked before the lock, which a toolchain that is not the user's would refuse.
            if probe(&toolchain).is_ok() {
                say(&format!("works with rustc {release}, nothing to do"));
                return Ok(());
            }
            let _lock = lock(&toolchain)?;
            let pinning = if allow_unpinned {
                Pinning::ApprovedByAptAlone
            } else {
                Pinning::Required
            };
            install(&toolchain, pinning)?;
            forget_components();
            say(&format!("works with rustc {release}"));
        }
    }
    Ok(())
}

/// Removes what was compiled against another copy of the standard library: cargo does not see that it was replaced, and the
/// compiler then finds none of the crates.
fn forget_components() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["target/component", "target/fixtures"] {
        // Nothing there is the normal case; anything else shows when the component is built.
        let _ = std::fs::remove_dir_all(workspace.join(folder));
    }
}

/// Runs under the lock. Another run may have done the work while this one waited.
fn install(toolchain: &Toolchain, pinning: Pinning) -> Result<()> {
    if probe(toolchain).is_ok() {
        return Ok(());
    }
    clear_the_way(toolchain)?;
    let by_rustup = if rustup::may_download() {
        rustup::add_target(toolchain).and_then(|()| probe(toolchain))
    } else {
        Err(Problem::new(
            "RUSTUP_AUTO_INSTALL=0 forbids rustup to download",
            rustup::BY_HAND,
        ))
    };
    let Err(refusal) = by_rustup else {
        return Ok(());
    };
    say(&format!(
        "{}: building the standard library from Debian's packages",
        refusal.brief()
    ));
    build_from_debian(toolchain, pinning).map_err(|problem| problem.after(&refusal))?;
    probe(toolchain)
}

fn build_from_debian(toolchain: &Toolchain, pinning: Pinning) -> Result<()> {
    clear_the_way(toolchain)?;
    standard_library::check_toolchain(toolchain)?;
    let work = WorkFolder::new("wasip2-std")?;
    let packages = debian::fetch(work.path(), &toolchain.version.release, pinning)?;
    let staged = standard_library::build(toolchain, &packages, work.path())?;
    let destination = destination(toolchain);
    std::fs::rename(&staged, &destination)
        .map_err(|error| Problem::file("move into place", &destination, &error))
}

/// Removes a broken installation of ours; one of rustup's is not ours to remove, and rustup in turn
/// refuses to install over files that it does not know.
fn clear_the_way(toolchain: &Toolchain) -> Result<()> {
    let destination = destination(toolchain);
    if !destination.exists() {
        return Ok(());
    }
    if destination.join(STAMP).exists() {
        return remove(toolchain);
    }
    Err(Problem::new(
        format!(
            "{} exists but does not work, and this command did not make it",
            destination.display()
        ),
        format!("run `rustup target remove {TARGET}`, or remove that folder, then run this again"),
    ))
}

fn remove(toolchain: &Toolchain) -> Result<()> {
    let destination = destination(toolchain);
    if !destination.join(STAMP).exists() {
        let what = format!("{} was not made by this command", destination.display());
        return Err(Problem::new(
            what,
            format!("`rustup target remove {TARGET}` removes what rustup added"),
        ));
    }
    std::fs::remove_dir_all(&destination)
        .map_err(|error| Problem::file("remove", &destination, &error))
}

fn destination(toolchain: &Toolchain) -> PathBuf {
    toolchain.rustlib().join(TARGET)
}

/// Held until dropped, by the operating system, so that no killed run leaves it behind.
fn lock(toolchain: &Toolchain) -> Result<File> {
    let path = toolchain.rustlib().join(format!(".{TARGET}.lock"));
    let file = File::create(&path).map_err(|error| Problem::file("lock", &path, &error))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => say("waiting for another set-up of this toolchain"),
        Err(TryLockError::Error(error)) => return Err(Problem::file("lock", &path, &error)),
    }
    file.lock()
        .map_err(|error| Problem::file("lock", &path, &error))?;
    Ok(file)
}

/// Links a program that uses the standard library and looks whether a component came out.
fn probe(toolchain: &Toolchain) -> Result<()> {
    let work = WorkFolder::new("wasip2-probe")?;
    let source = work.path().join("probe.rs");
    let program = work.path().join("probe.wasm");
    std::fs::write(&source, PROBE).map_err(|error| Problem::file("write", &source, &error))?;
    let mut rustc = clean_command(&toolchain.rustc());
    rustc.args(["--edition", "2024", "--target", TARGET, "-o"]);
    let remedy = "run `cargo xtask setup`; if that is what you did, `cargo xtask setup --remove` and set up again";
    process::output(rustc.arg(&program).arg(&source), remedy).map_err(|problem| {
        Problem::new(
            format!(
                "a program for {TARGET} cannot be built: {}",
                problem.brief()
            ),
            remedy,
        )
    })?;
    if is_component(&program) {
        return Ok(());
    }
    Err(Problem::new(
        format!("a program for {TARGET} was built, but it is not a component"),
        remedy,
    ))
}

fn is_component(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(&COMPONENT_HEADER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::Version;

    fn toolchain(folder: &WorkFolder) -> Toolchain {
        std::fs::create_dir_all(folder.path().join("lib/rustlib")).unwrap();
        Toolchain {
            sysroot: folder.path().to_owned(),
            version: Version {
                release: "1.2.3".into(),
                commit: "c".into(),
                host: "h".into(),
            },
        }
    }

    #[test]
    fn flags() {
        assert_eq!(
            Action::parse(&[]),
            Some(Action::Install {
                allow_unpinned: false
            })
        );
        assert_eq!(Action::parse(&["--check"]), Some(Action::Check));
        assert_eq!(Action::parse(&["--remove"]), Some(Action::Remove));
        assert_eq!(Action::parse(&["--chekc"]), None);
        assert_eq!(Action::parse(&["--check", "--remove"]), None);
    }

    #[test]
    fn only_what_was_made_here_is_removed() {
        let folder = WorkFolder::new("xtask-test").unwrap();
        let toolchain = toolchain(&folder);
        assert!(clear_the_way(&toolchain).is_ok());
        let foreign = destination(&toolchain);
        std::fs::create_dir_all(foreign.join("lib")).unwrap();
        assert!(remove(&toolchain).is_err());
        assert!(clear_the_way(&toolchain).is_err());
        assert!(foreign.join("lib").exists());
        std::fs::write(foreign.join(STAMP), "").unwrap();
        clear_the_way(&toolchain).unwrap();
        assert!(!foreign.exists());
    }

    #[test]
    fn the_lock_excludes_a_second_run() {
        let folder = WorkFolder::new("xtask-test").unwrap();
        let toolchain = toolchain(&folder);
        let held = lock(&toolchain).unwrap();
        let second = File::create(toolchain.rustlib().join(format!(".{TARGET}.lock"))).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        drop(held);
        assert!(second.try_lock().is_ok());
    }

    #[test]
    fn a_core_module_is_no_component() {
        let folder = WorkFolder::new("xtask-test").unwrap();
        let path = folder.path().join("x.wasm");
        std::fs::write(&path, b"\0asm\x01\0\0\0").unwrap();
        assert!(!is_component(&path));
        std::fs::write(&path, b"\0asm\x0d\0\x01\0rest").unwrap();
        assert!(is_component(&path));
    }
}
