//! The server as its callers see it.

mod admin;
mod client;
mod door;
mod experiments;
mod faults;
mod requests;
