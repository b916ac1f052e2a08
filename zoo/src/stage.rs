//! Makes a world for real, runs the program in it, and takes it down again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use sokudo_testkit::databases::{DatabaseServer, mariadb_with, postgres_with};
use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::program::{Running, Sokudo, TempRuns, temp_runs};
use sokudo_testkit::servers::Daemon;
use sokudo_testkit::way::Way;

use crate::case::Drawn;
use crate::cgroup::Group;
use crate::machine::Busy;
use crate::proxy;
use crate::said::Said;
use crate::world::{Database, Engine, Event, Far, Proxy, Side, World};

/// Longest that one run may take.
const BOUND: Duration = Duration::from_secs(60);
/// Longest until a run records its first results.
const BEGINS_WITHIN: Duration = Duration::from_secs(20);
/// Folder below the place of a run that the far end lets others replicate to.
const FOLDER: &str = "replica";
/// Duration of a load that does not give its own.
const DURATION: &str = "--duration 3s";

/// Outcome of a run in a world.
#[derive(Debug)]
pub enum Came {
    /// The program said something; other programs used so many cores meanwhile.
    Said(Said, f64),
    /// It ended without a result.
    Nothing(String),
    /// This machine cannot make the world.
    Skipped(String),
}

/// Runs the program in a world. Its record is left in `kept`, where that is given.
pub fn run(world: World, drawn: &Drawn, program: &Path, kept: Option<&Path>) -> Came {
    match Stage::build(world, program) {
        Ok(stage) => stage.play(drawn, kept),
        Err(why) => Came::Skipped(why),
    }
}

/// A world that exists.
struct Stage {
    world: World,
    program: PathBuf,
    place: TempRuns,
    // In the order in which it is taken down.
    far: Vec<Running>,
    /// The far end, where it is a database server.
    database: Option<DatabaseServer>,
    /// The far end, where it is a web server of others; the one behind it is in `far`.
    proxy: Option<Daemon>,
    group: Option<Group>,
    disk: Option<Group>,
    _way: Option<Way>,
    hosts: Hosts,
    targets: Vec<String>,
}

impl Stage {
    /// Errors: what this machine lacks.
    fn build(mut world: World, program: &Path) -> Result<Self, String> {
        if let Some(lack) = world.lacks.first() {
            return Err((*lack).to_owned());
        }
        let others = usize::from(world.crowd.is_some());
        let hosts = Hosts::with_mtu(1 + world.peers + others, world.mtu)
            .ok_or("no hosts within this machine")?;
        let way = match world.way.take() {
            Some([there, back]) => {
                let way = Way::try_open(&hosts, there, back);
                Some(way.map_err(|why| format!("no link that a program carries: {why:?}"))?)
            }
            None => None,
        };
        let group = world
            .quota
            .map(|(_, share)| Group::new(share))
            .transpose()?;
        let place = temp_runs();
        let disk = world.slow_disk.as_ref();
        let disk = disk.map(|disk| Group::of_disk(disk, place.path()));
        let mut stage = Self {
            program: program.to_owned(),
            place,
            far: Vec::new(),
            database: None,
            proxy: None,
            group,
            disk: disk.transpose()?,
            _way: way,
            hosts,
            targets: Vec::new(),
            world,
        };
        for (name, text) in &stage.world.files {
            let written = std::fs::write(stage.place.path().join(name), text);
            written.map_err(|why| format!("no file `{name}`: {why}"))?;
        }
        for (side, command) in std::mem::take(&mut stage.world.commands) {
            stage.execute(side, &command)?;
        }
        if let Far::Database(database) = stage.world.far.clone() {
            stage.serve_database(&database)?;
            return Ok(stage);
        }
        if let Far::Proxy(proxy) = stage.world.far.clone() {
            stage.serve_proxy(&proxy)?;
            return Ok(stage);
        }
        for peer in 1..=stage.world.peers {
            let address = match (&stage._way, peer) {
                (Some(_), 1) => Way::address(1),
                _ => stage.hosts.address(peer),
            };
            let (running, target) = stage.serve(peer, &address.to_string(), 0, "");
            stage.far.push(running);
            stage.targets.push(target);
        }
        stage.crowd();
        Ok(stage)
    }

    /// Starts the far end of a host, or a server of this manner behind a proxy, and says where it listens.
    fn serve(&self, peer: usize, address: &str, port: u16, behind: &str) -> (Running, String) {
        let command = match &self.world.far {
            Far::Program => {
                let folder = self.place.path().join(FOLDER);
                // It is there for replications; other loads do not touch it.
                let _ = std::fs::create_dir_all(&folder);
                let folder = folder.display();
                let words = format!("serve --bind {address}:{port} --open --path {folder}");
                self.command(Side::Serving, &self.program.clone(), &words)
            }
            Far::Server(_) | Far::Proxy(_) => {
                let manner = match &self.world.far {
                    Far::Server(manner) => manner,
                    _ => behind,
                };
                let own = std::env::current_exe().expect("this program has a path");
                self.command(
                    Side::Serving,
                    &own,
                    &format!("serve listen={address}:{port} {manner}"),
                )
            }
            Far::Target(settings) => {
                let own = format!(
                    "--set listen.address={address}:{port} --set admin.address=127.0.0.1:0"
                );
                let words = format!("target app {own} {settings}");
                self.command(Side::Serving, &self.program.clone(), &words)
            }
            Far::Database(_) => unreachable!("a database server is started otherwise"),
        };
        let mut running = self.hosts.run_in(peer, move || command.start());
        let target: String = running.wait_for(|line| {
            let server = line.strip_prefix("serving on ");
            let at = server.or_else(|| line.strip_prefix("target app on http://"));
            Some(at?.trim().trim_end_matches('/').to_owned())
        });
        (running, target)
    }

    /// Starts a database server, and makes its tables.
    ///
    /// Errors: it is not installed, or the tables cannot be made.
    fn serve_database(&mut self, database: &Database) -> Result<(), String> {
        let Database {
            engine,
            settings,
            scale,
        } = database.clone();
        let start = move || {
            let mut settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            match engine {
                Engine::Postgres => {
                    settings.extend(["listen_addresses=*", "hba_file=hba.conf"]);
                    let anybody = "local all all trust\nhost all all all trust\n";
                    postgres_with(&settings, &[("hba.conf", anybody)])
                }
                Engine::MariaDb => {
                    settings.extend(["bind-address=0.0.0.0", "skip-name-resolve"]);
                    mariadb_with(&settings, &[])
                }
            }
        };
        let server = self.hosts.run_in(1, start);
        let server = server.ok_or("no such database server is installed")?;
        let address = match self._way {
            Some(_) => Way::address(1),
            None => self.hosts.address(1),
        };
        let target = format!("{address}:{}", server.port);
        let scheme = match engine {
            Engine::Postgres => "postgres",
            Engine::MariaDb => "mysql",
        };
        let words = format!(
            "db init --target {scheme}://bench@{target}/bench --workload tpcb --scale {scale}"
        );
        // Neither behind what the world puts before a program, nor within its quota.
        let made = self.command(Side::Hub, &self.program.clone(), &words);
        let made = self.hosts.run_in(0, move || made.run());
        if made.code != Some(0) {
            return Err(format!("no tables: {}", made.stderr.trim()));
        }
        let is_bounded = matches!(self.world.quota, Some((Side::Serving, _)));
        let quota = self.group.as_ref().filter(|_| is_bounded);
        for group in quota.into_iter().chain(&self.disk) {
            group.takes(server.id())?;
        }
        self.targets.push(target);
        self.database = Some(server);
        Ok(())
    }

    /// Starts a web server of others, and the zoo's own ones behind it.
    ///
    /// Errors: it is not installed.
    fn serve_proxy(&mut self, proxy: &Proxy) -> Result<(), String> {
        let mut to = Vec::new();
        for manner in &proxy.behind {
            let (behind, address) = self.serve(1, "127.0.0.1", 0, manner);
            self.far.push(behind);
            to.push(address);
        }
        let proxy = proxy.clone();
        let started = self.hosts.run_in(1, move || proxy::start(&proxy, &to));
        let daemon = started.ok_or("no such web server is installed")?;
        let address = match self._way {
            Some(_) => Way::address(1),
            None => self.hosts.address(1),
        };
        self.targets.push(format!("{address}:{}", daemon.port));
        self.proxy = Some(daemon);
        Ok(())
    }

    /// Lets another host send to the first far end, where the world wants that.
    fn crowd(&mut self) {
        let Some(rate) = self.world.crowd else { return };
        let own = std::env::current_exe().expect("this program has a path");
        let words = format!("serve listen={} crowd={rate}", self.hosts.address(1));
        let words = words.split_whitespace().map(OsString::from);
        let command = Sokudo::of(own.as_os_str(), words).bound(BOUND);
        let other = 1 + self.world.peers;
        self.far
            .push(self.hosts.run_in(other, move || command.start()));
    }

    /// Starts the first far end again, where it was.
    fn restart(&mut self) {
        if let Some(mut server) = self.database.take() {
            self.database = Some(self.hosts.run_in(1, move || {
                server.start_again();
                server
            }));
            return;
        }
        let address: Option<std::net::SocketAddr> = self.targets[0].parse().ok();
        let address = address.expect("a far end says where it listens");
        let (running, _) = self.serve(1, &address.ip().to_string(), address.port(), "");
        self.far[0] = running;
    }

    /// A program with words separated by blanks, behind what the world puts before it.
    fn command(&self, side: Side, program: &Path, words: &str) -> Sokudo {
        let shell = self.world.shell.iter().filter(|(of, _)| *of == side);
        let mut lines: Vec<String> = shell.map(|(_, line)| line.clone()).collect();
        if let (Some(group), Some((of, _))) = (&self.group, self.world.quota)
            && of == side
        {
            lines.push(group.joins());
        }
        let is_slow = matches!(&self.world.slow_disk, Some(disk) if disk.side == side);
        lines.extend(self.disk.as_ref().filter(|_| is_slow).map(Group::joins));
        let words = words.split_whitespace().map(OsString::from);
        let command = match lines.is_empty() {
            true => Sokudo::of(program.as_os_str(), words),
            false => {
                let script = format!("{}\nexec \"$@\"", lines.join("\n"));
                let shell = ["-c".into(), script.into(), "sh".into(), program.into()];
                Sokudo::of("sh".as_ref(), shell.into_iter().chain(words))
            }
        };
        command
            .dir(self.place.path())
            .env("SOKUDO_RUNS", "runs")
            .env("SOKUDO_LANG", "en")
            .bound(BOUND)
    }

    fn play(mut self, drawn: &Drawn, kept: Option<&Path>) -> Came {
        let hogs: Vec<Hog> = self
            .world
            .hogs
            .iter()
            .flat_map(|(core, n)| Hog::on(*core, *n))
            .collect();
        let busy = Busy::now();
        let load = drawn.load.replace(
            "FOLDER",
            &self.place.path().join(FOLDER).display().to_string(),
        );
        let words = words(&load, &self.targets);
        let command = self.command(Side::Asking, &self.program.clone(), &words);
        let mut client = self.hosts.run_in(0, move || command.start());
        if let Err(why) = self.let_happen(&mut client) {
            return Came::Skipped(why);
        }
        let ended = client.end();
        let others = busy.others_since();
        drop(hogs);
        let came = match ended {
            Ok(ended) => match Said::of(&ended, self.place.path()) {
                Ok(said) => Came::Said(said, others),
                Err(why) => Came::Nothing(why),
            },
            Err(_) => Came::Nothing(format!("it did not end within {} s", BOUND.as_secs())),
        };
        if let (Some(kept), Some(record)) = (kept, self.place.records().last()) {
            // Another file system: the record is not kept, which the folder shows.
            let _ = std::fs::rename(record, kept);
        }
        came
    }

    /// Lets the events happen, each at its time after the first results.
    fn let_happen(&mut self, client: &mut Running) -> Result<(), String> {
        let events = std::mem::take(&mut self.world.events);
        if events.is_empty() {
            return Ok(());
        }
        let begun = self.begun();
        for (after, event) in events {
            std::thread::sleep((begun + after).saturating_duration_since(Instant::now()));
            match event {
                Event::Command(side, command) => {
                    let port = self.targets[0].rsplit(':').next().unwrap_or_default();
                    self.execute(side, &command.replace("PORT", port))?;
                }
                Event::Stop(side) => signal(self.process(side, client), Signal::STOP),
                Event::GoOn(side) => signal(self.process(side, client), Signal::CONT),
                Event::Kill => match &mut self.database {
                    Some(server) => server.kill(),
                    None => signal(self.process(Side::Serving, client), Signal::KILL),
                },
                Event::Restart => self.restart(),
            }
        }
        Ok(())
    }

    fn process<'a>(&'a self, side: Side, client: &'a Running) -> &'a Running {
        match side {
            Side::Asking => client,
            Side::Serving | Side::Hub => &self.far[0],
        }
    }

    /// Time at which the run recorded its first results, or gave up.
    fn begun(&self) -> Instant {
        let deadline = Instant::now() + BEGINS_WITHIN;
        while !self.has_results() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        Instant::now()
    }

    /// True once the spool of the run that is under way has grown beyond what precedes a load.
    fn has_results(&self) -> bool {
        let spools = self
            .place
            .records()
            .into_iter()
            .map(|record| record.join("spool"));
        let files = spools.filter_map(|spool| std::fs::read_dir(spool).ok());
        let mut segments = files.flatten().flatten();
        segments.any(|file| {
            let bytes = std::fs::read(file.path()).unwrap_or_default();
            let load = [&b"_per_second"[..], b".requests"];
            load.iter()
                .any(|part| bytes.windows(part.len()).any(|window| window == *part))
        })
    }

    fn execute(&self, side: Side, command: &str) -> Result<(), String> {
        let words = command.to_owned();
        let run = move || executed(&words);
        let host = match side {
            Side::Asking => 0,
            Side::Serving => 1,
            Side::Hub => {
                let started = self.hosts.local().spawn_on_hub(run);
                return started
                    .map_err(|why| format!("no thread there: {why:?}"))?
                    .join()
                    .expect("no panic");
            }
        };
        self.hosts.run_in(host, run)
    }
}

/// The words of the command, with the far ends in place of `HOST`.
fn words(load: &str, targets: &[String]) -> String {
    let port = targets.first().and_then(|target| target.rsplit_once(':'));
    let words = load.replace("PORT", port.map_or("", |(_, port)| port));
    let mut words = words.replace("HOST", &targets.join(" "));
    // A plan says itself how long it takes.
    if !["--duration", "--count", "--bytes", "jmx run", "replicate"]
        .iter()
        .any(|word| words.contains(word))
    {
        words = format!("{words} {DURATION}");
    }
    words + " --json"
}

fn executed(command: &str) -> Result<(), String> {
    let done = Command::new("sh").args(["-c", command]).output();
    let done = done.map_err(|why| format!("no shell: {why}"))?;
    match done.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&done.stderr);
            Err(format!(
                "`{command}`: {}",
                said.lines().next().unwrap_or("failed")
            ))
        }
    }
}

fn signal(process: &Running, signal: Signal) {
    if let Some(pid) = Pid::from_raw(process.id() as i32) {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}

/// Keeps a core busy while this lives.
struct Hog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hog {
    fn on(core: usize, threads: usize) -> Vec<Self> {
        (0..threads).map(|_| Self::new(core)).collect()
    }

    fn new(core: usize) -> Self {
        let stop: Arc<AtomicBool> = Arc::default();
        let until = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut cores = CpuSet::new();
            cores.set(core);
            // A machine without this core has a hog on any of them.
            let _ = sched_setaffinity(None, &cores);
            while !until.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("spinning cannot fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_without_an_end_gets_one() {
        let targets = ["10.0.0.2:7".to_owned()];
        assert_eq!(
            words("rr HOST", &targets),
            "rr 10.0.0.2:7 --duration 3s --json"
        );
        assert_eq!(
            words("rr HOST --count 5", &targets),
            "rr 10.0.0.2:7 --count 5 --json"
        );
    }
}
