//! Section: the curve of a sweep: throughput and latency over rising load, and its steps as a table.

use sokudo_model::units::human;
use sokudo_model::{RunStatus, Text, Unit};
use sokudo_stats::{Curve, CurveStep, Knee, curve_of};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::Scale;
use crate::view::View;

/// The curve with its knee, and the steps as a table; nothing when nothing was swept.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(curve) = curve_of(&view.record.manifest.phases) else {
        return Vec::new();
    };
    let table = Block::Table(table(&curve));
    match curve.subject() {
        Some(_) => vec![Block::Curve(Box::new(curve)), table],
        None => vec![table],
    }
}

/// A column of numbers: heading, unit, value of a step.
type Figures = (&'static str, Unit, fn(&CurveStep) -> Option<f64>);

/// One row per step, the knee marked. Also the terminal's.
pub fn table(curve: &Curve) -> Table {
    let unit = curve.names.delivered.unit;
    let all: [Figures; 5] = [
        ("report-curve-offered", unit, |step| step.offered),
        ("report-curve-carried", unit, |step| step.delivered),
        ("report-curve-p50", Unit::Seconds, |step| step.p50_s),
        ("report-curve-p99", Unit::Seconds, |step| step.p99_s),
        ("report-curve-lost", Unit::Ratio, |step| step.lost),
    ];
    // Where the load itself is not varied, what was carried was offered.
    let known = |figures: &Figures| {
        let told = curve.is_rate() || figures.0 != "report-curve-offered";
        told && curve.steps.iter().any(|step| figures.2(step).is_some())
    };
    let figures: Vec<Figures> = all.into_iter().filter(known).collect();
    let scales: Vec<Option<Scale>> = figures
        .iter()
        .map(|(_, unit, of)| match unit {
            // From microseconds below the knee to seconds above it: no one prefix fits.
            Unit::Seconds => None,
            unit => Some(Scale::of(curve.steps.iter().filter_map(of), *unit)),
        })
        .collect();
    let column = |title: Phrase, unit: &str, numeric| Column {
        title,
        unit: unit.into(),
        numeric,
    };
    let mut columns = vec![column(curve.option.clone().into(), "", true)];
    let numbers = figures.iter().zip(&scales);
    columns.extend(numbers.map(|((key, ..), scale)| {
        let unit = scale.as_ref().map_or("", |scale| &scale.unit);
        column(Text::new(*key).into(), unit, true)
    }));
    let rows = curve.steps.iter().map(|step| {
        let mut row = vec![value(step)];
        let numbers = figures.iter().zip(&scales);
        row.extend(
            numbers.map(|((_, unit, of), scale)| match (of(step), scale) {
                (Some(value), Some(scale)) => Cell::number(scale.show(value), value),
                (Some(value), None) => Cell::number(human(value, *unit), value),
                (None, _) => Cell::missing(),
            }),
        );
        row
    });
    Table {
        title: Text::new("report-curve-steps").into(),
        rows: rows.collect(),
        columns,
        marked: match curve.knee {
            Knee::At(at, _) => Some(at),
            _ => None,
        },
        tools: true,
    }
}

/// The value of the step, and its status when it failed.
fn value(step: &CurveStep) -> Cell {
    let how = match step.status {
        RunStatus::Ok => {
            let says = step.value.clone();
            return Cell {
                value: step.number,
                ..Cell::word(says)
            };
        }
        RunStatus::Failed => "report-phase-failed",
        RunStatus::Partial => "report-phase-partial",
        RunStatus::Running => "report-phase-running",
    };
    let value = Text::new("report-phase-plain").word("name", &step.value);
    let says = Text::new("report-phase-ended")
        .text("phase", value)
        .text("how", Text::new(how));
    Cell::word(says)
}
