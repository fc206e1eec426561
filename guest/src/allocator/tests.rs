//! Tests of the allocator as a whole.

pub mod support;

mod adversarial;
mod features;
mod matrix;
mod oracle;
mod random;
mod rules;
mod texts;
