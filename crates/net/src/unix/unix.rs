//! Linux and macOS: stream sockets of the host.

use std::io;
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use super::Name;
use crate::stream::socket::{ByteSocket, SocketStream};
use crate::stream::{StreamError, StreamKind};
use crate::tcp::TcpError;
use crate::wait;

/// Callers that may wait to be accepted; the system may allow fewer.
const BACKLOG: i32 = 4096;

/// A same-host socket as a stream.
pub type LocalStream = SocketStream<UnixStream>;

impl ByteSocket for UnixStream {
    fn tcp(&self) -> Option<&TcpStream> {
        None
    }
}

fn address(name: &Name) -> io::Result<SockAddr> {
    match name {
        Name::Path(path) => SockAddr::unix(path),
        Name::Abstract(name) if cfg!(target_os = "linux") => {
            let bytes = [&[0], name.as_bytes()].concat();
            SockAddr::unix(Path::new(std::ffi::OsStr::from_bytes(&bytes)))
        }
        Name::Abstract(_) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this system offers no abstract socket names",
        )),
    }
}

fn open() -> Result<Socket, StreamError> {
    Socket::new(Domain::UNIX, Type::STREAM, None)
        .map_err(|why| StreamError::local("cannot open a unix socket", why))
}

/// Calls a listener of this host.
///
/// Errors: [`StreamError::Local`]; at the bound at the latest where the system bounds such calls
/// (Linux), which wait only while the listener's queue is full.
pub fn connect(name: &Name, bound: Duration) -> Result<LocalStream, StreamError> {
    let failed = |why: io::Error| {
        let why = match why.kind() {
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            _ => why,
        };
        StreamError::local(format!("cannot connect to the unix socket `{name}`"), why)
    };
    let socket = open()?;
    let bound = bound.clamp(Duration::from_millis(1), wait::LONGEST);
    socket.set_write_timeout(Some(bound)).map_err(failed)?;
    socket
        .connect(&address(name).map_err(failed)?)
        .map_err(failed)?;
    SocketStream::new(Arc::new(UnixStream::from(socket)), StreamKind::Unix).map_err(failed)
}

/// Waits for callers of this host. Its path vanishes with it.
pub struct LocalListener {
    listener: UnixListener,
    name: Name,
}

impl LocalListener {
    /// Listens. A socket file without a listener is replaced.
    ///
    /// Errors: [`StreamError::Local`].
    pub fn bind(name: &Name) -> Result<Self, StreamError> {
        let failed =
            |why| StreamError::local(format!("cannot listen on the unix socket `{name}`"), why);
        let address = address(name).map_err(failed)?;
        let mut socket = open()?;
        let mut bound = socket.bind(&address);
        if let (Err(why), Name::Path(path)) = (&bound, name)
            && why.kind() == io::ErrorKind::AddrInUse
            && left_behind(path, &address)
        {
            std::fs::remove_file(path).map_err(failed)?;
            socket = open()?;
            bound = socket.bind(&address);
        }
        bound.map_err(failed)?;
        socket.listen(BACKLOG).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener: socket.into(),
            name: name.clone(),
        })
    }

    /// The address at which it listens.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Waits for a caller; `None` when the bound has passed.
    ///
    /// Errors: [`TcpError::TooManyOpen`] leaves the listener usable; others are final.
    pub fn accept(&self, bound: Duration) -> Result<Option<LocalStream>, StreamError> {
        let failed = |why: io::Error| match why.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => TcpError::TooManyOpen { why }.into(),
            _ => StreamError::local(format!("cannot accept on `{}`", self.name), why),
        };
        let deadline = Instant::now() + bound.min(wait::LONGEST);
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).map_err(failed)?;
                    let stream = SocketStream::new(Arc::new(stream), StreamKind::Unix);
                    return stream.map(Some).map_err(failed);
                }
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if !wait::readable(&self.listener, left).map_err(failed)? {
                        return Ok(None);
                    }
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(failed(why)),
            }
        }
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        if let Name::Path(path) = &self.name {
            // Another process may have removed it already.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// True when the path is a socket without a listener.
fn left_behind(path: &Path, address: &SockAddr) -> bool {
    let is_socket =
        std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = |socket: Socket| {
        let _ = socket.set_nonblocking(true);
        matches!(socket.connect(address), Err(why) if why.kind() == io::ErrorKind::ConnectionRefused)
    };
    is_socket && open().is_ok_and(refused)
}
