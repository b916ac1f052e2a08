//! `process`: use of single processes: CPU, memory, threads, open files, context switches, storage.
//!
//! Source: `/proc/PID/{stat,status,io,fd,limits,cgroup,task}`, and `cpu.stat` of its control group. Processes are chosen by number, by name, or by the port
//! they listen on, and are looked for again once per second, so that a server that is started anew is
//! followed. Scanning all processes takes a while on a machine with many of them: this monitor has a
//! thread of its own. A process that ends while it is read leaves a gap, and an event says that it ended.

mod children;
mod namespaces;
mod parse;
mod select;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::metrics::process;
use sokudo_model::{Batch, Event, SeriesKey, Text};

use self::children::Children;
pub(crate) use self::namespaces::is_elsewhere;
use self::parse::Stat;
use self::select::Selector;
use crate::contract::most_wrong;
use crate::emit::{Emit, Interval, Total, key};
use crate::reread::{read_bounded, read_trimmed};
use crate::{Context, Monitor, Sampler, Unavailable, whole_machine};

/// Name of the source of its series.
const SOURCE: &str = "process";
/// Ticks per second of `/proc/PID/stat`: USER_HZ of the kernel's interface, whatever its own clock.
const TICKS_PER_S: f64 = 100.0;
/// The processes are looked for again after this, nanoseconds.
const LOOK_AGAIN_NS: i64 = 1_000_000_000;
/// Threads of one process whose context switches are counted.
const MAX_THREADS: usize = 4096;
/// Most control groups, one above the other, whose quotas are read.
const MAX_GROUPS: usize = 16;
/// Longest file of one process that is read, bytes.
const MAX_TEXT: u64 = 64 << 10;
/// Most processes that can be asked for.
const MOST: u32 = 64;

const METRICS: &[&str] = &[
    process::CPU_RATIO.name,
    process::RESIDENT_BYTES.name,
    process::THREADS.name,
    process::OPEN_FILES.name,
    process::CONTEXT_SWITCHES_PER_SECOND.name,
    process::READ_BYTES_PER_SECOND.name,
    process::WRITE_BYTES_PER_SECOND.name,
    process::MATCHES.name,
    process::OPEN_FILES_LIMIT.name,
    process::BUSIEST_THREAD_RATIO.name,
    process::THROTTLED_RATIO.name,
    process::STOPPED_RATIO.name,
    process::WAIT_RATIO.name,
    process::CORES.name,
    process::CHILDREN_CPU_RATIO.name,
];

/// Which processes are observed: exactly one of `pid`, `name`, `port` and `peers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProcessOptions {
    /// The process of this number.
    pid: Option<u32>,
    /// Every process of this name: the kernel's name of it, or its program's path or file name.
    name: Option<String>,
    /// Every process that listens on this TCP or UDP port.
    port: Option<u16>,
    /// True for every server on this machine with which this program has connections.
    peers: bool,
    /// Beside port: the address of a server in another network namespace of this machine, as that of a container.
    address: Option<IpAddr>,
    /// Processes that are observed at a time, 1 to 64; of more, those with the lowest numbers.
    most: u32,
}

impl Default for ProcessOptions {
    fn default() -> Self {
        Self {
            pid: None,
            name: None,
            port: None,
            peers: false,
            address: None,
            most: 16,
        }
    }
}

impl ProcessOptions {
    /// `None` unless exactly one way to choose is given.
    fn selector(&self) -> Option<Selector> {
        match (self.pid, &self.name, self.port, self.peers) {
            (Some(pid), None, None, false) => Some(Selector::Pid(pid)),
            (None, Some(name), None, false) => Some(Selector::Name(name.clone())),
            (None, None, Some(port), false) => Some(Selector::Port(port, self.address)),
            (None, None, None, true) => Some(Selector::Peers),
            _ => None,
        }
    }
}

/// Monitor of single processes.
pub(crate) struct Process;

impl Monitor for Process {
    type Options = ProcessOptions;

    fn name(&self) -> &'static str {
        "process"
    }

    fn help(&self) -> &'static str {
        "CPU, memory, threads, open files, context switches and storage of single processes"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn is_standing(&self) -> bool {
        false
    }

    fn may_block(&self) -> bool {
        true
    }

    fn check(&self, options: &ProcessOptions) -> Result<(), Text> {
        if options.selector().is_none() {
            return Err(Text::new("error-monitor-process"));
        }
        if options.address.is_some() && options.port.is_none() {
            return Err(Text::new("error-monitor-process-address"));
        }
        if options.name.as_ref().is_some_and(String::is_empty) {
            return Err(Text::new("error-value-knee-name"));
        }
        match (1..=MOST).contains(&options.most) {
            true => Ok(()),
            false => Err(most_wrong(options.most, MOST)),
        }
    }

    fn open(
        &self,
        options: ProcessOptions,
        ctx: &Context,
    ) -> Result<Box<dyn Sampler>, Unavailable> {
        // In a namespace of the run's own, only its sockets belong to this host.
        if options.port.is_none() && !options.peers {
            whole_machine(ctx)?;
        }
        let selector = options
            .selector()
            .ok_or_else(|| Unavailable::System(Text::new("error-monitor-process")))?;
        if !ctx.proc_path("self/stat").exists() {
            let path = ctx.proc_path("PID/stat");
            let says = Text::new("error-monitor-no-file").with("path", path.display());
            return Err(Unavailable::System(says));
        }
        let by = selector.text();
        let children = Children::new(ctx, &by);
        Ok(Box::new(ProcessSampler {
            matches: key(&ctx.host, SOURCE, METRICS[7], &[("by", &by)]),
            ctx: ctx.clone(),
            selector,
            by,
            most: options.most as usize,
            interval: Interval::default(),
            look_at_ns: i64::MIN,
            found: None,
            is_cut: false,
            peers: BTreeSet::new(),
            observed: BTreeMap::new(),
            children,
        }))
    }
}

struct ProcessSampler {
    ctx: Context,
    selector: Selector,
    by: String,
    most: usize,
    matches: SeriesKey,
    interval: Interval,
    /// Time of the next search for the processes.
    look_at_ns: i64,
    /// Number of processes found; `None` before the first search.
    found: Option<usize>,
    /// There were more than are observed, which has been told.
    is_cut: bool,
    /// Other ends of this program's connections since the start, or since one of the processes has ended.
    peers: BTreeSet<SocketAddr>,
    observed: BTreeMap<u32, Observed>,
    children: Children,
}

impl Sampler for ProcessSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let elapsed_s = self.interval.step(t_ns);
        if t_ns >= self.look_at_ns {
            self.look(t_ns, &mut out.events);
        }
        let mut emit = Emit::new(out, t_ns, &self.ctx.host, METRICS);
        let mut ended = Vec::new();
        self.observed.retain(|pid, process| {
            let goes_on = process.sample(elapsed_s, &mut emit);
            if !goes_on {
                ended.push((*pid, process.name.clone()));
            }
            goes_on
        });
        // Another one may have taken its place already.
        if !ended.is_empty() {
            for (pid, name) in ended {
                let says = Text::new("engine-process-ended")
                    .word("pid", pid.to_string())
                    .word("name", name);
                out.events.push(self.event(t_ns, "process-ended", says));
            }
            self.peers.clear();
            self.look(t_ns, &mut out.events);
        }
        let found = self.found.unwrap_or(0) as f64;
        let mut emit = Emit::new(out, t_ns, &self.ctx.host, METRICS);
        emit.put(&self.matches, found);
        let parents = self.observed.keys().copied();
        self.children.sample(&self.ctx, parents, t_ns, &mut emit);
    }
}

impl ProcessSampler {
    /// Looks for the processes, and tells what has changed.
    fn look(&mut self, t_ns: i64, events: &mut Vec<Event>) {
        self.look_at_ns = t_ns.saturating_add(LOOK_AGAIN_NS);
        if self.selector.is_costly() && !self.observed.is_empty() {
            return;
        }
        let Some(found) = self.selector.find(&self.ctx, &mut self.peers) else {
            return;
        };
        let before = self.found.replace(found.len());
        let cut = found.len() > self.most;
        if cut && !self.is_cut {
            let says = Text::new("engine-process-cut")
                .word("most", self.most.to_string())
                .word("n", found.len().to_string());
            events.push(self.event(t_ns, "process-cut", says));
        }
        self.is_cut = cut;
        // Whom this program asks is known when it asks, and may be elsewhere.
        let is_missed = self.selector != Selector::Peers;
        if is_missed && found.is_empty() && before != Some(0) {
            let kind = match before {
                None => "monitor-process-none",
                Some(_) => "process-none",
            };
            events.push(self.event(t_ns, kind, Text::new("engine-process-none")));
        }
        let wanted: BTreeSet<u32> = found.into_iter().take(self.most).collect();
        self.observed.retain(|pid, _| wanted.contains(pid));
        for pid in wanted {
            let directory = self.ctx.proc_path(&pid.to_string());
            let began = stat_of(&directory).map(|stat| stat.began_ticks);
            let known = self.observed.get(&pid).map(|process| process.began_ticks);
            if began.is_none() || began == known {
                continue;
            }
            let Some(process) = Observed::open(&self.ctx, &self.by, pid, directory) else {
                continue;
            };
            // Those of the first look were there before the run.
            if before.is_some() && is_missed {
                let says = Text::new("engine-process-found")
                    .word("pid", pid.to_string())
                    .word("name", &process.name);
                events.push(self.event(t_ns, "process-found", says));
            }
            if let Some(why) = process.unreadable() {
                let says = Text::new("engine-process-unreadable")
                    .word("pid", pid.to_string())
                    .word("name", &process.name)
                    .word("why", why.to_string());
                events.push(self.event(t_ns, "monitor-process-unreadable", says));
            }
            self.observed.insert(pid, process);
        }
    }

    fn event(&self, t_ns: i64, kind: &str, says: Text) -> Event {
        Event {
            t_ns,
            host: self.ctx.host.clone(),
            source: SOURCE.into(),
            kind: kind.into(),
            says: says.word("host", &self.ctx.host).word("by", &self.by),
        }
    }
}

/// One process, and what it had used when it was read last.
struct Observed {
    name: String,
    directory: PathBuf,
    began_ticks: u64,
    user: (SeriesKey, Total),
    system: (SeriesKey, Total),
    resident: SeriesKey,
    threads: SeriesKey,
    open_files: SeriesKey,
    voluntary: SeriesKey,
    involuntary: SeriesKey,
    read: (SeriesKey, Total),
    written: (SeriesKey, Total),
    /// Of each thread: context switches, voluntary and involuntary, CPU time and wait for a CPU in nanoseconds.
    switches: BTreeMap<u32, [u64; 4]>,
    files_limit: (SeriesKey, Option<u64>),
    busiest: SeriesKey,
    waited: SeriesKey,
    stopped: SeriesKey,
    throttled: SeriesKey,
    cores: SeriesKey,
    /// `cpu.stat` of its control group and of those above it.
    groups: Vec<(PathBuf, Total)>,
}

impl Observed {
    fn open(ctx: &Context, by: &str, pid: u32, directory: PathBuf) -> Option<Self> {
        let host = ctx.host.as_str();
        let began_ticks = stat_of(&directory)?.began_ticks;
        let name = read_trimmed(&directory.join("comm"))?;
        let pid = pid.to_string();
        let labelled = |metric: &str, more: Option<(&str, &str)>| {
            let mut labels = vec![("by", by), ("pid", pid.as_str()), ("name", name.as_str())];
            labels.extend(more);
            key(host, SOURCE, metric, &labels)
        };
        let plain = |metric: &str| labelled(metric, None);
        Some(Self {
            user: (
                labelled(METRICS[0], Some(("mode", "user"))),
                Total::default(),
            ),
            system: (
                labelled(METRICS[0], Some(("mode", "system"))),
                Total::default(),
            ),
            resident: plain(METRICS[1]),
            threads: plain(METRICS[2]),
            open_files: plain(METRICS[3]),
            voluntary: labelled(METRICS[4], Some(("kind", "voluntary"))),
            involuntary: labelled(METRICS[4], Some(("kind", "involuntary"))),
            read: (plain(METRICS[5]), Total::default()),
            written: (plain(METRICS[6]), Total::default()),
            switches: BTreeMap::new(),
            files_limit: (plain(METRICS[8]), files_limit(&directory)),
            busiest: plain(METRICS[9]),
            waited: plain(METRICS[12]),
            throttled: plain(METRICS[10]),
            stopped: plain(METRICS[11]),
            cores: plain(METRICS[13]),
            groups: groups_of(ctx, &directory),
            name,
            directory,
            began_ticks,
        })
    }

    /// Reason why its files and its storage cannot be counted; `None` where they can.
    fn unreadable(&self) -> Option<std::io::Error> {
        let files = fs::read_dir(self.directory.join("fd")).map(drop);
        let io = read_bounded(&self.directory.join("io"), MAX_TEXT).map(drop);
        let why = files.and(io).err();
        why.filter(|why| why.kind() == std::io::ErrorKind::PermissionDenied)
    }

    /// Reads it; false when it has ended. `elapsed_s` is the time since the sample before.
    fn sample(&mut self, elapsed_s: Option<f64>, emit: &mut Emit<'_>) -> bool {
        let Some(stat) = stat_of(&self.directory) else {
            return false;
        };
        if stat.began_ticks != self.began_ticks {
            return false;
        }
        let status = read_bounded(&self.directory.join("status"), MAX_TEXT).unwrap_or_default();
        let status = parse::status(&status);
        for (key, value) in [
            (&self.resident, status.resident_bytes),
            (&self.threads, status.threads),
            (&self.cores, status.cores),
            (&self.open_files, open_files(&self.directory)),
            (&self.files_limit.0, self.files_limit.1),
            (&self.stopped, Some(u64::from(stat.is_stopped))),
        ] {
            if let Some(value) = value {
                emit.put(key, value as f64);
            }
        }
        let io = read_bounded(&self.directory.join("io"), MAX_TEXT).ok();
        let io = io.and_then(|text| parse::io(&text).ok());
        let counters = [
            (&mut self.user, Some(stat.user_ticks), TICKS_PER_S),
            (&mut self.system, Some(stat.system_ticks), TICKS_PER_S),
            (&mut self.read, io.map(|io| io.read_bytes), 1.0),
            (&mut self.written, io.map(|io| io.written_bytes), 1.0),
        ];
        for ((key, total), now, unit) in counters {
            let growth = now.and_then(|now| total.step(now));
            if let (Some(growth), Some(elapsed_s)) = (growth, elapsed_s) {
                emit.put(key, growth as f64 / unit / elapsed_s);
            }
        }
        if let (Some(grown), Some(elapsed_s)) = (self.step_threads(), elapsed_s) {
            for (key, growth) in [
                (&self.voluntary, grown.voluntary as f64),
                (&self.involuntary, grown.involuntary as f64),
                (&self.busiest, grown.busiest_ns as f64 * 1e-9),
                (&self.waited, grown.waited_ns as f64 * 1e-9),
            ] {
                emit.put(key, growth / elapsed_s);
            }
        }
        if let (Some(us), Some(elapsed_s)) = (self.step_throttled(), elapsed_s) {
            emit.put(&self.throttled, (us as f64 * 1e-6 / elapsed_s).min(1.0));
        }
        true
    }

    /// Time for which quotas kept it from running since the last call: of its control groups, that of the one
    /// that did so most, microseconds.
    fn step_throttled(&mut self) -> Option<u64> {
        let each = self.groups.iter_mut().filter_map(|(path, total)| {
            let text = read_bounded(path, MAX_TEXT).ok()?;
            total.step(parse::throttled_us(&text)?)
        });
        each.max()
    }

    /// Activity of all threads since the last call; `None` for the first one. What a thread did between its
    /// last reading and its end is not seen.
    fn step_threads(&mut self) -> Option<Grown> {
        let mut now = BTreeMap::new();
        for entry in entries(&self.directory.join("task")).take(MAX_THREADS) {
            let id: Option<u32> = entry.file_name().to_str().and_then(|id| id.parse().ok());
            let read = |file| read_bounded(&entry.path().join(file), MAX_TEXT).unwrap_or_default();
            let (text, times) = (read("status"), read("schedstat"));
            let status = parse::status(&text);
            if let (Some(id), Some(voluntary), Some(involuntary)) =
                (id, status.voluntary, status.involuntary)
            {
                let [ran_ns, waited_ns] = parse::ran_and_waited_ns(&times).unwrap_or_default();
                now.insert(id, [voluntary, involuntary, ran_ns, waited_ns]);
            }
        }
        let before = std::mem::replace(&mut self.switches, now);
        if before.is_empty() {
            return None;
        }
        let mut grown = Grown::default();
        for (id, counts) in &self.switches {
            // A thread that was not there before has done all of it since.
            let own = before.get(id).copied().unwrap_or_default();
            let [voluntary, involuntary, ran_ns, waited_ns] =
                std::array::from_fn(|at| counts[at].saturating_sub(own[at]));
            grown.voluntary = grown.voluntary.saturating_add(voluntary);
            grown.involuntary = grown.involuntary.saturating_add(involuntary);
            grown.busiest_ns = grown.busiest_ns.max(ran_ns);
            grown.waited_ns = grown.waited_ns.saturating_add(waited_ns);
        }
        Some(grown)
    }
}

/// Counts of the threads of a process between two readings.
#[derive(Debug, Default)]
struct Grown {
    voluntary: u64,
    involuntary: u64,
    /// CPU time of the thread that used most.
    busiest_ns: u64,
    /// Time without a CPU of all threads that were ready.
    waited_ns: u64,
}

/// Files that a process may have open, as it began to be observed.
fn files_limit(directory: &Path) -> Option<u64> {
    let text = read_bounded(&directory.join("limits"), MAX_TEXT).ok()?;
    parse::open_files_limit(&text)
}

/// `cpu.stat` of the control group of a process and of each above it.
fn groups_of(ctx: &Context, directory: &Path) -> Vec<(PathBuf, Total)> {
    let text = read_bounded(&directory.join("cgroup"), MAX_TEXT).unwrap_or_default();
    let Some((controller, own)) = parse::control_group(&text) else {
        return Vec::new();
    };
    let root = ctx.sys_path("fs/cgroup").join(controller);
    let groups = Path::new(own).ancestors().take(MAX_GROUPS);
    let files = groups.map(|group| root.join(group).join("cpu.stat"));
    files.map(|file| (file, Total::default())).collect()
}

fn stat_of(directory: &Path) -> Option<Stat> {
    let text = read_bounded(&directory.join("stat"), MAX_TEXT).ok()?;
    parse::stat(&text).ok()
}

/// Number of files that a process has open; `None` where that cannot be read.
fn open_files(directory: &Path) -> Option<u64> {
    let folder = directory.join("fd");
    // Since Linux 6.2 the folder's size is their number, which spares the list.
    match fs::metadata(&folder).map(|folder| folder.len()) {
        Ok(count) if count > 0 => Some(count),
        _ => fs::read_dir(folder).ok().map(|files| files.count() as u64),
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests;
