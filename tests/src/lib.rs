//! Everything that needs the plugin and the host together, or the repository as a whole. One test binary.

pub mod native;

#[cfg(test)]
mod build_script;
#[cfg(test)]
mod cel_cases;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod load;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod stale;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod traps;
