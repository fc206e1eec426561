//! Timestamps and durations without a date library: RFC 3339, Go's duration syntax, calendar fields and time zones.

use std::cmp::Ordering;

mod zones;

/// First and last second that cel-go accepts: years 1 to 9999.
const MIN_SECONDS: i64 = -62_135_596_800;
const MAX_SECONDS: i64 = 253_402_300_799;
const DAY: i64 = 86_400;
const NANOS: i64 = 1_000_000_000;

/// A moment: seconds and nanoseconds since 1970 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp {
    seconds: i64,
    nanos: u32,
}

/// Calendar fields in some zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    /// From 0.
    pub(crate) day_of_year: i64,
    /// From 0, Sunday.
    pub(crate) weekday: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

impl Timestamp {
    /// `None` outside of years 1 to 9999.
    pub(crate) fn new(seconds: i64, nanos: i64) -> Option<Self> {
        let seconds = seconds.checked_add(nanos.div_euclid(NANOS))?;
        let nanos = u32::try_from(nanos.rem_euclid(NANOS)).ok()?;
        (MIN_SECONDS..=MAX_SECONDS)
            .contains(&seconds)
            .then_some(Self { seconds, nanos })
    }

    pub(crate) fn seconds(self) -> i64 {
        self.seconds
    }

    pub(crate) fn nanos(self) -> u32 {
        self.nanos
    }

    /// Later by a duration.
    pub(crate) fn add(self, duration: i64) -> Option<Self> {
        let nanos = i64::from(self.nanos) + duration % NANOS;
        Self::new(self.seconds.checked_add(duration / NANOS)?, nanos)
    }

    /// The duration since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Option<i64> {
        let seconds = self.seconds.checked_sub(earlier.seconds)?;
        seconds
            .checked_mul(NANOS)?
            .checked_add(i64::from(self.nanos) - i64::from(earlier.nanos))
    }

    /// Reads RFC 3339.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if bytes.len() < 20 || separators.iter().any(|(at, b)| bytes.get(*at) != Some(b)) {
            return None;
        }
        let number = |from: usize, to: usize| digits(text.get(from..to)?);
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let (nanos, rest) = fraction(text.get(19..)?)?;
        let offset = parse_offset_suffix(rest)?;
        let seconds =
            days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
        Self::new(seconds, nanos)
    }

    /// Calendar fields at an offset from UTC.
    pub(crate) fn civil(self, offset: i64) -> Civil {
        let local = self.seconds + offset;
        let (days, second_of_day) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        Civil {
            year,
            month,
            day,
            day_of_year: days - days_from_civil(year, 1, 1),
            weekday: (days + 4).rem_euclid(7),
            hour: second_of_day / 3600,
            minute: second_of_day / 60 % 60,
            second: second_of_day % 60,
        }
    }
}

/// RFC 3339 in UTC with as many digits of the second as needed.
impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let c = self.civil(0);
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            c.year, c.month, c.day, c.hour, c.minute, c.second
        )?;
        if self.nanos > 0 {
            write!(f, ".{}", format!("{:09}", self.nanos).trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

fn digits(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        None
    } else {
        text.parse().ok()
    }
}

/// Reads `.123`, if it is there, as nanoseconds.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else {
        return Some((0, text));
    };
    let end = rest
        .bytes()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(rest.len());
    let (places, rest) = rest.split_at(end);
    let places = places.get(..places.len().min(9))?;
    Some((digits(places)? * 10i64.pow(9 - places.len() as u32), rest))
}

/// `Z` or `+hh:mm`.
fn parse_offset_suffix(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if text.len() != 6 || text.as_bytes().get(3) != Some(&b':') {
        return None;
    }
    let (hours, minutes) = (digits(text.get(1..3)?)?, digits(text.get(4..6)?)?);
    (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// Reads Go's duration syntax: `1h30m`, `-1.5s`, `100ms`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", NANOS),
        ("m", 60 * NANOS),
        ("h", 3600 * NANOS),
    ];
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && part.is_empty()) || part.contains('.') {
            return None;
        }
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let (_, nanos) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let whole = match whole.trim_start_matches('0') {
            "" => 0,
            digits => digits.parse::<u64>().ok()?,
        };
        total += i128::from(whole) * i128::from(*nanos) + fraction_of(*nanos, part);
        // More than an int64 holds can only grow.
        if total > 1 << 64 {
            return None;
        }
        rest = tail;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// The part of a unit that decimal digits say, by Go's floating-point calculation; digits beyond an int64 do not count.
fn fraction_of(unit: i64, digits: &str) -> i128 {
    let (mut value, mut scale) = (0i64, 1.0f64);
    for digit in digits.bytes() {
        let next = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(i64::from(digit - b'0')));
        match next {
            Some(next) => value = next,
            None => break,
        }
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as i128
}

/// How cel-go prints a duration: seconds, as a floating-point number with all that it costs in precision.
pub(crate) fn duration_text(nanos: i64) -> String {
    let seconds = (nanos / NANOS) as f64 + (nanos % NANOS) as f64 / NANOS as f64;
    format!("{seconds}s")
}

/// Offset from UTC of a zone at a moment; the zone is a name, or `+hh:mm` with or without sign.
pub(crate) fn zone_offset(zone: &str, at: Timestamp) -> Result<i64, String> {
    if let Some((hours, minutes)) = zone.split_once(':') {
        let number = |text: &str| text.parse::<i64>().map_err(|e| e.to_string());
        let (h, m) = (number(hours)?, number(minutes)?);
        let minutes = if hours.starts_with('-') {
            h.saturating_mul(60) - m
        } else {
            h.saturating_mul(60) + m
        };
        return Ok(minutes.clamp(-100_000, 100_000) * 60);
    }
    if matches!(zone, "" | "UTC" | "Local") {
        return Ok(0);
    }
    zones::ZONES
        .iter()
        .find(|(_, names)| names.split(' ').any(|name| name == zone))
        .and_then(|(rule, _)| Rule::parse(rule))
        .map(|rule| rule.offset(at))
        .ok_or_else(|| format!("unknown time zone {zone}"))
}

/// A POSIX time zone rule.
struct Rule {
    standard: i64,
    daylight: Option<(i64, Change, Change)>,
}

/// When daylight saving starts or ends: week and weekday of a month, and the local time of day.
#[derive(Clone, Copy)]
struct Change {
    month: i64,
    week: i64,
    weekday: i64,
    time: i64,
}

impl Rule {
    fn parse(text: &str) -> Option<Self> {
        let (standard, rest) = parse_zone(text)?;
        if rest.is_empty() {
            return Some(Self {
                standard,
                daylight: None,
            });
        }
        let (zone, changes) = rest.split_once(',')?;
        let (start, end) = changes.split_once(',')?;
        let daylight = if after_name(zone)?.is_empty() {
            standard + 3600
        } else {
            parse_zone(zone)?.0
        };
        Some(Self {
            standard,
            daylight: Some((daylight, Change::parse(start)?, Change::parse(end)?)),
        })
    }

    fn offset(&self, at: Timestamp) -> i64 {
        let Some((daylight, start, end)) = &self.daylight else {
            return self.standard;
        };
        let year = at.civil(self.standard).year;
        let starts = start.moment(year) - self.standard;
        let ends = end.moment(year) - daylight;
        let summer = match starts.cmp(&ends) {
            Ordering::Less => (starts..ends).contains(&at.seconds),
            _ => !(ends..starts).contains(&at.seconds),
        };
        if summer { *daylight } else { self.standard }
    }
}

impl Change {
    fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once('/').unwrap_or((text, "2"));
        let mut parts = date.strip_prefix('M')?.split('.').map(digits);
        let (month, week, weekday) = (parts.next()??, parts.next()??, parts.next()??);
        Some(Self {
            month,
            week,
            weekday,
            time: parse_clock(time)?,
        })
    }

    /// Local seconds since 1970 of the change in a year.
    fn moment(self, year: i64) -> i64 {
        let first = days_from_civil(year, self.month, 1);
        let to_weekday = (self.weekday - (first + 4)).rem_euclid(7);
        let mut day = to_weekday + (self.week - 1) * 7;
        if day >= days_in_month(year, self.month) {
            day -= 7;
        }
        (first + day) * DAY + self.time
    }
}

/// What follows the name of a zone.
fn after_name(text: &str) -> Option<&str> {
    match text.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>').map(|(_, rest)| rest),
        None => Some(text.trim_start_matches(|c: char| c.is_ascii_alphabetic())),
    }
}

/// Reads a name and the offset after it, which POSIX counts westwards.
fn parse_zone(text: &str) -> Option<(i64, &str)> {
    let rest = after_name(text)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && !"+-:".contains(c))
        .unwrap_or(rest.len());
    let (offset, rest) = rest.split_at(end);
    Some((-parse_clock(offset)?, rest))
}

/// `[+-]h[:mm[:ss]]` in seconds.
fn parse_clock(text: &str) -> Option<i64> {
    let negative = text.starts_with('-');
    let mut parts = text
        .strip_prefix(['-', '+'])
        .unwrap_or(text)
        .split(':')
        .map(digits);
    let hours = parts.next()??;
    let minutes = parts.next().unwrap_or(Some(0))?;
    let seconds = parts.next().unwrap_or(Some(0))?;
    let total = hours * 3600 + minutes * 60 + seconds;
    Some(if negative { -total } else { total })
}
