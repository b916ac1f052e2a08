//! Dumps of a workload's tables, restored beside the source and compared with it.
//!
//! ```text
//! tables ── pg_dump · mariadb-dump · online backup ──► private folder
//!                                                         │ pg_restore · mariadb · online backup
//! tables ◄── rows and checksums compared ──► scratch database, dropped afterwards
//! ```
//!
//! The dump is of the workload's tables only; of SQLite, it is of the whole file. The private folder and the scratch
//! database are gone when the [`Dump`] is, also after a failure and when it was stopped.

mod compare;
mod mysql;
mod postgres;
mod program;
mod scratch;
mod watch;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sokudo_model::{Refusal, Text, Unit};
use sokudo_sql::{Class, Engine, Session, SqlError, Target};
use sokudo_workload::refusal::{failed, operator};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::db::{CONNECT, Tables, find, no_tables, refused, runtime};
pub use compare::Compared;
use program::Programs;
use scratch::Scratch;
pub use watch::Limit;
use watch::{Watch, Wrong};

/// Name of the dump in its folder.
const DUMP: &str = "dump";

/// A dump of a workload's tables.
pub struct Dump<'a> {
    target: &'a Target,
    tables: Tables,
    limit: Limit<'a>,
    folder: TempDir,
    programs: Programs,
    /// Time that the dump took.
    pub took: Duration,
    /// Bytes of the dump.
    pub bytes: u64,
}

/// Result of a restore.
pub struct Restored {
    /// Time that the restore took, without the comparison.
    pub took: Duration,
    /// The tables, each as it is in the source and as it was restored.
    pub tables: Vec<Compared>,
}

/// Dumps the tables of a workload.
///
/// Errors: there are no such tables, a program is missing or fails, the limit is reached.
pub fn dump<'a>(target: &'a Target, tables: Tables, limit: Limit<'a>) -> Result<Dump<'a>, Refusal> {
    let telling = |wrong| told(target, tables, wrong);
    let watch = limit.watch();
    let runtime = runtime()?;
    let looked = watch.until(&runtime, look(target, tables));
    let (product, is_encrypted) = looked.map_err(telling)?;
    let folder = private_folder().map_err(|error| telling(Wrong::Io(error)))?;
    let programs = Programs::of(target, &product, is_encrypted, folder.path());
    let mut dump = Dump {
        target,
        tables,
        limit,
        folder,
        programs: programs.map_err(|error| telling(Wrong::Io(error)))?,
        took: Duration::ZERO,
        bytes: 0,
    };
    dump.took = dump.write(&watch).map_err(telling)?;
    let written = std::fs::metadata(dump.file());
    dump.bytes = written.map_err(|error| telling(Wrong::Io(error)))?.len();
    Ok(dump)
}

/// Looks for the tables; returns the product, and whether the session is encrypted.
async fn look(target: &Target, tables: Tables) -> Result<(String, bool), SqlError> {
    let mut session = Session::connect(target, CONNECT).await?;
    find(&mut session, tables.names()).await?;
    Ok((session.version().await?, session.is_encrypted()))
}

/// A folder that only this user can enter.
fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("sokudo-dump-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

impl Dump<'_> {
    fn file(&self) -> PathBuf {
        self.folder.path().join(DUMP)
    }

    fn write(&self, watch: &Watch<'_>) -> Result<Duration, Wrong> {
        let (tables, file) = (self.tables.names(), self.file());
        match self.target.engine() {
            Engine::Postgres => postgres::dump(&self.programs, tables, &file, watch),
            Engine::MySql => {
                let database = self.target.database().unwrap_or_default();
                mysql::dump(&self.programs, database, tables, &file, watch)
            }
            Engine::Sqlite => copy(self.target, &file, watch),
            Engine::DuckDb => Err(Wrong::Engine),
        }
    }

    /// Restores the dump into a scratch database, and compares its tables with those of the source.
    ///
    /// Errors: a program is missing or fails, the limit is reached, the scratch database cannot be made or dropped.
    pub fn restore(&self) -> Result<Restored, Refusal> {
        let watch = self.limit.watch();
        let runtime = runtime()?;
        let restored = match self.target.engine() {
            Engine::Sqlite => self.restore_file(&runtime, &watch),
            Engine::DuckDb => Err(Wrong::Engine),
            Engine::Postgres | Engine::MySql => self.restore_on_server(&runtime, &watch),
        };
        restored.map_err(|wrong| told(self.target, self.tables, wrong))
    }

    fn restore_file(&self, runtime: &Runtime, watch: &Watch<'_>) -> Result<Restored, Wrong> {
        let (from, to) = (of_file(&self.file())?, self.folder.path().join("restored"));
        let took = copy(&from, &to, watch)?;
        let restored = of_file(&to)?;
        let sessions = async {
            let source = Session::connect(self.target, CONNECT).await?;
            Ok((source, Session::connect(&restored, CONNECT).await?))
        };
        let sessions = watch.until(runtime, sessions)?;
        let tables = compare::compare(runtime, watch, self.tables.names(), sessions)?;
        Ok(Restored { took, tables })
    }

    fn restore_on_server(&self, runtime: &Runtime, watch: &Watch<'_>) -> Result<Restored, Wrong> {
        let scratch = Scratch::of(self.target);
        let restored = match scratch.create(runtime, watch) {
            Ok(()) => self.restore_into(&scratch, runtime, watch),
            Err(refused @ Wrong::Scratch(_)) => return Err(refused),
            // The server may have made it all the same.
            Err(over) => Err(over),
        };
        scratch.drop_it(runtime)?;
        restored
    }

    fn restore_into(
        &self,
        scratch: &Scratch<'_>,
        runtime: &Runtime,
        watch: &Watch<'_>,
    ) -> Result<Restored, Wrong> {
        let file = self.file();
        let took = match self.target.engine() {
            Engine::Postgres => postgres::restore(&self.programs, scratch.name(), &file, watch)?,
            Engine::MySql | Engine::Sqlite | Engine::DuckDb => {
                mysql::restore(&self.programs, scratch.name(), &file, watch)?
            }
        };
        let sessions = async {
            let source = Session::connect(self.target, CONNECT).await?;
            let copy = Session::connect_to(self.target, scratch.name(), CONNECT).await?;
            Ok((source, copy))
        };
        let sessions = watch.until(runtime, sessions)?;
        let tables = compare::compare(runtime, watch, self.tables.names(), sessions)?;
        Ok(Restored { took, tables })
    }
}

/// Copies the file of SQLite while others may use it.
fn copy(from: &Target, to: &Path, watch: &Watch<'_>) -> Result<Duration, Wrong> {
    let begun = Instant::now();
    let file = from.file().unwrap_or(Path::new(""));
    match sokudo_sql::copy(file, to, || watch.goes_on()).map_err(Wrong::Sql)? {
        true => Ok(begun.elapsed()),
        false => Err(watch.over()),
    }
}

fn of_file(path: &Path) -> Result<Target, Wrong> {
    let target = format!("sqlite:{}", path.display()).parse();
    target.map_err(|error| Wrong::Io(std::io::Error::other(error)))
}

/// Refusal for an error of a dump or a restore.
fn told(target: &Target, tables: Tables, wrong: Wrong) -> Refusal {
    let of = |key: &str| Text::new(key).with("target", target);
    match wrong {
        Wrong::Stopped => failed(Text::new("error-interrupted"), None),
        Wrong::TooLong(bound) => failed(
            of("error-dump-long").number("bound", bound.as_secs_f64(), Unit::Seconds),
            Some(Text::new("error-dump-long-hint")),
        ),
        Wrong::Io(error) => failed(
            Text::new("error-dump-io").with("error", error),
            Some(Text::new("error-dump-io-hint")),
        ),
        Wrong::Engine => operator(of("error-dump-engine"), Text::new("error-dump-engine-hint")),
        Wrong::Missing(program, package) => operator(
            Text::new("error-dump-missing").word("program", program),
            Text::new("error-dump-missing-hint").word("package", package),
        ),
        Wrong::Program(program, says) => failed(
            of("error-dump-program")
                .word("program", program)
                .word("why", says),
            Some(Text::new("error-dump-program-hint")),
        ),
        Wrong::Scratch(error) => operator(
            of("error-dump-scratch").with("why", error),
            Text::new("error-dump-scratch-hint"),
        ),
        Wrong::Left(name, error) => failed(
            of("error-dump-left").word("name", &name).with("why", error),
            Some(Text::new("error-dump-left-hint").word("name", name)),
        ),
        Wrong::Sql(error) if error.class == Class::Undefined => {
            no_tables(target, tables.workload(), &error)
        }
        Wrong::Sql(error) => refused(target, &error),
    }
}
