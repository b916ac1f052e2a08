//! The queue of a host's own device bounds what leaves it, or drops it.
//!
//! Every packet passes the queueing discipline of its device (tc(8)). When a rate is set there, or the device
//! is slower than what is sent, packets stand in that queue; when the queue is short, they are dropped before
//! they have left the host. TCP sees longer round trips and loss, UDP sees nothing: neither tells it from the
//! path. A discipline at the entrance of a device drops what a host has received, as a policer does.

use std::collections::BTreeSet;

use sokudo_model::kinds;
use sokudo_model::metrics::host;
use sokudo_model::{Evidence, Finding, FlowResult, Series, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::{PhaseView, carries};

/// Share of the samples with packets in the queue from which it bounds the rate.
const STANDS: f64 = 0.5;
/// Times that a queue held packets back or dropped them, from which it is not a coincidence.
const OFTEN: f64 = 10.0;

/// Disciplines that stand at the entrance of a device.
const AT_THE_ENTRANCE: [&str; 2] = ["ingress", "clsact"];

/// The finding `device_queue`.
pub const RULE: Rule = Rule {
    name: "device_queue",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[Suspect::tighten("rate"), Suspect::tighten("pacing")],
    bounds: &[("stands", STANDS, Unit::Ratio), ("often", OFTEN, Unit::One)],
    look: Look::Phase(look),
};

/// Counters of the queue of one device during the phase.
struct Queue<'a> {
    host: &'a str,
    device: &'a str,
    kind: &'a str,
    /// Share of the samples with packets in it.
    stood: f64,
    drops: f64,
    held_back: f64,
    backlog: &'a Series,
}

impl<'a> Queue<'a> {
    fn of(view: &PhaseView<'a>, backlog: &'a Series) -> Option<Self> {
        let labels = &backlog.key.labels;
        let (device, kind) = (labels.get("device")?, labels.get("kind")?);
        let host = backlog.key.host.as_str();
        let grown = |metric| {
            let labels = [("device", device.as_str()), ("kind", kind.as_str())];
            let mut all = view.series(Some(host), metric, &labels);
            all.next().and_then(|series| view.growth(series))
        };
        Some(Self {
            host,
            device,
            kind,
            stood: view.share_above_zero(backlog)?,
            drops: grown(host::QDISC_DROPS).unwrap_or(0.0),
            held_back: grown(host::QDISC_OVERLIMITS).unwrap_or(0.0),
            backlog,
        })
    }

    /// A queue that delays on purpose holds packets, too: only one that also ran out of its rate or its room
    /// bounds anything.
    fn bounds(&self) -> bool {
        let is_full = self.drops >= OFTEN || self.held_back >= OFTEN;
        is_full && (self.stood >= STANDS || self.drops >= OFTEN)
    }

    fn says(&self) -> Text {
        let key = if AT_THE_ENTRANCE.contains(&self.kind) {
            "rule-device-queue-entrance-says"
        } else if self.stood >= STANDS {
            "rule-device-queue-says"
        } else {
            "rule-device-queue-short-says"
        };
        Text::new(key)
            .word("host", self.host)
            .word("device", self.device)
            .word("kind", self.kind)
            .number("share", self.stood, Unit::Ratio)
            .number("drops", self.drops, Unit::Packets)
    }

    fn evidence(&self, view: &PhaseView<'_>) -> Vec<Evidence> {
        let rows = [
            (
                "evidence-queue-backlog",
                host::QDISC_BACKLOG_BYTES,
                view.mean(self.backlog),
            ),
            (
                "evidence-queue-held-back",
                host::QDISC_OVERLIMITS,
                Some(self.held_back),
            ),
            ("evidence-queue-drops", host::QDISC_DROPS, Some(self.drops)),
        ];
        let rows = rows.into_iter().filter_map(|(key, metric, value)| {
            let mut row = view.evidence(key, metric, self.host, value?);
            row.says = row.says.word("device", self.device);
            row.labels = self.backlog.key.labels.clone();
            Some(row)
        });
        let device = [("device", self.device)];
        let rate = view.highest_mean(Some(self.host), host::NIC_SEND_BYTES_PER_SECOND, &device);
        let rate = rate.map(|(_, rate)| {
            let key = "evidence-device-rate";
            let mut row = view.evidence(key, host::NIC_SEND_BYTES_PER_SECOND, self.host, rate);
            row.says = row.says.word("device", self.device);
            row
        });
        rows.chain(rate).chain(self.carried(view)).collect()
    }

    /// Volume of the largest flow through the device.
    fn carried(&self, view: &PhaseView<'_>) -> Option<Evidence> {
        let rate = |flow: &FlowResult| Some(kinds::carried(&flow.metrics)?.bits_per_second());
        let flows = view.flows().iter();
        let own = flows.filter(|flow| flow.from == self.host || flow.to == self.host);
        let rates = own.filter_map(|flow| Some((flow, rate(flow)?)));
        let (flow, bits) = rates.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(carries(flow, bits))
    }
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let ends = view
        .flows()
        .iter()
        .flat_map(|flow| [flow.from.as_str(), flow.to.as_str()]);
    let hosts: BTreeSet<&str> = ends.collect();
    let backlogs = view.series(None, host::QDISC_BACKLOG_BYTES, &[]);
    let queues = backlogs
        .filter(|series| hosts.contains(series.key.host.as_str()))
        .filter_map(|series| Queue::of(view, series))
        .filter(Queue::bounds);
    let strength = |queue: &Queue<'_>| queue.stood + queue.drops / (queue.drops + 1_000.0);
    let queue = queues.max_by(|a, b| strength(a).total_cmp(&strength(b)))?;
    let severity = match queue.drops >= OFTEN {
        true => Severity::Caution,
        false => Severity::Info,
    };
    let weight = 0.6 + 0.35 * queue.stood;
    let mut finding = view.finding(RULE.name, severity, weight, queue.says());
    finding.evidence = queue.evidence(view);
    let next = Text::new("rule-device-queue-next");
    finding.next = Some(next.word("host", queue.host).word("device", queue.device));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// Shaper on hosta's device: packets in its queue, times that it held back, drops.
    fn queue(kind: &str, waiting: f64, held_back: f64, drops: f64) -> Scene {
        let mut scene = between();
        let labels = [("device", "eth0"), ("kind", kind)];
        for (metric, value) in [
            ("host.qdisc_backlog_bytes", waiting * 1500.0),
            ("host.qdisc_overlimits", held_back),
            ("host.qdisc_drops", drops),
        ] {
            add_series(&mut scene.record, "hosta", metric, &labels, 0.0, value);
        }
        let device = [("device", "eth0")];
        let rate = "host.nic_send_bytes_per_second";
        add_series(&mut scene.record, "hosta", rate, &device, 0.0, 1.25e7);
        scene
    }

    #[test]
    fn a_shaper_on_the_senders_own_device_is_not_the_path() {
        let tcp = Tcp {
            round_trip: 0.075,
            ..SENDING
        };
        let scene = queue("tbf", 30.0, 5_000.0, 0.0).tcp(tcp);
        let finding = of_rule(&scene.record, "device_queue").remove(0);
        assert_eq!(finding.says.key, "rule-device-queue-says");
        assert_eq!(finding.says.args["device"], Arg::Word("eth0".into()));
        has_metric(&finding, "host.qdisc_overlimits");
        has_metric(&finding, "host.nic_send_bytes_per_second");
        // The evidence of the longer round trips stands with it.
        has_metric(&finding, "tcp.smoothed_rtt_seconds");
        scene.without("path_limited");
    }

    #[test]
    fn a_sender_that_its_own_device_holds_back_is_not_the_limit() {
        let changes = [
            ("asked_packets_per_second", 2e6),
            ("sender_cpu_ratio", 0.04),
        ];
        let mut record = with_flow(&changes);
        limited_generator(&record);
        let labels = [("device", "eth0"), ("kind", "tbf")];
        for (metric, value) in [
            ("host.qdisc_backlog_bytes", 45_000.0),
            ("host.qdisc_overlimits", 5_000.0),
        ] {
            add_series(&mut record, "hosta", metric, &labels, 0.0, value);
        }
        let finding = one(&record, "device_queue");
        assert_eq!(finding.severity, Severity::Caution);
        has_metric(&finding, "datagram.sent_packets_per_second");
        none(&record, "generator_limited");
    }

    #[test]
    fn datagrams_that_its_own_device_dropped_are_not_lost_on_the_path() {
        let labels = [("device", "eth0"), ("kind", "tbf")];
        for (dropped, rule) in [(9e4, "device_queue"), (1e3, "path_loss")] {
            let lost = losing(1e5, &[("lost_on_path_packets", 1e5)]);
            let mut record = with_flow(&lost);
            for (metric, value) in [
                ("host.qdisc_backlog_bytes", 45_000.0),
                ("host.qdisc_drops", dropped),
            ] {
                add_series(&mut record, "hosta", metric, &labels, 0.0, value);
            }
            let found = findings(&record);
            let told: Vec<&str> = found.iter().map(|f| f.rule.as_str()).collect();
            assert!(told.contains(&rule), "{told:?}");
            assert_eq!(told.contains(&"path_loss"), rule == "path_loss", "{told:?}");
        }
    }

    fn limited_generator(record: &Record) {
        let finding = one(record, "generator_limited");
        assert_eq!(finding.says.key, "rule-generator-limited-short-says");
    }

    #[test]
    fn a_short_queue_drops_without_ever_standing() {
        let scene = queue("pfifo", 0.0, 0.0, 4_000.0);
        let finding = of_rule(&scene.record, "device_queue").remove(0);
        assert_eq!(finding.says.key, "rule-device-queue-short-says");
        let scene = queue("ingress", 0.0, 0.0, 4_000.0);
        let finding = of_rule(&scene.record, "device_queue").remove(0);
        assert_eq!(finding.says.key, "rule-device-queue-entrance-says");
    }

    #[test]
    fn a_queue_that_only_delays_bounds_nothing() {
        queue("netem", 40.0, 0.0, 0.0).without("device_queue");
        queue("fq_codel", 0.0, 0.0, 2.0).without("device_queue");
    }
}
