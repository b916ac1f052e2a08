//! Transactions, and the reporting of results to listeners.

use std::sync::Arc;

use sokudo_model::Spent;

use super::assertions::assert_all;
use super::context::{ThreadContext, View};
use super::row::{Details, RowKind, SampleRow, Sink};
use super::sample_result::SampleResult;
use super::scripts::{ScriptOwner, run_script};
use super::steps::ControllerNode;
use super::test::Test;
use crate::plan::{ControllerKind, Id, ListenerKind};
use crate::script::{ScriptSample, TransactionKind};

/// Most results that are kept below that of a transaction; further ones are only counted.
const MOST_BELOW: usize = 10_000;

/// Receivers of one user's results: open transactions and the sink.
pub(super) struct Results {
    sink: Arc<dyn Sink>,
    /// Transactions under way, the outer ones first.
    open: Vec<Transaction>,
}

/// Way in which a controller ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Its steps are done.
    Done,
    /// It was left on demand. JMeter then gives a transaction that does not replace its samples no code.
    Left,
}

/// A transaction under way.
#[derive(Debug)]
struct Transaction {
    /// Index of its controller.
    node: usize,
    start_ns: i64,
    /// End of the previous sample in it.
    previous_end_ms: i64,
    idle_ms: u64,
    samples: u64,
    /// Samplers and controllers that it asked for the next sample, as JMeter counts those of a
    /// transaction that does not replace its samples.
    calls: u64,
    /// Its samples were heard of. JMeter names the thread only then.
    has_heard: bool,
    /// Its result was reported although its controller goes on: nothing more comes of it.
    is_reported: bool,
    failed: u64,
    /// Code of the last sample before a failure, or of the failure.
    code: String,
    latency_ms: u64,
    connect_ms: u64,
    bytes: u64,
    sent_bytes: u64,
    /// Results of its samples, if it replaces them in files.
    below: Vec<SampleRow<'static>>,
}

impl Results {
    /// Reports to a sink.
    pub fn new(sink: Arc<dyn Sink>) -> Self {
        Self {
            sink,
            open: Vec::new(),
        }
    }

    /// Begins the transaction of a controller.
    pub fn open_transaction(&mut self, test: &Test, now_ns: i64, node: usize) {
        self.open.push(Transaction {
            node,
            start_ns: now_ns,
            previous_end_ms: test.wall_ms(now_ns),
            idle_ms: 0,
            samples: 0,
            calls: 0,
            has_heard: false,
            is_reported: false,
            failed: 0,
            code: String::new(),
            latency_ms: 0,
            connect_ms: 0,
            bytes: 0,
            sent_bytes: 0,
            below: Vec::new(),
        });
    }

    /// Reports the result of the current sampler and adds it to the open transactions.
    pub fn report(&mut self, test: &Test, thread: &ThreadContext, mut row: SampleRow<'_>) {
        if !test.shown.is_empty() {
            row.variables = thread.sample_variables(test);
            for below in &mut row.below {
                below.variables.clone_from(&row.variables);
            }
        }
        let savers = &test.programs[thread.sampler() as usize].savers;
        let nodes = &test.nodes[thread.group()];
        let above = self.add(test, nodes, &row);
        self.report_below(nodes, row, above, savers);
    }

    /// Adds a result to the open transactions; gives the innermost one that replaces it. Those around
    /// it, and those inside that do not replace their samples, do not hear of it.
    fn add(&mut self, test: &Test, nodes: &[ControllerNode], row: &SampleRow<'_>) -> Option<usize> {
        let timers = |open: &Transaction| match nodes[open.node].kind {
            ControllerKind::Transaction { with_timers, .. } => with_timers,
            _ => false,
        };
        let above = self.open.iter().rposition(|open| open.is_parent(nodes));
        match above {
            Some(index) => {
                let open = &mut self.open[index];
                open.add(test, row, timers(open));
            }
            None => {
                for open in &mut self.open {
                    open.add(test, row, timers(open));
                }
            }
        }
        above
    }

    /// Counts calls of the transaction of a controller, if it is open.
    pub fn called(&mut self, node: usize, calls: u64) {
        let open = self.open.iter_mut().rev().find(|open| open.node == node);
        if let Some(open) = open {
            open.calls += calls;
        }
    }

    /// Counts one more call of all open transactions that do not replace their samples.
    fn called_all(&mut self, nodes: &[ControllerNode]) {
        let plain = self.open.iter_mut().filter(|open| !open.is_parent(nodes));
        plain.for_each(|open| open.calls += 1);
    }

    /// Reports a result to those of `savers` that the transaction `above` does not report to: the
    /// listeners around the transaction are at the end of the list.
    fn report_below(
        &mut self,
        nodes: &[ControllerNode],
        mut row: SampleRow<'_>,
        above: Option<usize>,
        savers: &[Id],
    ) {
        let Some(above) = above else {
            return self.sink.sample(&row, savers);
        };
        row.is_inner = true;
        let open = &mut self.open[above];
        if open.is_reported {
            return;
        }
        let around = nodes[open.node].savers.len();
        let inside = match row.kind {
            RowKind::Sample => &savers[..savers.len().saturating_sub(around)],
            _ => &[],
        };
        self.sink.sample(&row, inside);
        if !self.sink.writes() {
            return;
        }
        if open.below.len() < MOST_BELOW {
            open.below.push(row.into_owned());
        } else {
            let says = format!(
                "a transaction holds more than {MOST_BELOW} results: further ones are counted but not written"
            );
            self.sink.trouble(&says);
        }
    }

    /// Reports the result of a transaction whose controller has done its steps. JMeter reports that of
    /// one that does not replace its samples to the listeners of the last sampler, if there was one.
    pub fn close_transaction(&mut self, view: &mut View<'_>, node: usize, how: Ended) {
        let Some(index) = self.open.iter().rposition(|open| open.node == node) else {
            return;
        };
        let open = self.open.remove(index);
        let test = view.test();
        let nodes = &test.nodes[view.thread.group()];
        let is_parent = open.is_parent(nodes);
        let samples = if is_parent { open.samples } else { open.calls };
        let message = format!(
            "Number of samples in transaction : {samples}, number of failing samples : {}",
            open.failed
        );
        if is_parent {
            self.called_all(nodes);
            return self.report_parent(view, open, message);
        }
        let Some(last) = view.thread.last_sampled() else {
            return;
        };
        let mut row = open.row(test, view.now_ns(), false);
        if how == Ended::Left {
            row.code = "".into();
        }
        row.label = view.text(&nodes[node].name).into();
        row.message = message.into();
        row.variables = view.thread.sample_variables(test);
        if open.has_heard {
            (row.group_threads, row.all_threads) = view.thread.active_users(test);
            row.thread_name = view.thread.name().into();
        }
        self.sink.sample(&row, &test.programs[last as usize].savers);
        let listeners = &test.plan.samplers[last as usize].scope.listeners;
        let seen = seen(test, &row, TransactionKind::Plain);
        tell_scripts(view, listeners, &seen);
    }

    /// Reports a transaction that replaces its samples.
    fn report_parent(&mut self, view: &mut View<'_>, mut open: Transaction, message: String) {
        if open.is_reported {
            return;
        }
        let test = view.test();
        let nodes = &test.nodes[view.thread.group()];
        let of = &nodes[open.node];
        let below = std::mem::take(&mut open.below);
        let mut row = open.row(test, view.now_ns(), true);
        // One that was cut off keeps the code of its last sample.
        if open.failed == 0 && !message.is_empty() {
            row.code = "200".into();
        }
        (row.group_threads, row.all_threads) = view.thread.active_users(test);
        (row.message, row.below) = (message.into(), below);
        row.label = view.text(&of.name).into();
        row.variables = view.thread.sample_variables(test);
        assert_transaction(view, of, &mut row);
        row.thread_name = view.thread.name().into();
        let success = row.success;
        let above = self.add(test, nodes, &row);
        let seen = seen(test, &row, TransactionKind::Parent);
        self.report_below(nodes, row, above, &of.savers);
        view.thread.set_last_ok(success);
        if let (ControllerKind::Transaction { listeners, .. }, None) = (&of.kind, above) {
            tell_scripts(view, listeners, &seen);
        }
    }

    /// Reports the open transactions that replace their samples, the inner ones first: the user ends
    /// within them. Their results have no message, as in JMeter.
    pub fn cut_off(&mut self, view: &mut View<'_>) {
        let nodes = &view.test().nodes[view.thread.group()];
        while let Some(open) = self.open.pop() {
            if open.is_parent(nodes) {
                self.report_parent(view, open, String::new());
            }
        }
    }

    /// Reports the outermost open transaction that replaces its samples before its end: a loop within
    /// it was left or begun anew on demand. As in JMeter, nothing comes of its further samples.
    pub fn report_early(&mut self, view: &mut View<'_>) {
        let nodes = &view.test().nodes[view.thread.group()];
        let Some(index) = self.open.iter().position(|open| open.is_parent(nodes)) else {
            return;
        };
        let open = &mut self.open[index];
        if open.is_reported {
            return;
        }
        let rest = Transaction {
            is_reported: true,
            below: Vec::new(),
            code: String::new(),
            ..*open
        };
        let reported = std::mem::replace(open, rest);
        // It does not count as a sample of itself.
        let around = self.open.split_off(index);
        self.report_parent(view, reported, String::new());
        self.open.extend(around);
    }
}

/// Runs the assertions of a transaction on its result, which has no body.
fn assert_transaction(view: &mut View<'_>, of: &ControllerNode, row: &mut SampleRow<'_>) {
    let ControllerKind::Transaction { assertions, .. } = &of.kind else {
        return;
    };
    if assertions.is_empty() {
        return;
    }
    let result = SampleResult {
        start_ms: row.start_ms,
        latency_ms: row.latency_ms,
        connect_ms: row.connect_ms,
        bytes: row.bytes,
        sent_bytes: row.sent_bytes,
        transaction: Some(TransactionKind::Parent),
        ..SampleResult::of_text("", &row.code, &row.message, row.elapsed_ms, row.success)
    };
    let label = view.thread.label().to_owned();
    view.thread.set_label(&row.label);
    let verdict = assert_all(view, assertions, of.holds, &result);
    row.label = view.thread.label().to_owned().into();
    view.thread.set_label(&label);
    (row.success, row.failure_message) = (verdict.success, verdict.says.into());
    row.details = of.holds.assertions.then(|| {
        Box::new(Details {
            assertions: verdict.asserted,
            ..Details::default()
        })
    });
}

/// The result of a transaction as scripts see it.
fn seen(test: &Test, row: &SampleRow<'_>, kind: TransactionKind) -> ScriptSample {
    let asserted = row.details.as_ref().map(|details| &details.assertions);
    ScriptSample {
        label: row.label.clone().into_owned(),
        code: row.code.clone().into_owned(),
        message: row.message.clone().into_owned(),
        asserted: asserted.cloned().unwrap_or_default(),
        start_ms: row.start_ms,
        end_ms: test.wall_ms(row.end_ns),
        url: row.url.clone().into_owned(),
        elapsed_ms: row.elapsed_ms,
        idle_ms: row.idle_ms,
        latency_ms: row.latency_ms,
        connect_ms: row.connect_ms,
        bytes: row.bytes,
        sent_bytes: row.sent_bytes,
        success: row.success,
        transaction: Some(kind),
        ..ScriptSample::default()
    }
}

/// Lets the scripts among listeners hear of the result of a transaction.
fn tell_scripts(view: &mut View<'_>, listeners: &[Id], seen: &ScriptSample) {
    let plan = &view.test().plan;
    for id in listeners {
        let listener = &plan.listeners[*id as usize];
        if let ListenerKind::Script(script) = &listener.kind {
            let owner = (ScriptOwner::Listener, &listener.name);
            run_script(view, owner, script, Some(seen.clone()));
        }
    }
}

impl Transaction {
    /// It replaces its samples in files.
    fn is_parent(&self, nodes: &[ControllerNode]) -> bool {
        let kind = &nodes[self.node].kind;
        matches!(
            kind,
            ControllerKind::Transaction {
                is_parent: true,
                ..
            }
        )
    }

    /// Adds a result.
    fn add(&mut self, test: &Test, row: &SampleRow<'_>, with_timers: bool) {
        self.samples += 1;
        self.has_heard = true;
        self.failed += u64::from(!row.success);
        if self.failed == 0 || (self.failed == 1 && !row.success) {
            self.code.clear();
            self.code.push_str(&row.code);
        }
        self.latency_ms += row.latency_ms;
        self.connect_ms += row.connect_ms;
        self.bytes += row.bytes;
        self.sent_bytes += row.sent_bytes;
        if !with_timers {
            let end_ms = test.wall_ms(row.end_ns);
            let idle_ms = end_ms - row.elapsed_ms as i64 - self.previous_end_ms;
            self.idle_ms += u64::try_from(idle_ms).unwrap_or(0);
            self.previous_end_ms = end_ms;
        }
    }

    /// The row of the transaction, without names, user counts and sub-results.
    fn row(&self, test: &Test, now_ns: i64, is_parent: bool) -> SampleRow<'_> {
        let (start_ms, end_ms) = (test.wall_ms(self.start_ns), test.wall_ms(now_ns));
        let spent_ms = u64::try_from(end_ms - start_ms).unwrap_or(0);
        let code = match (is_parent, self.failed) {
            (true, _) if self.samples > 0 => self.code.as_str(),
            (_, 0) => "200",
            (true, _) => "",
            (false, _) => "",
        };
        SampleRow {
            kind: RowKind::Transaction,
            is_http: false,
            is_inner: false,
            start_ms,
            elapsed_ms: spent_ms.saturating_sub(self.idle_ms),
            label: "".into(),
            code: code.into(),
            message: "".into(),
            thread_name: "".into(),
            data_type: "",
            success: self.failed == 0,
            failure_message: "".into(),
            bytes: self.bytes,
            sent_bytes: self.sent_bytes,
            group_threads: 0,
            all_threads: 0,
            url: "null".into(),
            latency_ms: self.latency_ms,
            idle_ms: self.idle_ms,
            connect_ms: self.connect_ms,
            encoding: "".into(),
            intended_ns: self.start_ns,
            is_due: false,
            start_ns: self.start_ns,
            sent_ns: self.start_ns,
            end_ns: now_ns,
            errno: 0,
            // The rows of its samples have it.
            spent: Spent::default(),
            phase: "",
            failure: "".into(),
            variables: Vec::new(),
            details: None,
            below: Vec::new(),
        }
    }
}
