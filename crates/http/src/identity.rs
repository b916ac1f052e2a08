//! Who are we, when a server asks for a certificate?
//!
//! A store is PEM text: certificates and unencrypted private keys in any order, as `openssl pkcs12
//! -nodes` writes them. Each key makes one entry, with the certificate of that key and those that
//! vouch for it.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use webpki::EndEntityCert;

/// Most certificates and most keys of a store.
pub const MOST_ENTRIES: usize = 10_000;
/// Most certificates that are shown together.
const LONGEST_CHAIN: usize = 16;
/// The attribute `commonName` (2.5.4.3) in DER, up to the tag of its value.
const COMMON_NAME: &[u8] = &[0x06, 0x03, 0x55, 0x04, 0x03];

/// A certificate with those that vouch for it, and its key. Never printed.
#[derive(Clone)]
pub struct Identity {
    /// Common name of the certificate's subject; empty: it has none.
    pub name: String,
    pub(crate) key: Arc<CertifiedKey>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.name).finish()
    }
}

/// Why a text is no store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoStore {
    /// A section of it is damaged.
    #[error("its PEM text is damaged")]
    Damaged,
    /// There is no private key in it that could be read.
    #[error("it holds no unencrypted private key in PEM")]
    NoKey,
    /// A key of an unknown kind.
    #[error("its key {0} is of an unknown kind or damaged")]
    BadKey(usize),
    /// There is no certificate for a key.
    #[error("it holds no certificate for its key {0}")]
    NoCertificate(usize),
    /// It is too large.
    #[error("it holds more than {MOST_ENTRIES} entries")]
    TooMany,
}

/// The entries of a store, in the order of their keys. Errors: see [`NoStore`]; keys count from 1.
pub fn read_store(text: &[u8]) -> Result<Vec<Identity>, NoStore> {
    let certificates: Vec<CertificateDer<'static>> = sections(text)?;
    let keys: Vec<PrivateKeyDer<'static>> = sections(text)?;
    if keys.is_empty() {
        return Err(NoStore::NoKey);
    }
    let provider = rustls::crypto::ring::default_provider();
    let parsed: Vec<Option<EndEntityCert<'_>>> = certificates
        .iter()
        .map(|der| EndEntityCert::try_from(der).ok())
        .collect();
    let mut entries = Vec::with_capacity(keys.len());
    for (index, key) in keys.into_iter().enumerate() {
        let number = index + 1;
        let key = provider.key_provider.load_private_key(key);
        let key = key.map_err(|_| NoStore::BadKey(number))?;
        let public = key.public_key().ok_or(NoStore::BadKey(number))?;
        let is_own = |one: &Option<EndEntityCert<'_>>| {
            let info = one.as_ref().map(|one| one.subject_public_key_info());
            info.is_some_and(|info| info.as_ref() == public.as_ref())
        };
        let own = parsed.iter().position(is_own);
        let own = own.ok_or(NoStore::NoCertificate(number))?;
        let subject = parsed[own].as_ref().map_or(&[][..], |one| one.subject());
        let name = common_name(subject);
        let chain = chain(&parsed, own);
        let chain = chain.into_iter().map(|at| certificates[at].clone());
        let key = Arc::new(CertifiedKey::new(chain.collect(), key));
        entries.push(Identity { name, key });
    }
    Ok(entries)
}

fn sections<T: PemObject>(text: &[u8]) -> Result<Vec<T>, NoStore> {
    let all = T::pem_slice_iter(text).take(MOST_ENTRIES + 1);
    let all: Vec<T> = all
        .collect::<Result<_, _>>()
        .map_err(|_| NoStore::Damaged)?;
    match all.len() > MOST_ENTRIES {
        true => Err(NoStore::TooMany),
        false => Ok(all),
    }
}

/// A certificate and those that vouch for it, one after another, as far as they are there.
fn chain(parsed: &[Option<EndEntityCert<'_>>], own: usize) -> Vec<usize> {
    let mut chain = vec![own];
    let mut last = own;
    while let Some(one) = &parsed[last] {
        let vouches = |other: &Option<EndEntityCert<'_>>| {
            let other = other.as_ref();
            other.is_some_and(|other| other.subject() == one.issuer())
        };
        match parsed.iter().position(vouches) {
            Some(next) if !chain.contains(&next) && chain.len() < LONGEST_CHAIN => {
                chain.push(next);
                last = next;
            }
            _ => break,
        }
    }
    chain
}

/// The common name in a subject (DER); empty: there is none.
fn common_name(subject: &[u8]) -> String {
    let at = subject
        .windows(COMMON_NAME.len())
        .position(|window| window == COMMON_NAME);
    // Tag and length; names are at most 64 characters, so one byte of length does.
    let value = at.and_then(|at| subject.get(at + COMMON_NAME.len()..));
    let text = value.and_then(|value| {
        let length = usize::from(*value.get(1)?);
        value.get(2..2 + length)
    });
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

    use super::*;

    fn named(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    #[test]
    fn keys_find_their_certificates_in_any_order() {
        let mut authority = named("authority");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca_key = KeyPair::generate().expect("a key");
        let ca = authority.self_signed(&ca_key).expect("a certificate");
        let issuer = Issuer::from_params(&authority, &ca_key);
        let (one, two) = (
            KeyPair::generate().expect("a key"),
            KeyPair::generate().expect("a key"),
        );
        let first = named("one").signed_by(&one, &issuer).expect("signed");
        let second = named("two").self_signed(&two).expect("signed");
        let text = format!(
            "Bag Attributes\n    friendlyName: x\n{}{}{}{}{}",
            ca.pem(),
            second.pem(),
            one.serialize_pem(),
            first.pem(),
            two.serialize_pem()
        );
        let entries = read_store(text.as_bytes()).expect("a store");
        let seen = entries
            .iter()
            .map(|entry| (entry.name.as_str(), entry.key.cert.len()));
        assert_eq!(seen.collect::<Vec<_>>(), [("one", 2), ("two", 1)]);
        assert_eq!(entries[0].key.cert[1], *ca.der());
        assert!(entries.iter().all(|entry| entry.key.keys_match().is_ok()));
        let of = |text: &str| read_store(text.as_bytes()).expect_err("no store");
        assert_eq!(of(&ca.pem()), NoStore::NoKey);
        let apart = format!("{}{}", ca.pem(), one.serialize_pem());
        assert_eq!(of(&apart), NoStore::NoCertificate(1));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_store(&bytes);
            let _ = common_name(&bytes);
            let cut = [COMMON_NAME, &bytes].concat();
            let _ = common_name(&cut);
        }
    }
}
