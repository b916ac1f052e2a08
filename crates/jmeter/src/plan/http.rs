//! HTTP requests with all elements in scope merged in.

use serde::Serialize;

use super::{Id, Value};
use crate::expression::Template;

/// An HTTP request, with defaults and managers in scope merged in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpRequest {
    /// `http` or `https`; empty: `http`.
    pub protocol: Template,
    /// Host name or address.
    pub domain: Template,
    /// Port; empty: that of the protocol.
    pub port: Template,
    /// Path with or without a query; an absolute URL replaces protocol, domain and port.
    pub path: Template,
    /// Method; empty: `GET`.
    pub method: Template,
    /// Encoding of arguments; empty: UTF-8.
    pub encoding: Template,
    /// Arguments: the request's own, then those of defaults from the inside out.
    pub arguments: Vec<HttpArgument>,
    /// True if the values of the arguments are the body.
    pub raw_body: Value<bool>,
    /// Files that are sent.
    pub files: Vec<HttpFile>,
    /// True if the client follows redirects by itself and reports one result.
    pub auto_redirects: Value<bool>,
    /// True if redirects are followed one by one and reported as sub-results.
    pub follow_redirects: Value<bool>,
    /// True if the connection is kept alive; otherwise `Connection: close` is sent.
    pub keep_alive: Value<bool>,
    /// True if arguments are sent as `multipart/form-data`.
    pub multipart: Value<bool>,
    /// True if parts are written as browsers do.
    pub browser_multipart: Value<bool>,
    /// Connect timeout in milliseconds; 0: that of the system.
    pub connect_timeout_ms: Value<i64>,
    /// Response timeout in milliseconds; 0: none.
    pub response_timeout_ms: Value<i64>,
    /// True if embedded resources are fetched.
    pub embedded: Value<bool>,
    /// Pattern that URLs of embedded resources must match; empty: all.
    pub embedded_pattern: Template,
    /// Pattern that URLs of embedded resources must not match; empty: none.
    pub embedded_exclude: Template,
    /// True if embedded resources are fetched concurrently.
    pub embedded_concurrent: Value<bool>,
    /// Most concurrent fetches.
    pub embedded_connections: Value<i64>,
    /// True if the body is replaced by its MD5 sum.
    pub md5: Value<bool>,
    /// Address or interface that requests leave from; empty: the system chooses.
    pub source: Template,
    /// Kind of `source`.
    pub source_kind: SourceKind,
    /// Proxy; an empty host: none.
    pub proxy: HttpProxy,
    /// Headers of all header managers in scope; for each name those of the innermost.
    pub headers: Vec<HttpHeader>,
    /// The header managers in scope, the innermost first.
    #[serde(skip)]
    pub header_managers: Vec<Id>,
    /// The cookie manager: a configuration element.
    pub cookies: Option<Id>,
    /// The cache manager.
    pub cache: Option<Id>,
    /// The authorization manager.
    pub authorization: Option<Id>,
    /// The DNS cache manager.
    pub dns: Option<Id>,
}

/// A request parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpArgument {
    /// Name; parameters without one are left out unless the body is raw.
    pub name: Template,
    /// Its value.
    pub value: Template,
    /// True if it is percent-encoded; otherwise it is sent as written.
    pub encode: Value<bool>,
    /// Separator of name and value in a URL; in a form it is `=`.
    pub separator: String,
    /// Content type of its part in a multipart body.
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
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HttpHeader {
    /// Its name.
    pub name: Template,
    /// Its value.
    pub value: Template,
}

/// Adds the headers of another manager. In the innermost one a name may occur twice; others add only
/// names that are not there yet.
pub(crate) fn merge_headers<T: Clone>(
    all: &mut Vec<T>,
    (is_innermost, more): (bool, &[T]),
    header: fn(&T) -> &HttpHeader,
) {
    for one in more {
        let name = header(one).name.to_string();
        let same = |known: &T| header(known).name.to_string().eq_ignore_ascii_case(&name);
        if is_innermost || !all.iter().any(same) {
            all.push(one.clone());
        }
    }
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

/// The kind of a source address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// An address of this host, or a name that resolves to one.
    #[default]
    Host,
    /// A network interface.
    Device,
    /// A network interface, over IPv4.
    DeviceV4,
    /// A network interface, over IPv6.
    DeviceV6,
}
