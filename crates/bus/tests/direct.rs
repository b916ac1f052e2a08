//! Tests of controller and agent over TLS on loopback, without faults.

mod common;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use common::{BOUND, Gauge, Seen, drain, number_in};
use sokudo_bus::carried::CarriedLink;
use sokudo_bus::direct::{self, Server, ServerPolicy, dial};
use sokudo_bus::{Bus, BusError, Link, Member, MemberId};
use sokudo_wire::{Ask, Key, Note, Reply};

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn key() -> Key {
    Key::from_random([5; 32])
}

fn serve(seen: &Seen, key: Option<Key>, max_clients: u16) -> Server {
    let policy = ServerPolicy {
        key,
        max_clients,
        ..ServerPolicy::default()
    };
    Server::bind(ANY, policy, seen.factory()).unwrap()
}

fn call(server: &Server, key: Option<&Key>) -> Result<CarriedLink, BusError> {
    dial(&server.local_addr().to_string(), key, "caller", BOUND)
}

fn bus_with(link: CarriedLink) -> (Bus, MemberId) {
    let bus = Bus::new();
    let member = Member {
        name: "hostb".into(),
        address: "127.0.0.1".into(),
    };
    let id = bus.add(member, Box::new(link));
    (bus, id)
}

#[test]
fn asks_notes_and_goodbye_with_a_key() {
    let seen = Seen::default();
    let server = serve(&seen, Some(key()), 8);
    let (bus, id) = bus_with(call(&server, Some(&key())).unwrap());
    assert_eq!(
        bus.ask(id, Ask::Describe, BOUND),
        Ok(Reply::Offer("caller".into()))
    );
    assert_eq!(bus.ask(id, Ask::Unwatch, BOUND), Ok(Reply::Done));
    let numbers: Vec<i64> = bus.notes().try_iter().map(|(_, n)| number_in(&n)).collect();
    assert_eq!(numbers, Vec::from_iter(0..10_000));
    assert_eq!(bus.ask(id, Ask::Bye, BOUND), Ok(Reply::Done));
    seen.alive.reach(0);
    assert_eq!(bus.notes().try_iter().count(), 0);
}

#[test]
fn without_a_key_on_loopback() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let link = call(&server, None).unwrap();
    assert_eq!(link.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

#[test]
fn a_new_key_opens_its_server() {
    let key = direct::new_key().unwrap();
    let server = serve(&Seen::default(), Some(key.clone()), 8);
    let typed: Key = key.to_text().parse().unwrap();
    assert!(call(&server, Some(&typed)).is_ok());
}

#[test]
fn wrong_missing_and_needless_keys_are_told_apart() {
    let (key, other) = (key(), Key::from_random([6; 32]));
    let guarded = serve(&Seen::default(), Some(key.clone()), 8);
    let open = serve(&Seen::default(), None, 8);
    let check = |server: &Server, given: Option<&Key>, expected: &str| {
        let says = call(server, given).err().unwrap().to_string();
        let host = server.local_addr().to_string();
        assert_eq!(says, expected.replace("HOST", &format!("`{host}`")));
    };
    let wrong = format!(
        "HOST does not have this key ({}): its own is {}",
        other.id(),
        key.id()
    );
    check(&guarded, Some(&other), &wrong);
    check(&guarded, None, "HOST wants a key and none was given");
    check(
        &open,
        Some(&key),
        "HOST was started without a key, but a key was given",
    );
    // None of them has harmed the servers.
    assert!(call(&guarded, Some(&key)).is_ok());
    assert!(call(&open, None).is_ok());
}

#[test]
fn nobody_listens_and_no_such_name_are_told_apart() {
    let server = serve(&Seen::default(), None, 8);
    let host = server.local_addr().to_string();
    assert!(server.stop());
    let refused = dial(&host, None, "caller", BOUND).err();
    assert_eq!(refused, Some(BusError::NobodyListens { host }));
    let unknown = dial("no port given", None, "caller", BOUND).err();
    assert!(
        matches!(unknown, Some(BusError::Resolve { .. })),
        "{unknown:?}"
    );
}

#[test]
fn strangers_are_served_only_when_asked_for() {
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let bind = |policy| Server::bind(everywhere, policy, Seen::default().factory());
    let refused = bind(ServerPolicy::default()).err().unwrap();
    assert!(matches!(refused, BusError::Unguarded { .. }));
    assert!(refused.is_operator_error());
    let hint = refused.hint().unwrap();
    assert_eq!(hint.key, "error-bus-unguarded-hint");
}

#[test]
fn a_port_in_use_is_told() {
    let server = serve(&Seen::default(), None, 8);
    let again = Server::bind(
        server.local_addr(),
        ServerPolicy::default(),
        Seen::default().factory(),
    );
    let address = server.local_addr().to_string();
    assert_eq!(again.err(), Some(BusError::PortInUse { address }));
}

#[test]
fn one_client_too_many_is_told_and_may_come_later() {
    let seen = Seen::default();
    let server = serve(&seen, Some(key()), 2);
    let links: Vec<_> = (0..2)
        .map(|_| call(&server, Some(&key())).unwrap())
        .collect();
    let refused = call(&server, Some(&key())).err();
    assert!(matches!(
        refused,
        Some(BusError::Busy { max_clients: 2, .. })
    ));
    drop(links);
    common::eventually("a free place", || server.clients() == 0);
    assert!(call(&server, Some(&key())).is_ok());
}

#[test]
fn twenty_clients_at_once() {
    let seen = Seen::default();
    let server = serve(&seen, Some(key()), 20);
    let inside = Gauge::default();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let (bus, id) = bus_with(call(&server, Some(&key())).unwrap());
                inside.add(1);
                inside.reach(20);
                assert_eq!(bus.ask(id, Ask::Unwatch, BOUND), Ok(Reply::Done));
                assert_eq!(bus.notes().try_iter().count(), 10_000);
            });
        }
    });
    seen.alive.reach(0);
}

#[test]
fn a_client_that_leaves_during_a_long_answer_stops_it() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let link = call(&server, None).unwrap();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| link.ask(drain(), BOUND));
        seen.draining.reach(1);
        link.close();
        assert!(matches!(asked.join().unwrap(), Err(BusError::Lost { .. })));
    });
    seen.alive.reach(0);
}

#[test]
fn what_waits_behind_a_lost_client_is_never_done() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let link = call(&server, None).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| link.ask(drain(), BOUND));
        seen.draining.reach(1);
        let start = Ask::Start { at_ns: 0, t0_ns: 0 };
        // It waits behind the drain; nobody answers in this time.
        let unanswered = link.ask(start, Duration::from_millis(20));
        assert!(matches!(unanswered, Err(BusError::TimedOut { .. })));
        link.close();
    });
    seen.alive.reach(0);
    assert_eq!(seen.starts.now(), 0);
}

#[test]
fn leases_are_answered_while_the_handler_is_busy_and_stop_interrupts_it() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let link = call(&server, None).unwrap();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| link.ask(drain(), BOUND));
        seen.draining.reach(1);
        let lease_ns = BOUND.as_nanos() as u64;
        let lease = link.ask(Ask::Lease { lease_ns }, BOUND);
        assert_eq!(lease, Ok(Reply::Done));
        assert_eq!(link.ask(Ask::Stop, BOUND), Ok(Reply::Done));
        let answer = asked.join().unwrap();
        assert_eq!(answer, Ok(Reply::Result("gone: false".into())));
    });
}

#[test]
fn a_bus_that_keeps_alive_is_not_taken_for_silent() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let (bus, id) = bus_with(call(&server, None).unwrap());
    // Long enough for a busy machine, and outlived by more than the two leases of patience.
    let lease = Duration::from_secs(2);
    let begun = Instant::now();
    bus.keep_alive(lease).unwrap();
    while begun.elapsed() < 2 * lease + lease / 2 {
        // A machine that is far too busy may make it suspect, but not lost.
        let note = bus.notes().recv_timeout(lease);
        assert!(
            matches!(note, Err(_) | Ok((_, Note::Health(_)))),
            "{note:?}"
        );
    }
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    bus.close();
    seen.alive.reach(0);
}

#[test]
fn in_a_silence_only_what_cannot_wait_is_said() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let (bus, id) = bus_with(call(&server, None).unwrap());
    let next = || bus.notes().recv_timeout(BOUND).unwrap().1;
    std::thread::scope(|scope| {
        let halted = scope.spawn(|| bus.ask(id, Ask::Halt, BOUND));
        seen.draining.reach(1);
        let for_ns = BOUND.as_nanos() as u64;
        assert_eq!(bus.ask(id, Ask::Hush { for_ns }, BOUND), Ok(Reply::Done));
        seen.release.add(1);
        assert_eq!(halted.join().unwrap(), Ok(Reply::Done));
    });
    assert!(matches!(next(), Note::Problem { .. }));
    // Whatever is asked next ends it.
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    assert_eq!(number_in(&next()), 1);
}

#[test]
fn a_silence_without_leases_is_no_loss_and_ends_by_a_lease() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let (bus, id) = bus_with(call(&server, None).unwrap());
    let lease = Duration::from_secs(1);
    bus.keep_alive(lease).unwrap();
    let lease_ns = lease.as_nanos() as u64;
    assert_eq!(bus.ask(id, Ask::Lease { lease_ns }, BOUND), Ok(Reply::Done));
    // Each end would give the other up after two leases; both know better until it is over.
    let silence = 3 * lease;
    bus.hush(silence);
    let begun = Instant::now();
    while begun.elapsed() < silence - lease / 2 {
        let note = bus.notes().recv_timeout(lease / 4);
        assert!(note.is_err(), "{note:?}");
        assert_eq!(seen.alive.now(), 1);
    }
    bus.wake();
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    bus.close();
    seen.alive.reach(0);
}

#[test]
fn a_server_that_stops_is_a_loss_told_once() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let (bus, id) = bus_with(call(&server, None).unwrap());
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    assert!(server.stop());
    assert_eq!(seen.alive.now(), 0);
    let (from, lost) = bus.notes().recv_timeout(BOUND).unwrap();
    assert!(from == id && matches!(lost, Note::Lost { .. }));
    let refused = bus.ask(id, Ask::Clock, BOUND);
    assert!(matches!(refused, Err(BusError::Lost { .. })));
    assert_eq!(bus.notes().try_iter().count(), 0);
}

#[test]
fn a_handler_that_panics_harms_only_its_own_client() {
    let seen = Seen::default();
    let server = serve(&seen, None, 8);
    let (unlucky, other) = (call(&server, None).unwrap(), call(&server, None).unwrap());
    let panic = Ask::Arm { offers: Vec::new() };
    let lost = unlucky.ask(panic, BOUND);
    assert!(matches!(lost, Err(BusError::Lost { .. })), "{lost:?}");
    assert_eq!(other.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

#[test]
fn an_ask_that_fits_no_frame_leaves_the_connection_usable() {
    let server = serve(&Seen::default(), None, 8);
    let link = call(&server, None).unwrap();
    let huge = Ask::Drain {
        sent: vec![Some("x".repeat(sokudo_wire::MAX_FRAME))],
    };
    let refused = link.ask(huge, BOUND);
    assert!(matches!(refused, Err(BusError::TooLong { .. })));
    assert_eq!(link.ask(Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}
