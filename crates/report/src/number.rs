//! Formats numbers for table columns and short lists.
//!
//! In sentences [`sokudo_model::units::human`] gives three significant digits and the best prefix.
//! In a table one prefix and one number of decimals hold for a whole column, so that a reader can
//! compare values at a glance.

use sokudo_model::Unit;
use sokudo_model::units::{grouped, human};

/// One prefix and one number of decimals for many values.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Divisor of values.
    pub divisor: f64,
    /// Unit with its prefix, as in a column header; empty for plain numbers.
    pub unit: String,
    /// Digits after the point.
    pub decimals: usize,
}

impl Scale {
    /// The scale that shows the largest of `values` with at least four digits.
    pub fn of(values: impl IntoIterator<Item = f64>, unit: Unit) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (largest, are_whole) = finite.fold((0.0_f64, true), |(most, whole), v| {
            (most.max(v.abs()), whole && v.fract() == 0.0)
        });
        let (divisor, unit) = steps(largest, unit);
        let scaled = largest / divisor;
        let decimals = match scaled {
            _ if unit.is_empty() && are_whole => 0,
            s if s >= 1000.0 => 0,
            s if s >= 100.0 => 1,
            s if s >= 10.0 => 2,
            _ => 3,
        };
        Self {
            divisor,
            unit,
            decimals,
        }
    }

    /// A value on this scale, without its unit.
    pub fn show(&self, value: f64) -> String {
        if !value.is_finite() {
            return "–".into();
        }
        let scaled = value / self.divisor;
        if self.decimals == 0 && (0.0..9.0e15).contains(&scaled) {
            return grouped(scaled.round() as u64);
        }
        format!("{scaled:.*}", self.decimals)
    }
}

fn steps(largest: f64, unit: Unit) -> (f64, String) {
    const DECIMAL: &[(f64, &str)] = &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    const BINARY: &[(f64, &str)] = &[
        (1_073_741_824.0, "GiB"),
        (1_048_576.0, "MiB"),
        (1024.0, "KiB"),
    ];
    const TIME: &[(f64, &str)] = &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    match unit {
        Unit::One | Unit::Packets => (1.0, String::new()),
        Unit::Ratio => (0.01, "%".into()),
        Unit::Bytes => pick(BINARY, largest, (1.0, "B")),
        Unit::Seconds => pick(TIME, largest, (1e-9, "ns")),
        Unit::BytesPerSecond
        | Unit::BitsPerSecond
        | Unit::PacketsPerSecond
        | Unit::PerSecond
        | Unit::Hertz => {
            let (divisor, prefix) = pick(DECIMAL, largest, (1.0, ""));
            (divisor, format!("{prefix}{}", unit.symbol()))
        }
    }
}

fn pick(table: &[(f64, &str)], largest: f64, otherwise: (f64, &str)) -> (f64, String) {
    let (divisor, sign) = table
        .iter()
        .copied()
        .find(|(step, _)| largest >= *step)
        .unwrap_or(match largest {
            // Nothing but zeros: the plain unit reads best.
            0.0 if table[0].0 == 1.0 => table[0],
            _ => otherwise,
        });
    (divisor, sign.into())
}

/// A value as in a sentence, or a dash when it is not known.
pub fn human_or_dash(value: Option<f64>, unit: Unit) -> String {
    match value {
        Some(value) if value.is_finite() => human(value, unit),
        _ => "–".into(),
    }
}

/// A whole number with its groups, or three digits when it is not whole or too large.
pub fn count(value: f64) -> String {
    if value >= 0.0 && value.fract() == 0.0 && value < 1e15 {
        grouped(value as u64)
    } else {
        human(value, Unit::One)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], unit: Unit, header: &str, cells: &[&str]) {
        let scale = Scale::of(values.iter().copied(), unit);
        assert_eq!(scale.unit, header);
        let shown: Vec<String> = values.iter().map(|v| scale.show(*v)).collect();
        assert_eq!(shown, cells);
    }

    #[test]
    fn a_column_has_one_prefix_and_one_number_of_decimals() {
        check(
            &[75.3125e9, 940e6],
            Unit::BitsPerSecond,
            "Gb/s",
            &["75.31", "0.94"],
        );
        check(&[0.011, 0.0], Unit::Ratio, "%", &["1.100", "0.000"]);
        check(
            &[1_234_567.0, 12.0],
            Unit::Packets,
            "",
            &["1 234 567", "12"],
        );
        // A whole number does not round the others of its column.
        check(&[0.506, 1.0], Unit::One, "", &["0.506", "1.000"]);
        check(&[0.0], Unit::Seconds, "s", &["0.000"]);
        check(&[150e-9], Unit::Seconds, "ns", &["150.0"]);
    }

    #[test]
    fn a_column_of_nothing_is_shown() {
        check(&[], Unit::Bytes, "B", &[]);
        assert_eq!(Scale::of([], Unit::Ratio).show(f64::NAN), "–");
    }
}
