//! Tests with servers that follow the protocol and with servers that break each of its rules.

use super::*;

#[test]
fn what_is_said_first() {
    let mut session = session(2);
    let bytes = session.pending().to_vec();
    assert!(bytes.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    let frames = frames(&mut session);
    let kinds: Vec<(u8, u8, u32)> = frames
        .iter()
        .map(|frame| (frame.0, frame.1, frame.2))
        .collect();
    let head = END_STREAM | END_HEADERS;
    assert_eq!(
        kinds,
        [
            (SETTINGS, 0, 0),
            (WINDOW_UPDATE, 0, 0),
            (HEADERS, head, 1),
            (HEADERS, head, 3)
        ]
    );
    // No pushes, a window of 1 GiB, heads of 64 KiB.
    assert_eq!(
        frames[0].3,
        [0, 2, 0, 0, 0, 0, 0, 4, 0x40, 0, 0, 0, 0, 6, 0, 1, 0, 0]
    );
    // GET; /a and x: y written out and added, then by their numbers.
    assert_eq!(
        frames[2].3,
        [0x82, 0x44, 2, b'/', b'a', 0x40, 1, b'x', 1, b'y']
    );
    assert_eq!(frames[3].3, [0x82, 0xbf, 0xbe]);
}

#[test]
fn responses_in_another_order_and_in_pieces() {
    let mut one = session(3);
    let said = Said::hello(&[])
        .head(5, &[(":status", "404"), ("a", "b")], END_STREAM)
        .head(1, &[(":status", "103")], 0)
        .head(1, &[(":status", "200"), ("content-length", "4")], 0)
        .frame(DATA, 0, 1, b"ab")
        .ok(3, b"three")
        .frame(DATA, PADDED, 1, b"\x02c\0\0")
        .frame(DATA, 0, 1, b"d")
        .head(1, &[("trailer", "t")], END_STREAM);
    let (ends, broken) = feed(&mut one, said);
    assert_eq!(broken, None);
    let whole = |id, status, body: &str| (id, status, body.to_owned(), None);
    assert_eq!(
        ends,
        [
            whole(5, 404, ""),
            whole(3, 200, "three"),
            whole(1, 200, "abcd")
        ]
    );
    let acks = frames(&mut one)
        .into_iter()
        .filter(|frame| (frame.0, frame.1) == (SETTINGS, 1));
    assert_eq!(acks.count(), 1);
}

#[test]
fn heads_in_many_frames() {
    let mut session = session(1);
    let block = plain(&[(":status", "200"), ("a", "b")]);
    let (one, rest) = block.split_at(3);
    let said = Said::hello(&[])
        .frame(HEADERS, END_STREAM, 1, one)
        .frame(CONTINUATION, 0, 1, b"")
        .frame(CONTINUATION, END_HEADERS, 1, rest);
    let (ends, broken) = feed(&mut session, said);
    assert_eq!(
        (ends.len(), ends[0].1, ends[0].3, broken),
        (1, 200, None, None)
    );
}

/// Checks that these bytes of a server end the connection with this error.
#[track_caller]
fn breaks(said: Said, breach: Breach) {
    let mut session = session(1);
    frames(&mut session);
    let (_, broken) = feed(&mut session, said);
    assert_eq!(broken, Some(FailureKind::Http2(breach)));
    assert!(session.is_leaving());
    // The server is sent the reason.
    let last = frames(&mut session).pop().expect("something is said");
    assert_eq!(
        (last.0, &last.3[4..]),
        (GOAWAY, &breach.code().0.to_be_bytes()[..])
    );
}

#[test]
fn broken_connections() {
    let hello = || Said::hello(&[]);
    let long = vec![0; 16_385];
    for (said, breach) in [
        (Said::default().frame(PING, 0, 0, &[0; 8]), Breach::Greeting),
        (Said::default().frame(SETTINGS, 1, 0, &[]), Breach::Greeting),
        (hello().frame(DATA, 0, 1, &long), Breach::FrameSize),
        (hello().frame(SETTINGS, 0, 0, &[0; 5]), Breach::FrameSize),
        (hello().frame(SETTINGS, 1, 0, &[0; 6]), Breach::FrameSize),
        (hello().frame(PING, 0, 0, &[0; 7]), Breach::FrameSize),
        (
            hello().frame(WINDOW_UPDATE, 0, 0, &[0; 3]),
            Breach::FrameSize,
        ),
        (hello().frame(RST_STREAM, 0, 1, &[0; 5]), Breach::FrameSize),
        (hello().frame(GOAWAY, 0, 0, &[0; 7]), Breach::FrameSize),
        (hello().frame(DATA, PADDED, 1, &[]), Breach::FrameSize),
        (hello().frame(DATA, 0, 0, b"x"), Breach::FrameOrder),
        (hello().frame(DATA, 0, 3, b"x"), Breach::FrameOrder),
        (hello().frame(HEADERS, 0, 2, b"x"), Breach::FrameOrder),
        (hello().frame(RST_STREAM, 0, 9, &[0; 4]), Breach::FrameOrder),
        (hello().frame(SETTINGS, 0, 1, &[]), Breach::FrameOrder),
        (hello().frame(PING, 0, 1, &[0; 8]), Breach::FrameOrder),
        (
            hello().frame(PUSH_PROMISE, 0, 1, &[0; 8]),
            Breach::FrameOrder,
        ),
        (hello().frame(CONTINUATION, 4, 1, b""), Breach::FrameOrder),
        (
            hello().frame(HEADERS, 0, 1, b"").frame(PING, 0, 0, &[0; 8]),
            Breach::FrameOrder,
        ),
        (hello().frame(DATA, PADDED, 1, &[9, 0]), Breach::Padding),
        (hello().frame(HEADERS, PADDED, 1, &[9, 0]), Breach::Padding),
        (Said::hello(&[(5, 16_383)]), Breach::Setting),
        (
            Said::hello(&[(INITIAL_WINDOW_SIZE, 1 << 31)]),
            Breach::Window,
        ),
        (hello().frame(WINDOW_UPDATE, 0, 0, &[0; 4]), Breach::Window),
        (
            hello().frame(WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255]),
            Breach::Window,
        ),
        (
            hello().frame(HEADERS, END_HEADERS, 1, &[0x80]),
            Breach::Compression,
        ),
    ] {
        breaks(said, breach);
    }
}

#[test]
fn floods_end() {
    let mut pings = Said::hello(&[]);
    let mut pieces = Said::hello(&[]).frame(HEADERS, 0, 1, b"");
    let mut nothing = Said::hello(&[]).head(1, &[(":status", "200")], 0);
    let mut settings = Said::hello(&[]);
    for _ in 0..10_001 {
        pings = pings.frame(PING, 0, 0, &[0; 8]);
        pieces = pieces.frame(CONTINUATION, 0, 1, b"");
        nothing = nothing.frame(DATA, 0, 1, b"");
        settings = settings.frame(SETTINGS, 0, 0, &[]);
    }
    for flood in [pings, pieces, nothing, settings] {
        breaks(flood, Breach::Flood);
    }
    // One that brings something with each ask, and takes no answer.
    let mut untaken = Said::hello(&[]).head(1, &[(":status", "200")], 0);
    for _ in 0..10_001 {
        untaken = untaken.frame(PING, 0, 0, &[0; 8]).frame(DATA, 0, 1, b"x");
    }
    breaks(untaken, Breach::Flood);
    // A head that never ends, and one that grows when it is unpacked.
    let mut long = Said::hello(&[]).frame(HEADERS, 0, 1, b"");
    for _ in 0..5 {
        long = long.frame(CONTINUATION, 0, 1, &[0; 16_000]);
    }
    breaks(long, Breach::HeadTooLong);
    let mut bomb = plain(&[(":status", "200")]);
    bomb.extend_from_slice(&[0x40, 1, b'a', 0x7f, 0xa1, 0x1e]);
    bomb.extend_from_slice(&[b'x'; 4000]);
    bomb.extend_from_slice(&[0xbe; 100]);
    breaks(
        Said::hello(&[]).frame(HEADERS, END_HEADERS, 1, &bomb),
        Breach::HeadTooLong,
    );
}

/// A server that answers the first of two requests so breaks only that one.
#[track_caller]
fn breaks_one(said: impl FnOnce(Said) -> Said, breach: Breach) {
    let mut session = session(2);
    frames(&mut session);
    let (ends, broken) = feed(&mut session, said(Said::hello(&[])).ok(3, b"ok"));
    assert_eq!(broken, None);
    let ended: Vec<(u32, Option<FailureKind>)> = ends.iter().map(|end| (end.0, end.3)).collect();
    assert_eq!(ended, [(1, Some(FailureKind::Http2(breach))), (3, None)]);
    let reset = frames(&mut session)
        .into_iter()
        .find(|frame| frame.0 == RST_STREAM);
    let payload = breach.code().0.to_be_bytes().to_vec();
    assert_eq!(reset, Some((RST_STREAM, 0, 1, payload)));
}

#[test]
fn broken_responses_leave_the_others_alone() {
    let head = |fields: &'static [(&str, &str)]| move |said: Said| said.head(1, fields, END_STREAM);
    for fields in [
        &[("a", "b")][..],
        &[(":status", "20")],
        &[(":status", "200"), (":status", "200")],
        &[("a", "b"), (":status", "200")],
        &[(":status", "200"), (":path", "/")],
        &[(":status", "200"), ("Upper", "x")],
        &[(":status", "200"), ("connection", "close")],
        &[(":status", "200"), ("content-length", "x")],
        &[(":status", "103")],
    ] {
        breaks_one(head(fields), Breach::Head);
    }
    breaks_one(
        head(&[(":status", "200"), ("content-length", "5")]),
        Breach::Length,
    );
    breaks_one(|said| said.frame(DATA, 0, 1, b"early"), Breach::FrameOrder);
    let long = |said: Said| {
        let said = said.head(1, &[(":status", "200"), ("content-length", "1")], 0);
        said.frame(DATA, 0, 1, b"ab")
    };
    breaks_one(long, Breach::Length);
    breaks_one(
        |said| said.frame(WINDOW_UPDATE, 0, 1, &[0; 4]),
        Breach::Window,
    );
    let hints = |said: Said| (0..33).fold(said, |said, _| said.head(1, &[(":status", "103")], 0));
    breaks_one(hints, Breach::Informational);
    let switches = |said: Said| said.head(1, &[(":status", "101")], 0);
    breaks_one(switches, Breach::Head);
}

#[test]
fn requests_that_were_not_begun_are_told_from_those_that_failed() {
    let mut one = session(4);
    let cancelled = Code(8).0.to_be_bytes();
    let refused = Code::REFUSED_STREAM.0.to_be_bytes();
    let said = Said::hello(&[])
        .frame(RST_STREAM, 0, 1, &cancelled)
        .frame(RST_STREAM, 0, 3, &refused)
        .frame(GOAWAY, 0, 0, &[0, 0, 0, 5, 0, 0, 0, 0])
        .ok(5, b"ok");
    let (ends, broken) = feed(&mut one, said);
    assert_eq!(broken, None);
    let why: Vec<(u32, Option<FailureKind>)> = ends.iter().map(|end| (end.0, end.3)).collect();
    let reset = FailureKind::StreamReset(Code::CANCEL);
    assert_eq!(
        why,
        [
            (1, Some(reset)),
            (3, Some(FailureKind::Unprocessed)),
            (7, Some(FailureKind::Unprocessed)),
            (5, None)
        ]
    );
    assert_eq!(reset.name(), "stream-reset-cancel");
    assert!(one.is_leaving() && ask(&mut one, 9, b"").is_none());
    assert_eq!(one.why_ended(), FailureKind::ClosedEarly);
    let mut two = session(1);
    feed(
        &mut two,
        Said::hello(&[]).frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 2]),
    );
    assert_eq!(two.why_ended().name(), "goaway-internal-error");
}

#[test]
fn a_server_of_http_1_is_told() {
    let mut session = session(1);
    let said = Said(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec());
    assert_eq!(feed(&mut session, said).1, Some(FailureKind::NoHttp2));
}

#[test]
fn no_more_streams_than_the_server_wants() {
    let mut session = session(100);
    // Before it has said anything, no more than any server should allow.
    assert_eq!(session.room(), Room::Later);
    feed(&mut session, Said::hello(&[(MAX_CONCURRENT_STREAMS, 101)]));
    assert!(ask(&mut session, 7, b"").is_some());
    assert_eq!(
        (session.room(), ask(&mut session, 7, b"")),
        (Room::Later, None)
    );
    feed(&mut session, Said::default().ok(9, b""));
    assert_eq!(session.room(), Room::Now);
}

#[test]
fn bodies_wait_for_windows() {
    let sent = |session: &mut Session| -> usize {
        session.fill();
        let data = frames(session).into_iter().filter(|frame| frame.0 == DATA);
        data.map(|frame| frame.3.len()).sum()
    };
    let mut session = session(0);
    for user in 0..2 {
        ask(&mut session, user, &[b'x'; 50_000]).expect("there is room");
    }
    // The connection's window is smaller than both bodies.
    assert_eq!(sent(&mut session), 65_535);
    assert!(!session.has_sent());
    let more = |stream: u32, bytes: u32| {
        Said::default().frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
    };
    let mut hello = Said::hello(&[(INITIAL_WINDOW_SIZE, 10_000)]);
    hello.0.extend(more(0, 1 << 20).0);
    feed(&mut session, hello);
    // Both streams have sent more than their new window: it is below zero.
    assert_eq!(sent(&mut session), 0);
    feed(&mut session, more(1, 30_000));
    feed(&mut session, more(3, 50_000));
    sent(&mut session);
    feed(&mut session, more(1, 50_000));
    sent(&mut session);
    assert!(session.has_sent());
    session.stamp_sent(5);
    for id in [1, 3] {
        let stream = session.stream(id).expect("it is open");
        assert_eq!((stream.sent_ns, stream.left().len()), (5, 0));
    }
}

#[test]
fn a_small_table_at_the_other_end() {
    let mut session = session(2);
    frames(&mut session);
    feed(&mut session, Said::hello(&[(1, 0)]));
    ask(&mut session, 2, b"");
    ask(&mut session, 3, b"");
    let heads: Vec<Vec<u8>> = frames(&mut session)
        .into_iter()
        .filter(|frame| frame.0 == HEADERS)
        .map(|frame| frame.3)
        .collect();
    let written = [0x82, 0x44, 2, b'/', b'a', 0x40, 1, b'x', 1, b'y'];
    // The new size first, and no numbers of entries that are no longer there.
    assert_eq!(heads[0], [&[0x20], &written[..]].concat());
    assert_eq!(heads[1], written);
}

#[test]
fn windows_are_opened_again() {
    let mut session = session(1);
    frames(&mut session);
    feed(
        &mut session,
        Said::hello(&[]).head(1, &[(":status", "200")], 0),
    );
    // More than half of the window, which is 1 GiB.
    const PORTIONS: u64 = 33_000;
    let data = Said::default().frame(DATA, 0, 1, &[0; 16_384]);
    let mut opened = Vec::new();
    for _ in 0..PORTIONS {
        session.feed(&data.0, 7).expect("it keeps the rules");
        if !session.pending().is_empty() {
            let said = frames(&mut session).into_iter();
            opened.extend(said.filter(|frame| frame.0 == WINDOW_UPDATE));
        }
    }
    let streams: Vec<u32> = opened.iter().map(|frame| frame.2).collect();
    assert_eq!(streams, [0, 1]);
    let stream = session.stream(1).expect("it is open");
    assert_eq!(
        (stream.body_bytes, stream.body.len()),
        (PORTIONS * 16_384, 1024)
    );
}

#[test]
fn numbers_of_streams_run_out() {
    let mut session = session(0);
    session.begin_at(frame::MOST - 2);
    assert_eq!(ask(&mut session, 0, b""), Some(frame::MOST - 2));
    assert!(!session.is_leaving());
    assert_eq!(ask(&mut session, 1, b""), Some(frame::MOST));
    assert!(session.is_leaving());
    assert_eq!(
        (session.room(), ask(&mut session, 2, b"")),
        (Room::Never, None)
    );
}

#[test]
fn long_and_short_streams_share_a_connection() {
    let mut session = session(1);
    feed(&mut session, Said::hello(&[]));
    let mut last = 1;
    for user in 0..1000 {
        let id = ask(&mut session, user, b"").expect("there is room");
        assert!(id > last);
        let (ends, broken) = feed(&mut session, Said::default().ok(id, b"x"));
        assert_eq!((ends.len(), broken), (1, None));
        frames(&mut session);
        last = id;
    }
    let (ends, _) = feed(&mut session, Said::default().ok(1, b"late"));
    assert_eq!(ends[0].2, "late");
}
