//! Records of a connection with a known limit.

use sokudo_model::HistogramInterval;
use sokudo_stats::Histogram;

use super::*;

/// A record of one flow from hosta to hostb over one connection.
pub(crate) struct Scene {
    pub(crate) record: Record,
    source: &'static str,
}

/// The kernel's state of a connection: shares of the time, round trips in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Tcp {
    pub(crate) busy: f64,
    pub(crate) receive_window: f64,
    pub(crate) send_buffer: f64,
    pub(crate) round_trip: f64,
    pub(crate) lowest: f64,
    /// Share of retransmitted segments.
    pub(crate) lost: f64,
    pub(crate) under_way: f64,
}

/// A connection on an idle way of 20 ms that always has something to send.
pub(crate) const SENDING: Tcp = Tcp {
    busy: 1.0,
    receive_window: 0.0,
    send_buffer: 0.0,
    round_trip: 0.021,
    lowest: 0.020,
    lost: 0.0,
    under_way: 40.0,
};

impl Scene {
    pub(crate) fn of(source: &'static str) -> Self {
        let mut record = empty();
        let one = FlowResult {
            from: "hosta".into(),
            to: "hostb".into(),
            complete: true,
            ..FlowResult::default()
        };
        let mut phase = phase("p2p", vec![one]);
        phase.workload = source.into();
        record.manifest.workload = source.into();
        record.manifest.phases.push(phase);
        Self { record, source }
    }

    /// The workload, where its numbers have the name of another source.
    pub(crate) fn workload(mut self, name: &str) -> Self {
        self.record.manifest.phases[0].workload = name.into();
        self.record.manifest.workload = name.into();
        self
    }

    pub(crate) fn flow(&mut self) -> &mut FlowResult {
        &mut self.record.manifest.phases[0].result.flows[0]
    }

    pub(crate) fn metric(mut self, what: &str, value: f64) -> Self {
        let name = format!("{}.{what}", self.source);
        self.flow().metrics.insert(name, value);
        self
    }

    /// A number of the whole phase.
    pub(crate) fn total(mut self, what: &str, value: f64) -> Self {
        let name = format!("{}.{what}", self.source);
        let summary = &mut self.record.manifest.phases[0].result.summary;
        summary.insert(name, value);
        self
    }

    /// On a CPU, ready without one, waiting for room.
    pub(crate) fn sender(self, [cpu, wait, blocked]: [f64; 3]) -> Self {
        let own = self.source;
        let end = if own == "rr" { "client" } else { "sender" };
        self.metric(&format!("{end}_cpu_ratio"), cpu)
            .metric(&format!("{end}_wait_ratio"), wait)
            .metric("write_blocked_ratio", blocked)
    }

    /// On a CPU, ready without one, waiting for data.
    pub(crate) fn receiver(self, [cpu, wait, idle]: [f64; 3]) -> Self {
        let own = self.source;
        let end = if own == "rr" { "server" } else { "receiver" };
        self.metric(&format!("{end}_cpu_ratio"), cpu)
            .metric(&format!("{end}_wait_ratio"), wait)
            .metric("read_idle_ratio", idle)
    }

    pub(crate) fn option(mut self, text: &str) -> Self {
        self.record.manifest.phases[0].options = text.into();
        self
    }

    pub(crate) fn series(&mut self, host: &str, metric: &str, value: impl Fn(f64) -> f64) {
        let end = if host == "hosta" {
            "sender"
        } else {
            "receiver"
        };
        let labels = [("flow", "hosta→hostb"), ("end", end)];
        let labels = labels.map(|(n, v)| (n.to_string(), v.to_string()));
        let key = SeriesKey {
            host: host.into(),
            source: self.source.into(),
            metric: metric.into(),
            labels: labels.into(),
        };
        // Every 50 ms from a second before the phase to a second after it.
        let points = (180..=420).map(|n| {
            let seconds = f64::from(n) * 0.05;
            ((seconds * 1e9) as i64, value(seconds))
        });
        let points = points.collect();
        self.record.series.push(Series { key, points });
    }

    /// No series of a host has a sample between these moments, seconds.
    pub(crate) fn silent(mut self, host: &str, from: f64, to: f64) -> Self {
        let silent = (from * 1e9) as i64..(to * 1e9) as i64;
        let series = self.record.series.iter_mut();
        for series in series.filter(|series| series.key.host == host) {
            series.points.retain(|(t_ns, _)| !silent.contains(t_ns));
        }
        self
    }

    pub(crate) fn tcp(mut self, tcp: Tcp) -> Self {
        let counters = [
            ("tcp.busy_seconds", tcp.busy),
            ("tcp.receive_window_limited_seconds", tcp.receive_window),
            ("tcp.send_buffer_limited_seconds", tcp.send_buffer),
            ("tcp.sent_segments", 10_000.0),
            ("tcp.retransmitted_segments", 10_000.0 * tcp.lost),
        ];
        for (metric, per_s) in counters {
            self.series("hosta", metric, |s| s * per_s);
        }
        let gauges = [
            ("tcp.smoothed_rtt_seconds", tcp.round_trip),
            ("tcp.min_rtt_seconds", tcp.lowest),
            ("tcp.delivery_rate_bytes_per_second", 1.25e7),
            ("tcp.unacknowledged_segments", tcp.under_way),
            ("tcp.congestion_window_segments", 40.0),
            ("tcp.peer_window_bytes", 65_536.0),
        ];
        for (metric, value) in gauges {
            self.series("hosta", metric, |_| value);
        }
        self
    }

    /// Answers: how many took how long, seconds.
    pub(crate) fn answers(mut self, metric: &str, of: &[(u64, f64)]) -> Self {
        let mut histogram = Histogram::new();
        for (n, seconds) in of {
            histogram.record_n((seconds * 1e9) as u64, *n);
        }
        let summary = histogram.summary(1e-9);
        self.flow().histograms.insert(metric.into(), summary);
        self.record.histograms.push(HistogramInterval {
            key: SeriesKey {
                host: "hosta".into(),
                source: self.source.into(),
                metric: metric.into(),
                labels: Labels::new(),
            },
            t0_ns: 10 * SECOND,
            t1_ns: 20 * SECOND,
            hdr_v2: histogram.to_v2(),
        });
        self
    }

    /// A machine of two cores on which all programs and sokudo's own threads use so many cores.
    pub(crate) fn machine(mut self, host: &str, all: f64, own: f64, own_wait: f64) -> Self {
        let environments = &mut self.record.environments;
        environments.insert(host.into(), of_two_cores(host));
        let record = &mut self.record;
        let user = [("core", "all"), ("state", "user")];
        add_series(record, host, "host.cpu_ratio", &user, 0.0, all / 2.0);
        let thread = [("thread", "flow-0")];
        add_series(record, host, "self.cpu_ratio", &thread, 0.0, own);
        add_series(record, host, "self.wait_ratio", &thread, 0.0, own_wait);
        self
    }

    /// The strongest conclusion about what limited the rate.
    pub(crate) fn top(&self) -> Option<Finding> {
        let limits = findings(&self.record).into_iter();
        let mut limits: Vec<Finding> = limits.filter(|f| rules::is_limit(&f.rule)).collect();
        limits.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        limits.into_iter().next()
    }

    /// The strongest conclusion is this one, says so with at least two kinds of evidence, and is
    /// what the verdict says second.
    #[track_caller]
    pub(crate) fn limited_by(&self, rule: &str) -> Finding {
        let all = findings(&self.record);
        let top = self.top().unwrap_or_else(|| panic!("no limit: {all:?}"));
        assert_eq!(top.rule, rule, "{all:#?}");
        let sources: BTreeSet<&str> = top.evidence.iter().map(|e| e.source.as_str()).collect();
        assert!(sources.len() >= 2, "{top:#?}");
        assert!(top.next.is_some());
        of_rule(&self.record, rule).remove(0)
    }

    #[track_caller]
    pub(crate) fn without(&self, rule: &str) -> &Self {
        none(&self.record, rule);
        self
    }
}

/// Both ends wait for what lies between them.
pub(crate) fn between() -> Scene {
    Scene::of("stream")
        .sender([0.03, 0.001, 0.95])
        .receiver([0.04, 0.001, 0.94])
}

/// An open loop of 500 requests per second over one connection: longest answer and longest wait,
/// seconds, and how long an answer takes on average.
pub(crate) fn open_loop(mean: f64, service: f64, wait: f64) -> Scene {
    Scene::of("rr")
        .sender([0.02, 0.001, 0.0])
        .receiver([0.02, 0.001, 0.0])
        .metric("window_full_ratio", 0.14)
        .total("transactions_per_second", 500.0)
        .total("asked_per_second", 500.0)
        .total("open_connections", 1.0)
        .total("service_seconds.mean", mean)
        .total("service_seconds.p99", service)
        .total("service_seconds.max", service)
        .total("latency_seconds.p99", wait)
        .total("latency_seconds.max", wait)
}
