//! Decision support on a database (`dbt3`). Its numbers are those of [`sql`], and the ones of this file.

use crate::metric::{Metric, metrics};

use super::{Exchange, Family, Kind, Part, sql};

#[rustfmt::skip]
metrics! {
    COMPOSITE = gauge("dbt3.composite", One, "geometric mean of power and throughput").named();
    POWER = gauge("dbt3.power", One, "queries per hour of one stream, times the scale factor: 3600 over the geometric mean of the seconds of 22 queries and two refreshes; absent when one of them failed").named();
    THROUGHPUT = gauge("dbt3.throughput", One, "queries per hour of all streams together, times the scale factor; absent when one of them failed").named();
    THROUGHPUT_SECONDS = gauge("dbt3.throughput_seconds", Seconds, "from the first begin to the last end of a query or refresh in the throughput test").named();
    SCALE_FACTOR = gauge("dbt3.scale_factor", One, "scale factor of the database: 1 has 6,000,000 lines of 1,500,000 orders").named();
    STREAMS = gauge("dbt3.streams", One, "streams of queries in the throughput test").named();
    QUERY_01_ANSWERED = counter("dbt3.query01", One, "answers to query 1: totals of all lines shipped until a day").sum();
    QUERY_02_ANSWERED = counter("dbt3.query02", One, "answers to query 2: who sells a part at a region's lowest price").sum();
    QUERY_03_ANSWERED = counter("dbt3.query03", One, "answers to query 3: the most valuable orders that were not shipped on a day").sum();
    QUERY_04_ANSWERED = counter("dbt3.query04", One, "answers to query 4: orders with a line that came too late").sum();
    QUERY_05_ANSWERED = counter("dbt3.query05", One, "answers to query 5: what suppliers sold to customers of their own nation").sum();
    QUERY_06_ANSWERED = counter("dbt3.query06", One, "answers to query 6: what small discounts cost in a year").sum();
    QUERY_07_ANSWERED = counter("dbt3.query07", One, "answers to query 7: what two nations sold to each other").sum();
    QUERY_08_ANSWERED = counter("dbt3.query08", One, "answers to query 8: a nation's share of a region's purchases").sum();
    QUERY_09_ANSWERED = counter("dbt3.query09", One, "answers to query 9: profit with parts of some name").sum();
    QUERY_10_ANSWERED = counter("dbt3.query10", One, "answers to query 10: customers who returned the most").sum();
    QUERY_11_ANSWERED = counter("dbt3.query11", One, "answers to query 11: parts that make up a notable share of a nation's stock").sum();
    QUERY_12_ANSWERED = counter("dbt3.query12", One, "answers to query 12: late lines of two ways of shipping").sum();
    QUERY_13_ANSWERED = counter("dbt3.query13", One, "answers to query 13: how many customers have so many orders").sum();
    QUERY_14_ANSWERED = counter("dbt3.query14", One, "answers to query 14: share of bargains in what was shipped in a month").sum();
    QUERY_15_ANSWERED = counter("dbt3.query15", One, "answers to query 15: the supplier who shipped the most in a quarter").sum();
    QUERY_16_ANSWERED = counter("dbt3.query16", One, "answers to query 16: suppliers without complaints per kind of part").sum();
    QUERY_17_ANSWERED = counter("dbt3.query17", One, "answers to query 17: a year's revenue of small orders").sum();
    QUERY_18_ANSWERED = counter("dbt3.query18", One, "answers to query 18: the largest orders").sum();
    QUERY_19_ANSWERED = counter("dbt3.query19", One, "answers to query 19: revenue of three kinds of parts that were handed over").sum();
    QUERY_20_ANSWERED = counter("dbt3.query20", One, "answers to query 20: who has more in stock than half of a year's shipments").sum();
    QUERY_21_ANSWERED = counter("dbt3.query21", One, "answers to query 21: suppliers who alone kept orders waiting").sum();
    QUERY_22_ANSWERED = counter("dbt3.query22", One, "answers to query 22: customers with money who never ordered").sum();
    NEW_ANSWERED = counter("dbt3.refresh_in", One, "times that it was carried out, first refresh: new orders come in").sum();
    OLD_ANSWERED = counter("dbt3.refresh_out", One, "times that it was carried out, second refresh: the same orders go").sum();
    QUERY_01_SECONDS = histogram("dbt3.query01_seconds", Seconds, "time of query 1: totals of all lines shipped until a day").named();
    QUERY_02_SECONDS = histogram("dbt3.query02_seconds", Seconds, "time of query 2: who sells a part at a region's lowest price").named();
    QUERY_03_SECONDS = histogram("dbt3.query03_seconds", Seconds, "time of query 3: the most valuable orders that were not shipped on a day").named();
    QUERY_04_SECONDS = histogram("dbt3.query04_seconds", Seconds, "time of query 4: orders with a line that came too late").named();
    QUERY_05_SECONDS = histogram("dbt3.query05_seconds", Seconds, "time of query 5: what suppliers sold to customers of their own nation").named();
    QUERY_06_SECONDS = histogram("dbt3.query06_seconds", Seconds, "time of query 6: what small discounts cost in a year").named();
    QUERY_07_SECONDS = histogram("dbt3.query07_seconds", Seconds, "time of query 7: what two nations sold to each other").named();
    QUERY_08_SECONDS = histogram("dbt3.query08_seconds", Seconds, "time of query 8: a nation's share of a region's purchases").named();
    QUERY_09_SECONDS = histogram("dbt3.query09_seconds", Seconds, "time of query 9: profit with parts of some name").named();
    QUERY_10_SECONDS = histogram("dbt3.query10_seconds", Seconds, "time of query 10: customers who returned the most").named();
    QUERY_11_SECONDS = histogram("dbt3.query11_seconds", Seconds, "time of query 11: parts that make up a notable share of a nation's stock").named();
    QUERY_12_SECONDS = histogram("dbt3.query12_seconds", Seconds, "time of query 12: late lines of two ways of shipping").named();
    QUERY_13_SECONDS = histogram("dbt3.query13_seconds", Seconds, "time of query 13: how many customers have so many orders").named();
    QUERY_14_SECONDS = histogram("dbt3.query14_seconds", Seconds, "time of query 14: share of bargains in what was shipped in a month").named();
    QUERY_15_SECONDS = histogram("dbt3.query15_seconds", Seconds, "time of query 15: the supplier who shipped the most in a quarter").named();
    QUERY_16_SECONDS = histogram("dbt3.query16_seconds", Seconds, "time of query 16: suppliers without complaints per kind of part").named();
    QUERY_17_SECONDS = histogram("dbt3.query17_seconds", Seconds, "time of query 17: a year's revenue of small orders").named();
    QUERY_18_SECONDS = histogram("dbt3.query18_seconds", Seconds, "time of query 18: the largest orders").named();
    QUERY_19_SECONDS = histogram("dbt3.query19_seconds", Seconds, "time of query 19: revenue of three kinds of parts that were handed over").named();
    QUERY_20_SECONDS = histogram("dbt3.query20_seconds", Seconds, "time of query 20: who has more in stock than half of a year's shipments").named();
    QUERY_21_SECONDS = histogram("dbt3.query21_seconds", Seconds, "time of query 21: suppliers who alone kept orders waiting").named();
    QUERY_22_SECONDS = histogram("dbt3.query22_seconds", Seconds, "time of query 22: customers with money who never ordered").named();
    NEW_SECONDS = histogram("dbt3.refresh_in_seconds", Seconds, "time of first refresh: new orders come in").named();
    OLD_SECONDS = histogram("dbt3.refresh_out_seconds", Seconds, "time of second refresh: the same orders go").named();
}

/// Time of each query, then of both refreshes.
#[rustfmt::skip]
pub const LATENCIES: [Metric; 24] = [
    QUERY_01_SECONDS, QUERY_02_SECONDS, QUERY_03_SECONDS, QUERY_04_SECONDS,
    QUERY_05_SECONDS, QUERY_06_SECONDS, QUERY_07_SECONDS, QUERY_08_SECONDS,
    QUERY_09_SECONDS, QUERY_10_SECONDS, QUERY_11_SECONDS, QUERY_12_SECONDS,
    QUERY_13_SECONDS, QUERY_14_SECONDS, QUERY_15_SECONDS, QUERY_16_SECONDS,
    QUERY_17_SECONDS, QUERY_18_SECONDS, QUERY_19_SECONDS, QUERY_20_SECONDS,
    QUERY_21_SECONDS, QUERY_22_SECONDS, NEW_SECONDS, OLD_SECONDS,
];

/// Number of answers to each of them, in the same order.
#[rustfmt::skip]
pub const COUNTS: [Metric; 24] = [
    QUERY_01_ANSWERED, QUERY_02_ANSWERED, QUERY_03_ANSWERED, QUERY_04_ANSWERED,
    QUERY_05_ANSWERED, QUERY_06_ANSWERED, QUERY_07_ANSWERED, QUERY_08_ANSWERED,
    QUERY_09_ANSWERED, QUERY_10_ANSWERED, QUERY_11_ANSWERED, QUERY_12_ANSWERED,
    QUERY_13_ANSWERED, QUERY_14_ANSWERED, QUERY_15_ANSWERED, QUERY_16_ANSWERED,
    QUERY_17_ANSWERED, QUERY_18_ANSWERED, QUERY_19_ANSWERED, QUERY_20_ANSWERED,
    QUERY_21_ANSWERED, QUERY_22_ANSWERED, NEW_ANSWERED, OLD_ANSWERED,
];

const PARTS: [Part; LATENCIES.len()] = sql::parts(&COUNTS, &LATENCIES);

/// Its numbers as an exchange.
pub const EXCHANGE: Exchange = Exchange {
    own: &[COMPOSITE, POWER, THROUGHPUT, SCALE_FACTOR],
    parts: &PARTS,
    ..sql::EXCHANGE
};

/// The numbers of all transactions, then its own.
const ALL: [Metric; sql::METRICS.len() + METRICS.len()] = sql::and(METRICS);

/// The kind.
pub const KIND: Kind = Kind {
    name: "dbt3",
    question: "how many analytical queries per hour does a database answer, one after the other and at a time?",
    family: Family::Exchange(&EXCHANGE),
    metrics: &ALL,
    curve: None,
    takes_turns: true,
    options: &["find", "max-skew", "streams"],
    ..sql::KIND
};
