//! Draws a chart over two quantities of which neither is time.

use std::fmt::Write as _;

use crate::block::Speaker;
use crate::chart;
use crate::plane::{Mark, Plane, Trace};
use crate::svg::{apart, text};

const WIDTH: f64 = 920.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 14.0;
const HEIGHT: f64 = 180.0;
/// Room below the drawing, for the axis and its name.
const BELOW: f64 = 38.0;

/// Ends of the axes.
struct Frame {
    right: f64,
    top: f64,
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value / self.right).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (1.0 - (value / self.top).clamp(0.0, 1.0)) * HEIGHT
    }
}

/// Draws a plane with its axes and the names of its traces.
pub fn plane(plane: &Plane, speaker: &Speaker) -> String {
    let points = || plane.traces.iter().flat_map(|t| &t.points);
    let widest = plane.traces.iter().map(|t| match t.mark {
        Mark::Bar(width) => width,
        _ => 0.0,
    });
    let largest_x = points().map(|p| p.0).fold(0.0, f64::max) + widest.fold(0.0, f64::max);
    let largest_y = points().map(|p| p.1).fold(0.0, f64::max);
    let (x_ticks, y_ticks) = (
        chart::ticks_in(largest_x, plane.x.unit),
        chart::ticks_in(largest_y, plane.y.unit),
    );
    let frame = Frame {
        right: x_ticks
            .last()
            .copied()
            .unwrap_or(1.0)
            .max(f64::MIN_POSITIVE),
        top: y_ticks
            .last()
            .copied()
            .unwrap_or(1.0)
            .max(f64::MIN_POSITIVE),
    };
    let total = TOP + HEIGHT + BELOW;
    let mut out =
        format!("<svg class=\"still\" viewBox=\"0 0 {WIDTH} {total}\" aria-hidden=\"true\">");
    axes(&mut out, plane, &frame, &x_ticks, &y_ticks, speaker);
    plane.traces.iter().for_each(|t| trace(&mut out, &frame, t));
    names(&mut out, plane, &frame, speaker);
    out.push_str("</svg>");
    out
}

fn axes(
    out: &mut String,
    plane: &Plane,
    frame: &Frame,
    x_ticks: &[f64],
    y_ticks: &[f64],
    speaker: &Speaker,
) {
    for tick in y_ticks {
        let y = frame.y(*tick);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{}\"/><text class=\"axis\" x=\"{:.0}\" y=\"{:.1}\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 3.5,
            chart::axis_label(*tick, plane.y.unit)
        );
    }
    let floor = TOP + HEIGHT;
    let _ = write!(
        out,
        "<path class=\"frame\" d=\"M{LEFT} {floor}H{}\"/>",
        WIDTH - RIGHT
    );
    for tick in x_ticks {
        let _ = write!(
            out,
            "<text class=\"time\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            frame.x(*tick),
            floor + 13.0,
            chart::axis_label(*tick, plane.x.unit)
        );
    }
    let below = format!(
        "class=\"time\" x=\"{:.0}\" y=\"{:.1}\"",
        LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
        floor + 30.0
    );
    text(out, speaker, &below, &plane.x.title);
}

fn trace(out: &mut String, frame: &Frame, trace: &Trace) {
    let floor = TOP + HEIGHT;
    match trace.mark {
        Mark::Bar(width) => {
            for (x, y) in &trace.points {
                let (left, right) = (frame.x(*x), frame.x(x + width));
                let top = frame.y(*y);
                let _ = write!(
                    out,
                    "<rect class=\"u{}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                    trace.colour % 7,
                    (right - left - 0.5).max(0.5),
                    floor - top
                );
            }
        }
        Mark::Dot => {
            for (x, y) in &trace.points {
                let _ = write!(
                    out,
                    "<circle class=\"t{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.2\" opacity=\".55\"/>",
                    trace.colour % 8,
                    frame.x(*x),
                    frame.y(*y)
                );
            }
        }
        Mark::Line => {
            let mut path = String::new();
            for (i, (x, y)) in trace.points.iter().enumerate() {
                let pen = if i == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{pen}{:.1} {:.1}", frame.x(*x), frame.y(*y));
            }
            let _ = write!(
                out,
                "<path class=\"line c{}\" d=\"{path}\"/>",
                trace.colour % 8
            );
        }
    }
}

/// Names of the traces at the height of their last points, moved apart.
fn names(out: &mut String, plane: &Plane, frame: &Frame, speaker: &Speaker) {
    let last = |t: &Trace| t.points.last().map_or(TOP, |p| frame.y(p.1) + 3.5);
    let wanted: Vec<f64> = plane.traces.iter().map(last).collect();
    let placed = apart(&wanted, 12.0, TOP + 6.0, TOP + HEIGHT);
    for (trace, y) in plane.traces.iter().zip(placed) {
        let place = format!(
            "class=\"end t{}\" x=\"{:.0}\" y=\"{y:.1}\"",
            trace.colour % 8,
            WIDTH - RIGHT + 6.0
        );
        text(out, speaker, &place, &trace.label);
    }
}
