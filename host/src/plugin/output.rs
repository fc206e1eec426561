//! What a plugin says: messages of `log` and text on its standard output and error, cut and throttled.

use super::state::Shared;
use crate::plugin::{LogLevel, Services};

/// How much of the last message is repeated in the error of a call that failed.
const LAST_WORDS: usize = 300;

/// What the running call has said so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    written: usize,
    dropped: u64,
    printed: Vec<u8>,
    /// The last error message: usually that of a panic.
    last_words: Option<String>,
}

impl Output {
    pub fn begin_call(&mut self) {
        self.written = 0;
        self.dropped = 0;
        self.printed.clear();
        self.last_words = None;
    }

    /// Whether nothing is left to be handed to the log.
    pub fn is_quiet(&self) -> bool {
        self.dropped == 0 && self.printed.is_empty()
    }

    /// Takes printed bytes, as far as the limit of the log allows.
    pub fn print(&mut self, shared: &Shared, bytes: &[u8]) {
        let room = shared.limits.log_bytes.saturating_sub(self.printed.len());
        self.printed
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            self.dropped += 1;
        }
    }

    /// Takes a message.
    pub fn write(
        &mut self,
        shared: &Shared,
        services: &mut dyn Services,
        level: LogLevel,
        message: &str,
        fields: &[(String, String)],
    ) {
        if level == LogLevel::Error {
            self.last_words = Some(one_line(message, LAST_WORDS));
        }
        if !services.log_enabled(level) {
            return;
        }
        let limit = shared.limits.log_message_bytes;
        let message = one_line(message, limit);
        let fields = cut_fields(fields, limit);
        let size = message.len()
            + fields
                .iter()
                .map(|(key, value)| key.len() + value.len())
                .sum::<usize>();
        if self.written.saturating_add(size) > shared.limits.log_bytes {
            self.dropped += 1;
            return;
        }
        self.written += size.max(1);
        services.log(level, &shared.description.name, &message, &fields);
    }

    /// Ends the call: what was printed becomes messages, what was dropped is counted.
    pub fn flush(&mut self, shared: &Shared, services: &mut dyn Services) {
        let printed = std::mem::take(&mut self.printed);
        for line in String::from_utf8_lossy(&printed)
            .lines()
            .filter(|line| !line.trim().is_empty())
        {
            self.write(shared, services, LogLevel::Info, line, &[]);
        }
        if self.dropped > 0 {
            let message = format!(
                "{} messages were dropped: more than {} bytes in one call",
                self.dropped, shared.limits.log_bytes
            );
            services.log(LogLevel::Warn, &shared.description.name, &message, &[]);
            self.dropped = 0;
        }
    }

    /// What the call said last, if it may explain a failure.
    pub fn last_words(&self) -> Option<String> {
        let printed = String::from_utf8_lossy(&self.printed);
        let printed = printed.trim();
        match printed.is_empty() {
            true => self.last_words.clone(),
            false => Some(one_line(printed, LAST_WORDS)),
        }
    }
}

fn cut_fields(fields: &[(String, String)], limit: usize) -> Vec<(String, String)> {
    let mut left = limit;
    let mut kept = Vec::new();
    for (key, value) in fields {
        if left == 0 {
            break;
        }
        let field = (one_line(key, left), one_line(value, left));
        left = left
            .saturating_sub(field.0.len() + field.1.len())
            .min(left.saturating_sub(1));
        kept.push(field);
    }
    kept
}

/// The text in one line of at most about `limit` bytes; control characters are escaped, so that nobody can forge a line of
/// the log or drive a terminal.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit));
    for (at, character) in text.char_indices() {
        if line.len() >= limit {
            line.push_str(&format!("... ({} bytes cut)", text.len() - at));
            break;
        }
        match character {
            '\t' | '\n' | '\r' => line.extend(character.escape_default()),
            _ if character.is_control() || is_invisible(character) => {
                line.extend(character.escape_unicode())
            }
            _ => line.push(character),
        }
    }
    line
}

/// Line separators of Unicode, and marks that change the direction of text.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{cut_fields, one_line};

    #[test]
    fn a_line_stays_one_line_and_drives_no_terminal() {
        assert_eq!(one_line("a\nb\r\tc", 100), "a\\nb\\r\\tc");
        assert_eq!(
            one_line("\u{1b}[2J\u{202e}x\u{2028}", 100),
            "\\u{1b}[2J\\u{202e}x\\u{2028}"
        );
        assert_eq!(one_line("r\u{e9}sum\u{e9}", 100), "r\u{e9}sum\u{e9}");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        // The limit falls into the middle of the second two-byte character.
        assert_eq!(
            one_line("\u{e9}\u{e9}\u{e9}", 3),
            "\u{e9}\u{e9}... (2 bytes cut)"
        );
        assert_eq!(one_line("abc", 3), "abc");
    }

    #[test]
    fn empty_fields_do_not_last_for_ever() {
        let fields = vec![(String::new(), String::new()); 1000];
        assert_eq!(cut_fields(&fields, 10).len(), 10);
    }
}
