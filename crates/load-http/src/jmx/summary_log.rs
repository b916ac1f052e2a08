//! Summary lines in the log of a test.
//!
//! The tool's own lines: that it runs, its summaries, and that it is over. People look for them there.

use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;
use sokudo_jmeter::plan::Plan;
use sokudo_jmeter::properties::Properties;
use sokudo_jmeter::script::{LogLevel, log_line};
use sokudo_net::clock::now_ns;

use super::generator::{LoadObserver, UsersSeen, locked};
use super::script_log::LogLines;
use super::summariser::{SummariserOptions, Summarisers};
use super::tally::Tallies;

const TOOL: &str = "org.apache.jmeter.JMeter";
const ENGINE: &str = "org.apache.jmeter.engine.StandardJMeterEngine";
const SUMMARISER: &str = "org.apache.jmeter.reporters.Summariser";

/// Writes the progress of a test into a log, and passes it on.
pub(super) struct SummaryLog {
    lines: LogLines,
    /// `None`: the properties ask for no summaries in the log.
    summarisers: Option<Mutex<Summarisers>>,
    wall_offset_ns: i64,
    next: Arc<dyn LoadObserver>,
}

impl SummaryLog {
    /// One that begins now. `wall_offset_ns` leads from the monotonic clock to 1970.
    pub fn begin(
        lines: LogLines,
        (plan, properties): (&Plan, &Properties),
        wall_offset_ns: i64,
        next: Arc<dyn LoadObserver>,
    ) -> Arc<Self> {
        let asked = SummariserOptions::of(properties);
        let summarisers = || Mutex::new(Summarisers::new(&asked, plan));
        let log = Self {
            lines,
            summarisers: asked.log.then(summarisers),
            wall_offset_ns,
            next,
        };
        let at_ns = now_ns();
        let at_ms = log.at_ms(at_ns);
        log.say(at_ns, TOOL, &format!("Running test ({at_ms})"));
        Arc::new(log)
    }

    /// The last lines.
    pub fn end(&self) {
        let at_ns = now_ns();
        self.say(at_ns, ENGINE, "Notifying test listeners of end of test");
        if let Some(summarisers) = &self.summarisers {
            for line in locked(summarisers).end(at_ns) {
                self.say(at_ns, SUMMARISER, &line);
            }
        }
    }

    fn at_ms(&self, at_ns: i64) -> i64 {
        at_ns.saturating_add(self.wall_offset_ns) / 1_000_000
    }

    fn say(&self, at_ns: i64, logger: &str, text: &str) {
        let zone = TimeZone::system();
        let line = log_line(self.at_ms(at_ns), &zone, LogLevel::Info, logger, text);
        self.lines.add(line);
    }
}

impl LoadObserver for SummaryLog {
    fn interval(&self, at_ns: i64, seen: &Tallies, users: UsersSeen) {
        if let Some(summarisers) = &self.summarisers {
            for line in locked(summarisers).add(at_ns, seen, users.active) {
                self.say(at_ns, SUMMARISER, &line);
            }
        }
        self.next.interval(at_ns, seen, users);
    }
}
