//! Tests of a group over a `zenohd` that somebody else configured.

use sokudo_testkit::program::Running;
use sokudo_testkit::zenohd;

use crate::group::{at, controller, has_members, own_address};
use crate::group_hosts::stays_free;
use crate::vocabulary::{Place, place, summary};

/// Writes the file of a router that listens there.
#[track_caller]
fn written(place: &Place, listen: &str, more: &[&str]) {
    let words = ["group", "zenohd", "lab", "--listen", listen];
    let words = [&words[..], &["--output", "lab.json5"], more].concat();
    let ended = at(place, "home", &words).run();
    ended
        .expect_code(0)
        .expect_stdout("zenohd -c lab.json5")
        .expect_stdout("sokudo agent --join TOKEN --router");
}

/// An agent that joins as a printed line says, behind `--join `.
fn agent_as_told(place: &Place, line: &str, name: &str) -> Running {
    let mut words = vec!["agent", "--name", name, "--join"];
    words.extend(line.split(' '));
    let mut running = at(place, name, &words).start();
    running.wait_for(|line| (line == "connected").then_some(()));
    running
}

#[track_caller]
fn is_measured(place: &Place) {
    has_members(place, &["hosta"]);
    let words = ["rr", "lab/hosta", "--count", "100", "--json"];
    let ended = at(place, "home", &words).run();
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("rr.transactions"), 100.0);
    stays_free(place);
}

#[test]
fn a_zenohd_that_dials_the_controller_carries_a_run() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(30));
    let router = format!("{}:7447", own_address(31));
    written(&place, &router, &[]);
    // What it holds is not written over.
    let words = ["group", "zenohd", "lab", "--output", "lab.json5"];
    let again = at(&place, "home", &words).run();
    again
        .expect_code(2)
        .expect_stderr("lab.json5 exists already");
    let Some(zenohd) = zenohd::start(&place.path().join("lab.json5")) else {
        return;
    };
    let line = format!("{token} --router {router}");
    let hosta = agent_as_told(&place, &line, "hosta");
    is_measured(&place);
    // It is this router that carries them: without it nobody is there.
    zenohd.kill();
    has_members(&place, &[]);
    let settings = place.path().join("lab.json5");
    let _zenohd = zenohd::start(&settings).expect("it was there before");
    has_members(&place, &["hosta"]);
    drop(hosta);
}

#[test]
fn a_zenohd_that_stands_alone_carries_a_run() {
    let place = place();
    at(&place, "home", &["group", "init", "lab"])
        .run()
        .expect_code(0);
    let router = format!("{}:7447", own_address(33));
    written(&place, &router, &["--alone"]);
    let Some(_zenohd) = zenohd::start(&place.path().join("lab.json5")) else {
        return;
    };
    let bind = format!("{}:7412", own_address(32));
    let words = ["controller", "lab", "--bind", &bind, "--router", &router];
    let mut controller = at(&place, "home", &words).start();
    let line = controller.wait_for(|line| line.split_once("--join ").map(|(_, t)| t.to_owned()));
    assert!(line.ends_with(&format!(" --router {router}")), "{line}");
    // Another line says the same.
    let another = at(&place, "home", &["group", "token", "lab"]).run();
    another.expect_stdout(&format!(" --router {router}\n"));
    let _hosta = agent_as_told(&place, &line, "hosta");
    is_measured(&place);
}

/// Lines and files that end while they are being copied, and a line that names port 0, help nobody.
#[test]
fn lines_and_files_that_help_nobody_are_not_made() {
    let place = place();
    let made = at(&place, "home", &["group", "init", "lab"]).run();
    made.expect_code(0);
    let refuses = |line: &str, says: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let ended = at(&place, "home", &words).run();
        ended.expect_code(2).expect_stderr(says);
        assert!(ended.stdout.is_empty(), "{ended}");
    };
    refuses("controller lab --valid 0", "a minute or more");
    refuses("group token lab --valid 59s", "a minute or more");
    let file = "group zenohd lab --alone --output short.json5 --valid";
    refuses(&format!("{file} 0"), "a minute or more");
    assert!(!place.path().join("short.json5").exists());
    refuses("controller lab --bind 127.0.0.1:0", "port 0");
    // A group where a host is wanted.
    let named = at(&place, "home", &["rr", "lab", "--count", "1"]).run();
    named.expect_code(2).expect_stderr("`lab/*`");
    // Of documentation (RFC 5737): no host has it.
    refuses("controller lab --bind 192.0.2.1:7412", "--bind");
}
