//! `qdisc`: queues of the devices, as `tc -s qdisc` counts them.
//!
//! ```text
//!  socket ─► TCP/UDP ─► IP ─► qdisc at the device's root ─► device
//!                             backlog, drops, overlimits      requeues: the device had no room
//! ```
//!
//! Sources: RTM_GETQDISC and RTM_GETLINK over netlink, of the network namespace of the thread that opens the monitor. Of
//! each device the discipline at its root, and the one at its entrance. A device without a queue
//! (`noqueue`) has none. The kernel keeps these counters in 32 bits.

#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux answers")
)]
pub(crate) mod parse;

use std::collections::BTreeMap;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey, Text};

use self::parse::Reading;
use crate::emit::{Emit, SOURCE_HOST, Total, key};
use crate::netlink::Queues;
use crate::reread::cannot_open;
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable};

/// More disciplines than this are not shown.
const MAX_SHOWN: usize = 64;

const METRICS: &[&str] = &[
    host::QDISC_BACKLOG_BYTES.name,
    host::QDISC_BACKLOG_PACKETS.name,
    host::QDISC_DROPS.name,
    host::QDISC_OVERLIMITS.name,
    host::QDISC_REQUEUES.name,
    host::NIC_UP.name,
];
/// Metrics of one discipline: the first ones of [`METRICS`].
const OF_DISCIPLINE: usize = 5;

/// Monitor of the devices' queues.
pub(crate) struct Qdisc;

impl Monitor for Qdisc {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "qdisc"
    }

    fn help(&self) -> &'static str {
        "queue of each device: backlog, drops, packets held back by a rate; state of its link"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        // Netlink alone would show this machine in a context that stands for another.
        let interfaces = ctx.proc_path("thread-self/net/dev");
        if let Err(why) = std::fs::metadata(&interfaces) {
            return Err(cannot_open(&interfaces, &why));
        }
        Ok(Box::new(QdiscSampler {
            host: ctx.host.clone(),
            queues: Queues::open().map_err(|why| Unavailable::System(Text::recorded(why)))?,
            names: BTreeMap::new(),
            known: BTreeMap::new(),
            states: BTreeMap::new(),
        }))
    }
}

struct QdiscSampler {
    host: String,
    queues: Queues,
    /// Names of the interfaces by number, from the last time that a new number was seen.
    names: BTreeMap<u32, String>,
    /// By number of the interface and kind.
    known: BTreeMap<(u32, String), State>,
    /// Series of the state of each interface, by its name.
    states: BTreeMap<String, SeriesKey>,
}

impl Sampler for QdiscSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let Some(readings) = self.queues.read() else {
            return;
        };
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        for now in readings {
            if let Some(state) = self.state(&now) {
                state.step(&now, &mut emit);
            }
        }
        for link in self.queues.names().unwrap_or_default() {
            if self.states.len() == MAX_SHOWN && !self.states.contains_key(&link.name) {
                continue;
            }
            let labels = [("device", link.name.as_str())];
            let new = || key(&self.host, SOURCE_HOST, host::NIC_UP.name, &labels);
            let state = self.states.entry(link.name.clone()).or_insert_with(new);
            emit.put(state, f64::from(u8::from(link.is_up && link.is_running)));
        }
    }
}

impl QdiscSampler {
    fn state(&mut self, now: &Reading) -> Option<&mut State> {
        let id = (now.interface, now.kind.clone());
        if !self.known.contains_key(&id) {
            if self.known.len() == MAX_SHOWN {
                return None;
            }
            let device = self.name(now.interface)?.to_owned();
            let state = State::new(&self.host, &device, &now.kind);
            self.known.insert(id.clone(), state);
        }
        self.known.get_mut(&id)
    }

    fn name(&mut self, interface: u32) -> Option<&str> {
        if !self.names.contains_key(&interface) {
            let links = self.queues.names()?;
            self.names = links.into_iter().map(|l| (l.index, l.name)).collect();
        }
        self.names.get(&interface).map(String::as_str)
    }
}

/// One discipline of one device; keys in the order of [`METRICS`].
struct State {
    keys: [SeriesKey; OF_DISCIPLINE],
    totals: [Total; 3],
    handle: u32,
}

impl State {
    fn new(host: &str, device: &str, kind: &str) -> Self {
        let labels = [("device", device), ("kind", kind)];
        Self {
            keys: std::array::from_fn(|at| key(host, SOURCE_HOST, METRICS[at], &labels)),
            totals: [Total::default(); 3],
            handle: 0,
        }
    }

    fn step(&mut self, now: &Reading, emit: &mut Emit<'_>) {
        if self.handle != now.handle {
            // Another discipline took its place, and counts from zero.
            self.handle = now.handle;
            self.totals.iter_mut().for_each(Total::begin_anew);
        }
        let (gauges, counters) = self.keys.split_at(2);
        for (key, value) in gauges.iter().zip([now.backlog_bytes, now.backlog_packets]) {
            emit.put(key, f64::from(value));
        }
        let readings = [now.drops, now.overlimits, now.requeues];
        for ((key, total), now) in counters.iter().zip(&mut self.totals).zip(readings) {
            if total.step_wrapping_32(now).is_some() {
                emit.put(key, total.since_start() as f64);
            }
        }
    }
}
