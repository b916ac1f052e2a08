//! What do the sending and the receiving ends' books say together?

use serde::{Deserialize, Serialize};
use sokudo_model::{FlowPlan, FlowResult, Labels, PhaseResult, PhaseSpec, Summary};
use sokudo_net::tcp::info::TcpInfo;
use sokudo_stats::fairness;
use sokudo_workload::contract::HostResult;
use sokudo_workload::joined::{Totals, put, put_start_late, ratio};

use super::NAME;
use super::account::{End, Mark};
use super::options::{IoMode, StreamOptions};
use super::report::{Ended, RECEIVER, SENDER};

/// One end of one flow, as it travels to the controller.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct EndNumbers {
    flow: u32,
    /// Since the start, warm-up included.
    bytes: u64,
    /// While it counted.
    counted_bytes: u64,
    counted_calls: u64,
    counted_ns: i64,
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
#[serde(default)]
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

/// What the system made of the options.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct GrantedNumbers {
    send_buffer_bytes: u64,
    receive_buffer_bytes: u64,
    congestion_control: Option<String>,
    multipath: Option<bool>,
}

/// Everything one host measured in a phase.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Numbers {
    sent: Vec<EndNumbers>,
    received: Vec<EndNumbers>,
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

/// Joins the hosts' numbers; see [`sokudo_workload::contract::Workload::join`].
pub(crate) fn join(
    options: &StreamOptions,
    spec: &PhaseSpec,
    results: &[HostResult],
) -> PhaseResult {
    let pairs = pairs(spec, results);
    let flows = spec.phase.flows.iter().zip(&pairs);
    let flows: Vec<FlowResult> = flows
        .map(|(plan, pair)| joined_flow(options, spec, plan, pair))
        .collect();
    PhaseResult {
        summary: totals(&flows),
        flows,
        ..PhaseResult::default()
    }
}

fn pairs(spec: &PhaseSpec, results: &[HostResult]) -> Vec<Pair> {
    let plans = &spec.phase.flows;
    let mut pairs: Vec<Pair> = plans.iter().map(|_| Pair::default()).collect();
    for (index, result) in results.iter().enumerate() {
        let read = |text: &String| serde_json::from_str::<Numbers>(text).ok();
        let Some(numbers) = result.as_ref().ok().and_then(read) else {
            continue;
        };
        // A host speaks for its own flows only.
        let own = |flow: u32, end: fn(&FlowPlan) -> u32| {
            let plan = plans.get(flow as usize);
            plan.is_some_and(|plan| end(plan) as usize == index)
        };
        for sent in numbers.sent {
            if own(sent.flow, |plan| plan.from) {
                let flow = sent.flow as usize;
                pairs[flow].sent = Some(sent);
            }
        }
        for received in numbers.received {
            if own(received.flow, |plan| plan.to) {
                let flow = received.flow as usize;
                pairs[flow].received = Some(received);
            }
        }
    }
    pairs
}

fn joined_flow(
    options: &StreamOptions,
    spec: &PhaseSpec,
    plan: &FlowPlan,
    pair: &Pair,
) -> FlowResult {
    let name = |host: u32| {
        let host = spec.hosts.get(host as usize);
        host.map_or(String::new(), |host| host.name.clone())
    };
    let mut flow = FlowResult {
        id: plan.id,
        from: name(plan.from),
        to: name(plan.to),
        labels: labels(options, plan, pair),
        ..FlowResult::default()
    };
    let metrics = &mut flow.metrics;
    if let Some(sent) = &pair.sent {
        put_sender(metrics, options, sent);
    }
    if let Some(received) = &pair.received {
        put_receiver(metrics, options, received);
    }
    if let (Some(sent), Some(received)) = (&pair.sent, &pair.received) {
        let missing = sent.bytes as f64 - received.bytes as f64;
        put_own(metrics, "missing_bytes", missing.max(0.0));
    }
    let end = ending(pair);
    flow.complete = end.is_none();
    if let Some(why) = end {
        flow.labels.insert("error".into(), why);
    }
    flow
}

/// Why a flow did not end as it should have; `None` when it did.
fn ending(pair: &Pair) -> Option<String> {
    let (sent, received) = match (&pair.sent, &pair.received) {
        (Some(sent), Some(received)) => (sent, received),
        (None, Some(_)) => return Some("the sending host's numbers are missing".into()),
        (Some(_), None) => return Some("the receiving host's numbers are missing".into()),
        (None, None) => return Some("the numbers of both hosts are missing".into()),
    };
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

fn put_own(metrics: &mut Summary, what: &str, value: impl Into<Option<f64>>) {
    put(metrics, &format!("{NAME}.{what}"), value);
}

/// Bits per second while it counted; nothing of no time.
fn bits_per_s(end: &EndNumbers) -> Option<f64> {
    ratio(end.counted_bytes as f64 * 8e9, end.counted_ns as f64)
}

/// What a billion bytes cost, seconds of CPU.
fn cpu_per_gigabyte(end: &EndNumbers) -> Option<f64> {
    ratio(end.cost_ns?, end.counted_bytes as f64)
}

fn put_sender(metrics: &mut Summary, options: &StreamOptions, sent: &EndNumbers) {
    put_own(metrics, "sent_bytes", sent.bytes as f64);
    put_own(metrics, "sent_bits_per_second", bits_per_s(sent));
    put_start_late(metrics, sent.start_late_ns);
    put_own(metrics, "write_size_bytes", sent.write_size_bytes as f64);
    let calls = sent.counted_calls as f64;
    put_own(
        metrics,
        "mean_write_bytes",
        ratio(sent.counted_bytes as f64, calls),
    );
    put_own(metrics, "asked_bits_per_second", sent.asked_bits_per_s);
    put_own(metrics, "late_ratio", sent.late_ratio);
    put_own(metrics, "zerocopy_copied_ratio", sent.copied_ratio);
    put_shares(metrics, SENDER, sent);
    put_own(
        metrics,
        "sender_cpu_seconds_per_gigabyte",
        cpu_per_gigabyte(sent),
    );
    if let Some(granted) = &sent.granted {
        put_own(
            metrics,
            "send_buffer_granted_bytes",
            granted.send_buffer_bytes as f64,
        );
        let asked = options.sndbuf.map(|size| size.0 as f64);
        put_own(metrics, "send_buffer_asked_bytes", asked);
    }
    let Some(tcp) = &sent.tcp else { return };
    let elapsed_us = sent.counted_ns as f64 / 1e3;
    let share = |us: Option<f64>| us.and_then(|us| ratio(us, elapsed_us)).map(|r| r.min(1.0));
    let micros = |us: Option<f64>| us.map(|us| us * 1e-6);
    put_own(metrics, "sent_segments", tcp.sent_segments);
    put_own(
        metrics,
        "retransmitted_segments",
        tcp.retransmitted_segments,
    );
    let retransmitted = tcp.retransmitted_segments.zip(tcp.sent_segments);
    let retransmitted = retransmitted.and_then(|(again, all)| ratio(again, all));
    put_own(metrics, "retransmitted_ratio", retransmitted);
    put_own(metrics, "busy_ratio", share(tcp.busy_us));
    let limited = share(tcp.receive_window_limited_us);
    put_own(metrics, "receive_window_limited_ratio", limited);
    let limited = share(tcp.send_buffer_limited_us);
    put_own(metrics, "send_buffer_limited_ratio", limited);
    put_own(metrics, "smoothed_rtt_seconds", micros(tcp.smoothed_rtt_us));
    put_own(metrics, "min_rtt_seconds", micros(tcp.min_rtt_us));
    put_own(
        metrics,
        "congestion_window_segments",
        tcp.congestion_window_segments,
    );
    put_own(metrics, "segment_bytes", tcp.segment_bytes);
}

fn put_receiver(metrics: &mut Summary, options: &StreamOptions, received: &EndNumbers) {
    put_own(metrics, "received_bytes", received.bytes as f64);
    put_own(metrics, "goodput_bits_per_second", bits_per_s(received));
    put_own(metrics, "elapsed_seconds", received.elapsed_ns as f64 / 1e9);
    let calls = received.counted_calls as f64;
    put_own(
        metrics,
        "mean_read_bytes",
        ratio(received.counted_bytes as f64, calls),
    );
    put_shares(metrics, RECEIVER, received);
    put_own(
        metrics,
        "receiver_cpu_seconds_per_gigabyte",
        cpu_per_gigabyte(received),
    );
    if let Some(granted) = &received.granted {
        let bytes = granted.receive_buffer_bytes as f64;
        put_own(metrics, "receive_buffer_granted_bytes", bytes);
        let asked = options.rcvbuf.map(|size| size.0 as f64);
        put_own(metrics, "receive_buffer_asked_bytes", asked);
    }
}

fn put_shares(metrics: &mut Summary, names: [&str; 3], end: &EndNumbers) {
    let values = [end.cpu_ratio, end.wait_ratio, end.socket_ratio];
    for (name, value) in names.into_iter().zip(values) {
        put(metrics, name, value);
    }
}

/// Totals over the flows of a phase.
fn totals(flows: &[FlowResult]) -> Summary {
    const SUMS: [&str; 8] = [
        "goodput_bits_per_second",
        "sent_bits_per_second",
        "sent_bytes",
        "received_bytes",
        "missing_bytes",
        "asked_bits_per_second",
        "sent_segments",
        "retransmitted_segments",
    ];
    const MAXIMA: [&str; 13] = [
        "sender_cpu_ratio",
        "receiver_cpu_ratio",
        "sender_wait_ratio",
        "receiver_wait_ratio",
        "write_blocked_ratio",
        "read_idle_ratio",
        "late_ratio",
        "zerocopy_copied_ratio",
        "busy_ratio",
        "receive_window_limited_ratio",
        "send_buffer_limited_ratio",
        "elapsed_seconds",
        "write_size_bytes",
    ];
    /// Of several flows only the range would say something.
    const OF_ONE: [&str; 8] = [
        "smoothed_rtt_seconds",
        "min_rtt_seconds",
        "congestion_window_segments",
        "segment_bytes",
        "send_buffer_asked_bytes",
        "send_buffer_granted_bytes",
        "receive_buffer_asked_bytes",
        "receive_buffer_granted_bytes",
    ];
    let mut totals = Totals::of(NAME, flows);
    totals.sum(&SUMS);
    totals.highest(&MAXIMA);
    totals.of_one(&OF_ONE);
    let sum = |what: &str| totals.get(what).unwrap_or(0.0);
    let again = ratio(sum("retransmitted_segments"), sum("sent_segments"));
    totals.put("retransmitted_ratio", again);
    // CPU time per billion bytes over all flows: their costs weighed by their bytes.
    totals.weighed(&["sender_cpu_seconds_per_gigabyte"], "sent_bytes");
    totals.weighed(&["receiver_cpu_seconds_per_gigabyte"], "received_bytes");
    if flows.len() > 1 {
        let each: Vec<f64> = totals.values("goodput_bits_per_second").collect();
        totals.put("fairness_index", fairness(&each));
    }
    totals.summary
}
