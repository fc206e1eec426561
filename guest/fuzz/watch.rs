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
        let started = Instant::now();
        action();
        fastest = fastest.min(started.elapsed());
        if fastest <= enough {
            break;
        }
    }
    fastest
}
