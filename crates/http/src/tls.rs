//! TLS settings of clients: which certificates are trusted, and the reasons for failed handshakes.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    RootCertStore, SignatureScheme,
};
use sokudo_model::Text;

use crate::failure::FailureKind;
use crate::identity::Identity;

/// Whose certificates are accepted.
#[derive(Debug, Clone, Default)]
pub enum Trust {
    /// Certificates signed by an authority that this system trusts.
    #[default]
    System,
    /// Certificates signed by one of these authorities (DER), and no other.
    Authorities(Vec<Vec<u8>>),
    /// Any, for any name: for test systems only.
    Anyone,
}

/// No certificates can be checked, or the protocol cannot be set up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TlsSetUp {
    /// The system's trusted certificates cannot be read, or there are none.
    #[error("this system shows no trusted certificates: {0}")]
    NoAuthorities(String),
    /// The library refused.
    #[error("TLS cannot be set up: {0}")]
    Refused(#[from] rustls::Error),
}

impl TlsSetUp {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            Self::NoAuthorities(error) => Text::new("reason-no-authorities").word("error", error),
            Self::Refused(error) => Text::new("reason-no-tls").with("error", error),
        }
    }
}

/// The protocol above a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1, also with servers that agree to nothing.
    Http1,
    /// HTTP/2, and nothing else.
    Http2,
}

impl Protocol {
    /// Its name in handshakes.
    pub(crate) fn name(self) -> &'static [u8] {
        match self {
            Protocol::Http1 => b"http/1.1",
            Protocol::Http2 => b"h2",
        }
    }
}

/// State that handshakes need, made when the first is due: systems without trusted certificates can
/// still speak without TLS.
#[derive(Debug)]
pub(crate) struct LazyTls {
    trust: Trust,
    identities: Arc<[Identity]>,
    /// Without a certificate of ours, then with each of them.
    made: Box<[Made]>,
}

/// State that handshakes need, by protocol.
#[derive(Debug, Default)]
struct Made {
    http1: OnceLock<Result<Arc<ClientConfig>, TlsSetUp>>,
    http2: OnceLock<Result<Arc<ClientConfig>, TlsSetUp>>,
}

impl LazyTls {
    /// Nothing is made yet.
    pub(crate) fn new(trust: Trust, identities: Arc<[Identity]>) -> Self {
        let made = (0..=identities.len()).map(|_| Made::default());
        Self {
            trust,
            made: made.collect(),
            identities,
        }
    }

    /// State for handshakes in which we show the certificate of this number, if the server asks for
    /// one; `None`, or a number that there is not: none.
    pub(crate) fn config(
        &self,
        protocol: Protocol,
        identity: Option<u32>,
    ) -> Result<&Arc<ClientConfig>, &TlsSetUp> {
        let number = identity.map(|number| number as usize);
        let shown = number.and_then(|number| Some((number, self.identities.get(number)?)));
        let made = &self.made[shown.map_or(0, |(number, _)| number + 1)];
        let kept = match protocol {
            Protocol::Http1 => &made.http1,
            Protocol::Http2 => &made.http2,
        };
        let make = || {
            let Some((_, identity)) = shown else {
                return client_config(&self.trust, protocol);
            };
            // The trusted authorities are the same: they are read once.
            let plain = self.config(protocol, None).map_err(Clone::clone)?;
            let mut config = ClientConfig::clone(plain);
            let shows = SingleCertAndKey::from(Arc::clone(&identity.key));
            config.client_auth_cert_resolver = Arc::new(shows);
            Ok(Arc::new(config))
        };
        kept.get_or_init(make).as_ref()
    }
}

/// State that handshakes need. Sessions are not resumed: each connection costs a whole handshake,
/// as that of a new visitor.
fn client_config(trust: &Trust, protocol: Protocol) -> Result<Arc<ClientConfig>, TlsSetUp> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = match authorities(trust)? {
        Some(roots) => builder.with_root_certificates(roots).with_no_client_auth(),
        None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
            .with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![protocol.name().to_vec()];
    Ok(Arc::new(config))
}

/// The certificate authorities to trust; `None`: none is needed.
fn authorities(trust: &Trust) -> Result<Option<RootCertStore>, TlsSetUp> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::Anyone => return Ok(None),
        Trust::Authorities(list) => {
            for der in list {
                roots.add(CertificateDer::from(der.clone()))?;
            }
        }
        Trust::System => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let why = found.errors.first();
                let why = why.map_or_else(|| "none installed".into(), ToString::to_string);
                return Err(TlsSetUp::NoAuthorities(why));
            }
        }
    }
    Ok(Some(roots))
}

/// A connection's TLS state before its handshake.
///
/// Errors: a host that no certificate can name.
pub(crate) fn begin(
    config: &Arc<ClientConfig>,
    host: &str,
) -> Result<ClientConnection, FailureKind> {
    let name =
        ServerName::try_from(host.to_owned()).map_err(|_| FailureKind::CertificateWrongName)?;
    let mut tls = ClientConnection::new(Arc::clone(config), name).map_err(|_| FailureKind::Tls)?;
    // A request is encrypted as a whole; its length is the user's business.
    tls.set_buffer_limit(None);
    Ok(tls)
}

/// The failure of a handshake or of the connection afterwards.
pub(crate) fn kind_of(error: &rustls::Error) -> FailureKind {
    let certificate = match error {
        rustls::Error::InvalidCertificate(certificate) => certificate,
        rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol)
        | rustls::Error::NoApplicationProtocol => return FailureKind::NoHttp2,
        rustls::Error::InvalidMessage(_) => return FailureKind::NotTls,
        rustls::Error::AlertReceived(alert) => return FailureKind::TlsAlert(u8::from(*alert)),
        _ => return FailureKind::Tls,
    };
    match certificate {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            FailureKind::CertificateExpired
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            FailureKind::CertificateNotYetValid
        }
        CertificateError::UnknownIssuer => FailureKind::CertificateUntrusted,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            FailureKind::CertificateWrongName
        }
        _ => FailureKind::CertificateInvalid,
    }
}

/// The same of an error in which that of TLS is wrapped, once the handshake is over.
pub(crate) fn kind_within(error: &io::Error) -> FailureKind {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    match inner.map(kind_of) {
        Some(alert @ FailureKind::TlsAlert(_)) => alert,
        _ => FailureKind::Tls,
    }
}

/// Accepts every certificate; still verifies that the peer holds its key.
struct Anyone(Arc<CryptoProvider>);

impl fmt::Debug for Anyone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Anyone")
    }
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
