//! The HTTP proxy for all requests of a test.
//!
//! The system properties `http.proxyHost`, `http.proxyPort` and `http.nonProxyHosts` (JMeter's
//! `-H`, `-P`, `-N`) set it; a sampler's own proxy takes precedence.

use serde::{Deserialize, Serialize};

use crate::properties::Properties;

/// Java's default port.
const DEFAULT_PORT: u16 = 80;

/// A proxy for all requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// User name; empty: no credentials.
    pub user: String,
    /// Password. Never written anywhere.
    #[serde(skip)]
    pub password: String,
    /// Hosts that are contacted directly, with `*` at the beginning or end.
    pub except: Vec<String>,
}

impl Proxy {
    /// The proxy that the system properties state. Fails if the port is not valid.
    pub fn from_properties(system: &Properties) -> Result<Option<Self>, String> {
        let host = system.get("http.proxyHost").unwrap_or_default().trim();
        if host.is_empty() {
            return Ok(None);
        }
        let port = match system.get("http.proxyPort").map(str::trim) {
            None | Some("") => DEFAULT_PORT,
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| format!("`{port}` is not a valid proxy port"))?,
        };
        let except = system.get("http.nonProxyHosts").unwrap_or_default();
        let names = except.split('|').map(str::trim);
        Ok(Some(Self {
            host: host.into(),
            port,
            except: names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            ..Self::default()
        }))
    }

    /// True if this host is contacted directly.
    pub fn spares(&self, host: &str) -> bool {
        self.except.iter().any(|pattern| fits(pattern, host))
    }
}

/// True if a host matches a pattern with `*` at its beginning or end, ignoring case.
fn fits(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.to_ascii_lowercase(), host.to_ascii_lowercase());
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(inner), Some(_)) if inner.len() > 1 => {
            host.contains(inner.strip_suffix('*').unwrap_or(inner))
        }
        (Some(_), Some(_)) => true,
        (Some(end), None) => host.ends_with(end),
        (None, Some(begin)) => host.starts_with(begin),
        (None, None) => host == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::Origin;

    fn proxy(pairs: &[(&str, &str)]) -> Result<Option<Proxy>, String> {
        let mut system = Properties::default();
        for (name, value) in pairs {
            system.set(*name, *value, Origin::CommandLine);
        }
        Proxy::from_properties(&system)
    }

    #[test]
    fn the_systems_properties_name_it() {
        assert_eq!(proxy(&[]), Ok(None));
        let found = proxy(&[
            ("http.proxyHost", "p"),
            ("http.proxyPort", "3128"),
            ("http.nonProxyHosts", "localhost|*.example.org | 10.*"),
        ]);
        let found = found.unwrap().unwrap();
        assert_eq!((found.host.as_str(), found.port), ("p", 3128));
        for direct in ["LOCALHOST", "a.example.org", "10.1.2.3"] {
            assert!(found.spares(direct), "{direct}");
        }
        for through in ["example.org", "localhost.de", "110.1"] {
            assert!(!found.spares(through), "{through}");
        }
        assert_eq!(proxy(&[("http.proxyHost", "p")]).unwrap().unwrap().port, 80);
        assert!(proxy(&[("http.proxyHost", "p"), ("http.proxyPort", "x")]).is_err());
    }

    #[test]
    fn stars_alone_spare_everything() {
        for pattern in ["*", "**"] {
            assert!(fits(pattern, "anything"), "{pattern}");
        }
        assert!(fits("*mid*", "a-middle") && !fits("*mid*", "other"));
    }
}
