//! Bounds on latency, shares and the rate that a measurement must meet.
//!
//! `p99<1ms,loss<0.1%,rps>500`: bounds on the latency's percentiles, on shares, and on the events per
//! second. The same text stands on the command line and in the labels of a recorded phase.

use std::fmt;
use std::str::FromStr;

use crate::kinds::CurveMetrics;
use crate::metric::Unit;
use crate::plan::Refusal;
use crate::summary::PhaseResult;
use crate::text::Text;
use crate::units::Nanos;

/// Samples beyond a percentile from which a trial tells it well enough to be bounded.
const BEYOND: f64 = 10.0;
/// Percentiles that can be bounded, as typed, with the share of the values beyond each.
const PERCENTILES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.1),
    ("p95", 0.05),
    ("p99", 0.01),
    ("p999", 0.001),
];
/// Percentiles and their like that can be bounded, as typed.
const TIMES: [&str; 7] = ["p50", "p90", "p95", "p99", "p999", "max", "mean"];
/// Shares that can be bounded, as typed.
const SHARES: [&str; 2] = ["errors", "loss"];
/// The rate that can be bounded from below, as typed.
const RATE: &str = "rps";

/// One bound: `p99` at most 0.001 s, `loss` at most 0.001, `rps` at least 500.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Name of the bounded quantity, as typed.
    pub what: &'static str,
    /// The most that is allowed, seconds or a share from 0 to 1; of the rate the least, per second.
    pub limit: f64,
}

/// The bounds that a rate must meet to count as held; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds(Vec<Bound>);

/// A text that is not a valid list of bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoBound {
    /// It is not of this form, or it names a number that cannot be bounded.
    #[error(
        "`{0}` is not a valid bound: write for example `p99<1ms` or `p99<1ms,loss<0.1%`; p50, p90, p95, p99, p999, max, mean, loss, errors and rps (`rps>500`) can be bounded"
    )]
    Form(String),
    /// A time without its unit.
    #[error("`{0}` lacks the unit: write for example `{0}ms` or `{0}s`")]
    Unit(String),
}

impl NoBound {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            NoBound::Form(text) => Text::new("error-value-bound").word("text", text),
            NoBound::Unit(text) => Text::new("error-value-bound-unit").word("text", text),
        }
    }
}

impl Bound {
    /// True for a length of time, false for a share.
    pub fn is_time(&self) -> bool {
        TIMES.contains(&self.what)
    }

    /// True for the rate, which must not be lower.
    pub fn is_floor(&self) -> bool {
        self.what == RATE
    }

    /// Unit of its limit.
    pub fn unit(&self) -> Unit {
        match (self.is_time(), self.is_floor()) {
            (true, _) => Unit::Seconds,
            (_, true) => Unit::PerSecond,
            _ => Unit::Ratio,
        }
    }

    /// Its measured value; `None` when the result does not hold it.
    pub fn measured(&self, curve: &CurveMetrics, result: &PhaseResult) -> Option<f64> {
        match (self.is_time(), self.is_floor()) {
            (true, _) => curve.latency_s(result, self.what),
            (_, true) => curve.delivered_in(result),
            _ => curve.share(result, self.what),
        }
    }

    /// True when a measured value keeps it.
    pub fn is_kept(&self, measured: f64) -> bool {
        match self.is_floor() {
            true => measured >= self.limit,
            false => measured <= self.limit,
        }
    }

    /// Measured over allowed; above 1 the bound is broken. A number that is missing breaks it.
    pub fn used(&self, curve: &CurveMetrics, result: &PhaseResult) -> f64 {
        match self.measured(curve, result) {
            Some(measured) if self.is_floor() && measured > 0.0 => self.limit / measured,
            Some(measured) if measured <= 0.0 && !self.is_floor() => 0.0,
            Some(measured) if self.limit > 0.0 && !self.is_floor() => measured / self.limit,
            _ => f64::MAX,
        }
    }
}

impl Bounds {
    /// Loss alone, at most this share.
    pub fn loss(most: f64) -> Self {
        Self(vec![Bound {
            what: "loss",
            limit: most,
        }])
    }

    /// Each bound, in the order in which they were typed.
    pub fn iter(&self) -> impl Iterator<Item = &Bound> {
        self.0.iter()
    }

    /// The bound of one quantity; `None` when it is not bounded.
    pub fn most(&self, what: &str) -> Option<f64> {
        let bound = self.0.iter().find(|bound| bound.what == what);
        bound.map(|bound| bound.limit)
    }

    /// Values of the latency that a trial must have for the highest bounded percentile: ten beyond
    /// it. 0 when no percentile is bounded.
    pub fn samples(&self) -> f64 {
        let percentiles = self.0.iter().filter_map(|bound| {
            let mut known = PERCENTILES.iter();
            known.find(|(what, _)| *what == bound.what)
        });
        let needed = percentiles.map(|(_, beyond)| BEYOND / beyond);
        needed.fold(0.0, f64::max)
    }

    /// The largest of measured over allowed; above 1 a bound is broken.
    pub fn used(&self, curve: &CurveMetrics, result: &PhaseResult) -> f64 {
        let used = self.0.iter().map(|bound| bound.used(curve, result));
        used.fold(0.0, f64::max)
    }

    /// Refuses bounds on what `workload` does not measure.
    pub fn check(&self, workload: &str, curve: &CurveMetrics) -> Result<(), Refusal> {
        let times: &[&str] = match curve.latency {
            Some(_) => &TIMES,
            None => &[],
        };
        let shares = curve.shares.iter().map(|(word, _)| *word);
        let rate = (curve.delivered.unit == Unit::PerSecond).then_some(RATE);
        let words: Vec<&str> = times.iter().copied().chain(shares).chain(rate).collect();
        let unknown = self.0.iter().find(|bound| !words.contains(&bound.what));
        let Some(bound) = unknown else {
            return Ok(());
        };
        Err(Refusal {
            operator_error: true,
            says: Text::new("error-bound-not-measured")
                .word("workload", workload)
                .word("what", bound.what),
            hint: Some(Text::new("error-bound-not-measured-hint").word("words", words.join(", "))),
        })
    }
}

/// `0.1%` or `0.001`; below 1.
fn share(text: &str) -> Option<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let ratio = number.parse::<f64>().ok()? / scale;
    (0.0..1.0).contains(&ratio).then_some(ratio)
}

/// A length of time with its unit.
fn time(text: &str) -> Option<f64> {
    let seconds = text.parse::<Nanos>().ok()?.seconds();
    (seconds > 0.0).then_some(seconds)
}

/// The error for a bare number, which could be seconds or milliseconds.
fn lacks_unit(text: &str) -> bool {
    let named = TIMES.iter().find_map(|name| text.strip_prefix(name));
    let most = named.and_then(|rest| rest.strip_prefix("<=").or_else(|| rest.strip_prefix('<')));
    most.is_some_and(|most| most.parse::<f64>().is_ok())
}

/// Events per second, with or without `/s`.
fn rate(text: &str) -> Option<f64> {
    let per_s: f64 = text.strip_suffix("/s").unwrap_or(text).parse().ok()?;
    (per_s > 0.0 && per_s.is_finite()).then_some(per_s)
}

fn bound(text: &str) -> Option<Bound> {
    if let Some((name, least)) = text.split_once(">=").or_else(|| text.split_once('>')) {
        let limit = rate(least).filter(|_| [RATE, "rate"].contains(&name))?;
        return Some(Bound { what: RATE, limit });
    }
    let (name, most) = text.split_once("<=").or_else(|| text.split_once('<'))?;
    // Words that people who come from other load testers type.
    let name = match name {
        "p99.9" => "p999",
        "median" => "p50",
        "avg" => "mean",
        _ => name,
    };
    let known = |words: &[&'static str]| words.iter().copied().find(|word| *word == name);
    if let Some(what) = known(&TIMES) {
        return time(most).map(|limit| Bound { what, limit });
    }
    let what = match name {
        "err" => "errors",
        _ => known(&SHARES)?,
    };
    share(most).map(|limit| Bound { what, limit })
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_floor() { '>' } else { '<' };
        write!(f, "{}{sign}", self.what)?;
        match self.unit() {
            Unit::Seconds => exact_time(self.limit, f),
            Unit::PerSecond => write!(f, "{}", self.limit),
            _ => write!(f, "{}%", (self.limit * 1e14).round() / 1e12),
        }
    }
}

/// A length of time in the largest unit in which it is a whole number.
fn exact_time(seconds: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let ns = (seconds * 1e9).round() as u64;
    let unit = UNITS.iter().find(|(unit, _)| ns.is_multiple_of(*unit));
    let (unit, name) = unit.unwrap_or(&(1, "ns"));
    write!(f, "{}{name}", ns / unit)
}

impl FromStr for Bounds {
    type Err = NoBound;

    fn from_str(text: &str) -> Result<Self, NoBound> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if let Some(bare) = compact.split(',').find(|part| lacks_unit(part)) {
            return Err(NoBound::Unit(bare.into()));
        }
        let bounds: Option<Vec<Bound>> = compact.split(',').map(bound).collect();
        bounds.map(Bounds).ok_or_else(|| NoBound::Form(text.into()))
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, bound) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{bound}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{datagram, find, rr};
    use crate::metric::Stat;
    use crate::summary::HistogramSummary;
    use crate::text::Arg;

    fn curve(workload: &str) -> CurveMetrics {
        find(workload).and_then(|kind| kind.curve).expect("a curve")
    }

    #[test]
    fn bounds_are_read_and_compared() {
        let bounds: Bounds = "p99 < 1ms, errors<1%".parse().unwrap();
        let curve = curve("rr");
        let mut result = PhaseResult {
            summary: [
                (rr::LATENCY_SECONDS.stat(Stat::P99), 0.0005),
                (rr::ERROR_RATIO.into(), 0.02),
            ]
            .into(),
            ..PhaseResult::default()
        };
        assert!((bounds.used(&curve, &result) - 2.0).abs() < 1e-9);
        result.summary.clear();
        assert!(
            bounds.used(&curve, &result) > 1.0,
            "what is missing holds nothing"
        );
        assert_eq!(bounds.to_string(), "p99<1ms,errors<1%");
        assert_eq!(bounds.to_string().parse(), Ok(bounds));
    }

    #[test]
    fn the_highest_percentile_says_how_many_values_a_trial_needs() {
        let samples = |text: &str| text.parse::<Bounds>().unwrap().samples().round();
        assert_eq!(samples("p99<1ms,p50<1ms"), 1_000.0);
        assert_eq!(samples("loss<1%,p999<1ms"), 10_000.0);
        assert_eq!(samples("loss<1%,max<1ms,mean<1ms"), 0.0);
    }

    #[test]
    fn latency_is_found_among_the_distributions_too() {
        let bounds: Bounds = "p99<1ms".parse().unwrap();
        let p99 = HistogramSummary {
            p99: 0.002,
            ..HistogramSummary::default()
        };
        let result = PhaseResult {
            histograms: [(datagram::ACK_RTT_SECONDS.into(), p99)].into(),
            ..PhaseResult::default()
        };
        let used = bounds.used(&curve("datagram"), &result);
        assert!((used - 2.0).abs() < 1e-9);
    }

    #[test]
    fn no_loss_at_all_can_be_demanded() {
        let bounds: Bounds = "loss<=0".parse().unwrap();
        let curve = curve("datagram");
        let result = |loss: f64| PhaseResult {
            summary: [(datagram::LOSS_RATIO.into(), loss)].into(),
            ..PhaseResult::default()
        };
        assert_eq!(bounds.used(&curve, &result(0.0)), 0.0);
        assert!(bounds.used(&curve, &result(1e-9)) > 1.0);
    }

    #[test]
    fn a_time_without_its_unit_is_told_apart() {
        let lacks = |text: &str| matches!(text.parse::<Bounds>(), Err(NoBound::Unit(_)));
        assert!(lacks("p99<1") && lacks("errors<1%, max <= 2.5"));
        assert!(!lacks("p98<1") && !lacks("p99") && !lacks("loss<0.1"));
    }

    #[test]
    fn a_rate_is_bounded_from_below() {
        let bounds: Bounds = "rps>=500, p99.9<2s".parse().unwrap();
        assert_eq!(bounds.to_string(), "rps>500,p999<2s");
        assert_eq!(bounds.to_string().parse(), Ok(bounds.clone()));
        let result = |per_s: f64| PhaseResult {
            summary: [
                (rr::TRANSACTIONS_PER_SECOND.into(), per_s),
                (rr::LATENCY_SECONDS.stat(Stat::P999), 0.5),
            ]
            .into(),
            ..PhaseResult::default()
        };
        assert!(bounds.used(&curve("rr"), &result(250.0)) > 1.0);
        assert!(bounds.used(&curve("rr"), &result(0.0)) > 1.0);
        assert!(bounds.used(&curve("rr"), &result(600.0)) < 1.0);
        // A kind that is compared by its bits per second has no such number.
        assert!(bounds.check("datagram", &curve("datagram")).is_err());
    }

    #[test]
    fn what_is_no_bound_is_refused() {
        for wrong in [
            "",
            "p98<1ms",
            "p99<1",
            "p99>1ms",
            "p99<0ms",
            "errors<x",
            "p99<1ms,",
            "loss<100%",
            "loss<-1%",
            "p99<-1ms",
            "rps<500",
            "rps>0",
            "p99>1ms",
        ] {
            assert!(wrong.parse::<Bounds>().is_err(), "{wrong}");
        }
        assert!(Bounds::loss(0.001).check("rr", &curve("rr")).is_ok());
        let errors: Bounds = "errors<1%".parse().unwrap();
        let refusal = errors.check("datagram", &curve("datagram")).unwrap_err();
        let word = |word: &str| Some(Arg::Word(word.into()));
        assert_eq!(refusal.says.args.get("what").cloned(), word("errors"));
        let hint = refusal.hint.expect("a hint");
        assert!(matches!(&hint.args["words"], Arg::Word(words) if words.contains("loss")));
    }
}
