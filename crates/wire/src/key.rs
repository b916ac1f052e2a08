//! The key of direct mode, which authenticates both the server and its callers.
//!
//! One secret text does both. `sokudo serve` prints it, the caller gives it back:
//!
//! ```text
//! sk1-┌──────────── base32 ────────────┐
//!     │ 32 secret bytes │ 3 check bytes │
//!     └────────────────────────────────┘
//!        │ HKDF-SHA256
//!        ├─► "sokudo server seed"  Ed25519 key of the server's certificate; the caller derives
//!        │                         the public half and accepts no other server
//!        ├─► "sokudo ticket key"   HMAC key of the ticket, the caller's proof
//!        └─► "sokudo key id"       public: tells two keys apart in messages
//! ```
//!
//! The check bytes tell a typing error from a wrong key. Randomness is an argument.

use std::fmt;
use std::str::FromStr;

use ring::hkdf;
use sokudo_model::Text;

use crate::base32::{self, CHECK};

const PREFIX: &str = "sk1-";
const SECRET: usize = 32;
/// 35 bytes are exactly 56 characters of five bits.
const TEXT: usize = (SECRET + CHECK) * 8 / 5;
/// Keeps the check of a key apart from that of any other text.
const CHECK_PURPOSE: &[u8] = b"sokudo key check";

/// The secret that a server and its callers share.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    secret: [u8; SECRET],
}

/// Public name of a key. All zero stands for "no key".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub [u8; 8]);

/// Reason why a text is not a valid key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It does not begin with `sk1-`.
    #[error("a key begins with `sk1-`, this text does not")]
    Prefix,
    /// It has too many or too few characters.
    #[error("a key has {TEXT} characters after `sk1-`, this one has {0}")]
    Length(usize),
    /// A character that no key contains.
    #[error("character {position} of the key, `{found}`, is not one of a-z or 2-7")]
    Character {
        /// From 1, counted from the beginning of the text.
        position: usize,
        /// The character.
        found: char,
    },
    /// The check at the end does not fit: at least one character was mistyped.
    #[error("the key is mistyped: its check characters do not fit")]
    Check,
}

impl KeyError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            KeyError::Prefix => Text::new("error-key-prefix"),
            KeyError::Length(found) => Text::new("error-key-length")
                .with("wanted", TEXT)
                .with("found", found),
            KeyError::Character { position, found } => Text::new("error-key-character")
                .with("position", position)
                .with("found", found),
            KeyError::Check => Text::new("error-key-mistyped"),
        }
    }

    /// The hint for the operator.
    pub fn hint(&self) -> Text {
        Text::new("error-key-hint")
    }
}

impl Key {
    /// A key from 32 bytes of good randomness.
    pub fn from_random(secret: [u8; SECRET]) -> Self {
        Self { secret }
    }

    /// The text that people copy: `sk1-` and 56 characters. Secret; never log it.
    pub fn to_text(&self) -> String {
        let mut bytes = [0; SECRET + CHECK];
        bytes[..SECRET].copy_from_slice(&self.secret);
        bytes[SECRET..].copy_from_slice(&base32::check_bytes(CHECK_PURPOSE, &self.secret));
        format!("{PREFIX}{}", base32::encode(&bytes))
    }

    /// Seed of the Ed25519 key pair (RFC 8032) in the server's certificate.
    pub fn server_seed(&self) -> [u8; 32] {
        self.derive(b"sokudo server seed")
    }

    /// HMAC-SHA256 key of the ticket.
    pub fn ticket_key(&self) -> [u8; 32] {
        self.derive(b"sokudo ticket key")
    }

    /// The key's public name.
    pub fn id(&self) -> KeyId {
        let all = self.derive(b"sokudo key id");
        let mut id = [0; 8];
        id.copy_from_slice(&all[..8]);
        KeyId(id)
    }

    fn derive(&self, purpose: &[u8]) -> [u8; 32] {
        let mut out = [0; 32];
        let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, b"sokudo sk1").extract(&self.secret);
        secret
            .expand(&[purpose], hkdf::HKDF_SHA256)
            .and_then(|okm| okm.fill(&mut out))
            .expect("HKDF-SHA256 gives up to 255 blocks, one is asked");
        out
    }
}

/// The secret never reaches a log by accident.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id())
    }
}

impl KeyId {
    /// Stands for "no key".
    pub const NONE: Self = Self([0; 8]);
}

/// Eight hexadecimal digits: enough to distinguish two keys by eye.
impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Accepts white space around the text, and capitals.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        let body = match text.split_at_checked(PREFIX.len()) {
            Some((prefix, body)) if prefix.eq_ignore_ascii_case(PREFIX) => body,
            _ => return Err(KeyError::Prefix),
        };
        let length = body.chars().count();
        if length != TEXT {
            return Err(KeyError::Length(length));
        }
        let bytes = base32::decode(body).map_err(|(at, found)| KeyError::Character {
            position: PREFIX.len() + at + 1,
            found,
        })?;
        let (secret, check) = bytes.split_at(SECRET);
        if check != base32::check_bytes(CHECK_PURPOSE, secret) {
            return Err(KeyError::Check);
        }
        let mut own = [0; SECRET];
        own.copy_from_slice(secret);
        Ok(Self { secret: own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// The format is a promise: a key printed by an old version opens a new one.
    #[test]
    fn derivation_and_text_stay_as_they_are() {
        let key = Key::from_random(std::array::from_fn(|i| i as u8));
        let golden = format!(
            "{}\nserver seed {}\nticket key {}\nid {}\n",
            key.to_text(),
            hex(&key.server_seed()),
            hex(&key.ticket_key()),
            hex(&key.id().0),
        );
        assert_eq!(golden, include_str!("../testdata/key.txt"));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<Key>().unwrap_err().to_string(), expected);
        };
        check("", "a key begins with `sk1-`, this text does not");
        check("日本語", "a key begins with `sk1-`, this text does not");
        check(
            "sk1-abc",
            "a key has 56 characters after `sk1-`, this one has 3",
        );
        let mut text = Key::from_random([9; 32]).to_text();
        text.replace_range(5..6, "0");
        check(
            &text,
            "character 6 of the key, `0`, is not one of a-z or 2-7",
        );
    }

    #[test]
    fn debug_does_not_show_the_secret() {
        let key = Key::from_random([9; 32]);
        assert_eq!(format!("{key:?}"), format!("Key({})", key.id()));
    }

    proptest! {
        #[test]
        fn text_survives_the_way_there_and_back(secret: [u8; 32]) {
            let key = Key::from_random(secret);
            let text = key.to_text();
            prop_assert_eq!(text.parse::<Key>(), Ok(key.clone()));
            prop_assert_eq!(format!(" {}\n", text.to_uppercase()).parse::<Key>(), Ok(key));
        }

        #[test]
        fn one_wrong_character_is_a_typing_error(secret: [u8; 32], at in 0..TEXT, step in 1u8..32) {
            let mut text = Key::from_random(secret).to_text().into_bytes();
            let place = &mut text[PREFIX.len() + at];
            let value = base32::value_of(*place as char).unwrap();
            *place = base32::ALPHABET[usize::from((value + step) % 32)];
            let text = String::from_utf8(text).unwrap();
            prop_assert_eq!(text.parse::<Key>(), Err(KeyError::Check));
        }
    }
}
