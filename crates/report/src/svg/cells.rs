//! Draws coloured cells: strips and heat maps.
//!
//! Neighbours of the same strength become one rectangle, and all rectangles of one strength one
//! path, so that a map of thousands of cells stays small.

use std::fmt::Write as _;

use crate::block::{Phrase, Speaker};
use crate::chart::{self, Chart, Heat, Points};
use crate::svg::text;
use crate::svg::time::{Frame, LEFT, RIGHT, ROW, TOP, WIDTH};

/// Columns of a strip or heat map on paper.
const PAPER_COLUMNS: usize = 100;
/// Steps of colour on paper.
const LEVELS: usize = 6;
/// Letters of a row's name that fit left of it; longer names stand right of it.
const SHORT_NAME: usize = 11;

/// Rectangles by strength.
struct Cells {
    paths: [String; LEVELS],
}

impl Cells {
    fn new() -> Self {
        Self {
            paths: std::array::from_fn(|_| String::new()),
        }
    }

    fn add(&mut self, level: usize, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let _ = write!(
            self.paths[level.min(LEVELS - 1)],
            "M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z"
        );
    }

    fn write(&self, out: &mut String, class: &str) {
        for (level, path) in self.paths.iter().enumerate().filter(|(_, p)| !p.is_empty()) {
            let _ = write!(out, "<path class=\"{class} l{level}\" d=\"{path}\"/>");
        }
    }
}

/// Step of colour of a share between 0 and 1; `None` for nothing.
fn level(share: f64) -> Option<usize> {
    (share > 0.0).then(|| ((share * LEVELS as f64).ceil() as usize).clamp(1, LEVELS) - 1)
}

/// Stretches of equal levels: level, first, one past the last.
fn stretches(levels: &[Option<usize>]) -> Vec<(usize, usize, usize)> {
    let mut out: Vec<(usize, usize, usize)> = Vec::new();
    for (i, level) in levels.iter().enumerate() {
        let Some(level) = *level else { continue };
        match out.last_mut() {
            Some(last) if last.0 == level && last.2 == i => last.2 = i + 1,
            _ => out.push((level, i, i + 1)),
        }
    }
    out
}

/// Draws one row of cells per line; `log` and `full` as in [`chart::ChartKind::Strip`].
pub(super) fn strip(
    out: &mut String,
    frame: &Frame,
    chart: &Chart,
    (log, full): (bool, f64),
    speaker: &Speaker,
) {
    let mut cells = Cells::new();
    for (row, line) in chart.lines.iter().enumerate() {
        let y = TOP + ROW * row as f64 + 1.0;
        let points = fold(&line.points, PAPER_COLUMNS);
        let levels: Vec<Option<usize>> = points
            .iter()
            .map(|(_, v)| level(v.map_or(0.0, |v| chart::strength(v, log, full))))
            .collect();
        let half = match points.as_slice() {
            [(a, _), (b, _), ..] => (b - a) / 2,
            _ => 0,
        };
        for (level, first, end) in stretches(&levels) {
            let x0 = frame.x(points[first].0 - half);
            let x1 = frame.x(points[end - 1].0 + half);
            cells.add(level, (x0, y), (x1 - x0, ROW - 2.0));
        }
        row_name(out, y, &line.label, speaker);
    }
    cells.write(out, if log { "bad" } else { "busy" });
}

fn row_name(out: &mut String, y: f64, label: &Phrase, speaker: &Speaker) {
    let right = WIDTH - RIGHT;
    let _ = write!(
        out,
        "<path class=\"grid\" d=\"M{LEFT} {:.1}H{right:.0}\"/>",
        y + ROW - 1.0
    );
    let short = matches!(label, Phrase::Word(w) if w.chars().count() <= SHORT_NAME);
    let (class, x) = match short {
        true => ("axis", LEFT - 6.0),
        false => ("end", right + 6.0),
    };
    let place = format!("class=\"{class}\" x=\"{x:.0}\" y=\"{:.1}\"", y + 9.5);
    text(out, speaker, &place, label);
}

/// Fewer cells: the largest of neighbours.
fn fold(points: &Points, most: usize) -> Points {
    let size = points.len().div_ceil(most.max(1)).max(1);
    points
        .chunks(size)
        .map(|chunk| {
            let t = (chunk[0].0 + chunk[chunk.len() - 1].0) / 2;
            let value = chunk.iter().filter_map(|(_, v)| *v).reduce(f64::max);
            (t, value)
        })
        .collect()
}

/// Draws the cells of a heat map, coloured by the logarithm of the count.
pub(super) fn heat(out: &mut String, frame: &Frame, heat: &Heat) {
    let most = heat.columns.iter().flat_map(|c| &c.1).copied().max();
    let most = (most.unwrap_or(1) as f64).ln_1p().max(1e-9);
    let size = heat.columns.len().div_ceil(PAPER_COLUMNS).max(1);
    let mut cells = Cells::new();
    for (i, chunk) in heat.columns.chunks(size).enumerate() {
        let t = heat.t0_ns + heat.step_ns * (i * size) as i64;
        let x0 = frame.x(t);
        let width = frame.x(t + heat.step_ns * chunk.len() as i64) - x0;
        let levels: Vec<Option<usize>> = strongest(chunk, heat.rows)
            .iter()
            .map(|count| level((*count as f64).ln_1p() / most))
            .collect();
        for (level, first, end) in stretches(&levels) {
            let y = |row: usize| frame.y(heat.low * heat.factor.powi(row as i32));
            cells.add(level, (x0, y(end)), (width, y(first) - y(end)));
        }
    }
    cells.write(out, "busy");
}

/// The largest count per row among neighbouring columns.
fn strongest(columns: &[(usize, Vec<u64>)], n_rows: usize) -> Vec<u64> {
    let mut rows = vec![0_u64; n_rows];
    for (first, counts) in columns {
        for (row, count) in counts.iter().enumerate() {
            if let Some(cell) = rows.get_mut(first + row) {
                *cell = (*cell).max(*count);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_become_one() {
        let levels = [Some(1), Some(1), None, Some(1), Some(2)];
        assert_eq!(stretches(&levels), [(1, 0, 2), (1, 3, 4), (2, 4, 5)]);
    }

    #[test]
    fn the_weakest_value_is_visible_and_nothing_is_not() {
        assert_eq!(level(0.0), None);
        assert_eq!(level(1e-9), Some(0));
        assert_eq!(level(1.0), Some(LEVELS - 1));
    }
}
