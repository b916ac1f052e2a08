//! The work of one event loop, and how another thread changes it while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sokudo_http::Exchange;

use super::arrivals::Arrivals;

/// Task of one event loop.
pub(crate) struct LoopTask {
    /// The request, head and body.
    pub(crate) request: Vec<u8>,
    /// Options of its exchange.
    pub(crate) exchange: Exchange,
    /// Visitors that share a connection: those whose numbers follow each other.
    pub(crate) streams: u64,
    /// Intended starts; `None` in a closed loop.
    pub(crate) arrivals: Option<Arrivals>,
    /// Requests that may still be sent.
    pub(crate) left: Option<u64>,
    /// No request is due from then on.
    pub(crate) end_ns: i64,
    /// Changes that others ask for.
    pub(crate) wanted: Arc<Wanted>,
}

/// Changes that the event loops of a host are asked for. They look at it before each request.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Visitors with a lower number leave: the oldest first, and no number comes twice.
    first_visitor: AtomicU64,
    /// Requests per second of one event loop, as bits; 0: as it was.
    rate: AtomicU64,
}

impl Wanted {
    /// Visitors below this number leave after the request under way.
    pub(crate) fn send_home_below(&self, number: u64) {
        self.first_visitor.store(number, Ordering::Relaxed);
    }

    /// True when a visitor is to leave.
    #[inline]
    pub(crate) fn is_sent_home(&self, visitor: u64) -> bool {
        visitor < self.first_visitor.load(Ordering::Relaxed)
    }

    /// Each event loop is to send so many requests per second.
    pub(crate) fn set_rate(&self, per_s: f64) {
        self.rate.store(per_s.to_bits(), Ordering::Relaxed);
    }

    /// Bits of the rate: they differ from those seen before when it is another.
    #[inline]
    pub(crate) fn rate_bits(&self) -> u64 {
        self.rate.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_visitors_leave_first() {
        let wanted = Wanted::default();
        assert!(!wanted.is_sent_home(0));
        wanted.send_home_below(2);
        assert!(wanted.is_sent_home(1) && !wanted.is_sent_home(2));
    }
}
