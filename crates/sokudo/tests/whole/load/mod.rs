//! Does `sokudo load` do to a server what the plan says, and tell what became of it?

pub mod far;
mod faults;
mod findings;
mod guide;
mod options;
mod peer;
mod probe;
