//! Describes a world: hosts, the way between them, the far end, and what happens while the load runs.
//!
//! Nothing exists yet: a case writes down what it wants, and [`crate::stage`] makes it.

use std::time::Duration;

use sokudo_testkit::relay::{Narrow, Script};

/// Place at which something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The host on which the program is called.
    Asking,
    /// The host of the far end.
    Serving,
    /// The bridge between all hosts.
    Hub,
}

/// Far end, which answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Far {
    /// `sokudo serve`.
    Program,
    /// The zoo's own server with this manner.
    Server(String),
    /// `sokudo target app` with these settings.
    Target(String),
    /// A database server with the tables of `tpcb`; loads name it `postgres://bench@HOST/bench`, or `mysql://…`.
    Database(Database),
    /// nginx or HAProxy in front of the zoo's own server.
    Proxy(Proxy),
}

/// A web server of others that passes requests on to the zoo's own server, of the same host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Whose it is.
    pub maker: Maker,
    /// Lines of its configuration that are the world's: what bounds requests, bodies, connections.
    pub lines: String,
    /// Lines of the part that takes requests.
    pub entrance: String,
    /// Words behind the port that it listens on.
    pub listens: String,
    /// Connections that it has room for.
    pub places: u32,
    /// Length of the key that it makes itself for TLS; 0: none.
    pub key_bits: u32,
    /// Words behind the address of each server that it passes requests on to.
    pub server: String,
    /// Manners of the servers behind it.
    pub behind: Vec<String>,
}

/// A disk on which programs do so many things a second; what is not bounded is not held back.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowDisk {
    /// Whose programs: those of the serving side, databases among them, or the asking program.
    pub side: Side,
    /// Writes a second.
    pub writes: Option<f64>,
    /// Reads a second.
    pub reads: Option<f64>,
}

/// A kind of web server of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// nginx; the lines stand among those of all servers.
    Nginx,
    /// HAProxy; the lines stand in the part of the servers behind it.
    HaProxy,
}

/// A database server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// Its engine.
    pub engine: Engine,
    /// Settings of its command line.
    pub settings: Vec<String>,
    /// Branches of its tables.
    pub scale: u32,
}

/// A kind of database server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
}

/// Something that happens while the load runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A command is executed; `PORT` is that of the far end.
    Command(Side, String),
    /// The program of this side stands still.
    Stop(Side),
    /// It goes on.
    GoOn(Side),
    /// The far end ends at once.
    Kill,
    /// It is started again, where it was.
    Restart,
}

/// A world.
#[derive(Debug)]
pub struct World {
    /// Scripts of the way there and back; none: the hosts are joined by a bridge alone.
    pub way: Option<[Script; 2]>,
    /// Seed of what the scripts draw.
    seed: u64,
    /// Commands that are executed on a host before anything starts.
    pub commands: Vec<(Side, String)>,
    /// Files beside the program: name, text.
    pub files: Vec<(&'static str, &'static str)>,
    /// Lines of a shell that the program of a side is started by.
    pub shell: Vec<(Side, String)>,
    /// Number of hosts with a far end; the command of the program names them all.
    pub peers: usize,
    /// The far end.
    pub far: Far,
    /// Share of a core that the program of a side gets.
    pub quota: Option<(Side, f64)>,
    /// The disk of a side is slow.
    pub slow_disk: Option<SlowDisk>,
    /// Mb/s of datagrams that another host sends to the far end meanwhile.
    pub crowd: Option<f64>,
    /// Cores that are kept busy, and by how many threads.
    pub hogs: Vec<(usize, usize)>,
    /// Events, each with its time after the load's first results.
    pub events: Vec<(Duration, Event)>,
    /// Reasons for which this world cannot be here.
    pub lacks: Vec<&'static str>,
    /// Largest packet of every link, where it is not the usual one.
    pub mtu: Option<u32>,
}

impl World {
    /// Two healthy hosts, with `sokudo serve` on one of them.
    pub fn new(seed: u64) -> Self {
        Self {
            way: None,
            seed,
            commands: Vec::new(),
            files: Vec::new(),
            shell: Vec::new(),
            peers: 1,
            far: Far::Program,
            quota: None,
            slow_disk: None,
            crowd: None,
            hogs: Vec::new(),
            events: Vec::new(),
            lacks: Vec::new(),
            mtu: None,
        }
    }

    /// Executes a command on a host before anything starts.
    pub fn on(&mut self, side: Side, command: impl Into<String>) {
        self.commands.push((side, command.into()));
    }

    /// Starts the program of a side behind this line of a shell.
    pub fn within(&mut self, side: Side, line: impl Into<String>) {
        self.shell.push((side, line.into()));
    }

    /// Changes what happens on the way to the far end.
    pub fn there(&mut self, change: impl FnOnce(Script) -> Script) {
        let [there, back] = self.scripts();
        self.way = Some([change(there), back]);
    }

    /// Changes what happens on the way back.
    pub fn back(&mut self, change: impl FnOnce(Script) -> Script) {
        let [there, back] = self.scripts();
        self.way = Some([there, change(back)]);
    }

    /// Delays both directions: a round trip takes twice as long.
    pub fn delay_ms(&mut self, delay_ms: f64) {
        let delay = Duration::from_secs_f64(delay_ms / 1e3);
        self.there(|script| script.delay(delay));
        self.back(|script| script.delay(delay));
    }

    /// Lets the zoo's own server answer, in this manner (see [`crate::server`]).
    pub fn served_by(&mut self, manner: impl Into<String>) {
        let more = manner.into();
        self.far = match std::mem::replace(&mut self.far, Far::Program) {
            Far::Program => Far::Server(more),
            Far::Server(first) => Far::Server(format!("{first} {more}")),
            Far::Target(_) | Far::Database(_) | Far::Proxy(_) => {
                unreachable!("a server of another kind has settings, no manner")
            }
        };
    }

    /// Lets the program's own application server answer, with these settings: `pool.max=3 …`.
    pub fn target(&mut self, settings: &str) {
        let settings = settings.split_whitespace();
        let words: Vec<String> = settings.map(|word| format!("--set {word}")).collect();
        self.far = Far::Target(words.join(" "));
    }

    /// Lets a database server answer, with so many branches and these settings of its command line.
    pub fn database(&mut self, engine: Engine, scale: u32, settings: &[&str]) {
        self.far = Far::Database(Database {
            engine,
            settings: settings.iter().map(|one| (*one).to_owned()).collect(),
            scale,
        });
    }

    /// Lets a web server of others answer, with these lines of its configuration, which passes requests on to the
    /// zoo's own server of this manner.
    pub fn proxied_by(&mut self, maker: Maker, lines: impl Into<String>, behind: &str) {
        self.far = Far::Proxy(Proxy {
            maker,
            lines: lines.into(),
            entrance: String::new(),
            listens: String::new(),
            places: 1024,
            key_bits: 0,
            server: String::new(),
            behind: vec![behind.to_owned()],
        });
    }

    /// Changes what is special about the web server of others.
    pub fn proxy(&mut self, change: impl FnOnce(&mut Proxy)) {
        match &mut self.far {
            Far::Proxy(proxy) => change(proxy),
            _ => unreachable!("this world has no proxy"),
        }
    }

    /// Says how the web server of others treats the servers behind it.
    pub fn treats(&mut self, words: impl Into<String>) {
        self.proxy(|proxy| proxy.server = words.into());
    }

    /// Bounds the writes of a side to its disk, a second.
    pub fn writes_slowly(&mut self, side: Side, per_second: f64) {
        self.slow_disk = Some(SlowDisk {
            side,
            writes: Some(per_second),
            reads: None,
        });
    }

    /// Bounds the reads of a side from its disk, a second.
    pub fn reads_slowly(&mut self, side: Side, per_second: f64) {
        self.slow_disk = Some(SlowDisk {
            side,
            writes: None,
            reads: Some(per_second),
        });
    }

    /// This world needs a program of others.
    pub fn needs(&mut self, program: &str, lack: &'static str) {
        let places = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(std::path::Path::new);
        if !places.iter().any(|place| place.join(program).is_file()) {
            self.lacks.push(lack);
        }
    }

    /// Something happens so long after the load's first results.
    pub fn at(&mut self, seconds: f64, event: Event) {
        self.events.push((Duration::from_secs_f64(seconds), event));
    }

    fn scripts(&mut self) -> [Script; 2] {
        let (there, back) = (self.seed, self.seed.wrapping_add(1));
        let new = || [there, back].map(|seed| Script::new().seed(seed));
        self.way.take().unwrap_or_else(new)
    }
}

/// A token bucket on a device: rate, and what its queue holds (tc-tbf(8)).
pub fn bucket(device: &str, megabits_per_s: f64, limit_bytes: u32) -> String {
    let rate = (megabits_per_s * 1e6).round();
    format!("tc qdisc replace dev {device} root tbf rate {rate}bit burst 16000 limit {limit_bytes}")
}

/// A narrow link whose queue, where it has one, holds so much of its rate.
pub fn narrow(megabits_per_s: f64, queue_ms: f64, waits: bool) -> Narrow {
    Narrow {
        rate_bits_per_s: (megabits_per_s * 1e6) as u64,
        room_bytes: (megabits_per_s * 125.0 * queue_ms) as u64,
        waits,
    }
}
