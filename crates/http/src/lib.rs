//! How do many virtual users of an HTTP server live on few cores?
//!
//! A [`User`] says what it sends and hears how it ended; event loops do the rest: connections, TLS,
//! timeouts, responses, and the time of every stage.

pub mod engine;
pub mod failure;
pub mod response;
pub mod target;
pub mod user;

pub use engine::{Audit, Config, LATE_NS, Limits, LoopAudit, Stop};
pub use failure::{Failure, Kind, Malformed, Phase};
pub use target::{Scheme, Target, TargetId, Targets};
pub use user::{Exchange, Keep, Outcome, Step, User};
