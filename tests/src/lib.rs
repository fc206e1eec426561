//! Everything that needs the plugin and the host together, or the repository as a whole. One test binary.

pub mod native;

#[cfg(test)]
mod build_script;
#[cfg(test)]
mod caches;
#[cfg(test)]
mod cel_cases;
#[cfg(test)]
mod cel_figures;
#[cfg(test)]
mod cel_regressions;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod command;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod devices;
#[cfg(test)]
mod end_to_end;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod features;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lint;
#[cfg(test)]
mod load;
#[cfg(test)]
mod page;
#[cfg(test)]
mod races;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod stale;
#[cfg(test)]
mod swap;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod traps;
#[cfg(test)]
mod waiting;
