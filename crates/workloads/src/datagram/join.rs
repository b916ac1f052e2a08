//! What do both ends' numbers say together, and where was each missing datagram lost?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sokudo_model::{FlowResult, HistogramSummary, Labels, PhaseResult, PhaseSpec, Summary};
use sokudo_net::counters::HostCounters;
use sokudo_net::udp::SendMode;
use sokudo_stats::Histogram;

use super::options::{DatagramOptions, SizeRange};
use super::report::Collected;
use crate::contract::HostResult;

/// Nanoseconds to seconds.
const NS: f64 = 1e-9;

/// How a flow's sending end was set up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SenderSettings {
    /// Sizes drawn from.
    pub size: SizeRange,
    /// MTU towards the peer.
    pub path_mtu: Option<u32>,
    /// Send buffer asked for.
    pub sndbuf_asked: Option<u64>,
    /// Send buffer granted.
    pub sndbuf_granted: Option<u64>,
    /// I/O mode achieved.
    pub mode: String,
    /// Why, when it was not asked for.
    pub mode_reason: String,
    /// Rate asked for, datagrams per second of this flow.
    pub asked_per_s: Option<f64>,
}

/// How a receiving socket was set up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SocketSettings {
    /// Receive buffer asked for.
    pub rcvbuf_asked: u64,
    /// Receive buffer granted.
    pub rcvbuf_granted: u64,
    /// Whether several datagrams may come as one buffer.
    pub gro: bool,
}

/// A histogram as text inside JSON: hexadecimal V2 encoding.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct HistogramText(String);

impl HistogramText {
    fn new(histogram: &Histogram) -> Self {
        let hex = |byte: u8| {
            [
                b"0123456789abcdef"[usize::from(byte >> 4)],
                b"0123456789abcdef"[usize::from(byte & 15)],
            ]
        };
        let text = histogram
            .to_v2()
            .into_iter()
            .flat_map(hex)
            .map(char::from)
            .collect();
        Self(text)
    }

    fn histogram(&self) -> Histogram {
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        let bytes: Option<Vec<u8>> = self
            .0
            .as_bytes()
            .chunks(2)
            .map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?))
            .collect();
        // What a peer wrote badly is shown as nothing recorded.
        bytes
            .and_then(|bytes| Histogram::from_v2(&bytes).ok())
            .unwrap_or_default()
    }
}

/// A flow as its sending end saw it.
#[derive(Debug, Serialize, Deserialize)]
struct SenderNumbers {
    flow: u32,
    settings: Option<SenderSettings>,
    sent: u64,
    bytes: u64,
    calls: u64,
    refused_calls: u64,
    refused: u64,
    unreachable: u64,
    late: u64,
    first_ns: Option<i64>,
    first_batch: u64,
    last_ns: i64,
    cpu_ns: Option<f64>,
    wait_ns: Option<f64>,
    elapsed_ns: i64,
    thread_sent: u64,
    rtt: HistogramText,
    error: Option<String>,
}

/// A flow as its receiving end saw it.
#[derive(Debug, Serialize, Deserialize)]
struct ReceiverNumbers {
    flow: u32,
    first_batch: u64,
    unique: u64,
    bytes: u64,
    missing: u64,
    duplicates: u64,
    out_of_order: u64,
    stale: u64,
    corrupted: u64,
    extent_mean: Option<f64>,
    offset_mean: Option<f64>,
    gaps: u64,
    gap_packets_mean: Option<f64>,
    gap_packets_max: u64,
    gap_ns_mean: Option<f64>,
    gap_ns_max: i64,
    first_ns: Option<i64>,
    last_ns: i64,
    jitter_ns: Option<f64>,
    loss_runs: HistogramText,
    extents: HistogramText,
    interarrival: HistogramText,
}

/// A receiving socket with its flows.
#[derive(Debug, Serialize, Deserialize)]
struct SocketNumbers {
    settings: Option<SocketSettings>,
    flows: Vec<ReceiverNumbers>,
    drops: Option<u64>,
    foreign: u64,
    calls: u64,
    buffers: u64,
    datagrams: u64,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    elapsed_ns: i64,
    error: Option<String>,
}

/// Everything one host measured in a phase.
#[derive(Debug, Serialize, Deserialize)]
pub struct Numbers {
    senders: Vec<SenderNumbers>,
    sockets: Vec<SocketNumbers>,
    lateness: HistogramText,
    softnet_drops: Option<u64>,
    udp_receive_buffer_errors: Option<u64>,
}

impl Numbers {
    /// Puts together what the threads of one host handed over.
    pub fn new(
        collected: Collected,
        senders: &BTreeMap<u32, SenderSettings>,
        sockets: &BTreeMap<u32, SocketSettings>,
        counters: HostCounters,
    ) -> Self {
        let Collected {
            clients,
            servers,
            lateness,
            rtt,
            unreachable,
            interarrival,
        } = collected;
        let text = |map: &BTreeMap<u32, Histogram>, flow: u32| {
            map.get(&flow).map(HistogramText::new).unwrap_or_default()
        };
        let mut sending = Vec::new();
        for client in clients {
            let thread_sent: u64 = client.flows.iter().map(|(_, counts)| counts.sent).sum();
            for (flow, counts) in client.flows {
                sending.push(SenderNumbers {
                    flow,
                    settings: senders.get(&flow).cloned(),
                    sent: counts.sent,
                    bytes: counts.bytes,
                    calls: counts.calls,
                    refused_calls: counts.refused_calls,
                    refused: counts.refused,
                    unreachable: counts.unreachable
                        + unreachable.get(&flow).copied().unwrap_or_default(),
                    late: counts.late,
                    first_ns: counts.first_ns,
                    first_batch: counts.first_batch,
                    last_ns: counts.last_ns,
                    cpu_ns: client.cpu_ns.map(|ns| ns as f64),
                    wait_ns: client.wait_ns.map(|ns| ns as f64),
                    elapsed_ns: client.elapsed_ns,
                    thread_sent,
                    rtt: text(&rtt, flow),
                    error: counts.error,
                });
            }
        }
        let receiving = servers
            .into_iter()
            .map(|server| SocketNumbers {
                settings: sockets.get(&server.stream).cloned(),
                flows: server
                    .flows
                    .into_iter()
                    .map(|flow| receiver_numbers(flow, |id| text(&interarrival, id)))
                    .collect(),
                drops: server.drops,
                foreign: server.foreign,
                calls: server.calls,
                buffers: server.buffers,
                datagrams: server.datagrams,
                cpu_ns: server.cpu_ns,
                wait_ns: server.wait_ns,
                elapsed_ns: server.elapsed_ns,
                error: server.error,
            })
            .collect();
        Self {
            senders: sending,
            sockets: receiving,
            lateness: HistogramText::new(&lateness),
            softnet_drops: counters.softnet_drops,
            udp_receive_buffer_errors: counters.udp_receive_buffer_errors,
        }
    }
}

fn receiver_numbers(
    flow: super::server::ServerFlowDone,
    interarrival: impl Fn(u32) -> HistogramText,
) -> ReceiverNumbers {
    let account = flow.account;
    ReceiverNumbers {
        flow: flow.id,
        first_batch: flow.first_batch,
        unique: account.unique,
        bytes: flow.bytes,
        missing: account.missing,
        duplicates: account.duplicates,
        out_of_order: account.out_of_order,
        stale: account.stale,
        corrupted: flow.corrupted,
        extent_mean: account.extent_mean,
        offset_mean: account.offset_mean,
        gaps: account.gaps,
        gap_packets_mean: account.gap_packets_mean,
        gap_packets_max: account.gap_packets_max,
        gap_ns_mean: account.gap_ns_mean,
        gap_ns_max: account.gap_ns_max,
        first_ns: account.first_ns,
        last_ns: account.last_ns,
        jitter_ns: flow.jitter_ns,
        loss_runs: HistogramText::new(&account.loss_runs),
        extents: HistogramText::new(&account.extents),
        interarrival: interarrival(flow.id),
    }
}

/// Histograms merged over the flows of a phase.
#[derive(Default)]
struct Merged(BTreeMap<&'static str, (Histogram, f64)>);

impl Merged {
    fn add(
        &mut self,
        name: &'static str,
        scale: f64,
        text: &HistogramText,
    ) -> Option<HistogramSummary> {
        let histogram = text.histogram();
        if histogram.is_empty() {
            return None;
        }
        self.0
            .entry(name)
            .or_insert_with(|| (Histogram::new(), scale))
            .0
            .merge(&histogram);
        Some(histogram.summary(scale))
    }
}

/// Joins the hosts' numbers; see [`crate::contract::Workload::join`].
pub fn join(spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
    let options: DatagramOptions = serde_json::from_str(&spec.phase.options).unwrap_or_default();
    let mut numbers: Vec<Option<Numbers>> = results
        .iter()
        .map(|result| {
            result
                .as_ref()
                .ok()
                .and_then(|text| serde_json::from_str(text).ok())
        })
        .collect();
    let mut merged = Merged::default();
    let mut flows: Vec<FlowResult> = spec
        .phase
        .flows
        .iter()
        .map(|flow| empty_flow(spec, &options, flow))
        .collect();
    let mut sent_known = vec![false; flows.len()];
    for (index, host) in numbers.iter().enumerate() {
        let Some(host) = host else { continue };
        for sender in &host.senders {
            let plan = spec.phase.flows.get(sender.flow as usize);
            if plan.is_none_or(|plan| plan.from as usize != index) {
                // A host speaks for its own flows only.
                continue;
            }
            if let Some(flow) = flows.get_mut(sender.flow as usize) {
                join_sender(flow, sender, &mut merged);
                sent_known[sender.flow as usize] = true;
            }
        }
        merged.add("datagram.lateness_seconds", NS, &host.lateness);
    }
    for (index, host) in numbers.iter_mut().enumerate() {
        let Some(host) = host else { continue };
        let is_own = |flow: &ReceiverNumbers| {
            let plan = spec.phase.flows.get(flow.flow as usize);
            plan.is_some_and(|plan| plan.to as usize == index)
        };
        for socket in &mut host.sockets {
            socket.flows.retain(is_own);
            join_socket(&mut flows, socket, &options, &mut merged);
        }
        attribute_loss(&mut flows, host);
    }
    for (flow, known) in flows.iter_mut().zip(&sent_known) {
        flow.complete = *known && flow.metrics.contains_key("datagram.received_packets");
    }
    let mut summary = totals(&flows, &options);
    let mut sockets = numbers.iter().flatten().flat_map(|host| &host.sockets);
    if let Some(first) = sockets.next() {
        let foreign = sockets.fold(first.foreign, |sum, socket| {
            sum.saturating_add(socket.foreign)
        });
        summary.insert("datagram.foreign_packets".into(), foreign as f64);
    }
    let histograms = merged
        .0
        .into_iter()
        .map(|(name, (histogram, scale))| (name.into(), histogram.summary(scale)))
        .collect();
    PhaseResult {
        summary,
        flows,
        histograms,
    }
}

fn empty_flow(
    spec: &PhaseSpec,
    options: &DatagramOptions,
    flow: &sokudo_model::FlowPlan,
) -> FlowResult {
    let name = |host: u32| {
        spec.hosts
            .get(host as usize)
            .map_or(String::new(), |host| host.name.clone())
    };
    let mut labels = Labels::new();
    labels.insert("transport".into(), options.transport.name().into());
    if options.streams > 1 {
        labels.insert("stream".into(), (flow.stream + 1).to_string());
    }
    FlowResult {
        id: flow.id,
        from: name(flow.from),
        to: name(flow.to),
        labels,
        ..FlowResult::default()
    }
}

/// Puts a number under its name; what is not known is left out.
fn put(metrics: &mut Summary, name: &str, value: impl Into<Option<f64>>) {
    if let Some(value) = value.into().filter(|value| value.is_finite()) {
        metrics.insert(name.into(), value);
    }
}

/// `n` events from `first_ns` to `last_ns`: events per second. Those that came together with the
/// first only start the clock.
fn per_second(n: u64, first_batch: u64, first_ns: Option<i64>, last_ns: i64) -> Option<f64> {
    let span_ns = last_ns.saturating_sub(first_ns?);
    let timed = n.saturating_sub(first_batch);
    (timed > 0 && span_ns > 0).then(|| timed as f64 * 1e9 / span_ns as f64)
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn join_sender(flow: &mut FlowResult, sender: &SenderNumbers, merged: &mut Merged) {
    let metrics = &mut flow.metrics;
    put(metrics, "datagram.sent_packets", sender.sent as f64);
    put(metrics, "datagram.sent_bytes", sender.bytes as f64);
    put(
        metrics,
        "datagram.refused_sends",
        sender.refused_calls as f64,
    );
    put(
        metrics,
        "datagram.lost_at_sender_packets",
        sender.refused as f64,
    );
    put(
        metrics,
        "datagram.unreachable_errors",
        sender.unreachable as f64,
    );
    put(
        metrics,
        "datagram.mean_send_batch_packets",
        ratio(sender.sent as f64, sender.calls as f64),
    );
    let elapsed = sender.elapsed_ns as f64;
    let mean_bytes = ratio(sender.bytes as f64, sender.sent as f64);
    // A count-bounded run of one batch has no span of its own: take the thread's time.
    let rate = per_second(
        sender.sent,
        sender.first_batch,
        sender.first_ns,
        sender.last_ns,
    )
    .or_else(|| ratio(sender.sent as f64 * 1e9, elapsed));
    put(metrics, "datagram.sent_packets_per_second", rate);
    put(
        metrics,
        "datagram.sent_bytes_per_second",
        rate.zip(mean_bytes).map(|(r, b)| r * b),
    );
    put(
        metrics,
        "datagram.sent_bits_per_second",
        rate.zip(mean_bytes).map(|(r, b)| r * b * 8.0),
    );
    let share = ratio(1.0, sender.thread_sent as f64);
    put(
        metrics,
        "datagram.sender_cpu_seconds_per_packet",
        sender
            .cpu_ns
            .zip(share)
            .map(|(cpu, share)| cpu * share * NS),
    );
    put(
        metrics,
        "datagram.sender_cpu_ratio",
        sender.cpu_ns.and_then(|cpu| ratio(cpu, elapsed)),
    );
    put(
        metrics,
        "datagram.sender_wait_ratio",
        sender.wait_ns.and_then(|wait| ratio(wait, elapsed)),
    );
    if let Some(settings) = &sender.settings {
        let planned_bytes = f64::from(settings.size.mean());
        put(
            metrics,
            "datagram.size_bytes",
            mean_bytes.unwrap_or(planned_bytes),
        );
        put(
            metrics,
            "datagram.path_mtu_bytes",
            settings.path_mtu.map(f64::from),
        );
        put(
            metrics,
            "datagram.send_buffer_asked_bytes",
            settings.sndbuf_asked.map(|b| b as f64),
        );
        put(
            metrics,
            "datagram.send_buffer_granted_bytes",
            settings.sndbuf_granted.map(|b| b as f64),
        );
        put(
            metrics,
            "datagram.asked_packets_per_second",
            settings.asked_per_s,
        );
        if settings.asked_per_s.is_some() {
            put(
                metrics,
                "datagram.late_ratio",
                ratio(sender.late as f64, sender.sent as f64),
            );
        }
        flow.labels.insert("io".into(), settings.mode.clone());
        if !settings.mode_reason.is_empty() {
            flow.labels
                .insert("io_reason".into(), settings.mode_reason.clone());
        }
    }
    if let Some(error) = &sender.error {
        flow.labels.insert("sender_error".into(), error.clone());
    }
    if let Some(rtt) = merged.add("datagram.ack_rtt_seconds", NS, &sender.rtt) {
        flow.histograms
            .insert("datagram.ack_rtt_seconds".into(), rtt);
    }
}

fn join_socket(
    flows: &mut [FlowResult],
    socket: &SocketNumbers,
    options: &DatagramOptions,
    merged: &mut Merged,
) {
    let datagrams = socket.datagrams as f64;
    let elapsed = socket.elapsed_ns as f64;
    for receiver in &socket.flows {
        let Some(flow) = flows.get_mut(receiver.flow as usize) else {
            continue;
        };
        let metrics = &mut flow.metrics;
        join_receiver(metrics, receiver, options);
        put(
            metrics,
            "datagram.mean_receive_batch_packets",
            ratio(datagrams, socket.calls as f64),
        );
        put(
            metrics,
            "datagram.receiver_cpu_seconds_per_packet",
            socket
                .cpu_ns
                .and_then(|cpu| ratio(cpu as f64 * NS, datagrams)),
        );
        put(
            metrics,
            "datagram.receiver_cpu_ratio",
            socket
                .cpu_ns
                .and_then(|cpu| ratio(cpu as f64, elapsed))
                .map(|r| r.min(1.0)),
        );
        put(
            metrics,
            "datagram.receiver_wait_ratio",
            socket.wait_ns.and_then(|wait| ratio(wait as f64, elapsed)),
        );
        if let Some(settings) = &socket.settings {
            put(
                metrics,
                "datagram.receive_buffer_asked_bytes",
                settings.rcvbuf_asked as f64,
            );
            put(
                metrics,
                "datagram.receive_buffer_granted_bytes",
                settings.rcvbuf_granted as f64,
            );
            flow.labels
                .insert("gro".into(), if settings.gro { "on" } else { "off" }.into());
        }
        if let Some(error) = &socket.error {
            flow.labels.insert("receiver_error".into(), error.clone());
        }
        let distributions = [
            ("datagram.interarrival_seconds", NS, &receiver.interarrival),
            ("datagram.loss_run_packets", 1.0, &receiver.loss_runs),
            ("datagram.reordering_extent_packets", 1.0, &receiver.extents),
        ];
        for (name, scale, text) in distributions {
            if let Some(summary) = merged.add(name, scale, text) {
                flow.histograms.insert(name.into(), summary);
            }
        }
    }
}

fn join_receiver(metrics: &mut Summary, receiver: &ReceiverNumbers, options: &DatagramOptions) {
    let received = receiver.unique as f64;
    put(metrics, "datagram.received_packets", received);
    put(metrics, "datagram.received_bytes", receiver.bytes as f64);
    put(
        metrics,
        "datagram.duplicate_packets",
        receiver.duplicates as f64,
    );
    put(
        metrics,
        "datagram.out_of_order_packets",
        receiver.out_of_order as f64,
    );
    put(
        metrics,
        "datagram.corrupted_packets",
        receiver.corrupted as f64,
    );
    // Without the sender's count only what lies between the first and the last is known.
    let sent = metrics.get("datagram.sent_packets").copied();
    let missing = sent.map_or(receiver.missing as f64, |sent| (sent - received).max(0.0));
    let expected = sent.unwrap_or(received + receiver.missing as f64);
    put(metrics, "datagram.missing_packets", missing);
    put(metrics, "datagram.success_ratio", ratio(received, expected));
    put(metrics, "datagram.loss_ratio", ratio(missing, expected));
    let mean_bytes = ratio(receiver.bytes as f64, received);
    let rate = per_second(
        receiver.unique,
        receiver.first_batch,
        receiver.first_ns,
        receiver.last_ns,
    );
    let rate = rate.or_else(|| {
        metrics
            .get("datagram.sent_packets_per_second")
            .map(|sent| sent * ratio(received, expected).unwrap_or(0.0))
    });
    put(metrics, "datagram.delivered_packets_per_second", rate);
    put(
        metrics,
        "datagram.delivered_bytes_per_second",
        rate.zip(mean_bytes).map(|(r, b)| r * b),
    );
    put(
        metrics,
        "datagram.delivered_bits_per_second",
        rate.zip(mean_bytes).map(|(r, b)| r * b * 8.0),
    );
    let payload = match options.payload.0 {
        0 => mean_bytes,
        payload => Some(payload as f64),
    };
    put(
        metrics,
        "datagram.goodput_bytes_per_second",
        rate.zip(payload).map(|(r, b)| r * b),
    );
    put(
        metrics,
        "datagram.elapsed_seconds",
        receiver
            .first_ns
            .map(|first| receiver.last_ns.saturating_sub(first) as f64 * NS),
    );
    put(
        metrics,
        "datagram.processed_bytes",
        options.verify.map(|bytes| bytes.0 as f64),
    );
    put(
        metrics,
        "datagram.reordering_extent_mean_packets",
        receiver.extent_mean,
    );
    put(
        metrics,
        "datagram.vendor_mean_offset_packets",
        receiver.offset_mean,
    );
    put(metrics, "datagram.gaps", receiver.gaps as f64);
    if receiver.gaps > 0 {
        put(
            metrics,
            "datagram.gap_mean_packets",
            receiver.gap_packets_mean,
        );
        put(
            metrics,
            "datagram.gap_max_packets",
            receiver.gap_packets_max as f64,
        );
        put(
            metrics,
            "datagram.gap_mean_seconds",
            receiver.gap_ns_mean.map(|ns| ns * NS),
        );
        put(
            metrics,
            "datagram.gap_max_seconds",
            receiver.gap_ns_max as f64 * NS,
        );
    }
    put(
        metrics,
        "datagram.jitter_seconds",
        receiver.jitter_ns.map(|ns| ns * NS),
    );
}

/// Says where the missing datagrams of everything that one host received were lost.
///
/// A counter explains up to what it counted, and never more than is missing. What it counts are
/// kernel buffers. Measured on Linux 6.18 with a full receive buffer over loopback, 46 datagrams of
/// 1400 B (64 of 100 B) per segmented send:
///
/// | sender | receiving socket | socket drops and `RcvbufErrors` per missing datagram |
/// |---|---|---|
/// | plain, mmsg | with or without GRO | 1 |
/// | GSO | without GRO | 1: the buffer is cut before it is queued |
/// | GSO | with GRO | 1/46 (1/64): the buffer is queued, or dropped, whole |
///
/// So only at a socket with GRO a drop stands for several datagrams: as many as the buffers that
/// did arrive held on average. The backlog queue of a core is in front of the cutting: there a drop
/// stands for one segmented send.
fn attribute_loss(flows: &mut [FlowResult], host: &Numbers) {
    let mut host_left = host.softnet_drops.map(|drops| drops as f64);
    for socket in &host.sockets {
        let ids: Vec<usize> = socket.flows.iter().map(|flow| flow.flow as usize).collect();
        let own = |id: &usize| {
            flows
                .get(*id)?
                .metrics
                .get("datagram.missing_packets")
                .copied()
        };
        let missing: f64 = ids.iter().filter_map(own).sum();
        let per_send = datagrams_per_segmented_send(flows, &ids);
        let per_buffer = datagrams_per_buffer(socket, per_send);
        let at_socket = socket
            .drops
            .map(|drops| explained(drops as f64, per_buffer, missing));
        let rest = missing - at_socket.unwrap_or(0.0);
        let at_host = host_left.map(|drops| explained(drops, per_send, rest));
        if let (Some(left), Some(used)) = (&mut host_left, at_host) {
            *left = (*left - used / per_send).max(0.0);
        }
        let on_path = rest - at_host.unwrap_or(0.0);
        let parts = [
            ("datagram.lost_at_receiver_socket_packets", at_socket),
            ("datagram.lost_at_receiver_host_packets", at_host),
            ("datagram.lost_on_path_packets", Some(on_path)),
        ];
        for id in &ids {
            let Some(flow) = flows.get_mut(*id) else {
                continue;
            };
            let own = flow.metrics.get("datagram.missing_packets").copied();
            let share = ratio(own.unwrap_or(0.0), missing).unwrap_or(0.0);
            for (name, lost) in parts {
                put(&mut flow.metrics, name, lost.map(|lost| lost * share));
            }
        }
    }
}

/// Datagrams that a buffer of this socket held on average, or holds if none arrived to tell; 1
/// without GRO.
fn datagrams_per_buffer(socket: &SocketNumbers, per_send: f64) -> f64 {
    if !socket.settings.as_ref().is_some_and(|socket| socket.gro) {
        return 1.0;
    }
    ratio(socket.datagrams as f64, socket.buffers as f64).map_or(per_send, |mean| mean.max(1.0))
}

/// Datagrams per send call of the fullest segmented sender among these flows; 1 without one.
fn datagrams_per_segmented_send(flows: &[FlowResult], ids: &[usize]) -> f64 {
    let segmented = |id: &usize| {
        let flow = flows.get(*id)?;
        let batch = flow.metrics.get("datagram.mean_send_batch_packets");
        batch.filter(|_| {
            flow.labels
                .get("io")
                .is_some_and(|io| io == SendMode::Gso.name())
        })
    };
    ids.iter()
        .filter_map(segmented)
        .copied()
        .fold(1.0, f64::max)
}

/// How many of `missing` datagrams `drops` buffers explain.
fn explained(drops: f64, per_buffer: f64, missing: f64) -> f64 {
    let most = drops * per_buffer;
    // Dropped buffers may have been fuller or emptier than the mean: when the counter comes within
    // a tenth, it explains all of it.
    if per_buffer > 1.0 && most >= missing * 0.9 {
        missing
    } else {
        most.min(missing)
    }
}

/// Totals over the flows of a phase.
fn totals(flows: &[FlowResult], options: &DatagramOptions) -> Summary {
    const SUMS: &[&str] = &[
        "datagram.sent_packets",
        "datagram.sent_bytes",
        "datagram.received_packets",
        "datagram.received_bytes",
        "datagram.missing_packets",
        "datagram.duplicate_packets",
        "datagram.out_of_order_packets",
        "datagram.corrupted_packets",
        "datagram.lost_at_sender_packets",
        "datagram.lost_at_receiver_socket_packets",
        "datagram.lost_at_receiver_host_packets",
        "datagram.lost_on_path_packets",
        "datagram.refused_sends",
        "datagram.unreachable_errors",
        "datagram.gaps",
        "datagram.sent_packets_per_second",
        "datagram.sent_bytes_per_second",
        "datagram.sent_bits_per_second",
        "datagram.delivered_packets_per_second",
        "datagram.delivered_bytes_per_second",
        "datagram.delivered_bits_per_second",
        "datagram.goodput_bytes_per_second",
        "datagram.asked_packets_per_second",
    ];
    const MAXIMA: &[&str] = &[
        "datagram.gap_max_packets",
        "datagram.gap_max_seconds",
        "datagram.jitter_seconds",
        "datagram.sender_cpu_ratio",
        "datagram.receiver_cpu_ratio",
        "datagram.sender_wait_ratio",
        "datagram.receiver_wait_ratio",
        "datagram.late_ratio",
        "datagram.elapsed_seconds",
        "datagram.receive_buffer_asked_bytes",
        "datagram.send_buffer_asked_bytes",
    ];
    const MINIMA: &[&str] = &[
        "datagram.receive_buffer_granted_bytes",
        "datagram.send_buffer_granted_bytes",
        "datagram.path_mtu_bytes",
    ];
    const WEIGHTED_BY_RECEIVED: &[&str] = &[
        "datagram.receiver_cpu_seconds_per_packet",
        "datagram.mean_receive_batch_packets",
    ];
    const WEIGHTED_BY_SENT: &[&str] = &[
        "datagram.sender_cpu_seconds_per_packet",
        "datagram.mean_send_batch_packets",
        "datagram.size_bytes",
    ];
    let mut summary = Summary::new();
    let values = |name: &'static str| {
        flows
            .iter()
            .filter_map(move |flow| flow.metrics.get(name).copied())
    };
    for name in SUMS {
        if values(name).next().is_some() {
            put(&mut summary, name, values(name).sum::<f64>());
        }
    }
    for name in MAXIMA {
        put(&mut summary, name, values(name).reduce(f64::max));
    }
    for name in MINIMA {
        put(&mut summary, name, values(name).reduce(f64::min));
    }
    for (names, weight) in [
        (WEIGHTED_BY_RECEIVED, "datagram.received_packets"),
        (WEIGHTED_BY_SENT, "datagram.sent_packets"),
    ] {
        for name in names {
            put(&mut summary, name, weighted(flows, name, weight));
        }
    }
    put(
        &mut summary,
        "datagram.reordering_extent_mean_packets",
        weighted(
            flows,
            "datagram.reordering_extent_mean_packets",
            "datagram.out_of_order_packets",
        ),
    );
    put(
        &mut summary,
        "datagram.vendor_mean_offset_packets",
        weighted(
            flows,
            "datagram.vendor_mean_offset_packets",
            "datagram.out_of_order_packets",
        ),
    );
    put(
        &mut summary,
        "datagram.gap_mean_packets",
        weighted(flows, "datagram.gap_mean_packets", "datagram.gaps"),
    );
    put(
        &mut summary,
        "datagram.gap_mean_seconds",
        weighted(flows, "datagram.gap_mean_seconds", "datagram.gaps"),
    );
    let (received, missing) = received_and_missing(flows);
    let expected = received + missing;
    put(
        &mut summary,
        "datagram.success_ratio",
        ratio(received, expected),
    );
    put(
        &mut summary,
        "datagram.loss_ratio",
        ratio(missing, expected),
    );
    put(
        &mut summary,
        "datagram.processed_bytes",
        options.verify.map(|bytes| bytes.0 as f64),
    );
    summary
}

/// Sums over the flows whose receiving end said what it got: the others say nothing about loss.
fn received_and_missing(flows: &[FlowResult]) -> (f64, f64) {
    let both = |flow: &FlowResult| {
        let of = |name: &str| flow.metrics.get(name).copied();
        Some((
            of("datagram.received_packets")?,
            of("datagram.missing_packets")?,
        ))
    };
    let pairs = flows.iter().filter_map(both);
    pairs.fold((0.0, 0.0), |(r, m), (received, missing)| {
        (r + received, m + missing)
    })
}

fn weighted(flows: &[FlowResult], name: &str, weight: &str) -> Option<f64> {
    let mut sum = 0.0;
    let mut weights = 0.0;
    for flow in flows {
        if let Some((value, weight)) = flow.metrics.get(name).zip(flow.metrics.get(weight)) {
            sum += value * weight;
            weights += weight;
        }
    }
    ratio(sum, weights)
}
