//! Carries out console lines.
//!
//! ```text
//! node 1 set connectnode 3 ─► input field of host 1 ┐
//! node 2 set connectnode 4 ─► input field of host 2 ┴─ all enter ─► queues ─► one phase: all start
//!                                                                             at the same moment
//! ```
//!
//! Each host has a connection, an input field and a queue. What is entered waits in the queues until
//! a line comes that waits for something (`waitallresults`, `waittime`, `syncTime`, the end), or at
//! once when the console is interactive. Then the first commands of all queues start together, then
//! the second ones, and so on: a host does its commands in order, and none starts before the others.

mod rehearse;
mod say;

use std::collections::{BTreeSet, VecDeque};

use sokudo_model::{PhaseRecord, Text, Unit, kinds};

use crate::execute::{Executor, Failed, HostInfo, OrderedLoad, Part, Phase};
use crate::line::{Command, Line, Order, Who};
use crate::mistake::{Mistake, placed};
pub use rehearse::rehearse;

/// Commands that may wait in the queue of one host.
const QUEUE_MAX: usize = 1000;

/// The reason why a line was not carried out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refused {
    /// It makes no sense here.
    #[error(transparent)]
    Mistake(#[from] Mistake),
    /// It does, and it failed.
    #[error("{}", sokudo_i18n::english(&placed(*line, 0, failed.says.clone())))]
    Failed {
        /// Line, from 1.
        line: u32,
        /// The failure.
        failed: Failed,
    },
}

impl Refused {
    /// Remedy for the operator.
    pub fn hint(&self) -> Option<&Text> {
        match self {
            Refused::Mistake(mistake) => Some(&mistake.hint),
            Refused::Failed { failed, .. } => failed.hint.as_ref(),
        }
    }

    /// The reason with its place.
    pub fn text(&self) -> Text {
        match self {
            Refused::Mistake(mistake) => mistake.text(),
            Refused::Failed { line, failed } => placed(*line, 0, failed.says.clone()),
        }
    }
}

/// Whether the console goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It reads the next line.
    Line,
    /// The line was `quit`.
    End,
}

/// Moment at which entered lines start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// With the next line that waits: for scripts.
    Gather,
    /// At once: for people.
    AtOnce,
}

/// One host's side of the console.
#[derive(Debug, Default)]
struct Seat {
    /// Number of the host that it is connected to.
    peer: Option<u32>,
    /// Content of the input field.
    field: Option<Order>,
    queue: VecDeque<Job>,
}

/// A command that is ready to start.
#[derive(Debug)]
struct Job {
    word: String,
    part: Part,
}

/// The console, with the state that earlier lines left.
#[derive(Debug)]
pub struct Console {
    pace: Pace,
    seats: Vec<Seat>,
    phases: u32,
    /// Hosts that have had results since they were last waited for.
    results: BTreeSet<String>,
    /// Flows without results since then.
    dead: Vec<String>,
}

impl Console {
    /// A console before its first line.
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            seats: Vec::new(),
            phases: 0,
            results: BTreeSet::new(),
            dead: Vec::new(),
        }
    }

    /// Carries out one line.
    ///
    /// Errors: it makes no sense, or nothing could be measured. The console goes on as it was.
    pub fn execute(&mut self, line: &Line, executor: &mut dyn Executor) -> Result<Next, Refused> {
        let number = line.number;
        let done = self.carry_out(&line.command, executor);
        done.map_err(|refused| match refused {
            Refused::Mistake(mistake) => mistake.on_line(number).into(),
            Refused::Failed { failed, .. } => Refused::Failed {
                line: number,
                failed,
            },
        })
    }

    /// Starts what still waits in the queues; `line` is the number of the last one.
    pub fn end(&mut self, line: u32, executor: &mut dyn Executor) -> Result<(), Refused> {
        let fired = self.fire(None, executor);
        fired.map_err(|failed| Refused::Failed { line, failed })
    }

    fn carry_out(
        &mut self,
        command: &Command,
        executor: &mut dyn Executor,
    ) -> Result<Next, Refused> {
        self.seats
            .resize_with(executor.hosts().len(), Seat::default);
        match command {
            Command::Quit => {
                self.fire(None, executor).map_err(failed)?;
                return Ok(Next::End);
            }
            Command::Help(word) => say::help(word.as_deref(), executor),
            Command::Hosts => say::hosts(executor),
            Command::SyncTime { most_ns } => {
                self.fire(None, executor).map_err(failed)?;
                executor.sync_time().map_err(failed)?;
                say::clocks(executor);
                known_well_enough(&executor.hosts(), *most_ns).map_err(failed)?;
            }
            Command::AutoPairs { pairs, column } => {
                self.pair(*pairs, *column, executor)?;
                self.go(executor)?;
            }
            Command::Pause(ns) => {
                self.fire(None, executor).map_err(failed)?;
                executor.pause(*ns).map_err(failed)?;
            }
            Command::Monitor(monitor) => {
                executor.observe(&monitor.text).map_err(failed)?;
            }
            Command::Await {
                results,
                timeout_ns,
            } => {
                self.fire(*timeout_ns, executor).map_err(failed)?;
                self.told(*results, executor);
            }
            Command::Order { who, order } => {
                self.order(who, order, executor)?;
                self.go(executor)?;
            }
        }
        Ok(Next::Line)
    }

    /// Starts what was entered, when the console is interactive.
    fn go(&mut self, executor: &mut dyn Executor) -> Result<(), Refused> {
        match self.pace {
            Pace::AtOnce => self.fire(None, executor).map_err(failed),
            Pace::Gather => Ok(()),
        }
    }

    /// Connects the first hosts with as many others.
    fn pair(
        &mut self,
        wanted: Option<u32>,
        column: u32,
        executor: &mut dyn Executor,
    ) -> Result<(), Refused> {
        let pairs = crate::pairs::pairs(&executor.hosts(), wanted)
            .map_err(|failed| Mistake::of(column, failed))?;
        for (one, other) in pairs {
            let who = Who::Nodes(vec![one], column);
            self.order(&who, &Order::ConnectNode(other, column), executor)?;
        }
        Ok(())
    }

    /// Gives an order to hosts. Either all of them take it, or none does.
    fn order(
        &mut self,
        who: &Who,
        order: &Order,
        executor: &mut dyn Executor,
    ) -> Result<(), Refused> {
        let hosts = executor.hosts();
        let (numbers, all) = match who {
            Who::All => ((1..=hosts.len() as u32).collect(), true),
            Who::Nodes(numbers, column) => {
                let unknown = |number: &&u32| **number as usize > hosts.len();
                if let Some(number) = numbers.iter().find(unknown) {
                    return Err(no_host(*column, &number.to_string(), &hosts).into());
                }
                (numbers.clone(), false)
            }
        };
        let mut changes = Vec::new();
        for number in numbers {
            let change = self.change(number, order, all, &hosts, executor)?;
            changes.push((number, change));
        }
        for (number, change) in changes {
            self.apply(number, change);
        }
        Ok(())
    }

    fn change(
        &self,
        number: u32,
        order: &Order,
        all: bool,
        hosts: &[HostInfo],
        executor: &dyn Executor,
    ) -> Result<Change, Mistake> {
        let seat = &self.seats[number as usize - 1];
        if seat.queue.len() >= QUEUE_MAX {
            return Err(Mistake::at(
                1,
                Text::new("error-scenario-queue")
                    .with("most", QUEUE_MAX)
                    .with("host", number),
                Text::new("error-scenario-queue-hint"),
            ));
        }
        match order {
            Order::Set(order) => {
                readable(order, hosts, executor)?;
                Ok(Change::Field(Some((**order).clone())))
            }
            Order::Clear => Ok(Change::Field(None)),
            Order::Disconnect => Ok(Change::Peer(None)),
            Order::Enter(column) => match &seat.field {
                Some(order) => self.change(number, order, all, hosts, executor),
                None if all => Ok(Change::Nothing),
                None => Err(Mistake::at(
                    *column,
                    Text::new("error-scenario-field-empty").with("host", number),
                    Text::new("error-scenario-field-empty-hint").with("host", number),
                )
                .for_lack_of_orders(number)),
            },
            Order::Connect(word) => {
                let peer = find_host(&word.text, hosts)
                    .ok_or_else(|| no_host(word.column, &word.text, hosts))?;
                self.connect(number, peer, all, word.column, executor)
            }
            Order::ConnectNode(peer, column) => {
                if *peer as usize > hosts.len() {
                    return Err(no_host(*column, &peer.to_string(), hosts));
                }
                self.connect(number, *peer, all, *column, executor)
            }
            Order::SendReceive { column, .. } => match load_of(order, executor)? {
                Some(load) => self.load(number, "sendreceive-n", *column, &load, all, hosts),
                None => Ok(Change::Nothing),
            },
            Order::Load { word, .. } => match load_of(order, executor)? {
                Some(load) => self.load(number, &word.text, word.column, &load, all, hosts),
                None => Ok(Change::Nothing),
            },
        }
    }

    /// A connection whose time is taken.
    fn connect(
        &self,
        number: u32,
        peer: u32,
        all: bool,
        column: u32,
        executor: &dyn Executor,
    ) -> Result<Change, Mistake> {
        if number == peer {
            return match all {
                true => Ok(Change::Nothing),
                false => Err(to_itself(number, column)),
            };
        }
        let load = read(
            kinds::crr::KIND.name,
            &["--count=1".into()],
            column,
            executor,
        )?;
        let part = part(number, &[peer], &load);
        let job = Job {
            word: "connect".into(),
            part,
        };
        Ok(Change::Connect(peer, job))
    }

    fn load(
        &self,
        number: u32,
        word: &str,
        column: u32,
        load: &OrderedLoad,
        all: bool,
        hosts: &[HostInfo],
    ) -> Result<Change, Mistake> {
        let mut peers = Vec::new();
        for peer in &load.peers {
            let peer = find_host(peer, hosts).ok_or_else(|| no_host(column, peer, hosts))?;
            peers.push(peer);
        }
        if peers.is_empty() && load.needs_a_peer() {
            match self.seats[number as usize - 1].peer {
                Some(peer) => peers.push(peer),
                // With `all`, those that others are connected to only answer.
                None if all => return Ok(Change::Nothing),
                None => {
                    return Err(Mistake::at(
                        column,
                        Text::new("error-scenario-unconnected").with("host", number),
                        Text::new("error-scenario-unconnected-hint").with("host", number),
                    )
                    .for_lack_of_orders(number));
                }
            }
        }
        if peers.contains(&number) {
            return match all {
                true => Ok(Change::Nothing),
                false => Err(to_itself(number, column)),
            };
        }
        Ok(Change::Queue(Job {
            word: word.to_owned(),
            part: part(number, &peers, load),
        }))
    }

    fn apply(&mut self, number: u32, change: Change) {
        let seat = &mut self.seats[number as usize - 1];
        match change {
            Change::Nothing => {}
            Change::Field(order) => seat.field = order,
            Change::Peer(peer) => seat.peer = peer,
            Change::Connect(peer, job) => {
                seat.peer = Some(peer);
                seat.queue.push_back(job);
            }
            Change::Queue(job) => seat.queue.push_back(job),
        }
    }

    /// Starts what waits: the first commands of all hosts together, then the next ones.
    fn fire(&mut self, bound_ns: Option<u64>, executor: &mut dyn Executor) -> Result<(), Failed> {
        loop {
            let jobs: Vec<Job> = self
                .seats
                .iter_mut()
                .filter_map(|seat| seat.queue.pop_front())
                .collect();
            if jobs.is_empty() {
                return Ok(());
            }
            self.phases += 1;
            let words: BTreeSet<&str> = jobs.iter().map(|job| job.word.as_str()).collect();
            let words: Vec<&str> = words.into_iter().collect();
            let phase = Phase {
                name: format!("{}-{}", self.phases, words.join("+")),
                parts: gathered(jobs.iter().map(|job| &job.part)),
                bound_ns,
                labels: vec![("command".into(), words.join("+"))],
            };
            match executor.carry_out(&phase) {
                Ok(record) => self.note(&record, executor),
                Err(failed) => {
                    // Later commands depend on the one that failed.
                    self.seats.iter_mut().for_each(|seat| seat.queue.clear());
                    return Err(failed);
                }
            }
        }
    }

    /// Keeps which hosts have results and which have none, and prints each flow.
    fn note(&mut self, record: &PhaseRecord, executor: &mut dyn Executor) {
        say::flows(record, executor);
        for says in executor.stalls(record) {
            executor.say(&says);
        }
        for flow in &record.result.flows {
            if flow.complete && !flow.metrics.is_empty() {
                self.results.insert(flow.from.clone());
            } else {
                self.dead.push(format!("{} → {}", flow.from, flow.to));
            }
        }
    }

    /// Prints how many hosts have results, and names those that have none.
    fn told(&mut self, wanted: Option<u32>, executor: &mut dyn Executor) {
        let came = self.results.len();
        let wanted = wanted.map_or(came, |wanted| wanted as usize);
        let dead = std::mem::take(&mut self.dead);
        self.results.clear();
        if came >= wanted && dead.is_empty() {
            let said = Text::new("console-results").word("n", came.to_string());
            return executor.say(&said);
        }
        let missing = match dead.is_empty() {
            false => Text::new("console-results-missing").word("flows", dead.join(", ")),
            true => Text::new("console-results-never-asked"),
        };
        executor.missing(
            missing
                .word("n", came.to_string())
                .word("wanted", wanted.to_string()),
        );
    }
}

/// Change of one host by an order.
enum Change {
    Nothing,
    Field(Option<Order>),
    Peer(Option<u32>),
    Connect(u32, Job),
    Queue(Job),
}

/// Refuses to go on with clocks that are known less well than asked for.
fn known_well_enough(hosts: &[HostInfo], most_ns: Option<u64>) -> Result<(), Failed> {
    let Some(most_ns) = most_ns else {
        return Ok(());
    };
    let most_s = most_ns as f64 * 1e-9;
    let wide = hosts
        .iter()
        .filter(|host| host.clock_error_seconds > most_s);
    let widest = wide.max_by(|a, b| a.clock_error_seconds.total_cmp(&b.clock_error_seconds));
    widest.map_or(Ok(()), |host| {
        Err(Failed::new(
            Text::new("error-scenario-clock")
                .with("host", host.number)
                .word("name", &host.name)
                .number("error", host.clock_error_seconds, Unit::Seconds)
                .number("most", most_s, Unit::Seconds),
            Text::new("error-scenario-clock-hint"),
        ))
    })
}

fn failed(failed: Failed) -> Refused {
    Refused::Failed { line: 1, failed }
}

/// Options that a workload does not take are a mistake of the line.
fn read(
    word: &str,
    arguments: &[String],
    column: u32,
    executor: &dyn Executor,
) -> Result<OrderedLoad, Mistake> {
    executor.read(word, arguments).map_err(|failed| {
        let hint = failed
            .hint
            .unwrap_or_else(|| Text::new("error-scenario-help-hint").word("word", word));
        Mistake::at(column, failed.says, hint)
    })
}

/// The load that an order asks for; `None` for an order that loads nothing.
fn load_of(order: &Order, executor: &dyn Executor) -> Result<Option<OrderedLoad>, Mistake> {
    match order {
        Order::SendReceive {
            size_bytes,
            times,
            options,
            column,
        } => {
            let mut arguments = vec![format!("--size={size_bytes}"), format!("--count={times}")];
            arguments.extend(options.iter().map(|word| word.text.clone()));
            read(kinds::rr::KIND.name, &arguments, *column, executor).map(Some)
        }
        Order::Load { word, arguments } => {
            let arguments: Vec<String> = arguments.iter().map(|w| w.text.clone()).collect();
            read(&word.text, &arguments, word.column, executor).map(Some)
        }
        _ => Ok(None),
    }
}

/// Refuses an order that cannot be carried out whenever it is entered.
fn readable(order: &Order, hosts: &[HostInfo], executor: &dyn Executor) -> Result<(), Mistake> {
    if let Some(load) = load_of(order, executor)? {
        let unknown = load
            .peers
            .iter()
            .find(|peer| find_host(peer, hosts).is_none());
        let column = match order {
            Order::SendReceive { column, .. } => *column,
            Order::Load { word, .. } => word.column,
            _ => 1,
        };
        return unknown.map_or(Ok(()), |peer| Err(no_host(column, peer, hosts)));
    }
    match order {
        Order::Connect(word) if find_host(&word.text, hosts).is_none() => {
            Err(no_host(word.column, &word.text, hosts))
        }
        Order::ConnectNode(peer, column) if *peer as usize > hosts.len() => {
            Err(no_host(*column, &peer.to_string(), hosts))
        }
        _ => Ok(()),
    }
}

/// The load of one host towards its peers.
pub(crate) fn part(number: u32, peers: &[u32], load: &OrderedLoad) -> Part {
    let host = |position: u32| match position.checked_sub(1) {
        None => Some(number),
        Some(peer) => peers.get(peer as usize).copied(),
    };
    let flows = load.flows.iter();
    let flows = flows.filter_map(|(from, to, stream)| Some((host(*from)?, host(*to)?, *stream)));
    Part {
        workload: load.workload.clone(),
        options: load.options.clone(),
        duration_ns: load.duration_ns,
        flows: flows.collect(),
    }
}

/// The same load of several hosts is one part.
pub(crate) fn gathered<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    for part in parts {
        let alike =
            |other: &&mut Part| other.workload == part.workload && other.options == part.options;
        match out.iter_mut().find(alike) {
            Some(other) => other.flows.extend(&part.flows),
            None => out.push(part.clone()),
        }
    }
    out
}

/// A host by its number, name or address; also as `GROUP/NAME`.
pub(crate) fn find_host(text: &str, hosts: &[HostInfo]) -> Option<u32> {
    let name = text.rsplit_once('/').map_or(text, |(_, name)| name);
    let named = hosts
        .iter()
        .find(|host| host.name == name || host.address == name)
        .map(|host| host.number);
    let numbered = || {
        let number = text.parse::<u32>().ok()?;
        hosts
            .iter()
            .any(|host| host.number == number)
            .then_some(number)
    };
    named.or_else(numbered)
}

fn no_host(column: u32, text: &str, hosts: &[HostInfo]) -> Mistake {
    let says = Text::new("error-scenario-no-host").word("host", text);
    let hint = match hosts.len() {
        0 => Text::new("error-scenario-no-host-hint-none"),
        n => Text::new("error-scenario-no-host-hint").with("n", n),
    };
    Mistake::at(column, says, hint)
}

fn to_itself(number: u32, column: u32) -> Mistake {
    Mistake::at(
        column,
        Text::new("error-scenario-itself").with("host", number),
        Text::new("error-scenario-itself-hint"),
    )
}

#[cfg(test)]
mod tests;
