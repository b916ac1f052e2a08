//! Writes the configuration that a stock `zenohd` needs to carry a group's messages.
//!
//! ```text
//!  site                                        controller
//!   agent ──┐        ┌──────────┐  dials        router, door
//!   agent ──┼───────►│  zenohd  ├────────────►        or the router dials it:
//!                    └──────────┘               `sokudo controller lab --router HOST:PORT`
//! ```
//!
//! A stock `zenohd` of the same protocol reads one file, made by the function that sets up sokudo's
//! own routers: certificates on both sides, an access list that denies what it does not name, QUIC and
//! nothing else. As every router, it carries orders that it can neither read nor make.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::error::GroupError;
use crate::files::write_secret;
use crate::group::{Group, Role};
use crate::settings;

/// One router that is not sokudo's.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// The address at which it listens: `host:port`, UDP.
    pub listen: String,
    /// Routers of the group that it dials: `host:port`. None when the controller's dials it.
    pub routers: Vec<String>,
    /// Validity of its certificate. It is renewed only when the file is written again.
    pub valid: Duration,
}

impl Foreign {
    /// Writes its settings for `zenohd -c`, for the owner's eyes only: they hold a key.
    ///
    /// Errors: the file is there already or cannot be written; settings that Zenoh does not take, as
    /// an address that is none.
    pub fn write(&self, group: &Group, path: &Path) -> Result<(), GroupError> {
        if path.exists() {
            return Err(GroupError::Occupied(path.into()));
        }
        let credentials = group.credentials(Role::Router, "zenohd", self.valid)?;
        let until = (SystemTime::now() + self.valid).duration_since(UNIX_EPOCH);
        let about = json!({
            "name": format!("router of the sokudo group {}", group.name),
            "certificate_good_until_unix_s": until.map_or(0, |until| until.as_secs()),
        });
        let settings =
            settings::foreign_router(&group.id, &self.listen, &self.routers, &credentials, about)?;
        write_secret(path, &settings, true)
    }
}
