//! Connections to servers, in each of their forms.

use std::io::{self, Cursor};
use std::net::Shutdown;
use std::path::Path;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Join, Sink};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Why a message is not read. It stands in `reasons.ftl`, too.
pub(crate) const TOO_LONG: &str = "a message of the server is longer than any may be";

/// A connection in one of its forms: TCP, a socket of this host, TLS.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {
    /// Its TCP connection; `None` for a socket of this host.
    fn socket(&self) -> Option<SockRef<'_>>;

    /// Another handle of its TCP connection; `None` for a socket of this host.
    fn tcp(&self) -> Option<std::net::TcpStream> {
        self.socket()?.try_clone().ok().map(Into::into)
    }

    /// Has the server hear at once that nobody is there, though others may have a handle of the connection.
    fn hang_up(&self) {
        if let Some(socket) = self.socket() {
            // It may have ended before.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Duplex for TcpStream {
    fn socket(&self) -> Option<SockRef<'_>> {
        Some(self.into())
    }
}

impl Duplex for TlsStream<TcpStream> {
    fn socket(&self) -> Option<SockRef<'_>> {
        self.get_ref().0.socket()
    }
}

#[cfg(unix)]
impl Duplex for tokio::net::UnixStream {
    fn socket(&self) -> Option<SockRef<'_>> {
        None
    }
}

/// Bytes that stand for a server's answers, and take what is sent.
impl Duplex for Join<Cursor<Vec<u8>>, Sink> {
    fn socket(&self) -> Option<SockRef<'_>> {
        None
    }
}

impl Duplex for Box<dyn Duplex> {
    fn socket(&self) -> Option<SockRef<'_>> {
        (**self).socket()
    }
}

/// Connects to a socket of this host.
///
/// Errors: nobody listens there, and a system without such sockets.
#[cfg(unix)]
pub(crate) async fn at_socket(path: &Path) -> io::Result<Box<dyn Duplex>> {
    Ok(Box::new(tokio::net::UnixStream::connect(path).await?))
}

#[cfg(not(unix))]
pub(crate) async fn at_socket(_path: &Path) -> io::Result<Box<dyn Duplex>> {
    Err(io::ErrorKind::Unsupported.into())
}
