//! What does a phase that carries bytes or messages say?
//!
//! `stream` and `bus` share the shape of the answer: how much arrived, what was asked for, what went
//! missing.

use sokudo_model::{Text, Unit};

use crate::view::PhaseView;

/// Workloads of this kind.
const SOURCES: [&str; 2] = ["stream", "bus"];

/// One phase of bytes or messages.
#[derive(Debug, Clone, Copy)]
pub struct Transfer<'a> {
    view: PhaseView<'a>,
    /// `stream` or `bus`.
    source: &'static str,
}

impl<'a> Transfer<'a> {
    /// The phase as bytes or messages that arrived; `None` for any other.
    pub fn of(view: PhaseView<'a>) -> Option<Self> {
        let mut known = SOURCES.into_iter();
        let source = known.find(|source| view.phase.workload == *source)?;
        let transfer = Self { view, source };
        transfer.rate().map(|_| transfer)
    }

    /// Names of the rate that arrived and of the one that was asked for.
    fn names(&self) -> [&'static str; 2] {
        names(self.source)
    }

    fn total(&self, what: &str) -> Option<f64> {
        self.view.total(&format!("{}.{what}", self.source))
    }

    /// What arrived: bits or messages per second.
    fn rate(&self) -> Option<f64> {
        self.total(self.names()[0])
    }

    /// What was asked for; `None` when as much as possible was.
    fn asked(&self) -> Option<f64> {
        self.total(self.names()[1]).filter(|rate| *rate > 0.0)
    }

    /// What was achieved.
    pub fn achieved(&self, flows: Text) -> Text {
        let rate = self.rate().unwrap_or_default();
        let asked = self.asked();
        let key = match (self.source, asked) {
            ("stream", None) => "verdict-stream",
            ("stream", Some(_)) => "verdict-stream-asked",
            (_, None) => "verdict-bus",
            (_, Some(_)) => "verdict-bus-asked",
        };
        let unit = match self.source {
            "stream" => Unit::BitsPerSecond,
            _ => Unit::One,
        };
        let text = Text::new(key)
            .text("flows", flows)
            .number("rate", rate, unit);
        let text = match asked {
            Some(asked) => text.number("asked", asked, unit),
            None => text,
        };
        match self.source {
            "stream" => text,
            _ => text.text("answers", self.answers()),
        }
    }

    /// How long messages took to be answered, when any was asked to be.
    fn answers(&self) -> Text {
        let value = |which| self.total(&format!("response_latency_seconds.{which}"));
        let Some(all) = ["p50", "p99", "max"]
            .map(|which| Some((which, value(which)?)))
            .into_iter()
            .collect::<Option<Vec<_>>>()
        else {
            return Text::new("answers-untold");
        };
        let text = Text::new("answers-told");
        all.into_iter().fold(text, |text, (which, seconds)| {
            text.number(which, seconds, Unit::Seconds)
        })
    }

    /// What was sent and did not arrive, when there is any.
    pub fn missing(&self) -> Option<Text> {
        let (what, unit) = match self.source {
            "stream" => ("missing_bytes", Unit::Bytes),
            _ => ("lost_messages", Unit::One),
        };
        let missing = self.total(what).filter(|missing| *missing > 0.0)?;
        let errors = self.view.flows().iter();
        let error = errors.filter_map(|flow| flow.labels.get("error")).next();
        let key = match self.source {
            "stream" => "verdict-stream-missing",
            _ => "verdict-bus-missing",
        };
        let why = match error {
            Some(error) => Text::new("verdict-exchange-why").word("error", error),
            None => Text::new("verdict-exchange-unknown"),
        };
        let text = Text::new(key).number("missing", missing, unit);
        Some(text.text("why", why))
    }

    /// What a rule would have needed in order to name the limit, and the record does not hold.
    pub fn lacking(&self) -> Vec<String> {
        let told = ["write_blocked_ratio", "read_idle_ratio"].into_iter();
        let told = told.map(|what| format!("{}.{what}", self.source));
        let mut lacking: Vec<String> = told
            .filter(|metric| self.view.values(metric).next().is_none())
            .collect();
        let transport = |flow: &sokudo_model::FlowResult| {
            let transport = flow.labels.get("transport");
            transport.is_none_or(|name| matches!(name.as_str(), "tcp" | "mptcp" | "tls"))
        };
        let mut watched = ["tcp.busy_seconds", "host.cpu_ratio", "self.cpu_ratio"].to_vec();
        if !self.view.flows().iter().any(transport) {
            watched.remove(0);
        }
        let absent = |metric: &&str| self.view.record.series_of(metric).next().is_none();
        lacking.extend(watched.into_iter().filter(absent).map(String::from));
        lacking
    }
}

/// Names, without the workload's, of the rate that arrived and of the one that was asked for.
pub fn names(source: &str) -> [&'static str; 2] {
    match source {
        "stream" => ["goodput_bits_per_second", "asked_bits_per_second"],
        _ => ["messages_per_second", "asked_per_second"],
    }
}
