//! Reads the content of a store in Java's own format (JKS), which `keytool` wrote before Java 9.
//!
//! ```text
//! magic │ version │ count │ entries: kind, name, time, (sealed key, chain) or certificate │ code
//! ```
//!
//! Keys are sealed by a stream of hashes, the whole by a hash of the password and a phrase. All
//! numbers stand with their high byte first.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::der::{Der, OCTETS, OID, SEQUENCE, dotted};
use super::{Found, FoundKey, NoStore};

/// First bytes of a store.
pub(super) const MAGIC: &[u8] = b"\xfe\xed\xfe\xed";
/// The text that is hashed between the password and the store.
const PHRASE: &[u8] = b"Mighty Aphrodite";
/// Object identifier of the key encryption: 1.3.6.1.4.1.42.2.17.1.1.
const SEAL: &[u8] = b"\x2b\x06\x01\x04\x01\x2a\x02\x11\x01\x01";
/// Length of a hash.
const HASH: usize = 20;

/// Everything that lies in a store. Errors: see [`NoStore`].
pub(super) fn read(bytes: &[u8], password: Option<&str>) -> Result<Found, NoStore> {
    let password = password.ok_or(NoStore::NoPassword)?;
    let password: Vec<u8> = password.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let (content, code) = bytes.split_last_chunk::<HASH>().ok_or(NoStore::Damaged)?;
    if hash(&[&password, PHRASE, content]) != *code {
        return Err(NoStore::WrongPassword);
    }
    let content = content.strip_prefix(MAGIC).ok_or(NoStore::Unknown)?;
    read_entries(&mut Rest(content), &password).ok_or(NoStore::Damaged)?
}

/// The entries of a store. `None`: they are cut.
fn read_entries(rest: &mut Rest<'_>, password: &[u8]) -> Option<Result<Found, NoStore>> {
    let version = rest.number()?;
    let mut found = Found::default();
    let entries = rest.number()?;
    for _ in 0..entries {
        let kind = rest.number()?;
        let name = rest.text()?;
        let _made_ms = rest.take(8)?;
        let mut certificates = 1;
        if kind == 1 {
            let length = rest.number()?;
            let sealed = rest.take(length as usize)?;
            let added = open(sealed, password).and_then(|key| {
                found.add_key(FoundKey {
                    link: name.clone().into_bytes(),
                    name: Some(name.clone()),
                    key: PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key)),
                })
            });
            if let Err(why) = added {
                return Some(Err(why));
            }
            certificates = rest.number()?;
        }
        for _ in 0..certificates {
            if version >= 2 {
                let _kind = rest.text()?;
            }
            let length = rest.number()?;
            let one = rest.take(length as usize)?;
            if let Err(why) = found.add_certificate(name.as_bytes(), one) {
                return Some(Err(why));
            }
        }
    }
    Some(Ok(found))
}

/// Opens a sealed key: a salt, the key under a stream of hashes, and a hash of password and key.
fn open(sealed: &[u8], password: &[u8]) -> Result<Vec<u8>, NoStore> {
    let mut sealed = Der::new(sealed).within(SEQUENCE).ok_or(NoStore::Damaged)?;
    let mut algorithm = sealed.within(SEQUENCE).ok_or(NoStore::Damaged)?;
    let oid = algorithm.expect(OID).ok_or(NoStore::Damaged)?;
    if oid != SEAL {
        return Err(NoStore::UnknownSeal(dotted(oid)));
    }
    let bytes = sealed.expect(OCTETS).ok_or(NoStore::Damaged)?;
    let (salt, bytes) = bytes.split_first_chunk::<HASH>().ok_or(NoStore::Damaged)?;
    let (bytes, code) = bytes.split_last_chunk::<HASH>().ok_or(NoStore::Damaged)?;
    let mut key = bytes.to_vec();
    let mut mask = *salt;
    for block in key.chunks_mut(HASH) {
        mask = hash(&[password, &mask]);
        for (byte, mask) in block.iter_mut().zip(mask) {
            *byte ^= mask;
        }
    }
    match hash(&[password, &key]) == *code {
        true => Ok(key),
        // The store opened, so this key has a password of its own.
        false => Err(NoStore::OtherPassword),
    }
}

fn hash(parts: &[&[u8]]) -> [u8; HASH] {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    for part in parts {
        context.update(part);
    }
    let mut hashed = [0; HASH];
    hashed.copy_from_slice(context.finish().as_ref());
    hashed
}

/// The bytes that are left.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        let (digits, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*digits))
    }

    /// A text with its length. Java's UTF-8 differs from the world's for zero and beyond 16 bits
    /// only.
    fn text(&mut self) -> Option<String> {
        let (length, rest) = self.0.split_first_chunk::<2>()?;
        self.0 = rest;
        let bytes = self.take(usize::from(u16::from_be_bytes(*length)))?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
