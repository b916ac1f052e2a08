//! `sockets`: TCP connections of the host, and local ports that are left.
//!
//! ```text
//! connect ─► in use ─► closed by us ─► TIME_WAIT, 60 s ─► its port is free again
//! ```
//!
//! Sources, all of the network namespace of the thread that opens the monitor:
//! `/proc/thread-self/net/{sockstat,sockstat6}` and, read once, `/proc/sys/net/ipv4/ip_local_port_range`.
//! The kernel keeps both numbers ready: reading them costs the same with one connection and with a
//! million. They count every socket, so held against the range of local ports they say how many could
//! be taken at most: connections that the host accepted and ports that serve several destinations are
//! counted, too.

mod parse;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

use crate::emit::{Emit, SOURCE_HOST, key};
use crate::reread::Reread;
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable};

const METRICS: &[&str] = &[
    host::TCP_CONNECTIONS.name,
    host::TCP_TIME_WAIT_CONNECTIONS.name,
    host::TCP_LOCAL_PORTS.name,
];

/// Monitor of the namespace's TCP sockets.
pub(crate) struct Sockets;

impl Monitor for Sockets {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "sockets"
    }

    fn help(&self) -> &'static str {
        "TCP connections in use and waiting out their end, range of local ports"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        let net = |file| ctx.proc_path("thread-self/net").join(file);
        let range = std::fs::read_to_string(ctx.proc_path("sys/net/ipv4/ip_local_port_range"));
        let host = |metric| key(&ctx.host, SOURCE_HOST, metric, &[]);
        Ok(Box::new(SocketsSampler {
            sockstat: Reread::open_readable(&net("sockstat"))?,
            sockstat6: Reread::open(&net("sockstat6")).ok(),
            ports: range.ok().and_then(|text| parse::ports(&text)),
            keys: std::array::from_fn(|at| host(METRICS[at])),
            host: ctx.host.clone(),
        }))
    }
}

struct SocketsSampler {
    host: String,
    sockstat: Reread,
    sockstat6: Option<Reread>,
    /// Size of the range of local ports, where the system says it.
    ports: Option<u32>,
    /// In the order of [`METRICS`].
    keys: [SeriesKey; METRICS.len()],
}

impl Sampler for SocketsSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let tcp = self.sockstat.text().and_then(parse::tcp);
        let Some(tcp) = tcp else {
            return;
        };
        let tcp6 = self.sockstat6.as_mut().and_then(Reread::text);
        let in_use = tcp
            .in_use
            .saturating_add(tcp6.and_then(parse::tcp6).unwrap_or(0));
        let values = [Some(in_use), tcp.time_wait, self.ports.map(u64::from)];
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        for (key, value) in self.keys.iter().zip(values) {
            if let Some(value) = value {
                emit.put(key, value as f64);
            }
        }
    }
}
