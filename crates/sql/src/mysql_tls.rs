//! TLS to MariaDB and MySQL, as `ssl-mode` and `ssl-ca` of a data source name ask for it.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use mysql_async::{Opts, OptsBuilder, SslOpts};

use crate::target::decoded;
use crate::tls::{Proof, Roots, Trust};

/// Options about TLS that the driver reads itself, with a meaning of its own.
const OF_DRIVER: [&str; 4] = [
    "require_ssl",
    "verify_ca",
    "verify_identity",
    "built_in_roots",
];

/// Name that is asked for where any name is allowed.
///
/// The driver leaves out the check of the name when the text of the error holds this word. rustls has worded
/// that error anew since and repeats the name that was asked for, so the word has to be the name. Where neither
/// holds any more, `VERIFY_CA` refuses certificates for other names: too much, never too little.
const ANY_NAME: &str = "NotValidForName";

/// A MariaDB or MySQL server, and what it has to prove.
#[derive(Clone)]
pub(crate) struct MySqlAddress {
    pub(crate) opts: Opts,
    need: Need,
    pub(crate) trust: Trust,
    /// The driver's options, made when the first session needs them.
    tls: Arc<OnceLock<SslOpts>>,
    /// True once the server has said that it has no TLS.
    is_plain: Arc<AtomicBool>,
}

/// Encryption of a session that its URL asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// `DISABLED`.
    Never,
    /// `PREFERRED`: where the server offers it.
    WhereOffered,
    /// `REQUIRED`, `VERIFY_CA`, `VERIFY_IDENTITY`: a server without TLS is refused.
    Always,
}

impl MySqlAddress {
    /// Reads a URL whose scheme is `mysql`.
    ///
    /// Errors: what is wrong with it. The text may repeat a part of the URL.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (rest, asked) = asked(url)?;
        let opts = Opts::from_url(&rest).map_err(|error| error.to_string())?;
        let (need, proof) = asked.need(opts.socket().is_some())?;
        let roots = asked.authorities.map_or(Roots::System, Roots::File);
        Ok(Self {
            opts,
            need,
            trust: Trust { proof, roots },
            tls: Arc::default(),
            is_plain: Arc::default(),
        })
    }

    /// The password of the URL, or of the environment.
    pub(crate) fn password(&self) -> Option<String> {
        let given = self.opts.pass().map(str::to_owned);
        given.or_else(|| std::env::var("MYSQL_PWD").ok())
    }

    /// Names another database on the server.
    pub(crate) fn use_database(&mut self, name: &str) {
        let builder = OptsBuilder::from_opts(self.opts.clone());
        self.opts = builder.db_name(Some(name)).into();
    }

    /// The driver's options for the next session; `None` for a session that is not encrypted.
    ///
    /// Errors: certificates that cannot be read.
    pub(crate) fn tls(&self) -> io::Result<Option<SslOpts>> {
        let is_plain = self.is_plain.load(Ordering::Relaxed);
        if self.need == Need::Never || is_plain {
            return Ok(None);
        }
        if let Some(made) = self.tls.get() {
            return Ok(Some(made.clone()));
        }
        let made = options(&self.trust)?;
        Ok(Some(self.tls.get_or_init(|| made).clone()))
    }

    /// Notes that the server has no TLS. Returns whether sessions may do without: the next ones do not ask again.
    pub(crate) fn goes_on_without(&self) -> bool {
        let may = self.need == Need::WhereOffered;
        self.is_plain.store(may, Ordering::Relaxed);
        may
    }
}

/// The driver's options for this check of certificates.
///
/// Errors: certificates that cannot be read, or none to trust.
pub(crate) fn options(trust: &Trust) -> io::Result<SslOpts> {
    let options = SslOpts::default();
    if trust.proof == Proof::None {
        // The driver cannot do without any authority, and so keeps those that are built in.
        return Ok(options.with_danger_accept_invalid_certs(true));
    }
    let trusted = trust.certificates()?.into_iter();
    let options = options
        .with_disable_built_in_roots(true)
        .with_root_certs(trusted.map(|one| one.to_vec().into()).collect());
    Ok(match trust.proof {
        Proof::Name => options,
        Proof::Authority | Proof::None => options
            .with_danger_skip_domain_validation(true)
            .with_danger_tls_hostname_override(Some(ANY_NAME)),
    })
}

/// Encryption that a URL asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    mode: Option<String>,
    authorities: Option<PathBuf>,
}

impl Asked {
    /// Errors: a mode that MySQL does not have, or that contradicts the rest of the URL.
    fn need(&self, is_socket: bool) -> Result<(Need, Proof), String> {
        let has_authorities = self.authorities.is_some();
        let mode = self.mode.as_deref().map(str::to_ascii_uppercase);
        let (need, proof) = match mode.as_deref() {
            // As MySQL: who names an authority wants certificates to be examined.
            None if has_authorities => (Need::Always, Proof::Authority),
            None | Some("PREFERRED") => (Need::WhereOffered, Proof::None),
            Some("DISABLED") => (Need::Never, Proof::None),
            Some("REQUIRED") => (Need::Always, Proof::None),
            Some("VERIFY_CA") => (Need::Always, Proof::Authority),
            Some("VERIFY_IDENTITY") => (Need::Always, Proof::Name),
            Some(_) => {
                let modes = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY";
                return Err(format!("ssl-mode can be {modes}"));
            }
        };
        if has_authorities && proof == Proof::None {
            return Err("ssl-ca needs ssl-mode=VERIFY_CA or VERIFY_IDENTITY".into());
        }
        match (is_socket, need) {
            (true, Need::Always) => Err("sessions through a socket are not encrypted".into()),
            (true, Need::WhereOffered) => Ok((Need::Never, proof)),
            _ => Ok((need, proof)),
        }
    }
}

/// Takes encryption out of a URL.
///
/// Errors: an option of the driver's that says the same in another way.
fn asked(url: &str) -> Result<(String, Asked), String> {
    let mut asked = Asked::default();
    let Some((before, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), asked));
    };
    let mut others = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "ssl-mode" => asked.mode = Some(decoded(value)),
            "ssl-ca" => asked.authorities = Some(PathBuf::from(decoded(value))),
            key if OF_DRIVER.contains(&key) => {
                return Err(format!("write ssl-mode=… instead of {key}=…"));
            }
            _ => others.push(pair),
        }
    }
    let rest = match others.is_empty() {
        true => before.to_owned(),
        false => format!("{before}?{}", others.join("&")),
    };
    Ok((rest, asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(query: &str) -> Result<(Need, Proof, Roots), String> {
        let address = MySqlAddress::parse(&format!("mysql://u:p%3F@h/d?{query}tcp_nodelay=true"))?;
        assert_eq!(address.opts.pass(), Some("p?"));
        Ok((address.need, address.trust.proof, address.trust.roots))
    }

    #[test]
    fn modes_are_those_of_mysql() {
        let file = || Roots::File("/a b/ca.pem".into());
        for (query, need, proof, roots) in [
            ("", Need::WhereOffered, Proof::None, Roots::System),
            (
                "ssl-mode=DISABLED&",
                Need::Never,
                Proof::None,
                Roots::System,
            ),
            (
                "ssl-mode=preferred&",
                Need::WhereOffered,
                Proof::None,
                Roots::System,
            ),
            (
                "ssl-mode=REQUIRED&",
                Need::Always,
                Proof::None,
                Roots::System,
            ),
            (
                "ssl-mode=VERIFY_CA&",
                Need::Always,
                Proof::Authority,
                Roots::System,
            ),
            (
                "ssl-ca=%2Fa%20b/ca.pem&",
                Need::Always,
                Proof::Authority,
                file(),
            ),
            (
                "ssl-ca=/a%20b/ca.pem&ssl-mode=VERIFY_IDENTITY&",
                Need::Always,
                Proof::Name,
                file(),
            ),
            ("socket=/run/s&", Need::Never, Proof::None, Roots::System),
        ] {
            assert_eq!(parsed(query), Ok((need, proof, roots)), "{query}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_the_way_out() {
        for (query, says) in [
            ("ssl-mode=require&", "VERIFY_IDENTITY"),
            ("ssl-mode=&", "VERIFY_IDENTITY"),
            ("ssl-mode=REQUIRED&ssl-ca=ca.pem&", "ssl-mode=VERIFY_CA"),
            ("require_ssl=true&", "ssl-mode"),
            ("verify_ca=false&", "ssl-mode"),
            ("ssl-mode=REQUIRED&socket=/run/s&", "socket"),
        ] {
            let error = parsed(query).expect_err(query);
            assert!(error.contains(says), "{query}: {error}");
        }
    }

    #[test]
    fn only_a_server_that_is_preferred_to_encrypt_may_do_without() {
        for (query, may) in [("ssl-mode=PREFERRED", true), ("ssl-mode=REQUIRED", false)] {
            let address = MySqlAddress::parse(&format!("mysql://h/d?{query}")).expect(query);
            assert!(address.tls().expect(query).is_some());
            assert_eq!(address.goes_on_without(), may, "{query}");
            assert_eq!(address.tls().expect(query).is_none(), may, "{query}");
        }
    }
}
