//! Round-trip times, measured by the acknowledgements that come back.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_stats::Histogram;
use sokudo_workload::handover::Records;

use super::protocol::{HEADER_BYTES, Header};
use super::report::{AckInterval, Report};

/// Time between two looks of a reader of acknowledgements at the stop flag.
const ACK_WAIT: Duration = Duration::from_millis(50);
/// Time between two reports of round trips.
const ACK_REPORT_NS: i64 = 1_000_000_000;

/// Reads the acknowledgements of one flow until told to stop; hands round trips over each second.
///
/// The kernel keeps one pending error per socket and returns it to the first call, so the unreachable
/// errors that come up here are counted, too.
pub fn read_acks(
    socket: &UdpSocket,
    flow: u32,
    ticket: u64,
    stop: &AtomicBool,
    reports: &SyncSender<Report>,
) {
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
                    let rtt_ns = now.saturating_sub(header.send_ns).max(0) as u64;
                    records.rtt.record(rtt_ns);
                }
            }
            Ok(_) => {}
            Err(error) => records.unreachable += u64::from(is_unreachable(&error)),
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
