//! TLS: who is believed, and how each reason not to is told.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// A server with a certificate, which is its own authority. Returns its port and the authority.
fn tls_server(change: impl FnOnce(&mut CertificateParams)) -> (SocketAddr, Vec<u8>) {
    let mut params = CertificateParams::new(vec!["localhost".into()]).expect("a name");
    change(&mut params);
    let pair = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&pair).expect("a certificate");
    let key = PrivatePkcs8KeyDer::from(pair.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            let chain = vec![certificate.der().clone()];
            builder
                .with_no_client_auth()
                .with_single_cert(chain, key.into())
        })
        .expect("a server");
    let config = Arc::new(config);
    let address = server(move |stream, _| {
        let tls = ServerConnection::new(Arc::clone(&config)).expect("a connection");
        let mut stream = StreamOwned::new(tls, stream);
        let mut request = Vec::new();
        let mut byte = [0];
        while let Ok(1) = stream.read(&mut byte) {
            request.push(byte[0]);
            if request.ends_with(b"\r\n\r\n") {
                request.clear();
                if stream.write_all(OK.as_bytes()).is_err() {
                    return;
                }
            }
        }
    });
    (address, certificate.der().to_vec())
}

fn ask_over_tls(host: &str, port: u16, trust: Trust) -> Vec<Seen> {
    let targets = Targets::new();
    let user = asker(&targets, Scheme::Https, host, port, 2);
    let config = Config {
        trust,
        ..Config::default()
    };
    ask(&config, targets, user)
}

fn kind(seen: &[Seen]) -> Option<(Phase, Kind)> {
    let failure = seen[0].failure?;
    Some((failure.phase, failure.kind))
}

#[test]
fn a_believed_server_answers() {
    let (address, authority) = tls_server(|_| {});
    let trust = Trust::Authorities(vec![authority]);
    let seen = ask_over_tls("localhost", address.port(), trust);
    assert_eq!(kind(&seen), None, "{seen:?}");
    assert!(seen[1].reused && seen.iter().all(|seen| seen.body == "ok"));
    let seen = ask_over_tls("127.0.0.1", address.port(), Trust::Anyone);
    assert_eq!(kind(&seen), None, "{seen:?}");
}

#[test]
fn certificates_fail_for_a_reason() {
    let (address, authority) = tls_server(|_| {});
    let (_, stranger) = tls_server(|params| {
        let name = rcgen::DnType::CommonName;
        params.distinguished_name.push(name, "somebody else");
    });
    let own = |authority| Trust::Authorities(vec![authority]);
    let untrusted = ask_over_tls("localhost", address.port(), own(stranger));
    assert_eq!(
        kind(&untrusted),
        Some((Phase::Tls, Kind::CertificateUntrusted))
    );
    let other = ask_over_tls("127.0.0.1", address.port(), own(authority));
    assert_eq!(kind(&other), Some((Phase::Tls, Kind::CertificateWrongName)));
    let (address, authority) = tls_server(|params| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    });
    let expired = ask_over_tls("localhost", address.port(), own(authority));
    assert_eq!(kind(&expired), Some((Phase::Tls, Kind::CertificateExpired)));
    let (address, authority) = tls_server(|params| {
        params.not_before = rcgen::date_time_ymd(2400, 1, 1);
        params.not_after = rcgen::date_time_ymd(2500, 1, 1);
    });
    let early = ask_over_tls("localhost", address.port(), own(authority));
    assert_eq!(
        kind(&early),
        Some((Phase::Tls, Kind::CertificateNotYetValid))
    );
}

#[test]
fn a_server_without_tls_is_told() {
    let plain = server(|mut stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let seen = ask_over_tls("127.0.0.1", plain.port(), Trust::Anyone);
    assert!(matches!(kind(&seen), Some((Phase::Tls, _))), "{seen:?}");
}
