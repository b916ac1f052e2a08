//! HTTP requests with everything merged that acts on them.

use serde::Serialize;

use super::{Id, Value};
use crate::expression::Template;

/// A request; defaults and managers in scope are merged in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpRequest {
    /// `http` or `https`; empty: `http`.
    pub protocol: Template,
    /// Host name or address.
    pub domain: Template,
    /// Port; empty: that of the protocol.
    pub port: Template,
    /// Path with or without a query; a whole address replaces protocol, domain and port.
    pub path: Template,
    /// Method; empty: `GET`.
    pub method: Template,
    /// Encoding of arguments; empty: UTF-8.
    pub encoding: Template,
    /// Arguments: the request's own, then those of defaults from the inside out.
    pub arguments: Vec<HttpArgument>,
    /// The arguments' values together are the body.
    pub raw_body: Value<bool>,
    /// Files that are sent.
    pub files: Vec<HttpFile>,
    /// The client follows redirects and reports one result.
    pub auto_redirects: Value<bool>,
    /// Each redirect is followed and reported.
    pub follow_redirects: Value<bool>,
    /// The connection is kept; otherwise `Connection: close` is sent.
    pub keep_alive: Value<bool>,
    /// Arguments are sent as `multipart/form-data`.
    pub multipart: Value<bool>,
    /// Parts are written as browsers do.
    pub browser_multipart: Value<bool>,
    /// Most time for connecting in milliseconds; 0: no limit but the system's.
    pub connect_timeout_ms: Value<i64>,
    /// Most time for the answer in milliseconds; 0: no limit.
    pub response_timeout_ms: Value<i64>,
    /// What a page refers to is fetched, too.
    pub embedded: Value<bool>,
    /// Pattern that the address of such a thing must match; empty: all.
    pub embedded_pattern: Template,
    /// Pattern that the address of such a thing must not match; empty: none.
    pub embedded_exclude: Template,
    /// Such things are fetched at the same time.
    pub embedded_concurrent: Value<bool>,
    /// So many at most.
    pub embedded_connections: Value<i64>,
    /// The body is replaced by its MD5 sum.
    pub md5: Value<bool>,
    /// Address or interface that requests leave from; empty: the system chooses.
    pub source: Template,
    /// What that names.
    pub source_kind: SourceKind,
    /// Proxy; an empty host: none.
    pub proxy: HttpProxy,
    /// Headers of all header managers in scope; the innermost of a name.
    pub headers: Vec<HttpHeader>,
    /// The cookie manager that acts: a configuration element.
    pub cookies: Option<Id>,
    /// The cache manager that acts.
    pub cache: Option<Id>,
    /// The authorization manager that acts.
    pub authorization: Option<Id>,
    /// The DNS cache manager that acts.
    pub dns: Option<Id>,
}

/// A name and value of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpArgument {
    /// Its name; arguments without one are left out unless the body is raw.
    pub name: Template,
    /// Its value.
    pub value: Template,
    /// Percent-encoded; otherwise sent as written.
    pub encode: Value<bool>,
    /// What stands between name and value in an address; in a form it is `=`.
    pub separator: String,
    /// Type of its part in a multipart body.
    pub content_type: Template,
}

/// A file that is sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpFile {
    /// Its path.
    pub path: Template,
    /// Name of its part; a single file without a name is the body.
    pub parameter: Template,
    /// Its type.
    pub mime_type: Template,
}

/// A header.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpHeader {
    /// Its name.
    pub name: Template,
    /// Its value.
    pub value: Template,
}

/// A proxy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpProxy {
    /// `http` or `https`.
    pub scheme: Template,
    /// Host; empty: no proxy.
    pub host: Template,
    /// Port.
    pub port: Template,
    /// User.
    pub user: Template,
    /// Password; never shown.
    #[serde(skip)]
    pub password: Template,
}

/// What requests leave from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// An address of this host, or a name that has one.
    #[default]
    Host,
    /// A network interface.
    Device,
    /// A network interface, over IPv4.
    DeviceV4,
    /// A network interface, over IPv6.
    DeviceV6,
}
