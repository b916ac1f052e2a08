//! `sokudo db`: the tables of loads on databases, made, checked and kept up.

use std::time::Instant;

use clap::{Args, Subcommand, ValueEnum};
use sokudo_i18n::I18n;
use sokudo_load_sql::db::{self, How, Tables, Upkeep};
use sokudo_load_sql::dbt3::Scale;
use sokudo_load_sql::target_text::TargetText;
use sokudo_model::{Text, Unit};

use super::finish::LangOption;
use super::{Exit, Failure};

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
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`.
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
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`.
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
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Op {
    /// Make the indexes anew
    Reindex,
    /// Give back the room of rows that are gone
    Vacuum,
    /// Count rows, so that plans know the sizes
    Analyze,
}

impl Op {
    fn upkeep(self) -> Upkeep {
        match self {
            Self::Reindex => Upkeep::Reindex,
            Self::Vacuum => Upkeep::Vacuum,
            Self::Analyze => Upkeep::Analyze,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reindex => "reindex",
            Self::Vacuum => "vacuum",
            Self::Analyze => "analyze",
        }
    }
}

/// Time what is done to tables from time to time: indexes made anew, room given back, rows counted.
///
/// PostgreSQL: reindex, vacuum, analyze. MariaDB and MySQL: alter table force, optimize, analyze. SQLite: reindex,
/// vacuum of the whole file, analyze.
#[derive(Debug, Args)]
struct OpsArgs {
    /// Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`.
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

    #[command(flatten)]
    language: LangOption,
}

fn ops(args: &OpsArgs) -> Result<Exit, Failure> {
    let said = I18n::new(args.language.lang());
    for op in &args.only {
        let begun = Instant::now();
        db::upkeep(&args.target.0, args.workload.tables(), op.upkeep())?;
        let says = Text::new("db-ops-done")
            .with("target", &args.target)
            .word("op", op.name())
            .number("seconds", begun.elapsed().as_secs_f64(), Unit::Seconds);
        println!("{}", said.text(&says));
    }
    Ok(Exit::Fine)
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
