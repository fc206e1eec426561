//! Big decimals for quantities: just enough arithmetic, nothing that needs a bignum crate.

use std::cmp::Ordering;
use std::fmt;

/// Digits that an operation may materialise.
const MOST_DIGITS: i64 = 20_000;
/// Scales above this are kept as they are when rounding to nano would write out all the zeros.
const MOST_ROUNDED_SCALE: i32 = 1_000;
const TEN_TO_NINE: u32 = 1_000_000_000;

/// `sign * magnitude * 10^scale`.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    negative: bool,
    /// Little-endian base 2^32 without leading zero words; empty is zero.
    magnitude: Vec<u32>,
    scale: i32,
}

impl Decimal {
    pub(super) fn from_int(value: i64, scale: i32) -> Self {
        let abs = value.unsigned_abs();
        let mut magnitude = vec![abs as u32, (abs >> 32) as u32];
        trim(&mut magnitude);
        Self {
            negative: value < 0,
            magnitude,
            scale,
        }
    }

    /// From ASCII digits.
    pub(super) fn from_digits(digits: impl Iterator<Item = u8>) -> Self {
        let mut magnitude = Vec::new();
        let (mut chunk, mut factor) = (0u32, 1u32);
        for digit in digits {
            chunk = chunk * 10 + u32::from(digit - b'0');
            factor *= 10;
            if factor == TEN_TO_NINE {
                mul_add(&mut magnitude, factor, chunk);
                (chunk, factor) = (0, 1);
            }
        }
        if factor > 1 {
            mul_add(&mut magnitude, factor, chunk);
        }
        trim(&mut magnitude);
        Self {
            negative: false,
            magnitude,
            scale: 0,
        }
    }

    pub(super) fn scale(&self) -> i32 {
        self.scale
    }

    pub(super) fn set_scale(&mut self, scale: i32) {
        self.scale = scale;
    }

    pub(super) fn shift_left(&mut self, bits: u32) {
        for _ in 0..bits / 16 {
            mul_add(&mut self.magnitude, 1 << 16, 0);
        }
        mul_add(&mut self.magnitude, 1 << (bits % 16), 0);
        trim(&mut self.magnitude);
    }

    pub(super) fn negated(mut self) -> Self {
        self.negative = !self.negative && !self.magnitude.is_empty();
        self
    }

    pub(super) fn sign(&self) -> i64 {
        match (self.magnitude.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Gives it the scale `to`, rounding away from zero.
    pub(super) fn round_up_to(&mut self, to: i32) {
        if self.magnitude.is_empty() {
            self.scale = to;
        } else if self.scale >= to {
            if self.scale <= MOST_ROUNDED_SCALE {
                self.rescale(to);
            }
        } else {
            let mut drop = i64::from(to) - i64::from(self.scale);
            let mut inexact = false;
            while drop > 0 && !self.magnitude.is_empty() {
                let digits = drop.min(9) as u32;
                inexact |= div_rem(&mut self.magnitude, 10u32.pow(digits)) != 0;
                drop -= i64::from(digits);
            }
            // Digits were left to drop only if nothing but a remainder was left.
            if inexact {
                mul_add(&mut self.magnitude, 1, 1);
            }
            self.scale = to;
        }
    }

    /// The value at this scale, which it is rounded to away from zero, if it fits.
    pub(super) fn scaled_to(&self, to: i32) -> Option<i128> {
        /// More digits never fit.
        const DIGITS: i64 = 39;
        if self.magnitude.is_empty() {
            return Some(0);
        }
        if i64::from(self.scale) - i64::from(to) > DIGITS {
            return None;
        }
        let mut scaled = self.clone();
        scaled.round_up_to(to);
        if scaled.magnitude.len() > 4 {
            return None;
        }
        let words = scaled.magnitude.iter().rev();
        let magnitude = words.fold(0u128, |value, word| value << 32 | u128::from(*word));
        let value = i128::try_from(magnitude).ok()?;
        Some(if self.negative { -value } else { value })
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.sign() == 0 {
            return by_sign;
        }
        let order = self.compare_magnitude(other);
        if self.negative {
            order.reverse()
        } else {
            order
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        if self.scale != other.scale {
            let places = |d: &Self| d.digits().len() as i64 + i64::from(d.scale);
            let by_places = places(self).cmp(&places(other));
            if by_places != Ordering::Equal {
                return by_places;
            }
        }
        let scale = self.scale.min(other.scale);
        compare_words(
            &self.rescaled(scale).magnitude,
            &other.rescaled(scale).magnitude,
        )
    }

    pub(super) fn checked_add(&self, other: &Self) -> Option<Self> {
        let scale = self.scale.min(other.scale);
        let apart = i64::from(self.scale).abs_diff(i64::from(other.scale));
        if i64::try_from(apart).ok()? > MOST_DIGITS {
            return None;
        }
        let (a, b) = (self.rescaled(scale), other.rescaled(scale));
        if i64::try_from(a.magnitude.len().max(b.magnitude.len())).ok()? * 9 > 2 * MOST_DIGITS {
            return None;
        }
        let (negative, mut magnitude) = if a.negative == b.negative {
            (a.negative, add_words(&a.magnitude, &b.magnitude))
        } else if compare_words(&a.magnitude, &b.magnitude) == Ordering::Less {
            (b.negative, sub_words(&b.magnitude, &a.magnitude))
        } else {
            (a.negative, sub_words(&a.magnitude, &b.magnitude))
        };
        trim(&mut magnitude);
        Some(Self {
            negative: negative && !magnitude.is_empty(),
            magnitude,
            scale,
        })
    }

    /// The magnitude with its sign, without the scale.
    pub(super) fn unscaled_f64(&self) -> f64 {
        let abs: f64 = self.digits().parse().unwrap_or(f64::INFINITY);
        if self.negative { -abs } else { abs }
    }

    fn rescaled(&self, scale: i32) -> Self {
        let mut copy = self.clone();
        copy.rescale(scale);
        copy
    }

    /// Lowers the scale, which adds zeros.
    fn rescale(&mut self, scale: i32) {
        let mut places = i64::from(self.scale) - i64::from(scale);
        while places > 0 && !self.magnitude.is_empty() {
            let digits = places.min(9) as u32;
            mul_add(&mut self.magnitude, 10u32.pow(digits), 0);
            places -= i64::from(digits);
        }
        self.scale = scale;
    }

    /// Decimal digits of the magnitude.
    fn digits(&self) -> String {
        let mut words = self.magnitude.clone();
        let mut chunks = Vec::new();
        while !words.is_empty() {
            chunks.push(div_rem(&mut words, TEN_TO_NINE));
        }
        let Some(first) = chunks.pop() else {
            return "0".to_string();
        };
        let mut text = first.to_string();
        for chunk in chunks.iter().rev() {
            text.push_str(&format!("{chunk:09}"));
        }
        text
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}{}e{}", self.digits(), self.scale)
    }
}

fn trim(words: &mut Vec<u32>) {
    while words.last() == Some(&0) {
        words.pop();
    }
}

/// `words = words * factor + addend`.
fn mul_add(words: &mut Vec<u32>, factor: u32, addend: u32) {
    let mut carry = u64::from(addend);
    for word in words.iter_mut() {
        carry += u64::from(*word) * u64::from(factor);
        *word = carry as u32;
        carry >>= 32;
    }
    if carry > 0 {
        words.push(carry as u32);
    }
}

/// Divides in place and returns the remainder.
fn div_rem(words: &mut Vec<u32>, divisor: u32) -> u32 {
    let mut remainder = 0u64;
    for word in words.iter_mut().rev() {
        remainder = (remainder << 32) | u64::from(*word);
        *word = (remainder / u64::from(divisor)) as u32;
        remainder %= u64::from(divisor);
    }
    trim(words);
    remainder as u32
}

fn compare_words(a: &[u32], b: &[u32]) -> Ordering {
    a.len()
        .cmp(&b.len())
        .then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn add_words(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut sum = Vec::with_capacity(a.len().max(b.len()) + 1);
    let mut carry = 0u64;
    for i in 0..a.len().max(b.len()) {
        carry +=
            u64::from(a.get(i).copied().unwrap_or(0)) + u64::from(b.get(i).copied().unwrap_or(0));
        sum.push(carry as u32);
        carry >>= 32;
    }
    sum.push(carry as u32);
    sum
}

/// `a - b` for `a >= b`.
fn sub_words(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut borrow = 0i64;
    a.iter()
        .enumerate()
        .map(|(i, word)| {
            let difference = i64::from(*word) - i64::from(b.get(i).copied().unwrap_or(0)) - borrow;
            borrow = i64::from(difference < 0);
            difference as u32
        })
        .collect()
}
