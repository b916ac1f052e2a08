//! Tests of visitors that come in numbers, and never end the handshake that they begin.

use std::collections::HashMap;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use super::*;

/// The longest datagram of loopback.
const DATAGRAM: usize = 65_536;
/// The four bits with which packets of QUIC version 1 begin (RFC 9000 §17.2).
const INITIAL: u8 = 0xC0;
const RETRY: u8 = 0xF0;

fn kind(packet: &[u8]) -> u8 {
    packet.first().copied().unwrap_or(0) & 0xF0
}

/// A beginning of a connection of QUIC version 1 as far as one can see without its keys.
fn forged(number: u32) -> Vec<u8> {
    let mut packet: Vec<u8> = (0..1200u32)
        .map(|at| (number.wrapping_mul(0x9E37_79B9) ^ at.wrapping_mul(0x85EB_CA6B)) as u8)
        .collect();
    packet[..6].copy_from_slice(&[INITIAL | 3, 0, 0, 0, 1, 8]);
    packet[6..14].copy_from_slice(&u64::from(number).to_be_bytes());
    // The other side's identity, of 8 bytes, and no token; what follows takes the rest.
    (packet[14], packet[23]) = (8, 0);
    packet[24..26].copy_from_slice(&0x4000u16.wrapping_add(1200 - 26).to_be_bytes());
    packet
}

/// Carries what visitors say to a router, but the beginnings of connections only; of its answers it lets
/// through the wish for an address. So handshakes begin, and their other end falls silent.
struct Silencer {
    place: String,
    begun: Arc<AtomicUsize>,
    _end: Sender<()>,
}

impl Silencer {
    fn before(lab: &Lab) -> Self {
        let socket = UdpSocket::bind((lab.address, 0)).unwrap();
        let place = socket.local_addr().unwrap().to_string();
        let (end, ended) = mpsc::channel::<()>();
        let begun = Arc::new(AtomicUsize::new(0));
        let (router, counted) = (lab.router(), Arc::clone(&begun));
        thread::spawn(move || {
            let mut ways: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
            let mut packet = vec![0; DATAGRAM];
            let look = Some(Duration::from_millis(100));
            socket.set_read_timeout(look).unwrap();
            while ended.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                let Ok((length, from)) = socket.recv_from(&mut packet) else {
                    continue;
                };
                if kind(&packet) != INITIAL {
                    continue;
                }
                let way = ways.entry(from).or_insert_with(|| {
                    counted.fetch_add(1, Ordering::AcqRel);
                    back(&socket, &router, from)
                });
                let _ = way.send(&packet[..length]);
            }
        });
        Self {
            place,
            begun,
            _end: end,
        }
    }
}

/// A socket towards the router whose answers go `to` a visitor. Its thread ends with the socket's silence.
fn back(socket: &UdpSocket, router: &str, to: SocketAddr) -> Arc<UdpSocket> {
    let way = UdpSocket::bind((to.ip(), 0)).unwrap();
    way.connect(router).unwrap();
    way.set_read_timeout(Some(BOUND)).unwrap();
    let way = Arc::new(way);
    let (answers, visitor) = (Arc::clone(&way), socket.try_clone().unwrap());
    thread::spawn(move || {
        let mut packet = vec![0; DATAGRAM];
        while let Ok(length) = answers.recv(&mut packet) {
            if kind(&packet) == RETRY {
                let _ = visitor.send_to(&packet[..length], to);
            }
        }
    });
    way
}

/// Waits until as many visitors as `wanted` have begun.
fn begin(silencer: &Silencer, wanted: usize) {
    let deadline = Instant::now() + BOUND;
    while silencer.begun.load(Ordering::Acquire) < wanted {
        assert!(Instant::now() < deadline, "nobody comes");
        thread::yield_now();
    }
}

/// An agent that comes on a thread of its own: serving waits without bound for a door that does not open.
fn comes(lab: &Lab, name: &str, alive: &Alive) {
    let (member, alive) = (lab.member(name), alive.clone());
    thread::spawn(move || {
        let _serving = serve(member, &alive);
        loop {
            thread::park();
        }
    });
}

/// Packets that look like the beginning of a connection cost their sender nothing.
#[test]
fn a_flood_of_forged_beginnings_keeps_nobody_out() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let _a = lab.agent("a", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let socket = UdpSocket::bind((lab.address, 0)).unwrap();
    for number in 0..20_000 {
        // What the router has no room for is lost, as in any flood.
        let _ = socket.send_to(&forged(number), lab.router());
        if number % 20 == 0 {
            thread::sleep(Duration::from_micros(500));
        }
    }
    comes(&lab, "b", &alive);
    sees(&fleet, &["a", "b"]);
}

/// Visitors who say the first word of a handshake and then nothing wait beside the others.
#[test]
fn visitors_that_fall_silent_keep_nobody_out() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let fleet = lab.fleet();
    let silencer = Silencer::before(&lab);
    for number in 0..8 {
        let mut member = lab.member(&format!("silent{number}"));
        member.admission.routers = vec![silencer.place.clone()];
        let alive = alive.clone();
        // It waits for an answer for as long as this process lives.
        thread::spawn(move || serve(member, &alive));
    }
    begin(&silencer, 8);
    comes(&lab, "a", &alive);
    sees(&fleet, &["a"]);
}
