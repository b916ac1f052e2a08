//! Databases that the pool can be laid over.

use sokudo_model::Text;

use super::server::Server;
use super::sim::Sim;
use super::sqlite::Sqlite;

/// Rows of the table that statements are about.
pub(super) const ROWS: i64 = 1000;
/// Rows that a search reads.
pub(super) const READ: i64 = 20;

/// A database.
pub(crate) trait Database: Send + Sync {
    /// Opens a connection. Errors: why there is none, in the database's own words.
    fn session(&self) -> Result<Box<dyn Session>, String>;

    /// Connections that it takes at most; `None` when it has no such limit.
    fn limit(&self) -> Option<u64> {
        None
    }
}

/// A connection to it.
pub(crate) trait Session: Send {
    /// Executes a statement, and commits. Errors: the connection is broken, in the database's own words.
    fn execute(&mut self, statement: Statement) -> Result<(), String>;
}

/// Characters of an unknown kind of database that are told.
const KIND_CHARS: usize = 20;

/// Statement that a connection executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Reads some rows.
    Search,
    /// Changes a row.
    Update,
}

/// The database cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoDatabase {
    /// No such kind of database.
    #[error("`{0}` names no database")]
    Unknown(String),
    /// It gives no connection, in its own words.
    #[error("the database gives no connection: {0}")]
    Refused(String),
}

impl NoDatabase {
    pub(crate) fn text(&self) -> Text {
        match self {
            Self::Unknown(url) => Text::new("error-target-no-database").word("url", url),
            Self::Refused(why) => Text::new("error-target-database").word("why", why),
        }
    }
}

/// Location of the database of a URL, without its user and secrets.
pub(crate) fn shown(url: &str) -> String {
    match url.split_once(':').map(|(kind, _)| kind) {
        Some("sim" | "sqlite") => url.to_owned(),
        _ => url.parse().map_or_else(
            |_| String::new(),
            |target: sokudo_sql::Target| target.to_string(),
        ),
    }
}

/// The database of this URL, with its table.
pub(crate) fn open(url: &str) -> Result<Box<dyn Database>, NoDatabase> {
    let (kind, rest) = url.split_once(':').unwrap_or((url, ""));
    match kind {
        "sim" if rest.is_empty() => Ok(Box::new(Sim)),
        "sqlite" => Ok(Box::new(Sqlite::open(rest).map_err(NoDatabase::Refused)?)),
        "postgres" | "postgresql" | "mysql" | "mariadb" => Ok(Box::new(Server::open(url)?)),
        // What follows may hold a password.
        _ => Err(NoDatabase::Unknown(kind.chars().take(KIND_CHARS).collect())),
    }
}
