//! Transactions, and the reporting of results to listeners.

use std::sync::Arc;

use sokudo_model::Spent;

use super::assertions::assert_all;
use super::context::{ThreadContext, View};
use super::row::{Details, RowKind, SampleRow, Sink};
use super::sample_result::SampleResult;
use super::steps::ControllerNode;
use super::test::Test;
use crate::plan::{ControllerKind, Id};

/// Most results that are kept below that of a transaction; further ones are only counted.
const MOST_BELOW: usize = 10_000;

/// Receivers of one user's results: open transactions and the sink.
pub(super) struct Results {
    sink: Arc<dyn Sink>,
    /// Transactions under way, the outer ones first.
    open: Vec<Transaction>,
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

    /// Adds a result to the open transactions; gives the innermost one that replaces it.
    fn add(&mut self, test: &Test, nodes: &[ControllerNode], row: &SampleRow<'_>) -> Option<usize> {
        let mut above = None;
        // The innermost first: a result that it replaces is not counted further out.
        for (index, open) in self.open.iter_mut().enumerate().rev() {
            let ControllerKind::Transaction {
                is_parent,
                with_timers,
                ..
            } = nodes[open.node].kind
            else {
                continue;
            };
            let is_counted = match is_parent {
                true => above.replace(above.unwrap_or(index)).is_none(),
                false => row.kind == RowKind::Sample,
            };
            if is_counted {
                open.add(test, row, with_timers);
            }
        }
        above
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

    /// Reports the result of a transaction; a transaction without samples has none.
    pub fn close_transaction(&mut self, view: &mut View<'_>, node: usize) {
        let test = view.test();
        let Some(index) = self.open.iter().rposition(|open| open.node == node) else {
            return;
        };
        let mut open = self.open.remove(index);
        let nodes = &test.nodes[view.thread.group()];
        let of = &nodes[node];
        let ControllerKind::Transaction { is_parent, .. } = of.kind else {
            return;
        };
        if is_parent && open.samples == 0 {
            return;
        }
        let below = std::mem::take(&mut open.below);
        let label = view.text(&of.name);
        let message = format!(
            "Number of samples in transaction : {}, number of failing samples : {}",
            open.samples, open.failed
        );
        let mut row = open.row(test, view.now_ns(), is_parent);
        (row.group_threads, row.all_threads) = view.thread.active_users(test);
        (row.label, row.message, row.below) = (label.into(), message.into(), below);
        row.variables = view.thread.sample_variables(test);
        if !is_parent {
            // JMeter reports it to the listeners of the last sampler.
            let last = &test.programs[view.thread.sampler() as usize];
            row.thread_name = view.thread.name().into();
            return self.sink.sample(&row, &last.savers);
        }
        assert_transaction(view, of, &mut row);
        row.thread_name = view.thread.name().into();
        let success = row.success;
        let above = self.add(test, nodes, &row);
        self.report_below(nodes, row, above, &of.savers);
        view.thread.set_last_ok(success);
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
        latency_ms: row.latency_ms,
        connect_ms: row.connect_ms,
        ..SampleResult::of_text("", &row.code, &row.message, row.elapsed_ms, row.success)
    };
    let verdict = assert_all(view, assertions, of.holds, &result);
    (row.success, row.failure_message) = (verdict.success, verdict.says.into());
    row.details = of.holds.assertions.then(|| {
        Box::new(Details {
            assertions: verdict.asserted,
            ..Details::default()
        })
    });
}

impl Transaction {
    /// Adds a result.
    fn add(&mut self, test: &Test, row: &SampleRow<'_>, with_timers: bool) {
        self.samples += 1;
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
            (true, _) => self.code.as_str(),
            (false, 0) => "200",
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
