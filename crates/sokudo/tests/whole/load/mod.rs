//! Does `sokudo load` do to a server what the plan says, and tell what became of it?

mod certificates;
mod connects;
mod crowd;
mod delays;
pub mod far;
mod faults;
mod findings;
mod guide;
mod listeners;
mod models;
mod options;
mod peer;
mod probe;
pub mod rows;
