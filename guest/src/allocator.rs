//! The structured allocator.
