//! Tests of conversations whose connections are cut.

mod common;

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use common::{BOUND, Seen, drain, number_in};
use sokudo_bus::direct::{Server, ServerPolicy, dial};
use sokudo_bus::{Bus, BusError, Link, Member, MemberId};
use sokudo_net::tls::{self, Received, Session, Trust};
use sokudo_testkit::cutter::Cutter;
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, Ask, Decoder, KeyId, MAX_MARKED, Mark, Note, PROTOCOL_VERSION, Reply, Ticket, framing,
};

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A server behind a relay, and what its handlers see.
struct Place {
    server: Server,
    seen: Seen,
    cutter: Cutter,
}

fn place(keep: Duration, max_clients: u16) -> Place {
    let seen = Seen::default();
    let policy = ServerPolicy {
        keep,
        max_clients,
        ..ServerPolicy::default()
    };
    let server = Server::bind(ANY, policy, seen.factory()).unwrap();
    let cutter = Cutter::before(server.local_addr()).unwrap();
    Place {
        server,
        seen,
        cutter,
    }
}

impl Place {
    fn call(&self) -> Result<(Bus, MemberId), BusError> {
        let link = dial(&self.cutter.address().to_string(), None, "caller", BOUND)?;
        let bus = Bus::new();
        let member = Member {
            name: "hostb".into(),
            address: "127.0.0.1".into(),
        };
        let id = bus.add(member, Box::new(link));
        Ok((bus, id))
    }
}

#[test]
fn what_is_said_while_connections_are_cut_comes_once_and_in_order() {
    let place = place(BOUND, 8);
    let (bus, id) = place.call().unwrap();
    let mut numbers = Vec::new();
    thread::scope(|scope| {
        let asked = scope.spawn(|| {
            (0..5)
                .map(|_| bus.ask(id, Ask::Unwatch, BOUND))
                .collect::<Vec<_>>()
        });
        for _ in 0..5 {
            // In the middle of ten thousand notes each time.
            numbers.extend(bus.notes().recv_timeout(BOUND).map(|(_, note)| note));
            place.cutter.cut();
        }
        assert!(
            asked
                .join()
                .unwrap()
                .iter()
                .all(|answer| *answer == Ok(Reply::Done))
        );
    });
    numbers.extend(bus.notes().try_iter().map(|(_, note)| note));
    let numbers: Vec<i64> = numbers
        .iter()
        .filter(|note| !matches!(note, Note::Health(_)))
        .map(number_in)
        .collect();
    let expected: Vec<i64> = (0..5).flat_map(|_| 0..10_000).collect();
    assert!(numbers == expected, "{} notes", numbers.len());
    assert!(place.cutter.accepted() > 1);
    assert_eq!(bus.ask(id, Ask::Bye, BOUND), Ok(Reply::Done));
    place.seen.alive.reach(0);
}

#[test]
fn an_answer_that_was_waited_for_comes_over_the_next_connection() {
    let place = place(BOUND, 8);
    let (bus, id) = place.call().unwrap();
    thread::scope(|scope| {
        let asked = scope.spawn(|| bus.ask(id, drain(), BOUND));
        place.seen.draining.reach(1);
        place.cutter.cut();
        assert_eq!(bus.ask(id, Ask::Stop, BOUND), Ok(Reply::Done));
        let answer = asked.join().unwrap();
        assert_eq!(answer, Ok(Reply::Result("gone: false".into())));
    });
    assert_eq!(place.seen.alive.now(), 1, "one handler through it all");
}

#[test]
fn a_peer_that_does_not_come_back_is_kept_for_a_bounded_time() {
    let place = place(Duration::from_millis(300), 8);
    let (bus, _) = place.call().unwrap();
    place.seen.alive.reach(1);
    place.cutter.refuse();
    let begun = Instant::now();
    place.cutter.cut();
    place.seen.alive.reach(0);
    assert!(begun.elapsed() >= Duration::from_millis(300));
    drop(bus);
}

#[test]
fn a_client_without_a_connection_gives_way_to_another() {
    let place = place(BOUND, 1);
    let (first, _) = place.call().unwrap();
    place.seen.alive.reach(1);
    place.cutter.refuse();
    place.cutter.cut();
    common::eventually("a place", || {
        let address = place.server.local_addr().to_string();
        dial(&address, None, "other", BOUND).is_ok()
    });
    drop(first);
}

#[test]
fn a_silent_clients_load_is_halted_and_its_session_goes_on() {
    let place = place(BOUND, 8);
    let address = place.server.local_addr().to_string();
    let link = dial(&address, None, "caller", BOUND).unwrap();
    let lease_ns = 50_000_000;
    let begun = Instant::now();
    link.ask(Ask::Lease { lease_ns }, BOUND).unwrap();
    // The handler is asked to halt.
    place.seen.draining.reach(1);
    assert!(begun.elapsed() >= Duration::from_nanos(2 * lease_ns));
    place.seen.release.add(1);
    assert_eq!(link.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

/// A connection to the server, past its ticket; and the server's answer to what follows it.
fn raw(server: &Server, mark: &Mark) -> (Session, Vec<Vec<u8>>) {
    let tcp = std::net::TcpStream::connect(server.local_addr()).unwrap();
    let mut session = tls::connect(tcp, &Trust::Anyone, Instant::now() + BOUND).unwrap();
    let ticket = Ticket {
        protocol: PROTOCOL_VERSION,
        product: "0.3.0".into(),
        key: KeyId::NONE,
        name: "forger".into(),
    };
    let channel = session.export(EXPORTER_LABEL).unwrap();
    let mut bytes = framing::encode(&ticket.seal(None, &channel), MAX_MARKED).unwrap();
    bytes.extend(mark.to_frame().unwrap());
    session.writer.send(&bytes, BOUND).unwrap();
    let (mut decoder, mut received, mut frames) =
        (Decoder::new(MAX_MARKED), Vec::new(), Vec::new());
    while frames.len() < 2 {
        while let Some(frame) = decoder.next_frame().unwrap() {
            frames.push(frame);
        }
        received.clear();
        match session.reader.read(&mut received, BOUND) {
            Ok(Received::Bytes(_)) => decoder.push(&received),
            _ => break,
        }
    }
    (session, frames)
}

#[test]
fn a_conversation_that_was_made_up_is_refused_and_harms_nobody() {
    let place = place(BOUND, 8);
    let (bus, id) = place.call().unwrap();
    for taken in [0, 1, u64::MAX] {
        let conversation = [7; 16];
        let mark = Mark::Resume {
            conversation,
            taken,
        };
        let (_session, frames) = raw(&place.server, &mark);
        let accepted = Answer::from_payload(&frames[0]).unwrap().verdict;
        assert_eq!(accepted, sokudo_wire::Verdict::Accepted);
        assert_eq!(Mark::from_payload(frames[1].clone()), Some(Mark::Unknown));
    }
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    assert_eq!(place.seen.alive.now(), 1);
}
