//! Metrics of a flow's TCP connection (`TCP_INFO`); labels `flow` and `end` (`sender`, `receiver`).

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    CONGESTION_WINDOW_SEGMENTS = gauge("tcp.congestion_window_segments", One, "segments that may be unacknowledged (tcpi_snd_cwnd)");
    CONGESTION_WINDOW_BYTES = gauge("tcp.congestion_window_bytes", Bytes, "the same in bytes, as other tools report it (imports)");
    SLOW_START_THRESHOLD_SEGMENTS = gauge("tcp.slow_start_threshold_segments", One, "congestion window at which slow start ends; absent before the first loss");
    SMOOTHED_RTT_SECONDS = gauge("tcp.smoothed_rtt_seconds", Seconds, "round-trip time as the kernel smooths it (tcpi_rtt)");
    RTT_VARIATION_SECONDS = gauge("tcp.rtt_variation_seconds", Seconds, "mean deviation of the round-trip time (tcpi_rttvar)");
    RETRANSMITTED_SEGMENTS = counter("tcp.retransmitted_segments", One, "segments retransmitted since the connection began");
    UNACKNOWLEDGED_SEGMENTS = gauge("tcp.unacknowledged_segments", One, "segments sent and not acknowledged yet");
    DELIVERY_RATE_BYTES_PER_SECOND = gauge("tcp.delivery_rate_bytes_per_second", BytesPerSecond, "latest rate at which the peer acknowledged bytes");
    PACING_RATE_BYTES_PER_SECOND = gauge("tcp.pacing_rate_bytes_per_second", BytesPerSecond, "rate at which the kernel paces sending; absent without pacing");
    BUSY_SECONDS = counter("tcp.busy_seconds", Seconds, "time with data to send or under way");
    RECEIVE_WINDOW_LIMITED_SECONDS = counter("tcp.receive_window_limited_seconds", Seconds, "part of it in which the peer's receive window was full");
    SEND_BUFFER_LIMITED_SECONDS = counter("tcp.send_buffer_limited_seconds", Seconds, "part of it in which the own send buffer was too small");
    MIN_RTT_SECONDS = gauge("tcp.min_rtt_seconds", Seconds, "lowest round-trip time lately, as the kernel keeps it (tcpi_min_rtt)");
    LOST_SEGMENTS = gauge("tcp.lost_segments", One, "segments that the kernel takes for lost now");
    NEEDLESS_SEGMENTS = counter("tcp.needless_segments", One, "retransmitted segments of which the peer says that it had them already (tcpi_dsack_dups)");
    REORDERINGS = counter("tcp.reorderings", One, "times that the kernel saw acknowledgements of segments out of order (tcpi_reord_seen)");
    SENT_SEGMENTS = counter("tcp.sent_segments", One, "segments with data sent since the connection began, retransmitted ones included");
    SEGMENT_BYTES = gauge("tcp.segment_bytes", Bytes, "payload of a full segment (tcpi_snd_mss)");
    NOT_SENT_BYTES = gauge("tcp.not_sent_bytes", Bytes, "bytes written and not sent yet");
    PEER_WINDOW_BYTES = gauge("tcp.peer_window_bytes", Bytes, "receive window that the peer offers (tcpi_snd_wnd)");
    OWN_WINDOW_BYTES = gauge("tcp.own_window_bytes", Bytes, "receive window that this end offers (tcpi_rcv_wnd)");
    RECEIVE_QUEUE_BYTES = gauge("tcp.receive_queue_bytes", Bytes, "bytes that have arrived and that the program has not read yet (SIOCINQ)");
    SEND_QUEUE_BYTES = gauge("tcp.send_queue_bytes", Bytes, "bytes that the program has written and that are not acknowledged yet (SIOCOUTQ)");
    DELAYED_ACK_SECONDS = gauge("tcp.delayed_ack_seconds", Seconds, "how long this end holds back an acknowledgement at most (tcpi_ato); absent before it held one back");
}
