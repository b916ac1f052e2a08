//! Tests with the header blocks of the standard's own examples and with frames as a server might
//! send them, cut at every position.

use proptest::prelude::*;

use super::frame::{
    self, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS, PADDED, PING, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use super::hpack::{BadBlock, Decoder};
use super::*;
use crate::failure::{Breach, Code};

mod blocks;
mod peers;

/// A session with so many requests under way, each without a body.
fn session(requests: u32) -> Session {
    let mut session = Session::new(Limits::default());
    for user in 0..requests {
        assert_eq!(ask(&mut session, user, b""), Some(user * 2 + 1));
    }
    session
}

fn ask(session: &mut Session, user: u32, body: &[u8]) -> Option<u32> {
    let head = RequestHead::new([(":method", "GET"), (":path", "/a"), ("x", "y")]);
    session.open(Ask {
        user,
        first: &head.first,
        next: &head.next,
        body,
        is_to_head: false,
        keep: Keep::Body { at_most: 1024 },
    })
}

/// Bytes that a server sends.
#[derive(Default)]
struct Said(Vec<u8>);

impl Said {
    /// It begins with settings.
    fn hello(settings: &[(u16, u32)]) -> Self {
        let mut said = Self::default();
        frame::put_settings(&mut said.0, settings);
        said
    }

    fn frame(mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        frame::put(&mut self.0, kind, flags, stream, payload);
        self
    }

    fn head(self, stream: u32, fields: &[(&str, &str)], flags: u8) -> Self {
        self.frame(HEADERS, flags | END_HEADERS, stream, &plain(fields))
    }

    fn ok(self, stream: u32, body: &[u8]) -> Self {
        self.head(stream, &[(":status", "200")], 0)
            .frame(DATA, END_STREAM, stream, body)
    }
}

/// Fields written out, each as a literal that is not added to the table.
fn plain(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        hpack::put_string(&mut block, name.as_bytes());
        hpack::put_string(&mut block, value.as_bytes());
    }
    block
}

/// End of a stream: number, status, body, and the reason why it is not whole.
type End = (u32, u16, String, Option<FailureKind>);

/// Feeds bytes of a server; returns how streams ended and whether the connection did.
fn feed(session: &mut Session, said: Said) -> (Vec<End>, Option<FailureKind>) {
    let broken = session.feed(&said.0, 7).err();
    let mut ends = Vec::new();
    while let Some(id) = session.next_ended() {
        let stream = session.stream(id).expect("nobody closed it");
        let why = match stream.reading {
            Reading::Ended(why) => why,
            other => panic!("a stream that ended is {other:?}"),
        };
        let body = String::from_utf8_lossy(&stream.body).into_owned();
        ends.push((id, stream.status, body, why));
        session.close(id);
    }
    (ends, broken)
}

/// Takes the frames that the session has to send: kind, flags, stream, payload.
fn frames(session: &mut Session) -> Vec<(u8, u8, u32, Vec<u8>)> {
    let bytes = session.pending().to_vec();
    session.left(bytes.len());
    let mut rest = bytes.strip_prefix(frame::PREFACE).unwrap_or(&bytes);
    let mut frames = Vec::new();
    while let Some((header, after)) = rest.split_first_chunk() {
        let header = frame::Header::read(header);
        let (payload, after) = after.split_at(header.length);
        frames.push((header.kind, header.flags, header.stream, payload.to_vec()));
        rest = after;
    }
    assert!(rest.is_empty());
    frames
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 1..40usize) {
        super::any_bytes(&bytes, cut);
    }

    #[test]
    fn any_frames_in_any_pieces(
        frames in prop::collection::vec(
            (0..11u8, any::<u8>(), 0..12u32, prop::collection::vec(any::<u8>(), 0..24)),
            0..12,
        ),
        cut in 1..40usize,
    ) {
        let mut said = Said::hello(&[]);
        for (kind, flags, stream, payload) in frames {
            said = said.frame(kind, flags, stream, &payload);
        }
        super::any_bytes(&said.0, cut);
    }

    #[test]
    fn any_blocks_stay_within_bounds(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        super::any_blocks(&bytes);
    }
}
