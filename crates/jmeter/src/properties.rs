//! JMeter properties, and the precedence of their origins.
//!
//! Lowest precedence first: built-in defaults, `jmeter.properties` (or the file of `-p`),
//! `user.properties`, each `-q` file in order, each `-J`, and, on the generators of a distributed
//! run, each `-G`. `-D` sets system properties, which `__P` does not read.

use std::collections::BTreeMap;

use serde::Serialize;

/// Defaults of a fresh JMeter installation that plans depend on.
const DEFAULTS: &[(&str, &str)] = &[
    ("httpsampler.max_redirects", "20"),
    ("summariser.name", "summary"),
    ("time.HMS", "HHmmss"),
    ("time.YMD", "yyyyMMdd"),
    ("time.YMDHMS", "yyyyMMdd-HHmmss"),
    ("timer.factor", "1.0"),
];

/// The origin of a property's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Built in.
    BuiltIn,
    /// A property file, by name.
    File(String),
    /// `-J` on the command line.
    CommandLine,
    /// `-G` on the command line.
    Global,
}

/// Properties by name, each with the origin of its value.
#[derive(Debug, Clone)]
pub struct Properties {
    entries: BTreeMap<String, (String, Origin)>,
}

impl Default for Properties {
    /// The built-in properties.
    fn default() -> Self {
        let entry = |(name, value): &(&str, &str)| {
            let value = (value.to_string(), Origin::BuiltIn);
            (name.to_string(), value)
        };
        Self {
            entries: DEFAULTS.iter().map(entry).collect(),
        }
    }
}

impl Properties {
    /// Sets a property; the last value wins.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>, origin: Origin) {
        self.entries.insert(name.into(), (value.into(), origin));
    }

    /// Removes a property, as an option without a value does.
    pub fn remove(&mut self, name: &str) {
        self.entries.remove(name);
    }

    /// Sets all properties of a property file.
    pub fn add_file(&mut self, name: &str, bytes: &[u8]) {
        for (key, value) in parse(bytes) {
            self.set(key, value, Origin::File(name.into()));
        }
    }

    /// The value of a property.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.entries.get(name).map(|(value, _)| value.as_str())
    }

    /// All properties, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter();
        entries.map(|(name, (value, _))| (name.as_str(), value.as_str()))
    }

    /// The origin of a property's value.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.entries.get(name).map(|(_, origin)| origin)
    }

    /// The variables that result files contain (`sample_variables`).
    pub fn sample_variables(&self) -> Vec<String> {
        let all = self.get("sample_variables").unwrap_or_default().split(',');
        let names = all.map(str::trim).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    }

    /// A property as a finite number. Java's type suffix is accepted: `1.5f`.
    pub fn number(&self, name: &str) -> Option<f64> {
        let text = self.get(name)?.trim();
        let digits = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
        let number: f64 = digits.parse().ok()?;
        number.is_finite().then_some(number)
    }
}

/// Names and values of a Java property file, in order.
///
/// Comments, continued lines, the three separators and `\uXXXX` are supported. The text is UTF-8 if
/// it is valid, otherwise Latin-1, which Java's own reader expects. There are no syntax errors:
/// every line has a meaning.
pub fn parse(bytes: &[u8]) -> Vec<(String, String)> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut logical = line.trim_start().to_owned();
        if logical.is_empty() || logical.starts_with(['#', '!']) {
            continue;
        }
        while continues(&logical) {
            logical.pop();
            match lines.next() {
                Some(next) => logical.push_str(next.trim_start()),
                None => break,
            }
        }
        found.push(pair(&logical));
    }
    found
}

/// True if the line ends with an odd number of backslashes.
fn continues(line: &str) -> bool {
    let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
    backslashes % 2 == 1
}

fn pair(line: &str) -> (String, String) {
    let mut escaped = false;
    let end = line.find(|c: char| {
        let ends = !escaped && (c.is_whitespace() || matches!(c, '=' | ':'));
        escaped = c == '\\' && !escaped;
        ends
    });
    let (key, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start();
    (unescape(key), unescape(rest))
}

/// Resolves Java's escapes: `\
/// `, `\\u65e5` and the like; an unknown one becomes its character.
pub(crate) fn unescape(text: &str) -> String {
    // UTF-16 units, because an escape holds one unit and two of them may form one character.
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let said = match c {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    let digits = chars.as_str().get(..4);
                    let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
                    if let Some(unit) = unit {
                        units.push(unit);
                        chars.nth(3);
                        continue;
                    }
                    'u'
                }
                Some(other) => other,
                None => break,
            },
            other => other,
        };
        units.extend_from_slice(said.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = parse(text.as_bytes());
        let found: Vec<_> = found
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn property_files_are_read_as_java_does() {
        check(
            "# c\n! c\n\na=1\n b : 2\nc 3\nd",
            &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "")],
        );
        check(
            "a=x\\\n   y\\\n z\nb=1\\\\\nc=2",
            &[("a", "xyz"), ("b", "1\\"), ("c", "2")],
        );
        check(
            "a\\=b=c\\u65e5\\u672c\\ud83d\\ude00\\q",
            &[("a=b", "c日本😀q")],
        );
        check("a = b = c ", &[("a", "b = c ")]);
    }

    #[test]
    fn who_sets_later_wins() {
        let mut properties = Properties::default();
        assert_eq!(properties.number("timer.factor"), Some(1.0));
        properties.set("timer.factor", " 1.5f", Origin::CommandLine);
        assert_eq!(properties.number("timer.factor"), Some(1.5));
        properties.add_file("user.properties", b"THREADS=5\ntimer.factor=2");
        properties.set("THREADS", "7", Origin::CommandLine);
        assert_eq!(properties.get("THREADS"), Some("7"));
        assert_eq!(properties.origin("THREADS"), Some(&Origin::CommandLine));
        assert_eq!(
            properties.origin("timer.factor"),
            Some(&Origin::File("user.properties".into()))
        );
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&bytes);
        }

        #[test]
        fn plain_pairs_come_back(key in "[a-z._]{1,10}", value in "[a-zA-Z0-9日本/:=]{0,12}") {
            prop_assert_eq!(parse(format!("{key}={value}").as_bytes()), [(key, value)]);
        }
    }
}
