//! Says which samples of a server become which metric of its queues.
//!
//! ```toml
//! path = "/metrics"                        # where the address names none
//! format = "prometheus"                    # or "stub_status", "jolokia"
//! beans = ["*:type=ThreadPool,*"]          # of Jolokia: what is read
//!
//! [[value]]
//! metric = "target.pool.used"              # one of `sokudo metrics`
//! is = "now"                               # now, grown, rate, mean
//! of = ['pool_managed{pool="main"}']       # samples that are added up
//! less = ["pool_free"]                     # and subtracted
//! per = ["pool_waits_total"]               # of a mean: what it is divided by
//! scale = 0.001
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::metric::Metric;
use sokudo_model::metrics::target;

use crate::openmetrics::{Body, Exposition, one_sample};

/// Most samples or beans of one entry.
const MAX_TERMS: usize = 64;

/// Server whose mapping comes with the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    /// `sokudo target app`.
    #[default]
    Sokudo,
    /// Open Liberty, mpMetrics.
    Liberty,
    /// Tomcat through Jolokia.
    Tomcat,
    /// Jetty through Jolokia.
    Jetty,
    /// HikariCP through Jolokia.
    Hikari,
    /// Spring Boot, Micrometer.
    Spring,
    /// nginx, `stub_status`.
    Nginx,
    /// HAProxy's exporter.
    Haproxy,
}

impl ServerKind {
    fn text(self) -> &'static str {
        match self {
            Self::Sokudo => include_str!("mappings/sokudo.toml"),
            Self::Liberty => include_str!("mappings/liberty.toml"),
            Self::Tomcat => include_str!("mappings/tomcat.toml"),
            Self::Jetty => include_str!("mappings/jetty.toml"),
            Self::Hikari => include_str!("mappings/hikari.toml"),
            Self::Spring => include_str!("mappings/spring.toml"),
            Self::Nginx => include_str!("mappings/nginx.toml"),
            Self::Haproxy => include_str!("mappings/haproxy.toml"),
        }
    }

    /// Its mapping. Errors: what is wrong with it, which a test excludes.
    pub(super) fn mapping(self) -> Result<Mapping, String> {
        Mapping::parse(self.text())
    }
}

/// Which samples become which metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Path of an address that has none.
    #[serde(default = "usual_path")]
    pub(super) path: String,
    /// Protocol of the endpoint.
    #[serde(default)]
    format: Format,
    /// MBeans that are read, as patterns.
    #[serde(default)]
    beans: Vec<String>,
    /// The metrics.
    pub(super) value: Vec<Value>,
}

fn usual_path() -> String {
    "/metrics".into()
}

/// Protocol of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    /// The text format of Prometheus, or OpenMetrics.
    #[default]
    Prometheus,
    /// The few lines of nginx.
    StubStatus,
    /// JMX as JSON.
    Jolokia,
}

/// How a metric comes about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Value {
    metric: String,
    pub(super) is: Way,
    of: Vec<String>,
    #[serde(default)]
    less: Vec<String>,
    #[serde(default)]
    per: Vec<String>,
    #[serde(default = "one")]
    scale: f64,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Way {
    /// The samples as they are.
    Now,
    /// Growth of a counter since the first answer.
    Grown,
    /// Growth of a counter per second since the last answer.
    Rate,
    /// Mean of what is new: growth of `of` over growth of `per`.
    Mean,
}

impl Mapping {
    /// Reads a mapping. Errors: what is wrong, with its line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mapping: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        mapping.check()?;
        Ok(mapping)
    }

    /// Whether names and bounds are kept. Errors: the entry that breaks one.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.value.is_empty() || self.value.len() > target::METRICS.len() {
            let most = target::METRICS.len();
            return Err(format!("the mapping has no value, or more than {most}"));
        }
        if !self.path.starts_with('/') || !self.path.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(format!(
                "the path `{}` does not begin with `/`, or holds blanks",
                self.path
            ));
        }
        if (self.format == Format::Jolokia) == self.beans.is_empty() || self.beans.len() > MAX_TERMS
        {
            return Err(format!(
                "`beans` names 1 to {MAX_TERMS} MBeans of Jolokia, and of nothing else"
            ));
        }
        for (at, value) in self.value.iter().enumerate() {
            value.check()?;
            if self.value[..at]
                .iter()
                .any(|other| other.metric == value.metric)
            {
                return Err(format!("`{}` has two entries", value.metric));
            }
        }
        Ok(())
    }

    /// Request to the endpoint, and the way in which its answer is read.
    pub(super) fn body(&self) -> Body {
        match self.format {
            Format::Prometheus => Body::Exposition,
            Format::StubStatus => Body::StubStatus,
            Format::Jolokia => Body::Jolokia(self.beans.clone()),
        }
    }
}

impl Value {
    /// The metric; `None` for a name that is none, which [`Mapping::check`] refuses.
    pub(super) fn metric(&self) -> Option<&'static Metric> {
        target::METRICS
            .iter()
            .find(|metric| metric.name == self.metric && metric.name != target::UP.name)
    }

    fn check(&self) -> Result<(), String> {
        let name = &self.metric;
        if self.metric().is_none() {
            return Err(format!("`{name}` is not a metric of the monitor `target`"));
        }
        let terms = || self.of.iter().chain(&self.less).chain(&self.per);
        if self.of.is_empty() || terms().count() > MAX_TERMS {
            return Err(format!(
                "`{name}` adds up no sample, or names more than {MAX_TERMS}"
            ));
        }
        if (self.way_needs_per()) == self.per.is_empty() {
            return Err(format!(
                "`{name}`: `per` is for a mean, and a mean needs it"
            ));
        }
        if !self.scale.is_finite() {
            return Err(format!("the scale of `{name}` is not a finite number"));
        }
        for term in terms() {
            one_sample(term).map_err(|why| format!("`{name}`: `{term}` names no sample: {why}"))?;
        }
        Ok(())
    }

    fn way_needs_per(&self) -> bool {
        self.is == Way::Mean
    }

    /// Sum of its samples, as the endpoint tells it now; `None` when it lacks a sample.
    pub(super) fn total(&self, read: &Exposition) -> Option<f64> {
        let [of, less] = [&self.of, &self.less].map(|terms| sum(terms, read));
        Some((of? - less?) * self.scale)
    }

    /// Divisor of a mean.
    pub(super) fn count(&self, read: &Exposition) -> Option<f64> {
        sum(&self.per, read)
    }

    /// Samples of its own that an answer lacks.
    pub(super) fn missing<'a>(&'a self, read: &Exposition) -> Option<&'a str> {
        let terms = self.of.iter().chain(&self.less).chain(&self.per);
        let mut missing = terms.filter(|term| told(term, read).is_none());
        missing.next().map(String::as_str)
    }
}

fn sum(terms: &[String], read: &Exposition) -> Option<f64> {
    terms.iter().map(|term| told(term, read)).sum()
}

fn told(term: &str, read: &Exposition) -> Option<f64> {
    let wanted = one_sample(term).ok()?;
    read.sum_of(&wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_the_program_is_a_mapping() {
        use ServerKind::*;
        for kind in [
            Sokudo, Liberty, Tomcat, Jetty, Hikari, Spring, Nginx, Haproxy,
        ] {
            kind.mapping()
                .unwrap_or_else(|why| panic!("{kind:?}: {why}"));
        }
        let own = ServerKind::Sokudo.mapping().expect("a mapping");
        assert_eq!(
            own.value.len() + 1,
            target::METRICS.len(),
            "each but `target.up`"
        );
    }

    #[test]
    fn mistakes_are_named() {
        let entry = |text: &str| Mapping::parse(&format!("[[value]]\n{text}")).expect_err(text);
        for (text, why) in [
            (
                "metric = \"target.colour\"\nis = \"now\"\nof = [\"a\"]",
                "is not a metric",
            ),
            (
                "metric = \"target.up\"\nis = \"now\"\nof = [\"a\"]",
                "is not a metric",
            ),
            (
                "metric = \"target.pool.used\"\nis = \"now\"\nof = []",
                "no sample",
            ),
            (
                "metric = \"target.pool.used\"\nis = \"now\"\nof = [\"a b\"]",
                "names no sample",
            ),
            (
                "metric = \"target.pool.used\"\nis = \"now\"\nof = ['a{b=\"c}']",
                "names no sample",
            ),
            (
                "metric = \"target.pool.used\"\nis = \"mean\"\nof = [\"a\"]",
                "`per`",
            ),
            (
                "metric = \"target.pool.used\"\nis = \"now\"\nof = [\"a\"]\nscale = inf",
                "scale",
            ),
            (
                "metric = \"target.pool.used\"\nis = \"often\"\nof = [\"a\"]",
                "often",
            ),
        ] {
            assert!(entry(text).contains(why), "{text}: {}", entry(text));
        }
        let value = "[[value]]\nmetric = \"target.pool.used\"\nis = \"now\"\nof = [\"a\"]\n";
        let wrong = |head: &str| Mapping::parse(&format!("{head}{value}")).expect_err(head);
        assert!(wrong("format = \"jolokia\"\n").contains("beans"));
        assert!(wrong("path = \"x\"\n").contains("path"));
        assert!(wrong(value).contains("two entries"));
    }
}
