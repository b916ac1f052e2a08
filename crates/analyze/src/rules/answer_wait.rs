//! Requests wait for their answers, and where the wait passes: on the way, in a queue of the far end, or in its work.
//!
//! ```text
//! mean time of a request ─┬─ most of it is round trips of the connection         the distance
//!                         ├─ its round trips have grown to most of it            a queue on the way
//!                         ├─ far longer than the shortest: rate × shortest
//!                         │  are worked on at a time, the others wait             a queue
//!                         └─ about as long as the shortest                        the time of each
//! ```
//!
//! A request makes one round trip, and a transaction one for each statement or group of them that its session sends:
//! as many as the segments that leave meanwhile.
//!
//! A queue is told by requests that are alike: those of several kinds take different times by themselves. This is for
//! requests whose stages are not timed apart, in a closed loop: the answers set its rate. Those of web
//! servers have [`request_stage`](super::request_stage).

use sokudo_model::kinds::Noun;
use sokudo_model::metric::Stat;
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use super::session_pool;
use crate::quantities::ends::End;
use crate::quantities::exchange::Exchange;
use crate::quantities::requests::{BEYOND_DELAYED_S, GROWN, ONE, QUEUED, Requests};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the time that the threads of both ends together may want a CPU: more, and they are a reason themselves.
const IDLE: f64 = 0.5;
/// Part of a request's time that its round trip makes up, from which the distance sets the rate.
const WAY: f64 = 0.6;
/// Requests under way below which nothing can queue.
const FEW: f64 = 2.0;
/// Round trips of a transaction from which their number is worth a word.
const SEVERAL: f64 = 1.5;
/// Share of failed requests from which the answers are not what sets the rate.
const FAILING: f64 = 0.01;
/// Mean time of a request below which wake-ups of threads take the most of it, seconds.
const CLEAR_S: f64 = 0.001;

/// The finding `answer_wait`.
pub const RULE: Rule = Rule {
    name: "answer_wait",
    purpose: Purpose::Limit(Standing::Residual),
    suspects: &[
        Suspect::raise("window").only(&["-wait-wait-", "-distance-"]),
        Suspect::raise("connections").only(&["-wait-wait-", "-distance-"]),
        Suspect::tighten("rate").only(&["-serial-", "-pool-"]),
    ],
    bounds: &[
        ("idle", IDLE, Unit::Ratio),
        ("way", WAY, Unit::Ratio),
        ("queued", QUEUED, Unit::One),
        ("clear", CLEAR_S, Unit::Seconds),
        ("grown", GROWN, Unit::One),
        ("delayed", BEYOND_DELAYED_S, Unit::Seconds),
    ],
    look: Look::Phase(look),
};

/// A request's time, and what is known of it.
struct Waits {
    mean: f64,
    shortest: f64,
    rate: f64,
    /// Lowest round trip of a connection.
    lowest: Option<f64>,
    /// The mean one.
    trip: Option<f64>,
    /// Round trips that a request makes.
    trips: f64,
}

impl Waits {
    /// Requests under way on average (Little's law).
    fn under(&self) -> f64 {
        self.rate * self.mean
    }

    /// Requests that are worked on at a time, if each takes the shortest time.
    fn worked(&self) -> f64 {
        self.rate * self.shortest
    }

    /// Share of its time that its round trips take at least.
    fn on_the_way(&self) -> f64 {
        let trips = self.lowest.map_or(0.0, |low| low * self.trips);
        (trips / self.mean).min(1.0)
    }

    /// Whether the round trips of the connections are so much longer than the lowest one that the time may have passed
    /// on the way. `Some(true)`: it did, for no acknowledgement is delayed for so long.
    fn queue_on_the_way(&self) -> Option<bool> {
        let (lowest, trip) = (self.lowest?, self.trip?);
        let grew = trip >= lowest * GROWN && trip * self.trips >= self.mean * WAY;
        grew.then_some(trip - lowest > BEYOND_DELAYED_S)
    }

    /// Messages of the case: what is said, and what to do.
    fn says(&self) -> [&'static str; 2] {
        let way = self.queue_on_the_way();
        if way == Some(true) {
            return ["rule-answer-wait-way-says", "rule-answer-wait-way-next"];
        }
        let queue = self.mean >= self.shortest * QUEUED && self.under() >= FEW && way.is_none();
        match (self.on_the_way() >= WAY, queue, self.worked() < ONE) {
            (true, ..) if self.trips >= SEVERAL => [
                "rule-answer-wait-distance-trips-says",
                "rule-answer-wait-distance-trips-next",
            ],
            (true, ..) => [
                "rule-answer-wait-distance-says",
                "rule-answer-wait-distance-next",
            ],
            (false, true, true) => [
                "rule-answer-wait-serial-says",
                "rule-answer-wait-serial-next",
            ],
            (false, true, false) => ["rule-answer-wait-pool-says", "rule-answer-wait-pool-next"],
            (false, false, _) => ["rule-answer-wait-wait-says", "rule-answer-wait-wait-next"],
        }
    }
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let exchange = Exchange::of(*view)?;
    let numbers = exchange.numbers;
    let failed = view.total(numbers.error_ratio).unwrap_or(0.0);
    let is_timed_apart = Requests::of(view).is_some();
    if exchange.asked().is_some() || is_timed_apart || failed > FAILING || view.is_trial() {
        return None;
    }
    // Who waits for a session of a pool has asked nothing of the far end yet.
    if session_pool::is_limit(view) {
        return None;
    }
    let flow = view.flows().first()?;
    let wanted = wanted(view, &exchange)?;
    let trips_of = Connection::of(*view, flow, End::Sender).round_trips();
    let waits = Waits {
        mean: view.stat(numbers.service, Stat::Mean)?,
        shortest: view.stat(numbers.service, Stat::Min)?,
        rate: exchange.rate()?,
        lowest: trips_of.map(|trips| trips.lowest),
        trip: trips_of.map(|trips| trips.mean),
        trips: 1.0,
    };
    let waits = Waits {
        trips: trips(view, flow, &exchange, waits.mean),
        ..waits
    };
    // Kinds of requests take different times by themselves: the shortest says nothing of the others.
    let is_alike = numbers.parts.is_empty();
    if wanted >= IDLE || waits.mean < CLEAR_S || !(is_alike || waits.on_the_way() >= WAY) {
        return None;
    }
    let [says, next] = waits.says();
    let mut says = Text::new(says)
        .word("host", &flow.to)
        .number("mean", waits.mean, Unit::Seconds)
        .number("shortest", waits.shortest, Unit::Seconds)
        .number("under", waits.under(), Unit::One)
        .number("worked", waits.worked(), Unit::One)
        .number("trips", waits.trips.round(), Unit::One)
        .number("share", waits.on_the_way(), Unit::Ratio);
    for (name, seconds) in [("lowest", waits.lowest), ("trip", waits.trip)] {
        if let Some(seconds) = seconds {
            says = says.number(name, seconds, Unit::Seconds);
        }
    }
    let mut finding = view.finding(RULE.name, Severity::Info, 0.55, says);
    finding.evidence = evidence(view, &exchange, flow);
    finding.next = Some(Text::new(next).word("host", &flow.to));
    Some(finding)
}

/// Share of the time for which the busiest threads of both ends, as far as they are known, wanted a CPU.
fn wanted(view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<f64> {
    let kind = exchange.kind;
    let of = |end: End| {
        let threads = end.threads(kind)?;
        let (_, cpu) = view.highest(threads.cpu)?;
        let ready = threads.wait.and_then(|wait| view.highest(wait));
        Some(cpu + ready.map_or(0.0, |(_, share)| share))
    };
    Some(of(End::Sender)? + of(End::Receiver).unwrap_or(0.0))
}

/// Round trips of a request that takes so long: one, or those of a transaction, as long as its session is not known to
/// have sent less.
fn trips(view: &PhaseView<'_>, flow: &FlowResult, exchange: &Exchange<'_>, mean: f64) -> f64 {
    let sent = || Connection::of(*view, flow, End::Sender).sent_per_second();
    match exchange.numbers.noun {
        Noun::Requests => 1.0,
        Noun::Transactions => sent().map_or(1.0, |per_s| (per_s * mean).max(1.0)),
    }
}

fn evidence(view: &PhaseView<'_>, exchange: &Exchange<'_>, flow: &FlowResult) -> Vec<Evidence> {
    let service = exchange.numbers.service;
    let mut rows: Vec<Evidence> = [
        ("evidence-service-mean", Stat::Mean),
        ("evidence-service-shortest", Stat::Min),
    ]
    .into_iter()
    .filter_map(|(key, stat)| view.stat_evidence(key, service, stat, &flow.to))
    .collect();
    for end in [End::Sender, End::Receiver] {
        rows.extend(end.threads(exchange.kind).and_then(|threads| {
            let (_, cpu) = view.highest(threads.cpu)?;
            Some(view.evidence(end.cpu_key(exchange.kind), threads.cpu, end.host(flow), cpu))
        }));
    }
    rows.extend(Connection::of(*view, flow, End::Sender).round_trip_evidence());
    rows
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// A closed loop whose requests take so long: mean and shortest, seconds.
    fn closed(rate: f64, mean: f64, shortest: f64) -> Scene {
        closed_of("rr", rate, mean, shortest)
    }

    fn closed_of(source: &'static str, rate: f64, mean: f64, shortest: f64) -> Scene {
        let mut scene = Scene::of(source)
            .metric("client_cpu_ratio", 0.02)
            .metric("client_wait_ratio", 0.01)
            .metric("server_cpu_ratio", 0.02)
            .metric("server_wait_ratio", 0.01)
            .total("transactions_per_second", rate)
            .total("transactions", rate * 10.0);
        for (stat, value) in [("mean", mean), ("min", shortest)] {
            let phase = &mut scene.record.manifest.phases[0];
            let key = format!("{source}.service_seconds.{stat}");
            phase.result.summary.insert(key, value);
        }
        scene
    }

    #[track_caller]
    fn check(scene: &Scene, case: &str) {
        let finding = scene.limited_by("answer_wait");
        check_texts(&finding);
        assert_eq!(finding.says.key, format!("rule-answer-wait-{case}-says"));
    }

    #[test]
    fn the_wait_is_told_by_where_it_passes() {
        check(&closed(50.0, 0.16, 0.02), "serial");
        check(&closed(200.0, 0.16, 0.02), "pool");
        check(&closed(50.0, 0.021, 0.02), "wait");
        let far = Tcp {
            round_trip: 0.02,
            lowest: 0.02,
            ..SENDING
        };
        check(&closed(50.0, 0.021, 0.02).tcp(far), "distance");
    }

    #[test]
    fn a_queue_on_the_way_is_none_of_the_server() {
        let of = |trip: f64| {
            let tcp = Tcp {
                round_trip: trip,
                lowest: 0.004,
                ..SENDING
            };
            closed(64.0, 0.096, 0.03).tcp(tcp)
        };
        check(&of(0.08), "way");
        check(&of(0.005), "pool");
        // As long as acknowledgements that wait for the answers are.
        let short = Tcp {
            round_trip: 0.03,
            lowest: 0.001,
            ..SENDING
        };
        check(&closed(200.0, 0.03, 0.008).tcp(short), "wait");
    }

    #[test]
    fn a_transaction_of_many_statements_makes_many_round_trips() {
        let far = Tcp {
            round_trip: 0.02,
            lowest: 0.02,
            ..SENDING
        };
        let transactions = |per_s: f64, workload: &str| {
            let mut scene = closed_of("sql", 28.0, 0.146, 0.137).tcp(far);
            scene.record.manifest.phases[0].workload = workload.into();
            let all = &mut scene.record.series;
            all.retain(|series| series.key.metric != "tcp.sent_segments");
            scene.series("hosta", "tcp.sent_segments", move |s| s * per_s);
            scene
        };
        // Of 146 ms, 49 segments per second are 7 round trips of 20 ms.
        for workload in ["tpcb", "dbt2"] {
            check(&transactions(49.0, workload), "distance-trips");
        }
        check(&transactions(7.0, "tpcb"), "wait");
        transactions(7.0, "dbt2").without("answer_wait");
    }

    /// More requests at a time relieve a distance; in front of a queue they only wait.
    #[test]
    fn a_queue_is_tested_by_a_lower_rate() {
        let options = |mean| {
            let scene = closed(50.0, mean, 0.02);
            let told = crate::explain(&scene.record).expect("an explanation");
            let suspects = told.suspects(told.limit().expect("a limit"));
            suspects.iter().map(|one| one.option).collect::<Vec<_>>()
        };
        assert_eq!(options(0.16), ["rate"]);
        assert_eq!(options(0.021), ["window", "connections"]);
    }

    #[test]
    fn requests_of_several_kinds_are_not_taken_for_a_queue() {
        let mut scene = closed_of("sql", 50.0, 0.16, 0.02);
        scene.record.manifest.phases[0].workload = "tpcb".into();
        check(&scene, "serial");
        for workload in ["dbt2", "dbt3"] {
            scene.record.manifest.phases[0].workload = workload.into();
            scene.without("answer_wait");
        }
    }

    #[test]
    fn requests_that_take_next_to_nothing_wait_for_nobody() {
        closed(20_000.0, 0.000_05, 0.000_02).without("answer_wait");
        closed(50.0, 0.021, 0.02)
            .metric("client_cpu_ratio", 0.9)
            .without("answer_wait");
    }
}
