//! Events that the network stack of a host counted during a phase, by their names in nstat(8).

use sokudo_model::metrics::host;
use sokudo_model::{Evidence, Text, Unit};

use crate::view::PhaseView;

/// Counters of received segments and datagrams with a wrong checksum.
pub const CHECKSUM_ERRORS: &[&str] = &["UdpInCsumErrors", "Udp6InCsumErrors", "TcpInCsumErrors"];

/// Growth of the counters together; `None` where the host's counters are not read. A counter that stood still is
/// in no record.
pub fn counted(view: &PhaseView<'_>, host: &str, counters: &[&str]) -> Option<f64> {
    let is_read = view.series(Some(host), host::PROTOCOL_EVENTS, &[]).next();
    is_read?;
    let grown = counters.iter().filter_map(|counter| {
        let labels = [("counter", *counter)];
        let mut all = view.series(Some(host), host::PROTOCOL_EVENTS, &labels);
        all.next().and_then(|series| view.growth(series))
    });
    Some(grown.sum())
}

/// The growth of one counter as evidence.
pub fn evidence(host: &str, counter: &str, grown: f64) -> Evidence {
    Evidence {
        says: Text::new("evidence-counter")
            .word("host", host)
            .word("counter", counter)
            .number("value", grown, Unit::One),
        source: "/proc/net/snmp, /proc/net/netstat".into(),
        host: Some(host.into()),
        metric: Some(host::PROTOCOL_EVENTS.name.into()),
        labels: [("counter".to_owned(), counter.to_owned())].into(),
        value: Some(grown),
        unit: Some(Unit::One),
    }
}
