//! PostgreSQL as `org.postgresql.Driver` uses it.
//!
//! Statements without parameters travel unnamed, in one round trip; prepared ones are kept by their text. The
//! driver sends `BEGIN` before the first statement of a transaction, in the same round trip.

mod cells;

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::join;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::ErrorPosition;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, Connection, Row, Socket, Statement};

use super::argument::{Argument, ArgumentKind};
use super::scan::{Dialect, called, first_word, statements, with_parameters};
use super::{Exception, Gives, JdbcAddress, JdbcEncryption, JdbcOutcome, Rows};
use crate::tls::{Connector, Encrypted};
use crate::value::Value;

const CLASS: &str = "org.postgresql.util.PSQLException";
/// Prepared statements that a connection keeps, as the driver does.
const KEPT: usize = 256;

pub(super) struct Postgres {
    client: Client,
    connection: Connection<Socket, Encrypted>,
    /// The state of handshakes, for a connection that cancels a statement.
    tls: Connector,
    prepared: HashMap<(String, Vec<ArgumentKind>), Statement>,
    /// A transaction has begun.
    in_transaction: bool,
}

/// Result of the server: rows, and the number of changed rows.
struct Given {
    columns: Vec<String>,
    rows: Vec<Row>,
    changed: i64,
}

impl Postgres {
    pub(super) async fn connect(place: &JdbcAddress) -> Result<Self, Exception> {
        let mut config = Config::new();
        config
            .host(&place.host)
            .port(place.port)
            .user(&place.user)
            .application_name("PostgreSQL JDBC Driver");
        if !place.database.is_empty() {
            config.dbname(&place.database);
        }
        if !place.password.is_empty() {
            config.password(&place.password);
        }
        for (name, value) in &place.settings {
            if name == "application_name" {
                config.application_name(value);
            }
        }
        config.ssl_mode(match place.encryption {
            JdbcEncryption::Never => SslMode::Disable,
            JdbcEncryption::WhereOffered => SslMode::Prefer,
            _ => SslMode::Require,
        });
        let tls = place
            .trust()
            .connector()
            .map_err(|error| untrusted(&error))?;
        let (client, connection) = config
            .connect(tls.anew())
            .await
            .map_err(|error| not_connected(&error, place))?;
        let mut made = Self {
            client,
            connection,
            tls,
            prepared: HashMap::new(),
            in_transaction: false,
        };
        let zone = jiff::tz::TimeZone::system();
        let mut set_up = format!(
            "SET TimeZone = {}",
            quoted(zone.iana_name().unwrap_or("UTC"))
        );
        for (name, value) in &place.settings {
            if name != "application_name" {
                set_up.push_str(&format!("; SET {name} = {}", quoted(value)));
            }
        }
        made.batch(&set_up).await?;
        Ok(made)
    }

    async fn call<T>(
        connection: &mut Connection<Socket, Encrypted>,
        call: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Exception> {
        let call = async { Ok(call.await.map_err(|error| told(&error))) };
        let driven = crate::postgres::Postgres::drive(connection, call).await;
        driven.unwrap_or_else(|_| Err(lost()))
    }

    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), Exception> {
        let client = &self.client;
        Self::call(&mut self.connection, client.batch_execute(sql)).await
    }

    /// Ends the transaction, if one has begun.
    pub(super) async fn end(&mut self, word: &str) -> Result<(), Exception> {
        match std::mem::take(&mut self.in_transaction) {
            true => self.batch(word).await,
            false => Ok(()),
        }
    }

    pub(super) async fn run(
        &mut self,
        statement: &super::JdbcStatement<'_>,
        is_auto: bool,
    ) -> Result<JdbcOutcome, Exception> {
        let given = match statement.timeout {
            None => self.execute(statement, is_auto).await,
            Some(bound) => self.execute_within(statement, is_auto, bound).await,
        };
        self.outcome(statement, given?).await
    }

    /// Asks the server to cancel a statement that takes too long, as the driver does.
    async fn execute_within(
        &mut self,
        statement: &super::JdbcStatement<'_>,
        is_auto: bool,
        bound: Duration,
    ) -> Result<Given, Exception> {
        let (cancel, tls) = (self.client.cancel_token(), self.tls.anew());
        let mut executing = pin!(self.execute(statement, is_auto));
        if let Ok(done) = tokio::time::timeout(bound, &mut executing).await {
            return done;
        }
        let cancelling = async { cancel.cancel_query(tls).await };
        // Where it is not heard, the statement goes on until its end.
        join(executing, cancelling).await.0
    }

    async fn execute(
        &mut self,
        statement: &super::JdbcStatement<'_>,
        is_auto: bool,
    ) -> Result<Given, Exception> {
        if let Some(arguments) = statement.arguments {
            let call = called(statement.sql).map(|call| {
                let parentheses = if call.ends_with(')') { "" } else { "()" };
                format!("select * from {call}{parentheses} as result")
            });
            let sql = call.as_deref().unwrap_or(statement.sql);
            return self.execute_prepared(sql, arguments, is_auto).await;
        }
        let mut first = None;
        let all = statements(statement.sql, Dialect::Postgres);
        for sql in if all.is_empty() { vec![""] } else { all } {
            let given = self.execute_one(sql, is_auto).await?;
            first.get_or_insert(given);
        }
        first.ok_or_else(lost)
    }

    /// `BEGIN` where a transaction must begin with a statement.
    fn begin(&mut self, sql: &str, is_auto: bool) -> bool {
        let word = first_word(sql);
        let ends = matches!(word.as_str(), "commit" | "rollback" | "end" | "abort");
        let begins = !self.in_transaction && !is_auto && !ends;
        if begins || matches!(word.as_str(), "begin" | "start") {
            self.in_transaction = true;
        } else if ends && !sql.to_ascii_lowercase().contains(" to ") {
            self.in_transaction = false;
        }
        begins
    }

    async fn execute_one(&mut self, sql: &str, is_auto: bool) -> Result<Given, Exception> {
        let begins = self.begin(sql, is_auto);
        let client = &self.client;
        let execute = async {
            let none: [(Value<'_>, Type); 0] = [];
            let mut rows = pin!(client.query_typed_raw(sql, none).await?);
            let mut all = Vec::new();
            while let Some(row) = rows.try_next().await? {
                all.push(row);
            }
            let changed = rows.rows_affected().unwrap_or(0);
            let columns = all.first().map(|row| labels(row.columns()));
            Ok(Given {
                columns: columns.unwrap_or_default(),
                changed: i64::try_from(changed).unwrap_or(i64::MAX),
                rows: all,
            })
        };
        Self::call(&mut self.connection, behind(client, begins, execute)).await
    }

    async fn execute_prepared(
        &mut self,
        sql: &str,
        arguments: &[Argument],
        is_auto: bool,
    ) -> Result<Given, Exception> {
        let begins = self.begin(sql, is_auto);
        if begins {
            self.batch("BEGIN").await?;
        }
        let mut is_new = false;
        loop {
            let prepared = self.prepared(sql, arguments, &mut is_new).await?;
            match self.execute_known(&prepared, arguments).await {
                // The table has another form than when it was prepared.
                Err(failure)
                    if !is_new
                        && !self.in_transaction
                        && matches!(failure.state.as_deref(), Some("0A000" | "26000")) =>
                {
                    self.prepared.clear();
                }
                done => return done,
            }
        }
    }

    async fn prepared(
        &mut self,
        sql: &str,
        arguments: &[Argument],
        is_new: &mut bool,
    ) -> Result<Statement, Exception> {
        let kinds: Vec<ArgumentKind> = arguments.iter().map(Argument::kind).collect();
        let key = (sql.to_owned(), kinds);
        if let Some(known) = self.prepared.get(&key) {
            return Ok(known.clone());
        }
        *is_new = true;
        let (text, count) = with_parameters(sql, Dialect::Postgres, |index, out| {
            out.push('$');
            out.push_str(&(index + 1).to_string());
        });
        if key.1.len() > count {
            return Err(Exception::of(
                CLASS,
                Some("22023"),
                format!(
                    "The column index is out of range: {}, number of columns: {count}.",
                    count + 1
                ),
            ));
        }
        if key.1.len() < count {
            let says = format!("No value specified for parameter {}.", key.1.len() + 1);
            return Err(Exception::of(CLASS, Some("22023"), says));
        }
        let types: Vec<Type> = key.1.iter().map(|kind| type_of(*kind)).collect();
        let client = &self.client;
        let call = client.prepare_typed(&text, &types);
        let prepared = Self::call(&mut self.connection, call).await?;
        if self.prepared.len() >= KEPT {
            self.prepared.clear();
        }
        self.prepared.insert(key, prepared.clone());
        Ok(prepared)
    }

    async fn execute_known(
        &mut self,
        prepared: &Statement,
        arguments: &[Argument],
    ) -> Result<Given, Exception> {
        let values: Vec<Value<'_>> = arguments.iter().map(sent).collect();
        let client = &self.client;
        let execute = async {
            let mut rows = pin!(client.query_raw(prepared, &values).await?);
            let mut all = Vec::new();
            while let Some(row) = rows.try_next().await? {
                all.push(row);
            }
            let changed = rows.rows_affected().unwrap_or(0);
            Ok(Given {
                columns: labels(prepared.columns()),
                rows: all,
                changed: i64::try_from(changed).unwrap_or(i64::MAX),
            })
        };
        Self::call(&mut self.connection, execute).await
    }

    /// Rows or a count, whichever was asked for.
    async fn outcome(
        &mut self,
        statement: &super::JdbcStatement<'_>,
        mut given: Given,
    ) -> Result<JdbcOutcome, Exception> {
        let is_open = given.columns.is_empty() && statement.arguments.is_none();
        if is_open && may_give_rows(statement.sql) {
            // The answer to a statement without rows does not tell its columns.
            let all = statements(statement.sql, Dialect::Postgres);
            let first = all.first().copied().unwrap_or_default();
            let client = &self.client;
            let described = Self::call(&mut self.connection, client.prepare(first)).await?;
            given.columns = labels(described.columns());
        }
        match (statement.expects, given.columns.is_empty()) {
            (Gives::Rows, true) => Err(Exception::of(
                CLASS,
                Some("02000"),
                "No results were returned by the query.",
            )),
            (Gives::Count, false) => Err(Exception::of(
                CLASS,
                Some("0100E"),
                "A result was returned when none was expected.",
            )),
            (_, true) => Ok(JdbcOutcome::Count(given.changed)),
            (_, false) => {
                let most = statement.most_rows.unwrap_or(usize::MAX);
                let rows = given.rows.iter().take(most).map(cells::row);
                Ok(JdbcOutcome::Rows(Rows {
                    rows: rows.collect::<Result<_, _>>()?,
                    columns: given.columns,
                }))
            }
        }
    }
}

/// Sends `BEGIN` before a call, without waiting for its answer.
async fn behind<T>(
    client: &Client,
    begins: bool,
    call: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, tokio_postgres::Error> {
    match begins {
        false => call.await,
        true => {
            let (begun, done) = join(client.batch_execute("BEGIN"), call).await;
            begun.and(done)
        }
    }
}

/// True for statements that give rows, even if none.
fn may_give_rows(sql: &str) -> bool {
    let word = first_word(sql);
    let reads = [
        "select", "values", "show", "table", "with", "explain", "fetch", "execute",
    ];
    reads.contains(&word.as_str()) || sql.to_ascii_lowercase().contains("returning")
}

fn labels(columns: &[tokio_postgres::Column]) -> Vec<String> {
    columns
        .iter()
        .map(|column| column.name().to_owned())
        .collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The type under which the driver sends a parameter.
fn type_of(kind: ArgumentKind) -> Type {
    match kind {
        ArgumentKind::Int => Type::INT4,
        ArgumentKind::Long => Type::INT8,
        ArgumentKind::Short => Type::INT2,
        ArgumentKind::Float => Type::FLOAT4,
        ArgumentKind::Double => Type::FLOAT8,
        ArgumentKind::Decimal => Type::NUMERIC,
        ArgumentKind::Bool => Type::BOOL,
        ArgumentKind::Text => Type::VARCHAR,
        ArgumentKind::Bytes => Type::BYTEA,
        ArgumentKind::Open => Type::UNKNOWN,
    }
}

fn sent(argument: &Argument) -> Value<'_> {
    match argument {
        Argument::Null(_) => Value::Null,
        Argument::Int(value) => Value::Int((*value).into()),
        Argument::Long(value) => Value::Int(*value),
        Argument::Short(value) => Value::Int((*value).into()),
        Argument::Float(value) => Value::from(value.to_string()),
        Argument::Double(value) => Value::Float(*value),
        Argument::Bool(value) => Value::from(value.to_string()),
        Argument::Bytes(bytes) => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            Value::from(format!("\\x{}", digits.collect::<String>()))
        }
        Argument::Decimal(text)
        | Argument::Text(text)
        | Argument::Date(text)
        | Argument::Time(text)
        | Argument::Timestamp(text) => Value::from(text.as_str()),
    }
}

/// `commit` or `rollback` while each statement is a transaction.
pub(super) fn not_in_transaction(word: &str) -> Exception {
    let says = match word {
        "COMMIT" => "Cannot commit when autoCommit is enabled.",
        _ => "Cannot rollback when autoCommit is enabled.",
    };
    Exception::of(CLASS, Some("25P01"), says)
}

fn lost() -> Exception {
    Exception {
        is_lost: true,
        ..Exception::of(
            CLASS,
            Some("08006"),
            "An I/O error occurred while sending to the backend.",
        )
    }
}

fn not_connected(error: &tokio_postgres::Error, place: &JdbcAddress) -> Exception {
    if error.as_db_error().is_some() {
        let told = told(error);
        return Exception {
            is_lost: true,
            ..told
        };
    }
    let source = std::error::Error::source(error);
    let io = source.and_then(|source| source.downcast_ref::<std::io::Error>());
    if let Some(error) = io.filter(|error| crate::tls::refused(error).is_some()) {
        return untrusted(error);
    }
    let refused = io.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused);
    let (state, says) = match refused {
        true => (
            "08001",
            format!(
                "Connection to {}:{} refused. Check that the hostname and port are correct and that the \
                 postmaster is accepting TCP/IP connections.",
                place.host, place.port
            ),
        ),
        false => ("08001", "The connection attempt failed.".to_owned()),
    };
    Exception {
        is_lost: true,
        ..Exception::of(CLASS, Some(state), says)
    }
}

/// A server whose certificate is refused, or cannot be examined.
fn untrusted(error: &std::io::Error) -> Exception {
    Exception {
        is_lost: true,
        ..Exception::of(CLASS, Some("08006"), format!("SSL error: {error}"))
    }
}

/// An error of the server as the driver shows it.
fn told(error: &tokio_postgres::Error) -> Exception {
    let Some(said) = error.as_db_error() else {
        return lost();
    };
    let mut message = format!("{}: {}", said.severity(), said.message());
    let mut line = |name: &str, text: &str| message.push_str(&format!("\n  {name}: {text}"));
    if let Some(detail) = said.detail() {
        line("Detail", detail);
    }
    if let Some(hint) = said.hint() {
        line("Hint", hint);
    }
    if let Some(ErrorPosition::Original(position)) = said.position() {
        line("Position", &position.to_string());
    }
    if let Some(place) = said.where_() {
        line("Where", place);
    }
    let state = said.code().code();
    Exception {
        is_lost: matches!(said.severity(), "FATAL" | "PANIC") || state.starts_with("08"),
        ..Exception::of(CLASS, Some(state), message)
    }
}
