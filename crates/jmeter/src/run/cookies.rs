//! Cookies of a user, and the cookie policies of JMeter.

use super::address::Address;
use super::encode;
use crate::plan::Id;
use crate::script::{Cookie, WrittenCookie};

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
    /// As [`Policy::Standard`], but attributes that are not valid make a cookie invalid.
    Strict,
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
            "compatibility" | "default" | "best-match" => Self::Browser,
            "netscape" => Self::Old,
            "standard-strict" => Self::Strict,
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
        written: Option<WrittenCookie>,
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
            written,
        });
    }

    /// Takes the value of a `Set-Cookie` header of a response from this address; gives name and
    /// value of the kept cookie. As in JMeter, a cookie without a value only removes the one of its
    /// name, and so does one that is over already.
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
        let is_old = matches!(self.policy, Policy::Old | Policy::Browser);
        let is_versioned = self.policy == Policy::Browser && has_version(header);
        if !is_old || is_versioned {
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
        let (mut secure, mut expires, mut max_age) = (false, None, None);
        let mut has_number = false;
        let mut written = WrittenCookie {
            path: false,
            domain: false,
        };
        // Of attributes that are given twice the old policies take the first, the others the last.
        let mut parts: Vec<&str> = parts.collect();
        if is_old {
            parts.reverse();
        }
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (key, value) = (key.trim(), value.trim());
            match () {
                () if key.eq_ignore_ascii_case("domain") => {
                    domain = value.trim_start_matches('.');
                    host_only = false;
                    written.domain = true;
                }
                () if key.eq_ignore_ascii_case("path") => {
                    path = if value.is_empty() { "/" } else { value };
                    written.path = true;
                }
                () if key.eq_ignore_ascii_case("secure") => secure = true,
                () if key.eq_ignore_ascii_case("version") => {
                    has_number = value.trim_matches('"') != "0";
                }
                () if key.eq_ignore_ascii_case("max-age") => max_age = Some(value),
                () if key.eq_ignore_ascii_case("expires") => expires = Some(value),
                () => {}
            }
        }
        if name.is_empty() || domain.is_empty() || !below(&from.host, domain) {
            return None;
        }
        let max_age = max_age.filter(|_| !is_old || is_versioned);
        let is_strict = self.policy != Policy::Standard;
        let expires_s = match (max_age, expires) {
            (Some(age), _) => match age.parse::<i32>() {
                Ok(0..) => now_s.saturating_add(age.parse().ok()?),
                _ if is_strict => return None,
                Ok(_) => 1,
                Err(_) => 0,
            },
            (None, None) => 0,
            (None, Some("")) if !is_strict => 0,
            (None, Some(date)) => match self.policy {
                Policy::Standard => lax_date(date)?,
                Policy::Strict => strict_date(date, &[' ', '-'])?,
                _ => strict_date(date, &['-'])?,
            },
        };
        let (domain, path) = (domain.to_owned(), path.to_owned());
        let written = (is_versioned && has_number).then_some(written);
        self.put(
            name, value, &domain, host_only, &path, secure, expires_s, written,
        );
        // As in JMeter, an age of 0 is not over yet, and no cookie ends later on.
        let lives = expires_s == 0 || expires_s >= now_s;
        if value.is_empty() || !lives {
            self.cookies.pop();
        }
        (lives && !value.is_empty()).then_some((name, value))
    }

    /// Appends the cookies for a request to this address, longest paths first. As in JMeter, when
    /// they end does not matter here.
    pub fn write(&self, to: &Address, out: &mut String) {
        if self.policy == Policy::Ignore {
            return;
        }
        let path = to.path.split('?').next().unwrap_or("/");
        let fits = |kept: &&Cookie| {
            let host = match kept.host_only {
                true => kept.domain.eq_ignore_ascii_case(&to.host),
                false => below(&to.host, &kept.domain),
            };
            let own = kept.path.strip_suffix('/').unwrap_or(&kept.path);
            let here = path.strip_prefix(own);
            let inside = here.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            host && inside && (!kept.secure || to.tls)
        };
        let mut chosen: Vec<&Cookie> = self.cookies.iter().filter(fits).collect();
        if matches!(self.policy, Policy::Standard | Policy::Strict) {
            chosen.sort_by_key(|kept| std::cmp::Reverse(kept.path.len()));
        }
        let all_written = chosen.iter().all(|kept| kept.written.is_some());
        if self.policy == Policy::Browser && all_written {
            chosen.iter().for_each(|kept| write_whole(kept, out));
            return;
        }
        for kept in chosen {
            let separator = if out.is_empty() { "" } else { "; " };
            out.extend([separator, &kept.name, "="]);
            match self.policy {
                Policy::Standard | Policy::Strict => write_value(&kept.value, out),
                _ => out.push_str(&kept.value),
            }
        }
    }
}

/// A cookie as RFC 2109 has it; as in JMeter, nothing separates it from the next one.
fn write_whole(cookie: &Cookie, out: &mut String) {
    out.extend(["$Version=1; ", &cookie.name, "=\"", &cookie.value, "\""]);
    let Some(written) = cookie.written else {
        return;
    };
    if written.path {
        out.extend(["; $Path=\"", &cookie.path, "\""]);
    }
    if written.domain {
        out.extend(["; $Domain=\"", &cookie.domain, "\""]);
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

/// True for a cookie of RFC 2109: with a version, and without the older way to say when it ends.
fn has_version(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    header.contains("version=") && !header.contains("expires=")
}

/// Seconds since 1970 of a date as RFC 6265 reads it: a time, a day, a month and a year among any
/// other words.
fn lax_date(text: &str) -> Option<i64> {
    let is_between = |c: char| c.is_ascii_punctuation() && c != ':' || c == ' ' || c == '\t';
    let (mut clock, mut day, mut month, mut year) = (None, None, None, None);
    for word in text.split(is_between).filter(|word| !word.is_empty()) {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let number = || word[..digits].parse::<i16>().ok();
        match () {
            () if clock.is_none() && word.contains(':') => clock = clock_of(word),
            () if day.is_none() && matches!(digits, 1 | 2) => day = number(),
            () if month.is_none() && month_of(word).is_some() => month = month_of(word),
            () if year.is_none() && matches!(digits, 2..=4) => year = number(),
            () => {}
        }
    }
    let year = match year? {
        year @ 0..=69 => year + 2000,
        year @ 70..=99 => year + 1900,
        year => year,
    };
    if year < 1601 {
        return None;
    }
    seconds(year, month?, i8::try_from(day?).ok()?, clock?)
}

/// Seconds since 1970 of a date as the older policies of JMeter read it; between day, month and
/// year there is one of `between`.
fn strict_date(text: &str, between: &[char]) -> Option<i64> {
    let words: Vec<&str> = text
        .split([' ', '-'])
        .filter(|word| !word.is_empty())
        .collect();
    let (_, date) = text.split_once(", ").unwrap_or(("", text));
    let (day, month, year, clock) = match words.as_slice() {
        [week, day, month, year, clock, "GMT" | "UTC", ..]
            if week.ends_with(',') && date.trim_start().contains(between) =>
        {
            let is_old = date.trim_start().find('-').is_some_and(|at| at <= 2);
            if !is_old && !between.contains(&' ') {
                return None;
            }
            (day, month, year, clock)
        }
        [_, month, day, clock, year, ..] if between.contains(&' ') => (day, month, year, clock),
        _ => return None,
    };
    let year = match (year.len(), year.parse::<i16>().ok()?) {
        (2, year) => year + 2000,
        (_, year) => year,
    };
    seconds(year, month_of(month)?, day.parse().ok()?, clock_of(clock)?)
}

/// Hour, minute and second.
fn clock_of(word: &str) -> Option<[i8; 3]> {
    let mut parts = word.splitn(3, ':').map(|part| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        part[..digits].parse::<i8>().ok()
    });
    let mut next = || parts.next().flatten();
    Some([next()?, next()?, next()?])
}

/// The number of a month by the begin of its English name.
fn month_of(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let word = word.to_ascii_lowercase();
    let at = MONTHS.iter().position(|name| word.starts_with(name))?;
    i8::try_from(at + 1).ok()
}

/// Seconds since 1970.
fn seconds(year: i16, month: i8, day: i8, [hour, minute, second]: [i8; 3]) -> Option<i64> {
    let at = jiff::civil::DateTime::new(year, month, day, hour, minute, second.min(59), 0).ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(at.timestamp().as_second())
}

/// Seconds since 1970 of a date such as `Wed, 09 Jun 2021 10:18:14 GMT`.
pub(super) fn http_date(text: &str) -> Option<i64> {
    let text = text.replace('-', " ");
    let rest = text
        .split_once(", ")
        .map_or(text.as_str(), |(_, rest)| rest);
    let mut words = rest.split_whitespace();
    let day: i8 = words.next()?.parse().ok()?;
    let month = month_of(words.next()?)?;
    let year: i16 = words.next()?.parse().ok()?;
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        year => year,
    };
    seconds(year, month, day, clock_of(words.next()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(jar: &CookieJar, url: &str) -> String {
        let mut out = String::new();
        jar.write(&Address::parse(url).unwrap(), &mut out);
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
        // As in JMeter, no cookie ends later on, and an age of 0 removes only one without a value.
        jar.take(&from, "a=9; Path=/", 5_000);
        jar.take(&from, "c=; Domain=example.com; Path=/; Max-Age=0", 1_000);
        assert_eq!(sent(&jar, "https://www.example.com/"), "d=4; e=5; a=9");
        assert_eq!(jar.take(&from, "a=; Path=/", 1_000), None);
        assert_eq!(
            jar.take(&from, "n=\"1 2\"; Path=/", 1_000),
            Some(("n", "1 2"))
        );
        assert_eq!(sent(&jar, "http://www.example.com/"), "e=5; n=\"1 2\"");
    }

    /// What JMeter 5.6.3 does with these.
    #[test]
    fn policies_differ_in_attributes() {
        let from = Address::parse("http://h.test/answer").unwrap();
        let headers = [
            "a=1; Max-Age=0; Path=/",
            "b=1; Max-Age=-1; Path=/",
            "c=1; Max-Age=x; Path=/",
            "d=1; Expires=; Path=/",
            "e=1; Expires=-1; Path=/",
            "f=1; Expires=Wed, 09-Jun-2099 10:18:14 GMT; Path=/",
            "g=1; Expires=Wed, 09 Jun 2099 10:18:14 GMT; Path=/",
            "i=1; Expires=Wed Jun  9 10:18:14 2099; Path=/",
            "j=1; Expires=Wed, 09-Jun-99 10:18:14 GMT; Path=/",
            "k=1; Expires=Wed, 09-Jun-2099 10:18:14; Path=/",
            "l=1; Max-Age=0; Expires=Thu, 01-Jan-1970 00:00:10 GMT; Path=/",
            "m=1; Domain=; Path=/",
            "n=1; Path=one",
            "o=1; Path=",
            "p=1; Path=/one/",
            "q=\"1 2\"; Version=1; Path=/",
            "r=1; Version=1; Max-Age=-1; Path=/",
        ];
        let kept = |policy: &str| {
            let mut jars = Jars::default();
            let jar = jars.begin(0, policy);
            for header in headers {
                jar.take(&from, header, 1_800_000_000);
            }
            sent(jar, "http://h.test/one").replace("=1;", ";")
        };
        assert_eq!(kept("standard"), "p; a; c; d; f; g; i; k; l; o; q=\"1 2\"");
        assert_eq!(kept("standard-strict"), "p; a; f; g; i; j; l; o; q=\"1 2\"");
        let old = "a; b; c; f; j; o; p; ";
        assert_eq!(kept("netscape"), format!("{old}q=\"1 2\"; r=1"));
        for policy in ["compatibility", "default", "best-match"] {
            assert_eq!(kept(policy), format!("{old}q=1 2"));
        }
    }

    #[test]
    fn cookies_that_all_have_a_version_are_written_with_it() {
        let from = Address::parse("http://h.test/answer").unwrap();
        let mut jars = Jars::default();
        let jar = jars.begin(0, "default");
        jar.take(&from, "a=\"x y\"; Version=1; Path=/", 1_000);
        jar.take(&from, "b=1; Version=1; Path=/; Domain=h.test", 1_000);
        assert_eq!(
            sent(jar, "http://h.test/"),
            "$Version=1; a=\"x y\"; $Path=\"/\"$Version=1; b=\"1\"; $Path=\"/\"; $Domain=\"h.test\""
        );
        jar.take(&from, "c=1; Version=0; Path=/", 1_000);
        assert_eq!(sent(jar, "http://h.test/"), "a=x y; b=1; c=1");
    }

    proptest::proptest! {
        #[test]
        fn no_cookie_panics(header in "\\PC{0,40}", date in "[\\PC]{0,30}") {
            let from = Address::parse("http://h.test/answer").unwrap();
            for policy in ["standard", "standard-strict", "default"] {
                let mut jars = Jars::default();
                let jar = jars.begin(0, policy);
                jar.take(&from, &header, 1_000);
                jar.take(&from, &format!("a=1; Expires={date}"), 1_000);
            }
        }
    }

    #[test]
    fn a_manager_that_ignores_cookies_sends_none() {
        let mut jars = Jars::default();
        let jar = jars.begin(0, "ignorecookies");
        jar.put("a", "1", "www.example.com", true, "/", false, 0, None);
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
