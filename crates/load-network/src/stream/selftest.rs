//! A short test that finds the fastest way of writing to TCP on this host.
//!
//! Short runs over loopback, sender and receiver on a thread each; the faster ways of one round
//! take part in the next. They tell of the system calls and of the memory, not of any network: the
//! choice for `--io auto`.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_net::tcp::bulk::{BulkReceiver, BulkSender, ReceivePath, SendPath};
use sokudo_net::tcp::{self, TcpOptions};

use super::options::read_bytes;
use super::protocol::payload;

/// Connections that are tried at once, at most: a few show what many do to the caches.
pub(super) const MOST_CONNECTIONS: u32 = 4;
/// Nothing in a trial waits longer.
const BOUND: Duration = Duration::from_secs(2);
/// Another way must win by this to be taken instead of plain writes of the usual size.
const MARGIN: f64 = 1.03;
/// Sizes that are tried when none is given.
const SIZES: [usize; 4] = [128 << 10, 256 << 10, 512 << 10, 1 << 20];
/// Rounds of trials: how long each trial lasts, and how many ways stay for it. What a busy
/// neighbour takes from one trial, others make good: a way is judged by all of its trials.
const ROUNDS: [(Duration, usize); 4] = [
    (Duration::from_millis(40), usize::MAX),
    (Duration::from_millis(50), 5),
    (Duration::from_millis(80), 3),
    (Duration::from_millis(80), 3),
];

/// One way of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) path: SendPath,
    pub(super) size_bytes: usize,
}

/// Conditions for which the fastest way is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Trial {
    /// Bytes per write, when they are given.
    pub(super) size_bytes: Option<usize>,
    /// Connections at once.
    pub(super) connections: u32,
    /// Bytes that readers wait for, when they wait for many.
    pub(super) gather: Option<usize>,
}

/// The fastest way here. Tried once per process and kind of trial, for about a second.
pub(super) fn best(trial: Trial) -> Way {
    static KNOWN: OnceLock<Mutex<BTreeMap<Trial, Way>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(trial).or_insert_with(|| {
        let measure = |way, span| bytes_per_s(way, &trial, span).ok();
        fastest(ways(trial.size_bytes), measure)
    })
}

/// Every way of writing, the usual one first.
fn ways(size_bytes: Option<usize>) -> Vec<Way> {
    let sizes = size_bytes.map_or_else(|| SIZES.to_vec(), |size| vec![size]);
    let paths = [SendPath::Plain, SendPath::Sendfile, SendPath::Zerocopy];
    let of = |path| {
        sizes
            .iter()
            .map(move |&size_bytes| Way { path, size_bytes })
    };
    paths.into_iter().flat_map(of).collect()
}

/// The way with the highest mean rate among those that stay to the end; the first one when no
/// other is clearly faster. A way that cannot be measured is out.
fn fastest(ways: Vec<Way>, mut measure: impl FnMut(Way, Duration) -> Option<f64>) -> Way {
    let usual = ways[0];
    let mut left: Vec<(Way, f64)> = ways.into_iter().map(|way| (way, 0.0)).collect();
    for (span, most) in ROUNDS {
        left.sort_by(|a, b| b.1.total_cmp(&a.1));
        // The usual way is what all others are compared with.
        let place = left.iter().position(|(way, _)| *way == usual);
        let kept = place.map(|place| left.remove(place));
        left.truncate(most);
        left.extend(kept);
        left.retain_mut(|(way, sum)| match measure(*way, span) {
            Some(rate) => {
                *sum += rate;
                true
            }
            None => false,
        });
    }
    let of_usual = left.iter().find(|(way, _)| *way == usual);
    let enough = of_usual.map_or(0.0, |(_, sum)| sum * MARGIN);
    let best = left.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.filter(|(_, sum)| *sum > enough)
        .map_or(usual, |(way, _)| *way)
}

/// Bytes per second that the connections of a trial carry over loopback together.
fn bytes_per_s(way: Way, trial: &Trial, span: Duration) -> io::Result<f64> {
    std::thread::scope(|scope| {
        let connection = || one_connection(way, trial.gather, span);
        let others: Vec<_> = (1..trial.connections)
            .map(|_| scope.spawn(connection))
            .collect();
        let first = connection();
        let died = |_| io::Error::other("the sending thread died");
        let rates = others.into_iter().map(|other| other.join().map_err(died)?);
        std::iter::once(first).chain(rates).sum()
    })
}

/// Bytes per second that one connection over loopback carries in this way.
fn one_connection(way: Way, gather: Option<usize>, span: Duration) -> io::Result<f64> {
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
                let at_once = way.size_bytes.max(gather.map_or(0, read_bytes));
                let mut receiver = BulkReceiver::new(&into, ReceivePath::Read, at_once)?;
                if let Some(bytes) = gather {
                    // A system without it reads as it always does.
                    let _ = receiver.gather(bytes);
                }
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
        let sent = send_for(&out.stream, way, span);
        // The reader ends with it, whatever happened.
        let _ = out.stream.shutdown(std::net::Shutdown::Both);
        let rate = reading
            .join()
            .map_err(|_| io::Error::other("the receiving thread died"))?;
        sent.and(rate)
    })
}

fn send_for(stream: &std::net::TcpStream, way: Way, span: Duration) -> io::Result<()> {
    let block = payload(way.size_bytes, 1);
    let mut sender = BulkSender::new(stream, way.path, &block)?;
    let end_ns = now_ns() + span.as_nanos() as i64;
    while now_ns() < end_ns {
        sender.send(way.size_bytes)?;
    }
    sender.finish(BOUND).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way that is found where each has a true rate and some trials are disturbed.
    fn found(rate: impl Fn(Way) -> Option<f64>, disturbed: impl Fn(usize) -> bool) -> Way {
        let mut trials = 0;
        fastest(ways(None), |way, _| {
            trials += 1;
            let share = if disturbed(trials) { 0.6 } else { 1.0 };
            rate(way).map(|rate| rate * share)
        })
    }

    #[test]
    fn the_usual_way_stays_unless_another_is_clearly_faster() {
        let usual = ways(None)[0];
        assert_eq!(
            usual,
            Way {
                path: SendPath::Plain,
                size_bytes: 128 << 10
            }
        );
        let slightly = |way: Way| Some(if way == usual { 100.0 } else { 101.0 });
        assert_eq!(found(slightly, |_| false), usual);
        assert_eq!(found(|_| None, |_| false), usual);
    }

    #[test]
    fn a_clearly_faster_way_is_found_in_spite_of_a_neighbour() {
        let wanted = Way {
            path: SendPath::Zerocopy,
            size_bytes: 512 << 10,
        };
        let rate = |way: Way| match way {
            _ if way == wanted => Some(160.0),
            Way {
                path: SendPath::Sendfile,
                ..
            } => None,
            _ => Some(100.0),
        };
        assert_eq!(found(rate, |_| false), wanted);
        assert_eq!(found(rate, |trial| trial % 7 == 0), wanted);
    }
}
