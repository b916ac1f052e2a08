//! One user's entries of an HTTP cache manager.

use std::borrow::Cow;
use std::collections::HashMap;

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
}

impl HttpCache {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// True if a cache manager would not send this request.
    pub fn is_fresh(&self, request: &HttpRequest, method: &str, url: &str, now_ms: i64) -> bool {
        if !self.applies(request, method) {
            return false;
        }
        let fresh_until_ms = self.0.get(url).and_then(|entry| entry.fresh_until_ms);
        fresh_until_ms.is_some_and(|until_ms| now_ms < until_ms)
    }

    /// Appends the headers of a conditional request.
    pub fn write_validators(
        &self,
        request: &HttpRequest,
        method: &str,
        url: &str,
        out: &mut Vec<u8>,
    ) {
        if !self.applies(request, method) {
            return;
        }
        if let Some(entry) = self.0.get(url) {
            if let Some(date) = &entry.last_modified {
                line(out, "If-Modified-Since", date);
            }
            if let Some(tag) = &entry.etag {
                line(out, "If-None-Match", tag);
            }
        }
    }

    /// Keeps what a response says about its age.
    pub fn keep(
        &mut self,
        test: &Test,
        request: &HttpRequest,
        (method, url): (&str, &str),
        reply: &Reply<'_>,
    ) {
        let Some(id) = request.cache else {
            return;
        };
        let ConfigKind::Cache {
            most_entries,
            follows_expires,
            ..
        } = test.plan.configs[id as usize].kind
        else {
            return;
        };
        let most = MOST_ENTRIES.min(usize::try_from(most_entries).unwrap_or(MOST_ENTRIES));
        if method != "GET" || reply.status != 200 || self.0.len() >= most {
            return;
        }
        let first = |name: &str| {
            let value = header_values(reply.headers, name).next();
            value.map(Cow::into_owned)
        };
        let now_s = test.wall_ms(reply.end_ns) / 1000;
        let lasts_s = follows_expires.then(|| fresh_s(reply.headers)).flatten();
        let entry = CachedResponse {
            last_modified: first("Last-Modified"),
            etag: first("ETag"),
            fresh_until_ms: lasts_s.map(|lasts_s| (now_s.saturating_add(lasts_s)) * 1000),
        };
        if entry.last_modified.is_some() || entry.etag.is_some() || lasts_s.is_some() {
            self.0.insert(url.into(), entry);
        }
    }

    fn applies(&self, request: &HttpRequest, method: &str) -> bool {
        request.cache.is_some() && !self.0.is_empty() && method == "GET"
    }
}

/// Seconds for which a response stays fresh; `None`: the response does not say.
fn fresh_s(headers: &[u8]) -> Option<i64> {
    let first = |name| header_values(headers, name).next();
    let date = |name| first(name).and_then(|date| http_date(&date));
    let control = first("Cache-Control").unwrap_or_default();
    if control.contains("no-store") || control.contains("no-cache") {
        return None;
    }
    let mut words = control.split(',').map(str::trim);
    let age = words.find_map(|word| word.strip_prefix("max-age="));
    if let Some(age) = age.and_then(|age| age.parse().ok()) {
        return Some(age);
    }
    let since = date("Date")?;
    match (date("Expires"), date("Last-Modified")) {
        (Some(expires), _) => Some(expires - since),
        // Caches commonly take a tenth of the age.
        (None, Some(modified)) => Some((since - modified) / 10),
        (None, None) => None,
    }
}
