//! The subcommands.

mod advise;
mod between;
mod bus;
mod check;
mod compare;
mod compat;
mod datagram;
mod db;
mod demo;
mod doctor;
mod export;
mod failure;
mod finish;
mod foreign;
mod generate;
#[cfg(feature = "fleet")]
mod group;
mod help;
mod import;
mod jmx;
mod jtl;
mod key;
mod knee;
mod link;
mod live;
mod meaning;
mod measure;
mod metrics;
mod observe;
mod observer;
mod on_server;
mod out;
mod policy;
mod ports;
mod probe;
mod profiles;
mod records;
mod reference;
#[cfg(test)]
mod refusals;
mod replicate;
mod rrul;
mod scenario;
mod screen;
mod serve;
mod setting_knobs;
mod specs;
mod table;
mod target;
mod target_knobs;
mod web;
mod why;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use sokudo_load_http::http::HttpOptions;
use sokudo_load_http::jmx::{APART_COMMAND, carry_out_apart, execute_apart};
use sokudo_load_network::crr::CrrOptions;
use sokudo_load_network::dns::DnsOptions;
use sokudo_load_network::rr::RrOptions;
use sokudo_load_network::stream::StreamOptions;
use sokudo_load_sql::dbt1::Dbt1Options;
use sokudo_load_sql::dbt2::Dbt2Options;
use sokudo_load_sql::dbt3::Dbt3Options;
use sokudo_load_sql::sqlmix::SqlmixOptions;
use sokudo_load_sql::tpcb::TpcbOptions;
use sokudo_model::Text;
use sokudo_model::secrets::{self, HIDDEN};
use sokudo_net::process::own_program;

pub use sokudo_bus::direct::DEFAULT_PORT;

pub use failure::Failure;
use sokudo_i18n::Lang;
use sokudo_session::{Sentence, sentence};

const EXAMPLES: &str = "\
Examples:
  sokudo check                         what can this machine do? about two minutes, no set-up
  sokudo serve                         on one host …
  sokudo datagram HOST                 … and on the other: how many datagrams per second arrive?
  sokudo datagram HOST --find 'loss<0.1%'   the highest rate that holds
  sokudo show latest                   the newest result again
  sokudo why latest                    what limited it, and how that is known
  sokudo doctor                        what does this system offer, what should be changed?

Exit codes: 0 fine, 1 a check failed, 2 wrong use, 3 the run failed or is partial.";

/// Measures, explains, tunes and proves the performance of distributed systems.
#[derive(Debug, Parser)]
#[command(name = "sokudo", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::CheckArgs),
    Serve(serve::ServeArgs),
    #[cfg(feature = "fleet")]
    Group(group::GroupArgs),
    #[cfg(feature = "fleet")]
    Controller(group::controller::ControllerArgs),
    #[cfg(feature = "fleet")]
    Agent(group::agent::AgentArgs),
    #[cfg(feature = "fleet")]
    Router(group::router::RouterArgs),
    #[cfg(feature = "fleet")]
    #[command(hide = true)]
    AgentGuard(group::guard::GuardArgs),
    Datagram(Box<datagram::DatagramArgs>),
    Bus(Box<bus::BusArgs>),
    /// Send requests and wait for the responses: latency and requests per second between hosts.
    ///
    /// Start `sokudo serve` on each HOST first. Every round trip is recorded.
    #[command(after_help = between::RR_EXAMPLES)]
    Rr(Box<between::BetweenArgs<RrOptions>>),
    /// Open a connection for each request: connections per second and their latency.
    ///
    /// Start `sokudo serve` on each HOST first. Connecting and the TLS handshake are measured separately.
    #[command(after_help = between::CRR_EXAMPLES)]
    Crr(Box<between::BetweenArgs<CrrOptions>>),
    /// Load a web server: requests per second, latency, and where the time goes.
    ///
    /// The server needs nothing of ours. HTTP/1.1 or HTTP/2, plain or over TLS; each kind of
    /// failure is counted separately.
    #[command(after_help = on_server::HTTP_EXAMPLES)]
    Http(Box<on_server::OnServerArgs<HttpOptions>>),
    /// Load a name server: queries per second, latency, and what its responses say.
    ///
    /// The server needs nothing of ours. DNS over UDP or TCP; response codes, truncated responses
    /// and lost queries are counted separately.
    #[command(after_help = on_server::DNS_EXAMPLES)]
    Dns(Box<on_server::OnServerArgs<DnsOptions>>),
    /// Transfer money on a database: transactions per second, and whether each is kept.
    ///
    /// PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. The transaction of pgbench; not a TPC
    /// result.
    #[command(after_help = on_server::TPCB_EXAMPLES)]
    Tpcb(Box<on_server::OnServerArgs<TpcbOptions>>),
    /// Visit a web shop whose database this is: interactions per second, and whether its orders add up.
    ///
    /// PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Fourteen interactions in three mixes, modelled
    /// on TPC-W; not a TPC result.
    #[command(after_help = on_server::DBT1_EXAMPLES)]
    Dbt1(Box<on_server::OnServerArgs<Dbt1Options>>),
    /// Enter orders into a database: new orders per minute, and whether the books agree.
    ///
    /// PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Five business transactions modelled on
    /// TPC-C; not a TPC result.
    #[command(after_help = on_server::DBT2_EXAMPLES)]
    Dbt2(Box<on_server::OnServerArgs<Dbt2Options>>),
    /// Ask a database 22 analytical questions, alone and from several streams at a time: power and throughput.
    ///
    /// PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Tables and questions modelled on TPC-H; not
    /// a TPC result.
    #[command(after_help = on_server::DBT3_EXAMPLES)]
    Dbt3(Box<on_server::OnServerArgs<Dbt3Options>>),
    /// Carry out a mix of your own transactions on a database: how many, how fast, at what cost of further tries.
    ///
    /// PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Script files of pgbench as they are, and
    /// mixes in TOML.
    #[command(after_help = on_server::SQLMIX_EXAMPLES)]
    Sqlmix(Box<on_server::OnServerArgs<SqlmixOptions>>),
    Db(db::DbArgs),
    Knee(knee::KneeArgs),
    /// Send bulk bytes over connections: goodput, what it costs, and what holds it back.
    #[command(after_help = between::STREAM_EXAMPLES)]
    Stream(Box<between::BetweenArgs<StreamOptions>>),
    Probe(Box<probe::ProbeArgs>),
    Rrul(Box<rrul::RrulArgs>),
    Replicate(Box<replicate::ReplicateArgs>),
    Advise(Box<advise::AdviseArgs>),
    Console(scenario::ConsoleArgs),
    Run(scenario::RunArgs),
    Scenario(scenario::ScenarioArgs),
    Web(web::WebArgs),
    Demo(demo::DemoArgs),
    Target(target::TargetArgs),
    Link(link::LinkArgs),
    Compat(compat::CompatArgs),
    Jmx(jmx::JmxArgs),
    Jtl(jtl::JtlArgs),
    Runs(records::RunsArgs),
    Show(records::ShowArgs),
    Why(why::WhyArgs),
    Report(records::ReportArgs),
    Compare(compare::CompareArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Recover(records::RecoverArgs),
    Metrics(metrics::MetricsArgs),
    Monitors(observe::MonitorsArgs),
    Doctor(doctor::DoctorArgs),
    Completions(generate::CompletionsArgs),
    Man(generate::ManArgs),
    #[command(hide = true)]
    Reference(reference::ReferenceArgs),
    /// Carries out a plan of another host, for an agent of this one.
    #[command(hide = true)]
    #[command(name = APART_COMMAND)]
    PlanProcess,
}

/// End of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Fine.
    Fine,
    /// An assertion or a check failed.
    CheckFailed,
    /// The operator asked for something that cannot be done.
    OperatorError,
    /// The run failed or is partial; the record is kept.
    RunFailed,
    /// A command that was carried out for the operator ended with this code.
    Command(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::CheckFailed => 1,
            Exit::OperatorError => 2,
            Exit::RunFailed => 3,
            Exit::Command(code) => code,
        })
    }
}

/// The command line as a command. Help and version are printed here, and end the program.
///
/// Errors: what was typed cannot be understood; told as every other error is, with a hint.
pub fn parse() -> Result<Cli, Failure> {
    parsed(&typed())
}

/// Words behind the program's name as a command.
fn parsed(typed: &[String]) -> Result<Cli, Failure> {
    let command = help::in_language(Cli::command(), &[], help::language(typed));
    let words = std::iter::once("sokudo").chain(typed.iter().map(String::as_str));
    let parsed = command
        .try_get_matches_from(words)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => not_understood(&error, typed),
    })
}

/// The language of what this process says before its options are read, and when it fails.
fn language() -> Lang {
    help::language(&typed())
}

fn typed() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// The parser's paragraphs as one sentence and one hint: its tip, else where to read on.
fn not_understood(error: &clap::Error, typed: &[String]) -> Failure {
    let Sentence { says, tip } = sentence(error);
    // The parser blames `--key` also when it was not typed.
    let from_environment = error.to_string().contains("cannot be used with '--key")
        && !typed.iter().any(|word| word.starts_with("--key"));
    if from_environment {
        return Failure::operator(says, Text::new("error-key-from-environment-hint"));
    }
    if typed.first().is_some_and(|word| word == "load") {
        return Failure::operator(
            Text::new("error-no-command-load"),
            Text::new("error-no-command-load-hint"),
        );
    }
    let hint =
        tip.unwrap_or_else(|| Text::new("error-help-hint").with("command", subcommand(typed)));
    Failure::operator(says, hint)
}

/// As far as the words name one: `sokudo`, `sokudo jmx check`.
fn subcommand(words: &[String]) -> String {
    let mut at = Cli::command();
    let mut path = vec!["sokudo".to_owned()];
    for word in words {
        let Some(next) = at.find_subcommand(word).cloned() else {
            break;
        };
        path.push(word.clone());
        at = next;
    }
    path.join(" ")
}

#[cfg(feature = "fleet")]
fn is_agent(command: &Command) -> bool {
    matches!(command, Command::Agent(_))
}

#[cfg(not(feature = "fleet"))]
fn is_agent(_: &Command) -> bool {
    false
}

/// Whether a command may find a target whose knobs a killed program held.
fn may_load_a_target(command: &Command) -> bool {
    matches!(
        command,
        Command::Check(_)
            | Command::Http(_)
            | Command::Jmx(_)
            | Command::Target(_)
            | Command::Why(_)
    )
}

/// Whether a command may find a database server whose settings a killed program had changed.
fn may_load_a_database(command: &Command) -> bool {
    matches!(
        command,
        Command::Compare(_)
            | Command::Db(_)
            | Command::Tpcb(_)
            | Command::Dbt1(_)
            | Command::Dbt2(_)
            | Command::Dbt3(_)
            | Command::Jmx(_)
            | Command::Knee(_)
            | Command::Run(_)
            | Command::Sqlmix(_)
            | Command::Why(_)
    )
}

/// Carries out a command.
pub fn run(cli: Cli) -> Result<Exit, Failure> {
    // Those that serve others have an option for it.
    if !matches!(cli.command, Command::Serve(_)) && !is_agent(&cli.command) {
        ports::apply_variable()?;
    }
    if may_load_a_target(&cli.command) {
        target::recover(&sokudo_i18n::I18n::new(sokudo_i18n::Lang::from_env()));
    }
    if may_load_a_database(&cli.command) {
        profiles::recover(&sokudo_i18n::I18n::new(sokudo_i18n::Lang::from_env()));
    }
    match cli.command {
        Command::Check(args) => check::run(args),
        Command::Serve(args) => serve::run(args),
        #[cfg(feature = "fleet")]
        Command::Group(args) => group::group(args),
        #[cfg(feature = "fleet")]
        Command::Controller(args) => group::controller::run(args),
        #[cfg(feature = "fleet")]
        Command::Agent(args) => group::agent::run(args),
        #[cfg(feature = "fleet")]
        Command::Router(args) => group::router::run(args),
        #[cfg(feature = "fleet")]
        Command::AgentGuard(args) => group::guard::run(args),
        Command::Datagram(args) => datagram::run(*args),
        Command::Bus(args) => bus::run(*args),
        Command::Http(args) => on_server::run(*args),
        Command::Dns(args) => on_server::run(*args),
        Command::Tpcb(args) => on_server::run(*args),
        Command::Dbt1(args) => on_server::run(*args),
        Command::Dbt2(args) => on_server::run(*args),
        Command::Dbt3(args) => on_server::run(*args),
        Command::Sqlmix(args) => on_server::run(*args),
        Command::Db(args) => db::run(args),
        Command::Knee(args) => knee::run(&args),
        Command::Stream(args) => between::run(*args),
        Command::Replicate(args) => replicate::run(*args),
        Command::Advise(args) => advise::run(*args),
        Command::Rr(args) => between::run(*args),
        Command::Crr(args) => between::run(*args),
        Command::Probe(args) => probe::run(*args),
        Command::Rrul(args) => rrul::run(*args),
        Command::Console(args) => scenario::console(args),
        Command::Run(args) => scenario::run(args),
        Command::Scenario(args) => scenario::scenario(args),
        Command::Web(args) => web::run(args),
        Command::Demo(args) => demo::run(&args),
        Command::Target(args) => target::run(args),
        Command::Link(args) => link::run(args),
        Command::Compat(args) => compat::run(args),
        Command::Jmx(args) => jmx::run(args),
        Command::Jtl(args) => jtl::run(args),
        Command::Runs(args) => records::runs(args),
        Command::Show(args) => records::show(args),
        Command::Why(args) => why::run(args),
        Command::Report(args) => records::report(args),
        Command::Compare(args) => compare::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Recover(args) => records::recover(args),
        Command::Metrics(args) => metrics::run(args),
        Command::Monitors(args) => observe::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => generate::completions(args),
        Command::Man(args) => generate::man(args),
        Command::Reference(args) => reference::run(args),
        Command::PlanProcess => {
            carry_out_apart()?;
            Ok(Exit::Fine)
        }
    }
}

/// From now on, plans that other hosts send are carried out by processes of their own.
fn carry_out_plans_apart() {
    // A system that does not tell its programs has them carried out here.
    if let Ok(own) = own_program() {
        execute_apart(own);
    }
}

/// Options whose value could let others in, and the commands that have them; none: all.
const SECRETS: &[(&str, &[&str])] = &[
    ("--key", &[]),
    ("--join", &[]),
    ("-a", PLAN_COMMANDS),
    ("--password", PLAN_COMMANDS),
];

/// Commands that execute plans, with the options of the tool that plans come from.
const PLAN_COMMANDS: &[&str] = &["jmx run", "compat jmeter"];

/// System properties that a plan is not given.
const SECRET_PROPERTIES: &[&str] = &[
    "javax.net.ssl.keyStorePassword",
    "javax.net.ssl.trustStorePassword",
];

/// True for a property whose value could let others in.
fn is_secret(property: &str) -> bool {
    SECRET_PROPERTIES.contains(&property)
}

/// The command line as it goes into the record: what could let others in is taken out.
fn command_for_record() -> Vec<String> {
    without_secrets(std::env::args())
}

fn without_secrets(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut hide_next = false;
    let words: Vec<String> = words.collect();
    let command = words.iter().skip(1).take(2).cloned().collect::<Vec<_>>();
    let command = command.join(" ");
    let hide = |word: String| {
        if std::mem::take(&mut hide_next) {
            return HIDDEN.into();
        }
        for (name, of) in SECRETS {
            let Some(value) = word.strip_prefix(name) else {
                continue;
            };
            let is_long = name.starts_with("--");
            if !of.is_empty() && !of.contains(&command.as_str()) {
                continue;
            }
            match value.strip_prefix('=') {
                _ if value.is_empty() => hide_next = true,
                Some(_) if is_long => return format!("{name}={HIDDEN}"),
                _ if is_long => continue,
                _ => return format!("{name}{HIDDEN}"),
            }
        }
        secrets::hidden(&word).into_owned()
    };
    words.into_iter().map(hide).collect()
}

/// Directory of groups, memberships and the console's history, for this user.
fn config() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || {
        set("HOME")
            .or_else(|| set("USERPROFILE"))
            .unwrap_or_default()
    };
    set("SOKUDO_CONFIG")
        .map(PathBuf::from)
        .or_else(|| set("XDG_CONFIG_HOME").map(|base| PathBuf::from(base).join("sokudo")))
        .unwrap_or_else(|| PathBuf::from(home()).join(".config").join("sokudo"))
}

/// A flag that Ctrl-C, and a polite request to end, set. The second Ctrl-C ends at once.
fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let failed = |error: std::io::Error| {
        Failure::run(Text::new("error-no-signals").with("error", error), None)
    };
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .map_err(failed)?;
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(failed)?;
    }
    Ok(stop)
}

/// The end of a command whose work had not begun when the operator ended it.
fn interrupted() -> Failure {
    Failure::run(Text::new("error-interrupted"), None)
}

/// A reader that leaves early, such as `head`, ends the program without a message.
pub fn die_quietly_on_closed_pipe() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().unwrap_or_default();
        if text.contains("failed printing to stdout") {
            std::process::exit(0);
        }
        default(info);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advice names options that the command has, and causes are put to the test with them: each kind says which of
    /// them it has.
    #[test]
    fn the_kinds_declare_the_options_of_their_commands() {
        let root = Cli::command();
        let advised = sokudo_analyze::advice::ADVICE.iter();
        let advised: Vec<&str> = advised.flat_map(|advice| advice.options).copied().collect();
        for kind in sokudo_model::kinds::KINDS {
            let mut command = root.find_subcommand(kind.name).expect("a command");
            if kind.is_plan {
                command = command.find_subcommand("run").expect("executes plans");
            }
            for option in &advised {
                let mut options = command.get_arguments();
                let has = options.any(|arg| arg.get_long() == Some(option));
                let declares = kind.options.contains(option);
                assert_eq!(declares, has, "{} --{option}", kind.name);
            }
            for option in kind.options {
                let mut options = command.get_arguments();
                let has = options.any(|arg| arg.get_long() == Some(option));
                assert!(has, "{} --{option}", kind.name);
                let suspects = sokudo_analyze::REGISTRY.iter();
                let mut suspects = suspects.flat_map(|rule| rule.suspects);
                let tests = suspects.any(|suspect| suspect.option == *option);
                let is_used = tests || advised.contains(option);
                assert!(is_used, "{} --{option}: no advice, no test", kind.name);
            }
        }
    }

    #[test]
    fn a_mistake_points_at_the_help_of_the_innermost_command() {
        let check = |typed: &str, expected: &str| {
            let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            assert_eq!(subcommand(&words), expected);
        };
        check("jmx check --probe 0", "sokudo jmx check");
        check("rr check", "sokudo rr");
        check("nonsense rr", "sokudo");
    }

    #[test]
    fn what_the_parser_says_is_a_message_in_its_own_english() {
        let check = |typed: &str, key: &str, tip: Option<&str>| {
            let words = std::iter::once("sokudo").chain(typed.split_whitespace());
            let error = Cli::command().try_get_matches_from(words).expect_err(typed);
            // A sentence that says something else than the parser would stay in the parser's words.
            let said = sentence(&error);
            assert_eq!(said.says.key, key, "{typed}: {error}");
            let tip_key = said.tip.as_ref().map(|tip| tip.key.as_str());
            assert_eq!(tip_key, tip, "{typed}: {error}");
        };
        check("rr h --zzz", "error-typed-unknown", None);
        check(
            "rr h --durations 1s",
            "error-typed-unknown",
            Some("error-typed-similar-argument-hint"),
        );
        check(
            "chekc",
            "error-typed-unknown-subcommand",
            Some("error-typed-similar-subcommand-hint"),
        );
        check("rr", "error-typed-missing", None);
        check("rr h --size", "error-typed-no-value", None);
        check("rr h --transport", "error-typed-no-value-choice", None);
        check("rr h --transport x", "error-typed-invalid-choice", None);
        check("rr h --duration x", "error-typed-invalid-because", None);
        check("rr h --size 1 --size 2", "error-typed-twice", None);
        check("serve --open --key k", "error-typed-conflict", None);
        check("runs extra", "error-typed-unknown", None);
    }

    #[test]
    fn secrets_are_not_recorded() {
        let check = |typed: &str, expected: &str| {
            let words = typed.split(' ').map(str::to_owned);
            assert_eq!(without_secrets(words).join(" "), expected);
        };
        check(
            "sokudo rr h --key k -a b",
            "sokudo rr h --key (hidden) -a b",
        );
        check(
            "sokudo rr h --key=k --keyed",
            "sokudo rr h --key=(hidden) --keyed",
        );
        for command in ["sokudo jmx run p", "sokudo compat jmeter -n -t p"] {
            let check = |typed: &str, expected: &str| {
                check(
                    &format!("{command} {typed}"),
                    &format!("{command} {expected}"),
                );
            };
            check("-u me -a pw -n", "-u me -a (hidden) -n");
            for option in ["-D", "-D ", "--systemproperty=", "-J"] {
                let property = format!("{option}javax.net.ssl.keyStorePassword=");
                check(&format!("{property}pw=1"), &format!("{property}(hidden)"));
            }
            check("-apw", "-a(hidden)");
            check("--password=pw", "--password=(hidden)");
        }
    }
}
