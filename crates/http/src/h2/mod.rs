//! The HTTP/2 protocol (RFC 9113), client side.
//!
//! ```text
//! preface, settings, window ──►
//! HEADERS 1, HEADERS 3, … ────►          ◄── settings
//! settings' receipt ──────────►          ◄── HEADERS 3, DATA 3, HEADERS 1, DATA 1, …
//! DATA 5, as windows allow ───►          ◄── window
//! ```
//!
//! [`Session`] does no I/O: received bytes are fed to it, bytes to send are appended to a buffer. All
//! requests of a connection share both, so that one system call carries many of them.

mod frame;
mod head;
mod hpack;
mod huffman;
mod receive;
pub mod request;
mod session;
mod stream;
mod table;

pub use request::RequestHead;
pub(crate) use session::{Ask, Room, Session};
pub(crate) use stream::Reading;

use crate::engine::Limits;
use crate::failure::FailureKind;
use crate::user::Keep;

/// Reads any bytes as what a server sends, whole and in pieces of `cut` bytes: both come to the
/// same, and nothing panics.
pub fn any_bytes(bytes: &[u8], cut: usize) {
    /// Number, status, bytes of the body, and whether it is whole.
    type End = (u32, u16, u64, bool);
    let read = |piece: usize| -> (Option<FailureKind>, Vec<End>) {
        let mut session = Session::new(Limits::default());
        let head = RequestHead::new([(":method", "GET"), ("x", "y")]);
        for user in 0..4 {
            let _ = session.open(Ask {
                user,
                first: &head.first,
                next: &head.next,
                body: &[b'z'; 100_000][..if user == 3 { 100_000 } else { 0 }],
                is_to_head: user == 2,
                keep: Keep::Body { at_most: 4096 },
            });
        }
        let mut ended = Vec::new();
        let mut broken = None;
        for piece in bytes.chunks(piece.max(1)) {
            broken = session.feed(piece, 1).err();
            while let Some(id) = session.next_ended() {
                if let Some(stream) = session.stream(id) {
                    let is_whole = stream.reading == Reading::Ended(None);
                    ended.push((id, stream.status, stream.body_bytes, is_whole));
                }
                session.close(id);
            }
            session.fill();
            if broken.is_some() {
                break;
            }
        }
        (broken, ended)
    };
    assert_eq!(read(cut), read(bytes.len()));
}

/// Reads any bytes as header blocks of one connection; the byte before each block gives its length.
pub fn any_blocks(mut bytes: &[u8]) {
    const MOST_BYTES: usize = 1024;
    let mut decoder = hpack::Decoder::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (block, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        let mut seen = 0;
        let each = |name: &[u8], value: &[u8]| seen += name.len() + value.len();
        let is_read = decoder.read(block, MOST_BYTES, each).is_ok();
        assert!(seen <= MOST_BYTES);
        if !is_read {
            return;
        }
        bytes = rest;
    }
}

#[cfg(test)]
mod tests;
