//! Databases that a plan opens, and the statements that it executes on them.

use serde::Serialize;

use crate::expression::Template;

/// A pool of connections to a database.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Database {
    /// Variable under which samplers find it.
    pub variable: String,
    /// Its address; `None`: it is not supported.
    pub address: Option<DatabaseAddress>,
    /// The URL without passwords.
    pub url: String,
    /// Class of the driver, as the plan writes it.
    pub driver_class: String,
    /// User, as the plan writes it.
    pub user: String,
    /// Password; never shown.
    #[serde(skip)]
    pub password: String,
    /// Connections; 0: one for each user.
    pub connections: u32,
    /// Longest wait for a connection, milliseconds; negative: unbounded.
    pub max_wait_ms: i64,
    /// True if each statement is a transaction of its own.
    pub auto_commit: bool,
    /// Isolation of the transactions; `None`: the driver's own.
    pub isolation: Option<IsolationLevel>,
    /// Statements that each new connection executes first.
    pub set_up: Vec<String>,
    /// True if the connections are made before the test.
    pub is_made_ahead: bool,
    /// Closing of idle connections; `None`: never.
    pub idle: Option<IdleCheck>,
}

/// The check of idle connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IdleCheck {
    /// Time between two looks, milliseconds.
    pub every_ms: u64,
    /// Those that were unused for so long are closed, milliseconds.
    pub age_ms: u64,
    /// The statement by which the others are tested; empty: none.
    pub query: String,
}

/// A driver for which there is an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseDriver {
    /// PostgreSQL.
    Postgres,
    /// MariaDB Connector/J.
    MariaDb,
    /// MySQL Connector/J.
    MySql,
    /// SQLite.
    Sqlite,
}

/// Address of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DatabaseAddress {
    /// The driver.
    pub driver: DatabaseDriver,
    /// Host of a server.
    pub host: String,
    /// Port of a server.
    pub port: u16,
    /// Name of the database on its server; empty: the driver's own choice.
    pub database: String,
    /// File of SQLite; `None`: a database in memory, of each connection its own.
    pub file: Option<String>,
    /// User and password of the URL.
    #[serde(skip)]
    pub user: Option<String>,
    /// Password of the URL; never shown.
    #[serde(skip)]
    pub password: Option<String>,
    /// Settings of the session.
    pub settings: Vec<(String, String)>,
    /// Encryption of the session.
    pub encryption: Encryption,
    /// File with certificates of authorities to trust, in PEM; `None`: the driver's own choice.
    pub authorities: Option<String>,
}

/// Encryption of a session on a database server, and what the server has to prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Encryption {
    /// None.
    Never,
    /// If the server offers it.
    WhereOffered,
    /// Always, with any certificate.
    Always,
    /// Always, with a certificate that an authority signed.
    Authority,
    /// The same, for the name of the host.
    Name,
}

/// A level of isolation, by its name in JDBC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// `TRANSACTION_READ_UNCOMMITTED`.
    ReadUncommitted,
    /// `TRANSACTION_READ_COMMITTED`.
    ReadCommitted,
    /// `TRANSACTION_REPEATABLE_READ`.
    RepeatableRead,
    /// `TRANSACTION_SERIALIZABLE`.
    Serializable,
}

/// A statement on a database.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatabaseQuery {
    /// Variable of the pool.
    pub pool: Template,
    /// Type of the query, by its English name.
    pub query_type: Template,
    /// The statement.
    pub text: Template,
    /// Parameters, separated by commas.
    pub arguments: Template,
    /// Their types, separated by commas.
    pub types: Template,
    /// Variables of the columns, separated by commas.
    pub variables: Template,
    /// Variable of the rows as an object.
    pub result: Template,
    /// Most rows that are read; no number: all.
    pub most_rows: Template,
    /// Longest time, seconds; no number, or 0: unbounded.
    pub timeout_s: Template,
}
