//! The address of a request, and resolution of redirects.

use crate::digits::digits;

/// The address of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Address {
    /// True if the connection uses TLS.
    pub tls: bool,
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query as rendered.
    pub path: String,
}

impl Address {
    /// Parses a URL; `None` if it is not valid.
    pub fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let tls = match () {
            () if scheme.eq_ignore_ascii_case("http") => false,
            () if scheme.eq_ignore_ascii_case("https") => true,
            () => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
            _ => (authority, default_port(tls)),
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        (!host.is_empty()).then(|| Self {
            tls,
            host: host.into(),
            port,
            path: format!("{slash}{path}"),
        })
    }

    /// Resolves a redirect against this address; `None` if it is not valid.
    pub fn join(&self, location: &str) -> Option<Self> {
        let with_path = |path: String| {
            Some(Self {
                path,
                ..self.clone()
            })
        };
        if location.contains("://") {
            return Self::parse(location);
        }
        if let Some(rest) = location.strip_prefix("//") {
            let scheme = if self.tls { "https" } else { "http" };
            return Self::parse(&format!("{scheme}://{rest}"));
        }
        let own = self.path.split(['?', '#']).next().unwrap_or("/");
        match location.chars().next() {
            None => Some(self.clone()),
            Some('/') => with_path(location.into()),
            // As in Java, a query alone replaces the last part of the path, too.
            Some(_) => {
                let folder = own.rfind('/').map_or("/", |at| &own[..=at]);
                with_path(without_dots(&format!("{folder}{location}")))
            }
        }
    }

    /// Appends the URL; the port only if it is not the default of the scheme.
    pub fn write(&self, out: &mut String) {
        self.write_origin(out);
        out.push_str(&self.path);
    }

    /// As [`Address::write`], always with the port.
    pub fn write_with_port(&self, out: &mut String) {
        use std::fmt::Write as _;
        let scheme = if self.tls { "https" } else { "http" };
        // Writing into a String cannot fail.
        let _ = write!(out, "{scheme}://{}:{}{}", self.host, self.port, self.path);
    }

    /// Appends scheme, host and port.
    pub fn write_origin(&self, out: &mut String) {
        out.push_str(if self.tls { "https://" } else { "http://" });
        self.write_authority(out);
    }

    /// Appends the value of `Host`: the address, or a given host whose port is that of the address
    /// unless it has its own. As in JMeter, the default port is left out.
    pub fn write_host(&self, given: Option<&str>, out: &mut String) {
        let Some(given) = given else {
            return self.write_authority(out);
        };
        let own = given.rsplit_once(':');
        let own = own.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        let (host, port) = own.unwrap_or((given, self.port));
        out.push_str(host);
        if port != default_port(self.tls) {
            out.push(':');
            digits(port.into(), out);
        }
    }

    /// Appends the host, with the port if it is not the default of the scheme.
    pub fn write_authority(&self, out: &mut String) {
        out.push_str(&self.host);
        if self.port != default_port(self.tls) {
            out.push(':');
            digits(self.port.into(), out);
        }
    }
}

/// Removes dot segments from the path.
pub(super) fn without_dots(path: &str) -> String {
    let (path, query) = match path.find(['?', '#']) {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    // A path that ends with dots is a folder.
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}{query}", kept.join("/"))
}

/// The default port.
pub(super) fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_joined_as_browsers_do() {
        let base = Address::parse("http://h:8080/a/b?x=1").unwrap();
        let join = |location: &str| {
            let mut out = String::new();
            base.join(location).unwrap().write(&mut out);
            out
        };
        assert_eq!(join("/c"), "http://h:8080/c");
        assert_eq!(join("c?y"), "http://h:8080/a/c?y");
        assert_eq!(join("../c/./d"), "http://h:8080/c/d");
        assert_eq!(join("./"), "http://h:8080/a/");
        assert_eq!(join(".."), "http://h:8080/");
        assert_eq!(join("?z"), "http://h:8080/a/?z");
        assert_eq!(join("https://other/"), "https://other/");
        assert_eq!(join("//other:81"), "http://other:81/");
        let host = |given| {
            let mut out = String::new();
            base.write_host(given, &mut out);
            out
        };
        assert_eq!(host(None), "h:8080");
        assert_eq!(host(Some("other")), "other:8080");
        assert_eq!(host(Some("other:80")), "other");
        assert_eq!(host(Some("other:81")), "other:81");
        assert!(Address::parse("ftp://h/").is_none() && Address::parse("http://").is_none());
    }
}
