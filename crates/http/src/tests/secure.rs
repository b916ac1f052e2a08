//! Tests of TLS: which certificates are trusted, and how each reason for refusing one is reported.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::Route;

/// A server with a certificate, which is its own authority. Returns its port and the authority.
fn tls_server(change: impl FnOnce(&mut CertificateParams)) -> (SocketAddr, Vec<u8>) {
    tls_server_of(&[], change, |mut stream| {
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
    })
}

/// A connection of such a server.
pub(super) type Secured = StreamOwned<ServerConnection, TcpStream>;

/// The same for a server that agrees on these protocols, and does this with each connection.
pub(super) fn tls_server_of(
    protocols: &[&[u8]],
    change: impl FnOnce(&mut CertificateParams),
    serve: impl Fn(Secured) + Send + Sync + 'static,
) -> (SocketAddr, Vec<u8>) {
    let mut params = CertificateParams::new(vec!["localhost".into()]).expect("a name");
    change(&mut params);
    let pair = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&pair).expect("a certificate");
    let key = PrivatePkcs8KeyDer::from(pair.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            let chain = vec![certificate.der().clone()];
            builder
                .with_no_client_auth()
                .with_single_cert(chain, key.into())
        })
        .expect("a server");
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let config = Arc::new(config);
    let address = server(move |stream, _| {
        let tls = ServerConnection::new(Arc::clone(&config)).expect("a connection");
        serve(StreamOwned::new(tls, stream));
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

fn kind(seen: &[Seen]) -> Option<(Phase, FailureKind)> {
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
        Some((Phase::Tls, FailureKind::CertificateUntrusted))
    );
    let other = ask_over_tls("127.0.0.1", address.port(), own(authority));
    assert_eq!(
        kind(&other),
        Some((Phase::Tls, FailureKind::CertificateWrongName))
    );
    let (address, authority) = tls_server(|params| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    });
    let expired = ask_over_tls("localhost", address.port(), own(authority));
    assert_eq!(
        kind(&expired),
        Some((Phase::Tls, FailureKind::CertificateExpired))
    );
    let (address, authority) = tls_server(|params| {
        params.not_before = rcgen::date_time_ymd(2400, 1, 1);
        params.not_after = rcgen::date_time_ymd(2500, 1, 1);
    });
    let early = ask_over_tls("localhost", address.port(), own(authority));
    assert_eq!(
        kind(&early),
        Some((Phase::Tls, FailureKind::CertificateNotYetValid))
    );
}

#[test]
fn a_server_without_tls_is_told() {
    let plain = server(|mut stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let seen = ask_over_tls("127.0.0.1", plain.port(), Trust::Anyone);
    assert_eq!(
        kind(&seen),
        Some((Phase::Tls, FailureKind::NotTls)),
        "{seen:?}"
    );
}

#[test]
fn a_server_that_refuses_tls_is_told_with_its_reason() {
    // `handshake_failure`, RFC 8446, 6.
    let refusing = server(|mut stream, _| {
        let _ = stream.write_all(&[0x15, 3, 3, 0, 2, 2, 40]);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let seen = ask_over_tls("127.0.0.1", refusing.port(), Trust::Anyone);
    assert_eq!(kind(&seen), Some((Phase::Tls, FailureKind::TlsAlert(40))));
}

/// A proxy that opens tunnels to this server, or refuses.
fn proxy_to(far: SocketAddr, asked: Arc<Mutex<Vec<String>>>, gives: bool) -> SocketAddr {
    server(move |mut stream, _| {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
            head.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        asked.lock().expect("no test panics with it").push(text);
        if !gives {
            let _ = stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
            return;
        }
        let mut beyond = TcpStream::connect(far).expect("the far end listens");
        let _ = stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n");
        let mut from = stream.try_clone().expect("a socket");
        let mut to = beyond.try_clone().expect("a socket");
        thread::spawn(move || std::io::copy(&mut from, &mut to));
        let _ = std::io::copy(&mut beyond, &mut stream);
    })
}

fn ask_through(proxy: SocketAddr) -> Vec<Seen> {
    let targets = Targets::new();
    let via = Via {
        host: "127.0.0.1".into(),
        port: proxy.port(),
        authorization: "Basic YTpi".into(),
    };
    let mut user = asker(&targets, Scheme::Https, "far.example", 443, 2);
    user.exchange.target = targets.intern_by(
        Scheme::Https,
        ("far.example", 443),
        Some(&via),
        &Route::default(),
    );
    let config = Config {
        trust: Trust::Anyone,
        ..Config::default()
    };
    ask(&config, targets, user)
}

#[test]
fn a_proxy_gives_a_tunnel_that_is_kept() {
    let (far, _) = tls_server(|_| {});
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = ask_through(proxy_to(far, Arc::clone(&asked), true));
    assert_eq!(kind(&seen), None, "{seen:?}");
    assert!(seen[1].reused && seen.iter().all(|seen| seen.body == "ok"));
    let asked = asked.lock().expect("no test panics with it");
    assert_eq!(
        *asked,
        [
            "CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\nProxy-Authorization: Basic YTpi\r\n\r\n"
        ]
    );
}

#[test]
fn a_proxy_that_refuses_is_told() {
    let (far, _) = tls_server(|_| {});
    let seen = ask_through(proxy_to(far, Arc::default(), false));
    assert_eq!(
        kind(&seen),
        Some((Phase::Connect, FailureKind::ProxyRefused))
    );
}
