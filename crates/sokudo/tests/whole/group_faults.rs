//! Tests of a group in which a process, a host, a link or a disk fails.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use sokudo_model::RunStatus;
use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::program::{Running, Sokudo, sokudo_bin};

use crate::group::{agent, at, controller, has_members, noted, own_address, start_on};
use crate::vocabulary::{BOUND, Place, no_panic, pid, place, summary};

/// Waits until an agent has noted so many things of a kind.
#[track_caller]
fn until_noted(place: &Place, home: &str, what: &str, count: usize) {
    let deadline = Instant::now() + BOUND;
    while noted(place, home)
        .iter()
        .filter(|e| e["what"] == what)
        .count()
        < count
    {
        assert!(Instant::now() < deadline, "{home} never notes `{what}`");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A long run over all agents, under way on these and seen here.
fn under_way(place: &Place, agents: &[&str]) -> Running {
    let words = ["rr", "lab/*", "--duration", "10min", "--rate", "200/s"];
    let mut running = at(place, "home", &words).start();
    for home in agents {
        until_noted(place, home, "start", 1);
    }
    place.wait_until_recorded_by("rr", &mut running);
    running
}

/// An agent that has joined before.
fn come_back(place: &Place, name: &str) -> Running {
    let mut running = at(place, name, &["agent", "lab"]).start();
    running.wait_for(|line| (line == "connected").then_some(()));
    running
}

fn is_lost(running: &mut Running, host: &str) {
    let said = format!("{host} was lost");
    running.wait_for(|line| line.contains(&said).then_some(()));
}

/// Moments at which a host's own observations were recorded, ascending, nanoseconds.
fn moments(record: &sokudo_model::Record, host: &str) -> Vec<i64> {
    let own = record.series.iter().filter(|s| s.key.host == host);
    let points = own.flat_map(|series| series.points.iter().map(|(t_ns, _)| *t_ns));
    let moments: BTreeSet<i64> = points.collect();
    moments.into_iter().collect()
}

/// Points in a record of what a host observed while it was under load.
fn points_of(record: &sokudo_model::Record, host: &str) -> usize {
    let own = record
        .series
        .iter()
        .filter(|series| series.key.host == host);
    own.map(|series| series.points.len()).sum()
}

#[test]
fn agents_that_are_killed_or_frozen_are_missed_and_come_back() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(10));
    let hosta = agent(&place, &token, "hosta");
    let hostb = agent(&place, &token, "hostb");
    let _hostc = agent(&place, &token, "hostc");
    has_members(&place, &["hosta", "hostb", "hostc"]);
    let mut running = under_way(&place, &["hosta", "hostb", "hostc"]);
    hosta.kill();
    is_lost(&mut running, "hosta");
    kill_process(pid(&hostb), Signal::STOP).expect("freeze it");
    running.wait_for(|line| line.contains("hostb has said nothing for").then_some(()));
    is_lost(&mut running, "hostb");
    running.interrupt();
    let ended = running.finish();
    ended.expect_code(3);
    no_panic(&ended);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    for host in ["hosta", "hostb", "hostc"] {
        assert!(points_of(&record, host) > 0, "nothing of {host} is kept");
    }
    let told = record.events.iter().filter(|e| e.kind == "host-health");
    let of_b: Vec<&str> = told
        .filter(|event| event.host == "hostb")
        .map(|event| event.says.key.as_str())
        .collect();
    assert!(
        of_b.ends_with(&["engine-host-suspect", "engine-host-given-up"]),
        "{of_b:?}"
    );
    suspect_then_given_up(&record, "hostb");
    let _hosta = come_back(&place, "hosta");
    kill_process(pid(&hostb), Signal::CONT).expect("thaw it");
    // What it did for the controller that gave it up has ended.
    until_noted(&place, "hostb", "left during a phase", 1);
    has_members(&place, &["hosta", "hostb", "hostc"]);
    at(&place, "home", &["rr", "lab/*", "--count", "20"])
        .run()
        .expect_code(0);
}

/// A host that stands still is suspect after 3 s of silence and given up after 6 s, by the record's own
/// times: never earlier, and later only as a busy machine looks later.
#[track_caller]
fn suspect_then_given_up(record: &sokudo_model::Record, host: &str) {
    let last_ns = *moments(record, host).last().expect("it was heard");
    let told_ns = |what: &str| {
        let mut events = record.events.iter().rev();
        let found = events.find(|event| event.host == host && event.says.key == what);
        found.map(|event| event.t_ns).expect("it is told")
    };
    let silent_s = |what: &str| (told_ns(what) - last_ns) as f64 * 1e-9;
    let (suspect_s, lost_s) = (
        silent_s("engine-host-suspect"),
        silent_s("engine-host-given-up"),
    );
    // What was recorded last was heard later, if anything: one clock, no doubt.
    assert!(
        (3.0..60.0).contains(&suspect_s),
        "suspect after {suspect_s} s"
    );
    assert!((6.0..60.0).contains(&lost_s), "given up after {lost_s} s");
    assert!(suspect_s < lost_s);
}

/// A member that stands still when the console opens is left out, one that vanishes later is named, and
/// every word after that is carried out by who is there.
#[test]
fn a_console_goes_on_without_members_that_vanish() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(17));
    let hosta = agent(&place, &token, "hosta");
    let hostb = agent(&place, &token, "hostb");
    let _hostc = agent(&place, &token, "hostc");
    let _hostd = agent(&place, &token, "hostd");
    has_members(&place, &["hosta", "hostb", "hostc", "hostd"]);
    kill_process(pid(&hosta), Signal::STOP).expect("freeze it");
    let lines = "all connectnode 2\nall sendreceive-n 1kB 10\nwaitallresults 1\nsleep 2s\n\
                 monitor psi\nsynctime\nall sendreceive-n 1kB 10\nwaitallresults 1\n";
    let mut console = at(&place, "home", &["console", "lab"]).stdin(lines).start();
    console.wait_for(|line| line.contains("hosta does not answer").then_some(()));
    until_noted(&place, "hostb", "start", 1);
    hostb.kill();
    let ended = console.finish();
    no_panic(&ended);
    // The record says that a host was lost.
    ended.expect_code(3);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    let lost = |host: &str| record.manifest.problems.iter().any(|p| p.host == host);
    assert!(
        lost("hostb") && !lost("hostc"),
        "{:?}",
        record.manifest.problems
    );
    let last = record.manifest.phases.last().expect("a phase");
    assert_eq!(last.status, RunStatus::Ok, "{last:?}");
    assert_eq!(
        record.manifest.plan.phases.len(),
        record.manifest.phases.len()
    );
    kill_process(pid(&hosta), Signal::CONT).expect("thaw it");
}

/// The controller and the run die together. Agents stop, keep what nobody took, and find the
/// controller again; the run's record gets all of it.
#[test]
fn nothing_recorded_is_lost_with_the_controller() {
    let place = place();
    let address = own_address(11);
    let (lab, token) = controller(&place, &address);
    let _hosta = agent(&place, &token, "hosta");
    let _hostb = agent(&place, &token, "hostb");
    has_members(&place, &["hosta", "hostb"]);
    let running = under_way(&place, &["hosta", "hostb"]);
    running.kill();
    lab.kill();
    for home in ["hosta", "hostb"] {
        until_noted(&place, home, "left during a phase", 1);
    }
    let bind = format!("{address}:7412");
    let mut lab = at(&place, "home", &["controller", "lab", "--bind", &bind]).start();
    lab.wait_for(|line| line.contains("--join ").then_some(()));
    has_members(&place, &["hosta", "hostb"]);
    let spooled = sokudo_store::spooled(&place.record()).expect("a spool");
    let spooled = spooled.iter().flat_map(|batch| &batch.series);
    let spooled: usize = spooled.map(|series| series.points.len()).sum();
    let ended = at(&place, "home", &["recover", "latest", "--json"]).run();
    no_panic(&ended);
    let told = ended.stderr.lines().find_map(|line| {
        let (_, rest) = line.split_once("2 agents of lab held ")?;
        rest.split(' ').next()?.parse::<usize>().ok()
    });
    // They went on for a while before they noticed that nobody listened.
    assert!(told.is_some_and(|points| points > 0), "{ended}");
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    // What the controller had and what they held is what there is now.
    let points = record.series.iter().map(|series| series.points.len());
    assert_eq!(points.sum::<usize>(), spooled + told.unwrap_or_default());
    for home in ["hosta", "hostb"] {
        has_no_gap(&record, home);
        let kept = fs::read_dir(place.path().join(home).join("kept")).expect("a folder");
        assert_eq!(kept.count(), 0, "{home} still holds what was collected");
    }
}

/// From its first observation to its last, a host's record has no hole: monitors look four times a
/// second, and a busy machine lets them wait for a while.
#[track_caller]
fn has_no_gap(record: &sokudo_model::Record, host: &str) {
    let moments = moments(record, host);
    let between = moments.windows(2).map(|pair| pair[1] - pair[0]);
    let longest_s = between.max().expect("several moments") as f64 * 1e-9;
    assert!(longest_s < 3.0, "{host} lacks {longest_s} s");
    let (first, last) = (moments[0], moments[moments.len() - 1]);
    // The controller lived until this much was recorded, and the agents went on for some seconds.
    let span_s = (last - first) as f64 * 1e-9;
    assert!(span_s > 2.0, "{host} has {span_s} s");
    assert!(moments.len() as f64 > span_s, "{}", moments.len());
}

/// An agent that is not there when a run is recovered is waited for, or given up on purpose.
#[test]
fn what_an_absent_agent_holds_is_not_given_up_in_silence() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(12));
    let hosta = agent(&place, &token, "hosta");
    has_members(&place, &["hosta"]);
    let running = under_way(&place, &["hosta"]);
    running.kill();
    hosta.kill();
    has_members(&place, &[]);
    let recover = |words: &[&str]| at(&place, "home", &[&["recover"], words].concat()).run();
    recover(&[])
        .expect_code(3)
        .expect_stderr("hosta, which took part in the run, is not connected")
        .expect_stderr("--no-collect");
    recover(&["--no-collect", "--json"]).expect_stderr("recovered");
}

#[test]
fn a_cable_that_is_pulled_and_plugged_again() {
    let Some(hosts) = Hosts::new(3) else {
        return;
    };
    let place = place();
    at(&place, "home", &["group", "init", "lab"])
        .run()
        .expect_code(0);
    let bind = format!("{}:7412", hosts.address(0));
    let call = at(&place, "home", &["controller", "lab", "--bind", &bind]);
    let mut lab = start_on(&hosts, 0, call);
    let token = lab.wait_for(|line| line.split_once("--join ").map(|(_, t)| t.to_owned()));
    let mut agents = Vec::new();
    for (number, name) in [(1, "hosta"), (2, "hostb")] {
        let call = at(&place, name, &["agent", "--join", &token, "--name", name]);
        let mut agent = start_on(&hosts, number, call);
        agent.wait_for(|line| (line == "connected").then_some(()));
        agents.push(agent);
    }
    let words = ["rr", "lab/*", "--duration", "10min", "--rate", "200/s"];
    let mut running = start_on(&hosts, 0, at(&place, "home", &words));
    for home in ["hosta", "hostb"] {
        until_noted(&place, home, "start", 1);
    }
    hosts.pull_cable(1).expect("a link that can be set down");
    is_lost(&mut running, "hosta");
    // Its own load ends, too: nobody can ask for it any more.
    until_noted(&place, "hosta", "left during a phase", 1);
    running.interrupt();
    running.finish().expect_code(3);
    hosts.plug_cable(1).expect("a link that can be set up");
    let deadline = Instant::now() + BOUND;
    loop {
        let words = ["rr", "lab/hosta", "--count", "20", "--json"];
        let ended = start_on(&hosts, 0, at(&place, "home", &words)).finish();
        if ended.code == Some(0) {
            assert_eq!(summary(&ended).number("rr.transactions"), 20.0);
            return;
        }
        assert!(
            Instant::now() < deadline,
            "hosta does not come back: {ended}"
        );
    }
}

#[test]
fn a_site_behind_its_router_is_measured_lost_and_found() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(13));
    let site = own_address(14);
    let made = at(
        &place,
        "home",
        &["group", "token", "lab", "--router", "--uses", "1"],
    )
    .run();
    let (_, router_token) = made.stdout.trim().split_once("--join ").expect("a token");
    let bind = format!("{site}:7412");
    let words = [
        "router",
        "--join",
        router_token,
        "--name",
        "tokyo",
        "--bind",
        &bind,
    ];
    let mut router = at(&place, "tokyo", &words).start();
    let via = router.wait_for(|line| line.split_once("--via ").map(|(_, at)| at.to_owned()));
    let words = [
        "agent",
        "--join",
        &token,
        "--via",
        &via,
        "--name",
        "hosta",
        "--label",
        "site=tokyo",
    ];
    let mut hosta = at(&place, "hosta", &words).start();
    hosta.wait_for(|line| (line == "connected").then_some(()));
    let _hostb = agent(&place, &token, "hostb");
    has_members(&place, &["hosta", "hostb"]);
    let chosen = at(
        &place,
        "home",
        &["rr", "lab/site=tokyo", "--count", "20", "--json"],
    )
    .run();
    chosen.expect_code(0);
    assert_eq!(
        summary(&chosen).0["flows"].as_array().map(Vec::len),
        Some(1)
    );
    // A token for routers admits no agent, and only once.
    let words = ["agent", "--join", router_token, "--name", "x"];
    at(&place, "x", &words)
        .run()
        .expect_code(3)
        .expect_stderr("for a host that becomes router");
    let words = [
        "router",
        "--join",
        router_token,
        "--name",
        "x",
        "--bind",
        &bind,
    ];
    at(&place, "x", &words)
        .run()
        .expect_code(3)
        .expect_stderr("has been used up");
    let mut running = under_way(&place, &["hosta", "hostb"]);
    router.kill();
    is_lost(&mut running, "hosta");
    running.interrupt();
    running.finish().expect_code(3);
    let _router = at(&place, "tokyo", &["router", "lab", "--bind", &bind]).start();
    has_members(&place, &["hosta", "hostb"]);
}

/// A disk without room: what the agent says is not kept, what it does is not noted, and what cannot
/// be noted is not done.
#[test]
fn an_agent_whose_disk_is_full_measures_and_then_refuses() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(15));
    let first = agent(&place, &token, "hosta");
    first.interrupt();
    first.finish().expect_code(0);
    // No file of it may grow beyond 16 KiB; the signal that says so is ignored, the error stays.
    let script = format!(
        "trap '' XFSZ; ulimit -f 16; exec {} agent lab",
        sokudo_bin().display()
    );
    let shell = Sokudo::of("bash".as_ref(), ["-c", &script])
        .dir(place.path())
        .env(
            "SOKUDO_CONFIG",
            &place.path().join("hosta").to_string_lossy(),
        )
        .bound(BOUND);
    let mut hosta = shell.start();
    hosta.wait_for(|line| (line == "connected").then_some(()));
    has_members(&place, &["hosta"]);
    let words = ["rr", "lab/hosta", "--count", "2000", "--json"];
    let ended = at(&place, "home", &words).run();
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("rr.transactions"), 2000.0);
    let log = place.path().join("hosta/audit.jsonl");
    let mut noted = fs::read(&log).expect("a log");
    noted.resize(16 * 1024, b'\n');
    fs::write(&log, noted).expect("a full log");
    at(&place, "home", &words)
        .run()
        .expect_code(3)
        .expect_stderr("cannot note what it is asked for");
}

/// An agent that is slow for a moment is waited for.
#[test]
fn a_pause_is_no_loss() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(16));
    let hosta = agent(&place, &token, "hosta");
    has_members(&place, &["hosta"]);
    let words = ["rr", "lab/hosta", "--duration", "4s", "--rate", "200/s"];
    let running = at(&place, "home", &words).start();
    until_noted(&place, "hosta", "start", 1);
    kill_process(pid(&hosta), Signal::STOP).expect("stop it");
    std::thread::sleep(Duration::from_secs(1));
    kill_process(pid(&hosta), Signal::CONT).expect("let it go on");
    let ended = running.finish();
    no_panic(&ended);
    assert!(!ended.stderr.contains("was lost"), "{ended}");
    assert!(points_of(&place.load(), "hosta") > 0);
}

/// A script may be long, and it may never come to an end by itself.
#[test]
fn scripts_have_bounds() {
    let place = place();
    place.write(
        "long.js",
        &"// a line of a very long script\n".repeat(400_000),
    );
    let long = place.run("run long.js --local 1");
    long.expect_code(2).expect_stderr("has more than 10 MiB");
    no_panic(&long);
    // A file without an end has no length either.
    for line in ["run /dev/zero --local 1", "target app --file /dev/zero"] {
        if cfg!(unix) {
            place.run(line).expect_code(2);
        }
    }
    place.write("endless.js", "while (true) {}\n");
    let ended = place.run("run endless.js --local 1");
    assert!(matches!(ended.code, Some(2 | 3)), "{ended}");
    ended.expect_stderr("the script computed for more than 30s");
    no_panic(&ended);
}

/// The first signal ends who waits for a controller, whatever it waits for.
#[test]
fn who_reaches_no_controller_ends_when_told_to() {
    let place = place();
    let (controller, token) = controller(&place, &own_address(17));
    drop(agent(&place, &token, "hosta"));
    drop(controller);
    // Takes callers and never answers.
    let silent = TcpListener::bind((own_address(18), 7412)).expect("a port");
    let via = silent.local_addr().expect("its place").to_string();
    let join = ["agent", "--join", &token, "--name", "hostb", "--via", &via];
    let enrolling = at(&place, "hostb", &join).start();
    let _caller = silent.accept().expect("a caller");
    kill_process(pid(&enrolling), Signal::TERM).expect("end it");
    let mut connecting = at(&place, "hosta", &["agent", "lab"]).start();
    connecting.wait_for(|line| line.contains("hosta").then_some(()));
    kill_process(pid(&connecting), Signal::TERM).expect("end it");
    let ended = enrolling.finish();
    assert_eq!(ended.code, None, "it ends by the signal: {ended}");
    // Nothing but the signal would end this one.
    let ended = connecting.finish();
    ended.expect_code(0);
    no_panic(&ended);
}
