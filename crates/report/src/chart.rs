//! Data of charts over time, and the reduction of long series to the points that a page can carry.
//!
//! A chart is pure data in the record's units; the page's script and the static drawing for print
//! both start from it. Series longer than the page can carry are thinned so that every interval
//! keeps its smallest and its largest value: no peak disappears.

use sokudo_model::{Text, Unit, units};

use crate::block::Phrase;

/// Points of one line that the page carries at most.
pub const MAX_POINTS: usize = 2000;
/// Points of all lines together that the page carries at most.
pub const POINT_BUDGET: usize = 40_000;
/// Columns of a strip or heat map at most.
pub const MAX_COLUMNS: usize = 240;

/// `(t_ns, value)`; `None` marks the start of a stretch without data.
pub type Points = Vec<(i64, Option<f64>)>;

/// Way in which a chart is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum ChartKind {
    /// One line per series; rates start at zero.
    Lines,
    /// Layers on top of each other: shares of a whole, or parts of a sum. All layers have the same
    /// time stamps.
    Stack,
    /// One row of coloured cells per series; `log` colours by magnitude.
    Strip {
        /// Colour by magnitude (losses) instead of linearly (busy cores).
        log: bool,
        /// Value of the strongest colour.
        full: f64,
    },
    /// A distribution over time: cells coloured by count, percentile lines above them.
    Heat(Heat),
}

/// One line, layer or row.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name of the line, written at its end; a host name is foreign text.
    pub label: Phrase,
    /// Index into the palette: the same host has the same colour everywhere.
    pub colour: usize,
    /// Drawn dashed: what was offered rather than what arrived.
    pub dashed: bool,
    /// Its course.
    pub points: Points,
}

/// Cells of a heat map.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Time where the first column starts, nanoseconds since the run's start.
    pub t0_ns: i64,
    /// Width of a column, nanoseconds.
    pub step_ns: i64,
    /// Smallest value of the lowest row, in the chart's unit; greater than zero.
    pub low: f64,
    /// Factor between the lower edges of two rows.
    pub factor: f64,
    /// Number of rows.
    pub rows: usize,
    /// Per column: lowest row with a count, then the counts upwards; empty without data.
    pub columns: Vec<(usize, Vec<u64>)>,
}

/// One chart over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Name inside the page: letters, digits and hyphens.
    pub id: String,
    /// The question it answers.
    pub title: Phrase,
    /// Explanation for the reader; empty when the title is enough.
    pub note: Option<Phrase>,
    /// Way in which it is drawn.
    pub kind: ChartKind,
    /// Unit of its values.
    pub unit: Unit,
    /// Whether the value axis, logarithmic at first, may be switched to linear.
    pub log_switch: bool,
    /// Lines, layers or rows.
    pub lines: Vec<Line>,
}

impl Chart {
    /// Number of points over all lines.
    pub fn n_points(&self) -> usize {
        self.lines.iter().map(|l| l.points.len()).sum()
    }

    /// First and last moment with data.
    pub fn span(&self) -> Option<(i64, i64)> {
        let times = || self.lines.iter().flat_map(|l| &l.points).map(|(t, _)| *t);
        Some((times().min()?, times().max()?))
    }

    /// Largest value, of the sum for a stack.
    pub fn largest(&self) -> f64 {
        match self.kind {
            ChartKind::Stack if self.unit == Unit::Ratio => 1.0,
            ChartKind::Stack => self.highest_stack(),
            _ => self
                .lines
                .iter()
                .flat_map(|l| &l.points)
                .filter_map(|(_, v)| *v)
                .fold(0.0, f64::max),
        }
    }

    /// Largest sum of all layers at one moment.
    fn highest_stack(&self) -> f64 {
        let n = self.lines.iter().map(|l| l.points.len()).min().unwrap_or(0);
        let at = |i: usize| self.lines.iter().filter_map(|l| l.points[i].1).sum::<f64>();
        (0..n).map(at).fold(0.0, f64::max)
    }

    /// Smallest, mean and largest value of one of its lines in words, for readers who cannot see the
    /// chart. `None` without data.
    pub fn outline_of(&self, line: &Line) -> Option<Text> {
        let (low, mean, high, n) = outline(&line.points)?;
        let words = Text::new("report-chart-outline")
            .number("low", low, self.unit)
            .number("mean", mean, self.unit)
            .number("high", high, self.unit);
        Some(words.word("n", n.to_string()))
    }
}

/// Smallest, mean and largest value of a line, and how many there are. `None` without data.
fn outline(points: &Points) -> Option<(f64, f64, f64, usize)> {
    let values: Vec<f64> = points.iter().filter_map(|(_, v)| *v).collect();
    if values.is_empty() {
        return None;
    }
    let n = values.len();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some((low, values.iter().sum::<f64>() / n as f64, high, n))
}

/// Usual time between two points: the median. `None` with fewer than two points.
pub fn usual_step(points: &[(i64, f64)]) -> Option<i64> {
    let mut steps: Vec<i64> = points
        .windows(2)
        .map(|w| w[1].0.saturating_sub(w[0].0))
        .filter(|d| *d > 0)
        .collect();
    if steps.is_empty() {
        return None;
    }
    let middle = steps.len() / 2;
    Some(*steps.select_nth_unstable(middle).1)
}

/// Inserts a `None` where points are further apart than three usual steps, so that no line is drawn
/// through missing data. Values that are not numbers are missing, too.
pub fn with_gaps(points: &[(i64, f64)]) -> Points {
    let limit = usual_step(points).map_or(i64::MAX, |step| step.saturating_mul(3));
    let mut out = Points::with_capacity(points.len() + 4);
    let mut before: Option<i64> = None;
    for &(t, value) in points {
        if let Some(last) = before.filter(|last| t.saturating_sub(*last) > limit) {
            out.push((between(last, t), None));
        }
        out.push((t, value.is_finite().then_some(value)));
        before = Some(t);
    }
    out
}

/// Time of the mark of a gap: distinct from both its neighbours, also in milliseconds.
fn between(last: i64, next: i64) -> i64 {
    last + (next - last) / 2
}

/// Inserts a gap at each boundary between two points of a line, so that no line connects the values of
/// two phases.
pub fn part(points: Points, boundaries: &[i64]) -> Points {
    let mut out = Points::with_capacity(points.len() + boundaries.len());
    for (t, value) in points {
        // A gap that exists already separates the line as well.
        let before = out.last().filter(|(_, v)| v.is_some() && value.is_some());
        let crossed = before.filter(|(last, _)| boundaries.iter().any(|b| (*last..t).contains(b)));
        if let Some((last, _)) = crossed {
            out.push((between(*last, t), None));
        }
        out.push((t, value));
    }
    out
}

/// Thins to at most `most` points: each of `most / 2` equal stretches keeps its smallest and its
/// largest value at their own times, and a gap stays a gap.
pub fn thin(points: &Points, most: usize) -> Points {
    if points.len() <= most.max(4) {
        return points.clone();
    }
    let gaps = points.iter().filter(|(_, v)| v.is_none()).count();
    let stretches = (most.saturating_sub(gaps.min(most / 2)) / 2).max(2);
    let size = points.len().div_ceil(stretches);
    let mut out = Points::with_capacity(most + 2);
    for stretch in points.chunks(size) {
        keep_extremes(stretch, &mut out);
    }
    // Only a line with very many gaps is still too long here.
    out.truncate(most);
    out
}

fn keep_extremes(stretch: &[(i64, Option<f64>)], out: &mut Points) {
    let known = || stretch.iter().filter_map(|(t, v)| Some((*t, (*v)?)));
    let low = known().min_by(|a, b| a.1.total_cmp(&b.1));
    let high = known().max_by(|a, b| a.1.total_cmp(&b.1));
    let gap = stretch.iter().find(|(_, v)| v.is_none()).map(|(t, _)| *t);
    let (Some(low), Some(high)) = (low, high) else {
        out.extend(stretch.first().map(|(t, _)| (*t, None)));
        return;
    };
    let mut kept: Vec<(i64, Option<f64>)> = vec![(low.0, Some(low.1))];
    if high.0 != low.0 {
        kept.push((high.0, Some(high.1)));
    }
    // A gap inside is kept in addition to the two values: it must stay visible.
    kept.extend(gap.map(|t| (t, None)));
    kept.sort_by_key(|(t, _)| *t);
    out.extend(kept);
}

/// Cells of a strip: the largest value in each of `columns` equal stretches of `[t0, t1)`,
/// at the stretch's middle.
pub fn strip(points: &[(i64, f64)], t0: i64, t1: i64, columns: usize) -> Points {
    let width = ((t1 - t0) / columns.max(1) as i64).max(1);
    let mut cells: Vec<Option<f64>> = vec![None; columns];
    for &(t, value) in points.iter().filter(|(_, v)| v.is_finite()) {
        let column = (t - t0).div_euclid(width);
        if let Some(cell) = usize::try_from(column).ok().and_then(|c| cells.get_mut(c)) {
            *cell = Some(cell.map_or(value, |before| before.max(value)));
        }
    }
    cells
        .into_iter()
        .enumerate()
        .map(|(i, v)| (t0 + width * i as i64 + width / 2, v))
        .collect()
}

/// Number of strip columns so that each holds at least one point of the densest series.
pub fn columns_for(points: &[(i64, f64)], t0: i64, t1: i64) -> usize {
    let step = usual_step(points).unwrap_or(t1 - t0).max(1);
    (((t1 - t0) / step).max(1) as usize).min(MAX_COLUMNS)
}

/// Colour strength of a strip cell, 0 to 1.
pub fn strength(value: f64, log: bool, full: f64) -> f64 {
    if value <= 0.0 || full <= 0.0 {
        return 0.0;
    }
    let share = (value / full).min(1.0);
    if log {
        // Four decades below the strongest; every value above zero stays visible.
        (1.0 + share.log10() / 4.0).clamp(0.15, 1.0)
    } else {
        share
    }
}

/// Round numbers for an axis of values in `unit`; sizes in memory step by powers of two.
pub fn ticks_in(largest: f64, unit: Unit) -> Vec<f64> {
    if unit != Unit::Bytes || largest < 1024.0 {
        return ticks(largest);
    }
    let prefix = 1024f64.powf(largest.log2().div_euclid(10.0));
    ticks(largest / prefix).iter().map(|t| t * prefix).collect()
}

/// Round numbers for an axis from 0 to at least `largest`: about five steps.
pub fn ticks(largest: f64) -> Vec<f64> {
    // A fifth of the smallest numbers is none.
    if !(largest.is_normal() && largest > 0.0) {
        return vec![0.0, 1.0];
    }
    let raw = largest / 5.0;
    let magnitude = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * magnitude)
        .find(|step| *step >= raw)
        .unwrap_or(raw);
    let n = (largest / step).ceil() as usize;
    (0..=n).map(|i| i as f64 * step).collect()
}

/// A value with its unit as on an axis or beside a line.
pub fn axis_label(value: f64, unit: Unit) -> String {
    if value == 0.0 {
        return "0".into();
    }
    units::human(value, unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pause_becomes_a_gap() {
        let points = [(0, 1.0), (10, 1.0), (20, 1.0), (90, 2.0), (100, f64::NAN)];
        assert_eq!(
            with_gaps(&points),
            [
                (0, Some(1.0)),
                (10, Some(1.0)),
                (20, Some(1.0)),
                (55, None),
                (90, Some(2.0)),
                (100, None)
            ]
        );
    }

    #[test]
    fn phases_are_not_joined() {
        let points = vec![(10, Some(1.0)), (20, Some(1.0)), (30, Some(5.0))];
        let parted = part(points, &[25]);
        assert_eq!(parted[2], (25, None));
        assert_eq!(
            part(parted.clone(), &[25]),
            parted,
            "a gap is not made twice"
        );
        assert_eq!(parted.len(), 4);
    }

    #[test]
    fn strips_keep_the_peak_of_each_stretch() {
        let cells = strip(&[(0, 1.0), (4, 9.0), (25, 2.0)], 0, 30, 3);
        assert_eq!(cells, [(5, Some(9.0)), (15, None), (25, Some(2.0))]);
    }

    #[test]
    fn axes_have_round_steps() {
        assert_eq!(ticks(75.0), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(ticks(21.0), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);
        assert_eq!(ticks(0.0), [0.0, 1.0]);
        // The smallest numbers, of which a fifth is none.
        for none in [
            5e-324,
            f64::MIN_POSITIVE / 2.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
        ] {
            assert_eq!(ticks(none), [0.0, 1.0], "{none:e}");
        }
        for any in [f64::MIN_POSITIVE, f64::MAX] {
            assert!(ticks(any).len() <= 11, "{any:e}");
        }
    }

    proptest! {
        #[test]
        fn thinning_keeps_the_extremes(values in prop::collection::vec(-1e9f64..1e9, 1..5000), most in 10usize..500) {
            let points: Points = values.iter().enumerate().map(|(i, v)| (i as i64, Some(*v))).collect();
            let thinned = thin(&points, most);
            prop_assert!(thinned.len() <= most.max(4));
            prop_assert!(thinned.windows(2).all(|w| w[0].0 < w[1].0));
            let before = outline(&points).unwrap();
            let after = outline(&thinned).unwrap();
            prop_assert_eq!((before.0, before.2), (after.0, after.2));
        }

        #[test]
        fn strength_is_a_share(value in -1.0f64..1e12, full in 0.0f64..1e6, log: bool) {
            let s = strength(value, log, full);
            prop_assert!((0.0..=1.0).contains(&s));
        }
    }
}
