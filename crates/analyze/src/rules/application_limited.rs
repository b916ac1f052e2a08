//! A program at one end held the load back by its own choice.
//!
//! Four faces: the rate that was asked for was kept, so nothing else limited anything; the users of a
//! closed loop paused as the load says; the reader took its time although data lay before it; the
//! writer slept although there was room. A choice shows as time that is neither work, nor a wait for
//! a CPU, nor a wait for the other end.

use sokudo_model::kinds::Family;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::tcp;
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use super::receive_window_limited::receive_queue;
use crate::quantities::asked::{self, AskedAndCarried, KEPT};
use crate::quantities::ends::{End, Load, as_share};
use crate::quantities::tcp::Connection;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the pacing rate from which the kernel's pacing decides.
const PACED: f64 = 0.9;
/// Share of the time from which sleeping by choice shapes the rate.
const SHAPES: f64 = 0.3;
/// Share of the time up to which an end counts as never waiting for the other.
const NEVER: f64 = 0.2;
/// Share of a core from which a thread is rather short of time.
const BUSY: f64 = 0.8;
/// Share of the users' time from which their pauses set the rate.
const PAUSING: f64 = 0.5;

/// The finding `application_limited`.
pub const RULE: Rule = Rule {
    name: "application_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[
        Suspect::raise("rate"),
        Suspect::raise("read-rate"),
        Suspect::raise("consume-rate"),
        Suspect::raise("pacing"),
        Suspect::raise("clients"),
    ],
    bounds: &[
        ("kept", KEPT, Unit::Ratio),
        ("paced", PACED, Unit::Ratio),
        ("shapes", SHAPES, Unit::Ratio),
        ("never", NEVER, Unit::Ratio),
        ("busy", BUSY, Unit::Ratio),
        ("pausing", PAUSING, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

/// Message of the conclusion that the load which was asked for was carried.
const AS_ASKED: &str = "rule-application-asked-says";

/// Message of the conclusion that the pauses of the users, which were asked for, set the rate.
const PAUSES: &str = "rule-application-pauses-says";

/// True for the conclusion that the load which was asked for was carried.
pub fn is_as_asked(finding: &Finding) -> bool {
    [AS_ASKED, PAUSES].contains(&&*finding.says.key)
}

/// Whose threads sleep in files, which is not a choice of the application.
fn copies_files(load: &Load<'_>) -> bool {
    matches!(load.kind.family, Family::Files(_))
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    as_asked(view).or_else(|| pauses(view)).or_else(|| {
        let load = Load::of(*view).filter(|load| !load.is_exchange() && !copies_files(load))?;
        load.strongest(|flow| {
            let reader = || sleeps(&load, flow, End::Receiver);
            let writer = || sleeps(&load, flow, End::Sender);
            paced(&load, flow).or_else(reader).or_else(writer)
        })
    })
}

/// The load that was asked for was carried, by the counts of what got through.
fn as_asked(view: &PhaseView<'_>) -> Option<Finding> {
    // Rates that a search tries are not what was asked for.
    if view.is_trial() || view.is_confirm() {
        return None;
    }
    let asked = AskedAndCarried::of(view).filter(AskedAndCarried::is_kept)?;
    let flow = view.flows().first()?;
    let says = Text::new(AS_ASKED)
        .word("host", &flow.from)
        .number("asked", asked.rate, asked.unit);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.9, says);
    let evidence = &mut finding.evidence;
    evidence.push(asked.evidence(view, &flow.to));
    let kind = view.kind()?;
    let cpu = kind.ends.near.cpu;
    let used = view.highest(cpu).map(|(flow, used)| {
        let key = End::Sender.cpu_key(kind);
        view.evidence(key, cpu, &flow.from, used)
    });
    evidence.extend(used);
    if let Some(load) = Load::of(*view) {
        evidence.extend(slept(&load, flow, End::Sender));
        evidence.extend(load.held_evidence(flow, End::Sender));
        let connection = Connection::of(*view, flow, End::Sender);
        evidence.extend(connection.busy_evidence());
    }
    finding.next = Some(Text::new("rule-application-asked-next"));
    Some(finding)
}

/// The users of a closed loop paused for most of their time, as the load asks for.
fn pauses(view: &PhaseView<'_>) -> Option<Finding> {
    let kind = view.kind()?;
    let Family::Exchange(exchange) = kind.family else {
        return None;
    };
    if view.is_trial() || view.is_confirm() {
        return None;
    }
    let ratio = exchange.pausing_ratio?;
    let (series, share) = view.highest_mean(None, ratio, &[])?;
    if share < PAUSING {
        return None;
    }
    let host = &series.key.host;
    let says = Text::new(PAUSES)
        .word("host", host)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.4 + 0.5 * share, says);
    let evidence = &mut finding.evidence;
    evidence.push(as_share(
        view.evidence("evidence-users-pause", ratio, host, share),
        share,
    ));
    let cpu = kind.ends.near.cpu;
    let used = view.highest(cpu).map(|(flow, used)| {
        let key = End::Sender.cpu_key(kind);
        view.evidence(key, cpu, &flow.from, used)
    });
    evidence.extend(used);
    finding.next = Some(Text::new("rule-application-pauses-next"));
    Some(finding)
}

/// The kernel sent no faster than it was told to.
fn paced(load: &Load<'_>, flow: &FlowResult) -> Option<Finding> {
    const PACING: Metric = tcp::PACING_RATE_BYTES_PER_SECOND;
    let view = load.view;
    view.option::<serde_json::Value>("pacing")?;
    let flow = view.flows().iter().find(|known| known.id == flow.id)?;
    let connection = Connection::of(view, flow, End::Sender);
    let (paced, (rate, _)) = (connection.highest(PACING)?, connection.delivery()?);
    if rate < paced * PACED {
        return None;
    }
    let unit = Unit::BitsPerSecond;
    let says = Text::new("rule-application-paced-says")
        .word("host", &flow.from)
        .number("asked", paced * 8.0, unit);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.85, says);
    finding.evidence.extend(connection.delivery_evidence());
    finding
        .evidence
        .extend(load.held_evidence(flow, End::Sender));
    finding
        .evidence
        .extend(load.held_evidence(flow, End::Receiver));
    finding.next = Some(Text::new("rule-application-paced-next"));
    Some(finding)
}

/// One end slept although the other was ready.
fn sleeps(load: &Load<'_>, flow: &FlowResult, end: End) -> Option<Finding> {
    // Sleeping between what is due is the rate that was asked for: another flow missed its own.
    if asked::is_kept_by(&load.view, flow) {
        return None;
    }
    let times = load.times(flow, end);
    let away = times.away().filter(|away| *away >= SHAPES)?;
    let busy = times.cpu.is_some_and(|cpu| cpu >= BUSY);
    if busy || times.held.is_none_or(|held| held > NEVER) {
        return None;
    }
    let (says, next) = match end {
        End::Sender => (
            "rule-application-writer-says",
            "rule-application-writer-next",
        ),
        End::Receiver => (
            "rule-application-reader-says",
            "rule-application-reader-next",
        ),
    };
    let says = Text::new(says)
        .word("host", end.host(flow))
        .number("share", away, Unit::Ratio);
    let view = load.view;
    let weight = 0.35 + 0.6 * away;
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(slept(load, flow, end));
    evidence.extend(load.held_evidence(flow, end));
    let flow = view.flows().iter().find(|known| known.id == flow.id)?;
    let connection = Connection::of(view, flow, End::Sender);
    if end == End::Receiver {
        evidence.extend(load.held_evidence(flow, End::Sender));
        evidence.extend(connection.receive_window_evidence());
        evidence.extend(receive_queue(load, flow));
    } else {
        evidence.extend(load.held_evidence(flow, End::Receiver));
        evidence.extend(connection.busy_evidence());
    }
    finding.next = Some(Text::new(next).word("host", end.host(flow)));
    Some(finding)
}

/// Time in which a thread was neither at work nor kept from it.
fn slept(load: &Load<'_>, flow: &FlowResult, end: End) -> Option<Evidence> {
    let times = load.times(flow, end);
    let away = times.away()?;
    let metric = end.threads(load.kind)?.cpu;
    let key = match end {
        End::Sender => "evidence-sender-slept",
        End::Receiver => "evidence-receiver-slept",
    };
    let mut evidence = load.view.evidence(key, metric, end.host(flow), away);
    evidence.says = evidence
        .says
        .number("cpu", times.cpu.unwrap_or_default(), Unit::Ratio);
    Some(as_share(evidence, away))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_full_window_before_a_sleeping_reader_is_the_readers_limit() {
        let tcp = Tcp {
            receive_window: 0.9,
            ..SENDING
        };
        let scene = Scene::of("stream")
            .sender([0.03, 0.001, 0.95])
            .receiver([0.05, 0.001, 0.02])
            .tcp(tcp);
        let finding = scene.limited_by("application_limited");
        assert_eq!(finding.says.key, "rule-application-reader-says");
        assert_eq!(finding.says.args["host"], Arg::Word("hostb".into()));
        has_metric(&finding, "tcp.receive_window_limited_seconds");
        scene.without("receive_window_limited");
    }

    #[test]
    fn a_rate_that_was_kept_is_no_limit_but_the_askers() {
        let scene = Scene::of("stream")
            .sender([0.05, 0.001, 0.001])
            .receiver([0.05, 0.001, 0.94])
            .metric("asked_bits_per_second", 1e8)
            .metric("received_bytes", 1.249e8)
            .tcp(Tcp {
                busy: 0.3,
                ..SENDING
            });
        let finding = scene.limited_by("application_limited");
        assert_eq!(finding.says.key, "rule-application-asked-says");
        assert_eq!(finding.severity, Severity::Info);
    }

    #[test]
    fn users_who_pause_for_most_of_their_time_set_the_rate() {
        let pausing = |share: f64| {
            let mut record = requests::of_stages([0.0, 0.0, 0.0, 0.0, 0.001, 0.0], &[]);
            let host = record.manifest.phases[0].result.flows[0].from.clone();
            add_series(&mut record, &host, "http.pausing_ratio", &[], 0.0, share);
            record
        };
        let finding = one(&pausing(0.97), "application_limited");
        assert!(is_as_asked(&finding));
        has_metric(&finding, "http.pausing_ratio");
        none(&pausing(0.3), "application_limited");
    }

    #[test]
    fn a_rate_that_was_missed_leaves_the_limit_to_its_cause() {
        let tcp = Tcp {
            receive_window: 0.9,
            ..SENDING
        };
        let scene = between()
            .metric("asked_bits_per_second", 1e8)
            .metric("received_bytes", 3.7e7)
            .tcp(tcp);
        scene.limited_by("receive_window_limited");
        scene.without("application_limited");
    }

    #[test]
    fn a_flow_that_kept_its_rate_slept_because_of_it() {
        let two = |first_bytes: f64| {
            let mut scene = Scene::of("stream")
                .sender([0.05, 0.001, 0.001])
                .receiver([0.05, 0.001, 0.94])
                .metric("asked_bits_per_second", 1e8)
                .metric("received_bytes", first_bytes)
                .tcp(Tcp {
                    busy: 0.3,
                    ..SENDING
                });
            let mut slow = scene.flow().clone();
            (slow.id, slow.to) = (1, "hostc".into());
            let changes = [("received_bytes", 2e7), ("write_blocked_ratio", 0.9)];
            for (name, value) in changes {
                slow.metrics.insert(format!("stream.{name}"), value);
            }
            scene.record.manifest.phases[0].result.flows.push(slow);
            scene
        };
        two(1.25e8).without("application_limited");
        let short = two(0.6e8);
        let writer = one(&short.record, "application_limited");
        assert_eq!(writer.says.key, "rule-application-writer-says");
    }

    #[test]
    fn a_replication_at_its_limit_is_as_asked() {
        let copy = |wire_bytes| {
            let scene = Scene::of("replicate").tcp(SENDING);
            let scene = scene
                .total("asked_bits_per_second", 2e8)
                .total("failed", 0.0);
            let scene = scene.total("wire_bytes", wire_bytes);
            scene.metric("elapsed_seconds", 9.0)
        };
        let finding = copy(9.0 * 2.5e7).limited_by("application_limited");
        assert_eq!(finding.says.key, AS_ASKED);
        let next = finding.next.expect("a next step");
        assert_eq!(next.key, "rule-application-limit-next");
        copy(9.0 * 2e7).without("application_limited");
        // It got its rate until a host was lost, and no further.
        let mut lost = copy(9.0 * 2.5e7);
        lost.record.manifest.phases[0].status = sokudo_model::RunStatus::Partial;
        lost.without("application_limited");
    }

    #[test]
    fn pacing_below_everything_else_is_what_was_asked() {
        let mut scene = between().tcp(SENDING).option(r#"{"pacing":"100Mb/s"}"#);
        scene.series("hosta", "tcp.pacing_rate_bytes_per_second", |_| 1.3e7);
        let finding = scene.limited_by("application_limited");
        assert_eq!(finding.says.key, "rule-application-paced-says");
    }
}
