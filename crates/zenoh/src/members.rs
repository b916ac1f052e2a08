//! Which names of a group are taken, and by whom?
//!
//! ```text
//! <config>/groups/<name>/members.json    name, role and key of each host that was let in
//! ```
//!
//! Who holds a token may choose a name, but not one that another host has: orders for that host would
//! reach the newcomer. The host itself comes in again, because it holds the key; for one that has lost
//! it, the founder frees the name.

use std::path::Path;

use ring::digest;
use serde::{Deserialize, Serialize};
use sokudo_wire::join::MemberRole;

use crate::error::GroupError;
use crate::group::hex;
use crate::ledger::Ledger;
use crate::tokens::now_s;

/// Names that are remembered at most; one group has no more hosts.
const MAX_MEMBERS: usize = 100_000;

/// Why a name is not to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Taken {
    /// Somebody else has it.
    #[error("the group has another {role} called `{name}` already")]
    ByAnother {
        /// The name.
        name: String,
        /// What the other one is.
        role: MemberRole,
    },
    /// The group is full.
    #[error("the group has {MAX_MEMBERS} members, and no room for another one")]
    Full,
}

/// One host that was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    name: String,
    role: MemberRole,
    /// SHA-256 of its public key, hexadecimal.
    key: String,
    joined_unix_s: u64,
}

/// All of them; time is an argument.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Book {
    members: Vec<Entry>,
}

impl Book {
    /// Whether a host with this key may have the name, and is new.
    fn is_new(&self, name: &str, role: MemberRole, key: &str) -> Result<bool, Taken> {
        let mut same = self.members.iter();
        match same.find(|entry| entry.name == name && entry.role == role) {
            Some(entry) if entry.key == key => Ok(false),
            Some(_) => Err(Taken::ByAnother {
                name: name.to_owned(),
                role,
            }),
            None if self.members.len() >= MAX_MEMBERS => Err(Taken::Full),
            None => Ok(true),
        }
    }

    fn enter(&mut self, name: &str, role: MemberRole, key: String, now_s: u64) {
        self.members.push(Entry {
            name: name.to_owned(),
            role,
            key,
            joined_unix_s: now_s,
        });
    }
}

/// The members of one group, as its founder's host knows them.
#[derive(Debug, Clone)]
pub struct Members(Ledger<Book>);

impl Members {
    /// Those of the group `name`.
    pub fn of(config: &Path, name: &str) -> Self {
        Self(Ledger::of(config, name, "members"))
    }

    /// Enters a host when its name is free or its own and `also` agrees, asked while nobody else
    /// enters. The outer error is of the file or of `also`.
    pub(crate) fn enter<E: From<GroupError>>(
        &self,
        name: &str,
        role: MemberRole,
        public_key: &[u8],
        also: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<(), Taken>, E> {
        let key = hex(digest::digest(&digest::SHA256, public_key).as_ref());
        let entered = self.0.change(|book| {
            let is_new = match book.is_new(name, role, &key) {
                Ok(is_new) => is_new,
                Err(taken) => return Ok(Err(taken)),
            };
            also()?;
            if is_new {
                book.enter(name, role, key, now_s());
            }
            Ok(Ok(()))
        });
        entered.map_err(E::from)?
    }

    /// Frees a name: the next host that asks for it has it. False when nobody had it.
    pub fn remove(&self, name: &str) -> Result<bool, GroupError> {
        self.0.change(|book| {
            let before = book.members.len();
            book.members.retain(|entry| entry.name != name);
            book.members.len() < before
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: MemberRole = MemberRole::Agent;

    #[test]
    fn a_name_belongs_to_the_key_that_came_first() {
        let place = tempfile::tempdir().expect("a place");
        let members = Members::of(place.path(), "lab");
        let enter = |name: &str, role, key: &[u8]| {
            let agreed = || Ok::<(), GroupError>(());
            members.enter(name, role, key, agreed).expect("a file")
        };
        assert_eq!(enter("a", AGENT, &[1]), Ok(()));
        assert_eq!(enter("a", AGENT, &[1]), Ok(()), "it comes in again");
        assert!(matches!(
            enter("a", AGENT, &[2]),
            Err(Taken::ByAnother { .. })
        ));
        // A router of that name is somebody else anyway.
        assert_eq!(enter("a", MemberRole::Router, &[2]), Ok(()));
        assert!(members.remove("a").expect("a file"));
        assert!(!members.remove("a").expect("a file"));
        assert_eq!(enter("a", AGENT, &[2]), Ok(()));
    }

    #[test]
    fn who_is_refused_otherwise_takes_no_name() {
        let place = tempfile::tempdir().expect("a place");
        let members = Members::of(place.path(), "lab");
        let refused = members.enter("a", AGENT, &[1], || Err(GroupError::Randomness));
        assert!(refused.is_err());
        let agreed = || Ok::<(), GroupError>(());
        assert_eq!(
            members.enter("a", AGENT, &[2], agreed).expect("a file"),
            Ok(())
        );
    }
}
