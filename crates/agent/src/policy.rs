//! Reads what the owner of this host lets controllers do with it, and judges by it.
//!
//! A local TOML file that no controller can change. What it does not name is refused:
//!
//! ```toml
//! workloads = ["rr", "stream"]        # without it: all
//! reach = ["hosts", "strangers"]      # whom loads may reach; without it: "hosts", those of the run
//! destinations = ["192.0.2.0/24"]     # without it: every host of the run, each with its ticket
//! max_duration = "10min"              # of one phase; without it: 1 h
//! max_rate = "1Gb/s"                  # without it: as much as the host can
//! max_flows = 64                      # without it: 4096
//! monitors = ["host", "openmetrics"]  # without it: all that read this host's own tables only
//! monitor_addresses = ["127.0.0.1:9100"]   # where monitors connect to; without it: nowhere
//! ```

mod monitors;
mod reach;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use serde::Deserialize;
use sokudo_model::kinds::Reach;
use sokudo_model::units::{Nanos, Rate, human};
use sokudo_model::{Change, PhaseSpec, Refusal, Text, Unit, kinds};

pub use monitors::{Endpoint, Observation};

/// Longest phase where the policy sets no limit, nanoseconds.
const DEFAULT_DURATION_NS: u64 = 3_600_000_000_000;
/// Most flows of a phase where the policy sets no limit.
const DEFAULT_FLOWS: u32 = 4096;
/// Longest policy that is read, bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Rights of controllers on this host.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Names of workloads; `None` = all.
    pub workloads: Option<Vec<String>>,
    /// Targets that loads may reach.
    pub reach: Vec<Reach>,
    /// Addresses that this host may send to; `None` = the other hosts of a run.
    pub destinations: Option<Vec<IpNet>>,
    /// Longest load of one phase, nanoseconds.
    pub max_duration_ns: u64,
    /// Highest rate that may be asked for; `None` = unbounded.
    pub max_rate: Option<Rate>,
    /// Most flows of a phase.
    pub max_flows: u32,
    /// Monitors that are allowed.
    pub observation: Observation,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            workloads: None,
            reach: vec![Reach::Hosts],
            destinations: None,
            max_duration_ns: DEFAULT_DURATION_NS,
            max_rate: None,
            max_flows: DEFAULT_FLOWS,
            observation: Observation::default(),
        }
    }
}

/// The error of a policy that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("the policy {path} cannot be read: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// The file is not a valid policy.
    #[error("the policy {path} is not understood: {why}")]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What, and where.
        why: String,
    },
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    workloads: Option<Vec<String>>,
    reach: Option<Vec<String>>,
    destinations: Option<Vec<String>>,
    max_duration: Option<String>,
    max_rate: Option<String>,
    max_flows: Option<u32>,
    monitors: Option<Vec<String>>,
    monitor_addresses: Option<Vec<String>>,
}

impl Policy {
    /// The policy of a file; the default one where there is no file.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let unreadable = |error| PolicyError::Unreadable {
            path: path.to_owned(),
            error,
        };
        let wrong = |why: String| PolicyError::Wrong {
            path: path.to_owned(),
            why,
        };
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(unreadable(error)),
            Ok(file) if file.len() > MAX_BYTES => {
                return Err(wrong(format!("it is longer than {MAX_BYTES} B")));
            }
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&text).map_err(wrong)
    }

    /// A policy from its text. Errors: what is wrong, with its line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
        let networks = written.destinations.map(|list| {
            let networks = list.iter().map(|text| network(text));
            networks.collect::<Result<Vec<IpNet>, String>>()
        });
        let duration = written.max_duration.map(|text| text.parse::<Nanos>());
        let rate = written.max_rate.map(|text| text.parse::<Rate>());
        let default = Self::default();
        Ok(Self {
            workloads: written.workloads,
            reach: reach::read(written.reach)?,
            destinations: networks.transpose()?,
            max_duration_ns: duration
                .transpose()
                .map_err(|error| format!("max_duration: {error}"))?
                .map_or(default.max_duration_ns, |nanos| nanos.0),
            max_rate: rate
                .transpose()
                .map_err(|error| format!("max_rate: {error}"))?,
            max_flows: written.max_flows.unwrap_or(default.max_flows),
            observation: Observation::parse(written.monitors, written.monitor_addresses)?,
        })
    }

    /// Whether a phase may be carried out here; `asked` is the rate that its options name.
    ///
    /// Errors: what is not allowed, and who can change it.
    pub fn allows(&self, spec: &PhaseSpec, asked: Option<Rate>) -> Result<(), Refusal> {
        let phase = &spec.phase;
        let listed = self.workloads.as_ref();
        if listed.is_some_and(|listed| !listed.contains(&phase.workload)) {
            return Err(refuse(format!(
                "it does not carry out the workload `{}`",
                phase.workload
            )));
        }
        self.allows_reach(kinds::find(&phase.workload), spec)?;
        let length_ns = match phase.duration_ns {
            0 => phase.bound_ns,
            length_ns => length_ns,
        };
        if length_ns > self.max_duration_ns {
            return Err(refuse(format!(
                "it carries out {} at a time, and {} were asked for",
                seconds(self.max_duration_ns),
                seconds(length_ns)
            )));
        }
        if phase.flows.len() > self.max_flows as usize {
            return Err(refuse(format!(
                "it carries out {} flows at a time, and {} were asked for",
                self.max_flows,
                phase.flows.len()
            )));
        }
        self.allows_rate(asked)?;
        self.allows_destinations(spec)
    }

    /// Whether running load may become another. A bounded rate is never lifted: more users of a
    /// closed loop have no rate that could be compared with it.
    ///
    /// Errors: what is not allowed, and who can change it.
    pub fn allows_change(&self, change: &Change) -> Result<(), Refusal> {
        let asked = change.rate_per_s.map(Rate::Events);
        match (change.users, asked) {
            (None, None) => Ok(()),
            (None, asked) => self.allows_rate(asked),
            (Some(_), _) => self.allows_rate(None),
        }
    }

    fn allows_rate(&self, asked: Option<Rate>) -> Result<(), Refusal> {
        let Some(most) = self.max_rate else {
            return Ok(());
        };
        let within = match (asked, most) {
            (Some(Rate::Events(asked)), Rate::Events(most)) => asked <= most,
            (Some(asked @ (Rate::Bits(_) | Rate::Bytes(_))), Rate::Bits(_) | Rate::Bytes(_)) => {
                asked.events_per_s(1.0) <= most.events_per_s(1.0)
            }
            _ => false,
        };
        let asked = asked.map_or("as much as it can".to_owned(), shown);
        match within {
            true => Ok(()),
            false => Err(refuse(format!(
                "it sends {} at most, and {asked} was asked for",
                shown(most)
            ))),
        }
    }

    fn allows_destinations(&self, spec: &PhaseSpec) -> Result<(), Refusal> {
        let Some(allowed) = &self.destinations else {
            return Ok(());
        };
        let own = spec.phase.flows.iter().filter(|flow| flow.from == spec.me);
        for flow in own {
            let host = spec.hosts.get(flow.to as usize);
            let address = host.map_or("", |host| host.address.as_str());
            let ip: Option<IpAddr> = address.parse().ok();
            if !ip.is_some_and(|ip| allowed.iter().any(|network| network.contains(&ip))) {
                return Err(refuse(format!("it does not send to `{address}`")));
            }
        }
        Ok(())
    }

    /// Explanation of what controllers may do, a sentence per line.
    pub fn explain(&self) -> Vec<String> {
        let listed = |list: &[String]| list.join(", ");
        let mut lines = vec![
            match &self.workloads {
                Some(list) if list.is_empty() => "no workload is carried out".into(),
                Some(list) => format!("workloads: {}", listed(list)),
                None => "workloads: all that this version knows".into(),
            },
            format!("loads reach: {}", reach::explain(&self.reach)),
            match &self.destinations {
                Some(list) if list.is_empty() => "nothing is sent anywhere".into(),
                Some(list) => {
                    let list: Vec<String> = list.iter().map(IpNet::to_string).collect();
                    format!("sends to: {}", listed(&list))
                }
                None => "sends to: the other hosts of a run, each by a ticket of its own".into(),
            },
            format!("longest phase: {}", seconds(self.max_duration_ns)),
            match self.max_rate {
                Some(rate) => format!("highest rate: {}; a rate must be asked for", shown(rate)),
                None => "highest rate: as much as this host can".into(),
            },
            format!("flows of a phase: {} at most", self.max_flows),
            "programs: none are started, and no shell".into(),
            match self.reach.contains(&Reach::Files) {
                true => "files: those that a load's own options name",
                false => "files: none are read or written outside of sokudo's own",
            }
            .into(),
        ];
        lines.extend(self.observation.explain());
        lines
    }
}

fn network(text: &str) -> Result<IpNet, String> {
    let one = text.parse::<IpAddr>().map(IpNet::from).ok();
    one.or_else(|| text.parse().ok()).ok_or_else(|| {
        format!(
            "destinations: `{text}` is not a valid network; write `192.0.2.0/24` or one address"
        )
    })
}

fn seconds(ns: u64) -> String {
    human(ns as f64 * 1e-9, Unit::Seconds)
}

fn shown(rate: Rate) -> String {
    match rate {
        Rate::Bits(bits) => human(bits, Unit::BitsPerSecond),
        Rate::Bytes(bytes) => human(bytes, Unit::BytesPerSecond),
        Rate::Events(events) => human(events, Unit::PerSecond),
    }
}

fn refuse(why: impl Into<Text>) -> Refusal {
    Refusal {
        operator_error: true,
        says: Text::new("error-policy-forbids").text("why", why.into()),
        hint: Some(Text::new("error-policy-forbids-hint")),
    }
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::english;
    use sokudo_model::{FlowPlan, HostSpec, Labels, PhasePlan, RunId};

    use super::*;

    pub(super) fn spec(workload: &str, duration_ns: u64, to: &str) -> PhaseSpec {
        let host = |name: &str, address: &str| HostSpec {
            name: name.into(),
            address: address.into(),
        };
        PhaseSpec {
            run: RunId("run".into()),
            phase: PhasePlan {
                name: "measure".into(),
                workload: workload.into(),
                options: "{}".into(),
                flows: vec![FlowPlan {
                    id: 0,
                    from: 0,
                    to: 1,
                    stream: 0,
                }],
                duration_ns,
                bound_ns: 60_000_000_000,
                labels: Labels::new(),
            },
            hosts: vec![host("hosta", "0.0.0.0"), host("hostb", to)],
            me: 0,
            seed: 0,
            tickets: vec![1],
        }
    }

    const SECOND_NS: u64 = 1_000_000_000;

    #[track_caller]
    fn forbidden(policy: &str, spec: &PhaseSpec, asked: Option<Rate>, why: &str) {
        let policy = Policy::parse(policy).expect("a policy");
        let refusal = policy.allows(spec, asked).expect_err("not allowed");
        assert!(refusal.operator_error && refusal.hint.is_some());
        assert!(
            english(&refusal.says).contains(why),
            "{}",
            english(&refusal.says)
        );
    }

    #[test]
    fn what_is_not_named_is_refused() {
        let spec = spec("rr", SECOND_NS, "192.0.2.7");
        forbidden("workloads = [\"stream\"]", &spec, None, "`rr`");
        forbidden("workloads = []", &spec, None, "`rr`");
        forbidden("destinations = []", &spec, None, "`192.0.2.7`");
        forbidden(
            "destinations = [\"198.51.100.0/24\", \"192.0.2.8\"]",
            &spec,
            None,
            "`192.0.2.7`",
        );
        forbidden("max_duration = \"100ms\"", &spec, None, "1 s were");
        forbidden("max_flows = 0", &spec, None, "1 were asked");
        let counted = PhaseSpec {
            phase: PhasePlan {
                duration_ns: 0,
                ..spec.phase.clone()
            },
            ..spec
        };
        forbidden("max_duration = \"30s\"", &counted, None, "60 s were");
    }

    #[test]
    fn what_is_named_is_allowed() {
        let text = "workloads = [\"rr\"]\ndestinations = [\"192.0.2.0/24\"]\n\
                    max_duration = \"1s\"\nmax_rate = \"1Gb/s\"\nmax_flows = 1\n";
        let policy = Policy::parse(text).expect("a policy");
        let spec = spec("rr", SECOND_NS, "192.0.2.7");
        let asked = Some(Rate::Bytes(100e6));
        assert_eq!(policy.allows(&spec, asked), Ok(()));
        assert_eq!(Policy::default().allows(&spec, None), Ok(()));
        // A name is not followed: it could lead elsewhere when it is used.
        forbidden(
            "destinations = [\"0.0.0.0/0\"]",
            &PhaseSpec {
                hosts: vec![
                    spec.hosts[0].clone(),
                    HostSpec {
                        name: "hostb".into(),
                        address: "hostb.example".into(),
                    },
                ],
                ..spec
            },
            None,
            "`hostb.example`",
        );
    }

    #[test]
    fn a_bounded_rate_must_be_asked_for_in_its_own_unit() {
        let spec = spec("rr", SECOND_NS, "192.0.2.7");
        let bound = "max_rate = \"1Gb/s\"";
        forbidden(bound, &spec, None, "as much as it can");
        forbidden(bound, &spec, Some(Rate::Events(1.0)), "1/s was");
        forbidden(bound, &spec, Some(Rate::Bits(1.1e9)), "1.1 Gb/s");
        let policy = Policy::parse(bound).expect("a policy");
        assert_eq!(policy.allows(&spec, Some(Rate::Bits(1e9))), Ok(()));
    }

    #[test]
    fn running_load_keeps_to_the_bound() {
        let policy = Policy::parse("max_rate = \"100/s\"").expect("a policy");
        let change = |users, rate_per_s| Change { users, rate_per_s };
        assert_eq!(policy.allows_change(&change(None, Some(99.0))), Ok(()));
        assert!(policy.allows_change(&change(None, Some(101.0))).is_err());
        assert!(policy.allows_change(&change(Some(5), None)).is_err());
        let free = Policy::default();
        assert_eq!(free.allows_change(&change(Some(5), Some(1e6))), Ok(()));
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| Policy::parse(text).expect_err("a mistake");
        assert!(wrong("workload = []").contains("workload"));
        assert!(wrong("destinations = [\"hostb\"]").contains("`hostb` is not a valid network"));
        assert!(wrong("max_rate = \"fast\"").contains("max_rate"));
        assert!(wrong("max_duration = \"soon\"").contains("max_duration"));
        assert_eq!(Policy::parse(""), Ok(Policy::default()));
    }
}
