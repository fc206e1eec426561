//! What becomes part of the page's own text: everything that came from the input is escaped here.

use std::io::{self, Write};

use super::{Contents, Explained};
use crate::report::explain::in_words;
use crate::report::{PodReport, Report};

/// JSON that can stand in a script element. In JSON text `<` occurs in strings only, so that neither an end tag nor a comment can
/// begin there; control characters mean something to terminals.
pub(super) fn script_data(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '\u{7f}'..='\u{9f}' => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text between tags or in a quoted attribute.
pub(super) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// What matters, for readers without scripts.
pub(super) fn plain(contents: Contents<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<p>{}</p>", text(contents.summary))?;
    if contents.opens {
        let explained = contents.explained.iter();
        return explained
            .map(|one| &one.explained)
            .try_for_each(|one| answer(one, out));
    }
    table(contents.report, out)
}

/// One thing to do, or several of which any will do.
fn step(ways: &[String]) -> String {
    let items = |ways: &[String]| -> String {
        let each = ways.iter().map(|way| format!("<li>{}</li>", text(way)));
        each.collect()
    };
    match ways {
        [_] => items(ways),
        _ => format!("<li>one of<ol type=\"a\">{}</ol></li>", items(ways)),
    }
}

/// As the text report has it.
fn answer(explained: &Explained, out: &mut dyn Write) -> io::Result<()> {
    let (namespace, name) = (&explained.namespace, &explained.name);
    let title = text(&format!("{namespace}/{name}: {}", explained.verdict));
    writeln!(out, "<h2>{title}</h2>")?;
    writeln!(out, "<p>{}</p>", text(&explained.summary.join(" ")))?;
    for nearest in &explained.nearest {
        let place = match &nearest.node {
            Some(node) => format!("To make it fit on {node} ({}):", in_words(nearest.tried)),
            None => format!("To make it fit ({}):", in_words(nearest.tried)),
        };
        let steps = nearest.ways.iter().map(|ways| step(ways));
        let steps: String = steps.collect();
        writeln!(out, "<p>{}</p>\n<ul>{steps}</ul>", text(&place))?;
    }
    if explained.groups.is_empty() {
        return Ok(());
    }
    let groups = explained.groups.iter().map(|group| {
        let names = text(&group.nodes.join(", "));
        format!(
            "<tr><td>{}</td><td>{}</td><td>{names}</td></tr>",
            group.count,
            text(&group.text)
        )
    });
    let rows = groups.collect::<Vec<_>>().join("\n");
    let heads = head(&["Nodes", "Why", "Names"]);
    writeln!(out, "<table>\n{heads}<tbody>\n{rows}\n</tbody>\n</table>")
}

fn head(names: &[&str]) -> String {
    let cells = names
        .iter()
        .map(|name| format!("<th scope=\"col\">{name}</th>"));
    format!("<thead><tr>{}</tr></thead>\n", cells.collect::<String>())
}

fn table(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.pods.is_empty() {
        return Ok(());
    }
    let heads = head(&["Namespace", "Pod", "Verdict", "Node", "Devices or reason"]);
    writeln!(out, "<table>\n{heads}<tbody>")?;
    for pod in &report.pods {
        let cells = [
            pod.namespace.as_str(),
            &pod.name,
            pod.verdict.name(),
            pod.node.as_deref().unwrap_or("-"),
            &devices_or_reason(pod),
        ];
        let cells = cells.map(|cell| format!("<td>{}</td>", text(cell)));
        writeln!(out, "<tr>{}</tr>", cells.concat())?;
    }
    writeln!(out, "</tbody>\n</table>")
}

fn devices_or_reason(pod: &PodReport) -> String {
    if pod.node.is_none() {
        return pod.message.clone();
    }
    let claims = pod.claims.iter().map(|claim| {
        let devices = claim.devices.iter();
        let names: Vec<&str> = devices.map(|device| device.device.as_str()).collect();
        format!("{}: {}", claim.name, names.join(" "))
    });
    claims.collect::<Vec<_>>().join("; ")
}
