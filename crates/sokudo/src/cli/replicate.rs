//! `sokudo replicate`: a tree of files to another host, or from it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_load_replicate::replicate::advise::look;
use sokudo_model::Text;
use sokudo_session::advise;
use sokudo_session::specs::preset::Preset;
use sokudo_session::specs::side::Side;
use sokudo_session::specs::words::Typed;
use sokudo_workload::Options;

use super::measure::{MeasureArgs, measure};
use super::screen::tell;
use super::specs;
use super::web::{DEFAULT_PLACE, WatchArgs};
use super::workload::{self, Call, CallArgs};
use super::{Exit, Failure};

/// Replicate a tree of files to another host, or fetch it from there.
///
/// Start `sokudo serve --path DIR` on the other host first, with the directory that it is to read or write. Only
/// what differs travels; a name of the target shows the old or the new file at every moment, and a run that
/// was cut is continued by the next one, also inside of files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo replicate /srv/data hostb:/srv/data             send what differs
  sokudo replicate hostb:/srv/data /srv/data             fetch it
  sokudo replicate /srv/data hostb:/srv/data --dry-run   what would be sent?
  sokudo replicate /srv/data hostb:/srv/data --delete --exclude '*.tmp'
  sokudo replicate /srv/data hostb:/srv/data --verify    compare all contents, change nothing
  sokudo replicate /srv/data hostb:/srv/data --mirror 8h follow what changes afterwards
  sokudo replicate /srv/data hostb:/m hostc:/m           to several hosts at once
  sokudo replicate /srv/data b:/m c:/m d:/m --relay 1    from each host to the next one
  sokudo replicate --specs mirrors.toml                  what a file says, by its schedules
  sokudo replicate dataset:10000x10KB hostb:null         how fast without disks?
  sokudo replicate dataset:10x1GB hostb:/srv/t --level none --sweep connections=1,2,4,8

HOST may have a port: hostb:7005:/srv/data. A data set is made while it is sent: NxSIZE, several with `,`,
or `mixed`; --content says what it holds.")]
pub struct ReplicateArgs {
    /// Source: DIR, HOST:/DIR, or dataset:NxSIZE.
    #[arg(value_name = "SOURCE", required_unless_present = "specs")]
    from: Option<String>,

    /// Target: DIR, HOST:/DIR, or HOST:null, which drops everything. Several hosts: the same directory on each.
    #[arg(value_name = "TARGET", required_unless_present = "specs")]
    to: Vec<String>,

    /// Carry out the specifications of this file, each by its schedule: what goes where, with the options
    /// of this command by their names. Options typed beside it hold where the file says nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to", "repeat", "sweep", "find", "knee", "versus", "slo", "seed", "predict", "verify", "dry_run", "mirror", "relay"])]
    specs: Option<PathBuf>,

    /// With --specs: carry each out once, now, whatever its schedule says.
    #[arg(long, requires = "specs")]
    once: bool,

    /// With --specs: show a row for each specification in a browser, and let all of them be stopped
    /// there. Beyond 127.0.0.1 the printed address holds a token.
    #[arg(
        long, value_name = "ADDR:PORT", requires = "specs", num_args = 0..=1, require_equals = true,
        default_missing_value = DEFAULT_PLACE,
    )]
    web: Option<SocketAddr>,

    /// Settings for a kind of link, as a starting point; options that are typed override them.
    #[arg(long, value_enum, value_name = "LINK")]
    preset: Option<Preset>,

    /// Look at the source, the way and the target first, predict the time, and compare it with the
    /// measured one. Takes some seconds; --dry-run predicts anyway.
    #[arg(long, conflicts_with_all = ["verify", "mirror", "repeat", "sweep", "find", "knee", "versus"])]
    predict: bool,

    #[command(flatten)]
    options: Typed,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    call: CallArgs,
}

/// Carries it out.
pub fn run(args: ReplicateArgs) -> Result<Exit, Failure> {
    if let Some(file) = &args.specs {
        return specs::run(
            file,
            args.once,
            args.preset,
            &args.options.words,
            &args.call,
            &WatchArgs::at(args.web),
        );
    }
    let from = Side::parse(args.from.as_deref().unwrap_or_default());
    let to: Vec<Side> = args.to.iter().map(|to| Side::parse(to)).collect();
    let hosts = hosts(&from, &to)?;
    let path = |side: &Side| {
        side.path()
            .map_err(|error| Failure::cannot_write(Path::new(&side.path), &error))
    };
    let target = path(&to[0])?;
    for one in &to[1..] {
        let other = path(one)?;
        if other != target {
            return Err(Failure::operator(
                Text::new("error-replicate-one-target")
                    .with("one", target)
                    .with("other", other),
                Text::new("error-replicate-one-target-hint"),
            ));
        }
    }
    let mut options: ReplicateOptions = args.options.with(args.preset)?;
    options.source = path(&from)?;
    options.target = target;
    options.pull = from.host.is_some();
    // Only files of this host can be looked at before.
    let is_foreseen = args.predict || options.dry_run && !args.measure.is_asked();
    let is_foreseen = is_foreseen && from.host.is_none() && to.len() == 1;
    if args.predict && !is_foreseen {
        return Err(Failure::operator(
            Text::new("error-advise-sides"),
            Text::new("error-advise-sides-hint"),
        ));
    }
    options.validate()?;
    let seed = args.call.seed.unwrap_or(1);
    let sample = is_foreseen.then(|| look(&options, seed)).transpose()?;
    let planned = args.measure.plan(&options)?;
    if let Some(preset) = args.preset {
        let settings = preset.settings().iter();
        let settings: Vec<String> = settings
            .map(|(name, value)| format!("--{name} {value}"))
            .collect();
        let says = Text::new("specs-preset").word("settings", settings.join(" "));
        tell(&sokudo_i18n::I18n::new(args.call.show.lang()).text(&says));
    }
    let lang = args.call.show.lang();
    let call = Call {
        may_miss: hosts.len() > 1,
        ..args.call.to(&hosts, &options)
    };
    let observer = args.call.terminal(call.interval_ns);
    workload::carry_out(
        &call,
        observer,
        |run| match &sample {
            Some(sample) if options.dry_run => advise::dry_run(run, &options, sample),
            Some(sample) => advise::predicted(run, &options, sample),
            None => measure(planned, run, lang),
        },
        |_| Ok(()),
    )
}

/// The other hosts; one side must be this one.
fn hosts(from: &Side, to: &[Side]) -> Result<Vec<String>, Failure> {
    let sides = || {
        Failure::operator(
            Text::new("error-replicate-sides"),
            Text::new("error-replicate-sides-hint"),
        )
    };
    match (&from.host, to) {
        (Some(host), [Side { host: None, .. }]) => Ok(vec![host.clone()]),
        (None, to) => {
            let hosts = to.iter().map(|side| side.host.clone());
            hosts.collect::<Option<Vec<String>>>().ok_or_else(sides)
        }
        _ => Err(sides()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_side_of_a_replication_is_here() {
        let parse = |from: &str, to: &[&str]| {
            let to: Vec<Side> = to.iter().map(|to| Side::parse(to)).collect();
            hosts(&Side::parse(from), &to)
        };
        assert_eq!(parse("/a", &["x:/b", "y:/b"]).unwrap(), ["x", "y"]);
        assert_eq!(parse("x:/a", &["/b"]).unwrap(), ["x"]);
        assert!(parse("/a", &["/b"]).is_err());
        assert!(parse("x:/a", &["y:/b"]).is_err());
    }
}
