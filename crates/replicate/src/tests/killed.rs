//! Ends that are killed: real processes, which are this program again.

use std::ffi::OsString;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::faults::{assert_old_or_new, duplicate, terms_of, versions};
use super::{Channels, Random, bounded, look, open, quick};
use crate::receive::{Receiver, Sink};
use crate::send::{Round, Sender};
use crate::session::Session;

/// Rounds of an ordinary run; this variable asks for others.
const ROUNDS: u64 = 20;
const ROUNDS_VARIABLE: &str = "SOKUDO_REPLICATE_KILLS";
/// Environment variables of a process of a round: its end, source, target, socket and seed.
const END: &str = "SOKUDO_REPLICATE_END";
const SOURCE: &str = "SOKUDO_REPLICATE_SOURCE";
const TARGET: &str = "SOKUDO_REPLICATE_TARGET";
const SOCKET: &str = "SOKUDO_REPLICATE_SOCKET";
const SEED: &str = "SOKUDO_REPLICATE_SEED";
/// Longest time until the end that was not killed has ended.
const BOUND: Duration = Duration::from_secs(50);

fn variable(name: &str) -> OsString {
    std::env::var_os(name).unwrap_or_else(|| panic!("`{name}` is set"))
}

/// Runs one end of a round in this process.
fn be(end: &str) {
    let seed = variable(SEED).into_string().unwrap().parse().unwrap();
    let copy = terms_of(&mut Random(seed));
    let (source, target) = (
        PathBuf::from(variable(SOURCE)),
        PathBuf::from(variable(TARGET)),
    );
    let socket = PathBuf::from(variable(SOCKET));
    let count = 2 + copy.connections;
    match end {
        "receiver" => {
            let listener = UnixListener::bind(socket).unwrap();
            let Some(channels) = accept(&listener, count) else {
                return;
            };
            let receiver = Receiver {
                sink: Sink::Tree(open(&target)),
                terms: copy.receive,
                channels,
                session: Session::new(),
                progress: Arc::default(),
            };
            receiver.run();
        }
        _ => {
            let sender = Sender {
                source: copy.tree(&source),
                terms: copy.send.clone(),
                channels: connect(&socket, count),
                session: Session::new(),
                progress: Arc::default(),
            };
            let mut rounds = vec![Round::full()].into_iter();
            sender.run(|_| rounds.next());
        }
    }
}

/// The sender's connections; `None` when it was killed before it had made them all.
fn accept(listener: &UnixListener, count: usize) -> Option<Channels> {
    listener.set_nonblocking(true).unwrap();
    let begun = Instant::now();
    let mut channels = Channels::new();
    while channels.len() < count {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).unwrap();
                channels.push(bounded(stream));
            }
            Err(_) if begun.elapsed() < BOUND / 4 => thread::sleep(Duration::from_millis(1)),
            Err(_) => return None,
        }
    }
    Some(channels)
}

fn connect(socket: &Path, count: usize) -> Channels {
    let begun = Instant::now();
    let mut channels = Channels::new();
    while channels.len() < count {
        match UnixStream::connect(socket) {
            Ok(stream) => channels.push(bounded(stream)),
            Err(_) if begun.elapsed() < BOUND / 4 => thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("the receiver is not there: {error}"),
        }
    }
    channels
}

struct Case<'a> {
    source: &'a Path,
    target: &'a Path,
    socket: PathBuf,
    seed: u64,
}

impl Case<'_> {
    fn start(&self, end: &str) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "tests::killed::an_end_that_is_killed_leaves_old_or_new_files",
            ])
            .env(END, end)
            .env(SOURCE, self.source)
            .env(TARGET, self.target)
            .env(SOCKET, &self.socket)
            .env(SEED, self.seed.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }
}

fn await_end(child: &mut Child) -> io::Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > BOUND {
            child.kill()?;
            child.wait()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_end_that_is_killed_leaves_old_or_new_files() {
    if let Some(end) = std::env::var_os(END) {
        return be(&end.to_string_lossy());
    }
    let asked = std::env::var(ROUNDS_VARIABLE).ok();
    let rounds = asked.map_or(ROUNDS, |asked| asked.parse().unwrap());
    let (old, new) = (quick(), quick());
    versions(old.path(), new.path());
    let wanted = look(new.path());
    // How long a session takes that nobody kills.
    let mut whole = Duration::from_millis(300);
    let mut cut = 0;
    for seed in 0..=rounds {
        let (target, place) = (quick(), quick());
        duplicate(old.path(), target.path());
        let case = Case {
            source: new.path(),
            target: target.path(),
            socket: place.path().join("socket"),
            seed,
        };
        let begun = Instant::now();
        let (mut receiver, mut sender) = (case.start("receiver"), case.start("sender"));
        let mut random = Random(!seed);
        if seed > 0 {
            thread::sleep(Duration::from_micros(
                random.below(whole.as_micros() as u64),
            ));
            let victim = match random.below(2) {
                0 => &mut receiver,
                _ => &mut sender,
            };
            victim.kill().unwrap();
        }
        let ended = [await_end(&mut receiver), await_end(&mut sender)];
        let ended = ended.map(|one| one.unwrap_or_else(|_| panic!("seed {seed}: an end remains")));
        if seed == 0 {
            whole = begun.elapsed();
            assert!(ended.iter().all(ExitStatus::success), "{ended:?}");
            assert_eq!(look(target.path()), wanted);
            continue;
        }
        let shown = format!("seed {seed}");
        assert_old_or_new(target.path(), old.path(), new.path(), &shown);
        cut += u64::from(look(target.path()) != wanted);
        let copy = terms_of(&mut Random(seed));
        copy.run(new.path(), target.path()).fine();
        assert_eq!(look(target.path()), wanted, "{shown}");
    }
    assert!(cut > rounds / 4, "only {cut} sessions were cut");
}
