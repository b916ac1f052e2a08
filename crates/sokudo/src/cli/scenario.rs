//! `sokudo console`, `run` and `scenario`: many hosts do what lines or a script say.

mod console;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use sokudo_controller::{Hosts, check};
use sokudo_i18n::{I18n, TextError};
use sokudo_load_http::jmx;
use sokudo_model::{Refusal, Text, harmless};
use sokudo_monitors::Files;
use sokudo_scenario::pairs::{self, PairExchange};
use sokudo_scenario::script::syntax;
use sokudo_scenario::{Executor as _, Failed, Mistake, line};
use sokudo_session::page::HostSource;
use sokudo_session::{
    Beginning, Ended, FindKnobs, Lab, Left, Reached, SCRIPT_BYTES_MAX, ServerSettings, begin,
    by_lines, carry_out, ended_by, left_open, mistakes_without_hosts, random_seed, read_lines,
    rehearse_program, script as program, seal,
};
use sokudo_wire::Key;
use sokudo_workload::refusal::operator;
use sokudo_workload::text_file::read_bytes;
use sokudo_workload::values::{ByteSize, HowMany, Span};

use super::finish::{ShowOptions, exit_of, show};
use super::key::{self, KeyText};
use super::language;
use super::observe::ObserveArgs;
use super::observer::Terminal;
use super::out::{OutArgs, Sinks};
use super::screen::tell;
use super::target_knobs::TargetKnobs;
use super::{Exit, Failure, command_for_record, profiles, stop_flag, workload};

const CONSOLE_EXAMPLES: &str = "\
Examples:
  sokudo console lab                    all hosts of the group lab
  sokudo console hosta hostb            hosts on which `sokudo serve` runs
  sokudo console --local 4              four hosts inside this machine, to try it
  sokudo console lab < switch.sks       what a file says

  node 1 set connectnode 3              put different commands into the input fields …
  node 2 set connectnode 4
  all enter                             … and enter all of them at the same moment
  all sendreceive-n 1MB 1000
  waitallresults 2 60s                  who has no result after a minute is named

`help` lists the words. One record is kept of everything that was done.";

const RUN_EXAMPLES: &str = "\
Examples:
  sokudo run switch.sks lab             console lines, over the hosts of the group lab
  sokudo run switch.js lab              a program: loops, and results that decide what comes next
  sokudo run mesh.js --local 4          over four hosts inside this machine
  sokudo run examples/was/study.js      this host alone, as host 1
  sokudo run examples/sql/settings.js --set dsn=postgres://…   settings of a server, in turns

`sokudo scenario types` prints what a program can call.";

const SCENARIO_EXAMPLES: &str = "\
Examples:
  sokudo scenario pairs lab --pairs 5             five pairs exchange data at the same moment
  sokudo scenario pairs lab --emit > mine.sks     the script for it, to be changed
  sokudo scenario pairs lab --emit --javascript   the same as a program
  sokudo scenario types > sokudo.d.ts             what programs can call, for editors";

/// Which hosts take part.
#[derive(Debug, Clone, Default, Args)]
pub struct PlaceArgs {
    /// Hosts: HOST or HOST:PORT on which `sokudo serve` runs, GROUP for all hosts of a group,
    /// GROUP/NAME for one of them.
    #[arg(value_name = "GROUP|HOST", conflicts_with = "local")]
    pub hosts: Vec<String>,

    /// Make so many hosts inside this machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub local: Option<u8>,

    /// Key that `sokudo serve` printed.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<KeyText>,
}

impl PlaceArgs {
    fn is_nobody(&self) -> bool {
        self.hosts.is_empty() && self.local.is_none()
    }
}

#[cfg(feature = "fleet")]
impl PlaceArgs {
    /// All hosts of a group.
    pub fn group(name: &str) -> Self {
        Self {
            hosts: vec![name.to_owned()],
            ..Self::default()
        }
    }
}

impl HostSource for PlaceArgs {
    fn name(&self) -> String {
        match self.local {
            Some(count) => format!("{count} local hosts"),
            None => self.hosts.join(" "),
        }
    }

    fn words(&self) -> Vec<String> {
        match self.local {
            Some(count) => vec!["--local".into(), count.to_string()],
            None => self.hosts.clone(),
        }
    }

    fn reach(&self) -> Result<Reached, Refusal> {
        Ok(reach(self)?)
    }

    fn reach_some(&self) -> Result<(Reached, Vec<Refusal>), Refusal> {
        let (reached, silent) = reach_some(self)?;
        Ok((reached, silent.into_iter().map(Refusal::from).collect()))
    }
}

/// Which hosts take part, and how their results are shown.
#[derive(Debug, Args)]
pub struct LabArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Time between two samples of the monitors.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    interval: Span,

    /// How far apart the flows of a phase may begin, `2ms`: a phase that exceeds it is repeated up to
    /// twice, and then fails a check. Between hosts the clock error comes on top.
    #[arg(long, value_name = "TIME")]
    max_skew: Option<Span>,

    /// Let nothing but the load travel while a phase goes on: the hosts keep what they record until it
    /// is over, and one that freezes is noticed then.
    #[arg(long)]
    quiet_phase: bool,

    #[command(flatten)]
    observe: ObserveArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    show: ShowOptions,
}

/// Tell many hosts what to do, line by line, and see what they found.
#[derive(Debug, Args)]
#[command(after_help = CONSOLE_EXAMPLES)]
pub struct ConsoleArgs {
    #[command(flatten)]
    lab: LabArgs,
}

/// Carry out a script: console lines (.sks) or JavaScript (.js).
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The script.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Set a parameter of a JavaScript scenario; several values with commas.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_set)]
    set: Vec<(String, String)>,

    /// Allow settings of a database server with which a crash may lose commits or damage data, such as
    /// fsync=off.
    #[arg(long)]
    allow_unsafe: bool,

    #[command(flatten)]
    lab: LabArgs,
}

fn parse_set(text: &str) -> Result<(String, String), TextError> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| TextError::value("error-value-set", text))
}

/// Write scripts from what is known of the hosts.
#[derive(Debug, Args)]
#[command(after_help = SCENARIO_EXAMPLES)]
pub struct ScenarioArgs {
    #[command(subcommand)]
    what: ScenarioCommand,
}

#[derive(Debug, Subcommand)]
enum ScenarioCommand {
    /// Pairs of hosts send data to each other and back, all at the same moment.
    Pairs(Box<PairsArgs>),
    /// What a JavaScript scenario can call, as a TypeScript declaration file.
    Types,
}

#[derive(Debug, Args)]
struct PairsArgs {
    /// How many pairs. Default: as many as there are.
    #[arg(long, value_name = "N")]
    pairs: Option<u32>,

    /// What each pair sends and gets back.
    #[arg(long, value_name = "BYTES", default_value = "1MB")]
    size: ByteSize,

    /// How often.
    #[arg(long, value_name = "N", default_value = "1000")]
    times: HowMany,

    /// Both ways at once.
    #[arg(long)]
    duplex: bool,

    /// Print the script instead of carrying it out.
    #[arg(long)]
    emit: bool,

    /// Print it as JavaScript.
    #[arg(long, requires = "emit")]
    javascript: bool,

    #[command(flatten)]
    lab: LabArgs,
}

/// Carries out `sokudo console`.
pub fn console(args: ConsoleArgs) -> Result<Exit, Failure> {
    let (reached, silent) = reach_group(&args.lab.place)?;
    let (mut lab, sinks) = open_at(reached, &args.lab, "console")?;
    for failure in &silent {
        failure.print();
        lab.note(failure.says().clone());
    }
    let mut said = String::new();
    let ended = console::converse(&mut lab, &mut said);
    close(by_lines(lab, ended, said), &sinks, &args.lab)
}

/// Carries out `sokudo run`.
pub fn run(args: RunArgs) -> Result<Exit, Failure> {
    let text = read_script(&args.file)?;
    let extension = args.file.extension().and_then(|e| e.to_str());
    match extension.unwrap_or_default() {
        "js" => run_program(args, text),
        "sks" if !args.set.is_empty() => Err(Failure::operator(
            Text::new("error-lines-no-parameters"),
            Text::new("error-lines-no-parameters-hint"),
        )),
        "sks" => {
            let told = |mistakes: Vec<Mistake>| many(&args.file, &mistakes);
            let reached = reach(&args.lab.place).map_err(|failure| {
                // Without hosts there is still something to say about the lines.
                let mistakes = mistakes_without_hosts(&text);
                match mistakes.is_empty() {
                    true => failure,
                    false => told(mistakes),
                }
            })?;
            let lines = read_lines(&text, reached.infos()).map_err(told)?;
            let (mut lab, sinks) = open_at(reached, &args.lab, "run")?;
            let ended = script(&lines, &mut lab);
            close(by_lines(lab, ended, text), &sinks, &args.lab)
        }
        _ => Err(Failure::operator(
            Text::new("error-script-kind").with("path", args.file.display()),
            Text::new("error-script-kind-hint"),
        )),
    }
}

fn run_program(mut args: RunArgs, text: String) -> Result<Exit, Failure> {
    let told = |mistakes: Vec<Mistake>| many(&args.file, &mistakes);
    let reached = match args.lab.place.is_nobody() {
        true => alone(),
        false => reach(&args.lab.place),
    };
    let reached = match (reached, syntax(&text)) {
        (Ok(reached), _) => reached,
        // Without hosts there is still something to say about the lines.
        (Err(failure), mistakes) if mistakes.is_empty() => return Err(failure),
        (Err(_), mistakes) => return Err(told(mistakes)),
    };
    // Random choices are the same in the rehearsal.
    let seed = args.lab.seed.unwrap_or_else(random_seed);
    args.lab.seed = Some(seed);
    jmx::permit();
    let files = Files::Readable;
    let rehearsed = rehearse_program(&text, reached.infos(), seed, args.set.clone(), files);
    if !rehearsed.mistakes.is_empty() {
        return Err(told(rehearsed.mistakes));
    }
    if let Some(open) = rehearsed.open {
        let i18n = I18n::new(args.lab.show.lang());
        tell(&i18n.text(&left_open(open)));
    }
    let (mut lab, sinks) = open_at(reached, &args.lab, "run")?;
    lab.files = files;
    lab.find_knobs = Some(find_knobs(args.lab.observe.clone()));
    let i18n = I18n::new(args.lab.show.lang());
    lab.settings = Some(ServerSettings {
        folder: profiles::folder(),
        are_unsafe_allowed: args.allow_unsafe,
        warn: Box::new(move |says| profiles::warn(says, &i18n)),
        held: None,
    });
    let (left, _) = program::carry_out(lab, text, &args.file, args.set);
    close(left, &sinks, &args.lab)
}

/// The knobs of the target that is observed, else of the one that was started last on this host.
fn find_knobs(observe: ObserveArgs) -> FindKnobs {
    Box::new(move || {
        let found = TargetKnobs::of("run", &observe, None);
        let (knobs, _) = found.map_err(Refusal::from)?;
        Ok(Box::new(knobs))
    })
}

/// Carries out `sokudo scenario`.
pub fn scenario(args: ScenarioArgs) -> Result<Exit, Failure> {
    match args.what {
        ScenarioCommand::Pairs(args) => pairs_of(&args),
        ScenarioCommand::Types => {
            print!("{}", sokudo_scenario::script::TYPES);
            Ok(Exit::Fine)
        }
    }
}

fn pairs_of(args: &PairsArgs) -> Result<Exit, Failure> {
    let (mut lab, sinks) = open(&args.lab, "pairs")?;
    let exchange = PairExchange {
        pairs: args.pairs,
        size: args.size.to_string(),
        times: args.times.0,
        duplex: args.duplex,
    };
    let write = match args.javascript {
        true => pairs::javascript,
        false => pairs::lines,
    };
    let text = match write(&lab.hosts(), &exchange) {
        Ok(text) => text,
        Err(failed) => {
            let ended = Ended::Early(refused(failed));
            return close(by_lines(lab, ended, String::new()), &sinks, &args.lab);
        }
    };
    if args.emit {
        print!("{text}");
        return close(by_lines(lab, Ended::Well, text), &sinks, &args.lab);
    }
    let file = Path::new("pairs.sks");
    let lines = line::parse(&text).map_err(|mistakes| many(file, &mistakes))?;
    let ended = script(&lines, &mut lab);
    close(by_lines(lab, ended, text), &sinks, &args.lab)
}

/// Refusal of something that the operator can mend.
fn refused(failed: Failed) -> Refusal {
    operator(failed.says, failed.hint.unwrap_or_else(|| Text::words("")))
}

/// Carries out console lines one after the other.
fn script(lines: &[line::Line], lab: &mut Lab) -> Ended {
    carry_out(lines, lab).unwrap_or_else(ended_by)
}

fn read_script(file: &Path) -> Result<String, Failure> {
    let shown = file.display();
    let cannot = |error: std::io::Error| {
        Failure::operator(
            Text::new("error-cannot-read")
                .with("path", &shown)
                .with("error", error),
            Text::new("error-script-hint"),
        )
    };
    let read = read_bytes(file, SCRIPT_BYTES_MAX);
    let bytes = read.map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => Failure::operator(
            Text::new("error-script-too-long")
                .with("path", &shown)
                .with("mib", SCRIPT_BYTES_MAX >> 20),
            Text::new("error-script-too-long-hint"),
        ),
        _ => cannot(error),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        Failure::operator(
            Text::new("error-script-no-utf8")
                .with("path", shown)
                .with("line", line + 1),
            Text::new("error-script-no-utf8-hint"),
        )
    })
}

/// All mistakes of a script: the first one as the sentence, the others before it.
fn many(file: &Path, mistakes: &[sokudo_scenario::Mistake]) -> Failure {
    let i18n = I18n::new(language());
    let told = |mistake: &sokudo_scenario::Mistake| {
        Text::new("error-scenario-file")
            .with("file", file.display())
            .text("says", mistake.text())
    };
    for mistake in mistakes.iter().skip(1).rev() {
        let says = i18n.text(&told(mistake).without_secrets());
        eprintln!("  {}", harmless(&says));
    }
    let nothing = || Failure::operator("", "");
    mistakes.first().map_or_else(nothing, |mistake| {
        Failure::operator(told(mistake), mistake.hint.clone())
    })
}

/// Reaches the hosts and begins a record.
fn open(args: &LabArgs, name: &str) -> Result<(Lab, Sinks), Failure> {
    open_at(reach(&args.place)?, args, name)
}

/// Begins a record of what hosts do that have been reached.
fn open_at(reached: Reached, args: &LabArgs, name: &str) -> Result<(Lab, Sinks), Failure> {
    let stop = stop_flag()?;
    let lang = args.show.lang();
    let (i18n, quiet) = (I18n::new(lang), args.show.json);
    let sinks = args.out.open(lang)?;
    let beginning = Beginning {
        name,
        command: command_for_record(),
        seed: args.seed.unwrap_or_else(random_seed),
        interval_ns: args.interval.0,
        monitors: args.observe.specs()?,
        max_skew_ns: args.max_skew.map(|most| most.0),
        quiet_phases: args.quiet_phase,
        stop,
        observer: sinks.around(Box::new(Terminal::new(lang, None, None))),
        // Results go to stdout as JSON, and sentences must not.
        voice: Box::new(move |what| match quiet {
            true => eprintln!("{}", i18n.text(what)),
            false => println!("{}", i18n.text(what)),
        }),
        files: Files::Refused,
        find_knobs: None,
    };
    let lab = begin(reached, beginning)?;
    sinks.begins(lab.run.manifest());
    Ok((lab, sinks))
}

/// This host alone, as number 1.
fn alone() -> Result<Reached, Failure> {
    Ok(Reached {
        hosts: Hosts::own(sokudo_agent::factory)?,
        note: None,
        first: 0,
    })
}

/// Calls the hosts; all of them must answer.
fn reach(place: &PlaceArgs) -> Result<Reached, Failure> {
    reach_by(place, workload::reach)
}

/// The same of those who answer; tells of each of the others.
fn reach_some(place: &PlaceArgs) -> Result<(Reached, Vec<Failure>), Failure> {
    let mut silent = Vec::new();
    let reached = reach_by(place, |hosts, host, key| {
        silent.extend(workload::reach_some(hosts, host, key)?);
        Ok(())
    })?;
    Ok((reached, silent))
}

/// The same of all hosts that were named, and of the members of a group who answer; tells of each of its
/// others. A console goes on with who is there.
///
/// Errors: a named host does not answer, or nobody does.
fn reach_group(place: &PlaceArgs) -> Result<(Reached, Vec<Failure>), Failure> {
    let mut silent = Vec::new();
    let reached = reach_by(place, |hosts, host, key| match is_many(host) {
        true => {
            silent.extend(workload::reach_some(hosts, host, key)?);
            Ok(())
        }
        false => workload::reach(hosts, host, key),
    })?;
    if reached.infos().is_empty() && !silent.is_empty() {
        return Err(silent.swap_remove(0));
    }
    Ok((reached, silent))
}

/// True for a choice among the hosts of a group: `lab/*`, `lab/site=tokyo`.
fn is_many(host: &str) -> bool {
    let choice = host.split_once('/').map(|(_, choice)| choice);
    choice.is_some_and(|choice| choice == "*" || choice.contains('='))
}

fn reach_by(
    place: &PlaceArgs,
    mut call: impl FnMut(&mut Hosts, &str, Option<&Key>) -> Result<(), Failure>,
) -> Result<Reached, Failure> {
    let key = key::parse(place.key.as_ref())?;
    if let Some(count) = place.local {
        let (hosts, note) = check::local_hosts(sokudo_agent::factory, count.into())?;
        return Ok(Reached {
            hosts,
            note: Some(note),
            first: 0,
        });
    }
    if place.hosts.is_empty() {
        return Err(Failure::operator(
            Text::new("error-no-hosts"),
            Text::new("error-no-hosts-hint"),
        ));
    }
    let mut hosts = Hosts::own(sokudo_agent::factory)?;
    for host in &place.hosts {
        call(&mut hosts, &whole_group(host), key.as_ref())?;
    }
    Ok(Reached {
        hosts,
        note: None,
        first: 1,
    })
}

/// The name of a group alone stands for all of its hosts.
#[cfg(feature = "fleet")]
fn whole_group(host: &str) -> String {
    match super::group::is_known(host) {
        true => format!("{host}/*"),
        false => host.to_owned(),
    }
}

#[cfg(not(feature = "fleet"))]
fn whole_group(host: &str) -> String {
    host.to_owned()
}

/// Closes the record and shows it. Nothing is kept when nothing was loaded.
fn close(mut left: Left, sinks: &Sinks, args: &LabArgs) -> Result<Exit, Failure> {
    let lacking = sinks.close();
    if let Some(lab) = &mut left.lab {
        lab.run.manifest_mut().notes.extend(lacking);
    }
    let sealed = seal(left, args.show.lang())?;
    let Some((path, record)) = sealed.record else {
        return match sealed.ended {
            Ended::Early(refusal) => Err(refusal.into()),
            Ended::Well => Ok(Exit::Fine),
            Ended::Interrupted => Ok(Exit::RunFailed),
        };
    };
    let failed = match sealed.ended {
        Ended::Early(refusal) => {
            let failure = Failure::from(refusal);
            failure.print();
            Some(failure.exit())
        }
        _ => None,
    };
    show(&record, &path, &args.show);
    Ok(failed.unwrap_or_else(|| exit_of(&record)))
}
