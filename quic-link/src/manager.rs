//! Makes the links: calls other ends, and opens doors for those who call.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use zenoh_link_commons::quic::{
    PROTOCOL_LEGACY, PROTOCOL_SINGLE_STREAM, TlsClientConfig, TlsServerConfig, get_quic_addr,
    get_quic_host,
};
use zenoh_link_commons::{
    LinkManagerUnicastTrait, LinkUnicast, ListenersUnicastIP, NewLinkChannelSender,
};
use zenoh_protocol::core::{EndPoint, Locator, Metadata};
use zenoh_result::{ZResult, bail};

use crate::door::{self, Welcome};
use crate::link::{Link, Side};

/// Visitors that wait to be looked at, each with one packet of 1500 bytes at most.
const MAX_WAITING: usize = 4096;

/// Makes the links of one session.
pub struct LinkManagerUnicastQuic {
    links: NewLinkChannelSender,
    listeners: ListenersUnicastIP,
}

impl LinkManagerUnicastQuic {
    /// The links of visitors go to `links`.
    pub fn new(links: NewLinkChannelSender) -> Self {
        Self {
            links,
            listeners: ListenersUnicastIP::new(),
        }
    }
}

#[async_trait]
impl LinkManagerUnicastTrait for LinkManagerUnicastQuic {
    async fn new_link(&self, endpoint: EndPoint) -> ZResult<LinkUnicast> {
        has_one_stream(&endpoint)?;
        let (address, config) = (endpoint.address(), endpoint.config());
        let target = get_quic_addr(&address).await?;
        let mut tls = TlsClientConfig::new(&config, true).await?;
        tls.client_config.alpn_protocols = protocols();
        let tls_config = Arc::new(QuicClientConfig::try_from(tls.client_config)?);
        let mut client = ClientConfig::new(tls_config);
        client.transport_config(Arc::new(transport()));
        let any = match target {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = Endpoint::client(any)?;
        let calling = socket.connect_with(client, target, get_quic_host(&address)?)?;
        let source = socket.local_addr()?;
        Link::begin(
            calling.await?,
            source,
            Side::Calls,
            tls.tls_close_link_on_expiration,
        )
    }

    async fn new_listener(&self, endpoint: EndPoint) -> ZResult<Locator> {
        has_one_stream(&endpoint)?;
        let (address, config) = (endpoint.address(), endpoint.config());
        let listen = get_quic_addr(&address).await?;
        let mut tls = TlsServerConfig::new(&config, true).await?;
        tls.server_config.alpn_protocols = protocols();
        let tls_config = Arc::new(QuicServerConfig::try_from(tls.server_config)?);
        let mut server = ServerConfig::with_crypto(tls_config);
        server.transport_config(Arc::new(transport()));
        server.max_incoming(MAX_WAITING);
        let socket = Endpoint::server(server, listen)?;
        let listen = socket.local_addr()?;
        let host = get_quic_host(&address)?;
        let locator = Locator::new(
            endpoint.protocol(),
            format!("{host}:{}", listen.port()),
            endpoint.metadata(),
        )?;
        let open = EndPoint::new(
            locator.protocol(),
            locator.address(),
            locator.metadata(),
            config,
        )?;
        let welcome = Welcome {
            port: listen.port(),
            ends_with_certificate: tls.tls_close_link_on_expiration,
            links: self.links.clone(),
        };
        let closing = self.listeners.token.child_token();
        let door = door::keep(socket, welcome, closing.clone());
        self.listeners
            .add_listener(open, listen, door, closing)
            .await?;
        Ok(locator)
    }

    async fn del_listener(&self, endpoint: &EndPoint) -> ZResult<()> {
        let listen = get_quic_addr(&endpoint.address()).await?;
        self.listeners.del_listener(listen).await
    }

    async fn get_listeners(&self) -> Vec<EndPoint> {
        self.listeners.get_endpoints()
    }

    async fn get_locators(&self) -> Vec<Locator> {
        self.listeners.get_locators()
    }

    async fn get_locators_noloopback(&self) -> Vec<Locator> {
        self.listeners.get_locators_noloopback()
    }
}

/// Refuses an address that asks for a stream per priority, or leaves the number open.
fn has_one_stream(endpoint: &EndPoint) -> ZResult<()> {
    match endpoint.metadata().get(Metadata::MULTISTREAM) {
        Some("0") => Ok(()),
        _ => bail!("{endpoint} needs `multistream=0`: links of groups have one stream"),
    }
}

/// What both ends must speak (RFC 7301), the preferred one first.
fn protocols() -> Vec<Vec<u8>> {
    vec![PROTOCOL_SINGLE_STREAM.into(), PROTOCOL_LEGACY.into()]
}

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.max_concurrent_bidi_streams(1u8.into());
    transport.max_concurrent_uni_streams(0u8.into());
    transport
}
