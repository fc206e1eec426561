//! Flags that narrow what a plugin may use.

use std::collections::BTreeSet;

use clap::Args;

use crate::plugin::{Grant, Limits, Settings};

/// What a plugin may use. Without these flags it gets what it declares, within generous limits.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Sandbox {
    /// Kind that the plugin may read, for example ResourceClaim.resource.k8s.io; may be repeated, and then no other may be read
    #[arg(long, value_name = "KIND")]
    allow_read: Vec<String>,

    /// Kind that the plugin may write; may be repeated, and then no other may be written
    #[arg(long, value_name = "KIND")]
    allow_write: Vec<String>,

    /// Limit of the plugin: memory-mib, call-ms, node-us, read-us (for each KiB of objects), start-ms, output-kib, results, report-kib, log-kib, host-calls,
    /// table-elements or parts (core instances, memories and tables, each); may be repeated
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    limits: Vec<(Limit, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Memory,
    Call,
    Node,
    Read,
    Start,
    Output,
    Results,
    Report,
    Log,
    HostCalls,
    Table,
    Parts,
}

const NAMES: [(&str, Limit); 12] = [
    ("memory-mib", Limit::Memory),
    ("call-ms", Limit::Call),
    ("node-us", Limit::Node),
    ("read-us", Limit::Read),
    ("start-ms", Limit::Start),
    ("output-kib", Limit::Output),
    ("results", Limit::Results),
    ("report-kib", Limit::Report),
    ("log-kib", Limit::Log),
    ("host-calls", Limit::HostCalls),
    ("table-elements", Limit::Table),
    ("parts", Limit::Parts),
];

fn limit(text: &str) -> Result<(Limit, usize), String> {
    let (name, number) = text.split_once('=').ok_or("write NAME=N")?;
    let known = NAMES.iter().find(|(known, _)| *known == name);
    let (_, limit) = known.ok_or_else(|| {
        let names = NAMES.map(|(name, _)| name).join(", ");
        format!("there is no limit of this name; there are {names}")
    })?;
    // Beyond a million of any unit nothing is limited, and nothing may overflow.
    match number.parse() {
        Ok(number @ 1..=1_000_000) => Ok((*limit, number)),
        _ => Err("a limit is a whole number from 1 to 1000000".to_owned()),
    }
}

impl Sandbox {
    /// The settings with these flags.
    pub(super) fn applied_to(&self, mut settings: Settings) -> Settings {
        let kinds = |list: &[String]| {
            let kinds: BTreeSet<String> = list.iter().cloned().collect();
            (!kinds.is_empty()).then_some(kinds)
        };
        settings.grant = Grant {
            read: kinds(&self.allow_read),
            write: kinds(&self.allow_write),
        };
        for &(limit, number) in &self.limits {
            set(&mut settings.limits, limit, number);
        }
        settings
    }
}

fn set(limits: &mut Limits, limit: Limit, number: usize) {
    match limit {
        Limit::Memory => limits.memory_bytes = number << 20,
        Limit::Call => limits.call_milliseconds = number as u64,
        Limit::Node => limits.node_microseconds = number as u64,
        Limit::Read => limits.read_microseconds = number as u64,
        Limit::Start => limits.start_milliseconds = number as u64,
        Limit::Output => limits.output_bytes = number << 10,
        Limit::Results => limits.results = number,
        Limit::Report => limits.report_bytes = number << 10,
        Limit::Log => limits.log_bytes = number << 10,
        Limit::HostCalls => limits.host_calls = number as u64,
        Limit::Table => limits.table_elements = number,
        Limit::Parts => limits.parts = number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_names_units_and_bounds() {
        let sandbox = Sandbox {
            limits: vec![limit("memory-mib=64").unwrap(), limit("call-ms=5").unwrap()],
            ..Sandbox::default()
        };
        let settings = sandbox.applied_to(Settings::default());
        let expected = Limits {
            memory_bytes: 64 << 20,
            call_milliseconds: 5,
            ..Limits::default()
        };
        assert_eq!(settings.limits, expected);
        assert_eq!(settings.grant, Grant::default());
        for wrong in [
            "memory",
            "memory=1",
            "memory-mib=0",
            "memory-mib=-1",
            "call-ms=1e9",
            "call-ms=1000001",
        ] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }
}
