//! Texts as quantities, versions, addresses, durations and so on.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "this target does not use all of them")]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        checks::values(text);
    }
});
