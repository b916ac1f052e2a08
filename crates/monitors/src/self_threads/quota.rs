//! Periods in which a quota of CPU time was used up, by the control groups of this process.

use sokudo_model::SeriesKey;

use super::parse::{Periods, periods};
use crate::Context;
use crate::emit::Emit;
use crate::environment::cpu_groups;
use crate::reread::Reread;

/// The groups that bind this process, each with its last reading.
pub(super) struct Quota {
    key: SeriesKey,
    groups: Vec<(Reread, Option<Periods>)>,
}

impl Quota {
    pub(super) fn open(ctx: &Context, key: SeriesKey) -> Self {
        let files = cpu_groups(ctx).into_iter();
        let files = files.filter_map(|dir| Reread::open(&dir.join("cpu.stat")).ok());
        Self {
            key,
            groups: files.map(|file| (file, None)).collect(),
        }
    }

    /// Emits the highest share of throttled periods since the last reading. A group without a quota has no
    /// periods.
    pub(super) fn step(&mut self, emit: &mut Emit<'_>) {
        let shares = self.groups.iter_mut().filter_map(|(file, last)| {
            let now = file.text().and_then(periods)?;
            let before = last.replace(now)?;
            let all = now.all.saturating_sub(before.all);
            let throttled = now.throttled.saturating_sub(before.throttled);
            (all > 0).then(|| throttled as f64 / all as f64)
        });
        if let Some(highest) = shares.max_by(f64::total_cmp) {
            emit.put(&self.key, highest.min(1.0));
        }
    }
}
