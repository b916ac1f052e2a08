//! Reads the content of a PKCS#12 store (`.p12`, `.pfx`).
//!
//! ```text
//! PFX ─┬─ safes ─┬─ bags in the open, or sealed as a whole (usually the certificates)
//!      │         └─ … each bag a certificate, a key, or a sealed key, with a name
//!      └─ code of the safes' bytes, which the password makes
//! ```
//!
//! Source: RFC 7292. Names of keys that have none are counted from 1, as Java does.

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::der::{BMP, BYTES, Der, OCTETS, OID, SEQUENCE, SET, WRAPPED};
use super::seal::Password;
use super::{Found, FoundKey, NoStore};

/// Contents in the open, and sealed.
const OPEN: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
const SEALED: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x06";
/// Kinds of bags, up to their last number.
const BAG: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01";
const X509: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x16\x01";
/// Attributes: the name of a bag, and what a key and its certificate have in common.
const FRIENDLY_NAME: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x14";
const LOCAL_KEY: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x15";

/// Everything that lies in a store. Errors: see [`NoStore`].
pub(super) fn read(bytes: &[u8], password: Option<&str>) -> Result<Found, NoStore> {
    if bytes.get(1) == Some(&0x80) {
        return Err(NoStore::Indefinite);
    }
    let mut pfx = Der::new(bytes).within(SEQUENCE).ok_or(NoStore::Damaged)?;
    if pfx.number() != Some(3) {
        return Err(NoStore::Unknown);
    }
    let mut outer = pfx.within(SEQUENCE).ok_or(NoStore::Damaged)?;
    if outer.expect(OID) != Some(OPEN) {
        return Err(NoStore::Signed);
    }
    let outer = outer
        .within(WRAPPED)
        .and_then(|mut inner| inner.expect(OCTETS));
    let outer = outer.ok_or(NoStore::Damaged)?;
    let opener = Password::new(password.unwrap_or_default());
    let read = || -> Result<Found, NoStore> {
        if let Some(code) = pfx.clone().within(SEQUENCE) {
            opener.check(code, outer)?;
        }
        let mut found = Found::default();
        let mut safes = Der::new(outer).within(SEQUENCE).ok_or(NoStore::Damaged)?;
        while let Some((_, safe)) = safes.next() {
            read_safe(Der::new(safe), &opener, &mut found)?;
        }
        Ok(found)
    };
    match read() {
        Err(NoStore::WrongPassword) if password.is_none() => Err(NoStore::NoPassword),
        other => other,
    }
}

fn read_safe(mut safe: Der<'_>, opener: &Password<'_>, found: &mut Found) -> Result<(), NoStore> {
    let kind = safe.expect(OID).ok_or(NoStore::Damaged)?;
    let mut content = safe.within(WRAPPED).ok_or(NoStore::Damaged)?;
    match kind {
        OPEN => {
            let bags = content.expect(OCTETS).ok_or(NoStore::Damaged)?;
            read_bags(bags, opener, found)
        }
        SEALED => {
            let mut sealed = content.within(SEQUENCE).ok_or(NoStore::Damaged)?;
            let _version = sealed.number();
            let mut sealed = sealed.within(SEQUENCE).ok_or(NoStore::Damaged)?;
            let _kind = sealed.expect(OID);
            let algorithm = sealed.within(SEQUENCE).ok_or(NoStore::Damaged)?;
            let bytes = sealed.expect(BYTES).ok_or(NoStore::Damaged)?;
            read_bags(&opener.open(algorithm, bytes)?, opener, found)
        }
        _ => Err(NoStore::Signed),
    }
}

fn read_bags(bytes: &[u8], opener: &Password<'_>, found: &mut Found) -> Result<(), NoStore> {
    let mut bags = Der::new(bytes).within(SEQUENCE).ok_or(NoStore::Damaged)?;
    while let Some((_, bag)) = bags.next() {
        let mut bag = Der::new(bag);
        let kind = bag.expect(OID).ok_or(NoStore::Damaged)?;
        let mut value = bag.within(WRAPPED).ok_or(NoStore::Damaged)?;
        let attributes = bag.within(SET).unwrap_or(Der::new(&[]));
        match kind.strip_prefix(BAG) {
            Some([1]) => {
                let key = whole(&mut value).ok_or(NoStore::Damaged)?;
                add_key(found, attributes, key)?;
            }
            Some([2]) => {
                let mut sealed = value.within(SEQUENCE).ok_or(NoStore::Damaged)?;
                let algorithm = sealed.within(SEQUENCE).ok_or(NoStore::Damaged)?;
                let bytes = sealed.expect(OCTETS).ok_or(NoStore::Damaged)?;
                let key = opener.open(algorithm, bytes)?;
                add_key(found, attributes, key)?;
            }
            Some([3]) => {
                let mut kept = value.within(SEQUENCE).ok_or(NoStore::Damaged)?;
                if kept.expect(OID) == Some(X509) {
                    let one = kept.within(WRAPPED).and_then(|mut one| one.expect(OCTETS));
                    let one = one.ok_or(NoStore::Damaged)?;
                    found.add_certificate(&link(attributes), one)?;
                }
            }
            // Lists of revoked certificates and secrets of other kinds are not keys of TLS.
            _ => {}
        }
    }
    Ok(())
}

/// The bytes of the next value with its tag and length.
fn whole(value: &mut Der<'_>) -> Option<Vec<u8>> {
    let before = value.left();
    value.expect(SEQUENCE)?;
    let length = before.len() - value.left().len();
    before.get(..length).map(<[u8]>::to_vec)
}

fn add_key(found: &mut Found, attributes: Der<'_>, key: Vec<u8>) -> Result<(), NoStore> {
    let text = attribute(attributes, FRIENDLY_NAME, BMP).map(|text| {
        let pairs = text.chunks_exact(2);
        let units = pairs.map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        String::from_utf16_lossy(&units.collect::<Vec<u16>>())
    });
    let name = text.unwrap_or_else(|| {
        found.unnamed += 1;
        found.unnamed.to_string()
    });
    found.add_key(FoundKey {
        name: Some(name),
        link: link(attributes),
        key: PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key)),
    })
}

fn link(attributes: Der<'_>) -> Vec<u8> {
    let link = attribute(attributes, LOCAL_KEY, OCTETS);
    link.unwrap_or_default().to_vec()
}

/// The first value of an attribute, which has this tag.
fn attribute<'a>(mut attributes: Der<'a>, oid: &[u8], tag: u8) -> Option<&'a [u8]> {
    while let Some((_, attribute)) = attributes.next() {
        let mut attribute = Der::new(attribute);
        if attribute.expect(OID) == Some(oid) {
            return attribute.within(SET)?.expect(tag);
        }
    }
    None
}
