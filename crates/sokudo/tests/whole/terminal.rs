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
    /// Bytes of it that have been waited for.
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
        Self::sized(place, arguments, kind, "")
    }

    /// The same of this size, as `stty` takes it.
    fn sized(place: &Place, arguments: &str, kind: &[(&str, &str)], size: &str) -> Option<Self> {
        let sized = match size {
            "" => String::new(),
            size => format!("stty {size}; "),
        };
        // The shell that `script` starts gives way: one that waited would take Ctrl-C for itself too.
        let line = format!("{sized}exec {} {arguments}", sokudo_bin().display());
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

    /// The end of what the screen has shown.
    fn screen(&self) -> String {
        const BYTES: usize = 2000;
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let from = heard.len().saturating_sub(BYTES);
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
    terminal.shows("is not a word of the console");
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

/// A load says on a terminal how it goes, with errors by their kinds, without being asked; in no line that
/// is wider than the terminal.
#[test]
fn a_load_is_seen_while_it_goes_on() {
    let answer = "HTTP/1.1 503 no\r\nContent-Length: 2\r\n\r\nno";
    let load = format!("http {}/x --rate 200 --duration 2s", server(answer));
    let place = place();
    let kind = [("TERM", "xterm"), ("NO_COLOR", "")];
    let Some(mut terminal) = Terminal::of_kind(&place, &load, &kind) else {
        return;
    };
    terminal.shows("of 2 s, ");
    terminal.shows("p99");
    terminal.shows("of status 5xx");
    terminal.shows("report.html");
    // Every request failed.
    assert_eq!(terminal.ends(), Some(1), "{}", terminal.screen());
}

/// `--live` takes the whole terminal, gives it back, and `q` ends the load; a terminal that is too small
/// is told so.
#[test]
fn the_full_screen_comes_and_goes() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let url = server(answer);
    for (size, fits) in [("rows 40 cols 120", true), ("rows 24 cols 80", false)] {
        let place = place();
        let length = if fits { "10min" } else { "1s" };
        // In a closed loop no busy machine can be short of what was asked for.
        let load = format!("http {url}/x -c 2 --duration {length} --live");
        let kind = [("TERM", "xterm"), ("NO_COLOR", "")];
        let Some(mut terminal) = Terminal::sized(&place, &load, &kind, size) else {
            return;
        };
        if fits {
            terminal.shows("\u{1b}[?1049h");
            // Blank cells between words are skipped.
            terminal.shows("latencies");
            terminal.shows("2xx");
            terminal.press("q");
            terminal.shows("\u{1b}[?1049l");
        } else {
            terminal.shows("needs 100 columns and 30 lines");
        }
        terminal.shows("report.html");
        let code = if fits { Some(3) } else { Some(0) };
        assert_eq!(terminal.ends(), code, "{}", terminal.screen());
    }
}

/// With `--interval` each interval gets a line, also through a pipe, where no escape code comes; a
/// reader that leaves early ends the program without a message.
#[test]
fn intervals_are_lines_and_pipes_get_no_escape_codes() {
    let place = place();
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let url = server(answer);
    let load = format!("http {url}/x --rate 100 --duration 2s");
    let run = |more: &str| {
        let line = format!("{} {load} {more}", sokudo_bin().display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(place.path());
        shell.env("SOKUDO_RUNS", "runs").env("SOKUDO_LANG", "en");
        shell.output().expect("a shell")
    };
    let output = run("--interval 500ms");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    for interval in ["0.0-0.5 s", "0.5-1.0 s", "1.0-1.5 s", "1.5-2.0 s"] {
        assert!(told.contains(interval), "{interval}: {told}");
    }
    assert!(told.contains("/s  p50"), "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
    let output = run("| head -1");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(shown.lines().count(), 1, "{shown}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !told.contains("panicked") && !told.contains("pipe"),
        "{told}"
    );
}
