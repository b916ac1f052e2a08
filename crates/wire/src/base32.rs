//! Encodes secret bytes as characters that people can copy without mistakes.

use ring::digest;

/// RFC 4648 base32 in lower case: no `0`, `1` or `8` to be mistaken for `o`, `l` or `b`.
pub(crate) const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Check bytes behind what a text stands for.
pub(crate) const CHECK: usize = 3;

/// Characters of `bytes`; their number is a multiple of five, so that no padding is needed.
pub(crate) fn encode(bytes: &[u8]) -> String {
    debug_assert!(bytes.len().is_multiple_of(5), "groups of five bytes");
    let mut text = String::with_capacity(bytes.len() / 5 * 8);
    for group in bytes.chunks_exact(5) {
        let bits = group.iter().fold(0u64, |all, &b| all << 8 | u64::from(b));
        for place in (0..8).rev() {
            text.push(ALPHABET[(bits >> (5 * place)) as usize & 31] as char);
        }
    }
    text
}

/// The bytes of a text whose length is a multiple of eight characters; capitals are accepted.
///
/// Errors: the first character that is none of ours, and its place, from 0.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, (usize, char)> {
    let mut bytes = Vec::with_capacity(text.len() / 8 * 5);
    let mut bits = 0u64;
    for (at, found) in text.chars().enumerate() {
        bits = bits << 5 | u64::from(value_of(found).ok_or((at, found))?);
        if at % 8 == 7 {
            bytes.extend_from_slice(&bits.to_be_bytes()[3..]);
            bits = 0;
        }
    }
    Ok(bytes)
}

/// Value of one character of five bits.
pub(crate) fn value_of(found: char) -> Option<u8> {
    match found.to_ascii_lowercase() {
        c @ 'a'..='z' => Some(c as u8 - b'a'),
        c @ '2'..='7' => Some(c as u8 - b'2' + 26),
        _ => None,
    }
}

/// Check bytes that detect a typing error; `purpose` distinguishes two kinds of text.
pub(crate) fn check_bytes(purpose: &[u8], secret: &[u8]) -> [u8; CHECK] {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(purpose);
    context.update(secret);
    let mut check = [0; CHECK];
    check.copy_from_slice(&context.finish().as_ref()[..CHECK]);
    check
}
