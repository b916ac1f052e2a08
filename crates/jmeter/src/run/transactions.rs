//! What becomes of a result: transactions, counts, and what a failure does to the flow.

use std::sync::atomic::Ordering;

use sokudo_model::Spent;

use super::answer::{Answer, plain_answer};
use super::row::{Details, RowKind, SampleRow};
use super::shared::StopKind;
use super::steps::Node;
use super::test::Test;
use super::user::Body;
use crate::plan::{ControllerKind, Id, OnError, OnErrorAction, PostKind};

/// Most results that are kept below that of a transaction; further ones are counted.
const MOST_BELOW: usize = 10_000;

/// A transaction under way.
#[derive(Debug)]
pub(super) struct Transaction {
    /// Its controller.
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
    /// Results of what is in it, where it stands for them and they are written.
    below: Vec<SampleRow<'static>>,
}

impl Body {
    pub(super) fn open_transaction(&mut self, test: &Test, now_ns: i64, node: usize) {
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

    /// Tells the result of a sampler and adds it to the transactions under way.
    pub(super) fn tell(&mut self, test: &Test, mut row: SampleRow<'_>) {
        if !test.shown.is_empty() {
            row.variables = self.person.shown(test);
            for below in &mut row.below {
                below.variables.clone_from(&row.variables);
            }
        }
        let savers = &test.programs[self.flight.sampler as usize].savers;
        let above = self.count_in(test, &row);
        self.tell_below(test, row, above, savers);
    }

    /// Adds a result to the transactions under way; gives the innermost one that stands for it.
    fn count_in(&mut self, test: &Test, row: &SampleRow<'_>) -> Option<usize> {
        self.person.last_ok = row.success;
        let nodes = &test.nodes[self.person.group];
        let mut above = None;
        // The innermost one first: what it stands for is counted there alone.
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

    /// Tells a result to the counts and to those of `savers` to whom the transaction above it is not
    /// told: the listeners around it come behind those inside.
    fn tell_below(
        &mut self,
        test: &Test,
        mut row: SampleRow<'_>,
        above: Option<usize>,
        savers: &[Id],
    ) {
        let Some(above) = above else {
            return self.sink.sample(&row, savers);
        };
        row.is_inner = true;
        let open = &mut self.open[above];
        let around = test.nodes[self.person.group][open.node].savers.len();
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
                "a transaction holds more than {MOST_BELOW} results: further ones are counted and not written"
            );
            self.sink.trouble(&says);
        }
    }

    /// Tells the result of a transaction; one without samples has none.
    pub(super) fn close_transaction(&mut self, test: &Test, now_ns: i64, node: usize) {
        let Some(index) = self.open.iter().rposition(|open| open.node == node) else {
            return;
        };
        let mut open = self.open.remove(index);
        let of = &test.nodes[self.person.group][node];
        let ControllerKind::Transaction { is_parent, .. } = of.kind else {
            return;
        };
        if is_parent && open.samples == 0 {
            return;
        }
        let below = std::mem::take(&mut open.below);
        let label = self.person.view(test, now_ns).text(&of.name);
        let name = std::mem::take(&mut self.person.name);
        let message = format!(
            "Number of samples in transaction : {}, number of failing samples : {}",
            open.samples, open.failed
        );
        let mut row = open.row(test, now_ns, is_parent);
        (row.group_threads, row.all_threads) = self.actives(test);
        (row.label, row.message) = (label.into(), message.into());
        (row.thread_name, row.below) = ((&name).into(), below);
        row.variables = self.person.shown(test);
        match is_parent {
            true => {
                self.assert_transaction(test, now_ns, of, &mut row);
                let above = self.count_in(test, &row);
                self.tell_below(test, row, above, &of.savers);
            }
            false => {
                // JMeter tells those who heard of the last sampler.
                let last = &test.programs[self.flight.sampler as usize];
                self.sink.sample(&row, &last.savers);
            }
        }
        self.person.name = name;
    }

    /// Assertions look at the result of a transaction, too; it has no body.
    fn assert_transaction(&mut self, test: &Test, now_ns: i64, of: &Node, row: &mut SampleRow<'_>) {
        let ControllerKind::Transaction { assertions, .. } = &of.kind else {
            return;
        };
        if assertions.is_empty() {
            return;
        }
        let answer = Answer {
            latency_ms: row.latency_ms,
            connect_ms: row.connect_ms,
            ..plain_answer(
                "",
                &row.code,
                &row.message,
                "null",
                row.elapsed_ms,
                row.success,
            )
        };
        let verdict = self.assert(test, now_ns, (assertions, of.holds), &answer);
        (row.success, row.failure_message) = (verdict.success, verdict.says.into());
        row.details = of.holds.assertions.then(|| {
            Box::new(Details {
                assertions: verdict.asserted,
                ..Details::default()
            })
        });
    }

    /// Active users of the group and of all groups.
    pub(super) fn actives(&self, test: &Test) -> (u32, u32) {
        let group = test.shared.active[self.person.group].load(Ordering::Relaxed);
        (group, test.shared.all.load(Ordering::Relaxed))
    }

    /// What the group and the result actions in scope make of a result that failed.
    pub(super) fn after_failure(&mut self, test: &Test, now_ns: i64) {
        let (sampler, node) = (self.flight.sampler, self.flight.node);
        for post in &test.plan.samplers[sampler as usize].scope.post_processors {
            let PostKind::OnError(action) = test.plan.post_processors[*post as usize].kind else {
                continue;
            };
            match action {
                OnErrorAction::Continue => {}
                OnErrorAction::StopUser => self.end(test),
                OnErrorAction::StopTest => test.stop(StopKind::Soon),
                OnErrorAction::StopTestNow => test.stop(StopKind::Now),
                OnErrorAction::NextGroupLoop => self.next_iteration(test, now_ns, node),
                OnErrorAction::NextLoop => self.next_loop(test, now_ns, node, false),
                OnErrorAction::BreakLoop => self.next_loop(test, now_ns, node, true),
            }
        }
        let group = &test.plan.groups[self.person.group];
        match group.on_error {
            OnError::Continue => {}
            OnError::StartNextLoop => self.next_iteration(test, now_ns, node),
            OnError::StopThread => self.end(test),
            OnError::StopTest => test.stop(StopKind::Soon),
            OnError::StopTestNow => test.stop(StopKind::Now),
        }
    }
}

impl Transaction {
    /// Adds what a result says.
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

    /// Its row, without names, users and what is below it.
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
            // Its samples have theirs.
            spent: Spent::default(),
            phase: "",
            failure: "".into(),
            variables: Vec::new(),
            details: None,
            below: Vec::new(),
        }
    }
}
