//! Elements that act once per iteration: data files, counters, random variables, preprocessors.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sokudo_pace::Random;

use super::context::View;
use super::decimal_format::decimal;
use super::feed::Feed;
use super::java_random::JavaRandom;
use super::links::follow;
use super::rewriting::{fill_arguments, rewrite};
use super::scripts::{ScriptOwner, run_script};
use super::shared::locked;
use crate::plan::{ConfigKind, CsvData, Id, IterationStep, PreKind, SharingMode};

/// Value of the variables when there are no more rows and the user continues.
const END_OF_FILE: &str = "<EOF>";
/// Offset of the random streams of random variables from those of users.
const RANDOM_VARIABLE_STREAM: u64 = 1 << 40;
/// Most numbers that a random variable is drawn from, those of a Java `int`.
const MOST_NUMBERS: i64 = i32::MAX as i64;

/// The state of one user's configuration elements.
#[derive(Debug, Default)]
pub(super) struct ConfigElements {
    /// Positions in data files that the user does not share.
    cursors: HashMap<Id, Arc<Feed>>,
    /// Values of counters per user.
    counters: HashMap<Id, i64>,
    /// Iteration in which each counter was last increased.
    counted_in: HashMap<Id, u64>,
    /// Generators of random variables with a seed of their own.
    randoms: HashMap<Id, JavaRandom>,
}

impl ConfigElements {
    /// Executes an element that acts once per iteration; false if the user ends with it.
    pub fn iterate(&mut self, view: &mut View<'_>, step: IterationStep) -> bool {
        match step {
            IterationStep::PreProcessor(id) => {
                pre_process(view, id);
                true
            }
            IterationStep::Config(id) => match &view.test().plan.configs[id as usize].kind {
                ConfigKind::CsvData(data) => self.next_row(view, id, data),
                ConfigKind::Counter { .. } => {
                    self.count(view, id);
                    true
                }
                ConfigKind::RandomVariable { .. } => {
                    self.draw(view, id);
                    true
                }
                _ => true,
            },
        }
    }

    /// Sets the variables of a CSV data set to its next row; false if the user ends with it.
    fn next_row(&mut self, view: &mut View<'_>, id: Id, data: &CsvData) -> bool {
        let test = view.test();
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
        // As in JMeter, elements with the same file and sharing mode share their position in it.
        let feed = match &data.shared {
            SharingMode::All => shared(path),
            SharingMode::Group => shared(format!("{path}\ngroup {}", view.thread.group())),
            SharingMode::Named(word) => shared(format!("{path}\nnamed {word}")),
            SharingMode::User => Arc::clone(self.cursors.entry(id).or_insert_with(fresh)),
        };
        let names = match data.variables.is_empty() {
            true => &rows.names,
            false => &data.variables,
        };
        match feed.take(data.recycles) {
            Some(cells) if !cells.is_empty() => {
                for (name, cell) in names.iter().zip(cells) {
                    view.thread.set(name, cell);
                }
            }
            _ if data.stops_user => return false,
            _ => names
                .iter()
                .for_each(|name| view.thread.set(name, END_OF_FILE)),
        }
        true
    }

    /// Increases a counter.
    fn count(&mut self, view: &mut View<'_>, id: Id) {
        let test = view.test();
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
        let (start, step) = (view.integer(start), view.integer(step));
        let end = end.as_ref().map_or(i64::MAX, |end| view.integer(end));
        // As in JMeter, one that counts downwards has no end, and one that overflows wraps.
        let next = |known: Option<i64>| match known.map(|known| known.wrapping_add(step)) {
            Some(next) if next <= end => next,
            _ => start,
        };
        let of_all = |known: i64| next(Some(known).filter(|known| *known != i64::MIN));
        let value = match view.flag(per_user) {
            true => {
                let iteration = view.thread.iteration();
                let begins = view.flag(resets) && self.counted_in.get(&id) != Some(&iteration);
                let known = self.counters.get(&id).copied().filter(|_| !begins);
                self.counted_in.insert(id, iteration);
                *self.counters.entry(id).insert_entry(next(known)).get()
            }
            false => {
                let counter = &test.shared.counters[id as usize];
                let before = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |known| {
                    Some(of_all(known))
                });
                of_all(before.unwrap_or(i64::MIN))
            }
        };
        let (name, format) = (view.text(variable), view.text(format));
        view.thread.set(&name, &decimal(value, &format));
    }

    /// Draws a random variable.
    fn draw(&mut self, view: &mut View<'_>, id: Id) {
        let test = view.test();
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
        let (least, most) = (view.integer(least), view.integer(most));
        if least > most {
            // JMeter leaves the variable as it is.
            return test.sink.trouble("maximum must be >= minimum");
        }
        // JMeter draws from no more numbers, whatever the maximum is.
        let count = most.checked_sub(least).and_then(|most| most.checked_add(1));
        let count = count.map_or(MOST_NUMBERS, |count| count.min(MOST_NUMBERS));
        let (name, format) = (view.text(variable), view.text(format));
        let seed: Option<i64> = view.text(seed).parse().ok();
        let drawn = match (view.flag(per_user), seed) {
            // With a seed, each user draws the same numbers.
            (true, Some(seed)) => {
                let own = self.randoms.entry(id);
                own.or_insert_with(|| JavaRandom::new(seed)).below(count)
            }
            (true, None) => view.thread.random().between(0, count - 1),
            (false, seed) => {
                let mut random = locked(&test.shared.randoms[id as usize]);
                let random = random.get_or_insert_with(|| match seed {
                    Some(seed) => VariableRandom::OfPlan(JavaRandom::new(seed)),
                    None => {
                        let stream = RANDOM_VARIABLE_STREAM + u64::from(id);
                        VariableRandom::OfRun(Random::new(test.settings.seed, stream))
                    }
                });
                random.below(count)
            }
        };
        view.thread
            .set(&name, &decimal(least.saturating_add(drawn), &format));
    }
}

/// The generator of a random variable that all users share.
#[derive(Debug)]
pub(super) enum VariableRandom {
    /// It follows from the seed of the run.
    OfRun(Random),
    /// The plan states its seed.
    OfPlan(JavaRandom),
}

impl VariableRandom {
    /// A number from 0 to below `count`, which is positive.
    fn below(&mut self, count: i64) -> i64 {
        match self {
            Self::OfRun(random) => random.between(0, count - 1),
            Self::OfPlan(random) => random.below(count),
        }
    }
}

/// Executes a preprocessor. Gives the pause of a script, nanoseconds.
pub(super) fn pre_process(view: &mut View<'_>, id: Id) -> i64 {
    let pre = &view.test().plan.pre_processors[id as usize];
    let (names, values) = match &pre.kind {
        PreKind::UserParameters { names, values, .. } => (names, values),
        PreKind::Script(script) => {
            let owner = (ScriptOwner::PreProcessor, &pre.name);
            return run_script(view, owner, script, None).slept_ns;
        }
        PreKind::UrlRewriting(rewriting) => {
            rewrite(view, id, rewriting);
            return 0;
        }
        PreKind::FollowLink => {
            follow(view);
            return 0;
        }
        PreKind::RegexParameters {
            reference,
            names,
            values,
        } => {
            fill_arguments(view, (reference, names, values));
            return 0;
        }
        // The call of a statement is made where the sampler is executed.
        PreKind::Timeout { .. } | PreKind::Database(_) => return 0,
    };
    let Some(own) = (view.thread.number() as usize)
        .checked_sub(1)
        .and_then(|index| {
            let count = values.len().max(1);
            values.get(index % count)
        })
    else {
        return 0;
    };
    for (name, value) in names.iter().zip(own) {
        let (name, value) = (view.text(name), view.text(value));
        view.thread.set(&name, &value);
    }
    0
}
