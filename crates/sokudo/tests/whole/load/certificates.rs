//! Servers that demand a certificate of those who come.

use std::fs;
use std::net::SocketAddr;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use super::far::{demanding_far, get, plan, says};
use crate::vocabulary::{place, summary};

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
    let by_name = r#"<Arguments testclass="Arguments" testname="v"><collectionProp name="Arguments.arguments"><elementProp name="who" elementType="Argument"><stringProp name="Argument.name">who</stringProp><stringProp name="Argument.value">NAME</stringProp></elementProp></collectionProp></Arguments><hashTree/><KeystoreConfig testclass="KeystoreConfig" testname="k"><stringProp name="clientCertAliasVarName">who</stringProp></KeystoreConfig><hashTree/>"#;
    for (file, name) in [("bob.jmx", "bob"), ("carol.jmx", "carol")] {
        let content = by_name.replace("NAME", name) + &get_secured(far.address);
        place.write(file, &plan(1, 1, &content));
    }
    let store = "-Djavax.net.ssl.keyStore=clients.pem -Djavax.net.ssl.keyStorePassword=secret77";
    let ended = place.run(&format!("load plan.jmx --insecure --json {store}"));
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
    let ended = place.run(&format!("load bob.jmx --insecure --json {store}"));
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("http.status_2xx"), 1.0);
    for (run, rows) in [("plan.jmx", 4), ("bob.jmx", 1), ("carol.jmx", 1)] {
        let with = if run == "carol.jmx" { store } else { "" };
        let _ = fs::remove_file(place.path().join("out.jtl"));
        let ended = place.run(&format!("load {run} -l out.jtl --insecure --json {with}"));
        assert_eq!(summary(&ended).number("http.errors"), f64::from(rows));
        let seen = fs::read_to_string(place.path().join("out.jtl")).expect("rows");
        assert!(
            seen.contains("javax.net.ssl.SSLHandshakeException"),
            "{seen}"
        );
    }
}

#[test]
fn a_store_in_another_format_is_refused_with_the_command_that_mends_it() {
    let place = place();
    let address = "127.0.0.1:1".parse().expect("an address");
    place.write("plan.jmx", &plan(1, 1, &get_secured(address)));
    for (magic, hint) in [
        (&b"\x30\x82\x01"[..], "openssl pkcs12 -in"),
        (b"\xfe\xed\xfe\xed", "keytool -importkeystore"),
        (b"nothing", "-nodes"),
    ] {
        fs::write(place.path().join("clients.p12"), magic).expect("written");
        let ended = place.run("load plan.jmx -Djavax.net.ssl.keyStore=clients.p12");
        ended.expect_code(2).expect_stderr(hint);
    }
}
