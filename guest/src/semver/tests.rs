//! Values from the semver 2.0 specification (its precedence example) and from the recorded cases.

use super::*;

fn v(text: &str) -> Version {
    Version::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn precedence() {
    let ascending = [
        "0.0.0",
        "0.9.99",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.2.3",
        "18446744073709551615.0.0",
    ];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            assert_eq!(v(a).cmp(&v(b)), i.cmp(&j), "{a} and {b}");
        }
    }
}

#[test]
fn build_metadata_is_ignored() {
    assert_eq!(v("1.2.3-beta.1+b5"), v("1.2.3-beta.1"));
    assert_eq!(v("1.2.3+a"), v("1.2.3+b"));
}

#[test]
fn strict_errors() {
    for (text, error) in [
        ("", "Version string empty"),
        ("1.0", "No Major.Minor.Patch elements found"),
        (
            "v1.0.0",
            "Invalid character(s) found in major number \"v1\"",
        ),
        (
            "01.0.0",
            "Major number must not contain leading zeroes \"01\"",
        ),
        (
            "1.0.0 ",
            "Invalid character(s) found in patch number \"0 \"",
        ),
        ("1.0.0-", "Prerelease is empty"),
        ("1.0.0-a..b", "Prerelease is empty"),
        (
            "1.0.0-01",
            "Numeric PreRelease version must not contain leading zeroes \"01\"",
        ),
        (
            "1.0.0-a_b",
            "Invalid character(s) found in prerelease \"a_b\"",
        ),
        ("1.0.0+", "Build meta data is empty"),
        (
            "1.0.0+a b",
            "Invalid character(s) found in build meta data \"a b\"",
        ),
        (
            "18446744073709551616.0.0",
            "strconv.ParseUint: parsing \"18446744073709551616\": value out of range",
        ),
        ("1..0", "strconv.ParseUint: parsing \"\": invalid syntax"),
    ] {
        assert_eq!(
            Version::parse(text).map(|v| v.to_string()),
            Err(error.to_string()),
            "{text:?}"
        );
    }
}

#[test]
fn normalization() {
    for (text, same) in [
        ("v1", "1.0.0"),
        ("v01.01", "1.1.0"),
        ("1.000.3-rc", "1.0.3-rc"),
        ("1.2.3+b", "1.2.3"),
    ] {
        assert_eq!(Version::parse_normalized(text), Ok(v(same)), "{text}");
    }
    for text in ["", "1. 0.0", "1.0.0-", "1-rc", "vv1"] {
        assert!(Version::parse_normalized(text).is_err(), "{text:?}");
    }
}

#[test]
fn round_trips() {
    let mut seed = 11u64;
    let mut next = |n: u64| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    for _ in 0..5_000 {
        let mut text = format!("{}.{}.{}", next(20), next(20), next(u64::MAX));
        for (sign, most) in [('-', 3), ('+', 3)] {
            for i in 0..next(most) {
                text.push(if i == 0 { sign } else { '.' });
                text.push_str(["alpha", "0", "7", "x-1", "10"][next(5) as usize]);
            }
        }
        assert_eq!(v(&text).to_string(), text);
    }
}
