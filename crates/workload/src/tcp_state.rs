//! The state of each flow's TCP connection while the load runs, as the kernel knows it.
//!
//! One thread per host and phase reads `TCP_INFO` of each flow's first connection every
//! [`SAMPLE_EVERY`], on both ends: windows, round trips, retransmissions, and what kept the sender
//! from sending. At that distance the silences of delayed acknowledgements and slow starts show. Many
//! hosts read less often, because one controller takes what all of them say.
//! The measured threads know nothing of it.

use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_model::metrics::tcp as metrics;
use sokudo_model::{Batch, Metric, Refusal};
use sokudo_net::clock::now_ns;
use sokudo_net::tcp::info::{self, TcpInfo};
use sokudo_net::tcp::{self, Queues};

use crate::contract::{Emit, Emitted};
use crate::refusal::spawn;
use crate::reporting::Names;

/// Time between two readings, as long as not more than [`HOSTS`] take part.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
/// Hosts that read so often together: a controller takes more than 20 values of each reading.
const HOSTS: u32 = 64;
/// Readings handed over together.
const SAMPLES_PER_BATCH: u32 = 5;
/// Flows that are watched at most: each costs a system call per reading.
pub const MAX_FLOWS: usize = 64;

/// Time between two readings on each of `hosts` hosts.
pub fn sample_every(hosts: usize) -> Duration {
    let hosts = u32::try_from(hosts).unwrap_or(u32::MAX);
    (SAMPLE_EVERY / HOSTS).saturating_mul(hosts.max(HOSTS))
}

/// One connection that is watched.
pub struct Watched {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// This host's end: `sender` asks or sends, `receiver` answers or receives.
    pub end: &'static str,
    /// A second handle of its socket.
    pub tcp: TcpStream,
}

/// Watches until it is dropped.
pub struct Watch {
    /// Dropped to end the thread, which notices at once: no phase ends later for its sake.
    goes_on: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins at `at_ns`; `None` when there is nothing to watch. In a phase of `hosts` hosts.
    pub fn begin(
        watched: Vec<Watched>,
        source: &'static str,
        names: Names,
        (at_ns, hosts): (i64, usize),
        emit: Emit,
    ) -> Result<Option<Self>, Refusal> {
        // A system without TCP_INFO has no such series: that is not worth a thread.
        let readable = |watched: &Watched| info::read(&watched.tcp).is_ok();
        if watched.is_empty() || !watched.iter().all(readable) {
            return Ok(None);
        }
        let (goes_on, ended) = channel();
        let run = move || {
            watch(
                &watched,
                source,
                &names,
                (at_ns, sample_every(hosts)),
                &emit,
                &ended,
            )
        };
        let thread = spawn("tcp-state", run)?;
        Ok(Some(Self {
            goes_on: Some(goes_on),
            thread: Some(thread),
        }))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.goes_on.take();
        if let Some(thread) = self.thread.take() {
            // The result of a thread that panicked is missing.
            let _ = thread.join();
        }
    }
}

fn watch(
    watched: &[Watched],
    source: &str,
    names: &Names,
    (at_ns, every): (i64, Duration),
    emit: &Emit,
    ended: &Receiver<()>,
) {
    let every_ns = i64::try_from(every.as_nanos()).unwrap_or(i64::MAX);
    let mut next_ns = at_ns;
    let mut batch = Batch::default();
    let mut samples = 0;
    while is_due(next_ns, ended) {
        for one in watched {
            // A connection that has ended says nothing more.
            if let Ok(state) = info::read(&one.tcp) {
                add(&mut batch, source, names, one, &values(&state));
            }
            if let Ok(queues) = tcp::queues(&one.tcp) {
                add(&mut batch, source, names, one, &waiting(&queues));
            }
        }
        samples += 1;
        if samples == SAMPLES_PER_BATCH {
            samples = 0;
            emit(Emitted::Batch(std::mem::take(&mut batch)));
        }
        // A late reading is not made up for.
        next_ns = next_ns.saturating_add(every_ns).max(now_ns());
    }
    if !batch.is_empty() {
        emit(Emitted::Batch(batch));
    }
}

/// Waits until the monotonic clock shows `at_ns`; false when the watch ends before.
fn is_due(at_ns: i64, ended: &Receiver<()>) -> bool {
    let left = Duration::from_nanos(u64::try_from(at_ns - now_ns()).unwrap_or(0));
    ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
}

/// A metric and its value.
type Value = (Metric, Option<f64>);

fn add(batch: &mut Batch, source: &str, names: &Names, one: &Watched, values: &[Value]) {
    let at_ns = now_ns() - names.t0_ns;
    let label = names.label(one.flow);
    for (metric, value) in values {
        let Some(value) = *value else { continue };
        let mut key = names.key(source, *metric, &label);
        key.labels.insert("end".into(), one.end.into());
        batch.push(&key, at_ns, value);
    }
}

/// Bytes in the kernel that wait for the program, and for the peer.
fn waiting(queues: &Queues) -> [Value; 2] {
    [
        (
            metrics::RECEIVE_QUEUE_BYTES,
            Some(queues.unread_bytes as f64),
        ),
        (metrics::SEND_QUEUE_BYTES, Some(queues.unacked_bytes as f64)),
    ]
}

/// Metrics and values; `None` for what this kernel does not say.
fn values(state: &TcpInfo) -> [Value; 21] {
    let count = |value: Option<u32>| value.map(f64::from);
    let micros = |value: Option<u32>| value.map(|us| f64::from(us) * 1e-6);
    let long = |value: Option<u64>| value.map(|us| us as f64 * 1e-6);
    let rate = |value: Option<u64>| value.map(|bytes| bytes as f64);
    [
        (
            metrics::CONGESTION_WINDOW_SEGMENTS,
            count(state.snd_cwnd_segments),
        ),
        (
            metrics::SLOW_START_THRESHOLD_SEGMENTS,
            count(state.snd_ssthresh_segments),
        ),
        (metrics::SMOOTHED_RTT_SECONDS, micros(state.rtt_us)),
        (metrics::RTT_VARIATION_SECONDS, micros(state.rttvar_us)),
        (
            metrics::RETRANSMITTED_SEGMENTS,
            count(state.total_retrans_segments),
        ),
        (
            metrics::UNACKNOWLEDGED_SEGMENTS,
            count(state.unacked_segments),
        ),
        (
            metrics::DELIVERY_RATE_BYTES_PER_SECOND,
            rate(state.delivery_rate_bytes_per_s),
        ),
        (
            metrics::PACING_RATE_BYTES_PER_SECOND,
            rate(state.pacing_rate_bytes_per_s),
        ),
        (metrics::BUSY_SECONDS, long(state.busy_time_us)),
        (
            metrics::RECEIVE_WINDOW_LIMITED_SECONDS,
            long(state.rwnd_limited_us),
        ),
        (
            metrics::SEND_BUFFER_LIMITED_SECONDS,
            long(state.sndbuf_limited_us),
        ),
        (metrics::MIN_RTT_SECONDS, micros(state.min_rtt_us)),
        (metrics::LOST_SEGMENTS, count(state.lost_segments)),
        (metrics::NEEDLESS_SEGMENTS, count(state.dsack_dups)),
        (metrics::REORDERINGS, count(state.reord_seen)),
        (metrics::SENT_SEGMENTS, count(state.data_segs_out)),
        (metrics::SEGMENT_BYTES, count(state.snd_mss_bytes)),
        (metrics::NOT_SENT_BYTES, count(state.notsent_bytes)),
        (metrics::PEER_WINDOW_BYTES, count(state.snd_wnd_bytes)),
        (metrics::OWN_WINDOW_BYTES, count(state.rcv_wnd_bytes)),
        (
            metrics::DELAYED_ACK_SECONDS,
            micros(state.ato_us.filter(|us| *us > 0)),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_hosts_there_are_they_read_no_more_often_together() {
        assert_eq!(sample_every(2), Duration::from_millis(50));
        assert_eq!(sample_every(64), Duration::from_millis(50));
        assert_eq!(sample_every(640), Duration::from_millis(500));
        // No overflow on the way.
        assert!(sample_every(usize::MAX) > Duration::from_secs(3600));
    }
}
