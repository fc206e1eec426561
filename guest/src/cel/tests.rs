//! The recorded cases, and properties of the language as a whole.

use super::*;

mod limits;
mod recorded;
