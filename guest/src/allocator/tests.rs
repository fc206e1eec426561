//! Tests of the allocator as a whole.

pub mod support;

mod adversarial;
mod oracle;
mod random;
mod rules;
mod texts;
