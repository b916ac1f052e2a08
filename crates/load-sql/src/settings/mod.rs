//! Changes settings of a database server for a time, and puts them back.
//!
//! ```text
//! look (what is there) ─► note (a locked file) ─► apply a profile … apply another ─► put back ─► no note
//!                            └ killed here: the next program finds the note, and puts back
//! ```
//!
//! PostgreSQL: ALTER SYSTEM and a reload; what a restart would need is refused before anything is changed. What
//! was there is the text of `postgresql.auto.conf`, and it is there again afterwards, byte by byte. MariaDB:
//! SET GLOBAL, which a restart of the server forgets.

mod mariadb;
mod postgres;
mod profile;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sokudo_model::{Refusal, Text};
use sokudo_net::files::Note;
use sokudo_sql::{Engine, Session, SqlError, Target};
use sokudo_workload::refusal::{failed, operator};
use tokio::runtime::Runtime;

pub(crate) use self::profile::keeps_commits;
pub use self::profile::{Profile, profiles, unsafe_ones};
use crate::db::{CONNECT, block_on, refused, runtime};

/// Prefix of the names of the notes.
const BEGINNING: &str = "settings-";
/// Longest time for one change of all settings.
const BOUND: Duration = Duration::from_secs(60);

/// All settings after a change, as one text: `fsync=on wal_level=replica`.
pub fn listed_words(applied: &[Applied]) -> String {
    let all = applied.iter();
    let all: Vec<String> = all
        .map(|one| format!("{}={}", one.name, one.value))
        .collect();
    all.join(" ")
}

/// A setting as the server has it after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Its name.
    pub name: String,
    /// Its value, as the server writes it.
    pub value: String,
}

/// State with which the next program puts settings back.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Before {
    dsn: String,
    names: BTreeSet<String>,
    state: State,
}

/// The settings as they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum State {
    /// The text of `postgresql.auto.conf`.
    Postgres(String),
    /// The global variables.
    MariaDb(BTreeMap<String, String>),
}

/// Reason why settings are not changed.
enum Wrong {
    Sql(SqlError),
    Says(Text),
}

impl From<SqlError> for Wrong {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

/// Settings of a server that are changed until this is released or dropped.
pub struct HeldSettings {
    runtime: Runtime,
    target: Target,
    before: Before,
    /// Until everything is put back.
    note: Option<Note>,
}

impl HeldSettings {
    /// Looks at the settings of all profiles, and notes in `folder` how they are.
    ///
    /// Errors: a setting cannot be changed while the server runs, or the user may not; the note cannot be written.
    pub fn hold(target: &Target, profiles: &[Profile], folder: &Path) -> Result<Self, Refusal> {
        let settings = profiles.iter().flat_map(|profile| profile.settings.keys());
        let names: BTreeSet<String> = settings.cloned().collect();
        let runtime = runtime()?;
        let state = bounded(&runtime, target, async {
            let mut session = Session::connect(target, CONNECT).await?;
            match target.engine() {
                Engine::Postgres => {
                    Ok(State::Postgres(postgres::look(&mut session, &names).await?))
                }
                Engine::MySql => Ok(State::MariaDb(mariadb::look(&mut session, &names).await?)),
                Engine::Sqlite | Engine::DuckDb => {
                    Err(Wrong::Says(Text::new("error-settings-engine")))
                }
            }
        })?;
        let before = Before {
            dsn: target.secret_text().to_owned(),
            names,
            state,
        };
        let path = folder.join(format!("{BEGINNING}{}.json", std::process::id()));
        let note = write(&path, &before)?;
        Ok(Self {
            runtime,
            target: target.clone(),
            before,
            note: Some(note),
        })
    }

    /// Gives the server the settings of a profile, and those that it does not name as they were before. Returns
    /// what the server then has.
    ///
    /// Errors: the server refuses a value, or something else decides about it.
    pub fn apply(&self, profile: &Profile) -> Result<Vec<Applied>, Refusal> {
        let (target, names) = (&self.target, &self.before.names);
        bounded(&self.runtime, target, async {
            match &self.before.state {
                State::Postgres(file) => postgres::apply(target, names, file, profile).await,
                State::MariaDb(values) => mariadb::apply(target, values, profile).await,
            }
        })
    }

    /// Puts everything back.
    ///
    /// Errors: the server does not answer, or has not what it had: the note stays for the next program.
    pub fn release(mut self) -> Result<(), Refusal> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Refusal> {
        let Some(note) = self.note.take() else {
            return Ok(());
        };
        put_back(&self.runtime, &self.target, &self.before)?;
        note.remove();
        Ok(())
    }
}

impl Drop for HeldSettings {
    fn drop(&mut self) {
        // Who wants to know releases it; the note stays when this fails.
        let _ = self.end();
    }
}

/// Settings of a program that was killed.
pub struct Recovered {
    /// The server.
    pub server: String,
    /// Whether they are put back; if not, the next program tries again.
    pub put_back: Result<(), Refusal>,
}

/// Puts back what programs had changed that were killed; their notes are in `folder`.
pub fn recover(folder: &Path) -> Vec<Recovered> {
    let left = Note::left(folder, BEGINNING).into_iter();
    left.filter_map(|(note, text)| {
        let Ok(before) = serde_json::from_str::<Before>(&text) else {
            note.remove();
            return None;
        };
        let target = before.dsn.parse::<Target>().ok()?;
        let put_back = runtime().and_then(|runtime| put_back(&runtime, &target, &before));
        if put_back.is_ok() {
            note.remove();
        }
        Some(Recovered {
            server: target.to_string(),
            put_back,
        })
    })
    .collect()
}

fn put_back(runtime: &Runtime, target: &Target, before: &Before) -> Result<(), Refusal> {
    bounded(runtime, target, async {
        match &before.state {
            State::Postgres(file) => postgres::restore(target, &before.names, file).await,
            State::MariaDb(values) => mariadb::restore(target, values).await,
        }
    })
}

fn write(path: &Path, before: &Before) -> Result<Note, Refusal> {
    let text = serde_json::to_string(before).map_err(std::io::Error::from);
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and(text).and_then(|text| Note::write(path, &text));
    written.map_err(|error| {
        let says = Text::new("error-settings-note");
        let says = says.word("file", path.display().to_string());
        failed(says.with("error", error), None)
    })
}

fn bounded<T>(
    runtime: &Runtime,
    target: &Target,
    work: impl Future<Output = Result<T, Wrong>>,
) -> Result<T, Refusal> {
    let done = block_on(runtime, async { tokio::time::timeout(BOUND, work).await });
    let done = done.unwrap_or_else(|_| Err(Wrong::Sql(SqlError::timeout())));
    done.map_err(|wrong| match wrong {
        Wrong::Sql(error) => refused(target, &error),
        Wrong::Says(says) => operator(says, Text::new("error-settings-hint")),
    })
}

/// Names as a list of SQL literals; they hold no quotes.
fn listed(names: &BTreeSet<String>) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    match quoted.is_empty() {
        true => "''".into(),
        false => quoted.join(", "),
    }
}

/// A literal of SQL.
fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// Text columns of all rows.
async fn texts<const N: usize>(
    session: &mut Session,
    sql: &str,
) -> Result<Vec<[String; N]>, SqlError> {
    let statement = session.prepare(sql).await?;
    let mut rows = Vec::new();
    session
        .query(&statement, &[], |row| {
            let mut texts = std::array::from_fn(|_| String::new());
            for (at, text) in texts.iter_mut().enumerate() {
                if !row.is_null(at)? {
                    *text = row.text(at)?.into_owned();
                }
            }
            rows.push(texts);
            Ok(())
        })
        .await?;
    Ok(rows)
}

#[cfg(test)]
mod tests;
