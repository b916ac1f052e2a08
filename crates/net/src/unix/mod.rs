//! Byte streams between two processes of one host through unix sockets.
//!
//! A listener has a [`Name`]: a path in the file system, or (Linux) an abstract name that vanishes
//! with its listener. Every process that can reach the name may connect.

use std::fmt;
use std::path::PathBuf;

#[cfg(unix)]
#[path = "unix.rs"]
mod imp;
#[cfg(not(unix))]
#[path = "absent.rs"]
mod imp;

pub use imp::{LocalListener, LocalStream, connect};

/// Address of a same-host listener.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Name {
    /// A path in the file system.
    Path(PathBuf),
    /// A name without a file; Linux only.
    Abstract(String),
}

impl Name {
    /// Reads `@name` as an abstract name and everything else as a path.
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix('@') {
            Some(name) => Name::Abstract(name.into()),
            None => Name::Path(text.into()),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Path(path) => path.display().fmt(f),
            Name::Abstract(name) => write!(f, "@{name}"),
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
