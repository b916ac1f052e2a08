//! Observes a host while a run goes on, and records the conditions under which it does.
//!
//! Three things: [`REGISTRY`] lists the monitors, which emit series at each interval;
//! [`environment::capture`] records the conditions once; [`facilities::probe`] tries what this
//! system lets sokudo do.
//!
//! ```text
//!  agent                               thread of the monitor
//!  Registered::open_with ─► Sampler ──► sampler.sample(t_ns, &mut batch)   once per interval
//!                        └► the reason why it cannot, shown to people
//! ```
//!
//! Open on the thread whose network namespace shall be observed; a sampler stays with that
//! namespace and may then move to another thread.

pub mod environment;
pub mod facilities;

mod contract;
mod cpu;
mod database;
mod disk;
mod drops;
mod emit;
mod listen;
mod mariadb;
mod memory;
mod netlink;
mod network;
mod nstat;
pub mod openmetrics;
mod options;
mod outage;
mod postgres;
mod pressure;
mod process;
mod qdisc;
mod reread;
mod self_threads;
mod sockets;
mod target;

use std::net::IpAddr;
use std::path::PathBuf;

use sokudo_i18n::english;
use sokudo_model::{MonitorSpec, Text};

pub use contract::{
    COMMON_OPTIONS, Files, Info, MIN_INTERVAL, Monitor, OpenError, Reach, Registered, Sampler,
};
pub use options::{BadOption, NoOptions, Time};
pub use target::KEY_VARIABLE;

/// Every monitor, by name.
pub const REGISTRY: &[&dyn Registered] = &[
    &cpu::Cpu,
    &disk::Disk,
    &drops::Drops,
    &listen::Listen,
    &mariadb::MariaDb,
    &memory::Memory,
    &network::Network,
    &nstat::Nstat,
    &openmetrics::OpenMetrics,
    &postgres::Postgres,
    &pressure::Pressure,
    &process::Process,
    &qdisc::Qdisc,
    &self_threads::SelfThreads,
    &sockets::Sockets,
    &target::Target,
];

/// True when another network namespace of this machine has the address, as that of a container. Nothing is sent.
pub fn is_in_another_namespace(address: IpAddr) -> bool {
    process::is_elsewhere(&Context::process(""), address)
}

/// Directory in which Linux describes itself. On other systems it is a path that no file has: each
/// message about what is missing then says why.
const PROC_ROOT: &str = match cfg!(target_os = "linux") {
    true => "/proc",
    false => "Linux only: /proc",
};

/// Subject of an observation, and the host on whose behalf it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Host as named in the run's host table.
    pub host: String,
    /// Share of the machine that belongs to it.
    pub scope: Scope,
    /// Mount point of the kernel's process file system: `/proc` on Linux. `/sys` is looked for
    /// beside it.
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

/// Share of the machine that a host of the run stands for.
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

/// Reason why a monitor cannot observe.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unavailable {
    /// It observes the whole machine, and this host of the run is only a network namespace.
    #[error("observes the whole machine, which another agent does")]
    OtherScope,
    /// The system does not offer it.
    #[error("not available on this system: {}", english(.0))]
    System(Text),
}

impl Unavailable {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            Self::OtherScope => Text::new("error-monitor-scope"),
            Self::System(why) => Text::new("error-monitor-unavailable").text("why", why.clone()),
        }
    }
}

/// The monitors that every run has, each without options.
pub fn standing() -> impl Iterator<Item = &'static dyn Registered> {
    let all = REGISTRY.iter().copied();
    all.filter(|monitor| monitor.info().is_standing)
}

/// The options of a monitor that is opened without any.
pub const NO_OPTIONS: &str = "{}";

/// The monitor of this name. Errors: there is none.
pub fn find(name: &str) -> Result<&'static dyn Registered, BadOption> {
    let found = REGISTRY.iter().find(|monitor| monitor.info().name == name);
    found
        .copied()
        .ok_or_else(|| BadOption::UnknownMonitor(name.into()))
}

/// Reads what was typed: `NAME` or `NAME:KEY=VALUE,KEY=VALUE`.
///
/// Errors: no such monitor, or an option that cannot be used, with its key.
pub fn parse(text: &str, files: Files) -> Result<MonitorSpec, BadOption> {
    let (name, words) = text.split_once(':').unwrap_or((text, ""));
    find(name)?.spec(options::pairs(name, words)?, files)
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
    /// The expected content that was not found.
    problem: &'static str,
}

impl BadText {
    fn new(file: &'static str, problem: &'static str) -> Self {
        Self { file, problem }
    }
}

#[cfg(test)]
mod tests;
