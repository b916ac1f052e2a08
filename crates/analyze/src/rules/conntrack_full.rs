//! The connection tracking of a host dropped packets.
//!
//! A filter with states keeps an entry per connection. When its table is full, or an entry cannot be
//! entered, the packet is dropped without an answer.

use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::harm::Harm;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Drops from which they are not an accident.
const OFTEN: f64 = 10.0;

/// The finding `conntrack_full`.
pub const RULE: Rule = Rule {
    name: "conntrack_full",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[Suspect::tighten("rate")],
    bounds: &[("often", OFTEN, Unit::One)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let worst = view.hosts().into_iter().filter_map(|host| {
        let dropped = view.increase(host, host::CONNTRACK_DROPS)?;
        (dropped >= OFTEN).then_some((host, dropped))
    });
    let (host, dropped) = worst.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let entries = view.peak(host, host::CONNTRACK_ENTRIES);
    let limit = view.peak(host, host::CONNTRACK_LIMIT);
    let harm = Harm::between(view, host);
    let share = match (&harm, Harm::failed(view)) {
        (Some(harm), _) => harm.share(dropped),
        (None, Some(failed)) => (dropped / failed).min(1.0),
        (None, None) => 0.0,
    };
    let says = Text::new("rule-conntrack-full-says")
        .word("host", host)
        .number("count", dropped, Unit::Packets);
    let mut finding = view.finding(RULE.name, Severity::Bad, 0.4 + 0.55 * share, says);
    let evidence = &mut finding.evidence;
    evidence.extend(view.grown("evidence-conntrack-drops", host::CONNTRACK_DROPS, host));
    for (key, metric, value) in [
        (
            "evidence-conntrack-entries",
            host::CONNTRACK_ENTRIES,
            entries,
        ),
        ("evidence-conntrack-limit", host::CONNTRACK_LIMIT, limit),
    ] {
        evidence.extend(value.map(|value| view.evidence(key, metric, host, value)));
    }
    evidence.extend(harm.into_iter().flat_map(|harm| harm.evidence));
    finding.next = Some(Text::new("rule-conntrack-full-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::*;

    #[test]
    fn a_full_table_of_connections_is_named() {
        let lost = losing(1e5, &[("lost_on_path_packets", 1e5)]);
        let mut record = with_flow(&lost);
        let labels = [("reason", "insert_failed")];
        add_series(
            &mut record,
            "hostb",
            "host.conntrack_drops",
            &labels,
            0.0,
            9.9e4,
        );
        for (metric, value) in [
            ("host.conntrack_entries", 256.0),
            ("host.conntrack_limit", 256.0),
        ] {
            add_series(&mut record, "hostb", metric, &[], value, value);
        }
        check_texts(&one(&record, "conntrack_full"));
        assert_eq!(
            limit(&record).map(|f| f.rule).as_deref(),
            Some("conntrack_full")
        );
        let without = with_flow(&lost);
        none(&without, "conntrack_full");
    }
}
