//! Tests of the search against simulated systems of known capacity.

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

/// Loss that is allowed.
const MAX_LOSS: f64 = 0.001;

const CONFIG: RateSearchConfig = RateSearchConfig {
    low: 1000.0,
    first: First::Unlimited,
    resolution: 0.05,
    max_probes: 24,
    max_confirms: 6,
};

/// Of the loss that is allowed.
fn used(outcome: &Outcome) -> f64 {
    outcome.loss / MAX_LOSS
}

/// Runs a search to its end; every trial that it made, and the result.
fn search(
    config: RateSearchConfig,
    system: &mut System,
) -> (Vec<(SearchStep, Outcome)>, Option<Best>) {
    let mut search = RateSearch::new(config);
    let mut made = Vec::new();
    loop {
        match search.next() {
            SearchStep::Done { best, trials } => {
                assert_eq!(trials as usize, made.len());
                return (made, best);
            }
            step @ SearchStep::Try { rate, .. } => {
                let outcome = system.run(rate);
                made.push((step, outcome));
                assert!(
                    made.len() <= (config.max_probes + config.max_confirms) as usize,
                    "more trials than allowed"
                );
                search.report(outcome, used(&outcome));
            }
        }
    }
}

/// Properties of every result, for any system.
fn holds_what_it_promises(
    config: RateSearchConfig,
    made: &[(SearchStep, Outcome)],
    best: Option<Best>,
) {
    for (step, _) in made {
        if let SearchStep::Try {
            rate: Some(rate), ..
        } = step
        {
            assert!(rate.is_finite() && *rate >= config.low * 0.999, "{step:?}");
        }
    }
    let Some(best) = best else { return };
    assert!(best.loss <= MAX_LOSS);
    let confirmed = made.iter().any(|(step, outcome)| {
        matches!(
            step,
            SearchStep::Try {
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
        SearchStep::Try {
            rate: None,
            purpose: Purpose::Probe
        }
    );
    assert_eq!(
        made[1].0,
        SearchStep::Try {
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
            first: First::Ceiling(2e5),
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
    assert_eq!(best.limit, Limit::Bound);
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
        matches!(lowest, SearchStep::Try { rate: Some(r), .. } if r <= 1001.0),
        "{lowest:?}"
    );
}

#[test]
fn overload_collapse_is_climbed_out_of() {
    // Delivers a tenth when overloaded: the delivered rate says little about the capacity.
    let mut search = RateSearch::new(CONFIG);
    let best = loop {
        match search.next() {
            SearchStep::Done { best, .. } => break best.unwrap(),
            SearchStep::Try { rate, .. } => {
                let offered = rate.unwrap_or(3e6);
                let delivered = if offered > 1e6 { 1e5 } else { offered };
                let loss = 1.0 - delivered / offered;
                let outcome = Outcome {
                    offered,
                    delivered,
                    loss,
                    generator_limited: false,
                };
                search.report(outcome, used(&outcome));
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
            SearchStep::Done { best, .. } => break best.unwrap(),
            SearchStep::Try { rate, purpose } => {
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
                let outcome = Outcome {
                    offered,
                    delivered,
                    loss,
                    generator_limited: false,
                };
                search.report(outcome, used(&outcome));
            }
        }
    };
    assert!(best.rate < first_confirmation.unwrap());
    assert!(best.rate > 0.85e6, "{best:?}");
}

#[test]
fn a_dead_generator_ends_the_search() {
    let mut search = RateSearch::new(CONFIG);
    let outcome = Outcome {
        offered: 0.0,
        delivered: 0.0,
        loss: f64::NAN,
        generator_limited: true,
    };
    search.report(outcome, used(&outcome));
    assert_eq!(
        search.next(),
        SearchStep::Done {
            best: None,
            trials: 1
        }
    );
    let outcome = Outcome {
        offered: 1.0,
        delivered: 1.0,
        loss: 0.0,
        generator_limited: false,
    };
    search.report(outcome, used(&outcome));
    assert_eq!(
        search.next(),
        SearchStep::Done {
            best: None,
            trials: 1
        }
    );
}

#[test]
fn a_closed_loop_says_where_to_begin_and_proves_nothing() {
    // A closed loop delivers half of the capacity.
    let mut search = RateSearch::new(RateSearchConfig {
        first: First::ClosedLoop,
        low: 100.0,
        ..CONFIG
    });
    assert_eq!(
        search.next(),
        SearchStep::Try {
            rate: None,
            purpose: Purpose::Scout
        }
    );
    let best = loop {
        match search.next() {
            SearchStep::Done { best, .. } => break best.unwrap(),
            SearchStep::Try { rate, .. } => {
                let offered = rate.unwrap_or(500.0);
                let delivered = offered.min(1000.0);
                let outcome = Outcome {
                    offered,
                    delivered,
                    loss: 0.0,
                    generator_limited: false,
                };
                // A bound on the latency: ten times too much as soon as a queue grows.
                let late = if offered > 1000.0 { 10.0 } else { 0.5 };
                search.report(outcome, late);
            }
        }
    };
    assert!((900.0..=1000.0).contains(&best.rate), "{best:?}");
    assert_eq!(best.limit, Limit::Bound);
}

#[test]
fn a_closed_loop_without_an_answer_ends_the_search() {
    let mut search = RateSearch::new(RateSearchConfig {
        first: First::ClosedLoop,
        ..CONFIG
    });
    let outcome = Outcome {
        offered: 0.0,
        delivered: 0.0,
        loss: 1.0,
        generator_limited: false,
    };
    search.report(outcome, f64::NAN);
    assert_eq!(
        search.next(),
        SearchStep::Done {
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
        let first = asked.map_or(First::Unlimited, |a| First::Ceiling(a * generator));
            let config = RateSearchConfig { first, ..CONFIG };
        let mut system = System { generator, ..System::hard(generator * 10.0) };
        let (made, best) = search(config, &mut system);
        holds_what_it_promises(config, &made, best);
        let best = best.unwrap();
        prop_assert_eq!((best.rate, best.limit), (generator, Limit::Generator));
    }

    #[test]
    fn whatever_comes_back_it_ends(outcomes in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<bool>()), 30),
                                   low in any::<f64>(), resolution in any::<f64>(), max_probes in 0u32..30) {
        let mut search = RateSearch::new(RateSearchConfig { low, resolution, max_probes, max_confirms: 5, first: First::Unlimited });
        for (offered, delivered, loss, generator_limited) in outcomes {
            if let SearchStep::Try { rate: Some(rate), .. } = search.next() {
                prop_assert!(rate > 0.0 && !rate.is_nan());
            }
            let outcome = Outcome { offered, delivered, loss, generator_limited };
search.report(outcome, used(&outcome));
        }
        let ended = matches!(search.next(), SearchStep::Done { .. });
        prop_assert!(ended);
    }
}
