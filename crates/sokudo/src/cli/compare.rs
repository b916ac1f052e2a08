//! `sokudo compare`: the figures of recorded runs beside each other.

use std::path::PathBuf;

use clap::Args;
use sokudo_analyze::compare::{Comparison, Order, compare};
use sokudo_i18n::TextError;
use sokudo_model::units::ratio;
use sokudo_model::{Record, RunStatus, Text};
use sokudo_report::compare::{self as shown, Sides};
use sokudo_stats::compare::MAX_RUNS;

use super::finish::ShowOptions;
use super::profiles::ProfilesArgs;
use super::records::resolve;
use super::screen::{escapes, shown_path, width};
use super::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  sokudo rr hostb --repeat 5                         before a change …
  sokudo rr hostb --repeat 5                         … and after it
  sokudo compare 2026-11-20T13 latest                what became better or worse?
  sokudo compare a1,a2,a3,a4 b1,b2,b3,b4             single runs as two groups
  sokudo compare old new --min-effect 2% --json      for a script: exit code 1 when something is worse
  sokudo compare --profiles default,lazy -- tpcb --target DSN -c 16   settings of a server, in turns

The first side is what the others are compared with. A difference is told as better or worse when its
interval holds no 0 with a confidence of 95 %, and it is as large as --min-effect; four runs of each
side are needed for that. Shares of losses and errors must differ by a tenth of a point.

--profiles measures by itself: each round has every profile once and the first one twice, in an order
that is drawn. Differences are those within the rounds, and six rounds are needed; what the first one
differs from itself does not count as a difference of the others. The settings are changed while the
server runs (ALTER SYSTEM and a reload; SET GLOBAL), and put back afterwards, also by the next command
after this one was killed; those that need a restart are refused.";

/// Compare recorded runs of the same load: what is better, worse, or shows no difference.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// Runs to compare, two or more: name, beginning or end of it, `latest`, or a path; several with
    /// commas are one group. With --profiles: the load, behind `--`.
    #[arg(value_name = "RUN[,RUN…]", required = true, num_args = 2..)]
    pub(super) runs: Vec<String>,

    #[command(flatten)]
    pub(super) profiles: ProfilesArgs,

    /// Smallest difference of a rate or a time that counts: `5%` or `0.05`.
    #[arg(long, value_name = "RATIO", default_value = "5%", value_parser = parse_effect)]
    pub(super) min_effect: f64,

    /// File to write a page to, with the curves of both sides over each other.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) show: ShowOptions,
}

fn parse_effect(text: &str) -> Result<f64, TextError> {
    ratio(text).ok_or_else(|| TextError::value("error-value-effect", text))
}

/// One side: its name, and its records.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) records: Vec<Record>,
}

/// Sides at most: each has a letter.
const SIDES_MAX: usize = 26;

/// `sokudo compare`.
pub fn run(args: CompareArgs) -> Result<Exit, Failure> {
    if args.profiles.are_asked() {
        return super::profiles::run(&args);
    }
    if args.runs.len() > SIDES_MAX {
        return Err(Failure::operator(
            Text::new("error-compare-sides").with("sides", args.runs.len()),
            Text::new("error-compare-many-hint").with("most", SIDES_MAX),
        ));
    }
    let sides: Vec<Side> = args
        .runs
        .iter()
        .map(|runs| side(runs))
        .collect::<Result<_, _>>()?;
    let Some((before, others)) = sides.split_first() else {
        return Ok(Exit::Fine);
    };
    let comparisons = others.iter().map(|after| {
        let compared = compared(before, after, Order::Apart, args.min_effect)?;
        Ok((compared, args.min_effect))
    });
    let comparisons = comparisons.collect::<Result<Vec<_>, Failure>>()?;
    present(before, others, &comparisons, &args)
}

/// Shows what the comparisons of the first side with the others say, each with the least difference that counts.
pub(super) fn present(
    before: &Side,
    others: &[Side],
    comparisons: &[(Comparison, f64)],
    args: &CompareArgs,
) -> Result<Exit, Failure> {
    let letters = shown::letters();
    let all: Vec<Sides<'_>> = others
        .iter()
        .zip(comparisons)
        .zip(&letters)
        .map(|((after, (all, least)), letter)| Sides {
            before: &before.name,
            after: &after.name,
            letters: ["A", letter],
            records: [&before.records[0], &after.records[0]],
            all,
            least: *least,
        })
        .collect();
    let lang = args.show.lang();
    if args.show.json {
        println!("{:#}", shown::json(&all));
    } else {
        let width = width();
        print!(
            "{}",
            shown::terminal(&all, lang, escapes(&std::io::stdout()), width)
        );
    }
    if let Some(file) = &args.output {
        std::fs::write(file, shown::html(&all, lang))
            .map_err(|error| Failure::cannot_write(file, &error))?;
        if !args.show.json {
            println!("\n  report  {}", shown_path(file));
        }
    }
    match all.iter().any(Sides::is_worse) {
        true => Ok(Exit::CheckFailed),
        false => Ok(Exit::Fine),
    }
}

fn side(runs: &str) -> Result<Side, Failure> {
    let mut records = Vec::new();
    for run in runs.split(',') {
        let path = resolve(run)?;
        let record = sokudo_store::load(&path)?;
        if record.manifest.status != RunStatus::Ok {
            return Err(Failure::operator(
                Text::new("error-compare-partial").with("run", &record.manifest.id),
                Text::new("error-compare-partial-hint"),
            ));
        }
        records.push(record);
    }
    let name = match records.as_slice() {
        [one] => one.manifest.id.0.clone(),
        _ => runs.to_owned(),
    };
    Ok(Side { name, records })
}

/// Compares two sides; a difference below `least` is none.
pub(super) fn compared(
    before: &Side,
    after: &Side,
    order: Order,
    least: f64,
) -> Result<Comparison, Failure> {
    let records = |side: &'_ Side| -> Vec<Record> { side.records.clone() };
    let (one, other) = (records(before), records(after));
    let one: Vec<&Record> = one.iter().collect();
    let other: Vec<&Record> = other.iter().collect();
    let unlike = || {
        let loads = |side: &Side| {
            let names = side
                .records
                .iter()
                .map(|record| record.manifest.workload.as_str());
            let distinct: std::collections::BTreeSet<&str> = names.collect();
            distinct.into_iter().collect::<Vec<_>>().join(", ")
        };
        Failure::operator(
            Text::new("error-compare-unlike")
                .with("before", loads(before))
                .with("after", loads(after)),
            Text::new("error-compare-unlike-hint"),
        )
    };
    let all = compare(&one, &other, order, least).ok_or_else(unlike)?;
    let figures = all.loads.iter().flat_map(|load| &load.figures);
    match figures.map(|it| it.before.n.max(it.after.n)).max() {
        Some(runs) if runs > MAX_RUNS => Err(Failure::operator(
            Text::new("error-compare-many").with("runs", runs),
            Text::new("error-compare-many-hint").with("most", MAX_RUNS),
        )),
        _ => Ok(all),
    }
}
