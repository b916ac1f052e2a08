//! One socket to the name server, with the queries that are under way on it.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};

use sokudo_net::udp::{self, MMSG_BATCH, Receiver, SendMode, SendProblem, Sender};
use sokudo_net::wait::{AsFd as _, BorrowedFd};

/// Bytes of the length in front of each message over TCP (RFC 1035 §4.2.2).
const LENGTH_BYTES: usize = 2;
/// Bytes taken from a TCP socket at once; the longest message and its length fit.
pub(super) const CHUNK_BYTES: usize = 128 * 1024;
/// Numbers of queries that are kept apart for each query that may be under way: late responses to
/// queries that were given up must not be taken for others.
const NUMBERS_PER_PLACE: usize = 4;
/// Fewest of them.
const FEWEST_NUMBERS: usize = 64;

/// A query under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    number: u16,
    is_live: bool,
    /// Its place in the load.
    pub(super) sequence: u64,
    pub(super) intended_ns: i64,
    pub(super) sent_ns: i64,
}

/// The queries under way on one socket, by their number.
pub(super) struct Slots {
    /// A power of two of them; a query stands at its number.
    ring: Vec<Slot>,
    next: u16,
    live: u32,
    most: u32,
}

impl Slots {
    fn new(most: u32) -> Self {
        let count = (most as usize * NUMBERS_PER_PLACE).next_power_of_two();
        let free = Slot {
            number: 0,
            is_live: false,
            sequence: 0,
            intended_ns: 0,
            sent_ns: 0,
        };
        Self {
            ring: vec![free; count.max(FEWEST_NUMBERS)],
            next: 0,
            live: 0,
            most,
        }
    }

    /// True when one more query may be under way.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.live < self.most
    }

    pub(super) fn live(&self) -> u32 {
        self.live
    }

    #[inline]
    fn place(&self, number: u16) -> usize {
        usize::from(number) & (self.ring.len() - 1)
    }

    /// Takes a number for a query; there must be room.
    #[inline]
    pub(super) fn begin(&mut self, sequence: u64, intended_ns: i64, sent_ns: i64) -> u16 {
        debug_assert!(self.has_room());
        while self.ring[self.place(self.next)].is_live {
            self.next = self.next.wrapping_add(1);
        }
        let number = self.next;
        let place = self.place(number);
        self.ring[place] = Slot {
            number,
            is_live: true,
            sequence,
            intended_ns,
            sent_ns,
        };
        self.next = number.wrapping_add(1);
        self.live += 1;
        number
    }

    /// The query under way with this number.
    #[inline]
    pub(super) fn get(&self, number: u16) -> Option<Slot> {
        let slot = self.ring[self.place(number)];
        (slot.is_live && slot.number == number).then_some(slot)
    }

    /// The query with this number has ended.
    #[inline]
    pub(super) fn end(&mut self, number: u16) {
        let place = self.place(number);
        self.ring[place].is_live = false;
        self.live -= 1;
    }

    /// Ends the queries under way for which `ends` says so.
    pub(super) fn end_where(&mut self, mut ends: impl FnMut(&Slot) -> bool) {
        if self.live == 0 {
            return;
        }
        for slot in self.ring.iter_mut().filter(|slot| slot.is_live) {
            if ends(slot) {
                slot.is_live = false;
                self.live -= 1;
            }
        }
    }
}

/// A socket and what is under way on it.
pub(super) struct Lane {
    pub(super) carrier: Carrier,
    pub(super) slots: Slots,
    /// Stands in the list of lanes with room.
    pub(super) is_listed: bool,
    /// Has queries that were not handed to the kernel yet.
    pub(super) is_dirty: bool,
}

/// Carrier of the queries.
pub(super) enum Carrier {
    Udp(Datagrams),
    Tcp(Option<Stream>),
}

/// Outcome of a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handed {
    /// The kernel has everything, or takes the rest later.
    Fine,
    /// The server's host said that nothing listens.
    Unreachable,
    /// The kernel refused, with this error number; 0 = for want of room.
    Refused(i32),
}

/// A UDP socket that is connected to the server.
pub(super) struct Datagrams {
    sender: Sender,
    pub(super) receiver: Receiver,
    /// Messages in the sender's slots.
    waiting: usize,
    /// Most datagrams that one call takes in.
    pub(super) batch: usize,
}

/// The largest messages of a load, and how many may be under way on a socket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) query_bytes: usize,
    pub(super) response_bytes: usize,
    pub(super) window: u32,
}

impl Lane {
    /// A UDP socket with a port of its own.
    pub(super) fn udp(server: SocketAddr, sizes: Sizes) -> io::Result<Self> {
        let any: SocketAddr = match server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = udp::bind(any)?;
        socket.connect(server)?;
        let batch = (sizes.window as usize).clamp(1, MMSG_BATCH);
        let receiver = Receiver::new(socket.try_clone()?, sizes.response_bytes, false, batch);
        let carrier = Carrier::Udp(Datagrams {
            sender: Sender::new(socket, SendMode::of_several(), sizes.query_bytes)?,
            receiver,
            waiting: 0,
            batch,
        });
        Ok(Self::new(carrier, sizes))
    }

    /// A connection.
    pub(super) fn tcp(connection: TcpStream, sizes: Sizes) -> Self {
        Self::new(Carrier::Tcp(Some(Stream::new(connection))), sizes)
    }

    fn new(carrier: Carrier, sizes: Sizes) -> Self {
        Self {
            carrier,
            slots: Slots::new(sizes.window),
            is_listed: true,
            is_dirty: false,
        }
    }

    /// Descriptor that is readable when something came; `None` without a connection.
    pub(super) fn source(&self) -> Option<BorrowedFd<'_>> {
        match &self.carrier {
            Carrier::Udp(datagrams) => Some(datagrams.socket().as_fd()),
            Carrier::Tcp(stream) => Some(stream.as_ref()?.connection.as_fd()),
        }
    }

    /// True when a query may leave on it now.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let can_carry = match &self.carrier {
            Carrier::Udp(_) => true,
            Carrier::Tcp(stream) => stream.as_ref().is_some_and(Stream::has_room),
        };
        can_carry && self.slots.has_room()
    }
}

impl Datagrams {
    fn socket(&self) -> &UdpSocket {
        self.receiver.socket()
    }

    /// Room for one more message; `write` says how long it became. True when the batch is full.
    #[inline]
    pub(super) fn put(&mut self, write: impl FnOnce(&mut [u8]) -> usize) -> bool {
        let bytes = write(self.sender.slot(self.waiting));
        self.sender.set_length(self.waiting, bytes);
        self.waiting += 1;
        self.waiting == self.sender.batch()
    }

    /// Hands the waiting messages to the kernel. What it did not take is lost on this host.
    pub(super) fn flush(&mut self) -> Handed {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting == 0 {
            return Handed::Fine;
        }
        match self.sender.send(waiting).problem {
            None => Handed::Fine,
            Some(SendProblem::Unreachable) => Handed::Unreachable,
            Some(SendProblem::Refused | SendProblem::TooLarge) => Handed::Refused(0),
            Some(SendProblem::Other(number)) => Handed::Refused(number),
        }
    }
}

/// A TCP connection to the server, its messages behind their lengths.
pub(super) struct Stream {
    connection: TcpStream,
    /// Messages that the kernel has not taken, from `out_at` on.
    out: Vec<u8>,
    out_at: usize,
    /// Whether room to write is watched for.
    pub(super) waits_for_room: bool,
    /// The beginning of a message whose rest has not come.
    part: Vec<u8>,
}

impl Stream {
    fn new(connection: TcpStream) -> Self {
        Self {
            connection,
            out: Vec::new(),
            out_at: 0,
            waits_for_room: false,
            part: Vec::new(),
        }
    }

    /// False while the kernel does not take what is to leave already.
    fn has_room(&self) -> bool {
        self.out_at == 0
    }

    /// Appends a message of at most `most` bytes; `write` says how long it became.
    #[inline]
    pub(super) fn put(&mut self, most: usize, write: impl FnOnce(&mut [u8]) -> usize) {
        let start = self.out.len();
        self.out.resize(start + LENGTH_BYTES + most, 0);
        let bytes = write(&mut self.out[start + LENGTH_BYTES..]);
        // A query has a few hundred bytes at most.
        let length = u16::try_from(bytes).unwrap_or(u16::MAX).to_be_bytes();
        self.out[start..start + LENGTH_BYTES].copy_from_slice(&length);
        self.out.truncate(start + LENGTH_BYTES + bytes);
    }

    /// Hands the messages to the kernel; true when it took all of them.
    ///
    /// Errors: the connection is of no further use.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        while self.out_at < self.out.len() {
            match self.connection.write(&self.out[self.out_at..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.out_at += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.out_at = 0;
        Ok(true)
    }

    /// Takes in what is there, at most `chunk`, and gives each whole message to `each`. False when
    /// nothing more is there.
    ///
    /// Errors: the connection has ended.
    pub(super) fn take(&mut self, chunk: &mut [u8], each: impl FnMut(&[u8])) -> io::Result<bool> {
        let bytes = match self.connection.read(chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(error),
        };
        messages(&mut self.part, &chunk[..bytes], each);
        Ok(bytes == chunk.len())
    }
}

/// Cuts bytes of a stream into messages. `part` keeps the beginning of one whose rest is still to
/// come: less than 64 KiB.
pub fn messages(part: &mut Vec<u8>, mut bytes: &[u8], mut each: impl FnMut(&[u8])) {
    while !part.is_empty() {
        let wanted = match message_bytes(part) {
            None => LENGTH_BYTES,
            Some(length) => LENGTH_BYTES + length,
        };
        let more = (wanted - part.len()).min(bytes.len());
        part.extend_from_slice(&bytes[..more]);
        bytes = &bytes[more..];
        match message_bytes(part) {
            Some(length) if part.len() == LENGTH_BYTES + length => {
                each(&part[LENGTH_BYTES..]);
                part.clear();
            }
            _ if bytes.is_empty() => return,
            _ => {}
        }
    }
    while let Some(length) = message_bytes(bytes) {
        let Some(message) = bytes.get(LENGTH_BYTES..LENGTH_BYTES + length) else {
            break;
        };
        each(message);
        bytes = &bytes[LENGTH_BYTES + length..];
    }
    part.extend_from_slice(bytes);
}

/// The length in front of a message; `None` when it is not whole.
fn message_bytes(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(..LENGTH_BYTES)?;
    Some(u16::from_be_bytes([length[0], length[1]]).into())
}

/// Lanes that may send, in turn.
pub(super) type Room = VecDeque<usize>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_queries_under_way_are_not_used_again() {
        let mut slots = Slots::new(2);
        let first = slots.begin(1, 0, 0);
        // The ring goes round many times while the first one stays unanswered.
        for sequence in 0..100_000 {
            let number = slots.begin(sequence, 0, 0);
            assert_ne!(number, first);
            assert!(!slots.has_room());
            slots.end(number);
            assert!(slots.get(number).is_none());
        }
        assert_eq!(slots.get(first).map(|slot| slot.sequence), Some(1));
        let mut ended = 0;
        slots.end_where(|slot| {
            ended += 1;
            slot.sequence == 1
        });
        assert_eq!((ended, slots.live()), (1, 0));
    }

    proptest! {
        #[test]
        fn messages_come_out_however_their_bytes_come_in(
            sent in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..12),
            cuts in prop::collection::vec(1usize..200, 1..40),
        ) {
            let mut bytes = Vec::new();
            for message in &sent {
                bytes.extend((message.len() as u16).to_be_bytes());
                bytes.extend(message);
            }
            let (mut part, mut came, mut rest) = (Vec::new(), Vec::new(), bytes.as_slice());
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                messages(&mut part, now, |message| came.push(message.to_vec()));
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(came, sent);
            prop_assert!(part.is_empty());
        }
    }
}
