//! Section: the volume of many simultaneous flows, and the share of each.

use sokudo_model::{Text, Unit};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::Scale;
use crate::plane::{Axis, Mark, Plane, Trace};
use crate::view::View;
use crate::volume::{self, Point};

/// Throughput over volume, and a row for each phase; nothing for runs that do not load many hosts.
pub fn blocks(view: &View) -> Vec<Block> {
    let manifest = &view.record.manifest;
    let points = volume::points(manifest.is_of_many_hosts(), &manifest.phases);
    if points.is_empty() {
        return Vec::new();
    }
    let table = Block::Table(table(&points));
    match volume::is_curve(&points) {
        true => vec![Block::Plane(Box::new(curve(&points))), table],
        false => vec![table],
    }
}

/// Each phase as a dot, and a line through the means of phases of the same kind and volume.
fn curve(points: &[Point]) -> Plane {
    let axis = |key: &str, unit| Axis {
        title: Text::new(key).into(),
        unit,
    };
    let mut traces = Vec::new();
    for (colour, (kind, means)) in volume::means(points).into_iter().enumerate() {
        let of_kind = points.iter().filter(|point| point.kind == kind);
        traces.push(Trace {
            label: kind.to_owned().into(),
            colour,
            mark: Mark::Line,
            points: means,
        });
        traces.push(Trace {
            label: "".into(),
            colour,
            mark: Mark::Dot,
            points: of_kind.map(|p| (p.bytes, p.bits_per_second)).collect(),
        });
    }
    Plane {
        title: Text::new("report-pairs-curve").into(),
        note: Text::new("report-pairs-note").into(),
        x: axis("report-pairs-volume", Unit::Bytes),
        y: axis("report-pairs-speed", Unit::BitsPerSecond),
        traces,
    }
}

fn table(points: &[Point]) -> Table {
    let scale = |of: fn(&Point) -> f64, unit| Scale::of(points.iter().map(of), unit);
    let bytes = scale(|p| p.bytes, Unit::Bytes);
    let seconds = scale(|p| p.seconds, Unit::Seconds);
    let speed = scale(|p| p.bits_per_second, Unit::BitsPerSecond);
    let column = |key: &str, unit: &str, numeric| Column {
        title: Text::new(key).into(),
        unit: unit.into(),
        numeric,
    };
    let columns = vec![
        column("report-pairs-phase", "", false),
        column("report-pairs-flows", "", true),
        column("report-pairs-volume", &bytes.unit, true),
        column("report-pairs-time", &seconds.unit, true),
        column("report-pairs-speed", &speed.unit, true),
        column("report-pairs-fairness", "", true),
        column("report-pairs-dead", "", false),
    ];
    let best = points.iter().map(|p| p.bits_per_second).fold(0.0, f64::max);
    let rows = points.iter().map(|point| {
        let share = if best > 0.0 {
            point.bits_per_second / best
        } else {
            0.0
        };
        vec![
            Cell::word(point.name.clone()),
            Cell::number(point.flows.to_string(), point.flows as f64),
            Cell::number(bytes.show(point.bytes), point.bytes),
            Cell::number(seconds.show(point.seconds), point.seconds),
            Cell {
                heat: Some(share),
                ..Cell::number(speed.show(point.bits_per_second), point.bits_per_second)
            },
            match point.fairness {
                Some(index) => Cell::number(format!("{index:.3}"), index),
                None => Cell::missing(),
            },
            Cell::word(dead(point)),
        ]
    });
    Table {
        title: Text::new("report-pairs-table").into(),
        rows: rows.collect(),
        columns,
        marked: points.iter().position(|p| p.bits_per_second == best),
        tools: true,
    }
}

/// Flows without a result, by name; nothing when all have one.
fn dead(point: &Point) -> Phrase {
    point.dead.join(", ").into()
}

#[cfg(test)]
mod tests {
    use sokudo_model::{FlowResult, PhaseRecord, PhaseResult};

    use super::*;

    fn phase(name: &str, speeds: &[Option<f64>]) -> PhaseRecord {
        let flow = |speed: &Option<f64>| FlowResult {
            from: "a".into(),
            to: "b".into(),
            metrics: match speed {
                Some(bits) => [
                    ("stream.received_bytes".to_owned(), 1e6),
                    ("stream.goodput_bits_per_second".to_owned(), *bits),
                ]
                .into(),
                None => Default::default(),
            },
            complete: speed.is_some(),
            ..FlowResult::default()
        };
        let result = PhaseResult {
            flows: speeds.iter().map(flow).collect(),
            ..PhaseResult::default()
        };
        PhaseRecord::plain(name, "stream", (0, 1), result)
    }

    #[test]
    fn dead_pairs_are_named_and_the_best_phase_is_marked() {
        let phases = [
            phase("one", &[Some(8e6)]),
            phase("two", &[Some(8e6), Some(8e6), None]),
        ];
        let points = volume::points(true, &phases);
        assert!(volume::is_curve(&points));
        let drawn = curve(&points);
        assert_eq!(drawn.traces[0].points, [(1e6, 8e6), (2e6, 16e6)]);
        assert_eq!(points[1].dead, ["a → b"]);
        assert_eq!(points[1].fairness, Some(1.0));
        let table = table(&points);
        assert_eq!((table.rows.len(), table.marked), (2, Some(1)));
        assert_eq!(table.rows[0].len(), table.columns.len());
    }

    #[test]
    fn other_runs_have_no_such_section() {
        assert!(volume::points(false, &[phase("one", &[Some(8e6)])]).is_empty());
        assert!(volume::points(true, &[phase("none", &[None])]).is_empty());
    }
}
