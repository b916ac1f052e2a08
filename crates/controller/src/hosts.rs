//! The hosts that take part in a run, and the addresses by which they reach each other.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use sokudo_bus::agent::Factory;
use sokudo_bus::{Bus, Link, Member, MemberId, Patience, direct, in_proc};
use sokudo_model::{ClockReading, HostEntry, HostSpec, Text, cut, harmless};
use sokudo_net::clock::now_ns;
use sokudo_net::netns::LocalHosts;
use sokudo_net::unless::unless;
use sokudo_wire::{Ask, Description, Reply, WatchScope};

use crate::clock::{Offset, Probe, estimate};
use crate::error::ControlError;

/// Longest wait for a short answer.
pub(crate) const ASK_BOUND: Duration = Duration::from_secs(10);
/// Clock questions per host.
const CLOCK_PROBES: usize = 64;
/// Over a long way, so many questions are enough …
const CLOCK_PROBES_MIN: usize = 8;
/// … when they have taken so long.
const CLOCK_BOUND_NS: i64 = 2_000_000_000;
/// Hosts whose clocks are read at the same time.
const CLOCKS_AT_ONCE: usize = 4;
/// Interval of leases. Agents that receive nothing for two of these stop their load, and hosts that send
/// nothing for as long are lost.
pub const LEASE: Duration = Duration::from_secs(3);

/// Makes the agent of a host inside this process, by its name. The controller does not depend on the
/// agent's crate: the program that uses both passes this function in.
pub type Agents = fn(&str) -> Factory;

/// One host of a run.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its number on the bus.
    pub member: MemberId,
    /// Name, unique within the run.
    pub name: String,
    /// Address that the others reach it by; `None` for the controller's own host, whose address
    /// depends on who asks.
    pub address: Option<String>,
    /// Scope of its monitors.
    pub scope: WatchScope,
    /// Its description of itself.
    pub description: Description,
    /// Its clock against the controller's.
    pub clock: Offset,
    /// True when it reads the controller's own clock.
    pub one_clock: bool,
}

/// The hosts of a run and the bus that joins them.
pub struct Hosts {
    /// The bus.
    pub bus: Bus,
    hosts: Vec<Host>,
    // Kept alive for as long as agents run inside it.
    namespaces: Option<LocalHosts>,
    /// Set from outside: nobody waits for a host that has not joined.
    stop: Arc<AtomicBool>,
}

impl Hosts {
    fn none() -> Self {
        Self {
            bus: Bus::new(),
            hosts: Vec::new(),
            namespaces: None,
            stop: Arc::default(),
        }
    }

    /// Waits for hosts to join and to get ready end when `stop` is set, with [`ControlError::Interrupted`].
    pub fn stop_on(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    /// What `call` comes to on a thread of its own, which is left behind when the operator does not wait for it
    /// any more.
    ///
    /// Errors: [`ControlError::Interrupted`] then.
    pub fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ControlError> {
        unless(&self.stop, call).ok_or(ControlError::Interrupted)
    }

    /// Time that a host has for an answer before a load begins.
    pub(crate) fn patience(&self, bound: Duration) -> Patience<'_> {
        Patience::unless(&self.stop, bound)
    }

    /// The controller's own host alone.
    pub fn own(agents: Agents) -> Result<Self, ControlError> {
        let mut hosts = Self::none();
        let name = host_name();
        let factory = agents(&name);
        let link = in_proc::link(
            &name,
            || Ok(()),
            move |client, notes| factory(client, notes),
        )?;
        hosts.add(Box::new(link), Some(name), None, WatchScope::Host, false)?;
        Ok(hosts)
    }

    /// Hosts inside this process that reach each other by the given addresses of this machine.
    pub fn on_addresses(agents: Agents, addresses: &[IpAddr]) -> Result<Self, ControlError> {
        let mut hosts = Self::none();
        for (index, address) in addresses.iter().enumerate() {
            let name = letter_name(index);
            let factory = agents(&name);
            let link = in_proc::link(
                &name,
                || Ok(()),
                move |client, notes| factory(client, notes),
            )?;
            hosts.add(
                Box::new(link),
                Some(name),
                Some(address.to_string()),
                scope_of(index),
                false,
            )?;
        }
        Ok(hosts)
    }

    /// Hosts inside this process, each in a network namespace of its own.
    pub fn in_namespaces(agents: Agents, namespaces: LocalHosts) -> Result<Self, ControlError> {
        let mut hosts = Self::none();
        for index in 0..namespaces.count() {
            let name = letter_name(index);
            let address = namespaces.address(index).to_string();
            let factory = agents(&name);
            // An agent's thread is born in the namespace of the thread that makes it.
            let agent = name.clone();
            let make = move || {
                in_proc::link(
                    &agent,
                    || Ok(()),
                    move |client, notes| factory(client, notes),
                )
            };
            let made =
                namespaces
                    .spawn_on(index, make)
                    .map_err(|error| ControlError::Operator {
                        says: error.what,
                        hint: Some(error.hint),
                    })?;
            let link = made
                .join()
                .map_err(|_| ControlError::OutOfOrder { host: name.clone() })??;
            hosts.add(
                Box::new(link),
                Some(name),
                Some(address),
                scope_of(index),
                false,
            )?;
        }
        hosts.namespaces = Some(namespaces);
        Ok(hosts)
    }

    /// Does something in the place of a host of this machine: what it listens on is reached by the others at
    /// the address that is given to it.
    ///
    /// Errors: the host is elsewhere, or has no room for a thread.
    pub(crate) fn on_host<T: Send + 'static>(
        &self,
        index: usize,
        act: impl FnOnce(IpAddr) -> T + Send + 'static,
    ) -> Result<T, ControlError> {
        let host = &self.hosts[index];
        let address = host.address.as_deref().and_then(|text| text.parse().ok());
        let out_of_order = || ControlError::OutOfOrder {
            host: host.name.clone(),
        };
        let address = address.ok_or_else(out_of_order)?;
        let Some(namespaces) = &self.namespaces else {
            return Ok(act(address));
        };
        let made = namespaces
            .spawn_on(index, move || act(address))
            .map_err(|error| ControlError::Operator {
                says: error.what,
                hint: Some(error.hint),
            })?;
        made.join().map_err(|_| out_of_order())
    }

    /// Adds the host on which `sokudo serve` listens at `target`, `HOST` or `HOST:PORT`.
    ///
    /// Errors: it does not answer within `bound`, or the operator does not wait for it.
    pub fn dial(
        &mut self,
        target: &str,
        default_port: u16,
        key: Option<&sokudo_wire::Key>,
        bound: Duration,
    ) -> Result<(), ControlError> {
        let (host, port) = split_target(target, default_port).ok_or_else(|| not_a_host(target))?;
        let bracketed = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        let key = key.cloned();
        let dial = move || direct::dial(&bracketed, key.as_ref(), &host_name(), bound);
        let link = self.call(dial)??;
        self.add(Box::new(link), None, Some(host), WatchScope::Host, true)
    }

    /// Adds a host that is reached some other way; `address` is where the others find it.
    pub fn admit(&mut self, link: Box<dyn Link>, address: String) -> Result<(), ControlError> {
        self.add(link, None, Some(address), WatchScope::Host, true)
    }

    /// Adds many hosts at once, as [`Hosts::admit`] does one after the other.
    ///
    /// Errors: one of them does not answer.
    pub fn admit_all(&mut self, links: Vec<(Box<dyn Link>, String)>) -> Result<(), ControlError> {
        let join = |(link, address): (Box<dyn Link>, String)| {
            let name = address.clone();
            let member = Member { name, address };
            let shown = member.address.clone();
            (self.bus.add(member, link), shown)
        };
        let joined: Vec<(MemberId, String)> = links.into_iter().map(join).collect();
        let asks = joined.iter().map(|(id, _)| (*id, Ask::Describe)).collect();
        let mut newcomers = Vec::with_capacity(joined.len());
        let answers = self.bus.ask_all(asks, self.patience(ASK_BOUND));
        for ((id, address), answer) in joined.into_iter().zip(answers) {
            newcomers.push(Newcomer {
                id,
                name: None,
                description: description(answer?, &address)?,
                address: Some(address),
                scope: WatchScope::Host,
                remote: true,
            });
        }
        let clocks = self.measure_clocks(&newcomers)?;
        for (newcomer, clock) in newcomers.into_iter().zip(clocks) {
            self.seat(newcomer, clock);
        }
        Ok(())
    }

    /// Ends the sessions with hosts that took part in no run: their agents are free for others once it
    /// returns.
    pub fn leave(self) {
        let asks = self.hosts.iter().map(|host| (host.member, Ask::Bye));
        // A host that does not answer is left all the same.
        let _ = self.bus.ask_all(asks.collect(), LEASE);
    }

    fn add(
        &mut self,
        link: Box<dyn Link>,
        name: Option<String>,
        address: Option<String>,
        scope: WatchScope,
        remote: bool,
    ) -> Result<(), ControlError> {
        let shown = name.clone().or_else(|| address.clone()).unwrap_or_default();
        let member = Member {
            name: shown.clone(),
            address: address.clone().unwrap_or_default(),
        };
        let id = self.bus.add(member, link);
        let patience = self.patience(ASK_BOUND);
        let answer = self.bus.ask(id, Ask::Describe, patience)?;
        let newcomer = Newcomer {
            id,
            name,
            description: description(answer, &shown)?,
            address,
            scope,
            remote,
        };
        let clock = self.clock_of(&newcomer)?;
        self.seat(newcomer, clock);
        Ok(())
    }

    /// Gives a host its number.
    fn seat(&mut self, newcomer: Newcomer, clock: Offset) {
        let one_clock = newcomer.has_own_clock();
        let Newcomer {
            id,
            name,
            address,
            description,
            scope,
            ..
        } = newcomer;
        let shown = name.clone().or_else(|| address.clone()).unwrap_or_default();
        let name = self.unique_name(name.unwrap_or_else(|| description.name.clone()), &shown);
        let scope = match scope {
            WatchScope::Host if self.is_watched(&description) => WatchScope::Process,
            scope => scope,
        };
        self.hosts.push(Host {
            member: id,
            name,
            address,
            scope,
            description,
            clock,
            one_clock,
        });
    }

    fn clock_of(&self, newcomer: &Newcomer) -> Result<Offset, ControlError> {
        match newcomer.has_own_clock() {
            true => Ok(Offset::default()),
            false => {
                let name = &newcomer.description.name;
                self.measure_clock(newcomer.id, name, self.patience(ASK_BOUND))
            }
        }
    }

    /// The clocks of many, a few at a time: each question waits as little as possible for others.
    fn measure_clocks(&self, newcomers: &[Newcomer]) -> Result<Vec<Offset>, ControlError> {
        let share = newcomers.len().div_ceil(CLOCKS_AT_ONCE).max(1);
        thread::scope(|scope| {
            let threads: Vec<_> = newcomers
                .chunks(share)
                .map(|chunk| {
                    let measure = move || -> Result<Vec<Offset>, ControlError> {
                        chunk
                            .iter()
                            .map(|newcomer| self.clock_of(newcomer))
                            .collect()
                    };
                    (chunk, thread::Builder::new().spawn_scoped(scope, measure))
                })
                .collect();
            let mut clocks = Vec::with_capacity(newcomers.len());
            for (chunk, thread) in threads {
                let gone = || ControlError::OutOfOrder {
                    host: chunk
                        .first()
                        .and_then(|n| n.address.clone())
                        .unwrap_or_default(),
                };
                let measured = thread.map_err(|_| gone())?.join().map_err(|_| gone())?;
                clocks.extend(measured?);
            }
            Ok(clocks)
        })
    }

    /// True when a host that is there already observes the same machine.
    fn is_watched(&self, description: &Description) -> bool {
        let machine = |host: &Host| host.description.clock == description.clock;
        let watched = |host: &Host| host.scope == WatchScope::Host && machine(host);
        description.clock.is_some() && self.hosts.iter().any(watched)
    }

    fn unique_name(&self, name: String, address: &str) -> String {
        let taken = |name: &str| self.hosts.iter().any(|host| host.name == name);
        if !taken(&name) {
            return name;
        }
        let with_address = format!("{name} ({address})");
        if !taken(&with_address) {
            return with_address;
        }
        (2..)
            .map(|n| format!("{name} ({address} #{n})"))
            .find(|name| !taken(name))
            .unwrap_or(name)
    }

    /// The clock of a host against the controller's, now.
    pub(crate) fn read_clock(&self, index: usize) -> Result<ClockReading, ControlError> {
        let host = &self.hosts[index];
        let offset = match host.one_clock {
            true => Offset::default(),
            false => self.measure_clock(host.member, &host.name, ASK_BOUND.into())?,
        };
        Ok(ClockReading {
            at_ns: now_ns(),
            offset_ns: offset.offset_ns,
            error_ns: offset.error_ns,
        })
    }

    /// Reads the clock of a host and goes by it from now on.
    pub(crate) fn sync_clock(&mut self, index: usize) -> Result<ClockReading, ControlError> {
        let reading = self.read_clock(index)?;
        self.go_by(index, reading);
        Ok(reading)
    }

    /// Takes a host's clock to be as it was read.
    pub(crate) fn go_by(&mut self, index: usize, reading: ClockReading) {
        self.hosts[index].clock = Offset {
            offset_ns: reading.offset_ns,
            error_ns: reading.error_ns,
        };
    }

    fn measure_clock(
        &self,
        id: MemberId,
        name: &str,
        patience: Patience<'_>,
    ) -> Result<Offset, ControlError> {
        let mut probes: Vec<Probe> = Vec::with_capacity(CLOCK_PROBES);
        let begun_ns = now_ns();
        while probes.len() < CLOCK_PROBES {
            let asked_ns = now_ns();
            if probes.len() >= CLOCK_PROBES_MIN && asked_ns - begun_ns > CLOCK_BOUND_NS {
                break;
            }
            let Reply::Clock(answer_ns) = self.bus.ask(id, Ask::Clock, patience)? else {
                break;
            };
            probes.push(Probe {
                asked_ns,
                answer_ns,
                received_ns: now_ns(),
            });
        }
        estimate(&probes).ok_or_else(|| ControlError::OutOfOrder { host: name.into() })
    }

    /// All hosts by index; number 0 is the controller's own.
    pub fn list(&self) -> &[Host] {
        &self.hosts
    }

    /// Host index of a bus member.
    pub(crate) fn index_of(&self, member: MemberId) -> Option<usize> {
        self.hosts.iter().position(|host| host.member == member)
    }

    /// The host table of the manifest.
    pub(crate) fn entries(&self) -> Vec<HostEntry> {
        self.hosts
            .iter()
            .map(|host| HostEntry {
                name: host.name.clone(),
                address: host.address.clone().unwrap_or_else(|| "in-process".into()),
                os: host.description.os.clone(),
                version: host.description.version.clone(),
                clock_offset_ns: host.clock.offset_ns,
                clock_error_ns: host.clock.error_ns,
                machine: host.description.clock.clone(),
            })
            .collect()
    }

    /// The host table as host `viewer` must see it; hosts that it does not need are empty.
    pub(crate) fn seen_by(&self, viewer: usize, needed: &[bool]) -> Vec<HostSpec> {
        let seen = |host: &Host| HostSpec {
            name: host.name.clone(),
            address: host
                .address
                .clone()
                .unwrap_or_else(|| self.own_address(viewer)),
        };
        let hosts = self.hosts.iter().zip(needed);
        let one = |(host, needed): (&Host, &bool)| match needed {
            true => seen(host),
            false => HostSpec::default(),
        };
        hosts.map(one).collect()
    }

    /// The controller's own address towards a host; the unspecified one for the host itself.
    fn own_address(&self, viewer: usize) -> String {
        let towards = |host: &Host| {
            let target = (host.address.as_deref()?, 9)
                .to_socket_addrs()
                .ok()?
                .next()?;
            sokudo_net::udp::local_address_towards(target).ok()
        };
        let viewed = self.hosts.get(viewer).filter(|host| host.address.is_some());
        if let Some(ip) = viewed.and_then(towards) {
            return ip.to_string();
        }
        let v6_only = self.hosts.iter().filter_map(towards).all(|ip| ip.is_ipv6());
        let has_peers = self.hosts.len() > 1;
        if v6_only && has_peers {
            "::".into()
        } else {
            "0.0.0.0".into()
        }
    }
}

/// A host that has described itself and has no number yet.
struct Newcomer {
    id: MemberId,
    /// Name of the host in the run; `None` = its own.
    name: Option<String>,
    address: Option<String>,
    description: Description,
    scope: WatchScope,
    remote: bool,
}

impl Newcomer {
    /// True when it reads the controller's own clock.
    fn has_own_clock(&self) -> bool {
        let own = sokudo_net::clock::identity();
        !self.remote || (own.is_some() && self.description.clock == own)
    }
}

fn description(answer: Reply, host: &str) -> Result<Description, ControlError> {
    match answer {
        Reply::Description(description) => Ok(plain(description)),
        _ => Err(ControlError::OutOfOrder { host: host.into() }),
    }
}

/// The description that a host gives of itself, made safe for every table, file and page: the remote host
/// chose its words.
fn plain(description: Description) -> Description {
    /// Longest word, characters: a name of DNS has up to 253.
    const WORD: usize = 255;
    const WORKLOADS: usize = 256;
    let word = |text: String| harmless(&cut(&text, WORD)).into_owned();
    let Description {
        name,
        os,
        version,
        cores,
        workloads,
        clock,
    } = description;
    Description {
        name: word(name),
        os: word(os),
        version: word(version),
        cores,
        workloads: workloads.into_iter().take(WORKLOADS).map(word).collect(),
        clock: clock.map(word),
    }
}

/// Only the first of several agents on one machine observes the machine.
fn scope_of(index: usize) -> WatchScope {
    if index == 0 {
        WatchScope::Host
    } else {
        WatchScope::Namespace
    }
}

/// `hosta`, `hostb`, … `hostz`, `hosta2`, …
fn letter_name(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    match index / 26 {
        0 => format!("host{letter}"),
        round => format!("host{letter}{}", round + 1),
    }
}

/// This machine's name.
pub fn host_name() -> String {
    sokudo_net::host::name().unwrap_or_else(|| "localhost".into())
}

/// `HOST`, `HOST:PORT`, `[V6]`, `[V6]:PORT` or a bare IPv6 address; `None` for anything else.
fn split_target(target: &str, default_port: u16) -> Option<(String, u16)> {
    if let Ok(address) = target.parse::<SocketAddr>() {
        return Some((address.ip().to_string(), address.port()));
    }
    let bare = target.trim_start_matches('[').trim_end_matches(']');
    if bare.parse::<IpAddr>().is_ok() {
        return Some((bare.into(), default_port));
    }
    let (host, port) = match target.split_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (target, default_port),
    };
    let in_a_name = |c: char| !c.is_whitespace() && !c.is_control() && !"/:[]@".contains(c);
    (!host.is_empty() && host.chars().all(in_a_name)).then(|| (host.into(), port))
}

fn not_a_host(target: &str) -> ControlError {
    ControlError::Operator {
        says: Text::new("error-not-a-host").word("target", target),
        hint: Some(Text::new("error-not-a-host-hint")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_says_of_itself_is_short_and_steers_nothing() {
        let long = "\u{1b}]0;x\u{7}".to_owned() + &"a".repeat(10 << 20);
        let said = plain(Description {
            name: long.clone(),
            os: long.clone(),
            version: "1\n2".into(),
            cores: u32::MAX,
            workloads: vec!["b".repeat(1000); 1000],
            clock: Some(long),
        });
        let words = [&said.name, &said.os, &said.version].into_iter();
        for word in words.chain(&said.workloads).chain(&said.clock) {
            assert!(word.chars().count() <= 255 && !word.contains(sokudo_model::harmless::steers));
        }
        assert_eq!((said.version.as_str(), said.workloads.len()), ("1 2", 256));
    }

    #[test]
    fn targets_may_carry_a_port() {
        let check = |target: &str, host: &str, port| {
            assert_eq!(split_target(target, 7), Some((host.into(), port)));
        };
        check("hostb", "hostb", 7);
        check("hostb:99", "hostb", 99);
        check("10.0.0.1:99", "10.0.0.1", 99);
        check("::1", "::1", 7);
        check("[::1]:99", "::1", 99);
        check("[::1]", "::1", 7);
        for wrong in [
            "",
            ":7",
            "hostb:",
            "hostb:99999",
            "http://hostb",
            "a b",
            "[hostb]",
            "a:b:7",
        ] {
            assert_eq!(split_target(wrong, 7), None, "{wrong}");
        }
    }
}
