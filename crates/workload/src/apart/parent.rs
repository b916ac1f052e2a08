//! The agent's end: a phase that hands every call to its process.

use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use sokudo_model::{Change, HostClock, PhaseSpec, Refusal, Text};
use sokudo_net::process::{end_of, keep_interrupts_from};
use sokudo_net::urgency::go_with_the_rest;

use super::{Order, Told, frame};
use crate::contract::{Emit, Emitted, Phase};
use crate::limit::Limit;
use crate::refusal::{failed, spawn};
use crate::reporting::from_text;

/// Longest wait for an answer; shorter than a controller waits for its agent.
const ANSWER_BOUND: Duration = Duration::from_secs(15);
/// Longest wait for the end of a process whose pipe has ended.
const END_BOUND: Duration = Duration::from_secs(2);
/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(5);
/// Longest piece of a line that it writes about itself, bytes; a longer line comes in pieces.
const MOST_BYTES: u64 = 4096;
/// Longest text of why it ended, characters.
const MOST_CHARS: usize = 200;
/// Variables of the environment that it has: what decides how times are read and whom TLS trusts.
const ENVIRONMENT: &[&str] = &["TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT"];

/// Prepares a phase in a process of its own: `program` with the one argument `command`, which calls
/// [`carry_out`](super::carry_out).
///
/// Errors: the process cannot be started, dies, or refuses.
pub fn prepare<N: DeserializeOwned + 'static>(
    (program, command): (&Path, &str),
    spec: PhaseSpec,
    emit: Emit,
) -> Result<Box<dyn Phase<N>>, Refusal> {
    let workload = spec.phase.workload.clone();
    let mut apart = Apart::begin(program, command, workload, emit)?;
    apart.offer = apart.ask(&Order::Prepare(Box::new(spec)))?;
    Ok(Box::new(apart))
}

/// A phase in another process.
struct Apart {
    process: Arc<Process>,
    orders: Option<ChildStdin>,
    answers: Receiver<Result<String, Refusal>>,
    readers: Vec<JoinHandle<()>>,
    offer: String,
}

/// State of the process, as far as it is known.
struct Process {
    workload: String,
    child: Mutex<Child>,
    /// Last line that it wrote about itself.
    last_words: Mutex<String>,
    /// Reason for which it ended; `None`: it lives.
    ended: Mutex<Option<Text>>,
    /// Its output is not read any more.
    is_dismissed: AtomicBool,
}

impl Apart {
    fn begin(program: &Path, command: &str, workload: String, emit: Emit) -> Result<Self, Refusal> {
        let mut child = spawned(command_of(program, command)).map_err(|error| {
            let says = Text::new("error-load-process-unstarted");
            failed(
                says.word("workload", &workload).with("error", error),
                Some(Text::new("error-no-thread-hint")),
            )
        })?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Arc::new(Process {
            workload,
            child: Mutex::new(child),
            last_words: Mutex::default(),
            ended: Mutex::default(),
            is_dismissed: AtomicBool::new(false),
        });
        let (tell, answers) = channel();
        let mut apart = Self {
            process: Arc::clone(&process),
            orders: input,
            answers,
            readers: Vec::new(),
            offer: String::new(),
        };
        if let Some(errors) = errors {
            let of = Arc::clone(&process);
            let reader = spawn("last words", move || of.listen_for_words(errors))?;
            apart.readers.push(reader);
        }
        if let Some(output) = output {
            let reader = spawn("load process", move || process.read(output, &tell, &emit))?;
            apart.readers.push(reader);
        }
        Ok(apart)
    }

    /// Carries out an order, or says why there is no answer.
    fn ask(&mut self, order: &Order) -> Result<String, Refusal> {
        // Whether the process takes it shows in its answer.
        if let Some(orders) = &mut self.orders {
            let _ = frame::write(orders, order);
        }
        match self.answers.recv_timeout(ANSWER_BOUND) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => Err(self.process.death()),
            Err(RecvTimeoutError::Timeout) => {
                let says = Text::new("error-load-process-stuck")
                    .word("workload", &self.process.workload)
                    .with("seconds", ANSWER_BOUND.as_secs());
                *locked(&self.process.ended) = Some(says.clone());
                self.process.kill();
                Err(failed(says, Some(Text::new("error-load-process-hint"))))
            }
        }
    }
}

fn command_of(program: &Path, command: &str) -> Command {
    let mut call = Command::new(program);
    call.arg(command)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for name in ENVIRONMENT {
        if let Some(value) = std::env::var_os(name) {
            call.env(name, value);
        }
    }
    keep_interrupts_from(&mut call);
    call
}

/// Starts a process with the priority of its load, not that of the thread that carries orders.
fn spawned(mut command: Command) -> io::Result<Child> {
    std::thread::scope(|scope| {
        let start = scope.spawn(|| {
            go_with_the_rest();
            command.spawn()
        });
        let died = |_| Err(io::Error::other("the thread that starts it died"));
        start.join().unwrap_or_else(died)
    })
}

impl Process {
    /// Takes what the process says until it ends.
    fn read(&self, output: ChildStdout, tell: &Sender<Result<String, Refusal>>, emit: &Emit) {
        let mut output = BufReader::new(output);
        let mut has_sent = false;
        while let Ok(told) = frame::read::<Told>(&mut output) {
            match told {
                Told::Emitted(emitted) => {
                    has_sent |= matches!(emitted, Emitted::Sent(_));
                    emit(emitted);
                }
                Told::Answer(answer) => drop(tell.send(answer)),
            }
        }
        let how = self.end();
        if self.is_dismissed.load(Ordering::Relaxed) {
            return;
        }
        let says = Text::new("error-load-process-died")
            .word("workload", &self.workload)
            .word("how", how);
        let says = locked(&self.ended).get_or_insert(says).clone();
        if !has_sent {
            let missing = Some(Text::new("error-load-process-missing"));
            emit(Emitted::Problem { says, missing });
            emit(Emitted::Sent("{}".into()));
        }
    }

    /// Waits for the end of a process that says nothing more, and tells how it ended.
    fn end(&self) -> String {
        let since = Instant::now();
        let status = loop {
            match locked(&self.child).try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if since.elapsed() < END_BOUND => {}
                Ok(None) | Err(_) => break None,
            }
            std::thread::sleep(LOOK);
        };
        let Some(status) = status else {
            self.kill();
            return "it closed its pipe".into();
        };
        let words = locked(&self.last_words).clone();
        match words.is_empty() {
            true => end_of(status),
            false => format!("{} ({words})", end_of(status)),
        }
    }

    fn listen_for_words(&self, errors: ChildStderr) {
        let mut lines = BufReader::new(errors);
        let mut line = Vec::new();
        let mut next = |line: &mut Vec<u8>| lines.by_ref().take(MOST_BYTES).read_until(b'\n', line);
        while next(&mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line);
            if !text.trim().is_empty() {
                *locked(&self.last_words) = text.trim().chars().take(MOST_CHARS).collect();
            }
            line.clear();
        }
    }

    fn kill(&self) {
        let mut child = locked(&self.child);
        // It has ended already when this fails.
        let _ = child.kill();
        let _ = child.wait();
    }

    fn death(&self) -> Refusal {
        let says = locked(&self.ended).clone();
        let says = says.unwrap_or_else(|| Text::new("error-load-process-unprepared"));
        failed(says, Some(Text::new("error-load-process-hint")))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<N: DeserializeOwned> Phase<N> for Apart {
    fn offer(&self) -> String {
        self.offer.clone()
    }

    fn hold_to(&mut self, _: &Arc<Limit>) {
        // Loads that run apart answer nobody.
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        let offers = offers.to_vec();
        self.ask(&Order::Arm { offers }).map(drop)
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        self.ask(&Order::Start { at_ns, t0_ns }).map(drop)
    }

    fn halt(&mut self) {
        // A process that does not answer is gone: what is left of it is asked for next.
        let _ = self.ask(&Order::Halt);
    }

    fn steer(&mut self, change: &Change) -> Result<(), Refusal> {
        self.ask(&Order::Steer(*change)).map(drop)
    }

    fn clocks(&mut self, clocks: &[Option<HostClock>]) {
        // As with `halt`.
        let _ = self.ask(&Order::Clocks(clocks.to_vec()));
    }

    fn drain(&mut self, sent: &[Option<String>]) -> Result<N, Refusal> {
        let sent = sent.to_vec();
        from_text(&self.ask(&Order::Drain { sent })?)
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        self.process.is_dismissed.store(true, Ordering::Relaxed);
        self.orders = None;
        self.process.kill();
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}
