//! Join tokens and the messages by which a host becomes a member of a group.
//!
//! ```text
//! sj1-…@192.0.2.10:7412        the line that `sokudo controller` prints
//! └─┬─┘ └──────┬──────┘
//!  secret   where to enrol, one or more, separated by commas
//!
//! sj1-┌─────────────────────── base32 ───────────────────────┐
//!     │ 32 bytes: door's key │ 20 secret bytes │ 3 check bytes │
//!     └───────────────────────────────────────────────────────┘
//!
//! agent                                                   controller
//!    ══ TLS 1.3: the agent has checked the pinned key ══
//!    Ticket ─────────────────────────────────────────►     nothing else is read before it is valid
//!           ◄───────────────────────────────── Answer
//!    Request: name, role, public key, proof ─────────►     never a private key
//!           ◄──────────── Admission: certificate, group   or a refusal and why
//! ```
//!
//! A member renews its certificate in the same way: its ticket is made with the group's renewal key in
//! place of a token, and it proves that it holds the key under which its name is known.
//!
//! The door's key is the public half of one that never leaves the controller, so that who has joined
//! cannot pose as the door. How long a token is good for, and how often, the controller keeps.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use ring::digest;
use sokudo_model::Text;

use crate::base32::{self, CHECK};
use crate::key::Key;
use crate::life::Life;
use crate::ticket::Channel;

const PREFIX: &str = "sj1-";
const DOOR: usize = 32;
/// Secret bytes of a token.
pub const TOKEN_SECRET: usize = 20;
/// 55 bytes are exactly 88 characters of five bits.
const TEXT: usize = (DOOR + TOKEN_SECRET + CHECK) * 8 / 5;
/// Keeps the check of a token apart from that of any other text.
const CHECK_PURPOSE: &[u8] = b"sokudo join check";

/// Places named in one token at most.
const MAX_PLACES: usize = 8;
/// Longest name of a place.
const MAX_PLACE: usize = 255;
/// Longest name of an agent; it becomes part of a key expression.
pub const MAX_AGENT_NAME: usize = 63;

/// The content of a join token.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// Ed25519 public key of the door; a server with another key is refused.
    pub door: [u8; DOOR],
    /// The secret by which the door recognises the token.
    pub secret: [u8; TOKEN_SECRET],
    /// The controller's enrolment addresses: `host:port`.
    pub places: Vec<String>,
}

/// Reason why a text is not a valid token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinTokenError {
    /// No `@`.
    #[error("a join token has the form SECRET@HOST:PORT")]
    Form,
    /// It does not begin as one.
    #[error("a join token begins with `sj1-`, this text does not")]
    Prefix,
    /// Too many or too few characters.
    #[error("a join token has {TEXT} characters between `sj1-` and `@`, this one has {0}")]
    Length(usize),
    /// A character that no token contains.
    #[error("character {position} of the join token, `{found}`, is not one of a-z or 2-7")]
    Character {
        /// From 1, counted from the beginning of the text.
        position: usize,
        /// The character.
        found: char,
    },
    /// At least one character was mistyped.
    #[error("the join token is mistyped: its check characters do not fit")]
    Check,
    /// The text after it.
    #[error("`{0}` in the join token is not HOST:PORT")]
    Place(String),
    /// Too many.
    #[error("a join token names up to {MAX_PLACES} places, this one {0}")]
    Places(usize),
}

impl JoinTokenError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            JoinTokenError::Form => Text::new("error-join-form"),
            JoinTokenError::Prefix => Text::new("error-join-prefix"),
            JoinTokenError::Length(found) => Text::new("error-join-length")
                .with("wanted", TEXT)
                .with("found", found),
            JoinTokenError::Character { position, found } => Text::new("error-join-character")
                .with("position", position)
                .with("found", found),
            JoinTokenError::Check => Text::new("error-join-mistyped"),
            JoinTokenError::Place(place) => Text::new("error-join-place").word("place", place),
            JoinTokenError::Places(found) => Text::new("error-join-places")
                .with("most", MAX_PLACES)
                .with("found", found),
        }
    }

    /// The hint for the operator.
    pub fn hint(&self) -> Text {
        Text::new("error-join-hint")
    }
}

impl JoinToken {
    /// The key with which both ends prove that they know the token.
    pub fn key(&self) -> Key {
        token_key(&self.secret)
    }
}

/// The key of the token with this secret.
pub fn token_key(secret: &[u8; TOKEN_SECRET]) -> Key {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(b"sokudo join token");
    context.update(secret);
    let mut key = [0; 32];
    key.copy_from_slice(context.finish().as_ref());
    Key::from_random(key)
}

/// The secret never reaches a log by accident.
impl fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinToken({} at {:?})", self.key().id(), self.places)
    }
}

/// Secret; never log it.
impl fmt::Display for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = [&self.door[..], &self.secret[..]].concat();
        let check = base32::check_bytes(CHECK_PURPOSE, &secret);
        let text = base32::encode(&[&secret[..], &check[..]].concat());
        write!(f, "{PREFIX}{text}@{}", self.places.join(","))
    }
}

impl FromStr for JoinToken {
    type Err = JoinTokenError;

    fn from_str(text: &str) -> Result<Self, JoinTokenError> {
        let (secret, places) = text.trim().split_once('@').ok_or(JoinTokenError::Form)?;
        let places: Vec<String> = places.split(',').map(str::to_owned).collect();
        if places.len() > MAX_PLACES {
            return Err(JoinTokenError::Places(places.len()));
        }
        if let Some(wrong) = places.iter().find(|place| !is_place(place)) {
            return Err(JoinTokenError::Place(wrong.chars().take(80).collect()));
        }
        let (door, secret) = read_secret(secret)?;
        Ok(Self {
            door,
            secret,
            places,
        })
    }
}

/// The part before the `@`; surrounding white space and upper case are accepted.
fn read_secret(text: &str) -> Result<([u8; DOOR], [u8; TOKEN_SECRET]), JoinTokenError> {
    let body = match text.split_at_checked(PREFIX.len()) {
        Some((prefix, body)) if prefix.eq_ignore_ascii_case(PREFIX) => body,
        _ => return Err(JoinTokenError::Prefix),
    };
    let length = body.chars().count();
    if length != TEXT {
        return Err(JoinTokenError::Length(length));
    }
    let bytes = base32::decode(body).map_err(|(at, found)| JoinTokenError::Character {
        position: PREFIX.len() + at + 1,
        found,
    })?;
    let (known, check) = bytes.split_at(DOOR + TOKEN_SECRET);
    if check != base32::check_bytes(CHECK_PURPOSE, known) {
        return Err(JoinTokenError::Check);
    }
    let (mut door, mut secret) = ([0; DOOR], [0; TOKEN_SECRET]);
    door.copy_from_slice(&known[..DOOR]);
    secret.copy_from_slice(&known[DOOR..]);
    Ok((door, secret))
}

/// True for `host:port` as a token may name it.
pub fn is_place(text: &str) -> bool {
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

/// The role of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberRole {
    /// Obeys.
    Agent,
    /// Carries messages for a site.
    Router,
}

impl MemberRole {
    /// The role in a sentence.
    pub fn text(self) -> Text {
        Text::new(match self {
            Self::Agent => "group-role-agent",
            Self::Router => "group-role-router",
        })
    }
}

impl fmt::Display for MemberRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Router => "router",
        })
    }
}

/// A host's request for admission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// The requested name.
    pub name: String,
    /// The requested role.
    pub role: MemberRole,
    /// Its raw ECDSA P-256 public key, uncompressed (65 bytes).
    pub public_key: Vec<u8>,
    /// [`proof_text`], signed with the private half (ASN.1 DER), which shows that the sender holds the
    /// key.
    pub proof: Vec<u8>,
}

/// Text that a host signs to prove that it holds the private half of its key: this session and no
/// other, and what it asks for.
pub fn proof_text(channel: &Channel, name: &str, role: MemberRole) -> Vec<u8> {
    let mut text = b"sokudo join proof".to_vec();
    text.extend(channel);
    text.extend(format!("{role} {name}").as_bytes());
    text
}

/// The answer to the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum JoinAnswer {
    /// It is a member.
    Admitted(Box<Admission>),
    /// It is not, and why.
    Refused {
        /// The cause of the refusal.
        says: Text,
        /// The hint for the operator; empty where there is none.
        hint: Text,
    },
}

/// Everything that makes a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// The group's name, as people call it.
    pub group: String,
    /// The group's identity, as keys and certificates carry it.
    pub group_id: String,
    /// The member's name, unique in the group.
    pub agent: String,
    /// The role of the member.
    pub role: MemberRole,
    /// Its certificate, PEM.
    pub certificate: String,
    /// Validity of the certificate.
    pub life: Life,
    /// Makes the ticket with which members come to the door for another one. All members hold it: it
    /// gets them heard, and nothing else.
    pub renewal: [u8; 32],
    /// The group's authority, PEM.
    pub authority: String,
    /// Ed25519 public key of those who may command.
    pub commander: [u8; 32],
    /// The secret shared by the agent and the holders of the commanding key (see [`crate::order`]).
    /// Unused for routers.
    pub secret: [u8; 32],
    /// The router's addresses: `host:port`.
    pub routers: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn token(places: &[&str]) -> JoinToken {
        JoinToken {
            door: [9; DOOR],
            secret: [8; TOKEN_SECRET],
            places: places.iter().map(|&place| place.into()).collect(),
        }
    }

    #[test]
    fn a_token_reads_as_it_was_written() {
        let token = token(&["192.0.2.10:7412", "[2001:db8::1]:7412"]);
        let text = token.to_string();
        assert_eq!(format!(" {text}\n").parse(), Ok(token.clone()));
        let (secret, places) = text.split_once('@').expect("a place");
        let capitals = format!("{}@{places}", secret.to_uppercase());
        assert_eq!(capitals.parse(), Ok(token));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let text = token(&["h:1"]).to_string();
        let (secret, _) = text.split_once('@').expect("a place");
        let parse = |text: &str| text.parse::<JoinToken>().map_err(|e| e.to_string());
        assert!(parse(secret).is_err_and(|e| e.contains("SECRET@HOST")));
        assert!(parse(&format!("{secret}@hostb")).is_err_and(|e| e.contains("`hostb`")));
        assert!(parse(&format!("{secret}@hostb:0")).is_err_and(|e| e.contains("`hostb:0`")));
        assert!(parse(&format!("{secret}@a b:1")).is_err());
        assert!(parse("sj1-x@hostb:1").is_err_and(|e| e.contains("88 characters")));
        let key = Key::from_random([9; 32]).to_text();
        assert!(parse(&format!("{key}@hostb:1")).is_err_and(|e| e.contains("`sj1-`")));
        let zero = secret.replacen(&secret[4..5], "0", 1);
        assert!(parse(&format!("{zero}@h:1")).is_err_and(|e| e.contains("`0`")));
        let many = ["h:1"; 9].join(",");
        assert!(parse(&format!("{secret}@{many}")).is_err_and(|e| e.contains("up to 8")));
    }

    #[test]
    fn debug_does_not_show_the_secret() {
        let token = token(&["h:1"]);
        assert!(!format!("{token:?}").contains(&token.to_string()[4..20]));
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
            crate::entry::join(text.as_bytes());
        }

        #[test]
        fn one_wrong_character_is_a_typing_error(at in 0..TEXT, step in 1u8..32) {
            let mut text = token(&["h:1"]).to_string().into_bytes();
            let place = &mut text[PREFIX.len() + at];
            let value = base32::value_of(*place as char).unwrap();
            *place = base32::ALPHABET[usize::from((value + step) % 32)];
            let text = String::from_utf8(text).unwrap();
            prop_assert_eq!(text.parse::<JoinToken>(), Err(JoinTokenError::Check));
        }
    }
}
