//! Encrypted sessions on real servers with certificates of their own.

use std::path::Path;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use sokudo_sql::jdbc::{
    Connection, Driver, Exception, Gives, JdbcAddress, JdbcEncryption, JdbcOutcome, JdbcStatement,
};
use sokudo_sql::{Class, Session, SqlError, Target, Value};
use sokudo_testkit::databases::{DatabaseServer, mariadb, mariadb_with, postgres, postgres_with};

const BOUND: Duration = Duration::from_secs(30);

/// An authority and, signed by it, the certificate and key of a server of this name, in PEM.
fn certificates(name: &str) -> (String, String, String) {
    let mut params = CertificateParams::default();
    let who = format!("authority of {name}");
    params.distinguished_name.push(DnType::CommonName, who);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("an authority");
    let issuer = Issuer::new(params, key);
    let own = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let server = params.signed_by(&own, &issuer).expect("a certificate");
    (authority.pem(), server.pem(), own.serialize_pem())
}

/// Settings of servers whose certificate and key lie beside their data.
const OF_POSTGRES: [&str; 3] = [
    "ssl=on",
    "ssl_cert_file=../own.pem",
    "ssl_key_file=../key.pem",
];
const OF_MARIADB: [&str; 2] = ["ssl-cert=../own.pem", "ssl-key=../key.pem"];

/// The certificate and key of a server that is called `localhost`, and files with authorities for its clients.
struct Certificates {
    certificate: String,
    key: String,
    place: tempfile::TempDir,
    /// The authority that signed the certificate.
    trusted: String,
    /// An authority that did not.
    other: String,
}

impl Certificates {
    fn new() -> Self {
        let (authority, certificate, key) = certificates("localhost");
        let place = tempfile::tempdir().expect("a directory");
        Self {
            certificate,
            key,
            trusted: pem(place.path(), "trusted.pem", &authority),
            other: pem(place.path(), "other.pem", &certificates("elsewhere").0),
            place,
        }
    }

    /// A file without any authority.
    fn none(&self) -> String {
        pem(self.place.path(), "none.pem", "")
    }

    /// Files of the server.
    fn files(&self) -> [(&str, &str); 2] {
        [("own.pem", &self.certificate), ("key.pem", &self.key)]
    }

    /// PostgreSQL with this certificate; `None` where it is not installed.
    fn postgres(&self) -> Option<DatabaseServer> {
        postgres_with(&OF_POSTGRES, &self.files())
    }

    /// The same of MariaDB.
    fn mariadb(&self) -> Option<DatabaseServer> {
        mariadb_with(&OF_MARIADB, &self.files())
    }
}

fn target(server: &DatabaseServer, host: &str, options: &str) -> Target {
    let dsn = server.dsn().replace("127.0.0.1", host);
    let parsed = format!("{dsn}?{options}").parse();
    parsed.expect("a data source name")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    runtime.block_on(work)
}

/// Version that the server reports, asked at this host with these options.
fn version(server: &DatabaseServer, host: &str, options: &str) -> Result<String, SqlError> {
    let target = target(server, host, options);
    block_on(async { Session::connect(&target, BOUND).await?.version().await })
}

fn pem(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

#[test]
fn servers_prove_as_much_as_they_are_asked_to() {
    let certificates = Certificates::new();
    let Some(server) = certificates.postgres() else {
        return;
    };
    let none = certificates.none();
    let Certificates { trusted, other, .. } = &certificates;

    for (host, options, is_encrypted) in [
        ("127.0.0.1", String::new(), true),
        ("127.0.0.1", "sslmode=prefer".into(), true),
        ("127.0.0.1", "sslmode=disable".into(), false),
        ("127.0.0.1", "sslmode=require".into(), true),
        (
            "127.0.0.1",
            format!("sslmode=verify-ca&sslrootcert={trusted}"),
            true,
        ),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={trusted}"),
            true,
        ),
    ] {
        let said =
            version(&server, host, &options).unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(
            said.ends_with(" over TLS"),
            is_encrypted,
            "{options}: {said}"
        );
    }
    for (host, options, why) in [
        (
            "127.0.0.1",
            format!("sslmode=verify-full&sslrootcert={trusted}"),
            "not valid for",
        ),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={other}"),
            "UnknownIssuer",
        ),
        (
            "localhost",
            format!("sslmode=verify-ca&sslrootcert={other}"),
            "UnknownIssuer",
        ),
        // Certificates to trust are looked at, as libpq does.
        (
            "localhost",
            format!("sslmode=require&sslrootcert={other}"),
            "UnknownIssuer",
        ),
        (
            "localhost",
            format!("sslmode=verify-ca&sslrootcert={none}"),
            "sslrootcert",
        ),
        (
            "localhost",
            "sslmode=verify-ca&sslrootcert=/no/such.pem".into(),
            "/no/such.pem",
        ),
        // This system trusts nobody who signed it.
        ("localhost", "sslmode=verify-full".into(), "certificate"),
    ] {
        let error = version(&server, host, &options).expect_err(&options);
        assert!(error.message.contains(why), "{options}: {}", error.message);
        assert_eq!(error.class, Class::Untrusted, "{options}");
    }
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_required() {
    let Some(server) = postgres(&[]) else {
        return;
    };
    let said = version(&server, "127.0.0.1", "").expect("a session");
    assert!(!said.contains("TLS"), "{said}");
    for mode in ["require", "verify-ca", "verify-full"] {
        let root = "sslrootcert=/no/such.pem";
        let error = version(&server, "127.0.0.1", &format!("sslmode={mode}"));
        let error = error.expect_err(mode);
        let classes = [Class::NoTls, Class::Untrusted];
        assert!(classes.contains(&error.class), "{mode}: {error:?}");
        assert!(version(&server, "127.0.0.1", &format!("sslmode={mode}&{root}")).is_err());
    }
}

/// The version of TLS that the server itself has counted for a session; empty without TLS.
fn version_of_tls(server: &DatabaseServer, host: &str, options: &str) -> Result<String, SqlError> {
    let target = target(server, host, options);
    block_on(async {
        let mut session = Session::connect(&target, BOUND).await?;
        let rows = session.rows("show session status like 'Ssl_version'", &[]);
        let row = rows.await?.into_iter().next().expect("a row");
        let is_told = session.version().await?.ends_with(" over TLS");
        let Some(Value::Text(of_server)) = row.into_iter().nth(1) else {
            panic!("a version")
        };
        assert_eq!(is_told, !of_server.is_empty(), "{options}");
        Ok(of_server.into_owned())
    })
}

#[test]
fn mariadb_proves_as_much_as_it_is_asked_to() {
    let certificates = Certificates::new();
    let Some(server) = certificates.mariadb() else {
        return;
    };
    let none = certificates.none();
    let Certificates { trusted, other, .. } = &certificates;

    for (host, options, is_encrypted) in [
        ("127.0.0.1", String::new(), true),
        ("127.0.0.1", "ssl-mode=PREFERRED".into(), true),
        ("127.0.0.1", "ssl-mode=DISABLED".into(), false),
        ("127.0.0.1", "ssl-mode=REQUIRED".into(), true),
        // The name is not examined.
        (
            "127.0.0.1",
            format!("ssl-mode=VERIFY_CA&ssl-ca={trusted}"),
            true,
        ),
        ("127.0.0.1", format!("ssl-ca={trusted}"), true),
        (
            "localhost",
            format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={trusted}"),
            true,
        ),
    ] {
        let said = version_of_tls(&server, host, &options);
        let said = said.unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(
            said.starts_with("TLSv1."),
            is_encrypted,
            "{options}: {said}"
        );
    }
    for (host, options, why) in [
        (
            "127.0.0.1",
            format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={trusted}"),
            "not valid for",
        ),
        (
            "localhost",
            format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={other}"),
            "UnknownIssuer",
        ),
        (
            "localhost",
            format!("ssl-mode=VERIFY_CA&ssl-ca={other}"),
            "UnknownIssuer",
        ),
        (
            "localhost",
            format!("ssl-mode=VERIFY_CA&ssl-ca={none}"),
            "ssl-ca",
        ),
        ("localhost", "ssl-ca=/no/such.pem".into(), "/no/such.pem"),
        // This system trusts nobody who signed it.
        (
            "localhost",
            "ssl-mode=VERIFY_IDENTITY".into(),
            "certificate",
        ),
    ] {
        let error = version_of_tls(&server, host, &options).expect_err(&options);
        assert!(error.message.contains(why), "{options}: {}", error.message);
        assert_eq!(error.class, Class::Untrusted, "{options}");
    }
}

#[test]
fn mariadb_without_tls_is_refused_where_it_is_required() {
    let Some(server) = mariadb() else {
        return;
    };
    let target = target(&server, "127.0.0.1", "");
    let connect = || block_on(async { Session::connect(&target, BOUND).await?.version().await });
    // The second session knows what the first was told.
    for said in [connect(), connect()] {
        let said = said.expect("a session");
        assert!(!said.contains("TLS"), "{said}");
    }
    let certificates = Certificates::new();
    let trusted = &certificates.trusted;
    for options in [
        "ssl-mode=REQUIRED".into(),
        format!("ssl-mode=VERIFY_CA&ssl-ca={trusted}"),
        format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={trusted}"),
    ] {
        let error = version(&server, "127.0.0.1", &options).expect_err(&options);
        assert_eq!(error.class, Class::NoTls, "{options}: {error}");
    }
}

/// Answer to a statement of a JDBC driver's session that is encrypted so.
fn asked_by_jdbc(
    server: &DatabaseServer,
    (driver, sql): (Driver, &str),
    (host, encryption, authorities): (&str, JdbcEncryption, Option<&str>),
) -> Result<String, Exception> {
    let port = server.dsn().rsplit_once(':').expect("a port").1.to_owned();
    let port = port.split('/').next().expect("a port");
    let place = JdbcAddress {
        driver,
        host: host.into(),
        port: port.parse().expect("a port"),
        database: "bench".into(),
        file: None,
        user: "bench".into(),
        password: String::new(),
        settings: Vec::new(),
        encryption,
        authorities: authorities.map(Into::into),
    };
    block_on(async {
        let mut connection = Connection::connect(&place, BOUND).await?;
        let statement = JdbcStatement {
            sql,
            arguments: None,
            expects: Gives::Rows,
            most_rows: None,
            timeout: None,
        };
        let given = connection.run(&statement).await?;
        let Some(JdbcOutcome::Rows(rows)) = given.into_iter().next() else {
            panic!("rows")
        };
        let cell = rows
            .rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().last());
        Ok(cell.flatten().unwrap_or_default())
    })
}

#[test]
fn sessions_of_jdbc_drivers_prove_as_much_as_they_are_asked_to() {
    use JdbcEncryption::{Always, Authority, Name, Never, WhereOffered};
    let certificates = Certificates::new();
    let trusted = Some(certificates.trusted.as_str());
    let other = Some(certificates.other.as_str());
    let servers = [
        (
            certificates.postgres(),
            Driver::Postgres,
            "select coalesce(version, '') from pg_stat_ssl where pid = pg_backend_pid()",
        ),
        (
            certificates.mariadb(),
            Driver::MariaDb,
            "show session status like 'Ssl_version'",
        ),
    ];
    for (server, driver, sql) in servers {
        let Some(server) = server else { continue };
        let ask = |of| asked_by_jdbc(&server, (driver, sql), of);
        for (host, encryption, authorities, is_encrypted) in [
            ("127.0.0.1", Never, None, false),
            ("127.0.0.1", WhereOffered, None, true),
            ("127.0.0.1", Always, None, true),
            ("127.0.0.1", Authority, trusted, true),
            ("localhost", Name, trusted, true),
        ] {
            let said = ask((host, encryption, authorities)).expect("a session");
            assert_eq!(
                said.starts_with("TLSv1"),
                is_encrypted,
                "{encryption:?}: {said}"
            );
        }
        for of in [
            ("127.0.0.1", Name, trusted),
            ("localhost", Name, other),
            ("localhost", Authority, other),
        ] {
            let thrown = ask(of).expect_err("a certificate that is not trusted");
            assert!(thrown.is_lost, "{thrown:?}");
        }
    }
}
