//! Carries out what the page orders, and tells it what happens.
//!
//! ```text
//! browser ◄─► sokudo-web ── orders ─► Orders ─► Worker (a thread): the same engine as `run` and `console`
//!                  ▲                                   │
//!                  └───────── feed ◄── Tap ◄── observer of the run
//! ```

mod desk;
pub mod hosts;
mod http;
pub mod outcome;
mod tap;
mod worker;

use sokudo_controller::Steering;
use sokudo_model::{Change, Refusal};
use sokudo_web::desk::refusal;

pub use desk::Orders;
pub use tap::Tap;
pub use worker::{HostSource, Setting, Worker};

/// Hands a change to the load that runs.
pub fn steer(steering: Option<&Steering>, change: Change) -> Result<(), Refusal> {
    let Some(steering) = steering else {
        return Err(refusal(
            "no load is running that could be changed",
            "begin it first",
        ));
    };
    match steering.ask(change) {
        true => Ok(()),
        false => Err(refusal(
            "users must be 0 or more, and a rate above 0",
            format!(
                "at most {} users and {} requests per second",
                Change::MOST_USERS,
                Change::MOST_PER_S
            ),
        )),
    }
}
