//! Monitors that a run asks for, beside those that observe every host anyway.

use serde::{Deserialize, Serialize};

use crate::units::counted;

/// Hosts of a run that a monitor observes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// Every host.
    All,
    /// The first host of the run's table: the one that gives the commands, if it takes part.
    First,
    /// The host of this name.
    Host(String),
}

/// One monitor that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorSpec {
    /// Its name in the registry of monitors.
    pub name: String,
    /// Host that observes.
    pub on: On,
    /// Time between two of its samples, nanoseconds; `None`: the monitor's own choice for the run's
    /// interval.
    pub interval_ns: Option<u64>,
    /// Its options as JSON text; the schema is the monitor's own.
    pub options: String,
}

impl MonitorSpec {
    /// Most monitors that one run asks for.
    pub const MOST: usize = 32;
    /// Longest name, of a monitor or of the host that it observes, bytes.
    pub const MAX_NAME: usize = 256;
    /// Longest options, bytes.
    pub const MAX_OPTIONS: usize = 256 << 10;

    /// Whether a list from outside keeps to the bounds. Errors: which bound it exceeds.
    pub fn within_bounds(list: &[Self]) -> Result<(), String> {
        if list.len() > Self::MOST {
            let asked = counted(list.len() as u64, "monitor");
            let most = Self::MOST;
            return Err(format!("{asked} asked for, and a run has {most} at most"));
        }
        for spec in list {
            let host = match &spec.on {
                On::Host(name) => name.len(),
                On::All | On::First => 0,
            };
            if spec.name.len().max(host) > Self::MAX_NAME {
                let most = Self::MAX_NAME;
                return Err(format!("the name of a monitor is longer than {most} B"));
            }
            if spec.options.len() > Self::MAX_OPTIONS {
                let (name, most) = (&spec.name, Self::MAX_OPTIONS);
                return Err(format!(
                    "the options of the monitor `{name}` are longer than {most} B"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_names_and_options_are_bounded() {
        let spec = MonitorSpec {
            name: "process".into(),
            on: On::All,
            interval_ns: None,
            options: "{}".into(),
        };
        let fits = vec![spec.clone(); MonitorSpec::MOST];
        assert_eq!(MonitorSpec::within_bounds(&fits), Ok(()));
        let long = |length: usize| "x".repeat(length);
        for wrong in [
            vec![spec.clone(); MonitorSpec::MOST + 1],
            vec![MonitorSpec {
                name: long(MonitorSpec::MAX_NAME + 1),
                ..spec.clone()
            }],
            vec![MonitorSpec {
                on: On::Host(long(MonitorSpec::MAX_NAME + 1)),
                ..spec.clone()
            }],
            vec![MonitorSpec {
                options: long(MonitorSpec::MAX_OPTIONS + 1),
                ..spec.clone()
            }],
        ] {
            assert!(MonitorSpec::within_bounds(&wrong).is_err());
        }
    }
}
