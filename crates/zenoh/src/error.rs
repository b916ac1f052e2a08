//! Errors of groups, each with a hint.

use std::io;
use std::path::PathBuf;

use sokudo_wire::join::MemberRole;

use crate::enrol::rejoin_hint;

/// Errors of operations on groups.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// A name that cannot be one.
    #[error("`{0}` is not a valid name for a group or an agent")]
    Name(String),
    /// The group is not known on this host.
    #[error("no group `{name}` in {}", place.display())]
    Unknown {
        /// The name of the group or member.
        name: String,
        /// The file or folder that was searched.
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
        /// The name of the group.
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
        /// The mistake in it.
        why: String,
    },
    /// Keys and certificates.
    #[error("no certificate could be made: {0}")]
    Certificate(String),
    /// A certificate that is good no longer, and was not renewed.
    #[error("the certificate of {member} in the group {group} has ended")]
    Ended {
        /// Whose.
        member: String,
        /// The name of the group.
        group: String,
        /// Its role in the group.
        role: MemberRole,
    },
    /// The system provides no random bytes.
    #[error("the system gives no randomness")]
    Randomness,
    /// A port that another program has, or an address that is not of this host.
    #[error("cannot listen at {place}: {why}")]
    Listen {
        /// Where.
        place: String,
        /// The system's error.
        why: String,
    },
    /// The router or the way to it.
    #[error("{what}: {why}")]
    Network {
        /// The operation.
        what: String,
        /// The error.
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
    /// The hint for the operator.
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
            GroupError::Ended { group, role, .. } => return Some(rejoin_hint(group, *role)),
            GroupError::File { .. } => "look at the rights and the space of that folder",
            GroupError::Damaged { .. } => "restore the file, or make the group again",
            GroupError::Refused { hint, .. } => return Some(hint.clone()),
            GroupError::Listen { .. } => {
                "stop the program that has the port, or choose another with --bind"
            }
            GroupError::Network { .. } => {
                "look whether the controller runs and whether a firewall stands between"
            }
            GroupError::Certificate(_) | GroupError::Randomness => return None,
        };
        Some(text.into())
    }

    pub(crate) fn listen(place: &str, why: impl ToString) -> Self {
        let why = plain(&why.to_string());
        // The transport repeats the operation before the system's error.
        let system = why.rsplit_once(&format!("{place}: ")).map(|(_, why)| why);
        GroupError::Listen {
            place: place.into(),
            why: system.unwrap_or(&why).to_owned(),
        }
    }

    pub(crate) fn network(what: impl Into<String>, why: impl ToString) -> Self {
        GroupError::Network {
            what: what.into(),
            why: plain(&why.to_string()),
        }
    }
}

/// An error of Zenoh without its source locations (` at /…/unicast.rs:418.`), shortened when the
/// address did not answer.
fn plain(text: &str) -> String {
    let is_place = |word: &str| {
        let word = word.trim_end_matches(['.', ')', ']', ',']);
        let place = word.rsplit_once(':');
        place.is_some_and(|(file, line)| file.ends_with(".rs") && line.parse::<u32>().is_ok())
    };
    let mut words: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        match is_place(word) && words.last() == Some(&"at") {
            true => drop(words.pop()),
            false => words.push(word),
        }
    }
    let text = words.join(" ");
    match text.starts_with("Unable to connect to any of [") && text.ends_with("Timeout!") {
        true => "nobody answered in time".into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, expected: &str) {
        assert_eq!(plain(said), expected);
    }

    #[test]
    fn places_in_the_source_of_others_are_not_told() {
        check(
            "Can not create a new QUIC listener on 1.2.3.4:5: Cannot assign requested address (os \
             error 99) at /src/zenoh-link-commons-1.10.2/src/quic/unicast.rs:418.",
            "Can not create a new QUIC listener on 1.2.3.4:5: Cannot assign requested address (os \
             error 99)",
        );
        check(
            "nothing at 10.0.0.1:7412 is meant",
            "nothing at 10.0.0.1:7412 is meant",
        );
        check(
            "Unable to connect to any of [Single(quic/127.0.0.1:1?multistream=0)]. Timeout! at \
             C:\\src\\orchestrator.rs:388.",
            "nobody answered in time",
        );
    }

    #[test]
    fn a_port_that_is_taken_is_told_once() {
        let said = "Can not create a new QUIC listener on [::1]:5: Address already in use at \
                    /src/unicast.rs:1.";
        let error = GroupError::listen("[::1]:5", said);
        assert_eq!(
            error.to_string(),
            "cannot listen at [::1]:5: Address already in use"
        );
    }
}
