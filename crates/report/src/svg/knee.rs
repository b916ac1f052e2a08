//! Draws the knee of a search.

use std::fmt::Write as _;

use sokudo_model::units::{percent, si};
use sokudo_model::{Text, Unit};

use crate::block::Speaker;
use crate::chart;
use crate::html::escape;
use crate::knee::{Knee, Trial};
use crate::svg::text;

const WIDTH: f64 = 920.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 16.0;
/// Room that the name of the best rate needs.
const NAME_WIDTH: f64 = 90.0;
/// Height of the upper panel, delivered over offered.
const UPPER: f64 = 230.0;
/// Height of the lower panel, loss over offered.
const LOWER: f64 = 90.0;
/// Room between the panels.
const BETWEEN: f64 = 26.0;
/// Loss below this is drawn on the axis: the lower panel is logarithmic.
const LEAST_LOSS: f64 = 1e-5;

/// Draws delivered over offered, loss below it, and the rate that the search found.
pub fn knee(knee: &Knee, speaker: &Speaker) -> String {
    let offered = knee.trials.iter().map(|t| t.offered.max(t.delivered));
    let ticks = chart::ticks(offered.fold(0.0, f64::max));
    let top = ticks.last().copied().unwrap_or(1.0);
    let total = TOP + UPPER + BETWEEN + LOWER + 36.0;
    let mut out =
        format!("<svg class=\"still\" viewBox=\"0 0 {WIDTH} {total}\" aria-hidden=\"true\">");
    axes(&mut out, &ticks, top, speaker);
    region(&mut out, knee, top, speaker);
    curve(&mut out, knee, top, speaker);
    for trial in &knee.trials {
        point(&mut out, trial, top);
    }
    out.push_str("</svg>");
    out
}

fn x(rate: f64, top: f64) -> f64 {
    LEFT + (rate / top).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
}

fn y(rate: f64, top: f64) -> f64 {
    TOP + (1.0 - (rate / top).clamp(0.0, 1.0)) * UPPER
}

fn y_loss(loss: f64) -> f64 {
    let share = (loss.max(LEAST_LOSS) / LEAST_LOSS).log10() / -LEAST_LOSS.log10();
    TOP + UPPER + BETWEEN + (1.0 - share.clamp(0.0, 1.0)) * LOWER
}

fn axes(out: &mut String, ticks: &[f64], top: f64, speaker: &Speaker) {
    let right = WIDTH - RIGHT;
    let bottom = TOP + UPPER + BETWEEN + LOWER;
    for &tick in ticks {
        let (tx, ty) = (x(tick, top), y(tick, top));
        let label = chart::axis_label(tick, Unit::BitsPerSecond);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {ty:.1}H{right}\"/>\
             <text class=\"axis\" x=\"{:.0}\" y=\"{:.1}\">{label}</text>\
             <text class=\"time\" x=\"{tx:.1}\" y=\"{:.1}\">{label}</text>",
            LEFT - 6.0,
            ty + 3.5,
            bottom + 14.0
        );
    }
    for loss in [1.0, 1e-2, 1e-4] {
        let ty = y_loss(loss);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {ty:.1}H{right}\"/>\
             <text class=\"axis\" x=\"{:.0}\" y=\"{:.1}\">{}</text>",
            LEFT - 6.0,
            ty + 3.5,
            percent(loss)
        );
    }
    let _ = write!(
        out,
        "<path class=\"frame\" d=\"M{LEFT} {:.1}H{right}M{LEFT} {bottom:.1}H{right}\"/>\
         <path class=\"ideal\" d=\"M{LEFT} {:.1}L{right} {TOP}\"/>",
        TOP + UPPER,
        TOP + UPPER
    );
    let end = right + 6.0;
    let at = |y: f64| format!("class=\"end\" x=\"{end}\" y=\"{y:.1}\"");
    let say =
        |out: &mut String, y: f64, key: &str| text(out, speaker, &at(y), &Text::new(key).into());
    say(out, TOP + 4.0, "report-search-ideal");
    let middle = format!(
        "class=\"time\" x=\"{:.0}\" y=\"{:.1}\"",
        (LEFT + right) / 2.0,
        bottom + 30.0
    );
    text(
        out,
        speaker,
        &middle,
        &Text::new("report-search-offered").into(),
    );
}

/// The region in which everything held, up to the best rate.
fn region(out: &mut String, knee: &Knee, top: f64, speaker: &Speaker) {
    if let Some(bound) = knee.bound.filter(|b| *b > 0.0) {
        let ty = y_loss(bound);
        let _ = write!(
            out,
            "<path class=\"bound\" d=\"M{LEFT} {ty:.1}H{}\"/>",
            WIDTH - RIGHT
        );
        let words = Text::new("report-search-bound").number("bound", bound, Unit::Ratio);
        let place = format!(
            "class=\"end\" x=\"{}\" y=\"{:.1}\"",
            WIDTH - RIGHT + 6.0,
            ty + 3.5
        );
        text(out, speaker, &place, &words.into());
    }
    let Some(best) = knee.best.filter(|b| *b > 0.0) else {
        return;
    };
    let edge = x(best, top);
    let _ = write!(
        out,
        "<rect class=\"held\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{}\"/>\
         <path class=\"edge\" d=\"M{edge:.1} {TOP}v{}\"/>",
        edge - LEFT,
        UPPER + BETWEEN + LOWER,
        UPPER + BETWEEN + LOWER
    );
    let words = Text::new("report-search-best").number("rate", best, Unit::BitsPerSecond);
    // A narrow region has no room for words inside.
    let (class, at) = match edge - LEFT < NAME_WIDTH {
        true => ("mark after", edge + 5.0),
        false => ("mark", edge - 5.0),
    };
    let place = format!("class=\"{class}\" x=\"{at:.1}\" y=\"{:.1}\"", TOP + 12.0);
    text(out, speaker, &place, &words.into());
}

/// The trials joined in order of the offered rate, each course named at its end.
fn curve(out: &mut String, knee: &Knee, top: f64, speaker: &Speaker) {
    let mut trials: Vec<&Trial> = knee.trials.iter().collect();
    trials.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    let path = |place: &dyn Fn(&Trial) -> f64| {
        let mut path = String::new();
        for (i, trial) in trials.iter().enumerate() {
            let pen = if i == 0 { 'M' } else { 'L' };
            let _ = write!(
                path,
                "{pen}{:.1} {:.1}",
                x(trial.offered, top),
                place(trial)
            );
        }
        path
    };
    let _ = write!(
        out,
        "<path class=\"line c0 thin\" d=\"{}\"/><path class=\"line lossline thin\" d=\"{}\"/>",
        path(&|t| y(t.delivered, top)),
        path(&|t| y_loss(t.loss))
    );
    let Some(last) = trials.last() else { return };
    for (key, class, height) in [
        ("report-search-delivered", "t0", y(last.delivered, top)),
        ("report-search-lost", "lossname", y_loss(last.loss)),
    ] {
        let place = format!(
            "class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\"",
            x(last.offered, top) + 10.0,
            height + 4.0
        );
        text(out, speaker, &place, &Text::new(key).into());
    }
}

fn point(out: &mut String, trial: &Trial, top: f64) {
    let px = x(trial.offered, top);
    let class = if trial.confirm { "dot confirm" } else { "dot" };
    let radius = if trial.confirm { 5.5 } else { 4.0 };
    let title = format!(
        "{}: {} → {}, {}",
        trial.name,
        si(trial.offered, "b/s"),
        si(trial.delivered, "b/s"),
        percent(trial.loss)
    );
    let title = escape(&title);
    let _ = write!(
        out,
        "<circle class=\"{class}\" cx=\"{px:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{title}</title></circle>\
         <circle class=\"{class} loss\" cx=\"{px:.1}\" cy=\"{:.1}\" r=\"{}\"><title>{title}</title></circle>",
        y(trial.delivered, top),
        y_loss(trial.loss),
        radius - 1.0
    );
}
