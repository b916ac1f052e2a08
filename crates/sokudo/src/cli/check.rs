//! `sokudo check`: capacity of this machine, and of the network between the hosts of a group.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use sokudo_controller::check::group::{self, GroupCheck};
use sokudo_controller::check::{self, CheckConfig};
use sokudo_controller::{ControlError, Hosts, Run, RunConfig};
use sokudo_i18n::{I18n, TextError};
use sokudo_model::{Bounds, Expectation};
use sokudo_workload::values::Span;

use super::finish::{ShowOptions, finish};
use super::observe::ObserveArgs;
use super::observer::Terminal;
use super::out::{OutArgs, Sinks};
use super::screen::tell;
use super::{Exit, Failure, command_for_record, stop_flag, workload};

const SECOND_NS: u64 = 1_000_000_000;

const EXAMPLES: &str = "\
Examples:
  sokudo check                                   this machine, all layers
  sokudo check rr stream --quick                 two of them, shorter
  sokudo check --group lab                       every pair of hosts of the group lab, all layers
  sokudo check --group lab --expect 1Gb/s        … and each must carry what a 1 Gb/s line carries
  sokudo check --group lab --expect '10Gb/s,p99<1ms,loss<0.1%' --within 10min

Layers: probe, rr, crr, stream, bus, http, target, replicate, tpcb, datagram. The exit code is 1 when a pair does not keep
what is expected, or nothing comes through.";

/// Measure what this machine can do, or what the network between the hosts of a group can: no
/// set-up, no root needed.
///
/// Without --group it takes about two minutes. As root on Linux four hosts are made from
/// network namespaces and joined by a bridge; they are gone when the command ends. Otherwise four
/// loopback addresses stand for them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Layers to check; all when none is named.
    #[arg(value_name = "LAYER")]
    layers: Vec<String>,

    /// Check the network between all hosts of a group: every host meets every other one, both ways,
    /// as many pairs at once as there are.
    #[arg(long, value_name = "GROUP", conflicts_with = "max_loss")]
    group: Option<String>,

    /// What every pair of hosts must do, each way: a line rate, bounds on latency, loss and errors,
    /// or both, with commas. A line of 1 Gb/s must carry 900 Mb/s of payload: headers and framing
    /// take 5 to 6 %.
    #[arg(long, value_name = "RATE|BOUNDS", requires = "group")]
    expect: Option<Expectation>,

    /// How long the check of a group may take: loads become shorter first, then hosts meet fewer
    /// others. Default: 3min, with --quick 1min.
    #[arg(long, value_name = "TIME", requires = "group")]
    within: Option<Span>,

    /// Largest share of datagrams that may be lost at the best rate: `0.1%` or `0.001`.
    #[arg(long, value_name = "RATIO", default_value = "0.1%", value_parser = parse_max_loss)]
    max_loss: f64,

    /// Shorter phases: less certain numbers in about half a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    observe: ObserveArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    show: ShowOptions,
}

fn parse_max_loss(text: &str) -> Result<f64, TextError> {
    let bounds = format!("loss<{text}").parse::<Bounds>();
    let most = bounds.ok().and_then(|bounds| bounds.most("loss"));
    most.ok_or_else(|| TextError::value("error-value-max-loss", text))
}

/// Carries it out.
pub fn run(args: CheckArgs) -> Result<Exit, Failure> {
    check::known(&args.layers)?;
    let stop = stop_flag()?;
    match &args.group {
        Some(name) => of_group(&args, name, stop),
        None => of_this_machine(&args, stop),
    }
}

fn of_this_machine(args: &CheckArgs, stop: Arc<AtomicBool>) -> Result<Exit, Failure> {
    let (hosts, note) = check::local_hosts(sokudo_agent::factory, check::HOSTS)?;
    let (mut run, sinks) = begin(args, hosts, stop)?;
    run.manifest_mut().notes.push(note);
    let config = CheckConfig {
        max_loss: args.max_loss,
        quick: args.quick,
    };
    let outcome = check::run(&mut run, &args.layers, &config);
    close(args, run, &sinks, outcome)
}

/// The host that gives the command takes no part: it may be anywhere.
fn of_group(args: &CheckArgs, name: &str, stop: Arc<AtomicBool>) -> Result<Exit, Failure> {
    let (longest_s, within_s) = if args.quick { (1, 60) } else { (4, 180) };
    let check = GroupCheck {
        layers: args.layers.clone(),
        expected: args.expect.clone(),
        longest_ns: longest_s * SECOND_NS,
        within_ns: args.within.map_or(within_s * SECOND_NS, |span| span.0),
    };
    let mut hosts = Hosts::own(sokudo_agent::factory)?;
    hosts.stop_on(&stop);
    let first = hosts.list().len();
    workload::reach(&mut hosts, &format!("{name}/*"), None)?;
    let tournament = check.plan(hosts.list().len() - first)?;
    let told = group::told(&tournament);
    tell(&I18n::new(args.show.lang()).text(&told));
    let (mut run, sinks) = begin(args, hosts, stop)?;
    run.manifest_mut().notes.push(told);
    let outcome = group::run(&mut run, first as u32, &check, &tournament);
    close(args, run, &sinks, outcome)
}

fn begin(args: &CheckArgs, hosts: Hosts, stop: Arc<AtomicBool>) -> Result<(Run, Sinks), Failure> {
    let config = RunConfig {
        workload: "check".into(),
        command: command_for_record(),
        root: sokudo_store::runs_root(),
        seed: sokudo_session::random_seed(),
        interval_ns: 250_000_000,
        monitors: args.observe.specs()?,
        stop,
    };
    let sinks = args.out.open(args.show.lang())?;
    let observer = Terminal::new(args.show.lang(), None, None);
    let run = Run::begin(hosts, config, sinks.around(Box::new(observer)))?;
    sinks.begins(run.manifest());
    Ok((run, sinks))
}

fn close(
    args: &CheckArgs,
    mut run: Run,
    sinks: &Sinks,
    outcome: Result<(), ControlError>,
) -> Result<Exit, Failure> {
    run.manifest_mut().notes.extend(sinks.close());
    let Err(error) = outcome else {
        return finish(run, &args.show);
    };
    run.ended_by(&error);
    let failure = Failure::from(error);
    failure.print();
    finish(run, &args.show)?;
    Ok(failure.exit())
}
