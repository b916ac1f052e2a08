//! What moves on with each iteration?

use super::feed::Feed;
use super::scripted::Has;
use super::shared::locked;
use super::test::Test;
use super::user::Body;
use crate::plan::{ConfigKind, CsvData, Id, IterationStep, PreKind, Shared};
use sokudo_pace::Random;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a variable holds when there are no more rows and the user goes on.
const END_OF_FILE: &str = "<EOF>";
/// Streams of random variables lie apart from those of users.
const RANDOM_VARIABLE_STREAM: u64 = 1 << 40;

impl Body {
    /// Moves one of them on; false when the user ends with it.
    pub(super) fn move_on(&mut self, test: &Test, now_ns: i64, step: IterationStep) -> bool {
        match step {
            IterationStep::PreProcessor(id) => {
                self.pre_process(test, now_ns, id);
                true
            }
            IterationStep::Config(id) => match &test.plan.configs[id as usize].kind {
                ConfigKind::CsvData(data) => self.next_row(test, now_ns, id, data),
                ConfigKind::Counter { .. } => {
                    self.count(test, now_ns, id);
                    true
                }
                ConfigKind::RandomVariable { .. } => {
                    self.draw(test, now_ns, id);
                    true
                }
                _ => true,
            },
        }
    }

    fn next_row(&mut self, test: &Test, now_ns: i64, id: Id, data: &CsvData) -> bool {
        let mut view = self.person.view(test, now_ns);
        let path = view.text(&data.file);
        let encoding = view.text(&data.encoding);
        let delimiter = view.text(&data.delimiter);
        let rows = match test.rows(data, &path, &encoding, &delimiter) {
            Ok(rows) => rows,
            Err(why) => {
                test.sink
                    .trouble(&format!("`{path}` cannot be read: {why}"));
                return false;
            }
        };
        let fresh = || Arc::new(Feed::new(Arc::clone(&rows)));
        let shared = |key: String| {
            let mut feeds = locked(&test.shared.feeds);
            Arc::clone(feeds.entry(key).or_insert_with(fresh))
        };
        // Elements with the same file and sharing share their place in it, as in JMeter.
        let feed = match &data.shared {
            Shared::All => shared(path),
            Shared::Group => shared(format!("{path}\ngroup {}", self.person.group)),
            Shared::Named(word) => shared(format!("{path}\nnamed {word}")),
            Shared::User => Arc::clone(self.feeds.entry(id).or_insert_with(fresh)),
        };
        let names = match data.variables.is_empty() {
            true => &rows.names,
            false => &data.variables,
        };
        match feed.take(data.recycles) {
            Some(cells) => {
                for (name, cell) in names.iter().zip(cells) {
                    self.person.set(name, cell);
                }
            }
            None if data.stops_user => return false,
            None => names
                .iter()
                .for_each(|name| self.person.set(name, END_OF_FILE)),
        }
        true
    }

    fn count(&mut self, test: &Test, now_ns: i64, id: Id) {
        let ConfigKind::Counter {
            start,
            end,
            step,
            variable,
            format,
            per_user,
            resets,
        } = &test.plan.configs[id as usize].kind
        else {
            return;
        };
        let mut view = self.person.view(test, now_ns);
        let (start, step) = (view.integer(start), view.integer(step));
        let end = end.as_ref().map_or(i64::MAX, |end| view.integer(end));
        let next = |known: i64| match known {
            i64::MIN => start,
            known => match known.saturating_add(step) {
                next if next > end || next < start => start,
                next => next,
            },
        };
        let value = match view.flag(per_user) {
            true => {
                let begins = view.flag(resets)
                    && self.iteration_of_counter.get(&id) != Some(&self.person.iteration);
                let known = match begins {
                    true => i64::MIN,
                    false => self.counters.get(&id).copied().unwrap_or(i64::MIN),
                };
                self.iteration_of_counter.insert(id, self.person.iteration);
                *self.counters.entry(id).insert_entry(next(known)).get()
            }
            false => {
                let counter = &test.shared.counters[id as usize];
                let before = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |known| {
                    Some(next(known))
                });
                next(before.unwrap_or(i64::MIN))
            }
        };
        let mut view = self.person.view(test, now_ns);
        let (name, format) = (view.text(variable), view.text(format));
        self.person.set(&name, &formatted(value, &format));
    }

    fn draw(&mut self, test: &Test, now_ns: i64, id: Id) {
        let ConfigKind::RandomVariable {
            variable,
            least,
            most,
            format,
            per_user,
            seed,
        } = &test.plan.configs[id as usize].kind
        else {
            return;
        };
        let mut view = self.person.view(test, now_ns);
        let (least, most) = (view.integer(least), view.integer(most));
        let (name, format) = (view.text(variable), view.text(format));
        let seed = view
            .text(seed)
            .trim()
            .parse::<i64>()
            .ok()
            .map(|seed| seed as u64);
        let stream = RANDOM_VARIABLE_STREAM + u64::from(id);
        let fresh = || Random::new(seed.unwrap_or(test.settings.seed), stream);
        let value = match (view.flag(per_user), seed) {
            // A seed of its own: each user draws the same numbers.
            (true, Some(_)) => own(&mut self.randoms, id, fresh).between(least, most),
            (true, None) => self.person.random.between(least, most),
            (false, _) => {
                let mut random = locked(&test.shared.randoms[id as usize]);
                random.get_or_insert_with(fresh).between(least, most)
            }
        };
        self.person.set(&name, &formatted(value, &format));
    }

    /// Carries out a preprocessor.
    pub(super) fn pre_process(&mut self, test: &Test, now_ns: i64, id: Id) {
        let pre = &test.plan.pre_processors[id as usize];
        let (names, values) = match &pre.kind {
            PreKind::UserParameters { names, values, .. } => (names, values),
            PreKind::Script(script) => {
                self.run_script(test, now_ns, (Has::PreProcessor, script), &pre.name, None);
                return;
            }
            PreKind::Timeout { .. } => return,
        };
        let Some(own) = (self.person.number as usize)
            .checked_sub(1)
            .and_then(|index| {
                let count = values.len().max(1);
                values.get(index % count)
            })
        else {
            return;
        };
        for (name, value) in names.iter().zip(own) {
            let mut view = self.person.view(test, now_ns);
            let (name, value) = (view.text(name), view.text(value));
            self.person.set(&name, &value);
        }
    }
}

fn own(randoms: &mut HashMap<Id, Random>, id: Id, fresh: impl FnOnce() -> Random) -> &mut Random {
    randoms.entry(id).or_insert_with(fresh)
}

/// A number as Java's `DecimalFormat` writes it with a format of zeros and texts around them, such
/// as `user_000`.
fn formatted(value: i64, format: &str) -> String {
    let digits = |c: char| matches!(c, '0' | '#' | ',');
    let (Some(from), Some(to)) = (format.find(digits), format.rfind(digits)) else {
        return match format.is_empty() {
            true => value.to_string(),
            false => format!("{format}{value}"),
        };
    };
    let width = format[from..=to].matches('0').count();
    let sign = if value < 0 { "-" } else { "" };
    let plain = |text: &str| text.replace('\'', "");
    let (head, tail) = (plain(&format[..from]), plain(&format[to + 1..]));
    format!("{sign}{head}{:0width$}{tail}", value.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::formatted;

    #[test]
    fn numbers_are_written_as_java_does() {
        for (value, format, expected) in [
            (7, "", "7"),
            (7, "000", "007"),
            (-7, "00", "-07"),
            (1234, "00", "1234"),
            (7, "user_000", "user_007"),
            (7, "#", "7"),
        ] {
            assert_eq!(formatted(value, format), expected, "{format}");
        }
    }
}
