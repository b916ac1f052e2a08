//! Identities of both ends: keys, the certificates that carry them, and which keys are trusted.

use std::fmt;
use std::sync::{Arc, OnceLock};

use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme,
};

use super::{ALPN, TlsError, told};

/// An Ed25519 public key as it stands in a certificate (SubjectPublicKeyInfo, RFC 8410).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(Vec<u8>);

/// Bytes before the key: SEQUENCE { SEQUENCE { OID 1.3.101.112 } BIT STRING (33 bytes: none unused,
/// key) }.
const SPKI_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

impl PublicKey {
    /// The public key that belongs to a seed (RFC 8032).
    ///
    /// Errors: none for a 32-byte seed; the type is that of the crypto library.
    pub fn from_seed(seed: &[u8; 32]) -> Result<Self, TlsError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed)
            .map_err(|why| TlsError::Identity(why.to_string()))?;
        Ok(Self([&SPKI_HEAD, pair.public_key().as_ref()].concat()))
    }

    /// The key from its 32 bytes (RFC 8032). Wrong bytes match no certificate.
    pub fn from_raw(raw: &[u8; 32]) -> Self {
        Self([&SPKI_HEAD[..], raw].concat())
    }

    /// The key from the bytes that [`PublicKey::spki`] gave. Wrong bytes match no certificate.
    pub fn from_spki(spki: Vec<u8>) -> Self {
        Self(spki)
    }

    /// The key as bytes, to be told to a peer over a connection that is already trusted.
    pub fn spki(&self) -> &[u8] {
        &self.0
    }
}

/// The identity of a server: a certificate and the key that belongs to it.
#[derive(Clone)]
pub struct Identity {
    pub(super) config: Arc<ServerConfig>,
    pub(super) public: PublicKey,
}

impl Identity {
    /// An identity whose key comes from a seed: the same seed gives the same public key.
    ///
    /// `name` becomes the certificate's common name, readable by every caller.
    pub fn from_seed(seed: &[u8; 32], name: &str) -> Result<Self, TlsError> {
        let failed = |why: &dyn fmt::Display| TlsError::Identity(why.to_string());
        let pkcs8 = PrivatePkcs8KeyDer::from(pkcs8_of(seed));
        let pair = rcgen::KeyPair::try_from(&pkcs8).map_err(|why| failed(&why))?;
        let mut params = rcgen::CertificateParams::default();
        let mut subject = rcgen::DistinguishedName::new();
        subject.push(rcgen::DnType::CommonName, name);
        params.distinguished_name = subject;
        let certificate = params.self_signed(&pair).map_err(|why| failed(&why))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate.der().clone()], pkcs8.into())
            })
            .map_err(|why| failed(&why))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        // A resumed connection would skip the certificate; ours are long-lived anyway.
        config.send_tls13_tickets = 0;
        Ok(Self {
            config: Arc::new(config),
            public: PublicKey::from_seed(seed)?,
        })
    }

    /// The public half, for peers to pin.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// The TLS configuration, for other protocols with the same handshake.
    pub(crate) fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// An identity that lives as long as the process.
    pub fn ephemeral(name: &str) -> Result<Self, TlsError> {
        let seed = ring::rand::generate::<[u8; 32]>(&SystemRandom::new())
            .map_err(|_| TlsError::Identity("the system gives no randomness".into()))?;
        Self::from_seed(&seed.expose(), name)
    }
}

/// The server keys that a client trusts.
#[derive(Debug, Clone)]
pub enum Trust {
    /// Only the server that owns this key.
    Pinned(PublicKey),
    /// Accepts any key: protects from listeners, not from impostors.
    Anyone,
}

/// The configuration of a caller's handshake, and the verifier that records why a server was refused.
pub(crate) fn client_config(trust: &Trust) -> Result<(ClientConfig, Arc<Verifier>), TlsError> {
    let verifier = Arc::new(Verifier {
        trust: trust.clone(),
        provider: provider(),
        stranger: OnceLock::new(),
    });
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(told)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&verifier) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok((config, verifier))
}

pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// An Ed25519 seed as PKCS #8 version 1 (RFC 8410 §7).
pub(super) fn pkcs8_of(seed: &[u8; 32]) -> Vec<u8> {
    // SEQUENCE { INTEGER 0, SEQUENCE { OID 1.3.101.112 }, OCTET STRING { OCTET STRING seed } }
    const HEAD: [u8; 16] = [
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
    ];
    [&HEAD[..], seed].concat()
}

/// Compares the server's public key with the pinned one, and nothing else of its certificate.
#[derive(Debug)]
pub(crate) struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
    /// Set when another key was shown: the certificate's common name.
    stranger: OnceLock<Option<String>>,
}

impl Verifier {
    /// The refusal, when another key than the pinned one was shown.
    pub(crate) fn stranger(&self) -> Option<TlsError> {
        let name = self.stranger.get()?.clone();
        Some(TlsError::NotPinned { name })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Trust::Pinned(PublicKey(expected)) = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let shown = ParsedCertificate::try_from(end_entity)?.subject_public_key_info();
        if shown.as_ref() == expected.as_slice() {
            return Ok(ServerCertVerified::assertion());
        }
        self.stranger
            .get_or_init(|| common_name(end_entity.as_ref()));
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is never offered".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// The first common name in a certificate, for a message to the operator.
///
/// Looks for the bytes of the attribute instead of parsing: OID 2.5.4.3, then a string type, then
/// a length below 128.
pub(super) fn common_name(certificate: &[u8]) -> Option<String> {
    const OID: [u8; 5] = [6, 3, 0x55, 4, 3];
    let at = certificate.windows(OID.len()).position(|w| w == OID)?;
    let [_kind, length, rest @ ..] = &certificate[at + OID.len()..] else {
        return None;
    };
    let text = std::str::from_utf8(rest.get(..usize::from(*length))?).ok()?;
    let clean = *length < 128 && !text.chars().any(char::is_control);
    clean.then(|| text.to_owned())
}
