//! `self_threads`: CPU time, cores and memory of sokudo itself, by thread.
//!
//! Sources: `/proc/self/task/*/{comm,schedstat,stat}` (schedstat counts nanoseconds on a core and
//! nanoseconds runnable without one) and `VmRSS` of `/proc/self/status`. Threads of the same name
//! are summed; the kernel cuts names after 15 bytes. A thread that begins and ends between two
//! samples is not seen.

mod parse;
mod quota;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sokudo_model::metrics::own;
use sokudo_model::{Batch, SeriesKey};

use self::parse::SchedStat;
use self::quota::Quota;
use crate::emit::{Emit, Interval, Total, key};
use crate::reread::{Reread, read_trimmed};
use crate::{Context, Monitor, NoOptions, Sampler, Scope, Unavailable};

/// Name of the source of everything about the measuring instrument.
const SOURCE_SELF: &str = "self";

/// More threads than this are not read; each keeps a file open.
const MAX_THREADS: usize = 256;

/// More names than this are not shown.
const MAX_NAMES: usize = 256;

const METRICS: &[&str] = &[
    own::CPU_RATIO.name,
    own::WAIT_RATIO.name,
    own::RESIDENT_BYTES.name,
    own::CORE.name,
    own::THROTTLED_RATIO.name,
];

/// Monitor of the measuring process.
pub(crate) struct SelfThreads;

impl Monitor for SelfThreads {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "self_threads"
    }

    fn help(&self) -> &'static str {
        "CPU time, wait for a CPU and core of each of sokudo's own threads, resident memory, quota of CPU time"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        if ctx.scope == Scope::Namespace {
            return Err(Unavailable::OtherScope);
        }
        // Fails at once where the kernel keeps no schedstat (CONFIG_SCHED_INFO).
        Reread::open_readable(&ctx.proc_path("self/schedstat"))?;
        Ok(Box::new(SelfSampler {
            status: Reread::open(&ctx.proc_path("self/status")).ok(),
            resident: key(&ctx.host, SOURCE_SELF, METRICS[2], &[]),
            tasks: ctx.proc_path("self/task"),
            quota: Quota::open(ctx, key(&ctx.host, SOURCE_SELF, METRICS[4], &[])),
            interval: Interval::default(),
            threads: BTreeMap::new(),
            keys: BTreeMap::new(),
            host: ctx.host.clone(),
        }))
    }
}

struct SelfSampler {
    host: String,
    status: Option<Reread>,
    resident: SeriesKey,
    tasks: PathBuf,
    quota: Quota,
    interval: Interval,
    threads: BTreeMap<u32, Thread>,
    /// Keys of the CPU, the wait and the core series of each name.
    keys: BTreeMap<String, [SeriesKey; 3]>,
}

/// Use of the threads of one name over an interval.
struct Used {
    sum: SchedStat,
    /// Core of the only thread of that name, when it ran.
    core: Option<u32>,
}

struct Thread {
    schedstat: Reread,
    stat: Reread,
    name: String,
    /// A thread gets its name shortly after it begins, so the name is read once more.
    name_is_final: bool,
    run: Total,
    wait: Total,
}

impl Sampler for SelfSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let elapsed_s = self.interval.step(t_ns);
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        let status = self.status.as_mut().and_then(Reread::text);
        if let Some(bytes) = status.and_then(|text| parse::resident_bytes(text).ok()) {
            emit.put(&self.resident, bytes as f64);
        }
        self.quota.step(&mut emit);
        let used = self.step_threads();
        let Some(elapsed_s) = elapsed_s else {
            return;
        };
        for (name, Used { sum, core }) in used {
            let Some([cpu, wait, placed]) = keys_of(&mut self.keys, &self.host, &name) else {
                continue;
            };
            emit.put(cpu, sum.run_ns as f64 / 1e9 / elapsed_s);
            emit.put(wait, sum.wait_ns as f64 / 1e9 / elapsed_s);
            if let Some(core) = core {
                emit.put(placed, f64::from(core));
            }
        }
    }
}

impl SelfSampler {
    /// Reads every thread and returns the growth by name.
    fn step_threads(&mut self) -> BTreeMap<String, Used> {
        let alive = thread_ids(&self.tasks);
        self.threads.retain(|id, _| alive.contains(id));
        let mut used: BTreeMap<String, Used> = BTreeMap::new();
        for id in alive {
            let directory = self.tasks.join(id.to_string());
            let grown = match self.threads.get_mut(&id) {
                Some(thread) => thread.step(&directory),
                None => {
                    let Some(mut thread) = Thread::open(&directory) else {
                        continue;
                    };
                    thread.step(&directory);
                    self.threads.insert(id, thread);
                    continue;
                }
            };
            match (grown, self.threads.get_mut(&id)) {
                (Some(grown), Some(thread)) => {
                    let core = thread.core().filter(|_| grown.run_ns > 0);
                    add(&mut used, &thread.name, Used { sum: grown, core });
                }
                // The thread ended, or its number went to another one: take that up next time.
                _ => drop(self.threads.remove(&id)),
            }
        }
        used
    }
}

impl Thread {
    fn open(directory: &Path) -> Option<Self> {
        Some(Self {
            schedstat: Reread::open(&directory.join("schedstat")).ok()?,
            stat: Reread::open(&directory.join("stat")).ok()?,
            name: read_trimmed(&directory.join("comm"))?,
            name_is_final: false,
            run: Total::default(),
            wait: Total::default(),
        })
    }

    /// The core that it ran on last.
    fn core(&mut self) -> Option<u32> {
        parse::core(self.stat.text()?).ok()
    }

    /// Growth since the previous reading; `None` for the first one and when the thread ended.
    fn step(&mut self, directory: &Path) -> Option<SchedStat> {
        let now = parse::schedstat(self.schedstat.text()?).ok()?;
        let grown = self.run.step(now.run_ns).zip(self.wait.step(now.wait_ns));
        let (run_ns, wait_ns) = grown?;
        if !self.name_is_final {
            self.name = read_trimmed(&directory.join("comm")).unwrap_or_default();
            self.name_is_final = true;
        }
        Some(SchedStat { run_ns, wait_ns })
    }
}

fn add(used: &mut BTreeMap<String, Used>, name: &str, one: Used) {
    match used.get_mut(name) {
        Some(Used { sum, core }) => {
            sum.run_ns = sum.run_ns.saturating_add(one.sum.run_ns);
            sum.wait_ns = sum.wait_ns.saturating_add(one.sum.wait_ns);
            *core = None;
        }
        None => drop(used.insert(name.to_owned(), one)),
    }
}

fn keys_of<'a>(
    keys: &'a mut BTreeMap<String, [SeriesKey; 3]>,
    host: &str,
    name: &str,
) -> Option<&'a [SeriesKey; 3]> {
    if !keys.contains_key(name) {
        if keys.len() == MAX_NAMES {
            return None;
        }
        let key = |metric| key(host, SOURCE_SELF, metric, &[("thread", name)]);
        let own = [METRICS[0], METRICS[1], METRICS[3]].map(key);
        keys.insert(name.to_owned(), own);
    }
    keys.get(name)
}

/// Numbers of the threads alive, ascending, at most [`MAX_THREADS`].
fn thread_ids(tasks: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir(tasks).into_iter().flatten().flatten();
    let mut ids: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .take(MAX_THREADS)
        .collect();
    ids.sort_unstable();
    ids
}
