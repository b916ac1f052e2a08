//! How does a host become a member of a group?
//!
//! ```text
//! sk1-…@192.0.2.10:7412        the line that `sokudo controller` prints
//! └─┬─┘ └──────┬──────┘
//!  secret   where to enrol, one or more, separated by commas
//!
//! agent                                                   controller
//!    ══ TLS 1.3: the agent has checked the pinned key ══
//!    Ticket ─────────────────────────────────────────►     nothing else is read before it is valid
//!           ◄───────────────────────────────── Answer
//!    Request: name, public key ──────────────────────►     never a private key
//!           ◄──────────── Admission: certificate, group   or a refusal and why
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::key::{Key, KeyError};

/// Places named in one token at most.
const MAX_PLACES: usize = 8;
/// Longest name of a place.
const MAX_PLACE: usize = 255;
/// Longest name of an agent; it becomes part of a key expression.
pub const MAX_AGENT_NAME: usize = 63;

/// What a host needs to join a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// Proves both sides to each other.
    pub key: Key,
    /// Where the controller enrols: `host:port`.
    pub places: Vec<String>,
}

/// Why a text is not a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinTokenError {
    /// No `@`.
    #[error("a join token has the form KEY@HOST:PORT")]
    Form,
    /// What stands before it.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// What stands after it.
    #[error("`{0}` in the join token is not HOST:PORT")]
    Place(String),
    /// Too many.
    #[error("a join token names up to {MAX_PLACES} places, this one {0}")]
    Places(usize),
}

impl JoinTokenError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "copy the whole line that `sokudo controller` printed"
    }
}

/// Secret; never log it.
impl fmt::Display for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.key.to_text(), self.places.join(","))
    }
}

impl FromStr for JoinToken {
    type Err = JoinTokenError;

    fn from_str(text: &str) -> Result<Self, JoinTokenError> {
        let (key, places) = text.trim().split_once('@').ok_or(JoinTokenError::Form)?;
        let places: Vec<String> = places.split(',').map(str::to_owned).collect();
        if places.len() > MAX_PLACES {
            return Err(JoinTokenError::Places(places.len()));
        }
        match places.iter().find(|place| !is_place(place)) {
            Some(wrong) => Err(JoinTokenError::Place(wrong.chars().take(80).collect())),
            None => Ok(Self {
                key: key.parse()?,
                places,
            }),
        }
    }
}

fn is_place(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._[]:%".contains(c);
    !host.is_empty()
        && text.len() <= MAX_PLACE
        && host.chars().all(plain)
        && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// True for what may name an agent: letters, digits, `-`, `_` and `.`.
pub fn is_agent_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.len() <= MAX_AGENT_NAME && name.chars().all(plain)
}

/// What a host asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// How it wants to be called.
    pub name: String,
    /// Its raw ECDSA P-256 public key, uncompressed (65 bytes).
    pub public_key: Vec<u8>,
}

/// What it gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum JoinAnswer {
    /// It is a member.
    Admitted(Box<Admission>),
    /// It is not, and why.
    Refused {
        /// What happened.
        says: String,
        /// What to do about it.
        hint: String,
    },
}

/// Everything that makes a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// The group's name, as people call it.
    pub group: String,
    /// The group's identity, as keys and certificates carry it.
    pub group_id: String,
    /// The agent's name, unique in the group.
    pub agent: String,
    /// Its certificate, PEM.
    pub certificate: String,
    /// The group's authority, PEM.
    pub authority: String,
    /// Ed25519 public key of those who may command.
    pub commander: [u8; 32],
    /// Where the router listens: `host:port`.
    pub routers: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_token_reads_as_it_was_written() {
        let token = JoinToken {
            key: Key::from_random([9; 32]),
            places: vec!["192.0.2.10:7412".into(), "[2001:db8::1]:7412".into()],
        };
        assert_eq!(token.to_string().parse(), Ok(token));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let key = Key::from_random([9; 32]).to_text();
        let parse = |text: &str| text.parse::<JoinToken>().map_err(|e| e.to_string());
        assert!(parse(&key).is_err_and(|e| e.contains("KEY@HOST")));
        assert!(parse(&format!("{key}@hostb")).is_err_and(|e| e.contains("`hostb`")));
        assert!(parse(&format!("{key}@hostb:0")).is_err_and(|e| e.contains("`hostb:0`")));
        assert!(parse(&format!("{key}@a b:1")).is_err());
        assert!(parse("sk1-x@hostb:1").is_err());
        let many = ["h:1"; 9].join(",");
        assert!(parse(&format!("{key}@{many}")).is_err_and(|e| e.contains("up to 8")));
    }

    #[test]
    fn names_stay_within_a_key_expression() {
        assert!(is_agent_name("host-1.lab_2"));
        for wrong in ["", "a/b", "a*", "$x", "ä", &"x".repeat(64)] {
            assert!(!is_agent_name(wrong), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in ".{0,200}") {
            if let Ok(token) = text.parse::<JoinToken>() {
                prop_assert_eq!(token.to_string().parse(), Ok(token));
            }
        }
    }
}
