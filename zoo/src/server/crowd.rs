//! Sends datagrams at a rate to a host that expects none: traffic of others on a link.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use super::Manner;

/// Payload of each datagram.
const PAYLOAD_BYTES: usize = 1200;
/// Headers of Ethernet, IP and UDP.
const HEADER_BYTES: usize = 42;
/// Port that nothing listens on (discard, RFC 863).
const PORT: u16 = 9;

/// Sends to the host of `listen` until the process ends.
pub fn serve(listen: SocketAddr, manner: &Manner) -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    println!("serving on {}", socket.local_addr()?);
    let to = SocketAddr::new(listen.ip(), PORT);
    let bits = 8.0 * (PAYLOAD_BYTES + HEADER_BYTES) as f64;
    let pause = Duration::from_secs_f64(bits / (manner.number("crowd") * 1e6));
    let mut due = Instant::now();
    loop {
        // Who is behind sends what is due at once, as a burst of a busy program does.
        due = (due + pause).max(Instant::now() - Duration::from_millis(50));
        thread::sleep(due.saturating_duration_since(Instant::now()));
        // Refused by a host that has no such port, which is what is expected.
        let _ = socket.send_to(&[0; PAYLOAD_BYTES], to);
    }
}
