//! What does a phase of requests and responses say?
//!
//! The words that `rr`, `crr` and `http` share: all are about answers, one of them with a connection
//! each, one of them by a server that is not ours.

use sokudo_model::{Text, Unit};

use crate::quantities::ends::source_of;
use crate::view::PhaseView;

/// Workloads of this kind.
const SOURCES: [&str; 3] = ["rr", "crr", "http"];

/// Use of the room for unanswered requests from which none is left for long.
const NEARLY_FULL: f64 = 0.8;
/// Part of the longest wait that one answer must have taken to be the reason for it.
const ABOUT_AS_LONG: f64 = 0.5;

/// One phase of requests and responses.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    view: PhaseView<'a>,
    /// `rr`, `crr` or `http`.
    pub source: &'static str,
}

impl<'a> Exchange<'a> {
    /// The phase as requests and responses; `None` for any other.
    pub fn of(view: PhaseView<'a>) -> Option<Self> {
        let source = SOURCES
            .into_iter()
            .find(|source| source_of(&view.phase.workload) == *source)?;
        let exchange = Self { view, source };
        exchange.rate().map(|_| exchange)
    }

    /// Catalogue name of one of its metrics.
    pub fn name(&self, what: &str) -> String {
        format!("{}.{what}", self.source)
    }

    /// A total of the phase.
    pub fn total(&self, what: &str) -> Option<f64> {
        self.view.total(&self.name(what))
    }

    /// Answers per second.
    pub fn rate(&self) -> Option<f64> {
        self.total(match self.source {
            "rr" => "transactions_per_second",
            "crr" => "connections_per_second",
            "http" => "requests_per_second",
            _ => return None,
        })
    }

    /// Answers per second that were asked for; `None` in a closed loop.
    pub fn asked(&self) -> Option<f64> {
        self.total("asked_per_second").filter(|rate| *rate > 0.0)
    }

    /// Was it the far end, or the way to it, for which requests had to wait? `None` when nobody
    /// counted.
    ///
    /// Then answers take so long that the rate asked for cannot be had, or the longest one took
    /// about as long as the longest wait. Otherwise the asking end itself stood still, and its
    /// requests queued up behind each other.
    pub fn far_end_made_them_wait(&self) -> Option<bool> {
        let window: Option<f64> = self.view.option("window");
        let connections = self.total("open_connections")?.max(1.0);
        let room = connections * window.unwrap_or(1.0);
        let busy = self.total("service_seconds.mean")? * self.asked()? / room;
        let (longest, wait) = self.longest()?;
        Some(busy >= NEARLY_FULL || longest >= wait * ABOUT_AS_LONG)
    }

    /// The longest answer from its real start, and from its intended one, seconds.
    pub fn longest(&self) -> Option<(f64, f64)> {
        let most = |what| self.total(what);
        Some((most("service_seconds.max")?, most("latency_seconds.max")?))
    }

    /// What was achieved.
    pub fn achieved(&self, flows: Text) -> Text {
        let rate = self.rate().unwrap_or_default();
        if self.total("latency_seconds.p50").is_none() && rate == 0.0 {
            return Text::new("verdict-exchange-none").text("flows", flows);
        }
        if self.total("latency_seconds.p50").is_none() {
            let text = Text::new("verdict-exchange-untimed");
            return text.number("rate", rate, Unit::One).text("flows", flows);
        }
        let (key, rate) = match (self.source, self.best(), self.asked()) {
            ("crr", Some(best), _) => ("verdict-crr-best", best),
            (_, Some(best), _) => ("verdict-rr-best", best),
            ("crr", None, Some(_)) => ("verdict-crr-open", rate),
            (_, None, Some(_)) => ("verdict-rr-open", rate),
            ("crr", None, None) => ("verdict-crr-closed", rate),
            (_, None, None) => ("verdict-rr-closed", rate),
        };
        let text = Text::new(key).number("rate", rate, Unit::One);
        let text = match (self.best(), self.asked()) {
            (None, Some(asked)) => text.number("asked", asked, Unit::One),
            _ => text,
        };
        self.latency(text.text("flows", flows))
    }

    fn latency(&self, text: Text) -> Text {
        ["p50", "p99", "max"].into_iter().fold(text, |text, which| {
            let value = self.total(&format!("latency_seconds.{which}"));
            text.number(which, value.unwrap_or(f64::NAN), Unit::Seconds)
        })
    }

    /// Requests that failed, when there are any: without an answer, with one that says so, or with
    /// one that was judged to be wrong.
    pub fn errors(&self) -> Option<Text> {
        let failed = self.total("error_ratio").filter(|ratio| *ratio > 0.0)?;
        let of = |what| self.total(what).unwrap_or(0.0);
        let lost = of("errors") + of("unstarted_requests");
        let bad = self.bad_statuses();
        let (key, ratio) = match (bad > 0.0, lost > 0.0) {
            (false, false) => ("verdict-http-judged", failed),
            (true, true) => ("verdict-http-errors", failed),
            (true, false) => ("verdict-http-bad-statuses", failed),
            // Others may have been judged to be wrong beside them.
            (false, true) if self.source == "http" => {
                ("verdict-exchange-errors", lost / (of("requests") + lost))
            }
            (false, true) => ("verdict-exchange-errors", failed),
        };
        let text = Text::new(key)
            .number("ratio", ratio, Unit::Ratio)
            .number("errors", lost, Unit::One)
            .number("bad", bad, Unit::One);
        let ports = self.total("ports_exhausted").filter(|ports| *ports > 0.0);
        let why = match (ports, self.first_error()) {
            (Some(_), _) => Text::new("verdict-exchange-ports"),
            (None, Some(error)) => Text::new("verdict-exchange-why").word("error", error),
            (None, None) if of("errors") == 0.0 => Text::new("verdict-exchange-unstarted"),
            (None, None) => Text::new("verdict-exchange-unknown"),
        };
        Some(text.text("why", why))
    }

    /// Responses that say of themselves that they are errors.
    fn bad_statuses(&self) -> f64 {
        let classes = ["status_4xx", "status_5xx"].map(|class| self.total(class));
        classes.into_iter().flatten().sum()
    }

    fn first_error(&self) -> Option<&'a str> {
        let flows = self.view.flows().iter();
        let mut errors = flows.filter_map(|flow| flow.labels.get("error"));
        errors.next().map(String::as_str)
    }

    fn best(&self) -> Option<f64> {
        let summary = &self.view.record.manifest.summary;
        let best = summary.get(&self.name("best_rate_per_second")).copied();
        best.filter(|_| self.view.is_confirm())
    }

    /// What to try when no rule says more.
    pub fn next(&self) -> Text {
        let key = match (self.asked(), self.source) {
            (None, _) if self.view.phase.workload == "jmx" => "verdict-jmx-closed-next",
            (None, "rr" | "http") => "verdict-rr-closed-next",
            (None, _) => "verdict-crr-closed-next",
            (Some(_), _) => "verdict-exchange-open-next",
        };
        Text::new(key)
    }
}
