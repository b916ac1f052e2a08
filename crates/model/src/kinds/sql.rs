//! Numbers of transactions on databases, which all loads on databases share.

use crate::metric::{Metric, metrics};

use super::{
    CurveMetrics, End, Ends, Exchange, Expects, Family, Kind, Noun, PairFigure, Part, Reach, Track,
    TrackSource,
};

#[rustfmt::skip]
metrics! {
    TRANSACTIONS = counter("sql.transactions", One, "transactions that the server acknowledged, warm-up not counted").sum().named();
    TRANSACTIONS_PER_SECOND = gauge("sql.transactions_per_second", PerSecond, "those transactions over the time of the load (group.load_seconds), connecting not counted; in series: over the interval").sum().named();
    ASKED_PER_SECOND = gauge("sql.asked_per_second", PerSecond, "rate that was asked for; absent in a closed loop").sum();
    BEST_RATE_PER_SECOND = gauge("sql.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run");
    LATENCY_SECONDS = histogram("sql.latency_seconds", Seconds, "from the intended start of a transaction to the answer to its last statement, further tries included; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max").named();
    LATENCY_P50_SECONDS = gauge("sql.latency_p50_seconds", Seconds, "median of the latency over the interval");
    LATENCY_P99_SECONDS = gauge("sql.latency_p99_seconds", Seconds, "99th percentile of the latency over the interval");
    SERVICE_SECONDS = histogram("sql.service_seconds", Seconds, "from the moment that a transaction really began to its end; equals the latency in a closed loop").named();
    START_DELAY_SECONDS = histogram("sql.start_delay_seconds", Seconds, "from the intended start of a transaction to its real one, where a session was free: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop").named();
    ROUND_TRIP_SECONDS = gauge("sql.round_trip_seconds", Seconds, "latency of each transaction by itself");
    CONNECT_SECONDS = histogram("sql.connect_seconds", Seconds, "time to connect again and prepare the statements, sessions made during the load").named();
    ERRORS = counter("sql.errors", One, "transactions that failed for good: refused by the server, without an answer in time, or whose session broke").sum().named();
    ERROR_RATIO = gauge("sql.error_ratio", Ratio, "errors and unstarted transactions over all that were due; in series: errors over the transactions that ended in the interval");
    UNSTARTED_TRANSACTIONS = counter("sql.unstarted_transactions", One, "transactions whose time came and that never began, because all sessions were busy until the end; without a rate, those that could not be tried in the time in which none succeeded, by the pace of the others").sum();
    LATE_RATIO = gauge("sql.late_ratio", Ratio, "share of transactions that began more than 1 ms after their intended start although a session was free").max().named();
    WINDOW_FULL_RATIO = gauge("sql.window_full_ratio", Ratio, "share of transactions that had to wait for a free session").max().named();
    OPEN_CONNECTIONS = gauge("sql.open_connections", One, "sessions on the database").sum();
    MADE_CONNECTIONS = counter("sql.made_connections", One, "sessions made during the load, in place of those that were lost").sum();
    PORTS_EXHAUSTED = counter("sql.ports_exhausted", One, "sessions that could not be made because no local port was left").sum();
    ATTEMPTS = counter("sql.attempts", One, "tries of transactions, successful or not").sum();
    SERIALIZATION_FAILURES = counter("sql.serialization_failures", One, "tries that the server could not put in order with others (SQLSTATE 40001)").sum();
    DEADLOCKS = counter("sql.deadlocks", One, "tries that the server ended to resolve a deadlock (SQLSTATE 40P01, MySQL 1213)").sum();
    LOCK_TIMEOUTS = counter("sql.lock_timeouts", One, "tries that got no lock in time (SQLSTATE 55P03, MySQL 1205, SQLite's busy)").sum();
    CONSTRAINT_VIOLATIONS = counter("sql.constraint_violations", One, "tries that broke a constraint, such as a key that exists (SQLSTATE class 23)").sum();
    DENIED_STATEMENTS = counter("sql.denied_statements", One, "tries that the user has no right to (SQLSTATE 42501, class 28)").sum();
    WRONG_STATEMENTS = counter("sql.wrong_statements", One, "tries whose statement is wrong, or names what does not exist (SQLSTATE class 42, 3D, 3F)").sum();
    CANCELLED_STATEMENTS = counter("sql.cancelled_statements", One, "tries whose statement the server cancelled, as after its statement timeout (SQLSTATE 57014)").sum();
    RESOURCE_FAILURES = counter("sql.resource_failures", One, "tries for which the server had no room: disk, memory or sessions (SQLSTATE class 53)").sum();
    LOST_SESSIONS = counter("sql.lost_sessions", One, "sessions that ended during the load").sum();
    POOL_USED = gauge("sql.pool.used", One, "sessions of the pool that clients have, on average over the interval; in the result: over the load; absent without --pool").sum();
    POOL_MAX = gauge("sql.pool.max", One, "sessions of the pool; absent without --pool").sum();
    POOL_WAITING = gauge("sql.pool.waiting", One, "clients that wait for a session of the pool, on average over the interval; in the result: over the load; absent without --pool").sum().named();
    POOL_WAIT_SECONDS = histogram("sql.pool.wait_seconds", Seconds, "wait of a transaction for a session of the pool, which the latency holds; absent without --pool").named();
    POOL_WAIT_MEAN_SECONDS = gauge("sql.pool.wait_mean_seconds", Seconds, "mean wait for a session of the pool over the interval, of those who got one");
    POOL_TIMEOUTS = counter("sql.pool.timeouts", One, "transactions that failed because no session of the pool was free in time").sum();
    PAUSING_RATIO = gauge("sql.pausing_ratio", Ratio, "share of the clients' time that they spend in pauses which the load asks for (--think, --pace); absent without pauses").max();
    CANCELLED_AT_END = counter("sql.cancelled_at_end", One, "transactions under way when the load was ended; they are neither counted nor errors").sum();
    CLIENT_CPU_SECONDS_PER_TRANSACTION = gauge("sql.client_cpu_seconds_per_transaction", Seconds, "CPU time of the load's threads over the transactions that they carried out, warm-up included").named();
    ACKNOWLEDGED = counter("sql.acknowledged", One, "commits of transactions with a mark that the server acknowledged, warm-up included").sum();
    LOST_ACKNOWLEDGED = counter("sql.lost_acknowledged", One, "acknowledged commits whose marks are not in the database at the end: 0 on a server that keeps what it acknowledges").named();
    DUPLICATED_MARKS = counter("sql.duplicated_marks", One, "marks that are in the database more than once at the end").named();
    KEPT_CONDITIONS = counter("sql.kept_conditions", One, "conditions on the tables that hold at the end");
    BROKEN_CONDITIONS = counter("sql.broken_conditions", One, "conditions on the tables that do not hold at the end").named();
    SETTING = gauge("sql.setting", One, "1 for each setting of the database in force when the load begins; labels name and value, and commits (kept, at-risk) for those that decide whether an acknowledged commit outlives a crash");
    STATEMENT_CALLS = counter("sql.statement.calls", One, "executions of a statement while the load went on, by pg_stat_statements or performance_schema; label statement. MySQL: by sessions that stood when the load ended; MariaDB counts no prepared statements");
    STATEMENT_SECONDS = counter("sql.statement.seconds", Seconds, "time that the server took for these executions; label statement");
    STATEMENT_ROWS = counter("sql.statement.rows", One, "rows that these executions gave or changed; label statement");
    STATEMENT_ROWS_EXAMINED = counter("sql.statement.rows_examined", One, "rows that these executions read in tables; label statement; only of MariaDB and MySQL");
    STATEMENT_BLOCKS_HIT = counter("sql.statement.blocks_hit", One, "blocks that these executions found in the server's cache; label statement; only of PostgreSQL");
    STATEMENT_BLOCKS_READ = counter("sql.statement.blocks_read", One, "blocks that these executions had to read into the server's cache; label statement; only of PostgreSQL");
    STATEMENTS_READ = gauge("sql.statements_read", One, "1 when the server's counters of statements could be read before and after the load, 0 with the reason in the label why");
    PLAN = gauge("sql.plan", One, "1 when the load begins and when it has ended for the plan of each of its prepared statements; labels statement and plan");
    PLANS_READ = gauge("sql.plans_read", One, "1 when the plans could be asked for before and after the load, 0 with the reason in the label why");
    CLIENT_CPU_RATIO = gauge("sql.client_cpu_ratio", Ratio, "CPU time of the busiest load thread over elapsed time, 1 = one core").max().named();
    EMBEDDED_RATIO = gauge("sql.embedded_ratio", Ratio, "share of the load threads' time that the transactions of an embedded database take, which runs in them; absent with a server");
    CLIENT_WAIT_RATIO = gauge("sql.client_wait_ratio", Ratio, "share of time that a load thread was ready to run but had no CPU").max();
}

/// The numbers that it shares with every exchange.
pub const EXCHANGE: Exchange = Exchange {
    answered: TRANSACTIONS,
    per_second: TRANSACTIONS_PER_SECOND,
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
    unstarted: UNSTARTED_TRANSACTIONS,
    late_ratio: LATE_RATIO,
    window_full_ratio: WINDOW_FULL_RATIO,
    open_connections: OPEN_CONNECTIONS,
    ports_exhausted: PORTS_EXHAUSTED,
    pausing_ratio: Some(PAUSING_RATIO),
    failed_per_second: None,
    late_starts: None,
    notable_answers: &[
        SERIALIZATION_FAILURES,
        DEADLOCKS,
        LOCK_TIMEOUTS,
        CONSTRAINT_VIOLATIONS,
        DENIED_STATEMENTS,
        WRONG_STATEMENTS,
        CANCELLED_STATEMENTS,
        RESOURCE_FAILURES,
        LOST_SESSIONS,
    ],
    bad_answers: None,
    answers_by_code: &[],
    failure_kinds: &[],
    connects_each_time: false,
    noun: Noun::Transactions,
    own: &[],
    note: Some("report-number-not-tpc"),
    parts: &[],
    named: None,
    between: None,
};

/// These numbers, then those of one workload.
pub(super) const fn and<const N: usize>(own: &[Metric]) -> [Metric; N] {
    assert!(N == METRICS.len() + own.len());
    let mut all = [TRANSACTIONS; N];
    let mut at = 0;
    while at < N {
        all[at] = match at < METRICS.len() {
            true => METRICS[at],
            false => own[at - METRICS.len()],
        };
        at += 1;
    }
    all
}

/// Kinds of transactions from what counts them and their latencies.
pub(super) const fn parts<const N: usize>(
    counts: &[Metric; N],
    latencies: &[Metric; N],
) -> [Part; N] {
    let mut parts = [Part {
        count: TRANSACTIONS,
        latency: LATENCY_SECONDS,
    }; N];
    let mut at = 0;
    while at < N {
        parts[at] = Part {
            count: counts[at],
            latency: latencies[at],
        };
        at += 1;
    }
    parts
}

/// Properties common to every kind of load on a database; a workload gives its name and question.
pub(super) const KIND: Kind = Kind {
    name: "sql",
    question: "",
    family: Family::Exchange(&EXCHANGE),
    // SQLite is a file of the host that carries out the load.
    reach: &[Reach::Strangers, Reach::Files],
    source: "sql",
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
    done: TRANSACTIONS,
    curve: Some(CurveMetrics {
        offered: ASKED_PER_SECOND,
        delivered: TRANSACTIONS_PER_SECOND,
        latency: Some(LATENCY_SECONDS),
        shares: &[("errors", ERROR_RATIO), ("loss", ERROR_RATIO)],
        best: BEST_RATE_PER_SECOND,
    }),
    carried: |_| None,
    charts: super::Charts {
        arrived: None,
        sent: None,
        per_second: Some(TRANSACTIONS_PER_SECOND),
        latency: Some([LATENCY_P50_SECONDS, LATENCY_P99_SECONDS]),
    },
    tracks: &[
        TrackSource {
            track: Track::Answers,
            metric: TRANSACTIONS_PER_SECOND,
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
        metric: TRANSACTIONS_PER_SECOND,
        stat: None,
        more_is_better: true,
    }],
    layer: None,
    by_label: true,
    is_plan: false,
    takes_turns: false,
    options: &[
        "clients", "commit", "find", "max-skew", "pool", "rate", "threads", "versus",
    ],
};
