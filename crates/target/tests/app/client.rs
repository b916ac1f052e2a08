//! Starts targets and asks them things.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;
use sokudo_target::{Remote, Settings, Target, start};
use tempfile::TempDir;

/// Longest wait for anything that must happen.
pub const BOUND: Duration = Duration::from_secs(30);

/// A target with ports of its own.
pub struct Lab {
    pub target: Target,
    pub folder: TempDir,
}

/// Settings of a target that listens anywhere and only pretends to have a database.
pub fn settings(pairs: &[&str]) -> Settings {
    let usual = [
        "listen.address=127.0.0.1:0",
        "admin.address=127.0.0.1:0",
        "pool.url=sim:",
    ];
    let all = usual.iter().chain(pairs);
    all.fold(Settings::default(), |settings, pair| {
        settings.with_pair(pair).expect("a setting")
    })
}

pub fn lab(pairs: &[&str]) -> Lab {
    let folder = tempfile::tempdir().expect("a folder");
    let target = start(settings(pairs), folder.path()).expect("starts");
    Lab { target, folder }
}

impl Lab {
    pub fn at(&self) -> SocketAddr {
        self.target.at()
    }

    pub fn remote(&self) -> Remote {
        Remote::new(self.target.admin(), Some(self.target.key().key.clone()))
    }

    pub fn set(&self, pairs: &[(&str, &str)]) {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()));
        let changes = self.remote().set(&pairs.collect::<Vec<_>>());
        changes.expect("knobs");
    }

    /// A number of the stages.
    pub fn number(&self, path: &str) -> f64 {
        let stats = self.remote().stats().expect("an answer");
        stats.pointer(path).and_then(Value::as_f64).expect(path)
    }

    /// Waits until a number of the stages is so.
    #[track_caller]
    pub fn until(&self, path: &str, holds: impl Fn(f64) -> bool) -> f64 {
        let end = Instant::now() + BOUND;
        loop {
            let number = self.number(path);
            if holds(number) {
                return number;
            }
            assert!(Instant::now() < end, "{path} is {number}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// One exchange on a connection of its own.
    pub fn ask(&self, request: &str) -> String {
        exchange(self.at(), request).expect("an answer")
    }

    /// The status of a path.
    pub fn status(&self, path: &str) -> u16 {
        status(&self.ask(&get(path)))
    }
}

pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
}

pub fn connect(at: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&at, BOUND)?;
    stream.set_read_timeout(Some(BOUND))?;
    Ok(stream)
}

/// True when the other end reset the connection. A reset before `connect` has returned is told by it,
/// and as a hang-up without an error when somebody else has taken the error.
pub fn is_reset(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    ) || error.to_string().contains("POLLHUP")
}

/// Sends, and reads until the end.
pub fn exchange(at: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = connect(at)?;
    stream.write_all(request.as_bytes())?;
    read_all(&mut stream)
}

pub fn read_all(stream: &mut TcpStream) -> io::Result<String> {
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

pub fn status(answer: &str) -> u16 {
    let status = answer
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3));
    status
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("{answer:?}"))
}

pub fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}
