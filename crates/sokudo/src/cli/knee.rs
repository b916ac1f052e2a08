//! `sokudo knee`: with how many users requests begin to queue.

use clap::Args;
use sokudo_model::{Text, kinds};

use super::{Exit, Failure, parsed};

/// Examples after the help.
pub const EXAMPLES: &str = "\
Examples:
  sokudo knee http://hostb:8080/                       1 to 256 connections
  sokudo knee http://hostb:8080/ --param connections=1..64 --rule cpu80
  sokudo knee http://hostb:8080/ --param connections=1..500 --rule slo --slo 'p95<50ms'
  sokudo knee plan.jmx --param THREAD_NUMBER=1..200 -J SUSTAIN=10
  sokudo knee postgres://bench@hostb/bench             1 to 64 clients of tpcb, in tables of sokudo db init
  sokudo knee postgres://bench@hostb/bench -c 64 --param pool=1..64   the sessions that 64 clients share
  sokudo rr hostb --knee streams=1..64                 any closed load can be raised so
  sokudo knee plan.jmx --param THREAD_NUMBER=1..60 --protect   limits of a sokudo target, tried

The users double until they bring little more, the levels around the knee are added, and then all are
run once more on the way down and the decisive ones a third time: at most 12 levels and 29 runs.
The answer is that of the rule, with an interval over the runs; the report has all rules.";

/// The load of a web server, a database or a test plan with more and more users: where requests begin to queue.
///
/// A short form of `sokudo http TARGET --knee …`, `sokudo tpcb --target TARGET --knee …` and
/// `sokudo jmx run TARGET --knee …`; every option of theirs can follow.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct KneeArgs {
    /// A URL, a database (its DSN) or a plan (.jmx), what is raised (`--param NAME=LOW..HIGH`), the rule (`--rule`), and
    /// options of the load.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TARGET [--param NAME=LOW..HIGH] [--rule RULE] [OPTION]"
    )]
    words: Vec<String>,
}

/// Schemes of the data source names of databases.
const DATABASES: [&str; 5] = ["postgres", "postgresql", "mysql", "mariadb", "sqlite"];
/// Duration of each run when nothing else was said, seconds.
const USUAL_DURATION: &str = "5s";

/// Carries it out as the load that it stands for.
pub fn run(args: &KneeArgs) -> Result<Exit, Failure> {
    let words = as_load(&args.words)?;
    super::run(parsed(&words)?)
}

/// The command line of the load.
fn as_load(words: &[String]) -> Result<Vec<String>, Failure> {
    let Some((target, options)) = words.split_first().filter(|(t, _)| !t.starts_with('-')) else {
        return Err(Failure::operator(
            Text::new("error-knee-no-target"),
            Text::new("error-knee-no-target-hint"),
        ));
    };
    let kind = Target::of(target);
    let mut out: Vec<String> = kind.load().iter().map(|word| (*word).to_owned()).collect();
    out.push(target.clone());
    let renamed = options
        .iter()
        .map(|word| match word.strip_prefix("--param") {
            Some(rest) if rest.is_empty() || rest.starts_with('=') => format!("--knee{rest}"),
            _ => word.clone(),
        });
    out.extend(renamed);
    let says = |names: &[&str]| {
        let is = |word: &String| {
            names
                .iter()
                .any(|name| word == name || word.starts_with(&format!("{name}=")))
        };
        out.iter().any(is)
    };
    let (has_range, has_duration) = (says(&["--knee"]), says(&["-d", "--duration"]));
    let Some(usual_range) = kind.usual_range() else {
        return match has_range {
            true => Ok(out),
            false => Err(Failure::operator(
                Text::new("error-knee-no-param"),
                Text::new("error-knee-no-param-hint"),
            )),
        };
    };
    if !has_range {
        out.extend(["--knee", usual_range].map(str::to_owned));
    }
    if !has_duration {
        out.extend(["--duration", USUAL_DURATION].map(str::to_owned));
    }
    Ok(out)
}

/// Kind of what is loaded.
#[derive(Debug, Clone, Copy)]
enum Target {
    Plan,
    Database,
    WebServer,
}

impl Target {
    fn of(target: &str) -> Self {
        let scheme = target
            .split(':')
            .next()
            .filter(|it| it.len() < target.len());
        let is_plan = target.to_ascii_lowercase().ends_with(".jmx");
        match scheme {
            Some(scheme) if DATABASES.contains(&scheme) => Self::Database,
            _ if is_plan => Self::Plan,
            _ => Self::WebServer,
        }
    }

    /// Words of the load in front of the target.
    fn load(self) -> &'static [&'static str] {
        match self {
            Self::Plan => &[kinds::jmx::KIND.name, "run"],
            Self::Database => &[kinds::tpcb::KIND.name, "--target"],
            Self::WebServer => &[kinds::http::KIND.name],
        }
    }

    /// What is raised when nothing else was said; a plan names its own property.
    fn usual_range(self) -> Option<&'static str> {
        match self {
            Self::Plan => None,
            Self::Database => Some("clients=1..64"),
            Self::WebServer => Some("connections=1..256"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(typed: &str) -> String {
        let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        as_load(&words).unwrap().join(" ")
    }

    #[test]
    fn targets_become_their_loads() {
        assert_eq!(
            told("http://hostb/ --rule cpu80"),
            "http http://hostb/ --rule cpu80 --knee connections=1..256 --duration 5s"
        );
        assert_eq!(
            told("plan.jmx --param=THREAD_NUMBER=1..9 -J SUSTAIN=5"),
            "jmx run plan.jmx --knee=THREAD_NUMBER=1..9 -J SUSTAIN=5"
        );
        assert_eq!(
            told("postgres://bench@hostb/bench"),
            "tpcb --target postgres://bench@hostb/bench --knee clients=1..64 --duration 5s"
        );
        assert_eq!(
            told("sqlite:own.db -c 16 --param pool=1..16 -d 1s"),
            "tpcb --target sqlite:own.db -c 16 --knee pool=1..16 -d 1s"
        );
        // A host may have the name of a database.
        assert!(told("mysql/page").starts_with("http mysql/page "));
    }

    #[test]
    fn what_names_no_target_or_no_range_is_refused() {
        assert!(as_load(&["--rule".into()]).is_err());
        assert!(as_load(&["plan.jmx".into()]).is_err());
    }
}
