//! PostgreSQL as `org.postgresql.Driver` uses it.
//!
//! Statements without parameters travel unnamed, in one round trip; prepared ones are kept by their text. The
//! driver sends `BEGIN` before the first statement of a transaction, in the same round trip.

mod cells;

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::join;

use super::argument::{Argument, ArgumentKind};
use super::scan::{Dialect, called, first_word, statements, with_parameters};
use super::{Exception, Gives, JdbcAddress, JdbcOutcome, Room, Rows};
use crate::error::SqlError;
use crate::postgres::{
    Column, Config, Failure, Form, Host, Postgres as Session, ServerError, Statement, oid,
};
use crate::row::{Inner, Row};
use crate::value::Value;

/// The setting of the session that its name is.
const NAME: &str = "application_name";
const OWN_NAME: &str = "PostgreSQL JDBC Driver";
const CLASS: &str = "org.postgresql.util.PSQLException";
/// Prepared statements that a connection keeps, as the driver does.
const KEPT: usize = 256;

pub(super) struct Postgres {
    session: Session,
    prepared: HashMap<(String, Vec<ArgumentKind>), Statement>,
    /// A transaction has begun.
    in_transaction: bool,
}

/// Result of the server: rows, and the number of changed rows.
struct Given {
    columns: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
    changed: i64,
}

impl Postgres {
    pub(super) async fn connect(place: &JdbcAddress) -> Result<Self, Exception> {
        let filled = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let named = place.settings.iter().rev().find(|(name, _)| name == NAME);
        let named = named.map_or(OWN_NAME, |(_, value)| value);
        let config = Config {
            hosts: vec![Host::Tcp(place.host.clone())],
            ports: vec![place.port],
            user: Some(place.user.clone()),
            database: filled(&place.database),
            application_name: Some(named.into()),
            encryption: place.encryption(),
            trust: place.trust(),
            ..Config::default()
        };
        let tls = config.trust.connector();
        let tls = tls.map_err(|error| untrusted(&error))?;
        let password = filled(&place.password);
        let session = Session::open(&config, password.as_deref(), &tls).await;
        let mut made = Self {
            session: session.map_err(|failure| not_connected(&failure, place))?,
            prepared: HashMap::new(),
            in_transaction: false,
        };
        let zone = jiff::tz::TimeZone::system();
        let mut set_up = format!(
            "SET TimeZone = {}",
            quoted(zone.iana_name().unwrap_or("UTC"))
        );
        for (name, value) in &place.settings {
            if name != NAME {
                set_up.push_str(&format!("; SET {name} = {}", quoted(value)));
            }
        }
        made.batch(&set_up).await?;
        Ok(made)
    }

    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), Exception> {
        self.session.batch(sql).await.map_err(told)
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
        outcome(statement, given?)
    }

    /// Asks the server to cancel a statement that takes too long, as the driver does.
    async fn execute_within(
        &mut self,
        statement: &super::JdbcStatement<'_>,
        is_auto: bool,
        bound: Duration,
    ) -> Result<Given, Exception> {
        let canceller = self.session.canceller();
        let mut executing = pin!(self.execute(statement, is_auto));
        if let Ok(done) = tokio::time::timeout(bound, &mut executing).await {
            return done;
        }
        // Where it is not heard, the statement goes on until its end.
        join(executing, canceller.cancel()).await.0
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
            return self
                .execute_prepared(sql, arguments, statement.most(), is_auto)
                .await;
        }
        let mut first = None;
        let all = statements(statement.sql, Dialect::Postgres);
        for sql in if all.is_empty() { vec![""] } else { all } {
            let given = self.execute_one(sql, statement.most(), is_auto).await?;
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

    async fn execute_one(
        &mut self,
        sql: &str,
        most: usize,
        is_auto: bool,
    ) -> Result<Given, Exception> {
        // The driver sends it without waiting for its answer.
        let begin = self.begin(sql, is_auto).then_some("BEGIN");
        let mut taken = Taken::new(most);
        let each = &mut |row: &Row<'_>| taken.take(row);
        let done = self.session.query_once(begin, sql, each).await;
        let (columns, changed) = done.map_err(told)?;
        taken.given(&columns, changed)
    }

    async fn execute_prepared(
        &mut self,
        sql: &str,
        arguments: &[Argument],
        most: usize,
        is_auto: bool,
    ) -> Result<Given, Exception> {
        let begins = self.begin(sql, is_auto);
        if begins {
            self.batch("BEGIN").await?;
        }
        let mut is_new = false;
        loop {
            let prepared = self.prepared(sql, arguments, &mut is_new).await?;
            match self.execute_known(&prepared, arguments, most).await {
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
        let types: Vec<u32> = key.1.iter().map(|kind| type_of(*kind)).collect();
        let prepared = self.session.prepare(&text, &types, Form::Binary).await;
        let prepared = prepared.map_err(told)?;
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
        most: usize,
    ) -> Result<Given, Exception> {
        let values: Vec<Value<'_>> = arguments.iter().map(sent).collect();
        let mut taken = Taken::new(most);
        let each = &mut |row: &Row<'_>| taken.take(row);
        let changed = self.session.query(prepared, &values, each).await;
        let changed = changed.map_err(told)?;
        taken.given(prepared.columns(), changed)
    }
}

/// The rows of an answer as texts.
struct Taken {
    most: usize,
    rows: Vec<Vec<Option<String>>>,
    room: Room,
    /// Why no more are taken.
    refused: Option<Exception>,
}

impl Taken {
    fn new(most: usize) -> Self {
        Self {
            most,
            rows: Vec::new(),
            room: Room::new(),
            refused: None,
        }
    }

    /// Takes a row, as long as no more were asked for, all types are known and there is room.
    fn take(&mut self, row: &Row<'_>) -> Result<(), SqlError> {
        if self.rows.len() < self.most
            && self.refused.is_none()
            && let Inner::Postgres(row) = &row.0
        {
            let row = cells::row(row).and_then(|row| self.room.take(&row).map(|()| row));
            match row {
                Ok(row) => self.rows.push(row),
                Err(refused) => {
                    self.rows = Vec::new();
                    self.refused = Some(refused);
                }
            }
        }
        Ok(())
    }

    fn given(self, columns: &[Column], changed: u64) -> Result<Given, Exception> {
        match self.refused {
            Some(refused) => Err(refused),
            None => Ok(Given {
                columns: columns.iter().map(|column| column.name.clone()).collect(),
                rows: self.rows,
                changed: i64::try_from(changed).unwrap_or(i64::MAX),
            }),
        }
    }
}

/// Rows or a count, whichever was asked for.
fn outcome(statement: &super::JdbcStatement<'_>, given: Given) -> Result<JdbcOutcome, Exception> {
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
        (_, false) => Ok(JdbcOutcome::Rows(Rows {
            rows: given.rows,
            columns: given.columns,
        })),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The type under which the driver sends a parameter.
fn type_of(kind: ArgumentKind) -> u32 {
    match kind {
        ArgumentKind::Int => oid::INT4,
        ArgumentKind::Long => oid::INT8,
        ArgumentKind::Short => oid::INT2,
        ArgumentKind::Float => oid::FLOAT4,
        ArgumentKind::Double => oid::FLOAT8,
        ArgumentKind::Decimal => oid::NUMERIC,
        ArgumentKind::Bool => oid::BOOL,
        ArgumentKind::Text => oid::VARCHAR,
        ArgumentKind::Bytes => oid::BYTEA,
        ArgumentKind::Open => oid::UNKNOWN,
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

fn not_connected(failure: &Failure, place: &JdbcAddress) -> Exception {
    let refused = match failure {
        Failure::Server(said) => {
            return Exception {
                is_lost: true,
                ..as_shown(said)
            };
        }
        Failure::Io(error) if crate::tls::refused(error).is_some() => return untrusted(error),
        Failure::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        _ => false,
    };
    let says = match refused {
        true => format!(
            "Connection to {}:{} refused. Check that the hostname and port are correct and that the \
             postmaster is accepting TCP/IP connections.",
            place.host, place.port
        ),
        false => "The connection attempt failed.".to_owned(),
    };
    Exception {
        is_lost: true,
        ..Exception::of(CLASS, Some("08001"), says)
    }
}

/// A server whose certificate is refused, or cannot be examined.
fn untrusted(error: &std::io::Error) -> Exception {
    Exception {
        is_lost: true,
        ..Exception::of(CLASS, Some("08006"), format!("SSL error: {error}"))
    }
}

fn told(failure: Failure) -> Exception {
    match failure {
        Failure::Server(said) => as_shown(&said),
        Failure::Call(error) if !error.is_lost => Exception::plain(error.message),
        _ => lost(),
    }
}

/// An error of the server as the driver shows it.
fn as_shown(said: &ServerError) -> Exception {
    let mut message = format!("{}: {}", said.severity, said.message);
    let lines = [
        ("Detail", &said.detail),
        ("Hint", &said.hint),
        ("Position", &said.position),
        ("Where", &said.context),
    ];
    for (name, text) in lines {
        if let Some(text) = text {
            message.push_str(&format!("\n  {name}: {text}"));
        }
    }
    Exception {
        is_lost: said.is_fatal() || said.code.starts_with("08"),
        ..Exception::of(CLASS, Some(&said.code), message)
    }
}
