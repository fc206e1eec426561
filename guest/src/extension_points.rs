//! One file per extension point of the scheduling framework (spec section 7).

pub mod filter;
pub mod post_bind;
pub mod post_filter;
pub mod pre_bind;
pub mod pre_enqueue;
pub mod pre_filter;
pub mod pre_score;
pub mod reserve;
pub mod unreserve;
