//! Asks one endpoint again and again, and tells when it falls silent and when it answers again.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sokudo_model::{Event, Text, Unit};

use super::parse::Exposition;
use super::scrape::{Body, Failure, Url, scrape};

/// Most events of one endpoint.
const MAX_EVENTS: u32 = 100;

/// The line to one endpoint.
pub(crate) struct Line {
    host: String,
    source: &'static str,
    endpoint: String,
    url: Url,
    body: Body,
    timeout: Duration,
    key: Option<String>,
    /// Addresses of the name.
    resolved: Vec<SocketAddr>,
    trouble: Option<Trouble>,
    /// Told so far.
    events: u32,
}

/// Scrapes that failed one after the other.
struct Trouble {
    since_ns: i64,
    scrapes: u64,
    last: Failure,
}

impl Line {
    /// A line from `host`, whose events are of `source`. An endpoint that wants a key is shown it.
    pub(crate) fn new(
        host: &str,
        source: &'static str,
        (url, body): (Url, Body),
        timeout: Duration,
        key: Option<String>,
    ) -> Self {
        Self {
            host: host.to_owned(),
            source,
            endpoint: url.endpoint(),
            url,
            body,
            timeout,
            key,
            resolved: Vec::new(),
            trouble: None,
            events: 0,
        }
    }

    /// Asks once; `None` and an event when there is no answer. Also how long it took.
    pub(crate) fn scrape(
        &mut self,
        t_ns: i64,
        events: &mut Vec<Event>,
    ) -> (Option<Exposition>, Duration) {
        let began = Instant::now();
        let read = scrape(
            &self.url,
            &self.body,
            self.key.as_deref(),
            self.timeout,
            &mut self.resolved,
        );
        let took = began.elapsed();
        let over_ns = t_ns.saturating_add(took.as_nanos() as i64);
        match &read {
            Ok(_) => self.tell_recovery(over_ns, events),
            Err(failure) => self.tell_failure(t_ns, over_ns, failure, events),
        }
        (read.ok(), took)
    }

    /// Says why there are no metrics: when that begins, and when the reason becomes another one.
    fn tell_failure(&mut self, t_ns: i64, over_ns: i64, why: &Failure, events: &mut Vec<Event>) {
        let known = self.trouble.as_ref();
        let is_news = known.is_none_or(|trouble| !trouble.last.is_like(why));
        let (since_ns, scrapes) = known.map_or((t_ns, 0), |known| (known.since_ns, known.scrapes));
        self.trouble = Some(Trouble {
            since_ns,
            scrapes: scrapes + 1,
            last: why.clone(),
        });
        if is_news {
            let time_s = (over_ns - t_ns) as f64 / 1e9;
            let says = Text::new("engine-scrape-failed")
                .number("time", time_s, Unit::Seconds)
                .text("why", why.text());
            // The first one becomes an event of the record; later ones stand on its time line.
            let kind = match self.events {
                0 => "monitor-scrape-failed",
                _ => "scrape-failed",
            };
            self.tell(over_ns, kind, says, events);
        }
    }

    fn tell_recovery(&mut self, t_ns: i64, events: &mut Vec<Event>) {
        if let Some(trouble) = self.trouble.take() {
            let time_s = (t_ns - trouble.since_ns) as f64 / 1e9;
            let says = Text::new("engine-scrape-answers")
                .word("n", trouble.scrapes.to_string())
                .number("time", time_s, Unit::Seconds);
            self.tell(t_ns, "scrape-answers", says, events);
        }
    }

    /// Says something about the endpoint.
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
