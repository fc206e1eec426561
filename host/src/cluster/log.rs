//! What plugins say to the operator.

use crate::plugin::LogLevel;

/// Records that are kept until somebody takes them.
const RECORDS: usize = 10_000;

/// Bytes of a message that are kept.
const MESSAGE: usize = 16 << 10;

/// One message of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// How much it matters.
    pub level: LogLevel,
    /// Name of the plugin.
    pub plugin: String,
    /// What it said, in one line.
    pub message: String,
    /// Names and values.
    pub fields: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) struct Logs {
    pub(super) level: LogLevel,
    records: Vec<LogRecord>,
    lost: usize,
}

impl Logs {
    pub(super) fn new(level: LogLevel) -> Self {
        Self {
            level,
            records: Vec::new(),
            lost: 0,
        }
    }

    pub(super) fn write(
        &mut self,
        level: LogLevel,
        plugin: &str,
        message: &str,
        fields: &[(String, String)],
    ) {
        if level > self.level {
            return;
        }
        if self.records.len() >= RECORDS {
            self.lost += 1;
            return;
        }
        let fields = fields
            .iter()
            .map(|(name, value)| (one_line(name), one_line(value)))
            .collect();
        self.records.push(LogRecord {
            level,
            plugin: plugin.to_owned(),
            message: one_line(message),
            fields,
        });
    }

    pub(super) fn take(&mut self) -> Vec<LogRecord> {
        let mut records = std::mem::take(&mut self.records);
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            let message = format!("{lost} more messages were dropped");
            records.push(LogRecord {
                level: LogLevel::Warn,
                plugin: String::new(),
                message,
                fields: Vec::new(),
            });
        }
        records
    }
}

/// The text without line breaks and other control characters, and not too long.
fn one_line(text: &str) -> String {
    let end = text
        .char_indices()
        .map(|(start, _)| start)
        .take_while(|start| *start < MESSAGE)
        .last();
    let kept = match end {
        Some(_) if text.len() > MESSAGE => &text[..end.unwrap_or_default()],
        _ => text,
    };
    let mut line = String::with_capacity(kept.len());
    for character in kept.chars() {
        if character.is_control() {
            line.extend(character.escape_default())
        } else {
            line.push(character)
        }
    }
    if kept.len() < text.len() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_escaped_and_cut() {
        assert_eq!(one_line("a\nb\tc\u{1b}"), "a\\nb\\tc\\u{1b}");
        let long = "ä".repeat(MESSAGE);
        assert!(one_line(&long).len() < MESSAGE + 8);
        assert!(one_line(&long).ends_with("ä…"));
    }

    #[test]
    fn only_wanted_levels_and_not_too_many() {
        let mut logs = Logs::new(LogLevel::Info);
        logs.write(LogLevel::Debug, "p", "no", &[]);
        logs.write(LogLevel::Info, "p", "yes", &[("a".into(), "b\n".into())]);
        let record = LogRecord {
            level: LogLevel::Info,
            plugin: "p".into(),
            message: "yes".into(),
            fields: vec![("a".into(), "b\\n".into())],
        };
        assert_eq!(logs.take(), [record]);
        for _ in 0..RECORDS + 2 {
            logs.write(LogLevel::Error, "p", "again", &[]);
        }
        let records = logs.take();
        assert_eq!(records.len(), RECORDS + 1);
        assert_eq!(records[RECORDS].message, "2 more messages were dropped");
        assert_eq!(logs.take(), []);
    }
}
