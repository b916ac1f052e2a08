//! A far end that does what a script says, written without the workload's own server.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sokudo_load_network::rr::protocol::{Header, MessageKind};
use sokudo_workload::consent::{self, Door};

/// Action on one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Act {
    /// Answer when it has been held for so long.
    Answer(Duration),
    /// Never answer, and keep the connection.
    Silence,
    /// Close the connection.
    Close,
    /// Close the own direction only, and go on reading.
    HalfClose,
    /// Close the connection so that the peer's kernel gets a reset.
    Reset,
    /// Answer with these bytes instead.
    Garbage([u8; 64]),
}

/// A far end on a port of its own; ends with its callers.
pub struct FarEnd {
    pub address: SocketAddr,
    /// Time for which each request was really held.
    held: Arc<Mutex<Vec<Duration>>>,
}

/// Action of a script on a request, by its number.
pub trait Script: Fn(u64) -> Act + Send + Sync + 'static {}
impl<S: Fn(u64) -> Act + Send + Sync + 'static> Script for S {}

/// The secrets that the plans of these tests give their flows.
fn ticket_of(flow: u32) -> Option<u64> {
    Some(u64::from(flow) + 1)
}

/// Starts one for connections that stay; requests are counted over each connection. The first one
/// of a flow proves it, others show its ticket.
pub fn start(script: impl Script) -> FarEnd {
    streams(move |caller, held| {
        let shown = match proves(caller) {
            true => consent::answer(caller, ticket_of).is_ok(),
            false => caller.read_exact(&mut [0u8; 8]).is_ok(),
        };
        if shown {
            serve(caller, &script, held);
        }
    })
}

/// True when the caller begins with a proof.
fn proves(caller: &TcpStream) -> bool {
    let mut first = [0u8; 1];
    caller.peek(&mut first).is_ok_and(|count| count == 1) && first == *b"s"
}

/// Starts one for a connection per request; requests are counted over all connections.
pub fn start_per_request(script: impl Script) -> FarEnd {
    let asked = AtomicU64::new(0);
    let script = move |_| script(asked.fetch_add(1, Ordering::Relaxed));
    streams(move |caller, held| match proves(caller) {
        true => drop(consent::answer(caller, ticket_of)),
        false => serve(caller, &script, held),
    })
}

/// Starts one for any use of a byte stream; `talk` gets one caller.
pub fn streams(
    talk: impl Fn(&mut TcpStream, &Mutex<Vec<Duration>>) + Send + Sync + 'static,
) -> FarEnd {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback address");
    let address = listener.local_addr().expect("a bound port");
    let held: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let (talk, kept) = (Arc::new(talk), Arc::clone(&held));
    std::thread::spawn(move || {
        for mut caller in listener.incoming().flatten() {
            let (talk, kept) = (Arc::clone(&talk), Arc::clone(&kept));
            let _ = caller.set_nodelay(true);
            std::thread::spawn(move || talk(&mut caller, &kept));
        }
    });
    FarEnd { address, held }
}

/// Starts one for datagrams; what it does not answer it drops.
pub fn start_datagrams(script: impl Script) -> FarEnd {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port of the loopback address");
    let address = socket.local_addr().expect("a bound port");
    let held: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let kept = Arc::clone(&held);
    std::thread::spawn(move || {
        let mut request = [0u8; 64];
        let mut door = Door::new([(0, 1, u32::MAX)]).expect("random numbers");
        let mut number = 0;
        while let Ok((count, caller)) = socket.recv_from(&mut request) {
            let arrived = Instant::now();
            if let Some(proof) = door.answer(&request[..count], caller) {
                let _ = socket.send_to(&proof, caller);
            }
            let Some(header) = Header::read(MessageKind::Request, &request) else {
                continue;
            };
            let mut answer = [0u8; 64];
            number += 1;
            if let Act::Answer(delay) = script(number - 1) {
                hold(arrived, delay);
                header.write(MessageKind::Response, &mut answer);
                let took = arrived.elapsed();
                kept.lock().expect("no holder panics").push(took);
                let _ = socket.send_to(&answer, caller);
            }
        }
    });
    FarEnd { address, held }
}

/// Waits until `delay` has passed since `arrived`.
fn hold(arrived: Instant, delay: Duration) {
    while let Some(left) = delay.checked_sub(arrived.elapsed()) {
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left);
    }
}

impl FarEnd {
    /// Time for which each request was really held so far.
    pub fn held(&self) -> Vec<Duration> {
        self.held.lock().expect("no holder panics").clone()
    }
}

fn serve(caller: &mut TcpStream, script: &dyn Fn(u64) -> Act, held: &Mutex<Vec<Duration>>) {
    let mut request = [0u8; 64];
    for number in 0.. {
        if caller.read_exact(&mut request).is_err() {
            return;
        }
        let arrived = Instant::now();
        let Some(header) = Header::read(MessageKind::Request, &request) else {
            return;
        };
        let mut answer = [0u8; 64];
        match script(number) {
            Act::Answer(delay) => {
                hold(arrived, delay);
                header.write(MessageKind::Response, &mut answer);
            }
            Act::Silence => return until_it_hangs_up(caller),
            Act::HalfClose => {
                let _ = caller.shutdown(Shutdown::Write);
                return until_it_hangs_up(caller);
            }
            Act::Close => return,
            Act::Reset => {
                let linger = socket2::SockRef::from(&*caller).set_linger(Some(Duration::ZERO));
                linger.expect("a socket takes its linger time");
                return;
            }
            Act::Garbage(bytes) => answer = bytes,
        }
        held.lock()
            .expect("no holder panics")
            .push(arrived.elapsed());
        if caller.write_all(&answer).is_err() {
            return;
        }
    }
}

/// Reads and says nothing.
pub fn until_it_hangs_up(caller: &mut TcpStream) {
    let mut bytes = [0u8; 64];
    while matches!(caller.read(&mut bytes), Ok(n) if n > 0) {}
}
