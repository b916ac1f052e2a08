//! Asks one endpoint again and again, and tells when it falls silent and when it answers again.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sokudo_model::{Event, Text};

use super::parse::Exposition;
use super::scrape::{Body, Url, scrape};
use crate::outage::Outage;

/// The line to one endpoint.
pub(crate) struct Line {
    url: Url,
    body: Body,
    timeout: Duration,
    key: Option<String>,
    /// Addresses of the name.
    resolved: Vec<SocketAddr>,
    outage: Outage,
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
            outage: Outage::new(host, source, url.endpoint()),
            url,
            body,
            timeout,
            key,
            resolved: Vec::new(),
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
            Ok(_) => self.outage.answered(over_ns, events),
            Err(failure) => self.outage.failed(t_ns, over_ns, failure.text(), events),
        }
        (read.ok(), took)
    }

    /// Says something about the endpoint.
    pub(crate) fn tell(&mut self, t_ns: i64, kind: &str, says: Text, events: &mut Vec<Event>) {
        self.outage.tell(t_ns, kind, says, events);
    }
}
