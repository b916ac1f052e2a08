//! The asking end: connect, ask, read, hang up; one connection at a time per thread.

use std::io;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_workload::exchange::{Course, LOOK, Next, Report, ended, measured};
use sokudo_workload::link::{CallError, Caller, Link, Solo};
use sokudo_workload::meet::Dialled;

use super::record::ConnectDetails;
use crate::rr::client::{Answers, Task, agreed, room_for};
use crate::rr::protocol::{Agreed, MessageKind};

/// A thread that finds no port tries again after this time: asking faster brings none back.
const PORTS_PAUSE: Duration = Duration::from_millis(10);
/// Failures in a row after which a thread gives the peer up.
const GIVE_UP_AFTER: u32 = 1000;

type CrrCourse = Course<ConnectDetails>;

/// Reason why one connection did not bring its answer.
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
pub(crate) fn run(
    task: Task,
    dialled: Dialled,
    at_ns: i64,
    reports: &SyncSender<Report<ConnectDetails>>,
) {
    let ready = || Ok(Asker::new(&task, &dialled.caller));
    measured(&task.plan, at_ns, reports, ready, Asker::again_and_again);
}

/// One thread's connections, one after the other.
struct Asker<'a> {
    task: &'a Task,
    caller: &'a Caller,
    request: Agreed,
    message: Vec<u8>,
    answers: Answers,
}

#[cold]
fn note(course: &mut CrrCourse, intended_ns: i64, failure: &Failure) {
    course.recorder.failed(intended_ns, || failure.says());
    if matches!(failure, Failure::Call(error) if error.is_ports_exhausted()) {
        if let Some(details) = course.recorder.details(intended_ns) {
            details.ports_exhausted += 1;
        }
        std::thread::sleep(PORTS_PAUSE);
    }
}

impl<'a> Asker<'a> {
    fn new(task: &'a Task, caller: &'a Caller) -> Self {
        Self {
            task,
            caller,
            request: agreed(MessageKind::Request, task.ticket, task.sizes),
            message: room_for(task.sizes.request),
            answers: Answers::from_stream(task),
        }
    }

    /// Until time, count or stop, or until the peer is given up.
    fn again_and_again(&mut self, course: &mut CrrCourse) {
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
            let outcome = self.once(sequence, course, (intended_ns, now));
            course.sent(intended_ns, now, intended_ns >= answered_ns);
            sequence += 1;
            match outcome {
                Ok(at_ns) => {
                    failures = 0;
                    answered_ns = at_ns;
                    course.recorder.answered(intended_ns, now, at_ns);
                }
                Err(failure) => {
                    failures += 1;
                    answered_ns = now_ns();
                    note(course, intended_ns, &failure);
                }
            }
        }
        course.recorder.lost_connection(now_ns());
    }

    /// One connection from its first packet to its answer; returns when that came.
    fn once(
        &mut self,
        sequence: u64,
        course: &mut CrrCourse,
        (intended_ns, begun_ns): (i64, i64),
    ) -> Result<i64, Failure> {
        let bound = Duration::from_nanos(self.task.plan.timeout_ns.max(1) as u64);
        let called = self.caller.call(bound).map_err(Failure::Call)?;
        if let Some(details) = course.recorder.details(intended_ns) {
            let connecting = &mut details.connecting;
            connecting.record(called.connect_ns, called.handshake_ns);
        }
        let talked = self.talk(called.link, sequence, course, begun_ns);
        talked.map_err(Failure::Talk)
    }

    /// Asks and waits for the answer; that the caller hangs up ends the connection.
    fn talk(
        &mut self,
        mut link: Link,
        sequence: u64,
        course: &mut CrrCourse,
        begun_ns: i64,
    ) -> io::Result<i64> {
        let mut waiting = Solo::new(&mut link, self.task.wait, LOOK)?;
        self.request.write(sequence, &mut self.message);
        link.send_all(&self.message)?;
        self.answers.begin_at(sequence);
        let came = self
            .answers
            .wait_for(sequence, begun_ns, &mut link, &mut waiting, course)?;
        match came {
            // Hanging up comes after.
            true => Ok(now_ns()),
            false => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}
