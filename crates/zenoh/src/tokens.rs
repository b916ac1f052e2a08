//! The enrolment tokens of a group, with their expiry and number of uses.
//!
//! ```text
//! <config>/groups/<name>/tokens.json    secrets that were handed out; the owner's eyes only
//! ```
//!
//! A token is good for a time and, if its maker says so, for a number of hosts. What it was made for
//! stands in this file and not in the token: the controller's clock decides, and nobody can change
//! it. The file is read for each visitor, so that a token made by another command counts at once.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sokudo_model::Text;
use sokudo_wire::join::{MemberRole, TOKEN_SECRET, token_key};
use sokudo_wire::{Key, KeyId};

use crate::error::GroupError;
use crate::group::random;
use crate::ledger::Ledger;

/// Default validity of a token.
pub const DEFAULT_VALID: Duration = Duration::from_secs(24 * 3600);
/// Most tokens of one group; the oldest are removed.
const MAX_TOKENS: usize = 256;
/// Time that an expired token is kept, so that its holder learns why it is refused.
const REMEMBERED_S: u64 = 30 * 24 * 3600;

/// The limits and the role of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Its validity.
    pub valid: Duration,
    /// Number of hosts that it admits; `None` = any number.
    pub uses: Option<u32>,
    /// The role of the admitted hosts.
    pub role: MemberRole,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            valid: DEFAULT_VALID,
            uses: None,
            role: MemberRole::Agent,
        }
    }
}

/// Reason why a token is not valid any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidToken {
    /// Not one of this group's.
    #[error("the token is not known here")]
    Unknown,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// It has admitted as many hosts as it was made for.
    #[error("the token has been used up")]
    UsedUp,
    /// It was made for something else.
    #[error("the token is for a host that becomes {made_for}, not {asked}")]
    Role {
        /// The role that it was made for.
        made_for: MemberRole,
        /// The role that was requested.
        asked: MemberRole,
    },
}

impl InvalidToken {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            InvalidToken::Unknown => Text::new("error-token-unknown"),
            InvalidToken::Expired => Text::new("error-token-expired"),
            InvalidToken::UsedUp => Text::new("error-token-used-up"),
            InvalidToken::Role { made_for, asked } => Text::new("error-token-role")
                .text("made_for", made_for.text())
                .text("asked", asked.text()),
        }
    }

    /// The hint for the operator.
    pub fn hint(&self) -> Text {
        Text::new(match self {
            InvalidToken::Role { .. } => "error-token-role-hint",
            _ => "error-token-hint",
        })
    }
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    secret: [u8; TOKEN_SECRET],
    role: MemberRole,
    expires_unix_s: u64,
    uses_left: Option<u32>,
}

/// All tokens of a group; time is an argument.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Book {
    tokens: Vec<Entry>,
}

impl Book {
    fn mint(&mut self, secret: [u8; TOKEN_SECRET], terms: &Terms, now_s: u64) {
        self.tokens
            .retain(|entry| entry.expires_unix_s.saturating_add(REMEMBERED_S) > now_s);
        let excess = (self.tokens.len() + 1).saturating_sub(MAX_TOKENS);
        self.tokens.drain(..excess);
        self.tokens.push(Entry {
            secret,
            role: terms.role,
            expires_unix_s: now_s.saturating_add(terms.valid.as_secs()),
            uses_left: terms.uses,
        });
    }

    fn find(&self, id: KeyId) -> Option<&Entry> {
        self.tokens
            .iter()
            .find(|entry| token_key(&entry.secret).id() == id)
    }

    /// Lets one host in.
    fn spend(&mut self, id: KeyId, asked: MemberRole, now_s: u64) -> Result<(), InvalidToken> {
        let of_id = |entry: &&mut Entry| token_key(&entry.secret).id() == id;
        let entry = self
            .tokens
            .iter_mut()
            .find(of_id)
            .ok_or(InvalidToken::Unknown)?;
        if entry.expires_unix_s <= now_s {
            return Err(InvalidToken::Expired);
        }
        if entry.role != asked {
            let made_for = entry.role;
            return Err(InvalidToken::Role { made_for, asked });
        }
        match &mut entry.uses_left {
            Some(0) => Err(InvalidToken::UsedUp),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The tokens of one group on this host.
#[derive(Debug, Clone)]
pub struct Tokens(Ledger<Book>);

impl Tokens {
    /// Those of the group `name`.
    pub fn of(config: &Path, name: &str) -> Self {
        Self(Ledger::of(config, name, "tokens"))
    }

    /// Makes one; returns its secret.
    pub fn mint(&self, terms: &Terms) -> Result<[u8; TOKEN_SECRET], GroupError> {
        let secret = random()?;
        self.0.change(|book| book.mint(secret, terms, now_s()))?;
        Ok(secret)
    }

    /// The key of the token with this public name, whether it is still good or not.
    pub(crate) fn key(&self, id: KeyId) -> Result<Option<Key>, GroupError> {
        let book = self.0.read()?;
        Ok(book.find(id).map(|entry| token_key(&entry.secret)))
    }

    /// Lets one host in. The outer error is of the file.
    pub(crate) fn spend(
        &self,
        id: KeyId,
        role: MemberRole,
    ) -> Result<Result<(), InvalidToken>, GroupError> {
        self.0.change(|book| book.spend(id, role, now_s()))
    }
}

/// Seconds of Unix time, as tokens and certificates count.
pub fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const AGENT: MemberRole = MemberRole::Agent;

    fn ledger(terms: &Terms) -> (Book, KeyId) {
        let mut ledger = Book::default();
        ledger.mint([1; TOKEN_SECRET], terms, 1000);
        (ledger, token_key(&[1; TOKEN_SECRET]).id())
    }

    #[test]
    fn a_token_is_good_for_its_time() {
        let (mut ledger, id) = ledger(&Terms {
            valid: Duration::from_secs(60),
            ..Terms::default()
        });
        assert_eq!(ledger.spend(id, AGENT, 1059), Ok(()));
        assert_eq!(ledger.spend(id, AGENT, 1060), Err(InvalidToken::Expired));
        assert_eq!(
            ledger.spend(KeyId([9; 8]), AGENT, 1000),
            Err(InvalidToken::Unknown)
        );
    }

    #[test]
    fn a_token_lets_in_as_many_as_it_was_made_for() {
        let (mut ledger, id) = ledger(&Terms {
            uses: Some(2),
            ..Terms::default()
        });
        let made_for = AGENT;
        let asked = MemberRole::Router;
        let other = Err(InvalidToken::Role { made_for, asked });
        assert_eq!(ledger.spend(id, asked, 1000), other, "and costs no use");
        assert_eq!(ledger.spend(id, AGENT, 1000), Ok(()));
        assert_eq!(ledger.spend(id, AGENT, 1000), Ok(()));
        assert_eq!(ledger.spend(id, AGENT, 1000), Err(InvalidToken::UsedUp));
    }

    #[test]
    fn the_file_does_not_grow_for_ever() {
        let (mut ledger, _) = ledger(&Terms::default());
        for number in 0..2 * MAX_TOKENS {
            let mut secret = [2; TOKEN_SECRET];
            secret[..8].copy_from_slice(&(number as u64).to_be_bytes());
            ledger.mint(secret, &Terms::default(), 1000);
        }
        assert_eq!(ledger.tokens.len(), MAX_TOKENS);
        let later = 1000 + DEFAULT_VALID.as_secs() + REMEMBERED_S;
        ledger.mint([3; TOKEN_SECRET], &Terms::default(), later);
        assert_eq!(ledger.tokens.len(), 1);
    }

    /// Two commands at the same time: no use is counted twice, none is forgotten.
    #[test]
    fn uses_are_counted_across_threads() {
        let place = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(place.path(), "lab");
        let terms = Terms {
            uses: Some(10),
            ..Terms::default()
        };
        let id = token_key(&tokens.mint(&terms).unwrap()).id();
        let spend = || {
            (0..10)
                .filter(|_| tokens.spend(id, AGENT).unwrap().is_ok())
                .count()
        };
        let all: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(spend)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(all, 10);
    }
}
