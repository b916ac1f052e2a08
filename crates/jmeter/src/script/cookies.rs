//! The cookies of a manager as scripts read and change them.

use serde::{Deserialize, Serialize};

use crate::plan::Id;

/// A cookie of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host or domain it belongs to.
    pub domain: String,
    /// True if it is sent to this host only, not to its subdomains.
    pub host_only: bool,
    /// The path it belongs to.
    pub path: String,
    /// True if it is sent by TLS only.
    pub secure: bool,
    /// Expiry in seconds since 1970; 0: a session cookie.
    #[serde(with = "text")]
    pub expires_s: i64,
    /// How it is written if all are of RFC 2109; `None` for one that is not.
    #[serde(skip)]
    pub written: Option<WrittenCookie>,
}

/// The attributes that a cookie of RFC 2109 is sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenCookie {
    /// Its path was given.
    pub path: bool,
    /// Its domain was given.
    pub domain: bool,
}

/// Whole numbers as texts: those of JavaScript are exact up to 2^53 alone.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(value: &i64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The cookies of the manager of the current sampler, lent to a script.
#[derive(Debug)]
pub struct LentCookies {
    /// The manager.
    pub manager: Id,
    /// Its cookies, the oldest first.
    pub items: Vec<Cookie>,
    /// True if the script changed them.
    pub is_changed: bool,
}

impl LentCookies {
    /// Describes the cookies, or takes over those that a script left; `None`: they are not to be understood.
    pub(super) fn call(&mut self, what: &str, left: &str) -> Option<String> {
        if what == "describe" {
            return serde_json::to_string(&self.items).ok();
        }
        self.items = serde_json::from_str(left).ok()?;
        self.is_changed = true;
        Some(String::new())
    }
}
