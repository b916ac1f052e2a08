//! Section: the commands that repeat the measurement.

use sokudo_model::secrets::HIDDEN;
use sokudo_model::{Text, units};

use crate::block::{Block, Cell, Column, Table};
use crate::view::View;

/// The command, what fixes the run's identity, and what was checked.
pub fn blocks(view: &View) -> Vec<Block> {
    let manifest = &view.record.manifest;
    let mut out = vec![Block::Paragraph(Text::new("report-rerun-how").into())];
    if !manifest.command.is_empty() {
        out.push(Block::Command(command(&manifest.command)));
    }
    if manifest.command.iter().any(|word| word.contains(HIDDEN)) {
        out.push(Block::Paragraph(Text::new("report-rerun-hidden").into()));
    }
    out.push(Block::Table(identity(view)));
    out.extend(checks(view).map(Block::Table));
    out
}

/// The command line with what a shell needs quoted.
pub fn command(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| quote(w)).collect();
    quoted.join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn plain_column(key: &str) -> Column {
    Column {
        title: Text::new(key).into(),
        unit: String::new(),
        numeric: false,
    }
}

fn identity(view: &View) -> Table {
    let manifest = &view.record.manifest;
    let seconds = view.end_ns() as f64 / 1e9;
    let rows = [
        ("report-rerun-run", manifest.id.0.clone()),
        ("report-rerun-started", manifest.started.clone()),
        ("report-rerun-length", units::duration(seconds)),
        ("report-rerun-seed", manifest.seed.to_string()),
        ("report-rerun-plan", manifest.plan_sha256.clone()),
        ("report-rerun-version", manifest.version.clone()),
    ];
    Table {
        title: Text::new("report-rerun-identity").into(),
        columns: vec![
            plain_column("report-column-what"),
            plain_column("report-column-value"),
        ],
        rows: rows
            .into_iter()
            .map(|(key, value)| vec![Cell::word(Text::new(key)), Cell::word(value)])
            .collect(),
        marked: None,
        tools: false,
    }
}

/// Table of the checks.
fn checks(view: &View) -> Option<Table> {
    let checks = &view.record.checks;
    let rows = checks.iter().map(|check| {
        let result = match check.passed {
            true => "report-check-held",
            false => "report-check-failed",
        };
        vec![
            Cell::word(check.name.clone()),
            Cell::word(Text::new(result)),
            Cell::word(check.says.clone()),
        ]
    });
    (!checks.is_empty()).then(|| Table {
        title: Text::new("report-rerun-checks").into(),
        columns: vec![
            plain_column("report-column-check"),
            plain_column("report-column-result"),
            plain_column("report-column-says"),
        ],
        rows: rows.collect(),
        marked: None,
        tools: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_command_back() {
        let words = ["sokudo", "check", "--find", "loss<0.1%", "it's"].map(String::from);
        assert_eq!(
            command(&words),
            r"sokudo check --find 'loss<0.1%' 'it'\''s'"
        );
    }
}
