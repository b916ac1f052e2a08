//! Speaks with the admin port of a target, of this process or another one.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sokudo_net::files::owner_only;

pub use crate::admin::{Knobs, Refused};
use crate::journal::Change;

/// Longest wait for the admin port.
const BOUND: Duration = Duration::from_secs(5);
/// Longest answer, bytes.
const ANSWER_MAX: usize = 16 << 20;
/// Suffix of the files of targets.
const ENDING: &str = "target.json";

/// Addresses and key of a target on this host; a file that only its owner may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFile {
    /// Address of the server.
    pub server: SocketAddr,
    /// Address of the admin port.
    pub admin: SocketAddr,
    /// Credential of its callers.
    pub key: String,
    /// The process.
    pub pid: u32,
    #[serde(skip)]
    path: PathBuf,
}

impl KeyFile {
    pub(crate) fn new(folder: &Path, server: SocketAddr, admin: SocketAddr, key: String) -> Self {
        Self {
            server,
            admin,
            key,
            pid: std::process::id(),
            path: folder.join(format!("{}.{ENDING}", admin.port())),
        }
    }

    pub(crate) fn write(&self) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (self.path.clone(), error);
        let file = owner_only().write(true).truncate(true).open(&self.path);
        let text = serde_json::to_string(self).unwrap_or_default();
        let mut file = file.map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)
    }

    /// Path of the journal, in which changes of knobs are written down.
    pub fn journal(&self) -> PathBuf {
        self.path.with_extension("journal")
    }

    pub(crate) fn remove(&self) {
        // Files that are gone already need no removing.
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_file(self.journal());
    }

    /// The targets whose files lie in a folder, the latest first. Those of processes that were killed
    /// are among them.
    pub fn all(folder: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let read = |path: PathBuf| {
            let time = path.metadata().and_then(|meta| meta.modified()).ok()?;
            let mut file: Self = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
            file.path = path;
            Some((time, file))
        };
        let paths = entries.map(|entry| entry.path());
        let ours = paths.filter(|path| path.to_string_lossy().ends_with(ENDING));
        let mut found: Vec<(SystemTime, Self)> = ours.filter_map(read).collect();
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        found.into_iter().map(|(_, file)| file).collect()
    }
}

/// Error of a request to the admin port.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// It does not answer.
    #[error("{at} does not answer: {error}")]
    Unreachable {
        /// Its address.
        at: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// It does not speak as a target does.
    #[error("{at} does not answer as a target: {why}")]
    Foreign {
        /// Its address.
        at: SocketAddr,
        /// The mistake.
        why: String,
    },
    /// The key is missing or wrong.
    #[error("{at} wants another key")]
    Key {
        /// Its address.
        at: SocketAddr,
    },
    /// It refuses.
    #[error("the target refuses")]
    Refused(Refused),
}

/// The admin port of a target.
#[derive(Debug, Clone)]
pub struct Remote {
    at: SocketAddr,
    key: Option<String>,
}

impl Remote {
    /// A target at this address; the key is needed to change knobs.
    pub fn new(at: SocketAddr, key: Option<String>) -> Self {
        Self { at, key }
    }

    /// Its address.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// All stages as JSON, as [`crate::Stats`] is written.
    pub fn stats(&self) -> Result<Value, RemoteError> {
        self.ask("GET", "/stats", None)
    }

    /// All settings.
    pub fn knobs(&self) -> Result<Knobs, RemoteError> {
        self.ask("GET", "/knobs", None)
    }

    /// Changes knobs, all or none.
    pub fn set(&self, pairs: &[(String, String)]) -> Result<Vec<Change>, RemoteError> {
        let pairs = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
        let body = Value::Object(pairs.collect());
        self.ask("POST", "/set", Some(body))
    }

    /// Undoes all changes after a number; 0 undoes all.
    pub fn restore(&self, to: u64) -> Result<Vec<Change>, RemoteError> {
        self.ask("POST", "/restore", Some(json!({ "to": to })))
    }

    /// Begins a hold and returns its number.
    pub(crate) fn hold(&self, by: &str) -> Result<u64, RemoteError> {
        self.ask("POST", "/hold", Some(json!({ "by": by })))
    }

    /// Changes knobs under a hold and renews it; without knobs it is only renewed.
    pub(crate) fn set_held(
        &self,
        hold: u64,
        pairs: &[(String, String)],
    ) -> Result<Vec<Change>, RemoteError> {
        let pairs = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
        let knobs: serde_json::Map<_, _> = pairs.collect();
        let body = json!({ "hold": hold, "knobs": knobs });
        self.ask("POST", "/held/set", Some(body))
    }

    /// Ends a hold; returns what putting the knobs back changed.
    pub(crate) fn release(&self, hold: u64) -> Result<Vec<Change>, RemoteError> {
        self.ask("POST", "/held/release", Some(json!({ "hold": hold })))
    }

    /// Credential that callers must show, where it is known.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<T, RemoteError> {
        let at = self.at;
        let foreign = |why: String| RemoteError::Foreign { at, why };
        let sent = self.exchange(method, path, body);
        let bytes = sent.map_err(|error| RemoteError::Unreachable { at, error })?;
        let (status, body) = parts(&bytes).ok_or_else(|| foreign("it is not HTTP".into()))?;
        match status {
            200 => serde_json::from_slice(body).map_err(|error| foreign(error.to_string())),
            401 => Err(RemoteError::Key { at }),
            409 => Err(match serde_json::from_slice(body) {
                Ok(refused) => RemoteError::Refused(refused),
                Err(error) => foreign(error.to_string()),
            }),
            status => Err(foreign(format!("status {status}"))),
        }
    }

    fn exchange(&self, method: &str, path: &str, body: Option<Value>) -> io::Result<Vec<u8>> {
        let until = Instant::now() + BOUND;
        let mut stream = TcpStream::connect_timeout(&self.at, BOUND)?;
        stream.set_write_timeout(Some(BOUND))?;
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let key = match &self.key {
            Some(key) => format!("Authorization: Bearer {key}\r\n"),
            None => String::new(),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nX-Sokudo: 1\r\n{key}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.at,
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        answer(stream, until)
    }
}

/// Whole answer, however slowly its parts come. Errors: its end does not come until then.
fn answer(mut stream: TcpStream, until: Instant) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    let mut part = vec![0; 16 << 10];
    while answer.len() < ANSWER_MAX {
        let left = until.saturating_duration_since(Instant::now());
        // A bound of zero would be none.
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut part) {
            Ok(0) => return Ok(answer),
            _ if left.is_zero() => return Err(io::ErrorKind::TimedOut.into()),
            Ok(length) => answer.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

/// Status and body of an answer of known length.
fn parts(answer: &[u8]) -> Option<(u16, &[u8])> {
    let head_end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..head_end]).ok()?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((status, &answer[head_end + 4..]))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    /// A target that sends a byte from time to time, and never ends.
    #[test]
    fn an_answer_without_an_end_is_waited_for_only_so_long() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let near = TcpStream::connect(listener.local_addr().expect("an address"));
        let (mut far, _) = listener.accept().expect("a caller");
        std::thread::scope(|scope| {
            // Its end is the end of the connection.
            scope.spawn(move || {
                while far.write_all(b"x").is_ok() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let until = Instant::now() + Duration::from_millis(100);
            let told = answer(near.expect("connected"), until);
            assert_eq!(told.expect_err("no end").kind(), io::ErrorKind::TimedOut);
        });
    }
}
