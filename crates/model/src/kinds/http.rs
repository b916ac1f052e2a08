//! Requests to a web server (`http`).

use crate::metric::{Metric, Stat, metrics};
use crate::metrics::target;

use super::{
    BadAnswers, Carried, Charts, CurveMetrics, End, Ends, Exchange, Expects, Family, Kind, Layer,
    LayerNumber, LayerPart, Noun, PairFigure, Reach, Track, TrackSource,
};

#[rustfmt::skip]
metrics! {
    REQUESTS = counter("http.requests", One, "requests with a whole response of whatever status, warm-up not counted").sum().named();
    REQUESTS_PER_SECOND = gauge("http.requests_per_second", PerSecond, "those requests over the time of the load (group.load_seconds); in series: over the interval").sum().named();
    ASKED_PER_SECOND = gauge("http.asked_per_second", PerSecond, "rate that was asked for, on average over a schedule; absent in a closed loop").sum();
    BEST_RATE_PER_SECOND = gauge("http.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run");
    LATENCY_SECONDS = histogram("http.latency_seconds", Seconds, "from the intended start of a request to the last byte of its response; in the summary with .min, .mean, .p50, .p90, .p95, .p99, .p999 and .max").named();
    LATENCY_P50_SECONDS = gauge("http.latency_p50_seconds", Seconds, "median of the latency over the interval");
    LATENCY_P99_SECONDS = gauge("http.latency_p99_seconds", Seconds, "99th percentile of the latency over the interval");
    SERVICE_SECONDS = histogram("http.service_seconds", Seconds, "from the moment that a request's turn really came to the last byte of its response; equals the latency in a closed loop").named();
    START_DELAY_SECONDS = histogram("http.start_delay_seconds", Seconds, "from the intended start of a request to its real one, where there was room for it: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop").named();
    ROUND_TRIP_SECONDS = gauge("http.round_trip_seconds", Seconds, "latency of each request by itself");
    CONNECT_SECONDS = histogram("http.connect_seconds", Seconds, "time to connect, without looking up the name and without TLS").named();
    HANDSHAKE_SECONDS = histogram("http.handshake_seconds", Seconds, "time of the TLS handshake").named();
    WAIT_SECONDS = histogram("http.wait_seconds", Seconds, "from the last byte of a request to the first of its response").named();
    READ_SECONDS = histogram("http.read_seconds", Seconds, "from the first byte of a response to its last").named();
    MEAN_QUEUE_SECONDS = gauge("http.mean_queue_seconds", Seconds, "mean time between the intended and the real start of a request; this and the six that follow add up to the latency, in series over the interval");
    MEAN_RESOLVE_SECONDS = gauge("http.mean_resolve_seconds", Seconds, "mean time that looking up the server's name took, over all requests");
    MEAN_CONNECT_SECONDS = gauge("http.mean_connect_seconds", Seconds, "mean time that connecting took, over all requests, also those on kept connections");
    MEAN_TLS_SECONDS = gauge("http.mean_tls_seconds", Seconds, "mean time that TLS handshakes took, over all requests, also those on kept connections");
    MEAN_SEND_SECONDS = gauge("http.mean_send_seconds", Seconds, "mean time to send a request");
    MEAN_WAIT_SECONDS = gauge("http.mean_wait_seconds", Seconds, "mean time between the last byte of a request and the first of its response");
    MEAN_READ_SECONDS = gauge("http.mean_read_seconds", Seconds, "mean time between the first byte of a response and its last");
    ERRORS = counter("http.errors", One, "requests without a whole response").sum().named();
    FAILED_PER_SECOND = gauge("http.failed_per_second", PerSecond, "requests that failed over the interval: without a whole response, of status 400 and above, or against what the plan demands");
    ERROR_RATIO = gauge("http.error_ratio", Ratio, "errors, unstarted requests and responses of status 400 and above over all requests that were due; in series: failed over ended ones of the interval");
    UNSTARTED_REQUESTS = counter("http.unstarted_requests", One, "requests whose time came and that were never sent, because no connection was free until the end; without a rate, those that could not be tried in the time in which none was answered, by the pace of the answers").sum();
    LATE_STARTS = counter("http.late_starts", One, "requests that left more than 1 ms after their intended start although a connection was free: the generator's own lateness").sum();
    LATE_RATIO = gauge("http.late_ratio", Ratio, "share of such requests").named();
    WINDOW_FULL_RATIO = gauge("http.window_full_ratio", Ratio, "share of requests that had to wait because every connection was busy").named();
    ACTIVE_USERS = gauge("http.active_users", One, "users of a test plan that had begun and not ended; of a load on one URL the connections, times the streams of each, that had come and not left").sum();
    PAUSING_RATIO = gauge("http.pausing_ratio", Ratio, "share of the time of a plan's users that they spend in its timers and pauses").max();
    OPEN_CONNECTIONS = gauge("http.open_connections", One, "connections; the most requests under way at a time are as many, times the streams of each").sum();
    ROWS = counter("http.rows", One, "rows about single requests that a generator handed over for the file of results").sum();
    MADE_CONNECTIONS = counter("http.made_connections", One, "connections that were made and served a request").sum();
    PORTS_EXHAUSTED = counter("http.ports_exhausted", One, "connections that could not be made because no local port was left").sum();
    SENT_BYTES = counter("http.sent_bytes", Bytes, "bytes of requests, head and body, before TLS").sum();
    HEAD_BYTES = counter("http.head_bytes", Bytes, "bytes of the responses' heads, before TLS").sum();
    BODY_BYTES = counter("http.body_bytes", Bytes, "bytes of the responses' bodies, without the framing of chunks, as the server encoded them").sum();
    STATUS_1XX = counter("http.status_1xx", One, "responses of status 101").sum();
    STATUS_2XX = counter("http.status_2xx", One, "responses of status 200 to 299").sum();
    STATUS_3XX = counter("http.status_3xx", One, "responses of status 300 to 399").sum();
    STATUS_4XX = counter("http.status_4xx", One, "responses of status 400 to 499").sum();
    STATUS_5XX = counter("http.status_5xx", One, "responses of status 500 to 599").sum();
    STATUS_OTHER = counter("http.status_other", One, "responses of other statuses").sum();
    STATUS_400 = counter("http.status_400", One, "responses of status 400 (bad request), the warm-up included");
    STATUS_401 = counter("http.status_401", One, "responses of status 401 (unauthorized), the warm-up included");
    STATUS_403 = counter("http.status_403", One, "responses of status 403 (forbidden), the warm-up included");
    STATUS_404 = counter("http.status_404", One, "responses of status 404 (not found), the warm-up included");
    STATUS_429 = counter("http.status_429", One, "responses of status 429 (too many requests), the warm-up included");
    STATUS_500 = counter("http.status_500", One, "responses of status 500 (internal server error), the warm-up included");
    STATUS_502 = counter("http.status_502", One, "responses of status 502 (bad gateway), the warm-up included");
    STATUS_503 = counter("http.status_503", One, "responses of status 503 (service unavailable), the warm-up included");
    STATUS_504 = counter("http.status_504", One, "responses of status 504 (gateway timeout), the warm-up included");
    FAILED_RESOLVE = counter("http.failed_resolve", One, "requests that failed while the server's name was looked up").sum();
    FAILED_CONNECT = counter("http.failed_connect", One, "requests that failed while connecting").sum();
    FAILED_TLS = counter("http.failed_tls", One, "requests that failed in the TLS handshake").sum();
    FAILED_SEND = counter("http.failed_send", One, "requests that failed while they were sent").sum();
    FAILED_WAIT = counter("http.failed_wait", One, "requests that failed before the first byte of a response").sum();
    FAILED_READ = counter("http.failed_read", One, "requests that failed within the response").sum();
    REFUSED = counter("http.refused", One, "requests whose connection was refused: no program listens, or the server refuses callers").sum();
    RESETS = counter("http.resets", One, "requests whose connection was reset").sum();
    TIMEOUTS = counter("http.timeouts", One, "requests that were given up, in whatever stage").sum();
    CLOSED_EARLY = counter("http.closed_early", One, "requests whose connection the server closed before the response was whole").sum();
    MALFORMED = counter("http.malformed", One, "requests whose response broke the rules of HTTP, or our bounds on heads and trailers").sum();
    GIVEN_UP = counter("http.given_up", One, "requests of HTTP/2 that the server gave up, alone or with their connection").sum();
    RESENT_REQUESTS = counter("http.resent_requests", One, "requests of HTTP/2 that were sent again because the server said that it had not begun them; latency counts from the first time").sum();
    SHORTEST_WAIT_SECONDS = gauge("http.shortest_wait_seconds", Seconds, "shortest time from the begin of a request, on a connection that stood, to the first byte of its response of status below 400, the warm-up included");
    EVEN_GAP_RATIO = gauge("http.even_gap_ratio", Ratio, "share of the times between two responses, while requests were under way, that last 0.75 to 1.33 times as long as the mean one, the warm-up included");
    CLOSE_GAP_RATIO = gauge("http.close_gap_ratio", Ratio, "share of these times that are shorter than half of http.shortest_wait_seconds: a worker alone does not respond so closely");
    LONG_GAP_RATIO = gauge("http.long_gap_ratio", Ratio, "share of the time between responses that passes in times of at least 4 times the median one");
    MEAN_GOOD_SECONDS = gauge("http.mean_good_seconds", Seconds, "mean service time of responses of status below 400, the warm-up included; absent where all are");
    MEAN_BAD_SECONDS = gauge("http.mean_bad_seconds", Seconds, "mean service time of responses of status 400 and above, the warm-up included; absent where there is none");
    UNSERVED_CONNECTIONS = counter("http.unserved_connections", One, "connections that the server's system accepted and whose first request was given up after more than 0.5 s without any response");
    HELD_REQUESTS = counter("http.held_requests", One, "requests of HTTP/2 that waited to be sent because as many as the server grants were under way on their connection, the warm-up included");
    GRANTED_STREAMS = gauge("http.granted_streams", One, "requests at a time that the server grants on a connection of HTTP/2, where fewer than asked for; the fewest of all connections");
    STALLS = counter("http.stalls", One, "times that all requests stood still: requests were under way, and for at least 20 ms and a third of the longest such time none ended");
    MEAN_STALL_SECONDS = gauge("http.mean_stall_seconds", Seconds, "mean length of those times, without the time in which the generator itself did not run");
    LONGEST_STALL_SECONDS = gauge("http.longest_stall_seconds", Seconds, "longest of those times");
    STALL_PERIOD_SECONDS = gauge("http.stall_period_seconds", Seconds, "mean distance between the begins of two of them; absent where there is one only");
    STALL_IRREGULARITY_RATIO = gauge("http.stall_irregularity_ratio", Ratio, "standard deviation of that distance over its mean: 0 = at even distances, about 1 = at random");
    FIRST_STALL_SECONDS = gauge("http.first_stall_seconds", Seconds, "begin of the first of them, from the first request on");
    SHORTER_SILENCES = counter("http.shorter_silences", One, "times of at least 20 ms and a ninth of the longest in which no request ended, and which are not counted as stalls");
    STALLED_REQUESTS = counter("http.stalled_requests", One, "requests that were under way when those times ended, all of them together");
    COMPARED_USERS = counter("http.compared_users", One, "users whose mean service times on kept connections were compared; absent where none is slow");
    SLOW_USERS = counter("http.slow_users", One, "of them, users whose mean is at least 4 times that of the user in the middle, and 5 ms more");
    SLOW_USER_SECONDS = gauge("http.slow_user_seconds", Seconds, "mean service time of the slow users");
    USUAL_USER_SECONDS = gauge("http.usual_user_seconds", Seconds, "mean service time of the user in the middle");
    PATH_LOWEST_SECONDS = gauge("http.path_lowest_seconds", Seconds, "lowest round trip of the connections that were read (tcpi_min_rtt): one of them every 10 ms");
    PATH_MEAN_SECONDS = gauge("http.path_mean_seconds", Seconds, "mean of their smoothed round trips (tcpi_rtt)");
    PATH_SENT_SEGMENTS = counter("http.path_sent_segments", One, "segments with data that they sent, as far as they were read");
    PATH_RESENT_RATIO = gauge("http.path_resent_ratio", Ratio, "share of these that were retransmissions");
    PATH_RECEIVED_SEGMENTS = counter("http.path_received_segments", One, "segments with data that they received, as far as they were read");
    PATH_OUT_OF_ORDER_RATIO = gauge("http.path_out_of_order_ratio", Ratio, "share of these that came out of order (tcpi_rcv_ooopack): after a lost one, or on another way");
    PATH_WINDOW_RATIO = gauge("http.path_window_ratio", Ratio, "share of the time with requests to send in which the server's receive window was full");
    PATH_BUFFER_RATIO = gauge("http.path_buffer_ratio", Ratio, "share of the time with requests to send in which the own send buffer was too small");
    REQUESTS_PER_CPU_SECOND = gauge("http.requests_per_cpu_second", PerSecond, "responses, warm-up included, per second of CPU time that the event loops used");
    CLIENT_CPU_RATIO = gauge("http.client_cpu_ratio", Ratio, "CPU time of the busiest event loop over elapsed time, 1 = one core").max().named();
    CLIENT_WAIT_RATIO = gauge("http.client_wait_ratio", Ratio, "share of time that an event loop was ready to run but had no CPU").max();
}

/// Responses of the statuses that rules tell apart, in the order of their codes.
pub const NOTABLE_STATUSES: [Metric; 9] = [
    STATUS_400, STATUS_401, STATUS_403, STATUS_404, STATUS_429, STATUS_500, STATUS_502, STATUS_503,
    STATUS_504,
];

/// The numbers that it shares with every exchange.
pub const EXCHANGE: Exchange = Exchange {
    answered: REQUESTS,
    per_second: REQUESTS_PER_SECOND,
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
    pausing_ratio: Some(PAUSING_RATIO),
    failed_per_second: Some(FAILED_PER_SECOND),
    late_starts: Some(LATE_STARTS),
    notable_answers: &[STATUS_3XX, STATUS_4XX, STATUS_5XX, STATUS_OTHER],
    bad_answers: Some(BadAnswers {
        metrics: &[STATUS_4XX, STATUS_5XX],
        says: "verdict-bad-status",
        says_with_losses: "verdict-errors-and-bad-status",
    }),
    answers_by_code: &[
        STATUS_1XX,
        STATUS_2XX,
        STATUS_3XX,
        STATUS_4XX,
        STATUS_5XX,
        STATUS_OTHER,
    ],
    failure_kinds: &[
        REFUSED,
        RESETS,
        TIMEOUTS,
        CLOSED_EARLY,
        MALFORMED,
        GIVEN_UP,
        STATUS_4XX,
        STATUS_5XX,
    ],
    connects_each_time: false,
    noun: Noun::Requests,
    own: &[],
    note: None,
    parts: &[],
    named: None,
    between: None,
};

/// Responses per second of a layer.
const RATE: LayerNumber = LayerNumber {
    name: "rate",
    metric: REQUESTS_PER_SECOND,
    stat: None,
};
/// Time within which 99 of 100 requests of a layer were answered.
const P99: LayerNumber = LayerNumber {
    name: "p99",
    metric: LATENCY_SECONDS,
    stat: Some(Stat::P99),
};

/// The layer of requests to an application server, which tells the waits in its queues.
pub const TARGET_LAYER: Layer = Layer {
    key: "layer-target",
    part: LayerPart::Services,
    numbers: &[
        RATE,
        P99,
        LayerNumber {
            name: "queue",
            metric: target::WORKERS_WAIT_SECONDS_MEAN,
            stat: None,
        },
        LayerNumber {
            name: "pool",
            metric: target::POOL_WAIT_SECONDS_MEAN,
            stat: None,
        },
    ],
};

/// The kind.
pub const KIND: Kind = Kind {
    name: "http",
    question: "how many requests per second does a web server answer, and how long does each take?",
    family: Family::Exchange(&EXCHANGE),
    // A host of the run proves that it agreed; a server elsewhere cannot.
    reach: &[Reach::Hosts, Reach::Strangers],
    source: "http",
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
    done: REQUESTS,
    curve: Some(CurveMetrics {
        offered: ASKED_PER_SECOND,
        delivered: REQUESTS_PER_SECOND,
        latency: Some(LATENCY_SECONDS),
        shares: &[("errors", ERROR_RATIO), ("loss", ERROR_RATIO)],
        best: BEST_RATE_PER_SECOND,
    }),
    carried: |metrics| {
        let parts = [SENT_BYTES, HEAD_BYTES, BODY_BYTES];
        Some(Carried {
            bytes: parts.iter().filter_map(|part| part.of(metrics)).sum(),
            seconds: REQUESTS.of(metrics)? / REQUESTS_PER_SECOND.of(metrics)?,
        })
    },
    charts: Charts {
        arrived: None,
        sent: None,
        per_second: Some(REQUESTS_PER_SECOND),
        latency: Some([LATENCY_P50_SECONDS, LATENCY_P99_SECONDS]),
    },
    tracks: &[
        TrackSource {
            track: Track::Answers,
            metric: REQUESTS_PER_SECOND,
            suffix: "",
        },
        TrackSource {
            track: Track::Users,
            metric: ACTIVE_USERS,
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
        metric: REQUESTS_PER_SECOND,
        stat: None,
        more_is_better: true,
    }],
    layer: Some(Layer {
        key: "layer-http",
        part: LayerPart::Services,
        numbers: &[RATE, P99],
    }),
    by_label: true,
    is_plan: false,
    takes_turns: false,
    options: &[
        "connections",
        "find",
        "max-skew",
        "rate",
        "streams",
        "threads",
    ],
};
