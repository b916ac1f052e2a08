//! Systems without netlink.

use super::Settings;
use super::message::Link;
use crate::listen::parse::Reading as Listening;
use crate::qdisc::parse::Reading;

/// Reason, always.
pub(crate) fn links() -> Result<Vec<Link>, String> {
    Err("this system has no netlink".to_owned())
}

/// Reason, always.
pub(crate) fn settings(_names: &[&str]) -> Result<Vec<Settings>, String> {
    Err("this system has no netlink".to_owned())
}

/// The table of queueing disciplines, which this system does not have.
pub(crate) enum Queues {}

impl Queues {
    /// Reason, always.
    pub(crate) fn open() -> Result<Self, String> {
        Err("this system has no netlink".to_owned())
    }

    /// Cannot be called.
    pub(crate) fn read(&mut self) -> Option<Vec<Reading>> {
        match *self {}
    }

    /// Cannot be called.
    pub(crate) fn names(&mut self) -> Option<Vec<Link>> {
        match *self {}
    }
}

/// The table of listening sockets, which this system does not tell over netlink.
pub(crate) enum Listeners {}

impl Listeners {
    /// Reason, always.
    pub(crate) fn open() -> Result<Self, String> {
        Err("this system has no netlink".to_owned())
    }

    /// Cannot be called.
    pub(crate) fn read(&mut self) -> Option<Vec<Listening>> {
        match *self {}
    }
}

/// The established TCP connections, which this system does not tell over netlink.
pub(crate) fn connections() -> Option<Vec<Listening>> {
    None
}
