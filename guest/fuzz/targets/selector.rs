//! Any bytes as an expression.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "this target does not use all of them")]
mod checks;
#[path = "../watch.rs"]
mod watch;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        watch::selector(text);
    }
});
