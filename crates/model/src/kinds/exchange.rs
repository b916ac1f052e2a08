//! Numbers of requests and their answers.

use crate::metric::Metric;
use crate::summary::Summary;

use super::Carried;

/// Metrics of the requests of each name, for a workload whose operator names them.
#[derive(Debug, Clone, Copy)]
pub struct NamedParts {
    /// Answered requests.
    pub count: Metric,
    /// Answered requests per second.
    pub per_second: Metric,
    /// From the intended start of a request to its answer.
    pub latency: Metric,
    /// Median of the latency per interval.
    pub latency_p50: Metric,
    /// 99th percentile of the latency per interval.
    pub latency_p99: Metric,
    /// Requests that failed.
    pub errors: Metric,
    /// Requests that failed, per second of the interval.
    pub errors_per_second: Metric,
}

/// Metrics that every exchange of requests and answers has, under names of its own.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// Answered requests.
    pub answered: Metric,
    /// Answered requests per second.
    pub per_second: Metric,
    /// Rate that was asked for; absent in a closed loop.
    pub asked: Metric,
    /// Highest rate that kept the bounds of a search.
    pub best: Metric,
    /// From the intended start of a request to its answer.
    pub latency: Metric,
    /// Median of the latency per interval.
    pub latency_p50: Metric,
    /// 99th percentile of the latency per interval.
    pub latency_p99: Metric,
    /// From the real start of a request to its answer.
    pub service: Metric,
    /// From the intended start of a request to its real one, where there was room for it: the
    /// generator's own delay, which the latency holds and the service time does not.
    pub start_delay: Metric,
    /// Latency of each request by itself.
    pub round_trip: Metric,
    /// Time to connect.
    pub connect: Metric,
    /// Time of the TLS handshake; `None` for a workload without TLS.
    pub handshake: Option<Metric>,
    /// Requests without an answer.
    pub errors: Metric,
    /// Failed requests over all that were due.
    pub error_ratio: Metric,
    /// Requests whose time came and that were never sent.
    pub unstarted: Metric,
    /// Share of requests that left late although there was room for them.
    pub late_ratio: Metric,
    /// Share of requests that had to wait for room.
    pub window_full_ratio: Metric,
    /// Connections that were held.
    pub open_connections: Metric,
    /// Connections that could not be made because no local port was left.
    pub ports_exhausted: Metric,
    /// Share of the time that its users spend in pauses which the load asks for; `None` for a workload without pauses.
    pub pausing_ratio: Option<Metric>,
    /// Failed requests per second, for a workload that inspects its answers.
    pub failed_per_second: Option<Metric>,
    /// Requests that left late although there was room for them, for a workload that counts them.
    pub late_starts: Option<Metric>,
    /// Answers by what they say of themselves, and tries by how they ended, where that is worth a word; empty for
    /// a workload whose answers say nothing.
    pub notable_answers: &'static [Metric],
    /// Those that say that they are errors; `None` for a workload whose answers cannot.
    pub bad_answers: Option<BadAnswers>,
    /// Answers by their code, told over time; empty for a workload whose answers have none.
    pub answers_by_code: &'static [Metric],
    /// Failures by their kind, told over time: those that the errors count, and answers that say that
    /// they are errors.
    pub failure_kinds: &'static [Metric],
    /// Whether every request has a connection of its own.
    pub connects_each_time: bool,
    /// Name for its requests.
    pub noun: Noun,
    /// Numbers of the workload's own that people ask for first.
    pub own: &'static [Metric],
    /// Key of a remark that stands with every rate.
    pub note: Option<&'static str>,
    /// Its kinds of requests; empty for a workload with one kind.
    pub parts: &'static [Part],
    /// The same for names that the operator gives; `None` for a workload without them.
    pub named: Option<NamedParts>,
    /// The numbers of both ends, for a workload between two hosts of a run.
    pub between: Option<BetweenHosts>,
}

/// Name for the requests of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// Requests, which are answered.
    Requests,
    /// Transactions, which are carried out.
    Transactions,
}

impl Noun {
    /// Name in the variables of messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Transactions => "transactions",
        }
    }
}

/// One kind of the requests of a workload.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Requests of this kind that were answered.
    pub count: Metric,
    /// Their latency.
    pub latency: Metric,
}

/// Answers that say of themselves that they are errors.
#[derive(Debug, Clone, Copy)]
pub struct BadAnswers {
    /// Metrics that count them.
    pub metrics: &'static [Metric],
    /// Key of the sentence about them.
    pub says: &'static str,
    /// Key of the sentence when requests stayed without an answer, too.
    pub says_with_losses: &'static str,
}

/// Metrics of an exchange between two hosts of a run.
#[derive(Debug, Clone, Copy)]
pub struct BetweenHosts {
    /// Standard deviation of the latency.
    pub latency_sd: Metric,
    /// Size of each request.
    pub request_bytes: Metric,
    /// Size of each response.
    pub response_bytes: Metric,
    /// Bytes of request and response over the mean latency.
    pub one_way_bytes_per_second: Metric,
    /// Connections that ended before the test did.
    pub lost_connections: Metric,
    /// Requests that the answering end saw and answered.
    pub answered_requests: Metric,
    /// Connections and datagrams that belong to no flow of the test.
    pub foreign_messages: Metric,
}

impl Exchange {
    /// Volume of one flow: bytes of its answered requests and their responses.
    pub(super) fn carried(&self, metrics: &Summary) -> Option<Carried> {
        let between = self.between?;
        let each = between.request_bytes.of(metrics)? + between.response_bytes.of(metrics)?;
        let bytes = self.answered.of(metrics)? * each;
        // The rate of a single request is not known; its latency is.
        let speed = self.per_second.of(metrics).map(|rate| rate * each);
        let speed = speed.filter(|speed| *speed > 0.0);
        let speed = speed.or_else(|| between.one_way_bytes_per_second.of(metrics))?;
        Some(Carried::at(bytes, speed))
    }
}

/// Declares the metrics of a workload of requests between two hosts. The first two, which count
/// answered requests, are the workload's own; the others differ in the source only.
macro_rules! between_hosts {
    (
        source: $source:literal;
        $answered:ident = $make:ident($name:literal, $unit:ident, $help:literal) $(.$role:ident())*;
        $per_second:ident = $rate_make:ident($rate_name:literal, $rate_unit:ident, $rate_help:literal) $(.$rate_role:ident())*;
    ) => {
        $crate::metric::metrics! {
        $answered = $make($name, $unit, $help) $(.$role())*;
        $per_second = $rate_make($rate_name, $rate_unit, $rate_help) $(.$rate_role())*;
            ERRORS = counter(concat!($source, ".errors"), One, "requests without an answer in time, and those under way when their connection broke").sum().column().named();
            WINDOW_FULL_RATIO = gauge(concat!($source, ".window_full_ratio"), Ratio, "share of requests that had to wait because as many as --window allows were unanswered").max().column().named();
            LATE_RATIO = gauge(concat!($source, ".late_ratio"), Ratio, "share of requests that left more than 1 ms after their intended start although there was room for them").max().column().named();
            LATENCY_SD_SECONDS = gauge(concat!($source, ".latency_sd_seconds"), Seconds, "standard deviation of the latency").of_one().column().named();
            CLIENT_CPU_RATIO = gauge(concat!($source, ".client_cpu_ratio"), Ratio, "CPU time of the busiest asking thread over elapsed time, 1 = one core").max().column().named();
            SERVER_CPU_RATIO = gauge(concat!($source, ".server_cpu_ratio"), Ratio, "CPU time of the busiest answering thread over elapsed time, 1 = one core").max().column().named();
            ASKED_PER_SECOND = gauge(concat!($source, ".asked_per_second"), PerSecond, "rate that was asked for; absent in a closed loop").sum();
            BEST_RATE_PER_SECOND = gauge(concat!($source, ".best_rate_per_second"), PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run");
            LATENCY_SECONDS = histogram(concat!($source, ".latency_seconds"), Seconds, "from the intended start of a request to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max").named();
            LATENCY_P50_SECONDS = gauge(concat!($source, ".latency_p50_seconds"), Seconds, "median of the latency over the interval");
            LATENCY_P99_SECONDS = gauge(concat!($source, ".latency_p99_seconds"), Seconds, "99th percentile of the latency over the interval");
            SERVICE_SECONDS = histogram(concat!($source, ".service_seconds"), Seconds, "from the moment that a request really left to its answer; equals the latency in a closed loop").named();
            START_DELAY_SECONDS = histogram(concat!($source, ".start_delay_seconds"), Seconds, "from the intended start of a request to its real one, where there was room for it: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop").named();
            ROUND_TRIP_SECONDS = gauge(concat!($source, ".round_trip_seconds"), Seconds, "latency of each request by itself, at the time of its answer (see --keep)");
            CONNECT_SECONDS = histogram(concat!($source, ".connect_seconds"), Seconds, "time to connect, without the TLS handshake").named();
            HANDSHAKE_SECONDS = histogram(concat!($source, ".handshake_seconds"), Seconds, "time of the TLS handshake").named();
            REQUEST_BYTES = gauge(concat!($source, ".request_bytes"), Bytes, "size of each request, without the headers of the transport");
            RESPONSE_BYTES = gauge(concat!($source, ".response_bytes"), Bytes, "size of each response, likewise");
            ONE_WAY_BYTES_PER_SECOND = gauge(concat!($source, ".one_way_bytes_per_second"), BytesPerSecond, "bytes of request and response over the mean latency").of_one();
            ERROR_RATIO = gauge(concat!($source, ".error_ratio"), Ratio, "errors and unstarted requests over all that were due; in series: errors over the requests that ended in the interval");
            UNSTARTED_REQUESTS = counter(concat!($source, ".unstarted_requests"), One, "requests whose time came and that were never sent, because none of those before was answered; without a rate, those that could not be tried in the time in which none was answered, by the pace of the answers").sum();
            OPEN_CONNECTIONS = gauge(concat!($source, ".open_connections"), One, "connections that were held; one per thread at a time for crr").sum();
            LOST_CONNECTIONS = counter(concat!($source, ".lost_connections"), One, "connections that ended before the test did").sum();
            PORTS_EXHAUSTED = counter(concat!($source, ".ports_exhausted"), One, "connections that could not be made because no local port was left").sum();
            ANSWERED_REQUESTS = counter(concat!($source, ".answered_requests"), One, "requests that the answering end saw and answered, warm-up included").sum();
            FOREIGN_MESSAGES = counter(concat!($source, ".foreign_messages"), One, "connections and datagrams at the answering end that brought something else than requests of this test").sum();
            CLIENT_WAIT_RATIO = gauge(concat!($source, ".client_wait_ratio"), Ratio, "share of time that the asking thread was ready to run but had no CPU").max();
            SERVER_WAIT_RATIO = gauge(concat!($source, ".server_wait_ratio"), Ratio, "share of time that the answering thread was ready to run but had no CPU").max();
        }

        /// The numbers that it shares with every exchange.
        pub const EXCHANGE: $crate::kinds::Exchange = $crate::kinds::Exchange {
            answered: $answered,
            per_second: $per_second,
            asked: ASKED_PER_SECOND,
            best: BEST_RATE_PER_SECOND,
            latency: LATENCY_SECONDS,
            latency_p50: LATENCY_P50_SECONDS,
            latency_p99: LATENCY_P99_SECONDS,
            service: SERVICE_SECONDS,
            start_delay: START_DELAY_SECONDS,
            round_trip: ROUND_TRIP_SECONDS,
            connect: CONNECT_SECONDS,
            handshake: Some(HANDSHAKE_SECONDS),
            errors: ERRORS,
            error_ratio: ERROR_RATIO,
            unstarted: UNSTARTED_REQUESTS,
            late_ratio: LATE_RATIO,
            window_full_ratio: WINDOW_FULL_RATIO,
            open_connections: OPEN_CONNECTIONS,
            ports_exhausted: PORTS_EXHAUSTED,
            pausing_ratio: None,
            failed_per_second: None,
            late_starts: None,
            notable_answers: &[],
            bad_answers: None,
            answers_by_code: &[],
            failure_kinds: &[],
            connects_each_time: CONNECTS_EACH_TIME,
            noun: $crate::kinds::Noun::Requests,
            own: &[],
            note: None,
            parts: &[],
    named: None,
            between: Some($crate::kinds::BetweenHosts {
                latency_sd: LATENCY_SD_SECONDS,
                request_bytes: REQUEST_BYTES,
                response_bytes: RESPONSE_BYTES,
                one_way_bytes_per_second: ONE_WAY_BYTES_PER_SECOND,
                lost_connections: LOST_CONNECTIONS,
                answered_requests: ANSWERED_REQUESTS,
                foreign_messages: FOREIGN_MESSAGES,
            }),
        };

        const ENDS: $crate::kinds::Ends = $crate::kinds::Ends {
            near: $crate::kinds::End {
                name: "client",
                cpu: CLIENT_CPU_RATIO,
                wait: Some(CLIENT_WAIT_RATIO),
                buffer: None,
            },
            far: Some($crate::kinds::End {
                name: "server",
                cpu: SERVER_CPU_RATIO,
                wait: Some(SERVER_WAIT_RATIO),
                buffer: None,
            }),
        };

        const CURVE: $crate::kinds::CurveMetrics = $crate::kinds::CurveMetrics {
            offered: ASKED_PER_SECOND,
            delivered: $per_second,
            latency: Some(LATENCY_SECONDS),
            shares: &[("errors", ERROR_RATIO), ("loss", ERROR_RATIO)],
            best: BEST_RATE_PER_SECOND,
        };

        const CHARTS: $crate::kinds::Charts = $crate::kinds::Charts {
            arrived: None,
            sent: None,
            per_second: Some($per_second),
            latency: Some([LATENCY_P50_SECONDS, LATENCY_P99_SECONDS]),
        };

        const TRACKS: &[$crate::kinds::TrackSource] = &[
            $crate::kinds::TrackSource {
                track: $crate::kinds::Track::Answers,
                metric: $per_second,
                suffix: "",
            },
            $crate::kinds::TrackSource {
                track: $crate::kinds::Track::Latency,
                metric: LATENCY_P50_SECONDS,
                suffix: "p50",
            },
            $crate::kinds::TrackSource {
                track: $crate::kinds::Track::Latency,
                metric: LATENCY_P99_SECONDS,
                suffix: "p99",
            },
            $crate::kinds::TrackSource {
                track: $crate::kinds::Track::Loss,
                metric: ERROR_RATIO,
                suffix: "",
            },
        ];
    };
}
pub(super) use between_hosts;
