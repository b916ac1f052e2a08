//! The ticket by which a caller authenticates itself and both sides compare protocol versions.
//!
//! ```text
//! caller                                              server
//!    ══ TLS 1.3: the caller has checked the server's key ══
//!    Ticket ─────────────────────────────────────────►   nothing else is read before it is valid
//!           ◄───────────────────────────────────── Answer   accepted, or refused and why
//! ```
//!
//! The ticket's tag is an HMAC over a value that only these two ends of this one TLS connection
//! know (RFC 9266's idea with an exporter label of our own), so that a recorded ticket is worth
//! nothing on another connection. Both layouts, the tag included, never change: they are how two
//! different versions tell each other that they differ.

use ring::hmac;
use sokudo_model::Text;

use crate::key::{Key, KeyId};

/// Version of everything after the ticket. Raised with every incompatible change of a message.
pub const PROTOCOL_VERSION: u16 = 3;

/// Label of the TLS exporter value (RFC 8446 §7.5) that binds a ticket to its connection.
pub const EXPORTER_LABEL: &[u8] = b"EXPORTER-sokudo-ticket";

/// Longest product version in a ticket or answer, bytes.
pub const MAX_VERSION: usize = 32;

/// Longest name in a ticket or answer, bytes.
pub const MAX_NAME: usize = 64;

const TICKET_MAGIC: [u8; 8] = *b"sokudo>\n";
const ANSWER_MAGIC: [u8; 8] = *b"sokudo<\n";
const TAG: usize = 32;

/// A TLS exporter value: 32 bytes that differ from connection to connection.
pub type Channel = [u8; 32];

/// The first message of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// [`PROTOCOL_VERSION`] of the caller.
    pub protocol: u16,
    /// Product version of the caller: `0.1.0`.
    pub product: String,
    /// Key the tag was made with; [`KeyId::NONE`] without one.
    pub key: KeyId,
    /// The caller's host name, shown in the server's log.
    pub name: String,
}

/// The server's answer to a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// [`PROTOCOL_VERSION`] of the server; zero when it does not reveal that to unauthenticated
    /// callers.
    pub protocol: u16,
    /// Product version of the server; empty when it does not reveal that to unauthenticated callers.
    pub product: String,
    /// Come in, or not.
    pub verdict: Verdict,
}

/// Come in, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Envelopes follow.
    Accepted,
    /// The server has a key, the caller gave none.
    KeyNeeded,
    /// The caller's key is not the server's.
    WrongKey,
    /// The server runs without a key, the caller gave one.
    KeyUnknown,
    /// The protocol versions differ.
    Version,
    /// As many callers as the server allows are connected.
    Busy {
        /// The number that it allows.
        max_clients: u16,
    },
    /// The ticket could not be read.
    Garbled,
}

/// Reason why bytes are not a valid ticket or answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// The first bytes are not ours.
    #[error("not a sokudo greeting")]
    Magic,
    /// It ends too early, is too long, or a text in it is not what it should be.
    #[error("a garbled sokudo greeting")]
    Garbled,
    /// The tag was made with another key or for another connection.
    #[error("a ticket that is not valid here")]
    Tag,
}

impl TicketError {
    /// Noun for what came instead of a ticket.
    pub fn text(&self) -> Text {
        Text::new(match self {
            Self::Magic => "error-ticket-magic",
            Self::Garbled => "error-ticket-garbled",
            Self::Tag => "error-ticket-tag",
        })
    }
}

/// Two ends of different versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{peer} speaks protocol {peer_protocol} (sokudo {peer_product}), \
     this is protocol {own_protocol} (sokudo {own_product})"
)]
pub struct VersionMismatch {
    /// The other end as the operator named it.
    pub peer: String,
    /// Its protocol version.
    pub peer_protocol: u16,
    /// Its product version.
    pub peer_product: String,
    /// Own protocol version.
    pub own_protocol: u16,
    /// Own product version.
    pub own_product: String,
}

impl VersionMismatch {
    /// The mismatch as a message.
    pub fn text(&self) -> Text {
        Text::new("error-version")
            .word("peer", &self.peer)
            .with("peer_protocol", self.peer_protocol)
            .word("peer_product", &self.peer_product)
            .with("own_protocol", self.own_protocol)
            .word("own_product", &self.own_product)
    }

    /// The hint for the operator.
    pub fn hint(&self) -> Text {
        Text::new("error-version-hint")
    }
}

impl Ticket {
    /// The ticket as a frame's payload, bound to one connection.
    ///
    /// Texts are cut to [`MAX_VERSION`] and [`MAX_NAME`] bytes and freed of control characters.
    pub fn seal(&self, key: Option<&Key>, channel: &Channel) -> Vec<u8> {
        let mut bytes = TICKET_MAGIC.to_vec();
        bytes.extend(self.protocol.to_be_bytes());
        bytes.extend(self.key.0);
        put_text(&mut bytes, &self.product, MAX_VERSION);
        put_text(&mut bytes, &self.name, MAX_NAME);
        let tag = hmac::sign(&tag_key(key), &tagged(&bytes, channel));
        bytes.extend(tag.as_ref());
        bytes
    }

    /// Reads a ticket and checks its tag. Accepts any bytes.
    ///
    /// The key id is checked by the tag too: a ticket made with another key fails with
    /// [`TicketError::Tag`]. Use [`Ticket::key_of`] to learn which key the caller meant.
    pub fn open(bytes: &[u8], key: Option<&Key>, channel: &Channel) -> Result<Self, TicketError> {
        let split = bytes.len().checked_sub(TAG).ok_or(TicketError::Garbled)?;
        let (content, tag) = bytes.split_at(split);
        if !content.starts_with(&TICKET_MAGIC) {
            return Err(TicketError::Magic);
        }
        hmac::verify(&tag_key(key), &tagged(content, channel), tag)
            .map_err(|_| TicketError::Tag)?;
        let mut rest = Fields(&content[TICKET_MAGIC.len()..]);
        let ticket = Self {
            protocol: u16::from_be_bytes(rest.array()?),
            key: KeyId(rest.array()?),
            product: rest.text(MAX_VERSION)?,
            name: rest.text(MAX_NAME)?,
        };
        rest.end()?;
        Ok(ticket)
    }

    /// The key that a ticket claims to be made with: eight bytes at a fixed place, unproven.
    pub fn key_of(bytes: &[u8]) -> Result<KeyId, TicketError> {
        let rest = bytes
            .strip_prefix(&TICKET_MAGIC)
            .ok_or(TicketError::Magic)?;
        let mut rest = Fields(rest);
        rest.array::<2>()?;
        Ok(KeyId(rest.array()?))
    }
}

impl Answer {
    /// The answer as a frame's payload.
    pub fn to_payload(&self) -> Vec<u8> {
        let (code, detail) = match self.verdict {
            Verdict::Accepted => (0, 0),
            Verdict::KeyNeeded => (1, 0),
            Verdict::WrongKey => (2, 0),
            Verdict::KeyUnknown => (3, 0),
            Verdict::Version => (4, 0),
            Verdict::Busy { max_clients } => (5, max_clients),
            Verdict::Garbled => (6, 0),
        };
        let mut bytes = ANSWER_MAGIC.to_vec();
        bytes.extend(self.protocol.to_be_bytes());
        bytes.push(code);
        bytes.extend(u16::to_be_bytes(detail));
        put_text(&mut bytes, &self.product, MAX_VERSION);
        bytes
    }

    /// Reads an answer. Accepts any bytes.
    pub fn from_payload(bytes: &[u8]) -> Result<Self, TicketError> {
        let rest = bytes
            .strip_prefix(&ANSWER_MAGIC)
            .ok_or(TicketError::Magic)?;
        let mut rest = Fields(rest);
        let protocol = u16::from_be_bytes(rest.array()?);
        let [code] = rest.array()?;
        let detail = u16::from_be_bytes(rest.array()?);
        let product = rest.text(MAX_VERSION)?;
        rest.end()?;
        let verdict = match code {
            0 => Verdict::Accepted,
            1 => Verdict::KeyNeeded,
            2 => Verdict::WrongKey,
            3 => Verdict::KeyUnknown,
            4 => Verdict::Version,
            5 => Verdict::Busy {
                max_clients: detail,
            },
            6 => Verdict::Garbled,
            _ => return Err(TicketError::Garbled),
        };
        Ok(Self {
            protocol,
            product,
            verdict,
        })
    }
}

impl Verdict {
    /// Words for what the caller did, or was, that is answered so.
    pub fn text(&self) -> Text {
        Text::new(match self {
            Self::Accepted => "verdict-accepted",
            Self::KeyNeeded => "verdict-key-needed",
            Self::WrongKey => "verdict-wrong-key",
            Self::KeyUnknown => "verdict-key-unknown",
            Self::Version => "verdict-version",
            Self::Busy { max_clients } => {
                return Text::new("verdict-busy").with("max_clients", max_clients);
            }
            Self::Garbled => "verdict-garbled",
        })
    }
}

/// Without a key the tag still binds the ticket to the connection; it proves nothing else.
fn tag_key(key: Option<&Key>) -> hmac::Key {
    let bytes = key.map_or([0; 32], Key::ticket_key);
    hmac::Key::new(hmac::HMAC_SHA256, &bytes)
}

/// The bytes that the tag authenticates.
fn tagged(content: &[u8], channel: &Channel) -> Vec<u8> {
    [b"sokudo ticket".as_slice(), channel, content].concat()
}

/// A text as one byte of length and its bytes.
fn put_text(bytes: &mut Vec<u8>, text: &str, max: usize) {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    let mut end = clean.len().min(max);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    bytes.push(end as u8);
    bytes.extend(&clean.as_bytes()[..end]);
}

/// Reads fields from the front.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], TicketError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(TicketError::Garbled)?;
        self.0 = rest;
        Ok(*field)
    }

    fn text(&mut self, max: usize) -> Result<String, TicketError> {
        let [length] = self.array()?;
        let length = usize::from(length);
        let (field, rest) = self
            .0
            .split_at_checked(length)
            .filter(|_| length <= max)
            .ok_or(TicketError::Garbled)?;
        self.0 = rest;
        let text = std::str::from_utf8(field).map_err(|_| TicketError::Garbled)?;
        if text.chars().any(char::is_control) {
            return Err(TicketError::Garbled);
        }
        Ok(text.to_owned())
    }

    fn end(&self) -> Result<(), TicketError> {
        match self.0 {
            [] => Ok(()),
            _ => Err(TicketError::Garbled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ticket(key: Option<&Key>) -> Ticket {
        Ticket {
            protocol: 1,
            product: "0.1.0".into(),
            key: key.map_or(KeyId::NONE, Key::id),
            name: "hosta".into(),
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn layouts_stay_as_they_are() {
        let key = Key::from_random([7; 32]);
        let answer = Answer {
            protocol: 1,
            product: "0.1.0".into(),
            verdict: Verdict::Busy { max_clients: 8 },
        };
        let golden = format!(
            "ticket {}\nanswer {}\n",
            hex(&ticket(Some(&key)).seal(Some(&key), &[3; 32])),
            hex(&answer.to_payload()),
        );
        assert_eq!(golden, include_str!("../testdata/ticket.txt"));
    }

    #[test]
    fn a_ticket_opens_with_its_key_on_its_connection_only() {
        let (key, other) = (Key::from_random([7; 32]), Key::from_random([8; 32]));
        let ticket = ticket(Some(&key));
        let sealed = ticket.seal(Some(&key), &[3; 32]);
        assert_eq!(Ticket::key_of(&sealed), Ok(key.id()));
        assert_eq!(
            Ticket::open(&sealed, Some(&key), &[3; 32]),
            Ok(ticket.clone())
        );
        for (key, channel) in [
            (Some(&other), [3; 32]),
            (None, [3; 32]),
            (Some(&key), [4; 32]),
        ] {
            let opened = Ticket::open(&sealed, key, &channel);
            assert_eq!(opened, Err(TicketError::Tag));
        }
    }

    #[test]
    fn long_and_rude_names_are_tamed() {
        let mut long = ticket(None);
        long.name = format!("\x1b[31m{}", "速".repeat(50));
        let sealed = long.seal(None, &[0; 32]);
        let opened = Ticket::open(&sealed, None, &[0; 32]).unwrap();
        assert_eq!(opened.name, format!("[31m{}", "速".repeat(20)));
    }

    proptest! {
        #[test]
        fn no_changed_byte_is_accepted(at in 0usize..70, flip in 1u8..) {
            let key = Key::from_random([7; 32]);
            let mut sealed = ticket(Some(&key)).seal(Some(&key), &[3; 32]);
            let at = at % sealed.len();
            sealed[at] ^= flip;
            prop_assert!(Ticket::open(&sealed, Some(&key), &[3; 32]).is_err());
        }
    }
}
