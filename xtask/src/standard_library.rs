//! Builds the standard library for the target the way the distributed one is built, and lays it out where rustup would put it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::debian::Packages;
use crate::problem::{Problem, Result};
use crate::process::{self, say};
use crate::rustup::BY_HAND;
use crate::target::TARGET;
use crate::toolchain::{Toolchain, cargo_home, clean_command};

/// The file that marks an installation as made by this command; it records what from.
pub const STAMP: &str = "built-from-debian";

/// What the linker expects beside the standard library.
const LIBC_FILES: [&str; 3] = ["crt1-command.o", "crt1-reactor.o", "libc.a"];

const REPORT: &str =
    "this is not expected with the pinned versions: report it with the lines above";

/// Refuses a toolchain that could not link for the target even with the standard library in place.
pub fn check_toolchain(toolchain: &Toolchain) -> Result<()> {
    let linker = toolchain.component_linker();
    if linker.is_file() {
        return Ok(());
    }
    Err(Problem::new(
        format!("the toolchain has no {}", linker.display()),
        format!("use a toolchain of rustup's; {BY_HAND}"),
    ))
}

/// Builds and gives the folder to be renamed to its final name; it lies beside that name.
pub fn build(toolchain: &Toolchain, packages: &Packages, work: &Path) -> Result<PathBuf> {
    say("unpacking");
    let sources = format!("./usr/src/rustc-{}/library", toolchain.version.release);
    unpack(&packages.rust_src, work, 4, &sources)?;
    unpack(&packages.wasi_libc, work, 3, &format!("./usr/lib/{TARGET}"))?;
    compile(toolchain, work)?;
    stage(toolchain, packages, work)
}

/// Unpacks one folder of a package, without the first components of its path.
fn unpack(package: &Path, work: &Path, strip: usize, folder: &str) -> Result<()> {
    let cannot = |error: std::io::Error| Problem::file("unpack", package, &error);
    let mut deb = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(package)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    let Some(stream) = deb.stdout.take() else {
        return Err(Problem::new("dpkg-deb gave no output", REPORT));
    };
    let unpacked = Command::new("tar")
        .args([
            "-x",
            "--no-same-owner",
            &format!("--strip-components={strip}"),
            folder,
        ])
        .current_dir(work)
        .stdin(stream)
        .status()
        .map_err(cannot)?;
    let read = deb.wait().map_err(cannot)?;
    if unpacked.success() && read.success() {
        return Ok(());
    }
    Err(Problem::new(
        format!("{} does not hold {folder}", package.display()),
        REPORT,
    ))
}

/// The `dist` profile has bitcode for LTO; unstable features are marked as such; source paths name the
/// compiler's commit and not this machine.
fn compile(toolchain: &Toolchain, work: &Path) -> Result<()> {
    let version = &toolchain.version;
    let library = work.join("library");
    let build = work.join("build");
    let flags = [
        "-Zforce-unstable-if-unmarked".to_owned(),
        format!(
            "--remap-path-prefix={}=/rustc/{}/library",
            library.display(),
            version.commit
        ),
        format!(
            "--remap-path-prefix={}/registry/src=/rust/deps",
            cargo_home().display()
        ),
    ];
    let mut cargo = clean_command(&toolchain.cargo());
    cargo
        .args([
            "build",
            "--locked",
            "--profile",
            "dist",
            "--target",
            TARGET,
            "--features",
            "backtrace",
            "--manifest-path",
        ])
        .arg(library.join("sysroot/Cargo.toml"))
        .current_dir(&library)
        .env("RUSTC", toolchain.rustc())
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_TARGET_DIR", &build)
        .env("CARGO_BUILD_BUILD_DIR", &build)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        // Keeps these crates apart from others of the same name and version that a program may use.
        .env(
            "__CARGO_DEFAULT_LIB_METADATA",
            format!("{TARGET}-{}", version.commit),
        );
    say(&format!(
        "compiling the standard library with rustc {} (about 70 s of processor time)",
        version.release
    ));
    let began = Instant::now();
    let remedy =
        "check that cargo can download crates (std needs a dozen small ones), then run this again";
    process::watch(&mut cargo, remedy, |line| {
        let line = line.trim_start();
        if line.starts_with("Compiling") || line.starts_with("Downloading") {
            let (words, _place) = line.split_once(" (").unwrap_or((line, ""));
            say(&format!("{:4} s  {words}", began.elapsed().as_secs()));
        }
    })
}

fn stage(toolchain: &Toolchain, packages: &Packages, work: &Path) -> Result<PathBuf> {
    say("installing");
    // A fixed name: the lock admits one run, and what a killed one left is swept away here.
    let staged = toolchain.rustlib().join(format!(".{TARGET}.new"));
    if staged.exists() {
        std::fs::remove_dir_all(&staged)
            .map_err(|error| Problem::file("remove", &staged, &error))?;
    }
    let libraries = staged.join("lib");
    let objects = libraries.join("self-contained");
    std::fs::create_dir_all(&objects).map_err(|error| Problem::file("create", &objects, &error))?;
    let built = work.join("build").join(TARGET).join("dist/deps");
    let entries =
        std::fs::read_dir(&built).map_err(|error| Problem::file("read", &built, &error))?;
    for entry in entries {
        let path = entry
            .map_err(|error| Problem::file("read", &built, &error))?
            .path();
        if path
            .extension()
            .is_some_and(|extension| extension == "rlib")
        {
            copy_into(&path, &libraries)?;
        }
    }
    for name in LIBC_FILES {
        copy_into(&work.join(TARGET).join(name), &objects)?;
    }
    let version = &toolchain.version;
    let stamp = format!(
        "rustc {} ({})\n{}",
        version.release, version.commit, packages.origin
    );
    std::fs::write(staged.join(STAMP), stamp)
        .map_err(|error| Problem::file("write", &staged, &error))?;
    Ok(staged)
}

fn copy_into(file: &Path, folder: &Path) -> Result<()> {
    let name = file.file_name().unwrap_or_default();
    let copied = std::fs::copy(file, folder.join(name));
    copied
        .map(|_| ())
        .map_err(|error| Problem::file("install", file, &error))
}
