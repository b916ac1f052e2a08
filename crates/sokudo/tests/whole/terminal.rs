//! The program as a person uses it: at a terminal, with a prompt in the console.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sokudo_report::text_columns;
use sokudo_testkit::program::sokudo_bin;
use sokudo_testkit::skip;

use crate::http::server;
use crate::vocabulary::{BOUND, Place, place};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const UP: &str = "\u{1b}[A";

/// The program at a terminal of its own, which `script` of util-linux makes. Dropping it ends it.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    heard: Arc<Mutex<Vec<u8>>>,
    /// How much of it has been waited for.
    seen: usize,
    deadline: Instant,
}

impl Terminal {
    /// `None`, with the reason, where there is no such program.
    fn open(place: &Place, arguments: &str) -> Option<Self> {
        Self::of_kind(place, arguments, &[("TERM", "xterm"), ("NO_COLOR", "1")])
    }

    /// The same where these variables tell what the terminal takes.
    fn of_kind(place: &Place, arguments: &str, kind: &[(&str, &str)]) -> Option<Self> {
        // The shell that `script` starts gives way: one that waited would take Ctrl-C for itself too.
        let line = format!("exec {} {arguments}", sokudo_bin().display());
        let spawned = Command::new("script")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .current_dir(place.path())
            .env("SOKUDO_RUNS", "runs")
            .env("SOKUDO_LANG", "en")
            .env("SOKUDO_CONFIG", place.path().join("home"))
            .env("SHELL", "/bin/sh")
            .env_remove("NO_COLOR")
            .envs(kind.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                skip(format!("no program `script`: {error}"));
                return None;
            }
        };
        let keys = child.stdin.take().expect("a pipe");
        let mut screen = child.stdout.take().expect("a pipe");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut bytes = [0u8; 4096];
            while let Ok(length @ 1..) = screen.read(&mut bytes) {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend(&bytes[..length]);
            }
        });
        Some(Self {
            child,
            keys,
            heard,
            seen: 0,
            deadline: Instant::now() + BOUND,
        })
    }

    /// The end of what the screen shows and was not waited for.
    fn screen(&self) -> String {
        const BYTES: usize = 2000;
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let from = self.seen.max(heard.len().saturating_sub(BYTES));
        String::from_utf8_lossy(&heard[from..]).into_owned()
    }

    /// Waits until the screen shows this after what was waited for before.
    #[track_caller]
    fn shows(&mut self, text: &str) {
        loop {
            let found = {
                let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
                let mut windows = heard[self.seen..].windows(text.len());
                windows.position(|window| window == text.as_bytes())
            };
            if let Some(at) = found {
                self.seen += at + text.len();
                return;
            }
            let late = Instant::now() > self.deadline;
            assert!(!late, "the screen never shows `{text}`: {}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn press(&mut self, keys: &str) {
        let pressed = self.keys.write_all(keys.as_bytes());
        pressed.and_then(|()| self.keys.flush()).expect("a key");
    }

    /// Waits for the prompt, and types a line.
    #[track_caller]
    fn line(&mut self, text: &str) {
        self.shows("sokudo> ");
        self.press(text);
        self.press("\r");
    }

    /// Waits for the end; its exit code.
    #[track_caller]
    fn ends(&mut self) -> Option<i32> {
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            let late = Instant::now() > self.deadline;
            assert!(!late, "it does not end: {}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended; otherwise the terminal goes, and the program with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Different commands are staged for two hosts and begin together; an earlier line comes back with a
/// key, can be changed, and the next console still knows it.
#[test]
fn a_person_stages_commands_fires_them_and_leaves() {
    let place = place();
    let Some(mut terminal) = Terminal::open(&place, "console --local 4") else {
        return;
    };
    terminal.line("node 1 set rr 3 --count 30");
    terminal.line("node 2 set stream 4 --bytes 100kB");
    terminal.line("all enter");
    terminal.shows("hosta → hostc");
    terminal.shows("hostb → hostd");
    terminal.line("nonsense");
    terminal.shows("no word of the console");
    // The line before the last one, with one character more.
    terminal.shows("sokudo> ");
    terminal.press(UP);
    terminal.press(UP);
    terminal.shows("all enter");
    terminal.press(&format!("{UP}9\r"));
    terminal.line("node 1 rr 2 --count 10");
    terminal.shows("hosta → hostb");
    terminal.shows("sokudo> ");
    terminal.press(CTRL_D);
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.screen());
    let record = place.load();
    let phases: Vec<&str> = record
        .manifest
        .phases
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(phases, ["1-rr+stream/rr", "1-rr+stream/stream", "2-rr"]);
    let history = std::fs::read_to_string(place.path().join("home/console-history"));
    let history = history.expect("a history");
    assert!(history.contains("node 1 rr 2 --count 10"), "{history}");
    assert!(history.contains("--bytes 100kB9"), "{history}");
}

/// Ctrl-C at the prompt forgets the line; during a load it ends the load, and what was measured is
/// kept; the console goes on.
#[test]
fn ctrl_c_ends_a_load_and_keeps_the_prompt() {
    let place = place();
    let Some(mut terminal) = Terminal::open(&place, "console --local 2") else {
        return;
    };
    terminal.shows("sokudo> ");
    terminal.press("node 1 forgotten");
    terminal.press(CTRL_C);
    terminal.line("node 1 rr 2 --duration 10min --rate 500/s");
    place.wait_until_recorded("rr");
    terminal.press(CTRL_C);
    terminal.shows("hosta → hostb");
    terminal.shows("stopped; what was measured");
    terminal.line("node 1 rr 2 --count 10");
    terminal.shows("hosta → hostb");
    terminal.line("quit");
    // The record is partial: a load was cut short.
    assert_eq!(terminal.ends(), Some(3), "{}", terminal.screen());
    let record = place.load();
    let transactions: Vec<f64> = record
        .manifest
        .phases
        .iter()
        .map(|phase| phase.result.summary["rr.transactions"])
        .collect();
    assert!(transactions[0] > 0.0, "{transactions:?}");
    assert_eq!(transactions[1..], [10.0]);
}

/// A terminal that takes no escape codes gets none, whatever says so; another one gets colours and a
/// bar. No line is wider than 80 columns where the terminal does not tell its width.
#[test]
fn escape_codes_are_for_terminals_that_take_them() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let load = format!("http {}/x --rate 50 --duration 1s", server(answer));
    for (kind, are_taken) in [
        ([("TERM", "xterm"), ("NO_COLOR", "")], true),
        ([("TERM", "xterm"), ("NO_COLOR", "1")], false),
        ([("TERM", "dumb"), ("NO_COLOR", "")], false),
    ] {
        let place = place();
        let Some(mut terminal) = Terminal::of_kind(&place, &load, &kind) else {
            return;
        };
        terminal.shows("report  ");
        terminal.shows("report.html");
        let heard = terminal
            .heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&heard);
        assert_eq!(text.contains('\u{1b}'), are_taken, "{kind:?}: {text}");
        let wide = |line: &&str| text_columns(line.trim_end()) > 80;
        let wide: Vec<&str> = text.lines().filter(wide).collect();
        assert!(are_taken || wide.is_empty(), "{kind:?}: {wide:#?}");
    }
}
