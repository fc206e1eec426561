//! Kubernetes resource quantities, exactly, in nano-units.
//!
//! Upstream: `apimachinery/pkg/api/resource`, `ParseQuantity`. The host has its own small parser because it shares no crate
//! with the plugin; it only adds, subtracts and compares.

use serde_json::Value;

/// Nano-units in a unit.
const NANO: i128 = 1_000_000_000;

/// Values beyond this are taken as this, as upstream does.
const MAX: i128 = (i64::MAX as i128) * NANO;

/// Longest number that is worth reading: an exponent cannot bring more digits back into range.
const MAX_DIGITS: usize = 400;

/// An amount in nano-units. Never beyond ±(2^63 - 1) units as parsed; sums saturate far above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Reads a quantity as it stands in an object: a string or a number.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Reads `<sign><digits>[.<digits>]<suffix>`; fractions below a nano-unit are rounded away from zero.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let number_length = unsigned
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
            .count();
        let (number, suffix) = unsigned.split_at(number_length);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let no_digits = whole.is_empty() && fraction.is_empty();
        if no_digits || fraction.contains('.') || number.len() > MAX_DIGITS {
            return None;
        }
        let magnitude = match scale_of(suffix)? {
            Scale::Decimal(exponent) => decimal(whole, fraction, exponent),
            Scale::Binary(factor) => binary(whole, fraction, factor),
        };
        Some(Self(if negative { -magnitude } else { magnitude }))
    }

    /// The sum, saturating.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Rounded up to whole units: upstream's `Value`.
    pub fn units(self) -> i128 {
        ceiling(self.0, NANO)
    }

    /// Rounded up to thousandths: upstream's `MilliValue`.
    pub fn milli_units(self) -> i128 {
        ceiling(self.0, NANO / 1000)
    }
}

fn ceiling(value: i128, divisor: i128) -> i128 {
    value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0)
}

enum Scale {
    Decimal(i32),
    Binary(i128),
}

fn scale_of(suffix: &str) -> Option<Scale> {
    Some(match suffix {
        "n" => Scale::Decimal(-9),
        "u" => Scale::Decimal(-6),
        "m" => Scale::Decimal(-3),
        "" => Scale::Decimal(0),
        "k" => Scale::Decimal(3),
        "M" => Scale::Decimal(6),
        "G" => Scale::Decimal(9),
        "T" => Scale::Decimal(12),
        "P" => Scale::Decimal(15),
        "E" => Scale::Decimal(18),
        "Ki" => Scale::Binary(1 << 10),
        "Mi" => Scale::Binary(1 << 20),
        "Gi" => Scale::Binary(1 << 30),
        "Ti" => Scale::Binary(1 << 40),
        "Pi" => Scale::Binary(1 << 50),
        "Ei" => Scale::Binary(1 << 60),
        _ => Scale::Decimal(exponent_of(suffix.strip_prefix(['e', 'E'])?)?),
    })
}

fn exponent_of(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Out of range is as good as the ends of the range: nothing but zero is left, or the maximum.
    let magnitude = digits
        .parse::<i32>()
        .map_or(10_000, |exponent| exponent.min(10_000));
    Some(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

/// `whole.fraction * 10^exponent` in nano-units, rounded up and capped.
fn decimal(whole: &str, fraction: &str, exponent: i32) -> i128 {
    // The digits without a point, which stands `point` digits from the left once everything is in nano-units.
    let digits = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|byte| i128::from(byte - b'0'));
    let point = i64::try_from(whole.len())
        .unwrap_or(i64::MAX)
        .saturating_add(i64::from(exponent))
        .saturating_add(9);
    let (mut value, mut position, mut rest) = (0_i128, 0_i64, false);
    for digit in digits {
        if position < point {
            value = (value * 10 + digit).min(MAX);
        } else {
            rest |= digit != 0;
        }
        position += 1;
    }
    while position < point && value != 0 && value < MAX {
        value = (value * 10).min(MAX);
        position += 1;
    }
    (value + i128::from(rest)).min(MAX)
}

/// `whole.fraction * factor` in nano-units, rounded up and capped.
fn binary(whole: &str, fraction: &str, factor: i128) -> i128 {
    let digit = |byte: u8| i128::from(byte - b'0');
    let units = whole.bytes().fold(0, |value, byte| {
        (value * 10 + digit(byte)).min(i128::from(i64::MAX))
    });
    // At most 2^60 * 10^9 each, so that the sum of two fits. From the last digit on, rounding down at each step gives the
    // same as rounding down once.
    let unit = factor * NANO;
    let (mut below, mut rest) = (0, false);
    for byte in fraction.bytes().rev() {
        below += digit(byte) * unit;
        rest |= below % 10 != 0;
        below /= 10;
    }
    units
        .saturating_mul(unit)
        .saturating_add(below)
        .saturating_add(i128::from(rest))
        .min(MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        for (text, nano) in [
            ("0", 0),
            ("1", NANO),
            ("-1", -NANO),
            ("+1", NANO),
            ("0.1", NANO / 10),
            (".5", NANO / 2),
            ("5.", 5 * NANO),
            ("100m", NANO / 10),
            ("1u", 1000),
            ("1n", 1),
            ("0.5n", 1),
            ("-0.5n", -1),
            ("1e3", 1000 * NANO),
            ("1E3", 1000 * NANO),
            ("1E", 1_000_000_000_000_000_000 * NANO),
            ("12e-1", 1_200_000_000),
            ("1e-12", 1),
            ("80Gi", 80 * (1 << 30) * NANO),
            ("1.5Ki", 1536 * NANO),
            // 0.1 * 1024 = 102.4
            ("0.1Ki", 102_400_000_000),
            ("1k", 1000 * NANO),
            ("1000.0", 1000 * NANO),
            ("0e99999999999", 0),
            ("9223372036854775807", MAX),
            ("9223372036854775808", MAX),
            ("1e400", MAX),
            ("16Ei", MAX),
            ("99999999999999999999999999999999999999999999Gi", MAX),
            ("0.000000000000000000000000000000001", 1),
            // 10^-25 * 2^60 = 115.29 nano-units
            ("0.0000000000000000000000001Ei", 116),
        ] {
            assert_eq!(Quantity::parse(text), Some(Quantity(nano)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_quantities() {
        for text in [
            "", "-", ".", "+.", "1.2.3", "1 Gi", " 1", "1GiB", "1K", "1e", "1e+", "1e1.5", "0x10",
            "1_000", "ten", "1ki", "--1", "∞",
        ] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
        assert_eq!(Quantity::parse(&"9".repeat(1 << 20)), None);
        assert_eq!(Quantity::from_value(&serde_json::json!(null)), None);
        assert_eq!(Quantity::from_value(&serde_json::json!(["1"])), None);
    }

    #[test]
    fn numbers_are_quantities() {
        assert_eq!(
            Quantity::from_value(&serde_json::json!(4)),
            Quantity::parse("4")
        );
        assert_eq!(
            Quantity::from_value(&serde_json::json!(0.25)),
            Quantity::parse("250m")
        );
        assert_eq!(
            Quantity::from_value(&serde_json::json!(1e30)),
            Some(Quantity(MAX))
        );
    }

    #[test]
    fn rounding_is_away_from_what_fits() {
        let quantity = |text: &str| Quantity::parse(text).unwrap_or_default();
        assert_eq!(quantity("1.0001").units(), 2);
        assert_eq!(quantity("0.5m").milli_units(), 1);
        assert_eq!(quantity("-1.5").units(), -1);
        assert_eq!(quantity("2").plus(quantity("500m")).milli_units(), 2500);
    }
}
