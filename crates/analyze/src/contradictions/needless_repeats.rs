//! Segments were sent again although the first ones had arrived.
//!
//! The peer reports what arrived twice (D-SACK, RFC 2883). Where that is most of what was sent again, segments
//! were late or out of order, not lost.

use sokudo_model::metrics::tcp;
use sokudo_model::{Finding, Unit};

use crate::contradiction::{Contradiction, Force, Objection};
use crate::quantities::ends::End;
use crate::quantities::tcp::Connection;
use crate::view::{PhaseView, word};

/// Share of the repeated segments that arrived twice from which the cause is not loss.
const NEEDLESS: f64 = 0.5;

pub const CONTRADICTION: Contradiction = Contradiction {
    name: "needless_repeats",
    about: &["loss_limited"],
    bounds: &[("needless", NEEDLESS, Unit::Ratio)],
    look,
};

fn look(view: &PhaseView<'_>, finding: &Finding) -> Option<Objection> {
    let ends = (word(&finding.says, "from")?, word(&finding.says, "to")?);
    let mut flows = view.flows().iter();
    let flow = flows.find(|flow| (flow.from.as_str(), flow.to.as_str()) == ends)?;
    let connection = Connection::of(*view, flow, End::Sender);
    let (again, _) = connection.retransmitted()?;
    let twice = connection.grown(tcp::NEEDLESS_SEGMENTS)?;
    if again <= 0.0 || twice < again * NEEDLESS {
        return None;
    }
    let key = "evidence-tcp-needless";
    Some(Objection {
        evidence: connection.evidence(key, tcp::NEEDLESS_SEGMENTS, twice),
        force: Force::Refutes,
    })
}
