//! Section: the conditions of the measurement.

use std::collections::BTreeMap;

use sokudo_model::kinds::datagram;
use sokudo_model::settings::{Commits, Setting};
use sokudo_model::units::{Nanos, human};
use sokudo_model::{Environment, Fact, HostEntry, PhaseRecord, Text, Unit};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::human_or_dash;
use crate::view::{self, View};

/// Settings that are asked for and may be granted less of: asked, granted, what.
const GRANTS: [(&str, &str, &str); 2] = [
    (
        datagram::RECEIVE_BUFFER_ASKED_BYTES.name,
        datagram::RECEIVE_BUFFER_GRANTED_BYTES.name,
        "report-environment-receive-buffer",
    ),
    (
        datagram::SEND_BUFFER_ASKED_BYTES.name,
        datagram::SEND_BUFFER_GRANTED_BYTES.name,
        "report-environment-send-buffer",
    ),
];

/// Hosts and their clocks, settings asked and granted, and every recorded fact.
pub fn blocks(view: &View) -> Vec<Block> {
    let mut out = Vec::new();
    if !view.record.manifest.hosts.is_empty() {
        out.push(Block::Table(hosts(view)));
    }
    out.extend(view.subject().and_then(grants).map(Block::Table));
    out.extend(in_force(&view.settings()).map(Block::Table));
    if !view.record.environments.is_empty() {
        out.extend(facts(view));
    }
    out
}

fn column(title: impl Into<Phrase>, numeric: bool) -> Column {
    Column {
        title: title.into(),
        unit: String::new(),
        numeric,
    }
}

fn hosts(view: &View) -> Table {
    let row = |host: &HostEntry| {
        let facts = view.record.environments.get(&host.name);
        let fact = |name: &str| facts.and_then(|f| f.value(name)).unwrap_or("–").to_string();
        let offset = host.clock_offset_ns as f64 / 1e9;
        vec![
            Cell::word(host.name.clone()),
            Cell::word(host.address.clone()),
            Cell::word(host.os.clone()),
            Cell::word(fact("cpu model")),
            Cell::word(host.version.clone()),
            Cell::number(human(offset, Unit::Seconds), offset),
            Cell::number(
                format!("± {}", Nanos(host.clock_error_ns)),
                host.clock_error_ns as f64 / 1e9,
            ),
        ]
    };
    let text = |key: &str| Text::new(key);
    Table {
        title: text("report-environment-hosts").into(),
        columns: vec![
            column(text("report-column-host"), false),
            column(text("report-column-address"), false),
            column(text("report-column-os"), false),
            column(text("report-column-cpu"), false),
            column(text("report-column-version"), false),
            column(text("report-column-clock-offset"), true),
            column(text("report-column-clock-error"), true),
        ],
        rows: view.record.manifest.hosts.iter().map(row).collect(),
        marked: None,
        tools: false,
    }
}

/// Settings that were asked of the kernel and that it granted, per flow of the phase.
fn grants(phase: &PhaseRecord) -> Option<Table> {
    let mut rows = Vec::new();
    let mut marked = None;
    for flow in &phase.result.flows {
        for (asked, granted, what) in GRANTS {
            let asked = flow.metrics.get(asked).copied();
            let granted = flow.metrics.get(granted).copied();
            if asked.is_none() && granted.is_none() {
                continue;
            }
            if granted < asked && granted.is_some() {
                marked.get_or_insert(rows.len());
            }
            rows.push(vec![
                Cell::word(view::flow_name(flow)),
                Cell::word(Text::new(what)),
                Cell::word(human_or_dash(asked, Unit::Bytes)),
                Cell::word(human_or_dash(granted, Unit::Bytes)),
            ]);
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: Text::new("report-environment-grants").into(),
        columns: vec![
            column(Text::new("report-column-flow"), false),
            column(Text::new("report-column-setting"), false),
            column(Text::new("report-column-asked"), true),
            column(Text::new("report-column-granted"), true),
        ],
        rows,
        marked,
        tools: false,
    })
}

/// The settings of the loaded databases, those with which a crash may lose commits first.
fn in_force(settings: &[Setting]) -> Option<Table> {
    let commits = |setting: &Setting| match setting.commits {
        Some(Commits::Kept) => Cell::word(Text::new("report-environment-commits-kept")),
        Some(Commits::AtRisk) => Cell::word(Text::new("report-environment-commits-at-risk")),
        None => Cell::word(""),
    };
    let row = |setting: &Setting| {
        vec![
            Cell::word(setting.server.clone()),
            Cell::word(setting.name.clone()),
            Cell::word(setting.value.clone()),
            commits(setting),
        ]
    };
    let first = settings.first()?;
    Some(Table {
        title: Text::new("report-environment-settings").into(),
        columns: vec![
            column(Text::new("report-column-database"), false),
            column(Text::new("report-column-setting"), false),
            column(Text::new("report-column-value"), false),
            column(Text::new("report-environment-commits"), false),
        ],
        rows: settings.iter().map(row).collect(),
        marked: (first.commits == Some(Commits::AtRisk)).then_some(0),
        tools: true,
    })
}

/// One table per group of facts: a fact per row, a host per column.
fn facts(view: &View) -> Vec<Block> {
    let environments: Vec<&Environment> = view.record.environments.values().collect();
    let grouped = group(&environments);
    grouped
        .into_iter()
        .map(|(section, rows)| {
            let table = fact_table(&environments, section, rows);
            Block::Details {
                title: Text::new("report-environment-facts")
                    .word("section", section)
                    .word("n", table.rows.len().to_string())
                    .into(),
                open: false,
                blocks: vec![Block::Table(table)],
            }
        })
        .collect()
}

/// A fact's name, and what each host says of it.
type FactRow<'a> = (&'a str, Vec<Option<&'a Fact>>);

/// The facts by section and name, both in the order of their first mention. Each fact is looked at once:
/// a record may hold hundreds of thousands.
fn group<'a>(environments: &[&'a Environment]) -> Vec<(&'a str, Vec<FactRow<'a>>)> {
    let mut sections: Vec<(&str, Vec<FactRow>)> = Vec::new();
    let mut section_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut row_of: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (host, environment) in environments.iter().enumerate() {
        for fact in &environment.facts {
            let (section, name) = (fact.section.as_str(), fact.name.as_str());
            let at = *section_of.entry(section).or_insert_with(|| {
                sections.push((section, Vec::new()));
                sections.len() - 1
            });
            let rows = &mut sections[at].1;
            let row = *row_of.entry((section, name)).or_insert_with(|| {
                rows.push((name, vec![None; environments.len()]));
                rows.len() - 1
            });
            // A fact that is told twice counts as first told.
            rows[row].1[host].get_or_insert(fact);
        }
    }
    sections
}

fn fact_table(environments: &[&Environment], section: &str, rows: Vec<FactRow>) -> Table {
    let mut columns = vec![column(Text::new("report-column-fact"), false)];
    columns.extend(environments.iter().map(|e| column(e.host.clone(), false)));
    columns.push(column(Text::new("report-column-source"), false));
    let rows = rows.into_iter().map(|(name, found)| {
        let mut row = vec![Cell::word(name)];
        row.extend(
            found
                .iter()
                .map(|f| f.map_or_else(Cell::missing, fact_cell)),
        );
        let source = found.iter().flatten().next().map(|f| f.source.clone());
        row.push(Cell::word(source.unwrap_or_default()));
        row
    });
    Table {
        title: Phrase::Word(section.into()),
        rows: rows.collect(),
        columns,
        marked: None,
        tools: false,
    }
}

/// A fact's value; numbers with a unit as people write them, beside the exact one.
fn fact_cell(fact: &Fact) -> Cell {
    let Some(value) = &fact.value else {
        return Cell::word(Text::new("report-environment-not-available"));
    };
    match (fact.unit, value.parse::<f64>()) {
        (Some(Unit::One), _) | (None, _) | (_, Err(_)) => Cell::word(value.clone()),
        (Some(unit), Ok(number)) => Cell::word(human(number, unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many sections as facts, and hosts that say the same in another order: with a search per fact
    /// this would not end.
    #[test]
    fn two_hundred_thousand_facts_are_each_looked_at_once() {
        let fact = |n: usize| Fact {
            section: format!("section {}", n / 2),
            name: format!("name {n}"),
            value: Some(n.to_string()),
            unit: None,
            source: String::new(),
        };
        let of = |facts: Vec<Fact>| Environment {
            host: "hosta".into(),
            facts,
        };
        let ahead = of((0..200_000).map(fact).collect());
        let back = of((0..200_000).rev().map(fact).collect());
        let sections = group(&[&ahead, &back]);
        assert_eq!(sections.len(), 100_000);
        for (section, rows) in sections {
            let whole = |(_, said): &FactRow| said.iter().all(Option::is_some);
            assert!(rows.len() == 2 && rows.iter().all(whole), "{section}");
        }
    }
}
