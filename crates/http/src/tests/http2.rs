//! Tests of whole HTTP/2 exchanges against scripted servers.

use super::secure::tls_server_of;
use super::*;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const ENDS: u8 = 1;
const WHOLE_HEAD: u8 = 4;

/// A frame: kind, flags, stream, payload.
type Frame = (u8, u8, u32, Vec<u8>);

/// The server's end of a connection whose preface and settings have been exchanged.
struct Peer<S = TcpStream>(S);

impl<S: Read + Write> Peer<S> {
    /// Reads the preface and sends these settings.
    fn new(mut stream: S, settings: &[u8]) -> Option<Self> {
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).ok()?;
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        let mut peer = Self(stream);
        peer.say(SETTINGS, 0, 0, settings);
        Some(peer)
    }

    /// Sends a frame; a closed connection is not an error.
    fn say(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = (payload.len() as u32).to_be_bytes();
        let mut bytes = length[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend(payload);
        let _ = self.0.write_all(&bytes);
    }

    /// Answers 200 with a body.
    fn answer(&mut self, stream: u32, body: &[u8]) {
        self.say(HEADERS, WHOLE_HEAD, stream, &[0x88]);
        self.say(DATA, ENDS, stream, body);
    }

    /// The next frame; `None`: the client has hung up.
    fn hear(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).ok()?;
        let word = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        let mut payload = vec![0; word(&head[..3]) as usize];
        self.0.read_exact(&mut payload).ok()?;
        Some((head[3], head[4], word(&head[5..]), payload))
    }

    /// The stream of the next request, whose body is passed over.
    fn request(&mut self) -> Option<u32> {
        loop {
            let (kind, flags, stream, _) = self.hear()?;
            if matches!(kind, HEADERS | DATA) && flags & ENDS != 0 {
                return Some(stream);
            }
        }
    }

    /// Hears until the client hangs up.
    fn rest(&mut self) -> Vec<Frame> {
        std::iter::from_fn(|| self.hear()).collect()
    }
}

impl Peer {
    /// Says no more, and waits until the client has hung up: unread bytes would make it a reset.
    fn end(mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Write);
        self.rest();
    }
}

/// A server that gets each connection, with its number, after the exchange of settings.
fn speaking(serve: impl Fn(Peer, usize) + Send + Sync + 'static) -> SocketAddr {
    server(move |stream, number| {
        if let Some(peer) = Peer::new(stream, &[]) {
            serve(peer, number);
        }
    })
}

/// Runs users of one lane that send so many requests with this body, and returns what each saw.
fn share(
    config: &Config,
    (scheme, host, server): (Scheme, &str, SocketAddr),
    (users, count): (usize, u32),
    body: &[u8],
    change: impl Fn(&mut Asker),
) -> Vec<Vec<Seen>> {
    let targets = Targets::new();
    let head = RequestHead::new([(":method", "GET"), (":path", "/"), ("x", "y")]);
    let asker = |_| {
        let mut user = asker(&targets, scheme, host, server.port(), count);
        user.request = [&head.first, &head.next, body].concat();
        user.exchange.lane = Some(Lane {
            number: 0,
            first_bytes: head.first.len() as u32,
            next_bytes: head.next.len() as u32,
        });
        change(&mut user);
        user
    };
    let askers: Vec<Asker> = (0..users).map(asker).collect();
    let seen: Vec<_> = askers.iter().map(|asker| Arc::clone(&asker.seen)).collect();
    let users = askers
        .into_iter()
        .map(|asker| (now_ns(), Box::new(asker) as Box<dyn User>));
    let audit = run(
        config,
        &Arc::new(targets),
        1,
        users.collect(),
        &Stop::default(),
    );
    assert_eq!(audit.expect("the loops start").died, 0);
    let all = seen
        .iter()
        .map(|seen| seen.lock().expect("the loop has ended").clone());
    let all: Vec<Vec<Seen>> = all.collect();
    assert!(all.iter().flatten().all(|seen| seen.is_ordered), "{all:?}");
    all
}

fn in_clear(server: SocketAddr, users: usize, count: u32) -> Vec<Vec<Seen>> {
    let to = (Scheme::Http, "127.0.0.1", server);
    share(&Config::default(), to, (users, count), b"", |_| {})
}

fn kind(seen: &Seen) -> Option<(Phase, FailureKind)> {
    seen.failure.map(|failure| (failure.phase, failure.kind))
}

#[test]
fn users_share_a_connection_and_say_goodbye() {
    let (heard, rest) = std::sync::mpsc::channel();
    let address = speaking(move |mut peer, number| {
        // The second request is answered before the first.
        let (first, second) = (peer.request(), peer.request());
        for stream in [second, first].into_iter().flatten() {
            peer.answer(stream, b"ok");
        }
        for stream in (0..2).filter_map(|_| peer.request()).collect::<Vec<_>>() {
            peer.answer(stream, b"again");
        }
        let _ = heard.send((number, peer.rest()));
    });
    let all = in_clear(address, 2, 2);
    for user in &all {
        let bodies: Vec<&str> = user.iter().map(|seen| seen.body.as_str()).collect();
        assert_eq!(bodies, ["ok", "again"]);
        assert!(
            user.iter()
                .all(|seen| seen.status == 200 && seen.failure.is_none())
        );
        assert_eq!((user[1].head_bytes, user[1].body_bytes), (10, 5));
    }
    // One of them opened the connection.
    let fresh = all.iter().flatten().filter(|seen| !seen.reused);
    assert_eq!(fresh.count(), 1);
    let (number, rest) = rest
        .recv_timeout(Duration::from_secs(20))
        .expect("it hangs up");
    assert_eq!(
        (number, rest.last()),
        (0, Some(&(GOAWAY, 0, 0, vec![0; 8])))
    );
}

#[test]
fn a_server_that_leaves_is_called_again() {
    let address = speaking(|mut peer, number| {
        let Some(first) = peer.request() else { return };
        if number == 0 {
            let _ = peer.request();
            // The last stream that it looks at is the first.
            peer.say(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
        }
        peer.answer(first, b"ok");
        while let Some(stream) = peer.request() {
            peer.answer(stream, b"ok");
        }
    });
    let all = in_clear(address, 2, 2);
    let unprocessed = Some((Phase::Wait, FailureKind::Unprocessed));
    let kinds: Vec<_> = all.iter().flatten().map(kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == unprocessed).count(), 1);
    assert_eq!(kinds.iter().filter(|kind| kind.is_none()).count(), 3);
}

#[test]
fn all_share_the_fate_of_their_connection() {
    let check = |serve: fn(Peer), expected: (Phase, FailureKind)| {
        let address = speaking(move |mut peer, _| {
            for _ in 0..3 {
                peer.request();
            }
            serve(peer);
        });
        let all = in_clear(address, 3, 1);
        let kinds: Vec<_> = all.iter().flatten().map(kind).collect();
        assert_eq!(kinds, [Some(expected); 3]);
    };
    check(Peer::end, (Phase::Wait, FailureKind::ClosedEarly));
    let breaks = |mut peer: Peer| {
        peer.say(DATA, 0, 0, b"x");
        assert!(peer.rest().iter().any(|frame| frame.0 == GOAWAY));
    };
    check(
        breaks,
        (Phase::Wait, FailureKind::Http2(Breach::FrameOrder)),
    );
    let leaves = |mut peer: Peer| {
        peer.say(GOAWAY, 0, 0, &[0, 0, 0, 9, 0, 0, 0, 11]);
        peer.end();
    };
    check(
        leaves,
        (Phase::Wait, FailureKind::GoneAway(Code::ENHANCE_YOUR_CALM)),
    );
    let half = |mut peer: Peer| {
        for stream in [1, 3, 5] {
            peer.say(HEADERS, WHOLE_HEAD, stream, &[0x88]);
        }
        peer.end();
    };
    check(half, (Phase::Read, FailureKind::ClosedEarly));
}

#[test]
fn nobody_listens_for_any_of_them() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let all = in_clear(address, 3, 2);
    let refused = Some((Phase::Connect, FailureKind::Refused));
    assert!(
        all.iter().flatten().all(|seen| kind(seen) == refused),
        "{all:?}"
    );
}

#[test]
fn a_server_without_http_2_is_told() {
    let all = in_clear(answering("HTTP/1.1 400 Bad Request\r\n\r\n"), 1, 1);
    assert_eq!(
        kind(&all[0][0]).map(|(_, kind)| kind),
        Some(FailureKind::NoHttp2)
    );
}

#[test]
fn over_tls_both_have_to_agree() {
    let check = |protocols: &[&[u8]], expected: Option<(Phase, FailureKind)>| {
        let (server, authority) = tls_server_of(
            protocols,
            |_| {},
            |stream| {
                let Some(mut peer) = Peer::new(stream, &[]) else {
                    return;
                };
                while let Some(stream) = peer.request() {
                    peer.answer(stream, b"ok");
                }
            },
        );
        let config = Config {
            trust: Trust::Authorities(vec![authority]),
            ..Config::default()
        };
        let to = (Scheme::Https, "localhost", server);
        let all = share(&config, to, (2, 2), b"", |_| {});
        assert!(
            all.iter().flatten().all(|seen| kind(seen) == expected),
            "{all:?}"
        );
    };
    check(&[b"h2"], None);
    check(&[b"http/1.1", b"h2"], None);
    let no_http2 = Some((Phase::Tls, FailureKind::NoHttp2));
    check(&[b"http/1.1"], no_http2);
    // A server that agrees on nothing.
    check(&[], no_http2);
}

#[test]
fn a_slow_answer_is_given_up_alone() {
    let (heard, frames) = std::sync::mpsc::channel();
    let address = speaking(move |mut peer, _| {
        let _slow = peer.request();
        let mut others = Vec::new();
        while let Some(frame) = peer.hear() {
            if frame.0 == HEADERS {
                peer.answer(frame.2, b"ok");
            }
            others.push((frame.0, frame.2, frame.3));
        }
        let _ = heard.send(others);
    });
    let to = (Scheme::Http, "127.0.0.1", address);
    let users = std::cell::Cell::new(0);
    let all = share(&Config::default(), to, (2, 2), b"", |user| {
        // The first one asks once, and is not answered.
        if users.replace(1) == 0 {
            (user.left, user.exchange.response_timeout_ns) = (1, 300_000_000);
        }
    });
    let kinds: Vec<_> = all.iter().flatten().map(kind).collect();
    let timed_out = Some((Phase::Wait, FailureKind::TimedOut));
    assert_eq!(kinds, [timed_out, None, None]);
    let frames = frames
        .recv_timeout(Duration::from_secs(20))
        .expect("it hangs up");
    assert!(
        frames.contains(&(RST_STREAM, 1, vec![0, 0, 0, 8])),
        "{frames:?}"
    );
}

#[test]
fn bodies_wait_for_the_server() {
    const LENGTH: usize = 1 << 20;
    let address = speaking(|mut peer, _| {
        let mut left = 2 * LENGTH;
        while let Some((kind, flags, stream, payload)) = peer.hear() {
            if kind != DATA {
                continue;
            }
            left -= payload.len();
            // What was read may be sent again, of the connection and of the stream.
            let more = (payload.len() as u32).to_be_bytes();
            if !payload.is_empty() {
                peer.say(WINDOW_UPDATE, 0, 0, &more);
                peer.say(WINDOW_UPDATE, 0, stream, &more);
            }
            if flags & ENDS != 0 {
                peer.answer(stream, b"ok");
            }
        }
        assert_eq!(left, 0);
    });
    let to = (Scheme::Http, "127.0.0.1", address);
    let all = share(&Config::default(), to, (2, 1), &[b'x'; LENGTH], |_| {});
    for seen in all.iter().flatten() {
        assert_eq!((seen.status, seen.failure), (200, None));
        assert!(seen.sent_bytes > LENGTH as u64, "{seen:?}");
    }
}

#[test]
fn no_more_streams_than_the_server_wants() {
    let address = server(|stream, _| {
        // Two streams at a time.
        let Some(mut peer) = Peer::new(stream, &[0, 3, 0, 0, 0, 2]) else {
            return;
        };
        let mut knows = false;
        while let Some((kind, flags, stream, _)) = peer.hear() {
            match kind {
                SETTINGS => knows |= flags == 1,
                HEADERS if knows => peer.answer(stream, b"ok"),
                HEADERS => peer.say(RST_STREAM, 0, stream, &[0, 0, 0, 7]),
                _ => {}
            }
        }
    });
    let all = in_clear(address, 5, 20);
    let good = all.iter().flatten().filter(|seen| seen.failure.is_none());
    let others = all.iter().flatten().filter_map(kind);
    assert!(good.count() >= 95, "{all:?}");
    assert!(
        others
            .into_iter()
            .all(|(_, kind)| kind == FailureKind::Unprocessed)
    );
}

#[test]
fn a_connection_for_each_request() {
    let address = speaking(|mut peer, _| {
        if let Some(stream) = peer.request() {
            peer.answer(stream, b"ok");
        }
        assert!(peer.rest().iter().all(|frame| frame.0 != HEADERS));
    });
    let to = (Scheme::Http, "127.0.0.1", address);
    let all = share(&Config::default(), to, (1, 3), b"", |user| {
        user.exchange.close = true
    });
    assert!(
        all[0]
            .iter()
            .all(|seen| seen.failure.is_none() && !seen.reused),
        "{all:?}"
    );
    assert_eq!(all[0].len(), 3);
}
