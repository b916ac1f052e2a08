//! HTTP digest authentication.
//!
//! ```text
//! GET /x ────────────────────────────────────────► 401, WWW-Authenticate: Digest nonce="…"
//! GET /x, Authorization: Digest response="…" ────► 200        one result, from the first to the last
//! ```
//!
//! As in JMeter's client, each sample is challenged anew, so that the nonce count is always 1.
//! Sources: RFC 7616, RFC 2617 (`MD5`, `MD5-sess`, `SHA-256`; `qop` `auth` or none).

use std::fmt::Write as _;

use md5::{Digest as _, Md5};
use sha2::Sha256;

use super::charset::Charset;
use super::encode;
use super::http::header_values;

/// Longest value of a challenge that is answered, bytes.
const MOST_VALUE_BYTES: usize = 4_096;

/// The challenges of a 401 response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenges {
    /// A digest challenge that can be answered.
    pub digest: Option<Challenge>,
    /// True if there is a digest challenge that cannot be answered.
    pub other_digest: bool,
    /// True if basic authentication is offered.
    pub basic: bool,
}

/// A digest challenge (RFC 7616, 3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    /// True if the answer needs a client nonce.
    has_quality: bool,
    /// True if only the nonce was too old.
    pub is_stale: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Md5Session,
    Sha256,
}

impl Algorithm {
    fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "" | "md5" => Self::Md5,
            "md5-sess" => Self::Md5Session,
            "sha-256" => Self::Sha256,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Md5Session => "MD5-sess",
            Self::Sha256 => "SHA-256",
        }
    }

    fn hex(self, text: &[u8]) -> String {
        let bytes: &[u8] = match self {
            Self::Md5 | Self::Md5Session => &Md5::digest(text),
            Self::Sha256 => &Sha256::digest(text),
        };
        let mut out = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            // Writing into a String cannot fail.
            let _ = write!(out, "{byte:02x}");
        }
        out
    }
}

/// The challenges in the headers of a response.
pub(super) fn challenges(headers: &[u8]) -> Challenges {
    let mut asked = Challenges::default();
    for value in header_values(headers, "WWW-Authenticate") {
        let (scheme, rest) = value.split_once(' ').unwrap_or((&value, ""));
        if scheme.eq_ignore_ascii_case("Basic") {
            asked.basic = true;
        } else if scheme.eq_ignore_ascii_case("Digest") && asked.digest.is_none() {
            asked.digest = challenge(rest);
            asked.other_digest = asked.digest.is_none();
        }
    }
    asked
}

/// A digest challenge; `None`: it cannot be answered.
fn challenge(text: &str) -> Option<Challenge> {
    let (mut realm, mut nonce, mut opaque) = (String::new(), None, None);
    let (mut algorithm, mut quality, mut is_stale) = (Algorithm::Md5, None, false);
    for (key, value) in parameters(text) {
        if value.len() > MOST_VALUE_BYTES {
            return None;
        }
        match key.to_ascii_lowercase().as_str() {
            "realm" => realm = value,
            "nonce" => nonce = Some(value),
            "opaque" => opaque = Some(value),
            "algorithm" => algorithm = Algorithm::named(&value)?,
            "qop" => quality = Some(value),
            "stale" => is_stale = value.eq_ignore_ascii_case("true"),
            _ => {}
        }
    }
    let is_auth = |word: &str| word.trim().eq_ignore_ascii_case("auth");
    let has_quality = match quality {
        None => false,
        Some(words) if words.split(',').any(is_auth) => true,
        // Quality of protection `auth-int` is not supported.
        Some(_) => return None,
    };
    Some(Challenge {
        realm,
        nonce: nonce?,
        opaque,
        algorithm,
        has_quality,
        is_stale,
    })
}

/// The parameters of a challenge, `name=value` or `name="value"`, separated by commas.
fn parameters(text: &str) -> impl Iterator<Item = (&str, String)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (key, behind) = rest.split_once('=')?;
        let behind = behind.trim_start();
        let mut value = String::new();
        let Some(quoted) = behind.strip_prefix('"') else {
            let end = behind.find(',').unwrap_or(behind.len());
            value.push_str(behind[..end].trim());
            rest = &behind[end..];
            return Some((key.trim(), value));
        };
        let mut characters = quoted.char_indices();
        rest = "";
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                '"' => {
                    rest = &quoted[at + 1..];
                    break;
                }
                other => value.push(other),
            }
        }
        Some((key.trim(), value))
    })
}

/// The data that an answer is computed from.
pub(super) struct Proof<'a> {
    pub user: &'a str,
    pub password: &'a str,
    pub method: &'a str,
    /// Path and query as sent.
    pub path: &'a str,
    /// Client nonce: any 64 bits.
    pub own_nonce: u64,
}

impl Challenge {
    /// The value of `Authorization`, its parameters in the order of JMeter's client.
    pub fn answer(&self, proof: &Proof<'_>) -> String {
        let algorithm = self.algorithm;
        let own = format!("{:016x}", proof.own_nonce);
        let (nonce, realm) = (&self.nonce, &self.realm);
        let mut secret = Vec::new();
        let said = format!("{}:{realm}:{}", proof.user, proof.password);
        Charset::US_ASCII.encode(&said, &mut secret);
        let mut secret = algorithm.hex(&secret);
        if algorithm == Algorithm::Md5Session {
            secret = algorithm.hex(format!("{secret}:{nonce}:{own}").as_bytes());
        }
        let request = algorithm.hex(format!("{}:{}", proof.method, proof.path).as_bytes());
        let response = algorithm.hex(
            match self.has_quality {
                true => format!("{secret}:{nonce}:00000001:{own}:auth:{request}"),
                false => format!("{secret}:{nonce}:{request}"),
            }
            .as_bytes(),
        );
        let mut out = String::from("Digest username=");
        encode::quoted_string(proof.user, &mut out);
        for (name, value) in [
            ("realm", realm.as_str()),
            ("nonce", nonce),
            ("uri", proof.path),
            ("response", &response),
        ] {
            out.extend([", ", name, "="]);
            encode::quoted_string(value, &mut out);
        }
        if self.has_quality {
            out.push_str(", qop=auth, nc=00000001, cnonce=");
            encode::quoted_string(&own, &mut out);
        }
        out.extend([", algorithm=", algorithm.name()]);
        if let Some(opaque) = &self.opaque {
            out.push_str(", opaque=");
            encode::quoted_string(opaque, &mut out);
        }
        out
    }
}

/// The value of `Authorization` for basic authentication (RFC 7617).
pub(super) fn basic(user: &str, password: &str) -> String {
    let mut bytes = Vec::new();
    Charset::US_ASCII.encode(&format!("{user}:{password}"), &mut bytes);
    let mut encoded = Vec::new();
    encode::base64(&bytes, &mut encoded);
    format!("Basic {}", String::from_utf8_lossy(&encoded))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answered(challenge: &str, path: &str, own_nonce: u64) -> String {
        let headers = format!("WWW-Authenticate: Digest {challenge}\r\n");
        let challenge = challenges(headers.as_bytes()).digest.unwrap();
        challenge.answer(&Proof {
            user: "us\"er",
            password: "pässword",
            method: "GET",
            path,
            own_nonce,
        })
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn proofs_are_those_of_jmeter() {
        assert_eq!(
            answered("realm=\"r\", nonce=\"n0nce\"", "/noqop", 0),
            "Digest username=\"us\\\"er\", realm=\"r\", nonce=\"n0nce\", uri=\"/noqop\", response=\"6396caaeedbd71c838296d4af5e75b8a\", algorithm=MD5"
        );
        assert_eq!(
            answered(
                "realm=\"r\", nonce=\"n0nce\", qop=\"auth\", opaque=\"op\"",
                "/md5",
                0xac57_c151_845e_eb2e
            ),
            "Digest username=\"us\\\"er\", realm=\"r\", nonce=\"n0nce\", uri=\"/md5\", response=\"0b46a684db723fc8168607a9a7bcc5c3\", qop=auth, nc=00000001, cnonce=\"ac57c151845eeb2e\", algorithm=MD5, opaque=\"op\""
        );
        let sha = answered(
            "realm=\"r\", nonce=\"n0nce\", qop=\"auth\", algorithm=SHA-256",
            "/sha",
            0x1181_8967_cffc_91bd,
        );
        assert!(
            sha.contains("5621fa3e1459027c77607957350a15c926572b74be017db35a4447b99956b3ad"),
            "{sha}"
        );
        let session = answered(
            "realm=\"r\", nonce=\"n0nce\", qop=\"auth\", algorithm=MD5-sess",
            "/sess",
            0x2eed_22ad_3c79_37c9,
        );
        assert!(
            session.contains("fee0c0a00644e3e0099d5b9d004b6f5b"),
            "{session}"
        );
    }

    #[test]
    fn what_cannot_be_answered_is_none() {
        let digest = |rest: &str| {
            challenges(format!("WWW-Authenticate: Digest {rest}\r\n").as_bytes()).digest
        };
        assert_eq!(digest("realm=\"r\""), None);
        assert_eq!(digest("nonce=\"n\", qop=\"auth-int\""), None);
        assert_eq!(digest("nonce=\"n\", algorithm=SHA-512-256"), None);
        assert!(
            digest("nonce=n,qop=\"auth-int,auth\",stale=TRUE")
                .unwrap()
                .is_stale
        );
        let both = challenges(
            b"WWW-Authenticate: Basic realm=\"b\"\r\nwww-authenticate: DIGEST nonce=\"n\"\r\n",
        );
        assert!(both.basic && both.digest.is_some());
        assert_eq!(challenges(b"Date: now\r\n"), Challenges::default());
    }

    proptest! {
        #[test]
        fn no_challenge_panics(text in "([a-z]{1,5}|=|\"|\\\\|,| |\\PC){0,40}") {
            if let Some(challenge) = challenge(&text) {
                let proof = Proof { user: "a", password: "b", method: "GET", path: "/", own_nonce: 1 };
                prop_assert!(challenge.answer(&proof).starts_with("Digest "));
            }
        }
    }
}
