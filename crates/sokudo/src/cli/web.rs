//! `sokudo web`: shows and steers the hosts in a browser.

mod watch;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use sokudo_controller::host_name;
use sokudo_i18n::{I18n, Lang};
use sokudo_model::Text;
use sokudo_session::page::{Onward, Orders, Setting, Worker};
use sokudo_web::{Feed, Server, WebError};
use sokudo_workload::values::Span;

use super::observe::ObserveArgs;
use super::out::OutArgs;
use super::scenario::PlaceArgs;
use super::screen::{announce, tell, tell_status};
use super::{Exit, Failure, command_for_record, stop_flag};

pub use watch::{WatchArgs, Watched};

/// Default address of the page.
pub const DEFAULT_PLACE: &str = "127.0.0.1:7480";
/// Time between two samples of the monitors, nanoseconds.
#[cfg(feature = "fleet")]
const WATCH_NS: u64 = 250_000_000;
/// Time between two looks at the operator's wish to end.
const LOOK: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  sokudo web lab                        the hosts of the group lab
  sokudo web hosta hostb                hosts on which `sokudo serve` runs
  sokudo web --local 4                  four hosts inside this machine, to try it
  sokudo web lab --listen 0.0.0.0:7480  for other machines, with a token in the address

Open the printed address in a browser. Beyond this machine the page goes over plain HTTP: use it in
a network that you trust, or through a tunnel (`ssh -L 7480:localhost:7480 HOST`).";

/// Show the hosts in a browser: collect who they are, write a script, run it, watch it, stop it.
///
/// The page does what `console`, `run` and `scenario pairs` do. It is reachable from this machine
/// alone unless --listen says otherwise; then the printed address holds a token.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WebArgs {
    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    page: PageArgs,

    /// Seed of every random choice. Default: drawn for each run, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Time between two samples of the monitors.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    interval: Span,

    #[command(flatten)]
    observe: ObserveArgs,

    #[command(flatten)]
    out: OutArgs,
}

/// Where the page is served.
#[derive(Debug, Clone, Args)]
pub struct PageArgs {
    /// Address to serve the page on; port 0 takes any that is free.
    #[arg(long, value_name = "ADDR:PORT", default_value = DEFAULT_PLACE)]
    pub listen: SocketAddr,

    /// Require a token from this machine, too: keeps out its other users.
    #[arg(long)]
    pub token: bool,
}

impl From<WebError> for Failure {
    fn from(error: WebError) -> Self {
        match error {
            WebError::Listen { .. } => {
                Failure::operator(error.text(), Text::new("error-web-listen-hint"))
            }
            WebError::System(_) => Failure::run(error.text(), None),
        }
    }
}

/// A page and the worker that carries out its orders. It ends when this is dropped.
pub struct Page {
    // The page takes no more orders before the worker is told to end.
    _server: Server,
    worker: Worker,
}

impl Page {
    /// Serves the page for some hosts, and prints its address.
    pub fn open(setting: Setting, page: &PageArgs) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::run(Text::new("error-web-no-page").with("error", error), None)
        };
        let feed = Feed::new(&setting.place.name(), false).map_err(cannot)?;
        let worker = Worker::start(setting, feed.clone()).map_err(cannot)?;
        let desk = Arc::new(Orders::new(&worker, feed.clone()));
        let name = host_name();
        let runs = sokudo_store::runs_root();
        let server = sokudo_web::open(page.listen, page.token, &name, (feed, desk), runs)?;
        let says = Text::new("status-page-of").with("name", worker.place());
        announce(&says.word("url", server.url(&name)));
        Ok(Self {
            _server: server,
            worker,
        })
    }

    /// Ends what is under way, and keeps what was measured.
    pub fn close(self) {
        self.worker.end();
    }
}

/// The page of all hosts of a group, for its controller.
#[cfg(feature = "fleet")]
pub fn of_group(group: &str, at: SocketAddr) -> Result<Page, Failure> {
    let setting = Setting {
        place: Box::new(PlaceArgs::group(group)),
        command: command_for_record(),
        seed: None,
        interval_ns: WATCH_NS,
        monitors: Vec::new(),
        onward: Arc::new(OutArgs::default().open(Lang::from_env())?),
    };
    let page = PageArgs {
        listen: at,
        token: false,
    };
    Page::open(setting, &page)
}

/// Carries out `sokudo web`.
pub fn run(args: WebArgs) -> Result<Exit, Failure> {
    if args.place.hosts.is_empty() && args.place.local.is_none() {
        return Err(Failure::operator(
            Text::new("error-no-hosts"),
            Text::new("error-no-hosts-hint"),
        ));
    }
    let stop = stop_flag()?;
    let sinks = Arc::new(args.out.open(Lang::from_env())?);
    let setting = Setting {
        place: Box::new(args.place),
        command: command_for_record(),
        seed: args.seed,
        interval_ns: args.interval.0,
        monitors: args.observe.specs()?,
        onward: Arc::clone(&sinks) as Arc<dyn Onward>,
    };
    let page = Page::open(setting, &args.page)?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    tell_status(&Text::new("status-stopping"));
    page.close();
    for lost in sinks.close() {
        tell(&I18n::new(Lang::from_env()).text(&lost));
    }
    Ok(Exit::Fine)
}
