//! Section: the pairs of a group, layer by layer: what each reached, and which expectations it missed.

use sokudo_model::kinds::PairFigure;
use sokudo_model::pairs::{Pair, figures};
use sokudo_model::units::human;
use sokudo_model::{Metric, Severity, Stat, Summary, Text, Unit, metrics};

use crate::block::{Block, Cell, Column, Number, Phrase, Table};
use crate::matrix::matrix;
use crate::number::Scale;
use crate::view::View;

/// Hosts up to which every number is also shown from each host to each other.
const MATRIX_HOSTS: usize = 40;

/// A row per pair, and each number from each host to each other; nothing for other runs.
pub fn blocks(view: &View) -> Vec<Block> {
    let pairs = &view.pairs;
    if pairs.is_empty() {
        return Vec::new();
    }
    let mut hosts: Vec<&str> = pairs.iter().map(|pair| pair.from.as_str()).collect();
    hosts.dedup();
    let mut out = vec![Block::Table(table(pairs))];
    if (3..=MATRIX_HOSTS).contains(&hosts.len()) {
        out.extend(known(pairs).map(|figure| Block::Table(between(pairs, &hosts, figure))));
    }
    out
}

/// Numbers of the pairs that any of them has.
fn known(pairs: &[Pair]) -> impl Iterator<Item = &'static PairFigure> {
    let has = |figure: &&PairFigure| {
        pairs
            .iter()
            .any(|pair| pair.figures.contains_key(&figure.name()))
    };
    figures().filter(has)
}

/// Name of a number: `report-group-rr-latency-seconds-p99`.
fn title(figure: &PairFigure) -> Text {
    Text::new(format!(
        "report-group-{}",
        figure.name().replace(['.', '_'], "-")
    ))
}

fn between(pairs: &[Pair], hosts: &[&str], figure: &PairFigure) -> Table {
    matrix(title(figure), hosts, figure.metric.unit, |from, to| {
        let pair = pairs.iter().find(|p| p.from == from && p.to == to)?;
        pair.figures.get(&figure.name()).copied()
    })
}

/// One row per pair, those that fail first. Also the terminal's.
pub fn table(pairs: &[Pair]) -> Table {
    let shown: Vec<(&PairFigure, Scale)> = known(pairs)
        .map(|figure| {
            let values = pairs.iter().filter_map(|p| p.figures.get(&figure.name()));
            let scale = Scale::of(values.copied(), figure.metric.unit);
            (figure, scale)
        })
        .collect();
    let word = |key: &str| Column {
        title: Text::new(key).into(),
        unit: String::new(),
        numeric: false,
    };
    let mut columns = vec![word("report-group-pair")];
    columns.extend(shown.iter().map(|(figure, scale)| Column {
        title: title(figure).into(),
        unit: scale.unit.clone(),
        numeric: true,
    }));
    columns.push(word("report-group-outcome"));
    let (good, bad): (Vec<&Pair>, Vec<&Pair>) = pairs.iter().partition(|pair| pair.holds());
    let rows = bad.into_iter().chain(good).map(|pair| row(pair, &shown));
    Table {
        title: Text::new("report-group-table").into(),
        rows: rows.collect(),
        columns,
        marked: None,
        tools: true,
    }
}

fn row(pair: &Pair, figures: &[(&PairFigure, Scale)]) -> Vec<Cell> {
    let mut row = vec![Cell::word(format!("{} → {}", pair.from, pair.to))];
    row.extend(figures.iter().map(|(figure, scale)| {
        let value = pair.figures.get(&figure.name());
        value.map_or_else(Cell::missing, |v| Cell::number(scale.show(*v), *v))
    }));
    let outcome = match pair.holds() {
        true => Text::new("report-group-holds"),
        false => Text::new("report-group-fails").text("what", sokudo_analyze::pairs::wrong(pair)),
    };
    row.push(Cell::word(outcome));
    row
}

/// The few numbers of a group that matter; nothing for other runs.
pub fn numbers(view: &View) -> Vec<Number> {
    if view.pairs.is_empty() {
        return Vec::new();
    }
    let summary = &view.record.manifest.summary;
    let mut out = vec![held(&view.pairs)];
    let own = |metric: Metric| metric.of(summary);
    let detail = |key: &str, value: Option<f64>, unit| {
        let text = value.map(|value| Text::new(key).number("value", value, unit));
        text.map(Phrase::from)
    };
    if let Some(bits) = own(metrics::group::SLOWEST_PAIR_BITS_PER_SECOND) {
        let mut number = Number::new(human(bits, Unit::BitsPerSecond), "report-group-slowest");
        let middle = own(metrics::group::MEDIAN_PAIR_BITS_PER_SECOND);
        number
            .detail
            .extend(detail("report-group-middle", middle, Unit::BitsPerSecond));
        out.push(number);
    }
    if let Some(seconds) = own(metrics::group::WORST_PAIR_LATENCY_SECONDS) {
        let value = human(seconds, Unit::Seconds);
        out.push(Number::new(value, "report-group-latest"));
    }
    if let Some(loss) = own(metrics::group::WORST_PAIR_LOSS_RATIO) {
        let mut number = Number::new(human(loss, Unit::Ratio), "report-group-worst-loss");
        if loss > 0.0 {
            number.tone = Severity::Caution;
        }
        out.push(number);
    }
    if let Some(bits) = own(metrics::group::MESH_BITS_PER_SECOND) {
        let mut number = Number::new(human(bits, Unit::BitsPerSecond), "report-group-mesh");
        let (fairness, loss) = (
            own(metrics::group::MESH_FAIRNESS_RATIO),
            own(metrics::group::MESH_LOSS_RATIO),
        );
        let fairness = detail("report-group-mesh-fairness", fairness, Unit::One);
        let loss = detail("report-group-mesh-loss", loss, Unit::Ratio);
        number.detail.extend(fairness.into_iter().chain(loss));
        out.push(number);
    }
    out.extend(together(summary));
    out
}

fn held(pairs: &[Pair]) -> Number {
    let holds = pairs.iter().filter(|pair| pair.holds()).count();
    let text = Text::new("report-group-of")
        .word("n", holds.to_string())
        .word("all", pairs.len().to_string());
    let mut number = Number::new(text, "report-group-held");
    if holds < pairs.len() {
        number.tone = Severity::Bad;
    }
    number
}

/// Distance between the begins of a phase's loads, and the precision of the comparison of clocks.
fn together(summary: &Summary) -> Option<Number> {
    let spread = summary
        .get(&metrics::group::START_SPREAD_SECONDS.stat(Stat::Max))
        .copied()?;
    let mut number = Number::new(human(spread, Unit::Seconds), "report-group-spread");
    let error = summary
        .get(&metrics::group::CLOCK_ERROR_SECONDS.stat(Stat::Max))
        .copied();
    let error =
        error.map(|error| Text::new("report-number-clock").number("error", error, Unit::Seconds));
    number.detail.extend(error.map(Phrase::from));
    Some(number)
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::{I18n, Lang};

    use super::*;

    /// A layer that is added brings its number, and a table must not head it by a key.
    #[test]
    fn every_number_of_a_pair_has_a_name() {
        for lang in Lang::ALL {
            let i18n = I18n::new(lang);
            for figure in figures() {
                let key = title(figure).key;
                assert!(i18n.has(&key), "{lang:?}: {key}");
            }
        }
    }
}
