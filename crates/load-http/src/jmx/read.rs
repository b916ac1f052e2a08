//! Reading of a plan, and its preparation for a start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use jiff::tz::TimeZone;
use sokudo_http::{Family, Identity, Route, Scheme, Source, Targets, Via};
use sokudo_jmeter::check::FileUse;
use sokudo_jmeter::files::{FileAbout, Files, WriteMode};
use sokudo_jmeter::plan::{
    Destination, ListenerKind, Load, OpenStep, Plan, SourceKind, Stage, schedule,
};
use sokudo_jmeter::problem::Problem;
use sokudo_jmeter::run::{self, GeneratorShare, RunSettings, Sink, Test, Through};
use sokudo_jmeter::settings::Settings;
use sokudo_jmeter::{Reading, read};
use sokudo_model::{Refusal, Text};
use sokudo_net::clock::{now_ns, unix_ns};
use sokudo_workload::refusal::operator;

use super::key_store;
use super::options::JmxOptions;
use super::reach::{Reach, folder_of};
use super::saved;

/// Largest file that functions of a plan write.
const MOST_WRITTEN_BYTES: u64 = 1 << 30;
/// Most names of a folder that a script lists.
const MOST_NAMES: usize = 100_000;
/// Largest plan.
const MOST_BYTES: u64 = 64 << 20;
/// Length of an open load when neither the plan nor the options say it.
const OPEN_SECONDS: u64 = 60;

/// `User-Agent` of requests whose plan names none: that of the client which plans are written for, as
/// servers may answer browsers and programs differently.
const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.15)";

/// A plan that can be started.
pub struct Prepared {
    /// The plan with what the options change.
    pub plan: Plan,
    /// Share of this generator in it.
    pub(super) duty: Duty,
    /// Certificates that its users may show.
    pub(super) identities: Arc<[Identity]>,
    files: Arc<dyn Files + Send + Sync>,
    options: JmxOptions,
    seed: u64,
}

/// Share of one generator in a test.
#[derive(Debug, Clone)]
pub(super) struct Duty {
    /// Name of this host.
    pub host: String,
    /// Its users.
    pub users: GeneratorShare,
    /// Its rows of data files.
    pub data: GeneratorShare,
    /// Stands before the names of its users.
    pub name_prefix: String,
    /// Nanoseconds since 1970 at zero of the monotonic clock.
    pub wall_offset_ns: i64,
}

impl Duty {
    /// Everything, on this host.
    fn whole() -> Self {
        Self {
            host: sokudo_net::host::name().unwrap_or_default(),
            users: GeneratorShare::WHOLE,
            data: GeneratorShare::WHOLE,
            name_prefix: String::new(),
            wall_offset_ns: unix_ns() - now_ns(),
        }
    }
}

/// Reads a plan; the reading holds everything that is wrong with it. Errors: the file cannot be
/// read.
pub fn read_plan(options: &JmxOptions, seed: u64) -> Result<Reading, Refusal> {
    let path = &options.plan;
    let bytes = plan_bytes(path)?;
    Ok(read_text(options, seed, &bytes, &PlanFiles::of(options)))
}

/// The text of a plan's file. Errors: it cannot be read.
pub(super) fn plan_bytes(path: &Path) -> Result<Vec<u8>, Refusal> {
    read_bounded(path, MOST_BYTES).map_err(|error| {
        operator(
            Text::new("error-cannot-read")
                .with("path", path.display())
                .with("error", error),
            Text::new("error-jmx-readable-hint"),
        )
    })
}

/// Reads a plan from its text and the files that it names.
pub(super) fn read_text(
    options: &JmxOptions,
    seed: u64,
    bytes: &[u8],
    files: &dyn Files,
) -> Reading {
    let settings = Settings {
        properties: options.all_properties(),
        unsupported: options.unsupported,
        seed,
        now_ms: unix_ns() / 1_000_000,
        time_zone: TimeZone::system(),
    };
    read(&options.plan.display().to_string(), bytes, &settings, files)
}

impl Prepared {
    /// A plan with what the options change. Errors: it has errors, which the reading tells.
    pub fn new(reading: Reading, options: &JmxOptions, seed: u64) -> Result<Self, Refusal> {
        let files = Arc::new(PlanFiles::of(options));
        Self::with_files(reading, options, seed, files)
    }

    /// As [`Prepared::new`], with other files than those beside the plan.
    pub(super) fn with_files(
        reading: Reading,
        options: &JmxOptions,
        seed: u64,
        files: Arc<dyn Files + Send + Sync>,
    ) -> Result<Self, Refusal> {
        let refused = |first: Option<&Problem>, count: usize| {
            let says = match first {
                None => Text::new("error-jmx-errors").with("count", count),
                Some(first) => Text::new("error-jmx-errors-first")
                    .with("count", count)
                    .with("first", first),
            };
            operator(says, Text::new("error-jmx-errors-hint"))
        };
        let (errors, first) = (reading.errors, reading.problems.first().cloned());
        let Some(mut plan) = reading.plan.filter(|_| errors == 0) else {
            return Err(refused(first.as_ref(), errors));
        };
        change_plan(&mut plan, options)?;
        Ok(Self {
            identities: key_store::read(options, &plan)?,
            plan,
            duty: Duty::whole(),
            files,
            options: options.clone(),
            seed,
        })
    }

    /// Fails if the plan may not open a file in place. Errors: the file, and how to name it.
    pub(super) fn may_open(&self, path: &str) -> Result<(), Refusal> {
        self.files.may_open_here(path).map_err(|_| {
            operator(
                Text::new("error-jmx-file-outside").with("path", path),
                Text::new("error-jmx-file-outside-hint").with("path", path),
            )
        })
    }

    /// Tells while the test runs whether the plan may open a file in place.
    pub(super) fn opener(&self) -> Arc<dyn Fn(&str) -> bool + Send + Sync> {
        let files = Arc::clone(&self.files);
        Arc::new(move |path| files.may_open_here(path).is_ok())
    }

    /// Keeps the plan's listeners from writing files and from telling databases.
    pub fn keep_listeners_quiet(&mut self) {
        for listener in &mut self.plan.listeners {
            match &mut listener.kind {
                ListenerKind::Results { file, .. } => file.clear(),
                ListenerKind::Responses(of) => of.prefix.clear(),
                ListenerKind::Backend(backend) => backend.to = Destination::Nobody(String::new()),
                ListenerKind::Script(_) | ListenerKind::Summary => {}
            }
        }
    }

    /// Everything made ready. Errors: what in the plan cannot be executed.
    pub fn test(
        &self,
        targets: &Arc<Targets>,
        sink: Arc<dyn Sink>,
    ) -> Result<Arc<Test>, Vec<Problem>> {
        let name = self.options.plan.file_name().unwrap_or_default();
        let settings = RunSettings {
            seed: self.seed,
            wall_offset_ns: self.duty.wall_offset_ns,
            time_zone: TimeZone::system(),
            plan_name: name.to_string_lossy().into_owned(),
            host_name: self.duty.host.clone(),
            users: self.duty.users,
            data: self.duty.data,
            name_prefix: self.duty.name_prefix.clone(),
            host_address: "127.0.0.1".into(),
            properties: self.options.all_properties(),
            user_agent: USER_AGENT.into(),
            proxy: self.options.proxy(),
            aliases: self.identities.iter().map(|one| one.name.clone()).collect(),
        };
        let names = Arc::new(Names(Arc::clone(targets)));
        Test::new(
            self.plan.clone(),
            settings,
            Arc::clone(&self.files),
            names,
            sink,
        )
    }
}

/// Changes a plan by the options: users, length, and the model of its main groups.
///
/// Errors: the schedule of arrivals is not understood.
pub fn change_plan(plan: &mut Plan, options: &JmxOptions) -> Result<(), Refusal> {
    let schedule = schedule::parse(&options.schedule);
    let schedule = &schedule.map_err(|why| {
        operator(
            Text::new("error-jmx-schedule").with("why", why),
            Text::new("error-jmx-schedule-hint"),
        )
    })?;
    let main = plan
        .groups
        .iter_mut()
        .filter(|group| group.stage == Stage::Main);
    let main: Vec<_> = main.collect();
    let count = main.len().max(1);
    for group in main {
        if let Some(seconds) = options.ramp_s {
            ramp(&mut group.load, seconds);
        }
        if let Load::Users {
            users,
            duration_ms,
            loops,
            ..
        } = &mut group.load
        {
            *users = options.users.unwrap_or(*users);
            if let Some(seconds) = options.duration_s {
                *duration_ms = Some(seconds * 1_000);
                *loops = sokudo_jmeter::plan::Loops::Forever;
            }
        }
        if !options.schedule.is_empty() {
            group.load = Load::Open {
                schedule: shared(schedule, count),
                random_seed: None,
            };
        } else if let Some(rate) = options.open_per_s {
            let planned_ms = match &group.load {
                Load::Users { duration_ms, .. } => *duration_ms,
                other => other.end_ms(),
            };
            let asked_ms = options.duration_s.map(|seconds| seconds * 1_000);
            group.load = Load::Open {
                schedule: vec![
                    OpenStep::Rate {
                        per_s: rate / count as f64,
                    },
                    OpenStep::Arrivals {
                        duration_ms: asked_ms.or(planned_ms).unwrap_or(OPEN_SECONDS * 1_000),
                        random: options.poisson,
                    },
                ],
                random_seed: None,
            };
        }
    }
    Ok(())
}

/// Another time until all users of a group have begun, where its load has one.
fn ramp(load: &mut Load, seconds: u64) {
    match load {
        Load::Users { ramp_ms, .. } | Load::Concurrency { ramp_ms, .. } => {
            *ramp_ms = seconds.saturating_mul(1_000);
        }
        // Their tables and schedules say when each user begins.
        Load::Open { .. } | Load::Ramps { .. } | Load::Stepped { .. } => {}
    }
}

/// A schedule of one group of so many that follow it together.
fn shared(schedule: &[OpenStep], count: usize) -> Vec<OpenStep> {
    let part = |step: &OpenStep| match *step {
        OpenStep::Rate { per_s } => OpenStep::Rate {
            per_s: per_s / count as f64,
        },
        other => other,
    };
    schedule.iter().map(part).collect()
}

/// Gives targets their numbers.
struct Names(Arc<Targets>);

impl sokudo_jmeter::run::Targets for Names {
    fn target(&self, tls: bool, host: &str, port: u16) -> u32 {
        let scheme = if tls { Scheme::Https } else { Scheme::Http };
        self.0.intern(scheme, host, port).0
    }

    fn tunnel(&self, host: &str, port: u16, through: &Through) -> u32 {
        let (to, via) = ((host, port), via(through));
        let targets = &self.0;
        targets
            .intern_by(Scheme::Https, to, Some(&via), &Route::default())
            .0
    }

    fn routed(
        &self,
        (tls, host, port): (bool, &str, u16),
        through: Option<&Through>,
        route: &run::Route,
    ) -> u32 {
        let scheme = if tls { Scheme::Https } else { Scheme::Http };
        let name = route.source.clone();
        let source = match route.source_kind {
            _ if name.is_empty() => None,
            SourceKind::Host => Some(Source::Host(name)),
            SourceKind::Device => Some(Source::Device(name, Family::Any)),
            SourceKind::DeviceV4 => Some(Source::Device(name, Family::V4)),
            SourceKind::DeviceV6 => Some(Source::Device(name, Family::V6)),
        };
        let hosts = route.hosts.clone();
        let via = through.map(via);
        let identity = route.identity;
        let route = Route {
            source,
            hosts,
            servers: route.servers.clone(),
            identity,
        };
        self.0
            .intern_by(scheme, (host, port), via.as_ref(), &route)
            .0
    }
}

fn via(through: &Through) -> Via {
    Via {
        host: through.host.clone(),
        port: through.port,
        authorization: through.authorization.clone(),
    }
}

/// The files that a plan may read, by paths that begin at its folder.
#[derive(Clone)]
pub struct PlanFiles {
    folder: PathBuf,
    reach: Reach,
    /// True if nothing but the plan's folder is the plan's to see.
    is_confined: bool,
}

impl PlanFiles {
    /// The files of a plan with these options.
    pub fn of(options: &JmxOptions) -> Self {
        Self {
            is_confined: options.confined,
            ..Self::within(&options.plan, Reach::of(options))
        }
    }

    /// The files of a plan, as far as it reaches.
    pub fn within(plan: &Path, reach: Reach) -> Self {
        let folder = folder_of(plan);
        Self {
            folder,
            reach,
            is_confined: false,
        }
    }
}

impl PlanFiles {
    /// True if the plan may use a file that it names.
    pub fn may_use(&self, file: &FileUse) -> bool {
        let path = match file.is_written {
            _ if file.is_here => PathBuf::from(&file.path),
            true => saved::place(&file.path, &self.folder.join("plan")),
            false => self.folder.join(&file.path),
        };
        self.reach.check(&path).is_ok()
    }
}

impl Files for PlanFiles {
    fn read(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        let path = self.folder.join(path);
        self.reach.check(&path)?;
        read_plain(&path, most_bytes)
    }

    fn exists(&self, path: &str) -> bool {
        let path = self.folder.join(path);
        // Of a file elsewhere nothing is told but that, and only to who reads it.
        self.reach.check(&path).is_err() || path.is_file()
    }

    fn read_here(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.reach.check(Path::new(path))?;
        read_plain(Path::new(path), most_bytes)
    }

    fn exists_here(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn may_open_here(&self, path: &str) -> io::Result<()> {
        self.reach.check(Path::new(path))
    }

    fn write_here(&self, path: &str, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        let path = Path::new(path);
        self.reach.check(path)?;
        let about = std::fs::metadata(path);
        let before = match (&about, mode) {
            (Ok(about), _) if !about.is_file() => {
                return Err(io::Error::other("it is not a regular file"));
            }
            (Ok(about), WriteMode::Append) => about.len(),
            _ => 0,
        };
        if before.saturating_add(bytes.len() as u64) > MOST_WRITTEN_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut options = File::options();
        match mode {
            WriteMode::Append => options.append(true),
            WriteMode::Replace => options.write(true).truncate(true),
        };
        options.create(true).open(path)?.write_all(bytes)
    }

    fn about_here(&self, path: &str) -> io::Result<Option<FileAbout>> {
        self.reach.check(Path::new(path))?;
        let Ok(about) = std::fs::metadata(path) else {
            return Ok(None);
        };
        let changed = about.modified().ok();
        let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Ok(Some(FileAbout {
            is_folder: about.is_dir(),
            bytes: about.len(),
            changed_ms: changed.map_or(0, |since| since.as_millis() as u64),
        }))
    }

    fn list_here(&self, path: &str) -> io::Result<Option<Vec<String>>> {
        self.reach.check(Path::new(path))?;
        let Ok(entries) = std::fs::read_dir(path) else {
            return Ok(None);
        };
        let mut names = Vec::new();
        for entry in entries {
            if names.len() >= MOST_NAMES {
                return Err(io::Error::other("the folder holds too many files"));
            }
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        Ok(Some(names))
    }

    fn make_folder_here(&self, path: &str) -> io::Result<bool> {
        self.reach.check(Path::new(path))?;
        Ok(std::fs::create_dir(path).is_ok())
    }

    fn remove_here(&self, path: &str) -> io::Result<bool> {
        let path = Path::new(path);
        self.reach.check(path)?;
        let removed = match path.is_dir() && !path.is_symlink() {
            true => std::fs::remove_dir(path),
            false => std::fs::remove_file(path),
        };
        Ok(removed.is_ok())
    }

    fn folders(&self) -> io::Result<[String; 2]> {
        let here = std::env::current_dir()?;
        let plan = std::path::absolute(&self.folder)?;
        Ok([here, plan].map(|path| path.display().to_string()))
    }

    fn environment(&self) -> io::Result<BTreeMap<String, String>> {
        if self.is_confined {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "this plan sees its folder alone: give what it reads as properties",
            ));
        }
        let lossy = |text: OsString| text.to_string_lossy().into_owned();
        let all = std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value)));
        Ok(all.collect())
    }

    fn lent(&self) -> Option<Arc<dyn Files + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }
}

/// A file that a plan names, whole. Errors: it is larger, or no plain file: nobody may ever write into a
/// pipe, and the plan may be somebody else's.
fn read_plain(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if about.len() > most_bytes {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    read_bounded(path, most_bytes)
}

/// The whole file, unless it is larger: nothing endless is read.
pub fn read_bounded(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most_bytes {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_scripts_do_with_files_stays_within_the_reach_of_the_plan() {
        let place = tempfile::tempdir().expect("a directory");
        let at = |name: &str| place.path().join(name).display().to_string();
        for folder in ["plans", "other"] {
            std::fs::create_dir(at(folder)).expect("a directory");
        }
        std::fs::write(at("other/a.txt"), "secret").expect("written");
        let plan = PathBuf::from(at("plans/plan.jmx"));
        let files = PlanFiles::within(&plan, Reach::below(&plan, &[]));
        let outside = [at("other/a.txt"), at("plans/../other/a.txt")];
        for path in &outside {
            let denied = |outcome: io::Result<bool>| {
                let kind = outcome.expect_err(path).kind();
                assert_eq!(kind, io::ErrorKind::PermissionDenied, "{path}");
            };
            denied(files.read_here(path, 100).map(|_| true));
            denied(files.about_here(path).map(|_| true));
            denied(files.list_here(path).map(|_| true));
            denied(files.make_folder_here(path));
            denied(files.remove_here(path));
            denied(
                files
                    .write_here(path, b"x", WriteMode::Append)
                    .map(|()| true),
            );
        }
        let kept = std::fs::read(&outside[0]).expect("it is still there");
        assert_eq!(kept, b"secret");
        let inside = at("plans/new");
        assert!(files.make_folder_here(&inside).expect("within"));
        let about = files
            .about_here(&inside)
            .expect("within")
            .expect("it is made");
        assert!(about.is_folder);
        assert!(files.remove_here(&inside).expect("within"));
        assert_eq!(files.about_here(&inside).expect("within"), None);
    }

    #[test]
    fn what_users_append_at_a_time_is_neither_lost_nor_mixed() {
        let place = tempfile::tempdir().expect("a directory");
        let plan = place.path().join("plan.jmx");
        let path = place.path().join("log.txt").display().to_string();
        let files = PlanFiles::within(&plan, Reach::below(&plan, &[]));
        std::thread::scope(|scope| {
            for user in 0..8 {
                let (files, path) = (&files, &path);
                scope.spawn(move || {
                    for line in 0..200 {
                        let text = format!("{user}-{line}-{}\n", "x".repeat(300));
                        let written = files.write_here(path, text.as_bytes(), WriteMode::Append);
                        written.expect("written");
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&path).expect("read");
        let mut lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.ends_with(&"x".repeat(300))));
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 8 * 200);
    }

    #[cfg(unix)]
    #[test]
    fn a_plan_reads_plain_files_that_have_an_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("plain"), "a,b").expect("written");
        let long = File::create(file("long")).expect("made");
        long.set_len(10 << 30).expect("a file of holes");
        std::os::unix::fs::symlink("/dev/zero", file("endless")).expect("linked");
        let plan = file("plan.jmx");
        let files = PlanFiles::within(&plan, Reach::Everywhere);
        let read = |name: &str| files.read(name, 1 << 20).map_err(|why| why.kind());
        assert_eq!(read("plain"), Ok(b"a,b".to_vec()));
        assert_eq!(read("long"), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(read("endless"), Err(io::ErrorKind::Other));
        assert_eq!(read("."), Err(io::ErrorKind::Other));
        assert_eq!(read("none"), Err(io::ErrorKind::NotFound));
    }
}
