//! Stages of a request, and the time that it spent in each.
//!
//! ```text
//! due ──queue── begun ──resolve── address ──connect── connection ──tls── secured ──send── sent
//!     ──wait── first byte ──read── last byte
//! ```

use serde::{Deserialize, Serialize};

use crate::kinds::http;
use crate::metric::Metric;

/// Number of stages.
pub const N_STAGES: usize = 7;

/// The stages of a request, in the order in which they take place.
pub const STAGES: [&str; N_STAGES] = ["queue", "resolve", "connect", "tls", "send", "wait", "read"];

/// Metrics of the mean time in each of [`STAGES`], in the same order.
pub const STAGE_MEANS: [Metric; N_STAGES] = [
    http::MEAN_QUEUE_SECONDS,
    http::MEAN_RESOLVE_SECONDS,
    http::MEAN_CONNECT_SECONDS,
    http::MEAN_TLS_SECONDS,
    http::MEAN_SEND_SECONDS,
    http::MEAN_WAIT_SECONDS,
    http::MEAN_READ_SECONDS,
];

/// Time that one request or many spent in each of [`STAGES`], nanoseconds, in the same order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent(pub [u64; N_STAGES]);

/// The moments between the stages of one request, nanoseconds of one clock. A stage that did not
/// take place has the moment of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// It should have begun.
    pub intended_ns: i64,
    /// It began.
    pub start_ns: i64,
    /// The server's addresses were known.
    pub resolved_ns: i64,
    /// The connection stood.
    pub connected_ns: i64,
    /// The TLS handshake was over.
    pub secured_ns: i64,
    /// Its last byte was handed over.
    pub sent_ns: i64,
    /// The first byte of the answer was there.
    pub first_byte_ns: i64,
    /// The last byte of the answer was there.
    pub end_ns: i64,
}

impl Spent {
    /// Time that connecting took, without looking up the name and without TLS; 0 on a connection that
    /// was there.
    pub fn connect_ns(&self) -> u64 {
        self.0[2]
    }

    /// The stages of one request; a moment before the one that precedes it counts as that one.
    #[inline]
    pub fn between(at: &Moments) -> Self {
        let span = |from: i64, until: i64| u64::try_from(until.saturating_sub(from)).unwrap_or(0);
        Self([
            span(at.intended_ns, at.start_ns),
            span(at.start_ns, at.resolved_ns),
            span(at.resolved_ns, at.connected_ns),
            span(at.connected_ns, at.secured_ns),
            span(at.secured_ns, at.sent_ns),
            span(at.sent_ns, at.first_byte_ns),
            span(at.first_byte_ns, at.end_ns),
        ])
    }

    /// With the last stage as long as it takes for all of them to make up `whole_ns`.
    pub fn filled(mut self, whole_ns: u64) -> Self {
        let known = self.0.iter().fold(0u64, |sum, ns| sum.saturating_add(*ns));
        self.0[N_STAGES - 1] += whole_ns.saturating_sub(known);
        self
    }

    /// Adds what another request spent.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(more);
        }
    }

    /// Metric and mean in seconds of each stage over `requests` of them; nothing of none, and
    /// nothing where no time was taken.
    pub fn means(&self, requests: u64) -> impl Iterator<Item = (Metric, f64)> {
        let each = STAGE_MEANS.into_iter().zip(self.0);
        let is_known = requests > 0 && self.0 != [0; N_STAGES];
        each.filter(move |_| is_known)
            .map(move |(metric, ns)| (metric, ns as f64 * 1e-9 / requests as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_make_up_the_whole_time() {
        let spent = Spent::between(&Moments {
            intended_ns: 0,
            start_ns: 1,
            resolved_ns: 3,
            connected_ns: 6,
            secured_ns: 6,
            sent_ns: 10,
            first_byte_ns: 100,
            end_ns: 130,
        });
        assert_eq!(spent.0, [1, 2, 3, 0, 4, 90, 30]);
        assert_eq!(spent.0.iter().sum::<u64>(), 130);
        assert_eq!(spent.filled(150).0, [1, 2, 3, 0, 4, 90, 50]);
        assert_eq!(spent.filled(100), spent);
        let mut two = spent;
        two.add(&spent);
        let means: Vec<f64> = two.means(2).map(|(_, s)| (s * 1e9).round()).collect();
        assert_eq!(means, [1.0, 2.0, 3.0, 0.0, 4.0, 90.0, 30.0]);
        assert_eq!(two.means(0).count(), 0);
    }

    #[test]
    fn every_stage_has_its_metric() {
        for (stage, metric) in STAGES.iter().zip(STAGE_MEANS) {
            assert_eq!(metric.name, format!("http.mean_{stage}_seconds"));
        }
    }
}
