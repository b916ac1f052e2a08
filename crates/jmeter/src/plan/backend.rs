//! Which databases of time series are results summed up for, and in which words?

use fancy_regex::Regex;
use serde::Serialize;

/// A database that hears of results every few seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Backend {
    /// Where to, and in whose words.
    pub to: Destination,
    /// The sum of all results alone is sent.
    pub summary_only: bool,
    /// Labels that are sent by themselves, beside the sum.
    pub labels: Chosen,
    /// Percentiles, above 0 and up to 100.
    pub percentiles: Vec<f32>,
    /// Time between two messages, seconds.
    pub interval_s: u64,
    /// Results that one average, minimum or percentile looks back at.
    pub window: usize,
    /// Averages, minima and maxima begin anew with each message.
    pub begins_anew: bool,
}

/// Where sums are sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// Graphite: names and numbers over TCP.
    Graphite {
        /// Its name or address.
        host: String,
        /// Its port.
        port: u16,
        /// Before every name.
        prefix: String,
        /// As Python's objects instead of lines.
        pickled: bool,
    },
    /// InfluxDB: its line protocol.
    Influx(Influx),
    /// Nobody: the class of a client that is not known; empty where there is none.
    Nobody(String),
}

/// What goes to InfluxDB, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Influx {
    /// `http://…`, or host and port where datagrams are sent.
    pub url: String,
    /// Each message is a datagram.
    pub datagrams: bool,
    /// Shown to the server; never recorded.
    #[serde(skip)]
    pub token: String,
    /// Tag `application`.
    pub application: String,
    /// Name of what is measured.
    pub measurement: String,
    /// What begins and ends.
    pub title: String,
    /// Tags of the beginning and the end.
    pub event_tags: String,
    /// Tags of everything: name and value.
    pub tags: Vec<(String, String)>,
}

/// Labels that are chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// Those of this list.
    Listed(Vec<String>),
    /// Those that a pattern matches as a whole.
    Matching(String),
    /// Those in which a pattern is found.
    Containing(String),
}

/// [`Chosen`] with its pattern compiled.
#[derive(Debug)]
pub struct Choice(Inner);

#[derive(Debug)]
enum Inner {
    Listed(Vec<String>),
    Pattern(Regex),
}

impl Chosen {
    /// Ready for use. Errors: the pattern is none.
    pub fn compile(&self) -> Result<Choice, String> {
        let pattern = match self {
            Self::Listed(labels) => return Ok(Choice(Inner::Listed(labels.clone()))),
            Self::Matching(pattern) => format!("^(?:{pattern})$"),
            Self::Containing(pattern) => pattern.clone(),
        };
        let compiled = Regex::new(&pattern);
        compiled
            .map(|pattern| Choice(Inner::Pattern(pattern)))
            .map_err(|_| format!("`{pattern}` is no regular expression"))
    }
}

impl Choice {
    /// True when this label is among them.
    pub fn has(&self, label: &str) -> bool {
        match &self.0 {
            Inner::Listed(labels) => labels.iter().any(|one| one == label),
            Inner::Pattern(pattern) => pattern.is_match(label).unwrap_or(false),
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
