//! Tests of the allocator.
