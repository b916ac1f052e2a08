//! A far end that does what a script says, written without the workload's own server.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sokudo_workloads::rr::protocol::{Header, Kind};

/// What happens to one request.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Answer when it has been held for so long.
    Answer(Duration),
    /// Never answer, and keep the connection.
    Silence,
    /// Close the connection.
    Close,
    /// Close the connection so that the peer's kernel gets a reset.
    Reset,
    /// Answer with these bytes instead.
    Garbage([u8; 64]),
}

/// A far end on a port of its own; ends with its callers.
pub struct FarEnd {
    pub address: SocketAddr,
    /// How long each request was really held.
    held: Arc<Mutex<Vec<Duration>>>,
}

/// Starts one: `script` gets the number of the request, counted over the connection.
pub fn start(script: impl Fn(u64) -> Act + Send + Sync + 'static) -> FarEnd {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback address");
    let address = listener.local_addr().expect("a bound port");
    let held: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let (script, kept) = (Arc::new(script), Arc::clone(&held));
    std::thread::spawn(move || {
        for caller in listener.incoming().flatten() {
            let (script, kept) = (Arc::clone(&script), Arc::clone(&kept));
            std::thread::spawn(move || serve(caller, &*script, &kept));
        }
    });
    FarEnd { address, held }
}

impl FarEnd {
    /// How long each request was really held so far.
    pub fn held(&self) -> Vec<Duration> {
        self.held.lock().expect("no holder panics").clone()
    }
}

fn serve(mut caller: TcpStream, script: &dyn Fn(u64) -> Act, held: &Mutex<Vec<Duration>>) {
    let _ = caller.set_nodelay(true);
    let mut ticket = [0u8; 8];
    if caller.read_exact(&mut ticket).is_err() {
        return;
    }
    let mut request = [0u8; 64];
    for number in 0.. {
        if caller.read_exact(&mut request).is_err() {
            return;
        }
        let arrived = Instant::now();
        let Some(header) = Header::read(Kind::Request, &request) else {
            return;
        };
        let mut answer = [0u8; 64];
        match script(number) {
            Act::Answer(delay) => {
                while let Some(left) = delay.checked_sub(arrived.elapsed()) {
                    if left.is_zero() {
                        break;
                    }
                    std::thread::sleep(left);
                }
                header.write(Kind::Response, &mut answer);
            }
            Act::Silence => loop {
                // Until the caller hangs up.
                if !matches!(caller.read(&mut request), Ok(n) if n > 0) {
                    return;
                }
            },
            Act::Close => return,
            Act::Reset => {
                let linger = socket2::SockRef::from(&caller).set_linger(Some(Duration::ZERO));
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
