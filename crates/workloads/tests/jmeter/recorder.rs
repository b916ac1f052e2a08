//! A server that keeps exactly what it was sent, and answers as a script says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What is answered to requests whose head holds `when`.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Part of the head: `GET /path `, `If-None-Match`.
    pub when: String,
    /// Everything that is sent back; `{port}` stands for the server's.
    pub text: String,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Heard {
    /// Number of its connection, from 0.
    pub connection: usize,
    /// Head with its blank line, and body.
    pub bytes: Vec<u8>,
}

/// A server on the loopback; it lives as long as the test program.
pub struct Recorder {
    /// Where it listens.
    pub port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
}

const USUAL: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: 2\r\n\r\nok";

impl Recorder {
    /// Starts to listen.
    pub fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
        let port = listener.local_addr().expect("it is bound").port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        let answers = Arc::new(answers);
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().flatten().enumerate() {
                let (all, answers) = (Arc::clone(&all), Arc::clone(&answers));
                thread::spawn(move || serve(stream, connection, port, &all, &answers));
            }
        });
        Self { port, heard }
    }

    /// Everything that came so far, and forgets it.
    pub fn take(&self) -> Vec<Heard> {
        std::mem::take(&mut self.heard.lock().expect("nobody panics holding it"))
    }
}

fn serve(
    stream: TcpStream,
    connection: usize,
    port: u16,
    all: &Mutex<Vec<Heard>>,
    answers: &[Answer],
) {
    let mut reader = BufReader::new(stream);
    while let Some(bytes) = read(&mut reader) {
        let head = String::from_utf8_lossy(&bytes).into_owned();
        all.lock()
            .expect("nobody panics holding it")
            .push(Heard { connection, bytes });
        let found = answers.iter().find(|answer| head.contains(&answer.when));
        let text = found.map_or(USUAL, |answer| &answer.text);
        let text = text.replace("{port}", &port.to_string());
        let cut = match head.starts_with("HEAD ") {
            true => text.find("\r\n\r\n").map_or(text.len(), |end| end + 4),
            false => text.len(),
        };
        let sent = reader.get_mut().write_all(&text.as_bytes()[..cut]);
        if sent.is_err() || text.is_empty() || text.contains("Connection: close") {
            return;
        }
    }
}

/// A whole request; `None` at the end of the connection.
fn read(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut length = 0;
    loop {
        let begin = bytes.len();
        if reader.read_until(b'\n', &mut bytes).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&bytes[begin..]).to_ascii_lowercase();
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    bytes.extend(body);
    Some(bytes)
}
