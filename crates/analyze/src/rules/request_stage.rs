//! The stage of a request in which most of its time passes.
//!
//! ```text
//! resolve  the name server             connect  accepting, or the way       tls   keys, on either side
//! send     the way there               wait     the server's work and queues
//! read     the answer's body: how the server sends it, or the way back
//! ```
//!
//! The generator's own thread had time left, or another rule names it. Where requests take far longer than the
//! quickest one did, they wait for one another in the server, or their own times vary. How answers follow each other
//! tells which:
//!
//! ```text
//! at an even pace, less than one at a time    paced     a limit on the rate holds them back
//! with long gaps, less than one at a time     part      the server stands still for a part of the time
//! no closer than one worker can               serial    one by one
//! all of them wait about as long              pool      several at a time
//! neither                                     wait      it cannot be told from outside
//!                                             either    nor whether it is the way
//! ```
//!
//! Rate × shortest time is the least number of requests that it works on at a time.

use sokudo_model::kinds::http;
use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use super::connection_churn;
use super::unserved_connections::waiting;
use crate::quantities::requests::{
    ALIKE, BEYOND_DELAYED_S, BUSY, GROWN, ONE, PACED, PAUSED, QUEUED, Requests, SEVERAL, Stage,
};
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the time with something to send in which the server's window was full, from which it takes slowly.
const TAKEN: f64 = 0.6;
/// The same for the own send buffer: what was sent leaves it a round trip later, and half of the time there is room.
const BUFFERED: f64 = 0.3;
/// Share of a request from which a stage is where its time goes.
const MOST: f64 = 0.5;
/// Part of the wait that the round trip of the way makes up, from which the way is the reason.
const WAY: f64 = 0.5;
/// Requests worked on at a time below which nothing is, for a part of the time.
const PART: f64 = 0.6;
/// Part of the shortest wait that the lowest round trip makes up, from which the server's own time is little.
const SHORTEST: f64 = 0.7;
/// Share of the requests from which the number that the server grants holds them back.
const HELD: f64 = 0.5;
/// Range of a delayed acknowledgement, seconds.
const DELAYED_S: std::ops::Range<f64> = 0.036..0.054;

/// The messages of a case and its weight.
macro_rules! case {
    ($says:literal, $next:literal, $weight:literal) => {
        Case {
            says: $says,
            next: $next,
            weight: $weight,
        }
    };
}

/// Growth of the mean round trip that a host which is short of CPU explains, seconds.
const HOST_S: f64 = 0.002;

/// Bytes of a body in a round trip from which a window as small as that, at either end, may be what limits it.
const SMALL_WINDOW_BYTES: f64 = 2_048.0;
/// Share of the segments that this end sent again, from which the way may be what makes a body slow.
const LOSSY: f64 = 0.01;

/// The finding `request_stage`.
pub const RULE: Rule = Rule {
    name: "request_stage",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[
        Suspect::raise("connections").only(&["-wait-", "-distance-"]),
        Suspect::tighten("rate").only(&["-serial-", "-pool-", "-part-", "-paced-", "-way-"]),
    ],
    bounds: &[
        ("most", MOST, Unit::Ratio),
        ("busy", BUSY, Unit::Ratio),
        ("queued", QUEUED, Unit::One),
        ("part", PART, Unit::One),
        ("held", HELD, Unit::Ratio),
        ("short", SHORTEST, Unit::Ratio),
        ("alike", ALIKE, Unit::One),
        ("paced", PACED, Unit::Ratio),
        ("several", SEVERAL, Unit::Ratio),
        ("paused", PAUSED, Unit::Ratio),
        ("way", WAY, Unit::Ratio),
        ("grown", GROWN, Unit::One),
        ("delayed", BEYOND_DELAYED_S, Unit::Seconds),
        ("taken", TAKEN, Unit::Ratio),
        ("buffered", BUFFERED, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

/// True when round trips took so much longer than the lowest one that something on the way did it.
fn grew(lowest: f64, mean: f64) -> bool {
    mean >= lowest * GROWN && mean - lowest >= HOST_S
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let requests = Requests::of(view)?;
    let is_busy = requests.asking_thread() >= BUSY;
    if is_busy || requests.are_carried() || requests.users_pause() {
        return None;
    }
    let stage = requests
        .longest_stage()
        .filter(|stage| stage.share >= MOST)?;
    let case = match stage.name {
        "send" | "wait" if is_taken_slowly(view) => case!(
            "rule-request-stage-taken-says",
            "rule-request-stage-taken-next",
            0.8
        ),
        "send" | "wait" if lies_in_the_buffer(view) => case!(
            "rule-request-stage-buffer-says",
            "rule-request-stage-buffer-next",
            0.8
        ),
        "wait" => waits(&requests, &stage),
        "read" => reads(view, &requests, &stage),
        // Where each request connects, that these stages are long is the connections' doing.
        "connect" | "tls" if connection_churn::is_each(view) => return None,
        "connect" => case!(
            "rule-request-stage-connect-says",
            "rule-request-stage-connect-next",
            0.6
        ),
        "tls" => case!(
            "rule-request-stage-tls-says",
            "rule-request-stage-tls-next",
            0.6
        ),
        "resolve" => case!(
            "rule-request-stage-resolve-says",
            "rule-request-stage-resolve-next",
            0.75
        ),
        _ if are_held(view) => case!(
            "rule-request-stage-streams-says",
            "rule-request-stage-streams-next",
            0.85
        ),
        _ => case!(
            "rule-request-stage-send-says",
            "rule-request-stage-send-next",
            0.5
        ),
    };
    let says = says(view, &requests, &stage, case.says);
    let mut finding = view.finding(RULE.name, Severity::Info, case.weight, says);
    finding.evidence = evidence(view, &requests, &stage, &case);
    finding.next = Some(Text::new(case.next));
    Some(finding)
}

/// The sentence about a stage; a number that is not known stands in no sentence that is chosen without it.
fn says(view: &PhaseView<'_>, requests: &Requests<'_>, stage: &Stage, key: &'static str) -> Text {
    let known = |number: Option<f64>| number.unwrap_or(f64::NAN);
    let (lowest, trip) = requests.round_trips().unzip();
    Text::new(key)
        .number("share", stage.share, Unit::Ratio)
        .number("mean", stage.mean, Unit::Seconds)
        .number("under", requests.under_way(), Unit::One)
        .number("shortest", known(requests.shortest()), Unit::Seconds)
        .text("best", best(requests))
        .number("worked", known(requests.worked_on()), Unit::One)
        .number(
            "granted",
            known(view.total(http::GRANTED_STREAMS)),
            Unit::One,
        )
        .number("bytes", known(body(view)), Unit::Bytes)
        .number("lowest", known(lowest), Unit::Seconds)
        .number("trip", known(trip), Unit::Seconds)
        .number(
            "window",
            known(view.total(http::PATH_WINDOW_RATIO)),
            Unit::Ratio,
        )
        .number(
            "buffer",
            known(view.total(http::PATH_BUFFER_RATIO)),
            Unit::Ratio,
        )
}

/// What speaks for a stage, and what was looked at beside it.
fn evidence(
    view: &PhaseView<'_>,
    requests: &Requests<'_>,
    stage: &Stage,
    case: &Case,
) -> Vec<Evidence> {
    let row = |key, metric| requests.row(key, metric);
    let mut evidence = vec![requests.stage_row(stage)];
    evidence.extend(row("evidence-shortest", http::SHORTEST_WAIT_SECONDS));
    evidence.extend(row("evidence-held", http::HELD_REQUESTS));
    if case.is_by_gaps() {
        evidence.extend(row("evidence-even-gaps", http::EVEN_GAP_RATIO));
        evidence.extend(row("evidence-close-gaps", http::CLOSE_GAP_RATIO));
        evidence.extend(row("evidence-long-gaps", http::LONG_GAP_RATIO));
    }
    evidence.extend(requests.own_cpu_row());
    evidence.extend(row("evidence-path-lowest", http::PATH_LOWEST_SECONDS));
    evidence.extend(row("evidence-path-mean", http::PATH_MEAN_SECONDS));
    evidence.extend(row("evidence-path-resent", http::PATH_RESENT_RATIO));
    let window = row("evidence-path-window", http::PATH_WINDOW_RATIO);
    evidence.extend(window.filter(|_| is_taken_slowly(view)));
    let buffer = row("evidence-path-buffer", http::PATH_BUFFER_RATIO);
    evidence.extend(buffer.filter(|_| lies_in_the_buffer(view)));
    evidence.extend(requests.server_cpu_row());
    evidence.extend(waiting(view));
    evidence
}

/// True where the server's receive window was full for most of the time in which there was something to send: a body
/// lies in the system long after it was handed over.
fn is_taken_slowly(view: &PhaseView<'_>) -> bool {
    let full = view.total(http::PATH_WINDOW_RATIO);
    full.is_some_and(|share| share >= TAKEN)
}

/// True where the own send buffer was full with what the way holds for much of the time in which there was something to
/// send.
fn lies_in_the_buffer(view: &PhaseView<'_>) -> bool {
    let full = view.total(http::PATH_BUFFER_RATIO);
    full.is_some_and(|share| share >= BUFFERED)
}

/// True where most requests wait because the server grants so few at a time on a connection.
fn are_held(view: &PhaseView<'_>) -> bool {
    let of = |metric| view.total(metric).unwrap_or(0.0);
    of(http::GRANTED_STREAMS) > 0.0 && of(http::HELD_REQUESTS) >= of(http::REQUESTS) * HELD
}

/// Meaning of a stage, and its certainty.
struct Case {
    says: &'static str,
    next: &'static str,
    weight: f64,
}

impl Case {
    /// True where it was told by how answers follow each other.
    fn is_by_gaps(&self) -> bool {
        let told = ["-paced-", "-part-", "-serial-", "-pool-", "-queue-"];
        told.iter().any(|part| self.says.contains(part))
    }
}

/// The wait for the first byte: the way, a queue in the server, or the time of each request.
fn waits(requests: &Requests<'_>, stage: &Stage) -> Case {
    let has_queue = requests.has_queue_on_the_way();
    if let Some((lowest, longer)) = requests.longer_round_trip() {
        if lowest >= stage.mean * WAY {
            return case!(
                "rule-request-stage-distance-says",
                "rule-request-stage-distance-next",
                0.7
            );
        }
        if has_queue && lowest + longer >= stage.mean * WAY {
            return case!(
                "rule-request-stage-way-says",
                "rule-request-stage-way-next",
                0.7
            );
        }
    }
    // Behind the bodies of others on the way, requests wait for one another whatever the server does.
    let queued = requests.wait_for_one_another() && !has_queue;
    match requests.worked_on().filter(|_| queued) {
        Some(at_a_time) if at_a_time < PART => part(requests, stage),
        Some(at_a_time) if at_a_time < ONE && !requests.come_from_several() => {
            serial(requests.server_had_time())
        }
        Some(_) if requests.are_alike() && !is_the_way_possible(requests, stage) => {
            pool(requests.server_had_time())
        }
        _ => unknown(requests, stage),
    }
}

/// True where even the shortest wait passed on the way for the most part, and the others may have: their round trips
/// are as much longer.
fn is_the_way_possible(requests: &Requests<'_>, stage: &Stage) -> bool {
    let lowest = requests.round_trips().map_or(0.0, |(lowest, _)| lowest);
    let shortest = requests.shortest().unwrap_or(f64::INFINITY);
    lowest >= shortest * SHORTEST && requests.may_pass_on_the_way(stage.mean)
}

/// The time passes at the server or on the way: where requests take as varied times as the round trips of their
/// connections, these do not tell which.
fn unknown(requests: &Requests<'_>, stage: &Stage) -> Case {
    let varies = requests.wait_for_one_another() && is_the_way_possible(requests, stage);
    match varies {
        true => case!(
            "rule-request-stage-either-says",
            "rule-request-stage-either-next",
            0.5
        ),
        false => WAIT,
    }
}

/// The time passes at the server, and it is not known why.
const WAIT: Case = case!(
    "rule-request-stage-wait-says",
    "rule-request-stage-wait-next",
    0.5
);

/// Less than one request is worked on at a time, if all take as long as the shortest.
fn part(requests: &Requests<'_>, stage: &Stage) -> Case {
    match requests.have_pauses() {
        _ if requests.are_paced() => case!(
            "rule-request-stage-paced-says",
            "rule-request-stage-paced-next",
            0.7
        ),
        None | Some(true) => case!(
            "rule-request-stage-part-says",
            "rule-request-stage-part-next",
            0.65
        ),
        Some(false) if requests.are_alike() && !is_the_way_possible(requests, stage) => case!(
            "rule-request-stage-queue-says",
            "rule-request-stage-queue-next",
            0.55
        ),
        Some(false) => unknown(requests, stage),
    }
}

/// One request is worked on at a time.
fn serial(had_time: bool) -> Case {
    match had_time {
        true => case!(
            "rule-request-stage-serial-idle-says",
            "rule-request-stage-serial-idle-next",
            0.8
        ),
        false => case!(
            "rule-request-stage-serial-says",
            "rule-request-stage-serial-next",
            0.65
        ),
    }
}

/// Several requests are worked on at a time, and others wait.
fn pool(had_time: bool) -> Case {
    match had_time {
        true => case!(
            "rule-request-stage-pool-idle-says",
            "rule-request-stage-pool-idle-next",
            0.75
        ),
        false => case!(
            "rule-request-stage-pool-says",
            "rule-request-stage-pool-next",
            0.6
        ),
    }
}

/// The time between the first and the last byte.
fn reads(view: &PhaseView<'_>, requests: &Requests<'_>, stage: &Stage) -> Case {
    const SMALL_BYTES: f64 = 14_000.0;
    let small = body(view).is_some_and(|bytes| bytes <= SMALL_BYTES);
    let way = requests.round_trips();
    if small && DELAYED_S.contains(&stage.mean) && way.is_none_or(|(lowest, _)| lowest < 0.015) {
        return case!(
            "rule-request-stage-read-delayed-says",
            "rule-request-stage-read-delayed-next",
            0.75
        );
    }
    match way {
        _ if requests.has_queue_on_the_way() => case!(
            "rule-request-stage-read-way-says",
            "rule-request-stage-read-way-next",
            0.7
        ),
        // A body of many segments takes some round trips to begin with.
        Some((lowest, _)) if !small && stage.mean <= lowest * 6.0 => case!(
            "rule-request-stage-read-start-says",
            "rule-request-stage-read-start-next",
            0.6
        ),
        // Round trips that grew leave it open whether the way was narrow.
        Some((lowest, mean))
            if stage.mean >= 8.0 * mean
                && !grew(lowest, mean)
                && !is_the_window_possible(view, lowest, stage) =>
        {
            case!(
                "rule-request-stage-read-server-says",
                "rule-request-stage-read-server-next",
                0.7
            )
        }
        _ => case!(
            "rule-request-stage-read-says",
            "rule-request-stage-read-next",
            0.5
        ),
    }
}

/// True where a small window, or segments that were lost, can make a body as slow as a server that writes it in pieces.
fn is_the_window_possible(view: &PhaseView<'_>, lowest: f64, stage: &Stage) -> bool {
    let in_a_round_trip = body(view).map_or(0.0, |bytes| bytes * lowest / stage.mean);
    let resent = view.total(http::PATH_RESENT_RATIO);
    in_a_round_trip >= SMALL_WINDOW_BYTES || resent.is_some_and(|share| share >= LOSSY)
}

/// The shortest wait for an answer, where it is known.
fn best(requests: &Requests<'_>) -> Text {
    match requests.shortest() {
        Some(shortest) => {
            Text::new("request-stage-best").number("shortest", shortest, Unit::Seconds)
        }
        None => Text::new("request-stage-best-unknown"),
    }
}

/// Mean bytes of a body.
fn body(view: &PhaseView<'_>) -> Option<f64> {
    Some(view.total(http::BODY_BYTES)? / view.total(http::REQUESTS)?.max(1.0))
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    const WAITING: [f64; 6] = [0.0, 0.0, 0.0, 0.0, 0.16, 0.0];

    #[track_caller]
    fn told(stages: [f64; 6], totals: &[(&str, f64)], case: &str) {
        let key = format!("rule-request-stage-{case}-says");
        check(&of_stages(stages, totals), "request_stage", &key);
    }

    #[test]
    fn bodies_that_a_server_takes_slowly_are_told_from_its_work() {
        let sending = [0.0, 0.0, 0.0, 0.3, 0.02, 0.0];
        for stages in [WAITING, sending] {
            told(stages, &[("path_window_ratio", 0.98)], "taken");
        }
        told(WAITING, &[("path_window_ratio", 0.3)], "wait");
        // What the own buffer holds back is not the server's doing.
        let sending = [0.0, 0.0, 0.0, 0.2, 0.04, 0.0];
        told(sending, &[("path_buffer_ratio", 0.5)], "buffer");
        told(sending, &[("path_buffer_ratio", 0.05)], "send");
    }

    #[test]
    fn requests_that_wait_for_one_another_are_told_from_those_that_take_long() {
        // 16 under way; each alone takes 10 ms, so 1 of them is worked on at a time.
        told(WAITING, &[("shortest_wait_seconds", 0.01)], "serial");
        told(WAITING, &[("shortest_wait_seconds", 0.04)], "pool");
        // 0.12 ms are a request, less is the scheduling of threads.
        let quick = [0.0, 0.0, 0.0, 0.0, 0.001, 0.0];
        let rate = ("requests_per_second", 8_000.0);
        told(
            quick,
            &[("shortest_wait_seconds", 0.000_12), rate],
            "serial",
        );
        told(quick, &[("shortest_wait_seconds", 0.000_09), rate], "wait");
        told(WAITING, &[("shortest_wait_seconds", 0.15)], "wait");
        told(WAITING, &[], "wait");
    }

    #[test]
    fn how_answers_follow_each_other_tells_a_pace_pauses_and_several_workers() {
        let of = |shortest, even, close, long| {
            [
                ("shortest_wait_seconds", shortest),
                ("even_gap_ratio", even),
                ("close_gap_ratio", close),
                ("long_gap_ratio", long),
            ]
        };
        // As a web server that serves 200 requests a second, and holds the others back.
        told(WAITING, &of(0.001, 0.97, 0.0, 0.0), "paced");
        // As a quota does, and as times do that vary by themselves in one queue.
        told(WAITING, &of(0.001, 0.1, 0.0, 0.7), "part");
        told(WAITING, &of(0.001, 0.2, 0.1, 0.2), "queue");
        told(WAITING, &of(0.01, 0.9, 0.0, 0.0), "serial");
        told(WAITING, &of(0.01, 0.2, 0.6, 0.2), "pool");
        // Waits that differ as much as this may be the requests' own.
        let spread = [("service_seconds.p50", 0.1), ("service_seconds.p90", 0.3)];
        told(
            WAITING,
            &[&of(0.001, 0.2, 0.1, 0.2), &spread[..]].concat(),
            "wait",
        );
        told(
            WAITING,
            &[&of(0.04, 0.2, 0.6, 0.2), &spread[..]].concat(),
            "wait",
        );
        told(
            WAITING,
            &[&of(0.01, 0.9, 0.0, 0.0), &spread[..]].concat(),
            "serial",
        );
    }

    #[test]
    fn labels_of_a_plan_that_differ_are_no_queue() {
        let mut record = of_stages(WAITING, &[("shortest_wait_seconds", 0.001)]);
        record.manifest.workload = "jmx".into();
        let phase = &mut record.manifest.phases[0];
        phase.workload = "jmx".into();
        let mut other = phase.result.flows[0].clone();
        (other.id, other.to) = (1, "/b".into());
        phase.result.flows.push(other);
        check(&record, "request_stage", "rule-request-stage-wait-says");
    }

    #[test]
    fn the_way_is_told_by_its_round_trips() {
        let way = |lowest, mean| [("path_lowest_seconds", lowest), ("path_mean_seconds", mean)];
        told(WAITING, &way(0.15, 0.15), "distance");
        told(WAITING, &way(0.002, 0.14), "way");
        // As a delayed acknowledgement makes it, on a short way and on a long one.
        told(WAITING, &way(0.002, 0.04), "wait");
        told(WAITING, &way(0.06, 0.1), "wait");
        let reading = [0.0, 0.0, 0.0, 0.0, 0.001, 0.1];
        let bytes = |more: &[(&'static str, f64)]| [&[("body_bytes", 20_000_000.0)], more].concat();
        told(reading, &bytes(&way(0.0001, 0.0002)), "read-server");
        // A window of 2 KiB makes it as slow, and so do lost acknowledgements.
        told(reading, &bytes(&way(0.012, 0.0122)), "read");
        let lossy = [&way(0.0001, 0.0002)[..], &[("path_resent_ratio", 0.1)]].concat();
        told(reading, &bytes(&lossy), "read");
        told(reading, &bytes(&way(0.001, 0.09)), "read-way");
        told(reading, &bytes(&way(0.001, 0.04)), "read");
        told(reading, &bytes(&way(0.03, 0.03)), "read-start");
        told(
            [0.0, 0.0, 0.0, 0.0, 0.001, 0.041],
            &[("body_bytes", 5e5)],
            "read-delayed",
        );
    }

    #[test]
    fn every_other_stage_is_named_where_it_holds_most_of_the_time() {
        told([0.2, 0.0, 0.0, 0.0, 0.01, 0.0], &[], "resolve");
        told([0.0, 0.2, 0.0, 0.0, 0.01, 0.0], &[], "connect");
        told([0.0, 0.001, 0.2, 0.0, 0.01, 0.0], &[], "tls");
        // A connection for each request is told by itself.
        let anew = [("made_connections", 1_000.0)];
        for stages in [
            [0.0, 0.2, 0.0, 0.0, 0.01, 0.0],
            [0.0, 0.001, 0.2, 0.0, 0.01, 0.0],
        ] {
            assert!(is_quiet(&of_stages(stages, &anew), "request_stage"));
        }
        told([0.0, 0.0, 0.0, 0.2, 0.01, 0.0], &[], "send");
        let held = [("granted_streams", 4.0), ("held_requests", 900.0)];
        told([0.0, 0.0, 0.0, 0.2, 0.01, 0.0], &held, "streams");
    }

    #[test]
    fn a_rate_that_was_carried_and_a_busy_generator_blame_no_stage() {
        let carried = of_stages(WAITING, &[("asked_per_second", 100.0)]);
        assert!(is_quiet(&carried, "request_stage"));
        let short = of_stages(WAITING, &[("asked_per_second", 200.0)]);
        assert!(!is_quiet(&short, "request_stage"));
        let mut busy = of_stages(WAITING, &[]);
        let metrics = &mut busy.manifest.phases[0].result.flows[0].metrics;
        metrics.insert("http.client_cpu_ratio".into(), 0.97);
        assert!(is_quiet(&busy, "request_stage"));
    }
}
