//! `sokudo link`: two hosts inside this machine, and a link between them as it was asked for.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use sokudo_bus::direct;
use sokudo_i18n::{I18n, TextError, english};
use sokudo_link::{
    By, Choice, Link, LinkRequest, Loss, NAMES, PACKET_BYTES, Properties, STARTERS, Tally,
};
use sokudo_model::Text;
use sokudo_model::document::{Document, field};
use sokudo_model::units::{UnitError, duration, grouped, percent, si};
use sokudo_model::{Bytes, Nanos, Rate};
use sokudo_net::netns::{NetnsError, become_program};
use sokudo_net::process::{code_of, end_of, keep_interrupts_from, kill_with_all, own_program};

use super::finish::LangOption;
use super::screen::tell;
use super::{Exit, Failure, interrupted, stop_flag};

/// Time between two looks at a program that runs.
const LOOK: Duration = Duration::from_millis(10);
/// Longest wait for the far end to listen.
const READY_BOUND: Duration = Duration::from_secs(10);
/// Longest delay, and longest jitter.
const DELAY_MAX_NS: u64 = 60_000_000_000;
/// Least and greatest rate of a line, bits per second.
const RATES: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000_000;
/// Rate that this program carried with ease where it was measured, bits per second: see the guide.
const TUN_WITH_EASE: u64 = 200_000_000;
/// Where both ends of a connection of ours find its key.
const KEY: &str = "SOKUDO_KEY";

const EXAMPLES: &str = "\
Examples:
  sokudo link run --rate 100Mb/s --delay 20ms -- sokudo stream b
  sokudo link run --rate 20Mb/s --back rate=2Mb/s --loss 0.1% --far 'iperf3 -s' -- iperf3 -c b
  sokudo link run --delay 50ms --jitter 5ms --loss 1% --burst 8 -- bash
  sokudo link up --rate 100Mb/s --delay 20ms       until Ctrl-C; says how programs are started there";

/// Make two hosts inside this machine, joined by a link with a rate, a queue, a delay and losses.
///
/// The hosts are network namespaces and know each other as `a` and `b`; they, the link and the programs
/// on them end with this command, however it ends. The kernel carries a link with a rate and a delay where
/// it has tbf and netem; otherwise, and where packets are to be lost or to jitter, this program does,
/// between two TUN devices. Either way connections are those of the kernel's own TCP, from end to end.
/// Needs Linux and root, or a user namespace.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LinkArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Run(RunArgs),
    Up(UpArgs),
    Exec(ExecArgs),
}

/// Run a command on host a, with its far end on host b, and say what the link did.
///
/// Ends as the command does, with its exit code. The counters of the link go to standard error.
#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    link: LinkOptions,

    /// Command on host b, as a shell reads it: started first, and ended with the other one. Both find a
    /// key in SOKUDO_KEY. Default: `sokudo serve`.
    #[arg(long, value_name = "COMMAND")]
    far: Option<String>,

    /// The command on host a.
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

/// Keep hosts and link until Ctrl-C, and say how programs are started there.
#[derive(Debug, Args)]
struct UpArgs {
    #[command(flatten)]
    link: LinkOptions,
}

/// Run a command on a host of a link that is up.
#[derive(Debug, Args)]
struct ExecArgs {
    /// Process that holds the link: `sokudo link up` prints it.
    #[arg(value_name = "PID")]
    process: u32,

    /// The host.
    #[arg(value_name = "HOST")]
    host: Side,

    /// The command.
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

/// A host of a link.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Side {
    A,
    B,
}

/// Properties of a link.
#[derive(Debug, Args)]
struct LinkOptions {
    /// Rate of the line each way, Ethernet headers included: `100Mb/s`. Default: none, as fast as this
    /// machine is.
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    rate: Option<u64>,

    /// Room in front of the line; what does not fit is dropped. Default: what the rate sends during a
    /// round trip, and at least 100 packets.
    #[arg(long, value_name = "BYTES", value_parser = parse_queue)]
    queue: Option<u64>,

    /// Time from one host to the other, each way: a round trip takes twice as long.
    #[arg(long, value_name = "TIME", value_parser = parse_delay, default_value = "0")]
    delay: u64,

    /// Greatest additional delay; that of each packet is drawn evenly from 0 to this.
    #[arg(long, value_name = "TIME", value_parser = parse_delay, default_value = "0")]
    jitter: u64,

    /// Let packets with a short additional delay overtake others.
    #[arg(long)]
    reorder: bool,

    /// Share of packets that is lost, each way: `0.1%` or `0.001`.
    #[arg(long, value_name = "RATIO", value_parser = parse_share, default_value = "0")]
    loss: f64,

    /// Lose packets in bursts of this length on average (Gilbert-Elliott). Default: each by itself.
    #[arg(long, value_name = "PACKETS", value_parser = parse_burst)]
    burst: Option<f64>,

    /// What is different on the way back, from b to a: `rate=2Mb/s,queue=64KiB,delay=5ms,jitter=1ms,loss=1%,burst=4`.
    #[arg(long, value_name = "KEY=VALUE,…")]
    back: Option<String>,

    /// Who carries the packets.
    #[arg(long, value_enum, default_value_t = Carrier::Auto)]
    carrier: Carrier,

    /// Seed of loss and jitter: the same packets have the same fate. Default: another one each time.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Print the counters as one JSON object, the last line of standard error.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    language: LangOption,
}

/// Who carries the packets of a link.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Carrier {
    /// The kernel for a rate and a delay where it has both, otherwise this program.
    Auto,
    /// The kernel: tbf and netem.
    Kernel,
    /// This program, between two TUN devices.
    Tun,
}

/// What `sokudo link run --json` prints.
#[rustfmt::skip]
pub const COUNTERS: Document = Document {
    name: "link",
    command: "sokudo link run --json -- COMMAND",
    fields: &[
        field("carrier", "string", ""),
        field("carrier_reason", "string or null", ""),
        field("ways", "array of object", ""),
        field("ways[].from", "string", ""),
        field("ways[].to", "string", ""),
        field("ways[].address", "string", ""),
        field("ways[].rate", "integer or null", "bits/second"),
        field("ways[].queue", "integer or null", "bytes"),
        field("ways[].delay", "number", "seconds"),
        field("ways[].jitter", "number", "seconds"),
        field("ways[].loss", "number", "ratio"),
        field("ways[].offered_packets", "integer", ""),
        field("ways[].delivered_packets", "integer", ""),
        field("ways[].delivered_bytes", "integer", "bytes"),
        field("ways[].dropped_by_queue", "integer", ""),
        field("ways[].dropped_by_loss", "integer", ""),
        field("ways[].dropped_by_host", "integer", ""),
        field("ways[].queue_max", "integer or null", "bytes"),
        field("ways[].late_max", "number or null", "seconds"),
    ],
};

fn parse_rate(text: &str) -> Result<u64, TextError> {
    // A number without a unit is advised what a line takes, not what loads take.
    let bits = match text.parse::<Rate>() {
        Ok(Rate::Bits(bits)) => bits,
        Ok(Rate::Bytes(bytes)) => bytes * 8.0,
        Ok(Rate::Events(_)) | Err(UnitError::UnknownUnit { .. }) => {
            return Err(TextError::value("error-value-link-rate", text));
        }
        Err(error) => return Err(error.into()),
    };
    let bits = bits.round() as u64;
    let refused = || TextError::value("error-value-link-rate-range", text);
    RATES.contains(&bits).then_some(bits).ok_or_else(refused)
}

fn parse_queue(text: &str) -> Result<u64, TextError> {
    let bytes = text.parse::<Bytes>()?.0;
    let refused = || {
        TextError(
            Text::new("error-value-link-queue")
                .word("text", text)
                .with("packet", PACKET_BYTES),
        )
    };
    (bytes >= PACKET_BYTES).then_some(bytes).ok_or_else(refused)
}

fn parse_delay(text: &str) -> Result<u64, TextError> {
    let ns = text.parse::<Nanos>()?.0;
    let refused = || TextError::value("error-value-link-delay", text);
    (ns <= DELAY_MAX_NS).then_some(ns).ok_or_else(refused)
}

fn parse_share(text: &str) -> Result<f64, TextError> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|number| number * unit);
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| TextError::value("error-value-link-share", text))
}

fn parse_burst(text: &str) -> Result<f64, TextError> {
    let packets = text.parse::<f64>().ok();
    packets
        .filter(|packets| packets.is_finite() && *packets >= 1.0)
        .ok_or_else(|| TextError::value("error-value-link-burst", text))
}

/// One way as it was typed.
#[derive(Debug, Clone, Copy)]
struct Typed {
    rate: Option<u64>,
    queue: Option<u64>,
    delay_ns: u64,
    jitter_ns: u64,
    loss: f64,
    burst: Option<f64>,
}

impl Typed {
    /// Takes what is different: `rate=2Mb/s,loss=1%`.
    fn with(mut self, changes: &str) -> Result<Self, Failure> {
        for change in changes.split(',') {
            let pair = change.split_once('=').ok_or_else(|| bad_back(change))?;
            let (key, value) = (pair.0.trim(), pair.1.trim());
            let refused = |why: TextError| {
                Failure::operator(
                    Text::new("error-link-back")
                        .word("change", change)
                        .text("why", why.text()),
                    Text::new("error-link-back-hint"),
                )
            };
            match key {
                "rate" => self.rate = Some(parse_rate(value).map_err(refused)?),
                "queue" => self.queue = Some(parse_queue(value).map_err(refused)?),
                "delay" => self.delay_ns = parse_delay(value).map_err(refused)?,
                "jitter" => self.jitter_ns = parse_delay(value).map_err(refused)?,
                "loss" => self.loss = parse_share(value).map_err(refused)?,
                "burst" => self.burst = Some(parse_burst(value).map_err(refused)?),
                _ => return Err(bad_back(change)),
            }
        }
        Ok(self)
    }

    fn properties(self, may_reorder: bool) -> Result<Properties, Failure> {
        let loss = match self.burst {
            _ if self.loss == 0.0 => Loss::None,
            None => Loss::Share(self.loss),
            Some(packets) => Loss::bursts(self.loss, packets).ok_or_else(|| {
                Failure::operator(
                    Text::new("error-link-burst")
                        .word("loss", percent(self.loss))
                        .word("packets", packets.to_string()),
                    Text::new("error-link-burst-hint"),
                )
            })?,
        };
        let queue = match (self.queue, self.rate) {
            (Some(_), None) => {
                return Err(Failure::operator(
                    Text::new("error-link-queue"),
                    Text::new("error-link-queue-hint"),
                ));
            }
            (Some(bytes), _) => bytes,
            (None, Some(rate)) => Properties::usual_queue_bytes(rate, self.delay_ns),
            (None, None) => u64::MAX,
        };
        Ok(Properties {
            rate_bits_per_s: self.rate,
            queue_bytes: queue,
            delay_ns: self.delay_ns,
            jitter_ns: self.jitter_ns,
            may_reorder,
            loss,
        })
    }
}

fn bad_back(change: &str) -> Failure {
    Failure::operator(
        Text::new("error-link-back-key").word("change", change),
        Text::new("error-link-back-hint"),
    )
}

impl LinkOptions {
    fn asked(&self) -> Result<LinkRequest, Failure> {
        let there = Typed {
            rate: self.rate,
            queue: self.queue,
            delay_ns: self.delay,
            jitter_ns: self.jitter,
            loss: self.loss,
            burst: self.burst,
        };
        let back = match &self.back {
            Some(changes) => there.with(changes)?,
            None => there,
        };
        Ok(LinkRequest {
            ways: [
                there.properties(self.reorder)?,
                back.properties(self.reorder)?,
            ],
            choice: match self.carrier {
                Carrier::Auto => Choice::Auto,
                Carrier::Kernel => Choice::Kernel,
                Carrier::Tun => Choice::Tun,
            },
            seed: self.seed,
        })
    }

    /// Makes the link and says on standard error what was made.
    fn open(&self) -> Result<Opened<'_>, Failure> {
        let asked = self.asked()?;
        let link = Link::open(&asked)?;
        let opened = Opened {
            options: self,
            i18n: I18n::new(self.language.lang()),
            asked,
            link,
        };
        opened.announce();
        Ok(opened)
    }
}

impl From<NetnsError> for Failure {
    fn from(error: NetnsError) -> Self {
        Failure::operator(error.what, error.hint)
    }
}

/// A link, and what was asked of it.
struct Opened<'a> {
    options: &'a LinkOptions,
    i18n: I18n,
    asked: LinkRequest,
    link: Link,
}

impl Opened<'_> {
    fn say(&self, key: &str, values: &[(&str, &str)]) {
        tell(&self.i18n.message(key, values));
    }

    fn announce(&self) {
        for (direction, way) in self.asked.ways.iter().enumerate() {
            let properties = self.described(way);
            let (from, to) = ends(direction);
            let address = self.link.address(1 - direction).to_string();
            self.say(
                "link-way",
                &[
                    ("from", from),
                    ("to", to),
                    ("address", &address),
                    ("properties", &properties),
                ],
            );
        }
        match self.link.by() {
            By::Kernel(kinds) => self.say("link-by-kernel", &[("kinds", &kinds.join(", "))]),
            By::Tun(None) => self.say("link-by-tun", &[]),
            By::Tun(Some(why)) => {
                tell(
                    &self
                        .i18n
                        .text(&Text::new("link-by-tun-because").text("why", why)),
                );
            }
        }
        let rates = self.asked.ways.iter().filter_map(|way| way.rate_bits_per_s);
        let fastest = rates.max().filter(|rate| *rate > TUN_WITH_EASE);
        if let (By::Tun(_), Some(rate)) = (self.link.by(), fastest) {
            let [rate, ease] = [rate, TUN_WITH_EASE].map(|bits| si(bits as f64, "b/s"));
            self.say("link-fast", &[("rate", &rate), ("ease", &ease)]);
        }
    }

    /// The properties of a way as a list.
    fn described(&self, way: &Properties) -> String {
        let seconds = |ns: u64| duration(Nanos(ns).seconds());
        let mut list = Vec::new();
        let mut item = |key: &str, value: String| {
            list.push(self.i18n.message(key, &[("value", &value)]));
        };
        match way.rate_bits_per_s {
            Some(rate) => {
                item("link-rate", si(rate as f64, "b/s"));
                item("link-queue", si(way.queue_bytes as f64, "B"));
            }
            None => item("link-no-rate", String::new()),
        }
        item("link-delay", seconds(way.delay_ns));
        if way.jitter_ns > 0 {
            item("link-jitter", seconds(way.jitter_ns));
        }
        if !way.loss.is_none() {
            item("link-loss", percent(way.loss.share()));
        }
        list.join(" · ")
    }

    /// Says what the link has counted.
    fn tell(&self) -> Result<(), Failure> {
        let tallies = self.link.tallies()?;
        if self.options.json {
            eprintln!("{}", self.document(&tallies));
            return Ok(());
        }
        for (direction, tally) in tallies.iter().enumerate() {
            let (from, to) = ends(direction);
            let unknown = || self.i18n.message("link-unknown", &[]);
            let queue = tally.queue_max_bytes.map(|bytes| si(bytes as f64, "B"));
            self.say(
                "link-counted",
                &[
                    ("from", from),
                    ("to", to),
                    ("packets", &grouped(tally.delivered)),
                    ("bytes", &si(tally.delivered_bytes as f64, "B")),
                    ("queue", &grouped(tally.dropped_queue)),
                    ("loss", &grouped(tally.dropped_loss)),
                    ("most", &queue.unwrap_or_else(unknown)),
                ],
            );
            if tally.overflowed > 0 {
                let packets = grouped(tally.overflowed);
                self.say("link-overflowed", &[("to", to), ("packets", &packets)]);
            }
        }
        let late_ns = tallies.iter().filter_map(|tally| tally.late_max_ns).max();
        if let Some(late_ns) = late_ns {
            let late = duration(Nanos(late_ns).seconds());
            self.say("link-late", &[("late", &late)]);
        }
        Ok(())
    }

    /// The same for programs: see [`COUNTERS`].
    fn document(&self, tallies: &[Tally; 2]) -> Value {
        let (carrier, reason) = match self.link.by() {
            By::Kernel(_) => ("kernel", None),
            By::Tun(why) => ("tun", why.as_ref().map(english)),
        };
        let way = |direction: usize| {
            let (way, tally) = (&self.asked.ways[direction], &tallies[direction]);
            let (from, to) = ends(direction);
            json!({
                "from": from,
                "to": to,
                "address": self.link.address(1 - direction).to_string(),
                "rate": way.rate_bits_per_s,
                "queue": way.rate_bits_per_s.map(|_| way.queue_bytes),
                "delay": Nanos(way.delay_ns).seconds(),
                "jitter": Nanos(way.jitter_ns).seconds(),
                "loss": way.loss.share(),
                "offered_packets": tally.offered,
                "delivered_packets": tally.delivered,
                "delivered_bytes": tally.delivered_bytes,
                "dropped_by_queue": tally.dropped_queue,
                "dropped_by_loss": tally.dropped_loss,
                "dropped_by_host": tally.overflowed,
                "queue_max": tally.queue_max_bytes,
                "late_max": tally.late_max_ns.map(|ns| Nanos(ns).seconds()),
            })
        };
        json!({"carrier": carrier, "carrier_reason": reason, "ways": [way(0), way(1)]})
    }
}

/// Names of the hosts that a direction leads from and to.
fn ends(direction: usize) -> (&'static str, &'static str) {
    (NAMES[direction], NAMES[1 - direction])
}

/// Carries it out.
pub fn run(args: LinkArgs) -> Result<Exit, Failure> {
    match args.what {
        What::Run(args) => run_between(&args),
        What::Up(args) => up(&args),
        What::Exec(args) => Err(exec(&args)),
    }
}

fn run_between(args: &RunArgs) -> Result<Exit, Failure> {
    let wish = Wish::listen()?;
    let opened = args.link.open()?;
    let key = direct::new_key()?.to_text();
    let mut far = FarEnd::start(&opened, args.far.as_deref(), &key)?;
    far.wait_until_it_listens(&opened, &wish)?;
    let mut command = command_of(&args.command)?;
    command.env(KEY, &key);
    let mut near = opened.link.start(0, command).map_err(|error| {
        let program = args.command[0].to_string_lossy();
        cannot_start(&program, &error)
    })?;
    let status = wait(&mut near, &wish.end)?;
    drop(far);
    opened.tell()?;
    Ok(Exit::Command(code_of(status)))
}

fn up(args: &UpArgs) -> Result<Exit, Failure> {
    let stop = stop_flag()?;
    let opened = args.link.open()?;
    let process = std::process::id();
    for name in NAMES {
        println!("sokudo link exec {process} {name} -- COMMAND");
    }
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
    }
    opened.tell()?;
    Ok(Exit::Fine)
}

fn exec(args: &ExecArgs) -> Failure {
    let starter = STARTERS[args.host as usize];
    match command_of(&args.command) {
        Ok(command) => become_program(args.process, starter, command).into(),
        Err(failure) => failure,
    }
}

/// What was typed behind `--`. `sokudo` is this program, also where no PATH leads to it.
fn command_of(words: &[OsString]) -> Result<Command, Failure> {
    let [program, arguments @ ..] = words else {
        return Err(Failure::operator(
            Text::new("error-link-no-command"),
            Text::new("error-link-no-command-hint"),
        ));
    };
    let mut command = match program == "sokudo" {
        true => Command::new(own()?),
        false => Command::new(program),
    };
    command.args(arguments);
    Ok(command)
}

fn own() -> Result<std::path::PathBuf, Failure> {
    own_program().map_err(|error| cannot_start("sokudo", &error))
}

fn cannot_start(program: &str, error: &std::io::Error) -> Failure {
    Failure::operator(
        Text::new("error-link-start")
            .word("program", program)
            .with("error", error),
        Text::new("error-link-start-hint"),
    )
}

/// Signals that were received.
struct Wish {
    /// The polite request to end.
    end: Arc<AtomicBool>,
    /// Ctrl-C at the terminal, which is for the command once there is one: it gets it, too.
    interrupt: Arc<AtomicBool>,
}

impl Wish {
    fn listen() -> Result<Self, Failure> {
        let flag = |signal| {
            let flag = Arc::new(AtomicBool::new(false));
            let heard = signal_hook::flag::register(signal, Arc::clone(&flag));
            heard.map(|_| flag).map_err(|error| {
                Failure::run(Text::new("error-no-signals").with("error", error), None)
            })
        };
        Ok(Self {
            end: flag(signal_hook::consts::SIGTERM)?,
            interrupt: flag(signal_hook::consts::SIGINT)?,
        })
    }

    /// True for either, before there is a command.
    fn is_any(&self) -> bool {
        let flags = [&self.end, &self.interrupt];
        flags.iter().any(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Waits for a command, and ends it when that is wished.
fn wait(child: &mut Child, end: &AtomicBool) -> Result<ExitStatus, Failure> {
    loop {
        if end.load(Ordering::Relaxed) {
            // It may have ended by itself in the meantime.
            let _ = child.kill();
        }
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => thread::sleep(LOOK),
            Err(error) => return Err(cannot_start("wait", &error)),
        }
    }
}

/// The command on host b.
struct FarEnd {
    child: Child,
    words: String,
}

impl FarEnd {
    fn start(opened: &Opened<'_>, typed: Option<&str>, key: &str) -> Result<Self, Failure> {
        let mut command = match typed {
            Some(line) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(line);
                shell
            }
            None => {
                let mut serve = Command::new(own()?);
                serve.arg("serve").stderr(Stdio::null());
                serve
            }
        };
        // What is on standard output is the other command's.
        command
            .env(KEY, key)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        keep_interrupts_from(&mut command);
        let words = typed.unwrap_or("sokudo serve").to_owned();
        let child = opened.link.start(1, command);
        let child = child.map_err(|error| cannot_start(&words, &error))?;
        Ok(Self { child, words })
    }

    /// Waits until something on host b listens, or the far end has ended well: then it has nothing to
    /// listen for.
    ///
    /// Errors: it has ended badly, or the operator does not wait for it.
    fn wait_until_it_listens(&mut self, opened: &Opened<'_>, wish: &Wish) -> Result<(), Failure> {
        let deadline = Instant::now() + READY_BOUND;
        while Instant::now() < deadline {
            if wish.is_any() {
                return Err(interrupted());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                if status.success() {
                    return Ok(());
                }
                let says = Text::new("error-link-far")
                    .word("command", &self.words)
                    .word("end", end_of(status));
                return Err(Failure::run(says, Text::new("error-link-far-hint")));
            }
            let listens = opened.link.hosts().spawn_on(1, something_listens)?.join();
            if listens.unwrap_or(false) {
                return Ok(());
            }
            thread::sleep(LOOK);
        }
        opened.say("link-silent", &[("command", &self.words)]);
        Ok(())
    }
}

impl Drop for FarEnd {
    fn drop(&mut self) {
        kill_with_all(&self.child);
        // Its end is what was asked for.
        let _ = self.child.wait();
    }
}

/// True when the calling thread's host has a socket that waits for others.
fn something_listens() -> bool {
    // State 0A is LISTEN; a datagram socket with a port needs no state (proc_net(5)).
    let has = |file: &str, state: Option<&str>| {
        let path = Path::new("/proc/thread-self/net").join(file);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut rows = text.lines().skip(1);
        rows.any(|row| state.is_none_or(|state| row.split_ascii_whitespace().nth(3) == Some(state)))
    };
    ["tcp", "tcp6"].iter().any(|file| has(file, Some("0A")))
        || ["udp", "udp6"].iter().any(|file| has(file, None))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use sokudo_testkit::document::differences;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: LinkOptions,
    }

    fn options(line: &str) -> LinkOptions {
        let words = std::iter::once("link").chain(line.split_ascii_whitespace());
        Line::try_parse_from(words).expect("understood").options
    }

    #[test]
    fn a_way_back_is_the_same_but_for_what_is_different() {
        let line = "--rate 100Mb/s --delay 20ms --loss 0.1% --back rate=10Mb/s,loss=2%,burst=4";
        let [there, back] = options(line).asked().expect("possible").ways;
        assert_eq!(there.rate_bits_per_s, Some(100_000_000));
        assert_eq!(there.queue_bytes, 500_000);
        assert_eq!(there.loss, Loss::Share(0.001));
        assert_eq!(back.rate_bits_per_s, Some(10_000_000));
        assert_eq!(back.delay_ns, 20_000_000);
        assert!(matches!(back.loss, Loss::Bursts { .. }), "{:?}", back.loss);
        assert!((back.loss.share() - 0.02).abs() < 1e-9);
    }

    #[test]
    fn what_no_link_has_is_refused() {
        let keys = |line: &str| {
            let failure = options(line).asked().expect_err("refused");
            failure.says().key.clone()
        };
        assert_eq!(keys("--queue 64KiB"), "error-link-queue");
        assert_eq!(keys("--loss 90% --burst 2"), "error-link-burst");
        assert_eq!(keys("--back colour=red"), "error-link-back-key");
        assert_eq!(keys("--back rate"), "error-link-back-key");
        assert_eq!(keys("--back loss=many"), "error-link-back");
        for (parse, text) in [
            (parse_rate as fn(&str) -> Result<u64, TextError>, "20k/s"),
            (parse_rate, "1b/s"),
            (parse_queue, "1kB"),
            (parse_delay, "2min"),
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse_share("101%").is_err() && parse_share("-1").is_err());
        assert!(parse_burst("0.5").is_err() && parse_burst("inf").is_err());
    }

    #[test]
    fn counters_are_as_they_are_described() {
        let options = options("--rate 10Mb/s --carrier tun");
        let asked = options.asked().expect("possible");
        let link = match Link::open(&asked) {
            Ok(link) => link,
            Err(e) => return sokudo_testkit::skip(format!("no link: {e:?}")),
        };
        let opened = Opened {
            options: &options,
            i18n: I18n::new(sokudo_i18n::Lang::En),
            asked,
            link,
        };
        let document = opened.document(&opened.link.tallies().expect("counters"));
        assert_eq!(differences(&COUNTERS, &[document]), Vec::<String>::new());
    }
}
