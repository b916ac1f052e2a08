//! `sslmode` and `sslrootcert` of PostgreSQL's data source names, of which the driver knows a part.

use std::path::PathBuf;

use tokio_postgres::config::SslMode;

use crate::tls::{Proof, Roots, Trust};

/// Encryption that a data source name asks for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The data source name without that.
    pub(crate) rest: String,
    pub(crate) mode: SslMode,
    pub(crate) trust: Trust,
}

/// Takes encryption out of a data source name, which is a URL or pairs of `KEY=VALUE`.
///
/// Errors: an `sslmode` that libpq does not have, or that is not supported here.
pub(crate) fn asked(text: &str) -> Result<Asked, String> {
    let mut words = Words::default();
    let rest = match text.split_once('?') {
        Some((before, query)) if text.contains("://") => {
            let pairs = query.split('&').filter(|pair| !pair.is_empty());
            let pairs = pairs.filter(|pair| !words.take_pair(pair));
            let rest = pairs.collect::<Vec<_>>().join("&");
            match rest.is_empty() {
                true => before.to_owned(),
                false => format!("{before}?{rest}"),
            }
        }
        _ if text.contains("://") => text.to_owned(),
        _ => words.take_from_pairs(text),
    };
    let (mode, mut proof) = match words.mode.as_deref() {
        None | Some("prefer") => (SslMode::Prefer, Proof::None),
        Some("disable") => (SslMode::Disable, Proof::None),
        Some("require") => (SslMode::Require, Proof::None),
        Some("verify-ca") => (SslMode::Require, Proof::Authority),
        Some("verify-full") => (SslMode::Require, Proof::Name),
        Some(_) => {
            let modes = "disable, prefer, require, verify-ca and verify-full";
            return Err(format!("sslmode can be {modes}"));
        }
    };
    let roots = match words.roots.as_deref() {
        None | Some("system") => Roots::System,
        // As libpq: who names certificates to trust wants them to be looked at.
        Some(path) => {
            if mode == SslMode::Require && proof == Proof::None {
                proof = Proof::Authority;
            }
            Roots::File(PathBuf::from(path))
        }
    };
    let trust = Trust { proof, roots };
    Ok(Asked { rest, mode, trust })
}

/// The words about encryption.
#[derive(Default)]
struct Words {
    mode: Option<String>,
    roots: Option<String>,
}

impl Words {
    /// Keeps the value of a word of ours; false for another word.
    fn take(&mut self, key: &str, value: &str) -> bool {
        let place = match key.trim() {
            "sslmode" => &mut self.mode,
            "sslrootcert" => &mut self.roots,
            _ => return false,
        };
        *place = Some(value.to_owned());
        true
    }

    /// The same of a pair in a URL.
    fn take_pair(&mut self, pair: &str) -> bool {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        self.take(key, &decoded(value))
    }

    /// The same of pairs with blanks in between, whose values may stand in quotes; returns the others.
    fn take_from_pairs(&mut self, text: &str) -> String {
        let (mut others, mut rest) = (Vec::new(), text.trim_start());
        while let Some((key, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let (value, bytes) = value_of(after);
            if !self.take(key, &value) {
                others.push(format!("{}={}", key.trim(), &after[..bytes]));
            }
            rest = after[bytes..].trim_start();
        }
        if !rest.is_empty() {
            // The driver says what is wrong with it.
            others.push(rest.to_owned());
        }
        others.join(" ")
    }
}

/// The value at the beginning of a text, and the bytes that it takes there.
fn value_of(text: &str) -> (String, usize) {
    let is_quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut chars = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            '\'' if is_quoted => return (value, at + 1),
            char if !is_quoted && char.is_whitespace() => return (value, at),
            char => value.push(char),
        }
    }
    (value, text.len())
}

/// A value of a URL without its `%` escapes.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        let escaped = escaped.filter(|_| *first == b'%');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (String, SslMode, Proof, Roots) {
        let asked = asked(text).expect(text);
        let Trust { proof, roots } = asked.trust;
        (asked.rest, asked.mode, proof, roots)
    }

    #[test]
    fn both_forms_say_the_same() {
        let file = Roots::File("/a b/ca.pem".into());
        for (url, pairs, mode, proof, roots) in [
            ("", "", SslMode::Prefer, Proof::None, Roots::System),
            (
                "sslmode=disable",
                "sslmode=disable",
                SslMode::Disable,
                Proof::None,
                Roots::System,
            ),
            (
                "sslmode=require",
                "sslmode = require",
                SslMode::Require,
                Proof::None,
                Roots::System,
            ),
            (
                "sslmode=require&sslrootcert=%2Fa%20b/ca.pem",
                r"sslmode=require sslrootcert='/a b/ca.pem'",
                SslMode::Require,
                Proof::Authority,
                file.clone(),
            ),
            (
                "sslrootcert=/a%20b/ca.pem&sslmode=verify-full",
                r"sslrootcert=/a\ b/ca.pem sslmode=verify-full",
                SslMode::Require,
                Proof::Name,
                file.clone(),
            ),
            (
                "sslmode=verify-ca",
                "sslmode='verify-ca'",
                SslMode::Require,
                Proof::Authority,
                Roots::System,
            ),
        ] {
            let (rest, ..) = told(&format!("postgres://u:p%3F@h/d?connect_timeout=3&{url}"));
            assert_eq!(rest, "postgres://u:p%3F@h/d?connect_timeout=3");
            let expected = (mode, proof, roots);
            let (rest, mode, proof, roots) = told(&format!("postgres://u@h/d?{url}"));
            assert_eq!(
                (rest.as_str(), &(mode, proof, roots)),
                ("postgres://u@h/d", &expected)
            );
            let text = format!(r"host=h {pairs} password='a\'b c'");
            let (rest, mode, proof, roots) = told(&text);
            assert_eq!(rest, r"host=h password='a\'b c'");
            assert_eq!((mode, proof, roots), expected);
        }
    }

    #[test]
    fn unknown_modes_are_refused_and_odd_texts_stay_whole() {
        for text in [
            "postgres://h/d?sslmode=allow",
            "host=h sslmode=''",
            "host=h sslmode=Require",
        ] {
            assert!(asked(text).expect_err(text).contains("verify-full"));
        }
        for text in ["host=h nonsense", "host='open", "postgres://h/d%", "%%%"] {
            assert_eq!(told(text).0, text);
        }
    }
}
