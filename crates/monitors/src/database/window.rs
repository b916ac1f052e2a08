//! Means over what was seen of the sessions since the last reading of the counters.

use std::collections::BTreeMap;

/// Most events, and most tables, that get a series of their own.
const MOST: usize = 48;
/// Longest name of one, characters.
const NAME: usize = 64;
/// Longest text of a statement, characters.
const STATEMENT: usize = 500;

/// Activity of the sessions at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seen {
    /// Class, event within it, and how many sessions. An empty event has no name of its own.
    pub(crate) groups: Vec<(&'static str, String, f64)>,
    /// Sessions of these that wait for their client.
    pub(crate) of_client: f64,
    /// Whether a checkpoint is under way; `None` where that cannot be seen.
    pub(crate) is_checkpointing: Option<bool>,
    /// Tables, how many sessions wait for rows of each, and behind how many transactions; `None` where that was not
    /// looked at.
    pub(crate) queues: Option<Vec<(String, [f64; 2])>>,
    /// Statements, and how many sessions execute each.
    pub(crate) statements: Vec<(String, f64)>,
}

/// The looks since the last reading.
pub(super) struct Window {
    looks: f64,
    by_class: BTreeMap<&'static str, f64>,
    /// Sessions by event: what was seen once stays, so that its series goes to 0.
    by_event: BTreeMap<String, f64>,
    /// Looks at who waits for which rows.
    queue_looks: f64,
    queues: BTreeMap<String, [f64; 2]>,
    statements: BTreeMap<String, f64>,
    of_client: f64,
    /// Looks at which the checkpointer could be seen, and of those the ones at which it worked.
    checkpointer: [f64; 2],
}

impl Window {
    pub(super) fn new(classes: &[&'static str]) -> Self {
        Self {
            looks: 0.0,
            by_class: classes.iter().map(|class| (*class, 0.0)).collect(),
            by_event: BTreeMap::new(),
            queue_looks: 0.0,
            queues: BTreeMap::new(),
            statements: BTreeMap::new(),
            of_client: 0.0,
            checkpointer: [0.0; 2],
        }
    }

    pub(super) fn take(&mut self, seen: Seen) {
        self.looks += 1.0;
        self.of_client += seen.of_client;
        for (class, event, sessions) in seen.groups {
            *self.by_class.entry(class).or_default() += sessions;
            if !event.is_empty()
                && let Some(sum) = slot(&mut self.by_event, &event, NAME)
            {
                *sum += sessions;
            }
        }
        self.queue_looks += f64::from(u8::from(seen.queues.is_some()));
        for (relation, [sessions, holders]) in seen.queues.into_iter().flatten() {
            if let Some(sums) = slot(&mut self.queues, &relation, NAME) {
                sums[0] += sessions;
                sums[1] += holders;
            }
        }
        for (statement, sessions) in seen.statements {
            if let Some(sum) = slot(&mut self.statements, &statement, STATEMENT) {
                *sum += sessions;
            }
        }
        if let Some(works) = seen.is_checkpointing {
            self.checkpointer[0] += 1.0;
            self.checkpointer[1] += f64::from(u8::from(works));
        }
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.looks.max(1.0)
    }

    pub(super) fn by_class(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let classes = self.by_class.iter();
        classes.map(|(class, sum)| (*class, self.mean(*sum)))
    }

    pub(super) fn by_event(&self) -> impl Iterator<Item = (&str, f64)> {
        let events = self.by_event.iter();
        events.map(|(event, sum)| (event.as_str(), self.mean(*sum)))
    }

    /// Nothing where no look told of them.
    pub(super) fn queues(&self) -> impl Iterator<Item = (&str, [f64; 2])> {
        let looks = self.queue_looks;
        let queues = self.queues.iter().filter(move |_| looks > 0.0);
        queues.map(move |(relation, sums)| (relation.as_str(), sums.map(|sum| sum / looks)))
    }

    pub(super) fn statements(&self) -> impl Iterator<Item = (&str, f64)> {
        let statements = self.statements.iter();
        statements.map(|(statement, sum)| (statement.as_str(), self.mean(*sum)))
    }

    /// `None` where no session was seen.
    pub(super) fn client_ratio(&self) -> Option<f64> {
        let all: f64 = self.by_class.values().sum();
        (all > 0.0).then(|| self.of_client / all)
    }

    pub(super) fn checkpointing(&self) -> Option<f64> {
        let [looks, working] = self.checkpointer;
        (looks > 0.0).then(|| working / looks)
    }

    /// Forgets the looks; the names stay.
    pub(super) fn begin_anew(&mut self) {
        self.looks = 0.0;
        self.queue_looks = 0.0;
        self.of_client = 0.0;
        self.checkpointer = [0.0; 2];
        self.by_class.values_mut().for_each(|sum| *sum = 0.0);
        self.by_event.values_mut().for_each(|sum| *sum = 0.0);
        self.queues.values_mut().for_each(|sums| *sums = [0.0; 2]);
        self.statements.values_mut().for_each(|sum| *sum = 0.0);
    }
}

/// The sum under a name; `None` where there are too many names.
fn slot<'a, T: Default>(
    sums: &'a mut BTreeMap<String, T>,
    name: &str,
    longest: usize,
) -> Option<&'a mut T> {
    let name = sokudo_model::cut(name, longest).into_owned();
    match sums.len() < MOST || sums.contains_key(&name) {
        true => Some(sums.entry(name).or_default()),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_the_looks_and_names_stay() {
        let mut window = Window::new(&["CPU", "IO"]);
        assert_eq!(window.client_ratio(), None);
        let look = |io: f64| Seen {
            groups: vec![("IO", "IO/WALSync".into(), io), ("CPU", String::new(), 1.0)],
            of_client: 1.0,
            is_checkpointing: Some(io > 2.0),
            queues: Some(vec![("t".into(), [io, 1.0])]),
            statements: vec![("commit".into(), io)],
        };
        window.take(look(1.0));
        window.take(look(3.0));
        let classes: Vec<_> = window.by_class().collect();
        assert_eq!(classes, [("CPU", 1.0), ("IO", 2.0)]);
        assert_eq!(window.client_ratio(), Some(2.0 / 6.0));
        assert_eq!(window.checkpointing(), Some(0.5));
        assert_eq!(window.queues().next(), Some(("t", [2.0, 1.0])));
        assert_eq!(window.statements().next(), Some(("commit", 2.0)));
        window.begin_anew();
        assert_eq!(window.by_event().next(), Some(("IO/WALSync", 0.0)));
        assert_eq!(window.checkpointing(), None);
    }

    #[test]
    fn queues_are_means_over_the_looks_that_tell_of_them() {
        let mut window = Window::new(&[]);
        let queue = |sessions| vec![("t".to_owned(), [sessions, 1.0])];
        for queues in [Some(queue(6.0)), None, Some(Vec::new()), None, None] {
            window.take(Seen {
                queues,
                ..Seen::default()
            });
        }
        assert_eq!(window.queues().next(), Some(("t", [3.0, 0.5])));
        window.begin_anew();
        assert_eq!(window.queues().next(), None);
        window.take(Seen {
            queues: Some(Vec::new()),
            ..Seen::default()
        });
        assert_eq!(window.queues().next(), Some(("t", [0.0, 0.0])));
    }

    #[test]
    fn names_are_bounded_in_number_and_length() {
        let mut window = Window::new(&[]);
        for at in 0..2 * MOST {
            let name = format!("{at}{}", "x".repeat(200));
            window.take(Seen {
                groups: vec![("CPU", name, 1.0)],
                ..Seen::default()
            });
        }
        assert_eq!(window.by_event().count(), MOST);
        assert!(
            window
                .by_event()
                .all(|(name, _)| name.chars().count() <= NAME)
        );
    }
}
