//! Metrics of a host's own load generator, from its self-test; label `mode`: `plain`, `mmsg`, `gso`, `gso+gro`.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    SENT_PACKETS_PER_SECOND = gauge("selftest.sent_packets_per_second", PacketsPerSecond, "datagrams per second that one thread of this host hands to the kernel over loopback; label mode");
    DELIVERED_PACKETS_PER_SECOND = gauge("selftest.delivered_packets_per_second", PacketsPerSecond, "datagrams per second that arrive meanwhile; label mode");
}
