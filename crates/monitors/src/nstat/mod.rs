//! `nstat`: every counter of the kernel's protocols that grows while a run goes on, as nstat(8) names it.
//!
//! Sources: `/proc/thread-self/net/{snmp,netstat,snmp6}`, of the network namespace of the thread that opens
//! the monitor. Of some three hundred counters most stand still: a series begins when its counter has
//! grown, with zero at the sample before, and has a point where it grew.

mod parse;

use std::collections::BTreeMap;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

use crate::emit::{Emit, SOURCE_HOST, Total, key};
use crate::reread::Reread;
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable};

/// More counters than this are not followed.
const MAX_FOLLOWED: usize = 1024;

const METRICS: &[&str] = &[host::PROTOCOL_EVENTS.name];

/// Monitor of the kernel's protocols.
pub(crate) struct Nstat;

impl Monitor for Nstat {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "nstat"
    }

    fn help(&self) -> &'static str {
        "every counter of IP, ICMP, UDP and TCP that grows, as nstat names it"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        let net = |file| ctx.proc_path("thread-self/net").join(file);
        Ok(Box::new(NstatSampler {
            host: ctx.host.clone(),
            snmp: Reread::open_readable(&net("snmp"))?,
            netstat: Reread::open(&net("netstat")).ok(),
            snmp6: Reread::open(&net("snmp6")).ok(),
            sampled_ns: None,
            known: Counters::default(),
        }))
    }
}

struct NstatSampler {
    host: String,
    snmp: Reread,
    netstat: Option<Reread>,
    snmp6: Option<Reread>,
    sampled_ns: Option<i64>,
    known: Counters,
}

impl Sampler for NstatSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let mut grown = Vec::new();
        let mut note = |(table, name, value)| grown.extend(self.known.step(table, name, value));
        if let Some(text) = self.snmp.text() {
            parse::tables(text).for_each(&mut note);
        }
        if let Some(text) = self.netstat.as_mut().and_then(Reread::text) {
            parse::tables(text).for_each(&mut note);
        }
        if let Some(text) = self.snmp6.as_mut().and_then(Reread::text) {
            parse::lines(text).for_each(&mut note);
        }
        let before_ns = self.sampled_ns.replace(t_ns);
        self.known.emit(&grown, &self.host, (before_ns, t_ns), out);
    }
}

/// Counters by table and name.
#[derive(Default)]
struct Counters {
    places: BTreeMap<String, usize>,
    all: Vec<(Total, Option<SeriesKey>)>,
    /// Built anew for each look-up, so that a counter that is known costs no allocation.
    name: String,
}

impl Counters {
    /// Takes a reading; the counter's place when it grew.
    fn step(&mut self, table: &str, name: &str, value: u64) -> Option<usize> {
        self.name.clear();
        self.name.push_str(table);
        self.name.push_str(name);
        let place = match self.places.get(&self.name) {
            Some(place) => *place,
            None if self.all.len() == MAX_FOLLOWED => return None,
            None => {
                self.all.push((Total::default(), None));
                self.places.insert(self.name.clone(), self.all.len() - 1);
                self.all.len() - 1
            }
        };
        let grown = self.all[place].0.step(value)?;
        (grown > 0).then_some(place)
    }

    /// Adds a point for each counter that grew; for one that grew for the first time also its zero.
    fn emit(&mut self, grown: &[usize], host: &str, at_ns: (Option<i64>, i64), out: &mut Batch) {
        let names: BTreeMap<usize, &str> = match grown.iter().any(|at| self.all[*at].1.is_none()) {
            true => self
                .places
                .iter()
                .map(|(name, at)| (*at, name.as_str()))
                .collect(),
            false => BTreeMap::new(),
        };
        if let Some(before_ns) = at_ns.0 {
            let mut emit = Emit::new(out, before_ns, host, METRICS);
            for place in grown {
                let slot = &mut self.all[*place].1;
                if let (None, Some(name)) = (&slot, names.get(place)) {
                    let key = key(host, SOURCE_HOST, METRICS[0], &[("counter", name)]);
                    emit.put(&key, 0.0);
                    *slot = Some(key);
                }
            }
        }
        let mut emit = Emit::new(out, at_ns.1, host, METRICS);
        for place in grown {
            if let (total, Some(key)) = &self.all[*place] {
                emit.put(key, total.since_start() as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_shows_from_the_sample_before_it_grew() {
        let mut counters = Counters::default();
        let mut batch = Batch::default();
        let readings = [
            (1, [40, 7]),
            (2, [40, 7]),
            (3, [45, 7]),
            (4, [45, 7]),
            (5, [46, 7]),
        ];
        let mut before_ns = None;
        for (t_ns, [errors, still]) in readings {
            let mut grown = Vec::new();
            grown.extend(counters.step("Udp", "InErrors", errors));
            grown.extend(counters.step("Udp", "NoPorts", still));
            counters.emit(&grown, "h", (before_ns, t_ns), &mut batch);
            before_ns = Some(t_ns);
        }
        assert_eq!(batch.series.len(), 1, "{:?}", batch.series);
        let series = &batch.series[0];
        assert_eq!(series.key.labels["counter"], "UdpInErrors");
        assert_eq!(series.points, [(2, 0.0), (3, 5.0), (5, 6.0)]);
    }
}
