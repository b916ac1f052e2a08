//! Steps that all commands that load hosts share.
//!
//! ```text
//! dial hosts ─► begin a record ─► measure ─► close, analyse, report, show
//!                                    └ an error ─► no record when nothing was measured
//! ```

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sokudo_controller::{ControlError, Hosts, Run, RunConfig};
use sokudo_i18n::I18n;
use sokudo_model::{Record, RunStatus, Text};
use sokudo_session::{LoadedServer, WATCH_NS, conclude, random_seed};
use sokudo_wire::Key;
use sokudo_workload::Options;

use super::finish::{ShowOptions, exit_of, finish, show};
use super::key::{self, KeyText};
use super::live::LiveArgs;
use super::observe::ObserveArgs;
use super::observer::Terminal;
use super::out::OutArgs;
use super::screen::tell;
use super::{DEFAULT_PORT, Exit, Failure, command_for_record, stop_flag};

/// Longest time until a host answers the first call.
const DIAL_BOUND: Duration = Duration::from_secs(10);

/// Hosts to call, and output to show.
pub struct Call<'a> {
    /// What the run is called after.
    pub workload: &'a str,
    /// Hosts as typed.
    pub hosts: &'a [String],
    /// Key that `sokudo serve` printed.
    pub key: Option<&'a KeyText>,
    /// Seed of every random choice.
    pub seed: Option<u64>,
    /// Time between two samples, nanoseconds.
    pub interval_ns: u64,
    /// Monitors beside the usual ones.
    pub observe: &'a ObserveArgs,
    /// Where samples go while it goes on.
    pub out: &'a OutArgs,
    /// Output of the result.
    pub show: &'a ShowOptions,
    /// The run goes on without hosts that cannot be reached, as long as there is one.
    pub may_miss: bool,
    /// Server outside the run that is loaded.
    pub server: LoadedServer,
}

/// What commands that load hosts take beside what they measure.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// Key that `sokudo serve` printed.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<KeyText>,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    #[command(flatten)]
    pub observe: ObserveArgs,

    #[command(flatten)]
    pub out: OutArgs,

    #[command(flatten)]
    pub live: LiveArgs,

    #[command(flatten)]
    pub show: ShowOptions,
}

impl CallArgs {
    /// Shows a load of which samples come so often, nanoseconds.
    pub fn terminal(&self, interval_ns: u64) -> Terminal {
        let terminal = Terminal::new(self.show.lang(), None, None);
        terminal.sampling_every(interval_ns).live(self.live)
    }

    /// The call of these hosts for a workload with these options.
    pub fn to<'a, O: Options>(&'a self, hosts: &'a [String], options: &O) -> Call<'a> {
        Call {
            workload: O::NAME,
            hosts,
            key: self.key.as_ref(),
            seed: self.seed,
            interval_ns: options.interval_ns(),
            observe: &self.observe,
            out: &self.out,
            show: &self.show,
            may_miss: false,
            server: LoadedServer::NOBODY,
        }
    }

    /// The key that was typed.
    pub fn key(&self) -> Result<Option<Key>, Failure> {
        key::parse(self.key.as_ref())
    }
}

/// Dials the hosts, measures, and shows the record; `also` does what else is wanted with it.
pub fn carry_out(
    call: &Call<'_>,
    observer: Terminal,
    measure: impl FnOnce(&mut Run) -> Result<(), ControlError>,
    also: impl FnOnce(&Record) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    match measured(call, observer, measure)? {
        Measured::Early(exit) => Ok(exit),
        Measured::Whole(record, path) => {
            show(&record, &path, call.show);
            also(&record)?;
            Ok(exit_of(&record))
        }
    }
}

/// A run whose load is over.
pub enum Measured {
    /// Its record, with the conclusions, and where it lies; not shown yet.
    Whole(Box<Record>, PathBuf),
    /// It ended early, which has been told.
    Early(Exit),
}

/// Runs a workload as [`carry_out`] does, and leaves it to the caller to show the result.
pub fn measured(
    call: &Call<'_>,
    observer: Terminal,
    measure: impl FnOnce(&mut Run) -> Result<(), ControlError>,
) -> Result<Measured, Failure> {
    let key = key::parse(call.key)?;
    let mut monitors = call.observe.specs()?;
    let attached = call.server.monitors(&monitors)?;
    monitors.extend(attached.specs);
    let sinks = call.out.open(call.show.lang())?;
    let stop = stop_flag()?;
    let mut hosts = Hosts::own(sokudo_agent::factory)?;
    hosts.stop_on(&stop);
    let missing = reach_all(&mut hosts, call, key.as_ref())?;
    let config = RunConfig {
        workload: call.workload.into(),
        command: command_for_record(),
        root: sokudo_store::runs_root(),
        seed: call.seed.unwrap_or_else(random_seed),
        interval_ns: call.interval_ns.max(WATCH_NS),
        monitors,
        stop,
    };
    let observer = sinks.around(Box::new(observer));
    let mut run = Run::begin(hosts, config, observer)?;
    sinks.begins(run.manifest());
    for (host, failure) in missing {
        let says = Text::new("engine-not-reached").word("host", host);
        run.note_problem(says.text("why", failure.says().clone()));
    }
    if let Some(says) = attached.says {
        tell(&I18n::new(call.show.lang()).text(&says));
        run.manifest_mut().notes.push(says);
    }
    let outcome = measure(&mut run);
    run.manifest_mut().notes.extend(sinks.close());
    if let Err(error) = outcome {
        return ended_early(run, error, call.show).map(Measured::Early);
    }
    let path = run.finish()?.path;
    let record = conclude(&path, call.show.lang())?;
    Ok(Measured::Whole(Box::new(record), path))
}

/// Calls all hosts; gives those that the run goes on without, and why.
fn reach_all<'a>(
    hosts: &mut Hosts,
    call: &Call<'a>,
    key: Option<&Key>,
) -> Result<Vec<(&'a str, Failure)>, Failure> {
    let mut missing = Vec::new();
    for host in call.hosts {
        if let Err(failure) = reach(hosts, host, key) {
            if !call.may_miss {
                return Err(failure);
            }
            missing.push((host.as_str(), failure));
        }
    }
    match missing.len() == call.hosts.len() && !missing.is_empty() {
        true => Err(missing.remove(0).1),
        false => Ok(missing),
    }
}

/// A host of a group is written `GROUP/NAME`; any other is called directly.
#[cfg(feature = "fleet")]
pub fn reach(hosts: &mut Hosts, host: &str, key: Option<&Key>) -> Result<(), Failure> {
    match host.split_once('/') {
        // A URL is neither.
        Some((group, name)) if !group.contains(':') => super::group::reach(hosts, group, name),
        _ => hosts
            .dial(host, DEFAULT_PORT, key, DIAL_BOUND)
            .map_err(|error| group_meant(host, error.into())),
    }
}

/// Error for a group's name in place of a host, with the way in which its hosts are written.
#[cfg(feature = "fleet")]
fn group_meant(host: &str, failure: Failure) -> Failure {
    if !super::group::is_known(host) {
        return failure;
    }
    let hint = Text::new("error-group-meant-hint").word("group", host);
    Failure::operator(failure.says().clone(), hint)
}

/// Every host is called directly.
#[cfg(not(feature = "fleet"))]
pub fn reach(hosts: &mut Hosts, host: &str, key: Option<&Key>) -> Result<(), Failure> {
    Ok(hosts.dial(host, DEFAULT_PORT, key, DIAL_BOUND)?)
}

/// The same of those who answer; tells of each of the others.
pub fn reach_some(
    hosts: &mut Hosts,
    host: &str,
    key: Option<&Key>,
) -> Result<Vec<Failure>, Failure> {
    #[cfg(feature = "fleet")]
    if let Some((group, name)) = host
        .split_once('/')
        .filter(|(group, _)| !group.contains(':'))
    {
        return super::group::reach_some(hosts, group, name);
    }
    let called = reach(hosts, host, key);
    Ok(called.err().into_iter().collect())
}

/// Ends a run early: an operator error before the first measurement leaves no record; any other end
/// does, and is shown.
fn ended_early(mut run: Run, error: ControlError, options: &ShowOptions) -> Result<Exit, Failure> {
    run.ended_by(&error);
    let failure = Failure::from(error);
    let phases = &run.manifest().phases;
    let empty = phases.iter().all(|p| p.status == RunStatus::Failed);
    if empty && failure.exit() == Exit::OperatorError {
        sokudo_store::discard(&run.finish()?.path)?;
        return Err(failure);
    }
    failure.print();
    finish(run, options)?;
    Ok(failure.exit())
}
