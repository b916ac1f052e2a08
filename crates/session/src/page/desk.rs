//! Takes orders of the page on, or refuses them at once.

use std::sync::Arc;

use sokudo_model::{Change, Refusal, Text};
use sokudo_scenario::pairs::{self, PairExchange};
use sokudo_scenario::script::syntax;
use sokudo_scenario::{Command, Failed, line};
use sokudo_web::desk::{Mistake, refusal};
use sokudo_web::feed::{Told, Words};
use sokudo_web::{Desk, Emit, Feed, Language, NotTaken, Order};
use sokudo_workload::values::ByteSize;

use super::worker::{DeskState, State, Worker};
use super::{ordered, steer};
use crate::{SCRIPT_BYTES_MAX, words};

/// The desk of a worker.
pub struct Orders {
    shared: Arc<DeskState>,
    feed: Feed,
}

impl Orders {
    /// Takes orders for this worker.
    pub fn new(worker: &Worker, feed: Feed) -> Self {
        Self {
            shared: worker.shared(),
            feed,
        }
    }
}

impl Orders {
    /// Refuses what would be refused as soon as it is carried out.
    fn readable(&self, order: &Order) -> Result<(), NotTaken> {
        match order {
            Order::Run { text, .. } | Order::Line { text } => {
                if text.len() as u64 > SCRIPT_BYTES_MAX {
                    return Err(NotTaken::from(refusal(
                        Text::new("error-page-script-long").with("mib", SCRIPT_BYTES_MAX >> 20),
                        Text::new("error-script-too-long-hint"),
                    )));
                }
                Ok(())
            }
            Order::Http(asked) => ordered::on_server(asked).map(drop),
            Order::Plan(asked) => {
                ordered::by_plan(asked, 0, &|text| self.feed.both(text)).map(drop)
            }
            Order::Collect {} | Order::Close {} => Ok(()),
        }
    }
}

impl Desk for Orders {
    fn order(&self, order: Order) -> Result<(), NotTaken> {
        self.readable(&order)?;
        let taken = self
            .shared
            .take_on(order, |state, order| match (state, order) {
                (State::Idle, Order::Close {}) => Err(refusal(
                    Text::new("error-page-no-record"),
                    Text::new("error-page-no-record-hint"),
                )),
                (State::Idle, _) | (State::Waits, Order::Line { .. } | Order::Close {}) => Ok(()),
                (State::Waits, _) => Err(refusal(
                    Text::new("error-page-record-open"),
                    Text::new("error-page-record-open-hint"),
                )),
                (State::Works, _) => Err(refusal(
                    Text::new("error-page-busy"),
                    Text::new("error-page-busy-hint"),
                )),
            });
        taken.map_err(NotTaken::from)
    }

    fn emit(&self, asked: &Emit) -> Result<String, Refusal> {
        let hosts = self.shared.hosts();
        if hosts.is_empty() {
            return Err(refusal(
                Text::new("error-page-hosts-unknown"),
                Text::new("error-page-hosts-unknown-hint"),
            ));
        }
        let size: ByteSize =
            asked
                .size
                .parse()
                .map_err(|error: sokudo_model::units::UnitError| {
                    refusal(error.to_string(), Text::new("error-page-size-hint"))
                })?;
        if asked.times == 0 {
            return Err(refusal(
                Text::new("error-page-times-0"),
                Text::new("error-page-times-0-hint"),
            ));
        }
        let exchange = PairExchange {
            pairs: asked.pairs,
            size: size.to_string(),
            times: asked.times,
            duplex: asked.duplex,
        };
        let write = match asked.language {
            Language::Lines => pairs::lines,
            Language::Javascript => pairs::javascript,
        };
        write(&hosts, &exchange).map_err(|failed: Failed| {
            let hint = failed.hint.unwrap_or_else(|| Text::words(""));
            refusal(failed.says, hint)
        })
    }

    fn check(&self, language: Language, text: &str) -> Vec<Mistake> {
        match language {
            Language::Lines => {
                let (lines, mistakes) = line::parse_each(text);
                let mut found = marks(&mistakes, &self.feed);
                let loads = lines.iter();
                found.extend(loads.filter_map(|line| unreadable(line, &self.feed)));
                found.sort_by_key(|mistake| (mistake.line, mistake.column));
                found
            }
            // Its calls are rehearsed when it is run: then its hosts are known.
            Language::Javascript => marks(&syntax(text), &self.feed),
        }
    }

    fn steer(&self, change: Change) -> Result<(), Refusal> {
        steer(self.shared.steering().as_ref(), change)
    }

    fn stop(&self) -> bool {
        let stopped = self.shared.stop();
        if stopped {
            self.feed.tell(Told::Stopping);
        }
        stopped
    }
}

/// Mistake in the workload of a line: its word, or its options.
fn unreadable(line: &line::Line, feed: &Feed) -> Option<Mistake> {
    let Command::Order { order, .. } = &line.command else {
        return None;
    };
    let order = match order {
        line::Order::Set(order) => order.as_ref(),
        order => order,
    };
    let line::Order::Load { word, arguments } = order else {
        return None;
    };
    let arguments: Vec<String> = arguments.iter().map(|word| word.text.clone()).collect();
    let failed = words::read(&word.text, &arguments).err()?;
    let hint = failed.hint.as_ref();
    Some(Mistake {
        line: line.number,
        column: word.column,
        says: feed.both(&failed.says),
        hint: hint.map_or_else(Words::default, |hint| feed.both(hint)),
    })
}

/// Mistakes as the page marks them.
pub fn marks(mistakes: &[sokudo_scenario::Mistake], feed: &Feed) -> Vec<Mistake> {
    mistakes.iter().map(|one| mark(one, feed)).collect()
}

/// A mistake as the page marks it.
pub fn mark(mistake: &sokudo_scenario::Mistake, feed: &Feed) -> Mistake {
    Mistake {
        line: mistake.line,
        column: mistake.column,
        says: feed.both(&mistake.says),
        hint: feed.both(&mistake.hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page shows its own language: every mistake goes out in both.
    #[test]
    fn mistakes_go_out_in_both_languages() {
        let feed = Feed::new("here", false).expect("a feed");
        let unread = line::parse("node x enter\nwaittime\n").expect_err("mistakes");
        let mut told = marks(&unread, &feed);
        told.extend(marks(&syntax("say(1 2);"), &feed));
        let lines = line::parse("node 1 dance 2\nnode 1 rr 2 --colour red\n").expect("lines");
        told.extend(lines.iter().filter_map(|line| unreadable(line, &feed)));
        assert_eq!(told.len(), 5, "{told:?}");
        let is_japanese = |text: &str| text.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}'));
        for (index, mistake) in told.iter().enumerate() {
            // What the engine says of a program it cannot read is in its own words.
            let is_own = index != 2;
            assert_eq!(is_japanese(&mistake.says.ja), is_own, "{mistake:?}");
            assert!(is_japanese(&mistake.hint.ja), "{mistake:?}");
            assert!(!is_japanese(&mistake.says.en) && !is_japanese(&mistake.hint.en));
            assert!(!mistake.says.ja.starts_with('['), "{mistake:?}");
        }
        assert_eq!(told[0].says.ja, "`x` はホストの番号ではありません");
        assert_eq!(told[0].says.en, "`x` names no hosts");
    }
}
