//! Did datagrams arrive more than once?
//!
//! Sockets do not repeat datagrams; a bridge loop, a mirrored port or a bond does.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Share of duplicates above which the delivered rate deserves a second look.
const MANY: f64 = 0.001;

/// See the module.
pub struct Duplicates;

const DUPLICATES: &str = "datagram.duplicate_packets";

impl Rule for Duplicates {
    fn name(&self) -> &'static str {
        "duplicates"
    }

    fn question(&self) -> &'static str {
        "did datagrams arrive more than once?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let Some(count) = view.total(DUPLICATES).filter(|n| *n > 0.0) else {
            return;
        };
        let (Some(sent), Some((host, there))) = (view.sent(), view.worst_receiver(DUPLICATES))
        else {
            return;
        };
        let share = count / sent;
        let severity = if share > MANY {
            Severity::Caution
        } else {
            Severity::Info
        };
        let says = Text::new("rule-duplicates-says")
            .number("count", count, Unit::Packets)
            .number("share", share, Unit::Ratio)
            .word("host", host);
        let mut finding = view.finding(self.name(), severity, 0.1 + share, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-duplicates", DUPLICATES, host, there));
        let arrived = view.highest_mean(Some(host), "host.udp_in_per_second", &[]);
        if let Some((series, rate)) = arrived {
            let metric = series.key.metric.as_str();
            evidence.push(view.evidence("evidence-udp-in", metric, host, rate));
        }
        name_what_lacks(evidence, "host.udp_in_per_second");
        finding.next = Some(Text::new("rule-duplicates-next").word("host", host));
        out.push(finding);
    }
}
