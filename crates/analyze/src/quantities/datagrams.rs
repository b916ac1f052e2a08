//! Datagrams of a phase: sent, missing, the loss at each place, and how much that matters.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::{Evidence, PhaseRecord, Record, Severity, Text, Unit, kinds};

use crate::view::PhaseView;

/// Loss below this is worth a word only.
const LITTLE_LOSS: f64 = 0.0001;
/// Loss from which a rate that was asked for counts as missed.
const GRAVE_LOSS: f64 = 0.01;
/// Loss up to which a rate counts as held when the phase does not say what was allowed.
pub const HELD: f64 = 0.001;

/// The receiving host that lost most.
#[derive(Debug, Clone, Copy)]
pub struct LostAt<'a> {
    /// Its name.
    pub host: &'a str,
    /// Datagrams lost there.
    pub there: f64,
    /// Share of such losses, on all hosts, in what is missing.
    pub share: f64,
}

/// Highest rate that holds, bytes per second and datagrams per second; `None` when no search of
/// the run found one.
pub fn best(record: &Record) -> Option<(f64, f64)> {
    let get = |metric: Metric| {
        let value = metric.of(&record.manifest.summary);
        value.filter(|v| *v > 0.0)
    };
    Some((
        get(datagram::BEST_RATE_BYTES_PER_SECOND)?,
        get(datagram::BEST_RATE_PACKETS_PER_SECOND)?,
    ))
}

/// The phase of a workload that confirmed the highest rate: the last one of its role that carried
/// something.
pub fn confirmed<'a>(record: &'a Record, workload: &str) -> Option<&'a PhaseRecord> {
    let names = kinds::curve_metrics(workload)?;
    record.manifest.phases.iter().rfind(|phase| {
        let view = PhaseView::new(record, phase);
        let numbers = names.delivered_in(&phase.result).or_else(|| view.sent());
        phase.workload == workload && view.is_confirm() && numbers.is_some()
    })
}

impl<'a> PhaseView<'a> {
    /// Loss that was allowed, 0 to 1.
    pub fn max_loss(&self) -> Option<f64> {
        self.bounds()?.most("loss")
    }

    /// Datagrams per second that were asked for; `None` when as many as possible were.
    pub fn asked_rate(&self) -> Option<f64> {
        const ASKED: Metric = datagram::ASKED_PACKETS_PER_SECOND;
        let all_flows_asked = self.values(ASKED).count() == self.flows().len();
        let joined = ASKED.of(&self.phase.result.summary);
        let asked = if all_flows_asked {
            self.sum(ASKED)
        } else {
            None
        };
        joined
            .or(asked)
            .filter(|rate| rate.is_finite() && *rate > 0.0)
    }

    /// Datagrams per second that were sent.
    pub fn sent_rate(&self) -> Option<f64> {
        self.total(datagram::SENT_PACKETS_PER_SECOND)
    }

    /// Datagrams that were sent.
    pub fn sent(&self) -> Option<f64> {
        self.total(datagram::SENT_PACKETS).filter(|n| *n > 0.0)
    }

    /// Datagrams that were sent and never received.
    pub fn missing(&self) -> Option<f64> {
        self.total(datagram::MISSING_PACKETS)
    }

    /// Missing over sent.
    pub fn loss(&self) -> Option<f64> {
        match (self.missing(), self.sent()) {
            (Some(missing), Some(sent)) => Some(missing / sent),
            _ => self.total(datagram::LOSS_RATIO),
        }
    }

    /// Datagrams that arrived; `None` when no receiver delivered its numbers.
    pub fn received(&self) -> Option<f64> {
        self.total(datagram::RECEIVED_PACKETS)
    }

    /// Severity and weight of loss at one place, when `share` of the missing datagrams were lost
    /// there.
    ///
    /// A sender without a rate overruns whatever is slower: its loss does not indicate a fault in the setup.
    pub fn weigh_loss(&self, share: f64) -> (Severity, f64) {
        let loss = self.loss().unwrap_or(0.0);
        if loss < LITTLE_LOSS {
            return (Severity::Info, 0.2);
        }
        let allowed = self.max_loss().is_some_and(|bound| loss <= bound);
        let nothing_came = self.received() == Some(0.0);
        let severity = match self.asked_rate() {
            _ if allowed => Severity::Info,
            Some(_) if loss >= GRAVE_LOSS => Severity::Bad,
            None if !nothing_came => Severity::Info,
            _ => Severity::Caution,
        };
        (severity, 0.3 + 0.6 * share)
    }

    /// Missing datagrams, by the sequence numbers of both ends.
    pub fn missing_evidence(&self, host: &str) -> Option<Evidence> {
        let missing = self.missing()?;
        Some(self.evidence("evidence-missing", datagram::MISSING_PACKETS, host, missing))
    }

    /// The host that lost most of the datagrams that `metric` counts, when they are at least this
    /// share of all that are missing.
    pub fn lost_at_receiver(&self, metric: Metric, least_share: f64) -> Option<LostAt<'a>> {
        let (lost, missing) = (self.total(metric)?, self.missing()?);
        let (host, there) = self.worst_receiver(metric)?;
        let share = lost / missing.max(1.0);
        (lost > 0.0 && share >= least_share).then_some(LostAt { host, there, share })
    }

    /// Next step against loss: `remedy`, and what the way of sending suggests.
    pub fn loss_next(&self, remedy: Text) -> Text {
        let next = match (self.asked_rate(), best(self.record)) {
            (Some(_), _) => Text::new("next-paced"),
            (None, None) => Text::new("next-unpaced"),
            (None, Some((bytes, _))) => {
                let text = Text::new("next-unpaced-searched");
                text.number("bits", bytes * 8.0, Unit::BitsPerSecond)
            }
        };
        next.text("remedy", remedy)
    }
}

/// "All lost datagrams", or which share of them.
pub fn lost(share: f64) -> Text {
    // To three digits, more than this is all of them.
    const ALL: f64 = 0.9995;
    match share >= ALL {
        true => Text::new("lost-all"),
        false => Text::new("lost-share").number("share", share, Unit::Ratio),
    }
}
