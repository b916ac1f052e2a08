//! A host was short of CPU.
//!
//! Independent signs: threads of the test were ready to run and had no CPU (schedstat), the
//! hypervisor gave the host's time to others (steal), tasks stalled for CPU (pressure; it counts only where
//! nothing is known about the threads of the test). When the
//! test alone has more threads than the machine has cores, it is its own neighbour: network
//! namespaces and loopback addresses share the cores of one machine.

use sokudo_model::metrics::{host, own};
use std::collections::BTreeMap;

use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use crate::quantities::ends::End;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::machine;
use crate::view::{KEPT_WAITING, PhaseView, name_what_lacks};

/// Shares of the time from which each sign counts.
const STOLEN: f64 = 0.02;
const PRESSED: f64 = 0.25;
/// Share of time from which the sign weighs in full.
const HEAVY: f64 = 0.5;

/// A sign of a busy host.
struct Sign {
    evidence: Evidence,
    /// Share of the time.
    share: f64,
    host: String,
    /// Message about the host when this is the strongest sign.
    says: &'static str,
    counts: bool,
    /// Signs of a higher rank come first, whatever their share.
    rank: u8,
}

/// The finding `host_busy`.
pub const RULE: Rule = Rule {
    name: "host_busy",
    purpose: Purpose::Limit(Standing::Residual),
    suspects: &[],
    bounds: &[
        ("waiting", KEPT_WAITING, Unit::Ratio),
        ("stolen", STOLEN, Unit::Ratio),
        ("pressed", PRESSED, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let mut signs = signs(view);
    let strongest = signs
        .iter()
        .enumerate()
        .filter(|(_, sign)| sign.counts)
        .max_by(|(_, a), (_, b)| a.rank.cmp(&b.rank).then(a.share.total_cmp(&b.share)));
    let (at, _) = strongest?;
    let strongest = signs.remove(at);
    let crowd = Crowd::of(view, &strongest.host);
    let weight = 0.7 * (strongest.share / HEAVY).min(1.0);
    let says = strongest.says(&crowd);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    finding.next = Some(strongest.next(&crowd));
    let evidence = &mut finding.evidence;
    let host = strongest.host;
    evidence.push(strongest.evidence);
    evidence.extend(crowd.evidence(&host));
    let others = signs.into_iter().filter(|s| s.host == host || s.counts);
    evidence.extend(others.map(|sign| sign.evidence));
    name_what_lacks(evidence, &[host::CPU_RATIO, host::PRESSURE_RATIO]);
    Some(finding)
}

impl Sign {
    fn new(evidence: Evidence, says: &'static str, bound: f64, rank: u8) -> Self {
        let share = evidence.value.unwrap_or(0.0);
        Self {
            share,
            host: evidence.host.clone().unwrap_or_default(),
            says,
            counts: share >= bound,
            rank,
            evidence,
        }
    }

    fn says(&self, crowd: &Crowd) -> Text {
        let waits = self.says.ends_with("er-says");
        let text = match crowd.cores {
            Some(cores) if waits && crowd.is_crowded() => Text::new("rule-host-busy-shared-says")
                .number("cores", cores, Unit::One)
                .number("threads", crowd.threads, Unit::One),
            _ if waits && crowd.hosts > 1.0 => Text::new("rule-host-busy-machine-says"),
            _ => Text::new(self.says),
        };
        text.word("host", &self.host)
            .number("hosts", crowd.hosts, Unit::One)
            .text("thread", Text::new(self.thread()).word("host", &self.host))
            .number("share", self.share, Unit::Ratio)
            .number("seconds", self.share, Unit::Seconds)
    }

    fn thread(&self) -> &'static str {
        match self.says {
            "rule-host-busy-sender-says" => "thread-sending",
            _ => "thread-receiving",
        }
    }

    fn next(&self, crowd: &Crowd) -> Text {
        let key = match self.says {
            "rule-host-busy-steal-says" => "rule-host-busy-steal-next",
            _ if crowd.is_crowded() => "rule-host-busy-shared-next",
            _ => "rule-host-busy-next",
        };
        Text::new(key).word("host", &self.host)
    }
}

/// Every sign that the record holds.
fn signs(view: &PhaseView<'_>) -> Vec<Sign> {
    let ends = [
        (End::Sender, "rule-host-busy-sender-says"),
        (End::Receiver, "rule-host-busy-receiver-says"),
    ];
    let threads = ends.into_iter().filter_map(|(end, says)| {
        let kind = view.kind()?;
        let metric = end.wait(kind)?;
        let (flow, share) = view.highest(metric)?;
        // A thread that outlived the measured time by a little may have waited longer than that.
        let share = share.min(1.0);
        let key = end.wait_key(kind);
        let evidence = view.evidence(key, metric, end.host(flow), share);
        Some(Sign::new(evidence, says, KEPT_WAITING, 2))
    });
    let mut signs: Vec<Sign> = threads.collect();
    if signs.is_empty() {
        signs.extend(own_threads(view));
    }
    // Pressure is about all programs. Where the test's own threads are known to have had their CPU,
    // it belongs to other programs.
    let pressed = match signs.is_empty() {
        true => PRESSED,
        false => f64::INFINITY,
    };
    let steal = [("core", "all"), ("state", "steal")];
    let pressure = [("resource", "cpu"), ("kind", "some")];
    let gauges = [
        (
            ("evidence-steal", host::CPU_RATIO, &steal),
            ("rule-host-busy-steal-says", STOLEN, 2),
        ),
        (
            ("evidence-pressure", host::PRESSURE_RATIO, &pressure),
            ("rule-host-busy-pressure-says", pressed, 0),
        ),
    ];
    for ((key, metric, labels), (says, bound, rank)) in gauges {
        if let Some((series, share)) = view.highest_mean(None, metric, labels) {
            let mut evidence = view.evidence(key, metric, &series.key.host, share);
            evidence.labels = series.key.labels.clone();
            signs.push(Sign::new(evidence, says, bound, rank));
        }
    }
    signs
}

/// The threads of the measuring process, where the workload says nothing of its own.
///
/// Threads of one name are one series, added up: the figure is seconds per second, no share.
fn own_threads(view: &PhaseView<'_>) -> Option<Sign> {
    let metric = own::WAIT_RATIO;
    let (series, waited) = view.highest_mean(None, metric, &[])?;
    let thread = series.key.labels.get("thread");
    let mut evidence = view.evidence("evidence-self-wait", metric, &series.key.host, waited);
    evidence.labels = series.key.labels.clone();
    evidence.says = Text::new("evidence-self-wait")
        .word("thread", thread.map_or("sokudo", String::as_str))
        .word("host", &series.key.host)
        .number("value", waited, Unit::Seconds);
    evidence.unit = Some(Unit::Seconds);
    Some(Sign::new(
        evidence,
        "rule-host-busy-self-says",
        KEPT_WAITING,
        1,
    ))
}

/// The threads of the test on one machine, and its cores.
struct Crowd {
    hosts: f64,
    /// `None` when they were not counted.
    cores: Option<f64>,
    threads: f64,
    /// Seconds per second that the threads were ready to run, all together.
    wanted: f64,
    /// Seconds per second that they ran.
    got: f64,
}

impl Crowd {
    fn of(view: &PhaseView<'_>, host: &str) -> Self {
        let hosts = machine::with(view.record, host);
        let threads = threads(view);
        let there = || threads.iter().filter(|((h, _, _), _)| hosts.contains(h));
        let got: f64 = there().map(|(_, (cpu, _))| cpu).sum();
        let waited: f64 = there().map(|(_, (_, wait))| wait).sum();
        Self {
            hosts: hosts.len() as f64,
            cores: machine::cores(view.record, host),
            threads: there().count() as f64,
            wanted: got + waited,
            got,
        }
    }

    /// True when several hosts stand on one machine that has too few cores for them.
    fn is_crowded(&self) -> bool {
        self.hosts > 1.0 && self.cores.is_some_and(|cores| self.threads > cores)
    }

    fn evidence(&self, host: &str) -> Option<Evidence> {
        let cores = self.cores.filter(|cores| self.threads > *cores)?;
        Some(Evidence {
            says: Text::new("evidence-threads-and-cores")
                .number("threads", self.threads, Unit::One)
                .number("cores", cores, Unit::One)
                .number("wanted", self.wanted, Unit::Seconds)
                .number("got", self.got, Unit::Seconds),
            source: "schedstat".into(),
            host: Some(host.into()),
            metric: None,
            labels: BTreeMap::new(),
            value: Some(self.wanted),
            unit: Some(Unit::Seconds),
        })
    }
}

/// Each thread of the test, by host, end and stream: its time on a CPU and its wait for one, as
/// shares of the time. The flows of one thread tell the same about it.
fn threads<'a>(view: &PhaseView<'a>) -> BTreeMap<(&'a str, &'static str, &'a str), (f64, f64)> {
    let mut threads = BTreeMap::new();
    for flow in view.flows() {
        let stream = flow.labels.get("stream").map_or("", String::as_str);
        for end in [End::Sender, End::Receiver] {
            let counted = view.kind().and_then(|kind| end.threads(kind));
            let used = counted.and_then(|counted| {
                let wait = counted.wait?.of(&flow.metrics)?;
                Some((counted.cpu.of(&flow.metrics)?, wait))
            });
            if let Some((cpu, wait)) = used {
                threads.insert((end.host(flow), end.label(), stream), (cpu, wait));
            }
        }
    }
    threads
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn stolen_time_is_seen_inside_the_phase_only() {
        let steal = [("core", "all"), ("state", "steal")];
        let mut record = with_flow(&[]);
        add_series(&mut record, "hostb", "host.cpu_ratio", &steal, 0.0, 0.2);
        let finding = one(&record, "host_busy");
        assert_eq!(finding.says.key, "rule-host-busy-steal-says");
        assert_eq!(finding.says.args["host"], Arg::Word("hostb".into()));
        assert_eq!(finding.evidence[0].labels["state"], "steal");
        let mut before = with_flow(&[]);
        add_series(&mut before, "hostb", "host.cpu_ratio", &steal, 0.9, 0.0);
        none(&before, "host_busy");
    }

    #[test]
    fn a_waiting_thread_makes_a_busy_host() {
        let mut record = with_flow(&[("sender_wait_ratio", 0.25)]);
        let pressure = [("resource", "cpu"), ("kind", "some")];
        add_series(
            &mut record,
            "hosta",
            "host.pressure_ratio",
            &pressure,
            0.0,
            0.4,
        );
        let finding = one(&record, "host_busy");
        has_metric(&finding, "datagram.sender_wait_ratio");
        has_metric(&finding, "host.pressure_ratio");
    }

    #[test]
    fn pressure_that_the_tests_own_threads_do_not_feel_limits_nothing() {
        let tcp = Tcp {
            receive_window: 0.3,
            ..SENDING
        };
        let mut scene = between().tcp(tcp);
        let pressure = [("resource", "cpu"), ("kind", "some")];
        let record = &mut scene.record;
        add_series(record, "hosta", "host.pressure_ratio", &pressure, 0.0, 0.99);
        scene.limited_by("receive_window_limited");
        scene.without("host_busy");
    }
}
