//! Metrics of latency measured idle and under load (`rrul`). Everything else in the summary is that of the
//! last part.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    IDLE_RTT_SECONDS = gauge("rrul.idle_rtt_seconds", Seconds, "median round trip of datagrams while nothing else was sent");
    ADDED_UP_SECONDS = gauge("rrul.added_up_seconds", Seconds, "median round trip of datagrams under load on the way up, less the idle one");
    ADDED_DOWN_SECONDS = gauge("rrul.added_down_seconds", Seconds, "median round trip of datagrams under load on the way down, less the idle one");
    ADDED_BOTH_SECONDS = gauge("rrul.added_both_seconds", Seconds, "median round trip of datagrams under load both ways, less the idle one");
    ADDED_SECONDS = gauge("rrul.added_seconds", Seconds, "mean of what load up and load down add to the median round trip: the grade is this time's");
}
