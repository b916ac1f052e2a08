//! Series that `dns` records of its queries beside counts and latencies.

use serde::{Deserialize, Serialize};
use sokudo_model::Metric;
use sokudo_model::kinds::dns as numbers;
use sokudo_net::dns::{NO_ERROR, NO_SUCH_NAME, Response};
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Connecting, Details};

/// Response codes of a server that failed, and of one that refuses to answer (RFC 1035 §4.1.1).
const SERVER_FAILURE: u8 = 2;
const REFUSED: u8 = 5;

/// Outcomes of the responses, and events of the sockets.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ResponseDetails {
    pub(crate) connecting: Connecting,
    no_error: u64,
    empty: u64,
    no_such_name: u64,
    server_failures: u64,
    refused: u64,
    other_codes: u64,
    truncated: u64,
    sent_bytes: u64,
    received_bytes: u64,
    /// Messages that answer no query under way.
    pub(crate) unexpected: u64,
    /// Times that the server's host said that nothing listens.
    pub(crate) unreachable: u64,
    pub(crate) made_connections: u64,
    pub(crate) ports_exhausted: u64,
}

impl ResponseDetails {
    /// A query of so many bytes was answered.
    #[inline]
    pub(crate) fn answered(
        &mut self,
        response: Response,
        sent_bytes: usize,
        received_bytes: usize,
    ) {
        self.sent_bytes += sent_bytes as u64;
        self.received_bytes += received_bytes as u64;
        self.truncated += u64::from(response.is_cut);
        match response.code {
            NO_ERROR => {
                self.no_error += 1;
                self.empty += u64::from(response.answers == 0 && !response.is_cut);
            }
            NO_SUCH_NAME => self.no_such_name += 1,
            SERVER_FAILURE => self.server_failures += 1,
            REFUSED => self.refused += 1,
            _ => self.other_codes += 1,
        }
    }

    fn each(&self) -> [(Metric, u64); 13] {
        [
            (numbers::NO_ERROR, self.no_error),
            (numbers::EMPTY_ANSWERS, self.empty),
            (numbers::NO_SUCH_NAME, self.no_such_name),
            (numbers::SERVER_FAILURES, self.server_failures),
            (numbers::REFUSED, self.refused),
            (numbers::OTHER_CODES, self.other_codes),
            (numbers::TRUNCATED, self.truncated),
            (numbers::SENT_BYTES, self.sent_bytes),
            (numbers::RECEIVED_BYTES, self.received_bytes),
            (numbers::UNEXPECTED_MESSAGES, self.unexpected),
            (numbers::UNREACHABLE, self.unreachable),
            (numbers::MADE_CONNECTIONS, self.made_connections),
            (numbers::PORTS_EXHAUSTED, self.ports_exhausted),
        ]
    }
}

impl Details for ResponseDetails {
    fn prepared() -> Self {
        Self {
            connecting: Connecting::prepared(),
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        let mut connecting = std::mem::take(&mut self.connecting);
        connecting.clear();
        *self = Self {
            connecting,
            ..Self::default()
        };
    }

    fn merge(&mut self, later: &Self) {
        self.connecting.merge(&later.connecting);
        self.no_error += later.no_error;
        self.empty += later.empty;
        self.no_such_name += later.no_such_name;
        self.server_failures += later.server_failures;
        self.refused += later.refused;
        self.other_codes += later.other_codes;
        self.truncated += later.truncated;
        self.sent_bytes += later.sent_bytes;
        self.received_bytes += later.received_bytes;
        self.unexpected += later.unexpected;
        self.unreachable += later.unreachable;
        self.made_connections += later.made_connections;
        self.ports_exhausted += later.ports_exhausted;
    }

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        std::iter::once((numbers::CONNECT_SECONDS, &self.connecting.connect))
    }

    fn values(&self, _answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        std::iter::empty()
    }

    fn told(&self) -> impl Iterator<Item = (Metric, u64)> {
        let is_told =
            |(metric, _): &(Metric, u64)| numbers::EXCHANGE.answers_by_code.contains(metric);
        self.each().into_iter().filter(is_told)
    }

    /// Those that are zero are left out, but for the most usual code and the bytes.
    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        let always = [
            numbers::NO_ERROR,
            numbers::SENT_BYTES,
            numbers::RECEIVED_BYTES,
        ];
        let told = move |(metric, count): &(Metric, u64)| *count > 0 || always.contains(metric);
        self.each().into_iter().filter(told)
    }

    fn refused(&self) -> u64 {
        self.server_failures + self.refused + self.other_codes
    }
}
