//! `sokudo replicate`: a tree of files to another host, or from it.

use std::path::Path;

use clap::Args;
use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_model::Text;

use super::measure::{MeasureArgs, measure};
use super::workload::{self, CallArgs};
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
  sokudo replicate dataset:10000x10KB hostb:null         how fast without disks?
  sokudo replicate dataset:10x1GB hostb:/srv/t --level none --sweep connections=1,2,4,8

HOST may have a port: hostb:7005:/srv/data. A data set is made while it is sent: NxSIZE, several with `,`,
or `mixed`; --content says what it holds.")]
pub struct ReplicateArgs {
    /// Source: DIR, HOST:/DIR, or dataset:NxSIZE.
    #[arg(value_name = "SOURCE")]
    from: String,

    /// Target: DIR, HOST:/DIR, or HOST:null, which drops everything. Several hosts: the same directory on each.
    #[arg(required = true, value_name = "TARGET")]
    to: Vec<String>,

    #[command(flatten)]
    options: ReplicateOptions,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    call: CallArgs,
}

/// A side of a replication as typed: on another host, or here.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Side {
    host: Option<String>,
    path: String,
}

impl Side {
    /// `HOST:/DIR`, `HOST:PORT:/DIR`, `[ADDRESS]:/DIR` and `HOST:null` are elsewhere; all else is here.
    fn parse(text: &str) -> Self {
        let elsewhere = |at: usize| Self {
            host: Some(text[..at].into()),
            path: text[at + 1..].into(),
        };
        if text.starts_with("dataset:") {
            return Self {
                host: None,
                path: text.into(),
            };
        }
        if let Some(host) = text.strip_suffix(":null").filter(|host| !host.is_empty()) {
            return elsewhere(host.len());
        }
        match text.find(":/") {
            // A `/` before the colon makes it a path of this host.
            Some(at) if at > 0 && !text[..at].contains('/') => elsewhere(at),
            _ => Self {
                host: None,
                path: text.into(),
            },
        }
    }

    /// Its path; made absolute when it is on this host.
    fn path(&self) -> Result<String, Failure> {
        if self.host.is_some() || self.path.starts_with("dataset:") {
            return Ok(self.path.clone());
        }
        let path = std::path::absolute(&self.path)
            .map_err(|error| Failure::cannot_write(Path::new(&self.path), &error))?;
        Ok(path.to_string_lossy().into_owned())
    }
}

/// Carries it out.
pub fn run(mut args: ReplicateArgs) -> Result<Exit, Failure> {
    let from = Side::parse(&args.from);
    let to: Vec<Side> = args.to.iter().map(|to| Side::parse(to)).collect();
    let hosts = hosts(&from, &to)?;
    let target = to[0].path()?;
    for one in &to[1..] {
        let path = one.path()?;
        if path != target {
            return Err(Failure::operator(
                Text::new("error-replicate-one-target")
                    .with("one", target)
                    .with("other", path),
                Text::new("error-replicate-one-target-hint"),
            ));
        }
    }
    args.options.source = from.path()?;
    args.options.target = target;
    args.options.pull = from.host.is_some();
    let planned = args.measure.plan(&args.options)?;
    let lang = args.call.show.lang();
    let call = args.call.to(&hosts, &args.options);
    let observer = args.call.terminal(call.interval_ns);
    workload::carry_out(
        &call,
        observer,
        |run| measure(planned, run, lang),
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
    fn sides_are_told_apart_as_users_of_rsync_expect() {
        let side = |host: Option<&str>, path: &str| Side {
            host: host.map(Into::into),
            path: path.into(),
        };
        for (text, expected) in [
            ("/srv/a", side(None, "/srv/a")),
            ("a:b", side(None, "a:b")),
            ("./a:/b", side(None, "./a:/b")),
            ("hostb:/srv", side(Some("hostb"), "/srv")),
            ("hostb:7005:/srv", side(Some("hostb:7005"), "/srv")),
            ("[::1]:/srv", side(Some("[::1]"), "/srv")),
            ("hostb:null", side(Some("hostb"), "null")),
            ("dataset:10x1KB", side(None, "dataset:10x1KB")),
        ] {
            assert_eq!(Side::parse(text), expected, "{text}");
        }
        assert!(hosts(&side(None, "/a"), &[side(None, "/b")]).is_err());
        assert!(hosts(&side(Some("x"), "/a"), &[side(Some("y"), "/b")]).is_err());
    }
}
