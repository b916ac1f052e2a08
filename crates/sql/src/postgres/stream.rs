//! The connection of a session: bytes to the server and from it.

use std::future::poll_fn;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::ReadBuf;

use super::wire::{Inbox, Unread};
use crate::stream::{Duplex, TOO_LONG};

/// A connection with what is to be sent and what has arrived.
pub(super) struct Link {
    stream: Box<dyn Duplex>,
    /// Messages to send.
    pub(super) outbox: Vec<u8>,
    /// How many bytes of the outbox were sent.
    sent: usize,
    inbox: Inbox,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stream.hang_up();
    }
}

impl Link {
    pub(super) fn new(stream: Box<dyn Duplex>) -> Self {
        Self {
            stream,
            outbox: Vec::new(),
            sent: 0,
            inbox: Inbox::new(),
        }
    }

    /// Another handle of its TCP connection; `None` for a socket of this host.
    pub(super) fn tcp(&self) -> Option<std::net::TcpStream> {
        self.stream.tcp()
    }

    /// The session is open: messages may be as long as answers are.
    pub(super) fn open(&mut self) {
        self.inbox.open();
    }

    /// Sends the outbox. It reads meanwhile, so that a server which waits for its answers to be read goes on.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.outbox.len() {
            match Pin::new(&mut *self.stream).poll_write(cx, &self.outbox[self.sent..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => self.sent += count,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => ready!(self.poll_fill(cx))?,
            }
        }
        while Pin::new(&mut *self.stream).poll_flush(cx)?.is_pending() {
            ready!(self.poll_fill(cx))?;
        }
        self.outbox.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    /// Reads more. Errors: the server closed the connection, too.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut room = ReadBuf::new(self.inbox.room());
        let read = Pin::new(&mut *self.stream).poll_read(cx, &mut room);
        let count = room.filled().len();
        match read {
            Poll::Ready(Ok(())) if count == 0 => {
                Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()))
            }
            Poll::Ready(Ok(())) => {
                self.inbox.add(count);
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }

    /// The next message, once it is whole; its body is read with [`Self::body`].
    pub(super) async fn next(&mut self) -> io::Result<(u8, Range<usize>)> {
        loop {
            if let Some(found) = self.arrived()? {
                return Ok(found);
            }
            poll_fn(|cx| self.poll_fill(cx)).await?;
        }
    }

    /// The next message, if it is here already.
    pub(super) fn arrived(&mut self) -> io::Result<Option<(u8, Range<usize>)>> {
        self.inbox.next().map_err(|unread| match unread {
            Unread::Garbled => io::ErrorKind::InvalidData.into(),
            Unread::TooLong => io::Error::other(TOO_LONG),
        })
    }

    /// Takes what has arrived from the connection without waiting for more.
    pub(super) async fn look(&mut self) -> io::Result<()> {
        poll_fn(|cx| match self.poll_fill(cx) {
            Poll::Pending => Poll::Ready(Ok(())),
            read => read,
        })
        .await
    }

    pub(super) fn body(&self, range: Range<usize>) -> &[u8] {
        self.inbox.body(range)
    }
}
