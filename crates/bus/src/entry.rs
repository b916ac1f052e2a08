//! Entry point for fuzzing: any bytes as what comes over the pipe of a conversation.
//!
//! ```text
//! bytes ─ Decoder ─► frames ─ Lasting ─► envelopes ─► the calling end, and the called end
//! ```

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::vec;

use sokudo_model::Text;
use sokudo_wire::{Ask, Body, Decoder, Envelope, MAX_MARKED, Reply};

use crate::agent::{Client, Factory, Handler};
use crate::carried;
use crate::direct::entry::Taken;
use crate::pipe::{Arrival, FrameSender, FrameSource};
use crate::{Link, Notes};

/// Messages that an end has sent before anything comes.
const SENT: u64 = 3;

/// Reads bytes as both ends of a conversation do: each goes on or ends with a reason, confirmations of what
/// was never sent are refused, and the called end sends nothing but answers and notes.
pub fn pipe(bytes: &[u8]) {
    let mut taken = Taken::new(SENT);
    let mut decoder = Decoder::new(MAX_MARKED);
    decoder.push(bytes);
    let mut envelopes = Vec::new();
    while let Ok(Some(frame)) = decoder.next_frame() {
        match taken.take(frame) {
            Ok(envelope) => envelopes.extend(envelope),
            Err(why) => {
                assert!(!why.is_empty());
                break;
            }
        }
    }
    calling_end(envelopes.clone());
    called_end(envelopes);
}

fn calling_end(envelopes: Vec<Vec<u8>>) {
    let sender = Box::new(Sent::default());
    let source = Box::new(Come(envelopes.into_iter()));
    let Ok(link) = carried::link("hostb", sender, source) else {
        return;
    };
    // Whether its answer is among them is a question of time.
    let _ = link.ask(Ask::Describe, Duration::ZERO);
}

fn called_end(envelopes: Vec<Vec<u8>>) {
    let factory: Factory = Arc::new(|_: Client, _: Notes| Box::new(Done) as Box<dyn Handler>);
    let client = Client {
        name: "hosta".into(),
        address: "in memory".into(),
    };
    let sender = Sent::default();
    let mut source = Come(envelopes.into_iter());
    let why = carried::serve(client, &sender, &mut source, &factory);
    assert!(!why.is_empty());
    let sent = sender.0.into_inner();
    for frame in sent.unwrap_or_else(PoisonError::into_inner) {
        let envelope = Envelope::from_payload(&frame[4..]).expect("what was sent can be read");
        assert!(!matches!(envelope.body, Body::Ask(_)), "{envelope:?}");
    }
}

/// Frames that have come; then the pipe ends.
struct Come(vec::IntoIter<Vec<u8>>);

impl FrameSource for Come {
    fn next(&mut self, _: Duration) -> Result<Arrival, Text> {
        let next = self.0.next().map(Arrival::Frame);
        next.ok_or_else(|| "no more frames".into())
    }
}

/// Keeps what is sent.
#[derive(Default)]
struct Sent(Mutex<Vec<Vec<u8>>>);

impl FrameSender for Sent {
    fn send(&self, frame: &[u8], _: Duration) -> Result<(), Text> {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sent.push(frame.to_vec());
        Ok(())
    }

    fn close(&self) {}
}

/// Does whatever is asked.
struct Done;

impl Handler for Done {
    fn handle(&mut self, _: Ask) -> Reply {
        Reply::Done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sokudo_wire::mark::Mark;

    use super::*;

    /// Asks of a controller and answers of an agent, as they come over the pipe.
    fn frames() -> Vec<u8> {
        let bodies = [
            Body::Reply(Reply::Done),
            Body::Ask(Ask::Lease { lease_ns: 1 }),
            Body::Ask(Ask::Hush { for_ns: u64::MAX }),
            Body::Ask(Ask::Stop),
            Body::Ask(Ask::Bye),
        ];
        let marks = bodies.into_iter().zip(0..).map(|(body, taken)| {
            let envelope = Envelope { id: 1, body }.to_frame().expect("it fits");
            let payload = envelope[4..].to_vec();
            Mark::Message { taken, payload }.to_frame()
        });
        marks.flat_map(|frame| frame.expect("it fits")).collect()
    }

    proptest! {
        #[test]
        fn any_bytes_end_with_a_reason(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            pipe(&bytes);
        }

        #[test]
        fn changed_frames_end_with_a_reason(
            changes in prop::collection::vec((0_usize..200, any::<u8>()), 0..4),
            first in 0_usize..3,
        ) {
            let mut bytes = frames();
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            pipe(&bytes[..bytes.len() - first]);
        }
    }
}
