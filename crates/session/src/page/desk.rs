//! Takes orders of the page on, or refuses them at once.

use std::sync::Arc;

use sokudo_model::{Change, Refusal, Text};
use sokudo_scenario::Failed;
use sokudo_scenario::pairs::{self, PairExchange};
use sokudo_scenario::script::syntax;
use sokudo_web::desk::{Mistake, refusal};
use sokudo_web::feed::Told;
use sokudo_web::{Desk, Emit, Feed, Language, NotTaken, Order};
use sokudo_workload::values::ByteSize;

use super::worker::{DeskState, State, Worker};
use super::{ordered, steer};
use crate::{SCRIPT_BYTES_MAX, mistakes_without_hosts};

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
            Language::Lines => marks(&mistakes_without_hosts(text), &self.feed),
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
        let lines = "node x enter\nnode 1 dance 2\nwaittime\nnode 1 rr 2 --colour red\n";
        let mut told = marks(&mistakes_without_hosts(lines), &feed);
        let numbers: Vec<u32> = told.iter().map(|mistake| mistake.line).collect();
        assert_eq!(numbers, [1, 2, 3, 4], "{told:?}");
        told.extend(marks(&syntax("say(1 2);"), &feed));
        let is_japanese = |text: &str| text.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}'));
        for (index, mistake) in told.iter().enumerate() {
            // What the engine says of a program it cannot read is in its own words.
            let is_own = index != 4;
            assert_eq!(is_japanese(&mistake.says.ja), is_own, "{mistake:?}");
            assert!(is_japanese(&mistake.hint.ja), "{mistake:?}");
            assert!(!is_japanese(&mistake.says.en) && !is_japanese(&mistake.hint.en));
            assert!(!mistake.says.ja.starts_with('['), "{mistake:?}");
        }
        assert_eq!(told[0].says.ja, "`x` はホストの番号ではありません");
        assert_eq!(told[0].says.en, "`x` names no hosts");
    }
}
