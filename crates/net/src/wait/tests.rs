use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::*;

const BOUND: Duration = Duration::from_secs(30);

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

#[test]
fn ways_of_waiting_are_read_and_written_alike() {
    let check = |text: &str, expected: Option<Wait>| {
        assert_eq!(text.parse().ok(), expected, "{text}");
    };
    check("block", Some(Wait::Block));
    check("epoll", Some(Wait::Epoll));
    check("spin", Some(Wait::Spin { for_ns: u64::MAX }));
    check("spin:50", Some(Wait::Spin { for_ns: 50_000 }));
    check("spin:50us", Some(Wait::Spin { for_ns: 50_000 }));
    check("spin:7ns", Some(Wait::Spin { for_ns: 7 }));
    check(
        "spin:2s",
        Some(Wait::Spin {
            for_ns: 2_000_000_000,
        }),
    );
    for wrong in [
        "",
        "spin:",
        "spin:x",
        "spin:5h",
        "spin:99999999999999999999",
        "Block",
    ] {
        check(wrong, None);
    }
    for wait in ["block", "epoll", "spin", "spin:50us", "spin:7ns"] {
        assert_eq!(wait.parse::<Wait>().unwrap().to_string(), wait);
    }
}

/// Every way this system offers.
fn every_way(check: impl Fn(Wait, Waiter)) {
    for wait in [Wait::Block, Wait::Epoll, Wait::Spin { for_ns: 20_000 }] {
        match Waiter::new(wait, Trigger::Level, 16) {
            Ok(waiter) => check(wait, waiter),
            Err(why) => eprintln!("skipped: {wait}: {why}"),
        }
    }
}

#[test]
fn only_the_source_with_bytes_is_ready() {
    every_way(|wait, mut waiter| {
        let (quiet, _quiet_peer) = pair();
        let (loud, mut loud_peer) = pair();
        waiter.add(quiet.as_fd(), 1, Interest::Read).unwrap();
        waiter.add(loud.as_fd(), 2, Interest::Read).unwrap();
        assert_eq!(waiter.wait(Duration::from_millis(1)).unwrap(), 0, "{wait}");
        loud_peer.write_all(b"!").unwrap();
        assert_eq!(waiter.wait(BOUND).unwrap(), 1, "{wait}");
        let ready = waiter.ready(0);
        assert_eq!(
            (ready.token, ready.readable, ready.closed),
            (2, true, false)
        );
        waiter.remove(loud.as_fd()).unwrap();
        assert_eq!(waiter.wait(Duration::ZERO).unwrap(), 0, "{wait}");
        assert!(waiter.remove(loud.as_fd()).is_err());
    });
}

#[test]
fn a_vanished_peer_makes_its_source_readable() {
    every_way(|wait, mut waiter| {
        let (one, other) = pair();
        waiter.add(one.as_fd(), 7, Interest::Read).unwrap();
        drop(other);
        assert_eq!(waiter.wait(BOUND).unwrap(), 1, "{wait}");
        assert!(waiter.ready(0).readable);
    });
}

#[test]
fn interest_can_change_to_writing() {
    every_way(|wait, mut waiter| {
        let (one, _other) = pair();
        waiter.add(one.as_fd(), 1, Interest::Read).unwrap();
        waiter.change(one.as_fd(), 9, Interest::Write).unwrap();
        assert_eq!(waiter.wait(BOUND).unwrap(), 1, "{wait}");
        let ready = waiter.ready(0);
        assert_eq!((ready.token, ready.writable), (9, true));
    });
}

#[test]
fn an_edge_is_told_once() {
    let Ok(mut waiter) = Waiter::new(Wait::Epoll, Trigger::Edge, 4) else {
        eprintln!("skipped: no epoll here");
        return;
    };
    let (one, mut other) = pair();
    waiter.add(one.as_fd(), 1, Interest::Read).unwrap();
    other.write_all(b"!").unwrap();
    assert_eq!(waiter.wait(BOUND).unwrap(), 1);
    assert_eq!(waiter.wait(Duration::ZERO).unwrap(), 0);
    other.write_all(b"!").unwrap();
    assert_eq!(waiter.wait(BOUND).unwrap(), 1);
}

#[test]
fn more_ready_sources_than_room_are_all_told_in_turn() {
    every_way(|wait, mut waiter| {
        let mut pairs: Vec<_> = (0..40).map(|_| pair()).collect();
        for (token, (one, other)) in pairs.iter_mut().enumerate() {
            waiter
                .add(one.as_fd(), token as u64, Interest::Read)
                .unwrap();
            other.write_all(b"!").unwrap();
        }
        let mut seen = std::collections::BTreeSet::new();
        let deadline = Instant::now() + BOUND;
        while seen.len() < pairs.len() {
            assert!(Instant::now() < deadline, "{wait}: {seen:?}");
            for index in 0..waiter.wait(BOUND).unwrap() {
                seen.insert(waiter.ready(index).token);
            }
        }
    });
}
