//! Joins what both ends of each flow measured, and attributes every missing datagram to a place.

mod loss;
mod numbers_of_host;
mod totals;

use sokudo_model::kinds::datagram as numbers;
use sokudo_model::metrics::group;
use sokudo_model::{FlowPlan, FlowResult, Labels, PhaseResult, Summary};
use sokudo_workload::choice::Choice;
use sokudo_workload::contract::Options as _;
use sokudo_workload::joined::{Merged, NS, put, put_each, put_start_late, ratio};
use sokudo_workload::load::Ends;
use sokudo_workload::load_time::{LoadTime, planned_ns};

use super::options::DatagramOptions;
use super::sequence::Account;
use super::server::ServerFlowDone;
use loss::attribute_loss;
pub use numbers_of_host::{Numbers, SenderSettings, SocketSettings};
use numbers_of_host::{SenderNumbers, SocketNumbers};
use totals::totals;

/// Joins the hosts' numbers.
pub(super) fn join(options: &DatagramOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let mut merged = Merged::default();
    let mut flows: Vec<FlowResult> = ends
        .plans()
        .iter()
        .map(|plan| {
            let mut flow = ends.flow(plan);
            flow.labels = labels(options, plan);
            flow
        })
        .collect();
    let planned_ns = planned_ns(ends.spec, options.duration_ns(), 0);
    let known = || ends.hosts.iter().flatten();
    for host in known() {
        for sender in &host.senders {
            let flow = &mut flows[sender.flow as usize];
            join_sender(flow, sender, planned_ns, &mut merged);
        }
        merged.add(numbers::LATENESS_SECONDS, &host.lateness);
    }
    for host in known() {
        for socket in &host.sockets {
            join_socket(&mut flows, (host, socket), options, &mut merged);
        }
        attribute_loss(&mut flows, host);
    }
    for flow in &mut flows {
        let both = [numbers::SENT_PACKETS, numbers::RECEIVED_PACKETS];
        let is_known = both.iter().all(|end| end.of(&flow.metrics).is_some());
        let has_failed = ["sender_error", "receiver_error"];
        flow.complete = is_known && has_failed.iter().all(|end| !flow.labels.contains_key(*end));
    }
    let mut summary = totals(&flows, options);
    let sockets = known().flat_map(|host| &host.sockets);
    let foreign = sockets.map(|socket| socket.done.foreign);
    let foreign = foreign.reduce(|sum, foreign| sum.saturating_add(foreign));
    let foreign = foreign.map(|foreign| foreign as f64);
    put(&mut summary, numbers::FOREIGN_PACKETS, foreign);
    PhaseResult {
        summary,
        flows,
        histograms: merged.summaries(),
    }
}

fn labels(options: &DatagramOptions, plan: &FlowPlan) -> Labels {
    let mut labels = Labels::new();
    labels.insert("transport".into(), options.transport.name().into());
    if options.streams > 1 {
        labels.insert("stream".into(), (plan.stream + 1).to_string());
    }
    labels
}

fn join_sender(
    flow: &mut FlowResult,
    sender: &SenderNumbers,
    planned_ns: Option<i64>,
    merged: &mut Merged,
) {
    put_sending(&mut flow.metrics, sender, planned_ns);
    if let Some(settings) = &sender.settings {
        put_sender_settings(&mut flow.metrics, sender, settings);
        flow.labels.insert("io".into(), settings.mode.clone());
        if !settings.mode_reason.is_empty() {
            let reason = settings.mode_reason.clone();
            flow.labels.insert("io_reason".into(), reason);
        }
    }
    if let Some(error) = &sender.counts.error {
        flow.labels.insert("sender_error".into(), error.clone());
    }
    merged.add_each(flow, [(numbers::ACK_RTT_SECONDS, &sender.rtt)]);
}

/// Puts the amount sent, its rate, and its cost.
fn put_sending(metrics: &mut Summary, sender: &SenderNumbers, planned_ns: Option<i64>) {
    let counts = &sender.counts;
    let (sent, elapsed_ns) = (counts.sent as f64, sender.elapsed_ns as f64);
    let load = sender.load_time(planned_ns);
    load.put(metrics);
    let bytes_per_s = load.per_s(counts.bytes as f64);
    let share = ratio(1.0, sender.thread_sent as f64);
    let cpu_ns_each = sender
        .cpu_ns
        .zip(share)
        .map(|(cpu, share)| cpu as f64 * share);
    let of_time = |ns: Option<u64>| ns.and_then(|ns| ratio(ns as f64, elapsed_ns));
    put_start_late(metrics, counts.start_late_ns);
    put_each(
        metrics,
        [
            (numbers::SENT_PACKETS, Some(sent)),
            (numbers::SENT_BYTES, Some(counts.bytes as f64)),
            (numbers::REFUSED_SENDS, Some(counts.refused_calls as f64)),
            (numbers::LOST_AT_SENDER_PACKETS, Some(counts.refused as f64)),
            (numbers::UNREACHABLE_ERRORS, Some(counts.unreachable as f64)),
            (
                numbers::MEAN_SEND_BATCH_PACKETS,
                ratio(sent, counts.calls as f64),
            ),
            (numbers::SENT_PACKETS_PER_SECOND, Some(load.per_s(sent))),
            (numbers::SENT_BYTES_PER_SECOND, Some(bytes_per_s)),
            (numbers::SENT_BITS_PER_SECOND, Some(bytes_per_s * 8.0)),
            (
                numbers::SENDER_CPU_SECONDS_PER_PACKET,
                cpu_ns_each.map(|ns| ns * NS),
            ),
            (numbers::SENDER_CPU_RATIO, of_time(sender.cpu_ns)),
            (numbers::SENDER_WAIT_RATIO, of_time(sender.wait_ns)),
        ],
    );
}

/// Mean size of what was sent.
fn mean_bytes(sender: &SenderNumbers) -> Option<f64> {
    ratio(sender.counts.bytes as f64, sender.counts.sent as f64)
}

/// Puts the settings of the sending end, as asked for and as granted by the system.
fn put_sender_settings(metrics: &mut Summary, sender: &SenderNumbers, settings: &SenderSettings) {
    let planned_bytes = f64::from(settings.size.mean());
    let wire_bits = settings.wire_bytes().map(|bytes| bytes * 8.0);
    let sent_per_s = numbers::SENT_PACKETS_PER_SECOND.of(metrics);
    let wire_bits_per_s = wire_bits.zip(sent_per_s).map(|(bits, per_s)| bits * per_s);
    put(metrics, numbers::SENT_WIRE_BITS_PER_SECOND, wire_bits_per_s);
    let late = ratio(sender.counts.late as f64, sender.counts.sent as f64);
    put_each(
        metrics,
        [
            (
                numbers::SIZE_BYTES,
                Some(mean_bytes(sender).unwrap_or(planned_bytes)),
            ),
            (numbers::PATH_MTU_BYTES, settings.path_mtu.map(f64::from)),
            (
                numbers::SEND_BUFFER_ASKED_BYTES,
                settings.sndbuf_asked.map(|b| b as f64),
            ),
            (
                numbers::SEND_BUFFER_GRANTED_BYTES,
                settings.sndbuf_granted.map(|b| b as f64),
            ),
            (numbers::ASKED_PACKETS_PER_SECOND, settings.asked_per_s),
            (numbers::LATE_RATIO, settings.asked_per_s.and(late)),
        ],
    );
}

fn join_socket(
    flows: &mut [FlowResult],
    (host, socket): (&Numbers, &SocketNumbers),
    options: &DatagramOptions,
    merged: &mut Merged,
) {
    let done = &socket.done;
    let (datagrams, elapsed) = (done.datagrams as f64, done.elapsed_ns as f64);
    let cpu = done.cpu_ns.map(|ns| ns as f64);
    let busy = cpu.and_then(|ns| ratio(ns, elapsed));
    let waited = done.wait_ns.and_then(|ns| ratio(ns as f64, elapsed));
    for receiver in &done.flows {
        let flow = &mut flows[receiver.flow as usize];
        let sent = numbers::SENT_PACKETS.of(&flow.metrics);
        let account = receiver.account.clone();
        let account = match sent {
            Some(sent) => account.up_to(sent as u64),
            None => account,
        };
        join_receiver(&mut flow.metrics, (host, receiver), &account, options);
        put_each(
            &mut flow.metrics,
            [
                (
                    numbers::MEAN_RECEIVE_BATCH_PACKETS,
                    ratio(datagrams, done.calls as f64),
                ),
                (
                    numbers::RECEIVER_CPU_SECONDS_PER_PACKET,
                    cpu.and_then(|ns| ratio(ns * NS, datagrams)),
                ),
                (
                    numbers::RECEIVER_CPU_RATIO,
                    busy.map(|share| share.min(1.0)),
                ),
                (numbers::RECEIVER_WAIT_RATIO, waited),
            ],
        );
        if let Some(settings) = &socket.settings {
            put_socket_settings(flow, settings);
        }
        if let Some(error) = &done.error {
            flow.labels.insert("receiver_error".into(), error.clone());
        }
        let distributions = [
            (numbers::INTERARRIVAL_SECONDS, &receiver.interarrival),
            (numbers::LOSS_RUN_PACKETS, &account.loss_runs),
            (numbers::REORDERING_EXTENT_PACKETS, &account.extents),
        ];
        merged.add_each(flow, distributions);
    }
}

/// Puts the receiving socket's options as granted by the system.
fn put_socket_settings(flow: &mut FlowResult, settings: &SocketSettings) {
    let asked = settings.rcvbuf_asked as f64;
    let granted = settings.rcvbuf_granted as f64;
    let metrics = &mut flow.metrics;
    put(metrics, numbers::RECEIVE_BUFFER_ASKED_BYTES, asked);
    put(metrics, numbers::RECEIVE_BUFFER_GRANTED_BYTES, granted);
    let gro = if settings.gro { "on" } else { "off" };
    flow.labels.insert("gro".into(), gro.into());
}

fn join_receiver(
    metrics: &mut Summary,
    (host, receiver): (&Numbers, &ServerFlowDone),
    account: &Account,
    options: &DatagramOptions,
) {
    let received = account.unique as f64;
    // Without the sender's count only what lies between the first and the last is known.
    let sent = numbers::SENT_PACKETS.of(metrics);
    let missing = sent.map_or(account.missing as f64, |sent| (sent - received).max(0.0));
    let expected = sent.unwrap_or(received + account.missing as f64);
    let arrived = ratio(received, expected);
    let verified = options.verify.map(|bytes| bytes.0 as f64);
    put_each(
        metrics,
        [
            (numbers::RECEIVED_PACKETS, Some(received)),
            (numbers::RECEIVED_BYTES, Some(receiver.bytes as f64)),
            (numbers::DUPLICATE_PACKETS, Some(account.duplicates as f64)),
            (
                numbers::OUT_OF_ORDER_PACKETS,
                Some(account.out_of_order as f64),
            ),
            (numbers::CORRUPTED_PACKETS, Some(receiver.corrupted as f64)),
            (numbers::MISSING_PACKETS, Some(missing)),
            (numbers::SUCCESS_RATIO, arrived),
            (numbers::LOSS_RATIO, ratio(missing, expected)),
            (numbers::PROCESSED_BYTES, verified),
            (numbers::REORDERING_EXTENT_MEAN_PACKETS, account.extent_mean),
            (numbers::VENDOR_MEAN_OFFSET_PACKETS, account.offset_mean),
            (
                numbers::JITTER_SECONDS,
                receiver.jitter_ns.map(|ns| ns * NS),
            ),
        ],
    );
    put_delivery(metrics, (host, receiver), options.payload.0);
    put_gaps(metrics, account);
}

/// Puts the rate of arrival over the time of the load, which the sending end knows.
fn put_delivery(
    metrics: &mut Summary,
    (host, receiver): (&Numbers, &ServerFlowDone),
    payload_bytes: u64,
) {
    let account = &receiver.account;
    let through_ns = account.first_ns.map(|first_ns| (first_ns, account.last_ns));
    let sent_ns = group::LOAD_SECONDS
        .of(metrics)
        .map(|s| (s * 1e9).round() as i64);
    let through_ns = LoadTime::since(host.start_ns, through_ns);
    let load = LoadTime::of_arrivals(sent_ns.unwrap_or(0), through_ns);
    load.put(metrics);
    let payload = match payload_bytes {
        0 => receiver.bytes as f64,
        payload => payload as f64 * account.unique as f64,
    };
    let bytes_per_s = load.per_s(receiver.bytes as f64);
    let per_s = load.per_s(account.unique as f64);
    // Each datagram that arrived is as large on the wire as those that were sent.
    let sent_per_s = numbers::SENT_PACKETS_PER_SECOND.of(metrics);
    let wire_bits = numbers::SENT_WIRE_BITS_PER_SECOND
        .of(metrics)
        .zip(sent_per_s)
        .and_then(|(bits, sent)| ratio(bits, sent));
    put(
        metrics,
        numbers::DELIVERED_WIRE_BITS_PER_SECOND,
        wire_bits.map(|bits| bits * per_s),
    );
    let elapsed_ns = through_ns.map(|(first, last)| last.saturating_sub(first) as f64);
    put_each(
        metrics,
        [
            (numbers::DELIVERED_PACKETS_PER_SECOND, Some(per_s)),
            (numbers::DELIVERED_BYTES_PER_SECOND, Some(bytes_per_s)),
            (numbers::DELIVERED_BITS_PER_SECOND, Some(bytes_per_s * 8.0)),
            (numbers::GOODPUT_BYTES_PER_SECOND, Some(load.per_s(payload))),
            (numbers::ELAPSED_SECONDS, elapsed_ns.map(|ns| ns * NS)),
        ],
    );
}

/// Runs of missing datagrams, and the times between the arrivals on both sides of one.
fn put_gaps(metrics: &mut Summary, account: &Account) {
    let most = (account.gaps > 0).then_some(account.gap_packets_max as f64);
    put_each(
        metrics,
        [
            (numbers::GAPS, Some(account.gaps as f64)),
            (numbers::GAP_MEAN_PACKETS, account.gap_packets_mean()),
            (numbers::GAP_MAX_PACKETS, most),
            (
                numbers::GAP_MEAN_SECONDS,
                account.gap_ns_mean.map(|ns| ns * NS),
            ),
            (
                numbers::GAP_MAX_SECONDS,
                account.gap_ns_max.map(|ns| ns as f64 * NS),
            ),
        ],
    );
}
