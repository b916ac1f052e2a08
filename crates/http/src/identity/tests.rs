//! Tests with key stores written by other programs, intact and damaged.
//!
//! `java.p12` and `java.jks` were written by `keytool` of Java 17, `old.p12` by `openssl pkcs12 -legacy`
//! and `open.p12` by `openssl pkcs12 -nomac -keypbe NONE`. `rc2.p12` and `des.p12` were written by
//! `openssl pkcs12` with `-certpbe PBE-SHA1-RC2-128 -keypbe PBE-SHA1-2DES` and with `-certpbe AES-192-CBC
//! -keypbe DES-EDE3-CBC -macalg sha384`, `sha1.p12` by `keytool` with `PBEWithHmacSHA1AndAES_128`. Their
//! keys were made for nothing else.

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
    let entries = read_store(text.as_bytes(), None).expect("a store");
    let seen = entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.key.cert.len()));
    assert_eq!(seen.collect::<Vec<_>>(), [("one", 2), ("two", 1)]);
    assert_eq!(entries[0].key.cert[1], *ca.der());
    assert!(entries.iter().all(|entry| entry.key.keys_match().is_ok()));
    let of = |text: &str| read_store(text.as_bytes(), None).expect_err("no store");
    assert_eq!(of(&ca.pem()), NoStore::NoPlainKey);
    assert_eq!(of("nothing"), NoStore::Unknown);
    let apart = format!("{}{}", ca.pem(), one.serialize_pem());
    assert_eq!(of(&apart), NoStore::NoCertificate(1));
}

const JAVA: &[u8] = include_bytes!("../../testdata/java.p12");
const JKS: &[u8] = include_bytes!("../../testdata/java.jks");
const OLD: &[u8] = include_bytes!("../../testdata/old.p12");
const OPEN: &[u8] = include_bytes!("../../testdata/open.p12");
const RC2: &[u8] = include_bytes!("../../testdata/rc2.p12");
const DES: &[u8] = include_bytes!("../../testdata/des.p12");
const SHA1: &[u8] = include_bytes!("../../testdata/sha1.p12");
const PASSWORD: &str = "secret77";

#[test]
fn stores_of_other_programs_are_read_in_the_order_of_their_keys() {
    let check = |store: &[u8], password: Option<&str>, names: &[&str]| {
        let entries = read_store(store, password).expect("a store");
        let found = entries.iter().map(|entry| entry.name.as_str());
        assert_eq!(found.collect::<Vec<_>>(), names);
        assert!(entries.iter().all(|entry| entry.key.keys_match().is_ok()));
        assert!(entries.iter().all(|entry| entry.key.cert.len() == 1));
    };
    check(JAVA, Some(PASSWORD), &["zeta", "alpha"]);
    check(JKS, Some(PASSWORD), &["zeta", "alpha"]);
    check(OLD, Some("秘密77"), &["古い"]);
    check(OPEN, None, &["1"]);
    check(RC2, Some("🔑77"), &["few"]);
    check(DES, Some(PASSWORD), &["few"]);
    check(SHA1, Some(PASSWORD), &["few"]);
}

#[test]
fn a_store_says_why_it_is_not_opened() {
    let check = |store: &[u8], password: Option<&str>, expected: NoStore| {
        let why = read_store(store, password).expect_err("no store");
        assert_eq!(why, expected);
    };
    for store in [JAVA, JKS, OLD, RC2, DES, SHA1] {
        check(store, Some("secret78"), NoStore::WrongPassword);
        check(store, None, NoStore::NoPassword);
    }
    check(&JAVA[..900], Some(PASSWORD), NoStore::Damaged);
    check(&JKS[..900], Some(PASSWORD), NoStore::WrongPassword);
    check(b"\x30\x80\x02\x01\x03", None, NoStore::Indefinite);
    check(b"\x30\x03\x02\x01\x00", None, NoStore::Unknown);
    check(b"\xce\xce\xce\xce", None, NoStore::Unknown);
    check(b"", None, NoStore::Unknown);
}

/// The store with these bytes in place of those, which it holds once.
fn replaced(store: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = memchr::memmem::find(store, old).expect("they are in it");
    let mut store = store.to_vec();
    store[at..at + old.len()].copy_from_slice(new);
    store
}

#[test]
fn what_cannot_be_opened_is_named() {
    let sha2 = b"\x60\x86\x48\x01\x65\x03\x04\x02\x01";
    let other = replaced(JAVA, sha2, b"\x60\x86\x48\x01\x65\x03\x04\x02\x08");
    let why = read_store(&other, Some(PASSWORD)).expect_err("SHA-3");
    assert_eq!(why, NoStore::UnknownSeal("2.16.840.1.101.3.4.2.8".into()));
    let key_bag = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x01";
    let secret = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x05";
    let why = read_store(&replaced(OPEN, key_bag, secret), None).expect_err("no key");
    assert_eq!(why, NoStore::NoKey);
    let certificate = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x03";
    let why = read_store(&replaced(OPEN, certificate, secret), None).expect_err("no certificate");
    assert_eq!(why, NoStore::NoCertificate(1));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_store(&bytes, Some("a password"));
        let _ = common_name(&bytes);
        let cut = [COMMON_NAME, &bytes].concat();
        let _ = common_name(&cut);
    }

    #[test]
    fn a_damaged_store_is_read_or_refused(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        for store in [JKS, OLD, OPEN] {
            let mut damaged = store.to_vec();
            damaged[at.index(store.len())] = byte;
            let _ = read_store(&damaged, Some(PASSWORD));
            damaged.truncate(cut.index(store.len()));
            let _ = read_store(&damaged, Some(PASSWORD));
        }
    }
}
