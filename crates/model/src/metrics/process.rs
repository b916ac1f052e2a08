//! Metrics of single processes (`--monitor process`); labels by (how it was chosen), pid and name.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    CPU_RATIO = gauge("process.cpu_ratio", Ratio, "CPU time of the process over elapsed time, 1 = one core; label mode (user, system)");
    RESIDENT_BYTES = gauge("process.resident_bytes", Bytes, "resident memory of the process");
    THREADS = gauge("process.threads", One, "threads of the process");
    OPEN_FILES = gauge("process.open_files", One, "file descriptors that the process has open");
    OPEN_FILES_LIMIT = gauge("process.open_files_limit", One, "file descriptors that the process may have open (RLIMIT_NOFILE)");
    BUSIEST_THREAD_RATIO = gauge("process.busiest_thread_ratio", Ratio, "CPU time of the thread of the process that used most over elapsed time, 1 = one core");
    WAIT_RATIO = gauge("process.wait_ratio", Ratio, "time that threads of the process were ready to run but had no CPU over elapsed time, all threads together");
    CORES = gauge("process.cores", One, "CPUs that the process may run on (its affinity)");
    THROTTLED_RATIO = gauge("process.throttled_ratio", Ratio, "share of time in which the CPU quota of the process's control group, or of one above it, kept it from running");
    STOPPED_RATIO = gauge("process.stopped_ratio", Ratio, "1 while the process is stopped by a signal or a debugger (states T and t), else 0");
    CONTEXT_SWITCHES_PER_SECOND = gauge("process.context_switches_per_second", PerSecond, "context switches of the process's threads; label kind (voluntary, involuntary)");
    READ_BYTES_PER_SECOND = gauge("process.read_bytes_per_second", BytesPerSecond, "bytes that storage had to be read for the process");
    WRITE_BYTES_PER_SECOND = gauge("process.write_bytes_per_second", BytesPerSecond, "bytes that the process had written to storage");
    CHILDREN_CPU_RATIO = gauge("process.children_cpu_ratio", Ratio, "CPU time of the children of the same program that the chosen processes have made, and of theirs, over elapsed time, 1 = one core; those that have ended are in it, those that are chosen themselves are not; absent without children; label by");
    MATCHES = gauge("process.matches", One, "processes that are what was asked for; 0 when there is none; label by");
}
