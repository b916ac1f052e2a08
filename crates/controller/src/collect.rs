//! Collects what agents still keep of a run whose controller died.
//!
//! Agents keep all that they have sent until the controller ends its session in order. A controller that
//! resumes the run requests it from each of them, page by page, and adds what the record lacks.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use sokudo_bus::{Bus, MemberId};
use sokudo_model::{Batch, Event, RunId, SeriesKey};
use sokudo_wire::{Ask, Refusal, Reply};

use crate::error::ControlError;
use crate::hosts::ASK_BOUND;

/// Longest time until an agent notices that its controller is dead: two leases and the router's.
const NOTICE_BOUND: Duration = Duration::from_secs(20);
/// Time between two requests while the agent has not noticed it yet.
const AGAIN: Duration = Duration::from_millis(200);
/// Pages of one agent at most, about 1 MiB each.
const MAX_PAGES: usize = 1024;

/// All batches that one agent kept of a run, in their order.
///
/// Errors: it is lost, does not answer, or still believes that the run goes on.
fn collect(bus: &Bus, agent: MemberId, run: &RunId) -> Result<Vec<Batch>, ControlError> {
    let deadline = Instant::now() + NOTICE_BOUND;
    let (mut out, mut from, mut pages) = (Vec::new(), 0, 0);
    while pages < MAX_PAGES {
        let run = run.clone();
        match bus.ask(agent, Ask::Kept { run, from }, ASK_BOUND)? {
            Reply::Kept { batches, next } => {
                let own = batches.into_iter().map(|mut batch| {
                    batch.keep_own(None);
                    batch
                });
                out.extend(own);
                pages += 1;
                let Some(next) = next else { break };
                from = next;
            }
            Reply::Refused(_) if Instant::now() < deadline => thread::sleep(AGAIN),
            Reply::Refused(refusal) => return Err(refused(bus, agent, refusal)),
            _ => {
                return Err(ControlError::OutOfOrder {
                    host: name(bus, agent),
                });
            }
        }
    }
    Ok(out)
}

/// Adds to the spool of a record what one agent kept of its run and the record lacks: the number of points.
///
/// Errors: as [`collect`]; the spool cannot be written.
pub fn complete(
    record: &Path,
    known: &Known,
    bus: &Bus,
    agent: MemberId,
    run: &RunId,
) -> Result<usize, ControlError> {
    let kept = collect(bus, agent, run)?.into_iter();
    let missing: Vec<Batch> = kept.filter_map(|batch| known.missing(batch)).collect();
    let series = missing.iter().flat_map(|batch| &batch.series);
    let points = series.map(|series| series.points.len()).sum();
    sokudo_store::add_to_spool(record, &missing)?;
    Ok(points)
}

/// Lets an agent remove what has been collected.
pub fn discard(bus: &Bus, agent: MemberId, run: &RunId) -> Result<(), ControlError> {
    bus.ask(agent, Ask::Discard { run: run.clone() }, ASK_BOUND)?;
    Ok(())
}

fn refused(bus: &Bus, agent: MemberId, refusal: Refusal) -> ControlError {
    ControlError::refused(name(bus, agent), refusal)
}

fn name(bus: &Bus, agent: MemberId) -> String {
    let members = bus.members();
    let found = members.into_iter().find(|(id, _)| *id == agent);
    found.map_or_else(String::new, |(_, member)| member.name)
}

/// Parts of a run that a record already has.
#[derive(Debug, Default)]
pub struct Known {
    points: HashMap<SeriesKey, HashSet<i64>>,
    histograms: HashSet<(SeriesKey, i64, i64)>,
    events: HashSet<(i64, String, String, String)>,
}

impl Known {
    /// The keys and times that these batches hold.
    pub fn of<'a>(batches: impl IntoIterator<Item = &'a Batch>) -> Self {
        let mut known = Self::default();
        for batch in batches {
            for series in &batch.series {
                let times = known.points.entry(series.key.clone()).or_default();
                times.extend(series.points.iter().map(|(t_ns, _)| *t_ns));
            }
            for h in &batch.histograms {
                known.histograms.insert((h.key.clone(), h.t0_ns, h.t1_ns));
            }
            known.events.extend(batch.events.iter().map(event_key));
        }
        known
    }

    /// The new part of a batch; nothing when the record has all of it.
    pub fn missing(&self, mut batch: Batch) -> Option<Batch> {
        for series in &mut batch.series {
            if let Some(times) = self.points.get(&series.key) {
                series.points.retain(|(t_ns, _)| !times.contains(t_ns));
            }
        }
        batch.series.retain(|series| !series.points.is_empty());
        batch
            .histograms
            .retain(|h| !self.histograms.contains(&(h.key.clone(), h.t0_ns, h.t1_ns)));
        batch
            .events
            .retain(|event| !self.events.contains(&event_key(event)));
        (!batch.is_empty()).then_some(batch)
    }
}

fn event_key(event: &Event) -> (i64, String, String, String) {
    let Event {
        t_ns,
        host,
        source,
        kind,
        ..
    } = event;
    (*t_ns, host.clone(), source.clone(), kind.clone())
}

#[cfg(test)]
mod tests {
    use sokudo_model::{HistogramInterval, Series, Text};

    use super::*;

    fn batch(times: &[i64]) -> Batch {
        let key = SeriesKey {
            host: "hosta".into(),
            source: "rr".into(),
            metric: "m".into(),
            labels: Default::default(),
        };
        let histogram = |t: &i64| HistogramInterval {
            key: key.clone(),
            t0_ns: *t,
            t1_ns: t + 1,
            hdr_v2: vec![1],
        };
        let event = |t: &i64| Event {
            t_ns: *t,
            host: "hosta".into(),
            source: "rr".into(),
            kind: "k".into(),
            says: Text::new("t"),
        };
        Batch {
            series: vec![Series {
                key: key.clone(),
                points: times.iter().map(|t| (*t, 1.0)).collect(),
            }],
            histograms: times.iter().map(histogram).collect(),
            events: times.iter().map(event).collect(),
        }
    }

    #[test]
    fn only_what_the_record_lacks_is_added() {
        let known = Known::of(&[batch(&[1, 2]), batch(&[3])]);
        assert_eq!(known.missing(batch(&[2, 3])), None);
        assert_eq!(known.missing(batch(&[3, 4, 5])), Some(batch(&[4, 5])));
        assert_eq!(Known::default().missing(batch(&[1])), Some(batch(&[1])));
    }
}
