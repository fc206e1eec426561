//! Everything that needs the plugin and the host together, or the repository as a whole.

#[cfg(test)]
mod build_script;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod stale;
#[cfg(test)]
mod tidy;
