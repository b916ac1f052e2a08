//! A mix of transactions of one's own on a database (`sqlmix`). Its numbers are those of [`sql`], and those of this
//! file for the transactions of each name.

use crate::metric::{Metric, metrics};

use super::exchange::NamedParts;
use super::{Exchange, Family, Kind, sql};

#[rustfmt::skip]
metrics! {
    TRANSACTIONS = counter("sqlmix.transactions", One, "transactions of one name that the server acknowledged, warm-up not counted");
    TRANSACTIONS_PER_SECOND = gauge("sqlmix.transactions_per_second", PerSecond, "those transactions over the time of the load; in series: over the interval").named();
    LATENCY_SECONDS = histogram("sqlmix.latency_seconds", Seconds, "from the intended start of a transaction of one name to the answer to its last statement, further tries included").named();
    LATENCY_P50_SECONDS = gauge("sqlmix.latency_p50_seconds", Seconds, "median of that latency over the interval");
    LATENCY_P99_SECONDS = gauge("sqlmix.latency_p99_seconds", Seconds, "99th percentile of that latency over the interval");
    ERRORS = counter("sqlmix.errors", One, "transactions of one name that failed for good");
    ERRORS_PER_SECOND = gauge("sqlmix.errors_per_second", PerSecond, "those failures over the interval");
}

/// Its numbers as an exchange.
pub const EXCHANGE: Exchange = Exchange {
    named: Some(NamedParts {
        count: TRANSACTIONS,
        per_second: TRANSACTIONS_PER_SECOND,
        latency: LATENCY_SECONDS,
        latency_p50: LATENCY_P50_SECONDS,
        latency_p99: LATENCY_P99_SECONDS,
        errors: ERRORS,
        errors_per_second: ERRORS_PER_SECOND,
    }),
    ..sql::EXCHANGE
};

/// The numbers of all transactions, then its own.
const ALL: [Metric; sql::METRICS.len() + METRICS.len()] = sql::and(METRICS);

/// The kind.
pub const KIND: Kind = Kind {
    name: "sqlmix",
    question: "how many transactions of one's own mix does a database carry out per second, and what do conflicts cost?",
    family: Family::Exchange(&EXCHANGE),
    metrics: &ALL,
    ..sql::KIND
};
