//! Says which metrics of an endpoint become which series.
//!
//! ```toml
//! [[series]]
//! metric = "http_requests_total"      # name of the samples
//! labels = { code = "500" }           # only those with these labels
//! name = "server_errors"              # the series: scraped.server_errors_per_second
//! kind = "counter"                    # or "gauge"; without it: what the endpoint says
//! unit = "seconds"                    # what the values are; without it: what the name ends with
//! scale = 0.001                       # what the values are multiplied with
//! keep = ["path"]                     # labels of the series; without it: all. What then is one series is added up
//! ```

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{Labels, Text, metric};

use super::parse::{Exposition, Role, Sample};

/// Longest file, bytes.
pub(super) const MAX_FILE: u64 = 64 << 10;
/// Most series of one mapping.
const MAX_RULES: usize = 256;
/// Longest value of a label that is kept, characters.
const MAX_VALUE: usize = 256;

/// Which metrics become which series; the others are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    series: Vec<Rule>,
}

/// One entry of a mapping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Name of the samples.
    metric: String,
    /// Labels that a sample must have.
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// Name of the series, without unit and prefix; the metric's own without it.
    #[serde(default)]
    name: Option<String>,
    /// How the values behave; what the endpoint says without it.
    #[serde(default)]
    kind: Option<MappedKind>,
    /// Unit of the values.
    #[serde(default)]
    unit: Option<MappedUnit>,
    /// Factor of the values.
    #[serde(default = "one")]
    scale: f64,
    /// Labels of the series; all without it.
    #[serde(default)]
    keep: Option<BTreeSet<String>>,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MappedKind {
    Counter,
    Gauge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MappedUnit {
    Seconds,
    Bytes,
    Bits,
    Packets,
    Ratio,
    Hertz,
}

impl MappedUnit {
    fn suffix(self) -> &'static str {
        match self {
            Self::Seconds => "_seconds",
            Self::Bytes => "_bytes",
            Self::Bits => "_bits",
            Self::Packets => "_packets",
            Self::Ratio => "_ratio",
            Self::Hertz => "_hertz",
        }
    }
}

/// A sample's addition to a series.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapped {
    /// Name in the record.
    pub(super) metric: String,
    /// Labels of the series, the endpoint's own apart.
    pub(super) labels: Labels,
    /// In the unit that the name states.
    pub(super) value: f64,
    /// True for a number that only grows: the series holds its rate.
    pub(super) is_counter: bool,
}

impl Mapping {
    /// Reads a mapping. Errors: what is wrong, with its line.
    pub(super) fn parse(text: &str) -> Result<Self, Text> {
        let wrong = |error: toml::de::Error| Text::words(error.to_string());
        let mapping: Self = toml::from_str(text).map_err(wrong)?;
        mapping.check()?;
        Ok(mapping)
    }

    /// Whether bounds and names are kept. Errors: the entry that breaks one.
    pub(super) fn check(&self) -> Result<(), Text> {
        if self.series.is_empty() || self.series.len() > MAX_RULES {
            return Err(Text::new("error-monitor-mapping-series").with("most", MAX_RULES));
        }
        for rule in &self.series {
            let name = rule.name.as_ref().unwrap_or(&rule.metric);
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
            if name.is_empty() || name.len() > 200 || !name.chars().all(part) {
                return Err(Text::new("error-monitor-mapping-name").word("name", name));
            }
            if !rule.scale.is_finite() {
                return Err(Text::new("error-monitor-mapping-scale").word("name", name));
            }
        }
        Ok(())
    }

    /// Points that a sample becomes: an entry per rule that applies to it.
    fn apply(&self, read: &Exposition, sample: &Sample) -> Vec<Mapped> {
        let means = |rule: &&Rule| {
            let mut labels = rule.labels.iter();
            rule.metric == sample.name
                && labels.all(|(name, value)| sample.labels.get(name) == Some(value))
        };
        let rules = self.series.iter().filter(means);
        rules.map(|rule| rule.mapped(read, sample)).collect()
    }
}

impl Rule {
    fn mapped(&self, read: &Exposition, sample: &Sample) -> Mapped {
        let is_counter = match self.kind {
            Some(kind) => kind == MappedKind::Counter,
            None => read.role(&sample.name) == Role::Counter,
        };
        let keeps = |name: &String| self.keep.as_ref().is_none_or(|keep| keep.contains(name));
        let labels = sample.labels.iter().filter(|(name, _)| keeps(name));
        let name = self.name.as_ref().unwrap_or(&self.metric);
        Mapped {
            metric: name_of(name, self.unit.map(MappedUnit::suffix), is_counter),
            labels: labels
                .map(|(name, value)| (name.clone(), shortened(value)))
                .collect(),
            value: sample.value * self.scale,
            is_counter,
        }
    }
}

/// Points that the samples of an answer become, by name and labels: by the mapping, or each as its
/// family's type has it. Samples of one series are added up.
pub(super) fn mapped(mapping: Option<&Mapping>, read: &Exposition) -> Vec<Mapped> {
    let as_it_is = |sample: &Sample| {
        let is_counter = match read.role(&sample.name) {
            Role::Detail => return None,
            role => role == Role::Counter,
        };
        let labels = sample.labels.iter();
        Some(Mapped {
            metric: name_of(&sample.name, None, is_counter),
            labels: labels
                .map(|(name, value)| (name.clone(), shortened(value)))
                .collect(),
            value: sample.value,
            is_counter,
        })
    };
    let mut unique: BTreeMap<(String, Labels), Mapped> = BTreeMap::new();
    for sample in &read.samples {
        let of_sample = match mapping {
            Some(mapping) => mapping.apply(read, sample),
            None => as_it_is(sample).into_iter().collect(),
        };
        for mapped in of_sample {
            let key = (mapped.metric.clone(), mapped.labels.clone());
            let value = mapped.value;
            unique
                .entry(key)
                .and_modify(|sum| sum.value += value)
                .or_insert(mapped);
        }
    }
    unique.into_values().collect()
}

/// Name in the record: the prefix, the unit unless the name ends with it, and that it is a rate.
fn name_of(name: &str, unit: Option<&str>, is_counter: bool) -> String {
    let name = match is_counter {
        true => name.strip_suffix("_total").unwrap_or(name),
        false => name,
    };
    let name = name.replace(':', "_");
    let unit = unit
        .filter(|unit| !name.ends_with(unit))
        .unwrap_or_default();
    let rate = if is_counter { "_per_second" } else { "" };
    format!("{}{name}{unit}{rate}", metric::SCRAPED)
}

fn shortened(value: &str) -> String {
    sokudo_model::cut(value, MAX_VALUE).into_owned()
}

#[cfg(test)]
mod tests {
    use sokudo_model::Unit;

    use super::super::parse::exposition;
    use super::*;

    const TEXT: &str = "# TYPE requests counter\nrequests_total{code=\"200\",path=\"/a\"} 10\n\
        requests_total{code=\"200\",path=\"/b\"} 5\nrequests_total{code=\"500\",path=\"/a\"} 1\n\
        # TYPE pause_ms gauge\npause_ms 20\n# TYPE d histogram\nd_bucket{le=\"1\"} 1\nd_sum 2\nd_count 3\n";

    fn names(mapping: Option<&Mapping>) -> Vec<(String, f64)> {
        let read = exposition(TEXT).expect("metrics");
        let mapped = mapped(mapping, &read).into_iter();
        mapped.map(|mapped| (mapped.metric, mapped.value)).collect()
    }

    #[test]
    fn without_a_mapping_every_family_is_taken_and_buckets_are_not() {
        let names = names(None);
        assert_eq!(names.len(), 6);
        assert_eq!(names[1], ("scraped.d_sum_per_second".into(), 2.0));
        assert_eq!(names[2], ("scraped.pause_ms".into(), 20.0));
        assert_eq!(names[3], ("scraped.requests_per_second".into(), 10.0));
        assert_eq!(metric::unit_of(&names[3].0), Unit::PerSecond);
    }

    #[test]
    fn a_mapping_chooses_names_sums_and_scales() {
        let mapping = Mapping::parse(
            "[[series]]\nmetric = \"requests_total\"\nkeep = [\"code\"]\nlabels = { code = \"200\" }\n\
             [[series]]\nmetric = \"pause_ms\"\nname = \"gc_pause\"\nunit = \"seconds\"\nscale = 0.001\n",
        );
        let names = names(Some(&mapping.expect("a mapping")));
        let expected = [
            ("scraped.gc_pause_seconds".to_owned(), 0.02),
            ("scraped.requests_per_second".to_owned(), 15.0),
        ];
        assert_eq!(names, expected);
        assert_eq!(metric::unit_of(&names[0].0), Unit::Seconds);
    }

    #[test]
    fn mistakes_are_named() {
        let wrong =
            |text: &str| sokudo_i18n::english(&Mapping::parse(text).expect_err("a mistake"));
        assert!(wrong("").contains("missing field `series`"));
        assert!(wrong("series = []").contains("no series"));
        assert!(wrong("[[series]]\nmetric = \"a b\"").contains("`a b` is not a name"));
        assert!(wrong("[[series]]\nmetric = \"a\"\nunit = \"miles\"").contains("miles"));
        assert!(wrong("[[series]]\nmetric = \"a\"\ncolour = 1").contains("colour"));
    }
}
