//! Searches the highest rate at which the system keeps its bounds.
//!
//! A strategy without I/O: it names the next rate to try, is told what came out, and ends with a
//! rate that held twice, or with none.
//!
//! ```text
//! unlimited ──holds──► confirm it ──holds──► done: the generator's own ceiling
//!     │ breaks a bound        │ breaks a bound
//!     ▼                       ▼
//! near what was delivered ► step down in doubling steps, up likewise, then halve the bracket
//!                           (all on a log scale) ► confirm ──breaks──► one step down, confirm
//!
//! closed loop ──► a little above what it delivered ► as above
//! ```
//!
//! A rate counts only when a trial of its own confirms it: one lucky probe proves nothing.

/// Parameters of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSearchConfig {
    /// Lowest rate worth trying, events per second; above 0.
    pub low: f64,
    /// The first trial.
    pub first: First,
    /// Two rates closer than this share (0.05 = 5 %) count as equal.
    pub resolution: f64,
    /// Probes at most.
    pub max_probes: u32,
    /// Confirmations at most. On a disturbed system several fail before one holds; each failure
    /// goes further down than the one before.
    pub max_confirms: u32,
}

/// The start of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum First {
    /// As fast as possible: the load is offered without waiting for it to be carried.
    Unlimited,
    /// A closed loop, which cannot overload anything: it says how much can be carried at all, and
    /// nothing about a rate.
    ClosedLoop,
    /// The highest rate to offer, events per second.
    Ceiling(f64),
}

/// Share of what a closed loop delivered at which the search for a rate begins.
const ABOVE_CLOSED_LOOP: f64 = 1.25;
/// Share of what a closed loop delivered below which no rate is tried.
const FAR_BELOW: f64 = 0.01;

/// Purpose of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To learn what a closed loop carries; proves nothing about a rate.
    Scout,
    /// To find out where the limit lies; is expected to break a bound.
    Probe,
    /// Checks whether a rate that held once holds again.
    Confirm,
}

/// The reason why the best rate is not higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// More was tried and broke a bound.
    Bound,
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
    /// The reason why it is not higher.
    pub limit: Limit,
    /// Lowest rate above it that broke a bound: the limit lies between the two. `None` when none
    /// above it did.
    pub above: Option<f64>,
}

/// The next action of the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchStep {
    /// Offer this rate and report what came out.
    Try {
        /// Events per second; `None` is as fast as possible.
        rate: Option<f64>,
        /// Its purpose.
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

/// The result of one trial.
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
    /// The requested rate, so that the confirmation requests the same.
    asked: Option<f64>,
    /// The offered rate.
    rate: f64,
    limit: Limit,
}

/// The search: ask [`next`](Self::next), run the trial, [`report`](Self::report), repeat.
#[derive(Debug, Clone)]
pub struct RateSearch {
    config: RateSearchConfig,
    step: SearchStep,
    /// Highest rate to offer.
    ceiling: Option<f64>,
    scouts: u32,
    probes: u32,
    confirms: u32,
    /// Confirmations that broke a bound.
    refuted: u32,
    /// Lowest rate that broke a bound, or that cannot be offered.
    bad: Option<f64>,
    /// Rates that held in a probe and did not fail since, in the order they were tried.
    held: Vec<Candidate>,
    confirmed: Option<Best>,
    /// Steps down so far without a rate that holds.
    descents: u32,
    /// Steps up so far; `None` once a rate above one that held has broken a bound.
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
        let ceiling = match config.first {
            First::Ceiling(ceiling) if positive(ceiling) => Some(ceiling.max(low)),
            _ => None,
        };
        let config = RateSearchConfig {
            low,
            resolution: if config.resolution.is_nan() {
                0.05
            } else {
                config.resolution.clamp(0.001, 1.0)
            },
            max_confirms: config.max_confirms.max(1),
            ..config
        };
        let mut search = Self {
            config,
            step: SearchStep::Done {
                best: None,
                trials: 0,
            },
            ceiling,
            scouts: 0,
            probes: 0,
            confirms: 0,
            refuted: 0,
            bad: None,
            held: Vec::new(),
            confirmed: None,
            descents: 0,
            climbs: Some(0),
        };
        search.step = match config.first {
            First::ClosedLoop => SearchStep::Try {
                rate: None,
                purpose: Purpose::Scout,
            },
            _ => search.attempt(ceiling, Purpose::Probe),
        };
        search
    }

    /// The next action; the same one until an outcome is reported.
    pub fn next(&self) -> SearchStep {
        self.step
    }

    /// Takes in what came out of the trial that [`next`](Self::next) named. Ignored once done.
    ///
    /// `used` is the largest of measured over allowed among the bounds: above 1 the rate does not
    /// hold, and what is not a number holds nothing either.
    pub fn report(&mut self, outcome: Outcome, used: f64) {
        let SearchStep::Try {
            rate: asked,
            purpose,
        } = self.step
        else {
            return;
        };
        match purpose {
            Purpose::Scout => {
                self.scouts += 1;
                self.step = self.below_closed_loop(&outcome);
                return;
            }
            Purpose::Probe => self.probes += 1,
            Purpose::Confirm => self.confirms += 1,
        }
        let Some(rate) = offered_rate(asked, &outcome) else {
            self.step = self.done();
            return;
        };
        let holds = used <= 1.0;
        if holds {
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
            self.note_broken(rate, purpose);
        }
        self.step = self.decide(&outcome, holds, purpose);
    }

    /// The search begins a little above what the closed loop delivered.
    fn below_closed_loop(&mut self, outcome: &Outcome) -> SearchStep {
        let delivered = outcome.delivered;
        if !(delivered.is_finite() && delivered > 0.0) {
            return self.done();
        }
        self.config.low = self.config.low.min(delivered * FAR_BELOW);
        self.attempt(Some(delivered * ABOVE_CLOSED_LOOP), Purpose::Probe)
    }

    /// The reason why no rate above the one that held can be claimed, when none above it was tried.
    fn limit_of(&self, asked: Option<f64>, outcome: &Outcome) -> Limit {
        match asked {
            None => Limit::Generator,
            Some(_) if outcome.generator_limited => Limit::Generator,
            Some(rate) if Some(rate) == self.ceiling => Limit::Ceiling,
            Some(_) => Limit::Bound,
        }
    }

    fn note_held(&mut self, candidate: Candidate, outcome: &Outcome, purpose: Purpose) {
        if candidate.limit != Limit::Bound {
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
                above: None,
            });
        }
    }

    fn note_broken(&mut self, rate: f64, purpose: Purpose) {
        self.bad = Some(self.bad.map_or(rate, |bad| bad.min(rate)));
        if !self.held.is_empty() {
            self.climbs = None;
        }
        self.held.retain(|c| c.rate < rate);
        if purpose == Purpose::Confirm {
            self.refuted += 1;
        }
        if purpose == Purpose::Confirm || self.held.is_empty() {
            self.descents += 1;
        }
    }

    fn decide(&self, outcome: &Outcome, holds: bool, purpose: Purpose) -> SearchStep {
        let bad = self.bad.unwrap_or(f64::INFINITY);
        match self.confirmed {
            // Nothing above can be offered: a further trial would only repeat this one.
            Some(best) if best.limit != Limit::Bound => return self.done(),
            None if !holds && purpose == Purpose::Confirm => {
                return self.retreat(bad);
            }
            _ => {}
        }
        match self.highest_held() {
            None => self.step_down(bad, outcome.delivered, Purpose::Probe),
            Some(held) if bad <= held.rate * self.closed_at() => self.settle(held),
            Some(held) if self.probes_left() == 0 => self.settle(held),
            Some(held) => self.attempt(Some(self.between(held.rate, bad)), Purpose::Probe),
        }
    }

    /// The bracket is closed or the trials are used up: confirm, unless that has happened.
    fn settle(&self, held: Candidate) -> SearchStep {
        match self.confirmed {
            Some(best) if best.rate >= held.rate / self.closed_at() => self.done(),
            _ => self.attempt(held.asked, Purpose::Confirm),
        }
    }

    /// The next rate below `bad`: near what was delivered, but at least one step down, where each
    /// step is twice as long as the one before; never past a rate that has held.
    fn step_down(&self, bad: f64, delivered: f64, purpose: Purpose) -> SearchStep {
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

    /// The next rate to confirm after a confirmation has failed: once the next rate that held in a
    /// probe, then ever larger steps down, because a system that refutes twice is not the one that
    /// was probed.
    fn retreat(&self, bad: f64) -> SearchStep {
        const KEEP: [f64; 5] = [0.85, 0.7, 0.5, 0.3, 0.1];
        if self.refuted <= 1 {
            return self.step_down(bad, bad, Purpose::Confirm);
        }
        if bad <= self.config.low {
            return self.done();
        }
        let keep = KEEP[(self.refuted as usize - 2).min(KEEP.len() - 1)];
        self.attempt(Some((bad * keep).max(self.config.low)), Purpose::Confirm)
    }

    /// A rate inside the open bracket: the middle on a log scale, or closer to `good` while no
    /// rate above one that held has been seen to break a bound.
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

    /// Ratio of two rates that count as equal. A little wider than asked for, so that a step
    /// of exactly one resolution closes the bracket.
    fn closed_at(&self) -> f64 {
        self.config.resolution.exp() * 1.03
    }

    fn probes_left(&self) -> u32 {
        self.config.max_probes.saturating_sub(self.probes)
    }

    /// Without probes left a rate can only be confirmed; without confirmations left it is over.
    fn attempt(&self, rate: Option<f64>, purpose: Purpose) -> SearchStep {
        let purpose = match self.probes_left() {
            0 => Purpose::Confirm,
            _ => purpose,
        };
        if purpose == Purpose::Confirm && self.confirms >= self.config.max_confirms {
            return self.done();
        }
        SearchStep::Try { rate, purpose }
    }

    fn done(&self) -> SearchStep {
        SearchStep::Done {
            best: self.confirmed.map(|best| Best {
                above: self.bad.filter(|bad| *bad > best.rate),
                ..best
            }),
            trials: self.scouts + self.probes + self.confirms,
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

#[cfg(test)]
mod tests;
