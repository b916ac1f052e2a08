//! Carries out what the page orders, and tells it what happens.
//!
//! ```text
//! browser ◄─► sokudo-web ── orders ─► Orders ─► Worker (a thread): the same engine as `run` and `console`
//!                  ▲                                   │
//!                  └───────── feed ◄── Tap ◄── observer of the run
//! ```

mod desk;
pub mod hosts;
mod load;
mod ordered;
pub mod outcome;
mod tap;
mod worker;

use sokudo_controller::Steering;
use sokudo_model::{Change, Refusal, Text};
use sokudo_web::desk::refusal;

pub use desk::Orders;
pub use tap::Tap;
pub use worker::{HostSource, Onward, Setting, Worker};

/// Hands a change to the load that runs.
pub fn steer(steering: Option<&Steering>, change: Change) -> Result<(), Refusal> {
    let Some(steering) = steering else {
        return Err(refusal(
            Text::new("error-nothing-to-change"),
            Text::new("error-nothing-to-change-hint"),
        ));
    };
    match steering.ask(change) {
        true => Ok(()),
        false => Err(refusal(
            Text::new("error-change-range"),
            Text::new("error-change-range-hint")
                .with("users", Change::MOST_USERS)
                .with("rate", Change::MOST_PER_S),
        )),
    }
}
