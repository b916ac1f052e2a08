//! Draws a chart over time.

use std::fmt::Write as _;

use sokudo_model::Unit;
use sokudo_model::units::duration;

use crate::block::Speaker;
use crate::chart::{self, Chart, ChartKind, Line, Points};
use crate::svg::{apart, cells, stack, text};

/// Drawing area in CSS pixels: the page scales it to the paper.
pub(super) const WIDTH: f64 = 920.0;
pub(super) const LEFT: f64 = 78.0;
pub(super) const RIGHT: f64 = 130.0;
pub(super) const TOP: f64 = 14.0;
const BOTTOM: f64 = 20.0;
/// Height of one row of a strip.
pub(super) const ROW: f64 = 14.0;
/// Points of one line on paper.
const PAPER_POINTS: usize = 360;

/// Lines that a chart may have for each of them to be named at its end.
const FEW_LINES: usize = 4;

/// A phase as the chart marks it: name, begin, end in nanoseconds since the run's start.
pub type Band<'a> = (&'a str, i64, i64);

/// Maps values and times to positions on the drawing.
pub(super) struct Frame {
    t0: f64,
    t1: f64,
    low: f64,
    high: f64,
    log: bool,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn x(&self, t_ns: i64) -> f64 {
        let share = (t_ns as f64 - self.t0) / (self.t1 - self.t0).max(1.0);
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln().max(1e-9)
        } else {
            (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE)
        };
        TOP + (1.0 - share.clamp(0.0, 1.0)) * self.height
    }
}

/// Draws a chart with its axes, phase marks and line labels over `[0, end_ns]`.
pub fn time(chart: &Chart, bands: &[Band], end_ns: i64, speaker: &Speaker) -> String {
    let frame = frame(chart, end_ns);
    let total = TOP + frame.height + BOTTOM;
    let mut out =
        format!("<svg class=\"still\" viewBox=\"0 0 {WIDTH} {total:.0}\" aria-hidden=\"true\">");
    draw_bands(&mut out, &frame, bands);
    match &chart.kind {
        ChartKind::Lines => {
            draw_grid(
                &mut out,
                &frame,
                &chart::ticks_in(chart.largest(), chart.unit),
                chart,
            );
            chart
                .lines
                .iter()
                .for_each(|l| draw_line(&mut out, &frame, l));
            label_ends(&mut out, &frame, chart, speaker);
        }
        ChartKind::Stack => stack::draw(&mut out, &frame, chart, speaker),
        ChartKind::Strip { log, full } => {
            cells::strip(&mut out, &frame, chart, (*log, *full), speaker)
        }
        ChartKind::Heat(heat) => {
            cells::heat(&mut out, &frame, heat);
            draw_grid(&mut out, &frame, &decades(&frame), chart);
            chart
                .lines
                .iter()
                .for_each(|l| draw_line(&mut out, &frame, l));
            label_ends(&mut out, &frame, chart, speaker);
        }
    }
    draw_times(&mut out, &frame, end_ns);
    out.push_str("</svg>");
    out
}

fn frame(chart: &Chart, end_ns: i64) -> Frame {
    let (low, high, log, height) = match &chart.kind {
        ChartKind::Stack if chart.unit == Unit::Ratio => (0.0, 1.0, false, 90.0),
        ChartKind::Lines | ChartKind::Stack => {
            let top = chart::ticks_in(chart.largest(), chart.unit).last().copied();
            (0.0, top.unwrap_or(1.0), false, 130.0)
        }
        ChartKind::Strip { .. } => (0.0, 1.0, false, ROW * chart.lines.len() as f64),
        ChartKind::Heat(heat) => {
            let high = heat.low * heat.factor.powi(heat.rows as i32);
            (heat.low, high, true, 170.0)
        }
    };
    Frame {
        t0: 0.0,
        t1: end_ns.max(1) as f64,
        low,
        high,
        log,
        height,
    }
}

fn draw_bands(out: &mut String, frame: &Frame, bands: &[Band]) {
    let bottom = TOP + frame.height;
    let mut free_from = 0.0;
    for (i, (name, t0, t1)) in bands.iter().enumerate() {
        let (x0, x1) = (frame.x(*t0), frame.x(*t1));
        let class = if i % 2 == 0 { "band" } else { "band odd" };
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{x0:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.0}\"/>",
            (x1 - x0).max(0.5),
            bottom - TOP
        );
        // About six pixels a letter: a name that would run into the next one is left out.
        let needed = name.chars().count() as f64 * 6.0 + 4.0;
        if x0 >= free_from && (needed <= x1 - x0 || i + 1 == bands.len()) {
            let _ = write!(
                out,
                "<text class=\"small\" x=\"{:.1}\" y=\"10\">{}</text>",
                x0 + 2.0,
                crate::html::escape(name)
            );
            free_from = x0 + needed;
        }
    }
}

pub(super) fn draw_grid(out: &mut String, frame: &Frame, ticks: &[f64], chart: &Chart) {
    for &tick in ticks {
        let y = frame.y(tick);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{:.0}\"/><text class=\"axis\" x=\"{:.0}\" y=\"{:.1}\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 3.5,
            chart::axis_label(tick, chart.unit)
        );
    }
}

fn decades(frame: &Frame) -> Vec<f64> {
    let first = frame.low.log10().ceil() as i32;
    let last = frame.high.log10().floor() as i32;
    let tens: Vec<f64> = (first..=last).map(|e| 10f64.powi(e)).collect();
    if tens.len() > 1 {
        return tens;
    }
    (first - 1..=last)
        .flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)))
        .filter(|v| (frame.low..=frame.high).contains(v))
        .collect()
}

fn draw_line(out: &mut String, frame: &Frame, line: &Line) {
    let points = chart::thin(&line.points, PAPER_POINTS);
    let mut path = String::new();
    for stretch in points.split(|(_, value)| value.is_none()) {
        let mut pen = 'M';
        for (t, value) in stretch {
            let y = frame.y(value.unwrap_or_default());
            let _ = write!(path, "{pen}{:.0} {y:.1}", frame.x(*t));
            pen = 'L';
        }
        // A sample between two gaps has no line: it is a short one.
        if stretch.len() == 1 {
            path.push_str("h3");
        }
    }
    let dashed = if line.dashed { " dashed" } else { "" };
    let _ = write!(
        out,
        "<path class=\"line c{}{dashed}\" d=\"{path}\"/>",
        line.colour % 8
    );
}

fn label_ends(out: &mut String, frame: &Frame, chart: &Chart, speaker: &Speaker) {
    let last = |points: &Points| points.iter().rev().find_map(|(_, v)| *v);
    let labelled: Vec<(&Line, f64)> = chart
        .lines
        .iter()
        // Where many lines end, the dashed ones share their colour with a solid one beside them.
        .filter(|l| !l.dashed || chart.lines.len() <= FEW_LINES)
        .filter_map(|l| Some((l, frame.y(last(&l.points)?))))
        .collect();
    let wanted: Vec<f64> = labelled.iter().map(|l| l.1 + 3.5).collect();
    let placed = apart(&wanted, 11.0, TOP + 6.0, TOP + frame.height + 3.0);
    for ((line, _), y) in labelled.iter().zip(placed) {
        let attributes = format!(
            "class=\"end t{}\" x=\"{:.0}\" y=\"{y:.1}\"",
            line.colour % 8,
            WIDTH - RIGHT + 6.0
        );
        text(out, speaker, &attributes, &line.label);
    }
}

fn draw_times(out: &mut String, frame: &Frame, end_ns: i64) {
    let bottom = TOP + frame.height;
    let _ = write!(
        out,
        "<path class=\"frame\" d=\"M{LEFT} {bottom:.1}H{:.0}\"/>",
        WIDTH - RIGHT
    );
    let seconds = end_ns as f64 / 1e9;
    for tick in chart::ticks(seconds)
        .into_iter()
        .filter(|t| *t <= seconds * 1.001)
    {
        let label = if tick == 0.0 {
            "0".into()
        } else if seconds >= 10.0 {
            format!("{tick:.0} s")
        } else {
            duration(tick)
        };
        let _ = write!(
            out,
            "<text class=\"time\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
            frame.x((tick * 1e9) as i64),
            bottom + 13.0
        );
    }
}
