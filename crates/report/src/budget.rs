//! The time of a request, stage by stage.
//!
//! The means of the stages add up to the mean of the whole, so they may be stacked: one bar per
//! label, a layer per stage over time, one line on a terminal. Computed from numbers that the
//! measurement left, never from percentiles, which do not add up.

use std::collections::BTreeMap;

use sokudo_model::kinds::http;
use sokudo_model::spent::{N_STAGES, STAGE_MEANS, STAGES};
use sokudo_model::units::human;
use sokudo_model::{PhaseRecord, Series, Summary, Text, Unit};

use crate::bars::Bars;
use crate::block::{Block, Cell, Column, Number, Phrase, Table};
use crate::chart::{self, Chart, ChartKind, Line, Points};
use crate::number::Scale;
use crate::tracks;
use crate::view::View;

/// Bars at most: the flows with the most requests.
const MOST_BARS: usize = 24;
/// A stage with less of the whole time than this is left out of drawings.
const LEAST_SHARE: f64 = 0.002;
/// Cells of the bar on a terminal.
const CELLS: usize = 32;
/// Characters that fill the bar on a terminal, one per stage: distinguishable without colour.
const FILLS: [char; N_STAGES] = ['·', '╌', '▒', '░', '▪', '█', '▓'];
/// Place of each stage in the palette of layers: the server's share is the calm blue.
const COLOURS: [usize; N_STAGES] = [5, 1, 3, 4, 6, 0, 2];

const REQUESTS: &str = http::REQUESTS.name;
const RATE: &str = http::REQUESTS_PER_SECOND.name;

/// Mean seconds in each stage.
type Means = [f64; N_STAGES];

/// The stages in these numbers; `None` where they were not taken.
fn means(numbers: &Summary) -> Option<Means> {
    // A record from elsewhere may hold anything.
    let each = STAGE_MEANS.map(|mean| mean.of(numbers).filter(|mean| *mean >= 0.0));
    let whole: f64 = each.iter().flatten().sum();
    (whole > 0.0 && whole.is_finite()).then(|| each.map(|mean| mean.unwrap_or(0.0)))
}

/// The stages with a visible share, given the times that several bars or moments spent in them.
fn seen(all: &[Means]) -> Vec<usize> {
    let visible = |means: &Means, stage: usize| {
        let whole: f64 = means.iter().sum();
        means[stage] > whole * LEAST_SHARE
    };
    let stages = 0..N_STAGES;
    stages
        .filter(|stage| all.iter().any(|means| visible(means, *stage)))
        .collect()
}

fn name(stage: usize) -> Phrase {
    Text::new(format!("report-stage-{}", STAGES[stage])).into()
}

/// The mean time of a request and its stages, largest first.
pub fn number(phase: &PhaseRecord) -> Option<Number> {
    let means = means(&phase.result.summary)?;
    let whole = human(means.iter().sum(), Unit::Seconds);
    let mut number = Number::new(whole, "report-number-budget");
    number.detail = told(&means).map(|(_, says)| says).collect();
    Some(number)
}

/// The same for a terminal: the bar first, and every stage behind the sign that fills its part.
pub fn line(phase: &PhaseRecord, say: impl Fn(&Phrase) -> String) -> Option<(Number, Vec<String>)> {
    let means = means(&phase.result.summary)?;
    let stages = told(&means).map(|(stage, says)| format!("{} {}", FILLS[stage], say(&says)));
    let detail = std::iter::once(bar(&means)).chain(stages).collect();
    Some((number(phase)?, detail))
}

/// Stages with a share worth mentioning, largest first.
fn told(means: &Means) -> impl Iterator<Item = (usize, Phrase)> {
    let mut stages = seen(std::slice::from_ref(means));
    stages.sort_by(|a, b| means[*b].total_cmp(&means[*a]));
    let means = *means;
    stages.into_iter().map(move |stage| {
        let key = format!("report-stage-{}-of", STAGES[stage]);
        let text = Text::new(key).number("value", means[stage], Unit::Seconds);
        (stage, text.into())
    })
}

/// The stages as a bar of characters, in the order in which they take place.
fn bar(means: &Means) -> String {
    let whole: f64 = means.iter().sum();
    let mut out = String::from("▕");
    let (mut before, mut filled) = (0.0, 0);
    for (fill, mean) in FILLS.into_iter().zip(means) {
        before += mean;
        let until = (before / whole * CELLS as f64).round() as usize;
        out.extend(std::iter::repeat_n(fill, until - filled));
        filled = until;
    }
    out.push('▏');
    out
}

/// Bars and table of a phase; nothing where no stages were taken.
pub fn blocks(phase: &PhaseRecord) -> Vec<Block> {
    let Some(all) = means(&phase.result.summary) else {
        return Vec::new();
    };
    let count = |numbers: &Summary| numbers.get(REQUESTS).copied().unwrap_or(0.0);
    let total = Row {
        name: Text::new("jtl-total").into(),
        requests: count(&phase.result.summary),
        means: all,
    };
    let hosts = crate::view::hosts_that_ask(phase).len();
    let flows = phase.result.flows.iter().filter_map(|flow| {
        let name = match hosts {
            0 | 1 => flow.to.clone(),
            _ => crate::view::flow_name(flow),
        };
        Some(Row {
            name: name.into(),
            requests: count(&flow.metrics),
            means: means(&flow.metrics)?,
        })
    });
    let mut flows: Vec<Row> = flows.collect();
    flows.sort_by(|a, b| b.requests.total_cmp(&a.requests));
    let mut rows = vec![total];
    if flows.len() > 1 {
        rows.extend(flows);
    }
    drawn(rows, "report-budget-note")
}

/// One bar.
pub struct Row {
    /// Subject of the budget; foreign text.
    pub name: Phrase,
    /// Requests that it is the mean of.
    pub requests: f64,
    /// Mean seconds in each stage.
    pub means: Means,
}

/// Bars for the first rows and a table of all of them; nothing without rows.
pub fn drawn(rows: Vec<Row>, note: &str) -> Vec<Block> {
    let all: Vec<Means> = rows.iter().map(|row| row.means).collect();
    let stages = seen(&all);
    if stages.is_empty() {
        return Vec::new();
    }
    let bars = Bars {
        title: Text::new("report-budget-title").into(),
        note: Text::new(note).into(),
        unit: Unit::Seconds,
        parts: stages.iter().map(|s| (name(*s), COLOURS[*s])).collect(),
        rows: rows
            .iter()
            .take(MOST_BARS)
            .map(|row| {
                let values = stages.iter().map(|s| row.means[*s]);
                (row.name.clone(), values.collect())
            })
            .collect(),
    };
    vec![
        Block::Bars(Box::new(bars)),
        Block::Table(table(&rows, &stages)),
    ]
}

fn table(rows: &[Row], stages: &[usize]) -> Table {
    let whole = |row: &Row| row.means.iter().sum::<f64>();
    let scale = Scale::of(rows.iter().map(whole), Unit::Seconds);
    let column = |title: Phrase, unit: &str, numeric| Column {
        title,
        unit: unit.into(),
        numeric,
    };
    let mut columns = vec![
        column(Text::new("jtl-label").into(), "", false),
        column(Text::new("jtl-requests").into(), "", true),
    ];
    columns.extend(stages.iter().map(|s| column(name(*s), &scale.unit, true)));
    let sum = Text::new("report-budget-whole").into();
    columns.push(column(sum, &scale.unit, true));
    let cells = |row: &Row| {
        let count = sokudo_model::units::grouped(row.requests as u64);
        let mut cells = vec![
            Cell::word(row.name.clone()),
            Cell::number(count, row.requests),
        ];
        let values = stages.iter().map(|s| row.means[*s]);
        let values = values.chain(std::iter::once(whole(row)));
        cells.extend(values.map(|value| Cell::number(scale.show(value), value)));
        cells
    };
    Table {
        title: Text::new("report-budget-table").into(),
        columns,
        rows: rows.iter().map(cells).collect(),
        marked: Some(0),
        tools: true,
    }
}

/// The stages over time as layers: means over all flows, each with the weight of its requests.
pub fn over_time(view: &View) -> Option<Chart> {
    let rates: BTreeMap<_, &Series> = view
        .record
        .series_of(RATE)
        .map(|series| ((&series.key.host, &series.key.labels), series))
        .collect();
    let end = view.end_ns().max(1);
    let first = rates.values().next()?;
    let columns = (chart::columns_for(&first.points, 0, end) * 2).min(chart::MAX_COLUMNS);
    let cells = |series: &Series| tracks::mean_cells(&series.points, end, columns);
    let rates: BTreeMap<_, Points> = rates.into_iter().map(|(key, s)| (key, cells(s))).collect();
    // Per cell: seconds per second spent in each stage, and requests per second.
    let mut spent = vec![([0.0; N_STAGES], 0.0); columns];
    let mut times = Vec::new();
    for (stage, metric) in STAGE_MEANS.iter().enumerate() {
        for series in view.record.series_of(metric) {
            let Some(rate) = rates.get(&(&series.key.host, &series.key.labels)) else {
                continue;
            };
            let means = cells(series);
            for (cell, ((_, mean), (_, rate))) in spent.iter_mut().zip(means.iter().zip(rate)) {
                let (Some(mean), Some(rate)) = (mean, rate) else {
                    continue;
                };
                cell.0[stage] += mean * rate;
                // Every stage has the same moments: one of them counts the requests.
                cell.1 += if stage == 0 { *rate } else { 0.0 };
            }
            times = means.into_iter().map(|(t, _)| t).collect();
        }
    }
    let cells = times.into_iter().zip(spent);
    let phases = &view.record.manifest.phases;
    let is_measured = |t: i64| phases.iter().any(|p| (p.t0_ns..=p.t1_ns).contains(&t));
    let cells = cells.map(|(t, (spent, rate))| {
        let is_known = rate > 0.0 && is_measured(t);
        let means = is_known.then(|| spent.map(|s| s / rate));
        (t, means)
    });
    layers(cells.collect(), "report-over-time-budget")
}

/// Layers of the stages over time; moments without requests are gaps.
pub fn layers(moments: Vec<(i64, Option<Means>)>, title: &str) -> Option<Chart> {
    let known: Vec<Means> = moments.iter().filter_map(|(_, means)| *means).collect();
    let mut whole = [0.0; N_STAGES];
    for means in &known {
        whole.iter_mut().zip(means).for_each(|(sum, m)| *sum += m);
    }
    let stages = seen(&[whole]);
    let line = |stage: &usize| Line {
        label: name(*stage),
        colour: COLOURS[*stage],
        dashed: false,
        points: moments
            .iter()
            .map(|(t, means)| (*t, means.map(|means| means[*stage])))
            .collect(),
    };
    let lines: Vec<Line> = stages.iter().map(line).collect();
    (!lines.is_empty()).then(|| Chart {
        id: "budget".into(),
        title: Text::new(title).into(),
        note: None,
        kind: ChartKind::Stack,
        unit: Unit::Seconds,
        log_switch: false,
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_always_full_and_keeps_the_order() {
        let bar = bar(&[0.0, 0.0, 1.0, 0.0, 0.0, 6.0, 1.0]);
        assert_eq!(
            bar,
            format!("▕{}{}{}▏", "▒".repeat(4), "█".repeat(24), "▓".repeat(4))
        );
        let uneven = super::bar(&[1e-9, 3.0, 0.3, 0.1, 7.0, 1e-3, 0.01]);
        assert_eq!(uneven.chars().count(), CELLS + 2);
    }

    #[test]
    fn stages_that_take_no_time_are_left_out() {
        assert_eq!(seen(&[[0.0, 0.0, 1.0, 0.0, 0.001, 9.0, 0.5]]), [2, 5, 6]);
        assert!(means(&Summary::new()).is_none());
    }

    /// In a forged record: a stage of less than no time would be drawn with as many cells as there are numbers.
    #[test]
    fn stages_of_less_than_no_time_are_none() {
        let mut numbers = Summary::new();
        for mean in STAGE_MEANS {
            numbers.insert(mean.name.into(), 5.0);
        }
        numbers.insert(STAGE_MEANS[1].name.into(), -25.0);
        let means = means(&numbers).expect("the others took time");
        assert_eq!((means[0], means[1]), (5.0, 0.0));
        assert_eq!(bar(&means).chars().count(), CELLS + 2);
    }
}
