//! Made-up but plausible records with everything that a report must be able to show. They are the same
//! every time, so that golden files can be compared.

#![allow(dead_code)] // Each user needs a part of it.

use std::collections::BTreeMap;

use sokudo_model::{
    Check, Environment, Event, Evidence, Fact, Finding, FlowResult, HistogramInterval,
    HistogramSummary, HostEntry, Labels, Manifest, PhaseRecord, PhaseResult, Problem, Record,
    RunId, RunStatus, Series, SeriesKey, Severity, Summary, Text, Unit,
};
use sokudo_stats::Histogram;

const SECOND: i64 = 1_000_000_000;

/// A sentence that is the same in both languages.
pub fn sentence(words: &str) -> Text {
    Text::new("report-phase-plain").word("name", words)
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect()
}

/// Numbers between 0 and 1 that look random and are always the same.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

fn key(host: &str, source: &str, metric: &str, pairs: &[(&str, &str)]) -> SeriesKey {
    SeriesKey {
        host: host.into(),
        source: source.into(),
        metric: metric.into(),
        labels: labels(pairs),
    }
}

/// A record without anything in it but its hosts.
pub fn empty(workload: &str, hosts: &[&str]) -> Record {
    let entry = |(i, name): (usize, &&str)| HostEntry {
        name: name.to_string(),
        address: match i {
            0 => "in-process".into(),
            _ => format!("10.77.0.{}", i + 1),
        },
        os: "linux".into(),
        version: "0.1.0".into(),
        clock_offset_ns: 41_200 * i as i64 * if i % 2 == 0 { 1 } else { -1 },
        clock_error_ns: if i == 0 { 0 } else { 7_000 + 900 * i as u64 },
        machine: None,
    };
    Record::new(Manifest {
        version: "0.1.0".into(),
        started: "2026-11-20T13:57:28.250+09:00".into(),
        started_unix_ns: 1_795_150_648_250_000_000,
        command: vec!["sokudo".into(), workload.into()],
        plan_sha256: "9f0c5b1d".repeat(8),
        seed: 42,
        hosts: hosts.iter().enumerate().map(entry).collect(),
        status: RunStatus::Ok,
        ..Manifest::new(
            RunId(format!("2026-11-20T13-57-28-{workload}-7f3a")),
            workload,
        )
    })
}

/// Outcome of one flow: offered and lost.
#[derive(Clone, Copy)]
pub struct Outcome {
    pub sent_bits: f64,
    pub loss: f64,
    pub seconds: f64,
}

const SIZE_BYTES: f64 = 1468.0;

/// A flow's numbers; all losses in the receiver's socket but a few on the path.
pub fn flow(id: u32, from: &str, to: &str, outcome: Outcome) -> FlowResult {
    let per_second = outcome.sent_bits / 8.0 / SIZE_BYTES;
    let sent = (per_second * outcome.seconds).round();
    let missing = (sent * outcome.loss).round();
    let path = (missing * 0.02).floor();
    let delivered = per_second * (1.0 - outcome.loss);
    let metrics = [
        ("datagram.sent_packets", sent),
        ("datagram.received_packets", sent - missing),
        ("datagram.missing_packets", missing),
        ("datagram.loss_ratio", outcome.loss),
        ("datagram.lost_at_sender_packets", 0.0),
        ("datagram.lost_on_path_packets", path),
        ("datagram.lost_at_receiver_host_packets", 0.0),
        ("datagram.lost_at_receiver_socket_packets", missing - path),
        ("datagram.out_of_order_packets", 0.0),
        ("datagram.duplicate_packets", 0.0),
        ("datagram.sent_packets_per_second", per_second),
        ("datagram.sent_bytes_per_second", outcome.sent_bits / 8.0),
        ("datagram.delivered_packets_per_second", delivered),
        (
            "datagram.delivered_bytes_per_second",
            delivered * SIZE_BYTES,
        ),
        ("datagram.jitter_seconds", 0.8e-6 + 0.1e-6 * f64::from(id)),
        ("datagram.sender_cpu_ratio", 0.41 + 0.02 * f64::from(id)),
        ("datagram.receiver_cpu_ratio", 0.97 - 0.03 * f64::from(id)),
        ("datagram.sender_cpu_seconds_per_packet", 0.14e-6),
        ("datagram.receiver_cpu_seconds_per_packet", 0.15e-6),
        ("datagram.receive_buffer_asked_bytes", 2_097_152.0),
        ("datagram.receive_buffer_granted_bytes", 425_984.0),
        ("datagram.send_buffer_asked_bytes", 2_097_152.0),
        ("datagram.send_buffer_granted_bytes", 2_097_152.0),
    ];
    let rtt = HistogramSummary {
        n: 1000 + u64::from(id),
        min: 11.2e-6,
        mean: 48.9e-6,
        p50: 38.4e-6,
        p90: 81.0e-6,
        p99: 240e-6,
        p999: 1.9e-3,
        max: 12.4e-3,
    };
    FlowResult {
        id,
        from: from.into(),
        to: to.into(),
        labels: labels(&[("mode", "gso+gro")]),
        metrics: metrics.iter().map(|(k, v)| (k.to_string(), *v)).collect(),
        histograms: [("datagram.ack_rtt_seconds".to_string(), rtt)].into(),
        complete: true,
    }
}

/// A phase whose totals are the sums of its flows.
pub fn phase(
    name: &str,
    span: (i64, i64),
    pairs: &[(&str, &str)],
    flows: Vec<FlowResult>,
) -> PhaseRecord {
    const SUMS: &[&str] = &[
        "datagram.sent_packets",
        "datagram.received_packets",
        "datagram.missing_packets",
        "datagram.out_of_order_packets",
        "datagram.duplicate_packets",
        "datagram.lost_at_sender_packets",
        "datagram.lost_on_path_packets",
        "datagram.lost_at_receiver_host_packets",
        "datagram.lost_at_receiver_socket_packets",
        "datagram.sent_bytes_per_second",
        "datagram.sent_packets_per_second",
        "datagram.delivered_packets_per_second",
        "datagram.delivered_bytes_per_second",
    ];
    let mut summary = Summary::new();
    for name in SUMS {
        let values: Vec<f64> = flows
            .iter()
            .filter_map(|f| f.metrics.get(*name).copied())
            .collect();
        if !values.is_empty() {
            summary.insert(name.to_string(), values.iter().sum());
        }
    }
    if let (Some(missing), Some(sent)) = (
        summary.get("datagram.missing_packets").copied(),
        summary.get("datagram.sent_packets").copied(),
    ) {
        summary.insert("datagram.loss_ratio".into(), missing / sent);
    }
    if let Some(first) = flows
        .first()
        .and_then(|f| f.metrics.get("datagram.jitter_seconds"))
    {
        summary.insert("datagram.jitter_seconds".into(), *first);
    }
    let result = PhaseResult {
        summary,
        histograms: flows
            .first()
            .map(|f| f.histograms.clone())
            .unwrap_or_default(),
        flows,
    };
    PhaseRecord {
        labels: labels(pairs),
        ..PhaseRecord::plain(name, "datagram", (span.0, span.1), result)
    }
}

/// Every directed pair of hosts.
pub fn pairs<'a>(hosts: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    hosts
        .iter()
        .flat_map(|a| hosts.iter().filter(move |b| *b != a).map(move |b| (*a, *b)))
        .collect()
}

/// Emits what the workload and the monitors of one phase would emit, four samples a second.
pub fn fill(record: &mut Record, phase: &PhaseRecord, noise: &mut Noise) {
    let step = SECOND / 4;
    let mut series: BTreeMap<SeriesKey, Vec<(i64, f64)>> = BTreeMap::new();
    let mut t = phase.t0_ns + step;
    while t <= phase.t1_ns {
        for flow in &phase.result.flows {
            let Some(bytes) = flow.metrics.get("datagram.sent_bytes_per_second") else {
                continue;
            };
            let id = flow.id.to_string();
            let sent = bytes * 8.0 * (0.97 + 0.06 * noise.next());
            let loss = flow.metrics["datagram.loss_ratio"] * 2.0 * noise.next();
            let delivered = sent * (1.0 - loss.min(1.0));
            for (host, metric, value) in [
                (&flow.from, "datagram.sent_bits_per_second", sent),
                (&flow.to, "datagram.delivered_bits_per_second", delivered),
                (&flow.to, "datagram.loss_ratio", loss.min(1.0)),
            ] {
                let pairs = [("flow", id.as_str()), ("phase", phase.name.as_str())];
                series
                    .entry(key(host, "datagram", metric, &pairs))
                    .or_default()
                    .push((t, value));
            }
        }
        t += step;
    }
    for (key, points) in series {
        match record.series.iter_mut().find(|s| s.key == key) {
            Some(own) => own.points.extend(points),
            None => record.series.push(Series { key, points }),
        }
    }
    round_trips(record, phase, noise);
}

fn round_trips(record: &mut Record, phase: &PhaseRecord, noise: &mut Noise) {
    let mut t = phase.t0_ns;
    while t + SECOND / 2 <= phase.t1_ns {
        for flow in phase.result.flows.iter().take(4) {
            if !flow.metrics.contains_key("datagram.loss_ratio") {
                continue;
            }
            let mut histogram = Histogram::new();
            for _ in 0..60 {
                let tail = if noise.next() > 0.97 { 40.0 } else { 1.0 };
                histogram.record((25_000.0 + 60_000.0 * noise.next() * noise.next() * tail) as u64);
            }
            record.histograms.push(HistogramInterval {
                key: key(
                    &flow.from,
                    "datagram",
                    "datagram.ack_rtt_seconds",
                    &[("flow", &flow.id.to_string()), ("phase", &phase.name)],
                ),
                t0_ns: t,
                t1_ns: t + SECOND / 2,
                hdr_v2: histogram.to_v2(),
            });
        }
        t += SECOND / 2;
    }
}

/// Adds the series of one host's monitors from the run's start to `end`, with a pause in the middle.
pub fn monitors(record: &mut Record, host: &str, cores: u32, end: i64, noise: &mut Noise) {
    let step = SECOND / 4;
    let names: Vec<String> = std::iter::once("all".into())
        .chain((0..cores).map(|c| c.to_string()))
        .collect();
    let mut add =
        |source: &str, metric: &str, pairs: &[(&str, &str)], f: &mut dyn FnMut(f64, f64) -> f64| {
            let mut points = Vec::new();
            let mut t = step;
            while t <= end {
                let share = t as f64 / end as f64;
                // The host did not answer for a while: a gap, never a line.
                if !(0.46..0.5).contains(&share) {
                    points.push((t, f(share, noise.next())));
                }
                t += step;
            }
            record.series.push(Series {
                key: key(host, source, metric, pairs),
                points,
            });
        };
    for core in &names {
        let busy = if core == "1" { 0.9 } else { 0.35 };
        let states = [
            ("user", 0.25),
            ("system", 0.5),
            ("softirq", 0.2),
            ("steal", 0.05),
        ];
        for (state, part) in states {
            add(
                "host",
                "host.cpu_ratio",
                &[("core", core), ("state", state)],
                &mut |_, n| busy * part * (0.7 + 0.6 * n),
            );
        }
        add(
            "host",
            "host.cpu_ratio",
            &[("core", core), ("state", "idle")],
            &mut |_, n| 1.0 - busy * (0.7 + 0.4 * n).min(1.1),
        );
    }
    for (thread, level) in [("send-0", 0.41), ("receive-0", 0.95), ("control", 0.02)] {
        add(
            "self",
            "self.cpu_ratio",
            &[("thread", thread)],
            &mut |_, n| level * (0.9 + 0.1 * n),
        );
        add(
            "self",
            "self.wait_ratio",
            &[("thread", thread)],
            &mut |_, n| 0.04 * n * level,
        );
    }
    let mut dropped = 0.0;
    add(
        "host",
        "host.udp_receive_buffer_errors",
        &[],
        &mut |share, n| {
            if (0.55..0.8).contains(&share) {
                dropped += 9000.0 * n;
            }
            dropped
        },
    );
    add(
        "host",
        "host.softnet_drops",
        &[("core", "0")],
        &mut |_, _| 0.0,
    );
    add(
        "host",
        "host.nic_receive_bytes_per_second",
        &[("device", "eth0")],
        &mut |_, n| 1.1e9 * (0.8 + 0.2 * n),
    );
    add(
        "host",
        "host.nic_send_bytes_per_second",
        &[("device", "eth0")],
        &mut |_, n| 0.9e9 * (0.8 + 0.2 * n),
    );
    add(
        "host",
        "host.pressure_ratio",
        &[("resource", "cpu"), ("kind", "some")],
        &mut |_, n| 0.2 * n * n,
    );
    add(
        "host",
        "host.context_switches_per_second",
        &[],
        &mut |_, n| 40_000.0 * (0.8 + 0.4 * n),
    );
    add(
        "host",
        "host.memory_available_bytes",
        &[],
        &mut |share, _| 22e9 - 1e9 * share,
    );
}

fn environment(host: &str) -> Environment {
    let fact = |section: &str, name: &str, value: Option<&str>, unit, source: &str| Fact {
        section: section.into(),
        name: name.into(),
        value: value.map(String::from),
        unit,
        source: source.into(),
    };
    Environment {
        host: host.into(),
        facts: vec![
            fact(
                "hardware",
                "cpu model",
                Some("EPYC 9R14"),
                None,
                "/proc/cpuinfo",
            ),
            fact(
                "hardware",
                "memory",
                Some("25769803776"),
                Some(Unit::Bytes),
                "/proc/meminfo",
            ),
            fact(
                "kernel",
                "release",
                Some("6.12.48"),
                None,
                "/proc/sys/kernel/osrelease",
            ),
            fact(
                "sysctl",
                "net.core.rmem_max",
                Some("425984"),
                Some(Unit::Bytes),
                "/proc/sys",
            ),
            fact(
                "sysctl",
                "net.core.busy_poll",
                None,
                None,
                "not available: no such file",
            ),
        ],
    }
}

fn receiver_limited(phase: &str, host: &str, dropped: f64) -> Finding {
    Finding {
        rule: "receiver_buffer_overflow".into(),
        severity: Severity::Caution,
        phase: phase.into(),
        weight: 0.9,
        says: sentence(&format!(
            "The receiving socket on {host} overflowed: 98 % of the lost datagrams were dropped there."
        )),
        evidence: vec![
            Evidence {
                says: sentence(&format!(
                    "{host} dropped datagrams because the socket was full."
                )),
                source: "SO_MEMINFO".into(),
                host: Some(host.into()),
                metric: Some("host.udp_receive_buffer_errors".into()),
                labels: Labels::new(),
                value: Some(dropped),
                unit: Some(Unit::Packets),
            },
            Evidence {
                says: sentence("The receiving thread used 97 % of a core."),
                source: "schedstat".into(),
                host: Some(host.into()),
                metric: Some("self.cpu_ratio".into()),
                labels: labels(&[("thread", "receive-0")]),
                value: Some(0.97),
                unit: Some(Unit::Ratio),
            },
            Evidence {
                says: sentence("416 KiB of receive buffer were granted, 2 MiB asked for."),
                source: "getsockopt SO_RCVBUF".into(),
                host: Some(host.into()),
                metric: None,
                labels: Labels::new(),
                value: None,
                unit: None,
            },
        ],
        against: Vec::new(),
        next: Some(sentence(
            "Raise net.core.rmem_max to 2 MiB or more, or search the rate that holds with --find.",
        )),
    }
}

/// One flow between two hosts, ten seconds, losing at the receiver.
pub fn datagram() -> Record {
    let mut record = empty("datagram", &["hosta", "hostb"]);
    let end = 10 * SECOND;
    let outcome = Outcome {
        sent_bits: 76.1e9,
        loss: 0.011,
        seconds: 10.0,
    };
    let only = phase(
        "datagram",
        (SECOND / 4, end),
        &[],
        vec![flow(0, "hosta", "hostb", outcome)],
    );
    let mut noise = Noise::new(7);
    fill(&mut record, &only, &mut noise);
    monitors(&mut record, "hosta", 2, end, &mut noise);
    monitors(&mut record, "hostb", 2, end, &mut noise);
    record.manifest.summary = only.result.summary.clone();
    record.manifest.command = ["sokudo", "datagram", "hostb", "--duration", "10s"]
        .map(String::from)
        .into();
    record.findings = vec![receiver_limited("datagram", "hostb", 712_000.0)];
    record.checks = vec![Check {
        name: "accounting".into(),
        passed: true,
        says: sentence("received + missing = sent"),
        demand: None,
    }];
    record.manifest.phases = vec![only];
    for host in ["hosta", "hostb"] {
        record.environments.insert(host.into(), environment(host));
    }
    record
}

/// Runs of one measurement, with these rates in bits per second.
pub fn repeated(rates: &[f64]) -> Record {
    let mut record = datagram();
    let first = record.manifest.phases.remove(0);
    for (rate, number) in rates.iter().zip(1..) {
        let mut run = first.clone();
        run.name = format!("measure-{number}");
        let labels = [
            ("role", "repeat".to_owned()),
            ("repeat", number.to_string()),
        ];
        run.labels = labels.map(|(name, value)| (name.to_owned(), value)).into();
        let summary = &mut run.result.summary;
        summary.insert("datagram.delivered_bits_per_second".into(), *rate);
        record.manifest.phases.push(run);
    }
    record
}

/// The front door: four hosts, self-test, pair, both ways, mesh, a search and its confirmation.
/// `stretch` lengthens every phase.
pub fn check(stretch: i64, cores: u32) -> Record {
    let hosts = ["hosta", "hostb", "hostc", "hostd"];
    let mut record = empty("check", &hosts);
    let mut noise = Noise::new(11);
    let mut at = SECOND;
    let mut span = |seconds: i64| {
        let t0 = at;
        at += seconds * stretch * SECOND;
        let out = (t0, at);
        at += SECOND / 2;
        out
    };
    let mut phases = Vec::new();
    let mut selftest = Vec::new();
    for (i, (mode, rate)) in [
        ("plain", 0.9e6),
        ("mmsg", 1.4e6),
        ("gso", 4.1e6),
        ("gso+gro", 6.4e6),
    ]
    .iter()
    .enumerate()
    {
        selftest.push(FlowResult {
            id: i as u32,
            from: "hosta".into(),
            to: "hosta".into(),
            labels: labels(&[("mode", mode)]),
            metrics: [
                ("selftest.sent_packets_per_second".to_string(), *rate),
                (
                    "selftest.delivered_packets_per_second".to_string(),
                    rate * 0.98,
                ),
            ]
            .into(),
            histograms: BTreeMap::new(),
            complete: true,
        });
    }
    phases.push(phase("selftest", span(2), &[], selftest));
    let outcome = |sent_bits: f64, loss: f64| Outcome {
        sent_bits,
        loss,
        seconds: 3.0,
    };
    phases.push(phase(
        "p2p",
        span(3),
        &[],
        vec![flow(0, "hosta", "hostb", outcome(21e9, 0.02))],
    ));
    let both = vec![
        flow(0, "hosta", "hostb", outcome(12e9, 0.04)),
        flow(1, "hostb", "hosta", outcome(11.5e9, 0.05)),
    ];
    phases.push(phase("both-ways", span(3), &[], both));
    let mesh = pairs(&hosts)
        .into_iter()
        .enumerate()
        .map(|(i, (a, b))| {
            flow(
                i as u32,
                a,
                b,
                outcome(1.9e9 - 4e7 * i as f64, 0.004 * i as f64),
            )
        })
        .collect();
    phases.push(phase("mesh", span(4), &[], mesh));
    let trials = [
        (21.0, 0.03),
        (9.0, 0.0),
        (14.0, 0.0),
        (17.5, 0.008),
        (15.6, 0.0),
        (16.5, 0.0011),
    ];
    for (i, (gigabits, loss)) in trials.iter().enumerate() {
        let name = format!("search-{}", i + 1);
        let rate = if i == 0 {
            "unlimited".into()
        } else {
            format!("{gigabits}Gb/s")
        };
        let mut trial = phase(
            &name,
            span(2),
            &[("role", "probe"), ("rate", &rate)],
            vec![flow(0, "hosta", "hostb", outcome(gigabits * 1e9, *loss))],
        );
        if i > 0 {
            trial.result.summary.insert(
                "datagram.asked_packets_per_second".into(),
                gigabits * 1e9 / 8.0 / SIZE_BYTES,
            );
        }
        phases.push(trial);
    }
    let best = phase(
        "best",
        span(4),
        &[
            ("role", "confirm"),
            ("rate", "15.6Gb/s"),
            ("bounds", "loss<0.1%"),
        ],
        vec![flow(0, "hosta", "hostb", outcome(15.6e9, 0.0))],
    );
    let summary = &mut record.manifest.summary;
    *summary = best.result.summary.clone();
    summary.insert("datagram.best_rate_bytes_per_second".into(), 15.6e9 / 8.0);
    summary.insert(
        "datagram.best_rate_packets_per_second".into(),
        15.6e9 / 8.0 / SIZE_BYTES,
    );
    summary.insert("datagram.best_rate_loss_ratio".into(), 0.0);
    phases.push(best);
    for phase in &phases {
        fill(&mut record, phase, &mut noise);
    }
    monitors(&mut record, "hosta", cores, at, &mut noise);
    record.events.push(Event {
        t_ns: at / 2,
        host: "hosta".into(),
        source: "engine".into(),
        kind: "clock-jump".into(),
        says: sentence("The clock was measured again."),
    });
    record.manifest.notes = vec![sentence(
        "The four hosts are network namespaces on one machine: they share its CPUs.",
    )];
    record.manifest.command = ["sokudo", "check", "datagram", "--find", "loss<0.1%"]
        .map(String::from)
        .into();
    record.manifest.phases = phases;
    record.findings = vec![
        receiver_limited("p2p", "hosta", 71_000.0),
        Finding {
            rule: "buffer_below_asked".into(),
            severity: Severity::Info,
            phase: String::new(),
            weight: 0.3,
            says: sentence(
                "The kernel granted 416 KiB of receive buffer where 2 MiB were asked for.",
            ),
            evidence: Vec::new(),
            against: Vec::new(),
            next: Some(sentence("sysctl -w net.core.rmem_max=2097152")),
        },
    ];
    record
        .environments
        .insert("hosta".into(), environment("hosta"));
    record
}

/// The front door over ten minutes with monitors on four hosts.
pub fn large() -> Record {
    let mut record = check(22, 16);
    let end = record.manifest.phases.last().map_or(0, |p| p.t1_ns);
    let mut noise = Noise::new(5);
    for host in ["hostb", "hostc", "hostd"] {
        monitors(&mut record, host, 16, end, &mut noise);
        record.environments.insert(host.into(), environment(host));
    }
    record
}

/// Names and messages that try to be more than text.
pub const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror='alert(\"2\")'>|`*\u{1b}[31m\u{202e}&amp;";

/// A record whose every foreign text is [`HOSTILE`].
pub fn hostile() -> Record {
    let mut record = datagram();
    let text = serde_json::to_string(HOSTILE).unwrap();
    let text = &text[1..text.len() - 1];
    let swap = |json: String| {
        json.replace("hostb", text)
            .replace("receive-0", text)
            .replace("eth0", text)
    };
    record.manifest =
        serde_json::from_str(&swap(serde_json::to_string(&record.manifest).unwrap())).unwrap();
    record.series =
        serde_json::from_str(&swap(serde_json::to_string(&record.series).unwrap())).unwrap();
    record.findings =
        serde_json::from_str(&swap(serde_json::to_string(&record.findings).unwrap())).unwrap();
    let environment = serde_json::to_string(&environment(HOSTILE)).unwrap();
    let environment = environment.replace("EPYC 9R14", text);
    record.environments = [(
        HOSTILE.to_string(),
        serde_json::from_str(&environment).unwrap(),
    )]
    .into();
    record.manifest.id = RunId(HOSTILE.into());
    record.manifest.workload = HOSTILE.into();
    record.manifest.started = HOSTILE.into();
    record.manifest.command = vec![HOSTILE.into()];
    record.manifest.phases[0].name = HOSTILE.into();
    record.manifest.notes = vec![sentence(HOSTILE)];
    record.manifest.problems = vec![Problem {
        t_ns: 5,
        host: HOSTILE.into(),
        phase: HOSTILE.into(),
        says: sentence(HOSTILE),
        missing: Some(sentence(HOSTILE)),
    }];
    record.events = vec![Event {
        t_ns: 5,
        host: HOSTILE.into(),
        source: HOSTILE.into(),
        kind: HOSTILE.into(),
        says: sentence(HOSTILE),
    }];
    record.checks = vec![Check {
        name: HOSTILE.into(),
        passed: false,
        says: sentence(HOSTILE),
        demand: None,
    }];
    record
}
