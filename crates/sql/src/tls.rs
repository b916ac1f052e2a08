//! Certificates to trust, and TLS to servers as a data source name asks for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::SqlError;

/// Largest file of certificates, bytes.
const MOST_PEM_BYTES: u64 = 8 << 20;

/// Encryption of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encryption {
    /// None: `disable`, `DISABLED`.
    Never,
    /// Where the server offers it: `prefer`, `PREFERRED`.
    #[default]
    WhereOffered,
    /// A server without TLS is refused: `require`, `REQUIRED`, and those that examine certificates.
    Always,
}

/// Proof of its identity that a server has to give, once the session is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Proof {
    /// None: `prefer` and `require` without certificates to trust, `PREFERRED` and `REQUIRED`.
    #[default]
    None,
    /// A certificate that an authority signed: `verify-ca`, `VERIFY_CA`.
    Authority,
    /// Such a certificate for the name of the host: `verify-full`, `VERIFY_IDENTITY`.
    Name,
}

/// Certificates of the authorities to trust.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Roots {
    /// Those of this system.
    #[default]
    System,
    /// Those of a file in PEM.
    File(PathBuf),
}

/// Check of the server's certificate that a data source name asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Trust {
    pub(crate) proof: Proof,
    pub(crate) roots: Roots,
}

impl Trust {
    /// Makes the state of handshakes.
    ///
    /// Errors: certificates that cannot be read, or none to trust.
    pub(crate) fn connector(&self) -> io::Result<Connector> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = match self.proof {
            Proof::None => None,
            Proof::Authority | Proof::Name => {
                let roots = Arc::new(self.authorities()?);
                let made = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
                Some(made.build().map_err(io::Error::other)?)
            }
        };
        let verifier = Verifier {
            chain: verifier,
            checks_name: self.proof == Proof::Name,
            provider: provider.clone(),
        };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        // Each session costs a whole handshake, as with libpq.
        config.resumption = Resumption::disabled();
        Ok(Connector(TlsConnector::from(Arc::new(config))))
    }

    fn authorities(&self) -> io::Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.certificates()?);
        Ok(roots)
    }

    /// Certificates of the authorities to trust, each of which can be read.
    ///
    /// Errors: a file that cannot be read, or no certificate.
    pub(crate) fn certificates(&self) -> io::Result<Vec<CertificateDer<'static>>> {
        let found = match &self.roots {
            Roots::System => {
                let mut found = rustls_native_certs::load_native_certs().certs;
                found.retain(|one| RootCertStore::empty().add(one.clone()).is_ok());
                found
            }
            Roots::File(path) => certificates_of(path).map_err(|why| {
                let says = format!("the certificates of {}: {why}", path.display());
                io::Error::new(io::ErrorKind::InvalidInput, says)
            })?,
        };
        match found.is_empty() {
            true => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "there is no certificate of an authority to trust (sslrootcert, ssl-ca)",
            )),
            false => Ok(found),
        }
    }
}

/// The error of a handshake in which a certificate was refused; `None` for any other error.
pub(crate) fn refused(error: &io::Error) -> Option<SqlError> {
    let inner = error.get_ref()?.downcast_ref()?;
    matches!(inner, rustls::Error::InvalidCertificate(_))
        .then(|| SqlError::untrusted(inner.to_string()))
}

/// Certificates of a file in PEM.
///
/// Errors: why it, or one of them, cannot be read.
fn certificates_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    // What is no file may have no end, and opening a pipe may take as long.
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > MOST_PEM_BYTES {
        return Err(format!("it is no file of at most {MOST_PEM_BYTES} bytes"));
    }
    let pem = std::fs::read(path).map_err(|error| error.to_string())?;
    let each = CertificateDer::pem_slice_iter(&pem).map(|one| {
        let one = one.map_err(|error| error.to_string())?;
        let read = RootCertStore::empty().add(one.clone());
        read.map(|()| one).map_err(|error| error.to_string())
    });
    each.collect()
}

/// Checks a server's certificate as far as [`Proof`] asks for it.
#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        let (entity, between) = (end_entity, intermediates);
        match chain.verify_server_cert(entity, between, server_name, ocsp_response, now) {
            // The chain is examined before the name.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// The state of handshakes with servers.
#[derive(Clone)]
pub(crate) struct Connector(TlsConnector);

impl Connector {
    /// Encrypts a connection to the host of this name.
    ///
    /// Errors: the handshake failed, or the server's certificate was refused ([`refused`]).
    pub(crate) async fn encrypt(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}
