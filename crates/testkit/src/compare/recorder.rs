//! A server that keeps what it is asked and answers as the request's path says.
//!
//! | path | answer |
//! |---|---|
//! | `/answer?…` | `status`, `type`, `body`, `header` (more than once), as the query says; `times=N`: only to the first N requests, then an empty one |
//! | `/files/NAME` | that file of the folder of answers |
//! | `/redirects/N` | a redirect to `/redirects/N-1`, and from 0 on a small page |
//! | `/reset`, `/close` | none: the connection is broken off, or closed |
//! | any other | a small page that names method and path |

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::percent_decoded;

/// Path of the request that begins the next plan.
const NEXT: &str = "/.next";
/// Most bytes of a body that are read.
const MOST_BODY_BYTES: usize = 16 << 20;
/// Longest pause that an answer may be asked to make.
const MOST_PAUSE_MS: u64 = 5_000;

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Number of its connection among those of the plan, from 0.
    pub connection: usize,
    /// Request line and headers, each with its line end, and the blank line.
    pub head: String,
    /// Its body, without the marks of chunks.
    pub body: Vec<u8>,
}

/// A server on the loopback; it lives as long as the process.
pub struct Recorder {
    /// Port on which it listens.
    pub port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Requests of each plan, in the order in which they came.
    plans: Vec<Vec<Heard>>,
    connections: usize,
}

impl Recorder {
    /// Starts to listen; `/files/` are of this folder.
    pub fn start(files: &Path) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(Mutex::new(State::default()));
        let server = Arc::new(Server {
            port,
            files: files.to_owned(),
            state: Arc::clone(&state),
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                thread::spawn(move || server.serve(stream));
            }
        });
        Ok(Self { port, state })
    }

    /// Begins the next plan: what comes from here on is its own.
    pub fn next(&self) {
        begin(&self.state);
    }

    /// Requests that came for the plan with this number, in order.
    pub fn of(&self, plan: usize) -> Vec<Heard> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.plans.get(plan).cloned().unwrap_or_default()
    }
}

fn begin(state: &Mutex<State>) {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.plans.push(Vec::new());
    state.connections = 0;
}

struct Server {
    port: u16,
    files: PathBuf,
    state: Arc<Mutex<State>>,
}

impl Server {
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let mut connection = None;
        while let Some((head, body)) = read(&mut reader) {
            let mut words = head.split(' ');
            let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            // Who takes this server for its proxy asks for a whole address.
            let path = target.split_once("://").map_or(target, |(_, rest)| {
                rest.find('/').map_or("/", |at| &rest[at..])
            });
            let answer = if path == NEXT {
                begin(&self.state);
                Some(Answer::default())
            } else {
                self.keep(&mut connection, &head, body);
                self.answer(method, path)
            };
            let Some(answer) = answer else {
                if path.starts_with("/reset") {
                    let socket = socket2::SockRef::from(reader.get_ref());
                    let _ = socket.set_linger(Some(Duration::ZERO));
                }
                return;
            };
            let is_closed = header(&head, "connection").is_some_and(|value| value == "close");
            let sent = reader.get_mut().write_all(&answer.bytes(method == "HEAD"));
            if sent.is_err() || is_closed || answer.closes() {
                return;
            }
        }
    }

    fn keep(&self, connection: &mut Option<usize>, head: &str, body: Vec<u8>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *connection.get_or_insert_with(|| {
            state.connections += 1;
            state.connections - 1
        });
        let heard = Heard {
            connection: number,
            head: head.to_owned(),
            body,
        };
        if let Some(plan) = state.plans.last_mut() {
            plan.push(heard);
        }
    }

    /// `None`: there is none.
    fn answer(&self, method: &str, target: &str) -> Option<Answer> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path == "/reset" || path == "/close" {
            return None;
        }
        if path == "/answer" {
            return Some(self.asked(query));
        }
        if let Some(name) = path.strip_prefix("/files/") {
            return Some(self.file(name));
        }
        let left = path.strip_prefix("/redirects/");
        if let Some(left @ 1..) = left.and_then(|left| left.parse::<u32>().ok()) {
            return Some(Answer {
                status: "302 Found".into(),
                headers: vec![format!("Location: /redirects/{}", left - 1)],
                ..Answer::default()
            });
        }
        let page = format!(
            "<html><head><title>{method}</title></head><body>{method} {path}</body></html>"
        );
        Some(Answer {
            body: page.into_bytes(),
            ..Answer::default()
        })
    }

    /// Answer that the query asks for.
    fn asked(&self, query: &str) -> Answer {
        let mut answer = Answer::default();
        for part in query.split('&') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let value = percent_decoded(value).replace("{port}", &self.port.to_string());
            match name {
                "status" => answer.status = value,
                "type" => answer.kind = value,
                "body" => answer.body = value.into_bytes(),
                "header" => answer.headers.push(value),
                "pause" => {
                    let pause = value.parse().unwrap_or(0).min(MOST_PAUSE_MS);
                    thread::sleep(Duration::from_millis(pause));
                }
                _ => {}
            }
        }
        answer
    }

    fn file(&self, name: &str) -> Answer {
        let kind = match name.rsplit('.').next() {
            Some("html") => "text/html; charset=UTF-8",
            Some("json") => "application/json",
            Some("xml") => "application/xml",
            Some("css") => "text/css",
            Some("js") => "text/javascript",
            Some("png") => "image/png",
            _ => "text/plain; charset=UTF-8",
        };
        let body = match name.contains("..") {
            true => None,
            false => std::fs::read(self.files.join(name)).ok(),
        };
        match body {
            Some(body) => Answer {
                kind: kind.into(),
                body,
                ..Answer::default()
            },
            None => Answer {
                status: "404 Not Found".into(),
                ..Answer::default()
            },
        }
    }
}

/// An answer before it is sent.
struct Answer {
    status: String,
    kind: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            status: "200 OK".into(),
            kind: "text/html; charset=UTF-8".into(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }
}

impl Answer {
    fn closes(&self) -> bool {
        let closes = |header: &String| header.eq_ignore_ascii_case("connection: close");
        self.headers.iter().any(closes)
    }

    fn bytes(&self, is_head_only: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        if !self.kind.is_empty() {
            head += &format!("Content-Type: {}\r\n", self.kind);
        }
        for header in &self.headers {
            head += &format!("{header}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n", self.body.len());
        let mut bytes = head.into_bytes();
        if !is_head_only {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

/// Value of a header in lower case.
fn header(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        let is_it = key.eq_ignore_ascii_case(name);
        is_it.then(|| value.trim().to_ascii_lowercase())
    })
}

/// The next request of a connection: head and body.
fn read(reader: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if reader.read_until(b'\n', &mut head).ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let body = match header(&head, "transfer-encoding").as_deref() {
        Some("chunked") => chunks(reader)?,
        _ => {
            let length =
                header(&head, "content-length").map_or(Some(0), |value| value.parse().ok())?;
            exactly(reader, length)?
        }
    };
    Some((head, body))
}

fn exactly(reader: &mut BufReader<TcpStream>, length: usize) -> Option<Vec<u8>> {
    if length > MOST_BODY_BYTES {
        return None;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn chunks(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        body.extend(exactly(reader, length)?);
        exactly(reader, 2)?;
        if length == 0 || body.len() > MOST_BODY_BYTES {
            return Some(body);
        }
    }
}
