//! Cookies of a user, and the cookie policies of JMeter.

use super::address::Address;
use super::encode;
use crate::plan::Id;
use crate::script::Cookie;

/// Most cookies of one jar; the oldest is removed.
const MOST: usize = 300;

/// A user's cookies: one jar for each cookie manager of the plan.
#[derive(Debug, Default)]
pub(super) struct Jars(Vec<(Id, CookieJar)>);

impl Jars {
    /// The jar of a manager.
    pub fn of(&self, id: Id) -> Option<&CookieJar> {
        let found = self.0.iter().find(|(known, _)| *known == id);
        found.map(|(_, jar)| jar)
    }

    /// The jar of a manager, mutable.
    pub fn of_mut(&mut self, id: Id) -> Option<&mut CookieJar> {
        let found = self.0.iter_mut().find(|(known, _)| *known == id);
        found.map(|(_, jar)| jar)
    }

    /// An empty jar for a manager.
    pub fn begin(&mut self, id: Id, policy: &str) -> &mut CookieJar {
        let place = self.0.iter().position(|(known, _)| *known == id);
        let place = place.unwrap_or_else(|| {
            self.0.push((id, CookieJar::default()));
            self.0.len() - 1
        });
        let jar = &mut self.0[place].1;
        *jar = CookieJar {
            cookies: Vec::new(),
            policy: Policy::named(policy),
        };
        jar
    }
}

/// JMeter's cookie policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Policy {
    /// RFC 6265: longest paths first, values with separators quoted.
    #[default]
    Standard,
    /// As old browsers: in the order of creation, values unchanged.
    Old,
    /// As [`Policy::Old`], but a cookie with a version has its value without quotes.
    Browser,
    /// Keeps none of a response, and sends none.
    Ignore,
}

impl Policy {
    fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "ignorecookies" => Self::Ignore,
            "compatibility" => Self::Browser,
            "netscape" => Self::Old,
            _ => Self::Standard,
        }
    }
}

/// The cookies of one manager.
#[derive(Debug, Default)]
pub(super) struct CookieJar {
    cookies: Vec<Cookie>,
    policy: Policy,
}

impl CookieJar {
    /// True if there are no cookies.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// All cookies, the oldest first.
    pub fn all(&self) -> &[Cookie] {
        &self.cookies
    }

    /// Replaces all cookies; of too many the oldest are removed.
    pub fn replace(&mut self, mut cookies: Vec<Cookie>) {
        cookies.drain(..cookies.len().saturating_sub(MOST));
        self.cookies = cookies;
    }

    /// Adds a cookie; one with the same name, domain and path is replaced.
    #[expect(clippy::too_many_arguments, reason = "a cookie has that many parts")]
    pub fn put(
        &mut self,
        name: &str,
        value: &str,
        domain: &str,
        host_only: bool,
        path: &str,
        secure: bool,
        expires_s: i64,
    ) {
        let same = |kept: &Cookie| {
            kept.name == name && kept.domain.eq_ignore_ascii_case(domain) && kept.path == path
        };
        self.cookies.retain(|kept| !same(kept));
        if self.cookies.len() >= MOST {
            self.cookies.remove(0);
        }
        self.cookies.push(Cookie {
            name: name.into(),
            value: value.into(),
            domain: domain.to_ascii_lowercase(),
            host_only,
            path: path.into(),
            secure,
            expires_s,
        });
    }

    /// Takes the value of a `Set-Cookie` header of a response from this address; gives name and
    /// value of the kept cookie. As in JMeter, a cookie without a value only removes the one of its
    /// name.
    pub fn take<'h>(
        &mut self,
        from: &Address,
        header: &'h str,
        now_s: i64,
    ) -> Option<(&'h str, &'h str)> {
        // As in browsers (RFC 6265bis, 5.6): such a cookie would corrupt the header in which it is
        // sent.
        let breaks = |c: char| c.is_ascii_control() && c != '\t';
        if self.policy == Policy::Ignore || header.contains(breaks) {
            return None;
        }
        let mut parts = header.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, mut value) = (name.trim(), value.trim());
        let has_version = || header.to_ascii_lowercase().contains("version=");
        if self.policy == Policy::Standard || self.policy == Policy::Browser && has_version() {
            let quoted = value
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            value = quoted.unwrap_or(value);
        }
        let own_path = from.path.split('?').next().unwrap_or("/");
        let folder = own_path
            .rfind('/')
            .filter(|at| *at > 0)
            .map_or("/", |at| &own_path[..at]);
        let (mut domain, mut host_only, mut path) = (from.host.as_str(), true, folder);
        let (mut secure, mut expires_s, mut max_age) = (false, 0, None);
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (key, value) = (key.trim(), value.trim());
            match () {
                () if key.eq_ignore_ascii_case("domain") && !value.is_empty() => {
                    domain = value.trim_start_matches('.');
                    host_only = false;
                }
                () if key.eq_ignore_ascii_case("path") && value.starts_with('/') => path = value,
                () if key.eq_ignore_ascii_case("secure") => secure = true,
                () if key.eq_ignore_ascii_case("max-age") => max_age = value.parse::<i64>().ok(),
                // The old policies accept dates only in Netscape's format.
                () if key.eq_ignore_ascii_case("expires")
                    && matches!(self.policy, Policy::Old | Policy::Browser)
                    && !value.contains('-') =>
                {
                    return None;
                }
                () if key.eq_ignore_ascii_case("expires") => {
                    expires_s = http_date(value).unwrap_or(0)
                }
                () => {}
            }
        }
        if name.is_empty() || !below(&from.host, domain) {
            return None;
        }
        if let Some(age) = max_age {
            expires_s = if age <= 0 {
                1
            } else {
                now_s.saturating_add(age)
            };
        }
        let (domain, path) = (domain.to_owned(), path.to_owned());
        self.put(name, value, &domain, host_only, &path, secure, expires_s);
        let lives = expires_s == 0 || expires_s > now_s;
        if value.is_empty() || !lives {
            self.cookies.pop();
        }
        self.cookies
            .retain(|kept| kept.expires_s == 0 || kept.expires_s > now_s);
        (lives && !value.is_empty()).then_some((name, value))
    }

    /// Appends the cookies for a request to this address, longest paths first.
    pub fn write(&self, to: &Address, now_s: i64, out: &mut String) {
        if self.policy == Policy::Ignore {
            return;
        }
        let path = to.path.split('?').next().unwrap_or("/");
        let fits = |kept: &&Cookie| {
            let host = match kept.host_only {
                true => kept.domain.eq_ignore_ascii_case(&to.host),
                false => below(&to.host, &kept.domain),
            };
            let here = path.strip_prefix(kept.path.as_str());
            let inside = here.is_some_and(|rest| {
                rest.is_empty() || kept.path.ends_with('/') || rest.starts_with('/')
            });
            host && inside
                && (!kept.secure || to.tls)
                && (kept.expires_s == 0 || kept.expires_s > now_s)
        };
        let mut chosen: Vec<&Cookie> = self.cookies.iter().filter(fits).collect();
        if self.policy == Policy::Standard {
            chosen.sort_by_key(|kept| std::cmp::Reverse(kept.path.len()));
        }
        for kept in chosen {
            let separator = if out.is_empty() { "" } else { "; " };
            out.extend([separator, &kept.name, "="]);
            match self.policy {
                Policy::Standard => write_value(&kept.value, out),
                _ => out.push_str(&kept.value),
            }
        }
    }
}

/// The value as JMeter's client writes it: quoted if it contains separators.
fn write_value(value: &str, out: &mut String) {
    if !value.contains([' ', '"', ',', ';', '\\']) {
        return out.push_str(value);
    }
    encode::quoted_string(value, out);
}

/// True for a domain and its subdomains.
fn below(host: &str, domain: &str) -> bool {
    let at = host.len().checked_sub(domain.len());
    let Some((head, tail)) = at.and_then(|at| host.split_at_checked(at)) else {
        return false;
    };
    tail.eq_ignore_ascii_case(domain) && (head.is_empty() || head.ends_with('.'))
}

/// Seconds since 1970 of a date such as `Wed, 09 Jun 2021 10:18:14 GMT`.
pub(super) fn http_date(text: &str) -> Option<i64> {
    let text = text.replace('-', " ");
    let rest = text
        .split_once(", ")
        .map_or(text.as_str(), |(_, rest)| rest);
    let mut words = rest.split_whitespace();
    let day: i8 = words.next()?.parse().ok()?;
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let month = words.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|name| month.starts_with(name))? as i8 + 1;
    let year: i16 = words.next()?.parse().ok()?;
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        year => year,
    };
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i8>().ok());
    let mut next = || clock.next().flatten();
    let (hour, minute, second) = (next()?, next()?, next()?);
    let at = jiff::civil::DateTime::new(year, month, day, hour, minute, second.min(59), 0).ok()?;
    Some(
        at.to_zoned(jiff::tz::TimeZone::UTC)
            .ok()?
            .timestamp()
            .as_second(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(jar: &CookieJar, url: &str) -> String {
        let mut out = String::new();
        jar.write(&Address::parse(url).unwrap(), 1_000, &mut out);
        out
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let mut jar = CookieJar::default();
        let from = Address::parse("http://www.example.com/shop/cart?x").unwrap();
        for header in [
            "a=1; Path=/",
            "b=2",
            "c=3; Domain=.example.com; Path=/; HttpOnly",
            "d=4; Secure; Path=/",
            "e=5; Max-Age=10; Path=/",
            "f=6; Domain=other.com",
            "g=7; Path=/; Expires=Thu, 01 Jan 1970 00:00:05 GMT",
            "=x",
            "nothing",
        ] {
            jar.take(&from, header, 1_000);
        }
        assert_eq!(
            sent(&jar, "http://www.example.com/shop/x"),
            "b=2; a=1; c=3; e=5"
        );
        assert_eq!(
            sent(&jar, "http://www.example.com/shopping"),
            "a=1; c=3; e=5"
        );
        assert_eq!(sent(&jar, "https://api.example.com/"), "c=3");
        jar.take(&from, "a=9; Path=/", 1_000);
        jar.take(&from, "c=; Domain=example.com; Path=/; Max-Age=0", 1_000);
        assert_eq!(sent(&jar, "https://www.example.com/"), "d=4; e=5; a=9");
        assert_eq!(jar.take(&from, "a=; Path=/", 1_000), None);
        assert_eq!(
            jar.take(&from, "n=\"1 2\"; Path=/", 1_000),
            Some(("n", "1 2"))
        );
        assert_eq!(sent(&jar, "http://www.example.com/"), "e=5; n=\"1 2\"");
    }

    #[test]
    fn a_manager_that_ignores_cookies_sends_none() {
        let mut jars = Jars::default();
        let jar = jars.begin(0, "ignorecookies");
        jar.put("a", "1", "www.example.com", true, "/", false, 0);
        assert_eq!(sent(jar, "http://www.example.com/"), "");
    }

    #[test]
    fn dates_of_headers_are_read() {
        assert_eq!(
            http_date("Wed, 09 Jun 2021 10:18:14 GMT"),
            Some(1_623_233_894)
        );
        assert_eq!(
            http_date("Wed, 09-Jun-21 10:18:14 GMT"),
            Some(1_623_233_894)
        );
        assert_eq!(http_date("soon"), None);
    }
}
