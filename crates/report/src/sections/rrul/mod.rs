//! Section: latency idle and under load, the definition of the grade, and the round trips of each part.

use sokudo_model::kinds::probe;
use sokudo_model::units::{human, percent};
use sokudo_model::{Severity, Text, Unit};
use sokudo_stats::rrul::{Grade, Measured, Part, UnderLoad};

use crate::block::{Block, Cell, Column, Number, Phrase, Table};
use crate::number::Scale;
use crate::plane::{Axis, Mark, Plane, Trace};
use crate::view::View;

/// The table of the parts, the definition and the drawing; nothing when no part was measured.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(found) = sokudo_analyze::rrul::of(view.record) else {
        return Vec::new();
    };
    vec![
        Block::Table(parts(&found)),
        Block::Paragraph(sokudo_analyze::rrul::definition().into()),
        Block::Plane(Box::new(shares(view, &found))),
    ]
}

/// The few that matter: the grade, and what each part does to a round trip.
pub fn numbers(found: &UnderLoad) -> Vec<Number> {
    let mut out = Vec::new();
    if let (Some(grade), Some(added_s)) = (found.grade(), found.graded_s()) {
        let mut number = Number::new(grade.letter(), "report-rrul-grade");
        number.also("report-rrul-adds", Some(added_s), Unit::Seconds);
        if grade > Grade::B {
            number.tone = Severity::Caution;
        }
        out.push(number);
    }
    for it in &found.parts {
        let Some(times) = it.datagrams else {
            continue;
        };
        let label = format!("report-rrul-median-{}", it.part.name());
        let mut number = Number::new(human(times.p50_s, Unit::Seconds), &label);
        number.also("report-rrul-within", Some(times.p99_s), Unit::Seconds);
        let lost = it.lost_ratio.filter(|lost| *lost > 0.0);
        number.also("report-rrul-lost-of-it", lost, Unit::Ratio);
        out.push(number);
    }
    out
}

fn part_name(part: Part) -> Phrase {
    Text::new(format!("report-rrul-{}", part.name())).into()
}

/// One row per part: round trips, what the load adds, and what it carried. Also the terminal's.
pub fn parts(found: &UnderLoad) -> Table {
    let bits = found.parts.iter();
    let bits = bits.flat_map(|it| [it.up_bits_per_s, it.down_bits_per_s]);
    let bits = Scale::of(bits.flatten(), Unit::BitsPerSecond);
    let column = |name: &str, unit: &str, numeric| Column {
        title: Text::new(format!("report-rrul-{name}")).into(),
        unit: unit.into(),
        numeric,
    };
    let columns = vec![
        column("load", "", false),
        column("udp-p50", "", true),
        column("udp-p99", "", true),
        column("added", "", true),
        column("tcp-p50", "", true),
        column("tcp-p99", "", true),
        column("lost", "", true),
        column("goodput-up", &bits.unit, true),
        column("goodput-down", &bits.unit, true),
    ];
    let rate =
        |value: Option<f64>| value.map_or_else(Cell::missing, |v| Cell::number(bits.show(v), v));
    // From microseconds to seconds: each has its own unit.
    let time = |value: Option<f64>| {
        value.map_or_else(Cell::missing, |s| Cell::number(human(s, Unit::Seconds), s))
    };
    let row = |it: &Measured| {
        let added_s = found.added_s(it.part).filter(|_| it.part != Part::Idle);
        let lost = it
            .lost_ratio
            .map(|share| Cell::number(percent(share), share));
        vec![
            Cell::word(part_name(it.part)),
            time(it.datagrams.map(|it| it.p50_s)),
            time(it.datagrams.map(|it| it.p99_s)),
            time(added_s),
            time(it.tcp.map(|it| it.p50_s)),
            time(it.tcp.map(|it| it.p99_s)),
            lost.unwrap_or_else(Cell::missing),
            rate(it.up_bits_per_s),
            rate(it.down_bits_per_s),
        ]
    };
    Table {
        title: Text::new("report-rrul-parts").into(),
        rows: found.parts.iter().map(row).collect(),
        columns,
        marked: None,
        tools: true,
    }
}

/// Round trips of datagrams by part: which share took at most so long.
fn shares(view: &View, found: &UnderLoad) -> Plane {
    let traces = found.parts.iter().enumerate().filter_map(|(at, it)| {
        it.datagrams?;
        Some(Trace {
            label: part_name(it.part),
            colour: at,
            mark: Mark::Line,
            points: distribution(view, it.part),
        })
    });
    Plane {
        title: Text::new("report-rrul-title").into(),
        note: Text::new("report-rrul-note").into(),
        x: Axis {
            title: Text::new("report-rrul-rtt").into(),
            unit: Unit::Seconds,
        },
        y: Axis {
            title: Text::new("report-rrul-share").into(),
            unit: Unit::Ratio,
        },
        traces: traces.collect(),
    }
}

/// Points of a drawn distribution at most.
const POINTS_MAX: usize = 200;

/// `(round trip, share of datagrams that took at most so long)` of a part.
fn distribution(view: &View, part: Part) -> Vec<(f64, f64)> {
    let mut phases = view.record.manifest.phases.iter();
    let Some(phase) = phases.find(|p| Part::of(p) == Some(part)) else {
        return Vec::new();
    };
    let series = view.record.series_of(probe::EACH_RTT_SECONDS);
    let points = series.flat_map(|series| &series.points);
    let own = points.filter(|(t_ns, _)| (phase.t0_ns..phase.t1_ns).contains(t_ns));
    let mut times: Vec<f64> = own.map(|(_, rtt_s)| *rtt_s).collect();
    times.sort_by(f64::total_cmp);
    let n = times.len();
    let step = n.div_ceil(POINTS_MAX).max(1);
    let at = (0..n).filter(|at| at % step == 0 || at + 1 == n);
    at.map(|at| (times[at], (at + 1) as f64 / n as f64))
        .collect()
}
