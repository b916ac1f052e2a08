//! `sokudo target`: a server to be loaded, explained and tuned, and its knobs.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde_json::Value;
use sokudo_i18n::I18n;
use sokudo_model::document::{Document, field};
use sokudo_model::{Text, harmless};
use sokudo_monitors::KEY_VARIABLE;
use sokudo_net::unless::unless;
use sokudo_target::client::RemoteError;
use sokudo_target::held::{self, HoldError};
use sokudo_target::{
    BadSetting, Change, HeldKnobs, KeyFile, Preset, Remote, Settings, Target, TargetError,
};
use sokudo_workload::text_file::read_text;
use sokudo_workload::values::Span;

use super::finish::LangOption;
use super::screen::{announce, tell};
use super::{Exit, Failure, config, interrupted, stop_flag};

/// Time between two looks at the operator's wish to end.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two lines of `stat --watch`.
const WATCH: Duration = Duration::from_secs(1);
/// Largest file of settings, bytes.
const FILE_MAX: u64 = 1 << 20;

const EXAMPLES: &str = "\
Examples:
  sokudo target app                            the server, until Ctrl-C
  sokudo target app --set pool.max=10 --db postgres://bench@127.0.0.1/bench
  sokudo jmx run examples/was/stress.jmx -J THREAD_NUMBER=25 -J SUSTAIN=60 --monitor target
  sokudo target stat --watch                   which queue fills?
  sokudo target set pool.max=50                while it runs
  sokudo target set pool.max=50 --hold         until Ctrl-C; then the old value again
  sokudo target restore                        everything as it was at the start";

/// Start a server with the queues of an application server, look at its queues, change its knobs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TargetArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    App(AppArgs),
    Stat(StatArgs),
    Set(SetArgs),
    Restore(RestoreArgs),
}

/// Start the server: accept queue, connection limit, worker threads, connection pool, database.
///
/// `/` does no work; `/stress/…` takes a connection, multiplies primes and takes a connection again, as
/// the parameters searchTime, interval, duration, bit and updateTime say. An admin port with a thread of
/// its own tells the depth and the waits of every queue.
#[derive(Debug, Args)]
struct AppArgs {
    /// File of settings (TOML); `--print` shows all of them.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// What `/stress/…` does where a request does not say.
    #[arg(long, value_parser = PossibleValuesParser::new(Preset::ALL.map(Preset::name)))]
    preset: Option<String>,

    /// Database of the pool: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB`, `sqlite:PATH` or `sim:`; the same as
    /// `--set pool.url=URL`.
    #[arg(long, value_name = "URL")]
    db: Option<String>,

    /// One setting; may be given several times, and wins over file and preset.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,

    /// Print the settings as a file and end.
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    language: LangOption,
}

/// Which target is asked.
#[derive(Debug, Args)]
struct AdminArgs {
    /// Admin port of the target. Default: the target that was started last on this host.
    #[arg(long, value_name = "ADDR:PORT")]
    at: Option<SocketAddr>,
}

/// Show the depth and the waits of every queue.
#[derive(Debug, Args)]
struct StatArgs {
    #[command(flatten)]
    place: AdminArgs,

    /// Again every second, until Ctrl-C.
    #[arg(long)]
    watch: bool,

    /// One JSON object per line.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    language: LangOption,
}

/// Change knobs while the target runs; without any, print all of them.
///
/// All or none are changed. Each is printed with its old and its new value, and can be put back with
/// `restore`.
#[derive(Debug, Args)]
struct SetArgs {
    /// Knobs and their new values.
    #[arg(value_name = "KEY=VALUE")]
    knobs: Vec<String>,

    /// Keep the values until Ctrl-C, or for so long (`--hold=30s`), and put the old ones back then, also
    /// when this command is killed.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, requires = "knobs")]
    hold: Option<Option<Span>>,

    #[command(flatten)]
    place: AdminArgs,

    /// One JSON object per change and line.
    #[arg(long)]
    json: bool,
}

/// Put knobs back that were changed while the target ran.
#[derive(Debug, Args)]
struct RestoreArgs {
    /// Number of the last change that stays; 0 undoes all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    to: u64,

    #[command(flatten)]
    place: AdminArgs,

    /// One JSON object per change and line.
    #[arg(long)]
    json: bool,
}

/// Each line of `sokudo target stat --json`.
#[rustfmt::skip]
pub const STAGES: Document = Document {
    name: "target",
    command: "sokudo target stat --json",
    fields: &[
        field("uptime_seconds", "number", "seconds"),
        field("accept_queue", "object", ""),
        field("accept_queue.depth", "integer or null", ""),
        field("accept_queue.limit", "integer or null", ""),
        field("connections", "object", ""),
        field("connections.open", "integer", ""),
        field("connections.max", "integer", ""),
        field("connections.accepted_total", "integer", ""),
        field("connections.turned_away_total", "integer", ""),
        field("connections.accept_errors_total", "integer", ""),
        field("connections.bad_requests_total", "integer", ""),
        field("connections.timeouts_total", "integer", ""),
        field("workers", "object", ""),
        field("workers.active", "integer", ""),
        field("workers.size", "integer", ""),
        field("workers.max", "integer", ""),
        field("workers.queued", "integer", ""),
        field("workers.queue_max", "integer", ""),
        field("workers.rejected_total", "integer", ""),
        field("workers.timeouts_total", "integer", ""),
        field("workers.answers", "map of integer", ""),
        field("workers.wait", "object", ""),
        field("workers.wait.count", "integer", ""),
        field("workers.wait.seconds_total", "number", "seconds"),
        field("workers.wait.seconds_mean", "number or null", "seconds"),
        field("workers.wait.seconds_p50", "number or null", "seconds"),
        field("workers.wait.seconds_p99", "number or null", "seconds"),
        field("workers.service", "object", ""),
        field("workers.service.count", "integer", ""),
        field("workers.service.seconds_total", "number", "seconds"),
        field("workers.service.seconds_mean", "number or null", "seconds"),
        field("workers.service.seconds_p50", "number or null", "seconds"),
        field("workers.service.seconds_p99", "number or null", "seconds"),
        field("pool", "object", ""),
        field("pool.max", "integer", ""),
        field("pool.size", "integer", ""),
        field("pool.used", "integer", ""),
        field("pool.waiting", "integer", ""),
        field("pool.waited_total", "integer", ""),
        field("pool.timeouts_total", "integer", ""),
        field("pool.errors_total", "integer", ""),
        field("pool.wait", "object", ""),
        field("pool.wait.count", "integer", ""),
        field("pool.wait.seconds_total", "number", "seconds"),
        field("pool.wait.seconds_mean", "number or null", "seconds"),
        field("pool.wait.seconds_p50", "number or null", "seconds"),
        field("pool.wait.seconds_p99", "number or null", "seconds"),
        field("pool.hold", "object", ""),
        field("pool.hold.count", "integer", ""),
        field("pool.hold.seconds_total", "number", "seconds"),
        field("pool.hold.seconds_mean", "number or null", "seconds"),
        field("pool.hold.seconds_p50", "number or null", "seconds"),
        field("pool.hold.seconds_p99", "number or null", "seconds"),
        field("leaked_fds", "integer", ""),
    ],
};

/// Each line of `sokudo target set --json` and of `sokudo target restore --json`.
#[rustfmt::skip]
pub const CHANGES: Document = Document {
    name: "change",
    command: "sokudo target set KEY=VALUE --json",
    fields: &[
        field("number", "integer", ""),
        field("key", "string", ""),
        field("old", "any", ""),
        field("new", "any", ""),
        field("hold", "integer or null", ""),
    ],
};

/// Carries it out.
pub fn run(args: TargetArgs) -> Result<Exit, Failure> {
    match args.what {
        What::App(args) => app(args),
        What::Stat(args) => stat(&args),
        What::Set(args) => set(&args),
        What::Restore(args) => {
            let changes = args.place.remote()?.restore(args.to)?;
            print_changes(&changes, args.json);
            Ok(Exit::Fine)
        }
    }
}

impl From<BadSetting> for Failure {
    fn from(bad: BadSetting) -> Self {
        Failure::operator(bad.text(), bad.hint())
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Failure::operator(error.text(), error.hint())
    }
}

impl From<HoldError> for Failure {
    fn from(error: HoldError) -> Self {
        match error {
            HoldError::Remote(error) => error.into(),
            HoldError::File { path, error } => Failure::cannot_write(&path, &error),
        }
    }
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        let hint = Text::new("error-target-remote-hint");
        match error {
            RemoteError::Unreachable { at, error } => Failure::operator(
                Text::new("error-target-unreachable")
                    .word("at", at.to_string())
                    .word("error", error.to_string()),
                hint,
            ),
            RemoteError::Foreign { at, why } => Failure::operator(
                Text::new("error-target-foreign")
                    .word("at", at.to_string())
                    .word("why", why),
                hint,
            ),
            RemoteError::Key { at } => Failure::operator(
                Text::new("error-target-key").word("at", at.to_string()),
                Text::new("error-target-key-hint").word("variable", KEY_VARIABLE),
            ),
            RemoteError::Refused(refused) => Failure::operator(refused.says, refused.hint),
        }
    }
}

impl AppArgs {
    fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = match &self.file {
            Some(file) => {
                let name = file.display().to_string();
                let text = read_text(file, FILE_MAX).map_err(|error| BadSetting::File {
                    file: name.clone(),
                    why: error.to_string(),
                })?;
                Settings::parse(&text, &name)?
            }
            None => Settings::default(),
        };
        let named = |preset: &Preset| self.preset.as_deref() == Some(preset.name());
        if let Some(preset) = Preset::ALL.into_iter().find(named) {
            preset.apply(&mut settings);
        }
        if let Some(url) = &self.db {
            settings.pool.url.clone_from(url);
        }
        for pair in &self.settings {
            settings = settings.with_pair(pair)?;
        }
        settings.check()?;
        Ok(settings)
    }
}

/// Where targets of this user leave their keys.
pub fn folder() -> PathBuf {
    config().join("targets")
}

/// Puts back knobs that a program held which was killed, and says so.
pub fn recover(i18n: &I18n) {
    for found in held::recover(&folder()) {
        let (key, changes) = match &found.changes {
            Some(changes) => ("target-recovered", listed(changes)),
            None => ("target-recovered-itself", String::new()),
        };
        let (by, at) = (found.by.as_str(), found.at.to_string());
        let values = [
            ("by", by),
            ("at", at.as_str()),
            ("changes", changes.as_str()),
        ];
        tell(&i18n.message(key, &values));
    }
}

/// Changes in one line.
pub fn listed(changes: &[Change]) -> String {
    let different = changes.iter().filter(|change| change.old != change.new);
    let each = different.map(|change| {
        let (old, new) = (word(&change.old), word(&change.new));
        format!("{} {old} → {new}", change.key)
    });
    let all = each.collect::<Vec<_>>().join(", ");
    if all.is_empty() { "–".into() } else { all }
}

fn app(args: AppArgs) -> Result<Exit, Failure> {
    let settings = args.settings()?;
    if args.print {
        print!("{}", settings.to_toml());
        return Ok(Exit::Fine);
    }
    let i18n = I18n::new(args.language.lang());
    serve(settings, &i18n, |target| announce_target(&i18n, target))
}

/// Runs a target until Ctrl-C; `announce` says where it is.
pub fn serve(
    settings: Settings,
    i18n: &I18n,
    announce: impl FnOnce(&Target),
) -> Result<Exit, Failure> {
    let stop = stop_flag()?;
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|error| Failure::cannot_write(&folder, &error))?;
    let files = u64::from(settings.listen.max_open) + settings.fault.leak_fds + 1024;
    let granted = sokudo_net::wait::allow_open_files(files);
    // Its database may be silent.
    let place = folder.clone();
    let started = unless(&stop, move || sokudo_target::start(settings, &place));
    let target = started.ok_or_else(interrupted)??;
    announce(&target);
    // A pipe that is closed does not end the target.
    let _ = std::io::stdout().flush();
    if let Some(granted) = granted.filter(|granted| *granted < files) {
        let few = [
            ("files", granted.to_string()),
            ("wanted", files.to_string()),
        ];
        let few = few.each_ref().map(|(key, value)| (*key, value.as_str()));
        tell(&i18n.message("target-few-files", &few));
    }
    if !target.left().is_empty() {
        let changes = listed(target.left());
        tell(&i18n.message("target-left", &[("changes", changes.as_str())]));
    }
    while !stop.load(Ordering::Relaxed) {
        for back in target.take_put_back() {
            let (by, changes) = (back.by.as_str(), listed(&back.changes));
            let values = [("by", by), ("changes", changes.as_str())];
            tell(&i18n.message("target-put-back", &values));
        }
        std::thread::sleep(LOOK);
    }
    eprintln!("  {}", i18n.message("target-stopping", &[]));
    drop(target);
    Ok(Exit::Fine)
}

/// Says where everything is, on stdout because scripts wait for it.
fn announce_target(i18n: &I18n, target: &Target) {
    let (at, admin) = (target.at().to_string(), target.admin().to_string());
    let values = [("at", at.as_str()), ("admin", admin.as_str())];
    announce(&Text::new("status-target").word("url", format!("http://{at}/")));
    announce(&Text::new("status-admin").word("url", format!("http://{admin}")));
    for key in [
        "target-stress",
        "target-stat",
        "target-set",
        "target-monitor",
    ] {
        println!("  {}", i18n.message(key, &values));
    }
    if !target.admin().ip().is_loopback() {
        let key = target.key().key.as_str();
        let values = [("variable", KEY_VARIABLE), ("key", key)];
        println!("  {}", i18n.message("target-key", &values));
    }
    let usual = Settings::default().all();
    let settings = target.settings().all();
    let other = settings.iter().filter(|pair| !usual.contains(pair));
    let other: Vec<String> = other
        .map(|(key, value)| format!("{key}={}", word(value)))
        .collect();
    if !other.is_empty() {
        println!("  {}", other.join(" "));
    }
}

impl AdminArgs {
    fn remote(&self) -> Result<Remote, Failure> {
        remote(self.at)
    }
}

/// The target with this admin port, else the one that was started last on this host, with its key where
/// it lies here. Errors: there is none.
pub fn remote(at: Option<SocketAddr>) -> Result<Remote, Failure> {
    let known = KeyFile::all(&folder());
    let mut meant = known
        .into_iter()
        .filter(|file| at.is_none_or(|at| at == file.admin));
    let file = meant.next();
    let Some(at) = at.or(file.as_ref().map(|file| file.admin)) else {
        return Err(Failure::operator(
            Text::new("error-target-none"),
            Text::new("error-target-none-hint"),
        ));
    };
    let given = std::env::var(KEY_VARIABLE)
        .ok()
        .filter(|key| !key.is_empty());
    Ok(Remote::new(at, given.or(file.map(|file| file.key))))
}

fn stat(args: &StatArgs) -> Result<Exit, Failure> {
    let remote = args.place.remote()?;
    let stop = stop_flag()?;
    let i18n = I18n::new(args.language.lang());
    let mut before = None;
    loop {
        let asked = remote.clone();
        let stats = unless(&stop, move || asked.stats());
        let stats = stats.ok_or_else(interrupted)??;
        match args.json {
            true => println!("{stats}"),
            false => print!("{}", table(&i18n, &stats, before.as_ref())),
        }
        if !args.watch {
            return Ok(Exit::Fine);
        }
        before = Some(stats);
        std::thread::sleep(WATCH);
        if stop.load(Ordering::Relaxed) {
            return Ok(Exit::Fine);
        }
    }
}

/// The stages from the outside inwards. Waits are those since the last look, where there was one.
fn table(i18n: &I18n, stats: &Value, before: Option<&Value>) -> String {
    let count = |path: &str| {
        let value = stats.pointer(path).filter(|value| !value.is_null());
        value.map_or("–".into(), Value::to_string)
    };
    let wait = |path: &str| {
        let at = |stats: &Value| {
            let number = |name: &str| stats.pointer(&format!("{path}/{name}"))?.as_f64();
            number("seconds_total").zip(number("count"))
        };
        let (sum, n) = at(stats)?;
        let (sum_before, n_before) = before.and_then(at).unwrap_or_default();
        let new = n - n_before;
        (new > 0.0).then(|| (sum - sum_before) / new * 1e3)
    };
    let wait = |path: &str| wait(path).map_or("–".into(), |ms| format!("{ms:.1} ms"));
    let mut out = String::new();
    let mut line = |key: &str, values: [(&str, String); 5]| {
        let values = values.each_ref().map(|(key, value)| (*key, value.as_str()));
        // Writing into a string does not fail.
        let _ = writeln!(out, "{}", i18n.message(key, &values));
    };
    line(
        "target-line-front",
        [
            ("queue", count("/accept_queue/depth")),
            ("limit", count("/accept_queue/limit")),
            ("open", count("/connections/open")),
            ("max", count("/connections/max")),
            ("away", count("/connections/turned_away_total")),
        ],
    );
    line(
        "target-line-workers",
        [
            ("queued", count("/workers/queued")),
            ("active", count("/workers/active")),
            ("max", count("/workers/max")),
            ("wait", wait("/workers/wait")),
            ("service", wait("/workers/service")),
        ],
    );
    line(
        "target-line-pool",
        [
            ("waiting", count("/pool/waiting")),
            ("used", count("/pool/used")),
            ("max", count("/pool/max")),
            ("wait", wait("/pool/wait")),
            ("hold", wait("/pool/hold")),
        ],
    );
    out
}

fn set(args: &SetArgs) -> Result<Exit, Failure> {
    let remote = args.place.remote()?;
    if args.knobs.is_empty() {
        for (key, value) in remote.knobs()?.settings {
            println!("{}={}", harmless(&key), word(&value));
        }
        return Ok(Exit::Fine);
    }
    let pairs = args.knobs.iter().map(|text| {
        let pair = text.split_once('=');
        let (key, value) = pair.ok_or_else(|| BadSetting::NoPair(text.clone()))?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    });
    let pairs = pairs.collect::<Result<Vec<_>, BadSetting>>()?;
    match args.hold {
        Some(bound) => hold(args, remote, &pairs, bound),
        None => {
            print_changes(&remote.set(&pairs)?, args.json);
            Ok(Exit::Fine)
        }
    }
}

/// Keeps values for a time, or until Ctrl-C.
fn hold(
    args: &SetArgs,
    remote: Remote,
    pairs: &[(String, String)],
    bound: Option<Span>,
) -> Result<Exit, Failure> {
    let stop = stop_flag()?;
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|error| Failure::cannot_write(&folder, &error))?;
    let by = format!("target set --hold ({})", std::process::id());
    let held = HeldKnobs::hold(remote, &by, &folder)?;
    print_changes(&held.set(pairs)?, args.json);
    // A pipe that is closed does not end the hold.
    let _ = std::io::stdout().flush();
    let begun = std::time::Instant::now();
    let bound = bound.map(|bound| Duration::from_nanos(bound.0));
    let is_over = || bound.is_some_and(|bound| begun.elapsed() >= bound);
    while !stop.load(Ordering::Relaxed) && !is_over() {
        std::thread::sleep(LOOK);
    }
    print_changes(&held.release()?, args.json);
    Ok(Exit::Fine)
}

fn print_changes(changes: &[Change], json: bool) {
    for change in changes {
        match json {
            true => println!("{}", serde_json::json!(change)),
            false => println!(
                "{:>4}  {}: {} → {}",
                change.number,
                harmless(&change.key),
                word(&change.old),
                word(&change.new)
            ),
        }
    }
}

/// A value as it is typed; the target that told it may be anybody's.
fn word(value: &Value) -> String {
    let typed = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    harmless(&typed).into_owned()
}

#[cfg(test)]
mod tests {
    use sokudo_testkit::document::differences;

    use super::*;

    #[test]
    fn each_line_is_as_it_is_described() {
        let folder = tempfile::tempdir().expect("a folder");
        let pairs = [
            "listen.address=127.0.0.1:0",
            "admin.address=127.0.0.1:0",
            "pool.url=sim:",
        ];
        let settings = pairs.iter().fold(Settings::default(), |settings, pair| {
            settings.with_pair(pair).expect("a setting")
        });
        let target = sokudo_target::start(settings, folder.path()).expect("starts");
        let remote = Remote::new(target.admin(), Some(target.key().key.clone()));
        let stats = remote.stats().expect("an answer");
        assert_eq!(differences(&STAGES, &[stats]), Vec::<String>::new());
        let pair = ("pool.max".to_owned(), "5".to_owned());
        let changes = remote.set(&[pair]).expect("a change");
        let lines: Vec<Value> = changes
            .iter()
            .map(|change| serde_json::json!(change))
            .collect();
        assert_eq!(differences(&CHANGES, &lines), Vec::<String>::new());
    }
}
