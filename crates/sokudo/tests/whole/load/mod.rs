//! Does `sokudo load` do to a server what the plan says, and tell what became of it?

mod far;
mod faults;
mod options;
mod peer;
