//! Draws the curve of a sweep: throughput and latency over rising load.

use std::fmt::Write as _;

use sokudo_model::units::human;
use sokudo_model::{Text, Unit};
use sokudo_stats::{Curve, CurveStep, Knee};

use crate::block::Speaker;
use crate::chart;
use crate::html::escape;
use crate::svg::{apart, text};

const WIDTH: f64 = 920.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 16.0;
/// Height of the upper panel, carried over offered.
const UPPER: f64 = 200.0;
/// Height of the lower panel, latency over offered.
const LOWER: f64 = 150.0;
/// Room between the panels.
const BETWEEN: f64 = 26.0;
/// Room below the lowest panel, for the axis and its name.
const BELOW: f64 = 38.0;
/// Distance of the labels at the lines' ends.
const LINE_HEIGHT: f64 = 13.0;
/// Room that the word at the knee needs.
const NAME_WIDTH: f64 = 110.0;

/// The places of a curve's steps.
struct CurvePlaces<'a> {
    curve: &'a Curve,
    unit: Unit,
    /// Steps with numbers, by rising load.
    steps: Vec<&'a CurveStep>,
    /// End of the load's axis, for rates.
    right: f64,
    /// End of the axis of what was carried.
    top: f64,
    /// Decades of the latency, exponents of ten: from, to; `None` without latencies.
    decades: Option<(f64, f64)>,
}

/// Draws what was carried over what was offered, the latency below it, and the knee.
pub fn curve(curve: &Curve, speaker: &Speaker) -> String {
    let place = CurvePlaces::of(curve);
    let total = place.bottom() + BELOW;
    let mut out =
        format!("<svg class=\"still\" viewBox=\"0 0 {WIDTH} {total}\" aria-hidden=\"true\">");
    place.upper_axes(&mut out, speaker);
    place.lower_axes(&mut out);
    place.load_axis(&mut out, speaker);
    place.knee(&mut out, speaker);
    place.lines(&mut out, speaker);
    out.push_str("</svg>");
    out
}

impl<'a> CurvePlaces<'a> {
    fn of(curve: &'a Curve) -> Self {
        let steps = curve.steps.iter();
        let steps: Vec<&CurveStep> = steps.filter(|step| step.delivered.is_some()).collect();
        let largest = |of: fn(&CurveStep) -> Option<f64>| {
            let values = steps.iter().filter_map(|step| of(step));
            let ticks = chart::ticks(values.fold(0.0, f64::max));
            ticks.last().copied().unwrap_or(1.0)
        };
        let times = steps.iter().flat_map(|step| [step.p50_s, step.p99_s]);
        let times = times.flatten();
        let times = times.filter(|time| *time > 0.0 && time.is_finite());
        let ends = times.fold(None, |ends: Option<(f64, f64)>, time| {
            let (low, high) = ends.unwrap_or((time, time));
            Some((low.min(time), high.max(time)))
        });
        let decades = ends.map(|(low, high)| {
            let low = low.log10().floor();
            (low, high.log10().ceil().max(low + 1.0))
        });
        Self {
            unit: curve.names.delivered.unit,
            right: largest(|step| step.offered),
            top: largest(|step| step.delivered),
            curve,
            steps,
            decades,
        }
    }

    /// Rates stand where they are, other values beside each other.
    fn x(&self, at: usize) -> f64 {
        let share = match (self.curve.is_rate(), self.steps[at].offered) {
            (true, Some(offered)) => (offered / self.right).clamp(0.0, 1.0),
            _ => (at as f64 + 0.5) / self.steps.len() as f64,
        };
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, carried: f64) -> f64 {
        TOP + (1.0 - (carried / self.top).clamp(0.0, 1.0)) * UPPER
    }

    fn y_time(&self, seconds: f64) -> Option<f64> {
        let (low, high) = self.decades?;
        let share = (seconds.max(f64::MIN_POSITIVE).log10() - low) / (high - low);
        Some(TOP + UPPER + BETWEEN + (1.0 - share.clamp(0.0, 1.0)) * LOWER)
    }

    fn bottom(&self) -> f64 {
        match self.decades {
            Some(_) => TOP + UPPER + BETWEEN + LOWER,
            None => TOP + UPPER,
        }
    }

    fn upper_axes(&self, out: &mut String, speaker: &Speaker) {
        let end = WIDTH - RIGHT;
        for tick in chart::ticks(self.top) {
            grid(out, self.y(tick), &chart::axis_label(tick, self.unit));
        }
        let floor = TOP + UPPER;
        let _ = write!(
            out,
            "<path class=\"frame\" d=\"M{LEFT} {floor:.1}H{end}\"/>"
        );
        if !self.curve.is_rate() {
            return;
        }
        // Everything is carried: up to where one of the axes ends.
        let most = self.right.min(self.top);
        let x = LEFT + most / self.right * (end - LEFT);
        let y = self.y(most);
        let _ = write!(
            out,
            "<path class=\"ideal\" d=\"M{LEFT} {floor:.1}L{x:.1} {y:.1}\"/>"
        );
        // A line above the name of what was carried, which ends at the same place when all of it was.
        let place = format!("class=\"end\" x=\"{:.1}\" y=\"{:.1}\"", x + 6.0, y - 9.0);
        text(
            out,
            speaker,
            &place,
            &Text::new("report-curve-ideal").into(),
        );
    }

    fn lower_axes(&self, out: &mut String) {
        let Some((low, high)) = self.decades else {
            return;
        };
        let end = WIDTH - RIGHT;
        let exponents = (low as i32)..=(high as i32);
        for exponent in exponents {
            let seconds = 10f64.powi(exponent);
            if let Some(y) = self.y_time(seconds) {
                grid(out, y, &human(seconds, Unit::Seconds));
            }
        }
        let floor = self.bottom();
        let _ = write!(
            out,
            "<path class=\"frame\" d=\"M{LEFT} {floor:.1}H{end}\"/>"
        );
    }

    fn load_axis(&self, out: &mut String, speaker: &Speaker) {
        let y = self.bottom() + 14.0;
        let mut tick = |x: f64, label: &str| {
            let label = escape(label);
            let _ = write!(
                out,
                "<text class=\"time\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>"
            );
        };
        let width = WIDTH - LEFT - RIGHT;
        if self.curve.is_rate() {
            for value in chart::ticks(self.right) {
                let x = LEFT + value / self.right * width;
                tick(x, &chart::axis_label(value, self.unit));
            }
        } else {
            let every = self.steps.len().div_ceil(12).max(1);
            for at in (0..self.steps.len()).step_by(every) {
                tick(self.x(at), &self.steps[at].value);
            }
        }
        let name = match self.curve.is_rate() {
            true => Text::new("report-curve-offered"),
            false => Text::new("report-curve-option").word("option", &self.curve.option),
        };
        let place = format!(
            "class=\"time\" x=\"{:.0}\" y=\"{:.1}\"",
            LEFT + width / 2.0,
            y + 18.0
        );
        text(out, speaker, &place, &name.into());
    }

    /// The region up to the knee, and its name.
    fn knee(&self, out: &mut String, speaker: &Speaker) {
        let Knee::At(knee, _) = self.curve.knee else {
            return;
        };
        let name = &self.curve.steps[knee].phase;
        let Some(at) = self.steps.iter().position(|step| step.phase == *name) else {
            return;
        };
        let edge = self.x(at);
        let height = self.bottom() - TOP;
        let _ = write!(
            out,
            "<rect class=\"held\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{height}\"/>\
             <path class=\"edge\" d=\"M{edge:.1} {TOP}v{height}\"/>",
            edge - LEFT
        );
        let (class, x) = match edge - LEFT < NAME_WIDTH {
            true => ("mark after", edge + 5.0),
            false => ("mark", edge - 5.0),
        };
        let place = format!("class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\"", TOP + 12.0);
        let words = Text::new("report-curve-knee").word("value", self.value(self.steps[at]));
        text(out, speaker, &place, &words.into());
    }

    /// A step's value as people read it.
    fn value(&self, step: &CurveStep) -> String {
        match (self.curve.is_rate(), step.offered) {
            (true, Some(offered)) => human(offered, self.unit),
            _ => step.value.clone(),
        }
    }

    fn lines(&self, out: &mut String, speaker: &Speaker) {
        let carried = |step: &CurveStep| step.delivered.map(|carried| self.y(carried));
        let p50 = |step: &CurveStep| self.y_time(step.p50_s?);
        let p99 = |step: &CurveStep| self.y_time(step.p99_s?);
        self.line(out, 0, &carried);
        self.line(out, 1, &p50);
        self.line(out, 2, &p99);
        let Some(last) = self.steps.last() else {
            return;
        };
        let ends = [
            ("report-curve-carried", "t0", carried(last)),
            ("report-curve-p50", "t1", p50(last)),
            ("report-curve-p99", "t2", p99(last)),
        ];
        let shown = ends
            .into_iter()
            .filter_map(|(key, class, y)| Some((key, class, y?)));
        let shown: Vec<_> = shown.collect();
        let wanted: Vec<f64> = shown.iter().map(|(_, _, y)| *y).collect();
        let placed = apart(&wanted, LINE_HEIGHT, TOP, self.bottom());
        let x = self.x(self.steps.len() - 1) + 10.0;
        for ((key, class, _), y) in shown.into_iter().zip(placed) {
            let place = format!("class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\"", y + 4.0);
            text(out, speaker, &place, &Text::new(key).into());
        }
    }

    /// One course with a point per step; steps without the number are passed over.
    fn line(&self, out: &mut String, colour: usize, height: &dyn Fn(&CurveStep) -> Option<f64>) {
        let points = self.steps.iter().enumerate();
        let points = points.filter_map(|(at, step)| Some((self.x(at), height(step)?, *step)));
        let points: Vec<(f64, f64, &CurveStep)> = points.collect();
        let mut path = String::new();
        for (x, y, _) in &points {
            let pen = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{pen}{x:.1} {y:.1}");
        }
        let _ = write!(out, "<path class=\"line c{colour} thin\" d=\"{path}\"/>");
        for (x, y, step) in points {
            let title = escape(&self.outline(step));
            let _ = write!(
                out,
                "<circle class=\"t{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\">\
                 <title>{title}</title></circle>"
            );
        }
    }

    fn outline(&self, step: &CurveStep) -> String {
        let number = |value: Option<f64>, unit| value.map(|value| human(value, unit));
        let parts = [
            number(step.delivered, self.unit),
            number(step.p50_s, Unit::Seconds).map(|p50| format!("p50 {p50}")),
            number(step.p99_s, Unit::Seconds).map(|p99| format!("p99 {p99}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{}: {}", self.value(step), parts.join(", "))
    }
}

fn grid(out: &mut String, y: f64, label: &str) {
    let _ = write!(
        out,
        "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{}\"/>\
         <text class=\"axis\" x=\"{:.0}\" y=\"{:.1}\">{label}</text>",
        WIDTH - RIGHT,
        LEFT - 6.0,
        y + 3.5
    );
}
