//! YAML as values: what Kubernetes reads, and what is refused.

use super::*;

/// Number of items that make a document long.
const COUNT: usize = 4_000;

/// A List of many items with this prefix before each line of an item.
fn long_list(indent: &str, item: impl Fn(usize) -> String, after: &str) -> String {
    let mut text = String::from("# a dump\napiVersion: v1\nitems:\n");
    for index in 0..COUNT {
        for (number, line) in item(index).lines().enumerate() {
            let lead = if number == 0 { "- " } else { "  " };
            let line = if line.is_empty() {
                String::new()
            } else {
                format!("{indent}{lead}{line}")
            };
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.push_str(after);
    text
}

fn node(index: usize) -> String {
    let padding = "x".repeat(120);
    format!(
        "kind: Node\nmetadata:\n  name: n{index}\n  annotations:\n    a: |\n      - {padding}\n\n      b\n    c: \"d\n      e\"\n"
    )
}

const AFTER: &str = "kind: List\nmetadata:\n  resourceVersion: \"\"\n";

/// Items with their lines, and the other entries.
fn parts(
    document: Option<Document>,
) -> (
    Vec<(serde_json::Value, usize)>,
    serde_json::Map<String, serde_json::Value>,
) {
    match document.map(|document| document.top) {
        Some(Top::Mapping { entries, items }) => {
            let items = items.unwrap_or_default().into_iter();
            let items = items.map(|(item, line)| (item.into_tree(), line));
            (items.collect(), entries)
        }
        other => panic!("no mapping: {other:?}"),
    }
}

#[test]
fn a_long_list_is_the_same_when_taken_apart() {
    for indent in ["", "  "] {
        let text = long_list(indent, node, AFTER);
        assert!(text.len() >= LONG);
        let chunk = Chunk {
            text: &text,
            line: 7,
        };
        let apart = parts(parse_long_list(chunk));
        let whole = parts(parse_whole(chunk).unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(apart.0.len(), COUNT);
        assert_eq!(apart, whole);
        // The items start in the fourth line of the text, which is the seventh of the file, and have ten lines each.
        assert_eq!(apart.0[1].1, 7 + 3 + 10);
    }
}

#[test]
fn what_is_unusual_is_parsed_as_a_whole() {
    let is_apart = |text: &str| parse_long_list(Chunk { text, line: 1 }).is_some();
    let plain = |index| format!("{{kind: Node, metadata: {{name: n{index}}}}}");
    assert!(is_apart(&long_list("", plain, AFTER)));
    assert!(is_apart(&long_list("", plain, "")));
    // An alias reaches from one item to another.
    let alias = |index| {
        if index == 0 {
            "&a {kind: Node}".to_owned()
        } else {
            "*a".to_owned()
        }
    };
    assert!(!is_apart(&long_list("", alias, AFTER)));
    // Nothing is an item here.
    assert!(!is_apart("apiVersion: v1\nitems:\nkind: List\n"));
    assert!(!is_apart("apiVersion: v1\nitems:\n  a: b\n"));
    assert!(!is_apart("a: |\n  x\n items:\n- 1\n"));
    // A scalar reaches over a line that looks like an item.
    assert!(!is_apart("a: 1\nitems:\n- b: \"x\n- c\"\n"));
    assert!(!is_apart("a: 1\nitems:\n- b: [x,\n- c]\n"));
    // Twice.
    assert!(!is_apart("a: 1\nitems:\n- b\nitems:\n- c\n"));
    // Broken.
    assert!(!is_apart("a: 1\nitems:\n- b: 1\n  b: 2\n"));
    assert!(!is_apart("a: 1\nitems:\n  - b\n - c\n"));
}

#[test]
fn an_error_in_a_long_list_is_located() {
    let broken = |index| {
        if index == COUNT - 1 {
            "kind: [".to_owned()
        } else {
            node(index)
        }
    };
    let text = long_list("", broken, AFTER);
    let error = parse(
        "f.yaml",
        Chunk {
            text: &text,
            line: 1,
        },
    )
    .expect_err("broken")
    .to_string();
    // Three lines before the items, ten lines for each good one, the broken one, then the line where it was noticed.
    let line = 3 + 10 * (COUNT - 1) + 1;
    let near = (line..line + 5).any(|line| error.starts_with(&format!("f.yaml:{line}:")));
    assert!(near, "{error} is not near {line}");
}

#[test]
fn many_small_bombs_are_as_bad_as_one() {
    let bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
                c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c]\n";
    assert!(
        parse(
            "f.yaml",
            Chunk {
                text: bomb,
                line: 1
            }
        )
        .is_err()
    );
    let decent = "a: &a {x: 1, y: 2}\nb: [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n";
    assert!(
        parse(
            "f.yaml",
            Chunk {
                text: decent,
                line: 1
            }
        )
        .is_ok()
    );
}
