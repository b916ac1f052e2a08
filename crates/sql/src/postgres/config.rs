//! Data source names of PostgreSQL: a URL, or pairs of `KEY=VALUE`, as libpq reads them.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::target::{decoded, host_and_port, port_of};
use crate::tls::{Encryption, Proof, Roots, Trust};

const PORT: u16 = 5432;
/// Keys of libpq that mean something here.
const KEYS: &str = "host, hostaddr, port, user, password, dbname, options, application_name, \
    connect_timeout, keepalives, keepalives_idle, keepalives_interval, keepalives_count, \
    target_session_attrs, load_balance_hosts, channel_binding, sslmode and sslrootcert";

/// One of the places where a server may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// Name or address.
    Tcp(String),
    /// Folder of a socket of this host.
    Socket(PathBuf),
}

/// Kind of session that a server has to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Any,
    ReadWrite,
    ReadOnly,
}

/// Server, session and encryption that a data source name asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Tried in their order; those of `addresses` are not looked up.
    pub(crate) hosts: Vec<Host>,
    pub(crate) addresses: Vec<IpAddr>,
    /// One for all hosts, or one for each; none means 5432.
    pub(crate) ports: Vec<u16>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: Option<String>,
    /// Options of the server's command line.
    pub(crate) options: Option<String>,
    pub(crate) application_name: Option<String>,
    /// For each address.
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) keepalive: Option<Keepalive>,
    pub(crate) access: Access,
    /// Sessions begin with one host after the other.
    pub(crate) is_balanced: bool,
    pub(crate) encryption: Encryption,
    pub(crate) trust: Trust,
}

/// Probes of an idle connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Keepalive {
    /// Time before the first one; that of the system without.
    pub(crate) idle: Option<Duration>,
    pub(crate) interval: Option<Duration>,
    pub(crate) probes: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            addresses: Vec::new(),
            ports: Vec::new(),
            user: None,
            password: None,
            database: None,
            options: None,
            application_name: None,
            connect_timeout: None,
            keepalive: Some(Keepalive::default()),
            access: Access::Any,
            is_balanced: false,
            encryption: Encryption::WhereOffered,
            trust: Trust::default(),
        }
    }
}

impl Config {
    /// Reads a data source name.
    ///
    /// Errors: why it is not one. They do not repeat its values, nor what could be a part of its password.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut config = Self::default();
        match text.split_once("://") {
            Some((scheme, rest)) if !scheme.contains('=') => config.read_url(rest)?,
            _ => config.read_pairs(text)?,
        }
        if config.hosts.is_empty() && config.addresses.is_empty() {
            return Err("a host is missing".into());
        }
        let places = config.hosts.len().max(config.addresses.len());
        let is_each = |count: usize| count == 0 || count == places;
        if !is_each(config.hosts.len()) || !is_each(config.addresses.len()) {
            return Err("there must be as many values of hostaddr as of host".into());
        }
        if config.ports.len() > 1 && config.ports.len() != places {
            return Err("there must be one port, or one for each host".into());
        }
        // As libpq: who names certificates to trust wants them to be looked at.
        let trust = &mut config.trust;
        let is_file = matches!(trust.roots, Roots::File(_));
        if config.encryption == Encryption::Always && is_file && trust.proof == Proof::None {
            trust.proof = Proof::Authority;
        }
        Ok(config)
    }

    /// Number of hosts.
    pub(crate) fn places(&self) -> usize {
        self.hosts.len().max(self.addresses.len())
    }

    /// The port of a host.
    pub(crate) fn port(&self, place: usize) -> u16 {
        let one = self.ports.get(place).or(self.ports.first());
        one.copied().unwrap_or(PORT)
    }

    /// `[USER[:PASSWORD]@][HOST[:PORT][,…]][/DATABASE][?KEY=VALUE[&…]]`
    fn read_url(&mut self, text: &str) -> Result<(), String> {
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (who, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = who.split_once(':').unwrap_or((who, ""));
        let filled = |text: &str| Some(decoded(text)).filter(|text| !text.is_empty());
        self.user = filled(user);
        self.password = filled(password);
        self.database = filled(database);
        for host in hosts.split(',').filter(|host| !host.is_empty()) {
            let (name, port) = host_and_port(host);
            self.hosts.push(host_of(decoded(name))?);
            self.ports.push(port.map_or(Ok(PORT), port_of)?);
        }
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            self.set(&decoded(key), decoded(value))?;
        }
        Ok(())
    }

    /// Pairs with blanks in between, whose values may stand in quotes.
    fn read_pairs(&mut self, text: &str) -> Result<(), String> {
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (key, after) = rest.split_once('=').ok_or("a `=` is missing")?;
            let after = after.trim_start();
            let (value, bytes) = value_of(after)?;
            self.set(key.trim(), value)?;
            rest = after[bytes..].trim_start();
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        let listed = |value: &str| -> Vec<String> { value.split(',').map(Into::into).collect() };
        match key {
            "host" => {
                let hosts = listed(&value).into_iter().map(host_of);
                self.hosts = hosts.collect::<Result<_, _>>()?;
            }
            "hostaddr" => {
                let addresses = listed(&value).into_iter().map(|one| one.parse());
                let addresses = addresses.collect::<Result<_, _>>();
                self.addresses = addresses.map_err(|_| "hostaddr is not an address")?;
            }
            "port" => {
                let ports = value.split(',').map(|one| match one {
                    "" => Ok(PORT),
                    one => port_of(one),
                });
                self.ports = ports.collect::<Result<_, _>>()?;
            }
            "user" => self.user = Some(value),
            "password" => self.password = Some(value),
            "dbname" => self.database = Some(value),
            "options" => self.options = Some(value),
            "application_name" => self.application_name = Some(value),
            "connect_timeout" => self.connect_timeout = seconds(key, &value)?,
            "target_session_attrs" => {
                self.access = match value.as_str() {
                    "any" => Access::Any,
                    "read-write" | "primary" => Access::ReadWrite,
                    "read-only" | "standby" => Access::ReadOnly,
                    _ => {
                        let kinds = "any, read-write, primary, read-only and standby";
                        return Err(format!("target_session_attrs can be {kinds}"));
                    }
                }
            }
            "load_balance_hosts" => {
                self.is_balanced = one_of(key, &value, &[("disable", false), ("random", true)])?;
            }
            "channel_binding" => {
                // Sessions are not bound to certificates: what requires it cannot be had.
                one_of(key, &value, &[("disable", ()), ("prefer", ())])?;
            }
            "sslmode" => self.set_encryption(&value)?,
            "sslrootcert" if value == "system" => self.trust.roots = Roots::System,
            "sslrootcert" => self.trust.roots = Roots::File(PathBuf::from(value)),
            _ => return self.set_keepalive(key, &value),
        }
        Ok(())
    }

    fn set_encryption(&mut self, mode: &str) -> Result<(), String> {
        (self.encryption, self.trust.proof) = match mode {
            "disable" => (Encryption::Never, Proof::None),
            "prefer" => (Encryption::WhereOffered, Proof::None),
            "require" => (Encryption::Always, Proof::None),
            "verify-ca" => (Encryption::Always, Proof::Authority),
            "verify-full" => (Encryption::Always, Proof::Name),
            _ => {
                let modes = "disable, prefer, require, verify-ca and verify-full";
                return Err(format!("sslmode can be {modes}"));
            }
        };
        Ok(())
    }

    fn set_keepalive(&mut self, key: &str, value: &str) -> Result<(), String> {
        let mut keepalive = self.keepalive.unwrap_or_default();
        match key {
            "keepalives" => {
                let is_on: u8 = number(key, value)?;
                self.keepalive = (is_on != 0).then_some(keepalive);
                return Ok(());
            }
            "keepalives_idle" => keepalive.idle = seconds(key, value)?,
            "keepalives_interval" => keepalive.interval = seconds(key, value)?,
            "keepalives_count" | "keepalives_retries" => {
                keepalive.probes = Some(number(key, value)?).filter(|it| *it > 0);
            }
            _ => return Err(format!("an option is not among {KEYS}")),
        }
        self.keepalive = self.keepalive.map(|_| keepalive);
        Ok(())
    }
}

/// Errors: a socket of this host where there are none.
fn host_of(name: String) -> Result<Host, String> {
    match name.starts_with('/') {
        false => Ok(Host::Tcp(name)),
        true if cfg!(unix) => Ok(Host::Socket(name.into())),
        true => Err("this system has no sockets in folders".into()),
    }
}

fn number<N: std::str::FromStr>(key: &str, value: &str) -> Result<N, String> {
    let number = value.trim().parse();
    number.map_err(|_| format!("{key} is not a valid number"))
}

/// Seconds; `None` for zero, which means the system's own choice.
fn seconds(key: &str, value: &str) -> Result<Option<Duration>, String> {
    let seconds = number::<u32>(key, value)?;
    let time = Duration::from_secs(seconds.into());
    Ok(Some(time).filter(|time| !time.is_zero()))
}

fn one_of<V: Copy>(key: &str, value: &str, known: &[(&str, V)]) -> Result<V, String> {
    let found = known.iter().find(|(name, _)| *name == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!("{key} can be {}", names.join(", "))
    })
}

/// The value at the beginning of a text, and the bytes that it takes there.
///
/// Errors: a quote that is not closed.
fn value_of(text: &str) -> Result<(String, usize), String> {
    let is_quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut chars = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            '\'' if is_quoted => return Ok((value, at + 1)),
            char if !is_quoted && char.is_whitespace() => return Ok((value, at)),
            char => value.push(char),
        }
    }
    match is_quoted {
        true => Err("a quote is not closed".into()),
        false => Ok((value, text.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Config {
        Config::parse(text).expect(text)
    }

    #[test]
    fn both_forms_say_the_same() {
        let (whole, file) = ("/a b/ca.pem", Roots::File("/a b/ca.pem".into()));
        let _ = whole;
        for (url, pairs, encryption, proof, roots) in [
            ("", "", Encryption::WhereOffered, Proof::None, Roots::System),
            (
                "sslmode=disable",
                "sslmode=disable",
                Encryption::Never,
                Proof::None,
                Roots::System,
            ),
            (
                "sslmode=require",
                "sslmode = require",
                Encryption::Always,
                Proof::None,
                Roots::System,
            ),
            (
                "sslmode=require&sslrootcert=%2Fa%20b/ca.pem",
                r"sslmode=require sslrootcert='/a b/ca.pem'",
                Encryption::Always,
                Proof::Authority,
                file.clone(),
            ),
            (
                "sslrootcert=/a%20b/ca.pem&sslmode=verify-full",
                r"sslrootcert=/a\ b/ca.pem sslmode=verify-full",
                Encryption::Always,
                Proof::Name,
                file.clone(),
            ),
            (
                "sslmode=verify-ca",
                "sslmode='verify-ca'",
                Encryption::Always,
                Proof::Authority,
                Roots::System,
            ),
        ] {
            let url = read(&format!("postgres://u:p%3F'@h/d?connect_timeout=3&{url}"));
            let pairs = read(&format!(
                r"host=h port=5432 user=u password='p?\'' dbname = d {pairs} connect_timeout=3"
            ));
            assert_eq!(url, pairs);
            assert_eq!((url.encryption, url.trust.proof), (encryption, proof));
            assert_eq!(url.trust.roots, roots);
            assert_eq!(url.password.as_deref(), Some("p?'"));
            assert_eq!(url.connect_timeout, Some(Duration::from_secs(3)));
        }
    }

    #[test]
    fn hosts_are_names_addresses_and_sockets() {
        let several = read("postgres://u@a:1,[::1],b:3/d?target_session_attrs=read-write");
        let names = ["a", "::1", "b"].map(|name| Host::Tcp(name.into()));
        assert_eq!(several.hosts, names);
        assert_eq!([0, 1, 2].map(|place| several.port(place)), [1, PORT, 3]);
        assert_eq!(several.access, Access::ReadWrite);
        let one = read("host=a,b port=7 hostaddr=127.0.0.1,::1");
        assert_eq!([0, 1].map(|place| one.port(place)), [7, 7]);
        assert_eq!(one.places(), 2);
        if cfg!(unix) {
            let socket = vec![Host::Socket("/run/pg".into())];
            assert_eq!(read("postgres://u@%2Frun%2Fpg/d").hosts, socket);
            assert_eq!(read("postgres:///d?host=/run/pg").hosts, socket);
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_without_its_value() {
        for text in [
            "postgres://u@h/d?sslmode=geheim",
            "host=h sslmode=''",
            "host=h sslmode=Require",
            "host=h geheim",
            "host=h geheim=geheim",
            "host=h password='geheim",
            "host=h port=geheim",
            "host=a,b port=1,2,3",
            "host=a,b hostaddr=127.0.0.1",
            "postgres://u@h:0/d",
            "postgres://u:geheim@/d",
            "user=geheim",
            "host=h keepalives=geheim",
        ] {
            let refused = Config::parse(text).expect_err(text);
            assert!(!refused.contains("geheim"), "{refused}");
        }
    }
}
