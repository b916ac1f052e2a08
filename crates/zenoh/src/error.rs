//! Errors of groups, each with a hint.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sokudo_i18n::english;
use sokudo_model::Text;
use sokudo_wire::join::MemberRole;

use crate::enrol::rejoin;

/// Errors of operations on groups.
#[derive(Debug)]
pub enum GroupError {
    /// A name that cannot be one.
    Name(String),
    /// The group is not known on this host.
    Unknown {
        /// The name of the group or member.
        name: String,
        /// The file or folder that was searched.
        place: PathBuf,
    },
    /// It is there already.
    Exists(String),
    /// A file that would be overwritten.
    Occupied(PathBuf),
    /// No controller has run on this host.
    NoRouter {
        /// The name of the group.
        group: String,
    },
    /// A file of the group.
    File {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        why: io::Error,
    },
    /// A file that does not hold what it should.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The mistake in it.
        why: String,
    },
    /// Keys and certificates.
    Certificate(Text),
    /// A certificate that is good no longer, and was not renewed.
    Ended {
        /// Name of the member.
        member: String,
        /// The name of the group.
        group: String,
        /// Its role in the group.
        role: MemberRole,
    },
    /// The system provides no random bytes.
    Randomness,
    /// A port that another program has, or an address that is not of this host.
    Listen {
        /// Address and port.
        place: String,
        /// The system's error.
        why: Text,
    },
    /// The router or the way to it.
    Network {
        /// The operation that failed.
        what: Text,
        /// The error.
        why: Text,
    },
    /// The controller does not let this host in.
    Refused {
        /// Its reason.
        says: Text,
        /// Its advice.
        hint: Text,
    },
}

impl GroupError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        let path = |key: &str, path: &Path| Text::new(key).with("path", path.display());
        match self {
            GroupError::Name(name) => Text::new("error-group-name").word("name", name),
            GroupError::Unknown { name, place } => {
                path("error-group-unknown", place).word("name", name)
            }
            GroupError::Exists(name) => Text::new("error-group-exists").word("name", name),
            GroupError::Occupied(file) => path("error-group-occupied", file),
            GroupError::NoRouter { group } => {
                Text::new("error-group-no-router").word("group", group)
            }
            GroupError::File { path: file, why } => path("error-group-file", file).with("why", why),
            GroupError::Damaged { path: file, why } => {
                path("error-group-damaged", file).word("why", why)
            }
            GroupError::Certificate(why) => {
                Text::new("error-group-certificate").text("why", why.clone())
            }
            GroupError::Ended { member, group, .. } => Text::new("error-group-ended")
                .word("member", member)
                .word("group", group),
            GroupError::Randomness => Text::new("error-group-randomness"),
            GroupError::Listen { place, why } => Text::new("error-group-listen")
                .word("place", place)
                .text("why", why.clone()),
            GroupError::Network { what, why } if why.is_empty() => what.clone(),
            GroupError::Network { what, why } => Text::new("error-group-network")
                .text("what", what.clone())
                .text("why", why.clone()),
            GroupError::Refused { says, .. } => {
                Text::new("error-group-refused").text("says", says.clone())
            }
        }
    }

    /// The hint for the operator.
    pub fn hint(&self) -> Option<Text> {
        Some(match self {
            GroupError::Name(_) => Text::new("error-group-name-hint"),
            GroupError::Unknown { .. } => Text::new("error-group-unknown-hint"),
            GroupError::Exists(_) => Text::new("error-group-exists-hint"),
            GroupError::Occupied(_) => Text::new("error-group-occupied-hint"),
            GroupError::NoRouter { group } => {
                Text::new("error-group-no-router-hint").word("group", group)
            }
            GroupError::Ended { group, role, .. } => rejoin(group, *role),
            GroupError::File { .. } => Text::new("error-group-file-hint"),
            GroupError::Damaged { .. } => Text::new("error-group-damaged-hint"),
            GroupError::Refused { hint, .. } => hint.clone(),
            GroupError::Listen { .. } => Text::new("error-group-listen-hint"),
            GroupError::Network { .. } => Text::new("error-group-network-hint"),
            GroupError::Certificate(_) | GroupError::Randomness => return None,
        })
    }

    pub(crate) fn listen(place: &str, why: impl ToString) -> Self {
        let why = plain(&why.to_string());
        // The transport repeats the operation before the system's error.
        let system = why.as_words().and_then(|why| {
            let (_, system) = why.rsplit_once(&format!("{place}: "))?;
            Some(Text::words(system))
        });
        GroupError::Listen {
            place: place.into(),
            why: system.unwrap_or(why),
        }
    }

    pub(crate) fn network(what: Text, why: impl ToString) -> Self {
        GroupError::Network {
            what,
            why: plain(&why.to_string()),
        }
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&english(&self.text()))
    }
}

impl std::error::Error for GroupError {}

/// An error of Zenoh without its source locations (` at /…/unicast.rs:418.`), shortened when the
/// address did not answer.
fn plain(text: &str) -> Text {
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
        true => Text::new("error-group-no-answer"),
        false => Text::words(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, expected: &str) {
        assert_eq!(english(&plain(said)), expected);
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
