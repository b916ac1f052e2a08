//! Messages from the receivers: acknowledgements, which give round-trip times, and signs of life, without
//! which the load ends.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_stats::Histogram;
use sokudo_workload::consent::Silence;
use sokudo_workload::handover::Records;

use super::protocol::{HEADER_BYTES, Header};
use super::report::{AckInterval, Report};

/// Time between two looks of a reader of acknowledgements at the stop flag.
const ACK_WAIT: Duration = Duration::from_millis(50);
/// Time between two reports of round trips.
const ACK_REPORT_NS: i64 = 1_000_000_000;

/// Reader of the messages that come back to the sender of one flow.
pub struct AckListener {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// Its secret number.
    pub ticket: u64,
    /// Connected to the receiver.
    pub socket: UdpSocket,
    /// Silence of the receiver, and its bound.
    pub silence: Silence,
    /// Set when that is too long.
    pub is_silent: Arc<AtomicBool>,
    /// Set when the thread must end.
    pub stop: Arc<AtomicBool>,
}

/// Reads the acknowledgements of one flow until told to stop; hands round trips over each second.
///
/// The kernel keeps one pending error per socket and returns it to the first call, so the unreachable
/// errors that come up here are counted, too.
pub fn read_acks(listener: AckListener, reports: &SyncSender<Report>) {
    let AckListener {
        flow,
        ticket,
        socket,
        mut silence,
        is_silent,
        stop,
    } = listener;
    let mut heard = 0;
    if socket.set_read_timeout(Some(ACK_WAIT)).is_err() {
        return;
    }
    let mut records = Records::new(|| AckInterval {
        flow,
        rtt: Histogram::allocated(),
        ..AckInterval::default()
    });
    let mut report_at_ns = now_ns() + ACK_REPORT_NS;
    let mut bytes = [0u8; HEADER_BYTES];
    loop {
        let received = socket.recv(&mut bytes);
        let now = now_ns();
        match received {
            Ok(HEADER_BYTES) => {
                if let Ok(header) = Header::read(&bytes)
                    && header.ack
                    && header.ticket == ticket
                {
                    heard += 1;
                    if !header.is_sign_of_life() {
                        let rtt_ns = now.saturating_sub(header.send_ns).max(0) as u64;
                        records.rtt.record(rtt_ns);
                    }
                }
            }
            Ok(_) => {}
            Err(error) => records.unreachable += u64::from(is_unreachable(&error)),
        }
        if silence.is_too_long(heard, now) {
            is_silent.store(true, Ordering::Relaxed);
        }
        let over = stop.load(Ordering::Relaxed);
        if now < report_at_ns && !over {
            continue;
        }
        report_at_ns = now + ACK_REPORT_NS;
        records.t_ns = now;
        if over {
            // Fails only when the phase is being dropped.
            let _ = reports.send(Report::Acks(records.last()));
            return;
        }
        let unwrap = |report| match report {
            Report::Acks(interval) => Some(interval),
            _ => None,
        };
        records.hand_over(reports, Report::Acks, unwrap);
    }
}

fn is_unreachable(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
    )
}
