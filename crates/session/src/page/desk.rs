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
            let hint = failed.hint.unwrap_or_default();
            refusal(failed.says, hint)
        })
    }

    fn check(&self, language: Language, text: &str) -> Vec<Mistake> {
        match language {
            Language::Lines => match line::parse(text) {
                Ok(lines) => lines.iter().filter_map(unreadable).collect(),
                Err(mistakes) => mistakes.iter().map(mistake).collect(),
            },
            // Its calls are rehearsed when it is run: then its hosts are known.
            Language::Javascript => syntax(text).iter().map(mistake).collect(),
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
fn unreadable(line: &line::Line) -> Option<Mistake> {
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
    Some(Mistake {
        line: line.number,
        column: word.column,
        says: Words::same(failed.says),
        hint: Words::same(failed.hint.unwrap_or_default()),
    })
}

/// A mistake as the page marks it.
pub fn mistake(mistake: &sokudo_scenario::Mistake) -> Mistake {
    Mistake {
        line: mistake.line,
        column: mistake.column,
        says: Words::same(mistake.says.clone()),
        hint: Words::same(mistake.hint.clone()),
    }
}
