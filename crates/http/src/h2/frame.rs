//! Layout of HTTP/2 frames (RFC 9113 §4 and §6).

/// The client connection preface.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes before the payload of a frame.
pub(super) const HEADER_BYTES: usize = 9;
/// Longest payload that may be sent unless the receiver has allowed more; the same holds for frames to
/// us.
pub(super) const FRAME_BYTES: usize = 16_384;
/// Window of streams and connection before anyone changes it.
pub(super) const WINDOW_BYTES: u32 = 65_535;
/// Largest window and largest stream number.
pub(super) const MOST: u32 = (1 << 31) - 1;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 0x1;
pub(super) const ACK: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const PRIORITY: u8 = 0x20;

pub(super) const HEADER_TABLE_SIZE: u16 = 1;
pub(super) const ENABLE_PUSH: u16 = 2;
pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const MAX_FRAME_SIZE: u16 = 5;
pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;

/// The first bytes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Bytes of the payload.
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    /// 0 = the connection itself.
    pub(super) stream: u32,
}

impl Header {
    /// Reads a header; the highest bit of the stream means nothing.
    #[inline]
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & MOST,
        }
    }

    /// Writes it.
    #[inline]
    pub(super) fn put(self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, d, e, f, g]);
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Writes a whole frame.
pub(super) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = payload.len();
    Header {
        length,
        kind,
        flags,
        stream,
    }
    .put(out);
    out.extend_from_slice(payload);
}

/// Writes a frame whose payload is one number.
pub(super) fn put_word(out: &mut Vec<u8>, kind: u8, stream: u32, word: u32) {
    put(out, kind, 0, stream, &word.to_be_bytes());
}

/// Writes settings.
pub(super) fn put_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    let length = settings.len() * 6;
    Header {
        length,
        kind: SETTINGS,
        flags: 0,
        stream: 0,
    }
    .put(out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Writes a header block, in as many frames as it needs.
#[inline]
pub(super) fn put_block(out: &mut Vec<u8>, stream: u32, block: &[u8], ends: bool) {
    let mut kind = HEADERS;
    let mut flags = if ends { END_STREAM } else { 0 };
    let mut rest = block;
    loop {
        let (piece, more) = rest.split_at(rest.len().min(FRAME_BYTES));
        if more.is_empty() {
            return put(out, kind, flags | END_HEADERS, stream, piece);
        }
        put(out, kind, flags, stream, piece);
        (kind, flags, rest) = (CONTINUATION, 0, more);
    }
}

/// The payload without its padding; `None`: there is more padding than payload.
pub(super) fn without_padding(flags: u8, payload: &[u8]) -> Option<&[u8]> {
    if flags & PADDED == 0 {
        return Some(payload);
    }
    let (padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(usize::from(*padding))?)
}

/// The number in the first four bytes.
pub(super) fn word(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|word| u32::from_be_bytes(*word))
}
