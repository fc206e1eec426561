//! Streams cut into documents.

use serde_json::json;

use super::*;

fn texts(text: &str) -> Vec<(&str, usize)> {
    split(text)
        .into_iter()
        .map(|chunk| (chunk.text, chunk.line))
        .collect()
}

#[test]
fn documents_are_split_at_markers() {
    assert_eq!(
        texts("a: 1\n---\nb: 2\n"),
        [("a: 1\n", 1), ("---\nb: 2\n", 2)]
    );
    assert_eq!(texts("---\na: 1\n"), [("---\na: 1\n", 1)]);
    assert_eq!(
        texts("a: |\n  x\n --- no\n---\nb: 2"),
        [("a: |\n  x\n --- no\n", 1), ("---\nb: 2", 4)]
    );
    assert_eq!(
        texts("a: 1\n...\n# end\nb: 2\n"),
        [("a: 1\n...\n", 1), ("# end\nb: 2\n", 3)]
    );
    assert_eq!(
        texts("# c\n%YAML 1.2\n---\na: 1\n"),
        [("# c\n%YAML 1.2\n---\na: 1\n", 1)]
    );
    assert_eq!(
        texts("a: 1\r\n---\r\nb: 2\r\n"),
        [("a: 1\r\n", 1), ("---\r\nb: 2\r\n", 2)]
    );
    assert_eq!(texts("----\n"), [("----\n", 1)]);
}

#[test]
fn blanks_and_comments_are_no_documents() {
    assert_eq!(texts(""), []);
    assert_eq!(texts("\n# only this\n  \n"), []);
    assert_eq!(texts("...\n...\n"), []);
}

#[test]
fn objects_that_are_passed_on_stay_text_at_the_top_too() {
    let slice = |name: &str| json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": {}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}});
    // Keys in another order, `items` among them: what is known of it comes too late.
    let late = r#"{"items": [], "kind": "Thing", "apiVersion": "v1", "metadata": {"name": "late"}, "spec": {}}"#;
    let lines = format!("{}\n{}\n{}\n{late}\n", slice("a"), pod, slice("b"));
    let yaml = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: a}\nspec: {}\n---\n\
        apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n---\n\
        apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: b}\nspec: {}\n";
    let forms = |text: &str| -> Vec<(usize, usize, &'static str)> {
        let form = |document: Document| {
            let form = match document.top {
                Top::Object(_) => "text",
                Top::Mapping { .. } => "tree",
                Top::Other(_) => "other",
            };
            (document.number, document.line, form)
        };
        parse("f", text)
            .into_iter()
            .map(|parsed| form(parsed.unwrap()))
            .collect()
    };
    assert_eq!(
        forms(&lines),
        [
            (1, 1, "text"),
            (2, 2, "tree"),
            (3, 3, "text"),
            (4, 4, "tree")
        ]
    );
    assert_eq!(
        forms(yaml),
        [(1, 2, "text"), (2, 7, "tree"), (3, 12, "text")]
    );
}
