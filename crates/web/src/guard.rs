//! Decides from the head of a request alone whether the caller may ask, before the rest is read.
//!
//! | asked from | what stops it |
//! |---|---|
//! | another page of the same browser | `Origin`, `Sec-Fetch-Site`, a header that only own scripts can set |
//! | a name that was made to point here (DNS rebinding) | `Host` must be a name by which this server knows itself |
//! | another machine, or another user of this one | the token: 128 random bits, in a cookie that scripts cannot read, or in a header of programs |
//!
//! Without a token the server listens on loopback only.

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use ring::rand::{SecureRandom, SystemRandom};
use std::net::{IpAddr, SocketAddr};

/// Name of the cookie that holds the token. Cookies do not know ports: two pages of one host must
/// not overwrite each other's, so that the port is part of the name.
const COOKIE_PREFIX: &str = "sokudo-";
/// Header that pages of other origins cannot send without being allowed to.
pub const ORDER_HEADER: &str = "x-sokudo";
/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// Credentials that a request must present to be accepted.
#[derive(Clone)]
pub struct Guard {
    token: Option<String>,
    /// Reading alone needs no token.
    reads_are_free: bool,
    at: SocketAddr,
    /// Names besides addresses, lower case.
    names: Vec<String>,
}

/// The reason why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// `Host` is missing or names another server.
    Host,
    /// It comes from another site.
    Origin,
    /// The order does not come from the page's own script.
    Header,
    /// The token is missing or wrong.
    Token,
}

impl Denied {
    /// Status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            Denied::Host => StatusCode::MISDIRECTED_REQUEST,
            Denied::Origin | Denied::Header => StatusCode::FORBIDDEN,
            Denied::Token => StatusCode::UNAUTHORIZED,
        }
    }

    /// The failure and its remedy.
    pub fn says(self) -> &'static str {
        match self {
            Denied::Host => "this server does not go by that name; open the address it printed",
            Denied::Origin => "another site asked; open the page itself",
            Denied::Header => "an order needs the header `X-Sokudo: 1`",
            Denied::Token => "the token is missing; open the whole address that `sokudo` printed",
        }
    }
}

/// A random token of 128 bits.
///
/// Errors: the system gives no randomness.
pub fn new_token() -> Result<String, ring::error::Unspecified> {
    let mut bytes = [0u8; TOKEN_BYTES];
    SystemRandom::new().fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Guard {
    /// Guards a server that listens `at`; `names` are further names of this host.
    pub fn new(at: SocketAddr, token: Option<String>, names: Vec<String>) -> Self {
        let mut names: Vec<String> = names.iter().map(|n| n.to_ascii_lowercase()).collect();
        names.push("localhost".into());
        Self {
            token,
            reads_are_free: false,
            at,
            names,
        }
    }

    /// The token is wanted for orders alone.
    pub fn for_orders(self) -> Self {
        Self {
            reads_are_free: true,
            ..self
        }
    }

    /// Name of the cookie that holds the token.
    pub fn cookie_name(&self) -> String {
        format!("{COOKIE_PREFIX}{}", self.at.port())
    }

    /// True when a token is wanted and `shown` is the right one.
    pub fn opens(&self, shown: &str) -> bool {
        let wanted = self.token.as_deref();
        wanted.is_some_and(|wanted| same(wanted.as_bytes(), shown.as_bytes()))
    }

    /// Whether the caller may have what it asks for.
    pub fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Denied> {
        self.check_place(method, headers)?;
        let is_free = self.reads_are_free && *method == Method::GET;
        match &self.token {
            Some(_) if !is_free && !self.has_token(headers) => Err(Denied::Token),
            _ => Ok(()),
        }
    }

    /// Everything but the token: for the request that brings it.
    pub fn check_place(&self, method: &Method, headers: &HeaderMap) -> Result<(), Denied> {
        let host = only(headers, HOST.as_str()).ok_or(Denied::Host)?;
        if !self.is_own(host) {
            return Err(Denied::Host);
        }
        let own = |origin: &str| origin.strip_prefix("http://") == Some(host);
        let foreign_origin =
            headers.contains_key(ORIGIN) && !only(headers, ORIGIN.as_str()).is_some_and(own);
        // Opened from a terminal, a bookmark or the address line it is `none`.
        let site = only(headers, "sec-fetch-site").unwrap_or("none");
        let opened = *method == Method::GET && only(headers, "sec-fetch-mode") == Some("navigate");
        let foreign_site = !matches!(site, "none" | "same-origin") && !opened;
        if foreign_origin || foreign_site {
            return Err(Denied::Origin);
        }
        if *method != Method::GET && only(headers, ORDER_HEADER) != Some("1") {
            return Err(Denied::Header);
        }
        Ok(())
    }

    /// True for a `Host` by which this server knows itself.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.at.port()) {
            return false;
        }
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            // An address cannot be made to point elsewhere.
            Ok(ip) => ip.is_loopback() || self.token.is_some() || ip == self.at.ip(),
            Err(_) => self.names.iter().any(|own| own.eq_ignore_ascii_case(name)),
        }
    }

    /// Browsers show it in the cookie, programs as `Authorization: Bearer`.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = only(headers, AUTHORIZATION.as_str()).and_then(|v| v.strip_prefix("Bearer "));
        bearer.is_some_and(|shown| self.opens(shown)) || self.has_cookie(headers)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter();
        let mut pairs = cookies
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && self.opens(value))
    }
}

/// The value of a header that stands there once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(one), None) => one.to_str().ok(),
        _ => None,
    }
}

/// Compares in a time that does not depend on where the first difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0u8, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut out = HeaderMap::new();
        for (name, value) in pairs {
            out.append(
                HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                HeaderValue::from_str(value).expect("a value"),
            );
        }
        out
    }

    fn guard(token: Option<&str>) -> Guard {
        let at = "127.0.0.1:7480".parse().expect("an address");
        Guard::new(at, token.map(str::to_owned), vec!["lab-host".into()])
    }

    fn get(token: Option<&str>, pairs: &[(&str, &str)]) -> Result<(), Denied> {
        guard(token).check(&Method::GET, &headers(pairs))
    }

    #[test]
    fn only_own_names_are_served() {
        for own in [
            "127.0.0.1:7480",
            "localhost:7480",
            "[::1]:7480",
            "LAB-host:7480",
        ] {
            assert_eq!(get(None, &[("host", own)]), Ok(()), "{own}");
        }
        for other in [
            "evil.example:7480",
            "127.0.0.1:80",
            "127.0.0.1",
            "192.0.2.7:7480",
            "localhost.evil.example:7480",
            "",
            "[::1]",
            ":7480",
        ] {
            assert_eq!(get(None, &[("host", other)]), Err(Denied::Host), "{other}");
        }
        assert_eq!(get(None, &[]), Err(Denied::Host));
        let twice = [("host", "localhost:7480"), ("host", "localhost:7480")];
        assert_eq!(get(None, &twice), Err(Denied::Host));
    }

    #[test]
    fn other_sites_are_turned_away() {
        let host = ("host", "localhost:7480");
        assert_eq!(
            get(None, &[host, ("origin", "http://localhost:7480")]),
            Ok(())
        );
        for origin in [
            "http://evil.example",
            "null",
            "https://localhost:7480",
            "http://localhost",
        ] {
            assert_eq!(get(None, &[host, ("origin", origin)]), Err(Denied::Origin));
        }
        assert_eq!(
            get(None, &[host, ("sec-fetch-site", "same-origin")]),
            Ok(())
        );
        assert_eq!(
            get(None, &[host, ("sec-fetch-site", "cross-site")]),
            Err(Denied::Origin)
        );
        // A link from elsewhere may open the page; it cannot give orders.
        let link = [
            host,
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
        ];
        assert_eq!(get(None, &link), Ok(()));
        assert_eq!(
            guard(None).check(&Method::POST, &headers(&link)),
            Err(Denied::Origin)
        );
    }

    #[test]
    fn orders_need_their_header() {
        let post = |pairs: &[(&str, &str)]| guard(None).check(&Method::POST, &headers(pairs));
        let host = ("host", "localhost:7480");
        assert_eq!(post(&[host]), Err(Denied::Header));
        assert_eq!(post(&[host, (ORDER_HEADER, "1")]), Ok(()));
    }

    #[test]
    fn the_token_is_wanted_where_there_is_one() {
        let token = new_token().expect("randomness");
        assert_eq!(token.len(), 2 * TOKEN_BYTES);
        let host = ("host", "192.0.2.7:7480");
        assert_eq!(get(Some(&token), &[host]), Err(Denied::Token));
        let right = format!("other=1; sokudo-7480={token}");
        assert_eq!(get(Some(&token), &[host, ("cookie", &right)]), Ok(()));
        for wrong in ["sokudo-7480=", "sokudo-7480=00", "sokudo-7481=x", "x"] {
            assert_eq!(
                get(Some(&token), &[host, ("cookie", wrong)]),
                Err(Denied::Token)
            );
        }
        assert!(!guard(None).opens(""), "nothing opens what has no token");
    }

    #[test]
    fn programs_show_the_token_in_a_header() {
        let host = ("host", "localhost:7480");
        let with = |shown: &str| get(Some("secret"), &[host, ("authorization", shown)]);
        assert_eq!(with("Bearer secret"), Ok(()));
        for wrong in ["Bearer secre", "Bearer", "secret", "Basic secret"] {
            assert_eq!(with(wrong), Err(Denied::Token), "{wrong}");
        }
    }

    #[test]
    fn where_reading_is_free_orders_still_need_the_token() {
        let guard = guard(Some("secret")).for_orders();
        let host = ("host", "localhost:7480");
        let order = (ORDER_HEADER, "1");
        let ask = |method: &Method, pairs: &[_]| guard.check(method, &headers(pairs));
        assert_eq!(ask(&Method::GET, &[host]), Ok(()));
        assert_eq!(ask(&Method::POST, &[host, order]), Err(Denied::Token));
        let shown = ("authorization", "Bearer secret");
        assert_eq!(ask(&Method::POST, &[host, order, shown]), Ok(()));
        let foreign = ("origin", "http://evil.example");
        assert_eq!(ask(&Method::GET, &[host, foreign]), Err(Denied::Origin));
    }

    proptest! {
        #[test]
        fn whatever_is_sent_is_judged(host in "\\PC{0,40}", cookie in "\\PC{0,80}") {
            let mut sent = HeaderMap::new();
            for (name, value) in [(HOST, host), (COOKIE, cookie)] {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    sent.append(name, value);
                }
            }
            prop_assert!(guard(Some("0123")).check(&Method::GET, &sent).is_err());
        }
    }
}
