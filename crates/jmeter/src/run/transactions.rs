//! What becomes of a result: transactions, counts, and what a failure does to the flow.

use std::sync::atomic::Ordering;

use sokudo_model::Spent;

use super::row::{RowKind, SampleRow};
use super::shared::StopKind;
use super::test::Test;
use super::user::Body;
use crate::plan::{ControllerKind, OnError, OnErrorAction, PostKind};

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
        });
    }

    /// Tells a result and adds it to the transactions under way.
    pub(super) fn tell(&mut self, test: &Test, row: &SampleRow<'_>) {
        self.person.last_ok = row.success;
        let nodes = &test.nodes[self.person.group];
        let mut inner = false;
        // The innermost one first: what it stands for is counted there alone.
        for open in self.open.iter_mut().rev() {
            let ControllerKind::Transaction {
                is_parent,
                with_timers,
                ..
            } = nodes[open.node].kind
            else {
                continue;
            };
            let is_counted = match is_parent {
                true => !std::mem::replace(&mut inner, true),
                false => row.kind == RowKind::Sample,
            };
            if !is_counted {
                continue;
            }
            open.samples += 1;
            open.failed += u64::from(!row.success);
            if open.failed == 0 || (open.failed == 1 && !row.success) {
                row.code.clone_into(&mut open.code);
            }
            open.latency_ms += row.latency_ms;
            open.connect_ms += row.connect_ms;
            open.bytes += row.bytes;
            open.sent_bytes += row.sent_bytes;
            if !with_timers {
                let end_ms = test.wall_ms(row.end_ns);
                let idle_ms = end_ms - row.elapsed_ms as i64 - open.previous_end_ms;
                open.idle_ms += u64::try_from(idle_ms).unwrap_or(0);
                open.previous_end_ms = end_ms;
            }
        }
        match inner {
            true => self.sink.sample(&SampleRow {
                kind: RowKind::Inner,
                ..*row
            }),
            false => self.sink.sample(row),
        }
    }

    /// Tells the result of a transaction; one without samples has none.
    pub(super) fn close_transaction(&mut self, test: &Test, now_ns: i64, node: usize) {
        let Some(index) = self.open.iter().rposition(|open| open.node == node) else {
            return;
        };
        let open = self.open.remove(index);
        let of = &test.nodes[self.person.group][node];
        let ControllerKind::Transaction { is_parent, .. } = of.kind else {
            return;
        };
        if is_parent && open.samples == 0 {
            return;
        }
        let (start_ms, end_ms) = (test.wall_ms(open.start_ns), test.wall_ms(now_ns));
        let spent_ms = u64::try_from(end_ms - start_ms).unwrap_or(0);
        let label = self.person.view(test, now_ns).text(&of.name);
        let message = format!(
            "Number of samples in transaction : {}, number of failing samples : {}",
            open.samples, open.failed
        );
        let code = match (is_parent, open.failed) {
            (true, _) => open.code.as_str(),
            (false, 0) => "200",
            (false, _) => "",
        };
        let (group_threads, all_threads) = self.actives(test);
        let name = std::mem::take(&mut self.person.name);
        let row = SampleRow {
            kind: RowKind::Transaction,
            start_ms,
            elapsed_ms: spent_ms.saturating_sub(open.idle_ms),
            label: &label,
            code,
            message: &message,
            thread_name: &name,
            data_type: "",
            success: open.failed == 0,
            failure_message: "",
            bytes: open.bytes,
            sent_bytes: open.sent_bytes,
            group_threads,
            all_threads,
            url: "null",
            latency_ms: open.latency_ms,
            idle_ms: open.idle_ms,
            connect_ms: open.connect_ms,
            encoding: &test.default_encoding,
            intended_ns: open.start_ns,
            start_ns: open.start_ns,
            sent_ns: open.start_ns,
            end_ns: now_ns,
            errno: 0,
            // Its samples have theirs.
            spent: Spent::default(),
            phase: "",
            failure: "",
        };
        match is_parent {
            true => self.tell(test, &row),
            false => self.sink.sample(&row),
        }
        self.person.name = name;
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
