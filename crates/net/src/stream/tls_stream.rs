//! Implements the stream interface over a TLS session.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::{DEFAULT_BOUND, Stream, StreamKind};
use crate::tls::{Received, Session, TlsError, TlsReader, Writer};
use crate::wait::{AsFd as _, BorrowedFd, Wait};

/// Plain bytes per call to the encryption: what it takes before it must send.
const AT_ONCE_BYTES: usize = 64 * 1024;

/// A TLS session, or its writing half, as a [`Stream`].
pub struct TlsStream {
    /// `None` in the writing half.
    reader: Option<TlsReader>,
    writer: Writer,
    read_bound: Duration,
    write_bound: Duration,
}

impl TlsStream {
    /// A session as a stream with [`DEFAULT_BOUND`] both ways.
    pub fn new(session: Session) -> Self {
        Self {
            reader: Some(session.reader),
            writer: session.writer,
            read_bound: DEFAULT_BOUND,
            write_bound: DEFAULT_BOUND,
        }
    }

    fn reader(&mut self) -> io::Result<&mut TlsReader> {
        self.reader.as_mut().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "this half of a TLS stream only writes",
            )
        })
    }
}

/// A TLS failure as the error of a read or write.
pub(crate) fn as_io(why: TlsError) -> io::Error {
    match why {
        TlsError::Closed => io::ErrorKind::ConnectionReset.into(),
        TlsError::TimedOut => io::ErrorKind::TimedOut.into(),
        TlsError::Io(why) => why,
        why => io::Error::new(io::ErrorKind::InvalidData, why),
    }
}

impl Read for TlsStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let bound = self.read_bound;
        let reader = self.reader()?;
        loop {
            match reader.read_slice(out, bound).map_err(as_io)? {
                // Only TLS messages arrived.
                Received::Bytes(0) => {}
                Received::Bytes(n) => return Ok(n),
                Received::End => return Ok(0),
                Received::Idle if bound.is_zero() => return Err(io::ErrorKind::WouldBlock.into()),
                Received::Idle => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }
}

impl Write for TlsStream {
    /// Takes up to 64 KiB. Errors are final: a part of a record may have left.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(AT_ONCE_BYTES)];
        self.writer.send(bytes, self.write_bound).map_err(as_io)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for TlsStream {
    fn kind(&self) -> StreamKind {
        StreamKind::Tls
    }

    fn tcp(&self) -> Option<&TcpStream> {
        Some(self.writer.tcp())
    }

    fn source(&self) -> Option<BorrowedFd<'_>> {
        Some(self.writer.tcp().as_fd())
    }

    fn buffered(&self) -> usize {
        self.reader.as_ref().map_or(0, TlsReader::buffered)
    }

    fn set_wait(&mut self, wait: Wait) -> io::Result<()> {
        self.reader()?.set_wait(wait)
    }

    fn set_read_bound(&mut self, bound: Duration) -> io::Result<()> {
        self.read_bound = bound;
        Ok(())
    }

    fn set_write_bound(&mut self, bound: Duration) -> io::Result<()> {
        if bound.is_zero() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "a TLS stream cannot write without waiting: its records leave as a whole",
            ));
        }
        self.write_bound = bound;
        Ok(())
    }

    fn shutdown(&mut self, how: Shutdown) -> io::Result<()> {
        match how {
            Shutdown::Write => self.writer.finish(self.write_bound).map_err(as_io),
            Shutdown::Read => crate::stream::socket::shut(self.writer.tcp(), how),
            Shutdown::Both => {
                self.writer.close();
                Ok(())
            }
        }
    }

    fn split(mut self: Box<Self>) -> io::Result<(Box<dyn Stream>, Box<dyn Stream>)> {
        let reading = Self {
            reader: self.reader.take(),
            writer: self.writer.clone(),
            read_bound: self.read_bound,
            write_bound: self.write_bound,
        };
        Ok((Box::new(reading), self))
    }
}
