//! Reads one answer of a server after the other.

use super::mapping::{Mapping, Value, Way};
use crate::openmetrics::Exposition;

/// Answers after which a sample that was never told is called missing: some servers tell of a pool only
/// after its first use.
const PATIENCE: u32 = 3;

/// Reads one answer after the other.
pub(super) struct MappingReader {
    mapping: Mapping,
    first: Option<Exposition>,
    last: Option<(i64, Exposition)>,
    answers: u32,
}

impl MappingReader {
    pub(super) fn new(mapping: Mapping) -> Self {
        Self {
            mapping,
            first: None,
            last: None,
            answers: 0,
        }
    }

    /// Values of the mapping's entries in their order; what cannot be said, or not yet, is missing.
    pub(super) fn take(&mut self, t_ns: i64, read: &Exposition) -> Vec<Option<f64>> {
        self.answers = self.answers.saturating_add(1);
        let first = self.first.get_or_insert_with(|| read.clone());
        // What has become less began anew: the server was started again.
        let began_anew =
            |value: &Value| value.is == Way::Grown && value.total(read) < value.total(first);
        if self.mapping.value.iter().any(began_anew) {
            *first = read.clone();
            self.last = None;
        }
        let values = self.mapping.value.iter();
        let values = values.map(|value| self.value(value, t_ns, read)).collect();
        self.last = Some((t_ns, read.clone()));
        values
    }

    fn value(&self, value: &Value, t_ns: i64, read: &Exposition) -> Option<f64> {
        let now = value.total(read)?;
        let growth = |of: &dyn Fn(&Exposition) -> Option<f64>| {
            let (_, before) = self.last.as_ref()?;
            // Less than before: a server that was started again.
            Some(of(read)? - of(before)?).filter(|growth| *growth >= 0.0)
        };
        match value.is {
            Way::Now => Some(now),
            // A counter that appeared after the first answer has grown from 0.
            Way::Grown => Some(
                now - self
                    .first
                    .as_ref()
                    .and_then(|first| value.total(first))
                    .unwrap_or(0.0),
            ),
            Way::Rate => {
                let seconds = (t_ns - self.last.as_ref()?.0) as f64 / 1e9;
                let growth = growth(&|read| value.total(read))?;
                (seconds > 0.0).then(|| growth / seconds)
            }
            Way::Mean => {
                let sum = growth(&|read| value.total(read))?;
                let count = growth(&|read| value.count(read))?;
                (count > 0.0).then(|| sum / count)
            }
        }
    }

    /// Samples that the mapping names and that the endpoint still does not tell, once: all of `strict`
    /// mappings, of others only when nothing at all is told.
    pub(super) fn missing(&self, read: &Exposition, strict: bool) -> Vec<&str> {
        if self.answers != PATIENCE {
            return Vec::new();
        }
        let missing = self.mapping.value.iter();
        let missing: Vec<&str> = missing.filter_map(|value| value.missing(read)).collect();
        match strict || missing.len() == self.mapping.value.len() {
            true => missing,
            false => Vec::new(),
        }
    }
}
