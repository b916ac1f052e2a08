//! Did the flows of a phase begin together, as closely as was asked for?
//!
//! What begins late misses what the others do in the beginning and is alone in the end: totals over such
//! flows are those of another experiment. Asked for by `--max-skew`; a phase that exceeds it is repeated
//! first.

use sokudo_model::skew::{self, START_LATE};
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// See the module.
pub struct UnevenStart;

impl Rule for UnevenStart {
    fn name(&self) -> &'static str {
        "uneven_start"
    }

    fn question(&self) -> &'static str {
        "did the flows of a phase begin together, as closely as was asked for?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let asked = skew::of(view.phase).zip(skew::most(view.phase));
        let Some((spread_s, most_s)) = asked.filter(|(spread, most)| spread > most) else {
            return;
        };
        let (first, last) = (view.lowest(START_LATE), view.highest(START_LATE));
        let Some(((first, first_s), (last, last_s))) = first.zip(last) else {
            return;
        };
        let says = Text::new("rule-uneven-start-says")
            .word("from", &last.from)
            .word("to", &last.to)
            .number("spread", spread_s, Unit::Seconds)
            .number("most", most_s, Unit::Seconds);
        let mut finding = view.finding(self.name(), Severity::Caution, 0.6, says);
        for (key, flow, late_s) in [
            ("evidence-start-first", first, first_s),
            ("evidence-start-last", last, last_s),
        ] {
            let row = view.evidence(key, START_LATE, &flow.from, late_s);
            finding.evidence.push(row);
        }
        let next = Text::new("rule-uneven-start-next").word("host", &last.from);
        finding.next = Some(next);
        out.push(finding);
    }
}
