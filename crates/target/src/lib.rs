//! A web server modelled on an application server, to be loaded, explained and tuned.
//!
//! ```text
//! accept queue ─► open connections ─► dispatch queue ─► worker threads ─► connection pool ─► database
//! listen.backlog  listen.max_open     workers.queue_max  workers.max      pool.max           pool.url
//! ```
//!
//! One event loop accepts, reads and parses; real threads carry requests out. Every stage has a depth,
//! a histogram of waits and the sum of them, so that Little's law can be held against them. An admin
//! port, served by a thread of its own, tells them and changes every setting while requests go on;
//! changes are journalled and can be undone.

mod admin;
pub mod client;
mod connection;
mod event_loop;
mod fault;
pub mod held;
mod hold;
mod journal;
mod live;
mod metrics;
mod pool;
mod prime;
pub mod request;
mod respond;
mod server;
pub mod settings;
mod stats;
mod stop;
mod stress;
mod waits;
mod workers;

pub use client::{KeyFile, Remote};
pub use held::HeldKnobs;
pub use hold::PutBack;
pub use journal::Change;
pub use server::{Target, TargetError, start};
pub use settings::{BadSetting, Preset, Settings};
pub use stats::Stats;
