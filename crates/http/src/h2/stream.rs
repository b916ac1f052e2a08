//! State of one request with its response, and the table that finds it by stream number.

use super::frame::MOST;
use crate::failure::FailureKind;
use crate::user::Keep;

/// Bytes of a stream's buffers that outlive their use.
const ROOM_KEPT: usize = 16 * 1024;
/// Streams that a table begins with room for; a power of two.
const FIRST_ROOM: usize = 16;

/// Progress of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Its head has not come.
    Head,
    /// Its body is coming.
    Body,
    /// The stream failed for this reason; `None`: the response is complete.
    Ended(Option<FailureKind>),
}

/// One request and its response, or a free slot for one.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Number of the stream; 0 = there is none.
    pub(crate) id: u32,
    /// The user of the request.
    pub(crate) user: u32,
    pub(crate) reading: Reading,
    pub(crate) is_to_head: bool,
    pub(crate) keep: Keep,
    pub(crate) status: u16,
    /// The value of `content-length`.
    pub(crate) length: Option<u64>,
    pub(crate) informational: u32,
    /// Bytes of the frames that carry heads.
    pub(crate) head_bytes: u64,
    pub(crate) body_bytes: u64,
    /// Headers of data frames, and padding.
    pub(crate) framing_bytes: u64,
    /// Header lines, if kept.
    pub(crate) headers: Vec<u8>,
    /// The body, as far as it is kept.
    pub(crate) body: Vec<u8>,
    /// The last byte of the request was handed to the system; 0 = not yet.
    pub(crate) sent_ns: i64,
    /// The first bytes of the response came; 0 = none.
    pub(crate) first_byte_ns: i64,
    /// Something of it came last; 0 = nothing.
    pub(crate) heard_ns: i64,
    /// Bytes of frames made of the request.
    pub(crate) request_bytes: u64,
    /// Send window of the body.
    pub(crate) send_window: i64,
    /// Receive window of the body.
    pub(crate) receive_window: i64,
    /// The request's body, as far as no frame was made of it, from `unsent_from` on.
    pub(crate) unsent: Vec<u8>,
    pub(crate) unsent_from: usize,
    /// It is in the queue of streams with data to send.
    pub(crate) is_queued: bool,
}

impl Stream {
    fn vacant() -> Self {
        Self {
            id: 0,
            user: u32::MAX,
            reading: Reading::Head,
            is_to_head: false,
            keep: Keep::Nothing,
            status: 0,
            length: None,
            informational: 0,
            head_bytes: 0,
            body_bytes: 0,
            framing_bytes: 0,
            headers: Vec::new(),
            body: Vec::new(),
            sent_ns: 0,
            first_byte_ns: 0,
            heard_ns: 0,
            request_bytes: 0,
            send_window: 0,
            receive_window: 0,
            unsent: Vec::new(),
            unsent_from: 0,
            is_queued: false,
        }
    }

    /// A new request in this room.
    fn begin(&mut self, id: u32, user: u32) {
        let room = |buffer: &mut Vec<u8>| {
            let mut buffer = std::mem::take(buffer);
            buffer.clear();
            buffer.shrink_to(ROOM_KEPT);
            buffer
        };
        *self = Self {
            id,
            user,
            headers: room(&mut self.headers),
            body: room(&mut self.body),
            unsent: room(&mut self.unsent),
            ..Self::vacant()
        };
    }

    /// Bytes of the request's body that no frame was made of.
    pub(crate) fn left(&self) -> &[u8] {
        &self.unsent[self.unsent_from..]
    }

    /// True when its end is known.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.reading, Reading::Ended(_))
    }
}

/// The streams of a connection. A stream's number says where it lies: numbers need not follow each
/// other without a gap (RFC 9113 §5.1.1), so one whose place is taken is left out.
#[derive(Debug)]
pub(super) struct Streams {
    rooms: Vec<Stream>,
    open: usize,
    next_id: u32,
}

impl Streams {
    /// A table without streams; the next one gets number `next_id`.
    pub(super) fn new(next_id: u32) -> Self {
        Self {
            rooms: (0..FIRST_ROOM).map(|_| Stream::vacant()).collect(),
            open: 0,
            next_id,
        }
    }

    /// Resets the table and keeps its memory.
    pub(super) fn reset(&mut self) {
        self.rooms.iter_mut().for_each(|room| room.id = 0);
        (self.open, self.next_id) = (0, 1);
    }

    #[inline]
    fn place(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.rooms.len() - 1)
    }

    /// Opens a stream and returns its number; `None`: all are used up.
    #[inline]
    pub(super) fn open(&mut self, user: u32) -> Option<u32> {
        if self.open * 2 >= self.rooms.len() {
            self.grow();
        }
        let mut id = self.next_id;
        while id <= MOST && self.rooms[self.place(id)].id != 0 {
            id += 2;
        }
        self.next_id = id;
        if id > MOST {
            return None;
        }
        let place = self.place(id);
        self.rooms[place].begin(id, user);
        self.next_id = id + 2;
        self.open += 1;
        Some(id)
    }

    /// Twice the room. Streams that lay apart still do: one more bit of their numbers is looked at.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.rooms);
        self.rooms = (0..old.len() * 2).map(|_| Stream::vacant()).collect();
        for stream in old.into_iter().filter(|stream| stream.id != 0) {
            let place = self.place(stream.id);
            self.rooms[place] = stream;
        }
    }

    /// Forgets an open stream.
    #[inline]
    pub(super) fn close(&mut self, id: u32) {
        if let Some(stream) = self.get_mut(id) {
            stream.id = 0;
            self.open -= 1;
        }
    }

    /// An open stream.
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&Stream> {
        let stream = &self.rooms[self.place(id)];
        (id != 0 && stream.id == id).then_some(stream)
    }

    /// An open stream.
    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        let place = self.place(id);
        let stream = &mut self.rooms[place];
        (id != 0 && stream.id == id).then_some(stream)
    }

    /// All that are open.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.rooms.iter_mut().filter(|stream| stream.id != 0)
    }

    /// Number of open streams.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.open
    }

    /// True when a stream of this number was never opened by us.
    pub(super) fn is_idle(&self, id: u32) -> bool {
        id.is_multiple_of(2) || id >= self.next_id
    }

    /// True when no number is left.
    pub(super) fn are_used_up(&self) -> bool {
        self.next_id > MOST
    }
}
