//! Tests of the pages in a real Chromium, driven over a pipe.
//!
//! The DevTools protocol: JSON messages that end with a zero byte, on the descriptors 3 and 4 of the
//! browser. A shell joins them to its standard input and output.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for anything that the browser is asked.
const BOUND: Duration = Duration::from_secs(60);
/// Pause between two looks at the page.
const LOOK: Duration = Duration::from_millis(50);

/// A browser with one page.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Events that came while something else was waited for.
    events: VecDeque<Value>,
    session: String,
    last: u64,
    _profile: tempfile::TempDir,
}

/// Starts Chromium; `None`, and the reason told, where there is none.
pub fn browser(width: u32, height: u32) -> Option<Browser> {
    let found = ["chromium", "chromium-browser"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(program) = found else {
        sokudo_testkit::skip("there is no chromium here");
        return None;
    };
    let profile = tempfile::tempdir().expect("a directory");
    let options = format!(
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
         --disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe \
         --user-data-dir={} --window-size={width},{height} about:blank",
        profile.path().display()
    );
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("exec {program} {options} 3<&0 4>&1"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // What it leaves behind when it is ended goes with its profile.
        .env("TMPDIR", profile.path())
        // With a group of its own, all of its processes can be ended together.
        .process_group(0)
        .spawn()
        .expect("started");
    let input = child.stdin.take().expect("a pipe");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    let (say, messages) = channel();
    std::thread::spawn(move || {
        for message in output.split(0).map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice(&message) else {
                continue;
            };
            if say.send(message).is_err() {
                return;
            }
        }
    });
    let mut browser = Browser {
        child,
        input,
        messages,
        events: VecDeque::new(),
        session: String::new(),
        last: 0,
        _profile: profile,
    };
    browser.open();
    Some(browser)
}

impl Browser {
    fn open(&mut self) {
        let made = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", attach);
        self.session = attached["sessionId"].as_str().expect("a session").into();
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Calls a method and returns its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser listens");
        let due = Instant::now() + BOUND;
        loop {
            let left = due.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let mut message = message.unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push_back(message);
        }
    }

    /// Goes to an address.
    pub fn go(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        self.wait("document.readyState === 'complete'");
    }

    /// Value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", params);
        let failed = &result["exceptionDetails"];
        assert!(failed.is_null(), "{expression}: {failed}");
        result["result"]["value"].take()
    }

    /// Waits until an expression is true. Panics with what the page shows when the bound passes.
    pub fn wait(&mut self, expression: &str) {
        let due = Instant::now() + BOUND;
        while self.value(&format!("Boolean({expression})")) != Value::Bool(true) {
            if Instant::now() > due {
                let shown = self.value("document.body.innerText");
                panic!("`{expression}` never came true; the page shows: {shown}");
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Presses what a selector names, as a mouse does: where it is, and only when it is enabled.
    pub fn press(&mut self, selector: &str) {
        self.wait(&format!(
            "document.querySelector('{selector}')?.disabled === false"
        ));
        self.value(&format!("document.querySelector('{selector}').click()"));
    }

    /// Types into a field that a selector names, with the keys of a keyboard.
    pub fn type_into(&mut self, selector: &str, text: &str) {
        self.value(&format!("document.querySelector('{selector}').focus()"));
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Presses a key where the focus is.
    pub fn key(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let text = if key == "Enter" { "\r" } else { "" };
            let params = json!({
                "type": kind, "key": key, "code": key, "text": text,
                "windowsVirtualKeyCode": code,
            });
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Moves the mouse to a part of the width, from 0 to 1, of what a selector names.
    pub fn point_at(&mut self, selector: &str, across: f64) {
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector('{selector}'); e.scrollIntoView({{ block: 'center' }}); \
               const r = e.getBoundingClientRect(); \
               return [r.left + r.width * {across}, r.top + r.height / 2]; }})()"
        ));
        let params = json!({ "type": "mouseMoved", "x": place[0], "y": place[1] });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Makes the window so large.
    pub fn size(&mut self, width: u32, height: u32) {
        let params = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    /// Keeps pictures of the page wide and narrow, light and dark, in both languages, where
    /// [`Browser::shot`] does. Afterwards the page is as wide as it was, light, and English.
    pub fn shots(&mut self, name: &str, width: u32, height: u32) {
        if std::env::var_os("SOKUDO_SHOTS").is_none() {
            return;
        }
        for (lang, look) in [("ja", "dark"), ("en", "light")] {
            self.press(&format!("[data-lang={lang}]"));
            self.press("[data-do=theme]");
            for (size, (width, height)) in [("narrow", (390, 844)), ("wide", (width, height))] {
                self.size(width, height);
                self.value("new Promise((done) => setTimeout(done, 400))");
                self.shot(&format!("{name}-{size}-{lang}-{look}"));
            }
        }
    }

    /// Everything that the browser complained about: errors of scripts, violations of the policy,
    /// answers that said no.
    pub fn complaints(&mut self) -> Vec<String> {
        self.value("0");
        let wrong = self
            .events
            .iter()
            .filter(|event| match event["method"].as_str() {
                Some("Runtime.exceptionThrown") => true,
                Some("Runtime.consoleAPICalled") => {
                    matches!(event["params"]["type"].as_str(), Some("error" | "warning"))
                }
                Some("Log.entryAdded") => {
                    matches!(
                        event["params"]["entry"]["level"].as_str(),
                        Some("error" | "warning")
                    )
                }
                _ => false,
            });
        wrong.map(|event| event["params"].to_string()).collect()
    }

    /// Keeps a picture of the page in the directory that `SOKUDO_SHOTS` names, when it does.
    pub fn shot(&mut self, name: &str) {
        let Some(place) = std::env::var_os("SOKUDO_SHOTS") else {
            return;
        };
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let data = taken["data"].as_str().expect("a picture");
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data);
        let file = Path::new(&place).join(format!("{name}.png"));
        std::fs::write(file, bytes.expect("base64")).expect("written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // All processes of the browser are in the group of the first one.
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
