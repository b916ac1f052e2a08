//! Details that `http` records of each request beside counts and latencies.

use serde::{Deserialize, Serialize};
use sokudo_http::{FailureKind, Phase};
use sokudo_model::kinds::http as numbers;
use sokudo_model::{Metric, Spent};
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Connecting, Details};

/// Time of requests by its stages, and the status codes of failed requests.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct VisitDetails {
    pub(crate) connecting: Connecting,
    /// Time of the answered requests by stage.
    pub(crate) spent: Spent,
    /// Answers that say that the request failed.
    pub(crate) refused: u64,
    /// Answers by the first digit of their status; 0 stands for all others.
    #[serde(default)]
    pub(crate) classes: [u64; 6],
    /// Requests without a whole answer, in the order of [`FAILURES`].
    #[serde(default)]
    pub(crate) failures: [u64; FAILURES.len()],
    /// Visitors at the end of an interval.
    #[serde(skip)]
    pub(crate) present: Option<u64>,
    /// Statuses of failed requests of an interval, with the number of each.
    #[serde(skip)]
    statuses: Vec<(u16, u64)>,
    /// Stages and kinds of its failures.
    #[serde(skip)]
    stages: Vec<((Phase, FailureKind), u64)>,
}

/// Statuses and kinds that are told apart within an interval: servers may send any status.
const MOST_REASONS: usize = 40;

/// Counts one of these; further kinds than are told apart are dropped.
fn count<K: PartialEq>(all: &mut Vec<(K, u64)>, what: K) {
    if let Some((_, count)) = all.iter_mut().find(|(known, _)| *known == what) {
        *count += 1;
    } else if all.len() < MOST_REASONS {
        all.push((what, 1));
    }
}

/// The usual phrase of a status that tells of an error (RFC 9110 §15.5, §15.6); empty for others.
fn phrase(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}

/// Metric of each class of status, by its first digit.
const CLASSES: [Metric; 6] = [
    numbers::STATUS_OTHER,
    numbers::STATUS_1XX,
    numbers::STATUS_2XX,
    numbers::STATUS_3XX,
    numbers::STATUS_4XX,
    numbers::STATUS_5XX,
];

/// Kinds of failures that are told over time.
const FAILURES: [Metric; 6] = [
    numbers::REFUSED,
    numbers::RESETS,
    numbers::TIMEOUTS,
    numbers::CLOSED_EARLY,
    numbers::MALFORMED,
    numbers::GIVEN_UP,
];

impl VisitDetails {
    /// An answer of this status.
    #[inline]
    pub(crate) fn answered(&mut self, status: u16) {
        let class = usize::from(status / 100);
        self.classes[if class < CLASSES.len() { class } else { 0 }] += 1;
        if status >= 400 {
            count(&mut self.statuses, status);
        }
    }

    /// A request without a whole answer; kinds that have no place of their own count as errors only.
    pub(crate) fn failed(&mut self, stage: Phase, kind: FailureKind) {
        count(&mut self.stages, (stage, kind));
        let metric = match kind {
            FailureKind::Refused => numbers::REFUSED,
            FailureKind::Reset => numbers::RESETS,
            FailureKind::TimedOut => numbers::TIMEOUTS,
            FailureKind::ClosedEarly | FailureKind::CutChunk { .. } => numbers::CLOSED_EARLY,
            FailureKind::Malformed(_) | FailureKind::Http2(_) => numbers::MALFORMED,
            FailureKind::StreamReset(_) | FailureKind::GoneAway(_) => numbers::GIVEN_UP,
            _ => return,
        };
        if let Some(at) = FAILURES.iter().position(|known| *known == metric) {
            self.failures[at] += 1;
        }
    }
}

impl Details for VisitDetails {
    fn prepared() -> Self {
        Self {
            connecting: Connecting::prepared(),
            statuses: Vec::with_capacity(MOST_REASONS),
            stages: Vec::with_capacity(MOST_REASONS),
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        self.connecting.clear();
        self.spent = Spent::default();
        self.refused = 0;
        self.classes = Default::default();
        self.failures = Default::default();
        self.present = None;
        self.statuses.clear();
        self.stages.clear();
    }

    fn merge(&mut self, later: &Self) {
        self.connecting.merge(&later.connecting);
        self.spent.add(&later.spent);
        self.refused += later.refused;
        let classes = self.classes.iter_mut().zip(later.classes);
        let failures = self.failures.iter_mut().zip(later.failures);
        classes.chain(failures).for_each(|(sum, more)| *sum += more);
    }

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        let Connecting { connect, handshake } = &self.connecting;
        [
            (numbers::CONNECT_SECONDS, connect),
            (numbers::HANDSHAKE_SECONDS, handshake),
        ]
        .into_iter()
    }

    fn values(&self, answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        let present = self.present.map(|n| (numbers::ACTIVE_USERS, n as f64));
        self.spent.means(answered).chain(present)
    }

    fn told(&self) -> impl Iterator<Item = (Metric, u64)> {
        let classes = CLASSES.into_iter().zip(self.classes);
        classes.chain(FAILURES.into_iter().zip(self.failures))
    }

    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        std::iter::empty()
    }

    fn reasons(&self) -> impl Iterator<Item = (String, String, u64)> {
        let statuses = self.statuses.iter();
        let answered =
            statuses.map(|(status, n)| (status.to_string(), phrase(*status).to_owned(), *n));
        let broken = self.stages.iter().map(|((stage, kind), n)| {
            let says = format!("{}: {}", stage.name(), kind.name());
            (String::new(), says, *n)
        });
        answered.chain(broken)
    }

    fn refused(&self) -> u64 {
        self.refused
    }
}
