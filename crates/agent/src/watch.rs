//! How is a host observed while load runs?

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_model::{Batch, Event, Text, Unit};
use sokudo_monitors::{Context, open_all};
use sokudo_net::clock::{both_ns, now_ns};
use sokudo_wire::Note;

use crate::keep::Outlet;

/// Shortest interval: below it the observation would be the load.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
/// The wall clock may drift this much per interval against the monotonic one before it counts as
/// having been set.
const CLOCK_JUMP_NS: i64 = 100_000_000;
/// A sample this much later than planned means that the host stood still.
const STALL_NS: i64 = 2_000_000_000;

/// A thread that samples all monitors until dropped; the last sample is taken on the way out.
pub struct Watch {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to observe. `t0_ns` is zero of all time stamps, on this host's monotonic clock.
    pub fn begin(
        context: Context,
        t0_ns: i64,
        interval_ns: u64,
        outlet: Outlet,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::sync_channel::<()>(1);
        let interval = Duration::from_nanos(interval_ns).max(MIN_INTERVAL);
        let thread = std::thread::Builder::new()
            .name("monitors".into())
            .spawn(move || {
                let mut clock = ClockWatch::new(&context.host, t0_ns, interval);
                let mut opened = open_all(&context);
                let mut next_ns = now_ns();
                loop {
                    let now = now_ns();
                    let mut batch = Batch::default();
                    for (_, sampler) in &mut opened.samplers {
                        sampler.sample(now - t0_ns, &mut batch);
                    }
                    let (mono_ns, wall_ns) = both_ns().unzip();
                    clock.look(mono_ns.unwrap_or(now), wall_ns, &mut batch.events);
                    if !batch.is_empty() {
                        let _ = outlet.push(Note::Batch(batch));
                    }
                    next_ns = (next_ns + interval.as_nanos() as i64).max(now);
                    let wait = Duration::from_nanos((next_ns - now_ns()).max(0) as u64);
                    match stopped.recv_timeout(wait) {
                        Err(RecvTimeoutError::Timeout) => {}
                        Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
                let mut batch = Batch::default();
                for (_, sampler) in &mut opened.samplers {
                    sampler.sample(now_ns() - t0_ns, &mut batch);
                }
                let _ = outlet.push(Note::Batch(batch));
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A monitor that panicked has left a gap in its series; nothing else depends on it.
            let _ = thread.join();
        }
    }
}

/// Notices a wall clock that was set and a host that stood still.
struct ClockWatch {
    host: String,
    t0_ns: i64,
    interval_ns: i64,
    /// The monotonic clock at the last look.
    last_ns: Option<i64>,
    /// Both clocks when they were last read at one moment.
    last_both_ns: Option<(i64, i64)>,
}

impl ClockWatch {
    fn new(host: &str, t0_ns: i64, interval: Duration) -> Self {
        Self {
            host: host.into(),
            t0_ns,
            interval_ns: interval.as_nanos() as i64,
            last_ns: None,
            last_both_ns: None,
        }
    }

    /// `wall_ns` is `None` when the clocks could not be read at one moment: a pause between both
    /// readings would look like a clock that was set.
    fn look(&mut self, mono_ns: i64, wall_ns: Option<i64>, events: &mut Vec<Event>) {
        let passed = mono_ns - self.last_ns.replace(mono_ns).unwrap_or(mono_ns);
        let both = wall_ns.map(|wall_ns| (mono_ns, wall_ns));
        let before = both.and_then(|both| self.last_both_ns.replace(both));
        let jumped = both
            .zip(before)
            .map_or(0, |((mono, wall), (last_mono, last_wall))| {
                (wall - last_wall) - (mono - last_mono)
            });
        let mut tell = |kind: &str, key: &str, ns: i64| {
            events.push(Event {
                t_ns: mono_ns - self.t0_ns,
                host: self.host.clone(),
                source: "clock".into(),
                kind: kind.into(),
                says: Text::new(key).word("host", &self.host).number(
                    "by",
                    ns as f64 / 1e9,
                    Unit::Seconds,
                ),
            });
        };
        if jumped.abs() > CLOCK_JUMP_NS {
            tell("clock-jump", "engine-clock-jump", jumped);
        }
        if passed - self.interval_ns > STALL_NS {
            tell("stall", "engine-host-stall", passed - self.interval_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_is_told_and_drift_is_not() {
        let mut watch = ClockWatch::new("hosta", 0, Duration::from_millis(250));
        let mut events = Vec::new();
        let (mut mono, mut wall) = (0, 1_000_000_000_000);
        for _ in 0..10 {
            mono += 250_000_000;
            wall += 250_010_000;
            watch.look(mono, Some(wall), &mut events);
        }
        assert!(events.is_empty());
        watch.look(mono + 250_000_000, None, &mut events);
        assert!(events.is_empty());
        let set_back = wall - 3_600_000_000_000;
        watch.look(mono + 500_000_000, Some(set_back), &mut events);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].kind, "clock-jump");
    }

    #[test]
    fn a_host_that_stood_still_is_told() {
        let mut watch = ClockWatch::new("hosta", 0, Duration::from_millis(250));
        let mut events = Vec::new();
        watch.look(0, Some(0), &mut events);
        watch.look(5_000_000_000, Some(5_000_000_000), &mut events);
        assert_eq!(
            events.iter().map(|e| e.kind.as_str()).collect::<Vec<_>>(),
            ["stall"]
        );
    }
}
