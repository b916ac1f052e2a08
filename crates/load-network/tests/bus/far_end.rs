//! A far end that does what a script says, written without the workload's own server.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sokudo_load_network::bus::protocol::{FrameKind, HEADER_BYTES, Header};
use sokudo_workload::consent;

/// Action on one message.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Answer when it has been held for so long, if an answer is wanted, and send a receipt.
    Answer(Duration),
    /// Read it, and say nothing.
    Swallow,
    /// Read nothing any more, and keep the connection.
    StandStill,
    /// Close the connection.
    Close,
    /// Send nothing any more, but go on reading.
    HalfClose,
    /// Close the connection so that the peer's kernel gets a reset.
    Reset,
    /// Send these bytes instead.
    Garbage([u8; HEADER_BYTES]),
    /// Send a receipt for more than was sent.
    Overstate,
}

/// Observations of a far end.
#[derive(Debug, Default)]
pub struct Seen {
    /// Time for which each message was really held.
    pub held: Vec<Duration>,
    pub messages: u64,
    pub bytes: u64,
    /// Connections that nobody reads any more, open as long as the far end.
    pub kept: Vec<TcpStream>,
}

/// A far end on a port of its own; ends with its callers.
pub struct FarEnd {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

/// Starts one: `script` gets the number of the message, counted over the connection.
pub fn start(script: impl Fn(u64) -> Act + Send + Sync + 'static) -> FarEnd {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback address");
    let address = listener.local_addr().expect("a bound port");
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let (script, kept) = (Arc::new(script), Arc::clone(&seen));
    std::thread::spawn(move || {
        for caller in listener.incoming().flatten() {
            let (script, kept) = (Arc::clone(&script), Arc::clone(&kept));
            std::thread::spawn(move || serve(caller, &*script, &kept));
        }
    });
    FarEnd { address, seen }
}

impl FarEnd {
    /// Observations so far.
    pub fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().expect("no holder panics")
    }
}

fn serve(mut caller: TcpStream, script: &dyn Fn(u64) -> Act, seen: &Mutex<Seen>) {
    let _ = caller.set_nodelay(true);
    let ticket_of = |flow| Some(u64::from(flow) + 1);
    if consent::answer(&mut caller, ticket_of).is_err() {
        return;
    }
    let mut taken_bytes = 0;
    for number in 0.. {
        let Some((header, payload)) = message(&mut caller) else {
            return;
        };
        let arrived = Instant::now();
        taken_bytes += u64::from(header.length);
        {
            let mut seen = seen.lock().expect("no holder panics");
            seen.messages += 1;
            seen.bytes += u64::from(header.length);
        }
        let receipt = |messages: u64, bytes: u64| Header {
            length: HEADER_BYTES as u32,
            kind: FrameKind::Receipt,
            flags: 0,
            number: messages,
            stamp: bytes,
        };
        let mut back = vec![0; HEADER_BYTES];
        match script(number) {
            Act::Answer(delay) => {
                hold(arrived, delay);
                receipt(number + 1, taken_bytes).write(&mut back);
                if header.wants_answer() {
                    let response = Header {
                        kind: FrameKind::Response,
                        ..header
                    };
                    let at = back.len();
                    back.resize(at + HEADER_BYTES, 0);
                    response.write(&mut back[at..]);
                    back.extend(payload);
                }
                let mut seen = seen.lock().expect("no holder panics");
                seen.held.push(arrived.elapsed());
            }
            Act::Swallow => continue,
            Act::StandStill => {
                let mut seen = seen.lock().expect("no holder panics");
                return seen.kept.push(caller);
            }
            Act::Close => return,
            Act::HalfClose => {
                let _ = caller.shutdown(Shutdown::Write);
                continue;
            }
            Act::Reset => {
                let linger = socket2::SockRef::from(&caller).set_linger(Some(Duration::ZERO));
                linger.expect("a socket takes its linger time");
                return;
            }
            Act::Garbage(bytes) => back = bytes.to_vec(),
            Act::Overstate => receipt(number + 1000, taken_bytes).write(&mut back),
        }
        if caller.write_all(&back).is_err() {
            return;
        }
    }
}

/// One message: its header and payload.
fn message(caller: &mut TcpStream) -> Option<(Header, Vec<u8>)> {
    let mut head = [0u8; HEADER_BYTES];
    caller.read_exact(&mut head).ok()?;
    let header = Header::read(&head).ok()?;
    let mut payload = vec![0; header.length as usize - HEADER_BYTES];
    caller.read_exact(&mut payload).ok()?;
    Some((header, payload))
}

fn hold(arrived: Instant, delay: Duration) {
    while let Some(left) = delay.checked_sub(arrived.elapsed()) {
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left);
    }
}
