//! Completes a key of an elliptic curve that is stored without its public half.
//!
//! Java leaves that half out, and the library that signs needs it. The certificate has it; the library
//! checks that the two halves belong together.

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::der::{BITS, Der, INTEGER, OCTETS, OID, SEQUENCE, value};

/// Keys of elliptic curves: 1.2.840.10045.2.1.
const CURVE: &[u8] = b"\x2a\x86\x48\xce\x3d\x02\x01";
/// Tag of the public half of a key: `[1]`.
const PUBLIC: u8 = 0xa1;

/// A key (PKCS#8) with this public half (SubjectPublicKeyInfo). `None`: it is of no curve, or damaged.
pub(super) fn completed(key: &PrivateKeyDer<'_>, public: &[u8]) -> Option<PrivateKeyDer<'static>> {
    let mut key = Der::new(key.secret_der()).within(SEQUENCE)?;
    let version = key.expect(INTEGER)?;
    let algorithm = key.expect(SEQUENCE)?;
    if Der::new(algorithm).expect(OID) != Some(CURVE) {
        return None;
    }
    let mut inner = key.within(OCTETS)?.within(SEQUENCE)?;
    let inner_version = inner.expect(INTEGER)?;
    let secret = inner.expect(OCTETS)?;
    let mut public = Der::new(public).within(SEQUENCE)?;
    let _algorithm = public.expect(SEQUENCE)?;
    let public = value(PUBLIC, &[&value(BITS, &[public.expect(BITS)?])]);
    let inner = [
        value(INTEGER, &[inner_version]),
        value(OCTETS, &[secret]),
        public,
    ];
    let whole = [
        value(INTEGER, &[version]),
        value(SEQUENCE, &[algorithm]),
        value(OCTETS, &[&value(SEQUENCE, &[&inner.concat()])]),
    ];
    let whole = value(SEQUENCE, &[&whole.concat()]);
    Some(PrivatePkcs8KeyDer::from(whole).into())
}
