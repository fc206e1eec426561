//! Where input comes from: files, folders, standard input, and the scenarios as they are.

use super::*;

#[test]
fn a_directory_is_read_by_name_and_not_below() {
    let directory = TempDir::new("directory");
    let node = |name: &str| format!("apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n");
    directory.file("b.yml", node("b").as_bytes());
    directory.file(
        "a.json",
        br#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}"#,
    );
    directory.file("c.yaml", node("c").as_bytes());
    directory.file("d.txt", b"not: read");
    directory.file("e.yaml", b"");
    fs::create_dir_all(directory.0.join("z.yaml")).expect("temporary directory");
    let input = read(&[&directory.0], &mut std::io::empty(), &|_| true).expect("readable");
    assert_eq!(names(&input), ["Node a", "Node b", "Node c"]);
    assert_eq!(input.files.len(), 4);
    assert_eq!(
        messages(&input),
        [format!(
            "{}: the file is empty",
            directory.0.join("e.yaml").display()
        )]
    );
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let mut stdin: &[u8] = b"kind: Node\nmetadata: {name: n}\n";
    let input = read(&["-"], &mut stdin, &|_| true).expect("readable");
    assert_eq!(names(&input), ["Node n"]);
    assert_eq!(input.origins[0].to_string(), "standard input:1");
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let directory = TempDir::new("bom");
    let path = directory.file(
        "n.yaml",
        b"\xef\xbb\xbfapiVersion: v1\nkind: Node\nmetadata: {name: n}\n",
    );
    let input = read(&[path], &mut std::io::empty(), &|_| true).expect("a byte order mark is fine");
    assert_eq!(names(&input), ["Node n"]);
}

#[test]
fn the_scenarios_are_read_without_objection() {
    let shared = std::env::var_os("DRACTL_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let Ok(scenarios) = fs::read_dir(shared.join("scenarios")) else {
        eprintln!("SKIPPED: no scenarios in {}", shared.display());
        return;
    };
    let mut count = 0;
    for scenario in scenarios.filter_map(Result::ok) {
        let path = scenario.path().join("input");
        if !path.is_dir() {
            continue;
        }
        count += 1;
        let input = read(&[&path], &mut std::io::empty(), &|_| true)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(input.object_errors.is_empty(), "{:?}", errors(&input));
        // One pod of this scenario lacks its apiVersion; see its expected.yaml.
        let expected = if path.ends_with("example-taint-noschedule/input") {
            1
        } else {
            0
        };
        assert_eq!(input.warnings.len(), expected, "{:?}", messages(&input));
    }
    assert!(
        count >= 30,
        "only {count} scenarios in {}",
        shared.display()
    );
}
