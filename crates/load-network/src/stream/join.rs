//! Joins what the sending and the receiving ends of streams measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::stream as numbers;
use sokudo_model::{FlowPlan, FlowResult, Labels, Metric, PhaseResult, Summary};
use sokudo_net::tcp::info::TcpInfo;
use sokudo_stats::fairness;
use sokudo_workload::choice::Choice;
use sokudo_workload::contract::Options as _;
use sokudo_workload::joined::{self, put, put_start_late, ratio};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::{LoadTime, planned_ns};

use super::account::{End, Mark};
use super::options::{IoMode, StreamOptions};
use super::report::{Ended, RECEIVER, SENDER};

/// One end of one flow, as it travels to the controller.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct EndNumbers {
    flow: u32,
    /// Since the start, warm-up included.
    bytes: u64,
    /// While it counted.
    counted_bytes: u64,
    counted_calls: u64,
    counted_ns: i64,
    /// All bytes that were asked for have been written.
    #[serde(default)]
    is_reached: bool,
    /// First and last time that bytes moved while it counted, since the begin of that.
    #[serde(default)]
    moved_ns: Option<(i64, i64)>,
    /// From the start of the load.
    elapsed_ns: i64,
    cost_ns: Option<f64>,
    cpu_ratio: Option<f64>,
    wait_ratio: Option<f64>,
    socket_ratio: Option<f64>,
    asked_bits_per_s: Option<f64>,
    late_ratio: Option<f64>,
    start_late_ns: Option<i64>,
    io: Option<String>,
    copied_ratio: Option<f64>,
    write_size_bytes: u64,
    tcp: Option<TcpNumbers>,
    granted: Option<GrantedNumbers>,
    whole: bool,
    error: Option<String>,
}

/// State of TCP while it counted, and at the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct TcpNumbers {
    sent_segments: Option<f64>,
    retransmitted_segments: Option<f64>,
    busy_us: Option<f64>,
    receive_window_limited_us: Option<f64>,
    send_buffer_limited_us: Option<f64>,
    smoothed_rtt_us: Option<f64>,
    min_rtt_us: Option<f64>,
    congestion_window_segments: Option<f64>,
    segment_bytes: Option<f64>,
}

/// Options as granted by the system.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct GrantedNumbers {
    send_buffer_bytes: u64,
    receive_buffer_bytes: u64,
    congestion_control: Option<String>,
    multipath: Option<bool>,
}

/// Everything one host measured in a phase.
#[derive(Debug, Serialize, Deserialize)]
pub struct Numbers {
    sent: Vec<EndNumbers>,
    received: Vec<EndNumbers>,
}

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.sent.retain(|end| own.begins(end.flow));
        self.received.retain(|end| own.ends(end.flow));
    }
}

impl Numbers {
    /// Puts together what the threads of one host handed over; `size_bytes` per write.
    pub(crate) fn new(ended: Vec<Ended>, options: &StreamOptions, size_bytes: u64) -> Self {
        let (sent, received): (Vec<Ended>, Vec<Ended>) =
            ended.into_iter().partition(|one| one.end == End::Sender);
        let read = |all: Vec<Ended>| {
            let each = all.into_iter();
            each.map(|one| numbers(one, options, size_bytes)).collect()
        };
        Self {
            sent: read(sent),
            received: read(received),
        }
    }
}

fn numbers(ended: Ended, options: &StreamOptions, size_bytes: u64) -> EndNumbers {
    let moved = ended.moved;
    let shares = moved.spent.shares();
    let io = ended.path.map(|path| match options.io {
        IoMode::Auto => format!("{path} (auto)"),
        _ => path.to_string(),
    });
    EndNumbers {
        flow: moved.flow,
        bytes: moved.bytes,
        counted_bytes: moved.to.bytes.saturating_sub(moved.from.bytes),
        counted_calls: moved.to.calls.saturating_sub(moved.from.calls),
        counted_ns: moved.to.t_ns - moved.from.t_ns,
        is_reached: ended.is_reached,
        moved_ns: LoadTime::since(moved.count_from_ns, moved.moved_ns),
        elapsed_ns: moved.to.t_ns - moved.started_ns,
        cost_ns: moved.cost_ns,
        cpu_ratio: shares.cpu,
        wait_ratio: shares.wait,
        socket_ratio: shares.socket,
        asked_bits_per_s: ended.asked_per_s.map(|rate| rate * size_bytes as f64 * 8.0),
        late_ratio: ratio(ended.late as f64, ended.events as f64),
        start_late_ns: ended.start_late_ns,
        io,
        copied_ratio: ended.copied_ratio,
        write_size_bytes: size_bytes,
        tcp: tcp_numbers(&moved.from, &moved.to),
        granted: ended.granted.map(|granted| GrantedNumbers {
            send_buffer_bytes: granted.sndbuf.granted_bytes,
            receive_buffer_bytes: granted.rcvbuf.granted_bytes,
            congestion_control: granted.cc,
            multipath: granted.multipath,
        }),
        whole: ended.whole,
        error: ended.error,
    }
}

fn tcp_numbers(from: &Mark, to: &Mark) -> Option<TcpNumbers> {
    let end = to.tcp?;
    let begin = from.tcp.unwrap_or_default();
    let count = |of: fn(&TcpInfo) -> Option<u32>| {
        let (end, begin) = (of(&end)?, of(&begin).unwrap_or(0));
        Some(f64::from(end.saturating_sub(begin)))
    };
    let time = |of: fn(&TcpInfo) -> Option<u64>| {
        let (end, begin) = (of(&end)?, of(&begin).unwrap_or(0));
        Some(end.saturating_sub(begin) as f64)
    };
    Some(TcpNumbers {
        sent_segments: count(|info| info.data_segs_out),
        retransmitted_segments: count(|info| info.total_retrans_segments),
        busy_us: time(|info| info.busy_time_us),
        receive_window_limited_us: time(|info| info.rwnd_limited_us),
        send_buffer_limited_us: time(|info| info.sndbuf_limited_us),
        smoothed_rtt_us: end.rtt_us.map(f64::from),
        min_rtt_us: end.min_rtt_us.map(f64::from),
        congestion_window_segments: end.snd_cwnd_segments.map(f64::from),
        segment_bytes: end.snd_mss_bytes.map(f64::from),
    })
}

/// Both ends of one flow.
#[derive(Debug, Default)]
struct Pair {
    sent: Option<EndNumbers>,
    received: Option<EndNumbers>,
}

impl Pair {
    /// Length of the load that counts, nanoseconds, which was planned to be so long; `None` when only an amount
    /// was to end it.
    fn load_ns(&self, planned_ns: Option<i64>) -> i64 {
        let lasted_ns = |end: &EndNumbers| end.counted_ns;
        let sent = self.sent.as_ref();
        let reached_ns = sent.filter(|end| end.is_reached).map(lasted_ns);
        let ends = [sent, self.received.as_ref()].into_iter().flatten();
        let known_ns = || ends.map(lasted_ns).next().unwrap_or(0);
        reached_ns.or(planned_ns).unwrap_or_else(known_ns)
    }

    /// The time of the load where it arrives. An amount has arrived with its last byte.
    fn arrival(&self, received: &EndNumbers, load_ns: i64) -> LoadTime {
        let is_amount = self.sent.as_ref().is_some_and(|sent| sent.is_reached);
        match received.moved_ns.filter(|_| is_amount) {
            Some((_, last_ns)) => LoadTime::new(load_ns.max(last_ns), received.moved_ns),
            None => LoadTime::of_arrivals(load_ns, received.moved_ns),
        }
    }
}

/// Joins the hosts' numbers.
pub(super) fn join(options: &StreamOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let planned_ns = planned_ns(ends.spec, options.duration_ns(), options.warmup.0);
    let flows = ends.plans().iter().map(|plan| {
        let find = |list: &[EndNumbers]| list.iter().rfind(|end| end.flow == plan.id).cloned();
        let pair = Pair {
            sent: ends.of(plan.from).and_then(|host| find(&host.sent)),
            received: ends.of(plan.to).and_then(|host| find(&host.received)),
        };
        let load_ns = pair.load_ns(planned_ns);
        joined_flow(options, (ends.flow(plan), load_ns), plan, &pair)
    });
    let flows: Vec<FlowResult> = flows.collect();
    PhaseResult {
        summary: totals(&flows),
        flows,
        ..PhaseResult::default()
    }
}

fn joined_flow(
    options: &StreamOptions,
    (mut flow, load_ns): (FlowResult, i64),
    plan: &FlowPlan,
    pair: &Pair,
) -> FlowResult {
    flow.labels = labels(options, plan, pair);
    let metrics = &mut flow.metrics;
    if let Some(sent) = &pair.sent {
        put_sender(metrics, options, sent, load_ns);
    }
    if let Some(received) = &pair.received {
        put_receiver(metrics, options, received, pair.arrival(received, load_ns));
    }
    // Where an end is not known, the reason is that of its host.
    let (Some(sent), Some(received)) = (&pair.sent, &pair.received) else {
        return flow;
    };
    let missing = sent.bytes as f64 - received.bytes as f64;
    put(metrics, numbers::MISSING_BYTES, missing.max(0.0));
    let end = ending(sent, received);
    flow.complete = end.is_none();
    if let Some(why) = end {
        flow.labels.insert("error".into(), why);
    }
    flow
}

/// Reason why a flow did not end as it should have; `None` when it did.
fn ending(sent: &EndNumbers, received: &EndNumbers) -> Option<String> {
    if let Some(error) = sent.error.as_ref().or(received.error.as_ref()) {
        return Some(error.clone());
    }
    match (sent.bytes == received.bytes, received.whole) {
        (true, true) => None,
        (true, false) => Some("everything arrived, but not the end of the stream".into()),
        (false, true) => Some("the stream was ended on the way before all bytes arrived".into()),
        (false, false) => {
            Some("bytes were still on their way when the time to wait for them was over".into())
        }
    }
}

fn labels(options: &StreamOptions, plan: &FlowPlan, pair: &Pair) -> Labels {
    let mut labels = Labels::new();
    let mut put = |name: &str, value: String| {
        labels.insert(name.into(), value);
    };
    put("transport", options.transport.name().into());
    if options.streams > 1 {
        put("stream", (plan.stream + 1).to_string());
    }
    let sent = pair.sent.as_ref();
    if let Some(io) = sent.and_then(|sent| sent.io.clone()) {
        put("io", io);
    }
    if options.discard {
        put("read", "discard".into());
    }
    let granted = sent.and_then(|sent| sent.granted.as_ref());
    if let Some(cc) = granted.and_then(|granted| granted.congestion_control.clone()) {
        put("cc", cc);
    }
    if granted.is_some_and(|granted| granted.multipath == Some(false)) {
        put("fallback", "one path (tcp)".into());
    }
    labels
}

/// CPU time per billion bytes, seconds.
fn cpu_per_gigabyte(end: &EndNumbers) -> Option<f64> {
    ratio(end.cost_ns?, end.counted_bytes as f64)
}

fn put_sender(metrics: &mut Summary, options: &StreamOptions, sent: &EndNumbers, load_ns: i64) {
    let load = LoadTime::new(load_ns, sent.moved_ns);
    load.put(metrics);
    put(metrics, numbers::SENT_BYTES, sent.bytes as f64);
    let bits_per_s = load.per_s(sent.counted_bytes as f64 * 8.0);
    put(metrics, numbers::SENT_BITS_PER_SECOND, bits_per_s);
    put_start_late(metrics, sent.start_late_ns);
    put(
        metrics,
        numbers::WRITE_SIZE_BYTES,
        sent.write_size_bytes as f64,
    );
    let calls = sent.counted_calls as f64;
    put(
        metrics,
        numbers::MEAN_WRITE_BYTES,
        ratio(sent.counted_bytes as f64, calls),
    );
    put(
        metrics,
        numbers::ASKED_BITS_PER_SECOND,
        sent.asked_bits_per_s,
    );
    put(metrics, numbers::LATE_RATIO, sent.late_ratio);
    put(metrics, numbers::ZEROCOPY_COPIED_RATIO, sent.copied_ratio);
    put_shares(metrics, SENDER, sent);
    put(
        metrics,
        numbers::SENDER_CPU_SECONDS_PER_GIGABYTE,
        cpu_per_gigabyte(sent),
    );
    if let Some(granted) = &sent.granted {
        put(
            metrics,
            numbers::SEND_BUFFER_GRANTED_BYTES,
            granted.send_buffer_bytes as f64,
        );
        let asked = options.sndbuf.map(|size| size.0 as f64);
        put(metrics, numbers::SEND_BUFFER_ASKED_BYTES, asked);
    }
    let Some(tcp) = &sent.tcp else { return };
    let elapsed_us = sent.counted_ns as f64 / 1e3;
    let share = |us: Option<f64>| us.and_then(|us| ratio(us, elapsed_us)).map(|r| r.min(1.0));
    let micros = |us: Option<f64>| us.map(|us| us * 1e-6);
    put(metrics, numbers::SENT_SEGMENTS, tcp.sent_segments);
    put(
        metrics,
        numbers::RETRANSMITTED_SEGMENTS,
        tcp.retransmitted_segments,
    );
    let retransmitted = tcp.retransmitted_segments.zip(tcp.sent_segments);
    let retransmitted = retransmitted.and_then(|(again, all)| ratio(again, all));
    put(metrics, numbers::RETRANSMITTED_RATIO, retransmitted);
    put(metrics, numbers::BUSY_RATIO, share(tcp.busy_us));
    let limited = share(tcp.receive_window_limited_us);
    put(metrics, numbers::RECEIVE_WINDOW_LIMITED_RATIO, limited);
    let limited = share(tcp.send_buffer_limited_us);
    put(metrics, numbers::SEND_BUFFER_LIMITED_RATIO, limited);
    put(
        metrics,
        numbers::SMOOTHED_RTT_SECONDS,
        micros(tcp.smoothed_rtt_us),
    );
    put(metrics, numbers::MIN_RTT_SECONDS, micros(tcp.min_rtt_us));
    put(
        metrics,
        numbers::CONGESTION_WINDOW_SEGMENTS,
        tcp.congestion_window_segments,
    );
    put(metrics, numbers::SEGMENT_BYTES, tcp.segment_bytes);
}

fn put_receiver(
    metrics: &mut Summary,
    options: &StreamOptions,
    received: &EndNumbers,
    load: LoadTime,
) {
    load.put(metrics);
    put(metrics, numbers::RECEIVED_BYTES, received.bytes as f64);
    let bits_per_s = load.per_s(received.counted_bytes as f64 * 8.0);
    put(metrics, numbers::GOODPUT_BITS_PER_SECOND, bits_per_s);
    put(
        metrics,
        numbers::ELAPSED_SECONDS,
        received.elapsed_ns as f64 / 1e9,
    );
    let calls = received.counted_calls as f64;
    put(
        metrics,
        numbers::MEAN_READ_BYTES,
        ratio(received.counted_bytes as f64, calls),
    );
    put_shares(metrics, RECEIVER, received);
    put(
        metrics,
        numbers::RECEIVER_CPU_SECONDS_PER_GIGABYTE,
        cpu_per_gigabyte(received),
    );
    if let Some(granted) = &received.granted {
        let bytes = granted.receive_buffer_bytes as f64;
        put(metrics, numbers::RECEIVE_BUFFER_GRANTED_BYTES, bytes);
        let asked = options.rcvbuf.map(|size| size.0 as f64);
        put(metrics, numbers::RECEIVE_BUFFER_ASKED_BYTES, asked);
    }
}

fn put_shares(metrics: &mut Summary, names: [Metric; 3], end: &EndNumbers) {
    let values = [end.cpu_ratio, end.wait_ratio, end.socket_ratio];
    for (name, value) in names.into_iter().zip(values) {
        put(metrics, name, value);
    }
}

/// Totals over the flows of a phase.
fn totals(flows: &[FlowResult]) -> Summary {
    let mut summary = joined::totals(numbers::METRICS, flows);
    let sum = |metric: Metric| metric.of(&summary).unwrap_or(0.0);
    let again = ratio(
        sum(numbers::RETRANSMITTED_SEGMENTS),
        sum(numbers::SENT_SEGMENTS),
    );
    put(&mut summary, numbers::RETRANSMITTED_RATIO, again);
    if flows.len() > 1 {
        let goodput = |flow: &FlowResult| numbers::GOODPUT_BITS_PER_SECOND.of(&flow.metrics);
        let each: Vec<f64> = flows.iter().filter_map(goodput).collect();
        put(&mut summary, numbers::FAIRNESS_INDEX, fairness(&each));
    }
    summary
}
