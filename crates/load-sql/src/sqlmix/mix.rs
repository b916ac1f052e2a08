//! The transactions of all files, with what they share.

use sokudo_model::{Refusal, Text};
use sokudo_workload::refusal::operator;

use super::expression::DEFAULT_SEED;
use super::file_text::FileText;
use super::program::{Form, Names, Piece, Step, Transaction};
use super::wrong::Wrong;
use super::{mix_file, script};

/// Most transactions of a mix.
pub(super) const MOST_TRANSACTIONS: usize = 100;
/// Variables that every client has.
pub(super) const SCALE: &str = "scale";
pub(super) const CLIENT: &str = "client_id";
pub(super) const SEED: &str = "random_seed";

/// A mix that can be carried out.
#[derive(Debug)]
pub struct Mix {
    /// Its transactions.
    pub transactions: Vec<Transaction>,
    /// Its variables.
    pub names: Names,
    /// Statements that each session prepares.
    pub prepared: usize,
    /// Whether it makes tables: a statement may then name one that is not there yet.
    pub makes_tables: bool,
}

/// A mix that cannot be carried out.
#[derive(Debug, Clone, PartialEq)]
pub enum NotAMix {
    /// Something in a file, by its number.
    Wrong(usize, Wrong),
    /// Nothing of it is ever drawn.
    NoWeight,
    /// More transactions than are told apart.
    TooMany,
}

impl Mix {
    /// Reads files whose texts are known; `defined` are variables that have values from the begin.
    ///
    /// Errors: the first thing that is wrong or not supported.
    pub fn read(files: &[FileText], defined: &[&str]) -> Result<Self, NotAMix> {
        let mut names = Names::default();
        for name in [SCALE, CLIENT, SEED, DEFAULT_SEED].iter().chain(defined) {
            names.set(name);
        }
        let mut transactions = Vec::new();
        for (number, file) in files.iter().enumerate() {
            names.begin_file(number);
            let read = of_file(file, number, &mut names);
            transactions.extend(read.map_err(|wrong| NotAMix::Wrong(number, wrong))?);
        }
        if let Some((file, wrong)) = names.missing() {
            return Err(NotAMix::Wrong(file, wrong));
        }
        if transactions.len() > MOST_TRANSACTIONS {
            return Err(NotAMix::TooMany);
        }
        if transactions.iter().all(|one| one.weight == 0) {
            return Err(NotAMix::NoWeight);
        }
        tell_apart(&mut transactions);
        let prepared = link(&mut transactions, &names)?;
        let makes_tables = transactions
            .iter()
            .flat_map(|one| &one.steps)
            .any(makes_tables);
        Ok(Self {
            transactions,
            names,
            prepared,
            makes_tables,
        })
    }

    /// Whether it sends statements in a pipeline, which only PostgreSQL has.
    pub(super) fn has_pipeline(&self) -> bool {
        let mut steps = self.transactions.iter().flat_map(|one| &one.steps);
        steps.any(|step| matches!(step, Step::StartPipeline))
    }

    /// Names of its transactions.
    pub fn transaction_names(&self) -> impl Iterator<Item = &str> {
        self.transactions.iter().map(|one| one.name.as_str())
    }
}

impl NotAMix {
    /// As a refusal, which names the file, the line and the construct.
    pub fn refusal(self, files: &[FileText]) -> Refusal {
        match self {
            Self::Wrong(file, wrong) => {
                let path = files.get(file).map_or("", |file| file.path.as_str());
                let hint = Text::new(wrong.hint());
                let says = Text::new("error-sqlmix-wrong")
                    .word("file", path)
                    .with("line", wrong.line)
                    .text("why", wrong.says);
                operator(says, hint)
            }
            Self::NoWeight => operator(
                Text::new("error-sqlmix-no-weight"),
                Text::new("error-sqlmix-no-weight-hint"),
            ),
            Self::TooMany => operator(
                Text::new("error-sqlmix-many").with("most", MOST_TRANSACTIONS),
                Text::new("error-sqlmix-many-hint"),
            ),
        }
    }
}

fn of_file(file: &FileText, number: usize, names: &mut Names) -> Result<Vec<Transaction>, Wrong> {
    let text = file.text.as_deref().unwrap_or_default();
    let one = |name, weight: u64, steps| Transaction {
        name,
        file: number,
        weight: weight.saturating_mul(file.weight.into()),
        steps,
    };
    if file.is_toml() {
        let named = mix_file::parse(text, names)?.into_iter();
        return Ok(named.map(|it| one(it.name, it.weight, it.steps)).collect());
    }
    let steps = script::parse(text, names)?;
    Ok(vec![one(file.stem().to_owned(), 1, steps)])
}

/// Decides how each statement is sent; returns how many are prepared.
///
/// Errors: one within a pipeline that cannot be prepared, which would be a round trip of its own.
fn link(transactions: &mut [Transaction], names: &Names) -> Result<usize, NotAMix> {
    let mut prepared = 0;
    for transaction in transactions {
        for step in &mut transaction.steps {
            let Step::Statement(statement) = step else {
                continue;
            };
            statement.link(names, &mut prepared);
            if statement.in_pipeline && statement.form == Form::Written {
                let (line, key) = (statement.line, "error-sqlmix-pipeline-written");
                return Err(NotAMix::Wrong(transaction.file, Wrong::new(line, key)));
            }
        }
    }
    Ok(prepared)
}

/// Gives transactions of the same name numbers.
fn tell_apart(transactions: &mut [Transaction]) {
    for at in 1..transactions.len() {
        let (before, rest) = transactions.split_at_mut(at);
        let Some(one) = rest.first_mut() else {
            continue;
        };
        let is_taken = |name: &str| before.iter().any(|other| other.name == name);
        let own = one.name.clone();
        let mut number = 2;
        while is_taken(&one.name) {
            one.name = format!("{own} #{number}");
            number += 1;
        }
    }
}

fn makes_tables(step: &Step) -> bool {
    let Step::Statement(statement) = step else {
        return false;
    };
    let is_plain = matches!(statement.form, Form::Plain(..) | Form::Written);
    is_plain
        && statement.pieces.iter().any(|piece| match piece {
            Piece::Text(text) => text.to_ascii_lowercase().contains("create"),
            Piece::Variable { .. } => false,
        })
}

/// Reads any text as a script and as a mix in TOML; for tests of any input.
pub fn any_text(text: &str) {
    for path in ["any.sql", "any.toml"] {
        let file = FileText {
            path: path.into(),
            weight: 1,
            text: Some(text.into()),
        };
        if let Ok(mix) = Mix::read(std::slice::from_ref(&file), &[]) {
            for transaction in &mix.transactions {
                let steps = transaction.steps.len();
                assert!(transaction.steps.iter().all(|step| match step {
                    Step::Jump(aim) | Step::Unless(_, aim) => *aim <= steps,
                    Step::Statement(one) => match &one.form {
                        Form::Prepared(..) => one.number < mix.prepared,
                        Form::Written | Form::Plain(..) => true,
                    },
                    _ => true,
                }));
            }
        }
    }
}
