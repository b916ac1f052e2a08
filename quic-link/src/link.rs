//! One link: a connection with one stream.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use quinn::{Connection, RecvStream, SendStream, VarInt};
use tokio::sync::{Mutex, OnceCell};
use zenoh_link_commons::quic::{get_cert_chain_expiration, get_cert_common_name};
use zenoh_link_commons::tls::expiration::{LinkCertExpirationManager, LinkWithCertExpiration};
use zenoh_link_commons::{LinkAuthId, LinkUnicast, LinkUnicastTrait, get_ip_interface_names};
use zenoh_protocol::core::{Locator, Priority};
use zenoh_protocol::transport::BatchSize;
use zenoh_result::{ZResult, zerror};

use crate::QUIC_LOCATOR_PREFIX;

/// What an end of a link does to begin it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Opens the stream.
    Calls,
    /// Waits for it.
    Listens,
}

/// A connection whose other end has shown its certificate. Dropping it closes the connection.
pub(crate) struct Link {
    connection: Connection,
    side: Side,
    source: SocketAddr,
    from: Locator,
    to: Locator,
    peer: LinkAuthId,
    stream: OnceCell<Stream>,
    expiry: Option<LinkCertExpirationManager>,
}

/// Its halves are used by one task each, so that nobody waits for a lock.
struct Stream {
    send: Mutex<SendStream>,
    receive: Mutex<RecvStream>,
}

impl Link {
    /// A link from `source` over `connection`.
    ///
    /// Errors: a certificate that cannot be read.
    pub(crate) fn begin(
        connection: Connection,
        source: SocketAddr,
        side: Side,
        ends_with_certificate: bool,
    ) -> ZResult<LinkUnicast> {
        let target = connection.remote_address();
        let locator = |at: SocketAddr| Locator::new(QUIC_LOCATOR_PREFIX, at.to_string(), "");
        let (from, to) = (locator(source)?, locator(target)?);
        let peer = get_cert_common_name(&connection)?.into();
        let end = match ends_with_certificate {
            true => get_cert_chain_expiration(&connection)?,
            false => None,
        };
        let link = Arc::<Self>::new_cyclic(|own| Self {
            connection,
            side,
            source,
            from,
            to,
            peer,
            stream: OnceCell::new(),
            expiry: end.map(|end| {
                let own = own.clone();
                LinkCertExpirationManager::new(own, source, target, QUIC_LOCATOR_PREFIX, end)
            }),
        });
        Ok(LinkUnicast::from(link as Arc<dyn LinkUnicastTrait>))
    }

    async fn stream(&self) -> ZResult<&Stream> {
        let begun = self.stream.get_or_try_init(|| async {
            let (send, receive) = match self.side {
                Side::Calls => self.connection.open_bi().await?,
                Side::Listens => self.connection.accept_bi().await?,
            };
            Ok(Stream {
                send: Mutex::new(send),
                receive: Mutex::new(receive),
            })
        });
        begun.await
    }

    fn hang_up(&self) {
        self.connection.close(VarInt::from_u32(0), &[0]);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.hang_up();
    }
}

#[async_trait]
impl LinkUnicastTrait for Link {
    fn get_mtu(&self) -> BatchSize {
        BatchSize::MAX
    }

    fn get_src(&self) -> &Locator {
        &self.from
    }

    fn get_dst(&self) -> &Locator {
        &self.to
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn is_streamed(&self) -> bool {
        true
    }

    fn get_interface_names(&self) -> Vec<String> {
        get_ip_interface_names(&self.source)
    }

    fn get_auth_id(&self) -> &LinkAuthId {
        &self.peer
    }

    async fn write(&self, buffer: &[u8], _: Option<Priority>) -> ZResult<usize> {
        let mut send = self.stream().await?.send.lock().await;
        Ok(send.write(buffer).await?)
    }

    async fn write_all(&self, buffer: &[u8], _: Option<Priority>) -> ZResult<()> {
        let mut send = self.stream().await?.send.lock().await;
        Ok(send.write_all(buffer).await?)
    }

    async fn read(&self, buffer: &mut [u8], _: Option<Priority>) -> ZResult<usize> {
        let mut receive = self.stream().await?.receive.lock().await;
        let length = receive.read(buffer).await?;
        length.ok_or_else(|| zerror!("the other end has closed the stream").into())
    }

    async fn read_exact(&self, buffer: &mut [u8], _: Option<Priority>) -> ZResult<()> {
        let mut receive = self.stream().await?.receive.lock().await;
        Ok(receive.read_exact(buffer).await?)
    }

    async fn close(&self) -> ZResult<()> {
        let Some(expiry) = &self.expiry else {
            self.hang_up();
            return Ok(());
        };
        // Either this call closes the link or the task that waits for the certificate's end does.
        if expiry.set_closing() {
            expiry.cancel_expiration_task();
            self.hang_up();
        }
        expiry.wait_for_expiration_task().await
    }
}

#[async_trait]
impl LinkWithCertExpiration for Link {
    async fn expire(&self) -> ZResult<()> {
        let is_first = self.expiry.as_ref().is_some_and(|end| end.set_closing());
        if is_first {
            self.hang_up();
        }
        Ok(())
    }
}
