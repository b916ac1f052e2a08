//! Whole buses over loopback: against each other, against hand-made peers, and against garbage.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::handshake::{Handshake, Role};
use super::protocol::{Frames, HEADER_BYTES, Item, Message, Receipts};
use super::values::{BusAddress, addresses};
use super::*;

/// No event takes this long, not even on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(60);

struct Running {
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<CoherenceBusSummary, Refusal>>,
    at: BusAddress,
}

fn start(options: CoherenceBusOptions) -> Running {
    let (to, events) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        let mut observe = |event| {
            let _ = to.send(event);
        };
        watch(&options, &mut observe, &mut |_| false, &flag)
    });
    let mut running = Running {
        events,
        stop,
        thread,
        at: loopback(0),
    };
    let on = running.until(|event| match event {
        Event::Open { on } => Some(on.clone()),
        _ => None,
    });
    running.at = addresses("", &on).unwrap().remove(0);
    running
}

impl Running {
    /// Waits for an event from which something can be taken.
    fn until<T>(&self, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).expect("the event in time");
            if let Some(picked) = pick(&event) {
                return picked;
            }
        }
    }

    /// Waits for a report whose life holds.
    fn life(&self, holds: impl Fn(&Block) -> bool) -> Block {
        self.until(|event| match event {
            Event::Report(report) if holds(&report.life) => Some(report.life.clone()),
            _ => None,
        })
    }

    fn disconnected(&self) -> String {
        self.until(|event| match event {
            Event::Disconnect { why, .. } => Some(why.clone()),
            _ => None,
        })
    }

    fn end(self) -> CoherenceBusSummary {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().unwrap()
    }
}

fn loopback(port: u16) -> BusAddress {
    BusAddress {
        host: "127.0.0.1".into(),
        port,
        sub_port: None,
    }
}

/// Small messages, frequent reports.
fn options(peers: &[&Running]) -> CoherenceBusOptions {
    CoherenceBusOptions {
        bind: vec![loopback(0)],
        peers: peers.iter().map(|it| it.at.clone()).collect(),
        sizes: (100, 300),
        report_ns: 50_000_000,
        patience_ns: 60_000_000_000,
        ..CoherenceBusOptions::default()
    }
}

fn total(summary: &CoherenceBusSummary, count: Count) -> u64 {
    summary.peers.values().map(|it| it.totals.get(count)).sum()
}

/// A sender that is stopped, and its receiver, agree on what crossed.
fn agree(
    sender: CoherenceBusOptions,
    receiver: CoherenceBusOptions,
) -> (CoherenceBusSummary, CoherenceBusSummary) {
    let receiver = start(receiver);
    let sender = start(CoherenceBusOptions {
        peers: vec![receiver.at.clone()],
        ..sender
    });
    sender.life(|life| life.totals.get(Count::Responses) >= 20);
    let sent = sender.end();
    receiver.disconnected();
    let received = receiver.end();
    let (out, arrived) = (
        total(&sent, Count::OutMessages),
        total(&received, Count::InMessages),
    );
    let receipts = total(&sent, Count::Receipts);
    assert!(
        receipts <= arrived && arrived <= out,
        "{receipts} <= {arrived} <= {out}"
    );
    assert!(receipts > 0);
    assert_eq!(sent.problems, Vec::<String>::new());
    assert_eq!(received.problems, Vec::<String>::new());
    (sent, received)
}

#[test]
fn a_stream_is_counted_alike_at_both_ends() {
    let sender = CoherenceBusOptions {
        chunk_bytes: 8,
        ..options(&[])
    };
    let (sent, received) = agree(sender, options(&[]));
    let life = sent.life.clone().unwrap();
    assert!(!life.book.response.is_empty() && !life.book.receipt.is_empty());
    assert_eq!(life.totals.get(Count::Errors), 0);
    // One message in a hundred asks for a response.
    let responses = total(&received, Count::OutMessages);
    let asked = total(&received, Count::InMessages) / 100;
    assert!(responses.abs_diff(asked) <= 1, "{responses} of {asked}");
    let mean = total(&sent, Count::OutBytes) / total(&sent, Count::OutMessages);
    assert!((100..=300).contains(&mean), "{mean}");
}

#[test]
fn a_transmitter_that_blocks_has_one_window_in_flight() {
    for (flush_every, window) in [(0, 1), (5, 5)] {
        let sender = CoherenceBusOptions {
            mode: Mode::Block { spin_ns: 20_000 },
            flush_every,
            latency_every: 1,
            ..options(&[])
        };
        let queued = CoherenceBusOptions {
            rx_threads: 2,
            ..options(&[])
        };
        let (sent, _) = agree(sender, queued);
        let (out, answered) = (
            total(&sent, Count::OutMessages),
            total(&sent, Count::Responses),
        );
        assert!(out - answered <= window, "{answered} of {out}");
    }
}

#[test]
fn a_count_is_kept_exactly() {
    for (mode, flush_every) in [
        (Mode::Stream, 0),
        (Mode::Stream, 100),
        (Mode::Block { spin_ns: 0 }, 4),
    ] {
        let receiver = start(options(&[]));
        let sender = start(CoherenceBusOptions {
            count: Some(777),
            tx_threads: 2,
            mode,
            flush_every,
            ..options(&[&receiver])
        });
        sender.life(|life| life.totals.get(Count::Receipts) == 2 * 777);
        assert_eq!(total(&sender.end(), Count::OutMessages), 2 * 777);
        assert_eq!(total(&receiver.end(), Count::InMessages), 2 * 777);
    }
}

#[test]
fn large_messages_pass_in_parts() {
    let large = |max| CoherenceBusOptions {
        sizes: (1000, max),
        chunk_bytes: 1,
        mode: Mode::Block { spin_ns: 0 },
        latency_every: 1,
        ..options(&[])
    };
    agree(large(700_000), large(300_000));
}

#[test]
fn without_receipts_nothing_waits_for_them() {
    let receiver = start(options(&[]));
    let sender = start(CoherenceBusOptions {
        receipts: false,
        ..options(&[&receiver])
    });
    let life = sender.life(|life| life.totals.get(Count::Responses) > 5);
    assert_eq!(life.out_backlog_bytes, None);
    let sent = sender.end();
    assert_eq!(total(&sent, Count::Receipts), 0);
    receiver.end();
}

#[test]
fn a_rate_is_kept_and_a_backlog_is_bounded() {
    let receiver = start(CoherenceBusOptions {
        rx_threads: 1,
        rx_bytes_per_s: Some(1e6),
        poll: true,
        ..options(&[])
    });
    let most = 20_000;
    let sender = start(CoherenceBusOptions {
        max_backlog_bytes: Some(most),
        tx_bytes_per_s: Some(5e7),
        ..options(&[&receiver])
    });
    let life = sender.life(|life| life.totals.get(Count::Receipts) > 2000);
    // A batch is composed as a whole.
    let unreceipted = life.gauges.unreceipted.unwrap();
    assert!(unreceipted * 100 <= most + 64 * 300, "{unreceipted}");
    assert!(life.totals.get(Count::OutEvents) > 0);
    sender.end();
    receiver.end();
}

#[test]
fn the_polite_side_begins_when_it_is_called() {
    let first = start(options(&[]));
    // Both know each other's address beforehand: the caller binds what the polite one lists.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let polite = start(CoherenceBusOptions {
        polite: true,
        peers: vec![loopback(port)],
        ..options(&[])
    });
    let caller = start(CoherenceBusOptions {
        bind: vec![loopback(port)],
        ..options(&[&polite])
    });
    let both = |life: &Block| {
        life.totals.get(Count::Responses) > 3 && life.totals.get(Count::InMessages) > 500
    };
    caller.life(both);
    polite.life(both);
    let summary = polite.end();
    assert_eq!(summary.peers.len(), 1);
    caller.end();
    first.end();
}

#[test]
fn a_relay_sends_on_and_answers_travel_back() {
    for mode in [Mode::Stream, Mode::Block { spin_ns: 0 }] {
        let last = start(options(&[]));
        let relay = start(CoherenceBusOptions {
            relay: true,
            tx_threads: 0,
            mode,
            ..options(&[&last])
        });
        let target = relay.until(|event| match event {
            Event::Connect { peer, .. } => Some(peer.clone()),
            _ => None,
        });
        assert_eq!(target, last.at.to_string());
        let origin = start(CoherenceBusOptions {
            mode,
            latency_every: 10,
            ..options(&[&relay])
        });
        origin.life(|life| life.totals.get(Count::Responses) > 50);
        last.life(|life| life.totals.get(Count::InMessages) > 50);
        let first = origin.end();
        assert_eq!(first.life.unwrap().totals.get(Count::Errors), 0);
        let middle = relay.end();
        assert!(total(&middle, Count::OutMessages) >= total(&middle, Count::InMessages) / 2);
        last.end();
    }
}

#[test]
fn single_messages_have_their_own_connections() {
    let receiver = start(options(&[]));
    let sender = start(CoherenceBusOptions {
        single: true,
        ..options(&[&receiver])
    });
    let life = sender.life(|life| life.totals.get(Count::Connects) > 20);
    let (sent, made) = (
        life.totals.get(Count::OutMessages),
        life.totals.get(Count::Connects),
    );
    assert!(sent.abs_diff(made) <= 1, "{sent} over {made}");
    let sent = sender.end();
    assert_eq!(sent.problems, Vec::<String>::new());
    receiver.end();
}

#[test]
fn a_peer_that_is_not_there_is_named() {
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let ours = start(CoherenceBusOptions {
        peers: vec![BusAddress::of(nobody)],
        ..options(&[])
    });
    let why = ours.disconnected();
    assert!(why.contains("refuses"), "{why}");
    let summary = ours.end();
    assert!(summary.problems[0].contains(&nobody.port().to_string()));
    assert_eq!(summary.life, None);
}

/// Introduces a hand-made end over its socket.
fn shake_hands(mut socket: TcpStream, role: Role, name: &str) -> TcpStream {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut handshake = Handshake::new(role, name, None);
    let mut held = Vec::new();
    while handshake.peer().is_none() {
        socket.write_all(&handshake.outgoing()).unwrap();
        let mut byte = [0; 1];
        socket.read_exact(&mut byte).unwrap();
        held.push(byte[0]);
        let taken = handshake.take(&held).unwrap();
        held.drain(..taken);
    }
    socket.write_all(&handshake.outgoing()).unwrap();
    socket
}

/// A hand-made peer that has called `ours`.
fn peer_of(ours: &Running, name: &str) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", ours.at.port)).unwrap();
    shake_hands(socket, Role::Connector, name)
}

#[test]
fn receipts_come_after_what_they_are_for() {
    let ours = start(options(&[]));
    let mut peer = peer_of(&ours, "tmb://hand.made:1");
    let request = Message {
        id: 9,
        response: false,
        stamp_ns: 77,
        payload_bytes: 50,
    };
    let mut bytes = request.write().to_vec();
    bytes.resize(HEADER_BYTES + 50, 1);
    let asks = Receipts {
        requested: 1,
        returned: 0,
    };
    bytes.extend(asks.write());
    // Byte by byte: nothing depends on how a stream is cut.
    for byte in &bytes {
        peer.write_all(&[*byte]).unwrap();
    }
    let mut frames = Frames::default();
    let (mut held, mut answered, mut receipts) = (Vec::new(), false, 0);
    while !answered || receipts == 0 {
        let mut some = [0; 1000];
        let read = peer.read(&mut some).unwrap();
        assert!(read > 0);
        held.extend_from_slice(&some[..read]);
        while let Some((taken, item)) = frames.next(&held).unwrap() {
            match item {
                Item::Message(response, payload) => {
                    assert_eq!((response.id, response.stamp_ns), (9, 77));
                    assert!(response.response && (79..=279).contains(&payload.len()));
                    answered = true;
                }
                Item::Receipts(it) => receipts += it.returned,
                other => panic!("{other:?}"),
            }
            held.drain(..taken);
        }
    }
    assert_eq!(receipts, 1);
    let summary = ours.end();
    assert_eq!(total(&summary, Count::InMessages), 1);
}

#[test]
fn garbage_ends_its_own_connection_only() {
    let ours = start(options(&[]));
    let mut good = peer_of(&ours, "tmb://good.one:1");
    // No bus at all.
    let mut stranger = TcpStream::connect(("127.0.0.1", ours.at.port)).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let says = ours.until(|event| match event {
        Event::Note(says) => Some(says.clone()),
        _ => None,
    });
    assert!(says.contains("not the message bus"), "{says}");
    let too_many = Receipts {
        requested: 0,
        returned: 5,
    };
    let long = |length: i32| [&length.to_be_bytes()[..], &[9; 40]].concat();
    let wrong = [
        (long(0), "can be no message"),
        (long(i32::MAX), "can be no message"),
        (long(-77), "control frame of 77 B"),
        (too_many.write().to_vec(), "returns 5 receipts"),
    ];
    for (at, (bytes, expected)) in wrong.iter().enumerate() {
        let mut peer = peer_of(&ours, &format!("tmb://bad.one:{at}"));
        peer.write_all(bytes).unwrap();
        let why = ours.disconnected();
        assert!(why.contains(expected), "{why}");
    }
    let fine = Receipts {
        requested: 0,
        returned: 0,
    };
    good.write_all(&fine.write()).unwrap();
    assert_eq!(ours.end().problems.len(), wrong.len());
}

#[test]
fn a_peer_that_takes_nothing_is_given_up() {
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = start(CoherenceBusOptions {
        peers: vec![BusAddress::of(deaf.local_addr().unwrap())],
        sizes: (60_000, 60_000),
        patience_ns: 300_000_000,
        ..options(&[])
    });
    let socket = shake_hands(
        deaf.accept().unwrap().0,
        Role::Acceptor,
        "tmb://hand.made:1",
    );
    let why = ours.disconnected();
    assert!(why.contains("took nothing"), "{why}");
    let summary = ours.end();
    assert_eq!(summary.problems.len(), 1);
    drop(socket);
}

#[test]
fn a_peer_that_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let asking = start(CoherenceBusOptions {
        peers: vec![BusAddress::of(silent.local_addr().unwrap())],
        mode: Mode::Block { spin_ns: 0 },
        patience_ns: 200_000_000,
        ..options(&[])
    });
    let socket = shake_hands(
        silent.accept().unwrap().0,
        Role::Acceptor,
        "tmb://hand.made:1",
    );
    let why = asking.disconnected();
    assert!(why.contains("gave no answer"), "{why}");
    asking.end();
    drop(socket);
}
