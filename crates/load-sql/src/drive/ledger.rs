//! The ledger of acknowledged commits.
//!
//! A transaction that leaves a mark writes its client's number and a sequence number into the database. The
//! client keeps which of them the server acknowledged. Sequence numbers only grow, so that a count and a
//! short list of exceptions describe all of them.

use serde::{Deserialize, Serialize};

/// Mark that a transaction writes, so that it can be found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Number of the client, of which no other client of any run has the same.
    pub(crate) client: i64,
    /// Number of the transaction, from 1.
    pub(crate) sequence: i64,
}

/// State of the marks of one client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// Number of the client.
    pub(crate) client: i64,
    /// Sequence numbers up to this one were used.
    pub(crate) used: i64,
    /// Those of them that no acknowledgement came for: rolled back, or not known.
    pub(crate) open: Vec<i64>,
}

impl Ledger {
    pub(crate) fn of(client: i64) -> Self {
        Self {
            client,
            ..Self::default()
        }
    }

    /// The mark of the next transaction.
    pub(crate) fn next(&mut self) -> Mark {
        self.used += 1;
        Mark {
            client: self.client,
            sequence: self.used,
        }
    }

    /// The transaction with the last mark ended without an acknowledgement.
    pub(crate) fn leave_open(&mut self) {
        self.open.push(self.used);
    }

    /// Commits that were acknowledged.
    pub(crate) fn acknowledged(&self) -> i64 {
        self.used - self.open.len() as i64
    }

    /// Acknowledged commits that are missing, when the database holds `found` different marks of this client,
    /// `found_open` of which were not acknowledged.
    pub(crate) fn lost(&self, found: i64, found_open: i64) -> i64 {
        (self.acknowledged() - (found - found_open)).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_without_an_answer_may_be_there_or_not_and_is_never_lost() {
        let mut ledger = Ledger::of(7);
        for sequence in 1..=5 {
            assert_eq!(ledger.next().sequence, sequence);
            if sequence == 3 {
                ledger.leave_open();
            }
        }
        assert_eq!(ledger.acknowledged(), 4);
        // All acknowledged ones, without and with the open one.
        assert_eq!(ledger.lost(4, 0), 0);
        assert_eq!(ledger.lost(5, 1), 0);
        // The open one is there, an acknowledged one is not.
        assert_eq!(ledger.lost(4, 1), 1);
        assert_eq!(ledger.lost(0, 0), 4);
    }
}
