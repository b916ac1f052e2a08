//! The first Ctrl-C ends a command that still waits for others.
//!
//! Nothing here is timed: a command that does not hear the signal goes on to the end of its own bounds, and says
//! then that the other end is silent, not that it was interrupted.

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_testkit::program::{Ended, Running, Sokudo};

use crate::vocabulary::{BOUND, Place, no_panic, place};

/// A listener that takes every connection and never says a word.
struct Silent {
    address: SocketAddr,
    came: Receiver<()>,
}

fn silent() -> Silent {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (come, came) = mpsc::channel();
    thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            held.push(stream);
            if come.send(()).is_err() {
                return;
            }
        }
    });
    Silent { address, came }
}

/// Interrupts a command once it has called the silent one.
fn interrupted(silent: &Silent, running: Running) -> Ended {
    silent.came.recv_timeout(BOUND).expect("a call");
    running.interrupt();
    running.finish()
}

#[track_caller]
fn is_interrupted(ended: &Ended) {
    ended.expect_code(3).expect_stderr("interrupted");
    no_panic(ended);
}

#[test]
fn a_host_that_is_silent_at_the_door_holds_nobody() {
    let place = place();
    std::fs::create_dir(place.path().join("source")).expect("a folder");
    for line in [
        "rr HOST --count 10",
        "stream HOST --duration 1s",
        "probe HOST --count 10",
        "replicate source HOST:/tmp/never",
    ] {
        let silent = silent();
        let line = line.replace("HOST", &silent.address.to_string());
        let ended = interrupted(&silent, place.sokudo(&line).start());
        is_interrupted(&ended);
        assert_eq!(place.records().len(), 0, "{line} left a record");
    }
}

/// The load's own agent waits for the server, while it gets ready.
#[test]
fn a_server_that_is_silent_holds_no_load_that_gets_ready() {
    for scheme in ["postgres", "mysql"] {
        let (place, silent) = (place(), silent());
        let target = format!("{scheme}://u@{}/d", silent.address);
        let line = format!("tpcb --target {target} -d 1s --no-server-stats");
        let ended = interrupted(&silent, place.sokudo(&line).start());
        is_interrupted(&ended);
        // What was asked for and not measured has a record.
        ended.expect_stdout("The run was interrupted");
        assert_eq!(place.records().len(), 1);
    }
}

#[test]
fn a_database_that_is_silent_holds_no_target() {
    let (place, silent) = (place(), silent());
    let line = format!(
        "target app --db postgres://u@{}/d --set listen.address=127.0.0.1:0 --set admin.address=127.0.0.1:0",
        silent.address
    );
    is_interrupted(&interrupted(&silent, place.sokudo(&line).start()));
}

/// A file that appears here.
#[track_caller]
fn wait_for(place: &Place, name: &str) {
    let deadline = Instant::now() + BOUND;
    while !place.path().join(name).exists() {
        assert!(Instant::now() < deadline, "`{name}` does not appear");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The command on the near host has not begun: Ctrl-C is not for it yet.
#[test]
#[cfg(target_os = "linux")]
fn a_far_end_that_listens_nowhere_holds_no_link() {
    let place = place();
    let probe = Sokudo::new(["link", "run", "--far", "true", "--", "true"]).run();
    if probe.code != Some(0) {
        sokudo_testkit::skip(probe.stderr.trim());
        return;
    }
    let words = [
        "link",
        "run",
        "--far",
        "touch far; sleep 1000",
        "--",
        "touch",
        "near",
    ];
    let running = place.words(words).start();
    wait_for(&place, "far");
    running.interrupt();
    let ended = running.finish();
    is_interrupted(&ended);
    assert!(!place.path().join("near").exists(), "the command began");
}
