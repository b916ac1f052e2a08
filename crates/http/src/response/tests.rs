//! Tests of heads, lengths and chunks, cut at every position.

use proptest::prelude::*;

use super::*;

/// Content of a whole response.
#[derive(Debug, PartialEq, Eq, Clone)]
struct Read {
    status: u16,
    reason: String,
    headers: String,
    body: String,
    head_bytes: u64,
    body_bytes: u64,
    persists: bool,
    used: usize,
}

const EVERYTHING: Keep = Keep::Body { at_most: 1 << 20 };

fn limits() -> Limits {
    Limits {
        head_bytes: 512,
        trailer_bytes: 64,
        informational: 2,
    }
}

/// Feeds `bytes` cut at `cuts`, then the end; `None` when the response is not whole.
fn read_in_pieces(
    bytes: &[u8],
    cuts: &[usize],
    is_to_head: bool,
) -> Result<Option<Read>, Malformed> {
    let mut response = Response::new(limits());
    response.begin(Asked {
        is_head: is_to_head,
        switch: Switch::Asked,
        keep: EVERYTHING,
    });
    let mut used = 0;
    let ends = cuts.iter().copied().chain([bytes.len()]);
    let mut from = 0;
    let mut done = false;
    for until in ends {
        let fed = response.feed(&bytes[from..until])?;
        used += fed.used;
        done = fed.done;
        if done {
            break;
        }
        assert_eq!(
            fed.used,
            until - from,
            "a response that is not whole uses everything"
        );
        from = until;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((done || response.closed()).then(|| Read {
        status: response.status(),
        reason: text(response.reason()),
        headers: text(response.headers()),
        body: text(response.body_kept()),
        head_bytes: response.head_bytes(),
        body_bytes: response.body_bytes(),
        persists: response.persists(),
        used,
    }))
}

fn read(text: &str) -> Result<Option<Read>, Malformed> {
    read_in_pieces(text.as_bytes(), &[], false)
}

fn whole(text: &str) -> Read {
    read(text).expect("it is HTTP").expect("it is whole")
}

fn check_body(text: &str, body: &str, persists: bool) {
    let read = whole(text);
    assert_eq!(
        (read.body.as_str(), read.persists),
        (body, persists),
        "{text:?}"
    );
    assert_eq!(read.body_bytes, body.len() as u64);
}

#[test]
fn a_length_ends_the_body() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\nhelloNEXT";
    let read = whole(text);
    assert_eq!(read.status, 200);
    assert_eq!(read.reason, "OK");
    assert_eq!(read.headers, "Content-Length: 5\r\nServer: x\r\n");
    assert_eq!((read.body.as_str(), read.used), ("hello", text.len() - 4));
    assert!(read.persists);
}

#[test]
fn bodies_end_as_the_head_says() {
    let head = "HTTP/1.1 200 OK\r\n";
    let with = |rest: &str| format!("{head}{rest}");
    check_body(&with("content-length:0\r\n\r\nrest"), "", true);
    check_body(&with("Content-Length: 3, 3\r\n\r\nabcd"), "abc", true);
    check_body(
        &with("Connection: foo, Close\r\nContent-Length: 1\r\n\r\na"),
        "a",
        false,
    );
    check_body(&with("\r\nuntil the end"), "until the end", false);
    check_body(&with("Transfer-Encoding: gzip\r\n\r\nxyz"), "xyz", false);
    check_body("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "a", false);
    check_body(
        "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na",
        "a",
        true,
    );
    check_body(
        "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n",
        "",
        true,
    );
    check_body("HTTP/1.1 304 Not Modified\r\n\r\n", "", true);
    check_body(
        "HTTP/1.1 101 Switching Protocols\r\n\r\nwhatever",
        "",
        false,
    );
    // Line ends without their carriage return, a reason left out, a folded line.
    check_body(
        "HTTP/1.1 200\nA: b\n c\nContent-Length: 2\n\nok",
        "ok",
        true,
    );
}

#[test]
fn a_head_request_has_no_body() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    let read = read_in_pieces(text, &[], true)
        .expect("HTTP")
        .expect("whole");
    assert_eq!((read.body_bytes, read.persists), (0, true));
}

#[test]
fn chunks_are_joined() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n";
    let with = |rest: &str| format!("{head}{rest}");
    check_body(&with("\r\n5\r\nhello\r\n0\r\n\r\nNEXT"), "hello", true);
    check_body(
        &with("\r\n1;a=b\r\nx\r\nA \r\n0123456789\r\n00\r\nTrailer: y\r\n\r\n"),
        "x0123456789",
        true,
    );
    check_body(&with("\r\n1\nx\n0\n\n"), "x", true);
    // A length beside it: the chunks count, and the connection is not trusted.
    check_body(
        &with("Content-Length: 3\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
        "x",
        false,
    );
}

#[test]
fn informational_responses_are_passed_over() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
                HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
    let read = whole(text);
    assert_eq!((read.status, read.reason.as_str()), (200, "OK"));
    assert_eq!(read.head_bytes, text.len() as u64 - 1);
}

#[test]
fn what_is_not_whole_is_not_whole() {
    for text in [
        "",
        "HTT",
        "HTTP/1.1 200 OK\r\nContent-Len",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        assert_eq!(read(text), Ok(None), "{text:?}");
    }
}

#[test]
fn what_is_no_response_is_told() {
    let check = |text: &str, why| assert_eq!(read(text), Err(why), "{text:?}");
    check("SSH-2.0-OpenSSH\r\n", Malformed::StatusLine);
    check("\x15\x03\x01", Malformed::StatusLine);
    check("HTTP/2 200 OK\r\n\r\n", Malformed::StatusLine);
    check("HTTP/1.1 20 OK\r\n\r\n", Malformed::StatusLine);
    check("HTTP/1.1 2000 OK\r\n\r\n", Malformed::StatusLine);
    check("HTTP/1.1 099 OK\r\n\r\n", Malformed::StatusLine);
    let with = |line: &str| format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n");
    check(&with("no colon"), Malformed::Header);
    check(&with(": no name"), Malformed::Header);
    check(&with("Content-Length: five"), Malformed::Length);
    check(&with("Content-Length: -1"), Malformed::Length);
    check(
        &with("Content-Length: 99999999999999999999"),
        Malformed::Length,
    );
    check(
        &with("Content-Length: 1\r\nContent-Length: 2"),
        Malformed::Length,
    );
    let long = format!("X: {}", "y".repeat(600));
    check(&with(&long), Malformed::HeadTooLong);
    let again = "HTTP/1.1 100 Continue\r\n\r\n".repeat(3);
    check(&again, Malformed::Informational);
    let chunked = |body: &str| format!("{}{body}", with("Transfer-Encoding: chunked"));
    check(&chunked("x\r\n"), Malformed::Chunk);
    check(&chunked("\r\n"), Malformed::Chunk);
    check(&chunked("1\r\nxy"), Malformed::ChunkEnd);
    check(&chunked("1111111111111111\r\n"), Malformed::Chunk);
    check(
        &chunked(&format!("1;{}", "e".repeat(5000))),
        Malformed::Chunk,
    );
    let trailer = format!("0\r\nX: {}\r\n\r\n", "y".repeat(80));
    check(&chunked(&trailer), Malformed::TrailerTooLong);
}

#[test]
fn another_protocol_is_an_answer_to_those_who_asked_for_it() {
    let text = b"HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    let status = |switch: Switch| {
        let mut response = Response::new(limits());
        response.begin(Asked {
            switch,
            ..Asked::default()
        });
        let fed = response.feed(text)?;
        Ok((fed.done, response.status()))
    };
    assert_eq!(status(Switch::Asked), Ok((true, 101)));
    assert_eq!(status(Switch::Informational), Ok((true, 204)));
    assert_eq!(status(Switch::Unasked), Err(Malformed::UnaskedSwitch));
}

#[test]
fn only_what_is_wanted_is_kept() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let mut response = Response::new(limits());
    for (keep, headers, body) in [
        (Keep::Nothing, "", ""),
        (Keep::Head, "Content-Length: 5\r\n", ""),
        (Keep::Body { at_most: 2 }, "Content-Length: 5\r\n", "he"),
        (Keep::Nothing, "", ""),
    ] {
        response.begin(Asked {
            keep,
            ..Asked::default()
        });
        assert_eq!(response.feed(text).map(|fed| fed.done), Ok(true));
        assert_eq!(response.headers(), headers.as_bytes());
        assert_eq!(response.body_kept(), body.as_bytes());
        assert_eq!((response.status(), response.body_bytes()), (200, 5));
    }
}

/// Responses of every kind, whole and broken.
const SAMPLES: &[&str] = &[
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloNEXT",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 Not Found\nConnection: keep-alive\nContent-Length: 2\n\nno",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n2\r\nbc\r\n0\r\nT: u\r\n\r\nNEXT",
    "HTTP/1.1 200 OK\r\n\r\nuntil closed",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello",
    "nonsense",
];

#[test]
fn every_cut_in_two_reads_the_same() {
    for text in SAMPLES {
        let expected = read(text);
        for cut in 0..=text.len() {
            let found = read_in_pieces(text.as_bytes(), &[cut], false);
            assert_eq!(found, expected, "{text:?} cut at {cut}");
        }
        let all: Vec<usize> = (0..text.len()).collect();
        assert_eq!(
            read_in_pieces(text.as_bytes(), &all, false),
            expected,
            "{text:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_read_the_same(
        begin in prop::sample::select(SAMPLES),
        keep in 0usize..80,
        tail in prop::collection::vec(any::<u8>(), 0..60),
        mut cuts in prop::collection::vec(0usize..140, 0..6),
    ) {
        let mut bytes = begin.as_bytes()[..keep.min(begin.len())].to_vec();
        bytes.extend(tail);
        cuts.retain(|cut| *cut <= bytes.len());
        cuts.sort_unstable();
        let expected = read_in_pieces(&bytes, &[], false);
        prop_assert_eq!(read_in_pieces(&bytes, &cuts, false), expected);
    }

    #[test]
    fn any_bytes_hold_what_the_fuzz_target_asserts(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        cut in 0usize..40,
    ) {
        any_bytes(&bytes, cut);
    }
}
