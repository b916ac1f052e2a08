//! The bytes of each request, made once.

use sokudo_http::{Lane, RequestHead, Scheme};

use super::options::HttpOptions;

/// A request as it is handed to the event loop.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Head and body; in HTTP/2 both blocks of the head, and the body.
    pub(crate) bytes: Vec<u8>,
    /// HTTP/2: how its connection is shared; the number is each visitor's own.
    pub(crate) lane: Option<Lane>,
}

impl Request {
    /// The request that these options ask for.
    pub(crate) fn new(options: &HttpOptions) -> Self {
        if !options.http2 {
            return Self {
                bytes: options.request(),
                lane: None,
            };
        }
        let fields = fields(options);
        let fields = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let RequestHead { first, next } = RequestHead::new(fields);
        let lane = Lane {
            number: 0,
            first_bytes: first.len() as u32,
            next_bytes: next.len() as u32,
        };
        let body = options.body.as_deref().unwrap_or_default();
        Self {
            bytes: [&first, &next, body.as_bytes()].concat(),
            lane: Some(lane),
        }
    }
}

/// The fields of a request in HTTP/2 (RFC 9113 §8.3.1): what stood in the first line, then the rest
/// in lower case.
fn fields(options: &HttpOptions) -> Vec<(String, String)> {
    let scheme = match options.url.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    let mut fields = vec![
        (":method".to_owned(), options.method.to_string()),
        (":scheme".into(), scheme.into()),
        (":authority".into(), options.host()),
        (":path".into(), options.url.path.clone()),
    ];
    let own = |line: &(String, String)| (line.0.to_ascii_lowercase(), line.1.clone());
    let lines = options.header_lines();
    fields.extend(lines.iter().filter(|line| !is_told_already(line)).map(own));
    fields
}

/// The host stands in `:authority`.
fn is_told_already((name, _): &&(String, String)) -> bool {
    name.eq_ignore_ascii_case("host")
}

/// True when a header speaks of the connection, which HTTP/2 does by frames (RFC 9113 §8.2.2).
pub(crate) fn is_of_connection(name: &str) -> bool {
    const NAMES: [&str; 5] = [
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "upgrade",
    ];
    NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}
