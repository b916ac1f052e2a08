//! Encrypted sessions on a real PostgreSQL with certificates of its own.

use std::path::Path;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use sokudo_sql::{Session, SqlError, Target};
use sokudo_testkit::databases::{DatabaseServer, postgres, postgres_with};

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

/// What the server says it is, asked at this host with these options.
fn version(server: &DatabaseServer, host: &str, options: &str) -> Result<String, SqlError> {
    let text = format!("postgres://bench@{host}:{}/bench?{options}", server.port);
    let target: Target = text.parse().expect("a data source name");
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    runtime.block_on(async { Session::connect(&target, BOUND).await?.version().await })
}

fn pem(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

#[test]
fn servers_prove_as_much_as_they_are_asked_to() {
    let (authority, certificate, key) = certificates("localhost");
    let settings = [
        "ssl=on",
        "ssl_cert_file=../own.pem",
        "ssl_key_file=../key.pem",
    ];
    let files = [("own.pem", certificate.as_str()), ("key.pem", key.as_str())];
    let Some(server) = postgres_with(&settings, &files) else {
        return;
    };
    let place = tempfile::tempdir().expect("a directory");
    let trusted = pem(place.path(), "trusted.pem", &authority);
    let other = pem(place.path(), "other.pem", &certificates("elsewhere").0);
    let none = pem(place.path(), "none.pem", "");

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
        assert!(
            error.message.contains("TLS") || error.message.contains("certificate"),
            "{}",
            error.message
        );
        assert!(version(&server, "127.0.0.1", &format!("sslmode={mode}&{root}")).is_err());
    }
}
