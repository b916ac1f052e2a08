//! Tests of each failure reason and the stage it is reported with.

use super::*;

fn check_failure(seen: &[Seen], phase: Phase, kind: FailureKind) {
    for seen in seen {
        let failure = seen.failure.expect("it fails");
        assert_eq!((failure.phase, failure.kind), (phase, kind), "{seen:?}");
    }
    assert!(!seen.is_empty());
}

/// A server that does this with each connection, after a request.
fn after_request(act: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> SocketAddr {
    server(move |mut stream, _| {
        read_request(&mut stream);
        act(&mut stream);
    })
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let seen = ask_with(address, 2, |_| {});
    check_failure(&seen, Phase::Connect, FailureKind::Refused);
    assert!(seen[0].failure.is_some_and(|failure| failure.errno != 0));
}

#[test]
fn an_unknown_host() {
    let targets = Targets::new();
    // Reserved never to exist (RFC 6761); without a resolver the lookup fails too.
    let user = asker(&targets, Scheme::Http, "no-such-host.invalid", 80, 1);
    let seen = ask(&Config::default(), targets, user);
    check_failure(&seen, Phase::Resolve, FailureKind::UnknownHost);
}

#[test]
fn the_server_closes_early() {
    check_failure(
        &ask_with(after_request(|_| {}), 1, |_| {}),
        Phase::Wait,
        FailureKind::ClosedEarly,
    );
    let half = after_request(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal");
    });
    let seen = ask_with(half, 1, |_| {});
    check_failure(&seen, Phase::Read, FailureKind::ClosedEarly);
    assert_eq!((seen[0].status, seen[0].body.as_str()), (200, "hal"));
    let half_chunk = after_request(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
    });
    check_failure(
        &ask_with(half_chunk, 1, |_| {}),
        Phase::Read,
        FailureKind::CutChunk { size: 5, came: 3 },
    );
    let half_head = after_request(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 O");
    });
    check_failure(
        &ask_with(half_head, 1, |_| {}),
        Phase::Read,
        FailureKind::ClosedEarly,
    );
}

#[test]
fn another_protocol_was_not_asked_for() {
    let switches = || {
        after_request(|stream| {
            let _ = stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n");
        })
    };
    let unasked = FailureKind::Malformed(Malformed::UnaskedSwitch);
    check_failure(&ask_with(switches(), 2, |_| {}), Phase::Read, unasked);
    let asked = |user: &mut Asker| user.exchange.switch = Switch::Asked;
    let seen = ask_with(switches(), 1, asked);
    assert_eq!((seen[0].status, seen[0].failure), (101, None));
}

#[test]
fn the_server_resets() {
    let address = server(|stream, _| {
        // Unread bytes make the close a reset.
        let mut one = [0];
        let _ = stream.peek(&mut one);
    });
    check_failure(
        &ask_with(address, 1, |_| {}),
        Phase::Wait,
        FailureKind::Reset,
    );
}

#[test]
fn what_comes_is_no_response() {
    let broken = |answer| {
        let seen = ask_with(answering(answer), 1, |_| {});
        seen[0].failure.expect("it fails")
    };
    let garbage = broken("SSH-2.0-x\r\n\r\n");
    assert_eq!(garbage.kind, FailureKind::Malformed(Malformed::StatusLine));
    let length = broken("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n");
    assert_eq!(length.kind, FailureKind::Malformed(Malformed::Length));
    let long = after_request(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream
            .write_all(b"X-Long: 0123456789012345678901234567890123456789\r\n")
            .is_ok()
        {}
    });
    check_failure(
        &ask_with(long, 1, |_| {}),
        Phase::Read,
        FailureKind::Malformed(Malformed::HeadTooLong),
    );
}

/// Each portion takes longer to read than to send, so that the socket is never empty.
#[test]
fn a_server_that_sends_without_end_is_given_up_in_time() {
    let endless = after_request(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunks = b"1\r\na\r\n".repeat(10_000);
        while stream.write_all(&chunks).is_ok() {}
    });
    let seen = ask_with(endless, 1, |user| {
        user.exchange.whole_timeout_ns = 300_000_000;
    });
    check_failure(&seen, Phase::Read, FailureKind::TimedOut);
}

#[test]
fn a_silent_server_and_one_that_drips() {
    let silent = after_request(|stream| {
        let _ = stream.read(&mut [0]);
    });
    let seen = ask_with(silent, 1, |user| {
        user.exchange.response_timeout_ns = 200_000_000;
    });
    check_failure(&seen, Phase::Wait, FailureKind::TimedOut);
    assert!(seen[0].service_ns >= 200 * MS);
    let dripping = after_request(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
        while stream.write_all(b"y").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let seen = ask_with(dripping, 1, |user| {
        user.exchange.whole_timeout_ns = 400_000_000
    });
    check_failure(&seen, Phase::Read, FailureKind::TimedOut);
}

#[test]
fn a_server_that_restarts() {
    // The first connection ends in the middle of the second exchange.
    let address = server(|mut stream, number| {
        let mut left = if number == 0 { 1 } else { usize::MAX };
        while left > 0 && read_request(&mut stream) {
            let _ = stream.write_all(OK.as_bytes());
            left -= 1;
        }
        if number == 0 {
            read_request(&mut stream);
        }
    });
    let seen = ask_with(address, 4, |_| {});
    let failures: Vec<Option<FailureKind>> = seen
        .iter()
        .map(|seen| seen.failure.map(|failure| failure.kind))
        .collect();
    assert_eq!(failures, [None, Some(FailureKind::ClosedEarly), None, None]);
    assert!(seen[1].reused && !seen[2].reused && seen[3].reused);
}
