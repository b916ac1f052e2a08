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

use sokudo_controller::Steering;
use sokudo_i18n::Lang;
use sokudo_model::{MonitorSpec, Record, Refusal, Text, kinds};
use sokudo_monitors::Files;
use sokudo_scenario::console::{Next, Pace, Refused};
use sokudo_scenario::{Console, HostInfo};
use sokudo_web::feed::{SentenceKind, Told};
use sokudo_web::{Feed, Language, Order};
use sokudo_workload::refusal::operator;

use super::desk::mistake;
use super::hosts::row;
use super::tap::Tap;
use super::{http, outcome};
use crate::{
    Beginning, Ended, Lab, Left, Reached, Sealed, begin, by_lines, carry_out, ended_by, heard,
    left_open, random_seed, read_lines, rehearse_program, script, seal,
};

/// Orders that wait: there is never more than one, and the end.
const ORDERS_MAX: usize = 2;
/// Time between two looks for messages of the hosts while the console's record waits for a line.
const LISTEN: Duration = Duration::from_millis(200);
/// A console record without a new line is closed after this.
const SILENCE: Duration = Duration::from_secs(15 * 60);

/// Hosts that a page is opened for; who opens it knows how they are called.
pub trait HostSource: Send {
    /// The hosts in a few words.
    fn name(&self) -> String;

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
pub struct Shared {
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

impl Shared {
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

    /// A flag that ends the run that begins now.
    fn fresh_stop(&self) -> Arc<AtomicBool> {
        let mut inside = self.lock();
        inside.stop = Arc::new(AtomicBool::new(inside.ending));
        Arc::clone(&inside.stop)
    }
}

/// The thread that carries out orders.
pub struct Worker {
    shared: Arc<Shared>,
    place: String,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts it; it waits for orders.
    pub fn start(setting: Setting, feed: Feed) -> io::Result<Self> {
        let (orders, queue) = sync_channel(ORDERS_MAX);
        let shared = Arc::new(Shared {
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
    pub fn shared(&self) -> Arc<Shared> {
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
    shared: Arc<Shared>,
    queue: Receiver<Order>,
}

impl Hand {
    fn work(&self) {
        while let Ok(order) = self.queue.recv() {
            match order {
                Order::Collect {} => self.collect(),
                Order::Run { language, text } => self.run(language, text),
                Order::Line { text } => self.converse(text),
                Order::Http {
                    url,
                    connections,
                    duration,
                    rate,
                    monitors,
                } => self.load(
                    &monitors,
                    [
                        format!("--connections={connections}"),
                        format!("--duration={duration}"),
                        format!("--rate={rate}"),
                        // What follows is not an option.
                        "--".into(),
                        url,
                    ],
                ),
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
        let stop = self.shared.fresh_stop();
        self.know(reached.infos());
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
            observer: Box::new(Tap::new(self.feed.clone())),
            voice: Box::new(move |what| feed.tell(Told::Says(SentenceKind::Answer, what.clone()))),
        };
        let lab = begin(reached, beginning)?;
        self.shared.steers(Some(lab.run.steering()));
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
            let marked = mistakes.iter().map(mistake).collect();
            self.feed.tell(Told::Mistakes(marked));
            let first = mistakes.first();
            let hint = first.map_or_else(String::new, |mistake| mistake.hint.clone());
            operator(first.map_or_else(String::new, ToString::to_string), hint)
        })?;
        let mut lab = self.open_at(reached, "run", self.seed())?;
        let ended = carry_out(&lines, &mut lab).unwrap_or_else(|refused| {
            self.feed.tell(Told::Mistakes(vec![marked(&refused)]));
            ended_by(refused)
        });
        Ok(by_lines(lab, ended, text))
    }

    fn run_javascript(&self, text: String) -> Result<Left, Refusal> {
        let reached = self.setting.place.reach()?;
        let seed = self.seed();
        let rehearsed = rehearse_program(&text, reached.infos(), seed, Vec::new());
        if let Some(first) = rehearsed.mistakes.first() {
            let refused = operator(first.to_string(), first.hint.clone());
            let marks = rehearsed.mistakes.iter().map(mistake).collect();
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
        let (left, error) = script::carry_out(lab, text, file, Vec::new());
        if let Some(error) = error.filter(|error| !error.interrupted) {
            feed.tell(Told::Mistakes(vec![sokudo_web::desk::Mistake {
                line: error.line,
                column: error.column,
                says: error.says,
                hint: error.hint.unwrap_or_default(),
            }]));
        }
        Ok(left)
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
        self.ends(sealed.map(|Sealed { record, ended }| {
            if let Ended::Early(failure) = &ended {
                self.fails(failure);
            }
            record.map(|(_, record)| record)
        }));
    }

    /// Tells how something ended; no record when nothing was measured.
    fn ends(&self, record: Result<Option<Record>, Refusal>) {
        let record = record.unwrap_or_else(|failure| {
            self.fails(&failure);
            None
        });
        let outcome = outcome::of(&self.feed, record.as_ref());
        self.feed.tell(Told::Ends(Some(outcome)));
    }

    /// Loads a web server from this host, as `sokudo http` does. A rate that is empty is none.
    fn load(&self, monitors: &[String], words: [String; 5]) {
        self.begins(kinds::http::KIND.name, true);
        let given = words.iter().filter(|word| *word != "--rate=");
        let words: Vec<String> = given.cloned().collect();
        let said = format!("http {}", words.join(" "));
        self.feed.tell(Told::Words(SentenceKind::Order, said));
        let monitors = match monitors_of(monitors) {
            Ok(asked) => [self.setting.monitors.clone(), asked].concat(),
            Err(refusal) => return self.ends(Err(refusal)),
        };
        let stop = self.shared.fresh_stop();
        let call = http::PageOrder {
            words: &words,
            command: self.setting.command.clone(),
            seed: self.setting.seed,
            monitors,
            stop,
            observer: Box::new(Tap::new(self.feed.clone())),
            steers: &|steering| self.shared.steers(Some(steering)),
        };
        self.ends(http::measured(call).map(Some));
    }
}

/// Monitors as the page writes them; they may not read files of this host.
fn monitors_of(texts: &[String]) -> Result<Vec<MonitorSpec>, Refusal> {
    let read = |text: &String| sokudo_monitors::parse(text, Files::Refused);
    let specs: Result<_, _> = texts.iter().map(read).collect();
    specs.map_err(|bad| operator(bad.to_string(), bad.hint()))
}

/// A line that was refused while the script ran.
fn marked(refused: &Refused) -> sokudo_web::desk::Mistake {
    match refused {
        Refused::Mistake(why) => mistake(why),
        Refused::Failed { line, failed } => sokudo_web::desk::Mistake {
            line: *line,
            column: 0,
            says: failed.says.clone(),
            hint: failed.hint.clone().unwrap_or_default(),
        },
    }
}
