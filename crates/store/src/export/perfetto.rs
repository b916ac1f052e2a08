//! Exports a record as a trace for timeline viewers.
//!
//! The JSON of the Trace Event Format, which ui.perfetto.dev and chrome://tracing open:
//!
//! ```text
//! process 1  the run     ── thread: its phases, one slice each; loads at one moment on threads of their own
//! process 2… each host   ── thread per flow that it begins: a slice per phase
//!                        ── counters: every series of the host
//!                        ── instants: events
//! ```
//!
//! Times are microseconds since the run's start, on the controller's clock.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Value, json};
use sokudo_model::manifest::moments;
use sokudo_model::{FlowResult, PhaseRecord, Record, Series, harmless, metric};

/// Number of the process that stands for the run itself; those of hosts follow.
const RUN: usize = 1;

/// The whole record as one trace: `traceEvents`, `displayTimeUnit`, and `otherData` about the run.
/// Values that are not numbers are left out.
pub fn trace(record: &Record, out: &mut impl io::Write) -> io::Result<()> {
    let manifest = &record.manifest;
    let about = json!({
        "run": manifest.id.0,
        "started": manifest.started,
        "version": manifest.version,
    });
    let mut trace = Trace {
        pids: pids(record),
        is_first: true,
        out,
    };
    write!(
        trace.out,
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":["
    )?;
    trace.names(record)?;
    for loads in moments(&manifest.phases) {
        for (thread, phase) in loads.iter().enumerate() {
            trace.phase(thread, phase)?;
        }
    }
    trace.flows(record)?;
    for series in &record.series {
        trace.counter(series)?;
    }
    for event in &record.events {
        let pid = trace.pid(&event.host);
        trace.event(&json!({
            "ph": "i", "s": "p", "pid": pid, "tid": 0, "ts": micros(event.t_ns),
            "name": harmless(&event.kind), "cat": event.source,
            "args": { "says": event.says },
        }))?;
    }
    trace.out.write_all(b"\n]}\n")
}

/// Host → number of its process.
fn pids(record: &Record) -> BTreeMap<String, usize> {
    let hosts = record.manifest.hosts.iter().map(|host| host.name.clone());
    hosts.zip(RUN + 1..).collect()
}

fn micros(ns: i64) -> f64 {
    ns as f64 / 1e3
}

struct Trace<'a, W: io::Write> {
    pids: BTreeMap<String, usize>,
    is_first: bool,
    out: &'a mut W,
}

impl<W: io::Write> Trace<'_, W> {
    /// Number of a host's process; that of the run for a host of another name.
    fn pid(&self, host: &str) -> usize {
        self.pids.get(host).copied().unwrap_or(RUN)
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        let between: &[u8] = if self.is_first { b"\n" } else { b",\n" };
        self.is_first = false;
        self.out.write_all(between)?;
        serde_json::to_writer(&mut *self.out, event)?;
        Ok(())
    }

    fn named(&mut self, what: &str, pid: usize, tid: usize, name: &str) -> io::Result<()> {
        let name = harmless(name);
        self.event(&json!({
            "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name },
        }))
    }

    fn names(&mut self, record: &Record) -> io::Result<()> {
        let run = format!("run {}", record.manifest.id.0);
        self.named("process_name", RUN, 0, &run)?;
        for (host, pid) in self.pids.clone() {
            self.named("process_name", pid, 0, &host)?;
        }
        let most = moments(&record.manifest.phases).map(<[PhaseRecord]>::len);
        for thread in 0..most.max().unwrap_or(0) {
            let name = match thread {
                0 => "phases".to_owned(),
                more => format!("phases at the same moment {more}"),
            };
            self.named("thread_name", RUN, thread, &name)?;
        }
        Ok(())
    }

    fn slice(
        &mut self,
        (pid, tid): (usize, usize),
        phase: &PhaseRecord,
        name: &str,
        args: &Value,
    ) -> io::Result<()> {
        self.event(&json!({
            "ph": "X", "pid": pid, "tid": tid, "cat": phase.workload, "name": harmless(name),
            "ts": micros(phase.t0_ns), "dur": micros(phase.t1_ns - phase.t0_ns).max(0.0),
            "args": args,
        }))
    }

    fn phase(&mut self, thread: usize, phase: &PhaseRecord) -> io::Result<()> {
        let args = json!({
            "workload": phase.workload,
            "status": phase.status,
            "labels": phase.labels,
            "summary": phase.result.summary,
        });
        self.slice((RUN, thread), phase, &phase.name, &args)
    }

    /// A thread per flow, numbered by the order in which its host begins one.
    fn flows(&mut self, record: &Record) -> io::Result<()> {
        let mut threads: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let mut next: BTreeMap<usize, usize> = BTreeMap::new();
        for phase in &record.manifest.phases {
            for flow in &phase.result.flows {
                let pid = self.pid(&flow.from);
                let name = flow_name(phase, flow);
                let known = threads.get(&(pid, name.clone())).copied();
                let tid = match known {
                    Some(tid) => tid,
                    None => {
                        let last = next.entry(pid).or_insert(0);
                        *last += 1;
                        let tid = *last;
                        threads.insert((pid, name.clone()), tid);
                        self.named("thread_name", pid, tid, &name)?;
                        tid
                    }
                };
                let args = json!({
                    "complete": flow.complete,
                    "labels": flow.labels,
                    "metrics": flow.metrics,
                });
                self.slice((pid, tid), phase, &phase.name, &args)?;
            }
        }
        Ok(())
    }

    fn counter(&mut self, series: &Series) -> io::Result<()> {
        let key = &series.key;
        let pid = self.pid(&key.host);
        let labels: Vec<String> = key.labels.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let name = match labels.is_empty() {
            true => key.metric.clone(),
            false => format!("{} {}", key.metric, labels.join(" ")),
        };
        let (name, unit) = (harmless(&name), metric::unit_of(&key.metric).name());
        let finite = series.points.iter().filter(|(_, value)| value.is_finite());
        for (t_ns, value) in finite {
            self.event(&json!({
                "ph": "C", "pid": pid, "tid": 0, "ts": micros(*t_ns), "name": name,
                "cat": key.source, "args": { unit: value },
            }))?;
        }
        Ok(())
    }
}

/// Name that tells a flow from the others of its host.
fn flow_name(phase: &PhaseRecord, flow: &FlowResult) -> String {
    let FlowResult { id, from, to, .. } = flow;
    format!("{} {id}: {from} → {to}", phase.workload)
}
