//! The recorded cases, and properties of the language as a whole.

use super::*;

mod grammar;
mod limits;
mod properties;
mod recorded;
