//! A group on this machine: made, joined, listed, measured, left.

use std::time::Instant;

use serde_json::Value;
use sokudo_testkit::hosts::{Hosts, Tbf};
use sokudo_testkit::program::{Ended, Running, Sokudo};
use sokudo_testkit::skip;
use sokudo_wire::join::JoinToken;

use crate::vocabulary::{BOUND, Place, place, summary};

/// A loopback address of this process alone, so that ports need no luck.
pub fn own_address(number: u8) -> String {
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    format!("127.{}.{low}.{number}", high.max(1))
}

/// The program with a home of its own below the place.
pub fn at(place: &Place, home: &str, words: &[&str]) -> Sokudo {
    let home = place.path().join(home);
    place
        .words(words.iter().copied())
        .env("SOKUDO_CONFIG", &home.to_string_lossy())
}

/// A controller that listens, and its join token.
pub fn controller(place: &Place, address: &str) -> (Running, String) {
    at(place, "home", &["group", "init", "lab"])
        .run()
        .expect_code(0);
    let bind = format!("{address}:7412");
    let mut running = at(place, "home", &["controller", "lab", "--bind", &bind]).start();
    let token = running.wait_for(|line| line.split_once("--join ").map(|(_, t)| t.to_owned()));
    (running, token)
}

pub fn agent(place: &Place, token: &str, name: &str) -> Running {
    let mut running = at(place, name, &["agent", "--join", token, "--name", name]).start();
    running.wait_for(|line| (line == "connected").then_some(()));
    running
}

/// Waits until `group hosts` lists exactly these.
#[track_caller]
pub fn has_members(place: &Place, names: &[&str]) {
    let deadline = Instant::now() + BOUND;
    loop {
        let seen = members(place);
        if seen == names {
            return;
        }
        assert!(Instant::now() < deadline, "{seen:?} instead of {names:?}");
    }
}

/// Names in `group hosts` of those who answer.
pub fn members(place: &Place) -> Vec<String> {
    let objects = objects(&at(place, "home", &["group", "hosts", "lab", "--json"]).run());
    let answering = objects.iter().filter(|object| object["answers"] == true);
    let name = |object: &Value| object["name"].as_str().expect("a name").to_owned();
    answering.map(name).collect()
}

/// Objects on stdout, one in each line.
pub fn objects(ended: &Ended) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).expect("one object per line");
    ended.stdout.lines().map(line).collect()
}

#[test]
fn hosts_join_are_measured_and_leave() {
    let place = place();
    let (controller, token) = controller(&place, &own_address(1));
    let hosta = agent(&place, &token, "hosta");
    let hostb = agent(&place, &token, "hostb");
    has_members(&place, &["hosta", "hostb"]);
    let ended = at(
        &place,
        "home",
        &["rr", "lab/hostb", "--count", "200", "--json"],
    )
    .run();
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("rr.transactions"), 200.0);
    hostb.interrupt();
    hostb.finish().expect_code(0);
    has_members(&place, &["hosta"]);
    // It comes back without the token: it holds a certificate.
    let mut again = at(&place, "hostb", &["agent", "lab"]).start();
    again.wait_for(|line| (line == "connected").then_some(()));
    has_members(&place, &["hosta", "hostb"]);
    for running in [again, hosta, controller] {
        running.interrupt();
        running.finish().expect_code(0);
    }
}

/// Notes of an agent: objects, the oldest first.
pub fn noted(place: &Place, home: &str) -> Vec<Value> {
    let file = place.path().join(home).join("audit.jsonl");
    let text = std::fs::read_to_string(file).expect("a log");
    let line = |line: &str| serde_json::from_str(line).expect("one object per line");
    text.lines().map(line).collect()
}

#[test]
fn an_agent_does_what_its_owner_allows_and_notes_who_asked() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(3));
    std::fs::create_dir(place.path().join("hosta")).expect("a home");
    let policy = "workloads = [\"rr\"]\nmax_duration = \"90min\"\n";
    std::fs::write(place.path().join("hosta/policy.toml"), policy).expect("a policy");
    let told = at(&place, "hosta", &["agent", "--print-policy"]).run();
    told.expect_code(0);
    assert!(told.stdout.contains("workloads: rr\n"), "{told}");
    let _hosta = agent(&place, &token, "hosta");
    let asked = |words: &[&str]| at(&place, "home", words).run();
    asked(&["rr", "lab/hosta", "--count", "20"]).expect_code(0);
    asked(&["stream", "lab/hosta", "--duration", "1s"])
        .expect_code(2)
        .expect_stderr("does not carry out the workload `stream`")
        .expect_stderr("--print-policy");
    asked(&["rr", "lab/hosta", "--duration", "3h"])
        .expect_code(2)
        .expect_stderr("10800 s were asked for");
    let noted = noted(&place, "hosta");
    let of = |what: &'static str| noted.iter().filter(move |entry| entry["what"] == what);
    assert_eq!((of("prepare").count(), of("start").count()), (1, 1));
    let refused: Vec<&Value> = of("refused")
        .map(|entry| &entry["about"]["workload"])
        .collect();
    assert_eq!(refused, ["stream", "rr"]);
    let bad = "workload = []";
    std::fs::write(place.path().join("hosta/policy.toml"), bad).expect("a policy");
    let ended = at(&place, "hosta", &["agent", "lab"]).run();
    ended
        .expect_code(2)
        .expect_stderr("unknown field `workload`");
}

/// Waits until an agent has noted this.
#[track_caller]
fn until_noted(place: &Place, home: &str, what: &str) {
    let deadline = Instant::now() + BOUND;
    while !noted(place, home).iter().any(|entry| entry["what"] == what) {
        assert!(Instant::now() < deadline, "{home} never notes `{what}`");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn load_ends_with_who_asked_for_it() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(4));
    let _hosta = agent(&place, &token, "hosta");
    let _hostb = agent(&place, &token, "hostb");
    let words = [
        "stream",
        "lab/*",
        "--direction",
        "both",
        "--duration",
        "10min",
    ];
    let asking = at(&place, "home", &words).start();
    for home in ["hosta", "hostb"] {
        until_noted(&place, home, "start");
    }
    asking.kill();
    for home in ["hosta", "hostb"] {
        until_noted(&place, home, "left during a phase");
    }
}

#[test]
fn who_may_not_join_learns_why() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(2));
    let known: JoinToken = token.parse().expect("a token");
    let stranger = JoinToken {
        secret: [7; 20],
        ..known
    };
    let other = stranger.to_string();
    let ended = at(&place, "c", &["agent", "--join", &other, "--name", "hostc"]).run();
    ended.expect_code(3).expect_stderr("is not known there");
    assert!(
        !ended.stderr.contains(&other[70..90]),
        "a secret is repeated"
    );
    let bad = at(&place, "c", &["agent", "--join", &token, "--name", "a/b"]).run();
    bad.expect_code(3)
        .expect_stderr("`a/b` is not a valid name");
    let torn = at(&place, "c", &["agent", "--join", &token[..20]]).run();
    torn.expect_code(2).expect_stderr("copy the whole line");
    let unknown = at(&place, "c", &["rr", "nowhere/hostb"]).run();
    unknown.expect_code(2).expect_stderr("no group `nowhere`");
    has_members(&place, &[]);
}

/// A token does not open another host's place; the host itself comes in again with its key, and one
/// that has lost it after its name was freed. All of it is noted.
#[test]
fn a_name_is_not_taken_from_the_host_that_has_it() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(5));
    let hosta = agent(&place, &token, "hosta");
    let thief = || {
        let words = ["agent", "--join", &token, "--name", "hosta"];
        at(&place, "thief", &words)
    };
    thief()
        .run()
        .expect_code(3)
        .expect_stderr("another agent called `hosta`")
        .expect_stderr("sokudo group remove lab hosta");
    hosta.interrupt();
    hosta.finish().expect_code(0);
    let again = agent(&place, &token, "hosta");
    again.interrupt();
    again.finish().expect_code(0);
    let remove = |name: &str| at(&place, "home", &["group", "remove", "lab", name]).run();
    remove("hosta").expect_code(0);
    remove("hosta").expect_code(2);
    let mut newcomer = thief().start();
    newcomer.wait_for(|line| (line == "connected").then_some(()));
    let noted = noted(&place, "home/groups/lab");
    let what: Vec<&str> = noted
        .iter()
        .filter_map(|entry| entry["what"].as_str())
        .collect();
    assert_eq!(
        what,
        ["joined", "turned away", "joined", "removed", "joined"]
    );
}

/// Starts the program on one of the hosts.
pub fn start_on(hosts: &Hosts, host: usize, call: Sokudo) -> Running {
    hosts.run_in(host, move || call.start())
}

/// A group of agents on hosts of their own; host 0 is the controller's.
struct Lab {
    hosts: Hosts,
    place: Place,
    /// The controller and the agents. They end with the test.
    _running: Vec<Running>,
}

impl Lab {
    /// So many agents, `host1`, `host2`, …, each on a host of its own; says why the test is skipped
    /// and returns `None` where the system has no such hosts.
    fn new(agents: usize) -> Option<Self> {
        Self::shared(agents, 1)
    }

    /// As [`Lab::new`], with so many agents on each of the hosts: the first ones share the first host.
    fn shared(count: usize, agents_each: usize) -> Option<Self> {
        let hosts = Hosts::new(count + 1)?;
        let place = place();
        at(&place, "home", &["group", "init", "lab"])
            .run()
            .expect_code(0);
        let bind = format!("{}:7412", hosts.address(0));
        let call = at(&place, "home", &["controller", "lab", "--bind", &bind]);
        let mut controller = start_on(&hosts, 0, call);
        let token =
            controller.wait_for(|line| line.split_once("--join ").map(|(_, t)| t.to_owned()));
        let mut running = vec![controller];
        for number in 0..count * agents_each {
            let name = format!("host{}", number + 1);
            let call = at(&place, &name, &["agent", "--join", &token, "--name", &name]);
            let mut agent = start_on(&hosts, 1 + number / agents_each, call);
            agent.wait_for(|line| (line == "connected").then_some(()));
            running.push(agent);
        }
        Some(Self {
            hosts,
            place,
            _running: running,
        })
    }

    /// Carries a command out on the controller's host.
    fn command(&self, words: &[&str]) -> Ended {
        start_on(&self.hosts, 0, at(&self.place, "home", words)).finish()
    }
}

/// The guide's way: a group is made, forty agents on four hosts join, a console script is written
/// from what is known of them, twenty pairs carry it out at the same moment, and one record and its
/// report hold what all of them found.
#[test]
fn twenty_pairs_exchange_data_by_a_script_made_for_them() {
    let Some(lab) = Lab::shared(4, 10) else {
        return;
    };
    let pairs = [
        "scenario", "pairs", "lab", "--pairs", "20", "--size", "10kB", "--times", "20",
    ];
    let emitted = lab.command(&[&pairs[..], &["--emit"]].concat());
    emitted.expect_code(0).expect_stdout("connectnode 21");
    lab.place.write("pairs.sks", &emitted.stdout);
    let ended = lab.command(&["run", "pairs.sks", "lab", "--json"]);
    ended.expect_code(0);
    let summary = summary(&ended);
    assert_eq!(summary.number("rr.transactions"), 400.0);
    assert_eq!(summary.number("group.hosts"), 41.0);
    for name in [
        "group.start_spread_seconds.p50",
        "group.start_spread_seconds.max",
        "group.clock_error_seconds.max",
    ] {
        assert!(summary.number(name) >= 0.0, "{name}");
    }
    let record = lab.place.record();
    let table = std::fs::read_to_string(record.join("commands.csv")).expect("a table");
    let report = std::fs::read_to_string(record.join("report.html")).expect("a report");
    for pair in 1..=20 {
        let (one, other) = (format!("host{pair}"), format!("host{}", pair + 20));
        let row = format!("sendreceive-n,{one},{other},");
        assert_eq!(table.matches(&row).count(), 1, "{row} in {table}");
        assert!(report.contains(&other), "{other} in the report");
    }
}

/// The way into host 3 is a hundred times slower than expected: the pairs that send to it fail, and
/// what they have in common is named.
#[test]
fn a_check_of_a_group_names_the_host_whose_link_is_slow() {
    let Some(lab) = Lab::new(3) else {
        return;
    };
    let slow = Tbf {
        rate_bits_per_s: 1_000_000,
        burst_bytes: 20_000,
        limit_bytes: 100_000,
    };
    if let Err(error) = lab.hosts.limit_path_to(3, slow) {
        return skip(error);
    }
    let words = ["check", "stream", "--group", "lab", "--quick", "--json"];
    let ended = lab.command(&[&words[..], &["--expect", "10Mb/s"]].concat());
    ended
        .expect_code(1)
        .expect_stderr("3 hosts meet in 3 rounds");
    let said = summary(&ended);
    assert_eq!(said.number("group.pairs"), 6.0);
    assert_eq!(said.number("group.failed_pairs"), 2.0);
    // Then all of them at once, also over the slow link.
    assert!(said.number("group.mesh_bits_per_second") > 0.0);
    let phases = lab.place.load().manifest.phases;
    let mesh = phases.last().expect("phases");
    assert_eq!(
        (mesh.name.as_str(), mesh.result.flows.len()),
        ("stream-mesh", 6)
    );
    let pairs = said.0["pairs"].as_array().expect("pairs");
    for pair in pairs {
        assert_eq!(pair["passed"], pair["to"] != "host3", "{pair}");
    }
    let shown = lab.command(&["show", "latest"]);
    shown.expect_stdout("all at once");
    let rules: Vec<&Value> = said.0["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|finding| &finding["rule"])
        .collect();
    assert!(rules.iter().any(|rule| **rule == "hot_link"), "{rules:?}");
    let shown = lab.command(&["show", "latest"]);
    shown.expect_stdout("send to host3");
    let report = std::fs::read_to_string(lab.place.record().join("report.html")).expect("a report");
    assert!(
        report.contains("Every pair of hosts"),
        "no section of pairs"
    );
}

/// A host that answers nobody is a result, not the end of the check.
#[test]
fn a_check_of_a_group_goes_on_when_a_pair_is_dead() {
    let Some(lab) = Lab::new(3) else {
        return;
    };
    if let Err(why) = block(&lab.hosts, 1, 2) {
        return skip(why);
    }
    let words = ["check", "rr", "crr", "--group", "lab", "--quick", "--json"];
    let ended = lab.command(&words);
    ended.expect_code(1);
    let said = summary(&ended);
    assert_eq!(said.number("group.pairs"), 6.0);
    assert_eq!(said.number("group.dead_pairs"), 2.0);
    let shown = lab.command(&["show", "latest"]);
    shown.expect_stdout("nothing comes through (crr, rr");
    let few = lab.command(&["check", "--group", "lab", "--expect", "quick"]);
    few.expect_code(2)
        .expect_stderr("is not a valid expectation");
}

/// A connection through which nothing comes any more is named, with what both ends say about it.
#[test]
fn a_flow_that_stands_still_is_named_with_what_both_ends_know() {
    let Some(lab) = Lab::new(2) else {
        return;
    };
    let script = "node 1 stream 2 --rate 8Mb/s --duration 3s\nwaitallresults 1 5s\n";
    lab.place.write("still.sks", script);
    let words = ["run", "still.sks", "lab", "--json"];
    let running = start_on(&lab.hosts, 0, at(&lab.place, "home", &words));
    until_noted(&lab.place, "host1", "start");
    if let Err(why) = block(&lab.hosts, 1, 2) {
        return skip(why);
    }
    let ended = running.finish();
    let said = summary(&ended);
    let findings = said.0["findings"].as_array().expect("findings");
    let still = findings.iter().find(|f| f["rule"] == "stalled_flow");
    let still = still.unwrap_or_else(|| panic!("{findings:?}: {ended}"));
    assert!(
        still["says"]
            .as_str()
            .is_some_and(|says| says.contains("host1 → host2 stood still"))
    );
    let rows = still["evidence"].as_array().expect("evidence");
    for host in ["host1", "host2"] {
        assert!(rows.iter().any(|row| row["host"] == host), "{rows:#?}");
    }
    let told = |what: &str| {
        let mut says = rows.iter().filter_map(|row| row["says"].as_str());
        assert!(says.any(|says| says.contains(what)), "{what} in {rows:#?}");
    };
    told("send queue");
    // Who sat at the console has heard it, too.
    ended
        .expect_stderr("host1 → host2 stood still")
        .expect_stderr("send queue of host1");
}

/// Lets nothing pass between two of the hosts, by a route into nowhere on the first one.
///
/// Errors: no `ip` program.
fn block(hosts: &Hosts, one: usize, other: usize) -> Result<(), String> {
    let route = format!("route add unreachable {}/32", hosts.address(other));
    hosts.run_in(one, move || {
        let done = std::process::Command::new("ip")
            .args(route.split(' '))
            .output()
            .map_err(|error| format!("no `ip`: {error}"))?;
        match done.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
        }
    })
}
