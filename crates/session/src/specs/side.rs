//! A side of a replication as typed: on another host, or here.

use std::io;

/// A side of a replication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The host, `HOST` or `HOST:PORT`; `None`: this one.
    pub host: Option<String>,
    /// The directory, or what stands for one.
    pub path: String,
}

impl Side {
    /// `HOST:/DIR`, `HOST:PORT:/DIR`, `[ADDRESS]:/DIR` and `HOST:null` are elsewhere; all else is here.
    pub fn parse(text: &str) -> Self {
        let elsewhere = |at: usize| Self {
            host: Some(text[..at].into()),
            path: text[at + 1..].into(),
        };
        if text.starts_with("dataset:") {
            return Self {
                host: None,
                path: text.into(),
            };
        }
        if let Some(host) = text.strip_suffix(":null").filter(|host| !host.is_empty()) {
            return elsewhere(host.len());
        }
        match text.find(":/") {
            // A `/` before the colon makes it a path of this host.
            Some(at) if at > 0 && !text[..at].contains('/') => elsewhere(at),
            _ => Self {
                host: None,
                path: text.into(),
            },
        }
    }

    /// Its path; made absolute when it is on this host.
    pub fn path(&self) -> io::Result<String> {
        if self.host.is_some() || self.path.starts_with("dataset:") {
            return Ok(self.path.clone());
        }
        let path = std::path::absolute(&self.path)?;
        Ok(path.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_told_apart_as_users_of_rsync_expect() {
        let side = |host: Option<&str>, path: &str| Side {
            host: host.map(Into::into),
            path: path.into(),
        };
        for (text, expected) in [
            ("/srv/a", side(None, "/srv/a")),
            ("a:b", side(None, "a:b")),
            ("./a:/b", side(None, "./a:/b")),
            ("hostb:/srv", side(Some("hostb"), "/srv")),
            ("hostb:7005:/srv", side(Some("hostb:7005"), "/srv")),
            ("[::1]:/srv", side(Some("[::1]"), "/srv")),
            ("hostb:null", side(Some("hostb"), "null")),
            ("dataset:10x1KB", side(None, "dataset:10x1KB")),
        ] {
            assert_eq!(Side::parse(text), expected, "{text}");
        }
    }
}
