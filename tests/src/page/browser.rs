//! A browser without a screen, spoken to over its DevTools pipe: pages, scripts in them, keys, and what it complained about.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::command::Files;

/// Words for the scripts of tests.
const DRIVER: &str = include_str!("driver.js");

/// A browser that says nothing for so long is stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a page meets that the test chooses.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// What the system prefers.
    pub dark: bool,
    /// Whether scripts of pages run.
    pub scripts: bool,
}

impl Default for World {
    fn default() -> Self {
        Self {
            dark: false,
            scripts: true,
        }
    }
}

/// A page in a browser of its own.
pub struct Tab {
    browser: Child,
    commands: File,
    messages: Receiver<Value>,
    session: Value,
    last: u64,
    complaints: Vec<String>,
    _files: Files,
}

/// What the variable `CHROMIUM` names, or the first known name in `PATH`; or a loud nothing.
pub fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let known = std::env::split_paths(&path).flat_map(|folder| {
        ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name))
    });
    let found = named.into_iter().chain(known).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: no chromium in PATH, and CHROMIUM names none");
    }
    found
}

/// The pages of paper that a page takes, counted by their marks in the file; nothing without a browser.
pub fn sheets(page: &str) -> Option<usize> {
    let browser = chromium()?;
    let files = Files::new();
    let (path, paper) = (files.add("page.html", page), files.path().join("page.pdf"));
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .arg("--virtual-time-budget=5000")
        .arg(format!("--user-data-dir={}", profile(&files)))
        .arg(format!("--print-to-pdf={}", paper.display()))
        .arg(format!("file://{path}"))
        .output()
        .expect("the browser runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let paper = std::fs::read(&paper).unwrap_or_else(|error| panic!("no paper: {error}: {said}"));
    let marks = paper
        .windows(12)
        .filter(|bytes| bytes.starts_with(b"/Type /Page\n") || bytes.starts_with(b"/Type /Page/"));
    Some(marks.count())
}

fn profile(files: &Files) -> String {
    files.path().join("profile").display().to_string()
}

impl Tab {
    /// Opens a page and waits until it is loaded; nothing without a browser.
    pub fn open(page: &str, world: World) -> Option<Self> {
        let browser = chromium()?;
        let files = Files::new();
        let address = format!("file://{}", files.add("page.html", page));
        let mut tab = Self::start(&browser, files);
        let target = tab.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        tab.session = tab.call("Target.attachToTarget", attach)["sessionId"].clone();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            tab.call(domain, json!({}));
        }
        let scheme = if world.dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        tab.call("Emulation.setEmulatedMedia", json!({"features": features}));
        tab.call(
            "Emulation.setFocusEmulationEnabled",
            json!({"enabled": true}),
        );
        tab.call(
            "Emulation.setScriptExecutionDisabled",
            json!({"value": !world.scripts}),
        );
        tab.call("Page.navigate", json!({"url": address}));
        while tab.hear()["method"] != "Page.loadEventFired" {}
        tab.evaluate(DRIVER);
        Some(tab)
    }

    /// The pipe is files 3 and 4 of the browser, which only a shell can give it.
    fn start(browser: &Path, files: Files) -> Self {
        let [to, from] = ["to", "from"].map(|name| files.path().join(name));
        let made = Command::new("mkfifo").args([&to, &from]).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo failed");
        let child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<\"$TO\" 4>\"$FROM\"", "sh"])
            .arg(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--remote-debugging-pipe", "--window-size=1400,900"])
            .arg(format!("--user-data-dir={}", profile(&files)))
            .env("TO", &to)
            .env("FROM", &from)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let commands = OpenOptions::new().write(true).open(&to).expect("a pipe");
        let replies = File::open(&from).expect("a pipe");
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in BufReader::new(replies).split(0) {
                let parsed = message.map(|bytes| serde_json::from_slice::<Value>(&bytes));
                let Ok(Ok(value)) = parsed else { return };
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self {
            browser: child,
            commands,
            messages,
            session: Value::Null,
            last: 0,
            complaints: Vec::new(),
            _files: files,
        }
    }

    /// What the next message says. Complaints are kept.
    fn hear(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE);
        let message = message.expect("the browser answers");
        let params = &message["params"];
        let complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => &params["exceptionDetails"],
            Some("Runtime.consoleAPICalled") => &params["args"],
            Some("Log.entryAdded") => &params["entry"]["text"],
            _ => return message,
        };
        self.complaints.push(complaint.to_string());
        message
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": params});
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.commands
            .write_all(&bytes)
            .expect("the browser listens");
        loop {
            let mut answer = self.hear();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }

    fn evaluate(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.call("Runtime.evaluate", params);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{thrown:#}\n{script}");
        answer["result"]["value"].take()
    }

    /// Runs the body of an asynchronous function and takes what it returns.
    pub fn run(&mut self, script: &str) -> Value {
        self.evaluate(&format!("(async () => {{ {script} }})()"))
    }

    /// Presses a key, as a person would: the browser's own reaction comes too. `code` is its number on Windows, by which a
    /// browser knows it.
    pub fn press(&mut self, key: &str, code: u32, modifiers: u32) {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let down = json!({"type": if text.is_empty() { "rawKeyDown" } else { "keyDown" }, "key": key, "text": text,
            "windowsVirtualKeyCode": code, "modifiers": modifiers});
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers});
        self.call("Input.dispatchKeyEvent", up);
        self.run("await frame();");
    }

    /// Gives the window another size.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.run("await frame();");
    }

    /// Errors, refused requests and everything that was written to the console.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}
