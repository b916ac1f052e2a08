//! Tells when a source that a monitor asks again and again falls silent, and when it answers again.

use sokudo_model::{Event, Text, Unit};

/// Most events of one source.
const MAX_EVENTS: u32 = 100;

/// The events about one source.
pub(crate) struct Outage {
    host: String,
    source: &'static str,
    endpoint: String,
    trouble: Option<Trouble>,
    /// Told so far.
    events: u32,
}

/// Tries that failed one after the other.
struct Trouble {
    since_ns: i64,
    tries: u64,
    /// Key of the last reason.
    last: String,
}

impl Outage {
    /// The events of `source`, observed from `host`, about `endpoint`.
    pub(crate) fn new(host: &str, source: &'static str, endpoint: String) -> Self {
        Self {
            host: host.to_owned(),
            source,
            endpoint,
            trouble: None,
            events: 0,
        }
    }

    /// A try from `t_ns` to `over_ns` failed. It is told when that begins, and when the reason becomes
    /// another one.
    pub(crate) fn failed(&mut self, t_ns: i64, over_ns: i64, why: Text, events: &mut Vec<Event>) {
        let known = self.trouble.as_ref();
        let is_news = known.is_none_or(|trouble| trouble.last != why.key);
        let (since_ns, tries) = known.map_or((t_ns, 0), |known| (known.since_ns, known.tries));
        self.trouble = Some(Trouble {
            since_ns,
            tries: tries + 1,
            last: why.key.clone(),
        });
        if is_news {
            let time_s = (over_ns - t_ns) as f64 / 1e9;
            let says = Text::new("engine-scrape-failed")
                .number("time", time_s, Unit::Seconds)
                .text("why", why);
            // The first one becomes an event of the record; later ones stand on its time line.
            let kind = match self.events {
                0 => "monitor-scrape-failed",
                _ => "scrape-failed",
            };
            self.tell(over_ns, kind, says, events);
        }
    }

    /// A try succeeded: tells how long none did.
    pub(crate) fn answered(&mut self, t_ns: i64, events: &mut Vec<Event>) {
        if let Some(trouble) = self.trouble.take() {
            let time_s = (t_ns - trouble.since_ns) as f64 / 1e9;
            let says = Text::new("engine-scrape-answers")
                .word("n", trouble.tries.to_string())
                .number("time", time_s, Unit::Seconds);
            self.tell(t_ns, "scrape-answers", says, events);
        }
    }

    /// Says something about the source.
    pub(crate) fn tell(&mut self, t_ns: i64, kind: &str, says: Text, events: &mut Vec<Event>) {
        self.events += 1;
        if self.events > MAX_EVENTS {
            return;
        }
        events.push(Event {
            t_ns,
            host: self.host.clone(),
            source: self.source.into(),
            kind: kind.into(),
            says: says
                .word("host", &self.host)
                .word("endpoint", &self.endpoint),
        });
    }
}
