//! What do both ends' numbers say together, and where was each missing datagram lost?

mod loss;
mod numbers;
mod totals;

use sokudo_model::{FlowResult, Labels, PhaseResult, PhaseSpec, Summary};
use sokudo_workload::contract::HostResult;
use sokudo_workload::joined::{Merged, NS, put, put_each, put_start_late, ratio};

use super::options::DatagramOptions;

use loss::attribute_loss;
pub use numbers::{Numbers, SenderSettings, SocketSettings};
use numbers::{ReceiverNumbers, SenderNumbers, SocketNumbers};
use totals::totals;

/// Joins the hosts' numbers; see [`sokudo_workload::contract::Workload::join`].
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
    PhaseResult {
        summary,
        flows,
        histograms: merged.summaries(),
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

/// `n` events from `first_ns` to `last_ns`: events per second. Those that came together with the
/// first only start the clock.
fn per_second(n: u64, first_batch: u64, first_ns: Option<i64>, last_ns: i64) -> Option<f64> {
    let span_ns = last_ns.saturating_sub(first_ns?);
    let timed = n.saturating_sub(first_batch);
    (timed > 0 && span_ns > 0).then(|| timed as f64 * 1e9 / span_ns as f64)
}

fn join_sender(flow: &mut FlowResult, sender: &SenderNumbers, merged: &mut Merged) {
    put_sending(&mut flow.metrics, sender);
    if let Some(settings) = &sender.settings {
        put_sender_settings(&mut flow.metrics, sender, settings);
        flow.labels.insert("io".into(), settings.mode.clone());
        if !settings.mode_reason.is_empty() {
            let reason = settings.mode_reason.clone();
            flow.labels.insert("io_reason".into(), reason);
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

/// What was sent, how fast, and what it cost.
fn put_sending(metrics: &mut Summary, sender: &SenderNumbers) {
    let (sent, elapsed_ns) = (sender.sent as f64, sender.elapsed_ns as f64);
    let (first_ns, last_ns) = (sender.first_ns, sender.last_ns);
    // A count-bounded run of one batch has no span of its own: take the thread's time.
    let rate = per_second(sender.sent, sender.first_batch, first_ns, last_ns)
        .or_else(|| ratio(sent * 1e9, elapsed_ns));
    let bytes_per_s = rate.zip(mean_bytes(sender)).map(|(r, b)| r * b);
    let share = ratio(1.0, sender.thread_sent as f64);
    let cpu_ns_each = sender.cpu_ns.zip(share).map(|(cpu, share)| cpu * share);
    let of_time = |ns: Option<f64>| ns.and_then(|ns| ratio(ns, elapsed_ns));
    put_start_late(metrics, sender.start_late_ns);
    put_each(
        metrics,
        [
            ("datagram.sent_packets", Some(sent)),
            ("datagram.sent_bytes", Some(sender.bytes as f64)),
            ("datagram.refused_sends", Some(sender.refused_calls as f64)),
            (
                "datagram.lost_at_sender_packets",
                Some(sender.refused as f64),
            ),
            (
                "datagram.unreachable_errors",
                Some(sender.unreachable as f64),
            ),
            (
                "datagram.mean_send_batch_packets",
                ratio(sent, sender.calls as f64),
            ),
            ("datagram.sent_packets_per_second", rate),
            ("datagram.sent_bytes_per_second", bytes_per_s),
            (
                "datagram.sent_bits_per_second",
                bytes_per_s.map(|bytes| bytes * 8.0),
            ),
            (
                "datagram.sender_cpu_seconds_per_packet",
                cpu_ns_each.map(|ns| ns * NS),
            ),
            ("datagram.sender_cpu_ratio", of_time(sender.cpu_ns)),
            ("datagram.sender_wait_ratio", of_time(sender.wait_ns)),
        ],
    );
}

/// Mean size of what was sent.
fn mean_bytes(sender: &SenderNumbers) -> Option<f64> {
    ratio(sender.bytes as f64, sender.sent as f64)
}

/// What the sending end was told to do, and what the system made of it.
fn put_sender_settings(metrics: &mut Summary, sender: &SenderNumbers, settings: &SenderSettings) {
    let planned_bytes = f64::from(settings.size.mean());
    let late = ratio(sender.late as f64, sender.sent as f64);
    put_each(
        metrics,
        [
            (
                "datagram.size_bytes",
                Some(mean_bytes(sender).unwrap_or(planned_bytes)),
            ),
            ("datagram.path_mtu_bytes", settings.path_mtu.map(f64::from)),
            (
                "datagram.send_buffer_asked_bytes",
                settings.sndbuf_asked.map(|b| b as f64),
            ),
            (
                "datagram.send_buffer_granted_bytes",
                settings.sndbuf_granted.map(|b| b as f64),
            ),
            ("datagram.asked_packets_per_second", settings.asked_per_s),
            ("datagram.late_ratio", settings.asked_per_s.and(late)),
        ],
    );
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
    // Without the sender's count only what lies between the first and the last is known.
    let sent = metrics.get("datagram.sent_packets").copied();
    let missing = sent.map_or(receiver.missing as f64, |sent| (sent - received).max(0.0));
    let expected = sent.unwrap_or(received + receiver.missing as f64);
    let arrived = ratio(received, expected);
    let verified = options.verify.map(|bytes| bytes.0 as f64);
    put_each(
        metrics,
        [
            ("datagram.received_packets", Some(received)),
            ("datagram.received_bytes", Some(receiver.bytes as f64)),
            (
                "datagram.duplicate_packets",
                Some(receiver.duplicates as f64),
            ),
            (
                "datagram.out_of_order_packets",
                Some(receiver.out_of_order as f64),
            ),
            (
                "datagram.corrupted_packets",
                Some(receiver.corrupted as f64),
            ),
            ("datagram.missing_packets", Some(missing)),
            ("datagram.success_ratio", arrived),
            ("datagram.loss_ratio", ratio(missing, expected)),
            ("datagram.processed_bytes", verified),
            (
                "datagram.reordering_extent_mean_packets",
                receiver.extent_mean,
            ),
            ("datagram.vendor_mean_offset_packets", receiver.offset_mean),
            (
                "datagram.jitter_seconds",
                receiver.jitter_ns.map(|ns| ns * NS),
            ),
        ],
    );
    put_delivery(metrics, receiver, arrived, options.payload.0);
    put_gaps(metrics, receiver);
}

/// How fast datagrams came in; `arrived` is their share of those sent.
fn put_delivery(
    metrics: &mut Summary,
    receiver: &ReceiverNumbers,
    arrived: Option<f64>,
    payload_bytes: u64,
) {
    let (first_ns, last_ns) = (receiver.first_ns, receiver.last_ns);
    let rate = per_second(receiver.unique, receiver.first_batch, first_ns, last_ns);
    let sent_rate = metrics.get("datagram.sent_packets_per_second");
    let rate = rate.or_else(|| sent_rate.map(|sent| sent * arrived.unwrap_or(0.0)));
    let mean_bytes = ratio(receiver.bytes as f64, receiver.unique as f64);
    let bytes_per_s = rate.zip(mean_bytes).map(|(r, b)| r * b);
    let payload = match payload_bytes {
        0 => mean_bytes,
        payload => Some(payload as f64),
    };
    let elapsed_ns = first_ns.map(|first| last_ns.saturating_sub(first) as f64);
    put_each(
        metrics,
        [
            ("datagram.delivered_packets_per_second", rate),
            ("datagram.delivered_bytes_per_second", bytes_per_s),
            (
                "datagram.delivered_bits_per_second",
                bytes_per_s.map(|bytes| bytes * 8.0),
            ),
            (
                "datagram.goodput_bytes_per_second",
                rate.zip(payload).map(|(r, b)| r * b),
            ),
            ("datagram.elapsed_seconds", elapsed_ns.map(|ns| ns * NS)),
        ],
    );
}

/// Times without a datagram where some are missing.
fn put_gaps(metrics: &mut Summary, receiver: &ReceiverNumbers) {
    put(metrics, "datagram.gaps", receiver.gaps as f64);
    if receiver.gaps == 0 {
        return;
    }
    put_each(
        metrics,
        [
            ("datagram.gap_mean_packets", receiver.gap_packets_mean),
            (
                "datagram.gap_max_packets",
                Some(receiver.gap_packets_max as f64),
            ),
            (
                "datagram.gap_mean_seconds",
                receiver.gap_ns_mean.map(|ns| ns * NS),
            ),
            (
                "datagram.gap_max_seconds",
                Some(receiver.gap_ns_max as f64 * NS),
            ),
        ],
    );
}
