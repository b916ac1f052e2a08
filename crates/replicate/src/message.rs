//! Messages of a session.
//!
//! ```text
//! sender                                        receiver
//!   Directory · Entries … DirectoryEnd ────────►   compares with its own tree
//!   ◄──────────────────── Verdicts · Basis ────    one verdict per entry, in order
//!   batches, chunks (data connections) ────────►   stages, verifies, publishes
//!   ◄──────────────────── Progress · Failed ───
//!   RoundEnd ──────────────────────────────────►   deletes, links, times of directories
//!   ◄──────────────────── Round ───────────────    counts of the receiver
//! ```
//!
//! Listing and answers each have a connection of their own, so that neither waits for data. Nothing
//! costs a round trip per file.

use serde::{Deserialize, Serialize};

use crate::frame::FrameError;
use crate::path::{RelPath, check_name};

/// Most entries in one message.
pub const MAX_ENTRIES: usize = 1_024;
/// Most extended attributes of a file.
pub const MAX_ATTRIBUTES: usize = 128;
/// Longest extended attribute (Linux `XATTR_SIZE_MAX`).
pub const MAX_ATTRIBUTE_BYTES: usize = 64 << 10;
/// Longest target of a symbolic link.
pub const MAX_LINK: usize = 4_095;
/// Most hashes in one message.
pub const MAX_HASHES: usize = 32 << 10;
/// Longest text: a path whose bytes are all shown as `\xNN`, and a sentence.
const MAX_TEXT: usize = 5 * crate::path::MAX_PATH;
/// Number of an entry within its round.
pub type Id = u32;

/// An extended attribute; access control lists are attributes too (`system.posix_acl_access`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name with the namespace.
    #[serde(with = "serde_bytes")]
    pub name: Vec<u8>,
    /// Its value.
    #[serde(with = "serde_bytes")]
    pub value: Vec<u8>,
}

/// Metadata of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Permission bits with set-id and sticky.
    pub mode: u32,
    /// Last change of the content, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Extended attributes, by name.
    pub attributes: Vec<Attribute>,
}

/// Kind of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryKind {
    /// A regular file.
    File {
        /// Bytes.
        size: u64,
        /// It may have changed after its times were read: equal times prove nothing.
        racy: bool,
        /// Other names of it follow in this round.
        shared: bool,
    },
    /// Another name of a file of this round.
    HardLink {
        /// Number of that file.
        of: Id,
    },
    /// A symbolic link.
    Symlink {
        /// Its target, uninterpreted.
        #[serde(with = "serde_bytes")]
        target: Vec<u8>,
    },
    /// A directory; its entries come under a [`Listing::Directory`] of their own.
    Directory,
    /// A name that cannot be replicated (a socket, a device, one that cannot be read): what the
    /// receiver has under it stays.
    Left,
}

/// A name in the directory that is being listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The name.
    #[serde(with = "serde_bytes")]
    pub name: Vec<u8>,
    /// Its kind.
    pub kind: EntryKind,
    /// Its metadata.
    pub meta: Meta,
}

/// Sender to receiver, on the listing's connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// The entries of this directory follow.
    Directory {
        /// The directory.
        path: RelPath,
        /// Its own.
        meta: Meta,
    },
    /// Some entries of it. The first one has the number that follows the last entry's; numbers
    /// begin with 0 in every round.
    Entries(Vec<Entry>),
    /// End of the directory.
    DirectoryEnd {
        /// Every name in it was listed: what else the receiver has there is extra.
        complete: bool,
    },
    /// End of the round.
    RoundEnd {
        /// Entries of it.
        entries: u32,
    },
    /// There is nothing more to do.
    Bye,
}

/// Wish of the receiver for an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Nothing: it has it, or it needs no content, or cannot take it ([`Answer::Failed`] says why).
    Skip,
    /// The content.
    Send,
    /// It will say, in a [`Answer::Basis`] or [`Answer::Compare`].
    Later,
}

/// Failure to replicate something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its path, as people read it.
    pub path: String,
    /// Reason, one sentence.
    pub why: String,
}

/// Counts of a round, as the receiver kept them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Regular files that were listed.
    pub files: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Files that were written and published.
    pub files_written: u64,
    /// Bytes of content that came for them.
    pub bytes_received: u64,
    /// Bytes that were taken from what was there already.
    pub bytes_kept: u64,
    /// Files that were equal.
    pub files_equal: u64,
    /// Files of which only owner, mode, times or attributes were set.
    pub metadata_set: u64,
    /// Directories that were made.
    pub directories_made: u64,
    /// Symbolic links that were made.
    pub symlinks_made: u64,
    /// Hard links that were made.
    pub hard_links_made: u64,
    /// Names that were removed because the source does not have them.
    pub removed: u64,
    /// Names that the source does not have and that were kept.
    pub extra: u64,
    /// Entries that could not be replicated.
    pub failed: u64,
}

/// Receiver to sender, on the answers' connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// One for each of the next entries.
    Verdicts(Vec<Verdict>),
    /// Hashes of the blocks of what is there: blocks that are equal need not come.
    Basis {
        /// The file.
        id: Id,
        /// XXH3-128 of each block of [`crate::delta::BLOCK_BYTES`], the last may be shorter.
        blocks: Vec<u128>,
        /// More follow.
        more: bool,
    },
    /// The content's hash (BLAKE3): it need not come when it is equal.
    Compare {
        /// The file.
        id: Id,
        /// The hash.
        hash: [u8; 32],
    },
    /// So much is published so far.
    Progress {
        /// Files.
        files: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Something could not be replicated.
    Failed(Failure),
    /// The round is over and as durable as was asked for.
    Round(Counts),
    /// It cannot go on.
    Broken(String),
}

/// A message as a payload.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    // Every type here writes itself; a vector always has room.
    postcard::to_stdvec(message).unwrap_or_default()
}

/// Reads a listing message of a peer, within its bounds.
pub fn read_listing(payload: &[u8]) -> Result<Listing, FrameError> {
    let listing: Listing = postcard::from_bytes(payload).map_err(|_| FrameError::Content)?;
    let is_fine = match &listing {
        Listing::Directory { meta, .. } => meta.is_bounded(),
        Listing::Entries(entries) => {
            entries.len() <= MAX_ENTRIES && entries.iter().all(Entry::is_bounded)
        }
        _ => true,
    };
    is_fine.then_some(listing).ok_or(FrameError::Content)
}

/// True for a text of a peer that may be shown: bounded, and without what moves a cursor.
fn is_plain(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
}

/// Reads an answer of a peer, within its bounds.
pub fn read_answer(payload: &[u8]) -> Result<Answer, FrameError> {
    let answer: Answer = postcard::from_bytes(payload).map_err(|_| FrameError::Content)?;
    let is_fine = match &answer {
        Answer::Basis { blocks, .. } => blocks.len() <= MAX_HASHES,
        Answer::Failed(Failure { path, why }) => is_plain(path) && is_plain(why),
        Answer::Broken(why) => is_plain(why),
        _ => true,
    };
    is_fine.then_some(answer).ok_or(FrameError::Content)
}

impl Meta {
    /// Bytes of names and values of all attributes.
    #[cfg(unix)]
    pub(crate) fn attribute_bytes(&self) -> usize {
        let sizes = self.attributes.iter();
        let sizes = sizes.map(|one| one.name.len() + one.value.len() + size_of::<Attribute>());
        sizes.sum()
    }

    fn is_bounded(&self) -> bool {
        let fits = |one: &Attribute| {
            (1..=255).contains(&one.name.len())
                && !one.name.contains(&0)
                && one.value.len() <= MAX_ATTRIBUTE_BYTES
        };
        // The highest number stands for no owner in calls of the system.
        let is_owned = self.uid != u32::MAX && self.gid != u32::MAX;
        let fits_all = self.attributes.iter().all(fits);
        is_owned && fits_all && self.attributes.len() <= MAX_ATTRIBUTES
    }
}

impl Entry {
    fn is_bounded(&self) -> bool {
        let target_fits = match &self.kind {
            EntryKind::Symlink { target } => {
                (1..=MAX_LINK).contains(&target.len()) && !target.contains(&0)
            }
            EntryKind::File { size, .. } => i64::try_from(*size).is_ok(),
            _ => true,
        };
        check_name(&self.name).is_ok() && self.meta.is_bounded() && target_fits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(name: &[u8], kind: EntryKind) -> Entry {
        Entry {
            name: name.into(),
            kind,
            meta: Meta::default(),
        }
    }

    #[test]
    fn a_listing_that_leads_outside_is_no_listing() {
        let file = || EntryKind::File {
            size: 1,
            racy: false,
            shared: false,
        };
        let good = Listing::Entries(vec![entry("名".as_bytes(), file())]);
        assert_eq!(read_listing(&encode(&good)), Ok(good));
        let empty = EntryKind::Symlink { target: Vec::new() };
        let bad = [
            entry(b"../x", file()),
            entry(b"", file()),
            entry(b"a\0", file()),
            entry(b"a", empty),
        ];
        for one in bad {
            let listing = Listing::Entries(vec![one]);
            assert_eq!(read_listing(&encode(&listing)), Err(FrameError::Content));
        }
    }

    #[test]
    fn a_path_within_a_message_is_checked_as_it_is_read() {
        let mut bytes = encode(&Listing::Directory {
            path: RelPath::parse(b"a/bb").unwrap(),
            meta: Meta::default(),
        });
        let at = bytes.windows(4).position(|four| four == b"a/bb").unwrap();
        bytes[at..at + 4].copy_from_slice(b"a/..");
        assert_eq!(read_listing(&bytes), Err(FrameError::Content));
    }

    proptest! {
        #[test]
        fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_listing(&bytes);
            let _ = read_answer(&bytes);
        }
    }
}
