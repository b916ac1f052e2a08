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
    /// Probes at most.
    pub max_probes: u32,
    /// Confirmations at most. On a disturbed system several fail before one holds; each failure
    /// goes further down than the one before.
    pub max_confirms: u32,
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
    probes: u32,
    confirms: u32,
    /// Confirmations that lost too much.
    refuted: u32,
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
            max_probes: config.max_probes,
            max_confirms: config.max_confirms.max(1),
        };
        let mut search = Self {
            config,
            step: Step::Done {
                best: None,
                trials: 0,
            },
            probes: 0,
            confirms: 0,
            refuted: 0,
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
        match purpose {
            Purpose::Probe => self.probes += 1,
            Purpose::Confirm => self.confirms += 1,
        }
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
        self.step = self.decide(&outcome, purpose);
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
        if purpose == Purpose::Confirm {
            self.refuted += 1;
        }
        if purpose == Purpose::Confirm || self.held.is_empty() {
            self.descents += 1;
        }
    }

    fn decide(&self, outcome: &Outcome, purpose: Purpose) -> Step {
        let bad = self.bad.unwrap_or(f64::INFINITY);
        let lost = outcome.loss > self.config.max_loss || outcome.loss.is_nan();
        match self.confirmed {
            // Nothing above can be offered: a further trial would only repeat this one.
            Some(best) if best.limit != Limit::Loss => return self.done(),
            None if lost && purpose == Purpose::Confirm => {
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

    /// The next rate to confirm after a confirmation has failed: once the next rate that held in a
    /// probe, then ever larger steps down, because a system that refutes twice is not the one that
    /// was probed.
    fn retreat(&self, bad: f64) -> Step {
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

    fn probes_left(&self) -> u32 {
        self.config.max_probes.saturating_sub(self.probes)
    }

    /// Without probes left a rate can only be confirmed; without confirmations left it is over.
    fn attempt(&self, rate: Option<f64>, purpose: Purpose) -> Step {
        let purpose = match self.probes_left() {
            0 => Purpose::Confirm,
            _ => purpose,
        };
        if purpose == Purpose::Confirm && self.confirms >= self.config.max_confirms {
            return self.done();
        }
        Step::Try { rate, purpose }
    }

    fn done(&self) -> Step {
        Step::Done {
            best: self.confirmed,
            trials: self.probes + self.confirms,
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A made-up system: what it delivers of what is offered.
    struct System {
        capacity: f64,
        /// Capacity of each trial differs by up to this share, either way.
        noise: f64,
        /// Share lost at any rate.
        floor: f64,
        /// Most that the generator can offer.
        generator: f64,
        random: u64,
    }

    impl System {
        fn hard(capacity: f64) -> Self {
            System {
                capacity,
                noise: 0.0,
                floor: 0.0,
                generator: capacity * 3.0,
                random: 1,
            }
        }

        /// -1 to 1, the same sequence for the same seed (xorshift).
        fn next_random(&mut self) -> f64 {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            (self.random >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }

        fn run(&mut self, asked: Option<f64>) -> Outcome {
            let offered = asked.unwrap_or(f64::INFINITY).min(self.generator);
            let capacity = self.capacity * (1.0 + self.noise * self.next_random());
            let delivered = offered.min(capacity) * (1.0 - self.floor);
            Outcome {
                offered,
                delivered,
                loss: 1.0 - delivered / offered,
                generator_limited: asked.is_some_and(|a| a > self.generator),
            }
        }
    }

    const CONFIG: RateSearchConfig = RateSearchConfig {
        max_loss: 0.001,
        low: 1000.0,
        ceiling: None,
        resolution: 0.05,
        max_probes: 24,
        max_confirms: 6,
    };

    /// Runs a search to its end; every trial that it made, and the result.
    fn search(
        config: RateSearchConfig,
        system: &mut System,
    ) -> (Vec<(Step, Outcome)>, Option<Best>) {
        let mut search = RateSearch::new(config);
        let mut made = Vec::new();
        loop {
            match search.next() {
                Step::Done { best, trials } => {
                    assert_eq!(trials as usize, made.len());
                    return (made, best);
                }
                step @ Step::Try { rate, .. } => {
                    let outcome = system.run(rate);
                    made.push((step, outcome));
                    assert!(
                        made.len() <= (config.max_probes + config.max_confirms) as usize,
                        "more trials than allowed"
                    );
                    search.report(outcome);
                }
            }
        }
    }

    /// What every result must keep, whatever the system.
    fn holds_what_it_promises(
        config: RateSearchConfig,
        made: &[(Step, Outcome)],
        best: Option<Best>,
    ) {
        for (step, _) in made {
            if let Step::Try {
                rate: Some(rate), ..
            } = step
            {
                assert!(rate.is_finite() && *rate >= config.low * 0.999, "{step:?}");
            }
        }
        let Some(best) = best else { return };
        assert!(best.loss <= config.max_loss);
        let confirmed = made.iter().any(|(step, outcome)| {
            matches!(
                step,
                Step::Try {
                    purpose: Purpose::Confirm,
                    ..
                }
            ) && outcome.loss == best.loss
                && outcome.delivered == best.delivered
        });
        assert!(confirmed, "no confirmation for {best:?} in {made:?}");
    }

    #[test]
    fn lossless_without_limit_is_the_generators_ceiling() {
        let mut system = System {
            generator: 5e6,
            ..System::hard(1e9)
        };
        let (made, best) = search(CONFIG, &mut system);
        assert_eq!(made.len(), 2);
        assert_eq!(
            made[0].0,
            Step::Try {
                rate: None,
                purpose: Purpose::Probe
            }
        );
        assert_eq!(
            made[1].0,
            Step::Try {
                rate: None,
                purpose: Purpose::Confirm
            }
        );
        let best = best.unwrap();
        assert_eq!((best.rate, best.limit), (5e6, Limit::Generator));
    }

    #[test]
    fn a_ceiling_that_holds_is_the_answer() {
        let (made, best) = search(
            RateSearchConfig {
                ceiling: Some(2e5),
                ..CONFIG
            },
            &mut System::hard(1e6),
        );
        assert_eq!(made.len(), 2);
        let best = best.unwrap();
        assert_eq!((best.rate, best.limit), (2e5, Limit::Ceiling));
    }

    #[test]
    fn a_hard_capacity_takes_few_trials() {
        let (made, best) = search(CONFIG, &mut System::hard(1e6));
        assert!(made.len() <= 5, "{made:?}");
        let best = best.unwrap();
        assert!((0.93e6..=1e6).contains(&best.rate), "{best:?}");
        assert_eq!(best.limit, Limit::Loss);
    }

    #[test]
    fn nothing_holds_under_a_loss_floor() {
        let mut system = System {
            floor: 0.01,
            ..System::hard(1e6)
        };
        let (made, best) = search(CONFIG, &mut system);
        assert_eq!(best, None);
        let lowest = made.last().unwrap().0;
        assert!(
            matches!(lowest, Step::Try { rate: Some(r), .. } if r <= 1001.0),
            "{lowest:?}"
        );
    }

    #[test]
    fn overload_collapse_is_climbed_out_of() {
        // Delivers a tenth when overloaded: what was delivered says little about the capacity.
        let mut search = RateSearch::new(CONFIG);
        let best = loop {
            match search.next() {
                Step::Done { best, .. } => break best.unwrap(),
                Step::Try { rate, .. } => {
                    let offered = rate.unwrap_or(3e6);
                    let delivered = if offered > 1e6 { 1e5 } else { offered };
                    let loss = 1.0 - delivered / offered;
                    search.report(Outcome {
                        offered,
                        delivered,
                        loss,
                        generator_limited: false,
                    });
                }
            }
        };
        assert!((0.93e6..=1e6).contains(&best.rate), "{best:?}");
    }

    #[test]
    fn a_lucky_probe_does_not_count() {
        let mut search = RateSearch::new(CONFIG);
        let mut first_confirmation = None;
        let best = loop {
            match search.next() {
                Step::Done { best, .. } => break best.unwrap(),
                Step::Try { rate, purpose } => {
                    let offered = rate.unwrap_or(2e6);
                    let unlucky = purpose == Purpose::Confirm && first_confirmation.is_none();
                    if unlucky {
                        first_confirmation = Some(offered);
                    }
                    let delivered = if unlucky {
                        offered * 0.9
                    } else {
                        offered.min(1e6)
                    };
                    let loss = 1.0 - delivered / offered;
                    search.report(Outcome {
                        offered,
                        delivered,
                        loss,
                        generator_limited: false,
                    });
                }
            }
        };
        assert!(best.rate < first_confirmation.unwrap());
        assert!(best.rate > 0.85e6, "{best:?}");
    }

    #[test]
    fn a_dead_generator_ends_the_search() {
        let mut search = RateSearch::new(CONFIG);
        search.report(Outcome {
            offered: 0.0,
            delivered: 0.0,
            loss: f64::NAN,
            generator_limited: true,
        });
        assert_eq!(
            search.next(),
            Step::Done {
                best: None,
                trials: 1
            }
        );
        search.report(Outcome {
            offered: 1.0,
            delivered: 1.0,
            loss: 0.0,
            generator_limited: false,
        });
        assert_eq!(
            search.next(),
            Step::Done {
                best: None,
                trials: 1
            }
        );
    }

    proptest! {
        #[test]
        fn finds_a_hard_capacity(exponent in 4.0f64..8.0, headroom in 1.01f64..50.0) {
            let capacity = 10f64.powf(exponent);
            let mut system = System { generator: capacity * headroom, ..System::hard(capacity) };
            let (made, best) = search(CONFIG, &mut system);
            holds_what_it_promises(CONFIG, &made, best);
            let best = best.unwrap();
            prop_assert!(best.rate <= capacity * 1.0011 && best.rate >= capacity * 0.9, "{best:?} of {capacity}");
        }

        #[test]
        fn finds_a_noisy_capacity(seed in 1u64.., noise in 0.0f64..0.1, exponent in 4.0f64..8.0) {
            let capacity = 10f64.powf(exponent);
            let mut system = System { noise, random: seed, ..System::hard(capacity) };
            let (made, best) = search(CONFIG, &mut system);
            holds_what_it_promises(CONFIG, &made, best);
            let best = best.unwrap();
            prop_assert!(best.rate <= capacity * (1.002 + noise), "{best:?} of {capacity}");
            prop_assert!(best.rate >= capacity * (1.0 - noise) * 0.7, "{best:?} of {capacity}: {made:?}");
        }

        #[test]
        fn a_loss_floor_is_never_called_good(floor in 0.002f64..0.9, exponent in 3.5f64..8.0) {
            let mut system = System { floor, ..System::hard(10f64.powf(exponent)) };
            let (made, best) = search(CONFIG, &mut system);
            holds_what_it_promises(CONFIG, &made, best);
            prop_assert_eq!(best, None);
        }

        #[test]
        fn a_generator_below_the_capacity_is_named(exponent in 3.5f64..8.0, asked in prop::option::of(1.1f64..10.0)) {
            let generator = 10f64.powf(exponent);
            let config = RateSearchConfig { ceiling: asked.map(|a| a * generator), ..CONFIG };
            let mut system = System { generator, ..System::hard(generator * 10.0) };
            let (made, best) = search(config, &mut system);
            holds_what_it_promises(config, &made, best);
            let best = best.unwrap();
            prop_assert_eq!((best.rate, best.limit), (generator, Limit::Generator));
        }

        #[test]
        fn whatever_comes_back_it_ends(outcomes in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<bool>()), 30),
                                       low in any::<f64>(), resolution in any::<f64>(), max_probes in 0u32..30) {
            let mut search = RateSearch::new(RateSearchConfig { low, resolution, max_probes, max_confirms: 5, max_loss: 0.01, ceiling: None });
            for (offered, delivered, loss, generator_limited) in outcomes {
                if let Step::Try { rate: Some(rate), .. } = search.next() {
                    prop_assert!(rate > 0.0 && !rate.is_nan());
                }
                search.report(Outcome { offered, delivered, loss, generator_limited });
            }
            let ended = matches!(search.next(), Step::Done { .. });
            prop_assert!(ended);
        }
    }
}
