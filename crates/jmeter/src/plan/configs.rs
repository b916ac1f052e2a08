//! Which configuration elements do something while the test runs?

use serde::Serialize;

use super::Value;
use crate::expression::Template;

/// Configuration elements that do something while the test runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "config", rename_all = "snake_case")]
pub enum ConfigKind {
    /// Variables from the rows of a file.
    CsvData(CsvData),
    /// A counter.
    Counter {
        /// First value.
        start: Value<i64>,
        /// Value after which it begins again; `None`: no end.
        end: Option<Value<i64>>,
        /// Step.
        step: Value<i64>,
        /// Variable that is set.
        variable: Template,
        /// Number format such as `000`; empty: as it is.
        format: Template,
        /// Counted per user.
        per_user: Value<bool>,
        /// Begins again with each iteration of the group.
        resets: Value<bool>,
    },
    /// A random number.
    RandomVariable {
        /// Variable that is set.
        variable: Template,
        /// Least value.
        least: Value<i64>,
        /// Largest value.
        most: Value<i64>,
        /// Number format; empty: as it is.
        format: Template,
        /// Each user has its own stream.
        per_user: Value<bool>,
        /// Seed; empty: the run's.
        seed: Template,
    },
    /// Cookies of a user.
    Cookies {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// The group says whether they are forgotten.
        group_decides: bool,
        /// Which rules are followed: `standard`, `ignorecookies` …
        policy: String,
        /// Cookies that are there from the start.
        cookies: Vec<Cookie>,
    },
    /// A user's cache.
    Cache {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// The group says whether it is forgotten.
        group_decides: bool,
        /// `Expires` and `Cache-Control` are followed.
        follows_expires: bool,
        /// Most entries.
        most_entries: u64,
    },
    /// Users and passwords by address.
    Authorization {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// The group says whether they are forgotten.
        group_decides: bool,
        /// The entries.
        entries: Vec<Authorization>,
    },
    /// How names are resolved.
    Dns {
        /// Forgotten with each iteration.
        clear_each_iteration: bool,
        /// Servers that are asked; none: the system.
        servers: Vec<Template>,
        /// Names and addresses that are known.
        hosts: Vec<DnsHost>,
        /// Servers and known names are used at all.
        is_custom: bool,
    },
    /// Client certificates.
    Keystore {
        /// Loaded before the test.
        preload: bool,
        /// First certificate.
        start: Value<i64>,
        /// Last certificate; `None`: all.
        end: Option<Value<i64>>,
        /// Variable that holds the name of the certificate to be used.
        alias: Template,
    },
}

/// Variables from the rows of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CsvData {
    /// The file.
    pub file: Template,
    /// Its encoding; empty: UTF-8.
    pub encoding: Template,
    /// Variables; empty: the first row names them.
    pub variables: Vec<String>,
    /// What separates columns.
    pub delimiter: Template,
    /// The first row is no data.
    pub skips_first_row: bool,
    /// Columns may stand in quotes.
    pub quoted: bool,
    /// Begins again after the last row.
    pub recycles: bool,
    /// A user ends after the last row.
    pub stops_user: bool,
    /// Who shares the rows.
    pub shared: Shared,
}

/// Who shares the rows of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// All users.
    All,
    /// The users of a group.
    Group,
    /// Each user has the file for itself.
    User,
    /// Those that use the same word.
    Named(String),
}

/// A cookie that is there from the start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cookie {
    /// Its name.
    pub name: Template,
    /// Its value.
    pub value: Template,
    /// Where it belongs.
    pub domain: Template,
    /// Path below which it is sent.
    pub path: Template,
    /// Sent over TLS only.
    pub secure: Value<bool>,
    /// End of its life in seconds since 1970; 0: with the session.
    pub expires_s: Value<i64>,
}

/// A user and password for an address.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Authorization {
    /// Address below which it is used.
    pub url: Template,
    /// User.
    pub user: Template,
    /// Password; never shown.
    #[serde(skip)]
    pub password: Template,
    /// Domain, for NTLM.
    pub domain: Template,
    /// Realm.
    pub realm: Template,
    /// `BASIC`, `DIGEST`, `BASIC_DIGEST` or `KERBEROS`.
    pub mechanism: Template,
}

/// A name and its addresses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DnsHost {
    /// The name.
    pub name: Template,
    /// Addresses or another name, separated by commas.
    pub address: Template,
}
