//! Tests of the console: each line has the effect that the language describes.

use super::*;
use crate::remembering::Remembering;
use crate::vocabulary::{CONSOLE, HOST};
use sokudo_i18n::english;

fn lab(count: u32) -> Remembering {
    Remembering {
        count,
        ..Remembering::default()
    }
}

fn run(text: &str, lab: &mut Remembering) -> Result<(), Refused> {
    let lines = crate::line::parse(text).expect("a script");
    let mut console = Console::new(Pace::Gather);
    for line in &lines {
        console.execute(line, lab)?;
    }
    console.end(lines.len() as u32, lab)
}

/// Workload and flows of each part of a phase.
fn shape(phase: &Phase) -> Vec<(&str, Vec<(u32, u32)>)> {
    let flows = |part: &Part| part.flows.iter().map(|(f, t, _)| (*f, *t)).collect();
    let parts = phase.parts.iter();
    parts
        .map(|part| (part.workload.as_str(), flows(part)))
        .collect()
}

#[test]
fn what_is_staged_starts_together() {
    let mut lab = lab(4);
    run(
        "node 1 set connectnode 3\nnode 2 set connectnode 4\nall enter\n\
         all sendreceive-n 1MB 10\nwaitallresults 2 60s",
        &mut lab,
    )
    .expect("carried out");
    let shapes: Vec<_> = lab.phases.iter().map(shape).collect();
    assert_eq!(shapes[0], [("crr", vec![(1, 3), (2, 4)])]);
    assert_eq!(shapes[1], [("rr", vec![(1, 3), (2, 4)])]);
    assert_eq!(lab.phases[1].parts[0].options, "--size=1000000 --count=10");
    assert_eq!(lab.phases[1].bound_ns, Some(60_000_000_000));
    assert!(lab.missing.is_empty(), "{:?}", lab.missing);
}

#[test]
fn different_commands_of_different_hosts_are_one_phase() {
    let mut lab = lab(3);
    run(
        "node 1 set rr 3\nnode 2 set stream 3\nall enter\nwaittime 5",
        &mut lab,
    )
    .expect("carried out");
    assert_eq!(lab.phases.len(), 1);
    assert_eq!(
        shape(&lab.phases[0]),
        [("rr", vec![(1, 3)]), ("stream", vec![(2, 3)])]
    );
    assert_eq!(lab.paused_ns, 5_000_000);
}

#[test]
fn a_flow_without_a_result_is_named() {
    let mut lab = Remembering {
        dead: Some(3),
        ..lab(4)
    };
    run("node 1 rr 3\nnode 2 rr 4\nwaitallresults 2", &mut lab).expect("carried out");
    let [missing] = lab.missing.as_slice() else {
        panic!("one thing is missing: {:?}", lab.missing);
    };
    assert_eq!(missing.key, "console-results-missing");
    assert!(format!("{missing:?}").contains("host1 → host3"));
    let stalls = lab
        .said
        .iter()
        .filter(|said| said.key == "rule-stalled-says");
    assert_eq!(stalls.count(), 1, "what both ends know is told");
}

#[test]
fn waiting_for_what_nobody_does_ends_at_once() {
    let mut lab = lab(2);
    run("waitallresults 5", &mut lab).expect("carried out");
    assert_eq!(lab.missing[0].key, "console-results-never-asked");
}

#[test]
fn mistakes_tell_the_line_and_change_nothing() {
    for (text, says) in [
        ("node 9 enter", "no host `9`"),
        ("\nnode 1 enter", "nothing stands"),
        ("node 1 rr", "not connected to any host"),
        ("node 1 rr 1", "load itself"),
        ("node 1-2 connectnode 2", "load itself"),
        ("all dance", "no word `dance`"),
    ] {
        let mut lab = lab(2);
        let refused = run(text, &mut lab).expect_err(text);
        let Refused::Mistake(mistake) = &refused else {
            panic!("{refused}");
        };
        assert_eq!(mistake.line as usize, text.lines().count());
        assert!(english(&mistake.says).contains(says), "{refused}");
        assert!(lab.phases.is_empty());
    }
}

#[test]
fn hosts_have_numbers_names_and_addresses() {
    let hosts = lab(3).hosts();
    for text in ["2", "host2", "192.0.2.2", "lab/host2"] {
        assert_eq!(find_host(text, &hosts), Some(2), "{text}");
    }
    assert_eq!(find_host("4", &hosts), None);
}

#[test]
fn help_knows_every_word() {
    let mut lab = lab(1);
    run("help\nhelp rr\nhelp dance", &mut lab).expect("carried out");
    let keys: Vec<&str> = lab.said.iter().map(|text| text.key.as_str()).collect();
    for entry in CONSOLE.iter().chain(HOST) {
        assert!(keys.contains(&entry.help_key().as_str()), "{entry:?}");
    }
    assert_eq!(keys.last(), Some(&"console-help-unknown"));
}

#[test]
fn a_server_that_is_no_host_is_loaded_by_all_of_them() {
    let mut lab = lab(3);
    run("all http http://server/ -c 4\nwaitallresults 3", &mut lab).expect("carried out");
    let each: Vec<(u32, u32)> = (1..=3).map(|host| (host, host)).collect();
    assert_eq!(shape(&lab.phases[0]), [("http", each)]);
    assert_eq!(lab.phases[0].parts[0].options, "http://server/ -c 4");
}

#[test]
fn pairs_are_made_by_themselves() {
    let mut lab = lab(5);
    run(
        "autopairs\nall sendreceive-n 1kB 3\nwaitresults 2",
        &mut lab,
    )
    .expect("carried out");
    let flows = vec![(1, 3), (2, 4)];
    assert_eq!(shape(&lab.phases[0]), [("crr", flows.clone())]);
    assert_eq!(shape(&lab.phases[1]), [("rr", flows)]);
    let refused = run("\n  autopairs 3", &mut lab).expect_err("too many");
    assert!(
        refused.to_string().contains("line 2, column 3"),
        "{refused}"
    );
}

#[test]
fn clocks_must_be_known_as_well_as_asked_for() {
    let mut lab = lab(2);
    lab.clock_error_seconds = 3e-4;
    run("syncTime 1ms", &mut lab).expect("good enough");
    let refused = run("syncTime 200us", &mut lab).expect_err("not good enough");
    assert!(refused.to_string().contains("within 300 µs"), "{refused}");
    assert!(refused.hint().is_some());
}

#[test]
fn a_monitor_is_asked_for_by_a_line() {
    let mut lab = lab(2);
    run(
        "monitor process:port=8080\nMonitor cpu:interval=1s",
        &mut lab,
    )
    .expect("carried out");
    assert_eq!(lab.observed, ["process:port=8080", "cpu:interval=1s"]);
    for wrong in ["monitor", "monitor a b"] {
        assert!(crate::line::parse(wrong).is_err(), "{wrong}");
    }
}
