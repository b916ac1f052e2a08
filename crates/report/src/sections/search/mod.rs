//! Section: the trials of a search for the highest rate without loss.

use sokudo_model::{Text, Unit};

use crate::block::{Block, Cell, Column, Table};
use crate::knee::{self, Knee};
use crate::number::Scale;
use crate::view::View;

/// The knee chart and the trials as a table; nothing when the record holds no search.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(knee) = knee::knee(view.record) else {
        return Vec::new();
    };
    let table = Block::Details {
        title: Text::new("report-search-trials").into(),
        open: false,
        blocks: vec![Block::Table(table(&knee))],
    };
    vec![Block::Knee(Box::new(knee)), table]
}

fn table(knee: &Knee) -> Table {
    let offered = Scale::of(knee.trials.iter().map(|t| t.offered), Unit::BitsPerSecond);
    let loss = Scale::of(knee.trials.iter().map(|t| t.loss), Unit::Ratio);
    let column = |key: &str, unit: &str, numeric| Column {
        title: Text::new(key).into(),
        unit: unit.into(),
        numeric,
    };
    let rows = knee.trials.iter().map(|trial| {
        let purpose = match (trial.confirm, trial.unlimited) {
            (true, _) => "report-search-confirm",
            (false, true) => "report-search-unlimited",
            (false, false) => "report-search-probe",
        };
        vec![
            Cell::word(trial.name.clone()),
            Cell::word(Text::new(purpose)),
            Cell::number(offered.show(trial.offered), trial.offered),
            Cell::number(offered.show(trial.delivered), trial.delivered),
            Cell::number(loss.show(trial.loss), trial.loss),
        ]
    });
    Table {
        title: Text::new("report-search-trials").into(),
        columns: vec![
            column("report-column-phase", "", false),
            column("report-column-purpose", "", false),
            column("report-search-offered", &offered.unit, true),
            column("report-search-delivered", &offered.unit, true),
            column("report-search-lost", &loss.unit, true),
        ],
        rows: rows.collect(),
        marked: knee.trials.iter().rposition(|t| t.confirm),
        tools: true,
    }
}
