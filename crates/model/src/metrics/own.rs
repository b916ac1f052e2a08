//! Metrics of sokudo itself: what the measuring instrument uses.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    CPU_RATIO = gauge("self.cpu_ratio", Ratio, "CPU time of each thread of sokudo over elapsed time, 1 = one core; label thread");
    WAIT_RATIO = gauge("self.wait_ratio", Ratio, "time that each thread was runnable but had no CPU, over elapsed time; label thread");
    CORE = gauge("self.core", One, "number of the core that each thread of sokudo ran on last, where one thread has that name; label thread");
    THROTTLED_RATIO = gauge("self.throttled_ratio", Ratio, "share of the periods in which a quota of CPU time of sokudo's control groups was used up; of the group where it is highest");
    RESIDENT_BYTES = gauge("self.resident_bytes", Bytes, "resident memory of the process");
}
