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
  sokudo rr hostb --knee streams=1..64                 any closed load can be raised so
  sokudo knee plan.jmx --param THREAD_NUMBER=1..60 --protect   limits of a sokudo target, tried

The users double until they bring little more, the levels around the knee are added, and then all are
run once more on the way down and the decisive ones a third time: at most 12 levels and 29 runs.
The answer is that of the rule, with an interval over the runs; the report has all rules.";

/// The load of a web server or a test plan with more and more users: where requests begin to queue.
///
/// A short form of `sokudo http TARGET --knee …` and `sokudo jmx run TARGET --knee …`; every option
/// of theirs can follow.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct KneeArgs {
    /// A URL or a plan (.jmx), what is raised (`--param NAME=LOW..HIGH`), the rule (`--rule`), and
    /// options of the load.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TARGET [--param NAME=LOW..HIGH] [--rule RULE] [OPTION]"
    )]
    words: Vec<String>,
}

/// Connections of a web server when nothing else was said.
const USUAL_RANGE: &str = "connections=1..256";
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
    let is_plan = target.to_ascii_lowercase().ends_with(".jmx");
    let load = if is_plan {
        &[kinds::jmx::KIND.name, "run"][..]
    } else {
        &[kinds::http::KIND.name]
    };
    let mut out: Vec<String> = load.iter().map(|word| (*word).to_owned()).collect();
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
    if !has_range && is_plan {
        return Err(Failure::operator(
            Text::new("error-knee-no-param"),
            Text::new("error-knee-no-param-hint"),
        ));
    }
    if !has_range {
        out.extend(["--knee", USUAL_RANGE].map(str::to_owned));
    }
    if !has_duration && !is_plan {
        out.extend(["--duration", USUAL_DURATION].map(str::to_owned));
    }
    Ok(out)
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
    }

    #[test]
    fn what_names_no_target_or_no_range_is_refused() {
        assert!(as_load(&["--rule".into()]).is_err());
        assert!(as_load(&["plan.jmx".into()]).is_err());
    }
}
