//! The monotonic clock used for all measurements.
//!
//! One monotonic clock for every time stamp of a process: `CLOCK_MONOTONIC` on Unix, which all
//! network namespaces of a host share. Its zero is arbitrary; only differences mean anything.

use std::time::Duration;

/// The monotonic clock, nanoseconds.
#[cfg(unix)]
pub fn now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The monotonic clock, nanoseconds since the first call in this process.
#[cfg(not(unix))]
pub fn now_ns() -> i64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as i64
}

/// The monotonic clock as of the kernel's last tick: up to some milliseconds behind [`now_ns`], never
/// ahead of it, and several times cheaper to read.
#[cfg(target_os = "linux")]
pub fn coarse_now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The monotonic clock; this system has no cheaper one.
#[cfg(not(target_os = "linux"))]
pub fn coarse_now_ns() -> i64 {
    now_ns()
}

/// The wall clock, nanoseconds since the Unix epoch. Only for anchoring a run in time.
pub fn unix_ns() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as i64)
}

/// Two readings of the monotonic clock further apart than this were interrupted, nanoseconds.
const READING_NS: i64 = 5_000;
/// Attempts to read both clocks without being interrupted.
const READINGS: u32 = 4;

/// The monotonic clock and the wall clock, as [`now_ns`] and [`unix_ns`], at the same moment within
/// 5 µs; `None` when the thread was interrupted between them each time.
pub fn both_ns() -> Option<(i64, i64)> {
    let mut before_ns = now_ns();
    for _ in 0..READINGS {
        let wall_ns = unix_ns();
        let after_ns = now_ns();
        if after_ns - before_ns <= READING_NS {
            return Some((before_ns + (after_ns - before_ns) / 2, wall_ns));
        }
        before_ns = after_ns;
    }
    None
}

/// Identity of this monotonic clock: processes that read the same text read the same clock. `None`
/// where the system does not report it.
///
/// Source: the kernel's boot (random_boot_id, random(4)) and the time namespace
/// (time_namespaces(7)), which can shift the clock.
#[cfg(target_os = "linux")]
pub fn identity() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/time");
    // A kernel without time namespaces has one clock.
    let namespace = namespace.map_or(String::new(), |name| name.display().to_string());
    Some(format!("{} {namespace}", boot.trim()))
}

/// Identity of this clock; other systems do not report it.
#[cfg(not(target_os = "linux"))]
pub fn identity() -> Option<String> {
    None
}

/// CPU time used by the calling thread, nanoseconds; `None` where the system does not report it.
#[cfg(unix)]
pub fn thread_cpu_ns() -> Option<u64> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64)
}

/// CPU time used by the calling thread, nanoseconds; `None` where the system does not report it.
#[cfg(not(unix))]
pub fn thread_cpu_ns() -> Option<u64> {
    None
}

/// Time that the calling thread was runnable but had no CPU, nanoseconds since it began.
///
/// Source: second field of `/proc/thread-self/schedstat` (Linux with `CONFIG_SCHED_INFO`);
/// `None` elsewhere. Costs a file read: call it once per interval, not per datagram.
pub fn thread_wait_ns() -> Option<u64> {
    let text = crate::counters::own_text("schedstat")?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Sleeps until the monotonic clock shows `at_ns`, to within the scheduler's precision.
///
/// The last stretch is spun because a timer wakes some ten microseconds late.
pub fn sleep_until(at_ns: i64) {
    const SPIN_NS: i64 = 20_000;
    loop {
        let left_ns = at_ns - now_ns();
        if left_ns <= 0 {
            return;
        }
        if left_ns > SPIN_NS {
            std::thread::sleep(Duration::from_nanos((left_ns - SPIN_NS) as u64));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Asks the kernel to wake the calling thread without its usual 50 µs of slack.
#[cfg(target_os = "linux")]
pub fn precise_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes one number and changes only the calling thread's slack.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1usize, 0usize, 0usize, 0usize);
    }
}

/// Requests precise wake-ups; other systems have no such setting.
#[cfg(not(target_os = "linux"))]
pub fn precise_timers() {}
