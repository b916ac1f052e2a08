//! The policy of this host, and the log of who asked it for what: the same for `serve` and `agent`.

use std::path::{Path, PathBuf};

use clap::Args;
use sokudo_agent::audit::Audit;
use sokudo_agent::policy::Policy;
use sokudo_i18n::I18n;
use sokudo_model::Text;

use super::{Failure, config};

/// Which policy holds.
#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    /// What others may have this host do. Default: policy.toml in sokudo's own directory, and without
    /// that file phases of up to 1 h with the other hosts of a run.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Say what the policy allows, and where it is noted who asked for what; do nothing else.
    #[arg(long)]
    print_policy: bool,
}

impl PolicyArgs {
    /// The policy to hold to; `None` when it was only to be shown, which is done.
    ///
    /// Errors: a file that was named and is not there, cannot be read, or is not understood.
    pub(super) fn read(&self) -> Result<Option<Policy>, Failure> {
        // Only without a name does a missing file mean the default, which allows more than most policies.
        if let Some(named) = &self.policy {
            std::fs::metadata(named).map_err(|error| {
                Failure::operator(
                    Text::new("error-cannot-read")
                        .with("path", named.display())
                        .with("error", error),
                    Text::new("error-policy-hint"),
                )
            })?;
        }
        let default = config().join("policy.toml");
        let file = self.policy.as_ref().unwrap_or(&default);
        let policy = Policy::load(file).map_err(|error| {
            let hint = Text::new("error-policy-hint");
            Failure::operator(error.text(), hint)
        })?;
        if self.print_policy {
            print(&policy, file);
            return Ok(None);
        }
        Ok(Some(policy))
    }
}

/// The log of who asked this host for what.
///
/// Errors: it cannot be written.
pub(super) fn audit() -> Result<Audit, Failure> {
    let noted = noted();
    Audit::open(&noted).map_err(|error| Failure::cannot_write(&noted, &error))
}

fn noted() -> PathBuf {
    config().join("audit.jsonl")
}

fn print(policy: &Policy, file: &Path) {
    let key = match file.exists() {
        true => "status-policy",
        false => "status-no-policy",
    };
    let i18n = I18n::new(super::language());
    println!(
        "{}",
        i18n.text(&Text::new(key).with("file", file.display()))
    );
    let noted = Text::new("status-noted").with("file", noted().display());
    for line in policy.explain().iter().chain([&noted]) {
        println!("  {}", i18n.text(line));
    }
}
