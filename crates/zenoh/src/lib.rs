//! Connects a controller with the agents of a group over Zenoh, where agents dial out.
//!
//! ```text
//! sokudo controller lab                                 sokudo agent --join TOKEN
//!   enrolment (TLS, pinned) ◄──────── name, public key ───  once; comes back with a certificate
//!   router (mTLS, default deny) ◄──────────────────────────  stays connected, reconnects by itself
//!        ▲
//!        ├── sokudo rr lab/hostb                           a client of the router: signed orders
//!        └── sokudo router --join TOKEN                    carries the messages of a site
//! ```
//!
//! The router is Zenoh's, embedded. Every session between a controller and an agent is a pipe of
//! frames ([`sokudo_bus::pipe`]) over two keys, so that everything above it is the same as over a
//! direct connection. Zenoh's list of present members is a hint; the leases of the bus decide.
//!
//! Who may do what is decided three times: by certificate at the link, by key at the router's access
//! list, and by signature at the agent, which a router cannot forge ([`sokudo_wire::order`]). What
//! passes is encrypted between the two ends: who only listens reads nothing.

pub mod agent;
mod chosen;
pub mod enrol;
pub mod error;
mod exchange;
mod files;
pub mod fleet;
pub mod foreign;
pub mod group;
mod keys;
mod ledger;
pub mod members;
pub mod membership;
mod pipes;
mod settings;
pub mod site;
mod stay;
pub mod tokens;
pub mod upkeep;
mod visitors;

pub use chosen::Chosen;
pub use error::GroupError;
pub use fleet::{Fleet, Present, Reached, Router};
pub use group::{Group, Role};
pub use membership::Membership;
pub use stay::stay;

#[cfg(test)]
mod tests;
