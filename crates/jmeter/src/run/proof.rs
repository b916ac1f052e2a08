//! Which user and password belong to a request, and when is it sent again with a proof?
//!
//! `BASIC` and `BASIC_DIGEST` show the password with the first request; `DIGEST` waits until the
//! server asks. Domain and realm of an entry choose nothing, as in JMeter.

use super::digest::{self, Proof, basic};
use super::encode;
use super::outcome::Reply;
use super::request::line;
use super::test::Test;
use super::user::{Body, Flight};
use crate::plan::{ConfigKind, HttpRequest};

/// Most times that a request is refused and sent again: once for a proof, once more because its nonce
/// was too old.
const MOST_PROOFS: u32 = 2;

/// A user and password.
struct Known {
    user: String,
    password: String,
    /// The server need not ask.
    shows_itself: bool,
}

/// What a server asked for, and what it is told.
#[derive(Debug, Default)]
pub(super) struct Proving {
    /// The value of `Authorization`; empty: nothing was asked for.
    pub says: String,
    /// Times that the request was refused.
    pub refused: u32,
    /// The next request is the same once more.
    pub repeats: bool,
    /// Beginning of the first attempt, and what its connection took, milliseconds.
    pub first: Option<(i64, u64)>,
    is_digest: bool,
}

impl Body {
    /// True: the server asks who it is, and the same request is sent again with the answer. Of bytes,
    /// only those of the last attempt are told; times span all of them.
    pub(super) fn proves(&mut self, test: &Test, request: &HttpRequest, reply: &Reply<'_>) -> bool {
        let refused = self.flight.proving.refused;
        if reply.status != 401 || reply.lost.is_some() || refused >= MOST_PROOFS {
            return false;
        }
        let Some(known) = self.known(test, reply.end_ns, request) else {
            return false;
        };
        let asked = digest::asked(reply.headers);
        let flight = &mut self.flight;
        let is_new = |is_stale: bool| !flight.proving.is_digest || is_stale;
        let shown = known.shows_itself && asked.basic;
        let (says, is_digest) = match asked.digest {
            Some(challenge) if !shown && is_new(challenge.is_stale) => {
                let mut path = Vec::new();
                encode::path(&flight.address.path, &mut path);
                let says = challenge.answer(&Proof {
                    user: &known.user,
                    password: &known.password,
                    method: &flight.method,
                    path: &String::from_utf8_lossy(&path),
                    own_nonce: self.person.random.bits(),
                });
                (says, true)
            }
            _ if asked.basic && !known.shows_itself && refused == 0 => {
                (basic(&known.user, &known.password), false)
            }
            // JMeter's client asks once more, without any proof.
            _ if asked.other_digest && !shown && refused == 0 => (String::new(), true),
            _ => return false,
        };
        let connect_ms = match reply.reused {
            true => 0,
            false => test.between_ms(reply.start_ns, reply.connected_ns),
        };
        let bytes = reply.head_bytes + reply.body_bytes + reply.framing_bytes;
        flight.bytes = flight.bytes.saturating_sub(bytes);
        flight.sent_bytes = flight.sent_bytes.saturating_sub(reply.sent_bytes);
        let first = flight.proving.first;
        flight.proving = Proving {
            says,
            refused: refused + 1,
            repeats: true,
            first: first.or(Some((reply.start_ns, connect_ms))),
            is_digest,
        };
        true
    }

    /// Appends who it is, when that was asked for or need not be.
    pub(super) fn write_authorization(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        out: &mut Vec<u8>,
    ) {
        if !self.flight.proving.says.is_empty() {
            return line(out, "Authorization", &self.flight.proving.says);
        }
        let known = self.known(test, now_ns, request);
        if let Some(known) = known.filter(|known| known.shows_itself) {
            line(out, "Authorization", &basic(&known.user, &known.password));
        }
    }

    /// The first entry of the manager below whose address the request is.
    fn known(&mut self, test: &Test, now_ns: i64, request: &HttpRequest) -> Option<Known> {
        let ConfigKind::Authorization { entries, .. } =
            &test.plan.configs[request.authorization? as usize].kind
        else {
            return None;
        };
        let (mut url, mut with_port) = (String::new(), String::new());
        self.flight.address.write(&mut url);
        self.flight.address.write_with_port(&mut with_port);
        let mut view = self.person.view(test, now_ns);
        for entry in entries {
            let below = view.text(&entry.url);
            let below = below.trim();
            if url.starts_with(below) || with_port.starts_with(below) {
                let mechanism = view.text(&entry.mechanism);
                return Some(Known {
                    user: view.text(&entry.user),
                    password: view.text(&entry.password),
                    shows_itself: !mechanism.trim().eq_ignore_ascii_case("DIGEST"),
                });
            }
        }
        None
    }
}

impl Flight {
    /// Another address, or another request: nobody has asked for a proof yet.
    pub(super) fn forget_proof(&mut self) {
        if self.proving.refused > 0 {
            self.proving = Proving::default();
        }
    }
}
