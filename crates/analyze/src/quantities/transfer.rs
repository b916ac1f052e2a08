//! Bytes or messages that one end sent and the other received in one phase: what arrived, what was asked
//! for, what is missing, and what to say of them.

use sokudo_model::kinds::{Family, Transfer as Numbers};
use sokudo_model::metric::Stat;
use sokudo_model::metrics::{host, own, tcp};
use sokudo_model::{Text, Unit};

use crate::view::PhaseView;

/// One phase of bytes or messages.
#[derive(Debug, Clone, Copy)]
pub struct Transfer<'a> {
    view: PhaseView<'a>,
    /// Its metrics.
    numbers: &'static Numbers,
    /// True when messages are counted, else bytes.
    is_messages: bool,
}

impl<'a> Transfer<'a> {
    /// The phase as bytes or messages that arrived; `None` for any other.
    pub fn of(view: PhaseView<'a>) -> Option<Self> {
        let (numbers, is_messages) = match view.kind()?.family {
            Family::Bytes(numbers) => (numbers, false),
            Family::Messages(numbers) => (numbers, true),
            Family::Exchange(_) | Family::Datagram | Family::Probe | Family::Files(_) => {
                return None;
            }
        };
        let transfer = Self {
            view,
            numbers,
            is_messages,
        };
        transfer.rate().map(|_| transfer)
    }

    /// Rate of arrival: bits or messages per second.
    fn rate(&self) -> Option<f64> {
        self.view.total(self.numbers.rate)
    }

    /// Rate asked for; `None` when as much as possible was.
    fn asked(&self) -> Option<f64> {
        let asked = self.view.total(self.numbers.asked);
        asked.filter(|rate| *rate > 0.0)
    }

    /// Sentence about the result.
    pub fn achieved(&self, flows: Text) -> Text {
        let rate = self.rate().unwrap_or_default();
        let asked = self.asked();
        let (key, unit) = match (self.is_messages, asked) {
            (false, None) => ("verdict-stream", Unit::BitsPerSecond),
            (false, Some(_)) => ("verdict-stream-asked", Unit::BitsPerSecond),
            (true, None) => ("verdict-bus", Unit::One),
            (true, Some(_)) => ("verdict-bus-asked", Unit::One),
        };
        let text = Text::new(key)
            .text("flows", flows)
            .number("rate", rate, unit);
        let text = match asked {
            Some(asked) => text.number("asked", asked, unit),
            None => text,
        };
        match self.is_messages {
            true => text.text("answers", self.answers()),
            false => text,
        }
    }

    /// Latency of answered messages, when any asked for an answer.
    fn answers(&self) -> Text {
        let value = |stat| self.view.stat(self.numbers.latency?, stat);
        let all = [Stat::P50, Stat::P99, Stat::Max].map(|stat| Some((stat, value(stat)?)));
        let Some(all) = all.into_iter().collect::<Option<Vec<_>>>() else {
            return Text::new("answers-untold");
        };
        let text = Text::new("answers-told");
        all.into_iter().fold(text, |text, (stat, seconds)| {
            text.number(stat.name(), seconds, Unit::Seconds)
        })
    }

    /// Share of what was sent that did not arrive; all of it where nothing came through.
    pub fn missing_share(&self) -> Option<f64> {
        let arrived = self.view.total(self.view.kind()?.done)?;
        let missing = self.view.total(self.numbers.missing).unwrap_or(0.0);
        let sent = arrived + missing;
        Some(if arrived > 0.0 { missing / sent } else { 1.0 })
    }

    /// Amount that was sent and did not arrive, when there is any.
    pub fn missing(&self) -> Option<Text> {
        let missing = self.view.total(self.numbers.missing);
        let missing = missing.filter(|missing| *missing > 0.0)?;
        let errors = self.view.flows().iter();
        let error = errors.filter_map(|flow| flow.labels.get("error")).next();
        let key = match self.is_messages {
            true => "verdict-bus-missing",
            false => "verdict-stream-missing",
        };
        let why = match error {
            Some(error) => Text::new("verdict-exchange-why").text("error", Text::recorded(error)),
            None => Text::new("verdict-exchange-unknown"),
        };
        let text = Text::new(key).number("missing", missing, self.numbers.missing.unit);
        Some(text.text("why", why))
    }

    /// Numbers that a rule would have needed to name the limit, and the record does not hold.
    pub fn lacking(&self) -> Vec<String> {
        let told = [self.numbers.write_blocked, self.numbers.read_idle].into_iter();
        let mut lacking: Vec<String> = told
            .filter(|metric| self.view.values(*metric).next().is_none())
            .map(String::from)
            .collect();
        let has_tcp = |flow: &sokudo_model::FlowResult| {
            let transport = flow.labels.get("transport");
            transport.is_none_or(|name| matches!(name.as_str(), "tcp" | "mptcp" | "tls"))
        };
        let has_tcp = self.view.flows().iter().any(has_tcp);
        let watched = [tcp::BUSY_SECONDS].into_iter().filter(|_| has_tcp);
        let watched = watched.chain([host::CPU_RATIO, own::CPU_RATIO]);
        lacking.extend(self.view.unobserved(watched));
        lacking
    }
}
