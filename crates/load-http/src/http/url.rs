//! The URL to load, in parts.

use std::fmt;
use std::str::FromStr;

use sokudo_http::Scheme;
use sokudo_i18n::TextError;
use sokudo_workload::json_as_text;

/// Longest URL.
const MAX_BYTES: usize = 8 * 1024;

/// Destination and path of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Protocol of the server.
    pub scheme: Scheme,
    /// Its name or address, without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Path and query, beginning with `/`.
    pub path: String,
}

impl FromStr for Url {
    type Err = TextError;

    /// Reads `http://host:port/path?query`; without a scheme `http` is meant. A fragment is left
    /// out: it never leaves a browser.
    fn from_str(text: &str) -> Result<Self, TextError> {
        parse(text).ok_or_else(|| TextError::value("error-value-url", text))
    }
}

fn parse(text: &str) -> Option<Url> {
    let fits = |byte: u8| (0x21..0x7f).contains(&byte);
    if text.len() > MAX_BYTES || !text.bytes().all(fits) {
        return None;
    }
    let (scheme, rest) = match text.split_once("://") {
        None => (Scheme::Http, text),
        Some((name, rest)) if name.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
        Some((name, rest)) if name.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
        Some(_) => return None,
    };
    let rest = rest.split('#').next()?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (host, port) = host_and_port(authority)?;
    let path = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{path}"),
    };
    Some(Url {
        scheme,
        host: host.into(),
        port: match port {
            None => scheme.default_port(),
            Some(port) => port.parse().ok().filter(|port| *port > 0)?,
        },
        path,
    })
}

fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            match after {
                "" => (host, None),
                after => (host, Some(after.strip_prefix(':')?)),
            }
        }
        None => match authority.split_once(':') {
            None => (authority, None),
            Some((host, port)) => (host, Some(port)),
        },
    };
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    (!host.is_empty() && host.bytes().all(in_name)).then_some((host, port))
}

impl Url {
    /// Host and port as the `Host` header has them: without the port that is meant anyway.
    pub fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        match self.port == self.scheme.default_port() {
            true => host,
            false => format!("{host}:{}", self.port),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority(), self.path)
    }
}

json_as_text!(Url);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let check = |text: &str, full: &str| {
            let url: Url = text.parse().expect(text);
            assert_eq!(url.to_string(), full);
            assert_eq!(full.parse(), Ok(url));
        };
        check("http://a.example", "http://a.example/");
        check("localhost:8080", "http://localhost:8080/");
        check("HTTPS://a:443/x?y=1#z", "https://a/x?y=1");
        check("http://[::1]:81?q", "http://[::1]:81/?q");
        check("http://a:80/b", "http://a/b");
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in [
            "",
            "http://",
            "ftp://a/",
            "http://a b/",
            "http://a:0/",
            "http://a:99999/",
            "http://a\r\nX: y/",
            "http://[::1/",
            "http://user@host/",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            if let Ok(url) = text.parse::<Url>() {
                prop_assert_eq!(url.to_string().parse(), Ok(url));
            }
        }
    }
}
