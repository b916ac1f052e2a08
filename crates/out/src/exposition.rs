//! The text exposition of OpenMetrics 1.0, of the newest value of each series.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::{Point, labels_of, name_of};

/// Series remembered at most: what comes beyond is left out.
const SERIES_MAX: usize = 20_000;

/// Media type of the text.
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The newest value of each series, by name and labels as they are written.
#[derive(Debug, Default)]
pub struct Newest {
    series: BTreeMap<(String, String), f64>,
}

impl Newest {
    /// Takes points in the order of their time.
    pub fn take(&mut self, points: &[Point]) {
        for point in points {
            let key = (name_of(&point.metric), labels(point));
            if self.series.len() < SERIES_MAX || self.series.contains_key(&key) {
                self.series.insert(key, point.value);
            }
        }
    }

    /// The text; ends with `# EOF`.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut family = "";
        for ((name, labels), value) in &self.series {
            if name != family {
                let _ = writeln!(out, "# TYPE {name} gauge");
                family = name;
            }
            let _ = writeln!(out, "{name}{{{labels}}} {value}");
        }
        out.push_str("# EOF\n");
        out
    }
}

fn labels(point: &Point) -> String {
    let each = labels_of(point).map(|(name, value)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{name}=\"{}\"", value.replace('\n', "\\n"))
    });
    each.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point;

    #[test]
    fn each_family_is_declared_once_and_has_its_newest_value() {
        let mut newest = Newest::default();
        newest.take(&[point("b.x", 1, 1.0), point("a.y", 1, 2.0)]);
        newest.take(&[point("b.x", 2, 3.5)]);
        assert_eq!(
            newest.text(),
            "# TYPE sokudo_a_y gauge\nsokudo_a_y{host=\"host a\"} 2\n\
             # TYPE sokudo_b_x gauge\nsokudo_b_x{host=\"host a\"} 3.5\n# EOF\n"
        );
    }

    #[test]
    fn quotes_and_line_ends_are_escaped() {
        let mut odd = point("x", 1, 1.0);
        odd.labels.insert("label".into(), "a\"b\\c\nd".into());
        let mut newest = Newest::default();
        newest.take(&[odd]);
        assert!(newest.text().contains("label=\"a\\\"b\\\\c\\nd\""));
    }
}
