//! Streams cut into documents.

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
