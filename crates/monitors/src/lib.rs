//! What does a host do while a run goes on, and under which conditions?
//!
//! Three things: [`REGISTRY`] lists the monitors, which emit series at each interval;
//! [`environment::capture`] records the conditions once; [`facilities::probe`] tries what this
//! system lets sokudo do.
//!
//! ```text
//!  agent thread                        reporting thread
//!  open_all(ctx) ──► samplers ───────► sampler.sample(t_ns, &mut batch)   once per interval
//!                └─► missing: monitor and reason, shown to people
//! ```
//!
//! Open on the thread whose network namespace shall be observed; a sampler stays with that
//! namespace and may then move to another thread.

pub mod environment;
pub mod facilities;

mod cpu;
mod disk;
mod emit;
mod memory;
mod network;
mod pressure;
mod reread;
mod self_threads;
mod sockets;

use std::path::PathBuf;

use sokudo_model::Batch;

/// Every monitor, by name.
pub const REGISTRY: &[&dyn Monitor] = &[
    &cpu::Cpu,
    &disk::Disk,
    &memory::Memory,
    &network::Network,
    &pressure::Pressure,
    &self_threads::SelfThreads,
    &sockets::Sockets,
];

/// Where Linux tells about itself. On other systems it is a path that no file has: each message about
/// what is missing then says why.
const PROC_ROOT: &str = match cfg!(target_os = "linux") {
    true => "/proc",
    false => "Linux only: /proc",
};

/// A kind of observation that an agent can make.
pub trait Monitor: Sync {
    /// Name of its folder, as in `sokudo metrics` and the policy file.
    fn name(&self) -> &'static str;

    /// What it observes, in one line.
    fn help(&self) -> &'static str;

    /// Catalogue names that it can emit.
    fn metrics(&self) -> &'static [&'static str];

    /// Opens its sources.
    ///
    /// Errors: what the system lacks, or that the monitor does not belong to `ctx.scope`.
    fn open(&self, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable>;
}

/// A monitor that has its sources open.
pub trait Sampler: Send {
    /// Adds the values at `t_ns` (nanoseconds since the run's start) to `out`.
    ///
    /// The first call sets the baseline of counters and rates and emits only gauges that need
    /// no interval. A source that cannot be read this time emits nothing: a gap, not a zero.
    fn sample(&mut self, t_ns: i64, out: &mut Batch);
}

/// What is observed, on whose behalf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Host as named in the run's host table.
    pub host: String,
    /// How much of the machine belongs to it.
    pub scope: Scope,
    /// Where the kernel's process file system is: `/proc` on Linux. `/sys` is looked for beside it.
    pub proc_root: PathBuf,
}

impl Context {
    /// The whole machine, seen from the calling thread's network namespace.
    pub fn host(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            scope: Scope::Host,
            proc_root: PathBuf::from(PROC_ROOT),
        }
    }

    /// Only the calling thread's network namespace.
    pub fn namespace(host: impl Into<String>) -> Self {
        Self {
            scope: Scope::Namespace,
            ..Self::host(host)
        }
    }

    /// The calling process and the calling thread's network namespace.
    pub fn process(host: impl Into<String>) -> Self {
        Self {
            scope: Scope::Process,
            ..Self::host(host)
        }
    }

    /// A path below the process file system.
    pub(crate) fn proc_path(&self, path: &str) -> PathBuf {
        self.proc_root.join(path)
    }

    /// A path below `/sys`.
    pub(crate) fn sys_path(&self, path: &str) -> PathBuf {
        let parent = self.proc_root.parent().unwrap_or(&self.proc_root);
        parent.join("sys").join(path)
    }
}

/// How much of the machine a host of the run stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole machine.
    Host,
    /// The process and the network namespace of the thread that opens the monitor; another agent
    /// observes the machine.
    Process,
    /// The network namespace of the thread that opens the monitor, and nothing else; another
    /// agent observes the machine.
    Namespace,
}

/// Why a monitor cannot observe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// It observes the whole machine, and this host of the run is only a network namespace.
    #[error("observes the whole machine, which another agent does")]
    OtherScope,
    /// The system does not offer it.
    #[error("not available on this system: {0}")]
    System(String),
}

/// Samplers of the monitors that could be opened, and the others with the reason.
#[derive(Default)]
pub struct Opened {
    /// Monitor's name and its sampler, in the order of [`REGISTRY`].
    pub samplers: Vec<(&'static str, Box<dyn Sampler>)>,
    /// Monitor's name and what the system lacks. Monitors of another scope are not listed.
    pub missing: Vec<(&'static str, Unavailable)>,
}

/// Opens every monitor of [`REGISTRY`] that belongs to `ctx.scope`.
pub fn open_all(ctx: &Context) -> Opened {
    let mut opened = Opened::default();
    for monitor in REGISTRY {
        match monitor.open(ctx) {
            Ok(sampler) => opened.samplers.push((monitor.name(), sampler)),
            Err(Unavailable::OtherScope) => {}
            Err(why) => opened.missing.push((monitor.name(), why)),
        }
    }
    opened
}

/// Refuses a context that stands for less than the machine.
fn whole_machine(ctx: &Context) -> Result<(), Unavailable> {
    match ctx.scope {
        Scope::Host => Ok(()),
        Scope::Process | Scope::Namespace => Err(Unavailable::OtherScope),
    }
}

/// Text of a `/proc` or `/sys` file that cannot be understood: what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
struct BadText {
    /// File as an operator knows it.
    file: &'static str,
    /// What was expected and not found.
    problem: &'static str,
}

impl BadText {
    fn new(file: &'static str, problem: &'static str) -> Self {
        Self { file, problem }
    }
}

#[cfg(test)]
mod tests;
