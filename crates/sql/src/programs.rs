//! Access to a database for programs that come with its server, such as `pg_dump` and `mariadb-dump`.
//!
//! They take the way that sessions take: the same host, the same user, encryption as far. Passwords and
//! certificates are for files that only the programs' user can read; command lines and variables are for anybody
//! who lists processes.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::mysql::MySqlAddress;
use crate::postgres::Host;
use crate::target::{PostgresAddress, ServerAddress, Target};
use crate::tls::{Encryption, Proof, Trust};

/// File of a password for libpq.
const PASSWORDS: &str = "pgpass";
/// File of options for MariaDB's and MySQL's programs.
pub const OPTIONS: &str = "options.cnf";
/// File of certificates to trust.
const AUTHORITIES: &str = "authorities.pem";

/// Access of programs to a database.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Access {
    /// Variables of the environment.
    pub variables: Vec<(&'static str, String)>,
    /// Files for a private folder: name and content, which may be secret.
    pub files: Vec<(&'static str, String)>,
}

/// Access of programs of the target's server, with files in this folder. MariaDB's and MySQL's take [`OPTIONS`]
/// by `--defaults-file`, and encrypt when `is_encrypted` says so of a session.
///
/// Errors: certificates that cannot be read.
pub fn access(target: &Target, folder: &Path, is_encrypted: bool) -> io::Result<Access> {
    match &target.place {
        ServerAddress::Postgres(at) => of_postgres(at, folder),
        ServerAddress::MySql(at) => of_mysql(at, folder, is_encrypted),
        ServerAddress::Sqlite(_) | ServerAddress::DuckDb(_) => Ok(Access::default()),
    }
}

fn of_postgres(at: &PostgresAddress, folder: &Path) -> io::Result<Access> {
    let config = &at.config;
    let mut access = Access::default();
    let mut put = |name, value: String| {
        if !value.is_empty() {
            access.variables.push((name, value));
        }
    };
    put("PGHOST", joined(&config.hosts, host));
    put("PGHOSTADDR", joined(&config.addresses, |it| it.to_string()));
    put("PGPORT", joined(&config.ports, |it| it.to_string()));
    put("PGUSER", config.user.clone().unwrap_or_default());
    put("PGDATABASE", config.database.clone().unwrap_or_default());
    put("PGOPTIONS", config.options.clone().unwrap_or_default());
    put(
        "PGSSLMODE",
        ssl_mode(config.encryption, config.trust.proof).into(),
    );
    if let Some(pem) = examined(&config.trust)? {
        let path = folder.join(AUTHORITIES);
        put("PGSSLROOTCERT", path.display().to_string());
        access.files.push((AUTHORITIES, pem));
    }
    if let Some(password) = at.password() {
        let path = folder.join(PASSWORDS);
        access
            .variables
            .push(("PGPASSFILE", path.display().to_string()));
        access.files.push((PASSWORDS, password_line(&password)));
    }
    Ok(access)
}

fn of_mysql(at: &MySqlAddress, folder: &Path, is_encrypted: bool) -> io::Result<Access> {
    let mut text = String::from("[client]\n");
    let mut put = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}={}", quoted(value));
    };
    match &at.socket {
        Some(socket) => put("socket", &socket.to_string_lossy()),
        None => {
            put("protocol", "TCP");
            put("host", &at.host);
            put("port", &at.port.to_string());
        }
    }
    if let Some(user) = &at.user {
        put("user", user);
    }
    if let Some(password) = at.password() {
        put("password", &password);
    }
    put("default-character-set", "utf8mb4");
    // Each of the two families of programs has options of its own, and passes over the loose ones of the other.
    // MariaDB's do not examine a certificate without its name, and so examine both.
    let mode = match (is_encrypted, at.trust.proof) {
        (false, _) => "DISABLED",
        (true, Proof::None) => "REQUIRED",
        (true, Proof::Authority) => "VERIFY_CA",
        (true, Proof::Name) => "VERIFY_IDENTITY",
    };
    let examines = is_encrypted && at.trust.proof != Proof::None;
    put("loose-ssl-mode", mode);
    put("loose-ssl", if is_encrypted { "1" } else { "0" });
    put(
        "loose-ssl-verify-server-cert",
        if examines { "1" } else { "0" },
    );
    let pem = examined(&at.trust)?.filter(|_| is_encrypted);
    if pem.is_some() {
        put("ssl-ca", &folder.join(AUTHORITIES).display().to_string());
    }
    text.push_str(OF_DUMP);
    let mut files = vec![(OPTIONS, text)];
    files.extend(pem.map(|pem| (AUTHORITIES, pem)));
    Ok(Access {
        variables: Vec::new(),
        files,
    })
}

/// Options of MySQL's `mysqldump` only: it asks MariaDB for statistics that are not there, and writes replication
/// into the dump, which takes more rights to restore.
const OF_DUMP: &str = "[mysqldump]\nloose-column-statistics=0\nloose-set-gtid-purged=OFF\n";

fn joined<T>(all: &[T], text: impl Fn(&T) -> String) -> String {
    let all: Vec<String> = all.iter().map(text).collect();
    all.join(",")
}

fn host(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Socket(path) => path.display().to_string(),
    }
}

fn ssl_mode(mode: Encryption, proof: Proof) -> &'static str {
    match (mode, proof) {
        (Encryption::Never, _) => "disable",
        (Encryption::WhereOffered, _) => "prefer",
        (_, Proof::None) => "require",
        (_, Proof::Authority) => "verify-ca",
        (_, Proof::Name) => "verify-full",
    }
}

/// Certificates to trust in PEM; `None` where none is examined.
fn examined(trust: &Trust) -> io::Result<Option<String>> {
    if trust.proof == Proof::None {
        return Ok(None);
    }
    let mut pem = String::new();
    for one in trust.certificates()? {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        for line in BASE64.encode(&one).as_bytes().chunks(64) {
            pem.extend(line.iter().copied().map(char::from));
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    Ok(Some(pem))
}

/// A password for any server, database and user, in the form of libpq's password file.
fn password_line(password: &str) -> String {
    let escaped = password.replace('\\', "\\\\").replace(':', "\\:");
    format!("*:*:*:*:{escaped}\n")
}

/// A value of an option file, in which `#` and quotes mean something outside of quotes.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for char in value.chars() {
        match char {
            '"' | '\\' => text.extend(['\\', char]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            char => text.push(char),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dsn: &str, is_encrypted: bool) -> Access {
        let target: Target = dsn.parse().expect(dsn);
        access(&target, Path::new("/private"), is_encrypted).expect(dsn)
    }

    fn variable<'a>(access: &'a Access, name: &str) -> Option<&'a str> {
        let mut all = access.variables.iter();
        let found = all.find(|(key, _)| *key == name);
        found.map(|(_, value)| value.as_str())
    }

    #[test]
    fn libpq_gets_the_same_way_and_its_password_in_a_file() {
        let access = of(
            "postgres://u:ge%3Aheim@db.example:5433/bench?sslmode=require&options=-csearch_path%3Da",
            true,
        );
        for (name, value) in [
            ("PGHOST", Some("db.example")),
            ("PGPORT", Some("5433")),
            ("PGUSER", Some("u")),
            ("PGDATABASE", Some("bench")),
            ("PGOPTIONS", Some("-csearch_path=a")),
            ("PGSSLMODE", Some("require")),
            ("PGSSLROOTCERT", None),
            ("PGPASSFILE", Some("/private/pgpass")),
        ] {
            assert_eq!(variable(&access, name), value, "{name}");
        }
        assert_eq!(access.files, [(PASSWORDS, "*:*:*:*:ge\\:heim\n".into())]);
        let shown = format!("{:?}", access.variables);
        assert!(!shown.contains("heim"), "{shown}");
        let socket = of("host=/run/pg user=u dbname=d sslmode=disable", false);
        assert_eq!(variable(&socket, "PGHOST"), Some("/run/pg"));
        assert_eq!(variable(&socket, "PGSSLMODE"), Some("disable"));
    }

    #[test]
    fn option_files_hold_any_password() {
        assert_eq!(quoted("a\"b#c'd\\e\n"), "\"a\\\"b#c'd\\\\e\\n\"");
        let access = of("mysql://u:ge%22%23heim@h:3307/d", true);
        let (name, text) = access.files.first().expect("a file");
        assert_eq!(*name, OPTIONS);
        for line in [
            "host=\"h\"",
            "port=\"3307\"",
            "user=\"u\"",
            "password=\"ge\\\"#heim\"",
            "loose-ssl-mode=\"REQUIRED\"",
            "loose-ssl-verify-server-cert=\"0\"",
        ] {
            assert!(text.lines().any(|has| has == line), "{line}: {text}");
        }
        let plain = of("mysql://u@h/d?socket=/run/s", false).files;
        let text = &plain.first().expect("a file").1;
        assert!(text.contains("socket=\"/run/s\"\n"), "{text}");
        assert!(text.contains("loose-ssl-mode=\"DISABLED\"\n"), "{text}");
        assert!(!text.contains("password"), "{text}");
    }
}
