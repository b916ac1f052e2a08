//! HTTP client engine that runs many virtual users on few cores.
//!
//! A [`User`] supplies requests and receives their outcomes; event loops do the rest: connections,
//! TLS, timeouts, responses, and the time of every stage.

mod connection;
pub mod crew;
pub mod engine;
mod event_loop;
pub mod failure;
pub mod h2;
mod homes;
pub mod identity;
mod names;
pub mod observed;
mod post;
mod resolver;
pub mod response;
mod shared;
pub mod target;
mod timers;
pub mod tls;
mod tunnel;
pub mod user;

pub use crew::{Call, Crew, Strangers, Waker};
pub use engine::{Audit, Config, Engine, Entry, LATE_NS, Limits, LoopAudit, NoEngine, Stop, run};
pub use failure::{Breach, Code, Failure, FailureKind, Malformed, Phase};
pub use h2::RequestHead;
pub use identity::{Identity, NoStore, read_store};
pub use observed::Observed;
pub use target::{Family, Route, Scheme, Source, Target, TargetId, Targets, Via};
pub use tls::{TlsSetUp, Trust};
pub use user::{Exchange, Keep, Lane, Outcome, Switch, User, UserStep};

#[cfg(test)]
mod tests;
