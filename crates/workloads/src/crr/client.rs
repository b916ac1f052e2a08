//! The asking end: connect, ask, read, hang up; one connection at a time per thread.

use std::io;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::now_ns;

use super::protocol::is_answered;
use crate::link::{CallError, Caller, Link, Solo, is_silence};
use crate::rr::client::{CHUNK_BYTES, Course, LOOK, Next, Task, agreed, ended, measured};
use crate::rr::protocol::{Kind, Reader};
use crate::rr::record::Report;

/// A thread that finds no port tries again after this time: asking faster brings none back.
const PORTS_PAUSE: Duration = Duration::from_millis(10);
/// Failures in a row after which a thread gives the peer up.
const GIVE_UP_AFTER: u32 = 1000;

/// Why one connection did not bring its answer.
enum Failure {
    Call(CallError),
    Talk(io::Error),
}

impl Failure {
    fn says(&self) -> String {
        match self {
            Failure::Call(error) => error.to_string(),
            Failure::Talk(error) => ended(error),
        }
    }
}

/// Connects again and again from `at_ns` on, until time, count or stop.
pub(crate) fn run(task: Task, caller: Caller, at_ns: i64, reports: &SyncSender<Report>) {
    measured(task.flow, at_ns, &task, reports, |course| {
        again_and_again(&task, &caller, course);
    });
}

fn again_and_again(task: &Task, caller: &Caller, course: &mut Course) {
    let mut message = vec![0u8; task.sizes.request as usize];
    let mut buffer = vec![0u8; CHUNK_BYTES.min(task.sizes.response as usize)];
    let (mut sequence, mut answered_ns, mut failures) = (0, i64::MIN, 0);
    while failures < GIVE_UP_AFTER {
        let now = now_ns();
        if now >= course.recorder.report_at_ns() {
            course.recorder.report(now);
        }
        let intended_ns = match course.next(now, 0) {
            Next::Now(intended_ns) => intended_ns,
            Next::At(at_ns) => {
                course.sleep_until(at_ns);
                continue;
            }
            Next::Over => return,
        };
        course.schedule.started();
        course
            .recorder
            .sent(intended_ns, now, intended_ns >= answered_ns);
        agreed(Kind::Request, task.ticket, task.sizes).write(sequence, &mut message);
        sequence += 1;
        let outcome = once(
            task,
            caller,
            course,
            (intended_ns, now),
            &message,
            &mut buffer,
        );
        answered_ns = now_ns();
        match outcome {
            Ok(()) => {
                failures = 0;
                course.recorder.answered(intended_ns, now, answered_ns);
            }
            Err(failure) => {
                failures += 1;
                note(course, intended_ns, &failure);
            }
        }
    }
    course.recorder.counts.connections_lost += 1;
}

#[cold]
fn note(course: &mut Course, intended_ns: i64, failure: &Failure) {
    course.recorder.failed(intended_ns, || failure.says());
    if matches!(failure, Failure::Call(error) if error.is_ports_exhausted()) {
        course.recorder.counts.ports_exhausted += 1;
        std::thread::sleep(PORTS_PAUSE);
    }
}

/// One connection from its first packet to its answer.
fn once(
    task: &Task,
    caller: &Caller,
    course: &mut Course,
    (intended_ns, begun_ns): (i64, i64),
    message: &[u8],
    buffer: &mut [u8],
) -> Result<(), Failure> {
    let bound = Duration::from_nanos(task.timeout_ns.max(1) as u64);
    let called = caller.call(bound).map_err(Failure::Call)?;
    course
        .recorder
        .connected(intended_ns, called.connect_ns, called.handshake_ns);
    let mut link = called.link;
    let talked = talk(task, &mut link, course, begun_ns, message, buffer);
    talked.map_err(Failure::Talk)
}

fn talk(
    task: &Task,
    link: &mut Link,
    course: &mut Course,
    begun_ns: i64,
    message: &[u8],
    buffer: &mut [u8],
) -> io::Result<()> {
    let mut waiting = Solo::new(link, task.wait, LOOK)?;
    link.send_all(message)?;
    let mut reader = Reader::new(agreed(Kind::Response, task.ticket, task.sizes));
    loop {
        match waiting.receive(link, buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) if is_answered(&mut reader, &buffer[..count])? => return Ok(()),
            Ok(_) => {}
            Err(error) if is_silence(&error) => {
                if course.is_overdue(begun_ns, now_ns()) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
}
