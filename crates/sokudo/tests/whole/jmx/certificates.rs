//! Servers that demand a certificate of those who come.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use super::far::{demanding_far, get, plan, says};
use crate::vocabulary::{Place, place, summary};

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// An authority (DER), and the certificates of these names that it vouches for, with keys (PEM).
fn store(names: &[&str]) -> (Vec<u8>, String) {
    let mut authority = named("authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let root = authority.self_signed(&key).expect("a certificate");
    let issuer = Issuer::from_params(&authority, &key);
    let entries = names.iter().map(|name| {
        let key = KeyPair::generate().expect("a key");
        let own = named(name).signed_by(&key, &issuer).expect("signed");
        own.pem() + &key.serialize_pem()
    });
    (root.der().to_vec(), entries.collect())
}

/// A GET over TLS.
fn get_secured(address: SocketAddr) -> String {
    get(address, "/a", "").replacen(
        "<stringProp",
        "<stringProp name=\"HTTPSampler.protocol\">https</stringProp><stringProp",
        1,
    )
}

#[test]
fn a_server_that_demands_a_certificate_gets_one() {
    let place = place();
    let (authority, pem) = store(&["alice", "bob"]);
    let far = demanding_far(&authority, |_, _| says(200, "ok"));
    place.write("clients.pem", &pem);
    place.write("plan.jmx", &plan(2, 2, &get_secured(far.address)));
    for (file, name) in [("bob.jmx", "bob"), ("carol.jmx", "carol")] {
        place.write(file, &plan_of(far.address, name));
    }
    let store = "-Djavax.net.ssl.keyStore=clients.pem -Djavax.net.ssl.keyStorePassword=secret77";
    let ended = place.run(&format!("jmx run plan.jmx --insecure --json {store}"));
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("http.status_2xx"), 4.0);
    assert!(!ended.stdout.contains("secret77"), "{}", ended.stdout);
    let runs = fs::read_dir(place.path().join("runs")).expect("a record");
    let records: Vec<String> = runs
        .map(|run| run.expect("readable").path().join("run.json"))
        .map(|file| fs::read_to_string(file).expect("a record"))
        .collect();
    assert!(records.iter().any(|record| record.contains("(hidden)")));
    assert!(!records.iter().any(|record| record.contains("secret77")));
    let ended = place.run(&format!("jmx run bob.jmx --insecure --json {store}"));
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("http.status_2xx"), 1.0);
    for (run, rows) in [("plan.jmx", 4), ("bob.jmx", 1), ("carol.jmx", 1)] {
        let with = if run == "carol.jmx" { store } else { "" };
        let _ = fs::remove_file(place.path().join("out.jtl"));
        let ended = place.run(&format!(
            "jmx run {run} -l out.jtl --insecure --json {with}"
        ));
        assert_eq!(summary(&ended).number("http.errors"), f64::from(rows));
        let seen = fs::read_to_string(place.path().join("out.jtl")).expect("rows");
        assert!(
            seen.contains("javax.net.ssl.SSLHandshakeException"),
            "{seen}"
        );
    }
}

/// Carries out a command that other people's stores are made with. `None`: it is not installed.
fn made(place: &Place, command: &str) -> Option<()> {
    let mut words = command.split(' ');
    let program = words.next().expect("a program");
    let done = Command::new(program)
        .args(words)
        .current_dir(place.path())
        .output();
    match done {
        Ok(done) if done.status.success() => Some(()),
        Ok(done) => {
            let why = String::from_utf8_lossy(&done.stderr).into_owned()
                + &String::from_utf8_lossy(&done.stdout);
            panic!("`{command}` failed: {why}");
        }
        Err(error) => {
            eprintln!("skipped: `{program}` cannot be run: {error}");
            None
        }
    }
}

/// A plan of one user who shows the certificate of this name, as the value of a variable.
fn plan_of(address: SocketAddr, name: &str) -> String {
    let by_name = r#"<Arguments testclass="Arguments" testname="v"><collectionProp name="Arguments.arguments"><elementProp name="who" elementType="Argument"><stringProp name="Argument.name">who</stringProp><stringProp name="Argument.value">NAME</stringProp></elementProp></collectionProp></Arguments><hashTree/><KeystoreConfig testclass="KeystoreConfig" testname="k"><stringProp name="clientCertAliasVarName">who</stringProp></KeystoreConfig><hashTree/>"#;
    plan(
        1,
        1,
        &(by_name.replace("NAME", name) + &get_secured(address)),
    )
}

#[test]
fn stores_of_other_programs_are_shown_to_servers() {
    let place = place();
    let (authority, pem) = store(&["alice"]);
    let far = demanding_far(&authority, |_, _| says(200, "ok"));
    place.write("alice.pem", &pem);
    place.write("plan.jmx", &plan_of(far.address, "Al"));
    let seal = "openssl pkcs12 -export -in alice.pem -name al -passout pass:secret77";
    let stores = [
        (format!("{seal} -out new.p12"), "new.p12"),
        (
            format!("{seal} -certpbe PBE-SHA1-3DES -keypbe PBE-SHA1-3DES -macalg sha1 -out old.pfx"),
            "old.pfx",
        ),
        (
            "keytool -importkeystore -noprompt -srckeystore new.p12 -srcstorepass secret77 \
             -srcstoretype PKCS12 -deststoretype JKS -deststorepass secret77 -destkeystore java.jks"
                .to_owned(),
            "java.jks",
        ),
        (
            "keytool -importkeystore -noprompt -srckeystore new.p12 -srcstorepass secret77 \
             -srcstoretype PKCS12 -deststoretype PKCS12 -deststorepass secret77 -destkeystore java.p12"
                .to_owned(),
            "java.p12",
        ),
    ];
    for (command, file) in stores {
        if made(&place, &command).is_none() {
            return;
        }
        let password =
            "-Djavax.net.ssl.keyStorePassword=secret77 -Jjavax.net.ssl.keyStorePassword=secret77";
        let ended = place.run(&format!(
            "jmx run plan.jmx --insecure --json -Djavax.net.ssl.keyStore={file} {password}"
        ));
        ended.expect_code(0);
        let answered = summary(&ended).number("http.status_2xx");
        assert!((answered - 1.0).abs() < 0.1, "{file}: {}", ended.stdout);
        assert!(!ended.stdout.contains("secret77") && !ended.stderr.contains("secret77"));
    }
    for run in fs::read_dir(place.path().join("runs")).expect("a record") {
        let file = run.expect("readable").path().join("run.json");
        let record = fs::read_to_string(file).expect("a record");
        assert!(!record.contains("secret77"), "{record}");
    }
}

/// A store with the keys `zeta` and `alpha`, whose password is `secret77`.
const JAVA: &[u8] = include_bytes!("../../../../http/testdata/java.p12");

#[test]
fn a_store_that_cannot_be_used_is_refused_before_the_first_request() {
    let place = place();
    let far = demanding_far(&store(&["alice"]).0, |_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(1, 1, &get_secured(far.address)));
    let config = |first, last| {
        let config = format!(
            r#"<KeystoreConfig testclass="KeystoreConfig" testname="k"><stringProp name="startIndex">{first}</stringProp><stringProp name="endIndex">{last}</stringProp></KeystoreConfig><hashTree/>"#
        );
        plan(1, 1, &(config + &get_secured(far.address)))
    };
    place.write("beyond.jmx", &config("2", ""));
    place.write("turned.jmx", &config("1", "0"));
    for (file, bytes) in [
        ("java.p12", JAVA),
        ("cut.p12", &JAVA[..800]),
        ("java.jceks", b"\xce\xce\xce\xce\x00"),
        ("nothing.p12", b"nothing"),
        (
            "public.pem",
            b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        ),
    ] {
        fs::write(place.path().join(file), bytes).expect("written");
    }
    let password = "-Djavax.net.ssl.keyStorePassword";
    for (run, file, secret, says) in [
        ("plan.jmx", "java.p12", "", "no password was given"),
        (
            "plan.jmx",
            "java.p12",
            "hush99",
            "the password does not decrypt it",
        ),
        ("plan.jmx", "cut.p12", "secret77", "a part of it is damaged"),
        (
            "plan.jmx",
            "java.jceks",
            "secret77",
            "keytool -importkeystore",
        ),
        (
            "plan.jmx",
            "nothing.p12",
            "secret77",
            "none of PKCS#12, JKS and PEM",
        ),
        (
            "plan.jmx",
            "public.pem",
            "secret77",
            "no unencrypted private key",
        ),
        ("plan.jmx", "absent.p12", "secret77", "cannot be read"),
        ("beyond.jmx", "java.p12", "secret77", "beyond.jmx:"),
        (
            "beyond.jmx",
            "java.p12",
            "secret77",
            "2 to 1 of the key store, which holds 2",
        ),
        (
            "turned.jmx",
            "java.p12",
            "secret77",
            "1 to 0 of the key store",
        ),
        (
            "plan.jmx",
            "java.p12",
            "-Djavax.net.ssl.keyStoreType=PKCS11",
            "export them to PKCS#12",
        ),
    ] {
        let secret = match secret {
            "" => String::new(),
            option if option.starts_with("-D") => option.to_owned(),
            secret => format!("{password}={secret}"),
        };
        let ended = place.run(&format!(
            "jmx run {run} --insecure -Djavax.net.ssl.keyStore={file} {secret}"
        ));
        ended.expect_code(2).expect_stderr(says);
        assert!(!ended.stderr.contains("secret77") && !ended.stderr.contains("hush99"));
    }
    assert!(far.asked().is_empty());
    let ended = place.run("jmx run beyond.jmx --insecure");
    ended
        .expect_stderr("beyond.jmx:")
        .expect_stderr("no key store was named");
}
