//! The server of `http` when the far end is a host of the run.
//!
//! ```text
//! asking host                                  answering host
//!                                                listens, offers its port
//!   ◄──────────────────────────────────────────►   both prove the ticket ([`consent`]), and only then:
//!   GET /<ticket> … ───────────────────────────►
//!   ◄────────────────────────────────────── 64 B   by one thread per connection
//! ```
//!
//! The server does nothing but answer: what is measured is the way, the sockets and the asking end.
//! It knows no ticket but those of its own phase; a connection without one is closed.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sokudo_model::{Refusal, Text};
use sokudo_workload::consent;
use sokudo_workload::crowd::{Crowd, Place};
use sokudo_workload::limit::{Limit, Purse};
use sokudo_workload::link::is_silence;
use sokudo_workload::ports;
use sokudo_workload::refusal::{failed, spawn, unproven};

/// Time between two looks of a waiting thread at the end of the phase.
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait for the other end's proof.
const PROOF_BOUND: Duration = Duration::from_secs(5);
/// Most callers at a time. For another one a stranger is hung up on, where there is one.
const MOST_CALLERS: usize = 256;
/// Most threads: strangers that were hung up on take a moment to leave.
const MOST_THREADS: usize = 2 * MOST_CALLERS;
/// Most bytes of an answer, its head included.
pub(super) const ANSWER_BYTES: u64 = 192;
/// Bytes by which a request to a host of the run is longer than what the options say, at most: its path
/// is the ticket, its host an address with a port.
pub(super) const REQUEST_BYTES: u64 = 96;
/// Bytes of the body of each answer.
const BODY_BYTES: usize = 64;
/// Longest request that is read.
const MOST_BYTES: usize = 4096;

/// Offer of the answering host.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Offer {
    /// Port that it listens on.
    pub port: u16,
}

/// A server of a phase. Dropping it ends it and waits for its threads.
pub(super) struct Server {
    /// Its port.
    pub port: u16,
    served: Arc<Served>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Path of the requests that come with a ticket.
pub(super) fn path(ticket: u64) -> String {
    format!("/{ticket:016x}")
}

/// Answer to every request with the ticket.
fn answer() -> Vec<u8> {
    let body = "0".repeat(BODY_BYTES);
    let length = BODY_BYTES;
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

impl Server {
    /// Listens at `address` and answers requests that carry the ticket of one of these flows.
    ///
    /// Errors: no port, no thread.
    pub fn start(address: SocketAddr, tickets: Vec<(u32, u64)>) -> Result<Self, Refusal> {
        let refused = |error: &io::Error| {
            failed(
                Text::new("error-http-peer-unopened")
                    .with("address", address)
                    .with("error", error),
                None,
            )
        };
        let cannot = |error: io::Error| refused(&error);
        let listener = ports::listen(address, 1, TcpListener::bind, refused)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let over = Arc::new(AtomicBool::new(false));
        let (seen, served) = (Arc::clone(&over), Arc::new(Served::new(tickets)));
        let known = Arc::clone(&served);
        let thread = spawn("web server", move || serve(&listener, &known, &seen))?;
        Ok(Self {
            port,
            served,
            over,
            thread: Some(thread),
        })
    }
}

impl Server {
    /// Holds all callers together to a limit.
    pub fn hold_to(&self, limit: &Arc<Limit>) {
        // It is set once per phase.
        let _ = self.served.limit.set(Arc::clone(limit));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The result of a thread that panicked is missing.
            let _ = thread.join();
        }
    }
}

/// State of a server.
struct Served {
    tickets: Vec<(u32, u64)>,
    /// Beginnings of requests that bring one of the tickets.
    lines: Vec<String>,
    answer: Vec<u8>,
    limit: OnceLock<Arc<Limit>>,
}

impl Served {
    fn new(tickets: Vec<(u32, u64)>) -> Self {
        let line = |(_, ticket): &(u32, u64)| format!("GET {} ", path(*ticket));
        Self {
            lines: tickets.iter().map(line).collect(),
            tickets,
            answer: answer(),
            limit: OnceLock::new(),
        }
    }

    fn ticket_of(&self, asked: u32) -> Option<u64> {
        let found = self.tickets.iter().find(|(flow, _)| *flow == asked);
        found.map(|(_, ticket)| *ticket)
    }
}

fn serve(listener: &TcpListener, served: &Arc<Served>, over: &Arc<AtomicBool>) {
    let callers = Arc::new(AtomicUsize::new(0));
    // Those that have shown no ticket.
    let strangers = Arc::<Crowd>::default();
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, from)) => {
                let inside = callers.load(Ordering::Relaxed);
                let is_full = inside >= MOST_CALLERS && !strangers.hang_up_on_one();
                if is_full || inside >= MOST_THREADS {
                    // All belong to the flows, or are leaving: this one is hung up on.
                    continue;
                }
                threads.retain(|thread| !thread.is_finished());
                callers.fetch_add(1, Ordering::Relaxed);
                let stranger = strangers.add(Some(from.ip()), stream.try_clone().ok());
                let (served, over, left) =
                    (Arc::clone(served), Arc::clone(over), Arc::clone(&callers));
                let one = spawn("web answer", move || {
                    // A caller that fails sees it at its own end.
                    let _ = converse(stream, stranger, &served, &over);
                    left.fetch_sub(1, Ordering::Relaxed);
                });
                if one.is_err() {
                    callers.fetch_sub(1, Ordering::Relaxed);
                }
                threads.extend(one.ok());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    threads.into_iter().for_each(|thread| {
        let _ = thread.join();
    });
}

/// Answers one caller until it hangs up, brings no ticket, or the phase is over.
fn converse(
    mut stream: TcpStream,
    stranger: Place,
    served: &Served,
    over: &AtomicBool,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK))?;
    stream.set_write_timeout(Some(PROOF_BOUND))?;
    let mut request = Vec::with_capacity(MOST_BYTES);
    let mut portion = [0; MOST_BYTES];
    while !over.load(Ordering::Relaxed) {
        match stream.peek(&mut portion[..1]) {
            // No proof begins like a request.
            Ok(_) if portion[0] == b'G' => break,
            Ok(_) => return prove(stream, served),
            Err(error) if is_silence(&error) => {}
            Err(error) => return Err(error),
        }
    }
    // A ticket is known when the phase has been armed: the limit is there by then.
    let mut purse = Purse::new(served.limit.get());
    // What a stranger sends is not taken from what the flows were granted.
    let (mut stranger, mut unpaid) = (Some(stranger), 0);
    while !over.load(Ordering::Relaxed) {
        match stream.read(&mut portion) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                unpaid += count;
                request.extend_from_slice(&portion[..count]);
            }
            Err(error) if is_silence(&error) => continue,
            Err(error) => return Err(error),
        }
        while let Some(end) = end_of_head(&request) {
            let brings = |line: &String| request.starts_with(line.as_bytes());
            if !served.lines.iter().any(brings) {
                return Ok(());
            }
            drop(stranger.take());
            purse.received(std::mem::take(&mut unpaid))?;
            purse.events(1)?;
            purse.sent(served.answer.len())?;
            stream.write_all(&served.answer)?;
            request.drain(..end);
        }
        if request.len() > MOST_BYTES {
            return Ok(());
        }
    }
    Ok(())
}

fn prove(mut stream: TcpStream, served: &Served) -> io::Result<()> {
    stream.set_read_timeout(Some(PROOF_BOUND))?;
    consent::answer(&mut stream, |flow| served.ticket_of(flow)).map(drop)
}

fn end_of_head(request: &[u8]) -> Option<usize> {
    let at = request.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(at + 4)
}

/// Asks the other end for the proof that it agreed to be loaded.
///
/// Errors: no answer, or an answer of a server that does not know the ticket.
pub(super) fn must_agree(address: SocketAddr, flow: u32, ticket: u64) -> Result<(), Refusal> {
    let ask = || -> io::Result<()> {
        let mut stream = TcpStream::connect_timeout(&address, PROOF_BOUND)?;
        stream.set_read_timeout(Some(PROOF_BOUND))?;
        stream.set_write_timeout(Some(PROOF_BOUND))?;
        consent::ask(&mut stream, flow, ticket)
    };
    ask().map_err(|error| unproven(&address.to_string(), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(tickets: &[(u32, u64)]) -> (Server, SocketAddr) {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::start(any, tickets.to_vec()).expect("loopback has ports");
        let address = SocketAddr::from(([127, 0, 0, 1], server.port));
        (server, address)
    }

    #[test]
    fn a_ticket_is_proven_and_others_are_hung_up_on() {
        let (_server, address) = server(&[(0, 7), (1, 8)]);
        assert_eq!(must_agree(address, 0, 7), Ok(()));
        assert_eq!(must_agree(address, 1, 8), Ok(()));
        assert!(must_agree(address, 1, 7).is_err());
        assert!(must_agree(address, 0, 9).is_err());
    }

    #[test]
    fn a_server_that_only_repeats_proves_nothing_and_hears_no_ticket() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
        let address = listener.local_addr().expect("it is bound");
        let repeating = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("it is called");
            let (mut heard, mut portion) = (Vec::new(), [0; 512]);
            while let Ok(count @ 1..) = stream.read(&mut portion) {
                heard.extend_from_slice(&portion[..count]);
                let _ = stream.write_all(&portion[..count]);
            }
            heard
        });
        assert!(must_agree(address, 0, 7).is_err());
        let heard = repeating.join().expect("no panic");
        assert_eq!(heard.len(), consent::MESSAGE_BYTES);
        let ticket = path(7);
        assert!(
            !heard
                .windows(ticket.len())
                .any(|part| part == ticket.as_bytes())
        );
    }

    #[test]
    fn strangers_that_say_nothing_keep_nobody_out() {
        let (_server, address) = server(&[(0, 7)]);
        let strangers: Vec<TcpStream> = (0..MOST_CALLERS + 50)
            .map(|number| {
                let mut stream = TcpStream::connect(address).expect("it listens");
                let begin: &[u8] = [&b""[..], b"GET /", b"s"][number % 3];
                stream.write_all(begin).expect("it is there");
                stream
            })
            .collect();
        assert_eq!(must_agree(address, 0, 7), Ok(()));
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PROOF_BOUND)).expect("set");
        let request = format!("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", path(7));
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut said = vec![0; answer().len()];
        stream.read_exact(&mut said).expect("it answers");
        assert_eq!(said, answer());
        drop(strangers);
    }

    #[test]
    fn requests_behind_each_other_are_all_answered() {
        let (server, address) = server(&[(0, 7)]);
        let mut stream = TcpStream::connect(address).expect("it listens");
        let one = format!("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", path(7));
        stream
            .write_all(one.repeat(3).as_bytes())
            .expect("it reads");
        let mut said = vec![0; 3 * answer().len()];
        stream.read_exact(&mut said).expect("it answers");
        assert_eq!(said, answer().repeat(3));
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
