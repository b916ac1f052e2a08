//! Tests of shared memory between threads, between processes, and with callers that break the
//! protocol.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use super::*;
use crate::stream::Stream as _;
use crate::unix::{self, Name};
use crate::wait::Wait;

const BOUND: Duration = Duration::from_secs(30);
/// Set for a process that plays the other side.
const ROLE: &str = "SOKUDO_TEST_SHM_ROLE";
const NAME: &str = "SOKUDO_TEST_SHM_NAME";

fn name(what: &str) -> Name {
    Name::Abstract(format!("sokudo-shm-{what}-{}", std::process::id()))
}

fn pair(what: &str) -> (ShmStream, ShmStream) {
    let listener = unix::LocalListener::bind(&name(what)).unwrap();
    std::thread::scope(|scope| {
        let far = scope.spawn(|| accept(listener.accept(BOUND).unwrap().unwrap(), BOUND).unwrap());
        let near = connect(listener.name(), 1, BOUND).unwrap();
        (near, far.join().unwrap())
    })
}

/// Runs `other_process` below in a process of its own.
fn spawn(role: &str, name: &Name) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "shm::tests::other_process", "--nocapture"])
        .env(ROLE, role)
        .env(NAME, name.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test by itself: what a spawned process does.
#[test]
fn other_process() {
    let (Ok(role), Ok(name)) = (std::env::var(ROLE), std::env::var(NAME)) else {
        return;
    };
    let mut stream = connect(&Name::parse(&name), MIN_RING_BYTES, BOUND).unwrap();
    let mut buffer = vec![0; 3000];
    match role.as_str() {
        "echo" => loop {
            match stream.read(&mut buffer).unwrap() {
                0 => return,
                n => stream.write_all(&buffer[..n]).unwrap(),
            }
        },
        // Says that it is there, then waits for its death.
        _ => {
            stream.write_all(b"!").unwrap();
            let _ = stream.read(&mut buffer);
        }
    }
}

#[test]
fn two_processes_exchange_more_than_the_rings_hold() {
    const TOTAL: usize = 1_000_000;
    let listener = unix::LocalListener::bind(&name("echo")).unwrap();
    let mut child = spawn("echo", listener.name());
    let stream = accept(listener.accept(BOUND).unwrap().unwrap(), BOUND).unwrap();
    let (mut reading, mut writing) = Box::new(stream).split().unwrap();
    let bytes: Vec<u8> = (0..TOTAL).map(|n| (n % 253) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            writing.write_all(&bytes).unwrap();
            writing.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        reading.read_to_end(&mut back).unwrap();
        assert!(back == bytes);
    });
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_killed_peer_is_an_error_and_not_an_end() {
    for wait in [Wait::Block, Wait::Spin { for_ns: u64::MAX }] {
        let listener = unix::LocalListener::bind(&name(&format!("killed-{wait}"))).unwrap();
        let mut child = spawn("die", listener.name());
        let mut stream = accept(listener.accept(BOUND).unwrap().unwrap(), BOUND).unwrap();
        stream.set_wait(wait).unwrap();
        stream.set_read_bound(BOUND).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let why = stream.read(&mut [0]).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::ConnectionReset, "{wait}");
    }
}

#[test]
fn a_dropped_reader_breaks_the_pipe_of_its_writer() {
    let (mut near, far) = pair("dropped");
    drop(far);
    assert_eq!(
        near.write(b"x").unwrap_err().kind(),
        io::ErrorKind::BrokenPipe
    );
    assert_eq!(near.read(&mut [0]).unwrap(), 0);
}

#[test]
fn halves_do_only_their_part() {
    let (near, _far) = pair("halves");
    let (mut reading, mut writing) = Box::new(near).split().unwrap();
    assert_eq!(
        reading.write(b"x").unwrap_err().kind(),
        io::ErrorKind::Unsupported
    );
    assert_eq!(
        writing.read(&mut [0]).unwrap_err().kind(),
        io::ErrorKind::Unsupported
    );
}

#[test]
fn callers_that_hand_over_something_else_are_refused() {
    let check = |what: &str, speak: &dyn Fn(&mut UnixStream)| {
        let listener = unix::LocalListener::bind(&name(what)).unwrap();
        let caller = unix::connect(listener.name(), BOUND).unwrap();
        let mut socket = caller.socket().try_clone().unwrap();
        speak(&mut socket);
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let refused = accept(listener.accept(BOUND).unwrap().unwrap(), BOUND);
        assert!(refused.is_err(), "{what}");
    };
    check("nothing", &|_| {});
    check("short", &|socket| socket.write_all(b"sokudo").unwrap());
    check("garbage", &|socket| socket.write_all(&[7; 16]).unwrap());
    let mut honest = *b"sokudoS1\0\0\0\0\0\0\0\0";
    honest[8..].copy_from_slice(&4096u64.to_le_bytes());
    check("no file", &|socket| socket.write_all(&honest).unwrap());
    let file = |sealed: bool, bytes: u64| {
        use rustix::fs::{MemfdFlags, SealFlags};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("test", flags).unwrap();
        rustix::fs::ftruncate(&file, bytes).unwrap();
        if sealed {
            rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
        }
        file
    };
    let pass = |socket: &UnixStream, message: &[u8; 16], file| {
        imp::send_with_file(socket, message, &file).unwrap();
    };
    check("unsealed", &|socket| {
        pass(socket, &honest, file(false, 4096 * 3))
    });
    check("too short", &|socket| {
        pass(socket, &honest, file(true, 4096))
    });
    for size in [0, 4095, 1 << 40, u64::MAX] {
        let mut wrong = honest;
        wrong[8..].copy_from_slice(&size.to_le_bytes());
        check("size", &|socket| pass(socket, &wrong, file(true, 4096 * 3)));
    }
}

#[test]
fn a_silent_caller_is_given_up() {
    let listener = unix::LocalListener::bind(&name("silent")).unwrap();
    let _caller = unix::connect(listener.name(), BOUND).unwrap();
    let far = listener.accept(BOUND).unwrap().unwrap();
    assert!(accept(far, Duration::from_millis(5)).is_err());
    // And so is a listener that does not answer.
    assert!(connect(listener.name(), 1, Duration::from_millis(5)).is_err());
}
