//! The line protocol of InfluxDB.
//!
//! Source: the InfluxDB documentation, "Line protocol": `measurement,tag=value field=1.5 unix_ns`.

use std::fmt::Write as _;

use crate::{Point, labels_of, name_of};

/// One line per point, with its line end. Tags without a value are left out, as the protocol asks for.
pub fn lines(points: &[Point]) -> String {
    let mut out = String::new();
    for point in points {
        out.push_str(&name_of(&point.metric));
        for (name, value) in labels_of(point).filter(|(_, value)| !value.is_empty()) {
            out.push(',');
            out.push_str(&name);
            out.push('=');
            tag(&mut out, value);
        }
        // A number without a suffix is a float there.
        let _ = writeln!(out, " value={} {}", point.value, point.unix_ns);
    }
    out
}

/// Spaces, commas and equals signs are escaped; a line ends where it should.
fn tag(out: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            ' ' | ',' | '=' => out.extend(['\\', c]),
            // A backslash before the end of a tag would escape what follows it.
            '\\' => out.push('/'),
            c if c.is_control() => out.push('_'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point;

    #[test]
    fn a_point_is_a_line() {
        let points = [point(
            "rr.latency_p50_seconds",
            1_700_000_000_000_000_001,
            0.25,
        )];
        assert_eq!(
            lines(&points),
            "sokudo_rr_latency_p50_seconds,host=host\\ a value=0.25 1700000000000000001\n"
        );
    }

    #[test]
    fn foreign_text_begins_no_line() {
        let mut odd = point("x", 1, 1.0);
        odd.labels.insert("label".into(), "a\nb,c=d\\".into());
        let text = lines(&[odd]);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("label=a_b\\,c\\=d/ "), "{text}");
    }
}
