//! Writes values as Java's `toString` and JMeter's JSON library do.

use std::fmt::Write as _;

use super::Value;

impl Value {
    /// The value as an extractor stores it: texts without quotation marks. The members of an object
    /// stand in the order of Java's hash map, those of objects inside in the document's.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Map(members) => {
                let mut out = String::new();
                let members = hashed(members);
                map(members.iter().copied(), &mut out);
                out
            }
            other => other.json(),
        }
    }

    /// The same as an assertion on a path compares and tells it: doubles without exponent.
    pub fn asserted(&self) -> String {
        match self {
            Self::Double(number) => decimal(*number),
            other => other.shown(),
        }
    }

    /// The value as JSON.
    pub(super) fn json(&self) -> String {
        let mut out = String::new();
        self.append(&mut out);
        out
    }

    fn append(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Whole(number) => {
                let _ = write!(out, "{number}");
            }
            Self::Double(number) => out.push_str(&double(*number)),
            Self::Digits(digits) => out.push_str(digits),
            Self::Text(value) => text(value, out),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.append(out);
                }
                out.push(']');
            }
            Self::Map(members) => map(members.iter(), out),
        }
    }
}

fn map<'a>(members: impl Iterator<Item = &'a (String, Value)>, out: &mut String) {
    out.push('{');
    for (index, (name, value)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        text(name, out);
        out.push(':');
        value.append(out);
    }
    out.push('}');
}

/// A text in quotation marks. The library also escapes `/`, and characters of two blocks.
fn text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2000}'..='\u{20ff}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A number as Java's `Double.toString` writes it: with an exponent outside of 10⁻³ to 10⁷.
pub(super) fn double(number: f64) -> String {
    if !number.is_finite() {
        let infinity = if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return if number.is_nan() { "NaN" } else { infinity }.to_owned();
    }
    let size = number.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return decimal(number);
    }
    let text = format!("{number:E}");
    let (digits, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let fraction = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{fraction}E{exponent}")
}

/// A number without exponent, with at least one digit behind the point.
fn decimal(number: f64) -> String {
    let text = number.to_string();
    if text.contains('.') {
        text
    } else {
        text + ".0"
    }
}

/// Members in the order in which Java's `HashMap` that was made of them has them.
fn hashed(members: &[(String, Value)]) -> Vec<&(String, Value)> {
    // The table has room for a third more, and a power of two of places.
    let places = (members.len() as f32 / 0.75 + 1.0) as usize;
    let mask = places.next_power_of_two() as u32 - 1;
    let mut sorted: Vec<_> = members.iter().collect();
    // Those of one place stand in the order in which they came.
    sorted.sort_by_key(|(name, _)| {
        let hash = name.encode_utf16().fold(0u32, |hash, unit| {
            hash.wrapping_mul(31).wrapping_add(unit.into())
        });
        (hash ^ (hash >> 16)) & mask
    });
    sorted
}
