//! How is a plan executed, one virtual user at a time?
//!
//! ```text
//! Plan ─ Test::new ─► Test: programs, shared feeds, counters        one for all users
//!                       │
//! Starts ─ when ─► VirtualUser ── step(now) ──► Send · Pause · End   one per user, no thread
//!                       ▲  └─ rows ─► Sink                           a result each, borrowed
//!                       └── ended(Reply) ◄─ whoever sends
//! ```
//!
//! Nothing here sends, waits or reads a clock: the moment and the reply are arguments, so that
//! the same code runs under load and in a simulation with thousands of users. Every random choice
//! comes from the run's seed and the user's number.

mod address;
mod answer;
mod asserts;
mod charset;
mod conclude;
mod content;
mod cookies;
mod debug;
mod details;
mod digest;
mod encode;
mod extract;
mod feed;
mod flow;
pub(crate) mod foreign;
mod identity;
mod iterate;
mod land;
mod link;
mod looks;
mod outcome;
mod part;
mod parts;
mod pause;
mod payload;
mod person;
mod plain;
mod proof;
mod proxied;
mod request;
mod resources;
mod route;
mod row;
mod sample;
mod savers;
mod scripted;
mod shared;
mod starts;
mod steps;
mod test;
mod transactions;
mod tree;
mod uri;
mod user;

pub use outcome::{Lost, NotHttp, Reply};
pub use part::Part;
pub use proxied::Through;
pub use route::Route;
pub use row::{Asserted, Details, EVERYONE, RowKind, SampleRow, Sink};
pub use shared::StopKind;
pub use starts::{Start, Starts, asked_per_s};
pub use test::{RunSettings, Targets, Test};
pub use user::{Next, Request, VirtualUser};

#[cfg(test)]
mod tests;
