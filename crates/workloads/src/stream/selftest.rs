//! Which way of writing to TCP is the fastest on this host?
//!
//! Short runs over loopback, one per way, sender and receiver on a thread each. They tell of the
//! system calls and of the memory, not of any network: the choice for `--io auto`.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_net::tcp::bulk::{BulkReceiver, BulkSender, ReceivePath, SendPath};
use sokudo_net::tcp::{self, TcpOptions};

use super::options::StreamOptions;
use super::protocol::payload;

/// How long each way is tried.
const SPAN: Duration = Duration::from_millis(80);
/// Nothing in a trial waits longer.
const BOUND: Duration = Duration::from_secs(2);
/// Another way must win by this to be taken instead of plain writes of the usual size.
const MARGIN: f64 = 1.03;
/// Sizes that are tried when none is given.
const SIZES: [usize; 3] = [128 << 10, 256 << 10, 1 << 20];

/// One way of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) path: SendPath,
    pub(super) size_bytes: usize,
}

/// The fastest way here; of `size_bytes` per write when that is given. Tried once per process.
pub(super) fn best(size_bytes: Option<usize>) -> Way {
    static KNOWN: OnceLock<Mutex<BTreeMap<Option<usize>, Way>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    *known
        .entry(size_bytes)
        .or_insert_with(|| find_best(size_bytes))
}

fn find_best(size_bytes: Option<usize>) -> Way {
    let usual = Way {
        path: SendPath::Plain,
        size_bytes: size_bytes.unwrap_or(StreamOptions::DEFAULT_SIZE_BYTES as usize),
    };
    let sizes = size_bytes.map_or_else(|| SIZES.to_vec(), |size| vec![size]);
    let paths = [SendPath::Plain, SendPath::Sendfile, SendPath::Zerocopy];
    let ways = paths.into_iter().flat_map(|path| {
        sizes.iter().map(move |size| Way {
            path,
            size_bytes: *size,
        })
    });
    let mut best = (usual, bytes_per_s(usual).unwrap_or(0.0));
    for way in ways.filter(|way| *way != usual) {
        if let Ok(rate) = bytes_per_s(way)
            && rate > best.1 * MARGIN
        {
            best = (way, rate);
        }
    }
    best.0
}

/// Bytes per second that one connection over loopback carries in this way.
fn bytes_per_s(way: Way) -> io::Result<f64> {
    let local: SocketAddr = ([127, 0, 0, 1], 0).into();
    let options = TcpOptions::default();
    let listener = tcp::listen(local, &options).map_err(io::Error::other)?;
    let peer = listener.local_addr()?;
    let out = tcp::connect(peer, &options, BOUND).map_err(io::Error::other)?;
    let into = tcp::accept(&listener, &options, BOUND).map_err(io::Error::other)?;
    let (into, _) = into.ok_or(io::ErrorKind::TimedOut)?;
    out.stream.set_write_timeout(Some(BOUND))?;
    into.set_read_timeout(Some(BOUND))?;
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new()
            .name("selftest-rx".into())
            .spawn_scoped(scope, || {
                let mut receiver = BulkReceiver::new(&into, ReceivePath::Read, way.size_bytes)?;
                let (begun_ns, mut bytes) = (now_ns(), 0);
                loop {
                    match receiver.receive()? {
                        0 => break,
                        taken => bytes += taken,
                    }
                }
                let seconds = (now_ns() - begun_ns) as f64 / 1e9;
                io::Result::Ok(bytes as f64 / seconds)
            })?;
        let sent = send_for(&out.stream, way);
        // The reader ends with it, whatever happened.
        let _ = out.stream.shutdown(std::net::Shutdown::Both);
        let rate = reading
            .join()
            .map_err(|_| io::Error::other("the receiving thread died"))?;
        sent.and(rate)
    })
}

fn send_for(stream: &std::net::TcpStream, way: Way) -> io::Result<()> {
    let block = payload(way.size_bytes, 1);
    let mut sender = BulkSender::new(stream, way.path, &block)?;
    let end_ns = now_ns() + SPAN.as_nanos() as i64;
    while now_ns() < end_ns {
        sender.send(way.size_bytes)?;
    }
    sender.finish(BOUND).map(drop)
}
