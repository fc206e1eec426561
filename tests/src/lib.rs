//! Everything that needs the plugin and the host together. One test binary; see `../README.md` for what lives where.

pub mod native;
