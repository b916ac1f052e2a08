//! Conditions of a measurement: hardware, system, versions and settings of each host.

use serde::{Deserialize, Serialize};

use crate::metric::Unit;

/// One recorded fact about a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Group shown together: `hardware`, `kernel`, `network`, `sysctl`, `limits`, `version`.
    pub section: String,
    /// Name as an operator knows it: `net.core.rmem_max`, `cpu model`, `eth0 mtu`.
    pub name: String,
    /// Value as text; `None` when it could not be read.
    pub value: Option<String>,
    /// Unit where the value is a number.
    pub unit: Option<Unit>,
    /// Source of the fact, or the reason why it is not available.
    pub source: String,
}

/// Recorded facts about one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Host as named in the run's host table.
    pub host: String,
    /// Facts in the order they should be shown.
    pub facts: Vec<Fact>,
}

impl Environment {
    /// The value of a fact, when it is known.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.facts
            .iter()
            .find(|f| f.name == name)
            .and_then(|f| f.value.as_deref())
    }

    /// The value of a fact as a number, when it is known and is one.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.parse().ok()
    }
}
