//! `sokudo link`: commands on two hosts with a link between them.

use serde_json::Value;
use sokudo_testkit::program::{Ended, Sokudo, temp_runs};

/// The words of a command of a shell.
fn shell(line: &str) -> [&str; 4] {
    ["--", "sh", "-c", line]
}

/// The ended program, or `None` after saying why no link can be here.
fn possible(ended: Ended) -> Option<Ended> {
    let refusals = [
        "namespaces were refused",
        "need Linux",
        "cannot make a TUN device",
        "cannot run",
    ];
    if ended.code == Some(2)
        && refusals
            .iter()
            .any(|refusal| ended.stderr.contains(refusal))
    {
        sokudo_testkit::skip(ended.stderr.trim());
        return None;
    }
    Some(ended)
}

fn link(options: &str, command: &[&str]) -> Option<Ended> {
    let words = ["link", "run"]
        .into_iter()
        .chain(options.split_ascii_whitespace());
    possible(Sokudo::new(words.chain(command.iter().copied())).run())
}

/// The last line of standard error.
fn counters(ended: &Ended) -> Value {
    let line = ended.stderr.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {ended}"))
}

#[test]
fn a_load_of_ours_crosses_the_link_to_the_far_end() {
    let runs = temp_runs();
    let words = "link run --rate 50Mb/s --delay 5ms --json -- sokudo rr b --count 20 --json";
    let ended = Sokudo::new(words.split(' ')).dir(runs.path()).run();
    let Some(ended) = possible(ended) else { return };
    ended.expect_code(0);
    let summary: Value = serde_json::from_str(&ended.stdout).expect("the command's own output");
    assert!(summary.is_object(), "{ended}");
    assert_eq!(runs.records().len(), 1);
    let counters = counters(&ended);
    let ways = counters["ways"].as_array().expect("two ways");
    assert_eq!(ways.len(), 2);
    for way in ways {
        assert_eq!(way["rate"], 50_000_000);
        assert_eq!(way["delay"], 0.005);
        assert_eq!(way["dropped_by_loss"], 0);
        assert!(
            way["delivered_packets"]
                .as_u64()
                .is_some_and(|packets| packets >= 20),
            "{way}"
        );
        assert!(
            way["offered_packets"].as_u64() >= way["delivered_packets"].as_u64(),
            "{way}"
        );
    }
}

#[test]
fn the_command_has_its_own_output_and_exit_code() {
    let Some(ended) = link("--far true", &shell("cat /etc/hosts; exit 7")) else {
        return;
    };
    ended.expect_code(7).expect_stdout("10.77.0.2 b\n");
    assert!(ended.stderr.contains("a → b (10.77.0.2)"), "{ended}");
    assert!(ended.stderr.contains("dropped by the queue 0"), "{ended}");
    let Some(ended) = link("--far true", &["--", "/nowhere/at-all"]) else {
        return;
    };
    ended.expect_code(2);
    assert!(ended.stderr.contains("/nowhere/at-all"), "{ended}");
}

#[test]
fn the_carrier_is_chosen_or_asked_for_and_always_said() {
    if let Some(ended) = link("--jitter 1ms --far true --json", &shell(":")) {
        ended.expect_code(0);
        let counters = counters(&ended);
        assert_eq!(counters["carrier"], "tun", "netem reorders: {counters}");
        assert!(
            counters["carrier_reason"]
                .as_str()
                .is_some_and(|why| why.contains("jitter"))
        );
    }
    if let Some(ended) = link("--carrier tun --far true", &shell(":")) {
        assert!(ended.stderr.contains("carried by this program"), "{ended}");
    }
    if let Some(ended) = link("--carrier kernel --jitter 1ms --far true", &shell(":")) {
        ended.expect_code(2);
        assert!(ended.stderr.contains("reorders"), "{ended}");
    }
}

#[test]
fn a_far_end_that_fails_is_told_and_nothing_else_begins() {
    let Some(ended) = link("--far false", &shell("echo begun")) else {
        return;
    };
    ended.expect_code(3);
    assert_eq!(ended.stdout, "", "{ended}");
    assert!(
        ended.stderr.contains("`false` ended before it listened"),
        "{ended}"
    );
}

#[test]
fn everything_ends_with_the_process_even_when_it_is_killed() {
    let words = ["link", "run", "--far", "true"];
    let command = shell("echo inside $$; exec sleep 1000");
    let mut running = Sokudo::new(words.into_iter().chain(command)).start();
    let said = running.wait_for(|line| {
        let inside = line.strip_prefix("inside ").map(str::to_owned);
        inside
            .map(Ok)
            .or_else(|| line.contains("error").then(|| Err(line.to_owned())))
    });
    let process = match said {
        Ok(process) => process,
        Err(why) => return sokudo_testkit::skip(why),
    };
    assert!(
        std::fs::metadata(format!("/proc/{process}")).is_ok(),
        "it runs"
    );
    // Its output ends only when nobody holds it any more, the command inside included.
    running.kill();
    let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let has_ended = state.is_err() || state.is_ok_and(|state| state.contains(") Z "));
    assert!(has_ended, "{process} outlived its link");
}

#[test]
fn programs_can_be_started_on_a_link_that_is_up() {
    let mut up = Sokudo::new("link up --rate 10Mb/s --json".split(' ')).start();
    let said = up.wait_for(|line| {
        let words = line
            .strip_prefix("sokudo ")
            .and_then(|line| line.strip_suffix(" b -- COMMAND"));
        let exec = words.map(|words| words.to_owned() + " b --");
        exec.map(Ok)
            .or_else(|| line.contains("error").then(|| Err(line.to_owned())))
    });
    let exec = match said {
        Ok(exec) => exec,
        Err(why) => return sokudo_testkit::skip(why),
    };
    let words = exec
        .split(' ')
        .chain(["sh", "-c", "pwd; cat /etc/hosts /proc/net/dev; exit 5"]);
    let ended = Sokudo::new(words).dir("/usr".as_ref()).run();
    ended
        .expect_code(5)
        .expect_stdout("/usr\n")
        .expect_stdout("10.77.0.1 a\n");
    ended.expect_stdout("eth0:");
    up.interrupt();
    let ended = up.finish();
    ended.expect_code(0);
    assert_eq!(counters(&ended)["ways"][0]["rate"], 10_000_000);
    let gone = Sokudo::new(exec.split(' ').chain(["true"])).run();
    gone.expect_code(2);
}
