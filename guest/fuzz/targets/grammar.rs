//! Bytes as choices among the productions of a grammar, so that most expressions compile and evaluation gets deep.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "this target does not use all of them")]
mod checks;
#[path = "../../src/cel/tests/grammar.rs"]
mod grammar;
#[path = "../watch.rs"]
mod watch;

use arbitrary::Unstructured;

/// Choices that the fuzzer makes; none are left at the end of its input, which means the first production.
struct Choices<'d>(Unstructured<'d>);

impl grammar::Choose for Choices<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.0.choose_index(n).unwrap_or(0)
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    use grammar::Choose;
    let mut choices = Choices(Unstructured::new(data));
    let depth = 1 + choices.below(7);
    let grammars = [grammar::CORE, grammar::KUBERNETES, grammar::DYNAMIC];
    let text = grammar::expression(&mut choices, &grammars, 'B', depth);
    watch::selector(&text);
});
