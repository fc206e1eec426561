//! Values from the specification, section 10.4, and by hand calculation.

use super::*;

fn q(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn suffixes_multiply() {
    for (text, value) in [
        ("5", 5),
        ("+5", 5),
        ("-5", -5),
        ("5.", 5),
        ("1k", 1_000),
        ("12Mi", 12 * 1024 * 1024),
        ("1Ti", 1 << 40),
        ("2E", 2_000_000_000_000_000_000),
        ("1e3", 1_000),
        ("1E3", 1_000),
        ("007", 7),
        ("0", 0),
    ] {
        assert_eq!(q(text).as_int64(), Some(value), "{text}");
    }
}

#[test]
fn values_compare_whatever_their_form() {
    for (a, b) in [
        ("200M", "0.2G"),
        ("1500m", "1.5"),
        ("100G", "100e9"),
        ("80Gi", "81920Mi"),
        ("1.5Gi", "1610612736"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("1e-2000000000", "1n"),
        ("0.5Ki", "512"),
        (".5", "500m"),
        ("-0", "0"),
        ("100000000000000000000", "100E"),
    ] {
        assert_eq!(q(a), q(b), "{a} == {b}");
    }
    for (less, more) in [
        ("50M", "50Mi"),
        ("-2", "-1"),
        ("-1", "1n"),
        ("9223372036854775807", "100000000000000000000"),
        ("99999999999999999999", "100000000000000000000"),
        ("1e1000000000", "1e1000000001"),
        ("-1e1000000001", "-1e1000000000"),
    ] {
        assert!(q(less) < q(more), "{less} < {more}");
        assert!(q(more) > q(less), "{more} > {less}");
    }
}

#[test]
fn binary_suffixes_are_capped() {
    assert_eq!(q("100Ei"), q("9223372036854775807"));
    assert_eq!(q("-100Ei"), q("-9223372036854775807"));
    assert!(q("100E") > q("100Ei"));
}

#[test]
fn what_is_not_a_quantity() {
    use QuantityError::{Format, Suffix};
    for (text, error) in [
        ("", Format),
        ("1 Gi", Format),
        ("1Gi ", Format),
        ("abc", Format),
        ("1e3Ki", Format),
        ("10Mm", Suffix),
        ("1e", Suffix),
        ("1K", Suffix),
        ("1e+", Suffix),
        ("1k5", Suffix),
    ] {
        assert_eq!(Quantity::parse(text).err(), Some(error), "{text:?}");
    }
}

#[test]
fn integers_depend_on_the_form() {
    for text in [
        "1000m",
        "1.5Gi",
        "1.0",
        "0.5",
        "9999999999999999999999",
        "10E",
        "1Pi",
    ] {
        assert_eq!(q(text).as_int64(), None, "{text}");
    }
    assert_eq!(
        q("1000m").checked_add(&q("0")).and_then(|q| q.as_int64()),
        None
    );
}

#[test]
fn sums_are_exact() {
    for (a, b, sum) in [
        ("50k", "20", "50.02k"),
        ("1n", "1E", "1000000000000000000.000000001"),
        ("9223372036854775807", "1", "9223372036854775808"),
        ("-1.5Gi", "1.5Gi", "0"),
        ("9999999999999999999999", "1", "10000000000000000000000"),
        ("9999999999999999999999", "-9999999999999999999999", "0"),
        ("1", "-9999999999999999999999", "-9999999999999999999998"),
    ] {
        assert_eq!(q(a).checked_add(&q(b)), Some(q(sum)), "{a} + {b}");
        assert_eq!(q(sum).checked_sub(&q(b)), Some(q(a)), "{sum} - {b}");
    }
    assert_eq!(q("1e1000000000").checked_add(&q("1")), None);
}

#[test]
fn floats_and_signs() {
    assert_eq!(q("50.703k").as_approximate_f64(), 50703.0);
    assert_eq!(q("1.5Gi").as_approximate_f64(), 1_610_612_736.0);
    assert_eq!(q("-2m").sign(), -1);
    assert_eq!(q("0.0").sign(), 0);
    assert_eq!(q("0.0001n").sign(), 1);
}

/// Any quantity prints to something that reads back as the same value, and sums can be undone.
#[test]
fn round_trips() {
    let mut seed = 7u64;
    let mut next = |n: u64| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    let suffixes = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e5",
        "E-3",
    ];
    let mut random = || {
        let mut text = String::from(["", "-", "+"][next(3) as usize]);
        for _ in 0..1 + next(24) {
            text.push(char::from(b'0' + next(10) as u8));
        }
        if next(2) == 0 {
            text.push('.');
            for _ in 0..next(12) {
                text.push(char::from(b'0' + next(10) as u8));
            }
        }
        text.push_str(suffixes[next(suffixes.len() as u64) as usize]);
        text
    };
    for _ in 0..5_000 {
        let (a, b) = (q(&random()), q(&random()));
        assert_eq!(q(&a.to_string()), a, "{a}");
        let sum = a.checked_add(&b).expect("scales are near");
        assert_eq!(
            sum,
            b.checked_add(&a).expect("scales are near"),
            "{a} + {b}"
        );
        assert_eq!(
            sum.checked_sub(&b).expect("scales are near"),
            a,
            "{a} + {b} - {b}"
        );
        assert_eq!(a.cmp(&b), b.cmp(&a).reverse(), "{a} and {b}");
    }
}

#[test]
fn billionths() {
    let billionths = |text: &str| q(text).billionths();
    assert_eq!(billionths("1"), Some(1_000_000_000));
    assert_eq!(billionths("-5m"), Some(-5_000_000));
    assert_eq!(billionths("2Ki"), Some(2_048_000_000_000));
    assert_eq!(billionths("1.5Gi"), Some(1_610_612_736_000_000_000));
    assert_eq!(billionths("0.1n"), Some(1));
    assert_eq!(billionths("0E"), Some(0));
    // 10^22 is 10^31 billionths, below i128::MAX / 2^20, which is about 1.6 * 10^32; 10^24 is 10^33.
    assert_eq!(billionths("10000E"), Some(10i128.pow(31)));
    assert_eq!(billionths("1e24"), None);
    assert_eq!(billionths("1e1000"), None);
}
