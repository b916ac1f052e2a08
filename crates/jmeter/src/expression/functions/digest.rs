//! `__digest`.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::FunctionCall;
use crate::expression::FunctionFault;

/// `__digest(algorithm, text, [salt], [true: upper case], [variable])`: in hexadecimal digits.
pub(super) fn digest(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (algorithm, text) = (frame.argument(0)?, frame.argument(1)?);
    let salted = text.into_owned() + &frame.argument(2)?;
    let bytes = salted.as_bytes();
    let Some(digest) = digest_of(&algorithm, bytes) else {
        // What JMeter shows instead of a digest.
        frame.note(format!("the algorithm `{algorithm}` is not supported"));
        frame.out.push_str("null");
        return Ok(());
    };
    let mut digits = String::with_capacity(2 * digest.len());
    for byte in digest {
        // Writing into a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    if frame.argument(3)?.eq_ignore_ascii_case("true") {
        digits.make_ascii_uppercase();
    }
    frame.give(4, &digits)
}

/// The digest of bytes by an algorithm that is supported.
pub(crate) fn digest_of(algorithm: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match algorithm.to_ascii_uppercase().as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA" | "SHA1" | "SHA-1" => sha1(bytes).to_vec(),
        "SHA-224" | "SHA224" => Sha224::digest(bytes).to_vec(),
        "SHA-256" | "SHA256" => Sha256::digest(bytes).to_vec(),
        "SHA-384" | "SHA384" => Sha384::digest(bytes).to_vec(),
        "SHA-512" | "SHA512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    })
}

/// The reason why an algorithm cannot be used; `None`: it can.
pub(super) fn flaw(algorithm: &str) -> Option<String> {
    const KNOWN: &[&str] = &[
        "MD5", "SHA", "SHA1", "SHA-1", "SHA-224", "SHA224", "SHA-256", "SHA256", "SHA-384",
        "SHA384", "SHA-512", "SHA512",
    ];
    let is_known = KNOWN
        .iter()
        .any(|known| known.eq_ignore_ascii_case(algorithm));
    (!is_known).then(|| format!("the algorithm `{algorithm}` is not supported"))
}

/// SHA-1, FIPS 180-4, 6.1.
fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state: [u32; 5] = [
        0x6745_2301,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() < bytes.len() + 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let length = padded.len() - 8;
    padded[length..].copy_from_slice(&(8 * bytes.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        sha1_block(&mut state, block);
    }
    let mut digest = [0; 20];
    for (part, word) in digest.chunks_exact_mut(4).zip(state) {
        part.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn sha1_block(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..80 {
        let mixed = words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16];
        words[at] = mixed.rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (at, word) in words.iter().enumerate() {
        let (mixed, constant) = match at {
            0..20 => (b & c | !b & d, 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mixed)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(*word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(more);
    }
}
