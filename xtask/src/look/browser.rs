//! Headless Chromium, driven over a pipe by the DevTools protocol: JSON messages, each ended by a
//! zero byte.
//!
//! `--remote-debugging-pipe` reads commands from file descriptor 3 and writes answers and events to
//! 4. A pipe needs no port and no WebSocket, so this file needs no crate but those for JSON and
//! base64.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::shell::is_root;

/// The program.
pub(crate) const CHROMIUM: &str = "chromium";

/// The longest wait for an answer or an event. Pages load in less than a second; a busy machine may
/// take many.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends its two pipes to descriptors 3 and 4. What Chromium writes elsewhere would be in the way
/// of the messages.
const START: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>"$LOG""#;

const OPTIONS: [&str; 10] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
];

/// A running browser with one tab.
pub(crate) struct Browser {
    child: Child,
    /// None once it was told to end.
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Events that arrived while something else was awaited.
    events: Vec<Event>,
    last_id: u64,
    session: Option<String>,
    /// The browser's profile and its log, removed at the end.
    folder: TempDir,
}

/// Something that the browser reported by itself.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// "Runtime.consoleAPICalled".
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl Browser {
    /// Starts Chromium and opens an empty tab.
    ///
    /// # Errors
    /// It cannot be started, or ends at once.
    pub(crate) fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("losscause-look-").tempdir()?;
        let mut shell = Command::new("sh");
        shell.args(["-c", START, CHROMIUM]).args(OPTIONS);
        shell.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        if is_root()? {
            // Chromium's sandbox refuses to run as root, as CI does. It opens only files that we
            // wrote.
            shell.arg("--no-sandbox");
        }
        shell.env("LOG", folder.path().join("log")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().context("Chromium cannot be started")?;
        let commands = child.stdin.take();
        let answers = child.stdout.take().context("Chromium has no output")?;
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                let parsed = serde_json::from_slice(&message).unwrap_or(Value::Null);
                if sender.send(parsed).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self {
            child,
            commands,
            messages,
            events: Vec::new(),
            last_id: 0,
            session: None,
            folder,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach)?;
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(browser)
    }

    /// Sets the size of the window in CSS pixels, one device pixel each, and the preferred colours.
    pub(crate) fn show_as(&mut self, width: u32, height: u32, dark: bool) -> Result<()> {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &metrics)?;
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &media)?;
        Ok(())
    }

    /// Opens a file and returns what the browser reported until the page had loaded.
    pub(crate) fn open(&mut self, file: &Path) -> Result<Vec<Event>> {
        self.events.clear();
        let url = format!("file://{}", fs::canonicalize(file)?.display());
        let answer = self.call("Page.navigate", &json!({ "url": url }))?;
        if let Some(error) = answer["errorText"].as_str() {
            bail!("{} cannot be opened: {error}", file.display());
        }
        while !self.events.iter().any(|event| event.method == "Page.loadEventFired") {
            let message = self.next_message()?;
            self.keep_if_event(&message);
        }
        Ok(std::mem::take(&mut self.events))
    }

    /// What the browser has reported since the page was opened.
    pub(crate) fn reported(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The value of an expression of JavaScript in the page; a promise is awaited.
    pub(crate) fn evaluate<T: DeserializeOwned>(&mut self, expression: &str) -> Result<T> {
        let how = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", &how)?;
        if !answer["exceptionDetails"].is_null() {
            bail!("a script of the check failed: {}", answer["exceptionDetails"]);
        }
        serde_json::from_value(answer["result"]["value"].clone())
            .context("a script of the check gave another type")
    }

    /// A picture of the window, as PNG.
    pub(crate) fn picture(&mut self) -> Result<Vec<u8>> {
        let answer = self.call("Page.captureScreenshot", &json!({ "format": "png" }))?;
        let data = answer["data"].as_str().context("Chromium made no picture")?;
        Ok(STANDARD.decode(data)?)
    }

    /// Sends a command and waits for its answer.
    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        let commands = self.commands.as_mut().context("Chromium has ended")?;
        if commands.write_all(&bytes).and_then(|()| commands.flush()).is_err() {
            bail!("Chromium takes no more commands: {}", self.log());
        }
        loop {
            let answer = self.next_message()?;
            if answer["id"] != self.last_id {
                self.keep_if_event(&answer);
                continue;
            }
            if let Some(error) = answer["error"]["message"].as_str() {
                bail!("Chromium refuses {method}: {error}");
            }
            return Ok(answer["result"].clone());
        }
    }

    fn next_message(&mut self) -> Result<Value> {
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => Ok(message),
            Err(RecvTimeoutError::Timeout) => {
                bail!("Chromium did not answer within {} s", PATIENCE.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => bail!("Chromium ended: {}", self.log()),
        }
    }

    fn keep_if_event(&mut self, message: &Value) {
        if let Some(method) = message["method"].as_str() {
            self.events
                .push(Event { method: method.to_owned(), params: message["params"].clone() });
        }
    }

    /// The end of what Chromium wrote to its standard error.
    fn log(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Browser {
    /// Ends the process and waits for it, because its profile is removed next.
    fn drop(&mut self) {
        self.session = None;
        // An error means that it has ended already.
        let _ = self.call("Browser.close", &json!({}));
        drop(self.commands.take());
        for _ in 0..50 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
