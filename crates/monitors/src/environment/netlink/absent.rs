//! Systems without netlink.

use super::Settings;
use super::message::Link;

/// Reason, always.
pub(crate) fn links() -> Result<Vec<Link>, String> {
    Err("this system has no netlink".to_owned())
}

/// Reason, always.
pub(crate) fn settings(_names: &[&str]) -> Result<Vec<Settings>, String> {
    Err("this system has no netlink".to_owned())
}
