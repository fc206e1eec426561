//! What becomes part of the page's own text: everything that came from the input is escaped here.

use std::io::{self, Write};

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

/// The pods, for readers without scripts.
pub(super) fn table(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<p>{}</p>", text(&report.summary()))?;
    if report.pods.is_empty() {
        return Ok(());
    }
    let heads = ["Namespace", "Pod", "Verdict", "Node", "Devices or reason"];
    let heads = heads.map(|head| format!("<th scope=\"col\">{head}</th>"));
    writeln!(
        out,
        "<table>\n<thead><tr>{}</tr></thead>\n<tbody>",
        heads.concat()
    )?;
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
