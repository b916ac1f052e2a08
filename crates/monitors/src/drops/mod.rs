//! `drops`: packets that the kernel dropped, with its reason and the function that did it.
//!
//! ```text
//!  kernel: kfree_skb(reason, location) ─► trace instance: a ring buffer ─► trace_pipe ─► counts
//! ```
//!
//! Source: the trace point `skb:kfree_skb` through tracefs, in an instance of its own, so that other users of
//! tracing do not notice. Each dropped packet costs about a microsecond while it is traced: the monitor observes
//! only where it is asked for. It counts the whole machine, all network namespaces and all protocols. What the ring
//! buffer cannot hold between two samples is counted without its reason.
//!
//! Kernels tell reasons from 5.17 on.

mod instance;
mod parse;

use std::collections::BTreeMap;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

use crate::emit::{Emit, SOURCE_HOST, key};
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable, whole_machine};
use instance::Instance;
use parse::Seen;

/// Most pairs of reason and function that are told apart.
const MAX_FOLLOWED: usize = 256;
/// Reason of what could not be read.
const UNREAD: &str = "unread";

const METRICS: &[&str] = &[host::DROPPED_PACKETS.name];

/// Monitor of dropped packets.
pub(crate) struct Drops;

impl Monitor for Drops {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "drops"
    }

    fn help(&self) -> &'static str {
        "packets that the kernel dropped, by its reason and the function that did it"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn is_standing(&self) -> bool {
        false
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        whole_machine(ctx)?;
        Ok(Box::new(DropsSampler {
            counts: Counts::new(&ctx.host),
            instance: Instance::open(ctx)?,
        }))
    }
}

struct DropsSampler {
    instance: Instance,
    counts: Counts,
}

impl Sampler for DropsSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let counts = &mut self.counts;
        self.instance.read(|line| {
            if let Some(seen) = parse::line(line) {
                counts.add(&seen);
            }
        });
        counts.emit(t_ns, out);
    }
}

/// Dropped packets since the first sample, by reason and function.
struct Counts {
    host: String,
    sampled_ns: Option<i64>,
    all: BTreeMap<(String, String), Count>,
}

struct Count {
    key: SeriesKey,
    packets: u64,
    emitted: Option<u64>,
}

impl Counts {
    fn new(host: &str) -> Self {
        Self {
            host: host.into(),
            sampled_ns: None,
            all: BTreeMap::new(),
        }
    }

    fn add(&mut self, seen: &Seen<'_>) {
        let (reason, function, packets) = match *seen {
            Seen::Drop { reason, function } => (reason, function, 1),
            Seen::Lost(packets) => (UNREAD, "", packets),
        };
        // What is seen before the first sample happened before the run.
        if self.sampled_ns.is_none() {
            return;
        }
        let is_full = self.all.len() >= MAX_FOLLOWED;
        let pair = (reason.to_owned(), function.to_owned());
        let pair = match is_full && !self.all.contains_key(&pair) {
            true => (UNREAD.to_owned(), String::new()),
            false => pair,
        };
        let host = &self.host;
        let count = self
            .all
            .entry(pair)
            .or_insert_with_key(|(reason, function)| {
                let labels = [("reason", reason.as_str()), ("function", function.as_str())];
                Count {
                    key: key(host, SOURCE_HOST, METRICS[0], &labels),
                    packets: 0,
                    emitted: None,
                }
            });
        count.packets = count.packets.saturating_add(packets);
    }

    /// Adds a point for each count that grew; for one that grew for the first time also its zero, at the sample
    /// before.
    fn emit(&mut self, t_ns: i64, out: &mut Batch) {
        let Some(before_ns) = self.sampled_ns.replace(t_ns) else {
            return;
        };
        let mut zeros = Emit::new(out, before_ns, &self.host, METRICS);
        for count in self.all.values().filter(|count| count.emitted.is_none()) {
            zeros.put(&count.key, 0.0);
        }
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        for count in self.all.values_mut() {
            if count.emitted != Some(count.packets) {
                emit.put(&count.key, count.packets as f64);
                count.emitted = Some(count.packets);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use super::*;

    fn seen<'a>(reason: &'a str, function: &'a str) -> Seen<'a> {
        Seen::Drop { reason, function }
    }

    #[test]
    fn counts_begin_with_the_sample_before_they_grew() {
        let mut counts = Counts::new("h");
        let mut batch = Batch::default();
        counts.add(&seen("NO_SOCKET", "earlier"));
        counts.emit(1, &mut batch);
        counts.add(&seen("NO_SOCKET", "udp"));
        counts.add(&seen("NO_SOCKET", "udp"));
        counts.emit(2, &mut batch);
        counts.emit(3, &mut batch);
        counts.add(&Seen::Lost(7));
        counts.emit(4, &mut batch);
        let told: Vec<_> = batch
            .series
            .iter()
            .map(|series| (series.key.labels["reason"].as_str(), series.points.clone()))
            .collect();
        let expected = [
            ("NO_SOCKET", vec![(1, 0.0), (2, 2.0)]),
            ("unread", vec![(3, 0.0), (4, 7.0)]),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn more_pairs_than_are_followed_are_counted_without_their_reason() {
        let mut counts = Counts::new("h");
        let mut batch = Batch::default();
        counts.emit(1, &mut batch);
        for number in 0..2 * MAX_FOLLOWED {
            counts.add(&seen("A", &format!("f{number}")));
        }
        assert_eq!(counts.all.len(), MAX_FOLLOWED + 1);
        let all: u64 = counts.all.values().map(|count| count.packets).sum();
        assert_eq!(all, 2 * MAX_FOLLOWED as u64);
    }

    /// Datagrams to a port without a socket are dropped by the kernel for that reason.
    #[test]
    fn the_kernel_tells_why_a_datagram_was_dropped() {
        let opened = Drops.open(NoOptions {}, &Context::host("h"));
        let mut sampler = match opened {
            Ok(sampler) => sampler,
            Err(why) => {
                eprintln!("skipped: {why}");
                return;
            }
        };
        let mut batch = Batch::default();
        sampler.sample(1, &mut batch);
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let nobody = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let closed = nobody.local_addr().expect("an address");
        drop(nobody);
        for _ in 0..20 {
            // The refusal of the last one may come back here.
            let _ = socket.send_to(b"x", closed);
        }
        let until = Instant::now() + Duration::from_secs(20);
        let mut t_ns = 1;
        let found = loop {
            t_ns += 1;
            sampler.sample(t_ns, &mut batch);
            let found = batch.series.iter().find(|series| {
                let last = series.points.last().map_or(0.0, |point| point.1);
                series.key.labels["reason"] == "NO_SOCKET" && last >= 10.0
            });
            if found.is_some() || Instant::now() > until {
                break found;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let found = found.expect("dropped datagrams");
        assert!(
            found.key.labels["function"].contains("udp"),
            "{:?}",
            found.key
        );
    }
}
