//! Section: the conditions of the measurement.

use std::collections::BTreeSet;

use sokudo_model::kinds::datagram;
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

/// One table per group of facts: a fact per row, a host per column.
fn facts(view: &View) -> Vec<Block> {
    let environments: Vec<&Environment> = view.record.environments.values().collect();
    let mut sections: Vec<&str> = Vec::new();
    for fact in environments.iter().flat_map(|e| &e.facts) {
        if !sections.contains(&fact.section.as_str()) {
            sections.push(&fact.section);
        }
    }
    sections
        .into_iter()
        .map(|section| {
            let table = fact_table(&environments, section);
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

fn fact_table(environments: &[&Environment], section: &str) -> Table {
    let inside = |e: &Environment| -> Vec<Fact> {
        let facts = e.facts.iter().filter(|f| f.section == section);
        facts.cloned().collect()
    };
    let mut names: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for fact in environments.iter().flat_map(|e| inside(e)) {
        if seen.insert(fact.name.clone()) {
            names.push(fact.name);
        }
    }
    let mut columns = vec![column(Text::new("report-column-fact"), false)];
    columns.extend(environments.iter().map(|e| column(e.host.clone(), false)));
    columns.push(column(Text::new("report-column-source"), false));
    let rows = names.iter().map(|name| {
        let found: Vec<Option<&Fact>> = environments
            .iter()
            .map(|e| {
                e.facts
                    .iter()
                    .find(|f| f.section == section && f.name == *name)
            })
            .collect();
        let mut row = vec![Cell::word(name.clone())];
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
