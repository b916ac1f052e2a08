//! Metrics of single processes (`--monitor process`); labels by (how it was chosen), pid and name.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    CPU_RATIO = gauge("process.cpu_ratio", Ratio, "CPU time of the process over elapsed time, 1 = one core; label mode (user, system)");
    RESIDENT_BYTES = gauge("process.resident_bytes", Bytes, "resident memory of the process");
    THREADS = gauge("process.threads", One, "threads of the process");
    OPEN_FILES = gauge("process.open_files", One, "file descriptors that the process has open");
    CONTEXT_SWITCHES_PER_SECOND = gauge("process.context_switches_per_second", PerSecond, "context switches of the process's threads; label kind (voluntary, involuntary)");
    READ_BYTES_PER_SECOND = gauge("process.read_bytes_per_second", BytesPerSecond, "bytes that storage had to be read for the process");
    WRITE_BYTES_PER_SECOND = gauge("process.write_bytes_per_second", BytesPerSecond, "bytes that the process had written to storage");
    MATCHES = gauge("process.matches", One, "processes that are what was asked for; 0 when there is none; label by");
}
