//! `listen`: accept queues of listening TCP sockets, as `ss -ltn` shows them.
//!
//! ```text
//!  SYN ─► handshake ─► accept queue: depth (Recv-Q), limit (Send-Q) ─► accept
//!                      full: the connection is dropped, and its SYN is sent again seconds later
//! ```
//!
//! Source: SOCK_DIAG over netlink, of the network namespace of the thread that opens the monitor; sockets
//! that listen on one address with SO_REUSEPORT are added up. A listener is recorded from the first
//! sample at which something waits for it, or always when its port was asked for.

#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux answers")
)]
pub(crate) mod parse;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey, Text};

use crate::emit::{Emit, SOURCE_HOST, key};
use crate::netlink::Listeners;
use crate::reread::cannot_open;
use crate::{Context, Monitor, Sampler, Unavailable};

/// More listeners than this are not shown.
const MAX_SHOWN: usize = 64;

const METRICS: &[&str] = &[host::LISTEN_QUEUE_DEPTH.name, host::LISTEN_QUEUE_LIMIT.name];

/// Which listeners are observed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListenOptions {
    /// Listeners on this TCP port, also while nothing waits for them; without it, all at which something waited.
    #[serde(default)]
    port: Option<u16>,
}

/// Monitor of the accept queues.
pub(crate) struct Listen;

impl Monitor for Listen {
    type Options = ListenOptions;

    fn name(&self) -> &'static str {
        "listen"
    }

    fn help(&self) -> &'static str {
        "accept queue of each listening TCP socket: connections that wait, and how many may"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, options: ListenOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        // Netlink alone would show this machine in a context that stands for another.
        let sockets = ctx.proc_path("thread-self/net/sockstat");
        if let Err(why) = std::fs::metadata(&sockets) {
            return Err(cannot_open(&sockets, &why));
        }
        Ok(Box::new(ListenSampler {
            host: ctx.host.clone(),
            listeners: Listeners::open().map_err(|why| Unavailable::System(Text::recorded(why)))?,
            port: options.port,
            known: BTreeMap::new(),
        }))
    }
}

struct ListenSampler {
    host: String,
    listeners: Listeners,
    port: Option<u16>,
    /// Keys of [`METRICS`] of the listeners that are recorded.
    known: BTreeMap<SocketAddr, [SeriesKey; METRICS.len()]>,
}

impl Sampler for ListenSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let Some(readings) = self.listeners.read() else {
            return;
        };
        let mut now: BTreeMap<SocketAddr, (u64, u64)> = BTreeMap::new();
        for reading in readings {
            let queue = now.entry(reading.address).or_default();
            queue.0 += u64::from(reading.depth);
            queue.1 += u64::from(reading.limit);
        }
        for (address, (depth, _)) in &now {
            let is_asked_for = self.port.map_or(*depth > 0, |port| address.port() == port);
            if is_asked_for && self.known.len() < MAX_SHOWN && !self.known.contains_key(address) {
                self.known.insert(*address, keys(&self.host, *address));
            }
        }
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        for (address, keys) in &self.known {
            if let Some((depth, limit)) = now.get(address) {
                emit.put(&keys[0], *depth as f64);
                emit.put(&keys[1], *limit as f64);
            }
        }
    }
}

fn keys(host: &str, address: SocketAddr) -> [SeriesKey; METRICS.len()] {
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let labels = [("address", ip.as_str()), ("port", port.as_str())];
    std::array::from_fn(|at| key(host, SOURCE_HOST, METRICS[at], &labels))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::{Files, Registered, parse as parse_spec};

    fn open(words: &str) -> Box<dyn Sampler> {
        let spec = parse_spec(words, Files::Refused).expect("options");
        let ctx = Context::host("hosta");
        Listen.open_with(&spec.options, &ctx).expect("opens")
    }

    fn of(batch: &Batch, metric: &str, port: u16) -> Option<Vec<f64>> {
        let port = port.to_string();
        let is_it = |s: &&sokudo_model::Series| {
            s.key.metric == metric && s.key.labels.get("port") == Some(&port)
        };
        let series = batch.series.iter().find(is_it)?;
        Some(series.points.iter().map(|point| point.1).collect())
    }

    #[test]
    fn connections_that_nobody_accepts_are_seen() {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("bind"));
        let [full, quiet] = listeners
            .each_ref()
            .map(|listener| listener.local_addr().expect("address"));
        let mut all = open("listen");
        let mut asked = open(&format!("listen:port={}", quiet.port()));
        let mut batches = [Batch::default(), Batch::default()];
        let mut callers = Vec::new();
        for second in 0..2 {
            let t_ns = second * 1_000_000_000;
            all.sample(t_ns, &mut batches[0]);
            asked.sample(t_ns, &mut batches[1]);
            if second == 0 {
                callers.extend((0..3).map(|_| TcpStream::connect(full)));
                assert!(callers.iter().all(Result::is_ok));
            }
        }
        let (depth, limit) = (METRICS[0], METRICS[1]);
        assert_eq!(of(&batches[0], depth, full.port()), Some(vec![3.0]));
        assert!(of(&batches[0], limit, full.port()).is_some_and(|limit| limit[0] >= 3.0));
        assert_eq!(of(&batches[0], depth, quiet.port()), None, "nothing waited");
        assert_eq!(of(&batches[1], depth, quiet.port()), Some(vec![0.0, 0.0]));
    }
}
