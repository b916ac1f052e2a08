//! One user's entries of an HTTP cache manager.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::request::line;
use super::response::header_values;
use crate::plan::{ConfigKind, HttpRequest};
use crate::run::cookies::http_date;
use crate::run::outcome::Reply;
use crate::run::test::Test;

/// Most entries per user.
const MOST_ENTRIES: usize = 5_000;

/// Cached responses by URL; their bodies are not kept.
#[derive(Debug, Default)]
pub(super) struct HttpCache(HashMap<String, CachedResponse>);

/// A server's statement about the age of a response.
#[derive(Debug, Default)]
struct CachedResponse {
    last_modified: Option<String>,
    etag: Option<String>,
    /// Not requested again before this moment, milliseconds since 1970.
    fresh_until_ms: Option<i64>,
    /// Headers of requests on which the response depends: the entries themselves have other keys.
    vary: Option<String>,
}

/// An age that is not a number, which JMeter does not survive.
#[derive(Debug)]
pub(super) struct NotANumber;

/// The key of a response that depends on headers of its request.
fn vary_key(url: &str, vary: &str, headers: &[(String, String)]) -> String {
    let names: BTreeSet<&str> = vary.split(',').map(str::trim_start).collect();
    let mut key = format!("{url}\n{vary}");
    for name in names {
        let values = headers.iter().filter(|(given, _)| given == name);
        let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
        key.push_str(&format!("\n{name}={values:?}"));
    }
    key
}

impl HttpCache {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// True if a cache manager would not send this request.
    pub fn is_fresh(
        &self,
        request: &HttpRequest,
        (method, url): (&str, &str),
        now_ms: i64,
        headers: impl FnOnce() -> Vec<(String, String)>,
    ) -> bool {
        if method != "GET" || !self.applies(request) {
            return false;
        }
        let entry = self.entry(url, headers);
        let fresh_until_ms = entry.and_then(|entry| entry.fresh_until_ms);
        fresh_until_ms.is_some_and(|until_ms| now_ms < until_ms)
    }

    /// Appends the headers of a conditional request, whatever its method.
    pub fn write_validators(
        &self,
        request: &HttpRequest,
        url: &str,
        headers: impl FnOnce() -> Vec<(String, String)>,
        out: &mut Vec<u8>,
    ) {
        if !self.applies(request) {
            return;
        }
        if let Some(entry) = self.entry(url, headers) {
            if let Some(date) = &entry.last_modified {
                line(out, "If-Modified-Since", date);
            }
            if let Some(tag) = &entry.etag {
                line(out, "If-None-Match", tag);
            }
        }
    }

    /// The entry of a URL, for a request with these headers where the response depends on some.
    fn entry(
        &self,
        url: &str,
        headers: impl FnOnce() -> Vec<(String, String)>,
    ) -> Option<&CachedResponse> {
        let entry = self.0.get(url)?;
        match &entry.vary {
            None => Some(entry),
            Some(vary) => self.0.get(&vary_key(url, vary, &headers())),
        }
    }

    /// Keeps what a response to a request with these headers says about its age. Fails if its age is not a
    /// number.
    pub fn keep(
        &mut self,
        test: &Test,
        request: &HttpRequest,
        (method, url): (&str, &str),
        reply: &Reply<'_>,
        headers: impl FnOnce() -> Vec<(String, String)>,
    ) -> Result<(), NotANumber> {
        let Some(id) = request.cache else {
            return Ok(());
        };
        let ConfigKind::Cache {
            most_entries,
            follows_expires,
            ..
        } = test.plan.configs[id as usize].kind
        else {
            return Ok(());
        };
        let most = MOST_ENTRIES.min(usize::try_from(most_entries).unwrap_or(MOST_ENTRIES));
        let is_kept = matches!(reply.status, 200..=299 | 304);
        if method != "GET" || !is_kept || self.0.len() >= most {
            return Ok(());
        }
        let last = |name: &str| {
            let value = header_values(reply.headers, name).last();
            value.map(Cow::into_owned)
        };
        let vary = last("Vary");
        if vary.as_deref() == Some("*") {
            return Ok(());
        }
        let age = AgeHeaders {
            control: last("Cache-Control"),
            expires: last("Expires"),
            last_modified: last("Last-Modified"),
            etag: last("ETag"),
            date: last("Date"),
        };
        if !age.says_something() {
            return Ok(());
        }
        let fresh_until_ms = match follows_expires {
            true => match age.fresh_until_ms(test.wall_ms(reply.end_ns)) {
                Kept::Not => return Ok(()),
                Kept::Unreadable => return Err(NotANumber),
                Kept::Until(until_ms) => until_ms,
            },
            false => None,
        };
        let entry = CachedResponse {
            last_modified: age.last_modified,
            etag: age.etag,
            fresh_until_ms,
            vary: None,
        };
        match vary {
            Some(vary) => {
                let key = vary_key(url, &vary, &headers());
                let pointer = CachedResponse {
                    vary: Some(vary),
                    ..CachedResponse::default()
                };
                self.0.insert(url.into(), pointer);
                self.0.insert(key, entry);
            }
            // As in JMeter, the first entry of a URL stays, also when its time is over.
            None => drop(self.0.entry(url.into()).or_insert(entry)),
        }
        Ok(())
    }

    fn applies(&self, request: &HttpRequest) -> bool {
        request.cache.is_some() && !self.0.is_empty()
    }
}

/// The headers of a response that say how long it may be kept.
struct AgeHeaders {
    control: Option<String>,
    expires: Option<String>,
    last_modified: Option<String>,
    etag: Option<String>,
    date: Option<String>,
}

/// Whether a response is kept.
enum Kept {
    /// It is not.
    Not,
    /// Its age is not a number.
    Unreadable,
    /// It is, and is not requested again before this moment, milliseconds since 1970; `None`: it is
    /// always asked about.
    Until(Option<i64>),
}

impl AgeHeaders {
    /// True if any of the headers that matter is there and not empty.
    fn says_something(&self) -> bool {
        let all = [
            &self.last_modified,
            &self.expires,
            &self.etag,
            &self.control,
        ];
        let mut given = all.into_iter().flatten();
        given.any(|value| !value.trim().is_empty())
    }

    /// Retention of the response by a cache manager that follows these headers.
    fn fresh_until_ms(&self, now_ms: i64) -> Kept {
        let control = self.control.as_deref().unwrap_or_default();
        if control.contains("no-store") {
            return Kept::Not;
        }
        // A text that is not a date has expired.
        let expires = self.expires.as_deref();
        let expires_ms =
            expires.map(|date| http_date(date).map_or(0, |at_s| at_s.saturating_mul(1000)));
        if control.contains("no-cache") {
            return Kept::Until(expires_ms);
        }
        let age = control.split_once("max-age=").map(|(_, rest)| rest);
        let age = age.and_then(|rest| rest.split([',', ' ']).next());
        Kept::Until(Some(match age {
            Some(age_s) => match age_s.parse::<i64>() {
                Ok(age_s) => now_ms.saturating_add(age_s.saturating_mul(1000)),
                Err(_) => return Kept::Unreadable,
            },
            None => expires_ms.unwrap_or_else(|| now_ms.saturating_add(self.tenth_of_age_ms())),
        }))
    }

    /// A tenth of the time since the response was modified; a year if it does not say.
    fn tenth_of_age_ms(&self) -> i64 {
        const YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;
        let at = |date: &Option<String>| date.as_deref().and_then(http_date);
        match (at(&self.date), at(&self.last_modified)) {
            (Some(date_s), Some(modified_s)) => (date_s - modified_s).saturating_mul(100),
            _ => YEAR_MS,
        }
    }
}
