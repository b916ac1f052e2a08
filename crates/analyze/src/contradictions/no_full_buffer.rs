//! The receiving sockets dropped datagrams, and none of them found a full buffer.
//!
//! A socket counts everything that it drops: damaged and filtered datagrams, too. The host counts full buffers
//! apart.

use sokudo_model::kinds::datagram;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Unit};

use crate::contradiction::{Contradiction, Force, Objection};
use crate::view::{PhaseView, word};

/// Share of the drops that must have found a full buffer.
const FULL: f64 = 0.3;

pub const CONTRADICTION: Contradiction = Contradiction {
    name: "no_full_buffer",
    about: &["receiver_buffer_overflow"],
    bounds: &[("full", FULL, Unit::Ratio)],
    look,
};

fn look(view: &PhaseView<'_>, finding: &Finding) -> Option<Objection> {
    let host = word(&finding.says, "host")?;
    let full = view.increase(host, host::UDP_RECEIVE_BUFFER_ERRORS)?;
    let lost = datagram::LOST_AT_RECEIVER_SOCKET_PACKETS;
    let to_host = view.values(lost).filter(|(flow, _)| flow.to == host);
    let dropped: f64 = to_host.map(|(_, dropped)| dropped).sum();
    let damaged = view.increase(host, host::UDP_CHECKSUM_ERRORS)?;
    if full >= dropped * FULL || damaged < dropped * FULL {
        return None;
    }
    Some(Objection {
        evidence: view.grown(
            "evidence-udp-receive-errors",
            host::UDP_RECEIVE_BUFFER_ERRORS,
            host,
        )?,
        force: Force::Refutes,
    })
}
