//! Metrics of the hosts of a run as a group.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    // Columns of the table of flows, in this order.
    START_LATE_SECONDS = gauge("group.start_late_seconds", Seconds, "first send of a flow minus the agreed start, on the sender's own clock").column().named();
    // The rest.
    LOAD_SECONDS = gauge("group.load_seconds", Seconds, "time over which the rates of a flow are counted: from its first intended start after the warm-up to the end of the load as planned, or as an amount or the operator ended it; longer where what had queued up went on after that");
    FIRST_THROUGH_SECONDS = gauge("group.first_through_seconds", Seconds, "from the same start to the first answer or arrival of a flow");
    LAST_THROUGH_SECONDS = gauge("group.last_through_seconds", Seconds, "from the same start to the last answer or arrival of a flow");
    FAILURES = counter("group.failures", One, "requests of a load that failed so far, each reason by itself: its labels say flow, code and message; in series alone");
    HOSTS = gauge("group.hosts", One, "hosts of the run, the one that gives the commands included when it takes part");
    START_LEAD_SECONDS = gauge("group.start_lead_seconds", Seconds, "how far ahead of the order the start lay, in the phase with the longest lead: 100 ms, twice what a command to all took just before, and four times the largest clock error");
    START_SPREAD_SECONDS = histogram("group.start_spread_seconds", Seconds, "how much later each flow began than the first one of its phase; in the summary with .p50 and .max");
    PAIRS = gauge("group.pairs", One, "directed pairs of hosts that met in a check of a group");
    FAILED_PAIRS = gauge("group.failed_pairs", One, "pairs of them that did not keep what was expected, or of which nothing came through");
    DEAD_PAIRS = gauge("group.dead_pairs", One, "pairs of them of which nothing came through in at least one layer");
    SLOWEST_PAIR_BITS_PER_SECOND = gauge("group.slowest_pair_bits_per_second", BitsPerSecond, "payload per second that one connection of the slowest pair carried");
    MEDIAN_PAIR_BITS_PER_SECOND = gauge("group.median_pair_bits_per_second", BitsPerSecond, "the same of the pair in the middle");
    WORST_PAIR_LATENCY_SECONDS = gauge("group.worst_pair_latency_seconds", Seconds, "time within which the pair with the latest answers got 99 % of them");
    WORST_PAIR_LOSS_RATIO = gauge("group.worst_pair_loss_ratio", Ratio, "share of the datagrams that the pair with the largest loss lost");
    MESH_BITS_PER_SECOND = gauge("group.mesh_bits_per_second", BitsPerSecond, "payload per second that all hosts of a group carried together when each sent to every other one at once");
    MESH_FAIRNESS_RATIO = gauge("group.mesh_fairness_ratio", Ratio, "Jain's fairness index of the speeds of those connections: 1 when all are equal");
    MESH_LOSS_RATIO = gauge("group.mesh_loss_ratio", Ratio, "share of the datagrams lost when each host sent to every other one at once");
    CLOCK_DRIFT_RATIO = histogram("group.clock_drift_ratio", Ratio, "seconds per second that a host's clock gains or loses against the controller's; in the summary with .max");
    CLOCK_DRIFT_ERROR_RATIO = gauge("group.clock_drift_error_ratio", Ratio, "that drift is right within this");
    CLOCK_ERROR_SECONDS = histogram("group.clock_error_seconds", Seconds, "how far the offset of a host's clock may be wrong; in the summary with .max");
}
