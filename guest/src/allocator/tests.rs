//! Tests of the allocator as a whole.

pub mod support;

mod adversarial;
mod features;
mod glance;
pub mod matrix;
mod oracle;
pub mod random;
mod rules;
mod survey;
mod texts;
