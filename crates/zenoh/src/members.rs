//! The list of the names taken in a group and of the hosts that hold them.
//!
//! ```text
//! <config>/groups/<name>/members.json    name, role, key of each host that was let in; its certificate's end
//! ```
//!
//! The holder of a token may choose a name, but not one that another host has: orders for that host would
//! reach the newcomer. The host itself comes in again, because it holds the key; for one that has lost
//! it, the founder frees the name.

use std::path::Path;

use ring::digest;
use serde::{Deserialize, Serialize};
use sokudo_model::Text;
use sokudo_wire::join::{Admission, MemberRole};
use sokudo_wire::life::Life;

use crate::error::GroupError;
use crate::group::hex;
use crate::ledger::Ledger;

/// Names that are remembered at most; one group has no more hosts.
const MAX_MEMBERS: usize = 100_000;

/// Reason why a name cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Taken {
    /// Another host has it.
    #[error("the group has another {role} called `{name}` already")]
    ByAnother {
        /// The name.
        name: String,
        /// Role of the member that has the name.
        role: MemberRole,
    },
    /// The group is full.
    #[error("the group has {MAX_MEMBERS} members, and no room for another one")]
    Full,
}

impl Taken {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            Self::ByAnother { name, role } => Text::new("error-group-taken")
                .word("name", name)
                .text("role", role.text()),
            Self::Full => Text::new("error-group-full").with("most", MAX_MEMBERS),
        }
    }
}

/// Reason why a host's certificate is not renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRenewed {
    /// No member of this name, or one with another key: it was removed, or never admitted.
    #[error("the group has no {role} called `{name}` with this key")]
    Unknown {
        /// The name.
        name: String,
        /// The role that it claims.
        role: MemberRole,
    },
    /// Its certificate has expired.
    #[error("the certificate has ended already")]
    Ended,
}

impl NotRenewed {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            Self::Unknown { name, role } => Text::new("error-group-not-known")
                .word("name", name)
                .text("role", role.text()),
            Self::Ended => Text::new("error-group-certificate-ended"),
        }
    }
}

/// A member in the list of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: MemberRole,
    /// Expiry of its certificate.
    pub until_unix_s: u64,
}

/// One host that was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    name: String,
    role: MemberRole,
    /// SHA-256 of its public key, hexadecimal.
    key: String,
    joined_unix_s: u64,
    /// Expiry of its certificate.
    until_unix_s: u64,
}

/// All of them; time is an argument.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Book {
    members: Vec<Entry>,
}

impl Book {
    /// Whether a host with this key may have the name.
    fn may_have(&self, name: &str, role: MemberRole, key: &str) -> Result<(), Taken> {
        let mut same = self.members.iter();
        match same.find(|entry| entry.name == name && entry.role == role) {
            Some(entry) if entry.key == key => Ok(()),
            Some(_) => Err(Taken::ByAnother {
                name: name.to_owned(),
                role,
            }),
            None if self.members.len() >= MAX_MEMBERS => Err(Taken::Full),
            None => Ok(()),
        }
    }

    fn find(&mut self, name: &str, role: MemberRole) -> Option<&mut Entry> {
        let mut all = self.members.iter_mut();
        all.find(|entry| entry.name == name && entry.role == role)
    }

    fn enter(&mut self, name: &str, role: MemberRole, key: String, life: Life) {
        match self.find(name, role) {
            Some(entry) => entry.until_unix_s = life.until_unix_s,
            None => self.members.push(Entry {
                name: name.to_owned(),
                role,
                key,
                joined_unix_s: life.from_unix_s,
                until_unix_s: life.until_unix_s,
            }),
        }
    }

    /// Another certificate for a host whose last one is still good when `life` begins.
    fn renew(
        &mut self,
        name: &str,
        role: MemberRole,
        key: &str,
        life: Life,
    ) -> Result<(), NotRenewed> {
        match self.find(name, role) {
            Some(entry) if entry.key == key => {
                if entry.until_unix_s <= life.from_unix_s {
                    return Err(NotRenewed::Ended);
                }
                entry.until_unix_s = life.until_unix_s;
                Ok(())
            }
            _ => Err(NotRenewed::Unknown {
                name: name.to_owned(),
                role,
            }),
        }
    }
}

/// The members of one group, as stored on its founder's host.
#[derive(Debug, Clone)]
pub struct Members(Ledger<Book>);

impl Members {
    /// Those of the group `name`.
    pub fn of(config: &Path, name: &str) -> Self {
        Self(Ledger::of(config, name, "members"))
    }

    /// Enters a host with the certificate that `admission` holds when its name is free or its own and
    /// `also` agrees; it is called while the list is locked. The outer error is of the file or of
    /// `also`.
    pub(crate) fn enter<E: From<GroupError>>(
        &self,
        admission: &Admission,
        public_key: &[u8],
        also: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<(), Taken>, E> {
        let (name, role) = (&admission.agent, admission.role);
        let key = key_text(public_key);
        let entered = self.0.change(|book| {
            if let Err(taken) = book.may_have(name, role, &key) {
                return Ok(Err(taken));
            }
            also()?;
            book.enter(name, role, key, admission.life);
            Ok(Ok(()))
        });
        entered.map_err(E::from)?
    }

    /// Notes that a host got the certificate that `admission` holds. The outer error is of the file.
    pub(crate) fn renew(
        &self,
        admission: &Admission,
        public_key: &[u8],
    ) -> Result<Result<(), NotRenewed>, GroupError> {
        let (name, role) = (&admission.agent, admission.role);
        let key = key_text(public_key);
        let life = admission.life;
        self.0.change(|book| book.renew(name, role, &key, life))
    }

    /// All hosts that were admitted and not removed.
    pub fn list(&self) -> Result<Vec<Known>, GroupError> {
        let entries = self.0.read()?.members.into_iter();
        let known = |entry: Entry| Known {
            name: entry.name,
            role: entry.role,
            until_unix_s: entry.until_unix_s,
        };
        Ok(entries.map(known).collect())
    }

    /// Frees a name: the next host that asks for it gets it. False when the name was not taken.
    pub fn remove(&self, name: &str) -> Result<bool, GroupError> {
        self.0.change(|book| {
            let before = book.members.len();
            book.members.retain(|entry| entry.name != name);
            book.members.len() < before
        })
    }
}

/// Encoding of a key in the file.
fn key_text(public_key: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, public_key).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: MemberRole = MemberRole::Agent;

    fn admission(name: &str, role: MemberRole, life: Life) -> Admission {
        Admission {
            group: "lab".into(),
            group_id: "0".repeat(16),
            agent: name.into(),
            role,
            certificate: String::new(),
            life,
            renewal: [0; 32],
            authority: String::new(),
            commander: [0; 32],
            secret: [0; 32],
            routers: Vec::new(),
        }
    }

    #[test]
    fn a_name_belongs_to_the_key_that_came_first() {
        let place = tempfile::tempdir().expect("a place");
        let members = Members::of(place.path(), "lab");
        let enter = |name: &str, role, key: &[u8]| {
            let agreed = || Ok::<(), GroupError>(());
            let admission = admission(name, role, Life::new(1000, 90));
            members.enter(&admission, key, agreed).expect("a file")
        };
        assert_eq!(enter("a", AGENT, &[1]), Ok(()));
        assert_eq!(enter("a", AGENT, &[1]), Ok(()), "it comes in again");
        assert!(matches!(
            enter("a", AGENT, &[2]),
            Err(Taken::ByAnother { .. })
        ));
        // A router of that name is another member.
        assert_eq!(enter("a", MemberRole::Router, &[2]), Ok(()));
        assert_eq!(members.list().expect("a file").len(), 2);
        assert!(members.remove("a").expect("a file"));
        assert!(!members.remove("a").expect("a file"));
        assert_eq!(enter("a", AGENT, &[2]), Ok(()));
    }

    #[test]
    fn who_is_refused_otherwise_takes_no_name() {
        let place = tempfile::tempdir().expect("a place");
        let members = Members::of(place.path(), "lab");
        let admission = admission("a", AGENT, Life::new(1000, 90));
        let refused = members.enter(&admission, &[1], || Err(GroupError::Randomness));
        assert!(refused.is_err());
        let agreed = || Ok::<(), GroupError>(());
        let entered = members.enter(&admission, &[2], agreed);
        assert_eq!(entered.expect("a file"), Ok(()));
    }

    /// It is renewed for the holder of the name and its key, as long as the last one is valid.
    #[test]
    fn a_certificate_is_renewed_before_its_end() {
        let place = tempfile::tempdir().expect("a place");
        let members = Members::of(place.path(), "lab");
        let agreed = || Ok::<(), GroupError>(());
        let first = admission("a", AGENT, Life::new(1000, 90));
        let entered = members.enter(&first, &[1], agreed);
        assert_eq!(entered.expect("a file"), Ok(()));
        let renew = |name: &str, role, key: &[u8], now_s| {
            let admission = admission(name, role, Life::new(now_s, 90));
            members.renew(&admission, key).expect("a file")
        };
        let until = || members.list().expect("a file")[0].until_unix_s;
        assert_eq!(renew("a", AGENT, &[1], 1089), Ok(()));
        assert_eq!(until(), 1179);
        for (name, role, key) in [
            ("a", AGENT, [2]),
            ("b", AGENT, [1]),
            ("a", MemberRole::Router, [1]),
        ] {
            let refused = renew(name, role, &key, 1100);
            assert!(matches!(refused, Err(NotRenewed::Unknown { .. })));
        }
        assert_eq!(renew("a", AGENT, &[1], 1179), Err(NotRenewed::Ended));
        assert_eq!(until(), 1179);
        // A token opens the door for it again, under its name.
        let again = admission("a", AGENT, Life::new(2000, 90));
        let entered = members.enter(&again, &[1], agreed);
        assert_eq!(entered.expect("a file"), Ok(()));
        assert_eq!(until(), 2090);
    }
}
