//! `sokudo check`: what can this machine do?

use clap::Args;
use sokudo_controller::check::{self, CheckConfig};
use sokudo_controller::{Run, RunConfig};
use sokudo_model::Bounds;

use super::finish::{ShowOptions, finish};
use super::observer::Terminal;
use super::{Exit, Failure, command_for_record, stop_flag};

/// Measure what this machine can do: no arguments, no set-up, no root needed.
///
/// Takes a minute and a half or so. As root on Linux four hosts are made from network namespaces and joined by
/// a bridge; they are gone when the command ends. Otherwise four loopback addresses stand for them.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Layers to check; all when none is named.
    #[arg(value_name = "LAYER")]
    layers: Vec<String>,

    /// Largest share of datagrams that may be lost at the best rate: `0.1%` or `0.001`.
    #[arg(long, value_name = "RATIO", default_value = "0.1%", value_parser = parse_max_loss)]
    max_loss: f64,

    /// Shorter phases: less certain numbers in about half a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    show: ShowOptions,
}

fn parse_max_loss(text: &str) -> Result<f64, String> {
    let bounds = format!("loss<{text}").parse::<Bounds>();
    let most = bounds.ok().and_then(|bounds| bounds.most("loss"));
    most.ok_or_else(|| format!("`{text}` is no share below 100 %: write `0.1%` or `0.001`"))
}

/// Carries it out.
pub fn run(args: CheckArgs) -> Result<Exit, Failure> {
    check::known(&args.layers)?;
    let stop = stop_flag()?;
    let (hosts, note) = check::local_hosts(sokudo_agent::factory, check::HOSTS)?;
    let config = RunConfig {
        workload: "check".into(),
        command: command_for_record(),
        root: sokudo_store::runs_root(),
        seed: super::workload::random_seed(),
        interval_ns: 250_000_000,
        stop,
    };
    let observer = Terminal::new(args.show.lang(), None, None);
    let mut run = Run::begin(hosts, config, Box::new(observer))?;
    run.manifest_mut().notes.push(note);
    let config = CheckConfig {
        max_loss: args.max_loss,
        quick: args.quick,
    };
    if let Err(error) = check::run(&mut run, &args.layers, &config) {
        run.ended_by(&error);
        let failure = Failure::from(error);
        failure.print();
        finish(run, &args.show)?;
        return Ok(failure.exit());
    }
    finish(run, &args.show)
}
