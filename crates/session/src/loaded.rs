//! Monitors that come with a loaded server: what it tells of itself, and its processes on this machine.

use std::net::{IpAddr, ToSocketAddrs as _, UdpSocket};

use sokudo_model::{MonitorSpec, Text};
use sokudo_monitors::{BadOption, Files, find, is_in_another_namespace, parse};
use sokudo_workload::Options;
use sokudo_workload::contract::ServerMonitor;

/// A server outside the run, as the options of a load name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedServer {
    /// Its name or address, and its port; `None` where one of them is not known.
    pub at: Option<(String, u16)>,
    /// The monitor that asks it about itself, where there is one.
    pub own: Option<ServerMonitor>,
    /// Who is asked is only known while the load goes on, as of a plan.
    pub is_found_out: bool,
}

/// Monitors that a run begins because of a loaded server.
#[derive(Debug, Default)]
pub struct Attached {
    /// The monitors.
    pub specs: Vec<MonitorSpec>,
    /// The remark for people about what they cost the server.
    pub says: Option<Text>,
}

impl LoadedServer {
    /// No server outside the run.
    pub const NOBODY: Self = Self {
        at: None,
        own: None,
        is_found_out: false,
    };

    /// The servers of a plan, which names them while it is executed.
    pub const OF_PLAN: Self = Self {
        is_found_out: true,
        ..Self::NOBODY
    };

    /// The server that these options load.
    pub fn of<O: Options>(options: &O) -> Self {
        let host = options.server().map(str::to_owned);
        Self {
            at: host.zip(options.server_port()),
            own: options.server_monitor(),
            is_found_out: false,
        }
    }

    /// Its monitors that are not among those which are known. One that was asked for by its name, with whatever
    /// options, takes the place of the one that comes by itself.
    ///
    /// Errors: a monitor refuses its options.
    pub fn monitors(&self, known: &[MonitorSpec]) -> Result<Attached, BadOption> {
        let mut attached = Attached::default();
        let is_asked = |own: &&ServerMonitor| known.iter().any(|spec| spec.name == own.monitor);
        if let Some(own) = self.own.as_ref().filter(|own| !is_asked(own)) {
            let options = own.options.iter();
            let options = options.map(|(key, value)| ((*key).to_owned(), value.clone()));
            let spec = find(own.monitor)?.spec(options.collect(), Files::Refused)?;
            attached.specs.push(spec);
            let says = Text::new("engine-server-stats").word("monitor", own.monitor);
            attached.says = Some(says);
        }
        let chosen = match self.is_found_out {
            true => Some("peers=true".to_owned()),
            false => self.at.as_ref().and_then(processes),
        };
        if let Some(chosen) = chosen {
            let spec = parse(&format!("process:{chosen},on=first"), Files::Refused)?;
            let is_known = known
                .iter()
                .any(|other| (&other.name, &other.options) == (&spec.name, &spec.options));
            attached.specs.extend((!is_known).then_some(spec));
        }
        Ok(attached)
    }
}

/// How the processes of a server are chosen that is on this host, or in another network namespace of its machine;
/// `None` for a server elsewhere. Nothing is sent.
fn processes(server: &(String, u16)) -> Option<String> {
    let addresses = (server.0.as_str(), server.1).to_socket_addrs();
    let addresses: Vec<IpAddr> = addresses
        .into_iter()
        .flatten()
        .map(|address| address.ip())
        .collect();
    let is_own = |address: &IpAddr| UdpSocket::bind((*address, 0)).is_ok();
    if addresses.iter().any(is_own) {
        return Some(format!("port={}", server.1));
    }
    let first = addresses.first()?;
    is_in_another_namespace(*first).then(|| format!("port={},address={first}", server.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postgres(dsn: &str) -> LoadedServer {
        LoadedServer {
            at: Some(("127.0.0.1".into(), 5432)),
            own: Some(ServerMonitor {
                monitor: "postgres",
                options: vec![("dsn", dsn.into())],
            }),
            is_found_out: false,
        }
    }

    #[test]
    fn a_server_of_this_machine_is_observed_with_its_processes_and_once() {
        let server = postgres("postgres://u@127.0.0.1/d");
        let attached = server.monitors(&[]).expect("monitors");
        let names: Vec<&str> = attached.specs.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["postgres", "process"]);
        assert!(attached.says.is_some());
        let again = server.monitors(&attached.specs).expect("monitors");
        assert_eq!(again.specs, []);
        assert!(again.says.is_none());
    }

    #[test]
    fn the_monitor_that_was_asked_for_takes_the_place_of_the_own_one() {
        let asked = parse("postgres:dsn=postgres://other@127.0.0.1/d", Files::Refused);
        let asked = asked.expect("a monitor");
        let attached = postgres("postgres://u@127.0.0.1/d").monitors(&[asked]);
        let names: Vec<String> = attached
            .expect("monitors")
            .specs
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(names, ["process"]);
    }

    #[test]
    fn a_server_elsewhere_has_no_processes_here() {
        let server = LoadedServer {
            at: Some(("192.0.2.1".into(), 80)),
            ..LoadedServer::NOBODY
        };
        assert_eq!(server.monitors(&[]).expect("none").specs, []);
    }
}
