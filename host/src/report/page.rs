//! `-o html`: one page that needs nothing but itself, with the devices of each node, who has them, and why pods do not get them.
//!
//! The page is `page/page.html`, where `{{name}}` stands for a piece. What is shown is data (`page/data.rs`) that the scripts
//! turn into text; none of it ever becomes markup. Without scripts there is a table.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::sync::Arc;

use super::Report;
use super::explain::{Explained, Refusal};
use crate::cluster::Cluster;

mod collect;
mod data;
mod explained;
mod inventory;
mod markup;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// In the order in which they need each other.
const SCRIPTS: [&str; 6] = [
    include_str!("page/model.js"),
    include_str!("page/list.js"),
    include_str!("page/details.js"),
    include_str!("page/map.js"),
    include_str!("page/pods.js"),
    include_str!("page/page.js"),
];

/// What the page is made of, beside the cluster that it shows.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The command whose page it is.
    pub command: &'static str,
    /// What was read, as the user named it.
    pub source: &'a str,
    /// What came out, in a line.
    pub summary: &'a str,
    /// What became of the pods that were tried; reasons should name all their nodes.
    pub report: &'a Report,
    /// Claims that were allocated before, from [`allocated`].
    pub allocated: &'a BTreeSet<Arc<str>>,
    /// Why, where somebody looked.
    pub explained: &'a [Explanation],
    /// Whether the page opens on the first of these that is refused, else on the first.
    pub opens: bool,
    /// Whether devices of pools that are incomplete or contradict themselves are given to nobody.
    pub skips_broken_pools: bool,
}

/// Everything about one pod.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// In words.
    pub explained: Explained,
    /// Node by node and device by device.
    pub refusals: Vec<Refusal>,
}

impl Contents<'_> {
    fn opened(&self) -> Option<String> {
        let is_refused = |one: &&Explanation| {
            !matches!(
                one.explained.verdict.as_str(),
                "scheduled" | "placed" | "ended" | "deleted"
            )
        };
        let refused = self.explained.iter().find(is_refused);
        let first = refused.or(self.explained.first()).filter(|_| self.opens)?;
        let Explained {
            namespace, name, ..
        } = &first.explained;
        Some(format!("{namespace}/{name}"))
    }
}

/// Uids of the claims that are allocated now.
pub fn allocated(cluster: &Cluster) -> BTreeSet<Arc<str>> {
    collect::allocated(cluster)
}

/// Writes the page.
pub fn write(contents: Contents<'_>, cluster: &Cluster, out: &mut dyn Write) -> io::Result<()> {
    let document = collect::document(contents, cluster);
    let data = markup::script_data(&serde_json::to_string(&document)?);
    fill(contents, &data, out)
}

/// Writes the template with its pieces. What was put in is not looked at again: names may contain anything.
fn fill(contents: Contents<'_>, data: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = TEMPLATE;
    while let Some((before, (name, after))) = rest
        .split_once("{{")
        .and_then(|(before, from)| Some((before, from.split_once("}}")?)))
    {
        out.write_all(before.as_bytes())?;
        match name {
            "title" => write!(
                out,
                "{} - dractl {}",
                markup::text(contents.source),
                contents.command
            )?,
            "command" => write!(out, "{}", contents.command)?,
            "nonce" => write!(out, "{}", nonce(data))?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "plain" => markup::plain(contents, out)?,
            "data" => out.write_all(data.as_bytes())?,
            "scripts" => SCRIPTS
                .iter()
                .try_for_each(|script| out.write_all(script.as_bytes()))?,
            _ => write!(out, "{{{{{name}}}}}")?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// The word without which no script runs: if a text ever got out of the data and became markup, it would have to contain the
/// hash of a document that contains it.
fn nonce(data: &str) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, data).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}

#[cfg(test)]
mod tests;
