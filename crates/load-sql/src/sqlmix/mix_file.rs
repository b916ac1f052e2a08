//! Mixes in TOML: named transactions with weights, parameters that are drawn, statements.
//!
//! ```toml
//! [[transaction]]
//! name = "transfer"
//! weight = 20
//! isolation = "serializable"      # or "default", "read-only"
//! parameter = [
//!   { name = "from", uniform = [1, 1000] },
//!   { name = "to", zipfian = [1, 1000, 1.2] },
//! ]
//! statement = [
//!   { sql = "select balance from account where id = :from", capture = ["balance"], rows = 1 },
//!   { sql = "update account set balance = :balance - 1 where id = :from", rows = 1 },
//! ]
//! ```
//!
//! Several statements are one transaction of the database, unless `autocommit = true`.

use serde::Deserialize;
use sokudo_sql::Begin;
use toml::{Spanned, Value};

use super::draw::Distribution;
use super::expression::{Function, Node, parse as parse_expression};
use super::program::{Capture, Names, Step, Variable, is_name, transaction_step};
use super::scalar::Scalar;
use super::script::statement;
use super::sql_text::{Cut, scan};
use super::wrong::Wrong;

/// Longest text that is drawn.
const MOST_LETTERS: i64 = 10_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    transaction: Vec<Spanned<Entry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default = "one")]
    weight: u64,
    #[serde(default)]
    isolation: Isolation,
    #[serde(default)]
    autocommit: bool,
    #[serde(default)]
    parameter: Vec<Spanned<Parameter>>,
    statement: Vec<Spanned<Sql>>,
}

fn one() -> u64 {
    1
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Isolation {
    #[default]
    Default,
    Serializable,
    ReadOnly,
}

/// A parameter, with one of the ways to draw it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameter {
    name: String,
    uniform: Option<[Number; 2]>,
    exponential: Option<(i64, i64, f64)>,
    gaussian: Option<(i64, i64, f64)>,
    zipfian: Option<(i64, i64, f64)>,
    /// The first number, and how far it goes each time.
    sequence: Option<[i64; 2]>,
    /// Least and most letters.
    text: Option<[i64; 2]>,
    choice: Option<Vec<Value>>,
    expression: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Number {
    Int(i64),
    Float(f64),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sql {
    sql: String,
    rows: Option<Rows>,
    #[serde(default)]
    capture: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Rows {
    Exactly(u64),
    Between([u64; 2]),
}

/// A transaction of a file.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) weight: u64,
    pub(super) steps: Vec<Step>,
}

/// The transactions of a file.
///
/// Errors: the first thing that is wrong or not known.
pub(super) fn parse(text: &str, names: &mut Names) -> Result<Vec<Named>, Wrong> {
    let line_at = |offset: usize| 1 + text[..offset].matches('\n').count() as u32;
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| line_at(span.start.min(text.len())));
        Wrong::at(line, "error-sqlmix-toml", error.message())
    })?;
    let entries = file.transaction.into_iter();
    let named = entries.map(|entry| {
        let line = line_at(entry.span().start);
        transaction(entry.into_inner(), line, &line_at, names)
    });
    let named = named.collect::<Result<Vec<_>, _>>()?;
    match named.is_empty() {
        true => Err(Wrong::new(1, "error-sqlmix-empty")),
        false => Ok(named),
    }
}

fn transaction(
    entry: Entry,
    line: u32,
    line_at: &impl Fn(usize) -> u32,
    names: &mut Names,
) -> Result<Named, Wrong> {
    if entry.statement.is_empty() {
        return Err(Wrong::new(line, "error-sqlmix-empty"));
    }
    let mut steps = Vec::new();
    for parameter in entry.parameter {
        let line = line_at(parameter.span().start);
        steps.push(drawn(&parameter.into_inner(), line, names)?);
    }
    let begin = match entry.isolation {
        Isolation::Serializable => Some(Begin::Serializable),
        Isolation::ReadOnly => Some(Begin::Read),
        Isolation::Default if entry.statement.len() > 1 => Some(Begin::Write),
        Isolation::Default => None,
    };
    let begin = begin.filter(|_| !entry.autocommit);
    steps.extend(begin.map(Step::Begin));
    for sql in entry.statement {
        let line = line_at(sql.span().start);
        steps.push(executed(sql.into_inner(), line, names)?);
    }
    steps.extend(begin.map(|_| Step::Commit));
    Ok(Named {
        name: entry.name,
        weight: entry.weight,
        steps,
    })
}

fn executed(sql: Sql, line: u32, names: &mut Names) -> Result<Step, Wrong> {
    let scanned = scan(&sql.sql, false, names);
    let rest = sql.sql[scanned.length..].trim_start_matches(';').trim();
    let is_block = || transaction_step(&sql.sql[scanned.lead..scanned.length]).is_some();
    match scanned.cut {
        Cut::Open => return Err(Wrong::at(line, "error-sqlmix-open", &sql.sql)),
        _ if scanned.is_empty() => return Err(Wrong::new(line, "error-sqlmix-empty")),
        _ if !rest.is_empty() => return Err(Wrong::at(line, "error-sqlmix-several", rest)),
        _ if is_block() => return Err(Wrong::at(line, "error-sqlmix-block", &sql.sql)),
        _ => {}
    }
    let mut statement = statement(scanned, line);
    statement.rows = match sql.rows {
        None => None,
        Some(Rows::Exactly(rows)) => Some((rows, rows)),
        Some(Rows::Between([least, most])) => Some((least, most)),
    };
    if !sql.capture.is_empty() {
        let variables = sql.capture.iter().map(|name| match is_name(name) {
            true => Ok(names.set(name)),
            false => Err(Wrong::at(line, "error-sqlmix-name", name)),
        });
        statement.capture = Capture::Columns(variables.collect::<Result<_, _>>()?);
    }
    Ok(Step::Statement(statement))
}

/// The step that draws a parameter.
fn drawn(parameter: &Parameter, line: u32, names: &mut Names) -> Result<Step, Wrong> {
    if !is_name(&parameter.name) {
        return Err(Wrong::at(line, "error-sqlmix-name", &parameter.name));
    }
    let ways = ways(parameter);
    let [way] = ways.as_slice() else {
        return Err(Wrong::at(line, "error-sqlmix-ways", &parameter.name));
    };
    let range = || Wrong::at(line, "error-sqlmix-range", &parameter.name);
    let distributed = |function, of: Distribution, least: i64, most: i64, parameter: f64| {
        // What the distribution refuses is refused before the run.
        let mut random = sokudo_pace::Random::new(0, 0);
        of.draw(&mut random, least, most).map_err(|_| range())?;
        let whole = |value| Node::Constant(Scalar::Int(value));
        let mut arguments = vec![whole(least), whole(most)];
        if function != Function::Random {
            arguments.push(Node::Constant(Scalar::Double(parameter)));
        }
        Ok(Node::Call(function, arguments))
    };
    let expression = match way {
        Way::Expression(text) => Some(parse_expression(text, line, names)?),
        Way::Uniform(Number::Int(least), Number::Int(most)) => Some(distributed(
            Function::Random,
            Distribution::Uniform,
            *least,
            *most,
            0.0,
        )?),
        Way::Distributed(function, of, (least, most, shape)) => {
            Some(distributed(*function, *of, *least, *most, *shape)?)
        }
        _ => None,
    };
    let variable = names.set(&parameter.name);
    match expression {
        Some(node) => Ok(Step::Set(variable, node)),
        None => other(way, variable).ok_or_else(range),
    }
}

/// A way to draw a parameter.
enum Way<'a> {
    Uniform(Number, Number),
    Distributed(Function, Distribution, (i64, i64, f64)),
    Sequence(i64, i64),
    Letters(i64, i64),
    Choice(&'a [Value]),
    Expression(&'a str),
}

/// The ways that a parameter names: one, when it is right.
fn ways(parameter: &Parameter) -> Vec<Way<'_>> {
    let distributed = |shape: Option<(i64, i64, f64)>, function, of: fn(f64) -> Distribution| {
        shape.map(|all| Way::Distributed(function, of(all.2), all))
    };
    [
        parameter
            .uniform
            .map(|[least, most]| Way::Uniform(least, most)),
        distributed(
            parameter.exponential,
            Function::RandomExponential,
            Distribution::Exponential,
        ),
        distributed(
            parameter.gaussian,
            Function::RandomGaussian,
            Distribution::Gaussian,
        ),
        distributed(
            parameter.zipfian,
            Function::RandomZipfian,
            Distribution::Zipfian,
        ),
        parameter
            .sequence
            .map(|[first, by]| Way::Sequence(first, by)),
        parameter
            .text
            .map(|[least, most]| Way::Letters(least, most)),
        parameter.choice.as_deref().map(Way::Choice),
        parameter.expression.as_deref().map(Way::Expression),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The step of a way other than an expression; `None` for bounds that it cannot have.
fn other(way: &Way<'_>, variable: Variable) -> Option<Step> {
    let float = |number: Number| match number {
        Number::Int(value) => value as f64,
        Number::Float(value) => value,
    };
    match way {
        Way::Uniform(least, most) => {
            let (least, most) = (float(*least), float(*most));
            let is_range = least <= most && (most - least).is_finite();
            is_range.then_some(Step::Between(variable, least, most))
        }
        Way::Sequence(first, by) => Some(Step::Sequence(variable, *first, *by)),
        Way::Letters(least, most) => (0 <= *least && least <= most && *most <= MOST_LETTERS)
            .then_some(Step::Letters(variable, *least, *most)),
        Way::Choice(values) => {
            let values: Option<Vec<Scalar>> = values.iter().map(constant).collect();
            let values = values.filter(|values| !values.is_empty())?;
            Some(Step::Choice(variable, values))
        }
        Way::Distributed(..) | Way::Expression(_) => None,
    }
}

fn constant(value: &Value) -> Option<Scalar> {
    match value {
        Value::String(text) => Some(Scalar::Text(text.as_str().into())),
        Value::Integer(value) => Some(Scalar::Int(*value)),
        Value::Float(value) => Some(Scalar::Double(*value)),
        Value::Boolean(value) => Some(Scalar::Bool(*value)),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}
