//! `-o text`: the answer, what would help, nodes with the same reasons, and nodes in full, on 100 columns.

use std::io::{self, Write};

use crate::explain::target::short_name;
use crate::report::table::{Colour, WIDTH, printable, wrap};

use super::nearest::in_words;
use super::phrase::some_of;
use super::{Explained, GroupReport, Nearest, NodeReport};

/// How many groups of nodes are shown.
const GROUPS: usize = 8;
/// How many nodes of a group are named.
const NAMES: usize = 4;
/// How many lines the reasons of a group may have.
const LINES: usize = 4;

const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const PLAIN: &str = "\u{1b}[0m";

/// Writes it.
pub fn write(explained: &Explained, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    let paint = |text: &str, code: &str| match colour {
        Colour::On => format!("{code}{text}{PLAIN}"),
        Colour::Off => text.to_owned(),
    };
    let decided = match &explained.at {
        Some(at) => format!(" ({at})"),
        None => String::new(),
    };
    let code = match explained.verdict.as_str() {
        "scheduled" | "placed" => GREEN,
        "fits-alone" | "waiting" | "ended" | "deleted" => YELLOW,
        _ => RED,
    };
    writeln!(
        out,
        "{} {}{decided}",
        paint(
            &printable(&format!(
                "{}/{}:",
                explained.namespace,
                short_name(&explained.name)
            )),
            BOLD
        ),
        paint(&explained.verdict, code),
    )?;
    paragraph(&explained.summary.join(" "), 0, 0, out)?;
    for note in &explained.notes {
        paragraph(&format!("Note: {note}."), 0, 6, out)?;
    }
    if !explained.nearest.is_empty() {
        writeln!(out, "\n{}", paint("TO MAKE IT FIT", BOLD))?;
    }
    for (position, nearest) in explained.nearest.iter().enumerate() {
        remedy(nearest, position > 0, out)?;
    }
    if !explained.groups.is_empty() {
        table(explained, &paint("NODES  WHY", BOLD), out)?;
    }
    for node in &explained.nodes {
        in_full(
            node,
            &paint(&format!("NODE {}", printable(&node.node)), BOLD),
            out,
        )?;
    }
    Ok(())
}

/// Where, whether it was tried, and what to do; what belongs together has numbers.
fn remedy(nearest: &Nearest, is_other: bool, out: &mut dyn Write) -> io::Result<()> {
    let or = if is_other { "or " } else { "" };
    let place = match &nearest.node {
        Some(node) => format!("on {} ", printable(node)),
        None => String::new(),
    };
    writeln!(out, "  {or}{place}({})", in_words(nearest.tried))?;
    steps(&nearest.ways, nearest.left.as_deref(), out)
}

/// Numbers for what belongs together; letters for what does instead, unless all of it is in one line.
fn steps(steps: &[Vec<String>], left: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    for (at, ways) in steps.iter().enumerate() {
        let (mark, indent) = match steps.len() {
            1 => ("-".to_owned(), 6),
            _ => (format!("{}.", at + 1), 7),
        };
        let line = ways.join(", or ");
        if ways.len() < 2 || indent + line.chars().count() <= WIDTH {
            paragraph(&format!("{mark} {line}"), 4, indent, out)?;
            continue;
        }
        let letters = ('a'..='z').cycle();
        for (way, letter) in ways.iter().zip(letters) {
            match letter {
                'a' => paragraph(&format!("{mark} (a) {way}"), 4, indent + 4, out)?,
                _ => paragraph(&format!("or ({letter}) {way}"), indent - 3, indent + 4, out)?,
            }
        }
    }
    match left {
        Some(left) => paragraph(&format!("then still: {left}"), 4, 6, out),
        None => Ok(()),
    }
}

fn table(explained: &Explained, head: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{head}")?;
    for group in explained.groups.iter().take(GROUPS) {
        let mut lines = of_group(group);
        let first = if lines.is_empty() {
            String::new()
        } else {
            lines.remove(0)
        };
        writeln!(out, "{:>5}  {first}", group.count)?;
        for line in lines {
            writeln!(out, "{:7}{line}", "")?;
        }
    }
    let more: Vec<&GroupReport> = explained.groups.iter().skip(GROUPS).collect();
    if !more.is_empty() {
        let nodes: usize = more.iter().map(|group| group.count).sum();
        writeln!(
            out,
            "{nodes:>5}  in {} more groups: see -o json",
            more.len()
        )?;
    }
    Ok(())
}

fn of_group(group: &GroupReport) -> Vec<String> {
    let room = WIDTH - 7;
    let mut lines = wrap(&printable(&group.text), room);
    if lines.len() > LINES {
        lines.truncate(LINES);
        if let Some(last) = lines.last_mut() {
            // The dots are to fit as well.
            while last.chars().count() + 4 > room {
                let end = last.rfind(' ').unwrap_or(0);
                last.truncate(end);
            }
            *last += " ...";
        }
    }
    let names = some_of(&group.nodes, NAMES, group.count);
    lines.extend(wrap(&format!("[{}]", printable(&names)), room));
    lines
}

fn in_full(node: &NodeReport, head: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{head}: {}",
        if node.fits { "fits" } else { "does not fit" }
    )?;
    for line in &node.lines {
        let text = line.trim_start();
        let indent = 2 + line.len() - text.len();
        paragraph(text, indent, indent + 4, out)?;
    }
    if !node.steps.is_empty() && !node.fits {
        writeln!(out, "  to make it fit ({}):", in_words(node.tried))?;
        steps(&node.ways, node.left.as_deref(), out)?;
    }
    Ok(())
}

/// Wrapped text whose lines after the first are indented further.
fn paragraph(text: &str, first: usize, rest: usize, out: &mut dyn Write) -> io::Result<()> {
    let room = WIDTH - rest.max(first);
    for (position, line) in wrap(&printable(text), room).into_iter().enumerate() {
        let indent = if position == 0 { first } else { rest };
        writeln!(out, "{:indent$}{line}", "")?;
    }
    Ok(())
}
