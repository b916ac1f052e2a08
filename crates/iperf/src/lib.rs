//! Speaks the protocol of iperf3, as a client of its server and as a server of its clients.
//!
//! ```text
//! client                         control connection                         server
//!   cookie ─────────────────────────────────────────────────────────────────►
//!   ◄───────────────────────────────────────────────── ParamExchange
//!   parameters (JSON) ───────────────────────────────────────────────────────►
//!   ◄───────────────────────────────────────────────── CreateStreams
//!   a data connection per stream, each begins with the cookie ═══════════════►
//!   ◄────────────────────────────────── TestStart, TestRunning
//!   load, one way or both ═══════════════════════════════════════════════════
//!   TestEnd ─────────────────────────────────────────────────────────────────►
//!   ◄──────────────────────────────────────────────── ExchangeResults
//!   results (JSON) ──────────────────────────────────────────────────────────►
//!   ◄──────────────────────────────────────── results (JSON), DisplayResults
//!   Done ────────────────────────────────────────────────────────────────────►
//! ```
//!
//! Source: the protocol as its project documents it, and traffic seen on loopback.

mod client;
mod clock;
mod control;
mod flow;
mod options;
mod proto;
mod server;
mod show;

use std::io;

use sokudo_i18n::english;
use sokudo_model::Text;

pub use client::run as run_client;
pub use options::{CommandLine, HELP, Options};
pub use proto::any_bytes;
pub use server::{Server, run as run_server};

/// A test that cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum IperfError {
    /// Wrong use of the command line.
    #[error("{}", english(.0))]
    Usage(Text),
    /// A call of the system failed.
    #[error("{}: {error}", english(.what))]
    Io {
        /// The attempt.
        what: Text,
        /// Error of the system.
        error: io::Error,
    },
    /// The server carries out another test.
    #[error("the server is busy running a test; try again later")]
    Busy,
    /// The far end broke the protocol.
    #[error("the far end broke the protocol: {0}")]
    Protocol(String),
    /// The far end ended the test.
    #[error("the far end ended the test")]
    Ended,
    /// The operator ended the test while the far end was silent.
    #[error("the test was ended while the far end did not answer")]
    Stopped,
}

impl IperfError {
    /// The event.
    pub fn text(&self) -> Text {
        match self {
            IperfError::Usage(says) => says.clone(),
            IperfError::Io { what, error } => Text::new("error-iperf-io")
                .text("what", what.clone())
                .with("error", error),
            IperfError::Busy => Text::new("error-iperf-busy"),
            IperfError::Protocol(why) => Text::new("error-iperf-protocol").word("why", why),
            IperfError::Ended => Text::new("error-iperf-ended"),
            IperfError::Stopped => Text::new("error-iperf-stopped"),
        }
    }

    fn io(what: impl Into<Text>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }
}
