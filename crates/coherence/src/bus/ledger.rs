//! Messages that have been sent and have no receipt yet.
//!
//! Receipts come back in the order of sending, as numbers only: the ledger knows whose messages
//! they are, how many bytes, and when the timed ones left.

use std::collections::VecDeque;

use super::protocol::ProtocolError;

/// Stretches that are kept apart; beyond that, what is added joins the last one.
const MAX_RUNS: usize = 1 << 16;

/// Timed messages that are remembered.
const MAX_TIMED: usize = 1 << 16;

/// Messages of one owner, one after the other.
#[derive(Debug)]
struct Run {
    owner: u16,
    messages: u64,
    bytes: u64,
}

/// Sent and not yet receipted, oldest first.
#[derive(Debug, Default)]
pub struct Ledger {
    sent: u64,
    receipted: u64,
    runs: VecDeque<Run>,
    /// Number of the message, and when it was sent.
    timed: VecDeque<(u64, i64)>,
}

/// Messages that receipts have settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Bytes of one owner's messages.
    Bytes {
        /// Whose.
        owner: u16,
        /// Number of the bytes.
        bytes: u64,
    },
    /// A timed message, sent then.
    Timed(i64),
}

impl Ledger {
    /// Notes a message of `bytes`, timed when it was sent at `timed_ns`.
    #[inline]
    pub fn sent(&mut self, owner: u16, bytes: u64, timed_ns: Option<i64>) {
        if let Some(sent_ns) = timed_ns.filter(|_| self.timed.len() < MAX_TIMED) {
            self.timed.push_back((self.sent, sent_ns));
        }
        self.sent += 1;
        let full = self.runs.len() >= MAX_RUNS;
        match self.runs.back_mut() {
            Some(run) if run.owner == owner || full => {
                run.messages += 1;
                run.bytes += bytes;
            }
            _ => self.runs.push_back(Run {
                owner,
                messages: 1,
                bytes,
            }),
        }
    }

    /// Messages without receipt.
    pub fn outstanding(&self) -> u64 {
        self.sent - self.receipted
    }

    /// Takes receipts for the `n` oldest messages.
    ///
    /// Errors: there are not so many.
    pub fn returned(
        &mut self,
        n: u32,
        mut settled: impl FnMut(Settled),
    ) -> Result<(), ProtocolError> {
        let asked = self.outstanding();
        let mut left = u64::from(n);
        if left > asked {
            return Err(ProtocolError::TooManyReceipts { returned: n, asked });
        }
        self.receipted += left;
        while left > 0 {
            let Some(run) = self.runs.front_mut() else {
                break;
            };
            let messages = left.min(run.messages);
            // Part of a stretch of different sizes: their mean, and the rest settles the rest.
            let bytes =
                (u128::from(run.bytes) * u128::from(messages) / u128::from(run.messages)) as u64;
            settled(Settled::Bytes {
                owner: run.owner,
                bytes,
            });
            run.messages -= messages;
            run.bytes -= bytes;
            left -= messages;
            if run.messages == 0 {
                self.runs.pop_front();
            }
        }
        while let Some((number, sent_ns)) = self.timed.front().copied() {
            if number >= self.receipted {
                break;
            }
            self.timed.pop_front();
            settled(Settled::Timed(sent_ns));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn receipts_settle_in_the_order_of_sending() {
        let mut ledger = Ledger::default();
        ledger.sent(0, 100, Some(7));
        ledger.sent(0, 200, None);
        ledger.sent(5, 50, Some(9));
        let mut seen = Vec::new();
        ledger.returned(2, |it| seen.push(it)).unwrap();
        assert_eq!(
            seen,
            [
                Settled::Bytes {
                    owner: 0,
                    bytes: 300
                },
                Settled::Timed(7)
            ]
        );
        assert_eq!(ledger.outstanding(), 1);
        let more = ledger.returned(2, |_| {});
        let wrong = ProtocolError::TooManyReceipts {
            returned: 2,
            asked: 1,
        };
        assert_eq!(more, Err(wrong));
        assert_eq!(ledger.outstanding(), 1);
    }

    proptest! {
        #[test]
        fn nothing_is_settled_twice_or_never(
            sizes in prop::collection::vec((0u16..3, 21u64..9000), 1..80),
            steps in prop::collection::vec(1u32..9, 1..80),
        ) {
            let mut ledger = Ledger::default();
            let (mut sent, mut settled) = ([0; 3], [0; 3]);
            for (owner, bytes) in &sizes {
                ledger.sent(*owner, *bytes, Some(1));
                sent[usize::from(*owner)] += bytes;
            }
            let mut timed = 0;
            for step in steps.iter().cycle() {
                let n = u64::from(*step).min(ledger.outstanding()) as u32;
                if n == 0 {
                    break;
                }
                ledger.returned(n, |it| match it {
                    Settled::Bytes { owner, bytes } => settled[usize::from(owner)] += bytes,
                    Settled::Timed(_) => timed += 1,
                }).unwrap();
            }
            prop_assert_eq!(sent, settled);
            prop_assert_eq!(timed, sizes.len());
        }
    }
}
