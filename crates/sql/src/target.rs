//! Data source names: which engine, where, as whom.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::{fmt, io};

use crate::mysql::MySqlAddress;
use crate::postgres::{Config, Host};
use crate::tls::Connector;

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// PostgreSQL.
    Postgres,
    /// MariaDB or MySQL.
    MySql,
    /// SQLite, within this process.
    Sqlite,
    /// DuckDB, within this process, where it is built in.
    DuckDb,
}

impl Engine {
    /// Whether it runs in the thread that calls it.
    pub fn is_embedded(self) -> bool {
        match self {
            Self::Sqlite | Self::DuckDb => true,
            Self::Postgres | Self::MySql => false,
        }
    }

    /// Name for labels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::MySql => "mysql",
            Self::Sqlite => "sqlite",
            Self::DuckDb => "duckdb",
        }
    }
}

/// A database, from its data source name. It prints without its password.
#[derive(Clone)]
pub struct Target {
    text: String,
    pub(crate) place: ServerAddress,
}

#[derive(Clone)]
pub(crate) enum ServerAddress {
    Postgres(Box<PostgresAddress>),
    MySql(Box<MySqlAddress>),
    Sqlite(PathBuf),
    DuckDb(PathBuf),
}

/// A PostgreSQL server, and what it has to prove.
#[derive(Clone)]
pub(crate) struct PostgresAddress {
    pub(crate) config: Config,
    /// The state of handshakes, made when the first is due.
    tls: Arc<OnceLock<Connector>>,
}

impl PostgresAddress {
    /// The password of the data source name, or of the environment.
    pub(crate) fn password(&self) -> Option<String> {
        let given = self.config.password.clone();
        given.or_else(|| std::env::var("PGPASSWORD").ok())
    }

    /// The state of handshakes.
    ///
    /// Errors: certificates that cannot be read.
    pub(crate) fn connector(&self) -> io::Result<Connector> {
        if let Some(made) = self.tls.get() {
            return Ok(made.clone());
        }
        let made = self.config.trust.connector()?;
        Ok(self.tls.get_or_init(|| made).clone())
    }
}

/// A text that names no database. It does not hold the text, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is not a valid database: write `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`{0}"
)]
pub struct NotATarget(String);

impl NotATarget {
    /// The cause in parentheses after a blank; empty where the form itself is at fault.
    pub fn cause(&self) -> &str {
        &self.0
    }
}

impl FromStr for Target {
    type Err = NotATarget;

    fn from_str(text: &str) -> Result<Self, NotATarget> {
        let wrong = |why: String| NotATarget(format!(" ({why})"));
        let scheme = text.split(':').next().unwrap_or_default();
        let place = match scheme {
            "sqlite" => ServerAddress::Sqlite(
                file_of(text).ok_or_else(|| wrong("`sqlite:` needs a file".into()))?,
            ),
            "duckdb" => ServerAddress::DuckDb(
                file_of(text).ok_or_else(|| wrong("`duckdb:` needs a file".into()))?,
            ),
            "mysql" | "mariadb" => {
                let rest = &text[scheme.len()..];
                let rest = rest
                    .strip_prefix("://")
                    .ok_or_else(|| NotATarget(String::new()))?;
                let address = MySqlAddress::parse(rest).map_err(wrong)?;
                ServerAddress::MySql(Box::new(address))
            }
            _ if matches!(scheme, "postgres" | "postgresql") || names_host(text) => {
                let config = Config::parse(text).map_err(wrong)?;
                ServerAddress::Postgres(Box::new(PostgresAddress {
                    config,
                    tls: Arc::default(),
                }))
            }
            _ => return Err(NotATarget(String::new())),
        };
        Ok(Self {
            text: text.into(),
            place,
        })
    }
}

/// The file behind the scheme of a data source name; `None` where it names none.
fn file_of(text: &str) -> Option<PathBuf> {
    let (_, path) = text.split_once(':')?;
    let path = path.trim_start_matches("//");
    (!path.is_empty() && path != ":memory:").then(|| path.into())
}

/// Whether pairs of `KEY=VALUE` name a host of PostgreSQL.
fn names_host(text: &str) -> bool {
    text.contains("host=") || text.contains("hostaddr=")
}

/// A value of a URL without its `%` escapes.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        let escaped = escaped.filter(|_| *first == b'%');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A host of a URL and the text of its port; an IPv6 address stands in brackets.
pub(crate) fn host_and_port(text: &str) -> (&str, Option<&str>) {
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, after)) => (address, after.strip_prefix(':')),
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    }
}

/// Errors: the text is not the number of a port.
pub(crate) fn port_of(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| "the port is not a number from 1 to 65535".into())
}

impl Target {
    /// The engine.
    pub fn engine(&self) -> Engine {
        match self.place {
            ServerAddress::Postgres(_) => Engine::Postgres,
            ServerAddress::MySql(_) => Engine::MySql,
            ServerAddress::Sqlite(_) => Engine::Sqlite,
            ServerAddress::DuckDb(_) => Engine::DuckDb,
        }
    }

    /// The whole data source name, with its secrets: for those who connect.
    pub fn secret_text(&self) -> &str {
        &self.text
    }

    /// Name or address of its host, and the port; `None` for a socket of this host, and a file.
    pub fn server(&self) -> Option<(&str, u16)> {
        match &self.place {
            ServerAddress::Postgres(at) => match at.config.hosts.first()? {
                Host::Tcp(host) => Some((host, at.config.port(0))),
                Host::Socket(_) => None,
            },
            ServerAddress::MySql(at) => {
                let is_tcp = at.socket.is_none();
                is_tcp.then_some((at.host.as_str(), at.port))
            }
            ServerAddress::Sqlite(_) | ServerAddress::DuckDb(_) => None,
        }
    }

    /// Everywhere a session may go: each host, by its address where the data source name has it. `None` stands
    /// for a socket of this host; a file gives nothing.
    pub fn servers(&self) -> Vec<Option<(String, u16)>> {
        match &self.place {
            ServerAddress::Postgres(at) => {
                let config = &at.config;
                let place = |host: usize| match (config.addresses.get(host), config.hosts.get(host))
                {
                    (Some(address), _) => Some((address.to_string(), config.port(host))),
                    (None, Some(Host::Tcp(name))) => Some((name.clone(), config.port(host))),
                    (None, Some(Host::Socket(_)) | None) => None,
                };
                (0..config.places()).map(place).collect()
            }
            ServerAddress::MySql(_) => {
                let server = self.server();
                vec![server.map(|(host, port)| (host.to_owned(), port))]
            }
            ServerAddress::Sqlite(_) | ServerAddress::DuckDb(_) => Vec::new(),
        }
    }

    /// The file of SQLite or DuckDB.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            ServerAddress::Sqlite(path) | ServerAddress::DuckDb(path) => Some(path),
            ServerAddress::Postgres(_) | ServerAddress::MySql(_) => None,
        }
    }

    /// The same server with another database on it; a file stays the same.
    pub(crate) fn place_of(&self, database: &str) -> ServerAddress {
        let mut place = self.place.clone();
        match &mut place {
            ServerAddress::Postgres(at) => {
                at.config.database = Some(database.into());
            }
            ServerAddress::MySql(at) => at.database = Some(database.into()),
            ServerAddress::Sqlite(_) | ServerAddress::DuckDb(_) => {}
        }
        place
    }

    /// Name of the database on its server.
    pub fn database(&self) -> Option<&str> {
        match &self.place {
            ServerAddress::Postgres(at) => at.config.database.as_deref(),
            ServerAddress::MySql(at) => at.database.as_deref(),
            ServerAddress::Sqlite(_) | ServerAddress::DuckDb(_) => None,
        }
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Engine, host, port and database; never user, password or options.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = self.engine().name();
        if let Some(path) = self.file() {
            return write!(f, "{engine}:{}", path.display());
        }
        match self.server() {
            Some((host, port)) if host.contains(':') => write!(f, "{engine}://[{host}]:{port}")?,
            Some((host, port)) => write!(f, "{engine}://{host}:{port}")?,
            None => write!(f, "{engine}://(socket)")?,
        }
        match self.database() {
            Some(database) => write!(f, "/{database}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let target: Target = text.parse().expect(text);
        assert_eq!(target.secret_text(), text);
        format!("{target}")
    }

    #[test]
    fn targets_print_without_their_secrets() {
        for (text, expected) in [
            (
                "postgres://u:geheim@db.example:5433/bench",
                "postgres://db.example:5433/bench",
            ),
            (
                "postgresql://u@[::1]/bench?password=geheim",
                "postgres://[::1]:5432/bench",
            ),
            (
                "host=h user=u password=geheim dbname=d",
                "postgres://h:5432/d",
            ),
            ("mysql://u:geheim@h/d", "mysql://h:3306/d"),
            ("mariadb://u:geheim@h:3307/d", "mysql://h:3307/d"),
            ("sqlite:/tmp/a.db", "sqlite:/tmp/a.db"),
            ("sqlite:///tmp/a.db", "sqlite:/tmp/a.db"),
            ("duckdb:/tmp/a.duckdb", "duckdb:/tmp/a.duckdb"),
        ] {
            assert_eq!(shown(text), expected);
            let debugged = format!("{:?}", text.parse::<Target>());
            assert!(!debugged.contains("geheim"), "{debugged}");
        }
    }

    #[test]
    fn every_place_of_a_session_is_told() {
        for (text, expected) in [
            ("postgres://u@a:1,b/d", vec!["a:1", "b:5432"]),
            ("host=a hostaddr=192.0.2.7 user=u", vec!["192.0.2.7:5432"]),
            (
                "hostaddr=192.0.2.7,192.0.2.8 port=7",
                vec!["192.0.2.7:7", "192.0.2.8:7"],
            ),
            ("mysql://u@h/d", vec!["h:3306"]),
            ("sqlite:/tmp/a.db", vec![]),
        ] {
            let target: Target = text.parse().expect(text);
            let servers = target.servers().into_iter().flatten();
            let servers: Vec<String> = servers
                .map(|(host, port)| format!("{host}:{port}"))
                .collect();
            assert_eq!(servers, expected, "{text}");
        }
        if cfg!(unix) {
            let target: Target = "host=/run/pg,h".parse().expect("a target");
            assert_eq!(target.servers(), [None, Some(("h".into(), 5432))]);
        }
    }

    #[test]
    fn what_names_no_database_is_refused_without_repeating_it() {
        for text in [
            "",
            "oracle://u:geheim@h/d",
            "postgres:///d?password=geheim",
            "postgres://u:geheim@h:notaport/d",
            "mysql://u:geheim@h:notaport/d",
            "mysql://u:geheim@h/d?geheim=1",
            "sqlite:",
            "sqlite::memory:",
            "duckdb:",
            "postgres://u:geheim@h/d?sslmode=allow",
            "mysql://u:geheim@h/d?ssl-mode=geheim",
            "mysql://u:geheim@h/d?require_ssl=true",
        ] {
            let refused = text.parse::<Target>().expect_err(text).to_string();
            let repeats = refused.contains("u:geheim") || refused.contains("password");
            assert!(!repeats, "{refused}");
        }
    }
}
