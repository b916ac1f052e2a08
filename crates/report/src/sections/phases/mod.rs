//! Section: the phases of the run, and the self-test of the generators.

use sokudo_model::kinds::{Family, datagram};
use sokudo_model::metrics::selftest;
use sokudo_model::units::human;
use sokudo_model::{Metric, PhaseRecord, RunStatus, Summary, Text, Unit, kinds};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::names;
use crate::number::Scale;
use crate::view::{self, Role, View};

/// One row per measured phase when there are several, and the generators' self-test.
pub fn blocks(view: &View) -> Vec<Block> {
    let phases: Vec<&PhaseRecord> = view.measured().collect();
    let mut out = layers(view);
    if phases.len() > 1 {
        out.push(Block::Table(measured(view, &phases)));
    }
    out.extend(selftest(view).map(Block::Table));
    out
}

/// The result of each layer of a check, in a sentence or two.
fn layers(view: &View) -> Vec<Block> {
    let layers = sokudo_analyze::layers::of(view.record).into_iter();
    let sentences = layers.flat_map(|(name, says)| {
        let each = says.into_iter().enumerate();
        each.map(move |(at, says)| match at {
            0 => Text::new("report-phases-layer")
                .word("name", name)
                .text("says", says),
            _ => says,
        })
    });
    sentences
        .map(|says| Block::Paragraph(says.into()))
        .collect()
}

fn column(key: &str, unit: &str, numeric: bool) -> Column {
    Column {
        title: Text::new(key).into(),
        unit: unit.into(),
        numeric,
    }
}

fn show(scale: &Scale, value: Option<f64>) -> Cell {
    value.map_or_else(Cell::missing, |v| Cell::number(scale.show(v), v))
}

fn measured(view: &View, phases: &[&PhaseRecord]) -> Table {
    let all: Vec<_> = phases.iter().map(|p| view::effective(p)).collect();
    let of = |metric: Metric| all.iter().map(|s| metric.of(s)).collect::<Vec<_>>();
    let bits: Vec<_> = phases
        .iter()
        .zip(&all)
        .map(|(p, s)| carried(p, s))
        .collect();
    let loss: Vec<_> = all.iter().map(view::loss).collect();
    let rate: Vec<_> = phases.iter().zip(&all).map(|(p, s)| done(p, s)).collect();
    let latency = |which: &str| -> Vec<_> {
        // Of datagrams only samples are acknowledged: they are not answers that the sender waits for.
        let answered = |p: &&&PhaseRecord| !is_datagram(p);
        let of = |p: &&PhaseRecord| kinds::curve_metrics(&p.workload)?.latency_s(&p.result, which);
        let each = phases.iter();
        each.map(|p| Some(p).filter(answered).and_then(of))
            .collect()
    };
    let (p50, p99) = (latency("p50"), latency("p99"));
    let order = of(datagram::OUT_OF_ORDER_PACKETS);
    let send = cost(phases, datagram::SENDER_CPU_SECONDS_PER_PACKET);
    let receive = cost(phases, datagram::RECEIVER_CPU_SECONDS_PER_PACKET);
    // A workload has its own columns: those without any value stay away.
    let mut columns: Vec<(&str, &Vec<Option<f64>>, Unit)> = vec![
        ("report-column-delivered", &bits, Unit::BitsPerSecond),
        (per_second(phases), &rate, Unit::PerSecond),
        ("report-column-p50", &p50, Unit::Seconds),
        ("report-column-p99", &p99, Unit::Seconds),
        ("report-column-lost", &loss, Unit::Ratio),
        ("report-column-order", &order, Unit::Packets),
        ("report-column-cpu-send", &send, Unit::Seconds),
        ("report-column-cpu-receive", &receive, Unit::Seconds),
    ];
    columns.retain(|(_, values, _)| values.iter().any(Option::is_some));
    let scales: Vec<Scale> = columns
        .iter()
        .map(|(_, values, unit)| Scale::of(values.iter().flatten().copied(), *unit))
        .collect();
    let mut head = vec![
        column("report-column-phase", "", false),
        column("report-column-flows", "", true),
    ];
    head.extend(
        columns
            .iter()
            .zip(&scales)
            .map(|((key, ..), s)| column(key, &s.unit, true)),
    );
    let subject = view.subject().map(|p| p.name.as_str());
    let rows = phases.iter().enumerate().map(|(i, phase)| {
        let n = phase.result.flows.len();
        let mut row = vec![
            Cell::word(name(phase)),
            Cell::number(n.to_string(), n as f64),
        ];
        let values = columns.iter().map(|(_, values, _)| values[i]);
        row.extend(values.zip(&scales).map(|(value, scale)| show(scale, value)));
        row
    });
    Table {
        title: Text::new("report-phases").into(),
        rows: rows.collect(),
        columns: head,
        marked: phases.iter().position(|p| Some(p.name.as_str()) == subject),
        tools: true,
    }
}

fn is_datagram(phase: &PhaseRecord) -> bool {
    let family = phase.kind().map(|kind| kind.family);
    matches!(family, Some(Family::Datagram))
}

/// Payload that arrived, bits per second.
fn carried(phase: &PhaseRecord, summary: &Summary) -> Option<f64> {
    let own = phase
        .kind()
        .and_then(|kind| kind.charts.arrived?.of(summary));
    view::delivered_bits(summary)
        .or(own)
        .or_else(|| kinds::totals(&phase.result.flows).map(kinds::Carried::bits_per_second))
}

/// Datagrams, answers, connections or messages per second, as the workload counts them.
fn done(phase: &PhaseRecord, summary: &Summary) -> Option<f64> {
    let datagrams = datagram::DELIVERED_PACKETS_PER_SECOND.of(summary);
    let counted = || {
        let names = kinds::curve_metrics(&phase.workload)?;
        let bits = names.delivered.unit == Unit::BitsPerSecond;
        names.delivered_in(&phase.result).filter(|_| !bits)
    };
    datagrams.or_else(counted)
}

/// The unit counted per second: datagrams where all phases send them.
fn per_second(phases: &[&PhaseRecord]) -> &'static str {
    match phases.iter().all(|phase| is_datagram(phase)) {
        true => "report-column-datagrams",
        false => "report-column-per-second",
    }
}

/// A phase's name, what it does where that is known, and how it ended when not well.
fn name(phase: &PhaseRecord) -> Phrase {
    let ended = match phase.status {
        RunStatus::Ok => None,
        RunStatus::Running => Some("report-phase-running"),
        RunStatus::Partial => Some("report-phase-partial"),
        RunStatus::Failed => Some("report-phase-failed"),
    };
    // A search numbers its trials; the one that confirms is the best rate whatever its name.
    let known = match view::role(phase) {
        Role::Confirm => "best",
        _ => &phase.name,
    };
    let named = match names::phase_help(known) {
        Some(Phrase::Text(help)) => Text::new("report-phase-named")
            .word("name", phase.name.clone())
            .text("help", help),
        _ => Text::new("report-phase-plain").word("name", phase.name.clone()),
    };
    match ended {
        None => named.into(),
        Some(key) => Text::new("report-phase-ended")
            .text("phase", named)
            .text("how", Text::new(key))
            .into(),
    }
}

fn cost(phases: &[&PhaseRecord], metric: Metric) -> Vec<Option<f64>> {
    phases
        .iter()
        .map(|p| view::mean_over_flows(p, metric))
        .collect()
}

/// Send and receive rates of one thread of each host over loopback, by I/O mode.
fn selftest(view: &View) -> Option<Table> {
    const SENT: &str = selftest::SENT_PACKETS_PER_SECOND.name;
    const ARRIVED: &str = selftest::DELIVERED_PACKETS_PER_SECOND.name;
    let phases = view.record.manifest.phases.iter();
    let flows: Vec<_> = phases
        .filter(|p| view::role(p) == Role::SelfTest)
        .flat_map(|p| &p.result.flows)
        .filter(|f| f.metrics.contains_key(SENT))
        .collect();
    if flows.is_empty() {
        return None;
    }
    let values = |name: &str| {
        let name = name.to_string();
        flows
            .iter()
            .filter_map(move |f| f.metrics.get(&name).copied())
    };
    let scale = Scale::of(values(SENT).chain(values(ARRIVED)), Unit::PacketsPerSecond);
    let rows = flows.iter().map(|flow| {
        vec![
            Cell::word(flow.from.clone()),
            Cell::word(
                flow.labels
                    .get("mode")
                    .cloned()
                    .unwrap_or_else(|| "–".into()),
            ),
            show(&scale, flow.metrics.get(SENT).copied()),
            show(&scale, flow.metrics.get(ARRIVED).copied()),
        ]
    });
    let best = values(SENT).fold(0.0, f64::max);
    Some(Table {
        title: Text::new("report-phases-selftest")
            .word("best", human(best, Unit::PacketsPerSecond))
            .into(),
        columns: vec![
            column("report-column-host", "", false),
            column("report-column-mode", "", false),
            column("report-column-sent", &scale.unit, true),
            column("report-column-arrived", &scale.unit, true),
        ],
        rows: rows.collect(),
        marked: flows
            .iter()
            .position(|f| f.metrics.get(SENT) == Some(&best)),
        tools: true,
    })
}
