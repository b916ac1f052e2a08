//! Tests with hostile input: arbitrary bytes sent to the port, and foreign servers where `sokudo
//! serve` was expected.

mod common;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{BOUND, Seen, drain};
use proptest::prelude::*;
use sokudo_bus::carried::CarriedLink;
use sokudo_bus::direct::{Server, ServerPolicy, dial};
use sokudo_bus::{Bus, BusError, Link, Member};
use sokudo_i18n::english;
use sokudo_model::Text;
use sokudo_net::tls::{self, Identity, PublicKey, Received, Session, Trust};
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, Ask, Body, Decoder, Envelope, Health, Key, KeyId, MAX_FRAME, Mark, Note,
    PROTOCOL_VERSION, Reply, Ticket, Verdict, framing,
};

fn key() -> Key {
    Key::from_random([5; 32])
}

/// A guarded server and the lines it logged.
struct House {
    server: Server,
    seen: Seen,
    lines: Arc<Mutex<Vec<String>>>,
}

impl House {
    fn new(key: Option<Key>) -> Self {
        let (seen, lines) = (Seen::default(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&lines);
        let policy = ServerPolicy {
            key,
            keep: Duration::from_millis(200),
            log: Some(Arc::new(move |line| {
                kept.lock().unwrap().push(english(line));
            })),
            ..ServerPolicy::default()
        };
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        let server = Server::bind(any, policy, seen.factory()).unwrap();
        Self {
            server,
            seen,
            lines,
        }
    }

    fn tcp(&self) -> TcpStream {
        let tcp = TcpStream::connect(self.server.local_addr()).unwrap();
        tcp.set_read_timeout(Some(BOUND)).unwrap();
        tcp
    }

    fn tls(&self) -> Session {
        let pinned = PublicKey::from_seed(&key().server_seed()).unwrap();
        let deadline = Instant::now() + BOUND;
        tls::connect(self.tcp(), &Trust::Pinned(pinned), deadline).unwrap()
    }

    /// Past the ticket, with the raw connection still in hand.
    fn inside(&self) -> Session {
        let mut session = self.tls();
        let ticket = sealed(&session, PROTOCOL_VERSION);
        let answer = greet(&mut session, &ticket);
        assert_eq!(answer.unwrap().verdict, Verdict::Accepted);
        session
    }

    fn call(&self) -> CarriedLink {
        dial(
            &self.server.local_addr().to_string(),
            Some(&key()),
            "caller",
            BOUND,
        )
        .unwrap()
    }

    /// Waits for a line about somebody who was turned away or left.
    fn said(&self, part: &str) {
        common::eventually(part, || {
            let lines = self.lines.lock().unwrap();
            lines.iter().any(|line| line.contains(part))
        });
    }
}

fn ticket(protocol: u16) -> Ticket {
    Ticket {
        protocol,
        product: "0.3.0".into(),
        key: key().id(),
        name: "caller".into(),
    }
}

fn sealed(session: &Session, protocol: u16) -> Vec<u8> {
    let channel = session.export(EXPORTER_LABEL).unwrap();
    ticket(protocol).seal(Some(&key()), &channel)
}

fn send(session: &Session, bytes: &[u8]) {
    session.writer.send(bytes, BOUND).unwrap();
}

/// The next frame; `None` when the other side closes instead.
fn frame_from(session: &mut Session) -> Option<Vec<u8>> {
    let mut decoder = Decoder::new(MAX_FRAME);
    let mut bytes = Vec::new();
    loop {
        if let Some(frame) = decoder.next_frame().unwrap() {
            return Some(frame);
        }
        bytes.clear();
        match session.reader.read(&mut bytes, BOUND) {
            Ok(Received::Bytes(_)) => decoder.push(&bytes),
            Ok(Received::Idle) => panic!("no answer and no end"),
            Ok(Received::End) | Err(_) => return None,
        }
    }
}

/// The next message; `None` when the other side ends the conversation instead.
fn message_from(session: &mut Session) -> Option<Vec<u8>> {
    match Mark::from_payload(frame_from(session)?) {
        Some(Mark::Message { payload, .. }) => Some(payload),
        Some(Mark::Leave) => None,
        other => panic!("not a message: {other:?}"),
    }
}

/// An envelope's frame as a message of a conversation.
fn marked(frame: &[u8]) -> Vec<u8> {
    let payload = frame[4..].to_vec();
    Mark::Message { taken: 0, payload }.to_frame().unwrap()
}

/// Shows a ticket and begins a conversation; the server's answer.
fn greet(session: &mut Session, ticket: &[u8]) -> Option<Answer> {
    greet_with(session, ticket, &Mark::Begin([7; 16]))
}

fn greet_with(session: &mut Session, ticket: &[u8], mark: &Mark) -> Option<Answer> {
    let mut bytes = framing::encode(ticket, MAX_FRAME).unwrap();
    bytes.extend(mark.to_frame().unwrap());
    send(session, &bytes);
    frame_from(session).map(|frame| Answer::from_payload(&frame).unwrap())
}

/// Waits until the other side has closed; whatever it says before is of no interest.
fn until_closed(mut tcp: &TcpStream) {
    let mut bytes = [0; 1024];
    loop {
        match tcp.read(&mut bytes) {
            Ok(0) => return,
            Ok(_) => {}
            Err(why) if why.kind() == std::io::ErrorKind::ConnectionReset => return,
            Err(why) => panic!("not closed: {why}"),
        }
    }
}

// What comes to the port.

#[test]
fn a_web_client_is_turned_away_with_one_line() {
    let house = House::new(Some(key()));
    let regular = house.call();
    let mut tcp = house.tcp();
    tcp.write_all(b"GET / HTTP/1.1\r\nHost: hostb\r\n\r\n")
        .unwrap();
    until_closed(&tcp);
    house.said("was turned away: it does not speak TLS");
    assert_eq!(regular.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    assert_eq!(house.lines.lock().unwrap().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_bytes_harm_nobody(
        like_tls: bool,
        garbage in prop::collection::vec(any::<u8>(), 1..2000),
    ) {
        let house = House::new(Some(key()));
        let mut tcp = house.tcp();
        if like_tls {
            // A handshake record of this length: garbage reaches the next parser.
            let length = (garbage.len() as u16).to_be_bytes();
            tcp.write_all(&[22, 3, 1, length[0], length[1]]).unwrap();
        }
        // The server may have closed already.
        let _ = tcp.write_all(&garbage);
        let _ = tcp.shutdown(Shutdown::Write);
        until_closed(&tcp);
        house.said("was turned away");
        prop_assert_eq!(house.seen.alive.now(), 0);
        prop_assert_eq!(house.call().ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    }

    #[test]
    fn random_bytes_after_the_handshake_harm_nobody(
        garbage in prop::collection::vec(any::<u8>(), 1..2000),
    ) {
        let house = House::new(Some(key()));
        let session = house.tls();
        send(&session, &garbage);
        session.writer.close();
        house.said("was turned away");
        prop_assert_eq!(house.seen.alive.now(), 0);
    }

    #[test]
    fn random_bytes_after_the_ticket_end_only_that_client(
        garbage in prop::collection::vec(any::<u8>(), 1..200),
        framed: bool,
    ) {
        let house = House::new(Some(key()));
        let (other, mut session) = (house.call(), house.inside());
        let bytes = if framed {
            framing::encode(&garbage, MAX_FRAME).unwrap()
        } else {
            // A length that no frame may have.
            [&[0xff; 4], garbage.as_slice()].concat()
        };
        send(&session, &bytes);
        if !framed || Mark::from_payload(garbage).is_none() {
            prop_assert_eq!(message_from(&mut session), None);
        }
        prop_assert_eq!(other.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    }
}

/// Slow, silent and half-open callers: none is waited for longer than the greeting allows.
#[test]
fn those_who_show_no_ticket_in_time_are_turned_away() {
    let house = House::new(Some(key()));
    let silent = house.tcp();
    let mut half = house.tcp();
    half.write_all(&[22, 3, 1, 2, 0, 1, 0, 1]).unwrap();
    let mut ticketless = house.tls();
    let mut slow = house.tls();
    let trickle = thread::spawn(move || {
        let frame = framing::encode(&sealed(&slow, PROTOCOL_VERSION), MAX_FRAME).unwrap();
        let mut bytes = Vec::new();
        for byte in frame.iter().cycle() {
            if slow.writer.send(&[*byte], BOUND).is_err() {
                return;
            }
            let pause = Duration::from_millis(100);
            if !matches!(slow.reader.read(&mut bytes, pause), Ok(Received::Idle)) {
                return;
            }
        }
    });
    until_closed(&silent);
    until_closed(&half);
    assert_eq!(frame_from(&mut ticketless), None);
    trickle.join().unwrap();
    house.said("no complete handshake within 5 s");
    house.said("it showed no ticket");
    assert_eq!(house.seen.alive.now(), 0);
    assert_eq!(house.call().ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

#[test]
fn frames_of_impossible_length_end_the_connection() {
    let lengths = [0u32, 1025, 1 << 31, u32::MAX];
    for length in lengths {
        let house = House::new(Some(key()));
        let mut stranger = house.tls();
        send(&stranger, &length.to_be_bytes());
        assert_eq!(frame_from(&mut stranger), None);
        house.said("it showed no ticket but a frame");
    }
    for length in lengths.into_iter().filter(|&n| n != 1025) {
        let house = House::new(Some(key()));
        let mut client = house.inside();
        send(&client, &length.to_be_bytes());
        assert_eq!(message_from(&mut client), None);
        house.said("has left: it sent a frame");
        house.seen.alive.reach(0);
    }
}

#[test]
fn a_ticket_recorded_on_one_connection_is_worth_nothing_on_another() {
    let house = House::new(Some(key()));
    let mut first = house.tls();
    let recorded = sealed(&first, PROTOCOL_VERSION);
    let accepted = greet(&mut first, &recorded).unwrap();
    assert_eq!(accepted.verdict, Verdict::Accepted);

    let refused = greet(&mut house.tls(), &recorded).unwrap();
    assert_eq!(refused.verdict, Verdict::WrongKey);
    assert_eq!(refused.product, "", "strangers do not learn the version");
    house.said("was turned away: gave another key");
}

#[test]
fn another_protocol_version_is_told_to_both_sides() {
    let house = House::new(Some(key()));
    let mut session = house.tls();
    let ticket = sealed(&session, PROTOCOL_VERSION + 1);
    let answer = greet(&mut session, &ticket).unwrap();
    assert_eq!(answer.verdict, Verdict::Version);
    assert_eq!(answer.protocol, PROTOCOL_VERSION);
    house.said("speaks another protocol version");
}

#[test]
fn a_client_killed_in_mid_frame_is_gone() {
    let house = House::new(Some(key()));
    let session = house.inside();
    house.seen.alive.reach(1);
    let body = Body::Ask(Ask::Start { at_ns: 0, t0_ns: 0 });
    let frame = marked(&Envelope { id: 1, body }.to_frame().unwrap());
    send(&session, &frame[..frame.len() - 1]);
    session.writer.close();
    house.seen.alive.reach(0);
    assert_eq!(house.seen.starts.now(), 0);
}

#[test]
fn more_asks_than_may_wait_are_refused_one_by_one() {
    let house = House::new(Some(key()));
    let mut session = house.inside();
    let ask = |id, ask| {
        let body = Body::Ask(ask);
        marked(&Envelope { id, body }.to_frame().unwrap())
    };
    send(&session, &ask(1, drain()));
    house.seen.draining.reach(1);
    for id in 2..=66 {
        send(&session, &ask(id, Ask::Clock));
    }
    let refused = Envelope::from_payload(&message_from(&mut session).unwrap()).unwrap();
    assert_eq!(refused.id, 66);
    assert!(matches!(refused.body, Body::Reply(Reply::Refused(_))));
}

/// Frames of 16 MiB whose elements take many bytes for each of their own.
#[test]
fn long_asks_that_wait_are_bounded_by_their_bytes_and_not_read_before_their_turn() {
    let house = House::new(Some(key()));
    let mut session = house.inside();
    let ask = |id, ask| {
        let body = Body::Ask(ask);
        marked(&Envelope { id, body }.to_frame().unwrap())
    };
    send(&session, &ask(1, drain()));
    house.seen.draining.reach(1);
    // A list of so many elements of two bytes each.
    let long = |id| {
        let short = Ask::Arm { offers: Vec::new() };
        let body = Body::Ask(short);
        let mut payload = Envelope { id, body }.to_frame().unwrap().split_off(4);
        payload.pop();
        payload.extend([0x80, 0x80, 0x80, 0x07]);
        payload.resize(MAX_FRAME, 0);
        Mark::Message { taken: 0, payload }.to_frame().unwrap()
    };
    (2..=9).for_each(|id| send(&session, &long(id)));
    let (mut decoder, mut bytes, mut refused) = (Decoder::new(MAX_FRAME), Vec::new(), Vec::new());
    while refused.len() < 6 {
        bytes.clear();
        session.reader.read(&mut bytes, BOUND).unwrap();
        decoder.push(&bytes);
        while let Some(frame) = decoder.next_frame().unwrap() {
            let Some(Mark::Message { payload, .. }) = Mark::from_payload(frame) else {
                continue;
            };
            let reply = Envelope::from_payload(&payload).unwrap();
            assert!(matches!(reply.body, Body::Reply(Reply::Refused(_))));
            refused.push(reply.id);
        }
    }
    assert_eq!(refused, Vec::from_iter(4..=9));
    session.writer.close();
    house.seen.alive.reach(0);
}

// What listens where a server was expected.

/// Serves one connection with a function; its address.
fn impostor(serve: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || serve(listener.accept().unwrap().0));
    address
}

fn dial_impostor(key: Option<&Key>, serve: impl FnOnce(TcpStream) + Send + 'static) -> BusError {
    let host = impostor(serve).to_string();
    dial(&host, key, "caller", BOUND).err().unwrap()
}

/// An impostor that does speak our TLS, with the right key even.
fn insider(serve: impl FnOnce(&mut Session) + Send + 'static) -> impl FnOnce(TcpStream) + Send {
    move |tcp| {
        let me = Identity::from_seed(&key().server_seed(), "sokudo key").unwrap();
        serve(&mut tls::accept(tcp, &me, Instant::now() + BOUND).unwrap());
    }
}

#[test]
fn other_servers_are_recognised() {
    for banner in ["HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-other\r\n"] {
        let told = dial_impostor(None, move |mut tcp| {
            tcp.write_all(banner.as_bytes()).unwrap();
            until_closed(&tcp);
        });
        assert!(matches!(told, BusError::Foreign { .. }), "{told}");
    }
    let told = dial_impostor(Some(&key()), |tcp| {
        let me = Identity::ephemeral("other product").unwrap();
        // The caller refuses.
        assert!(tls::accept(tcp, &me, Instant::now() + BOUND).is_err());
    });
    assert!(matches!(told, BusError::Foreign { .. }), "{told}");
    let told = dial_impostor(None, drop);
    assert!(matches!(told, BusError::SetUp { .. }), "{told}");
}

#[test]
fn a_server_that_never_answers_is_given_up_within_the_bound() {
    let (done, end) = std::sync::mpsc::channel::<()>();
    let host = impostor(move |tcp| {
        let _ = end.recv();
        drop(tcp);
    });
    let told = dial(
        &host.to_string(),
        None,
        "caller",
        Duration::from_millis(200),
    );
    assert!(matches!(told.err(), Some(BusError::SetUp { .. })));
    drop(done);
}

#[test]
fn a_server_of_another_version_is_told_in_a_sentence() {
    let told = dial_impostor(
        Some(&key()),
        insider(|session| {
            frame_from(session).unwrap();
            let answer = Answer {
                protocol: PROTOCOL_VERSION + 1,
                product: "0.3.0".into(),
                verdict: Verdict::Version,
            };
            let frame = framing::encode(&answer.to_payload(), MAX_FRAME).unwrap();
            send(session, &frame);
        }),
    );
    let says = told.to_string();
    let (own, other) = (PROTOCOL_VERSION, PROTOCOL_VERSION + 1);
    let wanted = format!("speaks protocol {other} (sokudo 0.3.0), this is protocol {own} (sokudo ");
    assert!(says.contains(&wanted), "{says}");
    let hint = told.hint().as_ref().map(english);
    assert_eq!(hint.as_deref(), Some("install the same version on both"));
}

/// Wrong answers of an accepted server, and the end of a waiting ask.
#[test]
fn a_server_that_breaks_the_protocol_is_lost() {
    fn lost_after(bytes: Vec<u8>) -> String {
        let address = impostor(insider(move |session| {
            // The ticket, and the beginning of the conversation.
            frame_from(session).unwrap();
            let accepted = Answer {
                protocol: PROTOCOL_VERSION,
                product: "0.1.0".into(),
                verdict: Verdict::Accepted,
            };
            let frame = framing::encode(&accepted.to_payload(), MAX_FRAME).unwrap();
            send(session, &frame);
            frame_from(session).unwrap();
            send(session, &bytes);
            session.writer.close();
        }));
        let link = dial(&address.to_string(), Some(&key()), "caller", BOUND).unwrap();
        match link.ask(Ask::Clock, BOUND) {
            Err(BusError::Lost { why, .. }) => english(&why),
            other => panic!("not lost: {other:?}"),
        }
    }
    let frame = |body| marked(&Envelope { id: 1, body }.to_frame().unwrap());
    let reply = frame(Body::Reply(Reply::Clock(1)));
    let check = |bytes: &[u8], part: &str| {
        let why = lost_after(bytes.to_vec());
        assert!(why.contains(part), "{why}");
    };
    check(&[0; 4], "frame without content");
    check(&[0xff; 8], "frame of 4294967295 bytes");
    check(&[0, 0, 0, 2, 0xff, 0xff], "not a valid message");
    check(&frame(Body::Ask(Ask::Clock)), "only a controller asks");
    let faked = Note::Lost { why: "x".into() };
    check(&frame(Body::Note(faked)), "only the bus itself makes");
    let faked = Note::Health(Health::Ready);
    check(&frame(Body::Note(faked)), "only the bus itself makes");
    check(&reply[..reply.len() - 1], "closed the connection");
}

/// A host whose kernel still acknowledges but whose program does nothing.
#[test]
fn a_member_that_freezes_is_given_up() {
    let (done, end) = std::sync::mpsc::channel::<()>();
    let address = impostor(insider(move |session| {
        frame_from(session).unwrap();
        let accepted = Answer {
            protocol: PROTOCOL_VERSION,
            product: "0.1.0".into(),
            verdict: Verdict::Accepted,
        };
        let frame = framing::encode(&accepted.to_payload(), MAX_FRAME).unwrap();
        send(session, &frame);
        let _ = end.recv();
    }));
    let link = dial(&address.to_string(), Some(&key()), "caller", BOUND).unwrap();
    let bus = Bus::new();
    let member = Member {
        name: "hostb".into(),
        address: "127.0.0.1".into(),
    };
    let id = bus.add(member, Box::new(link));
    bus.keep_alive(Duration::from_millis(100)).unwrap();
    let asked = bus.ask(id, Ask::Clock, BOUND).unwrap_err();
    let why = Text::new("error-link-silent").word("seconds", "0.5");
    assert_eq!(
        bus.notes().recv_timeout(BOUND),
        Ok((id, Note::Health(Health::Suspect)))
    );
    assert_eq!(
        bus.notes().recv_timeout(BOUND),
        Ok((id, Note::Lost { why }))
    );
    assert!(matches!(asked, BusError::Lost { .. }), "{asked}");
    assert!(bus.notes().try_recv().is_err());
    drop(done);
}

#[test]
fn a_key_id_alone_opens_nothing() {
    let house = House::new(Some(key()));
    let mut session = house.tls();
    let channel = session.export(EXPORTER_LABEL).unwrap();
    // Sealed without the secret, and with another one.
    for secret in [None, Some(Key::from_random([9; 32]))] {
        let forged = ticket(PROTOCOL_VERSION).seal(secret.as_ref(), &channel);
        let answer = greet(&mut session, &forged).unwrap();
        assert_eq!(answer.verdict, Verdict::WrongKey);
        session = house.tls();
    }
    let mut keyless = ticket(PROTOCOL_VERSION);
    keyless.key = KeyId::NONE;
    let channel = session.export(EXPORTER_LABEL).unwrap();
    let answer = greet(&mut session, &keyless.seal(None, &channel)).unwrap();
    assert_eq!(answer.verdict, Verdict::KeyNeeded);
    assert_eq!(house.seen.alive.now(), 0);
}

#[test]
fn an_address_that_only_waits_at_the_door_locks_nobody_out() {
    let house = House::new(Some(key()));
    // Some say nothing, some stop in the middle of a handshake.
    let mut waiting = Vec::new();
    for number in 0..200 {
        let mut tcp = house.tcp();
        if number % 2 == 0 {
            // The head of a TLS record of which the rest never comes.
            let _ = tcp.write_all(&[22, 3, 1, 2, 0]);
        }
        waiting.push(tcp);
        if number % 50 == 49 {
            drop(house.call());
        }
    }
    let inside = house.call();
    drop(waiting);
    drop(inside);
    assert!(house.server.stop());
}
