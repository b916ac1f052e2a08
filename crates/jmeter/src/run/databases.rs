//! Statements of a plan on databases: what is asked for, and what becomes of the answer.
//!
//! ```text
//! element ─ begin ─► DatabaseCall ─► the holder of the connections
//! user ◄─ variables, result ─ finish ─ DatabaseAnswer ◄─┘
//! ```

use super::calls::Call;
use super::context::View;
use super::local_samplers::LocalSample;
use crate::expression::{Template, World as _};
use crate::plan::{ConfigKind, DatabaseQuery, Id};
use crate::script::{LogLevel, ScriptSample};

/// Longest text of a result, bytes.
const MOST_TEXT_BYTES: usize = 64 << 20;

/// A call of a user on a database.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseCall {
    /// The pool, by its configuration element.
    pub database: Id,
    /// Number of the user among all of the test.
    pub user: u64,
    /// The task.
    pub action: DatabaseAction,
}

/// Task on a connection.
#[derive(Debug, Clone, PartialEq)]
pub enum DatabaseAction {
    /// A statement is executed.
    Execute(Execution),
    /// The transaction is committed.
    Commit,
    /// It is rolled back.
    Rollback,
    /// Each statement is a transaction of its own from now on, or not.
    AutoCommit(bool),
    /// Nothing: this is thrown.
    Throw(Thrown),
}

/// A statement that is executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// Its text.
    pub sql: String,
    /// Its parameters; `None`: it is not a prepared statement.
    pub parameters: Option<Vec<Parameter>>,
    /// Its expected result.
    pub expects: Expects,
    /// Most rows that are read; `None`: all.
    pub most_rows: Option<usize>,
    /// Longest time, seconds; 0: unbounded.
    pub timeout_s: u32,
}

/// A parameter of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its text; `None`: `NULL`.
    pub value: Option<String>,
    /// Its type, as the plan writes it.
    pub kind: String,
}

/// Expected result of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expects {
    /// Rows.
    Rows,
    /// A count.
    Count,
    /// Either, and several of them.
    Anything,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseAnswer {
    /// Moment at which there was a connection, or at which it was known that there would be none: nanoseconds
    /// of the monotonic clock.
    pub connected_ns: i64,
    /// True if there was one.
    pub was_connected: bool,
    /// End of the statement's execution, same clock.
    pub answered_ns: i64,
    /// Moment at which its rows had been read, same clock.
    pub end_ns: i64,
    /// Its result; empty where none was expected.
    pub outcome: Result<Vec<Given>, Thrown>,
}

impl DatabaseAnswer {
    /// The answer where the connections are not held any more.
    pub fn nobody(now_ns: i64) -> Self {
        unanswered(now_ns, Thrown::sql("the connections are closed"))
    }
}

/// Result of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// Rows with the labels of their columns; `None`: `NULL`.
    Rows(Vec<String>, Vec<Vec<Option<String>>>),
    /// Number of rows that it changed.
    Count(i64),
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown {
    /// Its class.
    pub class: String,
    /// SQLSTATE and number of a `SQLException`; `None`: it is another.
    pub sql: Option<(Option<String>, i32)>,
    /// Its message.
    pub message: String,
}

impl Thrown {
    fn sql(message: impl Into<String>) -> Self {
        Self {
            class: "java.sql.SQLException".into(),
            sql: Some((None, 0)),
            message: message.into(),
        }
    }

    /// `toString` of the exception.
    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.class, self.message)
    }

    fn code(&self) -> String {
        match &self.sql {
            Some((state, number)) => format!("{} {number}", state.as_deref().unwrap_or("null")),
            None => "000".into(),
        }
    }
}

/// A call that was begun.
#[derive(Debug, Clone)]
pub(super) struct BegunCall {
    database: Id,
    start_ns: i64,
    form: Form,
    variables: String,
    sampler_data: String,
}

/// Layout of a result's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it was given.
    Plain,
    /// Each part on a line of its own.
    Lines,
    /// The same, with the heading of output parameters.
    WithOutput,
    /// This word.
    Word(&'static str),
}

/// Begins the call of an element: the user's next action is to make it. Errors: what it throws at once.
pub(super) fn begin(
    view: &mut View<'_>,
    name: &Template,
    query: &DatabaseQuery,
) -> Result<BegunCall, Thrown> {
    let pool = view.text(&query.pool);
    let text = view.text(&query.text);
    let query_type = view.text(&query.query_type);
    let (arguments, types) = (view.text(&query.arguments), view.text(&query.types));
    let most_rows = view.text(&query.most_rows).trim().parse::<i64>();
    let timeout_s = view.text(&query.timeout_s).trim().parse::<i64>();
    let mut begun = BegunCall {
        database: 0,
        start_ns: view.now_ns(),
        form: Form::Plain,
        variables: view.text(&query.variables),
        sampler_data: format!("[{query_type}] {text}\n{arguments}\n{types}"),
    };
    if pool.trim().is_empty() {
        return Err(Thrown {
            class: "java.lang.IllegalArgumentException".into(),
            sql: None,
            message: format!(
                "Name for DataSoure must not be empty in {}",
                view.text(name)
            ),
        });
    }
    begun.database = *view.test().databases.get(&pool).ok_or_else(|| {
        Thrown::sql(format!(
            "No pool found named: '{pool}', ensure Variable Name matches Variable Name of JDBC Connection \
             Configuration"
        ))
    })?;
    let parameters = || parameters(view, &arguments, &types);
    let execute = |expects, parameters| {
        DatabaseAction::Execute(Execution {
            sql: text.clone(),
            parameters,
            expects,
            most_rows: most_rows
                .clone()
                .ok()
                .and_then(|most| usize::try_from(most).ok()),
            timeout_s: timeout_s
                .clone()
                .map_or(0, |s| u32::try_from(s).unwrap_or(0)),
        })
    };
    let prepared = |expects| match parameters() {
        Ok(parameters) => execute(expects, Some(parameters)),
        Err(thrown) => DatabaseAction::Throw(thrown),
    };
    let (action, form) = match query_type.as_str() {
        "Select Statement" => (execute(Expects::Rows, None), Form::Plain),
        "Update Statement" => (execute(Expects::Count, None), Form::Plain),
        "Prepared Select Statement" => (prepared(Expects::Rows), Form::Plain),
        "Prepared Update Statement" => (prepared(Expects::Count), Form::Lines),
        "Callable Statement" => (prepared(Expects::Anything), Form::WithOutput),
        "Commit" => (DatabaseAction::Commit, Form::Word("Commit")),
        "Rollback" => (DatabaseAction::Rollback, Form::Word("Rollback")),
        "AutoCommit(true)" => (
            DatabaseAction::AutoCommit(true),
            Form::Word("AutoCommit(true)"),
        ),
        "AutoCommit(false)" => (
            DatabaseAction::AutoCommit(false),
            Form::Word("AutoCommit(false)"),
        ),
        other => (
            DatabaseAction::Throw(Thrown {
                class: "java.lang.UnsupportedOperationException".into(),
                sql: None,
                message: format!("Unexpected query type: {other}"),
            }),
            Form::Plain,
        ),
    };
    begun.form = form;
    view.thread.call = Some(Call::Database(Box::new(DatabaseCall {
        database: begun.database,
        user: view.thread.serial(),
        action,
    })));
    Ok(begun)
}

/// The parameters of a prepared statement.
fn parameters(view: &View<'_>, arguments: &str, types: &str) -> Result<Vec<Parameter>, Thrown> {
    if arguments.trim().is_empty() {
        return Ok(Vec::new());
    }
    let null = view
        .test()
        .settings
        .properties
        .get("jdbcsampler.nullmarker");
    let null = null.unwrap_or("]NULL[");
    let arguments = cells(arguments);
    let mut types: Vec<&str> = types.split(',').collect();
    // As Java splits, without empty texts at the end.
    while types.len() > 1 && types.last().is_some_and(|last| last.is_empty()) {
        types.pop();
    }
    if arguments.len() != types.len() {
        return Err(Thrown::sql(format!(
            "number of arguments ({}) and number of types ({}) are not equal",
            arguments.len(),
            types.len()
        )));
    }
    let pairs = arguments.into_iter().zip(types);
    let pairs = pairs.map(|(argument, kind)| Parameter {
        value: (argument != null).then_some(argument),
        kind: kind.split(' ').next_back().unwrap_or_default().to_owned(),
    });
    Ok(pairs.collect())
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut found, mut cell) = (Vec::new(), String::new());
    let mut rest = line.chars().peekable();
    let mut is_quoted = false;
    while let Some(character) = rest.next() {
        match character {
            '"' if is_quoted && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if cell.is_empty() => is_quoted = true,
            ',' if !is_quoted => found.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => break,
            '\r' if !is_quoted && rest.peek() == Some(&'\n') => {}
            other => cell.push(other),
        }
    }
    found.push(cell);
    found
}

/// The result of a sampler whose call was answered, or could not be begun; its variables are set.
pub(super) fn result(
    view: &mut View<'_>,
    begun: Option<&BegunCall>,
    answer: &DatabaseAnswer,
) -> LocalSample {
    let (test, start_ns) = (
        view.test(),
        begun.map_or(view.now_ns(), |begun| begun.start_ns),
    );
    let mut sample = ScriptSample {
        label: view.thread.label().to_owned(),
        code: "200".into(),
        message: "OK".into(),
        content_type: "text/plain".into(),
        data_type: Some("text"),
        sampler_data: begun.map_or(String::new(), |begun| begun.sampler_data.clone()),
        latency_ms: test.between_ms(start_ns, answer.answered_ns),
        connect_ms: test.between_ms(start_ns, answer.connected_ns),
        success: true,
        ..ScriptSample::default()
    };
    if let Some(begun) = begun.filter(|_| answer.was_connected) {
        sample.headers = connection_info(view, begun.database);
    }
    match finish(view, begun, answer) {
        Ok(text) => sample.text = text,
        Err(thrown) => {
            sample.code = thrown.code();
            sample.message = thrown.text();
            sample.text = thrown.message;
            sample.success = false;
        }
    }
    LocalSample {
        start_ns,
        end_ns: answer.end_ns,
        elapsed_ms: None,
        url: "null".into(),
        connected_ns: answer.connected_ns,
        answered_ns: Some(answer.answered_ns),
        phase: if answer.was_connected { "" } else { "connect" },
        sample,
    }
}

/// The answer to a call that could not be begun.
pub(super) fn unanswered(now_ns: i64, thrown: Thrown) -> DatabaseAnswer {
    DatabaseAnswer {
        connected_ns: now_ns,
        was_connected: false,
        answered_ns: now_ns,
        end_ns: now_ns,
        outcome: Err(thrown),
    }
}

/// Sets the variables of a processor whose call was answered.
pub(super) fn processed(
    view: &mut View<'_>,
    (name, begun): (&Template, &BegunCall),
    answer: &DatabaseAnswer,
) {
    if let Err(thrown) = finish(view, Some(begun), answer) {
        tell(view, name, &thrown);
    }
}

/// Logs what a processor threw; its user goes on.
pub(super) fn tell(view: &mut View<'_>, name: &Template, thrown: &Thrown) {
    let name = view.text(name);
    let what = match thrown.sql {
        Some(_) => "SQL",
        None => "Execution",
    };
    let says = format!("{what} Problem in  {name}: {}", thrown.text());
    view.test().sink.trouble(&says);
    let logger = "org.apache.jmeter.protocol.jdbc.processor.AbstractJDBCProcessor";
    view.log(LogLevel::Warn, logger, &says);
}

/// Sets the variables that an answer gives; the text of the result.
fn finish(
    view: &mut View<'_>,
    begun: Option<&BegunCall>,
    answer: &DatabaseAnswer,
) -> Result<String, Thrown> {
    let given = answer.outcome.as_ref().map_err(Clone::clone)?;
    let Some(begun) = begun else {
        return Ok(String::new());
    };
    if let Form::Word(word) = begun.form {
        return Ok(word.into());
    }
    let mut text = String::new();
    for part in given {
        match part {
            Given::Count(count) => {
                text.push_str(&format!("{count} updates"));
                text.push_str(if begun.form == Form::Plain { "" } else { ".\n" });
            }
            Given::Rows(columns, rows) => {
                write_rows(columns, rows, &mut text)?;
                set_variables(view, &begun.variables, (columns.len(), rows));
                text.push_str(if begun.form == Form::Plain { "" } else { "\n" });
            }
        }
    }
    if begun.form == Form::WithOutput {
        text.push_str("Output variables by position:\n");
    }
    Ok(text)
}

/// Rows as lines of columns between tabs, the labels first.
fn write_rows(
    columns: &[String],
    rows: &[Vec<Option<String>>],
    out: &mut String,
) -> Result<(), Thrown> {
    let labels = columns.iter().map(|label| label.as_str());
    line(labels, out);
    for row in rows {
        line(
            row.iter().map(|cell| cell.as_deref().unwrap_or("null")),
            out,
        );
        if out.len() > MOST_TEXT_BYTES {
            return Err(Thrown {
                class: "java.lang.OutOfMemoryError".into(),
                sql: None,
                message: format!("the result has more than {} MiB", MOST_TEXT_BYTES >> 20),
            });
        }
    }
    Ok(())
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, out: &mut String) {
    let mut is_first = true;
    for cell in cells {
        if !is_first {
            out.push('\t');
        }
        is_first = false;
        out.push_str(cell);
    }
    if !is_first {
        out.push('\n');
    }
}

/// `NAME_1`, `NAME_2` … and `NAME_#` of the columns that have a variable.
fn set_variables(
    view: &mut View<'_>,
    names: &str,
    (columns, rows): (usize, &[Vec<Option<String>>]),
) {
    for (column, name) in names.split(',').map(str::trim).enumerate() {
        if name.is_empty() {
            continue;
        }
        for (row, number) in rows.iter().zip(1..).filter(|_| column < columns) {
            let variable = format!("{name}_{number}");
            match &row[column] {
                Some(value) => view.thread.set(&variable, value),
                None => drop(view.thread.remove(&variable)),
            }
        }
        let count = format!("{name}_#");
        let before = view.variable(&count).and_then(|text| text.parse().ok());
        for number in rows.len() + 1..=before.unwrap_or(0) {
            view.thread.remove(&format!("{name}_{number}"));
        }
        view.thread.set(&count, &rows.len().to_string());
    }
}

/// The connection as JMeter shows it in the place of response headers.
fn connection_info(view: &View<'_>, database: Id) -> String {
    let ConfigKind::Database(database) = &view.test().plan.configs[database as usize].kind else {
        return String::new();
    };
    let user = match database.user.as_str() {
        "" => "null",
        user => user,
    };
    format!(
        "shared:{}, driver:{}, url:{}, user:{user}",
        database.connections > 0,
        database.driver_class,
        database.url
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_as_csv() {
        for (line, expected) in [
            ("1", vec!["1"]),
            ("1,,a b", vec!["1", "", "a b"]),
            ("\"a,b\",\"say \"\"x\"\"\"", vec!["a,b", "say \"x\""]),
            ("a,", vec!["a", ""]),
            (" a", vec![" a"]),
        ] {
            assert_eq!(cells(line), expected, "{line}");
        }
    }
}
