//! TLS with a certificate of its own, made for this process; nothing is resumed.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::NoServerSessionStorage;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Accepts connections over TLS.
#[derive(Clone)]
pub struct Server(Arc<ServerConfig>);

impl Server {
    /// Errors: no certificate could be made.
    pub fn new() -> io::Result<Self> {
        let made =
            rcgen::generate_simple_self_signed(["zoo".to_owned()]).map_err(io::Error::other)?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let chain = vec![made.cert.der().clone()];
        let provider = rustls::crypto::ring::default_provider();
        let mut config = ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(chain, key.into())
            .map_err(io::Error::other)?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self(Arc::new(config)))
    }

    /// A connection on which the handshake happens with the first read.
    pub fn accept(self, tcp: TcpStream) -> io::Result<StreamOwned<ServerConnection, TcpStream>> {
        let session = ServerConnection::new(self.0).map_err(io::Error::other)?;
        Ok(StreamOwned::new(session, tcp))
    }
}
