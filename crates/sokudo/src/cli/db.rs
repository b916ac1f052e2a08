//! `sokudo db`: the tables of loads on databases, made, checked and kept up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use sokudo_i18n::I18n;
use sokudo_load_sql::db::{self, How, Tables, Upkeep};
use sokudo_load_sql::dbt3::Scale;
use sokudo_load_sql::dump::{self, Compared, Dump, Limit, Restored};
use sokudo_load_sql::target_text::TargetText;
use sokudo_model::{Text, Unit};
use sokudo_workload::values::Span;

use super::finish::LangOption;
use super::{Exit, Failure, interrupted, stop_flag};

/// Most branches or warehouses.
const MOST_SCALE: u32 = 20_000;

/// Make, check and keep up the tables of a load on a database.
#[derive(Debug, Args)]
pub struct DbArgs {
    #[command(subcommand)]
    command: DbCommand,
}

#[derive(Debug, Subcommand)]
enum DbCommand {
    Init(InitArgs),
    Check(CheckArgs),
    Ops(OpsArgs),
}

/// A workload with tables.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Workload {
    /// Debit and credit: scale counts branches, about 15 MB each
    Tpcb,
    /// Web shop: scale counts units of 2,880 customers, about 20 MB at 1
    Dbt1,
    /// Order entry: scale counts warehouses, about 100 MB each
    Dbt2,
    /// Decision support: scale is the scale factor, about 1 GB at 1
    Dbt3,
}

impl Workload {
    /// A scale in the unit of the tables.
    ///
    /// Errors: the tables have no such scale.
    fn scale(self, text: &str) -> Result<u32, Failure> {
        let refused = |key: &str, most: u32| {
            let hint = Text::new("error-db-scale-hint").with("most", most);
            Failure::operator(Text::new(key).word("scale", text), hint)
        };
        match self {
            Self::Tpcb | Self::Dbt1 | Self::Dbt2 => match text.parse::<u32>() {
                Ok(scale @ 1..=MOST_SCALE) => Ok(scale),
                _ => Err(refused("error-db-scale", MOST_SCALE)),
            },
            Self::Dbt3 => match text.parse::<Scale>() {
                Ok(scale) => Ok(scale.hundredths()),
                Err(_) => Err(refused("error-db-scale-factor", 1000)),
            },
        }
    }

    fn tables(self) -> Tables {
        match self {
            Self::Tpcb => Tables::Tpcb,
            Self::Dbt1 => Tables::Dbt1,
            Self::Dbt2 => Tables::Dbt2,
            Self::Dbt3 => Tables::Dbt3,
        }
    }
}

/// Make the tables of a load on a database anew, and fill them.
///
/// Tables of the workload that are there are dropped: tpcb_branches, tpcb_tellers, tpcb_accounts and tpcb_history,
/// or those whose names begin with dbt1_, dbt2_ or dbt3_.
#[derive(Debug, Args)]
struct InitArgs {
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`; for dbt3 also `duckdb:FILE`,
    /// where it is built in.
    #[arg(long, value_name = "DSN")]
    target: TargetText,

    /// The load that the tables are for.
    #[arg(short, long, value_enum, default_value_t = Workload::Tpcb)]
    workload: Workload,

    /// Branches (tpcb), units of 2,880 customers (dbt1), warehouses (dbt2) or scale factor (dbt3, from 0.01 on).
    #[arg(short, long, value_name = "N", default_value = "1")]
    scale: String,

    #[command(flatten)]
    language: LangOption,
}

/// Check what must hold in the tables of a load on a database: the sums of tpcb, the 8 conditions of
/// dbt1, the 12 of dbt2, or the rows, relations and checksums of dbt3.
///
/// Exit code 1 when they do not.
#[derive(Debug, Args)]
struct CheckArgs {
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`; for dbt3 also `duckdb:FILE`,
    /// where it is built in.
    #[arg(long, value_name = "DSN")]
    target: TargetText,

    /// The load that the tables are for.
    #[arg(short, long, value_enum, default_value_t = Workload::Tpcb)]
    workload: Workload,

    #[command(flatten)]
    language: LangOption,
}

/// Carries it out.
pub fn run(args: DbArgs) -> Result<Exit, Failure> {
    match args.command {
        DbCommand::Init(args) => init(&args),
        DbCommand::Check(args) => check(&args),
        DbCommand::Ops(args) => ops(&args),
    }
}

fn init(args: &InitArgs) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let scale = args.workload.scale(&args.scale)?;
    let loaded = db::init(&args.target.0, args.workload.tables(), scale)?;
    let seconds = begun.elapsed().as_secs_f64();
    let rows = loaded.rows as f64;
    let says = Text::new("db-init-done")
        .with("target", &args.target)
        .number("rows", rows, Unit::One)
        .number("seconds", seconds, Unit::Seconds)
        .number("rate", rows / seconds.max(1e-9), Unit::PerSecond);
    println!("{}", I18n::new(args.language.lang()).text(&says));
    Ok(Exit::Fine)
}

/// Something that is done to tables from time to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Op {
    /// Make the indexes anew
    Reindex,
    /// Give back the room of rows that are gone
    Vacuum,
    /// Count rows, so that plans know the sizes
    Analyze,
    /// Dump the tables into a temporary file
    Dump,
    /// Restore that dump into a scratch database, and compare it
    Restore,
}

/// Time what is done to tables from time to time: indexes made anew, room given back, rows counted, tables dumped and
/// restored.
///
/// PostgreSQL: reindex, vacuum, analyze, pg_dump, pg_restore. MariaDB and MySQL: alter table force, optimize, analyze,
/// mariadb-dump or mysqldump, mariadb or mysql. SQLite: reindex, vacuum of the whole file, analyze, online backup of the
/// whole file and back. Dumps lie in a private folder below TMPDIR, and are restored into a scratch database beside the
/// source. Both are removed afterwards.
///
/// Exit code 1 when a restored table is not as in the source.
#[derive(Debug, Args)]
struct OpsArgs {
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`; for dbt3 also `duckdb:FILE`,
    /// where it is built in.
    #[arg(long, value_name = "DSN")]
    target: TargetText,

    /// The load that the tables are for.
    #[arg(short, long, value_enum, default_value_t = Workload::Tpcb)]
    workload: Workload,

    /// What is done, in this order.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "reindex,vacuum,analyze"
    )]
    only: Vec<Op>,

    /// Longest time of a dump, and of a restore with its comparison.
    #[arg(long, value_name = "TIME", default_value = "1h")]
    timeout: Span,

    #[command(flatten)]
    language: LangOption,
}

fn ops(args: &OpsArgs) -> Result<Exit, Failure> {
    let place = |op| args.only.iter().position(|it| *it == op);
    if place(Op::Restore).is_some_and(|at| place(Op::Dump).is_none_or(|dump| at < dump)) {
        let says = Text::new("error-db-restore-alone");
        return Err(Failure::operator(
            says,
            Text::new("error-db-restore-alone-hint"),
        ));
    }
    // Without a dump nothing is left behind, and Ctrl-C ends at once.
    let stop = match place(Op::Dump) {
        Some(_) => stop_flag()?,
        None => Arc::default(),
    };
    let mut upkeep = Operations {
        args,
        said: I18n::new(args.language.lang()),
        stop: &stop,
        dump: None,
        exit: Exit::Fine,
    };
    for op in &args.only {
        if stop.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        upkeep.carry_out(*op)?;
    }
    Ok(upkeep.exit)
}

/// What is done to the tables, one after the other.
struct Operations<'a> {
    args: &'a OpsArgs,
    said: I18n,
    stop: &'a AtomicBool,
    dump: Option<Dump<'a>>,
    exit: Exit,
}

impl Operations<'_> {
    fn carry_out(&mut self, op: Op) -> Result<(), Failure> {
        match op {
            Op::Reindex => self.keep_up("reindex", Upkeep::Reindex),
            Op::Vacuum => self.keep_up("vacuum", Upkeep::Vacuum),
            Op::Analyze => self.keep_up("analyze", Upkeep::Analyze),
            Op::Dump => self.dump(),
            Op::Restore => self.restore(),
        }
    }

    fn keep_up(&self, name: &str, upkeep: Upkeep) -> Result<(), Failure> {
        let begun = Instant::now();
        db::upkeep(&self.args.target.0, self.args.workload.tables(), upkeep)?;
        let says = Text::new("db-ops-done").word("op", name);
        self.tell(says, Some(begun.elapsed()));
        Ok(())
    }

    fn dump(&mut self) -> Result<(), Failure> {
        let limit = Limit {
            stop: self.stop,
            bound: Duration::from_nanos(self.args.timeout.0),
        };
        let (target, tables) = (&self.args.target.0, self.args.workload.tables());
        let dump = dump::dump(target, tables, limit)?;
        let says = Text::new("db-ops-dump").number("bytes", dump.bytes as f64, Unit::Bytes);
        self.tell(says, Some(dump.took));
        self.dump = Some(dump);
        Ok(())
    }

    fn restore(&mut self) -> Result<(), Failure> {
        let Some(dump) = &self.dump else {
            return Ok(());
        };
        let Restored { took, tables } = dump.restore()?;
        let rows: u64 = tables.iter().map(|table| table.restored.rows).sum();
        let says = Text::new("db-ops-restore")
            .number("rows", rows as f64, Unit::One)
            .number("tables", tables.len() as f64, Unit::One);
        self.tell(says, Some(took));
        let different: Vec<&Compared> = tables.iter().filter(|it| !it.is_same()).collect();
        for table in &different {
            self.tell(difference(table), None);
        }
        match different.is_empty() {
            true => self.tell(Text::new("db-ops-restore-same"), None),
            false => {
                self.tell(Text::new("db-ops-restore-different"), None);
                self.exit = Exit::CheckFailed;
            }
        }
        Ok(())
    }

    fn tell(&self, says: Text, took: Option<Duration>) {
        let says = says.with("target", &self.args.target);
        let says = match took {
            Some(took) => says.number("seconds", took.as_secs_f64(), Unit::Seconds),
            None => says,
        };
        println!("{}", self.said.text(&says));
    }
}

/// How a restored table differs from the source.
fn difference(table: &Compared) -> Text {
    let sum = |sum: u64| format!("{sum:016x}");
    Text::new("db-ops-restore-table")
        .word("table", table.table)
        .with("rows", table.restored.rows)
        .word("sum", sum(table.restored.sum))
        .with("source-rows", table.source.rows)
        .word("source-sum", sum(table.source.sum))
}

fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let checked = db::check(&args.target.0, args.workload.tables())?;
    let said = I18n::new(args.language.lang());
    for broken in &checked.broken {
        let says = match broken.how {
            How::Sides(left, right) => Text::new("db-check-broken")
                .with("left", left)
                .with("right", right),
            How::Rows(rows) => {
                Text::new("db-check-broken-rows").number("rows", rows as f64, Unit::One)
            }
        };
        let says = says.word("condition", &broken.condition);
        println!("{}", said.text(&says));
    }
    let says = Text::new("db-check-done")
        .number("kept", checked.kept.into(), Unit::One)
        .number("broken", checked.broken.len() as f64, Unit::One);
    println!("{}", said.text(&says));
    Ok(match checked.broken.is_empty() {
        true => Exit::Fine,
        false => Exit::CheckFailed,
    })
}
