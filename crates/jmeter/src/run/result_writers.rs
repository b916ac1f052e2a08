//! Who writes results to files, and what do they hold of them?

use jiff::tz::TimeZone;

use super::row::EVERYONE;
use crate::jtl::{Holds, JtlFormat, listener_properties};
use crate::plan::{Id, ListenerKind, Plan};
use crate::properties::Properties;

/// The listeners of a plan that write files.
pub(super) struct Savers {
    /// What each of them holds; `None`: it writes nothing.
    listeners: Vec<Option<Holds>>,
    everyone: Holds,
}

impl Savers {
    pub fn of(plan: &Plan, properties: &Properties) -> Self {
        let holds =
            |properties: &Properties| JtlFormat::new(properties, TimeZone::UTC, "", false).holds();
        let each = plan.listeners.iter().map(|listener| match &listener.kind {
            ListenerKind::Results { file, format, .. } if !file.is_empty() => {
                Some(holds(&listener_properties(properties, format)))
            }
            ListenerKind::Backend(_) => Some(Holds::default()),
            _ => None,
        });
        Self {
            listeners: each.collect(),
            everyone: holds(properties),
        }
    }

    /// Those among these listeners, in order, with [`EVERYONE`] behind them, and what all of them hold.
    pub fn among(&self, listeners: &[Id]) -> (Vec<Id>, Holds) {
        let mut all = self.everyone;
        let mut savers = Vec::new();
        for id in listeners {
            if let Some(Some(holds)) = self.listeners.get(*id as usize) {
                all.assertions |= holds.assertions;
                all.texts |= holds.texts;
                savers.push(*id);
            }
        }
        savers.push(EVERYONE);
        (savers, all)
    }
}
