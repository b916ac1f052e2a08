//! Draws stacked layers over time.

use std::fmt::Write as _;
use std::ops::Range;

use sokudo_model::Unit;

use crate::block::Speaker;
use crate::chart::{self, Chart, Points};
use crate::svg::text;
use crate::svg::time::{Frame, RIGHT, TOP, WIDTH, draw_grid};

/// Points of a layer on paper.
const PAPER_POINTS: usize = 160;
/// Distance between the layers' names.
const NAME: f64 = 12.0;

/// Draws the layers of a chart from the bottom up, each with its name beside it.
pub(super) fn draw(out: &mut String, frame: &Frame, chart: &Chart, speaker: &Speaker) {
    let ticks = match chart.unit {
        Unit::Ratio => vec![0.0, 0.5, 1.0],
        unit => chart::ticks_in(chart.largest(), unit),
    };
    draw_grid(out, frame, &ticks, chart);
    let layers: Vec<Points> = chart.lines.iter().map(|l| means(&l.points)).collect();
    let n = layers.iter().map(Vec::len).min().unwrap_or(0);
    let mut below = vec![0.0; n];
    for (i, (line, points)) in chart.lines.iter().zip(&layers).enumerate() {
        let values = points[..n].iter().zip(&below);
        let above: Vec<Option<f64>> = values.map(|((_, v), b)| v.map(|v| v + b)).collect();
        let path = outline(frame, &points[..n], &above, &below);
        let _ = write!(out, "<path class=\"layer s{}\" d=\"{path}\"/>", line.colour);
        for (b, a) in below.iter_mut().zip(&above) {
            *b = a.unwrap_or(*b);
        }
        let attributes = format!(
            "class=\"end u{}\" x=\"{:.0}\" y=\"{:.1}\"",
            line.colour,
            WIDTH - RIGHT + 6.0,
            TOP + frame.height - NAME * i as f64
        );
        text(out, speaker, &attributes, &line.label);
    }
}

/// The area between two courses: forward above, back below, once per stretch with data.
fn outline(
    frame: &Frame,
    points: &[(i64, Option<f64>)],
    above: &[Option<f64>],
    below: &[f64],
) -> String {
    let mut path = String::new();
    let x = |i: usize| frame.x(points[i].0);
    for run in runs(above) {
        for (step, i) in run.clone().enumerate() {
            let pen = if step == 0 { 'M' } else { 'L' };
            let y = frame.y(above[i].unwrap_or(0.0));
            let _ = write!(path, "{pen}{:.0} {y:.1}", x(i));
        }
        for i in run.rev() {
            let _ = write!(path, "L{:.0} {:.1}", x(i), frame.y(below[i]));
        }
        path.push('Z');
    }
    path
}

/// Fewer points: the mean of neighbours.
fn means(points: &Points) -> Points {
    let size = points.len().div_ceil(PAPER_POINTS).max(1);
    points
        .chunks(size)
        .map(|chunk| {
            let known: Vec<f64> = chunk.iter().filter_map(|(_, v)| *v).collect();
            let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
            (chunk[0].0, (!known.is_empty()).then_some(mean))
        })
        .collect()
}

/// Stretches of `values` without a gap.
fn runs(values: &[Option<f64>]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = None;
    for (i, value) in values.iter().enumerate() {
        match (value, start) {
            (Some(_), None) => start = Some(i),
            (None, Some(from)) => {
                out.push(from..i);
                start = None;
            }
            _ => {}
        }
    }
    out.extend(start.map(|from| from..values.len()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_parts_a_layer() {
        assert_eq!(
            runs(&[None, Some(1.0), Some(1.0), None, Some(2.0)]),
            [1..3, 4..5]
        );
    }
}
