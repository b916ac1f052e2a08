//! Result of a search for the highest rate, and the limit of the rates above it.

use sokudo_model::{Arg, Finding, Record, Text, Unit};

use super::diagnose::diagnose;
use crate::quantities::datagrams::{HELD, best};
use crate::rules::{is_limit, is_loss};
use crate::view::{PhaseView, word};

/// Share of the lost datagrams from which it is all of them, to three digits.
const ALL: f64 = 0.9995;

/// Limit that the trial just above the highest rate met.
pub struct Limit {
    /// The conclusion about that trial.
    pub finding: Finding,
    /// Rate of that trial, datagrams per second sent.
    pub rate: f64,
    /// Its loss, 0 to 1.
    pub loss: f64,
}

/// The cause of loss in the slowest trial above the best rate that lost more than was allowed.
///
/// `None` when no trial failed there, or when no rule explains the one that did.
pub fn limit(record: &Record) -> Option<Limit> {
    let above = best(record).map_or(0.0, |(_, packets)| packets);
    let failed = record.manifest.phases.iter().filter_map(|phase| {
        let view = PhaseView::new(record, phase);
        let (rate, loss) = (view.sent_rate()?, view.loss()?);
        let failed = loss > view.max_loss().unwrap_or(HELD) && rate > above;
        (view.is_probe() && failed).then_some((phase, rate, loss))
    });
    let (phase, rate, loss) = failed.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let causes = diagnose(record, phase).into_iter();
    // Loss has its place in a counter; a late sender or a busy host is the weaker explanation.
    let finding = causes.filter(|f| is_limit(&f.rule)).max_by(|a, b| {
        let place = is_loss(&a.rule).cmp(&is_loss(&b.rule));
        place.then(a.weight.total_cmp(&b.weight))
    })?;
    Some(Limit {
        finding,
        rate,
        loss,
    })
}

impl Limit {
    /// Sentence about the load above the best rate.
    pub fn says(&self, record: &Record) -> Text {
        match best(record) {
            Some((bytes, packets)) => Text::new("search-limit-says")
                .number("bits", bytes * 8.0, Unit::BitsPerSecond)
                .number("packets", packets, Unit::Packets)
                .text("above", self.above()),
            None => Text::new("search-none-says").text("above", self.above()),
        }
    }

    /// The same as a part of a sentence.
    pub fn above(&self) -> Text {
        let key = match self.finding.rule.as_str() {
            "receiver_buffer_overflow" => "search-above-receiver-buffer",
            "receiver_host_drops" => "search-above-receiver-host",
            "path_loss" => "search-above-path",
            "sender_refusal" => "search-above-sender-refusal",
            "unreachable" => "search-above-unreachable",
            "host_busy" | "neighbour_interference" => "search-above-host-busy",
            "generator_limited" => "search-above-generator",
            // A rule without words of its own is named, never told as another cause.
            _ => "search-above-other",
        };
        let mut above = Text::new(key)
            .number("rate", self.rate, Unit::PacketsPerSecond)
            .number("loss", self.loss, Unit::Ratio)
            .text("part", self.part())
            .word("rule", self.finding.rule.clone());
        for name in ["host", "from", "to"] {
            if let Some(host) = word(&self.finding.says, name) {
                above = above.word(name, host);
            }
        }
        above
    }

    /// Share of the loss that this explains.
    fn part(&self) -> Text {
        match self.finding.says.args.get("share") {
            Some(Arg::Number(share, _)) if *share < ALL => {
                Text::new("part-share").number("share", *share, Unit::Ratio)
            }
            _ => Text::new("part-all"),
        }
    }

    /// Next step to get above the best rate.
    pub fn next(&self) -> Option<Text> {
        let next = self.finding.next.as_ref()?;
        match next.args.get("remedy") {
            Some(Arg::Text(remedy)) => Some(remedy.as_ref().clone()),
            _ => Some(next.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::Severity;

    use super::*;
    use crate::rules::REGISTRY;

    /// Each limit is told by its own words or by its name, and only the generator's by the generator's.
    #[test]
    fn a_limit_is_never_told_as_another_cause() {
        for rule in REGISTRY.iter().filter(|rule| is_limit(rule.name)) {
            let finding = Finding {
                rule: rule.name.into(),
                severity: Severity::Info,
                phase: "p".into(),
                weight: 1.0,
                says: Text::new("says"),
                evidence: Vec::new(),
                against: Vec::new(),
                next: None,
            };
            let limit = Limit {
                finding,
                rate: 1.0,
                loss: 0.5,
            };
            let above = limit.above();
            let is_generator = above.key == "search-above-generator";
            assert_eq!(
                is_generator,
                rule.name == "generator_limited",
                "{}",
                rule.name
            );
            assert_eq!(above.args["rule"], Arg::Word(rule.name.into()));
        }
    }
}
