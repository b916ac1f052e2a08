//! A web server with a fault: a thread for each connection, HTTP/1.1 with bodies of a known length.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use super::Manner;
use super::gate::Gate;
use super::tls;

/// Longest request.
const REQUEST_MAX_BYTES: usize = 4 << 20;
/// Bytes of a line in the log: a pipe holds some hundred of them.
const LOG_LINE_BYTES: usize = 200;
/// Pieces in which a body is sent slowly.
const PIECES: usize = 10;

/// State that all connections share.
struct Server {
    manner: Manner,
    open: Gate,
    workers: Gate,
    pool: Gate,
    lock: Mutex<()>,
    /// Taken by requests for reading, and by pauses for writing.
    going: RwLock<()>,
    allowance: Mutex<Allowance>,
    /// Time of the next turn.
    turn: Mutex<Instant>,
    number: AtomicU64,
    body: Vec<u8>,
    log: Option<Mutex<io::PipeWriter>>,
}

/// Requests that may still be answered, refilled over time.
struct Allowance {
    left: f64,
    at: Instant,
}

/// Serves until the process ends.
pub fn serve(listen: SocketAddr, manner: Manner) -> io::Result<()> {
    let listener = TcpListener::bind(listen)?;
    if manner.is("backlog") {
        rustix::net::listen(&listener, manner.count("backlog") as i32)?;
    }
    let tls = manner.is("tls").then(tls::Server::new).transpose()?;
    let server = Arc::new(Server::new(manner));
    if server.manner.is("pause_ms") {
        let server = Arc::clone(&server);
        thread::spawn(move || server.pause_again_and_again());
    }
    println!("serving on {}", listener.local_addr()?);
    loop {
        thread::sleep(server.manner.time_ms("accept_ms"));
        let Ok((stream, _)) = listener.accept() else {
            // No descriptor is left, which is a fault that a world may want.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let (server, tls) = (Arc::clone(&server), tls.clone());
        let named = thread::Builder::new().name("answers".into());
        // Without another thread the connection is closed.
        let _ = named.spawn(move || server.talk(stream, tls));
    }
}

impl Server {
    fn new(manner: Manner) -> Self {
        let log = manner.is("log_kb").then(|| log(manner.number("log_kb")));
        Self {
            log: log.map(Mutex::new),
            open: Gate::new(manner.count("connections")),
            workers: Gate::new(manner.count("workers")),
            pool: Gate::new(manner.count("pool")),
            lock: Mutex::new(()),
            going: RwLock::new(()),
            allowance: Mutex::new(Allowance {
                left: 0.0,
                at: Instant::now(),
            }),
            turn: Mutex::new(Instant::now()),
            number: AtomicU64::new(0),
            body: vec![b'x'; manner.count("body").max(2)],
            manner,
        }
    }

    fn pause_again_and_again(&self) {
        loop {
            thread::sleep(self.manner.time_ms("pause_every_ms"));
            let _nobody_goes_on = self.going.write();
            thread::sleep(self.manner.time_ms("pause_ms"));
        }
    }

    fn talk(&self, stream: TcpStream, tls: Option<tls::Server>) {
        let Some(_place) = self.open.try_enter() else {
            // Closed with a request unread: the kernel answers it with a reset.
            thread::sleep(Duration::from_millis(2));
            return;
        };
        let _ = stream.set_nodelay(!self.manner.is("nagle"));
        // The other end leaves, or breaks the protocol: the connection is over.
        let _ = match tls {
            Some(tls) => tls
                .accept(stream)
                .and_then(|mut stream| self.answer(&mut stream)),
            None => self.answer(&mut &stream),
        };
    }

    fn answer(&self, stream: &mut (impl Read + Write)) -> io::Result<()> {
        let mut buffer = Vec::new();
        while read_request(stream, &mut buffer, self.manner.number("take_kb"))? {
            let status = self.work();
            let is_whole = self.respond(stream, status)?;
            if self.manner.is("close") || !is_whole {
                break;
            }
        }
        Ok(())
    }

    /// Does what a request takes, and says with which status it ends.
    fn work(&self) -> &'static str {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let manner = &self.manner;
        if manner.is("rate") && !self.is_allowed() {
            return "429 Too Many Requests";
        }
        if self.is_turn(number, "fail") {
            return self.error();
        }
        if manner.is("pace") {
            self.wait_for_turn();
        }
        let _worker = self.workers.enter();
        let _going = self.going.read();
        if manner.is("slow_ms") && number.is_multiple_of(manner.count("slow_one_in").max(1) as u64)
        {
            thread::sleep(manner.time_ms("slow_ms"));
        }
        if manner.is("lock_ms") {
            let _lock = self.lock.lock();
            thread::sleep(manner.time_ms("lock_ms"));
        }
        if manner.is("hold_ms") {
            let _connection = self.pool.enter();
            thread::sleep(manner.time_ms("hold_ms"));
        }
        if manner.is("cpu_us") {
            let until = Instant::now() + Duration::from_secs_f64(manner.number("cpu_us") / 1e6);
            while Instant::now() < until {
                std::hint::spin_loop();
            }
        }
        if manner.is("think_ms") {
            thread::sleep(manner.time_ms("think_ms"));
        }
        if manner.is("varied_ms") {
            thread::sleep(manner.time_ms("varied_ms").mul_f64(exponential(number)));
        }
        if let Some(log) = &self.log {
            let line = format!("{number:0width$}\n", width = LOG_LINE_BYTES - 1);
            // Its taker lives as long as this process.
            let _ = log
                .lock()
                .expect("nobody panics holding it")
                .write_all(line.as_bytes());
        }
        "200 OK"
    }

    /// Status line of an error.
    fn error(&self) -> &'static str {
        match self.manner.count("status") {
            404 => "404 Not Found",
            500 => "500 Internal Server Error",
            502 => "502 Bad Gateway",
            _ => "503 Service Unavailable",
        }
    }

    /// Lets requests go on one by one, so many a second.
    fn wait_for_turn(&self) {
        let own = {
            let mut turn = self.turn.lock().expect("nobody panics holding it");
            let own = (*turn).max(Instant::now());
            *turn = own + Duration::from_secs_f64(1.0 / self.manner.number("pace"));
            own
        };
        thread::sleep(own.saturating_duration_since(Instant::now()));
    }

    /// Spreads a share evenly: it is the n-th's turn when the share of n grows by one there.
    fn is_turn(&self, number: u64, word: &str) -> bool {
        let before = |n: u64| (n as f64 * self.manner.number(word)).floor();
        before(number + 1) > before(number)
    }

    /// True while the rate is kept; a tenth of a second's requests may come at once.
    fn is_allowed(&self) -> bool {
        let rate = self.manner.number("rate");
        let mut allowance = self.allowance.lock().expect("nobody panics holding it");
        let now = Instant::now();
        let gained = now.duration_since(allowance.at).as_secs_f64() * rate;
        allowance.left = (allowance.left + gained).min((rate / 10.0).max(1.0));
        allowance.at = now;
        let is_allowed = allowance.left >= 1.0;
        allowance.left -= if is_allowed { 1.0 } else { 0.0 };
        is_allowed
    }

    /// Sends a response; false where it ended in the middle.
    fn respond(&self, stream: &mut impl Write, status: &str) -> io::Result<bool> {
        let body = if status.starts_with("200") {
            &self.body[..]
        } else {
            b"no"
        };
        let close = if self.manner.is("close") {
            "Connection: close\r\n"
        } else {
            ""
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{close}{}\r\n",
            body.len(),
            cookies(self.manner.count("cookies_kb"))
        );
        let number = self.number.load(Ordering::Relaxed);
        if self.is_turn(number, "cut") {
            let part = &body[..body.len() / 2];
            stream.write_all(&[head.as_bytes(), part].concat())?;
            return Ok(false);
        }
        let is_whole = !self.manner.is("drip_ms") && !self.manner.is("nagle");
        if is_whole {
            stream.write_all(&[head.as_bytes(), body].concat())?;
            return Ok(true);
        }
        stream.write_all(head.as_bytes())?;
        if !self.manner.is("drip_ms") {
            stream.write_all(body)?;
            return Ok(true);
        }
        for piece in body.chunks(body.len().div_ceil(PIECES)) {
            thread::sleep(self.manner.time_ms("drip_ms") / PIECES as u32);
            stream.write_all(piece)?;
        }
        Ok(true)
    }
}

/// Lines of a head that set so many cookies of a thousand bytes each.
fn cookies(n: usize) -> String {
    let cookie = |i| format!("Set-Cookie: c{i}={:x<980}\r\n", "");
    (0..n).map(cookie).collect()
}

/// A pipe of which somebody takes so many thousand bytes per second, a little at a time.
fn log(taken_kb: f64) -> io::PipeWriter {
    let (mut taken, log) = io::pipe().expect("a process may have a pipe");
    thread::spawn(move || {
        let mut portion = [0; LOG_LINE_BYTES];
        while taken.read_exact(&mut portion).is_ok() {
            thread::sleep(Duration::from_secs_f64(
                LOG_LINE_BYTES as f64 / (taken_kb * 1e3),
            ));
        }
    });
    log
}

/// A number of mean 1 whose distribution is exponential, drawn for the n-th request (splitmix64).
fn exponential(n: u64) -> f64 {
    let mut bits = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let uniform = ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
    -(1.0 - uniform).ln()
}

/// Reads to the end of a request, so many thousand bytes per second or, with 0, at once; false when the other end
/// has left.
fn read_request(stream: &mut impl Read, buffer: &mut Vec<u8>, take_kb: f64) -> io::Result<bool> {
    let mut portion = [0; 4096];
    loop {
        let head = buffer.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = head.map(|at| at + 4 + body_bytes(&buffer[..at]))
            && buffer.len() >= end
        {
            buffer.drain(..end);
            return Ok(true);
        }
        if buffer.len() > REQUEST_MAX_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match stream.read(&mut portion)? {
            0 => return Ok(false),
            n => {
                buffer.extend_from_slice(&portion[..n]);
                if take_kb > 0.0 {
                    thread::sleep(Duration::from_secs_f64(n as f64 / (take_kb * 1e3)));
                }
            }
        }
    }
}

/// Length of the body that a head announces.
fn body_bytes(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut lines = head.lines();
    let length = lines.find_map(|line| line.strip_prefix("content-length:"));
    length
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_times_have_the_mean_and_the_spread_of_an_exponential_distribution() {
        let drawn: Vec<f64> = (0..10_000).map(exponential).collect();
        let mean = drawn.iter().sum::<f64>() / 10_000.0;
        let above = drawn.iter().filter(|one| **one > 2.0).count() as f64 / 10_000.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        assert!((above - (-2.0_f64).exp()).abs() < 0.02, "{above}");
    }

    #[test]
    fn requests_end_where_their_heads_do() {
        let requests = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\n\
                        POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET";
        let mut stream = requests.as_bytes();
        let mut buffer = Vec::new();
        assert!(read_request(&mut stream, &mut buffer, 0.0).expect("a request"));
        assert!(read_request(&mut stream, &mut buffer, 0.0).expect("one with a body"));
        assert!(read_request(&mut stream, &mut buffer, 0.0).expect("another"));
        assert!(!read_request(&mut stream, &mut buffer, 0.0).expect("the end"));
    }

    #[test]
    fn a_share_of_requests_fails() {
        let words = ["listen=127.0.0.1".to_owned(), "fail=0.25".to_owned()];
        let (_, manner) = Manner::parse(&words).expect("a manner");
        let server = Server::new(manner);
        let failed = (0..100)
            .filter(|_| server.work().starts_with("503"))
            .count();
        assert_eq!(failed, 25);
    }
}
