//! Reads what an endpoint tells: the Prometheus text format 0.0.4 and OpenMetrics 1.0.
//!
//! Sources: <https://prometheus.io/docs/instrumenting/exposition_formats/> and the OpenMetrics
//! specification 1.0. Time stamps and exemplars are read over: every sample belongs to its scrape.

use std::collections::BTreeMap;

/// Most samples of one answer.
pub(super) const MAX_SAMPLES: usize = 100_000;
/// Longest line, bytes.
const MAX_LINE: usize = 64 << 10;
/// Most labels of one sample.
const MAX_LABELS: usize = 64;

/// Type of a family, which says how its values behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FamilyType {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts per bucket, and their sum.
    Histogram,
    /// Quantiles, and their sum.
    Summary,
    /// Facts as labels.
    Info,
    /// Not said.
    Unknown,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// As it is written: `http_requests_total`.
    pub(super) name: String,
    /// By name; the last one of a name that is given twice.
    pub(super) labels: BTreeMap<String, String>,
    /// May be infinite, or not a number.
    pub(super) value: f64,
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Exposition {
    kinds: BTreeMap<String, FamilyType>,
    /// In their order.
    pub(super) samples: Vec<Sample>,
}

/// Role of a sample within its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// A part of a distribution, a fact, or the moment when a counter began.
    Detail,
}

/// A line that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadLine {
    /// From 1.
    pub(super) line: usize,
    /// The expected syntax that was not found.
    pub(super) problem: &'static str,
}

impl Exposition {
    /// These samples, of whose families nothing is known.
    pub(super) fn of(samples: impl IntoIterator<Item = Sample>) -> Self {
        Self {
            kinds: BTreeMap::new(),
            samples: samples.into_iter().collect(),
        }
    }

    /// Sum of the samples of this name that have these labels, whatever else they have; `None` when
    /// there is none.
    pub(crate) fn sum_of(&self, wanted: &Sample) -> Option<f64> {
        let is_it = |sample: &&Sample| {
            let mut labels = wanted.labels.iter();
            sample.name == wanted.name
                && labels.all(|(name, value)| sample.labels.get(name) == Some(value))
        };
        let found = self.samples.iter().filter(is_it);
        found
            .map(|sample| sample.value)
            .reduce(|sum, value| sum + value)
    }

    /// Role of a sample of this name, by the type of its family.
    pub(super) fn role(&self, name: &str) -> Role {
        if let Some(kind) = self.kinds.get(name) {
            return match kind {
                FamilyType::Counter => Role::Counter,
                // A summary's own name has its quantiles.
                FamilyType::Gauge | FamilyType::Summary | FamilyType::Unknown => Role::Gauge,
                FamilyType::Histogram | FamilyType::Info => Role::Detail,
            };
        }
        let of_family = |end: &str| {
            name.strip_suffix(end)
                .and_then(|family| self.kinds.get(family))
        };
        for (end, role) in [
            ("_total", Role::Counter),
            ("_sum", Role::Counter),
            ("_count", Role::Counter),
            ("_bucket", Role::Detail),
            ("_created", Role::Detail),
            ("_info", Role::Detail),
        ] {
            if of_family(end).is_some() {
                return role;
            }
        }
        // The name alone says it where no type does.
        match name.ends_with("_total") {
            true => Role::Counter,
            false => Role::Gauge,
        }
    }
}

/// Reads an answer. Errors: the first line that is neither a sample nor a remark.
pub(super) fn exposition(text: &str) -> Result<Exposition, BadLine> {
    let mut read = Exposition::default();
    for (line, number) in text.lines().zip(1..) {
        let bad = |problem| BadLine {
            line: number,
            problem,
        };
        if line.len() > MAX_LINE {
            return Err(bad("longer than 64 KiB"));
        }
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(remark) = line.strip_prefix('#') {
            let mut words = remark.split_ascii_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some("EOF"), None, None) => break,
                (Some("TYPE"), Some(name), Some(kind)) => {
                    read.kinds.insert(name.to_owned(), kind_of(kind));
                }
                _ => {}
            }
            if read.kinds.len() > MAX_SAMPLES {
                return Err(bad("too many families"));
            }
            continue;
        }
        if read.samples.len() >= MAX_SAMPLES {
            return Err(bad("too many samples"));
        }
        read.samples.push(sample(line).map_err(bad)?);
    }
    Ok(read)
}

fn kind_of(word: &str) -> FamilyType {
    match word {
        "counter" => FamilyType::Counter,
        "gauge" | "stateset" => FamilyType::Gauge,
        "histogram" | "gaugehistogram" => FamilyType::Histogram,
        "summary" => FamilyType::Summary,
        "info" => FamilyType::Info,
        _ => FamilyType::Unknown,
    }
}

/// Reads `name` or `name{label="value",…}`. Errors: what is wrong with it.
pub(crate) fn one_sample(text: &str) -> Result<Sample, &'static str> {
    let only = |c: char| c.is_whitespace() || c == '#';
    match text.split('{').next().unwrap_or_default().contains(only) {
        true => Err("its name holds a blank"),
        false => sample(&format!("{text} 0")),
    }
}

/// `name{label="value",…} value [time stamp] [# exemplar]`.
fn sample(line: &str) -> Result<Sample, &'static str> {
    let end = line
        .find(|c: char| !is_name_part(c))
        .ok_or("no value after the name")?;
    let (name, rest) = line.split_at(end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("no name of a metric");
    }
    let mut labels = BTreeMap::new();
    let rest = match rest.strip_prefix('{') {
        Some(rest) => read_labels(rest, &mut labels)?,
        None => rest,
    };
    let word = rest.split_ascii_whitespace().next();
    let value = number(word.ok_or("no value")?).ok_or("the value is not a number")?;
    Ok(Sample {
        name: name.to_owned(),
        labels,
        value,
    })
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

/// Reads labels up to the brace that ends them, and returns what follows it.
fn read_labels<'a>(
    mut rest: &'a str,
    labels: &mut BTreeMap<String, String>,
) -> Result<&'a str, &'static str> {
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if let Some(after) = rest.strip_prefix('}') {
            return Ok(after);
        }
        if labels.len() >= MAX_LABELS {
            return Err("more than 64 labels");
        }
        let (name, after) = rest.split_once('=').ok_or("a label without `=`")?;
        let name = name.trim();
        if name.is_empty() || !name.chars().all(is_name_part) {
            return Err("no name of a label");
        }
        let after = after.trim_start().strip_prefix('"');
        let (value, after) = quoted(after.ok_or("a label's value without quotes")?)?;
        labels.insert(name.to_owned(), value);
        rest = after;
    }
}

/// Reads up to the quote that ends a value, and returns what follows it.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, other)) => value.push(other),
                None => break,
            },
            other => value.push(other),
        }
    }
    Err("a label's value without its end")
}

fn number(word: &str) -> Option<f64> {
    match word {
        "+Inf" | "Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        _ => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMETHEUS: &str = include_str!("../../testdata/prometheus-0.0.4.txt");
    const OPENMETRICS: &str = include_str!("../../testdata/openmetrics-1.0.txt");

    fn find<'a>(read: &'a Exposition, name: &str, label: (&str, &str)) -> &'a Sample {
        let has = |s: &&Sample| {
            s.name == name
                && (label.0.is_empty() || s.labels.get(label.0).is_some_and(|v| v == label.1))
        };
        read.samples.iter().find(has).expect(name)
    }

    #[test]
    fn the_text_format_of_prometheus_is_read() {
        let read = exposition(PROMETHEUS).expect("metrics");
        assert_eq!(read.samples.len(), 19);
        assert_eq!(
            find(&read, "http_requests_total", ("code", "400")).value,
            3.0
        );
        let path = find(&read, "msdos_file_access_time_seconds", ("", ""));
        assert_eq!(path.labels["path"], "C:\\DIR\\FILE.TXT");
        assert_eq!(path.labels["error"], "Cannot find file:\n\"FILE.TXT\"");
        assert!(find(&read, "something_weird", ("", "")).value.is_infinite());
        assert_eq!(read.role("http_requests_total"), Role::Counter);
        assert_eq!(
            read.role("http_request_duration_seconds_bucket"),
            Role::Detail
        );
        assert_eq!(
            read.role("http_request_duration_seconds_sum"),
            Role::Counter
        );
        assert_eq!(read.role("rpc_duration_seconds"), Role::Gauge);
        assert_eq!(read.role("rpc_duration_seconds_count"), Role::Counter);
        assert_eq!(
            read.role("metric_without_timestamp_and_labels"),
            Role::Gauge
        );
    }

    #[test]
    fn openmetrics_ends_with_its_mark_and_its_exemplars_are_read_over() {
        let read = exposition(OPENMETRICS).expect("metrics");
        assert_eq!(read.samples.len(), 7);
        assert_eq!(
            read.role("acme_http_router_request_seconds_count"),
            Role::Counter
        );
        assert_eq!(read.role("foo_total"), Role::Counter);
        assert_eq!(read.role("foo_created"), Role::Detail);
        assert_eq!(read.role("build_info"), Role::Detail);
        assert_eq!(find(&read, "foo_total", ("", "")).value, 17.0);
    }

    #[test]
    fn mistakes_have_a_line() {
        for (text, problem) in [
            ("a 1\nb", "no value after the name"),
            ("a 1\nb x", "the value is not a number"),
            ("a 1\n9b 1", "no name of a metric"),
            ("a 1\nb{c} 1", "a label without `=`"),
            ("a 1\nb{c=d} 1", "a label's value without quotes"),
            ("a 1\nb{c=\"d} 1", "a label's value without its end"),
            ("a 1\nb{=\"d\"} 1", "no name of a label"),
            ("a 1\n<html>", "no name of a metric"),
        ] {
            assert_eq!(
                exposition(text),
                Err(BadLine { line: 2, problem }),
                "{text}"
            );
        }
        let long = format!("a{{b=\"{}\"}} 1", "x".repeat(MAX_LINE));
        assert!(exposition(&long).is_err());
    }
}
