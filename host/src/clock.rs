//! The host's clock, virtual, the stopwatch behind `--stats`, and the times of files. Nothing else in the host reads the machine's time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// Wall-clock time in nanoseconds since 1970-01-01 UTC that moves only when it is told to. Copies share the time.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    /// A clock that stands at this time.
    pub fn starting_at(nanoseconds: u64) -> Self {
        Self(Arc::new(AtomicU64::new(nanoseconds)))
    }

    /// The time.
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Moves on to this time; a time that has passed already changes nothing.
    pub fn advance_to(&self, nanoseconds: u64) {
        self.0.fetch_max(nanoseconds, Ordering::Relaxed);
    }
}

/// Measures real time. Its readings go into statistics only, never into a decision.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Nanoseconds since the start.
    pub fn nanoseconds(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    changed: SystemTime,
    length: u64,
}

impl FileStamp {
    /// Absent if the file is.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            changed: metadata.modified().ok()?,
            length: metadata.len(),
        })
    }
}

/// Does nothing for so many nanoseconds of real time.
pub fn pause(nanoseconds: u64) {
    std::thread::sleep(Duration::from_nanos(nanoseconds));
}

/// The time as Kubernetes writes it: RFC 3339 in UTC, whole seconds.
pub fn rfc3339(nanoseconds: u64) -> String {
    let seconds = nanoseconds / SECOND;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day number, day 0 being 1970-01-01.
///
/// Counts in years that begin in March, so that the leap day is the last one, and in eras of 400 years, which all have
/// 146,097 days.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_the_time_and_it_never_goes_back() {
        let clock = Clock::starting_at(5);
        let copy = clock.clone();
        clock.advance_to(9);
        clock.advance_to(7);
        assert_eq!(copy.now(), 9);
    }

    /// Expected values from `date -u -d @SECONDS`.
    #[test]
    fn writes_dates_around_leap_days() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_725_184_800, "2024-09-01T10:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds * SECOND), expected);
        }
    }
}
