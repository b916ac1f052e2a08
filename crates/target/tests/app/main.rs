//! The server as its callers see it.

mod admin;
mod client;
mod database;
mod door;
mod experiments;
mod faults;
mod requests;
