//! Resolution of the links of a page as in Java's `URL`.

use super::address::{Address, without_dots};
use super::uri;

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LinkTarget {
    /// A URL that can be requested.
    Url(Address),
    /// A URL that cannot be requested: the URL as reported, Java's exception and message.
    Unreachable(String, &'static str, String),
}

/// The target of a link in a page at this address; `None`: a link that is not followed, such as
/// `data:` or `javascript:`.
pub(super) fn resolve(base: &Address, link: &str) -> Option<LinkTarget> {
    // Java resolves XML entities once more.
    let link = &unescaped(link);
    let (tls, rest) = match scheme(link) {
        None => (base.tls, link.as_str()),
        Some((name, rest)) => match name.to_ascii_lowercase().as_str() {
            "http" if base.tls || rest.starts_with("//") => (false, rest),
            "https" if !base.tls || rest.starts_with("//") => (true, rest),
            // Without a host it means the host of the page.
            "http" | "https" => (base.tls, rest),
            "ftp" => {
                let says = "ftp protocol is not supported".into();
                let class = "org.apache.http.conn.UnsupportedSchemeException";
                return Some(LinkTarget::Unreachable(link.clone(), class, says));
            }
            "mailto" | "file" | "jar" => return Some(hostless(link.clone())),
            _ => return None,
        },
    };
    let word = if tls { "https" } else { "http" };
    if let Some(authority) = rest.strip_prefix("//") {
        return Some(elsewhere(word, authority));
    }
    if tls != base.tls {
        return Some(hostless(format!("{word}:{rest}")));
    }
    Some(LinkTarget::Url(Address {
        path: quoted(&joined(&base.path, rest)),
        ..base.clone()
    }))
}

/// The scheme, and the text after its colon.
pub(super) fn scheme(link: &str) -> Option<(&str, &str)> {
    let (name, rest) = link.split_once(':')?;
    let mut bytes = name.bytes();
    let begins = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (begins && bytes.all(goes_on)).then_some((name, rest))
}

fn hostless(url: String) -> LinkTarget {
    let says = format!("URI does not specify a valid host name: {url}");
    LinkTarget::Unreachable(url, "org.apache.http.client.ClientProtocolException", says)
}

/// A URL with a host of its own.
fn elsewhere(scheme: &str, rest: &str) -> LinkTarget {
    let url = format!("{scheme}://{rest}");
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    if authority.is_empty() {
        return hostless(format!("{scheme}:{}", &rest[end..]));
    }
    let digits = authority.rsplit_once(':').map_or("", |(_, port)| port);
    if let Ok(port @ 65_536..) = digits.parse::<u64>() {
        let class = "java.lang.IllegalArgumentException";
        return LinkTarget::Unreachable(url, class, format!("port out of range:{port}"));
    }
    let is_odd = |c: char| c.is_ascii_control() || " \"<>\\^`{|}".contains(c);
    match Address::parse(&url).filter(|_| !authority.contains(is_odd)) {
        Some(mut address) => {
            address.path = quoted(&joined("/", &address.path));
            LinkTarget::Url(address)
        }
        None => {
            let says = format!("{url} URI can not be normalized");
            LinkTarget::Unreachable(url, "java.lang.Exception", says)
        }
    }
}

/// A path, query or fragment resolved against another path, without dot segments.
fn joined(own: &str, link: &str) -> String {
    let path = own.split(['?', '#']).next().unwrap_or("/");
    let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
    match link.chars().next() {
        None | Some('#') => {
            let whole = own.split('#').next().unwrap_or("/");
            format!("{whole}{link}")
        }
        Some('/') => without_dots(link),
        // Java keeps the folder alone.
        Some(_) => without_dots(&format!("{folder}{link}")),
    }
}

/// Escapes a path that Java would refuse: all invalid characters, and percent signs.
pub(super) fn quoted(path: &str) -> String {
    let is_blank = |c: char| !c.is_ascii() && (c.is_whitespace() || c.is_control());
    if uri::refusal("", path).is_none() && !path.contains(is_blank) {
        return path.into();
    }
    let mut out = String::with_capacity(path.len() + 16);
    let mut in_path = true;
    let mut buffer = [0; 4];
    for character in path.chars() {
        in_path &= character != '?';
        let piece = character.encode_utf8(&mut buffer);
        let escapes = match character {
            '%' => true,
            '[' | ']' => in_path,
            '?' | '#' => false,
            other if other.is_ascii() => uri::refusal("", piece).is_some(),
            other => is_blank(other),
        };
        match escapes {
            true => piece.bytes().for_each(|byte| {
                use std::fmt::Write as _;
                let _ = write!(out, "%{byte:02X}");
            }),
            false => out.push(character),
        }
    }
    out
}

/// Replaces the entities that XML predefines.
fn unescaped(link: &str) -> String {
    match link.contains('&') {
        true => link
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&"),
        false => link.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks a link against JMeter 5.6.3's report for a page at this address.
    #[track_caller]
    fn check(link: &str, expected: &str) {
        let base = Address::parse("http://h:81/page/x?q").unwrap();
        let told = match resolve(&base, link) {
            None => "none".into(),
            Some(LinkTarget::Url(address)) => {
                let mut out = String::new();
                address.write(&mut out);
                out
            }
            Some(LinkTarget::Unreachable(url, class, says)) => {
                let class = class.rsplit('.').next().unwrap_or_default();
                format!("{url}: {class}: {says}")
            }
        };
        assert_eq!(told, expected, "{link}");
    }

    #[test]
    fn links_lead_where_java_has_them_lead() {
        check("rel/a", "http://h:81/page/rel/a");
        check("../up", "http://h:81/up");
        check("../../upup", "http://h:81/upup");
        check("/r/a/../b/./c", "http://h:81/r/b/c");
        check("?query", "http://h:81/page/?query");
        check("#hash", "http://h:81/page/x?q#hash");
        check("//o:82/s", "http://o:82/s");
        check("https://o/s", "https://o/s");
        check("HTTP://h:81/up", "http://h:81/up");
        check("http:rel", "http://h:81/page/rel");
        check(".", "http://h:81/page/");
    }

    #[test]
    fn what_may_not_stand_there_is_escaped() {
        check("/sp ace", "http://h:81/sp%20ace");
        check("/日本", "http://h:81/日本");
        check("/b{x}|", "http://h:81/b%7Bx%7D%7C");
        check("/p%zz", "http://h:81/p%25zz");
        check("/p%20ok", "http://h:81/p%20ok");
        check("\\back\\slash", "http://h:81/page/%5Cback%5Cslash");
        check("/e?a&lt;\u{a0}", "http://h:81/e?a%3C%C2%A0");
    }

    #[test]
    fn what_leads_nowhere_is_told_in_the_words_of_java() {
        check("data:image/png;base64,AA", "none");
        check("javascript:x()", "none");
        check("about:blank", "none");
        check(
            "mailto:x@y",
            "mailto:x@y: ClientProtocolException: URI does not specify a valid host name: mailto:x@y",
        );
        check(
            "ftp://h/r",
            "ftp://h/r: UnsupportedSchemeException: ftp protocol is not supported",
        );
        check(
            "http:///nohost",
            "http:/nohost: ClientProtocolException: URI does not specify a valid host name: http:/nohost",
        );
        check(
            "https:/y",
            "https:/y: ClientProtocolException: URI does not specify a valid host name: https:/y",
        );
        check(
            "http://h:99999/x",
            "http://h:99999/x: IllegalArgumentException: port out of range:99999",
        );
        check(
            "http://a b/",
            "http://a b/: Exception: http://a b/ URI can not be normalized",
        );
    }

    proptest! {
        #[test]
        fn no_link_panics(link in "(http|:|//|\\[|\\]|%|\\?|#|&|\\PC){0,12}") {
            let base = Address::parse("https://h/page/x?q").unwrap();
            if let Some(LinkTarget::Url(address)) = resolve(&base, &link) {
                prop_assert!(address.path.starts_with('/'), "{}", address.path);
            }
        }
    }
}
