//! `sokudo compat jmeter ARGS…`: JMeter's own output on stdout while a plan is executed.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, FromArgMatches};
use jiff::Zoned;
use sokudo_i18n::I18n;
use sokudo_load_http::jmx::summariser::{SummariserOptions, Summarisers};
use sokudo_load_http::jmx::{
    Finished, Generator, JmxOptions, LoadObserver, Prepared, Tallies, UsersSeen,
};
use sokudo_model::{Refusal, harmless};
use sokudo_net::clock::now_ns;
use sokudo_session::random_seed;

use super::{PlanArgs, prepare};
use crate::cli::jtl::Reported;
use crate::cli::workload::Measured;
use crate::cli::{Exit, Failure, help, language, not_understood, stop_flag};

/// Carries out a command line of the tool, with its lines on stdout.
pub fn as_jmeter(words: &[String]) -> Result<Exit, Failure> {
    let Some(mut args) = parse(words)? else {
        return Ok(Exit::Fine);
    };
    if let Some(answered) = args.tool.answer()? {
        return Ok(answered);
    }
    args.take_remote()?;
    if !args.generators.on.is_empty() {
        return elsewhere(args);
    }
    if let Some(file) = &args.report_only {
        return args.report(file, None, true).map(Reported::told);
    }
    args.check_output()?;
    args.tell_ignored()?;
    here(&args)
}

/// The options; `None`: their help was asked for, and has been printed.
fn parse(words: &[String]) -> Result<Option<PlanArgs>, Failure> {
    let told = |error: &clap::Error| not_understood(error, &["jmx".into(), "run".into()]);
    let command = clap::Command::new("jmeter").no_binary_name(true);
    let command = PlanArgs::augment_args(command).override_usage("sokudo compat jmeter [OPTIONS]");
    let command = help::in_language(command, &["jmx", "run"], help::language(words));
    // The tool's own third spelling of help.
    let words = words.iter().map(|word| match word.as_str() {
        "-?" | "--?" => "--help",
        word => word,
    });
    match command.try_get_matches_from(words) {
        Ok(matches) => PlanArgs::from_arg_matches(&matches)
            .map(Some)
            .map_err(|error| told(&error)),
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {
            print!("{error}");
            Ok(None)
        }
        Err(error) => Err(told(&error)),
    }
}

/// Other hosts execute the plan.
fn elsewhere(args: PlanArgs) -> Result<Exit, Failure> {
    let hosts = args.generators.on.join(", ");
    let now = moment();
    println!("Starting distributed test with remote engines: [{hosts}] @ {now}");
    let exit = super::run(args)?;
    println!("... end of run");
    Ok(exit)
}

/// This host executes the plan.
fn here(args: &PlanArgs) -> Result<Exit, Failure> {
    let mut options = args.options()?;
    // The tool checks no certificate, and its plans read and write everywhere.
    options.insecure = true;
    options.trusted = true;
    let seed = args.seed.unwrap_or_else(random_seed);
    let asked = SummariserOptions::of(&options.all_properties());
    if let Some(name) = asked.name.as_ref().filter(|_| asked.out) {
        println!("Creating summariser <{name}>");
    }
    let Some(prepared) = prepare(&options, &[], seed, args.show.lang())? else {
        return Ok(Exit::OperatorError);
    };
    let plan = options.plan.display();
    println!("Created the tree successfully using {plan}");
    args.clear_results()?;
    let stop = stop_flag()?;
    println!("Starting standalone test @ {}", moment());
    let summarisers = || Mutex::new(Summarisers::new(&asked, &prepared.plan));
    let lines = Lines(asked.out.then(summarisers));
    let finished = execute(&prepared, (&options, seed), lines, &stop)?;
    println!("Tidying up ...    @ {}", moment());
    for (what, count) in &finished.troubles {
        eprintln!("  ! {} ({count})", harmless(what));
    }
    let i18n = I18n::new(language());
    for problem in &finished.problems {
        eprintln!("  ! {}", harmless(&i18n.text(problem)));
    }
    println!("... end of run");
    let whole = finished.problems.is_empty() && finished.lost_rows == 0;
    let exit = if whole { Exit::Fine } else { Exit::RunFailed };
    args.report_after(&Measured::Early(exit))
}

/// Executes the plan with this seed to its end, or until `stop`, and prints how it goes on.
fn execute(
    prepared: &Prepared,
    (options, seed): (&JmxOptions, u64),
    lines: Lines,
    stop: &AtomicBool,
) -> Result<Finished, Refusal> {
    let lines = Arc::new(lines);
    let listener: Arc<dyn LoadObserver> = lines.clone();
    let started = Generator::start(prepared, options, (now_ns(), seed), listener, || {});
    let finished = started.map_err(Refusal::from)?.finish_or(stop)?;
    lines.end();
    Ok(finished)
}

/// A moment as the tool writes it: `2026 Nov 21 15:07:55 UTC (1795273675000)`.
fn moment() -> String {
    let now = Zoned::now();
    let text = now.strftime("%Y %b %d %H:%M:%S %Z");
    format!("{text} ({})", now.timestamp().as_millisecond())
}

/// Prints the tool's lines as the test goes on, where they are asked for.
struct Lines(Option<Mutex<Summarisers>>);

impl Lines {
    fn print(&self, says: impl FnOnce(&mut Summarisers) -> Vec<String>) {
        let Some(summarisers) = &self.0 else {
            return;
        };
        let mut summarisers = summarisers.lock().unwrap_or_else(PoisonError::into_inner);
        for line in says(&mut summarisers) {
            println!("{line}");
        }
    }

    fn end(&self) {
        self.print(|summarisers| summarisers.end(now_ns()));
    }
}

impl LoadObserver for Lines {
    fn interval(&self, at_ns: i64, seen: &Tallies, users: UsersSeen) {
        self.print(|summarisers| summarisers.add(at_ns, seen, users.active));
    }
}
