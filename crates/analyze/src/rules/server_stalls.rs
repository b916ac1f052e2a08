//! All requests stood still at once, again and again or once.
//!
//! ```text
//! one connection slow      a worker, a backend, a lost segment
//! all of them, at a time   the server as a whole: garbage collection, a checkpoint, a lock held long,
//!                          a process that was stopped; or the way to it
//! ```
//!
//! A stall is a silence of all requests that is far longer than a request usually takes, and which its
//! requests alone do not explain. Time in which the generator itself did not run is taken off, and its
//! monitors went on. Stalls with the period of the kernel's quotas of CPU time (100 ms, cpu.max) are those of a
//! server that has used up its share.

use sokudo_model::kinds::http;
use sokudo_model::metric::{Metric, Stat};
use sokudo_model::metrics::process;
use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use crate::quantities::exchange::Exchange;
use crate::quantities::requests::Requests;
use crate::quantities::{quota, service_times, silence};
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Times the median request from which a silence is a stall.
const MUCH: f64 = 5.0;
/// Shortest stall at even distances, seconds: shorter ones are the scheduling of threads.
const SHORTEST_S: f64 = 0.04;
/// The same for stalls at uneven distances, which a machine short of CPU shows, too.
const SHORTEST_UNEVEN_S: f64 = 0.15;
/// Irregularity of the distances up to which they are a period.
const EVEN: f64 = 0.25;
/// Share of the time from which stalls shape the rate; below, they shape the slowest answers.
const SHAPES: f64 = 0.02;
/// Part of a stall for which the generator's own host stood still, too, from which it is the reason.
const OWN: f64 = 0.6;
/// Share of a request in connecting from which silences are those of calls.
const CONNECTING: f64 = 0.3;
/// Stalls up to which each is told by itself: the mean over them says nothing about the requests of the longest.
const FEW: f64 = 2.0;
/// Shortest of so few, seconds, beside which as many shorter silences may stand: those of a busy machine.
const LONG_S: f64 = 0.4;
/// Part of the longest stall from which a silence is counted as one ([`http::STALLS`]).
const SHORTEST_OF_LONGEST: f64 = 1.0 / 3.0;
/// Times the median request that a queue behind a stall takes to be worked off.
const QUEUE: f64 = 2.0;
/// Times that stall and queue from which slow requests are not part of them: threads that all wake up at once are late.
const LONGER: f64 = 1.25;
/// Requests of a name from which their median says what is usual.
const MANY: u64 = 10;
/// Period of a quota of CPU time, seconds: the kernel's default, which container engines keep.
const QUOTA_S: f64 = 0.1;
/// Part of it by which the observed period may differ: of thirty stalls, one that is missed or counted twice changes
/// the mean distance by a thirtieth.
const ABOUT: f64 = 0.05;
/// Stalls from which their period is known so well.
const PERIODS: f64 = 10.0;
/// Share of the samples in which a process was stopped from which it explains a stall.
const STOPPED: f64 = 0.01;

/// The finding `server_stalls`.
pub const RULE: Rule = Rule {
    name: "server_stalls",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("median", MUCH, Unit::One),
        ("shortest", SHORTEST_S, Unit::Seconds),
        ("uneven", SHORTEST_UNEVEN_S, Unit::Seconds),
        ("even", EVEN, Unit::Ratio),
        ("shapes", SHAPES, Unit::Ratio),
        ("queue", QUEUE, Unit::One),
        ("longer", LONGER, Unit::One),
        ("quota", QUOTA_S, Unit::Seconds),
        ("about", ABOUT, Unit::Ratio),
        ("periods", PERIODS, Unit::One),
        ("few", FEW, Unit::One),
        ("long", LONG_S, Unit::Seconds),
        ("stopped", quota::STOPPED, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

/// The stalls of a phase.
struct Stalls {
    count: f64,
    mean: f64,
    longest: f64,
    first: f64,
    period: Option<f64>,
    irregularity: Option<f64>,
    /// Share of the time.
    share: f64,
}

impl Stalls {
    /// True where they have a period.
    fn is_even(&self) -> bool {
        self.count >= 3.0 && self.irregularity.is_some_and(|share| share <= EVEN)
    }

    /// True where the period is that of a quota of CPU time.
    fn is_quota(&self) -> bool {
        let is_period = |period: f64| (period - QUOTA_S).abs() <= QUOTA_S * ABOUT;
        self.is_even() && self.count >= PERIODS && self.period.is_some_and(is_period)
    }
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let requests = Requests::of(view)?;
    if quota::stops_sokudo(view) {
        return None;
    }
    let stalls = stalls(view, &requests)?;
    let stopped = stopped(view);
    let key = match (&stopped, stalls.count as u64, stalls.is_even()) {
        (Some(_), _, _) => "rule-server-stalls-stopped-says",
        (None, _, _) if stalls.is_quota() => "rule-server-stalls-quota-says",
        (None, 0 | 1, _) => "rule-server-stalls-once-says",
        (None, _, true) => "rule-server-stalls-even-says",
        (None, _, false) => "rule-server-stalls-says",
    };
    let says = Text::new(key)
        .number("count", stalls.count, Unit::One)
        .number("mean", stalls.mean, Unit::Seconds)
        .number("longest", stalls.longest, Unit::Seconds)
        .number("begin", stalls.first, Unit::Seconds)
        .number("end", stalls.first + stalls.longest, Unit::Seconds)
        .number("period", stalls.period.unwrap_or(f64::NAN), Unit::Seconds)
        .number("share", stalls.share, Unit::Ratio);
    let weight = 0.5 + 0.45 * (stalls.share * 4.0).min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(stopped);
    evidence.extend(requests.row("evidence-stalls", http::STALLS));
    evidence.extend(requests.row("evidence-stall-longest", http::LONGEST_STALL_SECONDS));
    evidence.extend(requests.row("evidence-stalled-requests", http::STALLED_REQUESTS));
    let silent = silence::longest(view, requests.host());
    evidence.extend(silent.map(|seconds| silence::evidence(requests.host(), seconds)));
    evidence.extend(requests.own_cpu_row());
    evidence.extend(requests.server_cpu_row());
    let next = match stalls.count as u64 {
        0 | 1 => "rule-server-stalls-once-next",
        _ if key == "rule-server-stalls-quota-says" => "rule-server-stalls-quota-next",
        _ => "rule-server-stalls-next",
    };
    finding.next = Some(Text::new(next).number("begin", stalls.first, Unit::Seconds));
    Some(finding)
}

fn stalls(view: &PhaseView<'_>, requests: &Requests<'_>) -> Option<Stalls> {
    let of = |metric: Metric| view.total(metric);
    let (count, longest) = (of(http::STALLS)?, of(http::LONGEST_STALL_SECONDS)?);
    let usual = view.stat(requests.exchange.numbers.service, Stat::P50)?;
    // Silences of every length below the longest are the tail of a random time, not stalls.
    let shorter = of(http::SHORTER_SILENCES)?;
    let is_single = count <= FEW && longest >= LONG_S;
    let is_apart = shorter < count || is_single && shorter <= FEW;
    let explained = explained(view, longest, count) || outlasts(view) || is_usual(view, longest);
    if longest < usual * MUCH || !is_apart || explained {
        return None;
    }
    // Calls that are made again after a second leave silences, too.
    let connects = requests.stage("connect").map_or(0.0, |stage| stage.share);
    let silent = silence::longest(view, requests.host());
    if connects >= CONNECTING || silent.is_some_and(|silent| silent >= longest * OWN) {
        return None;
    }
    let seconds = (view.phase.t1_ns - view.phase.t0_ns) as f64 * 1e-9;
    let mean = of(http::MEAN_STALL_SECONDS)?;
    let share = (count * mean / seconds.max(f64::MIN_POSITIVE)).min(1.0);
    let stalls = Stalls {
        count,
        mean,
        longest,
        first: of(http::FIRST_STALL_SECONDS)?,
        period: of(http::STALL_PERIOD_SECONDS),
        irregularity: of(http::STALL_IRREGULARITY_RATIO),
        share,
    };
    let least = match stalls.is_even() {
        // No schedule of threads has this period.
        _ if stalls.is_quota() => 0.0,
        true => SHORTEST_S,
        false => SHORTEST_UNEVEN_S,
    };
    (share >= SHAPES && mean >= least).then_some(stalls)
}

/// True when many more requests took about as long as the longest stall than waited in stalls: then single
/// requests are slow, and at times all of them are at once.
fn explained(view: &PhaseView<'_>, longest: f64, count: f64) -> bool {
    const TIMES: f64 = 3.0;
    let waited = view.total(http::STALLED_REQUESTS).unwrap_or(count).max(1.0);
    let slow = service_times::longer_than(view, longest * 0.5);
    slow.is_some_and(|slow| slow > waited * TIMES)
}

/// True when requests of one name usually take about as long as the longest stall: nothing is answered while all
/// users wait for such a one, and the server went on.
fn is_usual(view: &PhaseView<'_>, longest: f64) -> bool {
    let service = http::SERVICE_SECONDS.name;
    let times = view
        .flows()
        .iter()
        .filter_map(|flow| flow.histograms.get(service));
    times
        .filter(|times| times.n >= MANY)
        .any(|times| times.p50 * LONGER >= longest)
}

/// True when the slow requests took longer than the stalls and the queue behind them. In a pause of the whole server
/// they take as long as it lasts; where single requests are slow, all of them are at once for a part of that time.
pub fn outlasts(view: &PhaseView<'_>) -> bool {
    let outlasts = || {
        let exchange = Exchange::of(*view)?;
        let usual = view.stat(exchange.numbers.service, Stat::P50)?;
        let longest = view.total(http::LONGEST_STALL_SECONDS)?;
        // Of two stalls the longer one holds most of the slow requests: others of it end below the bound.
        let stall = match view.total(http::STALLS)? <= FEW {
            true => longest,
            false => view.total(http::MEAN_STALL_SECONDS)?,
        };
        let slow = service_times::mean_above(view, longest * SHORTEST_OF_LONGEST)?;
        Some(slow > (stall + usual * QUEUE) * LONGER)
    };
    outlasts().unwrap_or(false)
}

/// A process of the server that was seen stopped (state T).
fn stopped(view: &PhaseView<'_>) -> Option<Evidence> {
    let (series, share) = view.highest_mean(None, process::STOPPED_RATIO, &[])?;
    (share >= STOPPED).then(|| {
        let key = "evidence-process-stopped";
        view.evidence(key, process::STOPPED_RATIO, &series.key.host, share)
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;
    use crate::tests::*;

    const WAITING: [f64; 6] = [0.0, 0.0, 0.0, 0.0, 0.01, 0.0];

    fn stalls(count: f64, mean: f64, irregularity: f64, shorter: f64) -> Vec<(&'static str, f64)> {
        vec![
            ("service_seconds.p50", 0.005),
            ("stalls", count),
            ("mean_stall_seconds", mean),
            ("longest_stall_seconds", mean),
            ("first_stall_seconds", 1.0),
            ("stall_period_seconds", 1.0),
            ("stall_irregularity_ratio", irregularity),
            ("shorter_silences", shorter),
            ("stalled_requests", count * 8.0),
        ]
    }

    #[test]
    fn stalls_are_told_with_their_period_where_they_have_one() {
        let of = |totals: &[(&str, f64)]| of_stages(WAITING, totals);
        let even = of(&stalls(9.0, 0.25, 0.02, 0.0));
        check(&even, "server_stalls", "rule-server-stalls-even-says");
        let uneven = of(&stalls(9.0, 0.25, 0.9, 2.0));
        check(&uneven, "server_stalls", "rule-server-stalls-says");
        let once = of(&stalls(1.0, 1.5, 0.0, 0.0));
        check(&once, "server_stalls", "rule-server-stalls-once-says");
        let beside = |mean: f64, shorter: f64| of(&stalls(1.0, mean, 0.0, shorter));
        let says = "rule-server-stalls-once-says";
        check(&beside(1.2, 2.0), "server_stalls", says);
        assert!(is_quiet(&beside(1.2, 3.0), "server_stalls"));
        assert!(is_quiet(&beside(0.3, 1.0), "server_stalls"));
        for quiet in [
            // The tail of a random time, the scheduling of threads, too short, too seldom.
            stalls(9.0, 0.25, 0.9, 30.0),
            stalls(9.0, 0.03, 0.02, 0.0),
            stalls(9.0, 0.06, 0.9, 0.0),
            stalls(1.0, 0.15, 0.0, 0.0),
        ] {
            assert!(is_quiet(&of(&quiet), "server_stalls"), "{quiet:?}");
        }
    }

    #[test]
    fn users_who_all_wait_for_a_slow_page_do_not_wait_for_a_pause() {
        let plan = |slow: f64| {
            let metrics: &[(&str, f64)] = &[("requests", 1_000.0)];
            let mut record = of_labels(&[
                ("/start", metrics, EVEN, 0.003),
                ("/search", metrics, [slow, slow, slow], 0.003),
            ]);
            let stages = of_stages(WAITING, &stalls(9.0, 0.25, 0.02, 0.0));
            let [phase, of_stages] =
                [&mut record, &mut stages.clone()].map(|record| record.manifest.phases.remove(0));
            record.manifest.phases.push(sokudo_model::PhaseRecord {
                result: sokudo_model::PhaseResult {
                    summary: of_stages.result.summary,
                    ..phase.result
                },
                t1_ns: of_stages.t1_ns,
                ..phase
            });
            record
        };
        check(&plan(0.1), "server_stalls", "rule-server-stalls-even-says");
        assert!(is_quiet(&plan(0.22), "server_stalls"));
    }

    #[test]
    fn stalls_with_the_period_of_quotas_are_a_quota() {
        let of = |count: f64, period: f64, mean: f64| {
            let mut totals = stalls(count, mean, 0.05, 0.0);
            totals.retain(|(name, _)| *name != "stall_period_seconds");
            totals.push(("stall_period_seconds", period));
            of_stages(WAITING, &totals)
        };
        let (quota, even) = (
            "rule-server-stalls-quota-says",
            "rule-server-stalls-even-says",
        );
        for period in [0.0955, 0.1, 0.1045] {
            check(&of(40.0, period, 0.06), "server_stalls", quota);
            check(&of(40.0, period, 0.03), "server_stalls", quota);
        }
        for (count, period) in [(9.0, 0.1), (40.0, 0.094), (40.0, 0.106), (40.0, 0.2)] {
            check(&of(count, period, 0.06), "server_stalls", even);
        }
        assert!(is_quiet(&of(9.0, 0.1, 0.03), "server_stalls"));
        // The quota is that of sokudo itself.
        let mut own = of(40.0, 0.1, 0.085);
        add_series(&mut own, "hosta", "self.throttled_ratio", &[], 0.0, 0.94);
        assert!(is_quiet(&own, "server_stalls"));
        let found = findings(&of(40.0, 0.1, 0.06));
        let found = found.iter().find(|one| one.rule == "server_stalls");
        check_texts(found.expect("it was just there"));
    }

    /// The same stalls beside slow requests of this length; the others take 5 ms.
    fn beside_slow(slow: f64) -> Record {
        let mut record = of_stages(WAITING, &stalls(9.0, 0.25, 0.02, 0.0));
        took(&mut record, &[(928, 0.005), (72, slow)]);
        record
    }

    /// A server that was stopped for 1.2 s, on a machine that held everything up for 0.45 s once more.
    #[test]
    fn a_second_shorter_stall_does_not_make_the_requests_of_the_first_slow_ones() {
        let mut totals = stalls(2.0, 0.82, 0.0, 1.0);
        totals.retain(|(name, _)| !name.starts_with("longest") && !name.starts_with("stalled"));
        totals.extend([("longest_stall_seconds", 1.2), ("stalled_requests", 40.0)]);
        let mut record = of_stages(WAITING, &totals);
        took(&mut record, &[(960, 0.004), (40, 1.1)]);
        check(&record, "server_stalls", "rule-server-stalls-says");
        assert!(is_quiet(&record, "uneven_service"));
    }

    #[test]
    fn requests_that_outlast_the_stalls_are_slow_by_themselves() {
        let even = "rule-server-stalls-even-says";
        for in_stalls in [0.255, 0.28] {
            check(&beside_slow(in_stalls), "server_stalls", even);
            assert!(is_quiet(&beside_slow(in_stalls), "uneven_service"));
        }
        let slow = beside_slow(0.4);
        assert!(is_quiet(&slow, "server_stalls"));
        let says = "rule-uneven-service-requests-says";
        check(&slow, "uneven_service", says);
        // Of users that all meet a slow worker, the first to be answered ends the silence: here after 0.3 s of
        // 0.41 s on average, and once after 0.4 s.
        let mut all_slow = beside_slow(0.41);
        let summary = &mut all_slow.manifest.phases[0].result.summary;
        summary.insert("http.mean_stall_seconds".into(), 0.3);
        summary.insert("http.longest_stall_seconds".into(), 0.4);
        assert!(is_quiet(&all_slow, "server_stalls"));
        check(&all_slow, "uneven_service", says);
    }
}
