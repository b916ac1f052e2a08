//! Handles the frames received from the server.
//!
//! Bytes arrive in any portions. Data is processed as it arrives; every other frame is parsed when it
//! is complete, without a copy if it is contiguous in the receive buffer.

use super::frame::{
    self, ACK, CONTINUATION, DATA, END_STREAM, FRAME_BYTES, GOAWAY, HEADER_BYTES,
    HEADER_TABLE_SIZE, HEADERS, Header, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS,
    MAX_FRAME_SIZE, MOST, PADDED, PING, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use super::head::{Block, Same};
use super::session::Session;
use super::stream::Reading;
use crate::failure::{Breach, Code, FailureKind};
use crate::user::Keep;

/// Frames in a row that do not advance any response: more are taken for an attack or a broken server.
const MOST_IDLE_FRAMES: u32 = 10_000;
/// Bytes of a buffer that outlive their use.
pub(super) const ROOM_KEPT: usize = FRAME_BYTES + HEADER_BYTES;

/// Parser state of the connection.
#[derive(Debug, Default)]
pub(super) struct H2Reader {
    /// The beginning of a frame whose end has not come.
    part: Vec<u8>,
    /// The data frame that bytes belong to at present.
    data: Option<Data>,
    /// A header block that is not whole.
    pub(super) block: Option<Block>,
    /// Its bytes.
    pub(super) block_bytes: Vec<u8>,
    /// The last head, for the next one that is the same.
    pub(super) same: Same,
    /// Frames since something was brought further.
    pub(super) idle_frames: u32,
}

/// A data frame that is being read.
#[derive(Debug, Clone, Copy)]
struct Data {
    stream: u32,
    /// Bytes of its payload that have not come.
    left: usize,
    /// Bytes of padding at its end; `None`: its first byte, not yet received, gives the length.
    padding: Option<usize>,
    ends: bool,
}

impl Session {
    /// Processes received bytes. Streams that ended are returned by [`Session::next_ended`].
    ///
    /// Errors: the connection cannot be used further; the frame with the reason is in the send buffer.
    #[inline]
    pub(crate) fn feed(&mut self, mut bytes: &[u8], now_ns: i64) -> Result<(), FailureKind> {
        while !bytes.is_empty() {
            let taken = match (self.reader.data, self.reader.part.is_empty()) {
                (Some(data), _) => self.data(data, bytes, now_ns),
                (None, true) => self.frame_here(bytes, now_ns),
                (None, false) => self.frame_in_parts(bytes, now_ns),
            };
            match taken {
                Ok(count) => bytes = &bytes[count..],
                Err(kind) => {
                    self.is_broken = true;
                    if let FailureKind::Http2(breach) = kind {
                        self.say_goodbye(breach.code());
                    }
                    return Err(kind);
                }
            }
        }
        Ok(())
    }

    /// Reads a frame that begins here; one that is not whole is kept.
    #[inline]
    fn frame_here(&mut self, bytes: &[u8], now_ns: i64) -> Result<usize, FailureKind> {
        let Some(header) = bytes.first_chunk() else {
            self.reader.part.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        let header = self.header(header)?;
        if header.kind == DATA {
            self.begin_data(header, now_ns)?;
            return Ok(HEADER_BYTES);
        }
        let until = HEADER_BYTES + header.length;
        match bytes.get(HEADER_BYTES..until) {
            Some(payload) => {
                self.frame(header, payload, now_ns)?;
                Ok(until)
            }
            None => {
                self.reader.part.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    /// Goes on with a frame whose beginning is kept.
    fn frame_in_parts(&mut self, bytes: &[u8], now_ns: i64) -> Result<usize, FailureKind> {
        let known = self.reader.part.len();
        let wanted = match self.reader.part.first_chunk() {
            None => HEADER_BYTES,
            Some(header) => HEADER_BYTES + Header::read(header).length,
        };
        let count = (wanted - known).min(bytes.len());
        self.reader.part.extend_from_slice(&bytes[..count]);
        if known + count < wanted {
            return Ok(count);
        }
        // Taken out and put back: the frame is read while the session changes.
        let mut part = std::mem::take(&mut self.reader.part);
        let read = self.whole_part(&part, known < HEADER_BYTES, now_ns);
        if let Ok(true) = read {
            part.clear();
            part.shrink_to(ROOM_KEPT);
        }
        self.reader.part = part;
        read.map(|_| count)
    }

    /// Reads what is kept: a header that has just become whole, or a whole frame. True when nothing
    /// of it is needed any more.
    fn whole_part(&mut self, part: &[u8], is_new: bool, now_ns: i64) -> Result<bool, FailureKind> {
        let Some((first, payload)) = part.split_first_chunk() else {
            return Ok(false);
        };
        let header = match is_new {
            true => self.header(first)?,
            false => Header::read(first),
        };
        if header.kind == DATA {
            self.begin_data(header, now_ns)?;
            return Ok(true);
        }
        if payload.len() < header.length {
            return Ok(false);
        }
        self.frame(header, payload, now_ns)?;
        Ok(true)
    }

    /// Checks a frame as far as is possible before its payload arrived.
    #[inline]
    fn header(&mut self, bytes: &[u8; HEADER_BYTES]) -> Result<Header, FailureKind> {
        let header = Header::read(bytes);
        if !self.peer.has_greeted && header.kind != SETTINGS {
            return Err(match bytes.starts_with(b"HTTP/") {
                true => FailureKind::NoHttp2,
                false => Breach::Greeting.into(),
            });
        }
        if header.length > FRAME_BYTES {
            return Err(Breach::FrameSize.into());
        }
        let follows = |block: Block| header.kind == CONTINUATION && header.stream == block.stream;
        let may_stand = match self.reader.block {
            Some(block) => follows(block),
            None => header.kind != CONTINUATION,
        };
        match may_stand {
            true => Ok(header),
            false => Err(Breach::FrameOrder.into()),
        }
    }

    /// A whole frame that is not data.
    fn frame(&mut self, header: Header, payload: &[u8], now_ns: i64) -> Result<(), FailureKind> {
        self.reader.idle_frames += 1;
        if self.reader.idle_frames > MOST_IDLE_FRAMES {
            return Err(Breach::Flood.into());
        }
        match header.kind {
            HEADERS => self.headers(header, payload, now_ns),
            CONTINUATION => self.continuation(header, payload, now_ns),
            SETTINGS => self.settings(header, payload),
            PING => self.ping(header, payload),
            WINDOW_UPDATE => self.window_update(header, payload),
            RST_STREAM => self.rst_stream(header, payload),
            GOAWAY => self.goaway(header, payload),
            // Our settings disabled these frames.
            PUSH_PROMISE => Err(Breach::FrameOrder.into()),
            // Priorities (deprecated since RFC 9113) and unknown frames are ignored.
            _ => Ok(()),
        }
    }

    /// A stream that a frame may come for: ours, though it may have been closed.
    pub(super) fn must_be_ours(&self, id: u32) -> Result<(), FailureKind> {
        match id == 0 || self.streams.is_idle(id) {
            true => Err(Breach::FrameOrder.into()),
            false => Ok(()),
        }
    }

    #[inline]
    fn begin_data(&mut self, header: Header, now_ns: i64) -> Result<(), FailureKind> {
        self.must_be_ours(header.stream)?;
        let length = header.length as i64;
        self.receive_window -= length;
        let is_padded = header.has(PADDED);
        if is_padded && header.length == 0 {
            return Err(Breach::FrameSize.into());
        }
        let ends = header.has(END_STREAM);
        if let Some(stream) = self.streams.get_mut(header.stream) {
            stream.receive_window -= length;
            stream.framing_bytes += HEADER_BYTES as u64;
            if stream.receive_window < 0 {
                return Err(Breach::Window.into());
            }
            if stream.reading == Reading::Head {
                self.reset_stream(header.stream, Breach::FrameOrder);
            }
        }
        if self.receive_window < 0 {
            return Err(Breach::Window.into());
        }
        match length > 0 || ends {
            true => self.reader.idle_frames = 0,
            false => self.reader.idle_frames += 1,
        }
        if self.reader.idle_frames > MOST_IDLE_FRAMES {
            return Err(Breach::Flood.into());
        }
        self.open_windows(header.stream);
        let data = Data {
            stream: header.stream,
            left: header.length,
            padding: if is_padded { None } else { Some(0) },
            ends,
        };
        match data.left {
            0 => self.end_data(data, now_ns),
            _ => self.reader.data = Some(data),
        }
        Ok(())
    }

    /// Processes bytes of a data frame; returns how many of them belong to it.
    #[inline]
    fn data(&mut self, mut data: Data, bytes: &[u8], now_ns: i64) -> Result<usize, FailureKind> {
        let here = data.left.min(bytes.len());
        let mut body = &bytes[..here];
        if data.padding.is_none()
            && let [padding, rest @ ..] = body
        {
            data.left -= 1;
            if usize::from(*padding) > data.left {
                return Err(Breach::Padding.into());
            }
            data.padding = Some(usize::from(*padding));
            body = rest;
            self.count_framing(data.stream, 1);
        }
        let padding = data.padding.unwrap_or(0);
        // What comes after these bytes reaches so far into the padding.
        let text = body.len().min(data.left - padding);
        let rest = body.len() - text;
        if rest > 0 {
            self.count_framing(data.stream, rest);
        }
        self.body(data.stream, &body[..text], now_ns);
        data.left -= body.len();
        data.padding = data.padding.map(|padding| padding - rest);
        match data.left {
            0 => {
                self.reader.data = None;
                self.end_data(data, now_ns);
            }
            _ => self.reader.data = Some(data),
        }
        Ok(here)
    }

    fn count_framing(&mut self, id: u32, bytes: usize) {
        if let Some(stream) = self.streams.get_mut(id) {
            stream.framing_bytes += bytes as u64;
        }
    }

    #[inline]
    fn body(&mut self, id: u32, bytes: &[u8], now_ns: i64) {
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        if stream.reading != Reading::Body {
            return;
        }
        stream.heard_ns = now_ns;
        stream.body_bytes += bytes.len() as u64;
        if let Keep::Body { at_most } = stream.keep {
            let room = at_most.saturating_sub(stream.body.len());
            stream
                .body
                .extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
        let is_too_long = stream
            .length
            .is_some_and(|length| stream.body_bytes > length);
        if is_too_long || stream.is_to_head && stream.body_bytes > 0 {
            self.reset_stream(id, Breach::Length);
        }
    }

    #[inline]
    fn end_data(&mut self, data: Data, now_ns: i64) {
        if data.ends {
            self.ends(data.stream, now_ns);
        }
    }

    /// The peer has ended this stream.
    #[inline]
    pub(super) fn ends(&mut self, id: u32, now_ns: i64) {
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        if stream.reading != Reading::Body {
            return;
        }
        stream.heard_ns = now_ns;
        let has_body = !stream.is_to_head && stream.status != 304;
        let is_whole = !has_body
            || stream
                .length
                .is_none_or(|length| length == stream.body_bytes);
        match is_whole {
            true => self.end(id, None),
            false => self.reset_stream(id, Breach::Length),
        }
    }

    fn settings(&mut self, header: Header, payload: &[u8]) -> Result<(), FailureKind> {
        if header.stream != 0 {
            return Err(Breach::FrameOrder.into());
        }
        if header.has(ACK) {
            return match (payload.is_empty(), self.peer.has_greeted) {
                (_, false) => Err(Breach::Greeting.into()),
                (false, _) => Err(Breach::FrameSize.into()),
                (true, true) => Ok(()),
            };
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(Breach::FrameSize.into());
        }
        self.reader.idle_frames += settings.len() as u32;
        for [a, b, value @ ..] in settings {
            let name = u16::from_be_bytes([*a, *b]);
            self.setting(name, u32::from_be_bytes(*value))?;
        }
        self.peer.has_greeted = true;
        self.acknowledge(SETTINGS, &[])
    }

    fn setting(&mut self, name: u16, value: u32) -> Result<(), FailureKind> {
        match name {
            HEADER_TABLE_SIZE => self.table_is(value as usize),
            MAX_CONCURRENT_STREAMS => self.peer.streams = value,
            INITIAL_WINDOW_SIZE if value > MOST => return Err(Breach::Window.into()),
            INITIAL_WINDOW_SIZE => return self.window_is(i64::from(value)),
            MAX_FRAME_SIZE if !(FRAME_BYTES as u32..1 << 24).contains(&value) => {
                return Err(Breach::Setting.into());
            }
            // Longer frames than the usual ones would only make others wait.
            _ => {}
        }
        Ok(())
    }

    /// Another window for all streams: those that are open change by the difference.
    fn window_is(&mut self, window: i64) -> Result<(), FailureKind> {
        let more = window - std::mem::replace(&mut self.peer.window, window);
        let mut open = Vec::new();
        for stream in self.streams.all() {
            stream.send_window += more;
            if stream.send_window > i64::from(MOST) {
                return Err(Breach::Window.into());
            }
            open.push(stream.id);
        }
        open.into_iter().for_each(|id| self.may_send(id));
        Ok(())
    }

    fn ping(&mut self, header: Header, payload: &[u8]) -> Result<(), FailureKind> {
        if header.stream != 0 {
            return Err(Breach::FrameOrder.into());
        }
        if payload.len() != 8 {
            return Err(Breach::FrameSize.into());
        }
        match header.has(ACK) {
            true => Ok(()),
            false => self.acknowledge(PING, payload),
        }
    }

    /// Answers a frame that only needs an acknowledgement. A server that keeps sending such frames and
    /// does not read the answers would fill the buffer.
    fn acknowledge(&mut self, kind: u8, payload: &[u8]) -> Result<(), FailureKind> {
        self.untaken_acks += 1;
        if self.untaken_acks > MOST_IDLE_FRAMES {
            return Err(Breach::Flood.into());
        }
        frame::put(&mut self.out, kind, ACK, 0, payload);
        Ok(())
    }

    fn window_update(&mut self, header: Header, payload: &[u8]) -> Result<(), FailureKind> {
        if payload.len() != 4 {
            return Err(Breach::FrameSize.into());
        }
        let more = i64::from(frame::word(payload).unwrap_or(0) & MOST);
        if header.stream == 0 {
            self.send_window += more;
            return match more == 0 || self.send_window > i64::from(MOST) {
                true => Err(Breach::Window.into()),
                false => Ok(()),
            };
        }
        self.must_be_ours(header.stream)?;
        if let Some(stream) = self.streams.get_mut(header.stream) {
            stream.send_window += more;
            if more == 0 || stream.send_window > i64::from(MOST) {
                self.reset_stream(header.stream, Breach::Window);
            }
            self.may_send(header.stream);
        }
        Ok(())
    }

    fn rst_stream(&mut self, header: Header, payload: &[u8]) -> Result<(), FailureKind> {
        self.must_be_ours(header.stream)?;
        if payload.len() != 4 {
            return Err(Breach::FrameSize.into());
        }
        let code = Code(frame::word(payload).unwrap_or(0));
        let kind = match code {
            Code::REFUSED_STREAM => FailureKind::Unprocessed,
            code => FailureKind::StreamReset(code),
        };
        if let Some(stream) = self.streams.get_mut(header.stream) {
            stream.unsent.clear();
            stream.unsent_from = 0;
            self.reader.idle_frames = 0;
        }
        self.end(header.stream, Some(kind));
        Ok(())
    }

    fn goaway(&mut self, header: Header, payload: &[u8]) -> Result<(), FailureKind> {
        if header.stream != 0 {
            return Err(Breach::FrameOrder.into());
        }
        let (Some(last), Some(code)) =
            (frame::word(payload), payload.get(4..).and_then(frame::word))
        else {
            return Err(Breach::FrameSize.into());
        };
        let last = last & MOST;
        self.peer.leaves = Some((last, Code(code)));
        let late: Vec<u32> = {
            let all = self.streams.all().map(|stream| stream.id);
            all.filter(|id| *id > last).collect()
        };
        for id in late {
            self.end(id, Some(FailureKind::Unprocessed));
        }
        Ok(())
    }
}

impl From<Breach> for FailureKind {
    fn from(breach: Breach) -> Self {
        FailureKind::Http2(breach)
    }
}
