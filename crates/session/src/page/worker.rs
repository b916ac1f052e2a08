//! The thread that carries out what the page orders.
//!
//! One thread, one order at a time: a script from a fresh record to its report, or console lines that
//! share a record until it is closed. The thread tells the feed; it never waits for a page.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sokudo_controller::{Observer, Run, Steering};
use sokudo_i18n::Lang;
use sokudo_load_http::jmx;
use sokudo_model::{Manifest, MonitorSpec, Record, Refusal, Text, kinds, secrets};
use sokudo_monitors::Files;
use sokudo_scenario::console::{Next, Pace, Refused};
use sokudo_scenario::{Console, HostInfo};
use sokudo_web::desk::{PlanLoad, WebLoad};
use sokudo_web::feed::{SentenceKind, Told, Words};
use sokudo_web::{Feed, Language, Order};
use sokudo_workload::refusal::{interrupted, operator};

use super::desk::{mark, marks};
use super::hosts::row;
use super::tap::Tap;
use super::{load, ordered, outcome};
use crate::{
    Beginning, Ended, Lab, Left, LoadedServer, Reached, Sealed, begin, by_lines, carry_out,
    ended_by, heard, left_open, random_seed, read_lines, rehearse_program, script, seal,
};

/// Orders that wait: there is never more than one, and the end.
const ORDERS_MAX: usize = 2;
/// Time between two looks for messages of the hosts while the console's record waits for a line.
const LISTEN: Duration = Duration::from_millis(200);
/// A console record without a new line is closed after this.
const SILENCE: Duration = Duration::from_secs(15 * 60);
/// Time between two samples of the monitors while a plan is executed, nanoseconds.
const PLAN_INTERVAL_NS: u64 = 1_000_000_000;

/// Hosts that a page is opened for; who opens it knows how they are called.
pub trait HostSource: Send {
    /// The hosts in a few words.
    fn name(&self) -> String;

    /// The hosts as a command line names them.
    fn words(&self) -> Vec<String>;

    /// Calls the hosts; all of them must answer.
    fn reach(&self) -> Result<Reached, Refusal>;

    /// Calls the hosts, and tells of each that does not answer.
    fn reach_some(&self) -> Result<(Reached, Vec<Refusal>), Refusal>;
}

/// Settings of a page.
pub struct Setting {
    /// Hosts.
    pub place: Box<dyn HostSource>,
    /// The command line that opened the page, without secrets.
    pub command: Vec<String>,
    /// Seed of every run; drawn when absent.
    pub seed: Option<u64>,
    /// Time between two samples of the monitors, nanoseconds.
    pub interval_ns: u64,
    /// Monitors of each run beside the usual ones.
    pub monitors: Vec<MonitorSpec>,
    /// Systems that get the samples of each run, too.
    pub onward: Arc<dyn Onward>,
}

/// Systems beside the page that get the samples of its runs while they go on.
pub trait Onward: Send + Sync {
    /// An observer that hands samples on and passes everything to the page's own.
    fn around(&self, page: Box<dyn Observer>) -> Box<dyn Observer>;
    /// Takes note of the begin of a run: its samples are counted from there.
    fn begins(&self, manifest: &Manifest);
}

/// Activity of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Idle,
    /// An order.
    Works,
    /// It waits for the next line of an open record.
    Waits,
}

/// State that the desk and the worker share.
pub struct DeskState {
    orders: SyncSender<Order>,
    inside: Mutex<Inside>,
}

struct Inside {
    state: State,
    /// Ends what is under way.
    stop: Arc<AtomicBool>,
    /// Set when the program ends.
    ending: bool,
    hosts: Vec<HostInfo>,
    /// Changes the load that runs.
    steering: Option<Steering>,
}

impl DeskState {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hosts as they were last collected.
    pub fn hosts(&self) -> Vec<HostInfo> {
        self.lock().hosts.clone()
    }

    /// Handle that changes the running load.
    pub fn steering(&self) -> Option<Steering> {
        self.lock().steering.clone()
    }

    fn steers(&self, steering: Option<Steering>) {
        self.lock().steering = steering;
    }

    /// Hands an order to the worker unless `judge` refuses it.
    pub fn take_on(
        &self,
        order: Order,
        judge: impl FnOnce(State, &Order) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut inside = self.lock();
        judge(inside.state, &order)?;
        // A stop from here on is meant for this order, also while its hosts are still being called.
        if inside.state == State::Idle {
            inside.stop = Arc::new(AtomicBool::new(inside.ending));
        }
        inside.state = State::Works;
        // The worker is waiting: it has said so in the state.
        let _ = self.orders.try_send(order);
        Ok(())
    }

    /// Ends what is under way; false when nothing is.
    pub fn stop(&self) -> bool {
        let mut inside = self.lock();
        match inside.state {
            State::Idle => return false,
            State::Works => inside.stop.store(true, Ordering::Relaxed),
            State::Waits => {
                inside.state = State::Works;
                let _ = self.orders.try_send(Order::Close {});
            }
        }
        true
    }

    fn is(&self, state: State) {
        self.lock().state = state;
    }

    /// The flag that ends the order under way.
    ///
    /// Errors: it is set already, and nothing has begun.
    fn unstopped(&self) -> Result<Arc<AtomicBool>, Refusal> {
        let stop = Arc::clone(&self.lock().stop);
        match stop.load(Ordering::Relaxed) {
            true => Err(interrupted()),
            false => Ok(stop),
        }
    }
}

/// The thread that carries out orders.
pub struct Worker {
    shared: Arc<DeskState>,
    place: String,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts it; it waits for orders.
    pub fn start(setting: Setting, feed: Feed) -> io::Result<Self> {
        let (orders, queue) = sync_channel(ORDERS_MAX);
        let shared = Arc::new(DeskState {
            orders,
            inside: Mutex::new(Inside {
                state: State::Idle,
                stop: Arc::default(),
                ending: false,
                hosts: Vec::new(),
                steering: None,
            }),
        });
        let place = setting.place.name();
        let hand = Hand {
            setting,
            feed,
            shared: Arc::clone(&shared),
            queue,
        };
        let thread = std::thread::Builder::new()
            .name("sokudo-web-worker".into())
            .spawn(move || hand.work())?;
        Ok(Self {
            shared,
            place,
            thread,
        })
    }

    /// State that it shares with the desk.
    pub fn shared(&self) -> Arc<DeskState> {
        Arc::clone(&self.shared)
    }

    /// The hosts in a few words.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Ends what is under way, keeps what was measured, and waits until that is done.
    pub fn end(self) {
        {
            let mut inside = self.shared.lock();
            inside.ending = true;
            inside.stop.store(true, Ordering::Relaxed);
        }
        // Whatever it does, it looks at the flag, or gets this.
        let _ = self.shared.orders.try_send(Order::Close {});
        // A worker that has panicked has told why.
        let _ = self.thread.join();
    }
}

/// The worker's own side.
struct Hand {
    setting: Setting,
    feed: Feed,
    shared: Arc<DeskState>,
    queue: Receiver<Order>,
}

impl Hand {
    fn work(&self) {
        while let Ok(order) = self.queue.recv() {
            match order {
                Order::Collect {} => self.collect(),
                Order::Run { language, text } => self.run(language, text),
                Order::Line { text } => self.converse(text),
                Order::Http(asked) => self.load(asked),
                Order::Plan(asked) => self.execute(asked),
                Order::Close {} => {}
            }
            self.shared.steers(None);
            self.shared.is(State::Idle);
            if self.shared.lock().ending {
                return;
            }
        }
    }

    fn begins(&self, what: &str, record: bool) {
        let what = what.to_owned();
        self.feed.tell(Told::Begins { what, record });
    }

    fn fails(&self, failure: &Refusal) {
        let mut says = failure.says.clone();
        if let Some(hint) = failure.hint.as_ref().filter(|hint| !hint.is_empty()) {
            says = Text::new("error-with-hint")
                .text("says", says)
                .text("hint", hint.clone());
        }
        self.feed.tell(Told::Says(SentenceKind::Error, says));
    }

    /// Calls all hosts, and tells who they are and who does not answer.
    fn collect(&self) {
        self.begins("collect", false);
        match self.setting.place.reach_some() {
            Ok((reached, silent)) => {
                self.know(reached.infos());
                silent.iter().for_each(|failure| self.fails(failure));
            }
            Err(failure) => self.fails(&failure),
        }
        self.feed.tell(Told::Ends(None));
    }

    fn know(&self, hosts: Vec<HostInfo>) {
        let rows = hosts.iter().map(row).collect();
        self.shared.lock().hosts = hosts;
        self.feed.tell(Told::Hosts(rows));
    }

    /// Reaches the hosts and begins a record.
    fn open(&self, name: &str) -> Result<Lab, Refusal> {
        self.open_at(self.setting.place.reach()?, name, self.seed())
    }

    /// Seed of the next run.
    fn seed(&self) -> u64 {
        self.setting.seed.unwrap_or_else(random_seed)
    }

    fn open_at(&self, reached: Reached, name: &str, seed: u64) -> Result<Lab, Refusal> {
        self.know(reached.infos());
        let stop = self.shared.unstopped()?;
        let feed = self.feed.clone();
        let beginning = Beginning {
            name,
            command: self.setting.command.clone(),
            seed,
            interval_ns: self.setting.interval_ns,
            monitors: self.setting.monitors.clone(),
            max_skew_ns: None,
            quiet_phases: false,
            stop,
            observer: self.observer(),
            voice: Box::new(move |what| feed.tell(Told::Says(SentenceKind::Answer, what.clone()))),
            files: Files::Refused,
            find_knobs: None,
        };
        let lab = begin(reached, beginning)?;
        self.has_begun(&lab.run);
        Ok(lab)
    }

    /// Carries out a script.
    fn run(&self, language: Language, text: String) {
        self.begins("run", true);
        let outcome = match language {
            Language::Lines => self.run_lines(text),
            Language::Javascript => self.run_javascript(text),
        };
        self.over(outcome);
    }

    fn run_lines(&self, text: String) -> Result<Left, Refusal> {
        let reached = self.setting.place.reach()?;
        let lines = read_lines(&text, reached.infos()).map_err(|mistakes| {
            let marks = marks(&mistakes, &self.feed);
            self.feed.tell(Told::Mistakes(marks));
            first_of(&mistakes)
        })?;
        let mut lab = self.open_at(reached, "run", self.seed())?;
        let ended = carry_out(&lines, &mut lab).unwrap_or_else(|refused| {
            self.feed
                .tell(Told::Mistakes(vec![marked(&refused, &self.feed)]));
            ended_by(refused)
        });
        Ok(self.with_order(by_lines(lab, ended, text.clone()), Language::Lines, text))
    }

    /// The order and the command line for the record of a script.
    fn with_order(&self, left: Left, language: Language, text: String) -> Left {
        let mut left = left;
        let script = left.files.first().map_or("", |(name, _)| *name);
        if let Some(lab) = &mut left.lab {
            let file = lab.run.path().join(script).display().to_string();
            let words = ["run".to_owned(), file].into_iter();
            let words: Vec<String> = words.chain(self.setting.place.words()).collect();
            lab.run.manifest_mut().command = command(&words);
        }
        let order = order_json(&Order::Run { language, text });
        left.files.push((sokudo_web::ORDER, order));
        left
    }

    fn run_javascript(&self, text: String) -> Result<Left, Refusal> {
        let reached = self.setting.place.reach()?;
        let seed = self.seed();
        let rehearsed = rehearse_program(&text, reached.infos(), seed, Vec::new(), Files::Refused);
        if !rehearsed.mistakes.is_empty() {
            let refused = first_of(&rehearsed.mistakes);
            let marks = marks(&rehearsed.mistakes, &self.feed);
            self.feed.tell(Told::Mistakes(marks));
            return Err(refused);
        }
        if let Some(open) = rehearsed.open {
            self.feed
                .tell(Told::Says(SentenceKind::Answer, left_open(open)));
        }
        let lab = self.open_at(reached, "run", seed)?;
        let file = Path::new("page.js");
        let feed = self.feed.clone();
        let (left, error) = script::carry_out(lab, text.clone(), file, Vec::new());
        if let Some(error) = error.filter(|error| !error.interrupted) {
            let hint = error.hint.as_ref();
            feed.tell(Told::Mistakes(vec![sokudo_web::desk::Mistake {
                line: error.line,
                column: error.column,
                says: feed.both(&error.says),
                hint: hint.map_or_else(Words::default, |hint| feed.both(hint)),
            }]));
        }
        Ok(self.with_order(left, Language::Javascript, text))
    }

    /// Carries out console lines, from the first one until the record is closed.
    fn converse(&self, first: String) {
        self.begins("console", true);
        let mut lab = match self.open("console") {
            Ok(lab) => lab,
            Err(failure) => return self.over(Err(failure)),
        };
        let mut console = Console::new(Pace::AtOnce);
        let mut said = String::new();
        let mut text = first;
        let mut number = 0;
        let ended = loop {
            number += 1;
            self.feed.tell(Told::Works);
            self.feed
                .tell(Told::Words(SentenceKind::Order, text.clone()));
            match heard(&mut console, &text, number, &mut lab) {
                Ok(next) => {
                    said.push_str(&text);
                    said.push('\n');
                    if next == Next::End {
                        break Ended::Well;
                    }
                }
                Err(refused) => match ended_by(refused) {
                    Ended::Early(failure) => self.fails(&failure),
                    ended => break ended,
                },
            }
            match self.next_line(&mut lab) {
                Some(next) => text = next,
                None => break Ended::Well,
            }
        };
        self.over(Ok(by_lines(lab, ended, said)));
    }

    /// The next line of an open record; `None` when it is to be closed. Meanwhile the hosts are
    /// listened to.
    fn next_line(&self, lab: &mut Lab) -> Option<String> {
        self.shared.is(State::Waits);
        self.feed.tell(Told::Waits);
        let until = Instant::now() + SILENCE;
        while Instant::now() < until {
            match self.queue.recv_timeout(LISTEN) {
                Ok(Order::Line { text }) => return Some(text),
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => lab.run.attend(),
            }
        }
        self.shared.is(State::Works);
        // An order that came in the last moment finds no record any more.
        None
    }

    /// Closes the record and tells what came of it.
    fn over(&self, left: Result<Left, Refusal>) {
        let sealed = left.and_then(|left| seal(left, Lang::from_env()));
        // Who was lost on the way may be back.
        self.know(self.shared.hosts());
        let (record, ended) = match sealed {
            Ok(Sealed { record, ended }) => (Ok(record.map(|(_, record)| record)), ended),
            Err(failure) => (Err(failure), Ended::Well),
        };
        match ended {
            Ended::Early(failure) => match record {
                // What went wrong is what is to be seen first.
                Ok(None) => self.ends(Err(failure)),
                record => {
                    self.fails(&failure);
                    self.ends(record);
                }
            },
            Ended::Well | Ended::Interrupted => self.ends(record),
        }
    }

    /// Tells how something ended; no record when nothing was measured.
    fn ends(&self, record: Result<Option<Record>, Refusal>) {
        let outcome = match record {
            Ok(record) => outcome::of(&self.feed, record.as_ref()),
            Err(failure) => {
                self.fails(&failure);
                outcome::of_refusal(&self.feed, &failure)
            }
        };
        self.feed.tell(Told::Ends(Some(outcome)));
    }

    /// Loads a web server from this host, as `sokudo http` does.
    fn load(&self, asked: WebLoad) {
        let read = match ordered::on_server(&asked) {
            Ok(read) => read,
            Err(not) => return self.ends(Err(*not.why)),
        };
        self.begins(kinds::http::KIND.name, true);
        self.says(&read.words);
        let command = |_: &Path| command(&read.words);
        let order = order_json(&Order::Http(asked));
        let files = vec![(sokudo_web::ORDER.to_owned(), order.into_bytes())];
        let usual = match self.page_order(kinds::http::KIND.name) {
            Ok(usual) => usual,
            Err(stopped) => return self.ends(Err(stopped)),
        };
        let call = load::PageOrder {
            interval_ns: read.interval_ns,
            monitors: self.with_those_of(&read.server, read.monitors),
            command: &command,
            files,
            begun: &|run| self.has_begun(run),
            ..usual
        };
        self.ends(load::measured(call, |run| read.planned.measure(run)).map(Some));
    }

    /// Executes a plan from this host, as `sokudo jmx run` does.
    fn execute(&self, asked: PlanLoad) {
        let seed = self.seed();
        let read = match ordered::by_plan(&asked, seed, &|text| self.feed.both(text)) {
            Ok(read) => read,
            Err(not) => return self.ends(Err(*not.why)),
        };
        self.begins(kinds::jmx::KIND.name, true);
        let of = |plan: String| {
            let start = [jmx::NAME.to_owned(), "run".into(), plan].into_iter();
            start.chain(read.words.iter().cloned()).collect::<Vec<_>>()
        };
        self.says(&of(read.name.clone()));
        let command = |record: &Path| {
            let plan = record.join("plan").join(&read.name);
            command(&of(plan.display().to_string()))
        };
        let files = asked.files.iter().map(|file| {
            let text = secrets::hidden(&file.text).into_owned();
            (format!("plan/{}", file.name), text.into_bytes())
        });
        let mut files: Vec<(String, Vec<u8>)> = files.collect();
        let order = order_json(&Order::Plan(asked.clone()));
        files.push((sokudo_web::ORDER.to_owned(), order.into_bytes()));
        jmx::permit();
        let usual = match self.page_order(kinds::jmx::KIND.name) {
            Ok(usual) => usual,
            Err(stopped) => return self.ends(Err(stopped)),
        };
        let call = load::PageOrder {
            seed,
            interval_ns: PLAN_INTERVAL_NS,
            monitors: self.with_those_of(&LoadedServer::OF_PLAN, read.monitors.clone()),
            command: &command,
            files,
            begun: &|run| self.has_begun(run),
            ..usual
        };
        let phase = read.phase.clone();
        self.ends(load::measured(call, |run| run.run_phase(phase).map(drop)).map(Some));
    }

    /// These monitors, those of every run, and those that come with the loaded server.
    fn with_those_of(&self, server: &LoadedServer, asked: Vec<MonitorSpec>) -> Vec<MonitorSpec> {
        let mut monitors = [self.setting.monitors.clone(), asked].concat();
        // They take no option that could be refused.
        let attached = server.monitors(&monitors).unwrap_or_default();
        monitors.extend(attached.specs);
        monitors
    }

    /// Common part of all loads of the page.
    ///
    /// Errors: it was stopped before it began.
    fn page_order(&self, workload: &'static str) -> Result<load::PageOrder<'_>, Refusal> {
        Ok(load::PageOrder {
            workload,
            seed: self.seed(),
            interval_ns: self.setting.interval_ns,
            monitors: Vec::new(),
            stop: self.shared.unstopped()?,
            observer: self.observer(),
            begun: &|_| (),
            command: &|_| Vec::new(),
            files: Vec::new(),
        })
    }

    /// Observer of a run for the page and for the systems beside it.
    fn observer(&self) -> Box<dyn Observer> {
        let tap = Box::new(Tap::new(self.feed.clone()));
        self.setting.onward.around(tap)
    }

    /// Tells the page how to change a run, and the systems beside it when it began.
    fn has_begun(&self, run: &Run) {
        self.shared.steers(Some(run.steering()));
        self.setting.onward.begins(run.manifest());
    }

    /// Shows an order as the command line that does the same.
    fn says(&self, words: &[String]) {
        let said = words.join(" ");
        self.feed.tell(Told::Words(SentenceKind::Order, said));
    }
}

/// An order as it stands in the record that came of it, without secrets.
fn order_json(order: &Order) -> String {
    // Plain data cannot fail to be written.
    let json = serde_json::to_string(order).unwrap_or_default();
    secrets::hidden_json(&json).into_owned()
}

/// Words behind `sokudo` as a command line for the record, without secrets.
fn command(words: &[String]) -> Vec<String> {
    let words = words.iter().map(|word| secrets::hidden(word).into_owned());
    std::iter::once("sokudo".to_owned()).chain(words).collect()
}

/// The refusal of a script with these mistakes: the first one.
fn first_of(mistakes: &[sokudo_scenario::Mistake]) -> Refusal {
    let nothing = || operator("", "");
    mistakes.first().map_or_else(nothing, |mistake| {
        operator(mistake.text(), mistake.hint.clone())
    })
}

/// A line that was refused while the script ran.
fn marked(refused: &Refused, feed: &Feed) -> sokudo_web::desk::Mistake {
    match refused {
        Refused::Mistake(why) => mark(why, feed),
        Refused::Failed { line, failed } => sokudo_web::desk::Mistake {
            line: *line,
            column: 0,
            says: feed.both(&failed.says),
            hint: failed
                .hint
                .as_ref()
                .map_or_else(Words::default, |hint| feed.both(hint)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> (DeskState, Receiver<Order>) {
        let (orders, queue) = sync_channel(ORDERS_MAX);
        let inside = Mutex::new(Inside {
            state: State::Idle,
            stop: Arc::default(),
            ending: false,
            hosts: Vec::new(),
            steering: None,
        });
        (DeskState { orders, inside }, queue)
    }

    fn takes_on(shared: &DeskState) {
        let taken = shared.take_on(Order::Collect {}, |_, _| Ok(()));
        taken.expect("taken on");
    }

    /// The hosts are called, and a script is rehearsed, before a run begins: that may take long.
    #[test]
    fn a_stop_before_the_run_begins_is_not_lost() {
        let (shared, queue) = shared();
        assert!(!shared.stop(), "nothing is under way");
        takes_on(&shared);
        assert!(shared.stop());
        let stopped = shared.unstopped().expect_err("it was stopped");
        assert_eq!(stopped.says.key, "error-interrupted");
        // It was meant for that order alone.
        assert!(queue.try_recv().is_ok());
        shared.is(State::Idle);
        takes_on(&shared);
        assert!(shared.unstopped().is_ok());
    }
}
