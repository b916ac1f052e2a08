//! Decrypts what key stores encrypt with a password.
//!
//! ```text
//! password ─► rounds of hashing with a salt ─► key ─► block cipher in CBC ─► content
//! ```
//!
//! Both generations that key stores have: PBES2 (RFC 8018: PBKDF2 and AES, what OpenSSL 3 and Java
//! since 8u301 write) and the ciphers of PKCS#12 itself (RFC 7292, appendices B and C: triple DES and
//! RC2). RC4 of the latter is refused: key stores do not use it.

use std::num::NonZeroU32;

use aes::{Aes128, Aes192, Aes256};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipher, BlockDecryptMut, KeyInit, KeyIvInit};
use des::{TdesEde2, TdesEde3};
use rc2::Rc2;
use ring::digest::{self, Algorithm};
use ring::{hmac, pbkdf2};

use super::NoStore;
use super::der::{Der, INTEGER, OCTETS, OID, SEQUENCE, dotted};

/// Most rounds in which a password becomes a key; a million take about half a second.
const MOST_ROUNDS: u32 = 5_000_000;

const PBES2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d";
const PBKDF2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c";
/// The ciphers of PKCS#12, up to their last number.
const PBES1: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01";
/// Codes of messages with a key, up to their last number.
const HMAC: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x02";
/// AES, up to the number of its size and chaining.
const AES: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x01";
const TRIPLE_DES: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x03\x07";
const SHA1: &[u8] = b"\x2b\x0e\x03\x02\x1a";
/// SHA-2, up to the number of its size.
const SHA2: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x02";

/// Purpose of a key in the derivation of PKCS#12.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Cipher = 1,
    FirstBlock = 2,
    Code = 3,
}

/// A password in the two encodings that are needed.
pub(super) struct Password<'a> {
    utf8: &'a str,
    /// 16-bit characters, high byte first, with a zero behind them.
    wide: Vec<u8>,
}

impl<'a> Password<'a> {
    pub fn new(text: &'a str) -> Self {
        let units = text.encode_utf16().chain([0]);
        Self {
            utf8: text,
            wide: units.flat_map(u16::to_be_bytes).collect(),
        }
    }

    /// Opens what this algorithm sealed.
    ///
    /// Errors: the algorithm is unknown or asks for too much, or the password does not fit.
    pub fn open(&self, algorithm: Der<'_>, sealed: &[u8]) -> Result<Vec<u8>, NoStore> {
        let mut algorithm = algorithm;
        let oid = algorithm.expect(OID).ok_or(NoStore::Damaged)?;
        let mut details = algorithm.within(SEQUENCE).ok_or(NoStore::Damaged)?;
        if oid == PBES2 {
            return self.open_pbes2(&mut details, sealed);
        }
        let cipher = oid.strip_prefix(PBES1).and_then(|rest| rest.first());
        let Some(&cipher @ 3..=6) = cipher else {
            return Err(NoStore::UnknownSeal(dotted(oid)));
        };
        let salt = details.expect(OCTETS).ok_or(NoStore::Damaged)?;
        let rounds = rounds(details.number())?;
        let hash = &digest::SHA1_FOR_LEGACY_USE_ONLY;
        let derive = |purpose, length| stretch(hash, purpose, &self.wide, (salt, rounds), length);
        let first = derive(Purpose::FirstBlock, 8);
        let key = |length| derive(Purpose::Cipher, length);
        let opened = match cipher {
            3 => open::<TdesEde3>(&key(24), &first, sealed),
            4 => open::<TdesEde2>(&key(16), &first, sealed),
            5 => open::<Rc2>(&key(16), &first, sealed),
            _ => open::<Rc2>(&key(5), &first, sealed),
        };
        opened.ok_or(NoStore::WrongPassword)
    }

    fn open_pbes2(&self, details: &mut Der<'_>, sealed: &[u8]) -> Result<Vec<u8>, NoStore> {
        let mut derives = details.within(SEQUENCE).ok_or(NoStore::Damaged)?;
        let mut cipher = details.within(SEQUENCE).ok_or(NoStore::Damaged)?;
        let oid = cipher.expect(OID).ok_or(NoStore::Damaged)?;
        let first = cipher.expect(OCTETS).ok_or(NoStore::Damaged)?;
        let size = match (oid.strip_prefix(AES), oid) {
            (Some([2]), _) => 16,
            (Some([22]), _) | (None, TRIPLE_DES) => 24,
            (Some([42]), _) => 32,
            _ => return Err(NoStore::UnknownSeal(dotted(oid))),
        };
        let mut key = vec![0; size];
        self.derive(&mut derives, &mut key)?;
        let opened = match (size, oid) {
            (_, TRIPLE_DES) => open::<TdesEde3>(&key, first, sealed),
            (16, _) => open::<Aes128>(&key, first, sealed),
            (24, _) => open::<Aes192>(&key, first, sealed),
            _ => open::<Aes256>(&key, first, sealed),
        };
        opened.ok_or(NoStore::WrongPassword)
    }

    /// A key by PBKDF2.
    fn derive(&self, derives: &mut Der<'_>, key: &mut [u8]) -> Result<(), NoStore> {
        let oid = derives.expect(OID).ok_or(NoStore::Damaged)?;
        if oid != PBKDF2 {
            return Err(NoStore::UnknownSeal(dotted(oid)));
        }
        let mut details = derives.within(SEQUENCE).ok_or(NoStore::Damaged)?;
        let salt = details.expect(OCTETS).ok_or(NoStore::Damaged)?;
        let rounds = rounds(details.number())?;
        let mut next = details.next();
        if let Some((INTEGER, _)) = next {
            // The length of the key, which its cipher defines as well.
            next = details.next();
        }
        let code = match next {
            None => pbkdf2::PBKDF2_HMAC_SHA1,
            Some((_, code)) => {
                let oid = Der::new(code).expect(OID).ok_or(NoStore::Damaged)?;
                match oid.strip_prefix(HMAC) {
                    Some([7]) => pbkdf2::PBKDF2_HMAC_SHA1,
                    Some([9]) => pbkdf2::PBKDF2_HMAC_SHA256,
                    Some([10]) => pbkdf2::PBKDF2_HMAC_SHA384,
                    Some([11]) => pbkdf2::PBKDF2_HMAC_SHA512,
                    _ => return Err(NoStore::UnknownSeal(dotted(oid))),
                }
            }
        };
        pbkdf2::derive(code, rounds, salt, self.utf8.as_bytes(), key);
        Ok(())
    }

    /// Checks the code that a store of PKCS#12 has of its content.
    ///
    /// Errors: the algorithm is unknown or asks for too much, or the password does not fit.
    pub fn check(&self, code: Der<'_>, content: &[u8]) -> Result<(), NoStore> {
        let mut code = code;
        let mut wanted = code.within(SEQUENCE).ok_or(NoStore::Damaged)?;
        let mut algorithm = wanted.within(SEQUENCE).ok_or(NoStore::Damaged)?;
        let oid = algorithm.expect(OID).ok_or(NoStore::Damaged)?;
        let wanted = wanted.expect(OCTETS).ok_or(NoStore::Damaged)?;
        let salt = code.expect(OCTETS).ok_or(NoStore::Damaged)?;
        let mut rest = code;
        let rounds = match rest.next() {
            None => NonZeroU32::MIN,
            Some(_) => rounds(code.number())?,
        };
        let (hash, code) = match (oid.strip_prefix(SHA2), oid) {
            (None, SHA1) => (
                &digest::SHA1_FOR_LEGACY_USE_ONLY,
                hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            ),
            (Some([1]), _) => (&digest::SHA256, hmac::HMAC_SHA256),
            (Some([2]), _) => (&digest::SHA384, hmac::HMAC_SHA384),
            (Some([3]), _) => (&digest::SHA512, hmac::HMAC_SHA512),
            _ => return Err(NoStore::UnknownSeal(dotted(oid))),
        };
        let length = hash.output_len();
        let key = stretch(hash, Purpose::Code, &self.wide, (salt, rounds), length);
        let key = hmac::Key::new(code, &key);
        hmac::verify(&key, content, wanted).map_err(|_| NoStore::WrongPassword)
    }
}

fn rounds(said: Option<u32>) -> Result<NonZeroU32, NoStore> {
    let said = said.and_then(NonZeroU32::new).ok_or(NoStore::Damaged)?;
    match said.get() > MOST_ROUNDS {
        true => Err(NoStore::TooManyRounds(said.get())),
        false => Ok(said),
    }
}

/// A key of this length out of a password, as PKCS#12 derives it (RFC 7292, appendix B.2).
fn stretch(
    hash: &'static Algorithm,
    purpose: Purpose,
    password: &[u8],
    (salt, rounds): (&[u8], NonZeroU32),
    length: usize,
) -> Vec<u8> {
    let size = hash.block_len();
    let filled = |bytes: &[u8], blocks: usize| -> Vec<u8> {
        bytes.iter().copied().cycle().take(blocks * size).collect()
    };
    let mut input = filled(salt, salt.len().div_ceil(size));
    input.extend(filled(password, password.len().div_ceil(size)));
    let mut key = Vec::with_capacity(length + hash.output_len());
    while key.len() < length {
        let mut first = digest::Context::new(hash);
        first.update(&vec![purpose as u8; size]);
        first.update(&input);
        let mut hashed = first.finish();
        for _ in 1..rounds.get() {
            hashed = digest::digest(hash, hashed.as_ref());
        }
        key.extend_from_slice(hashed.as_ref());
        let step = filled(hashed.as_ref(), 1);
        for block in input.chunks_exact_mut(size) {
            add(block, &step);
        }
    }
    key.truncate(length);
    key
}

/// Adds another number of the same length, and one; what does not fit is dropped.
fn add(number: &mut [u8], other: &[u8]) {
    let mut carry = 1_u16;
    for (digit, other) in number.iter_mut().zip(other).rev() {
        carry += u16::from(*digit) + u16::from(*other);
        *digit = (carry & 0xff) as u8;
        carry >>= 8;
    }
}

/// Plain text that a cipher sealed in CBC, without the padding of its last block. `None`: the key
/// or the first block has another length than the cipher's, or the bytes are not filled blocks.
fn open<C>(key: &[u8], first: &[u8], sealed: &[u8]) -> Option<Vec<u8>>
where
    C: BlockCipher + BlockDecryptMut + KeyInit,
{
    let cipher = cbc::Decryptor::<C>::new_from_slices(key, first).ok()?;
    cipher.decrypt_padded_vec_mut::<Pkcs7>(sealed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_derived_as_the_standard_says() {
        // Of the test vectors that implementations share for appendix B.
        let password = Password::new("smeg");
        let rounds = NonZeroU32::MIN;
        let salt = b"\x0a\x58\xcf\x64\x53\x0d\x82\x3f";
        let hash = &digest::SHA1_FOR_LEGACY_USE_ONLY;
        let key = stretch(hash, Purpose::Cipher, &password.wide, (salt, rounds), 24);
        let expected = b"\x8a\xaa\xe6\x29\x7b\x6c\xb0\x46\x42\xab\x5b\x07\x78\x51\x28\x4e\xb7\x12\x8f\x1a\x2a\x7f\xbc\xa3";
        assert_eq!(key, expected);
        let first = stretch(hash, Purpose::FirstBlock, &password.wide, (salt, rounds), 8);
        assert_eq!(first, b"\x79\x99\x3d\xfe\x04\x8d\x3b\x76");
    }

    #[test]
    fn a_block_that_is_not_filled_as_it_should_be_is_refused() {
        let opened = |sealed: &[u8]| open::<Aes128>(&[0; 16], &[0; 16], sealed);
        assert_eq!(opened(&[]), None);
        assert_eq!(opened(&[0; 15]), None);
        assert_eq!(opened(&[0; 16]), None);
        assert_eq!(open::<Aes128>(&[0; 15], &[0; 16], &[0; 16]), None);
        assert_eq!(open::<Aes128>(&[0; 16], &[0; 8], &[0; 16]), None);
    }

    #[test]
    fn rounds_have_a_bound() {
        assert_eq!(rounds(Some(10_000)).map(NonZeroU32::get), Ok(10_000));
        assert_eq!(
            rounds(Some(5_000_001)),
            Err(NoStore::TooManyRounds(5_000_001))
        );
        assert_eq!(rounds(Some(0)), Err(NoStore::Damaged));
        assert_eq!(rounds(None), Err(NoStore::Damaged));
    }

    #[test]
    fn sums_wrap_around() {
        let mut number = [0xff, 0xff];
        add(&mut number, &[0x00, 0x00]);
        assert_eq!(number, [0, 0]);
        add(&mut number, &[0x01, 0xff]);
        assert_eq!(number, [2, 0]);
    }
}
