//! The answering end: one thread per flow, which answers every probe at once with both its stamps.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use sokudo_net::clock::{now_ns, precise_timers, thread_cpu_ns};
use sokudo_net::stamps;
use sokudo_net::udp;
use sokudo_workload::limit::Purse;
use sokudo_workload::link::is_silence;
use sokudo_workload::meet::Datagrams;

use super::protocol::{Agreed, Answer, HEADER_BYTES};
use super::report::Report;
use crate::datagram::sequence::Tracker;

/// Task of one answering thread.
pub(crate) struct Task {
    /// Number of the flow in the phase.
    pub(crate) flow: u32,
    pub(crate) agreed: Agreed,
    pub(crate) datagrams: Datagrams,
    pub(crate) purse: Purse,
    /// Set when the thread must end.
    pub(crate) stop: Arc<AtomicBool>,
}

/// Result of one answering thread.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) flow: u32,
    /// Probes by their sequence numbers.
    pub(crate) probes: Tracker,
    /// Answers that the kernel took; as many numbers were used.
    pub(crate) answers: u64,
    /// Answers that the kernel did not take.
    pub(crate) refused: u64,
    /// Datagrams that are not probes of this flow.
    pub(crate) foreign: u64,
    /// Arrivals that the kernel stamped.
    pub(crate) kernel_stamps: u64,
    /// CPU time of the thread, nanoseconds.
    pub(crate) cpu_ns: Option<u64>,
    /// Time from start to end, nanoseconds.
    pub(crate) elapsed_ns: i64,
    /// Reason of an early end.
    pub(crate) error: Option<String>,
}

/// Answers until it is stopped. The socket's receive bound says how soon that is noticed.
pub(crate) fn run(mut task: Task, reports: &SyncSender<Report>) {
    precise_timers();
    let (begun_ns, cpu_start) = (now_ns(), thread_cpu_ns());
    let mut done = Answered {
        flow: task.flow,
        probes: Tracker::new(Some(0)),
        answers: 0,
        refused: 0,
        foreign: 0,
        kernel_stamps: 0,
        cpu_ns: None,
        elapsed_ns: 0,
        error: None,
    };
    done.error = answer(&mut task, &mut done).err().map(|e| e.to_string());
    let cpu = thread_cpu_ns().zip(cpu_start);
    done.cpu_ns = cpu.map(|(end, start)| end.saturating_sub(start));
    done.elapsed_ns = now_ns() - begun_ns;
    // Fails only when the reporting thread has ended.
    let _ = reports.send(Report::Answered(Box::new(done)));
}

fn answer(task: &mut Task, done: &mut Answered) -> io::Result<()> {
    // A longer datagram than agreed on must be seen to be longer.
    let mut buffer = vec![0u8; (task.agreed.length as usize + 1).max(HEADER_BYTES)];
    let mut out = vec![0u8; task.agreed.length as usize];
    while !task.stop.load(Ordering::Relaxed) {
        let arrival = match stamps::receive(&task.datagrams.socket, &mut buffer) {
            Ok(arrival) => arrival,
            Err(error) if is_silence(&error) => continue,
            // An earlier answer did not reach its port.
            Err(error) if udp::is_passing(&error) => continue,
            Err(error) => return Err(error),
        };
        let probe = task.agreed.read_probe(&buffer[..arrival.length]);
        let known = |from: &SocketAddr| task.datagrams.knows(*from);
        let Some((sequence, from)) = probe.zip(arrival.from.filter(known)) else {
            done.foreign += 1;
            continue;
        };
        task.purse.events(1)?;
        task.purse.received(arrival.length)?;
        task.purse.sent(out.len())?;
        done.kernel_stamps += u64::from(arrival.by_kernel);
        done.probes.arrive(sequence, arrival.at_ns);
        let answer = Answer {
            sequence,
            number: done.answers,
            received_ns: arrival.at_ns,
            sent_ns: now_ns().max(arrival.at_ns),
        };
        task.agreed.write_answer(&answer, &mut out);
        match task.datagrams.send_to(&out, from) {
            Ok(_) => done.answers += 1,
            Err(_) => done.refused += 1,
        }
    }
    Ok(())
}
