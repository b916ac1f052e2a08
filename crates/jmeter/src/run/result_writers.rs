//! Listeners that write results to files, and the details that they contain.

use jiff::tz::TimeZone;

use super::row::EVERYONE;
use crate::jtl::{JtlFormat, SavedDetails, listener_properties};
use crate::plan::{Id, ListenerKind, Plan};
use crate::properties::Properties;

/// The listeners of a plan that write files.
pub(super) struct Savers {
    /// The details that each of them contains; `None`: it writes nothing.
    listeners: Vec<Option<SavedDetails>>,
    everyone: SavedDetails,
}

impl Savers {
    pub fn of(plan: &Plan, properties: &Properties) -> Self {
        let holds =
            |properties: &Properties| JtlFormat::new(properties, TimeZone::UTC, "", false).holds();
        let each = plan.listeners.iter().map(|listener| match &listener.kind {
            ListenerKind::Results { file, format, .. } if !file.is_empty() => {
                Some(holds(&listener_properties(properties, format)))
            }
            ListenerKind::Responses(of) if !of.prefix.is_empty() => Some(SavedDetails {
                texts: true,
                bodies: true,
                ..SavedDetails::default()
            }),
            ListenerKind::Backend(_) | ListenerKind::Summary => Some(SavedDetails::default()),
            _ => None,
        });
        Self {
            listeners: each.collect(),
            everyone: holds(properties),
        }
    }

    /// Those of these listeners that write files, in order and followed by [`EVERYONE`], and the
    /// details that any of them contains.
    pub fn among(&self, listeners: &[Id]) -> (Vec<Id>, SavedDetails) {
        let mut all = self.everyone;
        let mut savers = Vec::new();
        for id in listeners {
            if let Some(Some(holds)) = self.listeners.get(*id as usize) {
                all.assertions |= holds.assertions;
                all.texts |= holds.texts;
                all.bodies |= holds.bodies;
                savers.push(*id);
            }
        }
        savers.push(EVERYONE);
        (savers, all)
    }
}
