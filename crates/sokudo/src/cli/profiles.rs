//! `sokudo compare --profiles`: one load on a database with different settings of its server, in turns.
//!
//! ```text
//! look at the settings, note how they are
//! round 1: default  tuned  default (again)  other      an order that is drawn; a record per measurement
//! round 2: tuned  other  default  default (again)
//! …
//! put the settings back ─► default against default (again): what the machine itself does
//!                       └► default against each other profile: better, worse, or no difference shown
//! ```
//!
//! Each measurement is a process of this program: the load is typed as it is measured alone, and no state of one
//! reaches the next.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use clap::Args;
use serde_json::Value;
use sokudo_analyze::compare::Order;
use sokudo_analyze::profiles::{Profiles, in_turns};
use sokudo_i18n::I18n;
use sokudo_load_sql::settings::{self, Applied, HeldSettings, Profile};
use sokudo_load_sql::target_text::TargetText;
use sokudo_model::{Record, Text, Unit, kinds};
use sokudo_report::compare as shown;
use sokudo_session::random_seed;
use sokudo_stats::compare::Verdict;

use super::compare::{CompareArgs, Side, compared, present};
use super::screen::{escapes, tell};
use super::{Exit, Failure, config, stop_flag};

/// Longest file of profiles, bytes.
const FILE_MAX: u64 = 256 << 10;

/// Settings of a database server that are to be compared.
#[derive(Debug, Clone, Default, Args)]
pub struct ProfilesArgs {
    /// Compare profiles of a database server's settings instead of runs: `default,tuned`. The first one is what
    /// the others are compared with; `default` needs no entry in the file, and changes nothing.
    #[arg(
        long,
        value_name = "PROFILE,PROFILE…",
        value_delimiter = ',',
        num_args = 1
    )]
    profiles: Vec<String>,

    /// File (TOML) of the profiles: a table of `setting = value` for each.
    #[arg(
        long,
        value_name = "FILE",
        requires = "profiles",
        default_value = "profiles.toml"
    )]
    settings: PathBuf,

    /// Rounds; each measures every profile once, and the first one twice.
    #[arg(long, value_name = "N", requires = "profiles", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=50))]
    rounds: u32,

    /// Allow settings with which a crash may lose commits or damage data, such as fsync=off.
    #[arg(long, requires = "profiles")]
    allow_unsafe: bool,
}

impl ProfilesArgs {
    /// Whether profiles are to be compared, and not runs.
    pub fn are_asked(&self) -> bool {
        !self.profiles.is_empty()
    }
}

/// Carries it out.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let asked = &args.profiles;
    let i18n = I18n::new(args.show.lang());
    let target = target_of(&args.runs)?;
    let profiles = settings::profiles(&read(&asked.settings)?, &asked.profiles)?;
    if profiles.len() < 2 {
        return Err(Failure::operator(
            Text::new("error-profiles-few"),
            Text::new("error-profiles-few-hint"),
        ));
    }
    for says in settings::unsafe_ones(&profiles, asked.allow_unsafe)? {
        warn(&says, &i18n);
    }
    let stop = stop_flag()?;
    let held = HeldSettings::hold(&target.0, &profiles, &folder())?;
    let mut sides: Vec<Side> = sides(&profiles, &i18n);
    let measured = (|| {
        for round in 1..=asked.rounds {
            for side in drawn(sides.len()) {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let profile = &profiles[profile_of(side)];
                let applied = held.apply(profile)?;
                if round == 1 {
                    tell_applied(&i18n, &sides[side].name, &applied);
                }
                let record = match measure(&args.runs) {
                    // The process that was interrupted with this one has no result.
                    Err(_) if stop.load(Ordering::Relaxed) => return Ok(()),
                    measured => measured?,
                };
                tell_run(&i18n, (round, asked.rounds), &sides[side].name, &record);
                sides[side].records.push(record);
            }
        }
        Ok::<(), Failure>(())
    })();
    // Whatever came of the runs, the settings are put back first.
    held.release()?;
    tell(&i18n.message("compare-profiles-back", &[]));
    measured?;
    conclude(&sides, args, &i18n)
}

/// The index of a side's profile: the first one has the sides 0 and 1.
fn profile_of(side: usize) -> usize {
    side.saturating_sub(1)
}

fn sides(profiles: &[Profile], i18n: &I18n) -> Vec<Side> {
    let named = |name: String| Side {
        name,
        records: Vec::new(),
    };
    let first = profiles[0].name.as_str();
    let again = i18n.message("compare-profiles-again", &[("profile", first)]);
    let others = profiles[1..].iter().map(|profile| profile.name.clone());
    [first.to_owned(), again]
        .into_iter()
        .chain(others)
        .map(named)
        .collect()
}

/// The sides of a round, in an order that is drawn.
fn drawn(sides: usize) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = (0..sides).map(|side| (random_seed(), side)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, side)| side).collect()
}

/// The database that the load is for. Errors: the words do not ask for a load on a database server.
fn target_of(words: &[String]) -> Result<TargetText, Failure> {
    let wrong = || {
        Failure::operator(
            Text::new("error-profiles-load"),
            Text::new("error-profiles-load-hint"),
        )
    };
    let is_load = words
        .first()
        .is_some_and(|word| kinds::find(word).is_some());
    let mut behind = words.iter().skip_while(|word| *word != "--target").skip(1);
    let joined = || words.iter().find_map(|word| word.strip_prefix("--target="));
    let typed = behind.next().map(String::as_str).or_else(joined);
    let typed = typed.filter(|_| is_load).ok_or_else(wrong)?;
    typed.parse::<TargetText>().map_err(|_| wrong())
}

fn read(file: &Path) -> Result<String, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::operator(
            Text::new("error-profiles-read")
                .word("file", file.display().to_string())
                .with("error", error),
            Text::new("error-profiles-hint"),
        )
    };
    sokudo_workload::text_file::read_text(file, FILE_MAX).map_err(cannot)
}

/// Tells in red what a crash may cost with the settings in force.
pub fn warn(says: &Text, i18n: &I18n) {
    let (red, plain) = match escapes(&std::io::stderr()) {
        true => ("\x1b[31m", "\x1b[0m"),
        false => ("", ""),
    };
    tell(&format!("{red}{}{plain}", i18n.text(says)));
}

/// Measures once, as a process of its own, and loads its record. Errors: it did not end well.
fn measure(words: &[String]) -> Result<Record, Failure> {
    let failed = |why: String| {
        let says = Text::new("error-profiles-run").word("why", why);
        Failure::run(says, None)
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let ended = Command::new(program)
        .args(words)
        .arg("--json")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let told: Option<Value> = serde_json::from_slice(&ended.stdout).ok();
    let path = told.as_ref().and_then(|told| told["record"].as_str());
    match (ended.status.success(), path) {
        (true, Some(path)) => Ok(sokudo_store::load(Path::new(path))?),
        _ => Err(failed(
            String::from_utf8_lossy(&ended.stderr).trim().to_owned(),
        )),
    }
}

fn tell_applied(i18n: &I18n, side: &str, applied: &[Applied]) {
    let says = Text::new("compare-profiles-applied")
        .word("profile", side)
        .word("settings", settings::listed_words(applied));
    tell(&i18n.text(&says));
}

fn tell_run(i18n: &I18n, (round, rounds): (u32, u32), side: &str, record: &Record) {
    let carried = record.manifest.phases.last().and_then(|phase| {
        let metric = phase.kind()?.curve?.delivered;
        Some((metric.of(&phase.result.summary)?, metric.unit))
    });
    let (rate, unit) = carried.unwrap_or((f64::NAN, Unit::One));
    let says = Text::new("compare-profiles-run")
        .number("round", round.into(), Unit::One)
        .number("rounds", rounds.into(), Unit::One)
        .word("profile", side)
        .number("rate", rate, unit);
    tell(&i18n.text(&says));
}

/// What the first profile differs from itself, and what the others differ from it beyond that.
fn conclude(sides: &[Side], args: &CompareArgs, i18n: &I18n) -> Result<Exit, Failure> {
    let [before, others @ ..] = sides else {
        return Ok(Exit::Fine);
    };
    if sides.iter().any(|side| side.records.is_empty()) {
        return Err(Failure::run(Text::new("error-profiles-interrupted"), None));
    }
    let comparisons = in_turns(others.len(), args.min_effect, |other, least| {
        compared(before, &others[other], Order::InTurns, least)
    })?;
    let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
    let found = Profiles { names, comparisons };
    tell(&i18n.text(&shown::same(&found)));
    let comparisons = &found.comparisons;
    present(before, others, comparisons, args)?;
    // The difference of the first profile from itself is not the effect of a profile.
    let of_profiles = comparisons.iter().skip(1);
    let mut figures =
        of_profiles.flat_map(|(all, _)| all.loads.iter().flat_map(|load| &load.figures));
    Ok(
        match figures.any(|figure| figure.verdict == Verdict::Worse) {
            true => Exit::CheckFailed,
            false => Exit::Fine,
        },
    )
}

/// Where the notes about changed settings lie.
pub fn folder() -> PathBuf {
    config().join("databases")
}

/// Puts back the settings of a program that was killed, and says so.
pub fn recover(i18n: &I18n) {
    for found in settings::recover(&folder()) {
        let says = match found.put_back {
            Ok(()) => Text::new("compare-profiles-recovered"),
            Err(refusal) => Text::new("compare-profiles-not-recovered").text("why", refusal.says),
        };
        tell(&i18n.text(&says.word("server", found.server)));
    }
}
