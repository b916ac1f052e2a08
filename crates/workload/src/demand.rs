//! Demand of a phase on one host, computed from its options before anything is opened.
//!
//! The owner's policy bounds it. Each load says what one of its flows demands; the sums over the flows
//! that begin or end at a host are made here, so that both ends of a flow count alike.

use std::iter::Sum;

use sokudo_model::units::Rate;
use sokudo_model::{Change, FlowPlan, PhaseSpec};

/// Demand of the flows of a phase on one host. `None` is a number that options do not bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Connections or sockets at a time, both calling and called.
    pub connections: Option<u64>,
    /// Length of the load, the warm-up included, nanoseconds; `None` for one that ends with an
    /// amount.
    pub duration_ns: Option<u64>,
    /// Messages, requests or datagrams per second.
    pub events_per_s: Option<f64>,
    /// Payload that leaves the host per second, bytes: load and answers.
    pub sent_bytes_per_s: Option<f64>,
    /// Payload that comes to it.
    pub received_bytes_per_s: Option<f64>,
}

/// Demand of one flow on both its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowDemand {
    /// Connections or sockets at a time.
    pub connections: Option<u64>,
    /// Messages, requests or datagrams per second.
    pub events_per_s: Option<f64>,
    /// Payload from its begin to its end per second, bytes.
    pub forward_bytes_per_s: Option<f64>,
    /// Payload back: answers and acknowledgements.
    pub back_bytes_per_s: Option<f64>,
}

impl FlowDemand {
    /// Requests of a size and their answers; `None` = as many as are answered, or answers of any size.
    pub fn exchange(
        connections: u64,
        per_s: Option<f64>,
        request: u64,
        answer: Option<u64>,
    ) -> Self {
        let bytes = |size: u64| per_s.map(|per_s| per_s * size as f64);
        Self {
            connections: Some(connections),
            events_per_s: per_s,
            forward_bytes_per_s: bytes(request),
            back_bytes_per_s: answer.and_then(bytes),
        }
    }

    /// Messages that one end sends over one connection, at a rate in whatever unit, each of a size
    /// within a range. `back_bytes` come back for each.
    pub fn one_way(rate: Option<Rate>, (min, max): (u64, u64), back_bytes: u64) -> Self {
        let (min, max) = (min.max(1), max.max(1));
        // The most that the rate can mean: many small ones, or few large ones.
        let events = rate.map(|rate| rate.events_per_s(min as f64));
        let bytes = rate.map(|rate| rate.events_per_s(max as f64) * max as f64);
        Self {
            connections: Some(1),
            events_per_s: events,
            forward_bytes_per_s: bytes,
            back_bytes_per_s: events.map(|events| events * back_bytes as f64),
        }
    }

    /// One of so many equal parts of a rate; each has as many connections.
    pub fn divided_by(self, parts: usize) -> Self {
        let share = |whole: Option<f64>| whole.map(|whole| whole / parts.max(1) as f64);
        Self {
            connections: self.connections,
            events_per_s: share(self.events_per_s),
            forward_bytes_per_s: share(self.forward_bytes_per_s),
            back_bytes_per_s: share(self.back_bytes_per_s),
        }
    }
}

impl Demand {
    /// No load at all.
    pub const NOTHING: Self = Self {
        connections: Some(0),
        duration_ns: Some(0),
        events_per_s: Some(0.0),
        sent_bytes_per_s: Some(0.0),
        received_bytes_per_s: Some(0.0),
    };

    /// The demand after a change of the running load. Bytes follow the rate; without one they have no bound.
    pub fn changed(self, change: &Change) -> Self {
        let rate = match (change.users, change.rate_per_s) {
            (None, None) => return self,
            (None, rate) => rate,
            (Some(_), _) => None,
        };
        let factor = rate.zip(self.events_per_s).map(|(new, old)| new / old);
        let bytes = |old: Option<f64>| Some(old? * factor.filter(|it| it.is_finite())?);
        Self {
            connections: change.users.or(self.connections),
            duration_ns: self.duration_ns,
            events_per_s: rate,
            sent_bytes_per_s: bytes(self.sent_bytes_per_s),
            received_bytes_per_s: bytes(self.received_bytes_per_s),
        }
    }

    /// The sum over the flows that begin or end at this host. `duration_ns` is that of the options, 0
    /// when an amount bounds the load.
    pub fn of_flows(
        spec: &PhaseSpec,
        duration_ns: u64,
        each: impl Fn(&FlowPlan) -> FlowDemand,
    ) -> Self {
        let end = |flow: &FlowPlan, is_begin: bool| {
            let flow = each(flow);
            let (forward, back) = (flow.forward_bytes_per_s, flow.back_bytes_per_s);
            let (sent, received) = match is_begin {
                true => (forward, back),
                false => (back, forward),
            };
            Self {
                connections: flow.connections,
                duration_ns: (duration_ns > 0).then_some(duration_ns),
                events_per_s: flow.events_per_s,
                sent_bytes_per_s: sent,
                received_bytes_per_s: received,
            }
        };
        let me = spec.me;
        let ends = spec.phase.flows.iter().flat_map(|flow| {
            let begin = (flow.from == me).then(|| end(flow, true));
            let ended = (flow.to == me).then(|| end(flow, false));
            [begin, ended].into_iter().flatten()
        });
        ends.sum()
    }

    /// The same for options whose rate a sending host divides among its own flows.
    pub fn of_divided_flows(
        spec: &PhaseSpec,
        duration_ns: u64,
        whole: impl Fn(&FlowPlan) -> FlowDemand,
    ) -> Self {
        let flows = &spec.phase.flows;
        Self::of_flows(spec, duration_ns, |flow| {
            let siblings = flows.iter().filter(|other| other.from == flow.from);
            whole(flow).divided_by(siblings.count())
        })
    }
}

impl Sum for Demand {
    /// Sum: what is not bounded in one is not bounded in all; the longest duration counts.
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        fn add<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            Some(a? + b?)
        }
        all.fold(Self::NOTHING, |sum, one| Self {
            connections: add(sum.connections, one.connections),
            duration_ns: sum
                .duration_ns
                .and_then(|longest| Some(longest.max(one.duration_ns?))),
            events_per_s: add(sum.events_per_s, one.events_per_s),
            sent_bytes_per_s: add(sum.sent_bytes_per_s, one.sent_bytes_per_s),
            received_bytes_per_s: add(sum.received_bytes_per_s, one.received_bytes_per_s),
        })
    }
}
