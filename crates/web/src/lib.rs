//! The web server: shows the state of the hosts in a browser and accepts orders from it.
//!
//! ```text
//! browser ──GET /──────────────► page, script, style (part of the program)
//!         ◄─SSE /api/events───── Feed ◄── samples, sentences, state (bounded, lossy)
//!         ──POST /api/order────► Desk: carries orders out
//!         ──GET /records/…─────► the store: reports, and tracks of earlier runs
//! ```
//!
//! The crate does not depend on the controller: it shows what a [`Feed`] receives, and passes orders to a
//! [`Desk`]. Pages never delay a measurement: samples are offered to a queue that drops what does not
//! fit, and a browser that reads too slowly begins again from a snapshot.
//!
//! Nothing is parsed before the caller has shown that it may ask ([`guard`]).

mod api;
pub mod board;
pub mod desk;
mod events;
pub mod failures;
pub mod feed;
pub mod guard;
pub mod mix;
mod page;
mod places;
mod records;
mod seats;
mod server;
#[cfg(test)]
mod tests;
pub mod tracks;
mod uploads;

pub use desk::{Desk, Emit, HostRow, Language, NotTaken, Order};
pub use feed::{Feed, Told};
pub use guard::Guard;
pub use records::ORDER;
pub use server::{Keyed, Server, WebError, open, serve_app};
