//! Linux: a sealed memory file, passed over a unix socket, mapped by both sides.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use super::ring::{Broken, Header, Memory, Ring, RingReader, Writer};
use super::{MAX_RING_BYTES, MIN_RING_BYTES, NOTICE_BOUND};
use crate::stream::{DEFAULT_BOUND, Stream, StreamError, StreamKind};
use crate::unix::{self, LocalStream, Name};
use crate::wait::{LONGEST, Spinning, Wait};

/// First bytes of the hand-over; the ring's size follows, little-endian.
const MAGIC: [u8; 8] = *b"sokudoS1";
const HAND_OVER_BYTES: usize = 16;
/// The listener's answer when it has mapped the memory.
const TAKEN: u8 = 1;

/// Both headers lie in the first page, the bytes of the two rings behind it.
const HEADER_BYTES: usize = 4096;
const SECOND_HEADER: usize = HEADER_BYTES / 2;
const _: () = assert!(size_of::<Header>() <= SECOND_HEADER);

/// Polls without pause before a side sleeps or reads the clock.
const EAGER_LOOKS: u32 = 64;

/// A mapped memory file.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value and is unmapped once; what lies in it is reached only
// through `Ring`, whose two users each have their own side.
unsafe impl Send for Mapping {}
// SAFETY: as above; `Memory` gives out nothing but the place and length.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps a memory file that cannot be shrunk, so that no access faults.
    ///
    /// Errors: the file is not exactly so long, or not sealed.
    fn of(file: &OwnedFd, length: usize) -> io::Result<Self> {
        let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        if rustix::fs::fstat(file)?.st_size != length as i64 {
            return wrong("the shared memory has another size than announced");
        }
        if !rustix::fs::fcntl_get_seals(file)?.contains(SealFlags::SHRINK) {
            return wrong("the shared memory is not sealed against shrinking");
        }
        // SAFETY: a new mapping, placed by the kernel, touches no existing memory.
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Self { start, length }),
            None => wrong("the system mapped nothing"),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `of`; rings hold this value as long as they live.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

impl Memory for Mapping {
    fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn length(&self) -> usize {
        self.length
    }
}

/// State that both halves of a stream share. The last half that is dropped informs the other side.
struct Link {
    socket: UnixStream,
    incoming: Ring,
    outgoing: Ring,
    /// Set by [`Shutdown::Both`] and [`Shutdown::Read`]: the own reader stops.
    deaf: AtomicBool,
    /// Set by [`Shutdown::Both`] and [`Shutdown::Write`]: the own writer stops.
    mute: AtomicBool,
}

impl Link {
    fn shut(&self, how: Shutdown) {
        if how != Shutdown::Write {
            self.deaf.store(true, Ordering::Release);
            self.incoming.header().refuse();
            self.incoming.header().wake_both();
        }
        if how != Shutdown::Read {
            self.mute.store(true, Ordering::Release);
            self.outgoing.header().end();
            self.outgoing.header().wake_both();
        }
    }

    /// True when the other side has closed its socket, by a call or by the end of its process.
    fn peer_gone(&self) -> bool {
        let mut one = [0u8; 1];
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        match rustix::net::recv(&self.socket, &mut one, flags) {
            Ok((_, n)) => n == 0,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
            Err(_) => true,
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shut(Shutdown::Both);
    }
}

/// One end of a shared-memory connection, or a half of it.
pub struct ShmStream {
    /// `None` in the writing half.
    reader: Option<RingReader>,
    /// `None` in the reading half.
    writer: Option<Writer>,
    link: Arc<Link>,
    wait: Wait,
    read_bound: Duration,
    write_bound: Duration,
}

impl ShmStream {
    fn new(socket: UnixStream, memory: Mapping, size: usize, caller: bool) -> io::Result<Self> {
        let memory: Arc<dyn Memory> = Arc::new(memory);
        let first = Ring::new(Arc::clone(&memory), 0, HEADER_BYTES, size);
        let second = Ring::new(memory, SECOND_HEADER, HEADER_BYTES + size, size);
        let (Some(first), Some(second)) = (first, second) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let (outgoing, incoming) = if caller {
            (first, second)
        } else {
            (second, first)
        };
        Ok(Self {
            reader: Some(RingReader::new(incoming.clone())),
            writer: Some(Writer::new(outgoing.clone())),
            link: Arc::new(Link {
                socket,
                incoming,
                outgoing,
                deaf: AtomicBool::new(false),
                mute: AtomicBool::new(false),
            }),
            wait: Wait::Block,
            read_bound: DEFAULT_BOUND,
            write_bound: DEFAULT_BOUND,
        })
    }
}

fn total(size: usize) -> usize {
    HEADER_BYTES + 2 * size
}

/// Reports whether this system can share memory in this way.
///
/// Errors: [`StreamError::Unavailable`]; never on Linux.
pub fn available() -> Result<(), StreamError> {
    Ok(())
}

/// Calls a listener of this host and hands it memory with two rings of `ring_bytes`, rounded up to
/// a power of two between [`MIN_RING_BYTES`] and [`MAX_RING_BYTES`].
///
/// Errors: [`StreamError::Local`].
pub fn connect(name: &Name, ring_bytes: usize, bound: Duration) -> Result<ShmStream, StreamError> {
    let failed = |why| StreamError::local(format!("cannot share memory with `{name}`"), why);
    let begun = Instant::now();
    let socket = socket_of(unix::connect(name, bound)?).map_err(failed)?;
    let left = bound.saturating_sub(begun.elapsed());
    hand_over(socket, ring_bytes, left).map_err(failed)
}

/// Takes the memory that a caller hands over, within the bound.
///
/// Errors: [`StreamError::Local`], also when the caller hands over something else.
pub fn accept(stream: LocalStream, bound: Duration) -> Result<ShmStream, StreamError> {
    socket_of(stream)
        .and_then(|socket| take_over(socket, bound))
        .map_err(|why| StreamError::local("cannot take a caller's shared memory", why))
}

fn socket_of(stream: LocalStream) -> io::Result<UnixStream> {
    stream.socket().try_clone()
}

fn set_bounds(socket: &UnixStream, bound: Duration) -> io::Result<()> {
    let bound = Some(bound.clamp(Duration::from_millis(1), LONGEST));
    socket.set_read_timeout(bound)?;
    socket.set_write_timeout(bound)
}

fn hand_over(mut socket: UnixStream, ring_bytes: usize, bound: Duration) -> io::Result<ShmStream> {
    let size = ring_bytes
        .clamp(MIN_RING_BYTES, MAX_RING_BYTES)
        .next_power_of_two();
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create("sokudo-ring", flags)?;
    rustix::fs::ftruncate(&file, total(size) as u64)?;
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    let memory = Mapping::of(&file, total(size))?;
    set_bounds(&socket, bound)?;
    let mut message = [0; HAND_OVER_BYTES];
    message[..8].copy_from_slice(&MAGIC);
    message[8..].copy_from_slice(&(size as u64).to_le_bytes());
    send_with_file(&socket, &message, &file)?;
    let mut answer = [0];
    socket.read_exact(&mut answer).map_err(timed_out)?;
    if answer != [TAKEN] {
        let what = "the listener answers something else";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    ShmStream::new(socket, memory, size, true)
}

pub(super) fn send_with_file(
    socket: &UnixStream,
    message: &[u8],
    file: &OwnedFd,
) -> io::Result<()> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    let files = [file.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&files));
    let piece = [IoSlice::new(message)];
    let sent = rustix::net::sendmsg(socket, &piece, &mut control, SendFlags::NOSIGNAL)
        .map_err(|why| timed_out(why.into()))?;
    let mut rest = socket;
    rest.write_all(&message[sent..]).map_err(timed_out)
}

fn take_over(mut socket: UnixStream, bound: Duration) -> io::Result<ShmStream> {
    set_bounds(&socket, bound)?;
    let mut message = [0; HAND_OVER_BYTES];
    let file = receive_with_file(&mut socket, &mut message)?;
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    let file = file.ok_or_else(|| wrong("the caller hands over no memory"))?;
    let (magic, size) = message.split_at(8);
    let size = u64::from_le_bytes(size.try_into().map_err(|_| wrong("no size"))?);
    let known = magic == MAGIC
        && size.is_power_of_two()
        && (MIN_RING_BYTES as u64..=MAX_RING_BYTES as u64).contains(&size);
    if !known {
        return Err(wrong("the caller does not speak this protocol"));
    }
    let memory = Mapping::of(&file, total(size as usize))?;
    socket.write_all(&[TAKEN]).map_err(timed_out)?;
    ShmStream::new(socket, memory, size as usize, false)
}

fn receive_with_file(
    socket: &mut UnixStream,
    message: &mut [u8; HAND_OVER_BYTES],
) -> io::Result<Option<OwnedFd>> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut piece = [IoSliceMut::new(message)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = rustix::net::recvmsg(&*socket, &mut piece, &mut control, flags)
        .map_err(|why| timed_out(why.into()))?;
    let mut file = None;
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = part {
            // Surplus files are closed by being dropped.
            file = files.last().or(file);
        }
    }
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    socket
        .read_exact(&mut message[received.bytes..])
        .map_err(timed_out)?;
    Ok(file)
}

fn timed_out(why: io::Error) -> io::Error {
    match why.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => why,
    }
}

impl From<Broken> for io::Error {
    fn from(_: Broken) -> Self {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "the other side broke the shared ring",
        )
    }
}

/// Repeats `attempt` until it has a result: eagerly at first, then as `wait` says.
///
/// `attempt` returns `None` while there is nothing; `sleep` sleeps for at most the given time.
fn patiently<T>(
    wait: Wait,
    bound: Duration,
    link: &Link,
    mut attempt: impl FnMut() -> Option<io::Result<T>>,
    sleep: impl Fn(Duration),
) -> io::Result<T> {
    if let Some(done) = attempt() {
        return done;
    }
    if bound.is_zero() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    let mut spinning = Spinning::new();
    let spin = match wait {
        Wait::Spin { for_ns } => Duration::from_nanos(for_ns),
        Wait::Block | Wait::Epoll => Duration::ZERO,
    };
    let mut next_check = NOTICE_BOUND;
    loop {
        for _ in 0..EAGER_LOOKS {
            if let Some(done) = attempt() {
                return done;
            }
            std::hint::spin_loop();
        }
        let spent = spinning.pause();
        if spent >= bound {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if spent >= next_check {
            if link.peer_gone() {
                // Bytes that the other side wrote before it ended are still delivered.
                return attempt().unwrap_or(Err(io::ErrorKind::ConnectionReset.into()));
            }
            next_check = spent + NOTICE_BOUND;
        }
        if spent >= spin {
            sleep((bound - spent).min(next_check - spent));
        }
    }
}

impl Read for ShmStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(reader) = &mut self.reader else {
            return Err(half("writes"));
        };
        if out.is_empty() {
            return Ok(0);
        }
        let link = &*self.link;
        let deaf = || link.deaf.load(Ordering::Acquire);
        // The two closures never run at the same time, but the compiler cannot know.
        let reader = std::cell::RefCell::new(reader);
        let attempt = || {
            let mut reader = reader.borrow_mut();
            // Checked before reading bytes: the end is reported after the last byte.
            let ended = reader.header().has_ended();
            match reader.take(out) {
                Err(broken) => Some(Err(broken.into())),
                Ok(0) if ended || deaf() => Some(Ok(0)),
                Ok(0) => None,
                Ok(n) => Some(Ok(n)),
            }
        };
        let sleep = |bound| reader.borrow().park(|| !deaf(), bound);
        patiently(self.wait, self.read_bound, link, attempt, sleep)
    }
}

impl Write for ShmStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(writer) = &mut self.writer else {
            return Err(half("reads"));
        };
        if bytes.is_empty() {
            return Ok(0);
        }
        let link = &*self.link;
        let mute = || link.mute.load(Ordering::Acquire);
        let writer = std::cell::RefCell::new(writer);
        let attempt = || {
            let mut writer = writer.borrow_mut();
            if mute() || writer.header().is_refused() {
                return Some(Err(io::ErrorKind::BrokenPipe.into()));
            }
            match writer.put(bytes) {
                Err(broken) => Some(Err(broken.into())),
                Ok(0) => None,
                Ok(n) => Some(Ok(n)),
            }
        };
        let sleep = |bound| writer.borrow().park(|| !mute(), bound);
        // A full ring is waited for by sleeping, as a full socket is.
        patiently(Wait::Block, self.write_bound, link, attempt, sleep)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn half(only: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("this half of a shared-memory stream only {only}"),
    )
}

impl Stream for ShmStream {
    fn kind(&self) -> StreamKind {
        StreamKind::Shm
    }

    fn buffered(&self) -> usize {
        self.reader.as_ref().map_or(0, RingReader::ready)
    }

    fn set_wait(&mut self, wait: Wait) -> io::Result<()> {
        if wait == Wait::Epoll {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "epoll cannot watch shared memory",
            ));
        }
        self.wait = wait;
        Ok(())
    }

    fn set_read_bound(&mut self, bound: Duration) -> io::Result<()> {
        self.read_bound = bound.min(LONGEST);
        Ok(())
    }

    fn set_write_bound(&mut self, bound: Duration) -> io::Result<()> {
        self.write_bound = bound.min(LONGEST);
        Ok(())
    }

    fn shutdown(&mut self, how: Shutdown) -> io::Result<()> {
        self.link.shut(how);
        Ok(())
    }

    fn split(mut self: Box<Self>) -> io::Result<(Box<dyn Stream>, Box<dyn Stream>)> {
        let writing = Self {
            reader: None,
            writer: self.writer.take(),
            link: Arc::clone(&self.link),
            ..*self
        };
        Ok((self, Box::new(writing)))
    }
}
