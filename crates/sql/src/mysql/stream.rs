//! The connection of a session: packets to the server and from it.

use std::io;

use bytes::BytesMut;
use mysql_common::proto::codec::PacketCodec;
use mysql_common::proto::codec::error::PacketCodecError;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::failure::Failure;
use crate::stream::Duplex;

/// Longest packet before the session is open, bytes.
const LOGIN_BYTES: usize = 64 << 10;
/// Longest packet of an answer, and of a statement, bytes: four times what MySQL's own programs take.
const ANSWER_BYTES: usize = 64 << 20;
/// Least bytes that one read may bring.
const READ_BYTES: usize = 8 << 10;
/// Most bytes that one read may bring.
const LONG_READ_BYTES: usize = 256 << 10;
/// Memory of a buffer that is kept for the next packet, bytes.
const KEPT_BYTES: usize = 1 << 20;

/// A connection with what is to be sent and what has arrived. Memory is taken for what is here, not for what is
/// announced.
pub(super) struct Wire<S> {
    stream: S,
    codec: PacketCodec,
    /// Packets to send.
    outbox: BytesMut,
    arrived: BytesMut,
    /// The packet that was read last.
    packet: Vec<u8>,
}

impl<S: Duplex> Wire<S> {
    pub(super) fn new(stream: S) -> Self {
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = LOGIN_BYTES;
        Self::of_parts(stream, codec)
    }

    pub(super) fn of_parts(stream: S, codec: PacketCodec) -> Self {
        Self {
            stream,
            codec,
            outbox: BytesMut::new(),
            arrived: BytesMut::new(),
            packet: Vec::new(),
        }
    }

    /// The stream, and the number of the next packet in its codec.
    ///
    /// Errors: more has arrived than was asked for, which would be taken for a part of an encrypted session.
    pub(super) fn into_parts(self) -> Result<(S, PacketCodec), Failure> {
        match self.arrived.is_empty() {
            true => Ok((self.stream, self.codec)),
            false => Err(Failure::Garbled),
        }
    }

    /// The session is open: packets may be as long as answers are.
    pub(super) fn open(&mut self) {
        self.codec.max_allowed_packet = ANSWER_BYTES;
    }

    /// The connection.
    pub(super) fn stream(&self) -> &S {
        &self.stream
    }

    /// Puts the first packet of a command behind what is to be sent.
    ///
    /// Errors: it is longer than any may be; nothing of it is sent.
    pub(super) fn put_command(&mut self, body: &[u8]) -> Result<(), Failure> {
        self.codec.reset_seq_id();
        self.put(body)
    }

    /// Puts a packet behind what is to be sent.
    ///
    /// Errors: as [`Self::put_command`].
    pub(super) fn put(&mut self, mut body: &[u8]) -> Result<(), Failure> {
        let put = self.codec.encode(&mut body, &mut self.outbox);
        put.map_err(|_| Failure::Call("a statement is longer than 64 MiB"))
    }

    /// Sends what is to be sent.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all_buf(&mut self.outbox).await?;
        if self.outbox.capacity() > KEPT_BYTES {
            self.outbox = BytesMut::new();
        }
        self.stream.flush().await
    }

    /// The next packet, once it is whole.
    ///
    /// Errors: the connection ended, or the packet is longer than any may be.
    pub(super) async fn read(&mut self) -> Result<&[u8], Failure> {
        self.packet.clear();
        if self.packet.capacity() > KEPT_BYTES {
            self.packet = Vec::new();
        }
        while !self.decode()? {
            let room = self.arrived.len().clamp(READ_BYTES, LONG_READ_BYTES);
            self.arrived.reserve(room);
            if self.stream.read_buf(&mut self.arrived).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
        if self.arrived.is_empty() && self.arrived.capacity() > KEPT_BYTES {
            self.arrived = BytesMut::new();
        }
        Ok(&self.packet)
    }

    /// Takes a packet, or a part of it, from what has arrived. Returns whether it is whole.
    fn decode(&mut self) -> Result<bool, Failure> {
        let decoded = self.codec.decode(&mut self.arrived, &mut self.packet);
        decoded.map_err(|error| match error {
            PacketCodecError::Io(error) => Failure::Io(error),
            PacketCodecError::PacketTooLarge => Failure::TooLong,
            _ => Failure::Garbled,
        })
    }
}
