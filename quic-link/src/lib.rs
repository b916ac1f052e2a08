//! QUIC links of Zenoh: what carries the messages of a group, and the door through which they come in.
//!
//! It stands in for the crate of the same name, whose door serves one visitor at a time: it waits until
//! a handshake has ended before it looks at the next one, up to 30 s for each visitor that falls silent
//! and 100 ms for each forged packet. This one
//!
//! - asks every visitor to show that it is where it says (RFC 9000 §8.1.2), and remembers nothing of
//!   those who do not,
//! - has many handshakes at a time, each within a bound, and few of them from one network.
//!
//! Only what groups use is here: one stream for everything (`multistream=0`), certificates.

mod door;
mod link;
mod manager;

use async_trait::async_trait;
use zenoh_link_commons::LocatorInspector;
pub use zenoh_link_commons::quic::TlsConfigurator as QuicConfigurator;
use zenoh_protocol::core::{Locator, Metadata, Reliability};
use zenoh_result::ZResult;

pub use crate::manager::LinkManagerUnicastQuic;

/// Protocol in the addresses of these links.
pub const QUIC_LOCATOR_PREFIX: &str = "quic";

/// Says what kind of link an address means.
#[derive(Default, Clone, Copy, Debug)]
pub struct QuicLocatorInspector;

#[async_trait]
impl LocatorInspector for QuicLocatorInspector {
    fn protocol(&self) -> &str {
        QUIC_LOCATOR_PREFIX
    }

    async fn is_multicast(&self, _: &Locator) -> ZResult<bool> {
        Ok(false)
    }

    fn is_reliable(&self, locator: &Locator) -> ZResult<bool> {
        match locator.metadata().get(Metadata::RELIABILITY) {
            Some(wanted) => Ok(wanted.parse::<Reliability>()? == Reliability::Reliable),
            None => Ok(true),
        }
    }
}
