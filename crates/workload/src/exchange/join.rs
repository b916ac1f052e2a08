//! Joins what the asking ends of an exchange measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::Exchange;
use sokudo_model::{FlowResult, Kind, Metric, Summary};

use super::{Asked, Collected, Details, Recorded};
use crate::joined::{Merged, put, put_each, put_start_late, ratio, total, totals};

/// A flow as its asking end saw it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct AskedNumbers<D: Details> {
    /// Result of its thread.
    pub asked: Asked,
    /// Its records.
    pub recorded: Recorded<D>,
    /// Requests per second that were asked of it; `None` in a closed loop.
    pub asked_per_s: Option<f64>,
    /// Connections that it held.
    pub connections: u64,
    /// Real start of the first request minus the agreed one; nothing in an open loop.
    pub start_late_ns: Option<i64>,
}

impl<D: Details> AskedNumbers<D> {
    /// Puts together what the asking threads of one host handed over. `start_ns` is when the first
    /// request of each thread was to leave, where that was agreed on; `set_up` says of a flow how
    /// many connections it has and which rate was asked for.
    pub fn all(
        collected: Collected<D>,
        start_ns: Option<i64>,
        set_up: impl Fn(u32) -> (u64, Option<f64>),
    ) -> Vec<Self> {
        let mut flows = collected.flows;
        let asked = collected.asked.into_iter().map(|asked| {
            let (connections, asked_per_s) = set_up(asked.flow);
            let first_and_start = asked.counts.first_ns.zip(start_ns);
            Self {
                recorded: flows.remove(&asked.flow).unwrap_or_default(),
                asked_per_s,
                connections,
                start_late_ns: first_and_start.map(|(first, start)| first - start),
                asked,
            }
        });
        asked.collect()
    }

    /// Puts the numbers that every exchange has into the result of the flow, whose load was planned to be so
    /// long; `None` when only an amount was to end it.
    pub fn tell(
        &self,
        flow: &mut FlowResult,
        (kind, names): (&Kind, &Exchange),
        planned_ns: Option<i64>,
        merged: &mut Merged,
    ) {
        let (asked, counts) = (&self.asked, &self.asked.counts);
        let metrics = &mut flow.metrics;
        let answered = counts.transactions as f64;
        let load = counts.load_time(planned_ns);
        load.put(metrics);
        put_start_late(metrics, self.start_late_ns);
        let unstarted = counts.unstarted(&load, self.connections, self.asked_per_s);
        let lost = counts.errors as f64 + unstarted as f64;
        let failed = lost + self.recorded.details.refused() as f64;
        let elapsed = asked.elapsed_ns as f64;
        let share = |part: Option<u64>| part.and_then(|part| ratio(part as f64, elapsed));
        put_each(
            metrics,
            [
                (names.answered, Some(answered)),
                (names.per_second, Some(load.per_s(answered))),
                (names.errors, Some(counts.errors as f64)),
                (names.unstarted, Some(unstarted as f64)),
                (names.open_connections, Some(self.connections as f64)),
                (
                    names.error_ratio,
                    Some(ratio(failed, answered + lost).unwrap_or(0.0)),
                ),
                (kind.ends.near.cpu, share(asked.cpu_ns)),
            ],
        );
        if let Some(wait) = kind.ends.near.wait {
            put(metrics, wait, share(asked.wait_ns));
        }
        for (metric, count) in self.recorded.details.counts() {
            put(metrics, metric, count as f64);
        }
        if let Some(asked_per_s) = self.asked_per_s {
            let sent = answered + counts.errors as f64;
            let full = ratio(counts.window_full as f64, sent);
            put(metrics, names.asked, asked_per_s);
            put(metrics, names.late_ratio, ratio(counts.late as f64, sent));
            put(metrics, names.window_full_ratio, full);
        }
        if let Some(error) = &counts.error {
            flow.labels.insert("error".into(), error.clone());
        }
        flow.complete = counts.connections_lost == 0 && counts.transactions > 0;
        self.distributions(flow, names, merged);
    }

    fn distributions(&self, flow: &mut FlowResult, names: &Exchange, merged: &mut Merged) {
        let recorded = &self.recorded;
        // In a closed loop a request starts when it is meant to: both are the same.
        let service = match self.asked_per_s {
            Some(_) => &recorded.service,
            None => &recorded.latency,
        };
        let shared = [
            (names.latency, &recorded.latency),
            (names.service, service),
            (names.start_delay, &recorded.start_delay),
        ];
        let own = recorded.details.distributions();
        merged.add_each(flow, shared.into_iter().chain(own));
    }
}

/// Totals over the flows of a phase.
pub fn exchange_totals(
    (kind, names): (&Kind, &Exchange),
    flows: &[FlowResult],
    merged: &Merged,
) -> Summary {
    let mut summary = totals(kind.metrics, flows);
    let sum = |metric: Metric| total(&metric, flows);
    if let Some(answered) = sum(names.answered) {
        let lost = [names.errors, names.unstarted].map(sum);
        let lost: f64 = lost.into_iter().flatten().sum();
        let bad = names.bad_answers.iter().flat_map(|bad| bad.metrics);
        let bad: f64 = bad.filter_map(|metric| sum(*metric)).sum();
        let share = ratio(lost + bad, answered + lost).unwrap_or(0.0);
        put(&mut summary, names.error_ratio, share);
    }
    merged.put_numbers(&mut summary);
    summary
}
