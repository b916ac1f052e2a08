//! A server that keeps exactly what it was sent, and answers as a script says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Answer to requests whose head holds `when`.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Part of the head: `GET /path `, `If-None-Match`.
    pub when: String,
    /// Everything that is sent back; `{port}` stands for the server's.
    pub text: String,
    /// State of the connection afterwards.
    pub then: Then,
}

/// State of a connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It stays, unless the answer says that it is closed.
    Stay,
    /// It is closed.
    Close,
    /// It is broken off.
    Reset,
    /// It stays, and nothing more is said on it.
    Hang,
}

/// End of a connection that begins like TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeted {
    /// It is closed.
    Close,
    /// It is broken off.
    Reset,
    /// It is refused in the words of TLS.
    Alert,
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
    /// Port on which it listens.
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
    // TLS begins like this: it is told what servers tell it that do not speak it.
    if matches!(reader.fill_buf(), Ok([0x16, ..])) {
        let _ = reader
            .get_mut()
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        return;
    }
    while let Some(bytes) = read(&mut reader) {
        let head = String::from_utf8_lossy(&bytes).into_owned();
        all.lock()
            .expect("nobody panics holding it")
            .push(Heard { connection, bytes });
        let found = answers.iter().find(|answer| head.contains(&answer.when));
        let text = found.map_or(USUAL, |answer| &answer.text);
        let then = found.map_or(Then::Stay, |answer| answer.then);
        let text = text.replace("{port}", &port.to_string());
        let cut = match head.starts_with("HEAD ") {
            true => text.find("\r\n\r\n").map_or(text.len(), |end| end + 4),
            false => text.len(),
        };
        let sent = reader.get_mut().write_all(&text.as_bytes()[..cut]);
        if then == Then::Reset {
            break_off(reader.get_ref());
        }
        if then == Then::Hang {
            // Until the far end closes.
            let _ = reader.fill_buf();
        }
        if sent.is_err() || then != Then::Stay || text.contains("Connection: close") {
            return;
        }
    }
}

/// Closing it will send a reset.
fn break_off(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    socket
        .set_linger(Some(Duration::ZERO))
        .expect("a connection can linger");
}

/// A port on which TLS does not come about, as long as the test program lives.
pub fn secure_port(greeted: Greeted) -> u16 {
    /// `handshake_failure`, RFC 8446, 6.
    const ALERT: &[u8] = &[0x15, 3, 3, 0, 2, 2, 40];
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            // The whole greeting, so that closing does not reset the connection.
            let greeting = reader.fill_buf().map_or(0, <[u8]>::len);
            reader.consume(greeting);
            match greeted {
                Greeted::Close => {}
                Greeted::Reset => break_off(reader.get_ref()),
                Greeted::Alert => {
                    let _ = reader.get_mut().write_all(ALERT);
                    // Until the far end has read it.
                    let _ = reader.fill_buf();
                }
            }
        }
    });
    port
}

/// A port on which nobody listens.
pub fn silent_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    listener.local_addr().expect("it is bound").port()
}

/// A port that answers no further attempt to connect, as long as what comes with it lives.
pub fn full_port() -> (u16, Vec<socket2::Socket>) {
    let listener = stream_socket();
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    listener.bind(&any.into()).expect("loopback has ports");
    listener.listen(0).expect("it listens");
    let address = listener.local_addr().expect("it is bound");
    let mut held = vec![listener];
    for _ in 0..4 {
        let waiting = stream_socket();
        waiting.set_nonblocking(true).expect("it need not wait");
        // Under way or not: it stands in the queue.
        let _ = waiting.connect(&address);
        held.push(waiting);
    }
    let port = address.as_socket().map_or(0, |address| address.port());
    (port, held)
}

fn stream_socket() -> socket2::Socket {
    socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket")
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
