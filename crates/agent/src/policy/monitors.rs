//! The part of a policy about monitors: which may run, and which addresses they may reach.

use std::net::IpAddr;

use ipnet::IpNet;
use sokudo_model::{MonitorSpec, Refusal, Text};
use sokudo_monitors::{REGISTRY, Reach};

use super::refuse;

/// Stands for all monitors that observe every run.
const HOST: &str = "host";

/// Monitors and addresses that a policy allows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// Names of monitors; `None`: those that reach nothing beyond the host's own tables.
    pub monitors: Option<Vec<String>>,
    /// Addresses that monitors may connect to.
    pub addresses: Vec<Endpoint>,
}

/// An address that monitors may connect to.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    host: EndpointHost,
    /// `None`: every port.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq)]
enum EndpointHost {
    Network(IpNet),
    Name(String),
}

impl Observation {
    /// From the lists of the file. Errors: what is wrong, as people read it.
    pub(super) fn parse(
        monitors: Option<Vec<String>>,
        addresses: Option<Vec<String>>,
    ) -> Result<Self, String> {
        for name in monitors.iter().flatten() {
            if name != HOST && sokudo_monitors::find(name).is_err() {
                let known: Vec<&str> = REGISTRY.iter().map(|m| m.info().name).collect();
                let known = known.join(", ");
                return Err(format!(
                    "monitors: there is no `{name}`; write `{HOST}` for all that observe every run, or {known}"
                ));
            }
        }
        let addresses = addresses.unwrap_or_default();
        let addresses = addresses.iter().map(|text| Endpoint::parse(text));
        Ok(Self {
            monitors,
            addresses: addresses.collect::<Result<_, _>>()?,
        })
    }

    /// Whether monitors may observe that were asked for.
    ///
    /// Errors: what is not allowed, and who can change it.
    pub fn allows(&self, asked: &[MonitorSpec]) -> Result<(), Refusal> {
        asked.iter().try_for_each(|spec| self.allows_one(spec))
    }

    fn allows_one(&self, spec: &MonitorSpec) -> Result<(), Refusal> {
        let name = spec.name.as_str();
        let reaches = sokudo_monitors::find(name).and_then(|m| m.reaches_with(&spec.options));
        let reaches = reaches.map_err(|bad| Refusal {
            operator_error: true,
            says: bad.to_string().into(),
            hint: Some(bad.hint()),
        })?;
        let is_named = match &self.monitors {
            Some(list) => list.iter().any(|listed| covers(listed, name)),
            None => reaches.is_empty(),
        };
        if !is_named {
            return Err(refuse(format!(
                "it observes with the monitor `{name}` only where that is named under `monitors`"
            )));
        }
        for reach in reaches {
            // A policy that names the monitor lets it ask the servers of this host.
            let Reach::Address { host, port } = reach else {
                continue;
            };
            if !self.addresses.iter().any(|own| own.covers(&host, port)) {
                return Err(refuse(format!(
                    "its monitors do not connect to `{host}` port {port}, which is not under \
                     `monitor_addresses`"
                )));
            }
        }
        Ok(())
    }

    /// Whether a standing monitor may observe a run.
    pub fn allows_standing(&self, name: &str) -> bool {
        let listed = self.monitors.as_ref();
        listed.is_none_or(|list| list.iter().any(|listed| covers(listed, name)))
    }

    /// Explanation of what is allowed, a sentence per line.
    pub(super) fn explain(&self) -> Vec<Text> {
        let addresses: Vec<String> = self.addresses.iter().map(Endpoint::to_string).collect();
        vec![
            match &self.monitors {
                Some(list) if list.is_empty() => Text::new("policy-no-monitors"),
                Some(list) => Text::new("policy-monitors").word("list", list.join(", ")),
                None => Text::new("policy-monitors-own"),
            },
            match addresses.is_empty() {
                true => Text::new("policy-monitors-nowhere"),
                false => Text::new("policy-monitors-reach").word("list", addresses.join(", ")),
            },
        ]
    }
}

/// Whether a word of the list stands for this monitor.
fn covers(listed: &str, name: &str) -> bool {
    let is_standing = || sokudo_monitors::standing().any(|m| m.info().name == name);
    listed == name || listed == HOST && is_standing()
}

impl Endpoint {
    /// `192.0.2.0/24`, `127.0.0.1:9100`, `[::1]:9100`, `metrics.example:9090`, `metrics.example`.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "monitor_addresses: `{text}` is not an address; write `192.0.2.0/24`, `127.0.0.1:9100`, \
                 `[::1]:9100` or `NAME:PORT`"
            )
        };
        if let Some(network) = network(text) {
            return Ok(Self {
                host: EndpointHost::Network(network),
                port: None,
            });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let host = match network(bare.unwrap_or(host)) {
            Some(network) => EndpointHost::Network(network),
            None if is_name(host) => EndpointHost::Name(host.to_ascii_lowercase()),
            None => return Err(wrong()),
        };
        Ok(Self { host, port })
    }

    fn covers(&self, host: &str, port: u16) -> bool {
        let same_host = match &self.host {
            // A name is never looked up here: what it stands for may change after the answer.
            EndpointHost::Network(network) => {
                host.parse().is_ok_and(|ip: IpAddr| network.contains(&ip))
            }
            EndpointHost::Name(name) => host.eq_ignore_ascii_case(name),
        };
        same_host && self.port.is_none_or(|own| own == port)
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.host, self.port) {
            (EndpointHost::Network(network), Some(port)) => write!(f, "{network} port {port}"),
            (EndpointHost::Network(network), None) => write!(f, "{network}"),
            (EndpointHost::Name(name), Some(port)) => write!(f, "{name} port {port}"),
            (EndpointHost::Name(name), None) => f.write_str(name),
        }
    }
}

fn network(text: &str) -> Option<IpNet> {
    let one = text.parse::<IpAddr>().map(IpNet::from).ok();
    one.or_else(|| text.parse().ok())
}

fn is_name(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.chars().all(part)
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::english;
    use sokudo_monitors::{Files, parse};

    use super::super::Policy;

    fn allows(policy: &str, monitor: &str) -> Result<(), String> {
        let policy = Policy::parse(policy).expect("a policy");
        let spec = parse(monitor, Files::Refused).expect("a monitor");
        policy.observation.allows(&[spec]).map_err(|refusal| {
            assert!(refusal.operator_error && refusal.hint.is_some());
            english(&refusal.says)
        })
    }

    #[test]
    fn without_a_word_only_the_hosts_own_tables_are_observed() {
        for fine in [
            "cpu",
            "network:interval=1s",
            "process:port=80",
            "process:name=nginx",
        ] {
            assert_eq!(allows("", fine), Ok(()));
        }
        for list in ["", "monitors = [\"host\", \"process\"]"] {
            let says = allows(list, "openmetrics:url=http://127.0.0.1:9100/").expect_err("refused");
            assert!(says.contains("`openmetrics`"), "{says}");
        }
        let says = allows("monitors = [\"host\"]", "process:pid=1").expect_err("refused");
        assert!(says.contains("`process`"), "{says}");
    }

    #[test]
    fn what_connects_needs_its_address_too() {
        let policy = |addresses: &str| {
            format!("monitors = [\"openmetrics\"]\nmonitor_addresses = [{addresses}]")
        };
        let scrape = |addresses: &str, url: &str| {
            allows(&policy(addresses), &format!("openmetrics:url={url}"))
        };
        for (addresses, url) in [
            ("\"127.0.0.1\"", "http://127.0.0.1:9100/metrics"),
            ("\"127.0.0.1:9100\"", "http://127.0.0.1:9100/metrics"),
            ("\"192.0.2.0/24\"", "http://192.0.2.7/"),
            ("\"[::1]:9100\"", "http://[::1]:9100/metrics"),
            ("\"2001:db8::/32\"", "http://[2001:db8::7]/"),
            ("\"Metrics.example:80\"", "http://metrics.example/"),
        ] {
            assert_eq!(scrape(addresses, url), Ok(()), "{addresses} {url}");
        }
        for (addresses, url) in [
            ("", "http://127.0.0.1:9100/metrics"),
            ("\"127.0.0.1:9101\"", "http://127.0.0.1:9100/metrics"),
            // A name may stand for any address, whatever it stands for at this moment.
            ("\"127.0.0.0/8\"", "http://localhost:9100/metrics"),
            ("\"metrics.example:81\"", "http://metrics.example/"),
        ] {
            let says = scrape(addresses, url).expect_err("refused");
            assert!(says.contains("do not connect to"), "{says}");
        }
    }

    #[test]
    fn a_list_of_monitors_holds_for_the_standing_ones_too() {
        let policy = |text: &str| Policy::parse(text).expect("a policy");
        let allows = |text: &str, name: &str| policy(text).observation.allows_standing(name);
        assert!(allows("", "cpu"));
        assert!(allows("monitors = [\"host\"]", "cpu"));
        assert!(allows("monitors = [\"cpu\"]", "cpu"));
        assert!(!allows("monitors = [\"cpu\"]", "memory"));
        assert!(!allows("monitors = []", "cpu"));
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| Policy::parse(text).expect_err("a mistake");
        assert!(wrong("monitors = [\"cpus\"]").contains("`cpus`"));
        for address in ["", "a b", "127.0.0.1:x", "[::1]:", "http://x/"] {
            let says = wrong(&format!("monitor_addresses = [\"{address}\"]"));
            assert!(says.contains("monitor_addresses"), "{address}: {says}");
        }
    }
}
