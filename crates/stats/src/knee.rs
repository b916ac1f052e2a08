//! Finds the knee of a curve.
//!
//! ```text
//! saturating  ───●──────        taking off        ╱
//!           ╱    ▲                               ╱
//!         ╱    knee                      ───────●
//!       ╱                                       ▲ knee
//! ```
//!
//! Both axes are scaled to 0…1; the knee is where the curve is farthest from its chord. A bend
//! counts only when it is large and when the slopes on its two sides differ: noise on a straight
//! line has a farthest point too.
//!
//! Source: V. Satopaa, J. Albrecht, D. Irwin, B. Raghavan, "Finding a 'Kneedle' in a Haystack:
//! Detecting Knee Points in System Behavior", ICDCS Workshops 2011, in its offline form (the whole
//! curve is known, so the global maximum of the difference curve is taken). The test of the slopes
//! is that of two-regime regression: R. Quandt, JASA 53 (1958).

/// The direction in which a curve bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// It rises, then levels off or falls: what a system carries.
    Saturating,
    /// It is level, then rises: how long requests wait.
    TakingOff,
}

/// Fewest points that have a bend.
pub const MIN_POINTS: usize = 4;
/// Distance from the chord, of the curve's height, from which a bend counts.
const LEAST_BEND: f64 = 0.1;
/// The flatter side rises at most this share as steeply as the other.
const SLOPES_DIFFER: f64 = 0.5;

/// Index of the point at which the curve bends; `None` when it does not.
///
/// `points` are `(x, y)` with ascending `x`; all numbers finite. The answer is never the first or
/// the last point.
pub fn knee(points: &[(f64, f64)], shape: Shape) -> Option<usize> {
    let usable = points.len() >= MIN_POINTS
        && points.iter().all(|(x, y)| x.is_finite() && y.is_finite())
        && points.windows(2).all(|w| w[0].0 <= w[1].0);
    if !usable {
        return None;
    }
    let scaled = scaled(points)?;
    let away = |(x, y): (f64, f64)| match shape {
        Shape::Saturating => y - x,
        Shape::TakingOff => x - y,
    };
    let inner = 1..scaled.len() - 1;
    let at = inner.max_by(|a, b| away(scaled[*a]).total_cmp(&away(scaled[*b])))?;
    if away(scaled[at]) < LEAST_BEND {
        return None;
    }
    let (before, after) = (slope(&scaled[..=at])?, slope(&scaled[at..])?);
    let bends = match shape {
        Shape::Saturating => before > 0.0 && after <= before * SLOPES_DIFFER,
        Shape::TakingOff => after > 0.0 && before <= after * SLOPES_DIFFER,
    };
    bends.then_some(at)
}

/// Both axes from 0 to 1; `None` when one of them has no extent.
fn scaled(points: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let all = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(all, |(low, high), v| (low.min(v), high.max(v)));
        let extent = high - low;
        (extent.is_finite() && extent > 0.0).then_some((low, extent))
    };
    let (x0, width) = range(&mut points.iter().map(|p| p.0))?;
    let (y0, height) = range(&mut points.iter().map(|p| p.1))?;
    let scale = |(x, y): &(f64, f64)| ((x - x0) / width, (y - y0) / height);
    Some(points.iter().map(scale).collect())
}

/// Slope of the line of least squares; `None` when all points stand above each other.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in points {
        xy += (x - mx) * (y - my);
        xx += (x - mx) * (x - mx);
    }
    (xx > 0.0).then(|| xy / xx)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_levels_off_has_a_knee_there() {
        let points: Vec<_> = (1..=10)
            .map(|x| (f64::from(x), f64::from(x).min(6.0)))
            .collect();
        assert_eq!(knee(&points, Shape::Saturating), Some(5));
        assert_eq!(knee(&points, Shape::TakingOff), None);
    }

    #[test]
    fn a_collapse_under_overload_is_a_knee_too() {
        let points = [
            (1.0, 1.0),
            (2.0, 2.0),
            (3.0, 3.0),
            (4.0, 2.0),
            (5.0, 1.0),
            (6.0, 0.5),
        ];
        assert_eq!(knee(&points, Shape::Saturating), Some(2));
    }

    #[test]
    fn a_queue_takes_off() {
        // M/M/1: the time in the system is 1 / (1 - load).
        let points: Vec<_> = (1..10)
            .map(|tenth| f64::from(tenth) / 10.0)
            .map(|load| (load, 1.0 / (1.0 - load)))
            .collect();
        let at = knee(&points, Shape::TakingOff).unwrap();
        assert!((0.6..=0.8).contains(&points[at].0), "{at}");
    }

    #[test]
    fn few_or_equal_points_have_none() {
        let flat = [(1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (4.0, 2.0)];
        assert_eq!(knee(&flat, Shape::Saturating), None);
        assert_eq!(knee(&flat[..3], Shape::TakingOff), None);
        let upright = [(1.0, 1.0), (1.0, 2.0), (1.0, 3.0), (1.0, 4.0)];
        assert_eq!(knee(&upright, Shape::Saturating), None);
    }

    proptest! {
        #[test]
        fn the_knee_is_where_the_system_saturates(capacity in 3.0f64..8.0, noise in prop::collection::vec(-0.02f64..0.02, 12)) {
            let points: Vec<_> = noise.iter().zip(1..)
                .map(|(noise, x)| (f64::from(x), f64::from(x).min(capacity) * (1.0 + noise)))
                .collect();
            let at = knee(&points, Shape::Saturating).unwrap();
            prop_assert!((points[at].0 - capacity).abs() <= 1.1, "{at} for {capacity}");
        }

        #[test]
        fn a_straight_line_has_none(noise in prop::collection::vec(-0.02f64..0.02, 4..16), slope in 0.01f64..100.0) {
            let points: Vec<_> = noise.iter().zip(1..)
                .map(|(noise, x)| (f64::from(x), f64::from(x) * slope * (1.0 + noise)))
                .collect();
            prop_assert_eq!(knee(&points, Shape::Saturating), None);
            prop_assert_eq!(knee(&points, Shape::TakingOff), None);
        }

        #[test]
        fn scaling_an_axis_changes_nothing(ys in prop::collection::vec(0.0f64..100.0, 4..12), factor in 0.01f64..1000.0) {
            let points: Vec<_> = ys.iter().zip(1..).map(|(y, x)| (f64::from(x), *y)).collect();
            let wider: Vec<_> = points.iter().map(|(x, y)| (x * 4.0, *y)).collect();
            let at = knee(&points, Shape::Saturating);
            prop_assert_eq!(at, knee(&wider, Shape::Saturating));
            // Rounding may tip a tie, so only existence is compared for odd factors.
            let higher: Vec<_> = points.iter().map(|(x, y)| (*x, y * factor)).collect();
            prop_assert_eq!(at.is_some(), knee(&higher, Shape::Saturating).is_some());
        }

        #[test]
        fn whatever_the_points_it_answers(points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..10)) {
            for shape in [Shape::Saturating, Shape::TakingOff] {
                let at = knee(&points, shape);
                prop_assert!(at.is_none_or(|at| at > 0 && at < points.len() - 1));
            }
        }
    }
}
