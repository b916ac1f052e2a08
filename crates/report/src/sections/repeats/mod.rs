//! Section: repeated runs: the median of each key figure with its interval, and every run by itself; the
//! medians of each layer of a check.

use sokudo_model::units::{human, percent};
use sokudo_model::{PhaseRecord, Text, Unit};
use sokudo_stats::Repeats;
use sokudo_stats::repeats::Figure;

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::names;
use crate::number::{Scale, count};
use crate::placement;
use crate::view::{Generator, View};

/// The medians and the runs; nothing when nothing was repeated.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(repeats) = &view.repeats else {
        let layers = (!view.turns.is_empty()).then(|| Block::Table(layers(&view.turns)));
        let note = || Block::Paragraph(Text::new("report-repeats-note").into());
        return layers
            .into_iter()
            .flat_map(|table| [table, note()])
            .collect();
    };
    vec![
        Block::Table(medians(repeats)),
        Block::Paragraph(Text::new("report-repeats-note").into()),
        Block::Table(runs(view, repeats)),
    ]
}

fn column(title: impl Into<Phrase>, unit: &str, numeric: bool) -> Column {
    Column {
        title: title.into(),
        unit: unit.into(),
        numeric,
    }
}

/// One row per key figure. Also the terminal's.
pub fn medians(repeats: &Repeats) -> Table {
    let titles = [
        "report-repeats-median",
        "report-repeats-low",
        "report-repeats-high",
        "report-repeats-confidence",
        "report-repeats-min",
        "report-repeats-max",
        "report-repeats-runs",
    ];
    let rows = repeats.figures.iter().map(|figure| {
        let [ends @ .., n] = interval(figure);
        let spread = &figure.spread;
        let range = [spread.min, spread.max].map(|value| number(figure, value));
        let cells = std::iter::once(Cell::word(name(figure)));
        cells.chain(ends).chain(range).chain([n]).collect()
    });
    let key = Text::new("report-repeats-medians");
    table(key, &["report-repeats-figure"], &titles, rows.collect())
}

/// One row per layer of a check and key figure; a share of losses only where there were some. Also the
/// terminal's.
pub fn layers(turns: &[(&str, Repeats)]) -> Table {
    let titles = [
        "report-repeats-median",
        "report-repeats-low",
        "report-repeats-high",
        "report-repeats-confidence",
        "report-repeats-runs",
    ];
    let is_told = |figure: &&Figure| figure.metric.unit != Unit::Ratio || figure.spread.max > 0.0;
    let rows = turns.iter().flat_map(|(layer, repeats)| {
        let figures = repeats.figures.iter().filter(is_told);
        figures.map(|figure| {
            let figure_name = match figure.stat.is_none() && figure.metric.unit != Unit::Ratio {
                true => Text::new("report-repeats-rate").into(),
                false => name(figure),
            };
            let words = [Cell::word((*layer).to_owned()), Cell::word(figure_name)];
            words.into_iter().chain(interval(figure)).collect()
        })
    });
    let words = ["report-repeats-layer", "report-repeats-figure"];
    let key = Text::new("report-repeats-layers");
    table(key, &words, &titles, rows.collect())
}

fn table(title: Text, words: &[&str], numbers: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    let words = words.iter().map(|key| (key, false));
    let columns = words.chain(numbers.iter().map(|key| (key, true)));
    Table {
        title: title.into(),
        rows,
        columns: columns
            .map(|(key, numeric)| column(Text::new(*key), "", numeric))
            .collect(),
        marked: None,
        tools: true,
    }
}

/// Median, its interval with the confidence, and the number of values of a figure.
fn interval(figure: &Figure) -> [Cell; 5] {
    let spread = &figure.spread;
    let of = |end: fn(&sokudo_stats::Interval) -> f64| spread.interval.as_ref().map(end);
    let end = |value: Option<f64>| value.map_or_else(Cell::missing, |value| number(figure, value));
    let confidence = of(|it| it.confidence);
    let confidence = confidence.map(|share| Cell::number(percent(share), share));
    let n = spread.n as f64;
    [
        number(figure, spread.median),
        end(of(|it| it.low)),
        end(of(|it| it.high)),
        confidence.unwrap_or_else(Cell::missing),
        Cell::number(count(n), n),
    ]
}

fn number(figure: &Figure, value: f64) -> Cell {
    Cell::number(human(value, figure.metric.unit), value)
}

/// Short name of a figure: a rate or a share by its metric, a latency by its percentile.
fn name(figure: &Figure) -> Phrase {
    match figure.stat {
        Some(stat) => stat.name().into(),
        None if figure.metric.unit == Unit::Ratio => Text::new("report-curve-lost").into(),
        None => names::metric(figure.metric.name),
    }
}

/// One row per run, the one in the middle marked. Also the terminal's.
pub fn runs(view: &View, repeats: &Repeats) -> Table {
    let scales: Vec<Option<Scale>> = repeats.figures.iter().map(scale).collect();
    let figures = || repeats.figures.iter().zip(&scales);
    let mut columns = vec![column(Text::new("report-repeats-run"), "", false)];
    columns.extend(figures().map(|(figure, scale)| {
        let unit = scale.as_ref().map_or("", |scale| &scale.unit);
        column(name(figure), unit, true)
    }));
    columns.push(column(Text::new("report-number-generator"), "", false));
    columns.push(column(Text::new("report-repeats-cores"), "", false));
    let phases = &view.record.manifest.phases;
    let rows = repeats.phases.iter().enumerate().map(|(at, name)| {
        let phase = phases.iter().rfind(|phase| phase.name == *name);
        let mut row = vec![Cell::word(name.clone())];
        row.extend(
            figures().map(|(figure, scale)| match (figure.values[at], scale) {
                (Some(value), Some(scale)) => Cell::number(scale.show(value), value),
                (Some(value), None) => Cell::number(human(value, figure.metric.unit), value),
                (None, _) => Cell::missing(),
            }),
        );
        row.push(Cell::word(health(view, phase)));
        let cores = phase.and_then(|phase| placement::words(view.record, phase));
        row.push(cores.map_or_else(Cell::missing, Cell::word));
        row
    });
    Table {
        title: Text::new("report-repeats-each").into(),
        rows: rows.collect(),
        columns,
        marked: Some(repeats.middle),
        tools: true,
    }
}

/// One prefix for a column; times of very different size have one each.
fn scale(figure: &Figure) -> Option<Scale> {
    let values = figure.values.iter().copied().flatten();
    match figure.metric.unit {
        Unit::Seconds => None,
        unit => Some(Scale::of(values, unit)),
    }
}

fn health(view: &View, phase: Option<&PhaseRecord>) -> Phrase {
    Text::new(match phase.map(|phase| view.generator(phase)) {
        Some(Generator::Valid) => "report-generator-valid",
        Some(Generator::Limit) => "report-generator-limit",
        Some(Generator::Disturbed) => "report-generator-disturbed",
        Some(Generator::Unknown) | None => "report-generator-unknown",
    })
    .into()
}
