//! Tests of the allocator as a whole: each rule of a version in `rules`, each feature in `features`, every text in `texts`;
//! random clusters (`random`, `matrix`) against the `oracle`; and `survey` and `glance` against the search.

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
