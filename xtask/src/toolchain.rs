//! The active Rust toolchain: which compiler it is, where it lives, and what is said to it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::problem::{Problem, Result};
use crate::process;

const INSTALL_RUST: &str = "install Rust with rustup, or set RUSTC to the compiler to use";

/// What `rustc` says about itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Version {
    /// Such as `1.95.0`.
    pub release: String,
    /// The commit of the compiler's sources.
    pub commit: String,
    /// The machine that it runs on.
    pub host: String,
}

/// The compiler that cargo uses here.
#[derive(Debug)]
pub struct Toolchain {
    /// Folder that holds `bin/` and `lib/rustlib/`.
    pub sysroot: PathBuf,
    /// Which compiler it is.
    pub version: Version,
}

impl Toolchain {
    /// Asks `$RUSTC`, or the `rustc` on PATH.
    pub fn active() -> Result<Toolchain> {
        let rustc = std::env::var_os("RUSTC")
            .filter(|rustc| !rustc.is_empty())
            .unwrap_or_else(|| "rustc".into());
        let rustc = Path::new(&rustc);
        let verbose = process::output(clean_command(rustc).arg("-vV"), INSTALL_RUST)?;
        let version = Version::parse(&verbose).ok_or_else(|| {
            Problem::new(
                format!("{} -vV names no release", rustc.display()),
                INSTALL_RUST,
            )
        })?;
        let sysroot = process::output(
            clean_command(rustc).args(["--print", "sysroot"]),
            INSTALL_RUST,
        )?;
        Ok(Toolchain {
            sysroot: PathBuf::from(sysroot.trim_end()),
            version,
        })
    }

    /// The compiler itself, not a proxy that chooses one.
    pub fn rustc(&self) -> PathBuf {
        self.program("rustc").unwrap_or_else(|| "rustc".into())
    }

    /// Its cargo; a toolchain that was packaged in parts may keep it elsewhere.
    pub fn cargo(&self) -> PathBuf {
        self.program("cargo")
            .or_else(|| std::env::var_os("CARGO").map(PathBuf::from))
            .unwrap_or_else(|| "cargo".into())
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.sysroot.join("bin").join(name);
        path.is_file().then_some(path)
    }

    /// Where the toolchain keeps what it has per target.
    pub fn rustlib(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib")
    }

    /// The linker that makes components.
    pub fn component_linker(&self) -> PathBuf {
        self.rustlib()
            .join(&self.version.host)
            .join("bin/wasm-component-ld")
    }
}

impl Version {
    fn parse(verbose: &str) -> Option<Version> {
        let field = |name: &str| {
            let line = verbose.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim().to_owned())
        };
        Some(Version {
            release: field("release:")?,
            commit: field("commit-hash:")?,
            host: field("host:")?,
        })
    }
}

/// Where the loader looks for libraries. `cargo run` puts its own toolchain's first, and a compiler of another toolchain would
/// load that one's parts and take itself for it.
pub const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// A command that sees none of the flags, wrappers and folders that are set for the project.
pub fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| shapes_a_build(name)) {
        command.env_remove(name);
    }
    command
}

/// Whether an environment variable changes what cargo or rustc make. How cargo reaches registries is left alone.
fn shapes_a_build(name: &OsStr) -> bool {
    const REACH: [&str; 5] = [
        "CARGO_HOME",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
    ];
    let name = name.to_string_lossy();
    let cargo = name.starts_with("CARGO") && !REACH.iter().any(|prefix| name.starts_with(prefix));
    cargo
        || name == LIBRARY_PATH
        || name.starts_with("__CARGO")
        || name.starts_with("RUSTC")
        || name.starts_with("RUSTFLAGS")
}

/// cargo's folder of downloaded sources.
pub fn cargo_home() -> OsString {
    std::env::var_os("CARGO_HOME").unwrap_or_else(|| {
        let home = std::env::home_dir().unwrap_or_default();
        home.join(".cargo").into_os_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_rustc() {
        let verbose = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\ncommit-hash: 5980\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        let expected = Version {
            release: "1.95.0".into(),
            commit: "5980".into(),
            host: "x86_64-unknown-linux-gnu".into(),
        };
        assert_eq!(Version::parse(verbose), Some(expected));
        assert_eq!(Version::parse("rustc 1.95.0"), None);
    }

    #[test]
    fn what_shapes_a_build_is_taken_away() {
        let shapes = |name: &str| shapes_a_build(OsStr::new(name));
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_DIST_LTO",
            "CARGO_TARGET_DIR",
            "CARGO_TARGET_WASM32_WASIP2_LINKER",
            "CARGO_INCREMENTAL",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTC",
            "CARGO",
            "LD_LIBRARY_PATH",
        ] {
            assert!(shapes(name), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_HTTP_PROXY",
            "CARGO_REGISTRIES_X_INDEX",
            "RUSTUP_TOOLCHAIN",
            "PATH",
        ] {
            assert!(!shapes(name), "{name}");
        }
    }
}
