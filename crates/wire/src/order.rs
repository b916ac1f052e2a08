//! Does this command come from the group's controller, to this agent, now, and for the first time?
//!
//! ```text
//! ┌──────────┬────────────┬─────────────────────┐
//! │ number   │ signature  │ frame               │
//! │ u64 BE   │ 64 B       │                     │
//! └──────────┴────────────┴─────────────────────┘
//! ```
//!
//! The signature is Ed25519 (RFC 8032) over the purpose, the group, the agent's name, the agent's
//! challenge, the number and the frame. The challenge is 32 random bytes that the agent draws for
//! each session, so that what was recorded is worth nothing to another agent, in another session or
//! after a restart; numbers count up by one, so that nothing is repeated, left out or reordered.
//! Routers carry orders and cannot make them.
//!
//! What the agent says back is numbered alike, with an HMAC-SHA256 of 32 bytes in place of the
//! signature. Its key is the challenge, which only the controller that opened the session has been
//! told.

use ring::hmac;
use ring::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};

/// Bytes before the frame.
const HEAD: usize = 8 + SIGNATURE;
const SIGNATURE: usize = 64;
/// What the signature is for: no signature made for anything else fits.
const PURPOSE: &[u8] = b"sokudo order 1";

/// What an agent draws for each session.
pub type Challenge = [u8; 32];

/// Between whom orders pass, and in which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// The group's identity.
    pub group: String,
    /// The agent's name within it.
    pub agent: String,
    /// The agent's challenge for this session.
    pub challenge: Challenge,
}

/// Why an order is not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// Fewer bytes than an empty order.
    #[error("an order of {0} bytes is too short to be one")]
    Short(usize),
    /// Nobody who may command has signed it, or not for this agent and session.
    #[error("an order is not signed by this group's controller for this session")]
    Signature,
    /// A number that was there already, or one that comes too early.
    #[error("order {found} came when {expected} was due: repeated, lost or out of order")]
    Number {
        /// What was due.
        expected: u64,
        /// What came.
        found: u64,
    },
}

impl Between {
    fn signed(&self, number: u64, frame: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + frame.len());
        for part in [PURPOSE, self.group.as_bytes(), self.agent.as_bytes()] {
            out.extend_from_slice(&(part.len() as u64).to_be_bytes());
            out.extend_from_slice(part);
        }
        out.extend_from_slice(&self.challenge);
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(frame);
        out
    }
}

/// The controller's end: numbers and signs.
pub struct Signer {
    between: Between,
    pair: Ed25519KeyPair,
    last: u64,
}

impl Signer {
    /// Signs from number 1 on.
    pub fn new(between: Between, pair: Ed25519KeyPair) -> Self {
        Self {
            between,
            pair,
            last: 0,
        }
    }

    /// The next order.
    pub fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        self.last += 1;
        let signature = self.pair.sign(&self.between.signed(self.last, frame));
        let mut out = Vec::with_capacity(HEAD + frame.len());
        out.extend_from_slice(&self.last.to_be_bytes());
        out.extend_from_slice(signature.as_ref());
        out.extend_from_slice(frame);
        out
    }
}

/// The agent's end: believes one key, and each number once.
pub struct Checker {
    between: Between,
    /// Ed25519 public key of the group's controllers.
    public: [u8; 32],
    last: u64,
}

impl Checker {
    /// Expects number 1 first.
    pub fn new(between: Between, public: [u8; 32]) -> Self {
        Self {
            between,
            public,
            last: 0,
        }
    }

    /// The frame of the next order.
    ///
    /// Errors: see [`OrderError`]; nothing changes then.
    pub fn open<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], OrderError> {
        let (Some((number, rest)), true) = (bytes.split_first_chunk::<8>(), bytes.len() >= HEAD)
        else {
            return Err(OrderError::Short(bytes.len()));
        };
        let number = u64::from_be_bytes(*number);
        let (signature, frame) = rest.split_at(SIGNATURE);
        UnparsedPublicKey::new(&ED25519, self.public)
            .verify(&self.between.signed(number, frame), signature)
            .map_err(|_| OrderError::Signature)?;
        let expected = self.last.saturating_add(1);
        if number != expected {
            return Err(OrderError::Number {
                expected,
                found: number,
            });
        }
        self.last = number;
        Ok(frame)
    }
}

/// Bytes before the frame of an answer.
const ANSWER_HEAD: usize = 8 + 32;

/// The agent's end: numbers what it says and proves that it was itself who said it.
pub struct Sealer {
    key: hmac::Key,
    last: u64,
}

impl Sealer {
    /// Seals from number 1 on.
    pub fn new(challenge: &Challenge) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, challenge),
            last: 0,
        }
    }

    /// The next frame as it travels.
    pub fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        self.last += 1;
        let mut out = Vec::with_capacity(ANSWER_HEAD + frame.len());
        out.extend_from_slice(&self.last.to_be_bytes());
        out.extend_from_slice(answer_tag(&self.key, self.last, frame).as_ref());
        out.extend_from_slice(frame);
        out
    }
}

/// The controller's end: believes the holder of the challenge, and each number once.
pub struct Opener {
    key: hmac::Key,
    last: u64,
}

impl Opener {
    /// Expects number 1 first.
    pub fn new(challenge: &Challenge) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, challenge),
            last: 0,
        }
    }

    /// The frame of the next answer.
    ///
    /// Errors: see [`OrderError`]; nothing changes then.
    pub fn open<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], OrderError> {
        let (Some((number, rest)), true) =
            (bytes.split_first_chunk::<8>(), bytes.len() >= ANSWER_HEAD)
        else {
            return Err(OrderError::Short(bytes.len()));
        };
        let number = u64::from_be_bytes(*number);
        let (tag, frame) = rest.split_at(ANSWER_HEAD - 8);
        let signed = [&number.to_be_bytes()[..], frame].concat();
        hmac::verify(&self.key, &signed, tag).map_err(|_| OrderError::Signature)?;
        let expected = self.last.saturating_add(1);
        if number != expected {
            return Err(OrderError::Number {
                expected,
                found: number,
            });
        }
        self.last = number;
        Ok(frame)
    }
}

fn answer_tag(key: &hmac::Key, number: u64, frame: &[u8]) -> hmac::Tag {
    hmac::sign(key, &[&number.to_be_bytes()[..], frame].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ring::signature::KeyPair;

    fn between(agent: &str, challenge: u8) -> Between {
        Between {
            group: "lab-1".into(),
            agent: agent.into(),
            challenge: [challenge; 32],
        }
    }

    fn pair(seed: u8) -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("any 32 bytes are a seed")
    }

    fn public(seed: u8) -> [u8; 32] {
        let pair = pair(seed);
        pair.public_key().as_ref().try_into().expect("32 bytes")
    }

    #[test]
    fn orders_pass_in_order_and_once() {
        let mut signer = Signer::new(between("a", 7), pair(1));
        let mut checker = Checker::new(between("a", 7), public(1));
        let (one, two, three) = (signer.seal(b"one"), signer.seal(b""), signer.seal(b"three"));
        assert_eq!(checker.open(&one), Ok(&b"one"[..]));
        assert_eq!(
            checker.open(&one),
            Err(OrderError::Number {
                expected: 2,
                found: 1
            })
        );
        assert_eq!(
            checker.open(&three),
            Err(OrderError::Number {
                expected: 2,
                found: 3
            })
        );
        assert_eq!(checker.open(&two), Ok(&b""[..]));
        assert_eq!(checker.open(&three), Ok(&b"three"[..]));
    }

    #[test]
    fn another_agent_session_or_controller_is_not_obeyed() {
        let order = Signer::new(between("a", 7), pair(1)).seal(b"start");
        for mut checker in [
            Checker::new(between("b", 7), public(1)),
            Checker::new(between("a", 8), public(1)),
            Checker::new(between("a", 7), public(2)),
            Checker::new(
                Between {
                    group: "lab-2".into(),
                    ..between("a", 7)
                },
                public(1),
            ),
        ] {
            assert_eq!(checker.open(&order), Err(OrderError::Signature));
        }
    }

    #[test]
    fn answers_pass_in_order_and_only_from_who_was_asked() {
        let mut sealer = Sealer::new(&[3; 32]);
        let (one, two) = (sealer.seal(b"one"), sealer.seal(b"two"));
        let mut opener = Opener::new(&[3; 32]);
        assert_eq!(opener.open(&one), Ok(&b"one"[..]));
        assert!(opener.open(&one).is_err());
        let mut forged = two.clone();
        *forged.last_mut().expect("a frame") ^= 1;
        assert_eq!(opener.open(&forged), Err(OrderError::Signature));
        assert_eq!(opener.open(&two), Ok(&b"two"[..]));
        assert_eq!(opener.open(b"short"), Err(OrderError::Short(5)));
        let stranger = Sealer::new(&[4; 32]).seal(b"three");
        assert_eq!(opener.open(&stranger), Err(OrderError::Signature));
    }

    proptest! {
        /// No changed byte passes, wherever it is.
        #[test]
        fn an_altered_order_is_refused(
            frame in proptest::collection::vec(any::<u8>(), 0..64),
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let mut order = Signer::new(between("a", 7), pair(1)).seal(&frame);
            let at = at.index(order.len());
            order[at] ^= flip;
            let mut checker = Checker::new(between("a", 7), public(1));
            prop_assert_eq!(checker.open(&order), Err(OrderError::Signature));
        }

        #[test]
        fn any_bytes_are_refused_in_peace(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            prop_assert!(Checker::new(between("a", 7), public(1)).open(&bytes).is_err());
        }
    }
}
