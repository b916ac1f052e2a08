//! Share of a load that was lost or sent again, whatever carries it, as a counter of drops can explain it.

use sokudo_model::kinds::Family;
use sokudo_model::metric::Metric;
use sokudo_model::{Evidence, FlowResult};

use crate::quantities::ends::End;
use crate::quantities::tcp::Connection;
use crate::view::PhaseView;

/// Packets of a phase that did not arrive the first time.
#[derive(Debug)]
pub struct Harm {
    /// Their number: of missing datagrams, or of segments sent again.
    pub packets: f64,
    /// The counts behind it.
    pub evidence: Vec<Evidence>,
}

impl Harm {
    /// Packets that got lost on their way between these hosts, in any direction.
    pub fn between(view: &PhaseView<'_>, host: &str) -> Option<Self> {
        let missing = view.missing().filter(|missing| *missing > 0.0);
        if let (Some(packets), Some(row)) = (missing, view.missing_evidence(host)) {
            return Some(Self {
                packets,
                evidence: vec![row],
            });
        }
        let flows = view.flows().iter();
        let own = flows.filter(|flow| flow.from == host || flow.to == host);
        let ends = own.flat_map(|flow| [(flow, End::Sender), (flow, End::Receiver)]);
        let again = |(flow, end): (&FlowResult, End)| {
            let connection = Connection::of(*view, flow, end);
            let (again, _) = connection.retransmitted()?;
            Some((again, connection.retransmission_evidence()))
        };
        let known: Vec<_> = ends
            .filter_map(again)
            .filter(|(again, _)| *again > 0.0)
            .collect();
        let packets: f64 = known.iter().map(|(again, _)| again).sum();
        if packets > 0.0 {
            let evidence = known.into_iter().filter_map(|(_, row)| row).collect();
            return Some(Self { packets, evidence });
        }
        // Requests over datagrams: each that failed lost one.
        let metric = Self::counted_failures(view)?;
        let packets = Self::failed(view)?;
        let row = view.evidence("evidence-failed-requests", metric, host, packets);
        Some(Self {
            packets,
            evidence: vec![row],
        })
    }

    /// Requests or calls that failed, where nothing else tells of it.
    pub fn failed(view: &PhaseView<'_>) -> Option<f64> {
        let errors = view.total(Self::counted_failures(view)?)?;
        (errors > 0.0).then_some(errors)
    }

    fn counted_failures(view: &PhaseView<'_>) -> Option<Metric> {
        match view.kind()?.family {
            Family::Exchange(numbers) => Some(numbers.errors),
            _ => None,
        }
    }

    /// Share of it that so many dropped packets explain, at most 1.
    pub fn share(&self, dropped: f64) -> f64 {
        (dropped / self.packets.max(1.0)).min(1.0)
    }
}
