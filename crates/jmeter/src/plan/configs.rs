//! Configuration elements that act during the test.

use serde::Serialize;

use super::{Database, Value};
use crate::expression::Template;

/// A configuration element that acts during the test.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "config", rename_all = "snake_case")]
pub enum ConfigKind {
    /// Sets variables from the rows of a file.
    CsvData(CsvData),
    /// A counter.
    Counter {
        /// First value.
        start: Value<i64>,
        /// Last value, after which it starts over; `None`: no end.
        end: Option<Value<i64>>,
        /// Step.
        step: Value<i64>,
        /// Variable that is set.
        variable: Template,
        /// Number format such as `000`; empty: unformatted.
        format: Template,
        /// True if each user counts separately.
        per_user: Value<bool>,
        /// True if it starts over with each iteration of the thread group.
        resets: Value<bool>,
    },
    /// A random variable.
    RandomVariable {
        /// Variable that is set.
        variable: Template,
        /// Least value.
        least: Value<i64>,
        /// Largest value.
        most: Value<i64>,
        /// Number format; empty: as it is.
        format: Template,
        /// True if each user has its own random stream.
        per_user: Value<bool>,
        /// Seed; empty: that of the run.
        seed: Template,
    },
    /// Cookies of each user.
    Cookies {
        /// True if they are cleared with each iteration.
        clear_each_iteration: bool,
        /// True if the thread group decides whether they are cleared.
        group_decides: bool,
        /// Cookie policy: `standard`, `ignorecookies` …
        policy: String,
        /// Cookies that exist from the start.
        cookies: Vec<Cookie>,
    },
    /// HTTP cache of each user.
    Cache {
        /// True if it is cleared with each iteration.
        clear_each_iteration: bool,
        /// True if the thread group decides whether it is cleared.
        group_decides: bool,
        /// True if `Expires` and `Cache-Control` are honoured.
        follows_expires: bool,
        /// Most entries.
        most_entries: u64,
    },
    /// Users and passwords by URL.
    Authorization {
        /// True if authorizations are cleared with each iteration.
        clear_each_iteration: bool,
        /// True if the thread group decides whether they are cleared.
        group_decides: bool,
        /// The entries.
        entries: Vec<Authorization>,
    },
    /// Name resolution.
    Dns {
        /// True if its cache is cleared with each iteration.
        clear_each_iteration: bool,
        /// Name servers; empty: those of the system.
        servers: Vec<Template>,
        /// Static hosts: names and addresses.
        hosts: Vec<DnsHost>,
        /// True if name servers and static hosts are used at all.
        is_custom: bool,
    },
    /// A pool of connections to a database.
    Database(Box<Database>),
    /// Client certificates.
    Keystore {
        /// True if they are loaded before the test.
        preload: bool,
        /// Index of the first certificate.
        start: Value<i64>,
        /// Index of the last certificate; `None`: the last of the store.
        end: Option<Value<i64>>,
        /// Variable with the alias of the certificate to use.
        alias: Template,
    },
}

/// A CSV data set: variables from the rows of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CsvData {
    /// The file.
    pub file: Template,
    /// Its encoding; empty: UTF-8.
    pub encoding: Template,
    /// Variables; empty: the first row has their names.
    pub variables: Vec<String>,
    /// Column separator.
    pub delimiter: Template,
    /// True if the first row is a header.
    pub skips_first_row: bool,
    /// True if columns may be quoted.
    pub quoted: bool,
    /// True if it starts over after the last row.
    pub recycles: bool,
    /// True if a user ends after the last row.
    pub stops_user: bool,
    /// The users that share the position in the file.
    pub shared: SharingMode,
}

/// The users that share the position in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SharingMode {
    /// All users.
    All,
    /// The users of one thread group.
    Group,
    /// None: each user reads the file by itself.
    User,
    /// The users of all elements with the same name.
    Named(String),
}

/// A cookie that exists from the start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cookie {
    /// Its name.
    pub name: Template,
    /// Its value.
    pub value: Template,
    /// Domain to which it is sent.
    pub domain: Template,
    /// Path prefix for which it is sent.
    pub path: Template,
    /// Sent over TLS only.
    pub secure: Value<bool>,
    /// Expiry in seconds since 1970; 0: a session cookie.
    pub expires_s: Value<i64>,
    /// The path is sent, too, where cookies are those of RFC 2109.
    pub sends_path: Value<bool>,
    /// So is the domain.
    pub sends_domain: Value<bool>,
}

/// User and password for a URL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Authorization {
    /// URL prefix for which they are used.
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

/// A static host: a name and its addresses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DnsHost {
    /// The name.
    pub name: Template,
    /// Addresses or another name, separated by commas.
    pub address: Template,
}
