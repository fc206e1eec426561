//! What is printed.

use std::time::Duration;

/// Lines of a table in Markdown, printed as they come.
pub struct Table {
    columns: usize,
}

#[allow(clippy::print_stdout, reason = "a benchmark is there to print")]
pub fn say(text: &str) {
    println!("{text}");
}

impl Table {
    pub fn new(title: &str, columns: &[&str]) -> Self {
        say(&format!("\n## {title}\n"));
        say(&format!("| {} |", columns.join(" | ")));
        say(&format!("|{}", "---|".repeat(columns.len())));
        Self {
            columns: columns.len(),
        }
    }

    pub fn row(&self, cells: &[String]) {
        assert_eq!(cells.len(), self.columns);
        say(&format!("| {} |", cells.join(" | ")));
    }
}

/// `1.23`.
pub fn ratio(part: Duration, whole: Duration) -> String {
    format!("{:.2}", part.as_secs_f64() / whole.as_secs_f64())
}

pub fn microseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e6)
}

pub fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

pub fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}
