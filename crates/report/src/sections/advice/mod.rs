//! Section: what a replication was predicted to take, what was tried, and which settings were chosen.

use sokudo_model::advice::{Advice, Candidate};
use sokudo_model::units::{human, percent};
use sokudo_model::{Text, Unit};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::count;
use crate::view::View;

/// The settings with their predictions and trials, what they rest on, and the rules of thumb; nothing when
/// nothing was predicted.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(advice) = &view.record.manifest.advice else {
        return Vec::new();
    };
    let mut blocks = vec![Block::Table(settings(advice))];
    if advice.chosen.is_some() {
        blocks.push(Block::Paragraph(Text::new("report-advice-note").into()));
    }
    blocks.push(Block::Table(basis(advice)));
    if !advice.rules.is_empty() {
        blocks.push(Block::Heading(Text::new("report-advice-rules").into()));
        blocks.extend(rules(advice).into_iter().map(Block::Paragraph));
    }
    blocks
}

fn column(key: &str, numeric: bool) -> Column {
    Column {
        title: Text::new(key).into(),
        unit: String::new(),
        numeric,
    }
}

fn number(value: f64, unit: Unit) -> Cell {
    Cell::number(human(value, unit), value)
}

fn or_missing(value: Option<f64>, unit: Unit) -> Cell {
    value.map_or_else(Cell::missing, |value| number(value, unit))
}

/// One row per setting, the chosen one marked. Also the terminal's.
pub fn settings(advice: &Advice) -> Table {
    let has_trials = advice.candidates.iter().any(|it| !it.trials.is_empty());
    let mut columns = vec![
        column("report-advice-level", false),
        column("report-advice-connections", true),
        column("report-advice-batch", true),
        column("report-advice-predicted", true),
        column("report-advice-range", true),
        column("report-advice-rate", true),
        column("report-advice-stage", false),
    ];
    if has_trials {
        columns.push(column("report-advice-measured", true));
        columns.push(column("report-advice-error", true));
    }
    let rows = advice.candidates.iter().map(|it| row(it, has_trials));
    Table {
        title: Text::new("report-advice-settings").into(),
        columns,
        rows: rows.collect(),
        marked: advice.chosen,
        tools: true,
    }
}

fn row(candidate: &Candidate, has_trials: bool) -> Vec<Cell> {
    let predicted = &candidate.predicted;
    let range = format!(
        "{}–{}",
        human(predicted.low_s, Unit::Seconds),
        human(predicted.high_s, Unit::Seconds)
    );
    let level: Phrase = match candidate.is_default {
        true => Text::new("report-advice-usual")
            .word("level", &candidate.level)
            .into(),
        false => candidate.level.clone().into(),
    };
    let mut row = vec![
        Cell::word(level),
        Cell::number(
            count(f64::from(candidate.connections)),
            f64::from(candidate.connections),
        ),
        number(candidate.batch_bytes as f64, Unit::Bytes),
        number(predicted.seconds, Unit::Seconds),
        Cell::word(range),
        number(predicted.bytes_per_s, Unit::BytesPerSecond),
        Cell::word(stage(&predicted.stage)),
    ];
    if has_trials {
        let off = candidate.measured_over_predicted();
        row.push(or_missing(
            candidate.measured_bytes_per_s(),
            Unit::BytesPerSecond,
        ));
        row.push(off.map_or_else(Cell::missing, |off| {
            let off = 1.0 / off - 1.0;
            let sign = if off < 0.0 { "−" } else { "+" };
            Cell::number(format!("{sign}{}", percent(off.abs())), off)
        }));
    }
    row
}

/// A stage in words.
fn stage(name: &str) -> Text {
    Text::new(format!("advice-stage-{name}"))
}

/// Basis of the predictions.
fn basis(advice: &Advice) -> Table {
    let basis = &advice.basis;
    let ratios: Vec<String> = basis
        .levels
        .iter()
        .map(|(ratio, _)| format!("{ratio:.2}"))
        .collect();
    let speeds = basis.levels.iter();
    let speeds: Vec<String> = speeds
        .map(|(_, speed)| human(*speed, Unit::BytesPerSecond))
        .collect();
    let create = match basis.disk_is_guess {
        true => Cell::word(Text::new("report-advice-guess")),
        false => number(basis.create_s, Unit::Seconds),
    };
    let rows = [
        ("files", Cell::number(count(basis.files), basis.files)),
        ("bytes", number(basis.bytes, Unit::Bytes)),
        (
            "dense",
            Cell::number(percent(basis.dense_ratio), basis.dense_ratio),
        ),
        ("ratios", Cell::word(ratios.join(" · "))),
        ("speeds", Cell::word(speeds.join(" · "))),
        ("way", number(basis.way_bytes_per_s, Unit::BytesPerSecond)),
        (
            "connection",
            or_missing(basis.connection_bytes_per_s, Unit::BytesPerSecond),
        ),
        ("rtt", number(basis.rtt_s, Unit::Seconds)),
        (
            "sender",
            Cell::number(format!("{:.2}", basis.sender_cores), basis.sender_cores),
        ),
        (
            "receiver",
            Cell::number(format!("{:.2}", basis.receiver_cores), basis.receiver_cores),
        ),
        ("create", create),
    ];
    let rows = rows.map(|(key, cell)| {
        let title = Text::new(format!("report-advice-basis-{key}"));
        vec![Cell::word(title), cell]
    });
    Table {
        title: Text::new("report-advice-basis").into(),
        columns: vec![
            column("report-advice-quantity", false),
            column("report-advice-value", true),
        ],
        rows: rows.into(),
        marked: None,
        tools: false,
    }
}

/// A sentence per rule of thumb. Also the terminal's.
pub fn rules(advice: &Advice) -> Vec<Phrase> {
    let says = advice.rules.iter().map(|rule| {
        let verdict = match rule.holds {
            Some(true) => "advice-rule-holds",
            Some(false) => "advice-rule-fails",
            None => "advice-rule-untold",
        };
        Text::new(verdict)
            .text("rule", Text::new(format!("advice-rule-{}", rule.name)))
            .number("with", rule.seconds.0, Unit::Seconds)
            .number("without", rule.seconds.1, Unit::Seconds)
            .into()
    });
    says.collect()
}
