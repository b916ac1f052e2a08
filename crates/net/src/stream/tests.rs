//! Tests of the stream contract, run over every kind of stream.

use std::io::IoSlice;
use std::net::Ipv4Addr;
use std::thread;

use super::*;

const BOUND: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_millis(20);

/// Both ends of one stream, and what made them.
struct Pair {
    near: Box<dyn Stream>,
    far: Box<dyn Stream>,
    _connector: Connector,
    _listener: Listener,
}

fn options() -> StreamOptions {
    let identity = Identity::ephemeral("test").unwrap();
    StreamOptions {
        trust: Trust::Pinned(identity.public_key().clone()),
        identity: Some(identity),
        // Small, so that rings wrap and fill.
        shm_ring_bytes: shm::MIN_RING_BYTES,
        ..StreamOptions::default()
    }
}

fn endpoint(kind: StreamKind) -> Endpoint {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if !kind.same_host() {
        return Endpoint::Ip((Ipv4Addr::LOCALHOST, 0).into());
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("sokudo-test-{}-{number}", std::process::id());
    Endpoint::Local(match cfg!(target_os = "linux") {
        true => unix::Name::Abstract(name),
        false => unix::Name::Path(std::env::temp_dir().join(name)),
    })
}

/// `None`, with the reason on stderr, where this system does not have the kind.
fn listener(kind: StreamKind, options: &StreamOptions) -> Option<Listener> {
    match Listener::bind(kind, &endpoint(kind), options) {
        Ok(listener) => Some(listener),
        Err(
            why
            @ (StreamError::Unavailable { .. } | StreamError::Tcp(TcpError::NoMultipath { .. })),
        ) => {
            eprintln!("skipped: {kind}: {why}");
            None
        }
        Err(why) => panic!("{kind}: {why}"),
    }
}

fn pair(kind: StreamKind) -> Option<Pair> {
    let options = options();
    let listener = listener(kind, &options)?;
    let connector = Connector::new(kind, options).unwrap();
    let there = listener.local().unwrap();
    let (near, far) = thread::scope(|scope| {
        let far = scope.spawn(|| {
            let incoming = listener.accept(BOUND).unwrap().expect("a caller");
            incoming.establish(BOUND).unwrap()
        });
        let near = connector.connect(&there, BOUND).unwrap();
        assert_eq!(near.secure_ns.is_some(), kind.encrypted());
        assert_eq!(near.transport_ns.is_some(), kind != StreamKind::Quic);
        (near.stream, far.join().unwrap())
    });
    assert_eq!((near.kind(), far.kind()), (kind, kind));
    Some(Pair {
        near,
        far,
        _connector: connector,
        _listener: listener,
    })
}

fn every_kind(check: impl Fn(StreamKind, Pair)) {
    for kind in StreamKind::ALL {
        if let Some(pair) = pair(kind) {
            check(kind, pair);
        }
    }
}

fn kind_of<T: fmt::Debug>(result: io::Result<T>) -> io::ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn names_are_read_back() {
    for kind in StreamKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    assert!("udp".parse::<StreamKind>().is_err());
}

#[test]
fn bytes_arrive_in_order_in_both_directions_at_once() {
    const TOTAL: usize = 3_000_000;
    every_kind(|kind, pair| {
        let exchange = |stream: Box<dyn Stream>| {
            let (mut reading, mut writing) = stream.split().unwrap();
            thread::scope(|scope| {
                scope.spawn(move || {
                    let bytes: Vec<u8> = (0..TOTAL).map(|n| (n % 251) as u8).collect();
                    // Uneven pieces meet every edge of rings and records.
                    for piece in bytes.chunks(70_001) {
                        writing.write_all(piece).unwrap();
                    }
                    writing.shutdown(Shutdown::Write).unwrap();
                    // The reading half outlives this one.
                });
                let mut received = 0;
                let mut out = vec![0; 9_999];
                loop {
                    match reading.read(&mut out).unwrap() {
                        0 => break,
                        n => {
                            for byte in &out[..n] {
                                assert_eq!(*byte, (received % 251) as u8, "{kind} at {received}");
                                received += 1;
                            }
                        }
                    }
                }
                assert_eq!(received, TOTAL, "{kind}");
            });
        };
        thread::scope(|scope| {
            scope.spawn(|| exchange(pair.far));
            exchange(pair.near);
        });
    });
}

#[test]
fn a_bound_of_zero_never_waits_and_another_ends() {
    every_kind(|kind, mut pair| {
        let mut out = [0; 8];
        pair.near.set_read_bound(Duration::ZERO).unwrap();
        assert_eq!(
            kind_of(pair.near.read(&mut out)),
            io::ErrorKind::WouldBlock,
            "{kind}"
        );
        pair.near.set_read_bound(SOON).unwrap();
        assert_eq!(
            kind_of(pair.near.read(&mut out)),
            io::ErrorKind::TimedOut,
            "{kind}"
        );
        // Still usable.
        pair.near.set_read_bound(BOUND).unwrap();
        pair.far.write_all(b"late").unwrap();
        pair.near.read_exact(&mut out[..4]).unwrap();
        assert_eq!(&out[..4], b"late");
    });
}

#[test]
fn writing_into_a_full_stream_ends_at_its_bound() {
    every_kind(|kind, mut pair| {
        pair.near.set_write_bound(SOON).unwrap();
        let block = vec![7; 256 * 1024];
        let mut taken = 0;
        let refused = loop {
            match pair.near.write(&block) {
                Ok(n) => taken += n,
                Err(why) => break why,
            }
            assert!(taken < 1 << 30, "{kind}: nobody reads, yet all is taken");
        };
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut, "{kind}");
    });
}

#[test]
fn every_way_of_waiting_gets_the_bytes() {
    every_kind(|kind, mut pair| {
        for wait in [
            Wait::Block,
            Wait::Epoll,
            Wait::Spin { for_ns: 30_000 },
            Wait::Spin { for_ns: u64::MAX },
        ] {
            match pair.near.set_wait(wait) {
                Err(why) if why.kind() == io::ErrorKind::Unsupported => {
                    assert!(
                        matches!(kind, StreamKind::Shm | StreamKind::Quic)
                            || !cfg!(target_os = "linux")
                    );
                    continue;
                }
                done => done.unwrap(),
            }
            pair.near.set_read_bound(SOON).unwrap();
            let mut out = [0; 4];
            assert_eq!(
                kind_of(pair.near.read(&mut out)),
                io::ErrorKind::TimedOut,
                "{kind} {wait}"
            );
            pair.near.set_read_bound(BOUND).unwrap();
            let far = &mut pair.far;
            thread::scope(|scope| {
                scope.spawn(|| far.write_all(b"ping").unwrap());
                pair.near.read_exact(&mut out).unwrap();
            });
            assert_eq!(&out, b"ping", "{kind} {wait}");
        }
    });
}

#[test]
fn a_dropped_end_is_read_as_the_end_after_its_last_bytes() {
    every_kind(|kind, pair| {
        let Pair {
            mut near,
            mut far,
            _connector,
            _listener,
        } = pair;
        far.write_all(b"last words").unwrap();
        drop(far);
        let mut all = Vec::new();
        near.set_read_bound(BOUND).unwrap();
        near.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"last words", "{kind}");
    });
}

#[test]
fn one_direction_can_end_while_the_other_goes_on() {
    every_kind(|kind, mut pair| {
        pair.near.write_all(b"question").unwrap();
        pair.near.shutdown(Shutdown::Write).unwrap();
        let mut question = Vec::new();
        pair.far.read_to_end(&mut question).unwrap();
        assert_eq!(question, b"question", "{kind}");
        pair.far.write_all(b"answer").unwrap();
        let mut answer = [0; 6];
        pair.near.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"answer", "{kind}");
    });
}

#[test]
fn ending_a_stream_wakes_its_own_reader() {
    every_kind(|kind, pair| {
        let (mut reading, mut writing) = pair.near.split().unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || reading.read(&mut [0; 8]));
            writing.shutdown(Shutdown::Both).unwrap();
            assert_eq!(waiting.join().unwrap().unwrap(), 0, "{kind}");
        });
    });
}

#[test]
fn pieces_are_written_in_order() {
    every_kind(|kind, mut pair| {
        let pieces = [
            IoSlice::new(b"one "),
            IoSlice::new(b"two "),
            IoSlice::new(b"three"),
        ];
        let n = pair.near.write_vectored(&pieces).unwrap();
        let whole = b"one two three";
        pair.near.write_all(&whole[n..]).unwrap();
        let mut out = [0; 13];
        pair.far.read_exact(&mut out).unwrap();
        assert_eq!(&out, whole, "{kind}");
    });
}

/// A waiter must not sleep on bytes that the stream has already taken from its socket.
#[test]
fn bytes_behind_a_short_read_are_announced() {
    every_kind(|kind, mut pair| {
        pair.far.write_all(&[5; 100]).unwrap();
        let mut one = [0; 1];
        let mut received = 0;
        while received < 100 {
            let waiting = match pair.near.source() {
                Some(source) => crate::wait::readable(source, Duration::ZERO).unwrap(),
                None => true,
            };
            if received > 0 && kind == StreamKind::Tls {
                assert!(pair.near.buffered() > 0 || waiting, "{kind} at {received}");
            }
            received += pair.near.read(&mut one).unwrap();
        }
        assert_eq!(pair.near.buffered(), 0, "{kind}");
    });
}

#[test]
fn nobody_is_called_in_vain_for_long() {
    for kind in StreamKind::ALL {
        let options = options();
        let Some(listener) = listener(kind, &options) else {
            continue;
        };
        assert!(listener.accept(SOON).unwrap().is_none(), "{kind}");
        let there = listener.local().unwrap();
        drop(listener);
        let connector = Connector::new(kind, options).unwrap();
        let bound = match kind {
            // Silence and absence look alike.
            StreamKind::Quic => SOON,
            _ => BOUND,
        };
        let why = connector.connect(&there, bound).unwrap_err();
        assert!(
            why.hint().is_some() || kind == StreamKind::Quic,
            "{kind}: {why}"
        );
        match (kind, &why) {
            (StreamKind::Quic, StreamError::Secure { .. }) => {}
            (_, StreamError::Tcp(TcpError::Refused { .. })) => {}
            (_, StreamError::Local { why, .. })
                if matches!(
                    why.kind(),
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
                ) => {}
            _ => panic!("{kind}: {why:?}"),
        }
    }
}

#[test]
fn an_impostor_is_refused_by_name() {
    for kind in [StreamKind::Tls, StreamKind::Quic] {
        let Some(listener) = listener(kind, &options()) else {
            continue;
        };
        let there = listener.local().unwrap();
        let another = Identity::ephemeral("another").unwrap();
        let trusting = StreamOptions {
            trust: Trust::Pinned(another.public_key().clone()),
            ..StreamOptions::default()
        };
        let connector = Connector::new(kind, trusting).unwrap();
        thread::scope(|scope| {
            let far = scope.spawn(|| {
                let incoming = listener.accept(BOUND).unwrap().expect("a caller");
                incoming.establish(BOUND).map(|_| ())
            });
            match connector.connect(&there, BOUND).unwrap_err() {
                StreamError::Secure {
                    why: TlsError::NotPinned { name },
                    ..
                } => {
                    assert_eq!(name.as_deref(), Some("test"), "{kind}");
                }
                why => panic!("{kind}: {why:?}"),
            }
            assert!(far.join().unwrap().is_err(), "{kind}");
        });
    }
}

/// A silent caller delays only its own handshake, and that for a bounded time.
#[test]
fn a_silent_caller_is_given_up() {
    let Some(listener) = listener(StreamKind::Tls, &options()) else {
        return;
    };
    let Endpoint::Ip(there) = listener.local().unwrap() else {
        panic!("not an IP endpoint");
    };
    let _silent = TcpStream::connect(there).unwrap();
    let incoming = listener.accept(BOUND).unwrap().expect("a caller");
    match incoming.establish(SOON) {
        Err(StreamError::Secure {
            why: TlsError::TimedOut,
            ..
        }) => {}
        Err(why) => panic!("{why:?}"),
        Ok(_) => panic!("established with nobody"),
    }
}

#[test]
fn endpoints_that_do_not_fit_are_refused_with_a_hint() {
    for kind in StreamKind::ALL {
        let options = options();
        let Some(_listener) = listener(kind, &options) else {
            continue;
        };
        let other = match kind.same_host() {
            true => endpoint(StreamKind::Tcp),
            false => endpoint(StreamKind::Unix),
        };
        let why = match Listener::bind(kind, &other, &options) {
            Err(why) => why,
            Ok(_) => panic!("{kind} listens on {other}"),
        };
        assert!(matches!(why, StreamError::WrongEndpoint { .. }) && why.hint().is_some());
        let connector = Connector::new(kind, options).unwrap();
        let why = connector.connect(&other, BOUND).unwrap_err();
        assert!(matches!(why, StreamError::WrongEndpoint { .. }));
    }
}
