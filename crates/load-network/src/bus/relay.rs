//! Forwarding of messages along a chain, with the time that each host holds them.
//!
//! ```text
//! host before ──messages──► forth thread ──► host behind
//!             ◄── answers, receipts ── back thread ◄──
//! ```
//!
//! Frames are looked at and passed on unchanged, so that answers and receipts come from the end of
//! the chain and the sender's window covers all of it. The delay is from the arrival of a
//! message's last byte until the next connection has taken it.

use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sokudo_model::{Refusal, Text};
use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::stream::Stream;
use sokudo_workload::crew::Crew;

use super::client::{CHUNK_BYTES, LOOK};
use super::outgoing::Memory;
use super::protocol::{Agreed, BusReader, FrameWay};
use super::record::{End, Failure, Recorder, Report};
use super::report::Collected;
use super::server::{Arrival, BusReceiver, count, prepare, silent};

/// One direction of a relay.
struct Hop {
    from: Box<dyn Stream>,
    to: Box<dyn Stream>,
    agreed: Agreed,
    /// Set when the other direction can go no further.
    broken: Arc<AtomicBool>,
}

/// Starts the two threads that pass on what arrives to the host behind.
pub(crate) fn start(
    arrival: Arrival,
    behind: Arrival,
    shared: &BusReceiver,
    crew: &mut Crew<Report, Collected>,
) -> Result<(), Refusal> {
    let (before_in, before_out) = arrival.stream.split().map_err(cannot_split)?;
    let (behind_in, behind_out) = behind.stream.split().map_err(cannot_split)?;
    let broken: Arc<AtomicBool> = Arc::default();
    let hop = |from, to, way| Hop {
        from,
        to,
        agreed: Agreed {
            way,
            ..shared.agreed()
        },
        broken: Arc::clone(&broken),
    };
    let forth = hop(before_in, behind_out, FrameWay::Forth);
    let back = hop(behind_in, before_out, FrameWay::Back);
    let (here, there) = (shared.clone(), shared.clone());
    let (flow, flow_behind) = (arrival.flow, behind.flow);
    let callers = [arrival.caller, behind.caller];
    crew.start(&format!("forth{flow}"), move || {
        // What arrives belongs to the flow before, what is handed on to the one behind.
        let receiving = here.recorder(flow, End::Receiving);
        forth.pass_on(&here, Some((receiving, flow_behind)));
    })?;
    crew.start(&format!("back{flow}"), move || {
        back.pass_on(&there, None);
        drop(callers);
    })
}

fn cannot_split(error: std::io::Error) -> Refusal {
    sokudo_workload::refusal::failed(
        Text::new("error-unsplit").with("error", error),
        Some(Text::new("error-unsplit-hint")),
    )
}

impl Hop {
    /// Passes on until the end. `counted`: the recorder of what arrives and the flow behind.
    fn pass_on(mut self, shared: &BusReceiver, counted: Option<(Recorder, u32)>) {
        precise_timers();
        let (mut receiving, mut relaying) = match counted {
            Some((receiving, behind)) => {
                let relaying = shared.recorder(behind, End::Relaying);
                (Some(receiving), Some(relaying))
            }
            None => (None, None),
        };
        let outcome = self.carry(shared, receiving.as_mut(), relaying.as_mut());
        match &outcome {
            // The end is passed on, too.
            Ok(()) => drop(self.to.shutdown(Shutdown::Write)),
            Err(_) => {
                self.broken.store(true, Ordering::Relaxed);
                drop(self.to.shutdown(Shutdown::Both));
                drop(self.from.shutdown(Shutdown::Both));
            }
        }
        if let Some(receiving) = receiving {
            receiving.finish(outcome.clone().err(), |_| {});
        }
        if let Some(relaying) = relaying {
            relaying.finish(outcome.err(), |_| {});
        }
    }

    fn carry(
        &mut self,
        shared: &BusReceiver,
        mut receiving: Option<&mut Recorder>,
        mut relaying: Option<&mut Recorder>,
    ) -> Result<(), Failure> {
        prepare(&mut *self.from, &shared.options)?;
        self.from.set_read_bound(LOOK)?;
        self.to.set_write_bound(super::server::WRITE_BOUND)?;
        let mut reader = BusReader::new(self.agreed);
        let mut purse = shared.purse();
        let mut memory = Memory::new(shared.options.buffers, CHUNK_BYTES)?;
        while shared.goes_on() && !self.broken.load(Ordering::Relaxed) {
            let begun_ns = now_ns();
            let read = silent(self.from.read(memory.bytes()))?;
            let arrived_ns = now_ns();
            if let Some(receiving) = &mut receiving {
                receiving.totals.idle_ns += (arrived_ns - begun_ns) as u64;
                receiving.report_when_due(arrived_ns);
            }
            let count_bytes = match read {
                None => continue,
                Some(0) => return Ok(()),
                Some(count) => count,
            };
            let bytes = &memory.bytes()[..count_bytes];
            let mut rest = bytes;
            let mut messages = 0;
            while let Some(header) = reader.next(&mut rest, |_| {})? {
                messages += 1;
                if let Some(receiving) = &mut receiving {
                    count(receiving, &header, arrived_ns);
                }
            }
            purse.events(if receiving.is_some() { messages } else { 0 })?;
            purse.received(count_bytes)?;
            purse.sent(count_bytes)?;
            self.to.write_all(bytes)?;
            if let Some(relaying) = &mut relaying {
                let now = now_ns();
                relaying.totals.all_messages += messages;
                relaying.relayed(now - arrived_ns, messages);
                relaying.report_when_due(now);
            }
        }
        Ok(())
    }
}
