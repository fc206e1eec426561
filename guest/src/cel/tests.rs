//! Properties of the language as a whole; recorded cases are in the package `tests`.

use super::*;

mod dialect;
mod grammar;
mod limits;
mod properties;
