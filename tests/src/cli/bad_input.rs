//! Exit status 2, nothing on stdout, and one error that names the file, line or object.

use super::example;
use crate::command::{Files, Finished, dractl, dractl_with};

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n";

/// It could not run; the first line says why in these words.
fn assert_refused(what: &str, finished: &Finished, words: &[&str]) {
    let Finished {
        status,
        stdout,
        stderr,
    } = finished;
    assert_eq!((*status, stdout.as_str()), (2, ""), "{what}: {stderr}");
    let first = stderr.lines().next().unwrap_or_default();
    for word in words {
        assert!(first.contains(word), "{what}: {word:?} is not in {first:?}");
    }
    let errors = stderr.lines().filter(|line| line.starts_with("error: "));
    assert_eq!(errors.count(), 1, "{what}: {stderr}");
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    assert!(
        stderr.len() < 2_000,
        "{what}: {} bytes of talk",
        stderr.len()
    );
}

fn random_bytes() -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(20_240_815);
    (0..1 << 20).map(|_| random.u8(..)).collect()
}

#[test]
fn files_that_are_no_manifests() {
    let files = Files::new();
    let flow = |open: &str, close: &str| open.repeat(20_000) + &close.repeat(20_000);
    let block: String = (0..2_000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    let cut = format!("{NODE}---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: \"p");
    let cases: [(&str, Vec<u8>, &str); 16] = [
        ("empty.yaml", b"".into(), "empty"),
        ("blank.yaml", b" \n\t\n".into(), "empty"),
        (
            "comment.yaml",
            b"# nothing\n---\n# else\n".into(),
            "no Kubernetes object",
        ),
        ("cut.yaml", cut.clone().into(), ":9"),
        (
            "cut.json",
            br#"{"apiVersion": "v1", "kind": "Pod", "meta"#.into(),
            ":1",
        ),
        ("random.yaml", random_bytes(), "UTF-8"),
        ("nested.yaml", flow("[", "]").into(), "nested too deeply"),
        ("nested.json", flow("[", "]").into(), "nested too deeply"),
        ("open.json", b"[".repeat(20_000), "nested too deeply"),
        (
            "maps.json",
            flow("{\"a\":", "}").into(),
            "nested too deeply",
        ),
        ("block.yaml", block.clone().into(), "nested too deeply"),
        ("text.yaml", b"just a sentence\n".into(), "not an object"),
        ("list.yaml", b"- a\n- b\n".into(), "not an object"),
        (
            "kindless.yaml",
            b"metadata:\n  name: x\n".into(),
            "kind is missing",
        ),
        (
            "nameless.yaml",
            b"apiVersion: v1\nkind: Pod\n".into(),
            "metadata.name",
        ),
        (
            "tab.yaml",
            b"apiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n".into(),
            ":4",
        ),
    ];
    for (name, bytes, words) in cases {
        let path = files.add(name, &bytes);
        assert_refused(name, &dractl(&["simulate", &path]), &[&path, words]);
        // Good files beside it do not help.
        assert_refused(
            name,
            &dractl(&["simulate", &example(), &path]),
            &[&path, words],
        );
        let piped = dractl_with(&["simulate", "-"], bytes);
        assert_refused(name, &piped, &["standard input", words]);
    }
}

#[test]
fn paths_that_cannot_be_read() {
    let files = Files::new();
    let missing = files.path().join("missing.yaml").display().to_string();
    assert_refused(
        "missing",
        &dractl(&["simulate", &missing]),
        &[&missing, "cannot be read"],
    );
    let bare = files.path().join("bare");
    std::fs::create_dir(&bare).unwrap();
    std::fs::write(bare.join("notes.txt"), "text").unwrap();
    let bare = bare.display().to_string();
    assert_refused(
        "bare",
        &dractl(&["simulate", &bare]),
        &[&bare, ".yaml", ".json"],
    );
    #[cfg(unix)]
    {
        let dangling = files.path().join("dangling.yaml");
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        let folder = files.path().display().to_string();
        let path = dangling.display().to_string();
        assert_refused(
            "dangling",
            &dractl(&["simulate", &folder]),
            &[&path, "cannot be read"],
        );
    }
}

#[test]
fn nothing_to_place_pods_on() {
    let files = Files::new();
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n";
    let only_pod = files.add("pod.yaml", pod);
    assert_refused(
        "no node",
        &dractl(&["simulate", &only_pod]),
        &["no Node", "kubectl get nodes"],
    );
    // A Node that is there but broken is named.
    let broken = files.add(
        "node.yaml",
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\nspec: 3\n",
    );
    let words = ["Node n1", "node.yaml:1", "spec is a number"];
    assert_refused(
        "broken node",
        &dractl(&["simulate", &only_pod, &broken]),
        &words,
    );
    let unrelated = files.add(
        "secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n",
    );
    assert_refused("no node", &dractl(&["simulate", &unrelated]), &["no Node"]);
}

/// A component that exports empty interfaces of these names.
fn exporting(names: &[&str]) -> Vec<u8> {
    let exports: String = names
        .iter()
        .map(|name| format!("(export \"{name}\" (instance $empty))"))
        .collect();
    component(&format!("(component (instance $empty) {exports})"))
}

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn files_that_are_no_plugins() {
    let files = Files::new();
    let start = std::fs::read(crate::repository::root().join("Cargo.lock")).unwrap();
    let of_version = |version: &str| {
        let names = ["lifecycle", "scheduling"]
            .map(|name| format!("kube-scheduler:plugin/{name}@{version}"));
        exporting(&names.each_ref().map(String::as_str))
    };
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("empty.wasm", Vec::new(), "empty"),
        ("random.wasm", random_bytes(), "not a WebAssembly file"),
        ("text.wasm", start, "not a WebAssembly file"),
        (
            "module.wasm",
            component("(module)"),
            "core WebAssembly module, not a component",
        ),
        ("nothing.wasm", component("(component)"), "exports nothing"),
        (
            "other.wasm",
            exporting(&["wasi:http/incoming-handler@0.2.0"]),
            "another world",
        ),
        ("newer.wasm", of_version("0.2.0"), "0.2.0"),
        ("major.wasm", of_version("1.0.0"), "1.0.0"),
        ("hollow.wasm", of_version("0.1.0"), "hollow.wasm"),
    ];
    for (name, bytes, words) in cases {
        let path = files.add(name, bytes);
        let input = example();
        let args = ["simulate", "--plugin", &path, &input];
        assert_refused(name, &dractl(&args), &[&path, words]);
        assert_refused(name, &dractl(&["plugin", "check", &path]), &[&path, words]);
    }
    let folder = files.path().display().to_string();
    let missing = files.path().join("missing.wasm").display().to_string();
    for path in [&folder, &missing] {
        let args = ["simulate", "--plugin", path, &example()];
        assert_refused(path, &dractl(&args), &["cannot read the plugin", path]);
    }
}

#[test]
fn words_that_nobody_knows() {
    let input = example();
    let gate = dractl(&["simulate", "--feature", "DRAPrioritisedList=true", &input]);
    assert_eq!((gate.status, gate.stdout.as_str()), (2, ""));
    assert!(
        gate.stderr.contains("\"DRAPrioritisedList\""),
        "{}",
        gate.stderr
    );
    assert!(
        gate.stderr
            .contains("nearest names are DRAPrioritizedList,"),
        "{}",
        gate.stderr
    );
    let profile = dractl(&["simulate", "--profile", "1.30", &input]);
    assert_eq!((profile.status, profile.stdout.as_str()), (2, ""));
    assert!(
        profile
            .stderr
            .contains("unknown profile \"1.30\"; there are 1.31 and current"),
        "{}",
        profile.stderr
    );
    for args in [
        &["simulate"][..],
        &["simulate", "-o", "jsn", &input],
        &["simulate", "--feature", "DRAAdminAccess", &input],
        &["simulate", "--search-steps", "many", &input],
        &["simulte", &input],
    ] {
        let wrong = dractl(args);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{args:?}");
        assert!(
            wrong.stderr.starts_with("error: "),
            "{args:?}: {}",
            wrong.stderr
        );
    }
    assert!(
        dractl(&["simulate", "-o", "jsn", &input])
            .stderr
            .contains("json")
    );
}
