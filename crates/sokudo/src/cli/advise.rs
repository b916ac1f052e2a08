//! `sokudo advise`: the settings with which a tree of files is replicated fastest, and how long it takes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_load_replicate::replicate::advise::look;
use sokudo_load_replicate::replicate::options::{Durable, Holds, Transports};
use sokudo_model::Text;
use sokudo_session::advise;
use sokudo_session::specs::side::Side;
use sokudo_workload::Options;
use sokudo_workload::choice::{self, Choice};
use sokudo_workload::link::Transport;

use super::workload::{self, CallArgs};
use super::{Exit, Failure};

/// Find the settings with which a tree of files is replicated fastest, and tell how long it will take.
///
/// Start `sokudo serve --path DIR` on the other host first. A part of the source is read and compressed, the way,
/// the free CPU of both ends and the target's file system are measured, all settings are predicted, and the
/// best three are tried beside the usual ones, in turns. Trials write to a directory of their own in the
/// target, which is removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo advise /srv/data hostb:/srv/data                how, and how long?
  sokudo advise /srv/data hostb                          the way alone: nothing is written there
  sokudo advise /srv/data hostb:/srv/data --apply copy.toml
  sokudo replicate --specs copy.toml                     do so")]
pub struct AdviseArgs {
    /// Directory of this host, or dataset:NxSIZE.
    #[arg(value_name = "SOURCE")]
    from: String,

    /// HOST:/DIR, or HOST, whose disk is then left alone.
    #[arg(value_name = "TARGET")]
    to: String,

    /// Trials of each of the settings.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    rounds: u32,

    /// Write the chosen settings as a specification for `sokudo replicate --specs FILE`.
    #[arg(long, value_name = "FILE")]
    apply: Option<PathBuf>,

    /// What carries the content.
    #[arg(long, value_parser = choice::parser::<Transports>(), default_value = "tls")]
    transport: Transport,

    /// When content is on the receiver's device.
    #[arg(long, value_enum, default_value = "batch")]
    durability: Durable,

    /// Only files that fit the glob, below the source: `*.rs`, `docs/**`. Repeatable.
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Neither sent nor removed: `*.tmp`, `cache/**`. Repeatable.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// What the files of a data set hold: `text`, `random`, `mixed:60` (percent random).
    #[arg(long, value_name = "CONTENT", default_value = "text")]
    content: Holds,

    #[command(flatten)]
    call: CallArgs,
}

/// Carries it out.
pub fn run(args: AdviseArgs) -> Result<Exit, Failure> {
    let (from, mut to) = (Side::parse(&args.from), Side::parse(&args.to));
    if to.host.is_none() && !to.path.contains('/') {
        to = Side::parse(&format!("{}:null", args.to));
    }
    let (None, Some(host)) = (&from.host, to.host.clone()) else {
        return Err(Failure::operator(
            Text::new("error-advise-sides"),
            Text::new("error-advise-sides-hint"),
        ));
    };
    let path = |side: &Side| {
        side.path()
            .map_err(|error| Failure::cannot_write(Path::new(&side.path), &error))
    };
    let options = ReplicateOptions {
        source: path(&from)?,
        target: path(&to)?,
        transport: args.transport,
        durability: args.durability,
        include: args.include,
        exclude: args.exclude,
        content: args.content,
        ..ReplicateOptions::default()
    };
    options.validate()?;
    let sample = look(&options, args.call.seed.unwrap_or(1))?;
    let hosts = [host];
    let call = args.call.to(&hosts, &options);
    let call = workload::Call {
        workload: "advise",
        ..call
    };
    let observer = args.call.terminal(call.interval_ns);
    let mut chosen = None;
    workload::carry_out(
        &call,
        observer,
        |run| {
            chosen = Some(advise::choice(run, &options, &sample, args.rounds)?);
            Ok(())
        },
        |_| Ok(()),
    )
    .and_then(|exit| {
        if let (Some(file), Some(chosen)) = (&args.apply, &chosen) {
            let text = specification(&args.from, &args.to, chosen);
            std::fs::write(file, text).map_err(|error| Failure::cannot_write(file, &error))?;
        }
        Ok(exit)
    })
}

/// The settings as a specification: keys are the names of the options.
fn specification(from: &str, to: &str, options: &ReplicateOptions) -> String {
    // A string of JSON is one of TOML, too.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut out = String::from("# Written by `sokudo advise`.\n[spec.advised]\n");
    let mut line = |key: &str, value: String| {
        // Writing to a text cannot fail.
        let _ = writeln!(out, "{key} = {value}");
    };
    line("source", quoted(from));
    line("target", quoted(to));
    line("level", quoted(&options.level.to_string()));
    line("connections", options.connections.to_string());
    line("batch", quoted(&format!("{}B", options.batch.0)));
    line("durability", quoted(options.durability.name()));
    line("transport", quoted(options.transport.name()));
    for (key, globs) in [("include", &options.include), ("exclude", &options.exclude)] {
        if !globs.is_empty() {
            line(key, serde_json::Value::from(globs.clone()).to_string());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_is_toml_with_the_names_of_options() {
        let options = ReplicateOptions {
            exclude: vec!["*.tmp".into()],
            ..ReplicateOptions::default()
        };
        let text = specification("/srv/日本 \"a\"", "hostb:/srv/b", &options);
        let expected = "# Written by `sokudo advise`.\n[spec.advised]\nsource = \"/srv/日本 \\\"a\\\"\"\n\
            target = \"hostb:/srv/b\"\nlevel = \"auto\"\nconnections = 2\nbatch = \"1048576B\"\n\
            durability = \"batch\"\ntransport = \"tls\"\nexclude = [\"*.tmp\"]\n";
        assert_eq!(text, expected);
    }
}
