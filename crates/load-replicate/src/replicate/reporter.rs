//! Progress that a replication reports while it runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Queue, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::json;
use sokudo_model::Batch;
use sokudo_model::kinds::replicate as numbers;
use sokudo_net::clock::now_ns;
use sokudo_replicate::limit::Limiter;
use sokudo_replicate::session::{LOOK, Progress, Reading, Session};
use sokudo_workload::reporting::Output;

use super::phase::Ended;
use super::timetable::{Timetable, WeekTime};

/// The reporting thread: makes series of what the sessions count.
pub(super) struct Reporter {
    pub(super) output: Output,
    pub(super) under_way: Vec<(u32, bool, Arc<Progress>, Reading)>,
    pub(super) last_ns: i64,
    pub(super) every: Duration,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) sessions: Vec<Arc<Session>>,
    /// Limits by time of day, and the limiters that they set.
    pub(super) limit: Option<Timetable>,
    pub(super) limiters: Vec<Arc<Limiter>>,
}

impl Reporter {
    pub(super) fn run(mut self, queue: &Queue<Ended>) -> Vec<Ended> {
        let mut ended = Vec::new();
        let mut sent: BTreeMap<u32, bool> = BTreeMap::new();
        self.output.say_when_sent(|| json!(sent).to_string());
        let mut next = Instant::now() + self.every;
        loop {
            let wait = next.saturating_duration_since(Instant::now()).min(LOOK);
            match queue.recv_timeout(wait) {
                Ok(one) => {
                    if one.sends {
                        sent.insert(one.flow, one.outcome.broken.is_none());
                        self.output.sender_ended();
                        self.sample();
                        self.output.say_when_sent(|| json!(sent).to_string());
                    }
                    ended.push(one);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.sample();
                    return ended;
                }
            }
            if self.stop.load(Ordering::Relaxed) {
                self.sessions.drain(..).for_each(|session| session.end());
            }
            if Instant::now() >= next {
                self.sample();
                next += self.every;
            }
        }
    }

    fn sample(&mut self) {
        let now = now_ns();
        let seconds = (now - self.last_ns) as f64 * 1e-9;
        // Before the start there is nothing to say.
        if seconds < 1e-3 {
            return;
        }
        let at_ns = now - self.output.names.t0_ns;
        if let Some(limit) = &self.limit {
            let now = limit.at(WeekTime::now());
            self.limiters.iter().for_each(|one| one.set(now));
        }
        let mut batch = Batch::default();
        for (flow, sends, progress, before) in &mut self.under_way {
            let read = progress.read();
            let label = self.output.names.label(*flow);
            let per_s = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
            let mut push = |metric, value: f64| {
                batch.push(&self.output.key(metric, &label), at_ns, value);
            };
            if *sends {
                let bits = per_s(read.wire_bytes, before.wire_bytes) * 8.0;
                push(numbers::WIRE_BITS_PER_SECOND, bits);
                let files = read.files_wanted.saturating_sub(read.files_done);
                push(numbers::QUEUED_FILES, files as f64);
                let moved = per_s(read.bytes_moved, before.bytes_moved);
                push(numbers::MOVED_BYTES_PER_SECOND, moved);
                // What needs no transfer, as equal blocks, counts once it is published.
                let gone = read.bytes_done.max(read.bytes_moved);
                let bytes = read.bytes_wanted.saturating_sub(gone);
                push(numbers::QUEUED_BYTES, bytes as f64);
                let is_listed = read.rounds_listed > read.rounds
                    || (read.rounds > 0 && read.rounds_listed == read.rounds);
                push(numbers::LISTED, f64::from(u8::from(is_listed)));
                if read.rounds > before.rounds && read.last_lag_ns > 0 {
                    push(numbers::LAST_LAG_SECONDS, read.last_lag_ns as f64 * 1e-9);
                }
            } else {
                let bytes = per_s(read.bytes_done, before.bytes_done);
                push(numbers::USER_BYTES_PER_SECOND, bytes);
                let files = per_s(read.files_done, before.files_done);
                push(numbers::FILES_PER_SECOND, files);
            }
            *before = read;
        }
        self.last_ns = now;
        self.output.emit(batch);
    }
}
