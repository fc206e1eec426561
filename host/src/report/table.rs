//! `-o table` and `-o wide`: one line per pod that fits a terminal, and what does not fit below it.

use std::io::{self, Write};

use serde_json::Value;

use super::{PodReport, Report, RetryReport, Stats, Verdict, WarningReport};

/// How wide a line may be.
pub const WIDTH: usize = 100;
/// Least room for the last column; with less it goes below the line.
const ROOM: usize = 36;
/// Indent of what goes below a line.
const BELOW: usize = 4;

/// How much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// `-o table`.
    Short,
    /// `-o wide`: also where it was decided, attempts and why, and feasible nodes.
    Wide,
}

/// Whether verdicts are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For a terminal.
    On,
    /// For everything else.
    Off,
}

/// Writes the pods as a table.
pub fn write(
    report: &Report,
    detail: Detail,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    if report.pods.is_empty() {
        return writeln!(out, "{}", report.summary());
    }
    let heads: &[&str] = match detail {
        Detail::Short => &["NAMESPACE", "POD", "VERDICT", "NODE"],
        Detail::Wide => &[
            "NAMESPACE",
            "POD",
            "VERDICT",
            "NODE",
            "AT",
            "FEASIBLE",
            "VISITED",
            "ATTEMPTS",
        ],
    };
    let rows: Vec<Vec<String>> = report.pods.iter().map(|pod| columns(pod, detail)).collect();
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            rows.iter()
                .map(|row| width(&row[column]))
                .chain([heads[column].len()])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let beside = used + ROOM <= WIDTH;
    let head: Vec<String> = heads.iter().map(|&head| head.to_owned()).collect();
    let last = if beside { "DEVICES / REASON" } else { "" };
    writeln!(out, "{}", line(&head, &widths, last, None))?;
    for (pod, row) in report.pods.iter().zip(&rows) {
        let colour = (colour == Colour::On).then_some(pod.verdict);
        let (indent, room) = if beside {
            (used, WIDTH - used)
        } else {
            (BELOW, WIDTH - BELOW)
        };
        let mut lines = details(pod, detail)
            .into_iter()
            .flat_map(|text| wrap(&text, room));
        let first = if beside {
            lines.next().unwrap_or_default()
        } else {
            String::new()
        };
        writeln!(out, "{}", line(row, &widths, &first, colour))?;
        for text in lines {
            writeln!(out, "{:indent$}{text}", "")?;
        }
    }
    Ok(())
}

/// Writes what it cost, for people.
pub fn write_stats(stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{} in {}, {} visited; load {:.1} ms (parsing {:.1}), scheduling {:.1} ms ({:.0} pods/s)",
        counted(stats.pods as u64, "pod"),
        counted(stats.cycles, "cycle"),
        counted(stats.nodes_visited, "node"),
        stats.load_ms,
        stats.read_ms,
        stats.elapsed_ms,
        stats.pods_per_second
    )?;
    writeln!(
        out,
        "host {:.1} ms, crossing {:.1} ms, plugin {:.1} ms",
        stats.host_ms, stats.crossing_ms, stats.plugin_ms,
    )?;
    writeln!(
        out,
        "{} crossings, {} objects with {} bytes in, {} CEL evaluations, {} search steps, {:.1} MiB of memory at most",
        stats.crossings,
        stats.objects_in,
        stats.bytes_in,
        stats.cel_evaluations,
        stats.search_steps,
        stats.peak_memory_bytes as f64 / f64::from(1 << 20)
    )
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Writes one warning, for people.
pub fn write_warning(warning: &WarningReport, out: &mut dyn Write) -> io::Result<()> {
    let subject = match warning.object.is_empty() {
        true => String::new(),
        false => format!("{}: ", warning.object),
    };
    let text = printable(&format!("{subject}{}", warning.message));
    writeln!(out, "warning: {text}")
}

/// Writes all warnings, for people; one that several pods share is written once.
pub fn write_warnings(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for warning in &report.warnings {
        write_warning(warning, out)?;
    }
    let mut shared: Vec<(&str, Vec<&PodReport>)> = Vec::new();
    for pod in &report.pods {
        for warning in &pod.warnings {
            match shared.iter_mut().find(|(known, _)| known == warning) {
                Some((_, pods)) => pods.push(pod),
                None => shared.push((warning, vec![pod])),
            }
        }
    }
    for (warning, pods) in shared {
        let others = match pods.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        };
        let subject = format!("Pod {}/{}{others}", pods[0].namespace, pods[0].name);
        writeln!(
            out,
            "warning: {}",
            printable(&format!("{subject}: {warning}"))
        )?;
    }
    Ok(())
}

fn columns(pod: &PodReport, detail: Detail) -> Vec<String> {
    let node = pod.node.as_deref().unwrap_or("-");
    let mut columns = vec![
        printable(&pod.namespace),
        printable(&pod.name),
        pod.verdict.name().into(),
        printable(node),
    ];
    if detail == Detail::Wide {
        columns.push(pod.at.clone().unwrap_or_else(|| "-".into()));
        columns.extend(
            [
                pod.feasible_nodes.len(),
                pod.nodes_visited,
                pod.attempts as usize,
            ]
            .map(|n| n.to_string()),
        );
    }
    columns
}

/// The last column, one paragraph each.
fn details(pod: &PodReport, detail: Detail) -> Vec<String> {
    let mut paragraphs = match pod.verdict {
        Verdict::Scheduled => devices(pod),
        _ => vec![reason(pod)],
    };
    if detail == Detail::Wide {
        paragraphs.extend(pod.retries.iter().map(attempt));
    }
    paragraphs.iter().map(|text| printable(text)).collect()
}

/// One attempt after the first: when, why, and what it had to make good.
fn attempt(retry: &RetryReport) -> String {
    let RetryReport {
        attempt,
        after_seconds,
        trigger,
        why,
        ..
    } = retry;
    let trigger = match trigger.contains('/') {
        true => trigger.clone(),
        false => format!("{trigger} ({why})"),
    };
    let previous = retry.previous.as_ref().map(|end| {
        format!(
            "; attempt {} ended in {}: {}",
            attempt - 1,
            end.at,
            end.message
        )
    });
    format!(
        "attempt {attempt} after {after_seconds} s, woken by {trigger}{}",
        previous.unwrap_or_default()
    )
}

fn reason(pod: &PodReport) -> String {
    match &pod.at {
        Some(at) => format!("{at}: {}", pod.message),
        None => pod.message.clone(),
    }
}

/// Per claim and driver `claim: driver: device device`; the pool is named where it is not the node's own.
fn devices(pod: &PodReport) -> Vec<String> {
    let mut lines = Vec::new();
    for claim in &pod.claims {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for device in &claim.devices {
            let source = match pod.node.as_deref() == Some(device.pool.as_str()) {
                true => device.driver.clone(),
                false => format!("{}/{}", device.driver, device.pool),
            };
            match groups.iter_mut().find(|(known, _)| *known == source) {
                Some((_, names)) => names.push(&device.device),
                None => groups.push((source, vec![&device.device])),
            }
        }
        let groups: Vec<String> = groups
            .iter()
            .map(|(source, names)| format!("{source} {}", names.join(" ")))
            .collect();
        let controller = claim.allocation.get("controller").and_then(Value::as_str);
        let devices = match (groups.is_empty(), controller) {
            (true, Some(controller)) => format!("allocated by {controller}"),
            (true, None) => "no device".to_owned(),
            (false, _) => groups.join("; "),
        };
        lines.push(format!("{}: {devices}", claim.name));
    }
    lines
}

fn line(columns: &[String], widths: &[usize], last: &str, colour: Option<Verdict>) -> String {
    let mut line = String::new();
    for (position, (text, &room)) in columns.iter().zip(widths).enumerate() {
        let padding = " ".repeat(room.saturating_sub(width(text)) + 2);
        match colour.filter(|_| position == 2) {
            Some(verdict) => line += &format!("{}{text}\u{1b}[0m{padding}", paint(verdict)),
            None => line += &format!("{text}{padding}"),
        }
    }
    line += last;
    line.truncate(line.trim_end().len());
    line
}

fn paint(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Scheduled => "\u{1b}[32m",
        Verdict::Waiting => "\u{1b}[33m",
        Verdict::Unschedulable | Verdict::Error | Verdict::InputError => "\u{1b}[31m",
    }
}

/// Breaks at spaces; a word that is too long stands alone.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in text.split(' ') {
        if !current.is_empty() && width(&current) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current += word;
    }
    lines.push(current);
    lines
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Control characters would let an object's text move the cursor.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
