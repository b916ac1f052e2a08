//! The load generator could not offer the load that it was to offer.
//!
//! With a rate asked for: less was sent than asked, or much of it late. Without: nothing was lost
//! and the sending thread used a whole core, so the network and the receiver were not driven to
//! their limit. With requests of an open loop: many of them left late although there was room. With
//! requests on connections of their own: no local port was left for them.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::selftest;
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use super::request_failures;
use crate::quantities::audit;
use crate::quantities::exchange::{Exchange, StoodStill};
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::{PhaseView, name_what_lacks};

/// Shortfall against the asked rate from which the generator counts as the limit.
const SHORT: f64 = 0.02;
/// Shortfall from which the test did not offer the load that it was about.
const FAR_SHORT: f64 = 0.1;
/// Share of late datagrams from which the schedule was not kept.
const LATE: f64 = 0.01;
/// Loss up to which a run counts as lossless.
const LOSSLESS: f64 = 0.001;
/// From this share of a core on, the thread has no time left.
const BUSY_THREAD: f64 = 0.9;
/// From this share of a core on, an event loop has no time left: it waits for no server alone, and the rest is that of
/// its wake-ups.
const FULL_LOOP: f64 = 0.9;

const ASKED: Metric = datagram::ASKED_PACKETS_PER_SECOND;
const SENT: Metric = datagram::SENT_PACKETS_PER_SECOND;
const LATE_RATIO: Metric = datagram::LATE_RATIO;
const CPU: Metric = datagram::SENDER_CPU_RATIO;
const WAIT: Metric = datagram::SENDER_WAIT_RATIO;
const SELFTEST: Metric = selftest::SENT_PACKETS_PER_SECOND;

/// Part of the time of a stop for which the asking thread was ready and had no CPU, from which that explains it.
const KEPT_MOST: f64 = 0.5;

/// Certainty where a closed loop stood still, and its thread had not waited for a CPU.
const STOOD: f64 = 0.9;

/// Share of a closed loop for which its asking end stood still, from which its numbers are about that.
const HOLE: f64 = 0.1;

/// Share of the time for which the asking thread was ready and had no CPU, from which that is why it stood still.
const KEPT: f64 = 0.1;

/// Share of failures from which a process that may open no more files is the limit.
const MOST_WITHOUT_FILES: f64 = 0.001;
/// How the first error of a flow tells of it: in loads of one URL and plans, and in the system's words.
const NO_FILES: [&str; 2] = ["too-many-files", "Too many open files"];

/// The finding `generator_limited`.
pub const RULE: Rule = Rule {
    name: "generator_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[
        Suspect::raise("threads"),
        Suspect::raise("streams"),
        Suspect::raise("size"),
    ],
    bounds: &[
        ("short", SHORT, Unit::Ratio),
        ("late", LATE, Unit::Ratio),
        ("lossless", LOSSLESS, Unit::Ratio),
        ("thread", BUSY_THREAD, Unit::Ratio),
        ("loop", FULL_LOOP, Unit::Ratio),
        ("hole", HOLE, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    if let Some(exchange) = Exchange::of(*view) {
        return has_no_files(view, &exchange)
            .or_else(|| has_no_ports(view, &exchange))
            .or_else(|| asks_late(view, &exchange))
            .or_else(|| stood_still(view, &exchange))
            .or_else(|| stood_still_in_a_loop(view, &exchange))
            .or_else(|| loop_is_busy(view, &exchange));
    }
    match view.asked_rate() {
        Some(asked) => paced(view, asked),
        None => unlimited(view),
    }
}

/// Connections that could not be made because the asking process may not open another file.
fn has_no_files(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
    let is_full = |flow: &&FlowResult| {
        let error = flow
            .labels
            .get("error")
            .map(String::as_str)
            .unwrap_or_default();
        // Several are named, the most frequent one first.
        let most = error.split(", ").next().unwrap_or_default();
        NO_FILES.iter().any(|words| most.contains(words))
    };
    let flow = view.flows().iter().find(is_full)?;
    let errors = exchange.total(exchange.numbers.errors)?;
    let share = errors / (errors + exchange.total(exchange.numbers.answered)?).max(1.0);
    if share < MOST_WITHOUT_FILES {
        return None;
    }
    let says = Text::new("rule-generator-limited-files-says")
        .word("host", &flow.from)
        .number("count", errors, Unit::One)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.95, says);
    let failed = exchange.numbers.errors;
    let row = view.evidence("evidence-failed-requests", failed, &flow.from, errors);
    finding.evidence.push(row);
    finding.evidence.extend(request_failures::first_error(flow));
    let next = Text::new("rule-generator-limited-files-next").word("host", &flow.from);
    finding.next = Some(next);
    Some(finding)
}

/// Connections that could not be made because the asking host had no local port left for them.
fn has_no_ports(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
    let short = audit::ports(view, exchange)?;
    let says = Text::new("rule-generator-limited-ports-says")
        .word("host", short.host)
        .number("count", short.failed, Unit::One)
        .number("share", short.share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.95, says);
    finding.evidence = short.evidence(view, exchange);
    let next = match exchange.numbers.connects_each_time {
        true => "rule-generator-limited-ports-each-next",
        false => "rule-generator-limited-ports-next",
    };
    finding.next = Some(Text::new(next).word("host", short.host));
    Some(finding)
}

/// Requests of an open loop that left late although there was room for them.
fn asks_late(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
    // In a closed loop requests wait for answers and for the users' pauses: no schedule can be missed.
    exchange.asked()?;
    let metric = exchange.numbers.late_ratio;
    let many = |(flow, late): &(&FlowResult, f64)| *late > LATE && !exchange.is_hiccup(flow, *late);
    let (flow, late) = view.highest(metric).filter(many)?;
    let host = flow.from.as_str();
    let waited = exchange.longest().map(|(_, wait)| wait);
    // What was due while nothing ran left late; that is the same, told from its other end.
    let stood = waited.and_then(|wait| Some((wait, exchange.stood_still_for(flow, wait)?)));
    if let Some((wait, stood)) = stood {
        return Some(silent(view, exchange, &stood, (late, wait)));
    }
    let says = Text::new("rule-generator-limited-asks-late-says")
        .word("what", exchange.numbers.noun.name())
        .word("host", host)
        .number("share", late, Unit::Ratio);
    // Requests that leave late although there is room are the generator's own doing.
    let weight = 0.4 + 0.55 * late;
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let row = view.evidence("evidence-asks-late", metric, host, late);
    finding.evidence.push(row);
    finding.evidence.extend(asking_thread(view, exchange, host));
    finding.next = Some(Text::new("rule-generator-limited-asks-late-next").word("host", host));
    Some(finding)
}

/// Requests of an open loop that queued up although every answer came soon, or was there and not read
/// because the asking end stood still.
fn stood_still(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
    let metric = exchange.numbers.window_full_ratio;
    let many =
        |(flow, share): &(&FlowResult, f64)| *share > LATE && !exchange.is_hiccup(flow, *share);
    let (flow, share) = view.highest(metric).filter(many)?;
    let (service, wait) = exchange.longest()?;
    if exchange.far_end_made_them_wait() != Some(false) {
        return None;
    }
    let host = flow.from.as_str();
    if let Some(stood) = exchange.stood_still() {
        return Some(silent(view, exchange, &stood, (share, wait)));
    }
    let says = Text::new("rule-generator-limited-stood-says")
        .number("service", service, Unit::Seconds)
        .word("host", host)
        .number("wait", wait, Unit::Seconds)
        .number("share", share, Unit::Ratio);
    Some(stalled(view, exchange, host, (share, says)))
}

/// An asking end of a closed loop that stood still: its users asked nothing meanwhile, and read the answers late.
fn stood_still_in_a_loop(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
    let (service, _) = exchange.longest()?;
    let mut flows = view.flows().iter();
    let stood = flows.find_map(|flow| exchange.stood_still_for(flow, service))?;
    let load_s = (view.phase.t1_ns - view.phase.t0_ns) as f64 / 1e9;
    let share = stood.silent / load_s.max(1e-9);
    if exchange.asked().is_some() || share < HOLE {
        return None;
    }
    let host = stood.flow.from.as_str();
    let says = Text::new("rule-generator-limited-loop-stood-says")
        .number("silent", stood.silent, Unit::Seconds)
        .word("host", host)
        .number("wait", service, Unit::Seconds)
        .number("share", share, Unit::Ratio);
    let mut finding = stalled(view, exchange, host, (1.0, says));
    // A thread without a CPU for a part of that time only does not explain why its monitors stood still, too.
    let kept = exchange.kind.ends.near.wait;
    let kept = kept.and_then(|metric| view.highest(metric));
    if kept.is_none_or(|(_, kept)| kept < share * KEPT_MOST) {
        finding.weight = STOOD;
    }
    finding.evidence.extend(stood.evidence());
    Some(finding)
}

/// An asking end on which nothing ran for about as long as the longest request waited: share of the requests
/// that waited, and that time.
fn silent(
    view: &PhaseView<'_>,
    exchange: &Exchange<'_>,
    stood: &StoodStill<'_>,
    (share, wait): (f64, f64),
) -> Finding {
    let host = stood.flow.from.as_str();
    let says = Text::new("rule-generator-limited-silent-says")
        .number("silent", stood.silent, Unit::Seconds)
        .word("host", host)
        .number("wait", wait, Unit::Seconds)
        .number("share", share, Unit::Ratio);
    let mut finding = stalled(view, exchange, host, (share, says));
    finding.evidence.extend(stood.evidence());
    finding
}

/// The finding about an asking end that stalled, with the waits that it shows in.
fn stalled(
    view: &PhaseView<'_>,
    exchange: &Exchange<'_>,
    host: &str,
    (share, says): (f64, Text),
) -> Finding {
    // That a thread was kept from its CPU says why it stood still: the cause of that is named first.
    let kept = exchange.kind.ends.near.wait;
    let kept = kept.and_then(|metric| view.highest(metric));
    let is_kept = kept.is_some_and(|(_, share)| share >= KEPT);
    let weight = (0.4 + 0.5 * share) * if is_kept { 0.5 } else { 1.0 };
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let numbers = exchange.numbers;
    let longest = exchange.longest();
    for (key, metric, value) in [
        (
            "evidence-latency-longest",
            numbers.latency,
            longest.map(|(_, wait)| wait),
        ),
        (
            "evidence-service-longest",
            numbers.service,
            longest.map(|(service, _)| service),
        ),
    ] {
        let row = value.map(|value| view.evidence(key, metric, host, value));
        finding.evidence.extend(row);
    }
    finding.evidence.extend(asking_thread(view, exchange, host));
    finding.next = Some(Text::new("rule-generator-limited-stood-next").word("host", host));
    finding
}

/// An event loop that served many connections and had no time left.
fn loop_is_busy(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
    // A thread that waits actively between the requests of a schedule uses its whole core, too.
    let keeps = |asked: f64| {
        exchange
            .rate()
            .is_some_and(|rate| rate >= asked * (1.0 - SHORT))
    };
    // What an embedded database computes in this thread is told of by its own rule.
    let is_own = exchange.is_generator_only() && !exchange.is_embedded();
    if !is_own || exchange.asked().is_some_and(keeps) {
        return None;
    }
    let metric = exchange.kind.ends.near.cpu;
    let (flow, cpu) = view.highest(metric).filter(|(_, cpu)| *cpu >= FULL_LOOP)?;
    let host = flow.from.as_str();
    let says = Text::new("rule-generator-limited-loop-says")
        .word("host", host)
        .number("cpu", cpu, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.9 * cpu, says);
    finding.evidence.extend(asking_thread(view, exchange, host));
    finding.next = Some(Text::new("rule-generator-limited-loop-next").word("host", host));
    Some(finding)
}

fn paced(view: &PhaseView<'_>, asked: f64) -> Option<Finding> {
    let sent = view.sent_rate()?;
    let short = 1.0 - sent / asked;
    let late = view.highest(LATE_RATIO);
    let host = worst_sender(view)?;
    let mut finding = if short > SHORT {
        // Without loss, what was measured is true for the lower rate.
        let lossless = view.loss().is_some_and(|loss| loss <= LOSSLESS);
        let severity = if short > FAR_SHORT && !lossless {
            Severity::Bad
        } else {
            Severity::Caution
        };
        let says = Text::new("rule-generator-limited-short-says")
            .word("host", host)
            .number("sent", sent, Unit::PacketsPerSecond)
            .number("asked", asked, Unit::PacketsPerSecond);
        view.finding(RULE.name, severity, 0.5 + short, says)
    } else {
        let (flow, late) = late.filter(|(flow, late)| {
            *late > LATE && !view.are_few(datagram::SENT_PACKETS, flow, *late)
        })?;
        let says = Text::new("rule-generator-limited-late-says")
            .word("host", &flow.from)
            .number("share", late, Unit::Ratio);
        view.finding(RULE.name, Severity::Caution, 0.3 + 0.3 * late, says)
    };
    let evidence = &mut finding.evidence;
    evidence.push(achieved(view, host, sent, asked));
    evidence.extend(
        late.map(|(flow, share)| view.evidence("evidence-late", LATE_RATIO, &flow.from, share)),
    );
    evidence.extend(thread_evidence(view, host));
    name_what_lacks(evidence, &[LATE_RATIO, CPU]);
    finding.next = Some(Text::new("rule-generator-limited-paced-next").word("host", host));
    Some(finding)
}

fn unlimited(view: &PhaseView<'_>) -> Option<Finding> {
    let (flow, cpu) = view.highest(CPU).filter(|(_, cpu)| *cpu >= BUSY_THREAD)?;
    if view.loss()? > LOSSLESS {
        return None;
    }
    let host = flow.from.as_str();
    let says = Text::new("rule-generator-limited-busy-says")
        .word("host", host)
        .number("cpu", cpu, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.6, says);
    let evidence = &mut finding.evidence;
    evidence.extend(thread_evidence(view, host));
    evidence.extend(selftest_evidence(view, host));
    name_what_lacks(evidence, &[WAIT, SELFTEST]);
    finding.next = Some(Text::new("rule-generator-limited-busy-next").word("host", host));
    Some(finding)
}

/// Times of the asking thread of a host.
fn asking_thread(view: &PhaseView<'_>, exchange: &Exchange<'_>, host: &str) -> Vec<Evidence> {
    let threads = exchange.kind.ends.near;
    let rows = [
        ("evidence-client-cpu", Some(threads.cpu)),
        ("evidence-client-wait", threads.wait),
    ];
    let known = rows.into_iter().filter_map(|(key, metric)| {
        let value = view.highest_at_sender(host, metric?)?;
        Some(view.evidence(key, metric?, host, value))
    });
    known.collect()
}

/// The sending host that falls short of its own asked rate by most; the first one when the flows
/// do not say what was asked of each.
fn worst_sender<'a>(view: &PhaseView<'a>) -> Option<&'a str> {
    let short = view.values(SENT).filter_map(|(flow, sent)| {
        let asked = ASKED.of(&flow.metrics)?;
        Some((flow.from.as_str(), asked - sent))
    });
    let worst = short.max_by(|a, b| a.1.total_cmp(&b.1));
    let first = view.flows().first().map(|flow| flow.from.as_str());
    worst.map(|(host, _)| host).or(first)
}

fn achieved(view: &PhaseView<'_>, host: &str, sent: f64, asked: f64) -> Evidence {
    let mut evidence = view.evidence("evidence-sent-of-asked", SENT, host, sent);
    evidence.says = evidence.says.number("asked", asked, Unit::PacketsPerSecond);
    evidence
}

/// Times of the sending thread of a host.
fn thread_evidence(view: &PhaseView<'_>, host: &str) -> Vec<Evidence> {
    [("evidence-sender-cpu", CPU), ("evidence-sender-wait", WAIT)]
        .into_iter()
        .filter_map(|(key, metric)| {
            let value = view.highest_at_sender(host, metric)?;
            Some(view.evidence(key, metric, host, value))
        })
        .collect()
}

/// Rate of the host's own self-test: the same limit, seen without a network.
fn selftest_evidence(view: &PhaseView<'_>, host: &str) -> Option<Evidence> {
    let series = view
        .series(Some(host), SELFTEST, &[])
        .filter_map(|series| series.points.last())
        .map(|(_, value)| *value);
    let flows = view
        .record
        .manifest
        .phases
        .iter()
        .flat_map(|phase| &phase.result.flows)
        .filter(|flow| flow.from == host)
        .filter_map(|flow| SELFTEST.of(&flow.metrics));
    let most = series.chain(flows).max_by(f64::total_cmp)?;
    Some(view.evidence("evidence-selftest", SELFTEST, host, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::requests::{check, is_quiet, of_queries};
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_sender_that_falls_short_is_the_limit() {
        let changes = [("asked_packets_per_second", 2e5), ("late_ratio", 0.4)];
        let finding = one(&with_flow(&changes), "generator_limited");
        assert_eq!(finding.severity, Severity::Caution, "nothing was lost");
        assert_eq!(finding.says.key, "rule-generator-limited-short-says");
        has_metric(&finding, "datagram.late_ratio");
        let mut lossy = losing(5e4, &[("lost_on_path_packets", 5e4)]);
        lossy.extend(changes);
        let finding = one(&with_flow(&lossy), "generator_limited");
        assert_eq!(finding.severity, Severity::Bad);
        none(
            &with_flow(&[("asked_packets_per_second", 1.005e5), ("late_ratio", 0.001)]),
            "generator_limited",
        );
    }

    #[test]
    fn a_late_schedule_is_a_caution() {
        let changes = [("asked_packets_per_second", 1e5), ("late_ratio", 0.2)];
        let finding = one(&with_flow(&changes), "generator_limited");
        assert_eq!(finding.severity, Severity::Caution);
        assert_eq!(finding.says.key, "rule-generator-limited-late-says");
    }

    #[test]
    fn a_full_sender_thread_without_loss_is_the_limit() {
        let mut record = with_flow(&[("sender_cpu_ratio", 0.99)]);
        add_series(
            &mut record,
            "hosta",
            "selftest.sent_packets_per_second",
            &[("mode", "gso")],
            2e5,
            2e5,
        );
        let finding = one(&record, "generator_limited");
        assert_eq!(finding.severity, Severity::Info);
        has_metric(&finding, "selftest.sent_packets_per_second");
        let lossy = losing(
            5e4,
            &[("sender_cpu_ratio", 0.99), ("lost_on_path_packets", 5e4)],
        );
        none(&with_flow(&lossy), "generator_limited");
    }

    #[test]
    fn a_full_event_loop_is_the_limit_unless_it_keeps_the_rate_asked_of_it() {
        let busy = [
            ("answers", 1_000.0),
            ("answers_per_second", 100.0),
            ("client_cpu_ratio", 0.91),
        ];
        check(
            &of_queries(&busy),
            "generator_limited",
            "rule-generator-limited-loop-says",
        );
        let asked = |per_s| [busy.as_slice(), &[("asked_per_second", per_s)]].concat();
        assert!(is_quiet(&of_queries(&asked(101.0)), "generator_limited"));
        assert!(!is_quiet(&of_queries(&asked(200.0)), "generator_limited"));
        let mut rather = busy;
        rather[2].1 = 0.89;
        assert!(is_quiet(&of_queries(&rather), "generator_limited"));
    }

    #[test]
    fn a_process_that_may_open_no_more_files_is_the_limit() {
        let failing = |error: &str| {
            let mut scene = Scene::of("http")
                .total("requests", 1_000.0)
                .total("requests_per_second", 100.0)
                .total("errors", 5_000.0);
            scene.flow().labels.insert("error".into(), error.into());
            scene
        };
        let finding = one(&failing("connect: too-many-files ×5000").record, RULE.name);
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-generator-limited-files-says");
        for other in [
            "connect: refused ×5000",
            "connect: refused ×4990, connect: too-many-files ×10",
        ] {
            let told = of_rule(&failing(other).record, RULE.name);
            assert!(told.iter().all(|f| f.says.key != finding.says.key));
        }
    }

    #[test]
    fn connections_between_hosts_run_out_of_ports_too() {
        let connecting = |failed| {
            Scene::of("crr")
                .total("connections", 9_000.0)
                .total("connections_per_second", 900.0)
                .total("errors", failed)
                .metric("ports_exhausted", failed)
                .metric("client_cpu_ratio", 0.2)
        };
        let mut scene = connecting(1_000.0);
        scene.series("hosta", "host.tcp_time_wait_connections", |_| 900.0);
        let finding = scene.limited_by("generator_limited");
        assert_eq!(finding.says.key, "rule-generator-limited-ports-says");
        has_metric(&finding, "crr.ports_exhausted");
        connecting(1.0).without("generator_limited");
    }

    #[test]
    fn an_asking_end_that_stood_still_does_not_blame_the_far_end() {
        let scene = open_loop(0.000_07, 0.005, 0.5);
        let finding = scene.limited_by("generator_limited");
        assert_eq!(finding.says.key, "rule-generator-limited-stood-says");
        scene.without("window_full");
        // Where it had no CPU, who took that is to be named first.
        let kept = scene.metric("client_wait_ratio", 0.34);
        let all = findings(&kept.record);
        let found = all.iter().find(|one| one.rule == "generator_limited");
        assert!(found.is_some_and(|one| one.weight <= finding.weight / 2.0));
    }

    #[test]
    fn a_moment_of_the_asking_end_that_hardly_a_request_met_is_not_the_limit() {
        // One of 57 requests waited for a millisecond, though no answer took half as long.
        let scene = |share, wait, answered: f64| {
            open_loop(0.000_39, 0.000_5, wait)
                .metric("window_full_ratio", share)
                .metric("transactions", answered)
        };
        let one = 1.0 / 57.0;
        scene(one, 0.001_1, 57.0).without("generator_limited");
        scene(one, 0.001_1, 57.0).without("window_full");
        let carried = |wait| {
            scene(one, wait, 57.0)
                .total("transactions", 57.0)
                .total("transactions_per_second", 5.7)
                .total("asked_per_second", 5.7)
        };
        carried(0.001_1).limited_by("application_limited");
        carried(0.3).without("application_limited");
        // Many had it, or it was long.
        scene(one, 0.001_1, 5_700.0).limited_by("generator_limited");
        scene(one, 0.3, 57.0).limited_by("generator_limited");
        let late = |answered| scene(0.0, 0.001_1, answered).metric("late_ratio", 0.12);
        late(35.0).without("generator_limited");
        assert!(!of_rule(&late(3_500.0).record, "generator_limited").is_empty());
    }

    #[test]
    fn a_late_datagram_of_a_few_is_no_schedule_that_was_missed() {
        let sent = |count: f64| {
            with_flow(&[
                ("asked_packets_per_second", 1e5),
                ("late_ratio", 0.02),
                ("sent_packets", count),
            ])
        };
        none(&sent(100.0), "generator_limited");
        one(&sent(10_000.0), "generator_limited");
    }

    /// Both ends are observed every 50 ms. The longest answer took half a second, as did the longest
    /// wait.
    fn longest_answer_half_a_second() -> Scene {
        let mut scene = open_loop(0.000_17, 0.5, 0.5);
        for host in ["hosta", "hostb"] {
            scene.series(host, "tcp.unacknowledged_segments", |_| 1.0);
        }
        scene
    }

    #[test]
    fn an_asking_end_that_stood_still_with_an_answer_unread_does_not_blame_the_far_end() {
        let scene = longest_answer_half_a_second().silent("hosta", 14.0, 14.5);
        let finding = scene.limited_by("generator_limited");
        assert_eq!(finding.says.key, "rule-generator-limited-silent-says");
        let mut rows = finding.evidence.iter();
        assert!(rows.any(|row| row.says.key == "evidence-silent"));
        scene.without("window_full");
    }

    #[test]
    fn a_closed_loop_that_stood_still_is_not_about_its_answers() {
        let closed = |longest: f64| {
            let scene = open_loop(0.004, longest, longest).metric("window_full_ratio", 0.0);
            let mut scene = scene.total("asked_per_second", 0.0);
            for host in ["hosta", "hostb"] {
                scene.series(host, "tcp.unacknowledged_segments", |_| 1.0);
            }
            scene
        };
        let finding = closed(1.3)
            .silent("hosta", 14.0, 15.3)
            .limited_by("generator_limited");
        assert_eq!(finding.says.key, "rule-generator-limited-loop-stood-says");
        // The far end, or a stop that is short beside the load.
        closed(1.3)
            .silent("hostb", 14.0, 15.3)
            .without("generator_limited");
        closed(0.3)
            .silent("hosta", 14.0, 14.3)
            .without("generator_limited");
    }

    #[test]
    fn requests_that_left_late_after_a_stop_tell_the_stop() {
        // Both ends are observed every 250 ms, and the stop lies between two samples but for a moment.
        let scene = |stop: std::ops::Range<f64>| {
            let mut scene = open_loop(0.000_17, 0.01, 0.47)
                .metric("window_full_ratio", 0.0)
                .metric("late_ratio", 0.12);
            for host in ["hosta", "hostb"] {
                scene.series(host, "tcp.unacknowledged_segments", |_| 1.0);
            }
            for series in &mut scene.record.series {
                series.points.retain(|(t_ns, _)| t_ns % (SECOND / 4) == 0);
            }
            scene.silent("hosta", stop.start, stop.end)
        };
        let said = |scene: Scene| scene.limited_by("generator_limited").says.key;
        let stopped = said(scene(14.03..14.49));
        assert_eq!(stopped, "rule-generator-limited-silent-says");
        let went_on = said(scene(14.03..14.1));
        assert_eq!(went_on, "rule-generator-limited-asks-late-says");
    }

    #[test]
    fn an_asking_end_that_went_on_while_it_waited_blames_the_far_end() {
        let scene = longest_answer_half_a_second;
        // Neither end was silent, only the far end was, both were, or too short to be the reason.
        for scene in [
            scene(),
            scene().silent("hostb", 14.0, 14.5),
            scene()
                .silent("hosta", 14.0, 14.5)
                .silent("hostb", 14.0, 14.5),
            scene().silent("hosta", 14.0, 14.3),
        ] {
            scene.limited_by("window_full");
            scene.without("generator_limited");
        }
    }

    #[test]
    fn a_load_that_says_nothing_while_it_waits_does_not_stand_still() {
        let mut scene = open_loop(0.000_17, 0.5, 0.5);
        scene.series("hosta", "rr.transactions_per_second", |_| 500.0);
        let scene = scene.silent("hosta", 14.0, 14.5);
        scene.limited_by("window_full");
    }
}
