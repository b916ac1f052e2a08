//! Framing of datagrams over a byte stream.
//!
//! Each is preceded by its length; several are written with one call, as over UDP with `sendmmsg`.

use std::io::{self, Read, Write};

use super::protocol::{FRAME_BYTES, Frame, next_frame};

/// Datagrams per write.
pub const STREAM_BATCH: usize = 32;

/// Bytes taken per read.
const READ_BYTES: usize = 256 * 1024;

/// Writes framed datagrams.
pub struct StreamSender {
    stream: Box<dyn Write + Send>,
    stride: usize,
    lengths: Vec<usize>,
    slots: Vec<u8>,
    out: Vec<u8>,
}

impl StreamSender {
    /// Frames datagrams of up to `size_bytes` over `stream`.
    pub fn new(stream: Box<dyn Write + Send>, size_bytes: usize) -> Self {
        Self {
            stream,
            stride: size_bytes,
            lengths: vec![size_bytes; STREAM_BATCH],
            slots: vec![0; STREAM_BATCH * size_bytes],
            out: Vec::with_capacity(STREAM_BATCH * (size_bytes + FRAME_BYTES)),
        }
    }

    /// Bytes of the `index`-th datagram of the next write.
    pub fn slot(&mut self, index: usize) -> &mut [u8] {
        &mut self.slots[index * self.stride..][..self.stride]
    }

    /// Makes the `index`-th datagram of the next write `bytes` long.
    pub fn set_length(&mut self, index: usize, bytes: usize) {
        self.lengths[index] = bytes.min(self.stride);
    }

    /// Writes the first `count` datagrams, waiting while the peer does not take them.
    pub fn send(&mut self, count: usize) -> io::Result<()> {
        self.out.clear();
        for index in 0..count {
            let length = self.lengths[index];
            self.out.extend_from_slice(&(length as u32).to_be_bytes());
            self.out
                .extend_from_slice(&self.slots[index * self.stride..][..length]);
        }
        self.stream.write_all(&self.out)?;
        self.stream.flush()
    }
}

/// Result of one read from a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamRead {
    /// This many whole datagrams.
    Datagrams(usize),
    /// Nothing within the socket's bound.
    Nothing,
    /// The peer closed the stream.
    Closed,
    /// A length that is not possible: damaged, or not ours. The stream cannot be read on.
    BadLength(u32),
}

/// Reads framed datagrams.
pub struct StreamReceiver {
    stream: Box<dyn Read + Send>,
    max_bytes: usize,
    buffer: Vec<u8>,
    filled: usize,
    /// Bytes at the front that the last `for_each` may look at.
    whole: usize,
}

impl StreamReceiver {
    /// Reads datagrams of up to `max_bytes` from `stream`.
    pub fn new(stream: Box<dyn Read + Send>, max_bytes: usize) -> Self {
        let room = READ_BYTES.max(2 * (max_bytes + FRAME_BYTES));
        Self {
            stream,
            max_bytes,
            buffer: vec![0; room],
            filled: 0,
            whole: 0,
        }
    }

    /// Waits for bytes, as long as the socket's bound allows.
    pub fn receive(&mut self) -> io::Result<StreamRead> {
        self.buffer.copy_within(self.whole..self.filled, 0);
        self.filled -= self.whole;
        self.whole = 0;
        match self.stream.read(&mut self.buffer[self.filled..]) {
            Ok(0) => return Ok(StreamRead::Closed),
            Ok(read) => self.filled += read,
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => return Ok(StreamRead::Nothing),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                    return Ok(StreamRead::Closed);
                }
                _ => return Err(error),
            },
        }
        let mut count = 0;
        loop {
            match next_frame(&self.buffer[self.whole..self.filled], self.max_bytes) {
                Frame::Whole(_, bytes) => {
                    self.whole += bytes;
                    count += 1;
                }
                Frame::More => break,
                Frame::BadLength(length) if count == 0 => return Ok(StreamRead::BadLength(length)),
                Frame::BadLength(_) => break,
            }
        }
        Ok(if count == 0 {
            StreamRead::Nothing
        } else {
            StreamRead::Datagrams(count)
        })
    }

    /// Calls `each` for every datagram of the last receive.
    pub fn for_each(&self, mut each: impl FnMut(&[u8])) {
        let mut at = 0;
        while let Frame::Whole(datagram, bytes) =
            next_frame(&self.buffer[at..self.whole], self.max_bytes)
        {
            each(datagram);
            at += bytes;
        }
    }
}
