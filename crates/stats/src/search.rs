//! Which is the highest rate that the system carries without losing more than allowed?
//!
//! A strategy without I/O: it names the next rate to try, is told what came out, and ends with a
//! rate that held twice, or with none.
//!
//! ```text
//! unlimited ──holds──► confirm it ──holds──► done: the generator's own ceiling
//!     │ loses                 │ loses
//!     ▼                       ▼
//! near what was delivered ► step down in doubling steps, up likewise, then halve the bracket
//!                           (all on a log scale) ► confirm ──loses──► one step down, confirm
//! ```
//!
//! A rate counts only when a trial of its own confirms it: one lucky probe proves nothing.

/// What is searched for, and how hard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSearchConfig {
    /// Largest loss that still counts as holding, 0 to 1.
    pub max_loss: f64,
    /// Lowest rate worth trying, events per second; above 0.
    pub low: f64,
    /// Highest rate to offer, events per second; `None` starts without a limit.
    pub ceiling: Option<f64>,
    /// Two rates closer than this share (0.05 = 5 %) are not told apart.
    pub resolution: f64,
    /// Trials at most, confirmations included.
    pub max_trials: u32,
}

/// Why a trial is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To find out where the limit lies; is expected to lose.
    Probe,
    /// To see whether a rate that looks good really holds.
    Confirm,
}

/// What stops the best rate from being higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// More was tried and lost too much.
    Loss,
    /// The generator could not offer more: the system may carry more than this.
    Generator,
    /// The configured ceiling held: the system may carry more than this.
    Ceiling,
}

/// The rate that held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// Rate offered by the trial that confirmed it, events per second.
    pub rate: f64,
    /// Loss of that trial, 0 to 1.
    pub loss: f64,
    /// Rate delivered by that trial, events per second.
    pub delivered: f64,
    /// What stops it from being higher.
    pub limit: Limit,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Offer this rate and report what came out.
    Try {
        /// Events per second; `None` is as fast as possible.
        rate: Option<f64>,
        /// Why.
        purpose: Purpose,
    },
    /// The search is over.
    Done {
        /// The rate that held; `None` when none did within the trials.
        best: Option<Best>,
        /// Trials reported.
        trials: u32,
    },
}

/// What came out of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Rate that was really offered, events per second.
    pub offered: f64,
    /// Rate that arrived, events per second.
    pub delivered: f64,
    /// Lost over offered, 0 to 1.
    pub loss: f64,
    /// True when the generator offered less than it was asked for.
    pub generator_limited: bool,
}

/// A rate that held in a probe.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    /// What was asked for, so that the confirmation asks for the same.
    asked: Option<f64>,
    /// What was offered.
    rate: f64,
    limit: Limit,
}

/// The search: ask [`next`](Self::next), run the trial, [`report`](Self::report), repeat.
#[derive(Debug, Clone)]
pub struct RateSearch {
    config: RateSearchConfig,
    step: Step,
    trials: u32,
    /// Lowest rate that lost too much, or that cannot be offered.
    bad: Option<f64>,
    /// Rates that held in a probe and did not fail since, in the order they were tried.
    held: Vec<Candidate>,
    confirmed: Option<Best>,
    /// Steps down so far without a rate that holds.
    descents: u32,
    /// Steps up so far; `None` once a rate above one that held has lost.
    climbs: Option<u32>,
}

impl RateSearch {
    /// Prepares a search. Figures that make no sense are brought into range: `low` above 0,
    /// `resolution` between 0.1 % and 100 %, at least one trial.
    pub fn new(config: RateSearchConfig) -> Self {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let low = if positive(config.low) {
            config.low
        } else {
            1.0
        };
        let config = RateSearchConfig {
            max_loss: if config.max_loss.is_nan() {
                0.0
            } else {
                config.max_loss
            },
            low,
            ceiling: config.ceiling.filter(|c| positive(*c)).map(|c| c.max(low)),
            resolution: if config.resolution.is_nan() {
                0.05
            } else {
                config.resolution.clamp(0.001, 1.0)
            },
            max_trials: config.max_trials.max(1),
        };
        let mut search = Self {
            config,
            step: Step::Done {
                best: None,
                trials: 0,
            },
            trials: 0,
            bad: None,
            held: Vec::new(),
            confirmed: None,
            descents: 0,
            climbs: Some(0),
        };
        search.step = search.attempt(config.ceiling, Purpose::Probe);
        search
    }

    /// What to do next; the same answer until an outcome is reported.
    pub fn next(&self) -> Step {
        self.step
    }

    /// Takes in what came out of the trial that [`next`](Self::next) named. Ignored once done.
    pub fn report(&mut self, outcome: Outcome) {
        let Step::Try {
            rate: asked,
            purpose,
        } = self.step
        else {
            return;
        };
        self.trials += 1;
        let Some(rate) = offered_rate(asked, &outcome) else {
            self.step = self.done();
            return;
        };
        if outcome.loss <= self.config.max_loss {
            self.note_held(
                Candidate {
                    asked,
                    rate,
                    limit: self.limit_of(asked, &outcome),
                },
                &outcome,
                purpose,
            );
        } else {
            self.note_lost(rate, purpose);
        }
        self.step = match self.trials < self.config.max_trials {
            true => self.decide(&outcome, purpose),
            false => self.done(),
        };
    }

    /// Why nothing above a rate that held can be said, when nothing above it was tried.
    fn limit_of(&self, asked: Option<f64>, outcome: &Outcome) -> Limit {
        match asked {
            None => Limit::Generator,
            Some(_) if outcome.generator_limited => Limit::Generator,
            Some(rate) if Some(rate) == self.config.ceiling => Limit::Ceiling,
            Some(_) => Limit::Loss,
        }
    }

    fn note_held(&mut self, candidate: Candidate, outcome: &Outcome, purpose: Purpose) {
        if candidate.limit != Limit::Loss {
            // Nothing above can be offered, so the bracket ends here.
            self.bad = Some(candidate.rate);
        }
        self.climbs = self.climbs.map(|k| k + 1);
        self.held.push(candidate);
        let better = self.confirmed.is_none_or(|best| best.rate < candidate.rate);
        if purpose == Purpose::Confirm && better {
            self.confirmed = Some(Best {
                rate: candidate.rate,
                loss: outcome.loss,
                delivered: outcome.delivered,
                limit: candidate.limit,
            });
        }
    }

    fn note_lost(&mut self, rate: f64, purpose: Purpose) {
        self.bad = Some(self.bad.map_or(rate, |bad| bad.min(rate)));
        if !self.held.is_empty() {
            self.climbs = None;
        }
        self.held.retain(|c| c.rate < rate);
        if purpose == Purpose::Confirm || self.held.is_empty() {
            self.descents += 1;
        }
    }

    fn decide(&self, outcome: &Outcome, purpose: Purpose) -> Step {
        let bad = self.bad.unwrap_or(f64::INFINITY);
        let lost = outcome.loss > self.config.max_loss || outcome.loss.is_nan();
        if let (true, Purpose::Confirm) = (lost, purpose) {
            return self.step_down(bad, bad, Purpose::Confirm);
        }
        match self.highest_held() {
            None => self.step_down(bad, outcome.delivered, Purpose::Probe),
            Some(held) if bad <= held.rate * self.closed_at() => self.settle(held),
            Some(held) if self.left() < 2 => self.settle(held),
            Some(held) => self.attempt(Some(self.between(held.rate, bad)), Purpose::Probe),
        }
    }

    /// The bracket is closed or the trials are used up: confirm, unless that has happened.
    fn settle(&self, held: Candidate) -> Step {
        match self.confirmed {
            Some(best) if best.rate >= held.rate / self.closed_at() => self.done(),
            _ => self.attempt(held.asked, Purpose::Confirm),
        }
    }

    /// The next rate below `bad`: near what was delivered, but at least one step down, where each
    /// step is twice as long as the one before; never past a rate that has held.
    fn step_down(&self, bad: f64, delivered: f64, purpose: Purpose) -> Step {
        let held = self.highest_held();
        if bad <= self.config.low {
            return self.done();
        }
        let doubled = 2f64.powi(self.descents.saturating_sub(1).min(30) as i32);
        let step = (-self.config.resolution * doubled).exp();
        let guess = delivered * (1.0 - self.config.resolution / 2.0);
        let rate = match guess > self.config.low {
            true => guess.min(bad * step),
            false => bad * step,
        };
        match held {
            Some(held) if held.rate >= rate => self.attempt(held.asked, purpose),
            _ => self.attempt(Some(rate.max(self.config.low)), purpose),
        }
    }

    /// A rate inside the open bracket: the middle on a log scale, or closer to `good` while no
    /// rate above one that held has been seen to lose.
    fn between(&self, good: f64, bad: f64) -> f64 {
        let middle = (good.ln() + (bad.ln() - good.ln()) / 2.0).exp();
        match self.climbs {
            Some(k) => {
                let doubled = 2f64.powi(k.saturating_sub(1).min(30) as i32);
                middle.min(good * (self.config.resolution * doubled).exp())
            }
            None => middle,
        }
    }

    fn highest_held(&self) -> Option<Candidate> {
        self.held
            .iter()
            .copied()
            .max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// Ratio of two rates that are not told apart. A little wider than asked for, so that a step
    /// of exactly one resolution closes the bracket.
    fn closed_at(&self) -> f64 {
        self.config.resolution.exp() * 1.03
    }

    fn left(&self) -> u32 {
        self.config.max_trials - self.trials
    }

    /// The last trial is always a confirmation: a probe could not be used any more.
    fn attempt(&self, rate: Option<f64>, purpose: Purpose) -> Step {
        let purpose = if self.left() == 1 {
            Purpose::Confirm
        } else {
            purpose
        };
        Step::Try { rate, purpose }
    }

    fn done(&self) -> Step {
        Step::Done {
            best: self.confirmed,
            trials: self.trials,
        }
    }
}

/// The rate that a trial stands for: what was offered, at most what was asked for. `None` when an
/// unlimited trial offered nothing, so that nothing is known.
fn offered_rate(asked: Option<f64>, outcome: &Outcome) -> Option<f64> {
    let offered = Some(outcome.offered).filter(|v| v.is_finite() && *v > 0.0);
    match (asked, offered) {
        (Some(asked), Some(offered)) if outcome.generator_limited => Some(offered.min(asked)),
        (Some(asked), _) => Some(asked),
        (None, offered) => offered,
    }
}
