//! What can go wrong with a group, and what to do about it?

use std::io;
use std::path::PathBuf;

/// Why something about a group did not come about.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// A name that cannot be one.
    #[error("`{0}` is no name for a group or an agent")]
    Name(String),
    /// The group is not known on this host.
    #[error("no group `{name}` in {}", place.display())]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        place: PathBuf,
    },
    /// It is there already.
    #[error("the group `{0}` exists already")]
    Exists(String),
    /// A file that would be overwritten.
    #[error("{} exists already", .0.display())]
    Occupied(PathBuf),
    /// No controller has run on this host.
    #[error("nothing is known of a router of the group `{group}`")]
    NoRouter {
        /// Which group.
        group: String,
    },
    /// A file of the group.
    #[error("cannot use {}: {why}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// A file that does not hold what it should.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Keys and certificates.
    #[error("no certificate could be made: {0}")]
    Certificate(String),
    /// The system gives no randomness.
    #[error("the system gives no randomness")]
    Randomness,
    /// The router or the way to it.
    #[error("{what}: {why}")]
    Network {
        /// What was tried.
        what: String,
        /// What came of it.
        why: String,
    },
    /// The controller does not let this host in.
    #[error("the controller refuses this host: {says}")]
    Refused {
        /// Its reason.
        says: String,
        /// Its advice.
        hint: String,
    },
}

impl GroupError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            GroupError::Name(_) => "use up to 63 letters, digits, `-`, `_` and `.`",
            GroupError::Unknown { .. } => {
                "`sokudo group init NAME` makes a group, `sokudo agent --join TOKEN` joins one"
            }
            GroupError::Exists(_) => "choose another name, or remove the folder of the old one",
            GroupError::Occupied(_) => "choose another file, or remove that one",
            GroupError::NoRouter { group } => {
                return Some(format!("start it first: `sokudo controller {group}`"));
            }
            GroupError::File { .. } => "look at the rights and the space of that folder",
            GroupError::Damaged { .. } => "restore the file, or make the group again",
            GroupError::Refused { hint, .. } => return Some(hint.clone()),
            GroupError::Network { .. } => {
                "look whether the controller runs and whether a firewall stands between"
            }
            GroupError::Certificate(_) | GroupError::Randomness => return None,
        };
        Some(text.into())
    }

    pub(crate) fn network(what: impl Into<String>, why: impl ToString) -> Self {
        GroupError::Network {
            what: what.into(),
            why: why.to_string(),
        }
    }
}
