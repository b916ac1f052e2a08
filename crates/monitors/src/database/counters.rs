//! Turns readings of counters into rates, totals, means and ratios.

use std::collections::BTreeMap;

/// Counters of a server by name, as they stand.
pub(crate) type Readings = BTreeMap<&'static str, f64>;

/// A metric that comes from counters.
pub(crate) struct Derived {
    pub(crate) metric: &'static str,
    pub(crate) way: Way,
    /// Factor of the value, for another unit.
    pub(crate) scale: f64,
}

/// Derivation of a metric from counters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// The reading itself.
    Now(&'static str),
    /// Growth since the first reading.
    Grown(&'static str),
    /// Growth per second of the interval.
    Rate(&'static str),
    /// Growth of the first over growth of the second.
    Over(&'static str, &'static str),
}

impl Derived {
    /// A metric in the unit of its counter.
    pub(crate) const fn new(metric: &'static str, way: Way) -> Self {
        Self {
            metric,
            way,
            scale: 1.0,
        }
    }

    /// The same in another unit.
    pub(crate) const fn times(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }
}

/// The counters of one server.
#[derive(Default)]
pub(crate) struct Counters {
    known: BTreeMap<&'static str, Counter>,
    last_ns: Option<i64>,
}

#[derive(Default)]
struct Counter {
    previous: Option<f64>,
    /// Growth between the last two readings.
    growth: Option<f64>,
    /// Growth since the first reading.
    grown: f64,
}

impl Counter {
    /// A counter that went down began anew: what it counted meanwhile is not known.
    fn step(&mut self, now: f64) {
        let previous = self.previous.replace(now);
        self.growth = previous.map(|before| now - before).filter(|g| *g >= 0.0);
        self.grown += self.growth.unwrap_or(0.0);
    }
}

impl Counters {
    /// Takes a reading; gives the metrics that it tells.
    pub(crate) fn take(
        &mut self,
        t_ns: i64,
        readings: &Readings,
        derived: &[Derived],
    ) -> Vec<(&'static str, f64)> {
        let last_ns = self.last_ns.replace(t_ns);
        let elapsed_s = last_ns.map(|last_ns| (t_ns - last_ns) as f64 / 1e9);
        let elapsed_s = elapsed_s.filter(|elapsed_s| *elapsed_s > 0.0);
        for (name, now) in readings {
            self.known.entry(name).or_default().step(*now);
        }
        let value = |way: Way| {
            let growth = |name| self.known.get(name)?.growth;
            match way {
                Way::Now(name) => readings.get(name).copied(),
                Way::Grown(name) => {
                    readings.get(name)?;
                    elapsed_s?;
                    Some(self.known.get(name)?.grown)
                }
                Way::Rate(name) => {
                    readings.get(name)?;
                    Some(growth(name)? / elapsed_s?)
                }
                Way::Over(part, of) => {
                    readings.get(part)?;
                    let of = growth(of)?;
                    (of > 0.0).then_some(growth(part)? / of)
                }
            }
        };
        let told = derived.iter().filter_map(|derived| {
            let value = value(derived.way)? * derived.scale;
            Some((derived.metric, value))
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DERIVED: &[Derived] = &[
        Derived::new("now", Way::Now("a")),
        Derived::new("grown", Way::Grown("a")),
        Derived::new("rate", Way::Rate("a")).times(10.0),
        Derived::new("over", Way::Over("a", "b")),
    ];

    #[test]
    fn counters_become_rates_and_one_that_began_anew_is_a_gap() {
        let mut counters = Counters::default();
        let mut take = |second: i64, a: f64, b: f64| {
            let readings = Readings::from([("a", a), ("b", b)]);
            counters.take(second * 1_000_000_000, &readings, DERIVED)
        };
        assert_eq!(take(0, 5.0, 0.0), [("now", 5.0)]);
        assert_eq!(
            take(2, 9.0, 8.0),
            [("now", 9.0), ("grown", 4.0), ("rate", 20.0), ("over", 0.5)]
        );
        // Nothing of `b`: no mean. `a` went down: no rate, and its growth so far stays.
        assert_eq!(take(3, 1.0, 8.0), [("now", 1.0), ("grown", 4.0)]);
        assert_eq!(
            take(4, 2.0, 8.0),
            [("now", 2.0), ("grown", 5.0), ("rate", 10.0)]
        );
    }
}
