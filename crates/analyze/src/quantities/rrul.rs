//! The sentences about latency idle and under load.

use sokudo_model::units::human;
use sokudo_model::{Record, Text, Unit};
use sokudo_stats::rrul::{Grade, Part, UnderLoad, under_load_of};

/// Share of lost datagrams above which the verdict says that the grade does not count them.
const LOST_RATIO_MAX: f64 = 0.05;

/// The measurement of a record; `None` when it is another one's.
pub fn of(record: &Record) -> Option<UnderLoad> {
    under_load_of(&record.manifest.phases)
}

/// The grade with what it is of, the way that adds more, and what to try.
pub fn says(found: &UnderLoad) -> Vec<Text> {
    let (Some(grade), Some(added_s)) = (found.grade(), found.graded_s()) else {
        return vec![Text::new("verdict-rrul-undetermined")];
    };
    let median = |part| found.part(part).and_then(|it| it.datagrams);
    let of = |part: Part| median(part).map_or(0.0, |it| it.p50_s);
    let mut out = vec![
        Text::new("verdict-rrul")
            .word("grade", grade.letter())
            .number("added", added_s, Unit::Seconds)
            .number("streams", found.streams as f64, Unit::One)
            .number("idle", of(Part::Idle), Unit::Seconds)
            .number("up", of(Part::Up), Unit::Seconds)
            .number("down", of(Part::Down), Unit::Seconds),
    ];
    out.extend(found.part(Part::Both).and_then(|both| {
        let times = both.datagrams?;
        let says = Text::new("verdict-rrul-both")
            .number("p50", times.p50_s, Unit::Seconds)
            .number("p99", times.p99_s, Unit::Seconds)
            .number("up", both.up_bits_per_s?, Unit::BitsPerSecond)
            .number("down", both.down_bits_per_s?, Unit::BitsPerSecond);
        Some(says)
    }));
    let lost = found.parts.iter().filter_map(|it| it.lost_ratio);
    let most = lost.fold(0.0, f64::max);
    if most > LOST_RATIO_MAX {
        let says = Text::new("verdict-rrul-lost").number("lost", most, Unit::Ratio);
        out.push(says);
    }
    let key = match found.worse() {
        Some(Part::Up) => "verdict-rrul-next-up",
        _ => "verdict-rrul-next-down",
    };
    out.extend((grade > Grade::A).then(|| Text::new(key)));
    out
}

/// Sentence about the grades and their bounds.
pub fn definition() -> Text {
    let grades = Grade::BELOW_S.into_iter();
    let below = grades
        .map(|(grade, s)| format!("{}\u{a0}<\u{a0}{}", grade.letter(), human(s, Unit::Seconds)));
    Text::new("verdict-rrul-definition").word("grades", below.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use sokudo_stats::rrul::{Measured, RoundTrips};

    use super::*;

    fn measured(part: Part, p50_s: f64, lost_ratio: f64) -> Measured {
        let times = RoundTrips {
            n: 100.0,
            p50_s,
            p99_s: p50_s,
        };
        Measured {
            part,
            datagrams: Some(times),
            tcp: None,
            lost_ratio: Some(lost_ratio),
            up_bits_per_s: Some(1e6),
            down_bits_per_s: Some(1e6),
        }
    }

    fn keys(lost_ratio: f64, added_s: f64) -> Vec<String> {
        let parts = Part::ALL.map(|part| match part {
            Part::Idle => measured(part, 0.001, 0.0),
            _ => measured(part, 0.001 + added_s, lost_ratio),
        });
        let found = UnderLoad {
            parts: parts.into(),
            streams: 4,
        };
        says(&found).into_iter().map(|text| text.key).collect()
    }

    #[test]
    fn a_good_grade_of_the_few_that_arrived_is_doubted() {
        let good = ["verdict-rrul", "verdict-rrul-both"];
        assert_eq!(keys(0.01, 0.010), good);
        let doubted = ["verdict-rrul", "verdict-rrul-both", "verdict-rrul-lost"];
        assert_eq!(keys(0.4, 0.010), doubted);
        assert_eq!(keys(0.0, 0.3)[2], "verdict-rrul-next-up");
    }
}
