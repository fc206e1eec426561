//! Constraints on attributes: distinct values, and lists.

use super::*;

#[test]
fn distinct_values_differ_from_all_others() {
    let devices: Vec<_> = [1, 2, 1, 3]
        .into_iter()
        .enumerate()
        .map(|(i, n)| device(&format!("d{i}"), &[("n", Attribute::Int(n))]))
        .collect();
    let ask = |requests| {
        let claim = distinct(claim("c", requests), "drv/n", &[]);
        answer(&Cluster::new(
            vec![slice("s", "p", devices.clone())],
            vec![claim],
        ))
    };
    assert_eq!(ask(vec![count("r", 3)]), "r:p/d0 r:p/d1 r:p/d3");
    assert_eq!(ask(vec![count("r", 4)]), "does not fit");
    assert_eq!(
        ask(vec![count("r", 2), count("s", 1)]),
        "r:p/d0 r:p/d1 s:p/d3"
    );
    let missing = distinct(claim("c", vec![count("r", 1)]), "drv/m", &[]);
    let cluster = Cluster::new(vec![slice("s", "p", devices.clone())], vec![missing]);
    assert_eq!(answer(&cluster), "does not fit");
}

#[test]
fn lists_must_have_something_in_common_or_nothing() {
    let letters = |values: &str| {
        let values: Vec<_> = values.chars().map(|c| text(&c.to_string())).collect();
        match values.as_slice() {
            [single] => single.clone(),
            many => list(many),
        }
    };
    let with = |values: &[&str], constrain: &dyn Fn(crate::api::ResourceClaim) -> _| {
        let devices = values
            .iter()
            .enumerate()
            .map(|(i, values)| device(&format!("d{i}"), &[("m", letters(values))]))
            .collect();
        let claim = constrain(claim("c", vec![count("r", 2)]));
        answer(&Cluster::new(vec![slice("s", "p", devices)], vec![claim]))
    };
    let equal = |claim| matching(claim, "drv/m", &[]);
    assert_eq!(with(&["ab", "bc"], &equal), "r:p/d0 r:p/d1");
    assert_eq!(with(&["a", "ab"], &equal), "r:p/d0 r:p/d1");
    assert_eq!(with(&["ab", "cd"], &equal), "does not fit");
    assert_eq!(with(&["ab", "cd", "bd"], &equal), "r:p/d0 r:p/d2");
    let three = |claim: crate::api::ResourceClaim| {
        let mut claim = matching(claim, "drv/m", &[]);
        claim.requests.push(count("s", 1));
        claim
    };
    // Pairwise something in common is not enough, and what the first two had is forgotten with the second.
    assert_eq!(with(&["ab", "bc", "ac"], &three), "does not fit");
    assert_eq!(
        with(&["ab", "bc", "ac", "a"], &three),
        "r:p/d0 r:p/d2 s:p/d3"
    );
    let different = |claim| distinct(claim, "drv/m", &[]);
    assert_eq!(with(&["ab", "bc", "cd"], &different), "r:p/d0 r:p/d2");
    assert_eq!(with(&["ab", "bc", "ca"], &different), "does not fit");
}
