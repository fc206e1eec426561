//! Input that cannot be used: each case must name a file, a line or an object, quickly, and without a panic.

use std::time::{Duration, Instant};

use super::*;

/// The message, which must come fast.
fn refusal(text: &str) -> String {
    let start = Instant::now();
    let result = read_all(text);
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "took {:?}",
        start.elapsed()
    );
    match result {
        Ok(input) => panic!("accepted: {:?} {:?}", names(&input), errors(&input)),
        Err(error) => error.to_string(),
    }
}

#[test]
fn texts_that_are_no_manifests() {
    for (text, expected) in [
        ("", "in.yaml: empty; expected YAML or JSON manifests"),
        ("  \n\n", "in.yaml: empty; expected YAML or JSON manifests"),
        ("# only a comment\n", "in.yaml: no Kubernetes object in it"),
        ("---\n---\n", "in.yaml: no Kubernetes object in it"),
        (
            "apiVersion: v1\nkind: List\nitems: []\n",
            "in.yaml: no Kubernetes object in it",
        ),
        (
            "\nhello\n",
            "in.yaml:2: document 1 is a string, not an object",
        ),
        (
            "- a\n- b\n",
            "in.yaml:1: document 1 is a list, not an object",
        ),
        (
            "[{\"kind\": \"Pod\"}]",
            "in.yaml:1: a list where an object is expected",
        ),
        (
            "a: 1\n",
            "in.yaml:1: kind is missing; an object needs apiVersion, kind and metadata.name",
        ),
        (
            "apiVersion: v1\nkind: 7\n",
            "in.yaml:1: kind is a number, not a string",
        ),
        (
            "apiVersion: v1\nkind: Pod\n",
            "in.yaml:1: Pod without metadata.name; give it a name",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: ''}\n",
            "in.yaml:1: Pod without metadata.name; give it a name",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: []\n",
            "in.yaml:1: Pod without metadata.name: metadata is a list, not a mapping",
        ),
        (
            "apiVersion: v1\nkind: List\nitems: 3\n",
            "in.yaml:1: items of a List must be a list, but is a number",
        ),
        (
            "apiVersion: v1\nkind: List\nitems: [3]\n",
            "in.yaml:3: a List has an item that is a number, not an object",
        ),
        (
            "apiVersion: v1\nKind: List\nitems: []\n",
            "in.yaml:1: List without metadata.name: key Kind is in the wrong case; write kind",
        ),
    ] {
        assert_eq!(refusal(text), expected, "{text}");
    }
}

/// Line and column of a refusal, and a part of its message.
fn check_place(text: &str, place: &str, part: &str) {
    let message = refusal(text);
    assert!(
        message.starts_with(place) && message.contains(part),
        "{message}\nfor {:.200}",
        text
    );
}

#[test]
fn broken_syntax_is_located() {
    check_place(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p",
        "in.yaml:3:",
        "not valid YAML",
    );
    check_place("apiVersion: v1\nkind: \"Po", "in.yaml:2:", "not valid YAML");
    check_place(
        "kind: Node\nmetadata: {name: n}\n---\nkind: Pod\n  bad: [\n",
        "in.yaml:5:",
        "not valid YAML",
    );
    check_place("kind: Pod\n\tmetadata: {}\n", "in.yaml:1:", "found a tab");
    check_place("kind: Pod\nkind: Pod\n", "in.yaml:2:", "kind");
    check_place("kind: Pod\nx: .nan\n", "in.yaml:2:", "");
    check_place("kind: Pod\nx: *missing\n", "in.yaml:2:", "not valid YAML");
    check_place(
        "{\"kind\": \"Pod\",\n \"metadata\": {\"name\"",
        "in.yaml:2:",
        "was the file cut off?",
    );
    check_place(
        "{\"kind\": \"Pod\",\n \"metadata\": {\"name\" \"x\"}}",
        "in.yaml:2:",
        "not valid JSON",
    );
    check_place("{\"a\": 1, \"a\": 2}", "in.yaml:1:", "duplicate key \"a\"");
    let list = "{\"kind\": \"List\",\n \"items\": [\n  {\"a\": 1},   {\"b\": 1,\n   \"b\": 2}]}";
    check_place(list, "in.yaml:4:", "duplicate key \"b\"");
    check_place(
        "{\"kind\": \"List\", \"items\": [{\"b\": 1, \"b\": 2}]}",
        "in.yaml:1:43:",
        "duplicate key \"b\"",
    );
}

#[test]
fn likely_causes_are_told() {
    let two = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\napiVersion: v1\nkind: Node\n";
    check_place(
        two,
        "in.yaml:4:1: ",
        "duplicate key \"apiVersion\"; put --- between two objects",
    );
    check_place(
        "kind: Pod\nname: {{ .Values.name }}x\n",
        "in.yaml:2:",
        "if this is a template, render it first",
    );
    check_place(
        "{{- if .Values.pods }}\nkind: Pod\n{{- end }}\n",
        "in.yaml:1:",
        "if this is a template, render it first",
    );
}

#[test]
fn deep_nesting_is_refused_without_recursion() {
    check_place(&"[".repeat(20_000), "in.yaml:1:", "nested too deeply");
    check_place(&"{\"a\":".repeat(20_000), "in.yaml:1:", "nested too deeply");
    check_place(
        &format!("{}{}", "[".repeat(20_000), "]".repeat(20_000)),
        "in.yaml:1:",
        "nested too deeply",
    );
    check_place(
        &format!("{{\"kind\":\"List\",\"items\":[{}", "[".repeat(20_000)),
        "in.yaml:1:",
        "",
    );
    let closed = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    check_place(
        &format!("{{\"kind\":\"List\",\"items\":[{closed}]}}"),
        "in.yaml:1:",
        "nested too deeply",
    );
    check_place(
        &format!("a: {}", "[".repeat(20_000)),
        "in.yaml:1:",
        "nested too deeply",
    );
    check_place(
        &format!("a: {}", "{a: ".repeat(20_000)),
        "in.yaml:1:",
        "nested too deeply",
    );
    check_place(&"- ".repeat(20_000), "in.yaml:1:", "nested too deeply");
    check_place(&"? ".repeat(20_000), "in.yaml:1:", "nested too deeply");
    let block: String = (0..3_000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    check_place(&block, "in.yaml:65:", "nested too deeply");
}

#[test]
fn lists_in_lists_in_lists_end() {
    let nested = |depth: usize| {
        let start = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[".repeat(depth);
        format!(
            "{start}{{\"kind\":\"Node\",\"metadata\":{{\"name\":\"n\"}}}}{}",
            "]}".repeat(depth)
        )
    };
    assert_eq!(names(&ok(&nested(16))), ["Node n"]);
    assert_eq!(
        refusal(&nested(17)),
        "in.yaml:1: Lists are nested more than 16 deep"
    );
    check_place(&nested(5_000), "in.yaml:1:", "nested too deeply");
}

#[test]
fn aliases_cannot_expand_without_end() {
    check_place("kind: Pod\nx: &a [*a]\n", "in.yaml:2:", "");
    check_place("kind: Pod\nx: &a {b: *a}\n", "in.yaml:2:", "");
    let mut laughs =
        String::from("kind: Pod\nx0: &x0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..12 {
        let items = vec![format!("*x{}", level - 1); 10].join(", ");
        laughs.push_str(&format!("x{level}: &x{level} [{items}]\n"));
    }
    check_place(&laughs, "in.yaml:", "expand to too much");
    let big = format!(
        "kind: Pod\nx: &x {}\ny: [{}]\n",
        "a".repeat(1 << 20),
        vec!["*x"; 99].join(", ")
    );
    check_place(&big, "in.yaml:", "expand to too much");
}

#[test]
fn random_bytes_are_refused() {
    let directory = TempDir::new("random");
    let mut random = fastrand::Rng::with_seed(7);
    let bytes: Vec<u8> = (0..1 << 20).map(|_| random.u8(..)).collect();
    let path = directory.file("random.yaml", &bytes);
    let error = read(&[&path], &mut std::io::empty(), &|_| true).expect_err("random bytes");
    assert!(
        error.to_string().starts_with(&path.display().to_string()),
        "{error}"
    );
    // Also where they happen to be text.
    let text: String = (0..1 << 20)
        .map(|_| char::from(random.u8(0..128)))
        .collect();
    check_place(&text, "in.yaml", "");
}

#[test]
fn encodings_are_told() {
    let directory = TempDir::new("encodings");
    let text = "kind: Node\nmetadata: {name: n}\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (name, bytes, part) in [
        (
            "le.yaml",
            [&[0xff, 0xfe], little.as_slice()].concat(),
            "UTF-16",
        ),
        (
            "be.yaml",
            [&[0xfe, 0xff], big.as_slice()].concat(),
            "UTF-16",
        ),
        ("le-without-mark.yaml", little.clone(), "UTF-16"),
        ("be-without-mark.yaml", big.clone(), "UTF-16"),
        (
            "latin1.yaml",
            b"kind: Node\nmetadata: {name: \xe9}\n".to_vec(),
            "latin1.yaml:2: not UTF-8 text (byte 28)",
        ),
        (
            "packed.json",
            vec![0x1f, 0x8b, 8, 0, 0],
            "compressed; unpack it first",
        ),
        ("module.yaml", b"\0asm\x01\0\0\0".to_vec(), "WebAssembly"),
    ] {
        let path = directory.file(name, &bytes);
        let error = read(&[path], &mut std::io::empty(), &|_| true)
            .expect_err(name)
            .to_string();
        assert!(error.contains(name) && error.contains(part), "{error}");
    }
}

#[test]
fn paths_that_cannot_be_read_are_named() {
    let directory = TempDir::new("paths");
    let missing = directory.0.join("missing.yaml");
    let error = read(&[&missing], &mut std::io::empty(), &|_| true)
        .expect_err("missing")
        .to_string();
    assert!(
        error.starts_with(&format!("{}: cannot be read: ", missing.display())),
        "{error}"
    );
    let error = read(&[&directory.0], &mut std::io::empty(), &|_| true)
        .expect_err("no manifests")
        .to_string();
    assert!(error.contains("no file with the ending .yaml"), "{error}");
    directory.file("a.yaml", b"");
    let error = read(&[&directory.0], &mut std::io::empty(), &|_| true)
        .expect_err("empty")
        .to_string();
    assert_eq!(
        error,
        format!("{}: no Kubernetes object in it", directory.0.display())
    );
    let error = read(&["-"], &mut std::io::empty(), &|_| true)
        .expect_err("empty")
        .to_string();
    assert_eq!(
        error,
        "standard input: empty; expected YAML or JSON manifests"
    );
    let none: [&str; 0] = [];
    assert!(read(&none, &mut std::io::empty(), &|_| true).is_err());
}

/// The kind is corrected in the error, so that a pod or workload among them counts as one.
#[test]
fn kinds_that_are_slips_of_known_ones() {
    for (version, kind, meant) in [
        ("v1", "pod", "Pod"),
        ("v1", "Pods", "Pod"),
        ("v1", "node", "Node"),
        ("apps/v1", "deployment", "Deployment"),
        ("apps/v1beta2", "Deployments", "Deployment"),
        ("apps/v1", "StatefullSet", "StatefulSet"),
        ("batch/v1", "cronjob", "CronJob"),
        ("scheduling.k8s.io/v1", "Priorityclass", "PriorityClass"),
    ] {
        let text = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n");
        let input = read_all(&text).unwrap();
        let [error] = &input.object_errors[..] else {
            panic!("{version} {kind}: {:?}", names(&input))
        };
        assert_eq!(error.object.kind.short(), meant);
        assert_eq!(
            error.message,
            format!("kind {kind} is not known, did you mean {meant}?")
        );
    }
    // Other kinds of these groups, and the same letters in another group.
    for (version, kind) in [
        ("v1", "Secret"),
        ("v1", "PodTemplate"),
        ("apps/v1", "ControllerRevision"),
        ("example.com/v1", "deployment"),
        ("example.com/v1", "Pods"),
    ] {
        let text = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n");
        assert_eq!(
            errors(&read_all(&text).unwrap()),
            [""; 0],
            "{version} {kind}"
        );
    }
}

#[test]
fn versions_that_workloads_never_had() {
    for (version, right) in [("apps/v9", "apps/v1"), ("batch/x", "batch/v1")] {
        let kind = if right == "apps/v1" {
            "Deployment"
        } else {
            "Job"
        };
        let text = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n");
        let errors = errors(&read_all(&text).unwrap());
        let expected = format!("apiVersion {version:?} is not a version of {kind}; write {right}");
        assert!(
            errors.len() == 1 && errors[0].ends_with(&expected),
            "{errors:?}"
        );
    }
}
