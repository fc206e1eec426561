//! Files that are no plugin for this host: one sentence each, naming the file, before anything is compiled where possible.

use dractl::plugin::{Limits, LoadError, Plugin, Problem, Settings, Unusable};

use crate::fixture::{MISBEHAVING, RUNTIME};

fn load(bytes: &[u8]) -> LoadError {
    match RUNTIME.load(bytes, "x.wasm", &Settings::default()) {
        Err(error) => error,
        Ok(component) => panic!("it loads as {}", component.description().name),
    }
}

/// The sentence for a component in the text format.
fn text(wat: &str) -> String {
    let bytes = wat::parse_str(wat).unwrap_or_else(|error| panic!("{error}"));
    load(&bytes).to_string()
}

/// A component that exports empty interfaces of these names.
fn exporting(names: &[&str]) -> String {
    let exports: String = names
        .iter()
        .map(|name| format!("(export \"{name}\" (instance $empty))"))
        .collect();
    format!("(component (instance $empty) {exports})")
}

#[test]
fn what_is_no_component() {
    assert_eq!(load(b"").to_string(), "x.wasm: the file is empty");
    assert_eq!(
        load(b"\x7fELF and more").to_string(),
        "x.wasm: this is not a WebAssembly file"
    );
    assert_eq!(
        load(&[0xff; 1000]).to_string(),
        "x.wasm: this is not a WebAssembly file"
    );
    assert_eq!(
        text("(module)"),
        "x.wasm: this is a core WebAssembly module, not a component; build it for wasm32-wasip2 or run `wasm-tools component new`"
    );
    let cut = RUNTIME
        .load(b"\0asm\x0d\0\x01\0\x07\x80", "x.wasm", &Settings::default())
        .map(|_| ())
        .unwrap_err();
    assert_eq!(cut.problem, Problem::File(Unusable::Truncated));
}

#[test]
fn a_file_that_ends_early_is_refused_wherever_it_ends() {
    let whole = &*MISBEHAVING;
    for length in [1, 3, 4, 7, 8, 9, 100, whole.len() / 2, whole.len() - 1] {
        let error = load(&whole[..length]);
        // At the end of a section what is there is a component, only not a plugin.
        assert!(
            matches!(
                error.problem,
                Problem::File(Unusable::Truncated | Unusable::World(_))
            ),
            "{length}: {error}"
        );
        assert!(
            length != whole.len() / 2 || error.problem == Problem::File(Unusable::Truncated),
            "{length}: {error}"
        );
    }
}

#[test]
fn damage_is_an_error_and_never_a_crash() {
    let whole = &*MISBEHAVING;
    let mut random = fastrand::Rng::with_seed(5);
    let mut refused = 0;
    for _ in 0..200 {
        let mut bytes = whole[..random.usize(8..2000)].to_vec();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(8..bytes.len().max(9));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.u8(..);
            }
        }
        refused += usize::from(
            RUNTIME
                .load(&bytes, "x.wasm", &Settings::default())
                .is_err(),
        );
    }
    assert_eq!(refused, 200);
}

#[test]
fn a_component_of_another_world_is_named() {
    assert_eq!(
        text("(component)"),
        "x.wasm: this component exports nothing; a plugin exports kube-scheduler:plugin/lifecycle and kube-scheduler:plugin/scheduling"
    );
    assert_eq!(
        text(&exporting(&["wasi:http/incoming-handler@0.2.0"])),
        "x.wasm: this is a component of another world: it exports wasi:http/incoming-handler@0.2.0; a plugin exports kube-scheduler:plugin/lifecycle and kube-scheduler:plugin/scheduling"
    );
    assert_eq!(
        text(&exporting(&["kube-scheduler:plugin/lifecycle@0.1.0"])),
        "x.wasm: the component does not export kube-scheduler:plugin/scheduling, which every plugin must"
    );
    assert_eq!(
        text(&exporting(&["kube-scheduler:plugin/scheduling@0.1.0"])),
        "x.wasm: the component does not export kube-scheduler:plugin/lifecycle, which every plugin must"
    );
}

#[test]
fn another_version_of_the_package_is_named_before_anything_else() {
    for version in ["0.2.0", "0.10.0", "1.0.0", "0.1.0-rc.1"] {
        let (lifecycle, scheduling) = (
            format!("kube-scheduler:plugin/lifecycle@{version}"),
            format!("kube-scheduler:plugin/scheduling@{version}"),
        );
        assert_eq!(
            text(&exporting(&[&lifecycle, &scheduling])),
            format!(
                "x.wasm: component was built for kube-scheduler:plugin@{version}, this host speaks kube-scheduler:plugin@0.1"
            )
        );
    }
    assert_eq!(
        text(&exporting(&["kube-scheduler:plugin/lifecycle"])),
        "x.wasm: component was built for kube-scheduler:plugin without a version, this host speaks kube-scheduler:plugin@0.1"
    );
    // An import alone tells it, too.
    let mixed = r#"(component
        (import "kube-scheduler:plugin/log@0.3.0" (instance))
        (instance $empty)
        (export "kube-scheduler:plugin/lifecycle@0.1.0" (instance $empty))
        (export "kube-scheduler:plugin/scheduling@0.1.0" (instance $empty)))"#;
    assert!(
        text(mixed).contains("built for kube-scheduler:plugin@0.3.0,"),
        "{}",
        text(mixed)
    );
}

#[test]
fn a_later_patch_version_is_our_track() {
    let later = exporting(&[
        "kube-scheduler:plugin/lifecycle@0.1.9",
        "kube-scheduler:plugin/scheduling@0.1.9",
    ]);
    // Its interfaces are empty, which is found out after the names were accepted.
    let error = text(&later);
    assert!(
        error.starts_with("x.wasm: the component does not fit the contract: "),
        "{error}"
    );
}

#[test]
fn an_import_that_nobody_offers_is_named() {
    let with_import = |import: &str| {
        format!(
            r#"(component (import "{import}" (instance (export "f" (func)))) (instance $empty)
            (export "kube-scheduler:plugin/lifecycle@0.1.0" (instance $empty))
            (export "kube-scheduler:plugin/scheduling@0.1.0" (instance $empty)))"#
        )
    };
    assert_eq!(
        text(&with_import("my:database/rows@1.0.0")),
        "x.wasm: the component imports my:database/rows@1.0.0, which this host does not offer"
    );
    assert_eq!(
        text(&with_import("kube-scheduler:plugin/secrets@0.1.4")),
        "x.wasm: the component imports kube-scheduler:plugin/secrets@0.1.4, which this host does not offer"
    );
    // The interface exists, the function does not.
    let error = text(&with_import("kube-scheduler:plugin/log@0.1.4"));
    assert!(
        error.contains("the component does not fit the contract") && error.contains("`f`"),
        "{error}"
    );
}

#[test]
fn limits_hold_while_an_instance_is_made() {
    let refused = |limits: Limits| {
        let settings = Settings {
            limits,
            ..Settings::default()
        };
        let loaded = RUNTIME.load(&MISBEHAVING, "x.wasm", &settings);
        loaded.map(|_| ()).unwrap_err().to_string()
    };
    let error = refused(Limits {
        memory_bytes: 64 << 10,
        ..Limits::default()
    });
    let expected = "x.wasm: the plugin does not start: instantiate: wanted 2 MiB of memory";
    assert!(error.starts_with(expected), "{error}");
    let error = refused(Limits {
        table_elements: 1,
        ..Limits::default()
    });
    assert!(error.contains("wanted a table of "), "{error}");
    assert!(error.ends_with("the limit is 1"), "{error}");
    let error = refused(Limits {
        parts: 1,
        ..Limits::default()
    });
    assert!(error.contains("count too high"), "{error}");
}

#[test]
fn inspecting_shows_the_world_and_what_is_declared() {
    let seen = RUNTIME
        .inspect(&MISBEHAVING, "x.wasm", &Settings::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let text = seen.to_string();
    for part in [
        "plugin misbehaving 1.2.3",
        "optional interfaces: enqueue, binding, explain, advice",
        "Thing.example.com (v1): reads, get, update, update-status",
        "export kube-scheduler:plugin/scheduling@0.1.0;",
        "import kube-scheduler:plugin/ledger@0.1.0;",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let other =
        wat::parse_str(exporting(&["kube-scheduler:plugin/lifecycle@0.2.0"])).unwrap_or_default();
    let seen = RUNTIME
        .inspect(&other, "x.wasm", &Settings::default())
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(
        seen.to_string().contains(
            "this host cannot run it: component was built for kube-scheduler:plugin@0.2.0"
        )
    );
}

#[test]
fn compiled_code_is_found_again() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let cache = dractl::plugin::CompileCache::Directory(folder.path().join("cache"));
    for hits in [0, 1] {
        let runtime =
            dractl::plugin::Runtime::new(&cache).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            runtime
                .load(&MISBEHAVING, "x.wasm", &Settings::default())
                .is_ok()
        );
        assert_eq!(runtime.cache_hits_and_misses().0, hits);
    }
}

#[test]
fn compiled_code_that_is_damaged_is_compiled_anew() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let cache = dractl::plugin::CompileCache::Directory(folder.path().join("cache"));
    let hits = || {
        let runtime =
            dractl::plugin::Runtime::new(&cache).unwrap_or_else(|error| panic!("{error}"));
        let loaded = runtime.load(&MISBEHAVING, "x.wasm", &Settings::default());
        assert!(loaded.is_ok());
        runtime.cache_hits_and_misses().0
    };
    assert_eq!((hits(), hits()), (0, 1));
    let mut damaged = 0;
    let mut folders = vec![folder.path().join("cache")];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).unwrap_or_else(|error| panic!("{error}")) {
            let path = entry.unwrap_or_else(|error| panic!("{error}")).path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
            damaged += usize::from(length > 10_000);
            std::fs::write(&path, vec![7; length as usize])
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
    assert_eq!(damaged, 1, "the code is one file");
    assert_eq!(hits(), 0);
}

/// Whether compiled code is kept in this directory, and what is in it afterwards.
#[cfg(unix)]
fn keeps(directory: &std::path::Path) -> bool {
    let cache = dractl::plugin::CompileCache::Directory(directory.to_owned());
    let runtime = dractl::plugin::Runtime::new(&cache).unwrap_or_else(|error| panic!("{error}"));
    let loaded = runtime.load(&MISBEHAVING, "x.wasm", &Settings::default());
    assert!(loaded.is_ok(), "it is compiled all the same");
    let files = std::fs::read_dir(directory).map_or(0, Iterator::count);
    let used = runtime.cache_hits_and_misses() != (0, 0);
    assert_eq!(used, files > 0, "{}", directory.display());
    used
}

#[cfg(unix)]
#[test]
fn compiled_code_is_kept_where_nobody_else_can_put_any() {
    use std::fs::{Permissions, create_dir, metadata, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let at = |name: &str| folder.path().join(name);
    let made = |name: &str, mode: u32| {
        create_dir(at(name))
            .and_then(|()| set_permissions(at(name), Permissions::from_mode(mode)))
            .unwrap_or_else(|error| panic!("{error}"));
        at(name)
    };
    assert!(keeps(&at("new")));
    let mode = metadata(at("new")).map_or(0, |metadata| metadata.permissions().mode());
    assert_eq!(mode & 0o777, 0o700);
    assert!(keeps(&made("readable", 0o755)));
    assert!(!keeps(&made("of-all", 0o777)));
    assert!(!keeps(&made("of-the-group", 0o770)));
    // Where a link leads may change.
    symlink(made("private", 0o700), at("link")).unwrap_or_else(|error| panic!("{error}"));
    assert!(!keeps(&at("link")));
    let theirs = made("theirs", 0o700);
    match chown(&theirs, Some(12_345), None) {
        Ok(()) => assert!(!keeps(&theirs)),
        Err(_) => eprintln!("SKIPPED: only root can give a directory away"),
    }
}
