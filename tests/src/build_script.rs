//! The decisions of `host/build.rs`, which cargo runs but never tests.

#[allow(dead_code, reason = "the script's entry point runs under cargo only")]
#[path = "../../host/build.rs"]
mod script;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

fn belongs(name: &str) -> bool {
    script::belongs_to_outer_build(OsStr::new(name))
}

#[test]
fn nothing_of_the_outer_build_reaches_the_component() {
    for name in [
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_CFG_TARGET_FAMILY",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_FEATURE_X",
        "CARGO_INCREMENTAL",
        "CARGO_MANIFEST_DIR",
        "CARGO_PKG_VERSION",
        "CARGO_PROFILE_COMPONENT_LTO",
        "CARGO_TARGET_DIR",
        "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS",
        "OPT_LEVEL",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
        "TARGET",
    ] {
        assert!(belongs(name), "{name}");
    }
}

#[test]
fn registries_terminal_and_job_slots_stay() {
    for name in [
        "CARGO_HOME",
        "CARGO_HTTP_PROXY",
        "CARGO_MAKEFLAGS",
        "CARGO_NET_OFFLINE",
        "CARGO_REGISTRIES_X_INDEX",
        "CARGO_TERM_COLOR",
        "HOME",
        "PATH",
        "RUSTUP_TOOLCHAIN",
    ] {
        assert!(!belongs(name), "{name}");
    }
}

/// A workspace whose target folder, marked as cargo marks it, is `target`.
fn out_dir_in(target: &Path, deep: &str) -> PathBuf {
    let out_dir = target.join(deep);
    std::fs::create_dir_all(&out_dir).unwrap();
    std::fs::write(target.join("CACHEDIR.TAG"), "").unwrap();
    out_dir
}

#[test]
fn every_profile_and_target_shares_one_folder() {
    let workspace = tempfile::tempdir().unwrap();
    let target = workspace.path().join("target");
    for deep in [
        "debug/build/dractl-1/out",
        "release/build/dractl-2/out",
        "x86_64-unknown-linux-gnu/debug/build/dractl/3/out",
    ] {
        let out_dir = out_dir_in(&target, deep);
        assert_eq!(
            script::component_folder(&out_dir, workspace.path()),
            target.join("component")
        );
    }
}

#[test]
fn checkouts_that_share_a_target_folder_do_not_share_the_plugin() {
    let shared = tempfile::tempdir().unwrap();
    let out_dir = out_dir_in(shared.path(), "debug/build/dractl-1/out");
    let first = script::component_folder(&out_dir, Path::new("/checkout/one"));
    let second = script::component_folder(&out_dir, Path::new("/checkout/two"));
    assert_ne!(first, second);
    assert_eq!(first.parent(), Some(shared.path()));
    assert_eq!(
        first,
        script::component_folder(&out_dir, Path::new("/checkout/one"))
    );
}

#[test]
fn an_unmarked_target_folder_is_not_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let out_dir = folder.path().join("out");
    assert_eq!(
        script::component_folder(&out_dir, Path::new("/checkout")),
        out_dir.join("component")
    );
}

#[test]
fn an_equal_component_is_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, "component").unwrap();
    script::copy_if_different(&from, &to).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::options()
        .write(true)
        .open(&to)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    script::copy_if_different(&from, &to).unwrap();
    assert_eq!(
        std::fs::metadata(&to).unwrap().modified().unwrap(),
        long_ago
    );
    std::fs::write(&from, "other").unwrap();
    script::copy_if_different(&from, &to).unwrap();
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "other");
}

#[test]
fn a_missing_component_is_named() {
    let message = script::copy_if_different(
        Path::new("/nonexistent/x.wasm"),
        Path::new("/nonexistent/y"),
    )
    .unwrap_err();
    assert!(message.contains("/nonexistent/x.wasm"), "{message}");
}
