//! CPU time of the processes that observed ones have made.
//!
//! A server may do its work in children that have closed the socket which it listens on: PostgreSQL has one for each
//! session. They are added up, however many there are and however short they live: a child that has ended has left
//! its time to the parent that waited for it. Only children of the same program count: what a shell or a test starts
//! besides does other work.

use std::collections::{BTreeMap, BTreeSet};

use sokudo_model::SeriesKey;
use sokudo_model::metrics::process;

use super::select::pids;
use super::{MAX_TEXT, SOURCE, TICKS_PER_S, parse};
use crate::Context;
use crate::emit::{Emit, Total, key};
use crate::reread::read_bounded;

/// The children are added up so often, nanoseconds.
const EVERY_NS: i64 = 1_000_000_000;

/// Children of the observed processes.
pub(super) struct Children {
    key: SeriesKey,
    total: Total,
    /// Observed processes of the last sum: another one had children before, too.
    parents: BTreeSet<u32>,
    /// Time of the last sum.
    summed_ns: Option<i64>,
}

impl Children {
    pub(super) fn new(ctx: &Context, by: &str) -> Self {
        Self {
            key: key(
                &ctx.host,
                SOURCE,
                process::CHILDREN_CPU_RATIO.name,
                &[("by", by)],
            ),
            total: Total::default(),
            parents: BTreeSet::new(),
            summed_ns: None,
        }
    }

    /// Adds up the children of these processes when it is time, and gives the cores that they used since.
    pub(super) fn sample(
        &mut self,
        ctx: &Context,
        parents: impl Iterator<Item = u32>,
        t_ns: i64,
        emit: &mut Emit<'_>,
    ) {
        let elapsed_ns = self
            .summed_ns
            .map(|summed_ns| t_ns.saturating_sub(summed_ns));
        if elapsed_ns.is_some_and(|elapsed_ns| elapsed_ns < EVERY_NS) {
            return;
        }
        self.summed_ns = Some(t_ns);
        let parents: BTreeSet<u32> = parents.collect();
        let Some(ticks) = used_ticks(ctx, &parents) else {
            return;
        };
        if std::mem::replace(&mut self.parents, parents) != self.parents {
            self.total = Total::default();
        }
        let grown = self.total.step(ticks);
        if let (Some(grown), Some(elapsed_ns)) = (grown, elapsed_ns) {
            let elapsed_s = elapsed_ns as f64 / 1e9;
            emit.put(&self.key, grown as f64 / TICKS_PER_S / elapsed_s);
        }
    }
}

/// Time that all descendants of the same program have used, and what those that have ended have left; `None` when
/// none lives.
fn used_ticks(ctx: &Context, parents: &BTreeSet<u32>) -> Option<u64> {
    let mut children: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    let mut left_ticks = 0;
    for pid in pids(ctx) {
        let path = ctx.proc_path(&format!("{pid}/stat"));
        let text = read_bounded(&path, MAX_TEXT).unwrap_or_default();
        let Ok(stat) = parse::stat(&text) else {
            continue;
        };
        names.insert(pid, parse::name(&text).to_owned());
        if parents.contains(&pid) {
            left_ticks += stat.ended_children_ticks;
            continue;
        }
        let ticks = stat.user_ticks + stat.system_ticks + stat.ended_children_ticks;
        let siblings = children.entry(stat.parent).or_default();
        siblings.push((pid, ticks));
    }
    let mut open: Vec<u32> = parents.iter().copied().collect();
    let mut alive_ticks: Option<u64> = None;
    while let Some(pid) = open.pop() {
        for (child, ticks) in children.remove(&pid).unwrap_or_default() {
            if names.get(&child) != names.get(&pid) {
                continue;
            }
            *alive_ticks.get_or_insert(0) += ticks;
            open.push(child);
        }
    }
    alive_ticks.map(|alive_ticks| alive_ticks + left_ticks)
}
