//! The ordinary way: rustup downloads the target.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::problem::{Problem, Result};
use crate::process::{self, say};
use crate::target::TARGET;
use crate::toolchain::Toolchain;

/// A download that takes longer than this is taken for one that will not end.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// What to do on a machine where nothing else helps.
pub const BY_HAND: &str =
    "on a machine that may download toolchain parts, run `rustup target add wasm32-wasip2`";

/// `RUSTUP_AUTO_INSTALL=0` says that rustup is not to download here by itself.
pub fn may_download() -> bool {
    std::env::var_os("RUSTUP_AUTO_INSTALL").is_none_or(|value| value != "0")
}

/// Adds the target to the active toolchain.
pub fn add_target(toolchain: &Toolchain) -> Result<()> {
    if !process::exists("rustup") {
        return Err(Problem::new(
            "there is no rustup",
            "install Rust with rustup",
        ));
    }
    if !manages(&toolchain.sysroot) {
        let what = format!(
            "{} is not a toolchain of rustup's",
            toolchain.sysroot.display()
        );
        return Err(Problem::new(what, "use a toolchain that rustup manages"));
    }
    say(&format!(
        "rustup target add (at most {} s)",
        TIME_LIMIT.as_secs()
    ));
    let mut command = Command::new("rustup");
    command.args(["target", "add", TARGET]);
    match process::within(&mut command, TIME_LIMIT) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(Problem::new(
            format!("rustup could not add the target ({status})"),
            BY_HAND,
        )),
        Ok(None) => Err(Problem::new("rustup did not finish in time", BY_HAND)),
        Err(error) => Err(Problem::new(format!("cannot run rustup: {error}"), BY_HAND)),
    }
}

/// Whether rustup's active toolchain is the one with this sysroot.
fn manages(sysroot: &Path) -> bool {
    let Ok(rustc) = process::output(Command::new("rustup").args(["which", "rustc"]), BY_HAND)
    else {
        return false;
    };
    let ours = sysroot.join("bin").join("rustc").canonicalize();
    let theirs = PathBuf::from(rustc.trim_end()).canonicalize();
    matches!((ours, theirs), (Ok(ours), Ok(theirs)) if ours == theirs)
}
