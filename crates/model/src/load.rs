//! Which numbers of a workload's summary tell how a system bears its load?
//!
//! What sweeps, searches and reports need to know of a workload, so that none of them has a
//! case per workload: one line in [`REGISTRY`].

use crate::summary::{FlowResult, PhaseResult, Summary};

/// Names in the summary of one workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadNames {
    /// Registry name of the workload.
    pub workload: &'static str,
    /// Load that was offered, in the unit that people compare; absent in a closed loop.
    pub offered: &'static str,
    /// Load that was carried, in the same unit.
    pub delivered: &'static str,
    /// Distribution of the latency, where there is one: its percentiles are `<latency>.p99` in the
    /// summary, or in the result's histograms.
    pub latency: Option<&'static str>,
    /// Shares that can be bounded: the word that is typed, and the name in the summary. What gets no
    /// answer is lost to who asked, so that `loss` is a word of every workload.
    pub shares: &'static [(&'static str, &'static str)],
    /// Highest rate that kept the bounds of a search.
    pub best: &'static str,
}

/// Every workload that can be swept and searched, in alphabetical order.
pub const REGISTRY: &[LoadNames] = &[
    LoadNames {
        workload: "bus",
        offered: "bus.asked_per_second",
        delivered: "bus.messages_per_second",
        latency: Some("bus.response_latency_seconds"),
        shares: &[("errors", "bus.error_ratio"), ("loss", "bus.error_ratio")],
        best: "bus.best_rate_per_second",
    },
    LoadNames {
        workload: "crr",
        offered: "crr.asked_per_second",
        delivered: "crr.connections_per_second",
        latency: Some("crr.latency_seconds"),
        shares: &[("errors", "crr.error_ratio"), ("loss", "crr.error_ratio")],
        best: "crr.best_rate_per_second",
    },
    LoadNames {
        workload: "datagram",
        offered: "datagram.sent_bits_per_second",
        delivered: "datagram.delivered_bits_per_second",
        latency: Some("datagram.ack_rtt_seconds"),
        shares: &[("loss", "datagram.loss_ratio")],
        best: "datagram.best_rate_packets_per_second",
    },
    LoadNames {
        workload: "http",
        offered: "http.asked_per_second",
        delivered: "http.requests_per_second",
        latency: Some("http.latency_seconds"),
        shares: &[("errors", "http.error_ratio"), ("loss", "http.error_ratio")],
        best: "http.best_rate_per_second",
    },
    LoadNames {
        workload: "probe",
        offered: "probe.asked_packets_per_second",
        delivered: "probe.answered_packets_per_second",
        latency: Some("probe.rtt_seconds"),
        shares: &[("loss", "probe.loss_ratio")],
        best: "probe.best_rate_packets_per_second",
    },
    LoadNames {
        workload: "rr",
        offered: "rr.asked_per_second",
        delivered: "rr.transactions_per_second",
        latency: Some("rr.latency_seconds"),
        shares: &[("errors", "rr.error_ratio"), ("loss", "rr.error_ratio")],
        best: "rr.best_rate_per_second",
    },
    LoadNames {
        workload: "stream",
        offered: "stream.asked_bits_per_second",
        delivered: "stream.goodput_bits_per_second",
        latency: None,
        shares: &[("loss", "stream.retransmitted_ratio")],
        best: "stream.best_rate_per_second",
    },
];

/// The names of one workload; `None` for one that cannot be swept.
pub fn names_of(workload: &str) -> Option<&'static LoadNames> {
    REGISTRY.iter().find(|names| names.workload == workload)
}

impl LoadNames {
    /// One number of the latency: `p50`, `p99`, `max`, … seconds.
    pub fn latency_s(&self, result: &PhaseResult, which: &str) -> Option<f64> {
        let latency = self.latency?;
        let summed = result.summary.get(&format!("{latency}.{which}"));
        let merged = || {
            let all = result.histograms.get(latency)?;
            match which {
                "min" => Some(all.min),
                "mean" => Some(all.mean),
                "p50" => Some(all.p50),
                "p90" => Some(all.p90),
                "p99" => Some(all.p99),
                "p999" => Some(all.p999),
                "max" => Some(all.max),
                _ => None,
            }
        };
        summed.copied().or_else(merged).filter(|v| v.is_finite())
    }

    /// A share by the word that is typed: `loss`, `errors`.
    pub fn share(&self, result: &PhaseResult, word: &str) -> Option<f64> {
        let (_, name) = self.shares.iter().find(|(known, _)| *known == word)?;
        result.summary.get(*name).copied().filter(|v| v.is_finite())
    }

    /// Load that was offered; what was carried where nothing else was asked for.
    pub fn offered_in(&self, result: &PhaseResult) -> Option<f64> {
        let offered = result.summary.get(self.offered).copied();
        offered
            .filter(|v| v.is_finite())
            .or_else(|| self.delivered_in(result))
    }

    /// Load that was carried.
    pub fn delivered_in(&self, result: &PhaseResult) -> Option<f64> {
        let delivered = result.summary.get(self.delivered).copied();
        delivered.filter(|v| v.is_finite())
    }
}

/// Runs that load many hosts in phases, by what they are called after.
const OF_MANY_HOSTS: [&str; 3] = ["console", "pairs", "run"];

/// True for a run in which many hosts are told what to do: a console, a script, a scenario.
pub fn is_of_many_hosts(workload: &str) -> bool {
    OF_MANY_HOSTS.contains(&workload)
}

/// What one flow carried, whatever its workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// Payload that arrived, bytes; of requests and responses both ways together.
    pub bytes: f64,
    /// How long it took, seconds.
    pub seconds: f64,
}

impl Carried {
    /// Mean speed, bits per second. For requests and responses that is the mean speed one way.
    pub fn bits_per_second(self) -> f64 {
        self.bytes * 8.0 / self.seconds
    }
}

/// What the metrics of one flow say that it carried; `None` when they do not say it.
pub fn carried(metrics: &Summary) -> Option<Carried> {
    let get = |name: &str| metrics.get(name).copied().filter(|v| v.is_finite());
    let over = |bytes: f64, per_second: f64| Carried {
        bytes,
        seconds: bytes / per_second,
    };
    let asked = |source: &str, count: &str, rate: &str| {
        let own = |name: &str| get(&format!("{source}.{name}"));
        let each = own("request_bytes")? + own("response_bytes")?;
        let bytes = own(count)? * each;
        // The rate of a single request is not known; its latency is.
        let speed = own(rate).map(|rate| rate * each);
        let speed = speed.filter(|speed| *speed > 0.0);
        Some(over(
            bytes,
            speed.or_else(|| own("one_way_bytes_per_second"))?,
        ))
    };
    let stream = || {
        let speed = get("stream.goodput_bits_per_second")? / 8.0;
        Some(over(get("stream.received_bytes")?, speed))
    };
    let datagram = || {
        let speed = get("datagram.delivered_bytes_per_second")?;
        Some(over(get("datagram.received_bytes")?, speed))
    };
    let bus = || {
        let (messages, per_second) = (get("bus.messages")?, get("bus.messages_per_second")?);
        let seconds = messages / per_second;
        Some(over(
            get("bus.bytes_per_second")? * seconds,
            get("bus.bytes_per_second")?,
        ))
    };
    let http = || {
        let bytes: f64 = ["sent", "head", "body"]
            .iter()
            .filter_map(|part| get(&format!("http.{part}_bytes")))
            .sum();
        let seconds = get("http.requests")? / get("http.requests_per_second")?;
        Some(Carried { bytes, seconds })
    };
    let found = stream()
        .or_else(datagram)
        .or_else(|| asked("rr", "transactions", "transactions_per_second"))
        .or_else(|| asked("crr", "connections", "connections_per_second"))
        .or_else(bus)
        .or_else(http);
    found.filter(|carried| carried.seconds.is_finite() && carried.seconds > 0.0)
}

/// What the complete flows of a phase carried together: all bytes, over the mean time of a flow.
pub fn totals(flows: &[FlowResult]) -> Option<Carried> {
    let each: Vec<Carried> = complete(flows).collect();
    let seconds: f64 = each.iter().map(|carried| carried.seconds).sum();
    (!each.is_empty()).then(|| Carried {
        bytes: each.iter().map(|carried| carried.bytes).sum(),
        seconds: seconds / each.len() as f64,
    })
}

/// Jain's fairness index of the speeds of the complete flows: 1 when all are equal, 1/n when one
/// has everything; `None` for less than two.
///
/// Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness" (DEC-TR-301, 1984).
pub fn fairness(flows: &[FlowResult]) -> Option<f64> {
    let speeds: Vec<f64> = complete(flows).map(Carried::bits_per_second).collect();
    let sum: f64 = speeds.iter().sum();
    let squares: f64 = speeds.iter().map(|speed| speed * speed).sum();
    (speeds.len() > 1 && squares > 0.0).then(|| sum * sum / (speeds.len() as f64 * squares))
}

fn complete(flows: &[FlowResult]) -> impl Iterator<Item = Carried> {
    let complete = flows.iter().filter(|flow| flow.complete);
    complete.filter_map(|flow| carried(&flow.metrics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::find;

    #[test]
    fn every_name_is_in_the_catalogue() {
        for names in REGISTRY {
            let singles = [names.offered, names.delivered, names.best];
            let shares = names.shares.iter().map(|(_, name)| *name);
            for name in singles.into_iter().chain(shares).chain(names.latency) {
                assert!(find(name).is_some(), "{name}");
            }
            let unit = |name: &str| find(name).map(|metric| metric.unit);
            assert_eq!(unit(names.offered), unit(names.delivered));
        }
    }

    #[test]
    fn what_a_flow_carried_follows_from_its_metrics() {
        let of = |metrics: &[(&str, f64)]| {
            let owned = metrics.iter().map(|(name, v)| ((*name).to_owned(), *v));
            carried(&owned.collect())
        };
        let asked = of(&[
            ("rr.transactions", 10.0),
            ("rr.transactions_per_second", 5.0),
            ("rr.request_bytes", 100.0),
            ("rr.response_bytes", 100.0),
        ]);
        let asked = asked.expect("a flow of requests");
        assert_eq!((asked.bytes, asked.seconds), (2000.0, 2.0));
        assert_eq!(asked.bits_per_second(), 8000.0);
        let stream = of(&[
            ("stream.received_bytes", 1000.0),
            ("stream.goodput_bits_per_second", 8000.0),
        ]);
        assert_eq!(stream.map(|c| c.seconds), Some(1.0));
        assert_eq!(of(&[("rr.transactions", 1.0)]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn equal_speeds_are_fair_and_dead_flows_do_not_count() {
        let flow = |bits: f64, complete| FlowResult {
            metrics: [
                ("stream.received_bytes".to_owned(), bits / 8.0),
                ("stream.goodput_bits_per_second".to_owned(), bits),
            ]
            .into(),
            complete,
            ..FlowResult::default()
        };
        let equal = [flow(8e6, true), flow(8e6, true), flow(1.0, false)];
        assert_eq!(fairness(&equal), Some(1.0));
        let totals = totals(&equal).expect("complete flows");
        assert_eq!((totals.bytes, totals.seconds), (2e6, 1.0));
        let one_has_all = [flow(8e12, true), flow(8e-6, true)];
        assert!(fairness(&one_has_all).is_some_and(|index| (index - 0.5).abs() < 1e-9));
        assert_eq!(fairness(&equal[2..]), None);
    }

    #[test]
    fn workloads_stand_in_order() {
        assert!(REGISTRY.windows(2).all(|w| w[0].workload < w[1].workload));
    }
}
