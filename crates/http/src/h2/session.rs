//! The client's end of an HTTP/2 connection: the frames it sends and the state it keeps.

use std::collections::VecDeque;

use super::frame::{
    self, DATA, ENABLE_PUSH, END_STREAM, FRAME_BYTES, GOAWAY, Header, INITIAL_WINDOW_SIZE,
    MAX_HEADER_LIST_SIZE, PREFACE, RST_STREAM, WINDOW_BYTES, WINDOW_UPDATE,
};
use super::hpack::{self, Decoder};
use super::stream::{Reading, Stream, Streams};
use crate::engine::Limits;
use crate::failure::{Code, FailureKind};
use crate::user::Keep;

/// Window that we give each stream and the connection: bodies are counted, not kept, and need never
/// wait for us.
pub(super) const OWN_WINDOW: i64 = 1 << 30;
/// A window is opened again when so much of it is used.
const OWN_WINDOW_LOW: i64 = OWN_WINDOW / 2;
/// Streams that are opened before the server has sent its limit: no server should allow fewer (RFC 9113
/// §6.5.2).
const STREAMS_UNTOLD: u32 = 100;
/// Bytes in the buffer above which no more bodies are put there.
const OUT_BYTES: usize = 256 * 1024;
/// Bytes of buffers that outlive a connection.
const ROOM_KEPT: usize = 64 * 1024;

/// A request as it is handed over.
pub(crate) struct Ask<'a> {
    /// The user of the request.
    pub(crate) user: u32,
    /// Head of the first request of a connection; see [`super::RequestHead`].
    pub(crate) first: &'a [u8],
    /// Head of the others.
    pub(crate) next: &'a [u8],
    /// The whole body; empty: there is none.
    pub(crate) body: &'a [u8],
    /// The response has no body, whatever its head contains.
    pub(crate) is_to_head: bool,
    /// The parts of the response that are kept.
    pub(crate) keep: Keep,
}

/// Whether another request can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Now.
    Now,
    /// Later, once one of those under way has ended.
    Later,
    /// Not on this connection.
    Never,
}

/// The settings and limits that the server has sent.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) has_greeted: bool,
    pub(super) streams: u32,
    pub(super) window: i64,
    /// The server closes after this (GOAWAY): the last stream that it processes, and the reason.
    pub(super) leaves: Option<(u32, Code)>,
}

/// The client's end of one connection.
pub(crate) struct Session {
    pub(super) limits: Limits,
    pub(super) streams: Streams,
    pub(super) peer: Peer,
    /// Frames that are to leave; those before `left_from` have.
    pub(super) out: Vec<u8>,
    left_from: usize,
    /// Acknowledgements since `out` was empty.
    pub(super) untaken_acks: u32,
    /// Bytes that left before those in `out`.
    gone: u64,
    /// Requests whose last frame is in `out`: how many bytes of the connection end there.
    leaving: VecDeque<(u64, u32)>,
    /// Streams with a body that waits to become frames.
    sending: VecDeque<u32>,
    pub(super) send_window: i64,
    pub(super) receive_window: i64,
    /// The peer broke the rules of the connection.
    pub(super) is_broken: bool,
    /// The first head has left: its fields are in the peer's table.
    has_first: bool,
    /// The peer's table is too small for our fields.
    is_plain: bool,
    /// A new size of that table, to be announced in the next header block.
    new_table_bytes: Option<usize>,
    /// Streams that ended and were not yet reported.
    pub(super) ended: VecDeque<u32>,
    pub(super) reader: super::receive::H2Reader,
    pub(super) decoder: Decoder,
}

impl Session {
    /// A new connection: the preface and settings are in the send buffer.
    pub(crate) fn new(limits: Limits) -> Self {
        let mut session = Self {
            limits,
            streams: Streams::new(1),
            peer: Peer::new(),
            out: Vec::with_capacity(FRAME_BYTES),
            left_from: 0,
            untaken_acks: 0,
            gone: 0,
            leaving: VecDeque::new(),
            sending: VecDeque::new(),
            send_window: i64::from(WINDOW_BYTES),
            receive_window: OWN_WINDOW,
            is_broken: false,
            has_first: false,
            is_plain: false,
            new_table_bytes: None,
            ended: VecDeque::new(),
            reader: super::receive::H2Reader::default(),
            decoder: Decoder::new(),
        };
        session.greet();
        session
    }

    /// Resets the session and keeps its buffers.
    pub(crate) fn reset(&mut self) {
        self.streams.reset();
        self.peer = Peer::new();
        self.out.clear();
        self.out.shrink_to(ROOM_KEPT);
        (self.left_from, self.untaken_acks, self.gone) = (0, 0, 0);
        self.leaving.clear();
        self.sending.clear();
        (self.send_window, self.receive_window) = (i64::from(WINDOW_BYTES), OWN_WINDOW);
        self.is_broken = false;
        (self.has_first, self.is_plain, self.new_table_bytes) = (false, false, None);
        self.ended.clear();
        self.reader = super::receive::H2Reader::default();
        self.decoder = Decoder::new();
        self.greet();
    }

    /// Numbers of streams begin here.
    #[cfg(test)]
    pub(super) fn begin_at(&mut self, next_id: u32) {
        self.streams = Streams::new(next_id);
    }

    fn greet(&mut self) {
        self.out.extend_from_slice(PREFACE);
        let settings = [
            (ENABLE_PUSH, 0),
            (INITIAL_WINDOW_SIZE, OWN_WINDOW as u32),
            (MAX_HEADER_LIST_SIZE, self.limits.head_bytes as u32),
        ];
        frame::put_settings(&mut self.out, &settings);
        let more = OWN_WINDOW as u32 - WINDOW_BYTES;
        frame::put_word(&mut self.out, WINDOW_UPDATE, 0, more);
    }

    /// Whether another request can begin.
    #[inline]
    pub(crate) fn room(&self) -> Room {
        if self.is_leaving() {
            return Room::Never;
        }
        let most = match self.peer.has_greeted {
            true => self.peer.streams,
            false => STREAMS_UNTOLD,
        };
        match self.streams.count() < most as usize {
            true => Room::Now,
            false => Room::Later,
        }
    }

    /// Requests at a time that the server grants; `None` before it has said so.
    pub(crate) fn granted(&self) -> Option<u32> {
        self.peer.has_greeted.then_some(self.peer.streams)
    }

    /// True when no request can begin on this connection any more.
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_broken || self.peer.leaves.is_some() || self.streams.are_used_up()
    }

    /// Begins a request and returns the number of its stream; `None`: there is no [`Room`].
    #[inline]
    pub(crate) fn open(&mut self, ask: Ask<'_>) -> Option<u32> {
        if self.room() != Room::Now {
            return None;
        }
        let id = self.streams.open(ask.user)?;
        let begin = self.out.len();
        let ends = ask.body.is_empty();
        self.put_head(id, &ask, ends);
        let window = self.peer.window;
        let head_bytes = (self.out.len() - begin) as u64;
        let stream = self.streams.get_mut(id)?;
        stream.keep = ask.keep;
        stream.is_to_head = ask.is_to_head;
        stream.send_window = window;
        stream.receive_window = OWN_WINDOW;
        stream.request_bytes = head_bytes;
        match ends {
            true => self
                .leaving
                .push_back((self.gone + self.out.len() as u64, id)),
            false => {
                stream.unsent.extend_from_slice(ask.body);
                stream.is_queued = true;
                self.sending.push_back(id);
            }
        }
        Some(id)
    }

    #[inline]
    fn put_head(&mut self, id: u32, ask: &Ask<'_>, ends: bool) {
        let mut block = match self.has_first && !self.is_plain {
            true => ask.next,
            false => ask.first,
        };
        let resized;
        if let Some(bytes) = self.new_table_bytes.take() {
            let mut whole = Vec::with_capacity(block.len() + 5);
            hpack::put_number(&mut whole, 0x20, 5, bytes);
            whole.extend_from_slice(block);
            resized = whole;
            block = &resized;
        }
        self.has_first = true;
        frame::put_block(&mut self.out, id, block, ends);
    }

    /// Processes the size of the peer's header table.
    pub(super) fn table_is(&mut self, bytes: usize) {
        let bytes = bytes.min(hpack::TABLE_BYTES);
        if bytes < hpack::TABLE_BYTES || self.is_plain {
            self.is_plain = true;
            self.new_table_bytes = Some(bytes);
        }
    }

    /// A stream that is open.
    #[inline]
    pub(crate) fn stream(&self, id: u32) -> Option<&Stream> {
        self.streams.get(id)
    }

    /// Users of all streams.
    pub(crate) fn users(&mut self) -> Vec<u32> {
        self.streams.all().map(|stream| stream.user).collect()
    }

    /// Requests under way.
    #[inline]
    pub(crate) fn under_way(&self) -> usize {
        self.streams.count()
    }

    /// Returns a stream that has ended and was not yet reported; the caller closes it.
    #[inline]
    pub(crate) fn next_ended(&mut self) -> Option<u32> {
        self.ended.pop_front()
    }

    /// Forgets a stream. One whose request or response is not whole is called off.
    #[inline]
    pub(crate) fn close(&mut self, id: u32) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        let is_over = stream.has_ended() && stream.left().is_empty();
        if !is_over {
            frame::put_word(&mut self.out, RST_STREAM, id, Code::CANCEL.0);
        }
        self.streams.close(id);
    }

    /// Ends a stream, which is then reported.
    pub(super) fn end(&mut self, id: u32, why: Option<FailureKind>) {
        let Some(stream) = self
            .streams
            .get_mut(id)
            .filter(|stream| !stream.has_ended())
        else {
            return;
        };
        stream.reading = Reading::Ended(why);
        self.ended.push_back(id);
    }

    /// Ends a stream that broke the rules; the server is sent the reason.
    pub(super) fn reset_stream(&mut self, id: u32, why: crate::failure::Breach) {
        frame::put_word(&mut self.out, RST_STREAM, id, why.code().0);
        if let Some(stream) = self.streams.get_mut(id) {
            stream.unsent.clear();
            stream.unsent_from = 0;
        }
        self.end(id, Some(FailureKind::Http2(why)));
    }

    /// Says goodbye: nothing else leaves after it.
    pub(crate) fn say_goodbye(&mut self, code: Code) {
        let mut payload = [0; 8];
        payload[4..].copy_from_slice(&code.0.to_be_bytes());
        frame::put(&mut self.out, GOAWAY, 0, 0, &payload);
    }

    /// Reason for the end of a connection that ended now.
    pub(crate) fn why_ended(&self) -> FailureKind {
        match self.peer.leaves {
            Some((_, code)) if code != Code::NO_ERROR => FailureKind::GoneAway(code),
            _ => FailureKind::ClosedEarly,
        }
    }

    /// Makes frames of bodies, as far as windows and the buffer allow, one of each stream in turn.
    pub(crate) fn fill(&mut self) {
        while self.out.len() - self.left_from < OUT_BYTES
            && self.send_window > 0
            && let Some(id) = self.sending.pop_front()
        {
            self.put_data(id);
        }
    }

    /// Makes one frame of a stream's body.
    fn put_data(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        let window = stream.send_window.min(self.send_window).max(0);
        let left = stream.unsent.len() - stream.unsent_from;
        let length = usize::try_from(window).unwrap_or(usize::MAX);
        let length = length.min(left).min(FRAME_BYTES);
        if length == 0 {
            // A window that opens puts it back into the queue.
            stream.is_queued = false;
            return;
        }
        let flags = if length == left { END_STREAM } else { 0 };
        let header = Header {
            length,
            kind: DATA,
            flags,
            stream: id,
        };
        header.put(&mut self.out);
        let from = stream.unsent_from;
        self.out
            .extend_from_slice(&stream.unsent[from..from + length]);
        stream.unsent_from += length;
        stream.request_bytes += (frame::HEADER_BYTES + length) as u64;
        stream.send_window -= length as i64;
        self.send_window -= length as i64;
        match length == left {
            true => self
                .leaving
                .push_back((self.gone + self.out.len() as u64, id)),
            false => self.sending.push_back(id),
        }
    }

    /// A stream's window has opened.
    pub(super) fn may_send(&mut self, id: u32) {
        if let Some(stream) = self.streams.get_mut(id)
            && !stream.is_queued
            && !stream.left().is_empty()
            && stream.send_window > 0
        {
            stream.is_queued = true;
            self.sending.push_back(id);
        }
    }

    /// Opens windows of which much is used; `id`: the stream that something came for.
    #[inline]
    pub(super) fn open_windows(&mut self, id: u32) {
        if self.receive_window < OWN_WINDOW_LOW {
            let more = (OWN_WINDOW - self.receive_window) as u32;
            frame::put_word(&mut self.out, WINDOW_UPDATE, 0, more);
            self.receive_window = OWN_WINDOW;
        }
        if let Some(stream) = self.streams.get_mut(id)
            && stream.receive_window < OWN_WINDOW_LOW
        {
            let more = (OWN_WINDOW - stream.receive_window) as u32;
            stream.receive_window = OWN_WINDOW;
            frame::put_word(&mut self.out, WINDOW_UPDATE, id, more);
        }
    }

    /// The bytes to send.
    #[inline]
    pub(crate) fn pending(&self) -> &[u8] {
        &self.out[self.left_from..]
    }

    /// True when something has left.
    pub(crate) fn has_begun(&self) -> bool {
        self.gone + self.left_from as u64 > 0
    }

    /// Removes this many pending bytes, which were sent.
    #[inline]
    pub(crate) fn left(&mut self, count: usize) {
        self.left_from += count;
        if self.left_from == self.out.len() {
            self.gone += self.out.len() as u64;
            self.out.clear();
            (self.left_from, self.untaken_acks) = (0, 0);
        } else if self.left_from >= OUT_BYTES {
            self.out.drain(..self.left_from);
            self.gone += self.left_from as u64;
            self.left_from = 0;
        }
    }

    /// True when the last byte of a request was sent and the time of that is not recorded yet.
    #[inline]
    pub(crate) fn has_sent(&self) -> bool {
        let left = self.gone + self.left_from as u64;
        self.leaving
            .front()
            .is_some_and(|(until, _)| *until <= left)
    }

    /// Writes down when requests left whose last byte has.
    #[inline]
    pub(crate) fn stamp_sent(&mut self, now_ns: i64) {
        while self.has_sent()
            && let Some((_, id)) = self.leaving.pop_front()
        {
            if let Some(stream) = self.streams.get_mut(id) {
                stream.sent_ns = now_ns;
            }
        }
    }
}

impl Peer {
    /// The settings that hold until the server sends others.
    fn new() -> Self {
        Self {
            has_greeted: false,
            streams: u32::MAX,
            window: i64::from(WINDOW_BYTES),
            leaves: None,
        }
    }
}
