//! Opens what a test writes beside its record: rows of results, files and databases of listeners, the scripts' log.

use std::path::Path;
use std::sync::Arc;

use sokudo_jmeter::run::Test;
use sokudo_model::{Refusal, Text};

use super::backend::{Backends, Telling};
use super::generator::{LoadObserver, OpenLog};
use super::options::JmxOptions;
use super::read::Prepared;
use super::saved::Files;
use super::script_log::{LogLines, ScriptLog};
use super::summariser::summaries;
use super::summary_log::SummaryLog;
use super::tally::Shard;

/// What is open before a test starts.
pub(super) struct Outputs {
    files: Files,
    backends: Backends,
    script_log: Option<ScriptLog>,
    lines: Option<LogLines>,
    unwritten: Vec<String>,
}

impl Outputs {
    /// Opens everything that the plan and the options name; rows go to `log`.
    ///
    /// Errors: the scripts' log cannot be written.
    pub fn open(
        log: Option<OpenLog>,
        prepared: &Prepared,
        options: &JmxOptions,
    ) -> Result<Self, Refusal> {
        let mut files = Files::default();
        if let Some(log) = log {
            let path = options.results.as_deref().unwrap_or(Path::new(""));
            files.everything(log, &std::path::absolute(path).unwrap_or(path.into()));
        }
        let mut unwritten = files.listeners(prepared, options);
        let (backends, untold) = Backends::of(prepared, options);
        unwritten.extend(untold);
        let asked = options.script_log.as_deref();
        let script_log = asked
            .filter(|_| options.together.is_none())
            .map(ScriptLog::open)
            .transpose()?;
        let (script_log, lines) = script_log.unzip();
        Ok(Self {
            files,
            backends,
            script_log,
            lines,
            unwritten,
        })
    }

    /// Lines of the summarisers in the scripts' log, where there is one; `next` observes as before.
    pub fn summary_log(
        &self,
        prepared: &Prepared,
        options: &JmxOptions,
        next: &Arc<dyn LoadObserver>,
    ) -> Option<Arc<SummaryLog>> {
        let lines = self.lines.clone()?;
        let (offset_ns, properties) = (prepared.duty.wall_offset_ns, options.all_properties());
        let of = (&prepared.plan, &properties);
        Some(SummaryLog::begin(lines, of, offset_ns, Arc::clone(next)))
    }

    /// The shards of so many event loops, which hand over to what is open.
    pub fn shards(&mut self, loops: usize, prepared: &Prepared) -> Vec<Arc<Shard>> {
        let shard = |_| {
            let files = self.files.share().with(self.backends.lanes());
            // One log for all: the first shard keeps it open.
            let shard = Shard::new(files, self.lines.take());
            Arc::new(shard.summing(summaries(&prepared.plan)))
        };
        let shards = (0..loops).map(shard).collect();
        self.files.release();
        shards
    }

    /// Begins to tell databases of a test. Gives the files of results, and what is to be finished after it.
    pub fn start(self, test: &Arc<Test>) -> Result<(Files, OpenOutputs), Refusal> {
        let open = OpenOutputs {
            telling: self.backends.start(test)?,
            script_log: self.script_log,
            unwritten: self.unwritten,
        };
        Ok((self.files, open))
    }
}

/// What is written until a test is over.
pub(super) struct OpenOutputs {
    telling: Telling,
    script_log: Option<ScriptLog>,
    unwritten: Vec<String>,
}

impl OpenOutputs {
    /// Waits until everything is written; gives what went wrong. Call it when no shard and no observer is left that
    /// writes to the scripts' log.
    pub fn finish(self) -> impl Iterator<Item = Text> {
        let told = self.unwritten.into_iter().chain(self.telling.finish());
        let told = told.chain(self.script_log.and_then(ScriptLog::finish));
        told.map(Text::recorded)
    }
}
