//! Direct connections from a controller to `sokudo serve` on another host.
//!
//! ```text
//! caller: dial                                          server: Server::bind
//!    TCP connect ───────────────────────────────────────►  one thread per connection, bounded
//!    ══ TLS 1.3; the caller checks the pinned key ══       5 s for handshake and ticket
//!    Ticket (≤ 1 KiB), Begin ───────────────────────────►  nothing else is read before it is valid
//!           ◄────────────────────────────────────── Answer accepted, or refused and why
//!    Envelope(Ask) ─────────────────────────────────────►  Handler
//!           ◄──────────────────── Envelope(Reply | Note)
//! ```
//!
//! A connection that is cut is not the end: the caller makes another one and goes on ([`lasting`]).
//! The key decides: see `docs/decisions/0002-direct-mode-key.md`.

mod dial;
pub(crate) mod entry;
mod lasting;
mod line_log;
mod server;

use std::time::Instant;

use ring::rand::SystemRandom;
use sokudo_model::Text;
use sokudo_net::tls::{Received, TlsError, TlsReader};
use sokudo_wire::{Decoder, FrameError, Key};

use crate::error::BusError;

pub use dial::dial;
pub use line_log::LineLog;
pub use server::{Log, Server, ServerPolicy};

/// Default port of `sokudo serve`. Not registered with IANA.
pub const DEFAULT_PORT: u16 = 7411;

/// Name in the certificate, so that a caller with another key learns why it was refused.
const NAME_WITH_KEY: &str = "sokudo key ";
const NAME_OPEN: &str = "sokudo open";

/// This product's version, as sent in tickets and answers.
const PRODUCT: &str = env!("CARGO_PKG_VERSION");

/// A new key from the system's randomness.
///
/// Errors: [`BusError::Start`] when the system gives none.
pub fn new_key() -> Result<Key, BusError> {
    let random = ring::rand::generate::<[u8; 32]>(&SystemRandom::new());
    let random = random.map_err(|_| no_randomness("start-key"))?;
    Ok(Key::from_random(random.expose()))
}

/// The system has no random bytes for what is named by the key `what`.
fn no_randomness(what: &str) -> BusError {
    BusError::Start {
        what: Text::new(what),
        why: Text::new("error-group-randomness"),
    }
}

/// Reason why no frame arrived.
#[derive(Debug)]
enum NoFrame {
    Tls(TlsError),
    Frame(FrameError),
}

/// Waits for one frame until the deadline; what follows it stays in the decoder.
fn read_frame(
    reader: &mut TlsReader,
    decoder: &mut Decoder,
    deadline: Instant,
) -> Result<Vec<u8>, NoFrame> {
    let mut bytes = Vec::new();
    loop {
        if let Some(frame) = decoder.next_frame().map_err(NoFrame::Frame)? {
            return Ok(frame);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        match reader.read(&mut bytes, left).map_err(NoFrame::Tls)? {
            Received::Bytes(_) => decoder.push(&bytes),
            Received::Idle if Instant::now() >= deadline => {
                return Err(NoFrame::Tls(TlsError::TimedOut));
            }
            Received::Idle => {}
            Received::End => return Err(NoFrame::Tls(TlsError::Closed)),
        }
        bytes.clear();
    }
}
