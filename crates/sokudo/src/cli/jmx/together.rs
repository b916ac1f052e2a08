//! Execution of one plan by several generators, with one result file.

use std::sync::{Arc, Mutex, PoisonError};

use sokudo_controller::{ControlError, KeepRows, Run};
use sokudo_load_http::jmx::{self, Gather, Gathered, JmxOptions};
use sokudo_model::{PhasePlan, Refusal, Rows, Text};

/// Several generators execute the plan, once or so many times; their rows become one file here.
/// `phase` makes the phase of these options on so many hosts.
pub(super) fn together(
    run: &mut Run,
    mut options: JmxOptions,
    repeat: Option<u32>,
    phase: impl FnOnce(&JmxOptions, u32) -> PhasePlan,
) -> Result<(), ControlError> {
    let start_unix_ns = run.manifest().started_unix_ns;
    let path = options.results.take();
    if let Some(together) = &mut options.together {
        together.start_unix_ns = start_unix_ns;
    }
    let refused = |refusal: Refusal| ControlError::Operator {
        says: refusal.says,
        hint: refusal.hint,
    };
    let gather = path.map(|path| Gather::open(&options, &path)).transpose();
    let gather = gather.map_err(refused)?;
    let keeper = Keeper(Arc::new(Mutex::new(gather)));
    run.keep_rows(Box::new(keeper.clone()));
    let hosts = run.hosts().list().len() as u32;
    let phase = phase(&options, hosts);
    if let Some(runs) = repeat {
        // Repeated runs keep no rows.
        let measured = run.repeat(&phase, runs).map(drop);
        run.group_numbers();
        return measured;
    }
    let measured = run.run_phase(phase);
    let sent = measured
        .as_ref()
        .ok()
        .map(|record| jmx::rows_sent(&record.result));
    if let Some(gather) = keeper.take() {
        let gathered = gather.finish(&sent.unwrap_or_default());
        tell(run, &gathered);
    }
    run.group_numbers();
    measured.map(drop)
}

/// Says what the file of results lacks.
fn tell(run: &mut Run, gathered: &Gathered) {
    if gathered.lost > 0 {
        let count = gathered.lost.to_string();
        run.note_problem(Text::new("jmx-run-lost-rows").word("count", count));
    }
    if let Some(error) = &gathered.error {
        run.note_problem(Text::new("jmx-run-problem").word("what", error.as_str()));
    }
}

/// Hands the generators' rows over to their file, until it is closed.
#[derive(Clone)]
struct Keeper(Arc<Mutex<Option<Gather>>>);

impl Keeper {
    fn take(&self) -> Option<Gather> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl KeepRows for Keeper {
    fn keep(&mut self, host: &str, rows: Rows) {
        let mut gather = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gather) = &mut *gather {
            gather.take(host, &rows);
        }
    }
}
