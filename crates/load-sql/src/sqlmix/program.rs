//! A transaction as a list of steps, whichever kind of file it comes from.

use std::collections::BTreeMap;

use sokudo_sql::Begin;

use super::expression::Node;
use super::wrong::Wrong;

/// A variable, by its place among all of the mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable(u32);

impl Variable {
    /// Its place.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The variables of a mix by name: every client has its own of each, and all transactions share them.
#[derive(Debug, Default)]
pub struct Names {
    places: BTreeMap<String, Variable>,
    /// By place: whether something gives it a value, and the file and line that first reads it.
    known: Vec<Known>,
    /// Begins of names that results of statements may set.
    prefixes: Vec<String>,
    /// Number of the file that is being read.
    file: usize,
}

#[derive(Debug, Default)]
struct Known {
    is_set: bool,
    used: Option<(usize, u32)>,
}

impl Names {
    /// A variable, wherever its name stands.
    pub fn place(&mut self, name: &str) -> Variable {
        if let Some(known) = self.places.get(name) {
            return *known;
        }
        let next = Variable(self.known.len() as u32);
        self.known.push(Known::default());
        self.places.insert(name.to_owned(), next);
        next
    }

    /// A variable that gets a value.
    pub fn set(&mut self, name: &str) -> Variable {
        let variable = self.place(name);
        self.known[variable.index()].is_set = true;
        variable
    }

    /// A variable that must have a value at this line.
    pub fn used(&mut self, name: &str, line: u32) -> Variable {
        let variable = self.place(name);
        let used = &mut self.known[variable.index()].used;
        used.get_or_insert((self.file, line));
        variable
    }

    /// Results of statements set variables whose names begin so.
    pub(super) fn may_set(&mut self, prefix: &str) {
        self.prefixes.push(prefix.to_owned());
    }

    /// The next file is read.
    pub(super) fn begin_file(&mut self, number: usize) {
        self.file = number;
    }

    /// The variable of this name, when there is one.
    pub fn find(&self, name: &str) -> Option<Variable> {
        self.places.get(name).copied()
    }

    /// True for a name that something gives a value.
    pub(super) fn is_set(&self, name: &str) -> bool {
        let by_name = self
            .find(name)
            .is_some_and(|it| self.known[it.index()].is_set);
        by_name || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// The variables that are read and that nothing sets, by file.
    pub(super) fn missing(&self) -> Option<(usize, Wrong)> {
        self.places.iter().find_map(|(name, variable)| {
            let (file, line) = self.known[variable.index()].used?;
            let is_missing = !self.is_set(name);
            is_missing.then(|| {
                (
                    file,
                    Wrong::at(line, "error-sqlmix-variable", format!(":{name}")),
                )
            })
        })
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// True for what may name a variable: letters, digits and `_`, no digit first.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(begins_name) && chars.all(in_name)
}

pub(super) fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

pub(super) fn in_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit()
}

/// One step of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Gives a variable the value of an expression.
    Set(Variable, Node),
    /// Gives a variable a text of random letters, with a length between these.
    Letters(Variable, i64, i64),
    /// Gives a variable one of these values.
    Choice(Variable, Vec<super::scalar::Scalar>),
    /// Gives a variable a floating-point number between these.
    Between(Variable, f64, f64),
    /// Gives a variable the next number of a sequence: the first one, and how far it goes each time.
    Sequence(Variable, i64, i64),
    /// Executes a statement.
    Statement(Statement),
    /// Begins a pipeline: the statements up to its end are kept.
    StartPipeline,
    /// Sends the statements of a pipeline, and waits for the answers to all of them. It has the line of its command.
    EndPipeline(u32),
    /// Begins, ends a transaction of the database.
    Begin(Begin),
    Commit,
    Rollback,
    /// Waits: an amount in this unit, microseconds.
    Sleep(Node, u64),
    /// Goes on at another step.
    Jump(usize),
    /// Goes on at another step when the condition does not hold.
    Unless(Node, usize),
}

/// A statement of SQL.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Line on which it begins.
    pub line: u32,
    /// Its text in pieces.
    pub pieces: Vec<Piece>,
    /// Use of its rows.
    pub capture: Capture,
    /// Rows that it must change or give, at least and at most; anything else is an error.
    pub rows: Option<(u64, u64)>,
    /// Form in which it is sent; decided when all files are read.
    pub form: Form,
    /// Whether it writes, by its first word.
    pub writes: bool,
    /// Whether it stands within a pipeline.
    pub in_pipeline: bool,
    /// Whether it begins or ends a transaction of the database.
    pub block: Option<Block>,
    /// Its number among those of the mix that are prepared.
    pub number: usize,
}

/// A piece of a statement's text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// A variable, and whether it can be a parameter: not within quotes, not a part of a name.
    Variable {
        /// Its name.
        name: String,
        /// Its place.
        variable: Variable,
        /// Whether it can be a parameter.
        is_parameter: bool,
    },
}

/// Form in which a statement is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// Prepared once per session; the variables are its parameters, in this order.
    Prepared(String, Vec<Variable>),
    /// With its variables written into the text, each time anew.
    Written,
    /// As text, without parameters and rows.
    Plain(String),
}

/// Effect of a statement on the transaction block of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    Begins,
    Ends,
}

/// Use of the rows of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Capture {
    /// Nothing.
    None,
    /// One row, whose columns set the variables of their names after a prefix; any other number is an error.
    One(String),
    /// The same of the last row; without any, nothing is set.
    Last(String),
    /// The first row, whose columns set these variables in turn; without any, they have no value.
    Columns(Vec<Variable>),
}

/// A transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    /// Its name.
    pub name: String,
    /// Number of its file.
    pub file: usize,
    /// Weight in the draw, in relation to the others.
    pub weight: u64,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// First words of statements that can be prepared on every engine.
const PREPARED: [&str; 9] = [
    "select", "insert", "update", "delete", "with", "values", "table", "merge", "replace",
];

/// Those of them that write.
const WRITES: [&str; 5] = ["insert", "update", "delete", "merge", "replace"];

impl Statement {
    /// Decides how it is sent, once it is known which names are variables.
    pub(super) fn link(&mut self, names: &Names, prepared: &mut usize) {
        for piece in &mut self.pieces {
            // As in pgbench: what names no variable stays as it is.
            if let Piece::Variable { name, .. } = piece
                && !names.is_set(name)
            {
                *piece = Piece::Text(format!(":{name}"));
            }
        }
        let mut variables = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { is_parameter, .. } => Some(*is_parameter),
            Piece::Text(_) => None,
        });
        let can_prepare = variables.all(|is_parameter| is_parameter);
        let (text, parameters) = self.numbered();
        let first = first_word(&text);
        self.writes = WRITES.contains(&first.as_str());
        self.block = block(&first);
        let is_bare = parameters.is_empty() && self.capture == Capture::None && self.rows.is_none();
        self.form = if !can_prepare {
            Form::Written
        } else if is_bare && !PREPARED.contains(&first.as_str()) && !self.in_pipeline {
            Form::Plain(text)
        } else {
            self.number = *prepared;
            *prepared += 1;
            Form::Prepared(text, parameters)
        };
    }

    /// The text with `$1`, `$2`, … for its variables, each of which has one number.
    fn numbered(&self) -> (String, Vec<Variable>) {
        let (mut text, mut parameters) = (String::new(), Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Variable { variable, .. } => {
                    let known = parameters.iter().position(|known| known == variable);
                    let at = known.unwrap_or_else(|| {
                        parameters.push(*variable);
                        parameters.len() - 1
                    });
                    text.push_str(&format!("${}", at + 1));
                }
            }
        }
        (text, parameters)
    }
}

/// The first word of a statement in small letters, after comments.
fn first_word(sql: &str) -> String {
    let mut rest = sql.trim_start();
    loop {
        let after = match rest.as_bytes() {
            [b'-', b'-', ..] => rest.find('\n').map(|at| &rest[at..]),
            [b'/', b'*', ..] => rest.find("*/").map(|at| &rest[at + 2..]),
            [b'(', ..] => Some(&rest[1..]),
            _ => break,
        };
        rest = after.unwrap_or_default().trim_start();
    }
    let word = rest.split(|c: char| !in_name(c)).next();
    word.unwrap_or_default().to_ascii_lowercase()
}

fn block(first: &str) -> Option<Block> {
    match first {
        "begin" | "start" => Some(Block::Begins),
        "commit" | "end" | "rollback" | "abort" => Some(Block::Ends),
        _ => None,
    }
}

/// The step of a statement that only begins or ends a transaction, in whatever words; `None` for any other.
pub(super) fn transaction_step(sql: &str) -> Option<Step> {
    let lower = sql.trim().to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let words = match words.as_slice() {
        [first, "transaction" | "work"] => vec![*first],
        other => other.to_vec(),
    };
    match words.as_slice() {
        ["begin"] | ["start"] => Some(Step::Begin(Begin::Write)),
        ["commit" | "end"] => Some(Step::Commit),
        ["rollback" | "abort"] => Some(Step::Rollback),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_begin_and_end_in_many_words() {
        for (sql, expected) in [
            ("BEGIN", Some(Step::Begin(Begin::Write))),
            (" begin  work", Some(Step::Begin(Begin::Write))),
            ("start transaction", Some(Step::Begin(Begin::Write))),
            ("END", Some(Step::Commit)),
            ("commit transaction", Some(Step::Commit)),
            ("abort", Some(Step::Rollback)),
            ("begin isolation level serializable", None),
            ("rollback to a", None),
            ("select 1", None),
        ] {
            assert_eq!(transaction_step(sql), expected, "{sql}");
        }
        assert_eq!(first_word("-- a\n /* b */ (Select 1"), "select");
        assert_eq!(first_word("-- a"), "");
    }
}
