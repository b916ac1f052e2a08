//! MariaDB and MySQL as `org.mariadb.jdbc.Driver` and `com.mysql.cj.jdbc.Driver` use them.
//!
//! Both write parameters into the text of a statement, unless they are told otherwise.

use mysql_common::Value as Cell;
use mysql_common::constants::{CapabilityFlags, ColumnFlags, ColumnType};
use mysql_common::packets::Column;

use super::argument::Argument;
use super::scan::{Dialect, called, first_word, with_parameters};
use super::{Driver, Exception, Gives, JdbcAddress, JdbcOutcome, Room, Rows, java};
use crate::mysql::{Conn, Failure, Given, MySqlAddress, guarded};

/// Number of the character set of bytes.
const BINARY: u16 = 63;
/// Most results of a text of statements.
const MOST_RESULTS: usize = 10_000;

pub(super) struct MySql {
    conn: Conn,
    driver: Driver,
}

impl MySql {
    pub(super) async fn connect(place: &JdbcAddress) -> Result<Self, Exception> {
        let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let address = MySqlAddress {
            host: place.host.clone(),
            port: place.port,
            user: filled(&place.user),
            database: filled(&place.database),
            encryption: place.encryption(),
            trust: place.trust(),
            ..MySqlAddress::default()
        };
        let opened = guarded(Conn::open(
            &address,
            Some(&place.password),
            CapabilityFlags::empty(),
        ))
        .await;
        Ok(Self {
            conn: opened.map_err(|failure| not_connected(failure, place))?,
            driver: place.driver,
        })
    }

    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), Exception> {
        let done = guarded(self.conn.batch(sql.as_bytes())).await;
        done.map_err(|failure| self.told(failure))
    }

    /// Ends the transaction.
    pub(super) async fn finish(&mut self, word: &str, is_auto: bool) -> Result<(), Exception> {
        match (self.driver, is_auto) {
            (Driver::MySql, true) => {
                let word = word.to_lowercase();
                let says = format!("Can't call {word} when autocommit=true");
                Err(Exception::plain(says))
            }
            // Outside of a transaction the other driver sends nothing.
            (_, true) => Ok(()),
            (_, false) => self.batch(word).await,
        }
    }

    pub(super) async fn run(
        &mut self,
        statement: &super::JdbcStatement<'_>,
    ) -> Result<Vec<JdbcOutcome>, Exception> {
        let mut sql = match statement.arguments {
            None => statement.sql.to_owned(),
            Some(arguments) => self.filled(statement.sql, arguments)?,
        };
        if let Some(call) = called(&sql) {
            sql = format!("CALL {call}");
        }
        if self.driver == Driver::MySql {
            self.judge(&sql, statement.expects)?;
        }
        if let Some(bound) = statement.timeout.filter(|_| self.conn.is_mariadb()) {
            let seconds = bound.as_secs();
            sql = format!("SET STATEMENT max_statement_time={seconds} FOR {sql}");
        }
        let given = guarded(self.execute(&sql, statement)).await;
        let mut given = given.map_err(|failure| self.told(failure))??;
        if statement.expects != Gives::Anything {
            given.truncate(1);
        }
        let is_rows = matches!(given.first(), Some(JdbcOutcome::Rows(_)));
        match (statement.expects, is_rows) {
            // One driver gives an empty result, the other knows such statements by their words.
            (Gives::Rows, false) => Ok(vec![JdbcOutcome::Rows(Rows::default())]),
            (Gives::Count, true) => Err(self.own_exception(
                "HY000",
                "the given SQL statement produces an unexpected ResultSet object",
            )),
            _ => Ok(given),
        }
    }

    /// Executes a text; gives its results, or why they are too many.
    async fn execute(
        &mut self,
        sql: &str,
        statement: &super::JdbcStatement<'_>,
    ) -> Result<Result<Vec<JdbcOutcome>, Exception>, Failure> {
        let (mut room, mut refused) = (Room::new(), None);
        let most = statement.most_rows.unwrap_or(usize::MAX);
        let mut given = Vec::new();
        let mut next = Some(self.conn.query(sql.as_bytes()).await?);
        while let Some(result) = next {
            given.push(match result {
                Given::Changed(count) => {
                    JdbcOutcome::Count(i64::try_from(count).unwrap_or(i64::MAX))
                }
                Given::Rows(columns) => {
                    let rows = self.rows(&columns, most, &mut room, &mut refused).await?;
                    let columns = columns.iter().map(|it| it.name_str().into_owned());
                    JdbcOutcome::Rows(Rows {
                        columns: columns.collect(),
                        rows,
                    })
                }
            });
            if given.len() > MOST_RESULTS {
                return Err(Failure::Lost("the server sends results without end".into()));
            }
            next = self.conn.next_result().await?;
        }
        Ok(refused.map_or(Ok(given), Err))
    }

    /// The rows of a result, `most` of them; none once they are `refused`.
    async fn rows(
        &mut self,
        columns: &[Column],
        most: usize,
        room: &mut Room,
        refused: &mut Option<Exception>,
    ) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let mut rows = Vec::new();
        while let Some(row) = self.conn.next_row().await? {
            if rows.len() >= most || refused.is_some() {
                continue;
            }
            let cells = row.unwrap();
            let cells = cells.iter().zip(columns);
            let cells: Vec<Option<String>> = cells
                .map(|(cell, column)| text(cell, column, self.driver))
                .collect();
            match room.take(&cells) {
                Ok(()) => rows.push(cells),
                Err(why) => {
                    rows = Vec::new();
                    *refused = Some(why);
                }
            }
        }
        Ok(rows)
    }

    /// Refuses what this driver does not send, by the first word. Errors: it gives no rows, or gives some.
    fn judge(&self, sql: &str, expects: Gives) -> Result<(), Exception> {
        const ROWS: &[&str] = &[
            "analyze", "check", "checksum", "desc", "describe", "explain", "help", "optimize",
            "repair", "select", "show", "table", "values", "with",
        ];
        const PERHAPS: &[&str] = &["begin", "call", "execute", "handler", "xa"];
        let word = first_word(sql);
        let gives_rows = ROWS.contains(&word.as_str());
        let is_wrong = match expects {
            Gives::Rows => !gives_rows && !PERHAPS.contains(&word.as_str()),
            Gives::Count => gives_rows,
            Gives::Anything => false,
        };
        let (state, says) = match (is_wrong, expects) {
            (false, _) => return Ok(()),
            (true, Gives::Rows) => (
                "S1009",
                "Statement.executeQuery() cannot issue statements that do not produce result sets.",
            ),
            (true, _) => (
                "01S03",
                "Statement.executeUpdate() or Statement.executeLargeUpdate() cannot issue statements that \
                 produce result sets.",
            ),
        };
        Err(Exception::of("java.sql.SQLException", Some(state), says))
    }

    /// Exception that the driver for MariaDB makes by itself.
    fn own_exception(&self, state: &str, says: &str) -> Exception {
        Exception {
            number: -1,
            ..Exception::of("java.sql.SQLException", Some(state), self.numbered(says))
        }
    }

    /// A statement with its parameters in its text.
    fn filled(&self, sql: &str, arguments: &[Argument]) -> Result<String, Exception> {
        let (text, count) = with_parameters(sql, Dialect::MySql, |index, out| {
            if let Some(argument) = arguments.get(index) {
                literal(argument, out);
            }
        });
        let given = arguments.len();
        if given == count {
            return Ok(text);
        }
        let of_state =
            |state, says: String| Exception::of("java.sql.SQLException", Some(state), says);
        Err(match (self.driver, given < count) {
            (Driver::MariaDb, true) => Exception {
                class: "java.sql.SQLTransientConnectionException",
                ..self.own_exception(
                    "07004",
                    &format!("Parameter at position {} is not set", given + 1),
                )
            },
            (Driver::MariaDb, false) => {
                self.own_exception("07009", &format!("wrong parameter index {}", count + 1))
            }
            (_, true) => of_state(
                "07001",
                format!("No value specified for parameter {}", given + 1),
            ),
            (_, false) => of_state(
                "S1009",
                format!(
                    "Parameter index out of range ({} > number of parameters, which is {count}).",
                    count + 1
                ),
            ),
        })
    }

    /// A message with the number of the connection, as one of the drivers writes it.
    fn numbered(&self, message: &str) -> String {
        match self.driver {
            Driver::MariaDb => format!("(conn={}) {message}", self.conn.id()),
            _ => message.to_owned(),
        }
    }

    fn told(&self, failure: Failure) -> Exception {
        let Failure::Server(said) = failure else {
            return Exception {
                class: match self.driver {
                    Driver::MariaDb => "java.sql.SQLNonTransientConnectionException",
                    _ => "com.mysql.cj.jdbc.exceptions.CommunicationsException",
                },
                is_lost: true,
                ..Exception::of("", Some("08S01"), "Communications link failure")
            };
        };
        Exception {
            class: class(&said.state, said.code, self.driver),
            state: Some(said.state.clone()),
            number: said.code.into(),
            message: match said.state.starts_with("22") && self.driver == Driver::MySql {
                true => format!("Data truncation: {}", said.message),
                false => self.numbered(&said.message),
            },
            is_lost: matches!(said.code, 1053 | 1927 | 2006 | 2013) || said.state.starts_with("08"),
        }
    }
}

fn not_connected(failure: Failure, place: &JdbcAddress) -> Exception {
    let is_mariadb = place.driver == Driver::MariaDb;
    let (class, state, number, message) = match failure {
        Failure::Server(said) => (
            class(&said.state, said.code, place.driver),
            said.state.clone(),
            said.code.into(),
            match is_mariadb {
                // The handshake has told the number of the connection, this client does not tell it on.
                true => format!("(conn=0) {}", said.message),
                false => said.message.clone(),
            },
        ),
        _ if is_mariadb => (
            "java.sql.SQLNonTransientConnectionException",
            "08000".to_owned(),
            -1,
            format!(
                "Socket fail to connect to {}. Connection refused",
                place.host
            ),
        ),
        _ => (
            "com.mysql.cj.jdbc.exceptions.CommunicationsException",
            "08S01".to_owned(),
            0,
            "Communications link failure\n\nThe last packet sent successfully to the server was 0 milliseconds \
             ago. The driver has not received any packets from the server."
                .to_owned(),
        ),
    };
    Exception {
        class,
        state: Some(state),
        number,
        message,
        is_lost: true,
    }
}

/// The class of an error.
fn class(state: &str, number: u16, driver: Driver) -> &'static str {
    let is_mariadb = driver == Driver::MariaDb;
    match (state.get(..2).unwrap_or_default(), number) {
        ("70", _) if is_mariadb => "java.sql.SQLTimeoutException",
        (_, 1205 | 1213) if !is_mariadb => {
            "com.mysql.cj.jdbc.exceptions.MySQLTransactionRollbackException"
        }
        ("0A", _) => "java.sql.SQLFeatureNotSupportedException",
        ("22" | "26" | "2F" | "20" | "42" | "XA", _) if is_mariadb => {
            "java.sql.SQLSyntaxErrorException"
        }
        ("22", _) => "com.mysql.cj.jdbc.exceptions.MysqlDataTruncation",
        ("42", _) => "java.sql.SQLSyntaxErrorException",
        ("25" | "28", _) if is_mariadb => "java.sql.SQLInvalidAuthorizationSpecException",
        ("21" | "23", _) => "java.sql.SQLIntegrityConstraintViolationException",
        ("08", _) => "java.sql.SQLNonTransientConnectionException",
        ("40", _) if is_mariadb => "java.sql.SQLTransactionRollbackException",
        ("HY", _) if is_mariadb => "java.sql.SQLException",
        _ => "java.sql.SQLException",
    }
}

/// A parameter as it stands in a statement.
fn literal(argument: &Argument, out: &mut String) {
    match argument {
        Argument::Null(_) => out.push_str("NULL"),
        Argument::Int(value) => out.push_str(&value.to_string()),
        Argument::Long(value) => out.push_str(&value.to_string()),
        Argument::Short(value) => out.push_str(&value.to_string()),
        Argument::Float(value) => out.push_str(&java::float(*value)),
        Argument::Double(value) => out.push_str(&java::double(*value)),
        Argument::Decimal(text) => out.push_str(text),
        Argument::Bool(value) => out.push_str(if *value { "1" } else { "0" }),
        Argument::Text(text)
        | Argument::Date(text)
        | Argument::Time(text)
        | Argument::Timestamp(text) => escaped(text, out),
        Argument::Bytes(bytes) => {
            out.push_str("_binary x'");
            bytes
                .iter()
                .for_each(|byte| out.push_str(&format!("{byte:02x}")));
            out.push('\'');
        }
    }
}

fn escaped(text: &str, out: &mut String) {
    out.push('\'');
    for character in text.chars() {
        if matches!(character, '\'' | '\\' | '"') {
            out.push('\\');
        }
        match character {
            '\0' => out.push_str("\\0"),
            other => out.push(other),
        }
    }
    out.push('\'');
}

/// The value of a column as its object prints; `None`: `NULL`.
fn text(cell: &Cell, column: &Column, driver: Driver) -> Option<String> {
    use ColumnType as T;
    let Cell::Bytes(bytes) = cell else {
        return match cell {
            Cell::NULL => None,
            other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
        };
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    Some(match column.column_type() {
        T::MYSQL_TYPE_TINY if column.column_length() == 1 && is_signed(column) => {
            (text != "0").to_string()
        }
        T::MYSQL_TYPE_BIT if column.column_length() == 1 => {
            (bytes.first().is_some_and(|byte| *byte != 0)).to_string()
        }
        T::MYSQL_TYPE_FLOAT => java::float(text.parse().ok()?),
        T::MYSQL_TYPE_DOUBLE => java::double(text.parse().ok()?),
        T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL => java::decimal(&text),
        T::MYSQL_TYPE_DATE | T::MYSQL_TYPE_NEWDATE if text.starts_with("0000") => return None,
        T::MYSQL_TYPE_DATETIME if driver == Driver::MySql => java::local_date_time(&text),
        T::MYSQL_TYPE_DATETIME | T::MYSQL_TYPE_TIMESTAMP => match text.starts_with("0000") {
            true => return None,
            false => java::timestamp_of_text(&text),
        },
        T::MYSQL_TYPE_TIME => text.split('.').next().unwrap_or_default().to_owned(),
        T::MYSQL_TYPE_YEAR => format!("{text}-01-01"),
        _ => text,
    })
}

fn is_signed(column: &Column) -> bool {
    !column.flags().contains(ColumnFlags::UNSIGNED_FLAG) && column.character_set() == BINARY
}
