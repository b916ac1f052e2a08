//! A name server that answers by script, over UDP and TCP at the same port number.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Action of the script on a query.
pub enum Says {
    /// Answers with these flags and so many records.
    Answer(u16, u16),
    /// Sends these messages, in place of an answer.
    Messages(Vec<Vec<u8>>),
    /// Closes the connection; over UDP, says nothing.
    HangUp,
    /// Says nothing.
    Silence,
}

/// No error; recursion was wanted and is offered.
pub const OK: u16 = 0x8180;

/// A running server. Its threads end with the test's process.
pub struct Place {
    pub address: SocketAddr,
    /// Queries that came.
    pub came: Arc<AtomicUsize>,
}

/// Starts a server whose `script` gets the number of a query, over all sockets, and the query.
pub fn serve(script: impl Fn(usize, &[u8]) -> Says + Send + Sync + 'static) -> Place {
    let (udp, tcp, address) = sockets();
    let came = Arc::new(AtomicUsize::new(0));
    let script = Arc::new(script);
    let (say, count) = (Arc::clone(&script), Arc::clone(&came));
    thread::spawn(move || {
        let mut room = [0; 4096];
        while let Ok((bytes, from)) = udp.recv_from(&mut room) {
            let query = &room[..bytes];
            for message in
                says(say(count.fetch_add(1, Ordering::Relaxed), query), query).unwrap_or_default()
            {
                // The asking end may be gone.
                let _ = udp.send_to(&message, from);
            }
        }
    });
    let count = Arc::clone(&came);
    thread::spawn(move || {
        for mut stream in tcp.incoming().flatten() {
            let (say, count) = (Arc::clone(&script), Arc::clone(&count));
            thread::spawn(move || {
                let mut length = [0; 2];
                while stream.read_exact(&mut length).is_ok() {
                    let mut query = vec![0; u16::from_be_bytes(length).into()];
                    if stream.read_exact(&mut query).is_err() {
                        return;
                    }
                    let said = say(count.fetch_add(1, Ordering::Relaxed), &query);
                    let Some(messages) = says(said, &query) else {
                        return;
                    };
                    for message in messages {
                        let length = (message.len() as u16).to_be_bytes();
                        if stream
                            .write_all(&[&length, message.as_slice()].concat())
                            .is_err()
                        {
                            return;
                        }
                    }
                }
            });
        }
    });
    Place { address, came }
}

/// The messages of a script; `None` hangs up.
fn says(said: Says, query: &[u8]) -> Option<Vec<Vec<u8>>> {
    match said {
        Says::Answer(flags, records) => Some(vec![answer(query, flags, records)]),
        Says::Messages(messages) => Some(messages),
        Says::HangUp => None,
        Says::Silence => Some(Vec::new()),
    }
}

/// An answer that repeats the query, whose records are told only.
pub fn answer(query: &[u8], flags: u16, records: u16) -> Vec<u8> {
    let mut message = query.to_vec();
    message[2..4].copy_from_slice(&flags.to_be_bytes());
    message[6..8].copy_from_slice(&records.to_be_bytes());
    message
}

/// The first label of the name that a query is for.
pub fn label(query: &[u8]) -> String {
    let length = usize::from(query[12]);
    String::from_utf8_lossy(&query[13..13 + length]).into_owned()
}

/// Both sockets at one port.
fn sockets() -> (UdpSocket, TcpListener, SocketAddr) {
    for _ in 0..100 {
        let udp = UdpSocket::bind(("127.0.0.1", 0)).expect("loopback has ports");
        let address = udp.local_addr().expect("it is bound");
        if let Ok(tcp) = TcpListener::bind(address) {
            return (udp, tcp, address);
        }
    }
    panic!("no port is free for both");
}
