//! Reads what the owner of this host lets controllers do with it, and judges by it.
//!
//! A local TOML file that no controller can change. What it does not name is refused:
//!
//! ```toml
//! workloads = ["rr", "stream"]        # without it: those of this version's default
//! reach = ["hosts", "strangers"]      # whom loads may reach; without it: "hosts", those of the run
//! destinations = ["192.0.2.0/24"]     # without it: every host of the run, each with its ticket
//! paths = ["/srv/mirror"]             # directories that loads on files may use, themselves; without it: none
//! read_paths = ["/srv/data"]          # the same, only to read
//! write_paths = ["/srv/inbox"]        # the same, only to write: what stands there is compared, and not sent
//! max_duration = "10min"              # of one phase; without it: 1 h, where files are replicated 30 days
//! max_rate = "1Gb/s"                  # each way, all sessions together; without it: as much as the host can
//! max_flows = 64                      # connections at a time, all sessions together; without it: 65536
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
use sokudo_model::{Change, Kind, PhaseSpec, Refusal, Text, Unit, kinds};
use sokudo_workload::Demand;
use sokudo_workload::contract::PathUse;

pub use monitors::{Endpoint, Observation};

/// Most connections at a time where the policy sets no limit.
const DEFAULT_FLOWS: u32 = 65_536;
/// Workloads that a policy without a list of its own carries out; each kind's reach bounds it further. A
/// kind that comes later is closed until it is named here or in the policy.
const GRANTED: [&Kind; 15] = [
    &kinds::probe::KIND,
    &kinds::rr::KIND,
    &kinds::crr::KIND,
    &kinds::stream::KIND,
    &kinds::bus::KIND,
    &kinds::http::KIND,
    &kinds::jmx::KIND,
    &kinds::dns::KIND,
    &kinds::datagram::KIND,
    &kinds::replicate::KIND,
    &kinds::tpcb::KIND,
    &kinds::dbt1::KIND,
    &kinds::dbt2::KIND,
    &kinds::dbt3::KIND,
    &kinds::sqlmix::KIND,
];
/// Sums of shares of a rate may exceed it by so much, relatively.
const ROUNDING: f64 = 1e-9;
/// Longest policy that is read, bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Rights of controllers on this host.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Names of workloads; `None` = those that are granted by default.
    pub workloads: Option<Vec<String>>,
    /// Targets that loads may reach.
    pub reach: Vec<Reach>,
    /// Addresses that this host may send to; `None` = the other hosts of a run.
    pub destinations: Option<Vec<IpNet>>,
    /// Files and directories that loads may read.
    pub read_paths: Vec<PathBuf>,
    /// Files and directories that loads may change.
    pub write_paths: Vec<PathBuf>,
    /// Longest load of one phase, nanoseconds; `None` = the longest that its kind has.
    pub max_duration_ns: Option<u64>,
    /// Highest rate that may be asked for, each way; `None` = unbounded.
    pub max_rate: Option<Rate>,
    /// Most connections at a time; `None` = the default, and loads that do not say how many they
    /// open.
    pub max_flows: Option<u32>,
    /// Monitors that are allowed.
    pub observation: Observation,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            workloads: None,
            reach: vec![Reach::Hosts],
            destinations: None,
            read_paths: Vec::new(),
            write_paths: Vec::new(),
            max_duration_ns: None,
            max_rate: None,
            max_flows: None,
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
        /// The mistake, and its place.
        why: String,
    },
}

impl PolicyError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        let about = |key: &str, path: &Path| Text::new(key).with("path", path.display());
        match self {
            Self::Unreadable { path, error } => {
                about("error-policy-unreadable", path).with("error", error)
            }
            Self::Wrong { path, why } => {
                about("error-policy-wrong", path).text("why", Text::recorded(why))
            }
        }
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    workloads: Option<Vec<String>>,
    reach: Option<Vec<String>>,
    destinations: Option<Vec<String>>,
    paths: Option<Vec<PathBuf>>,
    read_paths: Option<Vec<PathBuf>>,
    write_paths: Option<Vec<PathBuf>>,
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
        let both = paths("paths", written.paths)?;
        let duration = written.max_duration.map(|text| text.parse::<Nanos>());
        let rate = written.max_rate.map(|text| text.parse::<Rate>());
        Ok(Self {
            workloads: written.workloads,
            reach: reach::read(written.reach)?,
            destinations: networks.transpose()?,
            read_paths: [both.clone(), paths("read_paths", written.read_paths)?].concat(),
            write_paths: [both, paths("write_paths", written.write_paths)?].concat(),
            max_duration_ns: duration
                .transpose()
                .map_err(|error| format!("max_duration: {error}"))?
                .map(|nanos| nanos.0),
            max_rate: rate
                .transpose()
                .map_err(|error| format!("max_rate: {error}"))?,
            max_flows: written.max_flows,
            observation: Observation::parse(written.monitors, written.monitor_addresses)?,
        })
    }

    /// Whether a phase may be carried out here by itself; `demand` is what it demands of this host.
    ///
    /// Errors: what is not allowed, and who can change it.
    pub fn allows(&self, spec: &PhaseSpec, demand: &Demand) -> Result<(), Refusal> {
        let phase = &spec.phase;
        if !self.grants(&phase.workload) {
            return Err(refuse(format!(
                "it does not carry out the workload `{}`",
                phase.workload
            )));
        }
        self.allows_reach(kinds::find(&phase.workload), spec)?;
        self.allows_length(spec, demand)?;
        self.allows_destinations(spec)?;
        self.allows_sum(demand)
    }

    /// Lets loads use a directory of this host.
    pub fn allow_path(&mut self, used: PathUse) {
        match used.writes {
            true => self.write_paths.push(used.path),
            false => self.read_paths.push(used.path),
        }
        if !self.reach.contains(&Reach::Files) {
            self.reach.push(Reach::Files);
        }
    }

    /// Whether a load may use these paths: each must be listed as it is. What lies below a listed one is
    /// not listed, because who writes there could make it a link to anywhere.
    ///
    /// Errors: the path that is not listed.
    pub fn allows_paths(&self, paths: &[PathUse]) -> Result<(), Refusal> {
        let (read, write) = (&self.read_paths, &self.write_paths);
        let listed = |one: &&PathUse| match one.writes {
            true => write.contains(&one.path),
            false => read.contains(&one.path),
        };
        let Some(PathUse { path, writes }) = paths.iter().find(|one| !listed(one)) else {
            return Ok(());
        };
        let path_shown = path.display();
        Err(refuse(
            match (writes, read.contains(path), write.contains(path)) {
                (true, true, _) => format!("`{path_shown}` may be read here, and not written"),
                (false, _, true) => format!("`{path_shown}` may be written here, and not read"),
                _ => format!("`{path_shown}` is not one of its `paths`"),
            },
        ))
    }

    fn grants(&self, workload: &str) -> bool {
        match &self.workloads {
            Some(listed) => listed.iter().any(|listed| listed == workload),
            None => GRANTED.iter().any(|kind| kind.name == workload),
        }
    }

    /// Longest load of this workload, nanoseconds.
    pub fn longest_ns(&self, workload: &str) -> u64 {
        let own_ns = kinds::longest_counted_ns(workload);
        self.max_duration_ns.unwrap_or(own_ns)
    }

    /// Checks the length of a phase: of that of the plan and that of its options the longer one counts.
    fn allows_length(&self, spec: &PhaseSpec, demand: &Demand) -> Result<(), Refusal> {
        let own_ns = demand.duration_ns.unwrap_or(spec.phase.bound_ns);
        let said_ns = match spec.phase.duration_ns {
            0 => spec.phase.bound_ns.min(own_ns),
            said_ns => said_ns,
        };
        let length_ns = own_ns.max(said_ns);
        let longest_ns = self.longest_ns(&spec.phase.workload);
        match length_ns <= longest_ns {
            true => Ok(()),
            false => Err(refuse(format!(
                "it carries out {} at a time, and {} were asked for",
                seconds(longest_ns),
                seconds(length_ns)
            ))),
        }
    }

    /// Whether so much may go on at a time, of all sessions together.
    ///
    /// Errors: what is too much, and who can change it.
    pub fn allows_sum(&self, demand: &Demand) -> Result<(), Refusal> {
        let most = self.max_flows.unwrap_or(DEFAULT_FLOWS);
        let asked = match demand.connections {
            Some(asked) if asked <= u64::from(most) => None,
            Some(asked) => Some(format!("{asked} were")),
            None if self.max_flows.is_none() => None,
            None => Some("as many as its options say were".into()),
        };
        if let Some(asked) = asked {
            return Err(refuse(format!(
                "it has {most} connections at a time, and {asked} asked for"
            )));
        }
        self.allows_rate(demand)
    }

    /// Whether running load may become another, beside what else goes on. A bounded rate is never
    /// lifted: more users of a closed loop have no rate that could be compared with it.
    ///
    /// Errors: what is not allowed, and who can change it.
    pub fn allows_change(&self, change: &Change, others: &Demand) -> Result<(), Refusal> {
        let wished = Demand {
            connections: change.users.or(Some(0)),
            events_per_s: change.rate_per_s.filter(|_| change.users.is_none()),
            sent_bytes_per_s: None,
            received_bytes_per_s: None,
            ..Demand::NOTHING
        };
        match (change.users, change.rate_per_s) {
            (None, None) => Ok(()),
            _ => self.allows_sum(&[wished, *others].into_iter().sum()),
        }
    }

    /// Both directions are bounded, each by itself.
    fn allows_rate(&self, demand: &Demand) -> Result<(), Refusal> {
        let Some(most) = self.max_rate else {
            return Ok(());
        };
        let (asked, most_each): (&[(&str, Option<f64>)], f64) = match most {
            Rate::Events(most) => (&[("carries out", demand.events_per_s)], most),
            Rate::Bits(_) | Rate::Bytes(_) => (
                &[
                    ("sends", demand.sent_bytes_per_s),
                    ("receives", demand.received_bytes_per_s),
                ],
                most.events_per_s(1.0),
            ),
        };
        for (what, asked) in asked {
            if asked.is_some_and(|asked| asked <= most_each * (1.0 + ROUNDING)) {
                continue;
            }
            let asked = match (asked, most) {
                (None, _) => "as much as it can".to_owned(),
                (Some(asked), Rate::Bits(_)) => shown(Rate::Bits(asked * 8.0)),
                (Some(asked), Rate::Bytes(_)) => shown(Rate::Bytes(*asked)),
                (Some(asked), Rate::Events(_)) => shown(Rate::Events(*asked)),
            };
            return Err(refuse(format!(
                "it {what} {} at most, and {asked} was asked for",
                shown(most)
            )));
        }
        Ok(())
    }

    /// Both ends of a flow send: load, or answers to it; either may be the one that calls.
    fn allows_destinations(&self, spec: &PhaseSpec) -> Result<(), Refusal> {
        let Some(allowed) = &self.destinations else {
            return Ok(());
        };
        let me = spec.me;
        let flows = spec.phase.flows.iter();
        let far_ends = flows.filter_map(|flow| match (flow.from == me, flow.to == me) {
            (true, _) => Some(flow.to),
            (_, true) => Some(flow.from),
            _ => None,
        });
        for far_end in far_ends {
            let host = spec.hosts.get(far_end as usize);
            let address = host.map_or("", |host| host.address.as_str());
            let ip: Option<IpAddr> = address.parse().ok();
            if !ip.is_some_and(|ip| allowed.iter().any(|network| network.contains(&ip))) {
                return Err(refuse(format!("it does not send to `{address}`")));
            }
        }
        Ok(())
    }

    /// Explanation of what controllers may do, a sentence per line.
    pub fn explain(&self) -> Vec<Text> {
        let of_list = |none: &str, some: &str, list: &[String]| match list.is_empty() {
            true => Text::new(none),
            false => Text::new(some).word("list", list.join(", ")),
        };
        let granted = || GRANTED.map(|kind| kind.name.to_owned()).to_vec();
        let workloads = self.workloads.clone().unwrap_or_else(granted);
        let destinations = self.destinations.as_ref().map(|list| {
            let list: Vec<String> = list.iter().map(IpNet::to_string).collect();
            of_list("policy-sends-nothing", "policy-sends", &list)
        });
        let longest = self.max_duration_ns.map(|longest_ns| {
            Text::new("policy-longest").number("time", longest_ns as f64 / 1e9, Unit::Seconds)
        });
        let rate = self.max_rate;
        let rate = rate.map(|rate| Text::new("policy-rate").word("rate", shown(rate)));
        let flows = self.max_flows.unwrap_or(DEFAULT_FLOWS);
        let mut lines = vec![
            of_list("policy-no-workload", "policy-workloads", &workloads),
            reach::explain(&self.reach),
            destinations.unwrap_or_else(|| Text::new("policy-sends-to-hosts")),
            longest.unwrap_or_else(|| Text::new("policy-longest-default")),
            rate.unwrap_or_else(|| Text::new("policy-rate-any")),
            Text::new("policy-connections").with("n", flows),
            Text::new("policy-programs"),
            Text::new(match self.reach.contains(&Reach::Files) {
                true => "policy-files-of-plans",
                false => "policy-files-none",
            }),
        ];
        let listed = [
            ("policy-read", &self.read_paths),
            ("policy-written", &self.write_paths),
        ];
        let listed = listed.iter().filter(|(_, paths)| !paths.is_empty());
        lines.extend(listed.map(|(key, paths)| {
            let paths: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
            Text::new(*key).word("list", paths.join(", "))
        }));
        lines.extend(self.observation.explain());
        lines
    }
}

/// Paths of a policy file: absolute, because the process that reads them has another working directory.
fn paths(name: &str, written: Option<Vec<PathBuf>>) -> Result<Vec<PathBuf>, String> {
    let written = written.unwrap_or_default();
    match written.iter().find(|path| !path.is_absolute()) {
        None => Ok(written),
        Some(path) => Err(format!(
            "{name}: `{}` does not begin with `/`",
            path.display()
        )),
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

fn refuse(why: impl Into<String>) -> Refusal {
    Refusal {
        operator_error: true,
        says: Text::new("error-policy-forbids").text("why", Text::recorded(why)),
        hint: Some(Text::new("error-policy-forbids-hint")),
    }
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::{I18n, Lang, english};
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

    /// Verdict of the policy on a phase with the demand of its own options.
    fn judged(policy: &str, spec: &PhaseSpec) -> Result<(), String> {
        let policy = Policy::parse(policy).expect("a policy");
        let workload = sokudo_workloads::find(&spec.phase.workload).expect("a workload");
        let demand = workload.demand(spec).expect("options of a test");
        policy.allows(spec, &demand).map_err(|refusal| {
            assert!(refusal.operator_error && refusal.hint.is_some());
            english(&refusal.says)
        })
    }

    #[track_caller]
    fn forbidden(policy: &str, spec: &PhaseSpec, why: &str) {
        let says = judged(policy, spec).expect_err("not allowed");
        assert!(says.contains(why), "{}: {says}", spec.phase.workload);
        let reason = says.split_once(": ").map_or("", |(_, reason)| reason);
        let told = I18n::new(Lang::Ja).text(&Text::recorded(reason));
        assert!(!told.is_ascii(), "no Japanese for: {reason}");
    }

    fn with(spec: &PhaseSpec, options: &str) -> PhaseSpec {
        let mut spec = spec.clone();
        spec.phase.options = options.into();
        spec
    }

    #[test]
    fn what_is_not_named_is_refused() {
        let spec = spec("rr", SECOND_NS, "192.0.2.7");
        let spec = with(&spec, r#"{"duration":"1s"}"#);
        forbidden("workloads = [\"stream\"]", &spec, "`rr`");
        forbidden("workloads = []", &spec, "`rr`");
        forbidden("destinations = []", &spec, "`192.0.2.7`");
        let others = "destinations = [\"198.51.100.0/24\", \"192.0.2.8\"]";
        forbidden(others, &spec, "`192.0.2.7`");
        forbidden("max_duration = \"100ms\"", &spec, "1 s were");
        forbidden("max_flows = 0", &spec, "1 were asked");
        let mut counted = with(&spec, r#"{"count":"5"}"#);
        counted.phase.duration_ns = 0;
        forbidden("max_duration = \"30s\"", &counted, "60 s were");
    }

    #[test]
    fn what_is_named_is_allowed() {
        let text = "workloads = [\"rr\"]\ndestinations = [\"192.0.2.0/24\"]\n\
                    max_duration = \"1s\"\nmax_rate = \"1Gb/s\"\nmax_flows = 1\n";
        let spec = spec("rr", SECOND_NS, "192.0.2.7");
        let spec = with(&spec, r#"{"duration":"1s","rate":"100MB/s"}"#);
        assert_eq!(judged(text, &spec), Ok(()));
        assert_eq!(judged("", &with(&spec, "{}")), Ok(()));
        // A name is not followed: it could lead elsewhere when it is used.
        let mut named = spec;
        named.hosts[1].address = "hostb.example".into();
        let everywhere = "destinations = [\"0.0.0.0/0\"]";
        forbidden(everywhere, &named, "`hostb.example`");
    }

    /// Kinds that load other hosts of the run, with a load of six seconds, one of more than two
    /// connections, and one of 2 Mb/s or more in at least one direction.
    const BETWEEN: [(&str, &str, &str, &str); 7] = [
        (
            "probe",
            r#"{"duration":"6s"}"#,
            "",
            r#"{"every":"100us","size":"1400B"}"#,
        ),
        (
            "rr",
            r#"{"duration":"6s"}"#,
            r#"{"connections":1000}"#,
            r#"{"rate":"100/s","size":"64:10000"}"#,
        ),
        (
            "crr",
            r#"{"duration":"6s"}"#,
            "",
            r#"{"rate":"100/s","size":"64:10000"}"#,
        ),
        ("stream", r#"{"duration":"6s"}"#, "", r#"{"rate":"2Mb/s"}"#),
        ("bus", r#"{"duration":"6s"}"#, "", r#"{"rate":"2Mb/s"}"#),
        (
            "datagram",
            r#"{"duration":"6s"}"#,
            "",
            r#"{"rate":"100/s","size":"10000"}"#,
        ),
        (
            "http",
            r#"{"duration":"6s"}"#,
            r#"{"connections":1000}"#,
            r#"{"rate":"100k/s"}"#,
        ),
    ];

    #[test]
    fn every_kind_is_bounded_in_length_connections_and_bytes_both_ways() {
        for (kind, long, wide, fast) in BETWEEN {
            for me in [0, 1] {
                // The plan says less than its options do.
                let mut spec = spec(kind, SECOND_NS, "192.0.2.7");
                spec.me = me;
                spec.hosts[0].address = "192.0.2.9".into();
                forbidden("max_duration = \"1s\"", &with(&spec, long), "6 s were");
                assert_eq!(judged("max_duration = \"6s\"", &with(&spec, long)), Ok(()));
                if !wide.is_empty() {
                    forbidden("max_flows = 2", &with(&spec, wide), "1000 were");
                }
                let bound = "max_rate = \"1Mb/s\"";
                let (sends, fast) = (format!("{kind} as {me}"), with(&spec, fast));
                assert!(judged(bound, &fast).is_err(), "{sends}");
                if kind != "probe" {
                    forbidden(bound, &with(&spec, "{}"), "as much as it can");
                    forbidden(
                        "max_rate = \"5/s\"",
                        &with(&spec, "{}"),
                        "as much as it can",
                    );
                }
                assert_eq!(judged("max_rate = \"100Gb/s\"", &fast), Ok(()), "{sends}");
                let far_end = ["192.0.2.7", "192.0.2.9"][me as usize];
                forbidden(
                    "destinations = [\"192.0.2.4\"]",
                    &with(&spec, "{}"),
                    far_end,
                );
                let it = format!("destinations = [\"{far_end}\"]");
                assert_eq!(judged(&it, &with(&spec, "{}")), Ok(()), "{sends}");
            }
        }
        let listed: Vec<&str> = BETWEEN.iter().map(|(kind, ..)| *kind).collect();
        for kind in kinds::KINDS {
            let between = kind.reach.contains(&Reach::Hosts);
            assert_eq!(between, listed.contains(&kind.name), "{}", kind.name);
            assert!(GRANTED.contains(kind), "{}: named on purpose", kind.name);
        }
    }

    #[test]
    fn many_flows_are_many_connections() {
        let mut spec = spec("stream", SECOND_NS, "192.0.2.7");
        let flow = |id| FlowPlan {
            id,
            from: 0,
            to: 1,
            stream: id,
        };
        spec.phase.flows = (0..3).map(flow).collect();
        for me in [0, 1] {
            spec.me = me;
            forbidden("max_flows = 2", &spec, "3 were");
            assert_eq!(judged("max_flows = 3", &spec), Ok(()));
            // A rate is that of the sending host; its flows share it.
            let paced = with(&spec, r#"{"rate":"1Mb/s"}"#);
            assert_eq!(judged("max_rate = \"1Mb/s\"", &paced), Ok(()));
        }
        // Flows of others are theirs.
        spec.hosts.push(spec.hosts[1].clone());
        spec.me = 2;
        assert_eq!(judged("max_flows = 0", &spec), Ok(()));
    }

    #[test]
    fn a_kind_that_comes_later_is_closed_until_it_is_named() {
        let spec = spec("imaginary", SECOND_NS, "192.0.2.7");
        let policy = Policy::default();
        let refusal = policy.allows(&spec, &Demand::NOTHING).expect_err("closed");
        assert!(english(&refusal.says).contains("`imaginary`"));
    }

    #[test]
    fn a_load_that_bounds_nothing_itself_is_refused_where_bounds_are_set() {
        let spec = spec("jmx", SECOND_NS, "192.0.2.7");
        let anything = "reach = [\"hosts\", \"strangers\", \"files\"]";
        let plan = with(&spec, r#"{"plan":"a.jmx","duration_s":1}"#);
        assert_eq!(judged(anything, &plan), Ok(()));
        forbidden(&format!("{anything}\nmax_flows = 9"), &plan, "as many as");
        forbidden(
            &format!("{anything}\nmax_rate = \"1/s\""),
            &plan,
            "as much as",
        );
        let long = with(&spec, r#"{"plan":"a.jmx","duration_s":6}"#);
        forbidden(
            &format!("{anything}\nmax_duration = \"1s\""),
            &long,
            "6 s were",
        );
    }

    #[test]
    fn running_load_keeps_to_the_bound() {
        let policy = Policy::parse("max_rate = \"100/s\"\nmax_flows = 4").expect("a policy");
        let change = |users, rate_per_s| Change { users, rate_per_s };
        let alone = Demand::NOTHING;
        let allows = |users, rate_per_s, others: &Demand| {
            policy
                .allows_change(&change(users, rate_per_s), others)
                .is_ok()
        };
        assert!(allows(None, Some(99.0), &alone));
        assert!(!allows(None, Some(101.0), &alone));
        assert!(!allows(Some(5), None, &alone));
        let others = Demand {
            events_per_s: Some(50.0),
            ..Demand::NOTHING
        };
        assert!(allows(None, Some(50.0), &others));
        assert!(!allows(None, Some(51.0), &others));
        let free = Policy::default();
        assert_eq!(
            free.allows_change(&change(Some(5), Some(1e6)), &alone),
            Ok(())
        );
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
