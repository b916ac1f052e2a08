//! Signs and encrypts the messages between the controller of a group and an agent, and rejects
//! forged, replayed and reordered ones.
//!
//! ```text
//! controller ► agent   │ number u64 BE │ signature 64 B │ frame, encrypted │ tag 16 B │
//! agent ► controller   │ number u64 BE │ frame, encrypted │ tag 16 B │
//! ```
//!
//! Two things are proven apart. An order is *signed* (Ed25519, RFC 8032) over the purpose, the group,
//! the agent's name, the session, the agent's challenge, the number and what is encrypted: routers
//! carry orders and cannot make them. And both ways are *encrypted* (ChaCha20-Poly1305, RFC 8439) with
//! keys that only this agent and those who command can derive, from the secret that the agent was
//! given when it joined: another agent that listens, or a router, reads nothing and cannot answer in
//! its name.
//!
//! The session's name is drawn by the controller and the challenge by the agent, both for this session
//! alone, so that what was recorded is worth nothing to another agent, in another session or after a
//! restart. Numbers count up by one, so that nothing is repeated, left out or reordered; they are the
//! nonces, too, and never come twice under one key.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use ring::{hkdf, hmac};
use sokudo_model::Text;

/// Bytes of the number in front of everything.
const NUMBER: usize = 8;
const SIGNATURE: usize = 64;
/// Bytes behind an encrypted frame.
const TAG: usize = 16;
/// Purpose of the signature, so that no signature made for another purpose fits.
const PURPOSE: &[u8] = b"sokudo order 2";

/// A random value that an agent makes for each session.
pub type Challenge = [u8; 32];

/// The secret shared by an agent and the holders of the commanding key.
pub type Secret = [u8; 32];

/// Between whom orders pass, and in which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// The group's identity.
    pub group: String,
    /// The agent's name within it.
    pub agent: String,
    /// The session, as the controller named it.
    pub session: String,
    /// The agent's challenge for this session.
    pub challenge: Challenge,
}

/// Reason why a message is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// Fewer bytes than an empty one.
    #[error("a message of {0} bytes is too short to be one")]
    Short(usize),
    /// It was not made by an authorised sender, or not for this agent and session.
    #[error("a message was forged, altered, or made for another session")]
    Forged,
    /// A number that was there already.
    #[error("message {found} came again when {expected} was due")]
    Replayed {
        /// The expected number.
        expected: u64,
        /// The received number.
        found: u64,
    },
    /// A number beyond the expected one: messages were lost.
    #[error("message {found} came when {expected} was due: some were lost")]
    Lost {
        /// The expected number.
        expected: u64,
        /// The received number.
        found: u64,
    },
}

impl OrderError {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            OrderError::Short(bytes) => Text::new("error-order-short").with("bytes", bytes),
            OrderError::Forged => Text::new("error-order-forged"),
            OrderError::Replayed { expected, found } => Text::new("error-order-replayed")
                .with("expected", expected)
                .with("found", found),
            OrderError::Lost { expected, found } => Text::new("error-order-lost")
                .with("expected", expected)
                .with("found", found),
        }
    }

    /// True when the message comes from another party: the session continues without it. A loss ends
    /// the session, because lost messages are never sent again.
    pub fn is_foreign(&self) -> bool {
        !matches!(self, OrderError::Lost { .. })
    }
}

/// The way of a message.
#[derive(Debug, Clone, Copy)]
enum Way {
    Down,
    Up,
}

impl Between {
    /// All that makes a session itself, each part with its length.
    fn context(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        let texts = [&self.group, &self.agent, &self.session];
        for part in std::iter::once(PURPOSE).chain(texts.map(|text| text.as_bytes())) {
            out.extend_from_slice(&(part.len() as u64).to_be_bytes());
            out.extend_from_slice(part);
        }
        out.extend_from_slice(&self.challenge);
        out
    }

    /// A key of this session for one purpose (RFC 5869).
    fn derive(&self, secret: &Secret, purpose: &[u8]) -> [u8; 32] {
        let mut out = [0; 32];
        let context = self.context();
        hkdf::Salt::new(hkdf::HKDF_SHA256, &context)
            .extract(secret)
            .expand(&[purpose], hkdf::HKDF_SHA256)
            .and_then(|okm| okm.fill(&mut out))
            .expect("HKDF-SHA256 gives up to 255 blocks, one is asked");
        out
    }

    fn cipher(&self, secret: &Secret, way: Way) -> LessSafeKey {
        let purpose: &[u8] = match way {
            Way::Down => b"orders",
            Way::Up => b"answers",
        };
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.derive(secret, purpose));
        LessSafeKey::new(key.expect("the key has the length that is asked for"))
    }

    /// Proof that the agent itself has opened the session, over what else it `says` in clear.
    pub fn proof(&self, secret: &Secret, says: &[u8]) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.derive(secret, b"opening"));
        let mut proof = [0; 32];
        proof.copy_from_slice(hmac::sign(&key, says).as_ref());
        proof
    }

    /// True when `proof` was made by the holder of `secret`.
    pub fn is_proven(&self, secret: &Secret, says: &[u8], proof: &[u8]) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.derive(secret, b"opening"));
        hmac::verify(&key, says, proof).is_ok()
    }

    /// The bytes that an order's signature covers; `context` is that of the session.
    fn signed(context: &[u8], number: u64, sealed: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(context.len() + NUMBER + sealed.len());
        out.extend_from_slice(context);
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(sealed);
        out
    }
}

/// Proof that the process of an agent, called `life` by itself, has ended.
pub fn end_proof(secret: &Secret, life: &[u8]) -> [u8; 32] {
    let mut proof = [0; 32];
    proof.copy_from_slice(hmac::sign(&end_key(secret), life).as_ref());
    proof
}

/// True when `proof` was made by the holder of `secret`.
pub fn is_end_proof(secret: &Secret, life: &[u8], proof: &[u8]) -> bool {
    hmac::verify(&end_key(secret), life, proof).is_ok()
}

fn end_key(secret: &Secret) -> hmac::Key {
    let own = hmac::Key::new(hmac::HMAC_SHA256, secret);
    hmac::Key::new(
        hmac::HMAC_SHA256,
        hmac::sign(&own, b"sokudo end 1").as_ref(),
    )
}

/// Encrypts and numbers one way of a session.
struct Outgoing {
    cipher: LessSafeKey,
    last: u64,
}

/// Decrypts one way of a session, each number once.
struct Incoming {
    cipher: LessSafeKey,
    last: u64,
}

impl Outgoing {
    /// The next number, and the frame under it.
    fn seal(&mut self, frame: &[u8]) -> (u64, Vec<u8>) {
        self.last += 1;
        let mut sealed = Vec::with_capacity(frame.len() + TAG);
        sealed.extend_from_slice(frame);
        self.cipher
            .seal_in_place_append_tag(nonce(self.last), Aad::empty(), &mut sealed)
            .expect("a frame is far below what one nonce may encrypt");
        (self.last, sealed)
    }
}

impl Incoming {
    /// Returns the frame; `sealed` is the part after the number.
    fn open(&mut self, number: u64, sealed: &[u8]) -> Result<Vec<u8>, OrderError> {
        let mut frame = sealed.to_vec();
        let length = self
            .cipher
            .open_in_place(nonce(number), Aad::empty(), &mut frame)
            .map_err(|_| OrderError::Forged)?
            .len();
        frame.truncate(length);
        let expected = self.last.saturating_add(1);
        let found = number;
        match number.cmp(&expected) {
            std::cmp::Ordering::Less => Err(OrderError::Replayed { expected, found }),
            std::cmp::Ordering::Greater => Err(OrderError::Lost { expected, found }),
            std::cmp::Ordering::Equal => {
                self.last = number;
                Ok(frame)
            }
        }
    }
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// The number in front, and the rest, which has at least `rest` bytes.
fn split(bytes: &[u8], rest: usize) -> Result<(u64, &[u8]), OrderError> {
    match bytes.split_first_chunk::<NUMBER>() {
        Some((number, behind)) if behind.len() >= rest => Ok((u64::from_be_bytes(*number), behind)),
        _ => Err(OrderError::Short(bytes.len())),
    }
}

/// The controller's end: numbers, encrypts and signs.
pub struct Signer {
    context: Vec<u8>,
    pair: Ed25519KeyPair,
    outgoing: Outgoing,
}

impl Signer {
    /// Signs from number 1 on.
    pub fn new(between: &Between, secret: &Secret, pair: Ed25519KeyPair) -> Self {
        Self {
            context: between.context(),
            pair,
            outgoing: Outgoing {
                cipher: between.cipher(secret, Way::Down),
                last: 0,
            },
        }
    }

    /// The next order.
    pub fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        let (number, sealed) = self.outgoing.seal(frame);
        let signature = self
            .pair
            .sign(&Between::signed(&self.context, number, &sealed));
        [&number.to_be_bytes()[..], signature.as_ref(), &sealed].concat()
    }
}

/// The agent's end: accepts messages signed with one key, and each number once.
pub struct Checker {
    context: Vec<u8>,
    /// Ed25519 public key of the group's controllers.
    public: [u8; 32],
    incoming: Incoming,
}

impl Checker {
    /// Expects number 1 first.
    pub fn new(between: &Between, secret: &Secret, public: [u8; 32]) -> Self {
        Self {
            context: between.context(),
            public,
            incoming: Incoming {
                cipher: between.cipher(secret, Way::Down),
                last: 0,
            },
        }
    }

    /// The frame of the next order.
    ///
    /// Errors: see [`OrderError`]; nothing changes then.
    pub fn open(&mut self, bytes: &[u8]) -> Result<Vec<u8>, OrderError> {
        let (number, rest) = split(bytes, SIGNATURE + TAG)?;
        let (signature, sealed) = rest.split_at(SIGNATURE);
        UnparsedPublicKey::new(&ED25519, self.public)
            .verify(&Between::signed(&self.context, number, sealed), signature)
            .map_err(|_| OrderError::Forged)?;
        self.incoming.open(number, sealed)
    }
}

/// The agent's end: numbers and encrypts its messages.
pub struct Sealer(Outgoing);

impl Sealer {
    /// Seals from number 1 on.
    pub fn new(between: &Between, secret: &Secret) -> Self {
        Self(Outgoing {
            cipher: between.cipher(secret, Way::Up),
            last: 0,
        })
    }

    /// The next frame as it travels.
    pub fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        let (number, sealed) = self.0.seal(frame);
        [&number.to_be_bytes()[..], &sealed].concat()
    }
}

/// The controller's end: accepts messages of the holder of the secret, and each number once.
pub struct Opener(Incoming);

impl Opener {
    /// Expects number 1 first.
    pub fn new(between: &Between, secret: &Secret) -> Self {
        Self(Incoming {
            cipher: between.cipher(secret, Way::Up),
            last: 0,
        })
    }

    /// The frame of the next answer.
    ///
    /// Errors: see [`OrderError`]; nothing changes then.
    pub fn open(&mut self, bytes: &[u8]) -> Result<Vec<u8>, OrderError> {
        let (number, sealed) = split(bytes, TAG)?;
        self.0.open(number, sealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ring::signature::KeyPair;

    const SECRET: Secret = [5; 32];

    fn between(agent: &str, challenge: u8) -> Between {
        Between {
            group: "lab-1".into(),
            agent: agent.into(),
            session: "s1".into(),
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

    fn signer() -> Signer {
        Signer::new(&between("a", 7), &SECRET, pair(1))
    }

    fn checker() -> Checker {
        Checker::new(&between("a", 7), &SECRET, public(1))
    }

    #[test]
    fn orders_pass_in_order_and_once() {
        let (mut signer, mut checker) = (signer(), checker());
        let (one, two, three) = (signer.seal(b"one"), signer.seal(b""), signer.seal(b"three"));
        assert_eq!(checker.open(&one), Ok(b"one".to_vec()));
        let again = checker.open(&one).expect_err("it was there");
        assert_eq!(
            again,
            OrderError::Replayed {
                expected: 2,
                found: 1
            }
        );
        let early = checker.open(&three).expect_err("one is missing");
        assert_eq!(
            early,
            OrderError::Lost {
                expected: 2,
                found: 3
            }
        );
        assert!(again.is_foreign() && !early.is_foreign());
        assert_eq!(checker.open(&two), Ok(Vec::new()));
        assert_eq!(checker.open(&three), Ok(b"three".to_vec()));
    }

    #[test]
    fn another_agent_session_or_controller_is_not_obeyed() {
        let order = signer().seal(b"start");
        let own = between("a", 7);
        let group = Between {
            group: "lab-2".into(),
            ..own.clone()
        };
        let session = Between {
            session: "s2".into(),
            ..own.clone()
        };
        for mut checker in [
            Checker::new(&between("b", 7), &SECRET, public(1)),
            Checker::new(&between("a", 8), &SECRET, public(1)),
            Checker::new(&group, &SECRET, public(1)),
            Checker::new(&session, &SECRET, public(1)),
            Checker::new(&own, &SECRET, public(2)),
            Checker::new(&own, &[6; 32], public(1)),
        ] {
            assert_eq!(checker.open(&order), Err(OrderError::Forged));
        }
    }

    /// The agent's own secret makes no orders: only the commander's key does.
    #[test]
    fn who_can_read_orders_cannot_make_them() {
        let forged = Signer::new(&between("a", 7), &SECRET, pair(2)).seal(b"start");
        assert_eq!(checker().open(&forged), Err(OrderError::Forged));
    }

    #[test]
    fn nobody_else_reads_either_way() {
        let order = signer().seal(b"connect to 192.0.2.7");
        let answer = Sealer::new(&between("a", 7), &SECRET).seal(b"connect to 192.0.2.7");
        for sealed in [order, answer] {
            assert!(!sealed.windows(7).any(|part| part == b"connect"));
        }
    }

    #[test]
    fn answers_pass_in_order_and_only_from_who_was_asked() {
        let own = between("a", 7);
        let mut sealer = Sealer::new(&own, &SECRET);
        let (one, two) = (sealer.seal(b"one"), sealer.seal(b"two"));
        let mut opener = Opener::new(&own, &SECRET);
        assert_eq!(opener.open(&one), Ok(b"one".to_vec()));
        assert!(opener.open(&one).is_err());
        let mut forged = two.clone();
        *forged.last_mut().expect("a frame") ^= 1;
        assert_eq!(opener.open(&forged), Err(OrderError::Forged));
        assert_eq!(opener.open(&two), Ok(b"two".to_vec()));
        assert_eq!(opener.open(b"short"), Err(OrderError::Short(5)));
        let stranger = Sealer::new(&own, &[6; 32]).seal(b"three");
        assert_eq!(opener.open(&stranger), Err(OrderError::Forged));
        // An order sent back is not a valid answer.
        let order = signer().seal(b"three");
        assert_eq!(opener.open(&order), Err(OrderError::Forged));
    }

    #[test]
    fn an_opening_proves_who_opened_and_what_was_said() {
        let own = between("a", 7);
        let proof = own.proof(&SECRET, b"192.0.2.1");
        assert!(own.is_proven(&SECRET, b"192.0.2.1", &proof));
        assert!(!own.is_proven(&SECRET, b"192.0.2.2", &proof));
        assert!(!own.is_proven(&[6; 32], b"192.0.2.1", &proof));
        assert!(!between("b", 7).is_proven(&SECRET, b"192.0.2.1", &proof));
        assert!(!own.is_proven(&SECRET, b"192.0.2.1", &[]));
    }

    #[test]
    fn an_end_is_proven_for_one_life() {
        let proof = end_proof(&SECRET, b"life 1");
        assert!(is_end_proof(&SECRET, b"life 1", &proof));
        assert!(!is_end_proof(&SECRET, b"life 2", &proof));
        assert!(!is_end_proof(&[6; 32], b"life 1", &proof));
    }

    proptest! {
        /// No changed byte passes, wherever it is.
        #[test]
        fn an_altered_order_is_refused(
            frame in proptest::collection::vec(any::<u8>(), 0..64),
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let mut order = signer().seal(&frame);
            let at = at.index(order.len());
            order[at] ^= flip;
            prop_assert_eq!(checker().open(&order), Err(OrderError::Forged));
        }

        #[test]
        fn any_bytes_are_refused_in_peace(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            crate::entry::order(&bytes);
        }
    }
}
