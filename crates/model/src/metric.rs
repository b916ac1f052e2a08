//! Which quantities exist, in which unit, and what does each count?

use serde::{Deserialize, Serialize};

/// Unit of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Plain number.
    One,
    /// 0 to 1.
    Ratio,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Bits per second.
    BitsPerSecond,
    /// Datagrams.
    Packets,
    /// Datagrams per second.
    PacketsPerSecond,
    /// Events per second.
    PerSecond,
    /// Hertz.
    Hertz,
}

impl Unit {
    /// Symbol as printed after a number; empty for plain numbers.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::One | Unit::Ratio | Unit::Packets => "",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::BitsPerSecond => "b/s",
            Unit::PacketsPerSecond | Unit::PerSecond => "/s",
            Unit::Hertz => "Hz",
        }
    }

    /// Name used in files and in `sokudo metrics`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::One => "1",
            Unit::Ratio => "ratio",
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
            Unit::BytesPerSecond => "bytes/second",
            Unit::BitsPerSecond => "bits/second",
            Unit::Packets => "packets",
            Unit::PacketsPerSecond => "packets/second",
            Unit::PerSecond => "1/second",
            Unit::Hertz => "hertz",
        }
    }
}

/// How the values of a metric behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Only grows within a run; a series holds the cumulative value since the run's start.
    Counter,
    /// Goes up and down; a series holds the value at, or the mean over the interval ending at, `t_ns`.
    Gauge,
    /// Distribution; stored in `histograms.parquet`.
    Histogram,
}

/// One entry of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricDef {
    /// Dotted name; the last word carries the unit.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// How the values behave.
    pub kind: MetricKind,
    /// What exactly is counted, in one line.
    pub help: &'static str,
}

/// Looks a metric up by its name.
pub fn find(name: &str) -> Option<&'static MetricDef> {
    CATALOGUE.iter().find(|m| m.name == name)
}

/// Unit of a metric, or of one number of a distribution (`rr.latency_seconds.p99`); plain number for
/// a name that is not in the catalogue.
pub fn unit_of(name: &str) -> Unit {
    let whole = || find(name.rsplit_once('.')?.0).filter(|m| m.kind == MetricKind::Histogram);
    find(name).or_else(whole).map_or(Unit::One, |m| m.unit)
}

const fn counter(name: &'static str, unit: Unit, help: &'static str) -> MetricDef {
    MetricDef {
        name,
        unit,
        kind: MetricKind::Counter,
        help,
    }
}

const fn gauge(name: &'static str, unit: Unit, help: &'static str) -> MetricDef {
    MetricDef {
        name,
        unit,
        kind: MetricKind::Gauge,
        help,
    }
}

const fn histogram(name: &'static str, unit: Unit, help: &'static str) -> MetricDef {
    MetricDef {
        name,
        unit,
        kind: MetricKind::Histogram,
        help,
    }
}

use Unit::{
    BitsPerSecond, Bytes, BytesPerSecond, Hertz, One, Packets, PacketsPerSecond, PerSecond, Ratio,
    Seconds,
};

/// Every metric that a record can hold, grouped by source.
#[rustfmt::skip]
pub const CATALOGUE: &[MetricDef] = &[
    // What a host's generator can do, from its self-test; label `mode`: plain, mmsg, gso, gso+gro.
    gauge("selftest.sent_packets_per_second", PacketsPerSecond, "datagrams per second that one thread of this host hands to the kernel over loopback; label mode"),
    gauge("selftest.delivered_packets_per_second", PacketsPerSecond, "datagrams per second that arrive meanwhile; label mode"),

    // Hosts of a run as a group.
    gauge("group.hosts", One, "hosts of the run, the one that gives the commands included when it takes part"),
    gauge("group.start_late_seconds", Seconds, "first send of a flow minus the agreed start, on the sender's own clock"),
    gauge("group.start_lead_seconds", Seconds, "how far ahead of the order the start lay, in the phase with the longest lead: 100 ms, twice what a command to all took just before, and four times the largest clock error"),
    histogram("group.start_spread_seconds", Seconds, "how much later each flow began than the first one of its phase; in the summary with .p50 and .max"),
    gauge("group.pairs", One, "directed pairs of hosts that met in a check of a group"),
    gauge("group.failed_pairs", One, "pairs of them that did not keep what was expected, or of which nothing came through"),
    gauge("group.dead_pairs", One, "pairs of them of which nothing came through in at least one layer"),
    gauge("group.slowest_pair_bits_per_second", BitsPerSecond, "payload per second that one connection of the slowest pair carried"),
    gauge("group.median_pair_bits_per_second", BitsPerSecond, "the same of the pair in the middle"),
    gauge("group.worst_pair_latency_seconds", Seconds, "time within which the pair with the latest answers got 99 % of them"),
    gauge("group.worst_pair_loss_ratio", Ratio, "share of the datagrams that the pair with the largest loss lost"),
    gauge("group.mesh_bits_per_second", BitsPerSecond, "payload per second that all hosts of a group carried together when each sent to every other one at once"),
    gauge("group.mesh_fairness_ratio", Ratio, "Jain's fairness index of the speeds of those connections: 1 when all are equal"),
    gauge("group.mesh_loss_ratio", Ratio, "share of the datagrams lost when each host sent to every other one at once"),
    histogram("group.clock_drift_ratio", Ratio, "seconds per second that a host's clock gains or loses against the controller's; in the summary with .max"),
    gauge("group.clock_drift_error_ratio", Ratio, "that drift is right within this"),
    histogram("group.clock_error_seconds", Seconds, "how far the offset of a host's clock may be wrong; in the summary with .max"),

    // Datagram workload: totals, flows and (those per second) series.
    counter("datagram.sent_packets", Packets, "datagrams that the kernel accepted from the sender"),
    counter("datagram.sent_bytes", Bytes, "bytes of those datagrams without IP and UDP headers"),
    counter("datagram.received_packets", Packets, "distinct datagrams that reached the receiving program, intact"),
    counter("datagram.received_bytes", Bytes, "bytes of those datagrams without IP and UDP headers"),
    counter("datagram.missing_packets", Packets, "sent and never received; head and tail of the run included"),
    counter("datagram.duplicate_packets", Packets, "arrivals of a sequence number that had arrived before"),
    counter("datagram.out_of_order_packets", Packets, "arrivals with a sequence number below one that arrived earlier (RFC 4737 type-P-reordered)"),
    counter("datagram.corrupted_packets", Packets, "arrivals whose header check or verified bytes were wrong"),
    counter("datagram.foreign_packets", Packets, "arrivals on the test's port that belong to no flow of it"),
    gauge("datagram.success_ratio", Ratio, "received_packets / sent_packets"),
    gauge("datagram.sent_packets_per_second", PacketsPerSecond, "sent datagrams over the sender's own time from first to last"),
    gauge("datagram.sent_bytes_per_second", BytesPerSecond, "bytes of sent datagrams, IP and UDP headers not counted, over the same time"),
    gauge("datagram.delivered_packets_per_second", PacketsPerSecond, "received datagrams over the receiver's own time from first to last"),
    gauge("datagram.delivered_bytes_per_second", BytesPerSecond, "bytes of received datagrams, IP and UDP headers not counted, over the same time"),
    gauge("datagram.goodput_bytes_per_second", BytesPerSecond, "payload bytes of received datagrams (see --payload) over the same time"),
    gauge("datagram.asked_packets_per_second", PacketsPerSecond, "rate that was asked for; absent when unlimited"),
    gauge("datagram.best_rate_bytes_per_second", BytesPerSecond, "highest delivered rate that kept loss within the bound, confirmed by a fresh run"),
    gauge("datagram.best_rate_packets_per_second", PacketsPerSecond, "the same in datagrams"),
    gauge("datagram.best_rate_loss_ratio", Ratio, "loss in the run that confirmed the best rate"),
    counter("datagram.lost_at_sender_packets", Packets, "refused by the sender's kernel (ENOBUFS, EAGAIN), not counted as sent"),
    counter("datagram.lost_at_receiver_socket_packets", Packets, "missing datagrams explained by drops at the receiving socket"),
    counter("datagram.lost_at_receiver_host_packets", Packets, "missing datagrams explained by drops elsewhere in the receiving host (softnet backlog, UDP errors without a socket drop)"),
    counter("datagram.lost_on_path_packets", Packets, "missing datagrams that no counter of either host explains"),
    counter("datagram.refused_sends", One, "send calls that the kernel refused with ENOBUFS or EAGAIN"),
    counter("datagram.unreachable_errors", One, "port-unreachable or host-unreachable errors that came back to the sender"),
    gauge("datagram.mean_send_batch_packets", Packets, "datagrams per send call"),
    gauge("datagram.mean_receive_batch_packets", Packets, "datagrams per receive call that returned any"),
    gauge("datagram.reordering_extent_mean_packets", Packets, "mean RFC 4737 reordering extent of the out-of-order arrivals"),
    gauge("datagram.vendor_mean_offset_packets", Packets, "mean distance between arrival position and sequence position of out-of-order arrivals, as the datagram test prints it"),
    gauge("datagram.gaps", One, "times that the sequence jumped forward over at least one number"),
    gauge("datagram.gap_mean_packets", Packets, "numbers jumped over per gap, mean"),
    gauge("datagram.gap_max_packets", Packets, "numbers jumped over in the largest gap"),
    gauge("datagram.gap_mean_seconds", Seconds, "time between the arrivals on both sides of a gap, mean"),
    gauge("datagram.gap_max_seconds", Seconds, "the same, largest"),
    gauge("datagram.jitter_seconds", Seconds, "interarrival jitter as in RFC 3550 section 6.4.1, at the end of the run"),
    gauge("datagram.sender_cpu_seconds_per_packet", Seconds, "CPU time of the sending thread per sent datagram"),
    gauge("datagram.receiver_cpu_seconds_per_packet", Seconds, "CPU time of the receiving thread per received datagram"),
    gauge("datagram.sender_cpu_ratio", Ratio, "CPU time of the sending thread over elapsed time"),
    gauge("datagram.receiver_cpu_ratio", Ratio, "CPU time of the receiving thread over elapsed time"),
    gauge("datagram.sender_wait_ratio", Ratio, "time that the sending thread was runnable but had no CPU, over elapsed time"),
    gauge("datagram.receiver_wait_ratio", Ratio, "time that the receiving thread was runnable but had no CPU, over elapsed time"),
    gauge("datagram.late_ratio", Ratio, "datagrams sent more than 1 ms after their intended time, over those sent; absent when unlimited"),
    gauge("datagram.receive_buffer_asked_bytes", Bytes, "receive buffer asked for"),
    gauge("datagram.receive_buffer_granted_bytes", Bytes, "receive buffer that the kernel granted (Linux reports twice the usable size; halved here)"),
    gauge("datagram.send_buffer_asked_bytes", Bytes, "send buffer asked for"),
    gauge("datagram.send_buffer_granted_bytes", Bytes, "send buffer that the kernel granted (halved on Linux as above)"),
    gauge("datagram.size_bytes", Bytes, "mean datagram size without IP and UDP headers"),
    gauge("datagram.path_mtu_bytes", Bytes, "MTU of the interface towards the peer, or of the path where the kernel knows it"),
    gauge("datagram.processed_bytes", Bytes, "bytes of each datagram that the receiver verified"),
    gauge("datagram.elapsed_seconds", Seconds, "receiver's time from the first to the last arrival"),
    gauge("datagram.loss_ratio", Ratio, "missing over sent; in series: over the interval, from the sequence numbers seen"),
    histogram("datagram.interarrival_seconds", Seconds, "time between receive calls that returned datagrams"),
    histogram("datagram.ack_rtt_seconds", Seconds, "round trip of sampled datagrams, the peer's holding time taken off"),
    histogram("datagram.lateness_seconds", Seconds, "real minus intended send time of paced datagrams"),
    histogram("datagram.reordering_extent_packets", Packets, "RFC 4737 reordering extent of each out-of-order arrival"),
    histogram("datagram.loss_run_packets", Packets, "length of each run of consecutive missing sequence numbers"),

    // Two-way probe: totals, flows, series. `up` is the way of the probes, `down` that of the answers.
    counter("probe.sent_packets", Packets, "probes that the kernel accepted"),
    counter("probe.answered_packets", Packets, "probes whose answer came within the timeout"),
    counter("probe.late_packets", Packets, "probes whose answer came after the timeout: not lost, and not in any distribution"),
    counter("probe.lost_packets", Packets, "probes without an answer"),
    counter("probe.lost_up_packets", Packets, "probes that never reached the far end"),
    counter("probe.lost_down_packets", Packets, "answers that never came back"),
    counter("probe.answers_sent_packets", Packets, "answers that the far end sent, one per arrival of a probe"),
    counter("probe.answer_refused_packets", Packets, "answers that the far end's kernel did not take"),
    counter("probe.refused_packets", Packets, "probes that the kernel did not take"),
    counter("probe.unsent_packets", Packets, "probes left out because the sending thread woke up after the next one was due"),
    counter("probe.duplicate_up_packets", Packets, "arrivals at the far end of a probe that had arrived before"),
    counter("probe.duplicate_down_packets", Packets, "arrivals of an answer that had arrived before"),
    counter("probe.out_of_order_up_packets", Packets, "arrivals at the far end behind a later probe"),
    counter("probe.out_of_order_down_packets", Packets, "arrivals of an answer behind a later one"),
    counter("probe.foreign_packets", Packets, "arrivals on either end that are no probe or answer of the flow"),
    gauge("probe.loss_ratio", Ratio, "lost over sent; in series: of the probes that left in the interval, without an answer in time"),
    gauge("probe.loss_up_ratio", Ratio, "lost on the way up over sent"),
    gauge("probe.loss_down_ratio", Ratio, "lost on the way down over answers sent"),
    gauge("probe.asked_packets_per_second", PacketsPerSecond, "probes per second asked for"),
    gauge("probe.answered_packets_per_second", PacketsPerSecond, "answered probes over the sender's time"),
    gauge("probe.best_rate_packets_per_second", PacketsPerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run"),
    gauge("probe.jitter_seconds", Seconds, "jitter of the round trips as in RFC 3550 section 6.4.1, at the end of the run; of several flows the largest"),
    gauge("probe.jitter_up_seconds", Seconds, "the same of the way up; needs no common clock"),
    gauge("probe.jitter_down_seconds", Seconds, "the same of the way down"),
    gauge("probe.clock_error_seconds", Seconds, "the difference of the two hosts' clocks is known within this; 0 = one clock; one-way delays below it are not shown"),
    gauge("probe.clock_drift_ratio", Ratio, "change of that difference per time, between before and after the load"),
    gauge("probe.sender_cpu_ratio", Ratio, "CPU time of the sending thread over elapsed time"),
    gauge("probe.sender_wait_ratio", Ratio, "time that the sending thread was runnable but had no CPU, over elapsed time"),
    gauge("probe.server_cpu_ratio", Ratio, "CPU time of the answering thread over elapsed time"),
    gauge("probe.rtt_p50_seconds", Seconds, "median round trip of each interval"),
    gauge("probe.rtt_p99_seconds", Seconds, "99th percentile of the round trips of each interval"),
    gauge("probe.each_rtt_seconds", Seconds, "round trips one by one, at the moment of departure (see --keep)"),
    gauge("probe.each_owd_up_seconds", Seconds, "delays up one by one; absent when half of them are below the clock error"),
    gauge("probe.each_owd_down_seconds", Seconds, "delays down one by one; absent when half of them are below the clock error"),
    histogram("probe.rtt_seconds", Seconds, "round trip, the far end's turn-around taken off"),
    histogram("probe.owd_seconds", Seconds, "one-way delay, both ways together; numbers below the clock error are left out"),
    histogram("probe.owd_up_seconds", Seconds, "one-way delay of the probes; numbers below the clock error are left out"),
    histogram("probe.owd_down_seconds", Seconds, "one-way delay of the answers; numbers below the clock error are left out"),
    histogram("probe.ipdv_seconds", Seconds, "difference of the round trips of consecutive probes, without sign (RFC 3393)"),
    histogram("probe.ipdv_up_seconds", Seconds, "the same of the way up; needs no common clock"),
    histogram("probe.ipdv_down_seconds", Seconds, "the same of the way down"),
    histogram("probe.turnaround_seconds", Seconds, "time between a probe's arrival at the far end and its answer's departure"),
    histogram("probe.timer_error_seconds", Seconds, "departure of each probe behind its moment in the schedule"),
    histogram("probe.send_call_seconds", Seconds, "length of the send call"),
    histogram("probe.loss_run_up_packets", Packets, "length of each run of consecutive probes lost on the way up"),
    histogram("probe.loss_run_down_packets", Packets, "length of each run of consecutive answers lost on the way down"),

    // Host monitor.
    gauge("host.cpu_ratio", Ratio, "share of each core's time by state; labels core (all, 0, 1, …) and state (user, nice, system, irq, softirq, steal, iowait, idle)"),
    gauge("host.cpu_frequency_hertz", Hertz, "current clock of each core; label core"),
    gauge("host.context_switches_per_second", PerSecond, "context switches on the whole host"),
    gauge("host.interrupts_per_second", PerSecond, "interrupts on the whole host"),
    gauge("host.runnable_threads", One, "threads running or waiting for a CPU"),
    gauge("host.load_1min", One, "load average over one minute"),
    gauge("host.memory_available_bytes", Bytes, "memory that can be used without swapping (MemAvailable)"),
    gauge("host.memory_total_bytes", Bytes, "memory of the host"),
    gauge("host.swap_used_bytes", Bytes, "swap in use"),
    gauge("host.pressure_ratio", Ratio, "share of time that some or all tasks stalled; labels resource (cpu, memory, io) and kind (some, full)"),
    gauge("host.nic_receive_bytes_per_second", BytesPerSecond, "bytes received; label device"),
    gauge("host.nic_send_bytes_per_second", BytesPerSecond, "bytes sent; label device"),
    gauge("host.nic_receive_packets_per_second", PacketsPerSecond, "packets received; label device"),
    gauge("host.nic_send_packets_per_second", PacketsPerSecond, "packets sent; label device"),
    counter("host.nic_receive_drops", One, "packets dropped on receive since the run's start; label device"),
    counter("host.nic_send_drops", One, "packets dropped on send since the run's start; label device"),
    counter("host.nic_errors", One, "receive and send errors since the run's start; label device"),
    counter("host.udp_receive_buffer_errors", One, "UDP RcvbufErrors since the run's start: datagrams that found a full socket"),
    counter("host.udp_send_buffer_errors", One, "UDP SndbufErrors since the run's start"),
    counter("host.udp_no_port", One, "UDP NoPorts since the run's start: datagrams for a port nobody listens on"),
    counter("host.udp_checksum_errors", One, "UDP InCsumErrors since the run's start"),
    gauge("host.udp_in_per_second", PacketsPerSecond, "datagrams delivered to sockets"),
    gauge("host.udp_out_per_second", PacketsPerSecond, "datagrams sent by sockets"),
    counter("host.ip_reassembly_failures", One, "IP fragments that could not be put together since the run's start"),
    gauge("host.tcp_segments_in_per_second", PerSecond, "TCP segments received"),
    gauge("host.tcp_segments_out_per_second", PerSecond, "TCP segments sent"),
    counter("host.tcp_retransmits", One, "TCP segments retransmitted since the run's start"),
    counter("host.tcp_listen_overflows", One, "connections dropped because an accept queue was full, since the run's start"),
    counter("host.tcp_listen_drops", One, "connections dropped before they were accepted, for whatever reason, since the run's start"),
    counter("host.tcp_syn_retransmits", One, "calls for a connection that were made again because nobody answered, since the run's start"),
    gauge("host.tcp_connections", One, "TCP sockets with a local port, listening ones included"),
    gauge("host.tcp_time_wait_connections", One, "TCP connections that are over and keep their local port for a minute"),
    gauge("host.tcp_local_ports", One, "local ports that the system may give to outgoing connections (net.ipv4.ip_local_port_range)"),
    counter("host.softnet_drops", One, "packets dropped because a core's backlog queue was full, since the run's start; label core"),
    counter("host.softnet_time_squeezes", One, "times that a core's receive loop ran out of budget, since the run's start; label core"),
    gauge("host.disk_read_bytes_per_second", BytesPerSecond, "bytes read; label device"),
    gauge("host.disk_write_bytes_per_second", BytesPerSecond, "bytes written; label device"),
    gauge("host.disk_queue_depth", One, "mean requests in flight over the interval; label device"),

    // What sokudo itself uses, so that a reader can judge the measuring instrument.
    gauge("self.cpu_ratio", Ratio, "CPU time of each thread of sokudo over elapsed time, 1 = one core; label thread"),
    gauge("self.wait_ratio", Ratio, "time that each thread was runnable but had no CPU, over elapsed time; label thread"),
    gauge("self.resident_bytes", Bytes, "resident memory of the process"),

    // Clock of a host against the controller's.
    gauge("clock.offset_seconds", Seconds, "host clock minus controller clock"),
    gauge("clock.drift_ratio", Ratio, "seconds that the host's clock gains per second of the controller's, by the line through all comparisons"),
    gauge("clock.drift_error_ratio", Ratio, "the drift is right within this"),
    gauge("clock.error_seconds", Seconds, "half of the smallest round trip: the offset is right within this"),

    // Rates that people compare with link speeds.
    gauge("datagram.delivered_bits_per_second", BitsPerSecond, "delivered_bytes_per_second in bits; in series: over the interval"),
    gauge("datagram.sent_bits_per_second", BitsPerSecond, "sent_bytes_per_second in bits; in series: over the interval"),

    // A sweep: everything else in the summary is that of the step at its knee.
    counter("sweep.steps", One, "steps of the sweep"),
    counter("sweep.failed_steps", One, "steps of the sweep that gave no numbers"),
    gauge("sweep.knee_step", One, "number of the step at the knee, by rising load from 1; absent when the range has no knee"),
    gauge("sweep.knee_value", One, "value of the swept option at the knee, in its base unit (events, bits or bytes per second, bytes, nanoseconds)"),

    // State of a flow's TCP connection (TCP_INFO); labels flow and end (sender, receiver).
    gauge("tcp.congestion_window_segments", One, "segments that may be unacknowledged (tcpi_snd_cwnd)"),
    gauge("tcp.congestion_window_bytes", Bytes, "the same in bytes, as other tools tell it (imports)"),
    gauge("tcp.slow_start_threshold_segments", One, "congestion window at which slow start ends; absent before the first loss"),
    gauge("tcp.smoothed_rtt_seconds", Seconds, "round-trip time as the kernel smooths it (tcpi_rtt)"),
    gauge("tcp.rtt_variation_seconds", Seconds, "mean deviation of the round-trip time (tcpi_rttvar)"),
    counter("tcp.retransmitted_segments", One, "segments retransmitted since the connection began"),
    gauge("tcp.unacknowledged_segments", One, "segments sent and not acknowledged yet"),
    gauge("tcp.delivery_rate_bytes_per_second", BytesPerSecond, "latest rate at which the peer acknowledged bytes"),
    gauge("tcp.pacing_rate_bytes_per_second", BytesPerSecond, "rate at which the kernel paces sending; absent without pacing"),
    counter("tcp.busy_seconds", Seconds, "time with data to send or under way"),
    counter("tcp.receive_window_limited_seconds", Seconds, "part of it in which the peer's receive window was full"),
    counter("tcp.send_buffer_limited_seconds", Seconds, "part of it in which the own send buffer was too small"),
    gauge("tcp.min_rtt_seconds", Seconds, "lowest round-trip time lately, as the kernel keeps it (tcpi_min_rtt)"),
    gauge("tcp.lost_segments", One, "segments that the kernel takes for lost now"),
    counter("tcp.sent_segments", One, "segments with data sent since the connection began, retransmitted ones included"),
    gauge("tcp.segment_bytes", Bytes, "payload of a full segment (tcpi_snd_mss)"),
    gauge("tcp.not_sent_bytes", Bytes, "bytes written and not sent yet"),
    gauge("tcp.peer_window_bytes", Bytes, "receive window that the peer offers (tcpi_snd_wnd)"),
    gauge("tcp.own_window_bytes", Bytes, "receive window that this end offers (tcpi_rcv_wnd)"),
    gauge("tcp.receive_queue_bytes", Bytes, "bytes that have arrived and that the program has not read yet (SIOCINQ)"),
    gauge("tcp.send_queue_bytes", Bytes, "bytes that the program has written and that are not acknowledged yet (SIOCOUTQ)"),
    gauge("tcp.delayed_ack_seconds", Seconds, "how long this end holds back an acknowledgement at most (tcpi_ato); absent before it held one back"),

    // Message bus.
    counter("bus.messages", One, "messages that arrived where they were to go, warm-up not counted"),
    gauge("bus.messages_per_second", PerSecond, "those messages over the receiving end's own time from the first to the last; in series: over the interval"),
    gauge("bus.bytes_per_second", BytesPerSecond, "their bytes, headers of the messages included"),
    gauge("bus.bits_per_second", BitsPerSecond, "bytes_per_second in bits"),
    counter("bus.sent_messages", One, "messages handed over for sending, warm-up not counted"),
    counter("bus.sent_bytes", Bytes, "their bytes, headers of the messages included"),
    gauge("bus.sent_per_second", PerSecond, "messages handed over for sending, over the interval"),
    gauge("bus.sent_bytes_per_second", BytesPerSecond, "their bytes, over the interval"),
    gauge("bus.asked_per_second", PerSecond, "rate that was asked for; absent without --rate"),
    gauge("bus.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run"),
    counter("bus.answers", One, "answers that came back"),
    gauge("bus.answers_per_second", PerSecond, "answers that came back, over the interval"),
    counter("bus.missing_messages", One, "messages sent that did not arrive, warm-up included: their connection broke"),
    counter("bus.unacknowledged_messages", One, "messages sent of which nobody said that they arrived"),
    counter("bus.unanswered_messages", One, "messages that asked for an answer and got none"),
    counter("bus.unstarted_messages", One, "messages whose time came and that were never sent"),
    counter("bus.relayed_messages", One, "messages that a host of a chain handed on, warm-up included"),
    counter("bus.errors", One, "messages that came to nothing and were not meant to, and connections that failed without any"),
    gauge("bus.error_ratio", Ratio, "errors over all messages that were due"),
    counter("bus.connections", One, "connections that were used"),
    counter("bus.closed_connections", One, "connections that the far end closed before the test was over"),
    counter("bus.reset_connections", One, "connections that were reset"),
    counter("bus.silent_connections", One, "connections on which nothing came back for longer than --timeout"),
    counter("bus.undrained_connections", One, "connections whose backlog did not drain at the end"),
    counter("bus.foreign_connections", One, "connections that brought something else than messages of this test"),
    counter("bus.other_errors", One, "connections that ended for another reason"),
    histogram("bus.response_latency_seconds", Seconds, "from the intended time of a measured message to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max"),
    gauge("bus.response_p50_seconds", Seconds, "median of the response latency over the interval"),
    gauge("bus.response_p99_seconds", Seconds, "99th percentile of the response latency over the interval"),
    gauge("bus.response_min_seconds", Seconds, "smallest response latency of the interval"),
    gauge("bus.response_mean_seconds", Seconds, "mean response latency of the interval"),
    gauge("bus.response_max_seconds", Seconds, "largest response latency of the interval"),
    histogram("bus.service_seconds", Seconds, "from the moment that a measured message was composed to its answer; equals the response latency without --rate"),
    histogram("bus.receipt_latency_seconds", Seconds, "from the moment that a measured message was composed to the receipt that covers it"),
    gauge("bus.receipt_mean_seconds", Seconds, "mean receipt latency of the interval"),
    histogram("bus.relay_delay_seconds", Seconds, "how long a host of a chain kept a message: from its last byte's arrival until the next connection had taken it"),
    gauge("bus.backlog_bytes", Bytes, "bytes under way without a receipt"),
    gauge("bus.backlog_peak_bytes", Bytes, "most bytes that were under way without a receipt, all flows together"),
    gauge("bus.backlog_peak_messages", One, "most messages that were under way on one connection"),
    gauge("bus.backlog_ratio", Ratio, "share of time in which a sender waited for room in its window"),
    counter("bus.backlog_events", One, "how often a sender had to wait for room in its window"),
    gauge("bus.backlog_events_per_second", PerSecond, "how often a sender had to wait for room in its window, over the interval"),
    gauge("bus.queue_bytes", Bytes, "bytes read that waited for a handling thread"),
    gauge("bus.queue_peak_bytes", Bytes, "most bytes that waited for handling threads, all flows together"),
    gauge("bus.queue_full_ratio", Ratio, "share of time in which a receiver stopped reading because too much waited to be handled"),
    gauge("bus.queue_full_events_per_second", PerSecond, "how often a receiver stopped reading for that, over the interval"),
    gauge("bus.late_ratio", Ratio, "share of messages that left more than 1 ms after their intended time although there was room for them"),
    gauge("bus.window_full_ratio", Ratio, "share of messages that had to wait for room in the window"),
    gauge("bus.write_blocked_ratio", Ratio, "share of time in which the sender could not go on, its connection or its window being full"),
    gauge("bus.read_idle_ratio", Ratio, "share of time in which the receiving thread waited for data"),
    gauge("bus.sender_cpu_ratio", Ratio, "CPU time of the busiest sending thread over elapsed time, 1 = one core"),
    gauge("bus.sender_wait_ratio", Ratio, "share of time that a sending thread was ready to run but had no CPU"),
    gauge("bus.receiver_cpu_ratio", Ratio, "CPU time of the busiest receiving thread over elapsed time, 1 = one core"),
    gauge("bus.receiver_wait_ratio", Ratio, "share of time that a receiving thread was ready to run but had no CPU"),

    // Load on a web server. Warm-up is counted nowhere unless a line says so.
    counter("http.requests", One, "requests with a whole response of whatever status, warm-up not counted"),
    gauge("http.requests_per_second", PerSecond, "those requests over the generator's own time from the first to the last; in series: over the interval"),
    gauge("http.asked_per_second", PerSecond, "rate that was asked for, on average over a schedule; absent in a closed loop"),
    gauge("http.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run"),
    histogram("http.latency_seconds", Seconds, "from the intended start of a request to the last byte of its response; in the summary with .min, .mean, .p50, .p90, .p95, .p99, .p999 and .max"),
    gauge("http.latency_p50_seconds", Seconds, "median of the latency over the interval"),
    gauge("http.latency_p99_seconds", Seconds, "99th percentile of the latency over the interval"),
    histogram("http.service_seconds", Seconds, "from the moment that a request's turn really came to the last byte of its response; equals the latency in a closed loop"),
    gauge("http.round_trip_seconds", Seconds, "latency of each request by itself"),
    histogram("http.connect_seconds", Seconds, "time to connect, without looking up the name and without TLS"),
    histogram("http.handshake_seconds", Seconds, "time of the TLS handshake"),
    histogram("http.wait_seconds", Seconds, "from the last byte of a request to the first of its response"),
    histogram("http.read_seconds", Seconds, "from the first byte of a response to its last"),
    gauge("http.mean_queue_seconds", Seconds, "mean time between the intended and the real start of a request; this and the six that follow add up to the latency, in series over the interval"),
    gauge("http.mean_resolve_seconds", Seconds, "mean time that looking up the server's name took, over all requests"),
    gauge("http.mean_connect_seconds", Seconds, "mean time that connecting took, over all requests, also those on kept connections"),
    gauge("http.mean_tls_seconds", Seconds, "mean time that TLS handshakes took, over all requests, also those on kept connections"),
    gauge("http.mean_send_seconds", Seconds, "mean time to send a request"),
    gauge("http.mean_wait_seconds", Seconds, "mean time between the last byte of a request and the first of its response"),
    gauge("http.mean_read_seconds", Seconds, "mean time between the first byte of a response and its last"),
    counter("http.errors", One, "requests without a whole response"),
    gauge("http.failed_per_second", PerSecond, "requests that failed over the interval: without a whole response, of status 400 and above, or against what the plan demands"),
    gauge("http.error_ratio", Ratio, "errors, unstarted requests and responses of status 400 and above over all requests that were due; in series: failed over ended ones of the interval"),
    counter("http.unstarted_requests", One, "requests whose time came and that were never sent, because no connection was free until the end"),
    counter("http.late_starts", One, "requests that left more than 1 ms after their intended start although a connection was free: the generator's own lateness"),
    gauge("http.late_ratio", Ratio, "share of such requests"),
    gauge("http.window_full_ratio", Ratio, "share of requests that had to wait because every connection was busy"),
    gauge("http.active_users", One, "users of a test plan that had begun and not ended"),
    gauge("http.open_connections", One, "connections; the most requests under way at a time are as many, times the streams of each"),
    counter("http.rows", One, "rows about single requests that a generator handed over for the file of results"),
    counter("http.made_connections", One, "connections that were made and served a request"),
    counter("http.ports_exhausted", One, "connections that could not be made because no local port was left"),
    counter("http.sent_bytes", Bytes, "bytes of requests, head and body, before TLS"),
    counter("http.head_bytes", Bytes, "bytes of the responses' heads, before TLS"),
    counter("http.body_bytes", Bytes, "bytes of the responses' bodies, without the framing of chunks, as the server encoded them"),
    counter("http.status_1xx", One, "responses of status 101"),
    counter("http.status_2xx", One, "responses of status 200 to 299"),
    counter("http.status_3xx", One, "responses of status 300 to 399"),
    counter("http.status_4xx", One, "responses of status 400 to 499"),
    counter("http.status_5xx", One, "responses of status 500 to 599"),
    counter("http.status_other", One, "responses of other statuses"),
    counter("http.failed_resolve", One, "requests that failed while the server's name was looked up"),
    counter("http.failed_connect", One, "requests that failed while connecting"),
    counter("http.failed_tls", One, "requests that failed in the TLS handshake"),
    counter("http.failed_send", One, "requests that failed while they were sent"),
    counter("http.failed_wait", One, "requests that failed before the first byte of a response"),
    counter("http.failed_read", One, "requests that failed within the response"),
    counter("http.refused", One, "requests whose connection was refused: nobody listens, or the server turns callers away"),
    counter("http.resets", One, "requests whose connection was reset"),
    counter("http.timeouts", One, "requests that were given up, in whatever stage"),
    counter("http.closed_early", One, "requests whose connection the server closed before the response was whole"),
    counter("http.malformed", One, "requests whose response broke the rules of HTTP, or our bounds on heads and trailers"),
    counter("http.given_up", One, "requests of HTTP/2 that the server gave up, alone or with their connection"),
    counter("http.resent_requests", One, "requests of HTTP/2 that were sent again because the server said that it had not begun them; latency counts from the first time"),
    gauge("http.requests_per_cpu_second", PerSecond, "responses, warm-up included, per second of CPU time that the event loops used"),
    gauge("http.client_cpu_ratio", Ratio, "CPU time of the busiest event loop over elapsed time, 1 = one core"),
    gauge("http.client_wait_ratio", Ratio, "share of time that an event loop was ready to run but had no CPU"),

    // Request/response over connections that stay.
    counter("rr.transactions", One, "requests that were answered, warm-up not counted"),
    gauge("rr.transactions_per_second", PerSecond, "answered requests over the asking end's own time from the first to the last; in series: over the interval"),
    gauge("rr.asked_per_second", PerSecond, "rate that was asked for; absent in a closed loop"),
    gauge("rr.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run"),
    histogram("rr.latency_seconds", Seconds, "from the intended start of a request to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max"),
    gauge("rr.latency_p50_seconds", Seconds, "median of the latency over the interval"),
    gauge("rr.latency_p99_seconds", Seconds, "99th percentile of the latency over the interval"),
    gauge("rr.latency_sd_seconds", Seconds, "standard deviation of the latency"),
    histogram("rr.service_seconds", Seconds, "from the moment that a request really left to its answer; equals the latency in a closed loop"),
    gauge("rr.round_trip_seconds", Seconds, "latency of each request by itself, at the time of its answer (see --keep)"),
    histogram("rr.connect_seconds", Seconds, "time to connect, without the TLS handshake"),
    histogram("rr.handshake_seconds", Seconds, "time of the TLS handshake"),
    gauge("rr.request_bytes", Bytes, "size of each request, without the headers of the transport"),
    gauge("rr.response_bytes", Bytes, "size of each response, likewise"),
    gauge("rr.one_way_bytes_per_second", BytesPerSecond, "bytes of request and response over the mean latency"),
    counter("rr.errors", One, "requests without an answer in time, and those under way when their connection broke"),
    gauge("rr.error_ratio", Ratio, "errors and unstarted requests over all that were due; in series: errors over the requests that ended in the interval"),
    counter("rr.unstarted_requests", One, "requests whose time came and that were never sent, because none of those before was answered"),
    gauge("rr.late_ratio", Ratio, "share of requests that left more than 1 ms after their intended start although there was room for them"),
    gauge("rr.window_full_ratio", Ratio, "share of requests that had to wait because as many as --window allows were unanswered"),
    gauge("rr.open_connections", One, "connections that were held; one per thread at a time for crr"),
    counter("rr.lost_connections", One, "connections that ended before the test did"),
    counter("rr.ports_exhausted", One, "connections that could not be made because no local port was left"),
    counter("rr.answered_requests", One, "requests that the answering end saw and answered, warm-up included"),
    counter("rr.foreign_messages", One, "connections and datagrams at the answering end that brought something else than requests of this test"),
    gauge("rr.client_cpu_ratio", Ratio, "CPU time of the busiest asking thread over elapsed time, 1 = one core"),
    gauge("rr.client_wait_ratio", Ratio, "share of time that the asking thread was ready to run but had no CPU"),
    gauge("rr.server_cpu_ratio", Ratio, "CPU time of the busiest answering thread over elapsed time, 1 = one core"),
    gauge("rr.server_wait_ratio", Ratio, "share of time that the answering thread was ready to run but had no CPU"),

    // Request/response with a connection each.
    counter("crr.connections", One, "connections that were made, asked one thing and answered, warm-up not counted"),
    gauge("crr.connections_per_second", PerSecond, "those connections over the asking end's own time from the first to the last; in series: over the interval"),
    gauge("crr.asked_per_second", PerSecond, "rate that was asked for; absent in a closed loop"),
    gauge("crr.best_rate_per_second", PerSecond, "highest rate that kept the bounds of --find, confirmed by a fresh run"),
    histogram("crr.latency_seconds", Seconds, "from the intended start of a request to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max"),
    gauge("crr.latency_p50_seconds", Seconds, "median of the latency over the interval"),
    gauge("crr.latency_p99_seconds", Seconds, "99th percentile of the latency over the interval"),
    gauge("crr.latency_sd_seconds", Seconds, "standard deviation of the latency"),
    histogram("crr.service_seconds", Seconds, "from the moment that a request really left to its answer; equals the latency in a closed loop"),
    gauge("crr.round_trip_seconds", Seconds, "latency of each request by itself, at the time of its answer (see --keep)"),
    histogram("crr.connect_seconds", Seconds, "time to connect, without the TLS handshake"),
    histogram("crr.handshake_seconds", Seconds, "time of the TLS handshake"),
    gauge("crr.request_bytes", Bytes, "size of each request, without the headers of the transport"),
    gauge("crr.response_bytes", Bytes, "size of each response, likewise"),
    gauge("crr.one_way_bytes_per_second", BytesPerSecond, "bytes of request and response over the mean latency"),
    counter("crr.errors", One, "requests without an answer in time, and those under way when their connection broke"),
    gauge("crr.error_ratio", Ratio, "errors and unstarted requests over all that were due; in series: errors over the requests that ended in the interval"),
    counter("crr.unstarted_requests", One, "requests whose time came and that were never sent, because none of those before was answered"),
    gauge("crr.late_ratio", Ratio, "share of requests that left more than 1 ms after their intended start although there was room for them"),
    gauge("crr.window_full_ratio", Ratio, "share of requests that had to wait because as many as --window allows were unanswered"),
    gauge("crr.open_connections", One, "connections that were held; one per thread at a time for crr"),
    counter("crr.lost_connections", One, "connections that ended before the test did"),
    counter("crr.ports_exhausted", One, "connections that could not be made because no local port was left"),
    counter("crr.answered_requests", One, "requests that the answering end saw and answered, warm-up included"),
    counter("crr.foreign_messages", One, "connections and datagrams at the answering end that brought something else than requests of this test"),
    gauge("crr.client_cpu_ratio", Ratio, "CPU time of the busiest asking thread over elapsed time, 1 = one core"),
    gauge("crr.client_wait_ratio", Ratio, "share of time that the asking thread was ready to run but had no CPU"),
    gauge("crr.server_cpu_ratio", Ratio, "CPU time of the busiest answering thread over elapsed time, 1 = one core"),
    gauge("crr.server_wait_ratio", Ratio, "share of time that the answering thread was ready to run but had no CPU"),

    // Bulk bytes over connections: totals, flows and (those that say so) series.
    gauge("stream.goodput_bits_per_second", BitsPerSecond, "payload that reached the receiving program, over its own time from the start of counting to the end of the stream; in series: over the bin"),
    gauge("stream.sent_bits_per_second", BitsPerSecond, "payload that the sender's system took, over the sender's time; in series: over the bin"),
    counter("stream.sent_bytes", Bytes, "payload that the sender's system took, warm-up included"),
    counter("stream.received_bytes", Bytes, "payload that reached the receiving program, warm-up included"),
    counter("stream.missing_bytes", Bytes, "sent_bytes minus received_bytes; anything but 0 has its reason in the flow's label error"),
    gauge("stream.elapsed_seconds", Seconds, "from the start of the load to the end of the stream at the receiver"),
    gauge("stream.asked_bits_per_second", BitsPerSecond, "rate that was asked for; absent when unlimited"),
    gauge("stream.best_rate_per_second", PerSecond, "writes per second at the highest rate that kept the bounds of --find, confirmed by a fresh run; goodput is that of the confirming run"),
    gauge("stream.late_ratio", Ratio, "share of writes that began more than 1 ms after their intended time although the write before was done; absent when unlimited"),
    gauge("stream.write_size_bytes", Bytes, "bytes offered per write"),
    gauge("stream.mean_write_bytes", Bytes, "bytes that a write took, mean"),
    gauge("stream.mean_read_bytes", Bytes, "bytes that a read gave, mean"),
    gauge("stream.fairness_index", One, "Jain's index of the flows' goodput: 1 = all alike, 1/n = one has everything; absent for one flow"),
    gauge("stream.zerocopy_copied_ratio", Ratio, "share of the zero-copy writes that the kernel copied after all"),
    gauge("stream.sender_cpu_ratio", Ratio, "CPU time of the busiest sending thread over elapsed time, 1 = one core; in series: of the flow's thread"),
    gauge("stream.receiver_cpu_ratio", Ratio, "CPU time of the busiest receiving thread over elapsed time, 1 = one core; in series: of the flow's thread"),
    gauge("stream.sender_wait_ratio", Ratio, "share of time that the sending thread was ready to run but had no CPU"),
    gauge("stream.receiver_wait_ratio", Ratio, "share of time that the receiving thread was ready to run but had no CPU"),
    gauge("stream.write_blocked_ratio", Ratio, "share of time that the sending thread slept in a write because the connection took nothing"),
    gauge("stream.read_idle_ratio", Ratio, "share of time that the receiving thread slept because nothing had arrived"),
    gauge("stream.sender_cpu_seconds_per_gigabyte", Seconds, "CPU time of the sending thread per 10⁹ bytes"),
    gauge("stream.receiver_cpu_seconds_per_gigabyte", Seconds, "CPU time of the receiving thread per 10⁹ bytes"),
    counter("stream.sent_segments", One, "TCP segments with payload that left while it counted, retransmitted ones included"),
    counter("stream.retransmitted_segments", One, "of them, retransmitted"),
    gauge("stream.retransmitted_ratio", Ratio, "retransmitted_segments / sent_segments"),
    gauge("stream.busy_ratio", Ratio, "share of time with data to send or under way (TCP)"),
    gauge("stream.receive_window_limited_ratio", Ratio, "share of time in which the receiver's window was full (TCP)"),
    gauge("stream.send_buffer_limited_ratio", Ratio, "share of time in which the send buffer was too small for the way (TCP)"),
    gauge("stream.smoothed_rtt_seconds", Seconds, "round-trip time as the sender's kernel smooths it, at the end"),
    gauge("stream.min_rtt_seconds", Seconds, "lowest round-trip time that the sender's kernel saw lately, at the end"),
    gauge("stream.congestion_window_segments", One, "congestion window at the end"),
    gauge("stream.segment_bytes", Bytes, "payload of a full segment"),
    gauge("stream.send_buffer_asked_bytes", Bytes, "send buffer asked for; absent when the system tunes it"),
    gauge("stream.send_buffer_granted_bytes", Bytes, "send buffer at the end (halved on Linux, which reports twice the usable size)"),
    gauge("stream.receive_buffer_asked_bytes", Bytes, "receive buffer asked for; absent when the system tunes it"),
    gauge("stream.receive_buffer_granted_bytes", Bytes, "receive buffer at the end (halved as above)"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_dotted() {
        let mut seen = BTreeSet::new();
        for metric in CATALOGUE {
            assert!(
                seen.insert(metric.name),
                "{} is declared twice",
                metric.name
            );
            assert!(metric.name.contains('.'), "{} has no source", metric.name);
            assert!(
                !metric.help.is_empty() && !metric.help.ends_with('.'),
                "{}",
                metric.name
            );
        }
    }

    #[test]
    fn numbers_of_a_distribution_have_its_unit() {
        assert_eq!(unit_of("rr.latency_seconds.p99"), Unit::Seconds);
        assert_eq!(unit_of("rr.errors.p99"), Unit::One);
        assert_eq!(unit_of("p99"), Unit::One);
    }

    #[test]
    fn names_carry_their_unit() {
        for metric in CATALOGUE {
            let suffix = match metric.unit {
                Unit::Seconds => "seconds",
                Unit::BytesPerSecond => "bytes_per_second",
                Unit::BitsPerSecond => "bits_per_second",
                Unit::Ratio => "_ratio",
                Unit::Hertz => "_hertz",
                Unit::PerSecond | Unit::PacketsPerSecond => "_per_second",
                Unit::Bytes => "_bytes",
                Unit::One | Unit::Packets => continue,
            };
            // What a request costs is told per second of CPU time.
            let of_cpu = suffix == "_per_second" && metric.name.ends_with("_per_cpu_second");
            assert!(
                of_cpu || metric.name.contains(suffix),
                "{} does not carry `{suffix}`",
                metric.name
            );
        }
    }
}
