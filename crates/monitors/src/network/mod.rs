//! `network`: traffic of the interfaces, and drops in the kernel.
//!
//! ```text
//!  wire ─► NIC ─► softnet backlog ─► IP reassembly ─► UDP/TCP ─► socket ─► program
//!          nic_receive_drops         ip_reassembly_    udp_no_port
//!                  softnet_drops     failures          udp_receive_buffer_errors, tcp_listen_overflows
//! ```
//!
//! Sources, all of the network namespace of the thread that opens the monitor:
//! `/proc/thread-self/net/{dev,snmp,snmp6,netstat,stat/nf_conntrack}`; `/proc/net` would be the namespace of the
//! process's first thread. UDP and reassembly counters are the sums of IPv4 and IPv6.
//! `softnet_stat` counts per core for all namespaces together, so only a whole machine shows it.
//! `InErrors` contains the buffer and checksum errors and is therefore not added to anything.

mod parse;

use std::collections::BTreeMap;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

use crate::emit::{Emit, Interval, SOURCE_HOST, Total, key};
use crate::reread::Reread;
use crate::{Context, Monitor, NoOptions, Sampler, Scope, Unavailable};

pub(crate) use self::parse::interfaces;

/// More interfaces than this are not shown.
const MAX_SHOWN: usize = 64;

const METRICS: &[&str] = &[
    host::NIC_RECEIVE_BYTES_PER_SECOND.name,
    host::NIC_RECEIVE_PACKETS_PER_SECOND.name,
    host::NIC_SEND_BYTES_PER_SECOND.name,
    host::NIC_SEND_PACKETS_PER_SECOND.name,
    host::NIC_RECEIVE_DROPS.name,
    host::NIC_SEND_DROPS.name,
    host::NIC_ERRORS.name,
    host::UDP_IN_PER_SECOND.name,
    host::UDP_OUT_PER_SECOND.name,
    host::UDP_RECEIVE_BUFFER_ERRORS.name,
    host::UDP_SEND_BUFFER_ERRORS.name,
    host::UDP_NO_PORT.name,
    host::UDP_CHECKSUM_ERRORS.name,
    host::IP_REASSEMBLY_FAILURES.name,
    host::TCP_SEGMENTS_IN_PER_SECOND.name,
    host::TCP_SEGMENTS_OUT_PER_SECOND.name,
    host::TCP_RETRANSMITS.name,
    host::TCP_LISTEN_OVERFLOWS.name,
    host::TCP_LISTEN_DROPS.name,
    host::TCP_SYN_RETRANSMITS.name,
    host::SOFTNET_DROPS.name,
    host::SOFTNET_TIME_SQUEEZES.name,
    host::CONNTRACK_ENTRIES.name,
    host::CONNTRACK_LIMIT.name,
    host::CONNTRACK_DROPS.name,
];

/// Monitor of interfaces and protocol counters.
pub(crate) struct Network;

impl Monitor for Network {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "network"
    }

    fn help(&self) -> &'static str {
        "traffic and drops of each interface, UDP, TCP and backlog counters"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        let net = |file| ctx.proc_path("thread-self/net").join(file);
        let softnet = match ctx.scope {
            Scope::Host => Reread::open(&net("softnet_stat")).ok(),
            Scope::Process | Scope::Namespace => None,
        };
        Ok(Box::new(NetworkSampler {
            dev: Reread::open_readable(&net("dev"))?,
            snmp: Reread::open_readable(&net("snmp"))?,
            snmp6: Reread::open(&net("snmp6")).ok(),
            netstat: Reread::open(&net("netstat")).ok(),
            softnet,
            conntrack: ConntrackState::open(ctx),
            interval: Interval::default(),
            interfaces: BTreeMap::new(),
            protocols: Protocols::new(&ctx.host),
            cores: BTreeMap::new(),
            host: ctx.host.clone(),
        }))
    }
}

struct NetworkSampler {
    host: String,
    dev: Reread,
    snmp: Reread,
    snmp6: Option<Reread>,
    netstat: Option<Reread>,
    softnet: Option<Reread>,
    conntrack: Option<ConntrackState>,
    interval: Interval,
    interfaces: BTreeMap<String, InterfaceState>,
    protocols: Protocols,
    cores: BTreeMap<u32, CoreState>,
}

impl Sampler for NetworkSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let elapsed_s = self.interval.step(t_ns);
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        if let Some(text) = self.dev.text() {
            step_interfaces(&mut self.interfaces, &self.host, text, elapsed_s, &mut emit);
        }
        let readings = Readings {
            snmp: self.snmp.text(),
            snmp6: self.snmp6.as_mut().and_then(Reread::text),
            netstat: self.netstat.as_mut().and_then(Reread::text),
        };
        self.protocols.step(&readings, elapsed_s, &mut emit);
        if let Some(text) = self.softnet.as_mut().and_then(Reread::text) {
            step_softnet(&mut self.cores, &self.host, text, &mut emit);
        }
        if let Some(conntrack) = &mut self.conntrack {
            conntrack.step(&mut emit);
        }
    }
}

/// One counter and how it is shown.
struct Counter {
    key: SeriesKey,
    total: Total,
    shown: Shown,
}

/// Way in which a counter becomes a point.
#[derive(Clone, Copy)]
enum Shown {
    /// Growth over the interval, per second.
    Rate,
    /// Growth since the first reading.
    SinceStart,
}

impl Counter {
    fn new(host: &str, metric: &str, labels: &[(&str, &str)]) -> Self {
        Self {
            key: key(host, SOURCE_HOST, metric, labels),
            total: Total::default(),
            shown: match metric.ends_with("_per_second") {
                true => Shown::Rate,
                false => Shown::SinceStart,
            },
        }
    }

    /// Takes a reading; the value to show, when there is one.
    fn step(&mut self, now: u64, elapsed_s: Option<f64>) -> Option<f64> {
        let is_first = self.total.is_new();
        let growth = self.total.step(now);
        match self.shown {
            Shown::Rate => Some(growth? as f64 / elapsed_s?),
            Shown::SinceStart => (!is_first).then(|| self.total.since_start() as f64),
        }
    }
}

/// Counters of one interface, in the order of the first seven of [`METRICS`].
struct InterfaceState {
    counters: [Counter; 7],
}

fn step_interfaces(
    known: &mut BTreeMap<String, InterfaceState>,
    host: &str,
    text: &str,
    elapsed_s: Option<f64>,
    emit: &mut Emit<'_>,
) {
    for now in interfaces(text) {
        if !known.contains_key(now.name) {
            if known.len() == MAX_SHOWN {
                continue;
            }
            known.insert(now.name.to_owned(), InterfaceState::new(host, now.name));
        }
        if let Some(state) = known.get_mut(now.name) {
            state.step(&now, elapsed_s, emit);
        }
    }
}

impl InterfaceState {
    fn new(host: &str, device: &str) -> Self {
        Self {
            counters: std::array::from_fn(|at| {
                Counter::new(host, METRICS[at], &[("device", device)])
            }),
        }
    }

    fn step(&mut self, now: &parse::Interface<'_>, elapsed_s: Option<f64>, emit: &mut Emit<'_>) {
        let values = [
            now.receive_bytes,
            now.receive_packets,
            now.send_bytes,
            now.send_packets,
            now.receive_drops,
            now.send_drops,
            now.receive_errors.saturating_add(now.send_errors),
        ];
        // An interface that nothing ever used would only fill the report.
        let used = values.iter().any(|&value| value > 0);
        for (counter, value) in self.counters.iter_mut().zip(values) {
            match counter.step(value, elapsed_s) {
                Some(value) if used => emit.put(&counter.key, value),
                _ => {}
            }
        }
    }
}

/// Fields of `net/snmp`, in the order of [`METRICS`] from the eighth on.
const SNMP: [(&str, &str); 10] = [
    ("Udp", "InDatagrams"),
    ("Udp", "OutDatagrams"),
    ("Udp", "RcvbufErrors"),
    ("Udp", "SndbufErrors"),
    ("Udp", "NoPorts"),
    ("Udp", "InCsumErrors"),
    ("Ip", "ReasmFails"),
    ("Tcp", "InSegs"),
    ("Tcp", "OutSegs"),
    ("Tcp", "RetransSegs"),
];

/// Fields of `net/snmp6` that are added to the first ones of [`SNMP`]; TCP counts both already.
const SNMP6: [&str; 7] = [
    "Udp6InDatagrams",
    "Udp6OutDatagrams",
    "Udp6RcvbufErrors",
    "Udp6SndbufErrors",
    "Udp6NoPorts",
    "Udp6InCsumErrors",
    "Ip6ReasmFails",
];

/// Fields of `net/netstat`, following those of [`SNMP`].
const NETSTAT: [(&str, &str); 3] = [
    ("TcpExt", "ListenOverflows"),
    ("TcpExt", "ListenDrops"),
    ("TcpExt", "TCPSynRetrans"),
];

/// Texts of the protocol counters; `None` for one that could not be read this time.
struct Readings<'a> {
    snmp: Option<&'a str>,
    snmp6: Option<&'a str>,
    netstat: Option<&'a str>,
}

impl Readings<'_> {
    /// One value per protocol counter; `None` where the kernel does not count it.
    fn values(&self) -> [Option<u64>; SNMP.len() + NETSTAT.len()] {
        let mut values = [None; SNMP.len() + NETSTAT.len()];
        let snmp = self.snmp.and_then(|text| parse::pick(text, SNMP).ok());
        let netstat = self
            .netstat
            .and_then(|text| parse::pick(text, NETSTAT).ok());
        let both = snmp
            .into_iter()
            .flatten()
            .zip(0..)
            .chain(netstat.into_iter().flatten().zip(SNMP.len()..));
        for (value, at) in both {
            values[at] = value;
        }
        let ipv6 = self.snmp6.map(|text| parse::pick6(text, SNMP6));
        for (value, more) in values.iter_mut().zip(ipv6.into_iter().flatten()) {
            *value = value.map(|v4| v4.saturating_add(more.unwrap_or(0)));
        }
        values
    }
}

/// Counters of UDP, IP and TCP.
struct Protocols {
    counters: [Counter; SNMP.len() + NETSTAT.len()],
}

impl Protocols {
    fn new(host: &str) -> Self {
        Self {
            counters: std::array::from_fn(|at| Counter::new(host, METRICS[7 + at], &[])),
        }
    }

    fn step(&mut self, readings: &Readings<'_>, elapsed_s: Option<f64>, emit: &mut Emit<'_>) {
        for (counter, now) in self.counters.iter_mut().zip(readings.values()) {
            if let Some(value) = now.and_then(|now| counter.step(now, elapsed_s)) {
                emit.put(&counter.key, value);
            }
        }
    }
}

/// Backlog counters of one core.
struct CoreState {
    drops: (SeriesKey, Total),
    time_squeezes: (SeriesKey, Total),
}

fn step_softnet(known: &mut BTreeMap<u32, CoreState>, host: &str, text: &str, emit: &mut Emit<'_>) {
    for now in parse::softnet(text).unwrap_or_default() {
        let state = known
            .entry(now.core)
            .or_insert_with(|| CoreState::new(host, now.core));
        for ((key, total), now) in [
            (&mut state.drops, now.drops),
            (&mut state.time_squeezes, now.time_squeezes),
        ] {
            if total.step_wrapping_32(now).is_some() {
                emit.put(key, total.since_start() as f64);
            }
        }
    }
}

impl CoreState {
    fn new(host: &str, core: u32) -> Self {
        let core = core.to_string();
        let counter = |metric| {
            let key = key(host, SOURCE_HOST, metric, &[("core", core.as_str())]);
            (key, Total::default())
        };
        Self {
            drops: counter(host::SOFTNET_DROPS.name),
            time_squeezes: counter(host::SOFTNET_TIME_SQUEEZES.name),
        }
    }
}

/// Connection tracking of the namespace, where the kernel has it.
struct ConntrackState {
    counts: Reread,
    limit: Option<u64>,
    entries_key: SeriesKey,
    limit_key: SeriesKey,
    drops: [(SeriesKey, Total); 3],
}

impl ConntrackState {
    fn open(ctx: &Context) -> Option<Self> {
        let counts = ctx.proc_path("thread-self/net/stat/nf_conntrack");
        let limit = ctx.proc_path("sys/net/netfilter/nf_conntrack_max");
        let limit = std::fs::read_to_string(limit).ok();
        let gauge = |metric| key(&ctx.host, SOURCE_HOST, metric, &[]);
        let drops = ["insert_failed", "drop", "early_drop"].map(|reason| {
            let labels = [("reason", reason)];
            let metric = host::CONNTRACK_DROPS.name;
            (
                key(&ctx.host, SOURCE_HOST, metric, &labels),
                Total::default(),
            )
        });
        Some(Self {
            counts: Reread::open(&counts).ok()?,
            limit: limit.and_then(|text| text.trim().parse().ok()),
            entries_key: gauge(host::CONNTRACK_ENTRIES.name),
            limit_key: gauge(host::CONNTRACK_LIMIT.name),
            drops,
        })
    }

    fn step(&mut self, emit: &mut Emit<'_>) {
        let Some(now) = self.counts.text().and_then(parse::conntrack) else {
            return;
        };
        emit.put(&self.entries_key, now.entries as f64);
        if let Some(limit) = self.limit {
            emit.put(&self.limit_key, limit as f64);
        }
        let counts = [now.insert_failed, now.drop, now.early_drop];
        for ((key, total), now) in self.drops.iter_mut().zip(counts) {
            if total.step(now).is_some() {
                emit.put(key, total.since_start() as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_at_their_metrics() {
        let protocols = Protocols::new("h");
        let at = |name: (&str, &str)| SNMP.iter().position(|field| *field == name);
        for (field, metric) in [
            (at(("Udp", "NoPorts")), "host.udp_no_port"),
            (
                at(("Udp", "RcvbufErrors")),
                "host.udp_receive_buffer_errors",
            ),
            (at(("Ip", "ReasmFails")), "host.ip_reassembly_failures"),
            (at(("Tcp", "RetransSegs")), "host.tcp_retransmits"),
            (Some(SNMP.len()), "host.tcp_listen_overflows"),
            (Some(SNMP.len() + 2), "host.tcp_syn_retransmits"),
        ] {
            let counter = field.map(|at| &protocols.counters[at]);
            assert_eq!(counter.map(|c| c.key.metric.as_str()), Some(metric));
        }
    }

    #[test]
    fn udp_counts_both_address_families() {
        let readings = Readings {
            snmp: Some("Udp: InDatagrams NoPorts\nUdp: 40 1\n"),
            snmp6: Some("Udp6InDatagrams 2\nUdp6RcvbufErrors 5\n"),
            netstat: None,
        };
        let values = readings.values();
        assert_eq!(values[0], Some(42));
        assert_eq!(values[2], None, "the kernel does not count it for IPv4");
        assert_eq!(values[4], Some(1));
    }

    #[test]
    fn an_idle_interface_shows_its_first_interval() {
        let line = |packets| format!("veth0: {packets} {packets} 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
        let mut known = BTreeMap::new();
        let mut batch = Batch::default();
        for (t_ns, packets) in [(0, 0), (1, 0), (2, 30)] {
            let mut emit = Emit::new(&mut batch, t_ns, "h", METRICS);
            let elapsed_s = (t_ns > 0).then_some(2.0);
            step_interfaces(&mut known, "h", &line(packets), elapsed_s, &mut emit);
        }
        let rate = key(
            "h",
            SOURCE_HOST,
            "host.nic_receive_packets_per_second",
            &[("device", "veth0")],
        );
        let series = batch.series.iter().find(|s| s.key == rate);
        assert_eq!(series.map(|s| s.points.clone()), Some(vec![(2, 15.0)]));
    }
}
