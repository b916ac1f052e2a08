//! Queries to a name server (`dns`).

use crate::metric::metrics;

use super::{
    BadAnswers, Carried, Charts, CurveMetrics, End, Ends, Exchange, Expects, Family, Kind, Noun,
    PairFigure, Reach, Track, TrackSource,
};

#[rustfmt::skip]
metrics! {
    ANSWERS = counter("dns.answers", One, "queries with a response of whatever code, warm-up not counted").sum().named();
    ANSWERS_PER_SECOND = gauge("dns.answers_per_second", PerSecond, "those queries over the time of the load (group.load_seconds); in series: over the interval").sum().named();
    ASKED_PER_SECOND = gauge("dns.asked_per_second", PerSecond, "rate that was asked for; absent in a closed loop").sum();
    BEST_RATE_PER_SECOND = gauge("dns.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run");
    LATENCY_SECONDS = histogram("dns.latency_seconds", Seconds, "from the intended start of a query to its response; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max").named();
    LATENCY_P50_SECONDS = gauge("dns.latency_p50_seconds", Seconds, "median of the latency over the interval");
    LATENCY_P99_SECONDS = gauge("dns.latency_p99_seconds", Seconds, "99th percentile of the latency over the interval");
    SERVICE_SECONDS = histogram("dns.service_seconds", Seconds, "from the moment that a query really left to its response; equals the latency in a closed loop").named();
    START_DELAY_SECONDS = histogram("dns.start_delay_seconds", Seconds, "from the intended start of a request to its real one, where there was room for it: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop").named();
    ROUND_TRIP_SECONDS = gauge("dns.round_trip_seconds", Seconds, "latency of each query by itself");
    CONNECT_SECONDS = histogram("dns.connect_seconds", Seconds, "time to connect over TCP, connections made during the load").named();
    ERRORS = counter("dns.errors", One, "queries without a response in time, those under way when their connection broke, and those that could not be sent").sum().named();
    FAILED_PER_SECOND = gauge("dns.failed_per_second", PerSecond, "queries that failed over the interval: without a response, or answered with an error code");
    ERROR_RATIO = gauge("dns.error_ratio", Ratio, "errors, unstarted queries and responses with an error code over all that were due; in series: errors over the queries that ended in the interval");
    UNSTARTED_QUERIES = counter("dns.unstarted_queries", One, "queries whose time came and that were never sent, because as many as allowed were unanswered until the end; without a rate, those that could not be tried in the time in which none was answered, by the pace of the answers").sum();
    LATE_RATIO = gauge("dns.late_ratio", Ratio, "share of queries that left more than 1 ms after their intended start although there was room for them").max().named();
    WINDOW_FULL_RATIO = gauge("dns.window_full_ratio", Ratio, "share of queries that had to wait because as many as --window allows were unanswered").max().named();
    OPEN_CONNECTIONS = gauge("dns.open_connections", One, "sockets, each with a port of its own; over TCP connections").sum();
    MADE_CONNECTIONS = counter("dns.made_connections", One, "connections over TCP made during the load, in place of those that the server closed").sum();
    PORTS_EXHAUSTED = counter("dns.ports_exhausted", One, "connections that could not be made because no local port was left").sum();
    NO_ERROR = counter("dns.no_error", One, "responses with code NOERROR").sum();
    EMPTY_ANSWERS = counter("dns.empty_answers", One, "responses with code NOERROR that hold no record, counted in dns.no_error too").sum();
    NO_SUCH_NAME = counter("dns.no_such_name", One, "responses with code NXDOMAIN: the name does not exist").sum();
    SERVER_FAILURES = counter("dns.server_failures", One, "responses with code SERVFAIL: the server could not find the answer").sum();
    REFUSED = counter("dns.refused", One, "responses with code REFUSED: the server does not answer this host or this name").sum();
    OTHER_CODES = counter("dns.other_codes", One, "responses with any other code").sum();
    TRUNCATED = counter("dns.truncated", One, "responses over UDP that were cut to fit; a resolver would repeat such a query over TCP, this load does not").sum();
    UNEXPECTED_MESSAGES = counter("dns.unexpected_messages", One, "messages that answer no query under way: late, repeated, or from elsewhere").sum();
    UNREACHABLE = counter("dns.unreachable", One, "times that the server's host said that nothing listens on the port").sum();
    SENT_BYTES = counter("dns.sent_bytes", Bytes, "bytes of the answered queries, without the headers of UDP or TCP").sum();
    RECEIVED_BYTES = counter("dns.received_bytes", Bytes, "bytes of their responses, likewise").sum();
    CLIENT_CPU_RATIO = gauge("dns.client_cpu_ratio", Ratio, "CPU time of the busiest asking thread over elapsed time, 1 = one core").max().named();
    CLIENT_WAIT_RATIO = gauge("dns.client_wait_ratio", Ratio, "share of time that an asking thread was ready to run but had no CPU").max();
}

/// The numbers that it shares with every exchange.
pub const EXCHANGE: Exchange = Exchange {
    answered: ANSWERS,
    per_second: ANSWERS_PER_SECOND,
    asked: ASKED_PER_SECOND,
    best: BEST_RATE_PER_SECOND,
    latency: LATENCY_SECONDS,
    latency_p50: LATENCY_P50_SECONDS,
    latency_p99: LATENCY_P99_SECONDS,
    service: SERVICE_SECONDS,
    start_delay: START_DELAY_SECONDS,
    round_trip: ROUND_TRIP_SECONDS,
    connect: CONNECT_SECONDS,
    handshake: None,
    errors: ERRORS,
    error_ratio: ERROR_RATIO,
    unstarted: UNSTARTED_QUERIES,
    late_ratio: LATE_RATIO,
    window_full_ratio: WINDOW_FULL_RATIO,
    open_connections: OPEN_CONNECTIONS,
    ports_exhausted: PORTS_EXHAUSTED,
    pausing_ratio: None,
    failed_per_second: Some(FAILED_PER_SECOND),
    late_starts: None,
    notable_answers: &[
        NO_SUCH_NAME,
        SERVER_FAILURES,
        REFUSED,
        OTHER_CODES,
        EMPTY_ANSWERS,
        TRUNCATED,
    ],
    bad_answers: Some(BadAnswers {
        metrics: &[SERVER_FAILURES, REFUSED, OTHER_CODES],
        says: "verdict-bad-code",
        says_with_losses: "verdict-errors-and-bad-code",
    }),
    answers_by_code: &[
        NO_ERROR,
        NO_SUCH_NAME,
        SERVER_FAILURES,
        REFUSED,
        OTHER_CODES,
    ],
    failure_kinds: &[SERVER_FAILURES, REFUSED, OTHER_CODES],
    connects_each_time: false,
    noun: Noun::Requests,
    own: &[],
    note: None,
    parts: &[],
    named: None,
    between: None,
};

/// The kind.
pub const KIND: Kind = Kind {
    name: "dns",
    question: "how many queries per second does a name server answer, and how long does each take?",
    family: Family::Exchange(&EXCHANGE),
    reach: &[Reach::Strangers],
    source: "dns",
    metrics: METRICS,
    ends: Ends {
        near: End {
            name: "client",
            cpu: CLIENT_CPU_RATIO,
            wait: Some(CLIENT_WAIT_RATIO),
            buffer: None,
        },
        far: None,
    },
    done: ANSWERS,
    curve: Some(CurveMetrics {
        offered: ASKED_PER_SECOND,
        delivered: ANSWERS_PER_SECOND,
        latency: Some(LATENCY_SECONDS),
        shares: &[("errors", ERROR_RATIO), ("loss", ERROR_RATIO)],
        best: BEST_RATE_PER_SECOND,
    }),
    carried: |metrics| {
        let parts = [SENT_BYTES, RECEIVED_BYTES];
        Some(Carried {
            bytes: parts.iter().filter_map(|part| part.of(metrics)).sum(),
            seconds: ANSWERS.of(metrics)? / ANSWERS_PER_SECOND.of(metrics)?,
        })
    },
    charts: Charts {
        arrived: None,
        sent: None,
        per_second: Some(ANSWERS_PER_SECOND),
        latency: Some([LATENCY_P50_SECONDS, LATENCY_P99_SECONDS]),
    },
    tracks: &[
        TrackSource {
            track: Track::Answers,
            metric: ANSWERS_PER_SECOND,
            suffix: "",
        },
        TrackSource {
            track: Track::Latency,
            metric: LATENCY_P50_SECONDS,
            suffix: "p50",
        },
        TrackSource {
            track: Track::Latency,
            metric: LATENCY_P99_SECONDS,
            suffix: "p99",
        },
        TrackSource {
            track: Track::Loss,
            metric: ERROR_RATIO,
            suffix: "",
        },
    ],
    expects: Expects {
        line_rate: None,
        latency: false,
        loss: false,
        errors: true,
    },
    pair_figures: &[PairFigure {
        metric: ANSWERS_PER_SECOND,
        stat: None,
        more_is_better: true,
    }],
    layer: None,
    by_label: true,
    is_plan: false,
    takes_turns: false,
    options: &[
        "connections",
        "find",
        "max-skew",
        "rate",
        "threads",
        "transport",
        "udp-bytes",
        "window",
    ],
};
