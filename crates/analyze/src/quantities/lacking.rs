//! Numbers that rules about a limit read and a record does not hold.

use sokudo_model::kinds::Family;
use sokudo_model::metrics::{host, tcp};

use crate::quantities::exchange::Exchange;
use crate::quantities::transfer::Transfer;
use crate::view::PhaseView;

/// Names of the metrics without which "no counter shows it" may not be said of a phase.
pub fn lacking(view: &PhaseView<'_>) -> Vec<String> {
    let Some(kind) = view.kind() else {
        return Vec::new();
    };
    match kind.family {
        Family::Bytes(_) | Family::Messages(_) => {
            Transfer::of(*view).map_or_else(Vec::new, |transfer| transfer.lacking())
        }
        Family::Files(_) => view.unobserved([host::CPU_RATIO]),
        Family::Datagram | Family::Probe => view.unobserved([
            host::NIC_RECEIVE_DROPS,
            host::QDISC_DROPS,
            host::SOFTNET_DROPS,
            host::PRESSURE_RATIO,
            host::CPU_RATIO,
        ]),
        Family::Exchange(_) => {
            let ends = [Some(kind.ends.near), kind.ends.far];
            let times = ends.into_iter().flatten().map(|end| end.cpu);
            let absent = times.filter(|cpu| view.values(*cpu).next().is_none());
            let mut lacking: Vec<String> = absent.map(String::from).collect();
            lacking.extend(view.unobserved([host::CPU_RATIO]));
            if !Exchange::of(*view).is_some_and(|exchange| exchange.is_embedded()) {
                lacking.extend(view.unobserved([tcp::SMOOTHED_RTT_SECONDS, host::QDISC_DROPS]));
            }
            lacking
        }
    }
}
