//! Execution of a plan by virtual users.
//!
//! ```text
//! Plan ─ Test::new ─► Test: programs, shared feeds, counters        one for all users
//!                       │
//! ThreadStarts ──► VirtualUser ── step(now) ──► Send · Pause · End   one per user, no thread
//!                       ▲  └─ rows ─► Sink                           a result each, borrowed
//!                       └── ended(Reply) ◄─ load generator
//! ```
//!
//! This module does not send, wait or read a clock: the moment and the reply are arguments, so that
//! the same code runs under load and in a simulation with thousands of users. Every random choice
//! follows from the seed of the run and the number of the user.

mod address;
mod assert_document;
mod assert_json;
mod assertions;
mod calls;
mod changed_requests;
pub(crate) mod charset;
mod config_elements;
mod content;
mod context;
mod controllers;
mod cookies;
mod css;
mod databases;
mod decimal_format;
mod details;
mod digest;
pub(crate) mod encode;
pub(crate) mod entry;
mod examine;
mod extract;
mod extract_tree;
mod feed;
mod http;
mod java_random;
mod java_request;
mod jmes;
mod link;
mod links;
mod local_samplers;
mod outcome;
mod passes;
mod program;
mod result_writers;
mod results;
mod rewriting;
mod row;
mod sample_result;
mod scripts;
mod share;
mod shared;
mod sockets;
mod steps;
mod sub_results;
mod test;
mod thread_starts;
mod timers;
mod turns;
mod uri;
mod user;

pub use calls::{Call, CallAnswer};
pub(crate) use css::css_flaw;
pub use databases::{
    DatabaseAction, DatabaseAnswer, DatabaseCall, Execution, Expects, Given, Parameter, Thrown,
};
pub use http::{Route, Through};
pub(crate) use jmes::jmes_flaw;
pub use outcome::{Lost, NotHttp, Reply};
pub use row::{Asserted, Details, EVERYONE, RowKind, SampleRow, Sink};
pub use share::GeneratorShare;
pub use shared::StopKind;
pub use sockets::{TcpAnswer, TcpCall, TcpEnd, TcpPlace};
pub use test::{RunSettings, Targets, Test};
pub use thread_starts::{ThreadStart, ThreadStarts, asked_per_s};
pub use user::{NextAction, Request, VirtualUser};

#[cfg(test)]
mod tests;
