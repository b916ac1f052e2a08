//! Load on a web server that the page orders, from this host.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Command, FromArgMatches};
use sokudo_controller::{Hosts, Observer, Run, RunConfig, Steering};
use sokudo_i18n::Lang;
use sokudo_load_http::http::{self, HttpOptions};
use sokudo_model::{MonitorSpec, Record, Refusal, RunStatus};

use crate::typed::not_understood;
use crate::{How, Measurement, WATCH_NS, conclude, random_seed};

/// A load that a page asks for.
pub struct PageOrder<'a> {
    /// Words as typed after `sokudo http`.
    pub words: &'a [String],
    /// The command line that opened the page, without secrets.
    pub command: Vec<String>,
    /// Seed of every random choice; drawn when absent.
    pub seed: Option<u64>,
    /// Monitors beside the usual ones.
    pub monitors: Vec<MonitorSpec>,
    /// Ends the run early.
    pub stop: Arc<AtomicBool>,
    /// Told how it goes on.
    pub observer: Box<dyn Observer>,
    /// Gets the handle with which the load is changed.
    pub steers: &'a dyn Fn(Steering),
}

/// Measures once, and returns the record.
pub fn measured(asked: PageOrder<'_>) -> Result<Record, Refusal> {
    let no_word = |error: clap::Error| not_understood(&error, http::NAME);
    let bare = Command::new(http::NAME).no_binary_name(true);
    let typed = HttpOptions::augment_args(bare).try_get_matches_from(asked.words);
    let options = HttpOptions::from_arg_matches(&typed.map_err(no_word)?).map_err(no_word)?;
    let planned = Measurement::new(&options, &How::default())?;
    let config = RunConfig {
        workload: http::NAME.into(),
        command: asked.command,
        root: sokudo_store::runs_root(),
        seed: asked.seed.unwrap_or_else(random_seed),
        interval_ns: options.interval.0.max(WATCH_NS),
        monitors: asked.monitors,
        stop: asked.stop,
    };
    let hosts = Hosts::own(sokudo_agent::factory)?;
    let lang = Lang::from_env();
    let mut run = Run::begin(hosts, config, asked.observer)?;
    (asked.steers)(run.steering());
    let measured = planned.measure(&mut run);
    let phases = &run.manifest().phases;
    let nothing = phases.iter().all(|phase| phase.status == RunStatus::Failed);
    match measured {
        Err(error) if nothing => {
            sokudo_store::discard(&run.finish()?.path)?;
            Err(error.into())
        }
        Err(error) => {
            run.ended_by(&error);
            conclude(&run.finish()?.path, lang)
        }
        Ok(()) => conclude(&run.finish()?.path, lang),
    }
}
