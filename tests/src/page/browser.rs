//! A browser without a screen, and a page in it: what a script found there, and what the browser complained about.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command::Files;

/// What helps the scripts of tests: keys, clicks, waiting, results.
const DRIVER: &str = include_str!("driver.js");

/// Seconds on the page's clock. It runs as fast as there is nothing to do.
const PATIENCE: &str = "--virtual-time-budget=20000";

/// Where Chromium is.
pub struct Browser(PathBuf);

/// A page after a script has run in it.
#[derive(Debug)]
pub struct Visit {
    /// What the script returned.
    pub result: Value,
    /// Errors, refused requests and everything that was written to the console.
    pub complaints: Vec<String>,
}

impl Browser {
    /// What the variable `CHROMIUM` names, or the first known name in `PATH`; or a loud nothing.
    pub fn find() -> Option<Self> {
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let known = std::env::split_paths(&path).flat_map(|folder| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name))
        });
        let found = named.into_iter().chain(known).find(|file| file.is_file());
        if found.is_none() {
            eprintln!("SKIPPED: no chromium in PATH, and CHROMIUM names none");
        }
        found.map(Self)
    }

    /// Opens a page, runs the body of an asynchronous function in it, and takes what that returns.
    pub fn visit(&self, page: &str, script: &str, flags: &[&str]) -> Visit {
        let dom = self.dump(&driven(page, script), flags);
        let (_, from) = (dom.split_once("<pre id=\"result\">"))
            .unwrap_or_else(|| panic!("the script did not end:\n{}", shortened(&dom)));
        let (result, _) = from.split_once("</pre>").expect("an end of the result");
        let result: Value = serde_json::from_str(&unescaped(result)).expect("JSON");
        let complaints = result["complaints"].as_array().into_iter().flatten();
        Visit {
            complaints: complaints.map(ToString::to_string).collect(),
            result: result["result"].clone(),
        }
    }

    /// The document as the browser has it in the end.
    fn dump(&self, page: &str, flags: &[&str]) -> String {
        let files = Files::new();
        let path = files.add("page.html", page);
        let output = Command::new(&self.0)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--window-size=1400,900", "--dump-dom", PATIENCE])
            .arg(format!(
                "--user-data-dir={}",
                files.path().join("profile").display()
            ))
            .args(flags)
            .arg(format!("file://{path}"))
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.0.display()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", self.0.display());
        String::from_utf8(output.stdout).expect("a document is text")
    }

    /// The page on paper.
    pub fn print(&self, page: &str) -> Vec<u8> {
        let files = Files::new();
        let (path, paper) = (files.add("page.html", page), files.path().join("page.pdf"));
        let output = Command::new(&self.0)
            .args(["--headless", "--no-sandbox", "--disable-gpu", PATIENCE])
            .arg(format!(
                "--user-data-dir={}",
                files.path().join("profile").display()
            ))
            .arg(format!("--print-to-pdf={}", paper.display()))
            .arg(format!("file://{path}"))
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.0.display()));
        let said = String::from_utf8_lossy(&output.stderr);
        read(&paper).unwrap_or_else(|| panic!("no paper: {said}"))
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

/// The page with the driver before its own scripts, and the script of the test behind them; both with the word that lets them run.
fn driven(page: &str, script: &str) -> String {
    let nonce = page
        .split_once("script-src 'nonce-")
        .and_then(|(_, from)| Some(from.split_once('\'')?.0))
        .unwrap_or_default();
    let element = |code: &str| format!("<script nonce=\"{nonce}\">{code}</script>");
    let first = element(DRIVER);
    let last = element(&format!("run(async () => {{ {script} }});"));
    let (before, after) = page.rsplit_once("</body>").expect("an end");
    let page = format!("{before}{last}</body>{after}");
    page.replacen("<title>", &format!("{first}<title>"), 1)
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&nbsp;", "\u{a0}").replace("&amp;", "&")
}

fn shortened(text: &str) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(2000)).collect()
}
