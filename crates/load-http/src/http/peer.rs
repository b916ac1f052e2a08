//! The server of `http` when the far end is a host of the run.
//!
//! ```text
//! asking host                                  answering host
//!                                                listens, offers its port
//!   GET /<ticket> ─────────────────────────────►
//!   ◄──────────────────────── proof of the ticket   it agreed to be loaded, and only then:
//!   GET /<ticket> … ───────────────────────────►
//!   ◄────────────────────────────────────── 64 B   by one thread per connection
//! ```
//!
//! The server does nothing but answer: what is measured is the way, the sockets and the asking end.
//! It knows no ticket but those of its own phase; a connection without one is closed.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sokudo_model::{Refusal, Text};
use sokudo_workload::refusal::{failed, spawn};

/// Time between two looks of a waiting thread at the end of the phase.
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait for the other end's proof.
const PROOF_BOUND: Duration = Duration::from_secs(5);
/// Most callers at a time.
const MOST_CALLERS: usize = 256;
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
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Path of the requests that come with a ticket.
pub(super) fn path(ticket: u64) -> String {
    format!("/{ticket:016x}")
}

/// Proof that the answering host knows the ticket: a mix of its bits (SplitMix64, Steele et al.
/// 2014), 64 characters.
fn proof(ticket: u64) -> String {
    let mut text = String::with_capacity(64);
    let mut state = ticket;
    for _ in 0..4 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        text.push_str(&format!("{:016x}", mixed ^ (mixed >> 31)));
    }
    text
}

fn answer(ticket: u64) -> Vec<u8> {
    let body = proof(ticket);
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

impl Server {
    /// Listens at `address` and answers requests that carry one of the tickets.
    ///
    /// Errors: no port, no thread.
    pub fn start(address: SocketAddr, tickets: Vec<u64>) -> Result<Self, Refusal> {
        let cannot = |error: io::Error| {
            failed(
                Text::new("error-http-peer-unopened")
                    .with("address", address)
                    .with("error", error),
                None,
            )
        };
        let listener = TcpListener::bind(address).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let over = Arc::new(AtomicBool::new(false));
        let answers: Vec<(String, Vec<u8>)> = tickets
            .into_iter()
            .map(|ticket| (format!("GET {} ", path(ticket)), answer(ticket)))
            .collect();
        let (seen, answers) = (Arc::clone(&over), Arc::new(answers));
        let thread = spawn("web server", move || serve(&listener, &answers, &seen))?;
        Ok(Self {
            port,
            over,
            thread: Some(thread),
        })
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

type Answers = Arc<Vec<(String, Vec<u8>)>>;

fn serve(listener: &TcpListener, answers: &Answers, over: &Arc<AtomicBool>) {
    let callers = Arc::new(AtomicUsize::new(0));
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) if callers.load(Ordering::Relaxed) < MOST_CALLERS => {
                threads.retain(|thread| !thread.is_finished());
                callers.fetch_add(1, Ordering::Relaxed);
                let (answers, over, left) =
                    (Arc::clone(answers), Arc::clone(over), Arc::clone(&callers));
                let one = spawn("web answer", move || {
                    // A caller that fails sees it at its own end.
                    let _ = converse(stream, &answers, &over);
                    left.fetch_sub(1, Ordering::Relaxed);
                });
                threads.extend(one.ok());
            }
            // Too many callers: this one is hung up on.
            Ok(_) => {}
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    threads.into_iter().for_each(|thread| {
        let _ = thread.join();
    });
}

/// Answers one caller until it hangs up, brings no ticket, or the phase is over.
fn converse(mut stream: TcpStream, answers: &Answers, over: &AtomicBool) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK))?;
    stream.set_write_timeout(Some(PROOF_BOUND))?;
    let mut request = Vec::with_capacity(MOST_BYTES);
    let mut portion = [0; MOST_BYTES];
    while !over.load(Ordering::Relaxed) {
        match stream.read(&mut portion) {
            Ok(0) => return Ok(()),
            Ok(count) => request.extend_from_slice(&portion[..count]),
            Err(error) if is_silence(&error) => continue,
            Err(error) => return Err(error),
        }
        while let Some(end) = end_of_head(&request) {
            let brings = |(line, _): &&(String, Vec<u8>)| request.starts_with(line.as_bytes());
            let Some((_, answer)) = answers.iter().find(brings) else {
                return Ok(());
            };
            stream.write_all(answer)?;
            request.drain(..end);
        }
        if request.len() > MOST_BYTES {
            return Ok(());
        }
    }
    Ok(())
}

fn is_silence(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn end_of_head(request: &[u8]) -> Option<usize> {
    let at = request.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(at + 4)
}

/// Asks the other end for the proof that it agreed to be loaded.
///
/// Errors: no answer, or an answer of a server that does not know the ticket.
pub(super) fn must_agree(address: SocketAddr, ticket: u64) -> Result<(), Refusal> {
    let strange = |why: String| {
        failed(
            Text::new("error-http-peer-refused")
                .with("address", address)
                .with("why", why),
            Some(Text::new("error-http-peer-refused-hint")),
        )
    };
    let asked = || -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, PROOF_BOUND)?;
        stream.set_read_timeout(Some(PROOF_BOUND))?;
        stream.write_all(format!("GET {} HTTP/1.1\r\n\r\n", path(ticket)).as_bytes())?;
        let mut said = vec![0; answer(ticket).len()];
        stream.read_exact(&mut said)?;
        Ok(said)
    };
    match asked() {
        Ok(said) if said == answer(ticket) => Ok(()),
        Ok(_) => Err(strange("its answer proves nothing".into())),
        Err(error) => Err(strange(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(tickets: &[u64]) -> (Server, SocketAddr) {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::start(any, tickets.to_vec()).expect("loopback has ports");
        let address = SocketAddr::from(([127, 0, 0, 1], server.port));
        (server, address)
    }

    #[test]
    fn a_ticket_is_proven_and_others_are_hung_up_on() {
        let (_server, address) = server(&[7, 8]);
        assert_eq!(must_agree(address, 7), Ok(()));
        assert_eq!(must_agree(address, 8), Ok(()));
        assert!(must_agree(address, 9).is_err());
    }

    #[test]
    fn a_server_that_only_repeats_proves_nothing() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
        let address = listener.local_addr().expect("it is bound");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut portion = [0; 512];
                let count = stream.read(&mut portion).unwrap_or(0);
                // Long enough to be a whole answer.
                for _ in 0..8 {
                    let _ = stream.write_all(&portion[..count]);
                }
            }
        });
        assert!(must_agree(address, 7).is_err());
    }

    #[test]
    fn requests_behind_each_other_are_all_answered() {
        let (server, address) = server(&[7]);
        let mut stream = TcpStream::connect(address).expect("it listens");
        let one = format!("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", path(7));
        stream
            .write_all(one.repeat(3).as_bytes())
            .expect("it reads");
        let mut said = vec![0; 3 * answer(7).len()];
        stream.read_exact(&mut said).expect("it answers");
        assert_eq!(said, answer(7).repeat(3));
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
