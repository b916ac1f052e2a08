//! Tests of hosts whose clocks differ: they begin together, and their numbers become one result.

use std::collections::BTreeMap;

use sokudo_model::{Record, RunStatus};
use sokudo_stats::Histogram;
use sokudo_testkit::program::{Running, Sokudo, sokudo_bin};
use sokudo_testkit::skip;

use crate::group::{agent, at, controller, has_members, objects, own_address};
use crate::vocabulary::{BOUND, Place, place, summary};

/// Lead of the other clock, seconds.
const AHEAD_S: f64 = 1000.0;

/// A program whose monotonic clock is ahead of everybody else's, and all that it starts.
fn ahead(program: &str, words: &[&str]) -> Sokudo {
    let ahead = AHEAD_S.to_string();
    let unshare = [
        "--time",
        "--monotonic",
        &ahead,
        "--fork",
        "--kill-child",
        program,
    ];
    Sokudo::of("unshare".as_ref(), unshare.iter().chain(words).copied()).bound(BOUND)
}

/// Whether this system gives a process a clock of its own.
fn has_clocks() -> bool {
    let Ok(known) = std::process::Command::new("unshare")
        .arg("--version")
        .output()
    else {
        skip("there is no `unshare`");
        return false;
    };
    let tried = known.status.success().then(|| ahead("true", &[]).run());
    match tried {
        Some(ended) if ended.code == Some(0) => true,
        other => {
            let why = other.map(|ended| ended.stderr).unwrap_or_default();
            skip(format_args!(
                "no time namespace can be made: {}",
                why.trim()
            ));
            false
        }
    }
}

/// An agent that has joined, whose clock is ahead.
fn agent_ahead(place: &Place, token: &str, name: &str) -> Running {
    let words = ["agent", "--join", token, "--name", name];
    let program = sokudo_bin();
    let call = ahead(&program.to_string_lossy(), &words).dir(place.path());
    let home = place.path().join(name);
    let call = call.env("SOKUDO_CONFIG", &home.to_string_lossy());
    let mut running = call.env("SOKUDO_LANG", "en").start();
    running.wait_for(|line| (line == "connected").then_some(()));
    running
}

/// The list tells how far the clock is off, within its bound; a run begins on both hosts at the same
/// moment all the same, and every delay between them is one of the network.
#[test]
fn hosts_whose_clocks_differ_begin_together() {
    if !has_clocks() {
        return;
    }
    let place = place();
    let (_controller, token) = controller(&place, &own_address(24));
    let _hosta = agent(&place, &token, "hosta");
    let _hostb = agent_ahead(&place, &token, "hostb");
    has_members(&place, &["hosta", "hostb"]);
    let listed = objects(&at(&place, "home", &["group", "hosts", "lab", "--json"]).run());
    let clock = |index: usize, what: &str| listed[index][what].as_f64().expect("a number");
    assert_eq!(clock(0, "clock_offset_seconds"), 0.0);
    let error_s = clock(1, "clock_error_seconds");
    let off_s = clock(1, "clock_offset_seconds") - AHEAD_S;
    assert!(error_s > 0.0, "a clock of its own is never known exactly");
    assert!(off_s.abs() <= error_s, "{off_s} s, more than {error_s} s");
    let shown = at(&place, "home", &["group", "hosts", "lab"]).run();
    shown.expect_code(0).expect_stdout("1000 s ±");
    place.write(
        "both.js",
        "phase('both', [rr('hosta', 'hostb', {count: 200}), probe('hosta', 'hostb', {count: 50})]);\n",
    );
    let ended = at(&place, "home", &["run", "both.js", "lab", "--json"]).run();
    ended.expect_code(0);
    let said = summary(&ended);
    // By their own clocks they would begin a quarter of an hour apart.
    let spread_s = said.number("group.start_spread_seconds.max");
    let doubt_s = said.number("group.clock_error_seconds.max");
    assert!(spread_s < AHEAD_S / 10.0, "{spread_s} s");
    assert!(doubt_s > 0.0 && doubt_s < AHEAD_S / 10.0, "{doubt_s} s");
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Ok);
    let length_s = record.manifest.phases[0].t1_ns as f64 * 1e-9;
    let all = record.series.iter().flat_map(|series| &series.points);
    for (t_ns, _) in all {
        let t_s = *t_ns as f64 * 1e-9;
        assert!(
            (-doubt_s..AHEAD_S / 2.0 + length_s).contains(&t_s),
            "{t_s} s"
        );
    }
}

/// Quantiles over many hosts are those of all their requests together, not means of means.
#[test]
fn quantiles_of_many_hosts_are_those_of_all_requests() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(25));
    let names = ["hosta", "hostb", "hostc"];
    let _agents = names.map(|name| agent(&place, &token, name));
    has_members(&place, &names);
    let words = ["rr", "lab/*", "--count", "400", "--json"];
    let ended = at(&place, "home", &words).run();
    ended.expect_code(0);
    let said = summary(&ended);
    let record = place.load();
    let by_flow = merged(&record, "rr.latency_seconds");
    assert_eq!(by_flow.len(), names.len());
    let mut all = Histogram::new();
    by_flow.values().for_each(|flow| all.merge(flow));
    assert_eq!(all.len() as f64, said.number("rr.transactions"));
    let all = all.summary(1e-9);
    for (quantile, value) in [
        ("p50", all.p50),
        ("p90", all.p90),
        ("p99", all.p99),
        ("p999", all.p999),
        ("max", all.max),
    ] {
        let told = said.number(&format!("rr.latency_seconds.{quantile}"));
        // Both are whole nanoseconds; the decimals of a JSON number may end differently.
        assert_eq!((told * 1e9).round(), (value * 1e9).round(), "{quantile}");
    }
}

/// Histograms of a metric in the record, flow by flow.
fn merged(record: &Record, metric: &str) -> BTreeMap<String, Histogram> {
    let mut flows: BTreeMap<String, Histogram> = BTreeMap::new();
    for interval in record.histograms.iter().filter(|h| h.key.metric == metric) {
        let counted = Histogram::from_v2(&interval.hdr_v2).expect("a histogram");
        let flow = format!("{:?}", interval.key.labels);
        flows.entry(flow).or_default().merge(&counted);
    }
    flows
}
