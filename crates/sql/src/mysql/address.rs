//! Data source names of MariaDB and MySQL: a URL.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::target::{decoded, host_and_port, port_of};
use crate::tls::{Connector, Encryption, Proof, Roots, Trust};

const PORT: u16 = 3306;
/// Keys of a data source name that mean something.
const KEYS: &str =
    "ssl-mode, ssl-ca, socket, tcp_keepalive, tcp_nodelay and enable_cleartext_plugin";

/// A MariaDB or MySQL server, who connects to it, and what it has to prove.
#[derive(Clone)]
pub(crate) struct MySqlAddress {
    /// Name or address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// A socket of this host, which is used instead.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: Option<String>,
    /// Idle time before the first probe of a connection; without, none is sent.
    pub(crate) keepalive: Option<Duration>,
    pub(crate) is_nodelay: bool,
    /// A server may ask for the password in clear.
    pub(crate) tells_password: bool,
    pub(crate) encryption: Encryption,
    pub(crate) trust: Trust,
    /// The state of handshakes, made when the first is due.
    pub(crate) tls: Arc<OnceLock<Connector>>,
}

impl Default for MySqlAddress {
    fn default() -> Self {
        Self {
            host: String::new(),
            port: PORT,
            socket: None,
            user: None,
            password: None,
            database: None,
            keepalive: None,
            is_nodelay: true,
            tells_password: false,
            encryption: Encryption::default(),
            trust: Trust::default(),
            tls: Arc::default(),
        }
    }
}

impl MySqlAddress {
    /// Reads what stands behind `mysql://`: `[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?KEY=VALUE[&…]]`.
    ///
    /// Errors: what is wrong with it. They do not repeat its values.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (who, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = who.split_once(':').unwrap_or((who, ""));
        let (host, port) = host_and_port(host);
        let filled = |text: &str| Some(decoded(text)).filter(|text| !text.is_empty());
        let mut address = Self {
            host: decoded(host),
            port: port.map_or(Ok(PORT), port_of)?,
            user: filled(user),
            password: filled(password),
            database: filled(database),
            ..Self::default()
        };
        let mut mode = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (decoded(key).as_str(), decoded(value)) {
                ("ssl-mode", value) => mode = Some(value),
                (key, value) => address.set(key, &value)?,
            }
        }
        if address.host.is_empty() && address.socket.is_none() {
            return Err("a host is missing".into());
        }
        address.encrypt(mode.as_deref())?;
        Ok(address)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "ssl-ca" => self.trust.roots = Roots::File(PathBuf::from(value)),
            "socket" if cfg!(unix) => self.socket = Some(PathBuf::from(value)),
            "socket" => return Err("this system has no sockets in folders".into()),
            "tcp_keepalive" => {
                let milliseconds = value.parse().map(Duration::from_millis);
                let time = milliseconds.map_err(|_| "tcp_keepalive is not a number of ms")?;
                self.keepalive = Some(time).filter(|time| !time.is_zero());
            }
            "tcp_nodelay" => self.is_nodelay = truth(key, value)?,
            "enable_cleartext_plugin" => self.tells_password = truth(key, value)?,
            "require_ssl" | "verify_ca" | "verify_identity" | "built_in_roots" => {
                return Err(format!("write ssl-mode=… instead of {key}=…"));
            }
            _ => return Err(format!("an option is not among {KEYS}")),
        }
        Ok(())
    }

    /// Takes encryption from `ssl-mode`, once the other options are known.
    ///
    /// Errors: a mode that MySQL does not have, or that contradicts the rest of the URL.
    fn encrypt(&mut self, mode: Option<&str>) -> Result<(), String> {
        let has_authorities = matches!(self.trust.roots, Roots::File(_));
        let mode = mode.map(str::to_ascii_uppercase);
        let (encryption, proof) = match mode.as_deref() {
            // As MySQL: who names an authority wants certificates to be examined.
            None if has_authorities => (Encryption::Always, Proof::Authority),
            None | Some("PREFERRED") => (Encryption::WhereOffered, Proof::None),
            Some("DISABLED") => (Encryption::Never, Proof::None),
            Some("REQUIRED") => (Encryption::Always, Proof::None),
            Some("VERIFY_CA") => (Encryption::Always, Proof::Authority),
            Some("VERIFY_IDENTITY") => (Encryption::Always, Proof::Name),
            Some(_) => {
                let modes = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY";
                return Err(format!("ssl-mode can be {modes}"));
            }
        };
        if has_authorities && proof == Proof::None {
            return Err("ssl-ca needs ssl-mode=VERIFY_CA or VERIFY_IDENTITY".into());
        }
        self.trust.proof = proof;
        self.encryption = match (self.socket.is_some(), encryption) {
            (true, Encryption::Always) => {
                return Err("sessions through a socket are not encrypted".into());
            }
            (true, _) => Encryption::Never,
            (false, encryption) => encryption,
        };
        Ok(())
    }

    /// The password of the URL, or of the environment.
    pub(crate) fn password(&self) -> Option<String> {
        let given = self.password.clone();
        given.or_else(|| std::env::var("MYSQL_PWD").ok())
    }

    /// The state of handshakes.
    ///
    /// Errors: certificates that cannot be read.
    pub(super) fn connector(&self) -> io::Result<Connector> {
        if let Some(made) = self.tls.get() {
            return Ok(made.clone());
        }
        let made = self.trust.connector()?;
        Ok(self.tls.get_or_init(|| made).clone())
    }
}

fn truth(key: &str, value: &str) -> Result<bool, String> {
    let truth = value.parse();
    truth.map_err(|_| format!("{key} can be true and false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(query: &str) -> Result<(Encryption, Proof, Roots), String> {
        let text = format!("u:p%3F@[::1]:7/d?{query}tcp_nodelay=false&tcp_keepalive=1500");
        let address = MySqlAddress::parse(&text)?;
        assert_eq!(address.password.as_deref(), Some("p?"));
        assert_eq!((address.host.as_str(), address.port), ("::1", 7));
        assert_eq!(address.user.as_deref(), Some("u"));
        assert_eq!(address.database.as_deref(), Some("d"));
        assert_eq!(address.keepalive, Some(Duration::from_millis(1500)));
        assert!(!address.is_nodelay && !address.tells_password);
        Ok((
            address.encryption,
            address.trust.proof,
            address.trust.roots.clone(),
        ))
    }

    #[test]
    fn modes_are_those_of_mysql() {
        use Encryption::{Always, Never, WhereOffered};
        let file = || Roots::File("/a b/ca.pem".into());
        for (query, encryption, proof, roots) in [
            ("", WhereOffered, Proof::None, Roots::System),
            ("ssl-mode=DISABLED&", Never, Proof::None, Roots::System),
            (
                "ssl-mode=preferred&",
                WhereOffered,
                Proof::None,
                Roots::System,
            ),
            ("ssl-mode=REQUIRED&", Always, Proof::None, Roots::System),
            (
                "ssl-mode=VERIFY_CA&",
                Always,
                Proof::Authority,
                Roots::System,
            ),
            ("ssl-ca=%2Fa%20b/ca.pem&", Always, Proof::Authority, file()),
            (
                "ssl-ca=/a%20b/ca.pem&ssl-mode=VERIFY_IDENTITY&",
                Always,
                Proof::Name,
                file(),
            ),
        ] {
            assert_eq!(parsed(query), Ok((encryption, proof, roots)), "{query}");
        }
        if cfg!(unix) {
            let (encryption, ..) = parsed("socket=/run/s&").expect("a socket");
            assert_eq!(encryption, Never);
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
            ("tcp_nodelay=1&", "true and false"),
            ("tcp_keepalive=soon&", "tcp_keepalive"),
            ("pool_min=3&", "not among ssl-mode"),
        ] {
            let error = parsed(query).expect_err(query);
            assert!(error.contains(says), "{query}: {error}");
        }
    }

    #[test]
    fn a_host_is_needed_unless_there_is_a_socket() {
        for text in ["", "u:p@", "u@/d", "u@:3306/d"] {
            assert!(MySqlAddress::parse(text).is_err(), "{text}");
        }
        let plain = MySqlAddress::parse("h").expect("a host");
        assert_eq!((plain.host.as_str(), plain.port), ("h", PORT));
        assert_eq!((plain.user, plain.database), (None, None));
    }
}
