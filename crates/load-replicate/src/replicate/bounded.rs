//! Connections of a replication: every read and write returns soon.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use sokudo_replicate::session::{LOOK, PATIENCE};
use sokudo_replicate::wire::Channel;
use sokudo_workload::link::{Link, Transport};

/// A connection whose reads and writes return soon, as the engine needs them.
struct Bounded(Link);

/// The connection with those bounds.
pub(super) fn channel(mut link: Link, transport: Transport) -> io::Result<Box<dyn Channel>> {
    if let Link::Stream(stream) = &mut link {
        stream.set_read_bound(LOOK)?;
        // A record that has left in part cannot be taken up again: such a write waits for its end.
        stream.set_write_bound(match transport.writes_in_parts() {
            true => LOOK,
            false => PATIENCE,
        })?;
    }
    Ok(Box::new(Bounded(link)))
}

impl Drop for Bounded {
    /// Says that this was all: without it the end of a TLS connection looks like a cut.
    fn drop(&mut self) {
        if let Link::Stream(stream) = &mut self.0 {
            // On a broken connection there is no one to tell.
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

impl Read for Bounded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.receive(out)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.0 {
            Link::Stream(stream) => stream.write_vectored(parts),
            Link::Udp(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Link::Stream(stream) => stream.flush(),
            Link::Udp(_) => Ok(()),
        }
    }
}
