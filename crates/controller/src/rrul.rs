//! Measures latency idle, under load up, under load down and under load both ways.
//!
//! ```text
//! idle ─► up ─► down ─► both      each: probe + rr, and streams in that direction, from one moment on
//! ```

use sokudo_load_network::probe::ProbeOptions;
use sokudo_load_network::rr::RrOptions;
use sokudo_load_network::stream::StreamOptions;
use sokudo_model::{FlowPlan, Labels, PhasePlan, Text};
use sokudo_stats::rrul::{LABEL, Part, UnderLoad, under_load_of};
use sokudo_workload::Options;
use sokudo_workload::flows::Direction;
use sokudo_workload::values::Span;
use sokudo_workloads::together::{self, TogetherOptions, TogetherPart};

use crate::error::ControlError;
use crate::phase::SLACK_NS;
use crate::run::Run;

/// Requests per second over TCP; datagrams have the same rate.
const PER_SECOND: u64 = 50;
/// Time between two datagrams, nanoseconds.
const EVERY_NS: u64 = 1_000_000_000 / PER_SECOND;
/// Requests over TCP that may be unanswered: as many as are due within the timeout of an answer.
const WINDOW: u32 = 250;
/// Longest wait for the answer to a datagram, nanoseconds: queues of several seconds exist.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// Settings of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RrulPlan {
    /// Duration of each part, nanoseconds.
    pub duration_ns: u64,
    /// Connections of the load, each way.
    pub streams: u32,
}

impl RrulPlan {
    /// One part between this host and the other one.
    fn phase(&self, part: Part) -> PhasePlan {
        let duration = Some(Span(self.duration_ns));
        let probe = ProbeOptions {
            every: Span(EVERY_NS),
            timeout: Span(TIMEOUT_NS),
            duration,
            ..ProbeOptions::default()
        };
        let mut rr = RrOptions {
            window: WINDOW,
            ..RrOptions::default()
        };
        rr.common.rate = format!("{PER_SECOND}/s").parse().ok();
        rr.common.duration = duration;
        let mut loads = vec![load(&probe), load(&rr)];
        let direction = match part {
            Part::Idle => None,
            Part::Up => Some(Direction::Up),
            Part::Down => Some(Direction::Down),
            Part::Both => Some(Direction::Both),
        };
        loads.extend(direction.map(|direction| {
            load(&StreamOptions {
                streams: self.streams,
                direction,
                duration,
                ..StreamOptions::default()
            })
        }));
        let mut flows: Vec<FlowPlan> = Vec::new();
        let mut parts = Vec::new();
        for (mut part, own) in loads {
            for flow in own {
                let id = flows.len() as u32;
                part.flows.push(id);
                flows.push(FlowPlan { id, ..flow });
            }
            parts.push(part);
        }
        PhasePlan {
            name: part.name().into(),
            workload: together::NAME.into(),
            options: TogetherOptions { parts }.to_json(),
            flows,
            duration_ns: self.duration_ns,
            bound_ns: self.duration_ns + SLACK_NS,
            labels: Labels::from([(LABEL.to_owned(), part.name().to_owned())]),
        }
    }
}

/// A load of a part, and its flows between the two hosts.
fn load<O: Options>(options: &O) -> (TogetherPart, Vec<FlowPlan>) {
    let part = TogetherPart {
        workload: O::NAME.into(),
        options: options.to_json(),
        duration_ns: options.duration_ns(),
        flows: Vec::new(),
    };
    (part, options.flows(2))
}

impl Run {
    /// Measures all parts between the first two hosts, and adds what the load adds to the run's summary.
    /// `None` when nothing gave numbers.
    ///
    /// A part that fails is kept as [`Run::sweep`] keeps a step that fails.
    pub fn rrul(&mut self, plan: &RrulPlan) -> Result<Option<UnderLoad>, ControlError> {
        let phases = Part::ALL.map(|part| plan.phase(part));
        self.run_each(phases.into(), |phase| {
            Text::new("engine-rrul-failed").word("value", &phase.name)
        })?;
        let found = under_load_of(&self.manifest.phases);
        if let Some(found) = &found {
            self.manifest.summary.extend(found.summary());
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_both_probes_and_its_load() {
        let plan = RrulPlan {
            duration_ns: 1,
            streams: 4,
        };
        let flows = |part| {
            let phase = plan.phase(part);
            let ways = phase.flows.iter().map(|flow| (flow.from, flow.to));
            ways.collect::<Vec<_>>()
        };
        let asked = [(0, 1), (0, 1)];
        assert_eq!(flows(Part::Idle), asked);
        assert_eq!(flows(Part::Up), [&asked[..], &[(0, 1); 4]].concat());
        assert_eq!(flows(Part::Down), [&asked[..], &[(1, 0); 4]].concat());
        assert_eq!(flows(Part::Both).len(), 10);
        let both: TogetherOptions =
            serde_json::from_str(&plan.phase(Part::Both).options).expect("options");
        let ids = both.parts.iter().flat_map(|part| part.flows.clone());
        assert_eq!(ids.collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    }
}
