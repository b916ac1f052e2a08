//! Several rounds to one peer in one call: what is written into them, and what became of them.

use std::sync::atomic::AtomicBool;

use sokudo_net::clock::now_ns;
use sokudo_net::udp::SendProblem;

use super::super::listener::Links;
use super::super::protocol::Round;
use super::{MOST_ROUNDS, Out, Peer, Shape};

/// Unreachable errors of earlier packets that one call takes in before it gives its packets up.
const MOST_UNREACHABLE: u32 = 8;

/// Rounds that go to one peer together.
pub(super) struct Batch {
    pub(super) first: u64,
    pub(super) count: usize,
    pub(super) shape: Shape,
}

impl Batch {
    /// Sends all of them, or says why the peer can get no more.
    pub(super) fn send(
        &self,
        peer: &mut Peer,
        links: &Links,
        sizes: &mut SizeDraw,
        halt: &AtomicBool,
    ) -> Result<(), String> {
        let mut done = 0;
        let mut unreachable = 0;
        while done < self.count {
            let now = now_ns();
            let count = self.count - done;
            self.fill(peer, done, now, links, sizes);
            let (taken, problem) = match &mut peer.out {
                Out::Udp(sender) => {
                    let sent = sender.send(count);
                    (sent.taken, sent.problem)
                }
                Out::Tcp(outlet) => {
                    let address = peer.counts.peer;
                    outlet
                        .send(count, halt)
                        .map_err(|error| format!("the stream to {address} ended: {error}"))?;
                    (count, None)
                }
            };
            if taken > 0 {
                peer.counts.first_ns.get_or_insert(now);
                peer.counts.last_ns = now;
                peer.counts.sent += taken as u64;
                peer.counts.bytes += sizes.bytes(taken);
            }
            done += taken;
            match problem {
                None => {}
                Some(SendProblem::Unreachable) if unreachable < MOST_UNREACHABLE => {
                    unreachable += 1;
                    peer.counts.unreachable += 1;
                }
                // The kernel has no room: the packet is lost here, the next may go.
                Some(SendProblem::Refused | SendProblem::Unreachable) => {
                    peer.counts.refused += 1;
                    done += 1;
                }
                Some(SendProblem::TooLarge) => {
                    return Err(format!(
                        "packets of {} B do not fit the path to {} (EMSGSIZE)",
                        self.shape.sizes.1, peer.counts.peer
                    ));
                }
                Some(SendProblem::Other(code)) => {
                    let error = std::io::Error::from_raw_os_error(code);
                    return Err(format!("sending to {} failed: {error}", peer.counts.peer));
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn fill(&self, peer: &mut Peer, done: usize, now: i64, links: &Links, sizes: &mut SizeDraw) {
        let mut round = Round {
            sequence: self.first + done as u64,
            send_ns: now,
            ack_ns: links.take_ack(peer.link, now),
        };
        peer.counts.acks += u64::from(round.ack_ns.is_some());
        for index in 0..self.count - done {
            let slot = peer.out.slot(index);
            round.write(slot, self.shape.width, self.shape.process_bytes);
            if sizes.span > 1 {
                peer.out.set_length(index, sizes.next(index));
            }
            round.sequence += 1;
            round.ack_ns = None;
        }
    }
}

/// Draws sizes uniformly: splitmix64, one step per packet.
#[derive(Debug)]
pub(super) struct SizeDraw {
    pub(super) least: u32,
    pub(super) span: u32,
    pub(super) state: u64,
    /// Sizes of the packets of the last call.
    pub(super) drawn: [u32; MOST_ROUNDS],
}

impl SizeDraw {
    #[inline]
    fn next(&mut self, index: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let size = self.least + ((u128::from(z) * u128::from(self.span)) >> 64) as u32;
        self.drawn[index] = size;
        size as usize
    }

    /// Bytes of the first `taken` packets of the last call.
    #[inline]
    fn bytes(&self, taken: usize) -> u64 {
        match self.span {
            1 => taken as u64 * u64::from(self.least),
            _ => self.drawn[..taken]
                .iter()
                .map(|size| u64::from(*size))
                .sum(),
        }
    }
}
