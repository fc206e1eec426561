//! Calls a check and looks at the clock: an overrun is a finding like a panic.

use std::time::{Duration, Instant};

use dynamic_resources::cel::Environment;
use dynamic_resources::profile::Profile;

use crate::checks;

/// For parsing and checking of at most 10 KiB.
const MOST: Duration = Duration::from_millis(50);
const MOST_BYTES: usize = 10 << 10;
/// For a check as a whole, which compiles twice and evaluates up to eight times, up to the cost limit.
const MOST_IN_ALL: Duration = Duration::from_secs(5);

/// [`checks::selector`] within its time. Of three attempts the fastest counts, because the machine may be busy.
pub fn selector(text: &str) {
    let in_all = fastest(MOST_IN_ALL, || {
        checks::selector(text);
    });
    assert!(in_all <= MOST_IN_ALL, "took {in_all:?}: {text}");
    if text.len() > MOST_BYTES || in_all < MOST {
        return;
    }
    let environment = Environment::new(&Profile::current());
    let compile = fastest(MOST, || drop(environment.compile(text)));
    assert!(compile <= MOST, "compiling took {compile:?}: {text}");
}

fn fastest(enough: Duration, action: impl Fn()) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..3 {
        let (started, before) = (Instant::now(), processor_time());
        action();
        let elapsed = started.elapsed();
        let processor = before.and_then(|before| processor_time()?.checked_sub(before));
        fastest = fastest.min(processor.unwrap_or(elapsed).min(elapsed));
        if fastest <= enough {
            break;
        }
    }
    fastest
}

/// What this thread has had of the processor, where the system says.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
