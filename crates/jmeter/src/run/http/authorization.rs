//! Credentials of an HTTP authorization manager, and the requests that are repeated with them.
//!
//! `BASIC` and `BASIC_DIGEST` send the password with the first request; `DIGEST` waits for a
//! challenge (RFC 7617, RFC 7616). Domain and realm of an entry select nothing, as in JMeter.

use super::request::line;
use crate::plan::{ConfigKind, HttpRequest};
use crate::run::address::Address;
use crate::run::context::View;
use crate::run::digest::{self, Proof, basic};
use crate::run::encode;
use crate::run::outcome::Reply;

/// Most times that one request is repeated: once with credentials, and once more because the
/// nonce was stale.
const MOST_REPEATS: u32 = 2;

/// User and password for one request.
struct Credentials {
    user: String,
    password: String,
    /// They are sent without a challenge.
    is_preemptive: bool,
}

/// The challenges to one request and the answer to the last of them.
#[derive(Debug, Default)]
pub(super) struct ChallengeState {
    /// Value of `Authorization`; empty: no challenge was answered.
    value: String,
    /// Number of challenges that were answered.
    challenges: u32,
    /// The next request repeats this one.
    repeats: bool,
    /// Start of the first attempt, and the time its connection took in milliseconds.
    first: Option<(i64, u64)>,
    is_digest: bool,
}

impl ChallengeState {
    /// Prepares the same request with credentials if the reply is a challenge that can be
    /// answered; true if it is.
    pub fn answer_challenge(
        &mut self,
        view: &mut View<'_>,
        request: &HttpRequest,
        (address, method): (&Address, &str),
        reply: &Reply<'_>,
    ) -> bool {
        if reply.status != 401 || reply.lost.is_some() || self.challenges >= MOST_REPEATS {
            return false;
        }
        let Some(known) = credentials(view, request, address) else {
            return false;
        };
        let offered = digest::challenges(reply.headers);
        let is_new = |is_stale: bool| !self.is_digest || is_stale;
        let is_first = self.challenges == 0;
        let was_sent = known.is_preemptive && offered.basic;
        let (value, is_digest) = match offered.digest {
            Some(challenge) if !was_sent && is_new(challenge.is_stale) => {
                let mut path = Vec::new();
                encode::path(&address.path, &mut path);
                let value = challenge.answer(&Proof {
                    user: &known.user,
                    password: &known.password,
                    method,
                    path: &String::from_utf8_lossy(&path),
                    own_nonce: view.thread.random().bits(),
                });
                (value, true)
            }
            _ if offered.basic && !known.is_preemptive && is_first => {
                (basic(&known.user, &known.password), false)
            }
            // JMeter's client repeats the request once without credentials.
            _ if offered.other_digest && !was_sent && is_first => (String::new(), true),
            _ => return false,
        };
        let connect_ms = match reply.reused {
            true => 0,
            false => view.test().between_ms(reply.start_ns, reply.connected_ns),
        };
        *self = Self {
            value,
            challenges: self.challenges + 1,
            repeats: true,
            first: self.first.or(Some((reply.start_ns, connect_ms))),
            is_digest,
        };
        true
    }

    /// Appends the `Authorization` header if credentials are known and due.
    pub fn write(
        &self,
        view: &mut View<'_>,
        request: &HttpRequest,
        address: &Address,
        out: &mut Vec<u8>,
    ) {
        if !self.value.is_empty() {
            return line(out, "Authorization", &self.value);
        }
        let known = credentials(view, request, address);
        if let Some(known) = known.filter(|known| known.is_preemptive) {
            line(out, "Authorization", &basic(&known.user, &known.password));
        }
    }

    /// Forgets all challenges: the next request is another one.
    pub fn reset(&mut self) {
        if self.challenges > 0 {
            *self = Self::default();
        }
    }

    /// True if a challenge to this request was answered.
    pub fn was_challenged(&self) -> bool {
        self.challenges > 0
    }

    /// True once if the next request repeats this one.
    pub fn take_repeat(&mut self) -> bool {
        std::mem::take(&mut self.repeats)
    }

    /// Start of the first attempt, and the time its connection took in milliseconds; `None` if
    /// there was only one attempt.
    pub fn first_attempt(&self) -> Option<(i64, u64)> {
        self.first
    }
}

/// The first entry of the authorization manager whose URL is a prefix of the request's.
fn credentials(
    view: &mut View<'_>,
    request: &HttpRequest,
    address: &Address,
) -> Option<Credentials> {
    let ConfigKind::Authorization { entries, .. } =
        &view.test().plan.configs[request.authorization? as usize].kind
    else {
        return None;
    };
    let (mut url, mut with_port) = (String::new(), String::new());
    address.write(&mut url);
    address.write_with_port(&mut with_port);
    for entry in entries {
        let prefix = view.text(&entry.url);
        let prefix = prefix.trim();
        if url.starts_with(prefix) || with_port.starts_with(prefix) {
            let mechanism = view.text(&entry.mechanism);
            return Some(Credentials {
                user: view.text(&entry.user),
                password: view.text(&entry.password),
                is_preemptive: !mechanism.trim().eq_ignore_ascii_case("DIGEST"),
            });
        }
    }
    None
}
