//! resource.Quantity: exact decimal numbers with Kubernetes' suffixes (spec section 10.4).
//!
//! As upstream, a quantity is held either as an int64 with a decimal scale or, when that does not suffice, as a big
//! decimal. Which of the two it is can be observed: `asInteger` works on the first form only.

use std::cmp::Ordering;
use std::fmt;

mod decimal;
#[cfg(test)]
mod tests;

use decimal::Decimal;

/// Decimal digits that an int64 holds whatever they are.
const INT64_DIGITS: i32 = 18;
/// Smallest scale that is kept; anything finer is rounded away from zero.
const NANO: i32 = -9;

/// A quantity. Comparison is by value; format and representation do not matter for it.
#[derive(Clone, Debug)]
pub struct Quantity(Repr);

#[derive(Clone, Debug)]
enum Repr {
    /// `value * 10^scale`.
    Int { value: i64, scale: i32 },
    /// Anything that does not fit, and all binary quantities with a fraction.
    Dec(Decimal),
}

/// Why a string is not a quantity; the texts are upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// Not of the form number plus suffix.
    Format,
    /// The number cannot be read.
    Numeric,
    /// Unknown suffix.
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantityError::Format => {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            QuantityError::Numeric => "unable to parse numeric part of quantity",
            QuantityError::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

impl Quantity {
    /// Reads a quantity, upstream's ParseQuantity.
    ///
    /// # Errors
    /// If it is not one; upstream's text.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let parts = Parts::split(text)?;
        let suffix = Suffix::parse(parts.suffix).ok_or(QuantityError::Suffix)?;
        match parts.int64(suffix)? {
            Some(small) => Ok(Self(small)),
            None => parts.decimal(suffix).map(|d| Self(Repr::Dec(d))),
        }
    }

    /// The integer `value`.
    pub fn from_int(value: i64) -> Self {
        Self(Repr::Int { value, scale: 0 })
    }

    /// The value if it is *held as* an integer: upstream's AsInt64, which neither reduces `1000m` nor looks into the
    /// big decimal form.
    pub fn as_int64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int { value, scale } if scale >= 0 => scale_up(value, scale),
            _ => None,
        }
    }

    /// The nearest float, by the same two roundings as upstream.
    pub fn as_approximate_f64(&self) -> f64 {
        let (base, exponent) = match &self.0 {
            Repr::Int { value, scale } => (*value as f64, *scale),
            Repr::Dec(dec) => (dec.unscaled_f64(), dec.scale()),
        };
        if exponent == 0 {
            base
        } else {
            base * pow10(exponent)
        }
    }

    /// The value in billionths, of which nothing finer is kept; `None` if it is too large for arithmetic with many of its kind.
    pub fn billionths(&self) -> Option<i128> {
        /// So that a million of them can be added.
        const MOST: i128 = i128::MAX >> 20;
        let value = match &self.0 {
            Repr::Int { value: 0, .. } => Some(0),
            Repr::Int { value, scale } => {
                let exponent = u32::try_from(scale - NANO).ok()?;
                i128::from(*value).checked_mul(10i128.checked_pow(exponent)?)
            }
            Repr::Dec(dec) => dec.scaled_to(NANO),
        }?;
        (value.abs() <= MOST).then_some(value)
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i64 {
        match &self.0 {
            Repr::Int { value, .. } => value.signum(),
            Repr::Dec(dec) => dec.sign(),
        }
    }

    /// Whether it is held in the big form. Kubernetes before 1.37 changes such a receiver in `add` and `sub`.
    pub fn is_big(&self) -> bool {
        matches!(self.0, Repr::Dec(_))
    }

    /// The sum; `None` if it would need more digits than anybody should ask for.
    pub fn checked_add(&self, other: &Quantity) -> Option<Quantity> {
        if let (Repr::Int { value: a, scale: s }, Repr::Int { value: b, scale: t }) =
            (&self.0, &other.0)
            && let Some(sum) = add_int64((*a, *s), (*b, *t))
        {
            return Some(Self(sum));
        }
        let sum = self.to_decimal().checked_add(&other.to_decimal())?;
        Some(Self(Repr::Dec(sum)))
    }

    /// The difference, as [`Quantity::checked_add`].
    pub fn checked_sub(&self, other: &Quantity) -> Option<Quantity> {
        let negated = match &other.0 {
            Repr::Int {
                value: i64::MIN, ..
            } => Repr::Dec(other.to_decimal().negated()),
            Repr::Int { value, scale } => Repr::Int {
                value: -value,
                scale: *scale,
            },
            Repr::Dec(dec) => Repr::Dec(dec.clone().negated()),
        };
        self.checked_add(&Self(negated))
    }

    fn to_decimal(&self) -> Decimal {
        match &self.0 {
            Repr::Int { value, scale } => Decimal::from_int(*value, *scale),
            Repr::Dec(dec) => dec.clone(),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Int { value: a, scale: s }, Repr::Int { value: b, scale: t }) if s == t => {
                a.cmp(b)
            }
            _ => self.to_decimal().compare(&other.to_decimal()),
        }
    }
}

/// Exact, in a form that [`Quantity::parse`] reads back: digits and a decimal exponent.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int { value, scale: 0 } => write!(f, "{value}"),
            Repr::Int { value, scale } => write!(f, "{value}e{scale}"),
            Repr::Dec(dec) => write!(f, "{dec}"),
        }
    }
}

/// What a suffix multiplies by.
#[derive(Clone, Copy)]
enum Suffix {
    /// Power of ten.
    Decimal(i32),
    /// Power of two.
    Binary(u32),
}

impl Suffix {
    fn parse(text: &str) -> Option<Self> {
        const DECIMAL: [(&str, i32); 10] = [
            ("", 0),
            ("n", -9),
            ("u", -6),
            ("m", -3),
            ("k", 3),
            ("M", 6),
            ("G", 9),
            ("T", 12),
            ("P", 15),
            ("E", 18),
        ];
        const BINARY: [(&str, u32); 6] = [
            ("Ki", 10),
            ("Mi", 20),
            ("Gi", 30),
            ("Ti", 40),
            ("Pi", 50),
            ("Ei", 60),
        ];
        if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == text) {
            return Some(Suffix::Decimal(*exponent));
        }
        if let Some((_, exponent)) = BINARY.iter().find(|(name, _)| *name == text) {
            return Some(Suffix::Binary(*exponent));
        }
        let exponent = text.strip_prefix(['e', 'E'])?;
        // Upstream reads an int64 and keeps its low 32 bits.
        exponent
            .parse::<i64>()
            .ok()
            .map(|e| Suffix::Decimal(e as i32))
    }
}

/// A quantity cut into its parts.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point without leading zeros, or `0`.
    integer: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    /// Upstream's parseQuantityString. It accepts more than it documents, for example `.` and `+` (both zero).
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        let negative = text.starts_with('-');
        let unsigned = text
            .strip_prefix(['-', '+'])
            .unwrap_or(text)
            .trim_start_matches('0');
        let (integer, rest) = split_digits(unsigned);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest),
            None => ("", rest),
        };
        let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if !exponent.bytes().all(|b| b.is_ascii_digit()) {
            return Err(QuantityError::Format);
        }
        let integer = if integer.is_empty() { "0" } else { integer };
        Ok(Self {
            negative,
            integer,
            fraction,
            suffix,
        })
    }

    fn digits(&self) -> i32 {
        i32::try_from(self.integer.len() + self.fraction.len()).unwrap_or(i32::MAX)
    }

    /// The int64 form if upstream would use it.
    fn int64(&self, suffix: Suffix) -> Result<Option<Repr>, QuantityError> {
        let (precision, multiplier, exponent) = match suffix {
            Suffix::Decimal(exponent) => (INT64_DIGITS.saturating_sub(self.digits()), 1, exponent),
            Suffix::Binary(exponent) if self.fraction.is_empty() => (
                15 - self.digits().min(100) - (exponent as f32 * 3.0 / 10.0) as i32 - 1,
                1i64 << exponent,
                0,
            ),
            Suffix::Binary(_) => return Ok(None),
        };
        let scale = exponent.wrapping_sub(i32::try_from(self.fraction.len()).unwrap_or(i32::MAX));
        if precision < 0 || scale < NANO {
            return Ok(None);
        }
        let unscaled: i64 = format!("{}{}", self.integer, self.fraction)
            .parse()
            .map_err(|_| QuantityError::Numeric)?;
        Ok(unscaled.checked_mul(multiplier).map(|v| Repr::Int {
            value: if self.negative { -v } else { v },
            scale,
        }))
    }

    fn decimal(&self, suffix: Suffix) -> Result<Decimal, QuantityError> {
        let scale = -i64::try_from(self.fraction.len()).map_err(|_| QuantityError::Numeric)?;
        let mut dec = Decimal::from_digits(self.integer.bytes().chain(self.fraction.bytes()));
        let scale = match suffix {
            Suffix::Decimal(exponent) => scale + i64::from(exponent),
            Suffix::Binary(exponent) => {
                dec.shift_left(exponent);
                scale
            }
        };
        dec.set_scale(i32::try_from(scale).map_err(|_| QuantityError::Numeric)?);
        dec.round_up_to(NANO);
        if matches!(suffix, Suffix::Binary(_)) {
            let most = Decimal::from_int(i64::MAX, 0);
            if dec.compare(&most) == Ordering::Greater {
                dec = most;
            }
        }
        Ok(if self.negative { dec.negated() } else { dec })
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(
        text.bytes()
            .position(|b| !b.is_ascii_digit())
            .unwrap_or(text.len()),
    )
}

/// `value * 10^scale` for a scale that is not negative.
fn scale_up(value: i64, scale: i32) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    let scale = u32::try_from(scale).ok()?;
    value.checked_mul(10i64.checked_pow(scale)?)
}

fn add_int64((a, s): (i64, i32), (b, t): (i64, i32)) -> Option<Repr> {
    if b == 0 {
        return Some(Repr::Int { value: a, scale: s });
    }
    if a == 0 {
        return Some(Repr::Int { value: b, scale: t });
    }
    let scale = s.min(t);
    let a = scale_up(a, s.checked_sub(scale)?)?;
    let b = scale_up(b, t.checked_sub(scale)?)?;
    Some(Repr::Int {
        value: a.checked_add(b)?,
        scale,
    })
}

/// Go's math.Pow10.
fn pow10(exponent: i32) -> f64 {
    // Reading the literal rounds correctly, which powi does not.
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}
