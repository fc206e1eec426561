//! ResourceClaimTemplates that a controller will make: another object of the input names them, such as the ComputeDomain of
//! NVIDIA's driver, whose `spec.channel.resourceClaimTemplate.name` says how its template is to be called.
//!
//! Looks at the text: kinds of others are not read.

use std::collections::BTreeSet;

use super::Finding;

/// Names of templates.
#[derive(Debug, Default)]
pub struct Promises(BTreeSet<String>);

/// The key below which the name stands.
const KEY: &str = "resourceClaimTemplate";

impl Promises {
    /// Looks at one file.
    pub fn look(&mut self, text: &str) {
        for rest in text.split(KEY).skip(1) {
            let name = value_of(rest).and_then(|rest| {
                let rest = rest.trim_start_matches(['{', ' ', '\t', '\r', '\n']);
                value_of(rest.trim_start_matches(['"', '\'']).strip_prefix("name")?)
            });
            let name = name.map(|rest| {
                let rest = rest.trim_start_matches([' ', '"', '\'']);
                let end =
                    rest.find(|c: char| c.is_whitespace() || [',', '}', '"', '\''].contains(&c));
                &rest[..end.unwrap_or(rest.len())]
            });
            self.0
                .extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }

    /// Removes what says of such a template that it is not there.
    pub fn remove_from(&self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| {
            let rest = finding
                .message
                .strip_prefix("there is no ResourceClaimTemplate ");
            let name = rest.and_then(|rest| rest.split([' ', ',']).next()?.split('/').nth(1));
            !name.is_some_and(|name| self.0.contains(name))
        });
    }
}

/// What follows the colon behind a key, whose closing quote may come first.
fn value_of(rest: &str) -> Option<&str> {
    rest.trim_start_matches(['"', '\''])
        .trim_start_matches(' ')
        .strip_prefix(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_the_key() {
        let mut promises = Promises::default();
        promises.look("spec:\n  channel:\n    resourceClaimTemplate:\n      name: one\n");
        promises.look(r#"{"channel": {"resourceClaimTemplate": {"name": "two"}}}"#);
        promises.look("channel: {resourceClaimTemplate: {name: three}}");
        promises.look("resourceClaimTemplateName: four\nresourceClaimTemplate:\n  other: five\n");
        assert_eq!(Vec::from_iter(promises.0), ["one", "three", "two"]);
    }
}
