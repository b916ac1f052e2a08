//! Shows a command that runs in a terminal in a browser, and lets it be stopped there.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use signal_hook::consts::SIGINT;
use sokudo_controller::{Observer, Run, Steering, host_name};
use sokudo_model::{Change, Record, Refusal, Text};
use sokudo_session::specs::row::{Light, Row};
use sokudo_web::desk::{Mistake, refusal};
use sokudo_web::feed::{Outcome, Told};
use sokudo_web::{Desk, Emit, Feed, Language, NotTaken, Order, Server, board};

use sokudo_session::page::{Tap, hosts, outcome, steer};

use super::DEFAULT_PLACE;
use crate::cli::Failure;
use crate::cli::screen::tell_status;

/// Longest time until pages get the end.
const LAST_WORD: Duration = Duration::from_millis(500);

/// Whether the page shows this command.
#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    /// Show the run in a browser while it goes on, and let it be stopped there. Beyond 127.0.0.1 the
    /// printed address holds a token.
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT_PLACE)]
    web: Option<SocketAddr>,
}

/// A page that shows one command.
pub struct Watched {
    feed: Feed,
    desk: Arc<Watching>,
    _server: Server,
}

impl WatchArgs {
    /// On this address, or nowhere.
    pub fn at(web: Option<SocketAddr>) -> Self {
        Self { web }
    }

    /// Serves the page when it is wanted; `what` is what the run is called after.
    pub fn open(&self, what: &str) -> Result<Option<Watched>, Failure> {
        let Some(at) = self.web else {
            return Ok(None);
        };
        let cannot = |error: std::io::Error| {
            Failure::run(Text::new("error-web-no-page").with("error", error), None)
        };
        let feed = Feed::new(&format!("sokudo {what}"), true).map_err(cannot)?;
        let desk = Arc::new(Watching {
            feed: feed.clone(),
            steering: Mutex::default(),
        });
        let (name, runs) = (host_name(), sokudo_store::runs_root());
        let both = (feed.clone(), Arc::clone(&desk) as Arc<dyn Desk>);
        let server = sokudo_web::open(at, false, &name, both, runs)?;
        tell_status(&Text::new("status-page").word("url", server.url(&name)));
        feed.tell(Told::Begins {
            what: what.into(),
            record: true,
        });
        Ok(Some(Watched {
            feed,
            desk,
            _server: server,
        }))
    }
}

impl Watched {
    /// Watches a run.
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(Tap::new(self.feed.clone()))
    }

    /// From now on the page lists the hosts of this run, and can change its load.
    pub fn begins(&self, run: &Run) {
        self.feed.tell(Told::Hosts(hosts::of(run)));
        *self.desk.lock() = Some(run.steering());
    }

    /// Shows a row of the specifications that are carried out.
    pub fn row(&self, place: usize, row: &Row) {
        let row = board::Row {
            name: row.name.clone(),
            light: row.light.name(),
            parts: row.parts(),
        };
        self.feed.offer(Told::Board(place, row));
    }

    /// Tells how the run ended, and leaves pages a moment to receive it.
    pub fn close(&self, record: &Record) {
        self.ends(outcome::of(&self.feed, Some(record)));
    }

    /// The same for specifications, each of which keeps its own records.
    pub fn close_rows(&self, rows: &[Row]) {
        let count = |light: Light| rows.iter().filter(|row| row.light == light).count();
        let (failed, all) = (count(Light::Red), rows.len());
        let says = Text::new("specs-over")
            .with("failed", failed)
            .with("all", all);
        self.ends(Outcome {
            record: None,
            status: if failed == 0 { "ok" } else { "failed" }.into(),
            verdict: vec![self.feed.both(&says)],
        });
    }

    fn ends(&self, outcome: Outcome) {
        self.feed.tell(Told::Ends(Some(outcome)));
        std::thread::sleep(LAST_WORD);
    }
}

/// Takes no orders but those that concern the load that runs.
struct Watching {
    feed: Feed,
    steering: Mutex<Option<Steering>>,
}

impl Watching {
    fn lock(&self) -> MutexGuard<'_, Option<Steering>> {
        self.steering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk for Watching {
    fn order(&self, _: Order) -> Result<(), NotTaken> {
        Err(watches().into())
    }

    fn emit(&self, _: &Emit) -> Result<String, Refusal> {
        Err(watches())
    }

    fn check(&self, _: Language, _: &str) -> Vec<Mistake> {
        Vec::new()
    }

    fn steer(&self, change: Change) -> Result<(), Refusal> {
        steer(self.lock().as_ref(), change)
    }

    fn stop(&self) -> bool {
        self.feed.tell(Told::Stopping);
        // What Ctrl-C in the terminal does: the run ends, and what was measured is kept.
        signal_hook::low_level::raise(SIGINT).is_ok()
    }
}

fn watches() -> Refusal {
    refusal(
        Text::new("error-page-watches"),
        Text::new("error-page-watches-hint"),
    )
}
