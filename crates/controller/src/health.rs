//! Health of the connections to the hosts of a run, as recorded.

use sokudo_model::{Batch, Event, Text, Unit};
use sokudo_wire::Health;

use crate::hosts::LEASE;
use crate::run::{Progress, Run};

/// Source of the events.
const SOURCE: &str = "bus";
/// Kind of the events.
const KIND: &str = "host-health";

impl Run {
    /// Shows and records that the connection to a host became worse or better.
    pub(crate) fn keep_health(&mut self, index: usize, health: Health) {
        let host = self.hosts.list()[index].name.clone();
        let says = match health {
            Health::Ready => Text::new("engine-host-heard"),
            Health::Suspect => {
                let silent_s = LEASE.as_secs_f64();
                Text::new("engine-host-suspect").number("silent", silent_s, Unit::Seconds)
            }
            Health::Lost => Text::new("engine-host-given-up"),
        };
        let says = says.word("host", &host);
        self.observer.note(&Progress::Health {
            host: &host,
            health,
            says: &says,
        });
        let mut batch = Batch::default();
        batch.events.push(Event {
            t_ns: self.elapsed_ns(),
            host,
            source: SOURCE.into(),
            kind: KIND.into(),
            says,
        });
        self.keep(&batch);
    }
}
