//! Backend listeners: aggregates of results for time series databases.

use fancy_regex::Regex;
use serde::Serialize;

use crate::pattern;

/// A listener that sends aggregates to a database every few seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Backend {
    /// Destination and protocol.
    pub to: Destination,
    /// True if only the aggregate of all results is sent.
    pub summary_only: bool,
    /// Labels that are sent separately, beside the aggregate of all.
    pub labels: Chosen,
    /// Percentiles, above 0 and at most 100.
    pub percentiles: Vec<f32>,
    /// Time between two messages, seconds.
    pub interval_s: u64,
    /// Number of results in the window of an average, minimum or percentile.
    pub window: usize,
    /// True if averages, minima and maxima are reset after each message.
    pub begins_anew: bool,
}

/// Destination of aggregates.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// Graphite: names and numbers over TCP.
    Graphite {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
        /// Prefix of every name.
        prefix: String,
        /// True if messages are pickled Python objects instead of lines.
        pickled: bool,
    },
    /// InfluxDB: its line protocol.
    Influx(Influx),
    /// A client class that is not supported; empty: none.
    Nobody(String),
}

/// Address and contents of messages to InfluxDB.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Influx {
    /// `http://…`, or host and port for datagrams.
    pub url: String,
    /// True if each message is a datagram.
    pub datagrams: bool,
    /// Access token; never recorded.
    #[serde(skip)]
    pub token: String,
    /// Tag `application`.
    pub application: String,
    /// Name of the measurement.
    pub measurement: String,
    /// Title of the events at the beginning and end.
    pub title: String,
    /// Tags of these events.
    pub event_tags: String,
    /// Tags of all points: name and value.
    pub tags: Vec<(String, String)>,
}

/// A selection of labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The labels in this list.
    Listed(Vec<String>),
    /// The labels that a pattern matches as a whole.
    Matching(String),
    /// The labels in which a pattern matches a part.
    Containing(String),
}

/// [`Chosen`] with its pattern compiled.
#[derive(Debug)]
pub struct Choice(Matcher);

#[derive(Debug)]
enum Matcher {
    Listed(Vec<String>),
    Pattern(Regex),
}

impl Chosen {
    /// Compiles the pattern. Fails if it is not a valid regular expression.
    pub fn compile(&self) -> Result<Choice, String> {
        let pattern = match self {
            Self::Listed(labels) => return Ok(Choice(Matcher::Listed(labels.clone()))),
            Self::Matching(pattern) => format!("^(?:{pattern})$"),
            Self::Containing(pattern) => pattern.clone(),
        };
        let compiled = pattern::compile(&pattern);
        compiled
            .map(|compiled| Choice(Matcher::Pattern(compiled)))
            .ok_or_else(|| format!("`{pattern}` is not a valid regular expression"))
    }
}

impl Choice {
    /// True if this label is selected.
    pub fn has(&self, label: &str) -> bool {
        match &self.0 {
            Matcher::Listed(labels) => labels.iter().any(|one| one == label),
            Matcher::Pattern(pattern) => pattern.is_match(label).unwrap_or(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_listed_matched_whole_or_searched() {
        let has = |chosen: Chosen, label: &str| chosen.compile().expect("it compiles").has(label);
        let listed = Chosen::Listed(vec!["a".into(), "b c".into()]);
        assert!(has(listed.clone(), "b c") && !has(listed, "b"));
        assert!(!has(Chosen::Matching("a|b".into()), "ab"));
        assert!(has(Chosen::Matching("a|b".into()), "b"));
        assert!(has(Chosen::Containing("a|b".into()), "xbx"));
        assert!(Chosen::Containing("(".into()).compile().is_err());
    }
}
