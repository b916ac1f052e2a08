//! Reads client certificates and their keys from key stores.
//!
//! ```text
//! PKCS#12 (.p12, .pfx) ─┐
//! JKS                  ─┼─► names, keys, certificates ─► each key with its certificate and those that
//! PEM                  ─┘                                vouch for it, in the order of the keys
//! ```
//!
//! The first bytes of a file decide its format; its name does not. Keys in PEM are unencrypted, as
//! `openssl pkcs12 -nodes` writes them; their names are those of the certificates' subjects.

mod curve;
mod der;
mod java;
mod pkcs12;
mod seal;

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use sokudo_model::Text;
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
    /// Its name in the store, or the common name of the certificate's subject where stores have no
    /// names; empty: there is none.
    pub name: String,
    pub(crate) key: Arc<CertifiedKey>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.name).finish()
    }
}

/// Reason why bytes are not a valid key store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoStore {
    /// It has none of the formats.
    #[error("it is none of PKCS#12, JKS and PEM")]
    Unknown,
    /// A part of it is damaged or cut.
    #[error("a part of it is damaged")]
    Damaged,
    /// It is in BER, with indefinite lengths.
    #[error("it is PKCS#12 in BER, with indefinite lengths")]
    Indefinite,
    /// A certificate answers for it instead of a password.
    #[error("it is PKCS#12 for the owner of a key, not protected by a password")]
    Signed,
    /// It is encrypted, and no password was given.
    #[error("it is encrypted, and no password was given")]
    NoPassword,
    /// The password is another one.
    #[error("the password does not decrypt it, or it is damaged")]
    WrongPassword,
    /// The store opens, a key of it does not.
    #[error("a key of it has another password than the store")]
    OtherPassword,
    /// Sealed in a way that is not known; its number.
    #[error("it is encrypted by an algorithm that is not supported, {0}")]
    UnknownSeal(String),
    /// Opening it would take too long.
    #[error("its password is stretched in {0} rounds, which would take too long")]
    TooManyRounds(u32),
    /// There is no private key in it.
    #[error("it holds no private key")]
    NoKey,
    /// There is no private key in it that could be read.
    #[error("it holds no unencrypted private key in PEM")]
    NoPlainKey,
    /// A key of an unknown kind.
    #[error("its key {0} is damaged, or neither RSA, Ed25519, nor of the curves P-256 and P-384")]
    BadKey(usize),
    /// There is no certificate for a key.
    #[error("it holds no certificate for its key {0}")]
    NoCertificate(usize),
    /// It is too large.
    #[error("it holds more than {MOST_ENTRIES} entries")]
    TooMany,
}

impl NoStore {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            Self::Unknown => Text::new("error-key-store-unknown"),
            Self::Damaged => Text::new("error-key-store-damaged"),
            Self::Indefinite => Text::new("error-key-store-indefinite"),
            Self::Signed => Text::new("error-key-store-signed"),
            Self::NoPassword => Text::new("error-key-store-no-password"),
            Self::WrongPassword => Text::new("error-key-store-wrong-password"),
            Self::OtherPassword => Text::new("error-key-store-other-password"),
            Self::UnknownSeal(name) => Text::new("error-key-store-algorithm").word("name", name),
            Self::TooManyRounds(rounds) => {
                Text::new("error-key-store-rounds").with("rounds", rounds)
            }
            Self::NoKey => Text::new("error-key-store-no-key"),
            Self::NoPlainKey => Text::new("error-key-store-no-plain-key"),
            Self::BadKey(key) => Text::new("error-key-store-bad-key").with("name", key),
            Self::NoCertificate(key) => {
                Text::new("error-key-store-no-certificate").with("name", key)
            }
            Self::TooMany => Text::new("error-key-store-many").with("most", MOST_ENTRIES),
        }
    }
}

/// The content of a store, before keys are matched with their certificates.
#[derive(Default)]
struct Found {
    keys: Vec<FoundKey>,
    certificates: Vec<FoundCertificate>,
    /// Keys so far that had no name where others have.
    unnamed: usize,
}

/// A key of a store.
struct FoundKey {
    /// Its name, in stores that have names.
    name: Option<String>,
    /// An identifier that its own certificate has as well; empty: the store has none.
    link: Vec<u8>,
    key: PrivateKeyDer<'static>,
}

/// A certificate of a store.
struct FoundCertificate {
    /// An identifier that its key has as well; empty: the store has none.
    link: Vec<u8>,
    der: CertificateDer<'static>,
}

impl Found {
    fn add_key(&mut self, key: FoundKey) -> Result<(), NoStore> {
        self.keys.push(key);
        at_most(self.keys.len())
    }

    fn add_certificate(&mut self, link: &[u8], der: &[u8]) -> Result<(), NoStore> {
        self.certificates.push(FoundCertificate {
            link: link.to_vec(),
            der: CertificateDer::from(der.to_vec()),
        });
        at_most(self.certificates.len())
    }
}

fn at_most(entries: usize) -> Result<(), NoStore> {
    match entries > MOST_ENTRIES {
        true => Err(NoStore::TooMany),
        false => Ok(()),
    }
}

/// The entries of a store, in the order of their keys. Errors: see [`NoStore`]; keys count from 1.
pub fn read_store(bytes: &[u8], password: Option<&str>) -> Result<Vec<Identity>, NoStore> {
    let found = match bytes {
        bytes if bytes.starts_with(java::MAGIC) => java::read(bytes, password)?,
        [0x30, ..] => pkcs12::read(bytes, password)?,
        bytes => read_pem(bytes)?,
    };
    match found.keys.is_empty() {
        true => Err(NoStore::NoKey),
        false => entries(found),
    }
}

fn read_pem(text: &[u8]) -> Result<Found, NoStore> {
    if memchr::memmem::find(text, b"-----BEGIN ").is_none() {
        return Err(NoStore::Unknown);
    }
    let keys: Vec<PrivateKeyDer<'static>> = sections(text)?;
    if keys.is_empty() {
        return Err(NoStore::NoPlainKey);
    }
    let mut found = Found::default();
    for key in keys {
        found.add_key(FoundKey {
            name: None,
            link: Vec::new(),
            key,
        })?;
    }
    for certificate in sections::<CertificateDer<'static>>(text)? {
        found.add_certificate(&[], &certificate)?;
    }
    Ok(found)
}

/// Finds the certificates of each key.
fn entries(found: Found) -> Result<Vec<Identity>, NoStore> {
    let certificates = found.certificates;
    let parsed: Vec<Option<EndEntityCert<'_>>> = certificates
        .iter()
        .map(|one| EndEntityCert::try_from(&one.der).ok())
        .collect();
    let mut entries = Vec::with_capacity(found.keys.len());
    for (index, found) in found.keys.into_iter().enumerate() {
        let number = index + 1;
        let (own, key) = match loaded(found.key.clone_key()) {
            Some(key) => (
                own_of(&*key, &parsed).ok_or(NoStore::NoCertificate(number))?,
                key,
            ),
            None => completed(&found, &certificates, &parsed).ok_or(NoStore::BadKey(number))?,
        };
        let name = found.name.unwrap_or_else(|| {
            let subject = parsed[own].as_ref().map_or(&[][..], |one| one.subject());
            common_name(subject)
        });
        let chain = chain(&parsed, own);
        let chain = chain.into_iter().map(|at| certificates[at].der.clone());
        let key = Arc::new(CertifiedKey::new(chain.collect(), key));
        entries.push(Identity { name, key });
    }
    Ok(entries)
}

/// A key that can sign. `None`: it is damaged, incomplete or of an unknown kind.
fn loaded(key: PrivateKeyDer<'static>) -> Option<Arc<dyn SigningKey>> {
    let provider = rustls::crypto::ring::default_provider();
    provider.key_provider.load_private_key(key).ok()
}

/// The certificate of a key.
fn own_of(key: &dyn SigningKey, parsed: &[Option<EndEntityCert<'_>>]) -> Option<usize> {
    let public = key.public_key()?;
    let is_own = |one: &Option<EndEntityCert<'_>>| {
        let info = one.as_ref().map(|one| one.subject_public_key_info());
        info.is_some_and(|info| info.as_ref() == public.as_ref())
    };
    parsed.iter().position(is_own)
}

/// A key of a curve with its certificate, which completes it: first asked are those that the store
/// links with it.
fn completed(
    found: &FoundKey,
    certificates: &[FoundCertificate],
    parsed: &[Option<EndEntityCert<'_>>],
) -> Option<(usize, Arc<dyn SigningKey>)> {
    let is_linked = |at: &usize| certificates[*at].link == found.link;
    let all = 0..certificates.len();
    let (linked, others): (Vec<usize>, Vec<usize>) = all.partition(is_linked);
    linked.into_iter().chain(others).find_map(|at| {
        let public = parsed[at].as_ref()?.subject_public_key_info();
        let key = curve::completed(&found.key, &public)?;
        Some((at, loaded(key)?))
    })
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
mod tests;
