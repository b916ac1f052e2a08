//! Names and paths below a root, as bytes.
//!
//! A peer's path is checked once, here, before anything else sees it: it is relative, has no `.` or
//! `..`, no empty component and no NUL, and is bounded. Whether it leads outside through a symbolic
//! link is for [`crate::root`] to prevent.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest name of one component, bytes (POSIX `NAME_MAX` on all supported systems).
pub const MAX_NAME: usize = 255;
/// Longest path below the root, bytes (`PATH_MAX` less the root itself).
pub const MAX_PATH: usize = 4_000;
/// Deepest directory below the root.
pub const MAX_DEPTH: usize = 256;
/// Begin of the names that the receiver uses for files that are not complete yet.
pub const STAGED: &[u8] = b".~sk-";

/// Reason for which a name or path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// It is empty, or has an empty component, or begins with `/`.
    #[error("it has an empty component")]
    Empty,
    /// It has a component `.` or `..`.
    #[error("it has a component `.` or `..`")]
    Dots,
    /// It has a NUL byte, or a `/` within a name.
    #[error("it has a byte that no name may have")]
    Byte,
    /// It is too long or too deep.
    #[error("it is too long")]
    Long,
    /// It begins like the receiver's own files.
    #[error("its name begins with `.~sk-`, as files in transit do")]
    Reserved,
}

/// Checks the name of one file.
pub fn check_name(name: &[u8]) -> Result<(), BadPath> {
    match name {
        [] => Err(BadPath::Empty),
        b"." | b".." => Err(BadPath::Dots),
        name if name.len() > MAX_NAME => Err(BadPath::Long),
        name if name.iter().any(|byte| matches!(byte, 0 | b'/')) => Err(BadPath::Byte),
        name if name.starts_with(STAGED) => Err(BadPath::Reserved),
        _ => Ok(()),
    }
}

/// A path below a root; empty for the root itself.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "serde_bytes::ByteBuf", into = "serde_bytes::ByteBuf")]
pub struct RelPath(Box<[u8]>);

impl RelPath {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path from its bytes, components parted by `/`.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadPath> {
        if bytes.is_empty() {
            return Ok(Self::root());
        }
        if bytes.len() > MAX_PATH {
            return Err(BadPath::Long);
        }
        let mut depth = 0;
        for name in bytes.split(|byte| *byte == b'/') {
            check_name(name)?;
            depth += 1;
        }
        match depth > MAX_DEPTH {
            true => Err(BadPath::Long),
            false => Ok(Self(bytes.into())),
        }
    }

    /// The path of a name in this directory.
    pub fn join(&self, name: &[u8]) -> Result<Self, BadPath> {
        check_name(name)?;
        let mut bytes = Vec::with_capacity(self.0.len() + 1 + name.len());
        bytes.extend_from_slice(&self.0);
        if !self.is_root() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        match bytes.len() > MAX_PATH || self.components().count() + 1 > MAX_DEPTH {
            true => Err(BadPath::Long),
            false => Ok(Self(bytes.into())),
        }
    }

    /// True for the root itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Its bytes, components parted by `/`.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The names on the way from the root.
    pub fn components(&self) -> impl Iterator<Item = &[u8]> {
        let names = self.0.split(|byte| *byte == b'/');
        names.filter(|name| !name.is_empty())
    }

    /// The directory that holds it and its name there; `None` for the root.
    pub fn split(&self) -> Option<(Self, &[u8])> {
        if self.is_root() {
            return None;
        }
        match self.0.iter().rposition(|byte| *byte == b'/') {
            Some(at) => Some((Self(self.0[..at].into()), &self.0[at + 1..])),
            None => Some((Self::root(), &self.0)),
        }
    }

    /// True for what lies below this directory; false for the directory itself.
    pub fn is_below(&self, directory: &Self) -> bool {
        match self.0.strip_prefix(&*directory.0) {
            Some(rest) if directory.is_root() => !rest.is_empty(),
            Some(rest) => rest.starts_with(b"/"),
            None => false,
        }
    }

    /// Directories above it, the root not included.
    pub fn depth(&self) -> usize {
        self.components().count()
    }
}

impl TryFrom<serde_bytes::ByteBuf> for RelPath {
    type Error = BadPath;

    fn try_from(bytes: serde_bytes::ByteBuf) -> Result<Self, BadPath> {
        Self::parse(&bytes)
    }
}

impl From<RelPath> for serde_bytes::ByteBuf {
    fn from(path: RelPath) -> Self {
        Self::from(path.0.into_vec())
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_root() {
            true => f.write_str("."),
            false => f.write_str(&shown(&self.0)),
        }
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Bytes of a name for people: UTF-8 where it is, everything that moves a cursor or is not UTF-8 as
/// `\xNN`.
pub fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char.is_control() {
                true => text.extend(
                    char.to_string()
                        .bytes()
                        .map(|byte| format!("\\x{byte:02x}")),
                ),
                false => text.push(char),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_leads_outside_is_refused() {
        let bad: &[(&[u8], BadPath)] = &[
            (b"/etc/passwd", BadPath::Empty),
            (b"a//b", BadPath::Empty),
            (b"a/", BadPath::Empty),
            (b"..", BadPath::Dots),
            (b"a/../b", BadPath::Dots),
            (b"./a", BadPath::Dots),
            (b"a\0b", BadPath::Byte),
            (b"a/.~sk-0123", BadPath::Reserved),
        ];
        for (bytes, why) in bad {
            assert_eq!(RelPath::parse(bytes), Err(*why), "{}", shown(bytes));
        }
        assert_eq!(RelPath::parse(&[b'a'; 256]), Err(BadPath::Long));
        assert_eq!(
            RelPath::parse(&b"a/".repeat(300)[..599]),
            Err(BadPath::Long)
        );
    }

    #[test]
    fn names_are_shown_without_moving_the_cursor() {
        assert_eq!(shown("日本\n\u{9b}".as_bytes()), "日本\\x0a\\xc2\\x9b");
        assert_eq!(shown(b"a\xffb"), "a\\xffb");
    }

    proptest! {
        #[test]
        fn a_path_is_the_sum_of_its_names(names in prop::collection::vec("[a-z\u{3042}]{1,8}", 1..9)) {
            let mut path = RelPath::root();
            for name in &names {
                path = path.join(name.as_bytes()).unwrap();
            }
            prop_assert_eq!(&RelPath::parse(names.join("/").as_bytes()).unwrap(), &path);
            prop_assert_eq!(path.depth(), names.len());
            let (above, last) = path.split().unwrap();
            prop_assert_eq!(last, names.last().unwrap().as_bytes());
            prop_assert_eq!(above.join(last).unwrap(), path);
        }

        #[test]
        fn parsing_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(path) = RelPath::parse(&bytes) {
                prop_assert_eq!(path.as_bytes(), &bytes[..]);
                prop_assert!(path.components().all(|name| check_name(name).is_ok()));
            }
        }
    }
}
