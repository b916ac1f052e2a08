//! What are the numbers of a probe called in series and distributions?

/// Round trip without the far end's turn-around.
pub const RTT: &str = "probe.rtt_seconds";
/// Median of it per interval.
pub const RTT_P50: &str = "probe.rtt_p50_seconds";
/// 99th percentile of it per interval.
pub const RTT_P99: &str = "probe.rtt_p99_seconds";
/// Answers per second.
pub const ANSWERED_PER_SECOND: &str = "probe.answered_packets_per_second";
/// Share without an answer.
pub const LOSS: &str = "probe.loss_ratio";
/// Round trips one by one.
pub const PROBE_RTT: &str = "probe.each_rtt_seconds";
/// Delays to the far end one by one.
pub const PROBE_OWD_UP: &str = "probe.each_owd_up_seconds";
/// Delays back one by one.
pub const PROBE_OWD_DOWN: &str = "probe.each_owd_down_seconds";
/// One-way delays of both directions together.
pub const OWD: &str = "probe.owd_seconds";
/// One-way delays to the far end.
pub const OWD_UP: &str = "probe.owd_up_seconds";
/// One-way delays back.
pub const OWD_DOWN: &str = "probe.owd_down_seconds";
/// Doubt about the difference of the two clocks.
pub const CLOCK_ERROR: &str = "probe.clock_error_seconds";
