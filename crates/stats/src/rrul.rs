//! Latency idle and under load: what each direction's load adds to the round trip, and the grade.
//!
//! ```text
//! phases with the label rrul = idle | up | down | both, each with three loads at one moment:
//!   probe  round trips of datagrams      rr  round trips of messages over TCP      stream  the load
//! ```
//!
//! The grade is that of the DSLReports speed test (<https://www.dslreports.com/faq/17930>): the mean of what
//! load up and load down add to the round trip. Round trips are medians of datagrams here, because the
//! kernel repeats what TCP loses and a mean follows its outliers.

use sokudo_model::kinds::{Family, probe, rr};
use sokudo_model::metrics::rrul;
use sokudo_model::{Kind, PhaseRecord, Summary};

/// Label of the phases, whose value is the part.
pub const LABEL: &str = "rrul";

/// Part of the measurement, by the direction of its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// No load.
    Idle,
    /// Load from this host to the other one.
    Up,
    /// Load from the other host to this one.
    Down,
    /// Load both ways.
    Both,
}

impl Part {
    /// Every part, in the order of the measurement.
    pub const ALL: [Self; 4] = [Self::Idle, Self::Up, Self::Down, Self::Both];

    /// Value of the label, and name of the phase.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Up => "up",
            Self::Down => "down",
            Self::Both => "both",
        }
    }

    /// The part of a phase; `None` for a phase of another measurement.
    pub fn of(phase: &PhaseRecord) -> Option<Self> {
        let name = phase.labels.get(LABEL)?;
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

/// Grade of the added round trip, the best one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Less than 5 ms.
    APlus,
    /// Less than 30 ms.
    A,
    /// Less than 60 ms.
    B,
    /// Less than 200 ms.
    C,
    /// Less than 400 ms.
    D,
    /// 400 ms or more.
    F,
}

impl Grade {
    /// Every grade but the last, with the added time that it stays below, seconds.
    pub const BELOW_S: [(Self, f64); 5] = [
        (Self::APlus, 0.005),
        (Self::A, 0.030),
        (Self::B, 0.060),
        (Self::C, 0.200),
        (Self::D, 0.400),
    ];

    /// The grade of an added round trip, seconds.
    pub fn of(added_s: f64) -> Self {
        let mut grades = Self::BELOW_S.into_iter();
        let grade = grades.find(|(_, below_s)| added_s < *below_s);
        grade.map_or(Self::F, |(grade, _)| grade)
    }

    /// Letter as people write it.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::APlus => "A+",
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::F => "F",
        }
    }
}

/// Round trips of one part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrips {
    /// Round trips.
    pub n: f64,
    /// Median, seconds.
    pub p50_s: f64,
    /// 99th percentile, seconds.
    pub p99_s: f64,
}

/// Numbers of one part. `None` where its load gave no numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The part.
    pub part: Part,
    /// Of datagrams.
    pub datagrams: Option<RoundTrips>,
    /// Of messages over a TCP connection.
    pub tcp: Option<RoundTrips>,
    /// Share of the datagrams that were lost, both ways together.
    pub lost_ratio: Option<f64>,
    /// Payload of the load on the way up, bits per second.
    pub up_bits_per_s: Option<f64>,
    /// The same on the way down.
    pub down_bits_per_s: Option<f64>,
}

/// A measurement of latency idle and under load.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderLoad {
    /// Its parts, in order.
    pub parts: Vec<Measured>,
    /// Connections of the load, each way.
    pub streams: usize,
}

/// The measurement among the phases of a record; `None` when none of them belongs to one.
pub fn under_load_of(phases: &[PhaseRecord]) -> Option<UnderLoad> {
    let of_part = |part: Part| {
        let own = phases.iter().filter(move |p| Part::of(p) == Some(part));
        let own: Vec<&PhaseRecord> = own.collect();
        (!own.is_empty()).then(|| measured(part, &own))
    };
    let parts: Vec<Measured> = Part::ALL.into_iter().filter_map(of_part).collect();
    let loads = phases.iter().filter(|p| is_load(p));
    let one_way = loads.filter(|p| Part::of(p).is_some_and(|part| part != Part::Both));
    let streams = one_way.map(|p| p.result.flows.len()).max();
    (!parts.is_empty()).then(|| UnderLoad {
        parts,
        streams: streams.unwrap_or(0),
    })
}

/// True for the load of a part, which fills the path.
fn is_load(phase: &PhaseRecord) -> bool {
    let family = phase.kind().map(|kind| kind.family);
    Part::of(phase).is_some() && matches!(family, Some(Family::Bytes(_)))
}

fn measured(part: Part, phases: &[&PhaseRecord]) -> Measured {
    let of = |kind: &Kind| phases.iter().find(|phase| phase.workload == kind.name);
    let datagrams = of(&probe::KIND);
    let asking = datagrams.and_then(|phase| phase.result.flows.first());
    let asking = asking.map(|flow| flow.from.as_str());
    let load = phases.iter().find(|phase| is_load(phase));
    let carried = |is_up: bool| {
        let load = load?;
        let metric = load.kind()?.curve?.delivered;
        let flows = load.result.flows.iter();
        let flows = flows.filter(|flow| (Some(flow.from.as_str()) == asking) == is_up);
        let bits: Vec<f64> = flows.filter_map(|flow| metric.of(&flow.metrics)).collect();
        (!bits.is_empty()).then(|| bits.iter().sum())
    };
    Measured {
        part,
        datagrams: datagrams.and_then(|phase| round_trips(phase)),
        tcp: of(&rr::KIND).and_then(|phase| round_trips(phase)),
        lost_ratio: datagrams.and_then(|phase| probe::LOSS_RATIO.of(&phase.result.summary)),
        up_bits_per_s: carried(true),
        down_bits_per_s: carried(false),
    }
}

fn round_trips(phase: &PhaseRecord) -> Option<RoundTrips> {
    let kind = phase.kind()?;
    let latency = |which| kind.curve?.latency_s(&phase.result, which);
    Some(RoundTrips {
        n: kind.done.of(&phase.result.summary)?,
        p50_s: latency("p50")?,
        p99_s: latency("p99")?,
    })
}

impl UnderLoad {
    /// Numbers of a part; `None` when it did not run.
    pub fn part(&self, part: Part) -> Option<&Measured> {
        self.parts.iter().find(|measured| measured.part == part)
    }

    /// Time that the load of a part adds to the median round trip of datagrams, seconds, and never less than
    /// nothing: a load that keeps a CPU awake makes an empty path faster than an idle one.
    pub fn added_s(&self, part: Part) -> Option<f64> {
        let median = |part| Some(self.part(part)?.datagrams?.p50_s);
        Some((median(part)? - median(Part::Idle)?).max(0.0))
    }

    /// Time that is graded: the mean of what load up and load down add, seconds. `None` unless both were
    /// measured, and carried something.
    pub fn graded_s(&self) -> Option<f64> {
        let carried = |bits: Option<f64>| bits.is_some_and(|bits| bits > 0.0);
        let up = self.part(Part::Up)?;
        let down = self.part(Part::Down)?;
        let is_loaded = carried(up.up_bits_per_s) && carried(down.down_bits_per_s);
        let added = (self.added_s(Part::Up)? + self.added_s(Part::Down)?) / 2.0;
        is_loaded.then_some(added)
    }

    /// The grade; see [`UnderLoad::graded_s`].
    pub fn grade(&self) -> Option<Grade> {
        self.graded_s().map(Grade::of)
    }

    /// The part that adds more of those with load one way.
    pub fn worse(&self) -> Option<Part> {
        let (up, down) = (self.added_s(Part::Up)?, self.added_s(Part::Down)?);
        Some(if up >= down { Part::Up } else { Part::Down })
    }

    /// The entries that the measurement adds to a run's summary.
    pub fn summary(&self) -> Summary {
        let idle = self.part(Part::Idle).and_then(|idle| idle.datagrams);
        let entries = [
            (rrul::IDLE_RTT_SECONDS, idle.map(|idle| idle.p50_s)),
            (rrul::ADDED_UP_SECONDS, self.added_s(Part::Up)),
            (rrul::ADDED_DOWN_SECONDS, self.added_s(Part::Down)),
            (rrul::ADDED_BOTH_SECONDS, self.added_s(Part::Both)),
            (rrul::ADDED_SECONDS, self.graded_s()),
        ];
        let known = entries.into_iter();
        let known = known.filter_map(|(metric, value)| Some((metric.into(), value?)));
        known.collect()
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::kinds::stream;
    use sokudo_model::{FlowResult, HistogramSummary, PhaseResult};

    use super::*;

    fn phase(part: Part, kind: &Kind, flows: Vec<FlowResult>, p50: f64) -> PhaseRecord {
        let latency = kind.curve.and_then(|curve| curve.latency);
        let times = HistogramSummary {
            n: 100,
            p50,
            p99: 2.0 * p50,
            ..HistogramSummary::default()
        };
        let result = PhaseResult {
            summary: [(kind.done.into(), 100.0)].into(),
            histograms: latency
                .map(|it| (it.name.to_owned(), times))
                .into_iter()
                .collect(),
            flows,
        };
        PhaseRecord {
            labels: [(LABEL.to_owned(), part.name().to_owned())].into(),
            ..PhaseRecord::plain(part.name(), kind.name, (0, 1), result)
        }
    }

    fn flow(from: &str, bits_per_s: f64) -> FlowResult {
        FlowResult {
            from: from.into(),
            metrics: [(stream::GOODPUT_BITS_PER_SECOND.into(), bits_per_s)].into(),
            ..FlowResult::default()
        }
    }

    fn part(part: Part, p50: f64, from: &[&str]) -> Vec<PhaseRecord> {
        let load = from.iter().map(|from| flow(from, 1e6)).collect();
        vec![
            phase(part, &probe::KIND, vec![flow("a", 0.0)], p50),
            phase(part, &rr::KIND, vec![flow("a", 0.0)], p50),
            phase(part, &stream::KIND, load, p50),
        ]
    }

    #[test]
    fn the_grade_is_of_the_mean_of_both_ways() {
        let phases = [
            part(Part::Idle, 0.010, &[]),
            part(Part::Up, 0.310, &["a", "a"]),
            part(Part::Down, 0.030, &["b", "b"]),
            part(Part::Both, 0.410, &["a", "b"]),
        ]
        .concat();
        let found = under_load_of(&phases).expect("a measurement");
        assert_eq!(found.streams, 2);
        let graded = found.graded_s().expect("both ways");
        assert!((graded - 0.160).abs() < 1e-9, "{graded}");
        assert_eq!(found.grade(), Some(Grade::C));
        assert_eq!(found.worse(), Some(Part::Up));
        let both = found.part(Part::Both).expect("a part");
        assert_eq!(both.up_bits_per_s, Some(1e6));
        assert_eq!(both.down_bits_per_s, Some(1e6));
        assert_eq!(found.part(Part::Up).expect("a part").down_bits_per_s, None);
        assert!((found.summary()[rrul::ADDED_UP_SECONDS.name] - 0.3).abs() < 1e-9);
    }

    #[test]
    fn without_both_ways_there_is_no_grade() {
        let phases = [
            part(Part::Idle, 0.010, &[]),
            part(Part::Up, 0.310, &["a"]),
            part(Part::Down, 0.010, &[]),
        ]
        .concat();
        let found = under_load_of(&phases).expect("a measurement");
        assert_eq!(found.grade(), None, "nothing was carried on the way down");
        assert!(found.added_s(Part::Up).is_some());
        assert_eq!(under_load_of(&[]), None);
    }

    #[test]
    fn grades_end_where_the_source_says() {
        let grades = [0.0, 0.0049, 0.005, 0.0299, 0.03, 0.06, 0.2, 0.3999, 0.4];
        let letters = grades.map(|added_s| Grade::of(added_s).letter());
        assert_eq!(letters, ["A+", "A+", "A", "A", "B", "C", "D", "D", "F"]);
    }
}
