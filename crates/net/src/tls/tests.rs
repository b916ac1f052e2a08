//! Tests of pinned keys, of independent reader and writer halves, and of detecting a closed
//! connection.

use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::identity::{common_name, pkcs8_of, provider};
use super::*;

const BOUND: Duration = Duration::from_secs(30);

fn deadline() -> Instant {
    Instant::now() + BOUND
}

/// Both ends of a handshake on loopback.
fn meet(me: &Identity, trust: &Trust) -> (Result<Session, TlsError>, Result<Session, TlsError>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let calling = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (called, _) = listener.accept().unwrap();
    thread::scope(|scope| {
        let server = scope.spawn(|| accept(called, me, deadline()));
        let client = connect(calling, trust, deadline());
        (server.join().unwrap(), client)
    })
}

fn pinned(seed: u8) -> Trust {
    Trust::Pinned(PublicKey::from_seed(&[seed; 32]).unwrap())
}

#[test]
fn both_ends_know_the_same_secret_and_no_other_connection_does() {
    let me = Identity::from_seed(&[1; 32], "me").unwrap();
    let channels: Vec<_> = (0..2)
        .map(|_| {
            let (server, client) = meet(&me, &pinned(1));
            let own = client.unwrap().export(b"label").unwrap();
            assert_eq!(server.unwrap().export(b"label").unwrap(), own);
            own
        })
        .collect();
    assert_ne!(channels[0], channels[1]);
}

#[test]
fn another_key_is_refused_and_its_certificates_name_told() {
    let me = Identity::from_seed(&[2; 32], "sokudo key 0123").unwrap();
    let (server, client) = meet(&me, &pinned(1));
    let Err(TlsError::NotPinned { name }) = client else {
        panic!("{client:?}");
    };
    assert_eq!(name.as_deref(), Some("sokudo key 0123"));
    assert!(matches!(server, Err(TlsError::Alert(_))), "{server:?}");
}

/// The certificate is public: a peer that presents a copy must still prove that it holds the key.
#[test]
fn a_copied_certificate_is_refused() {
    #[derive(Debug)]
    struct Copied(Arc<CertifiedKey>);
    impl ResolvesServerCert for Copied {
        fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }
    let genuine = PrivatePkcs8KeyDer::from(pkcs8_of(&[1; 32]));
    let pair = rcgen::KeyPair::try_from(&genuine).unwrap();
    let params = rcgen::CertificateParams::default();
    let copy = params.self_signed(&pair).unwrap().der().clone();
    let own = PrivatePkcs8KeyDer::from(pkcs8_of(&[2; 32]));
    let own = rustls::crypto::ring::sign::any_eddsa_type(&own).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Copied(Arc::new(CertifiedKey::new(
            vec![copy],
            own,
        )))));
    config.alpn_protocols = vec![ALPN.to_vec()];
    let impostor = Identity {
        config: Arc::new(config),
        public: PublicKey::from_seed(&[1; 32]).unwrap(),
    };
    for trust in [pinned(1), Trust::Anyone] {
        let (_, client) = meet(&impostor, &trust);
        let refused = client.unwrap_err().to_string();
        assert!(refused.contains("BadSignature"), "{refused}");
    }
}

#[test]
fn large_messages_pass_in_both_directions_at_once() {
    let me = Identity::ephemeral("me").unwrap();
    let (server, client) = meet(&me, &Trust::Anyone);
    let large: Vec<u8> = (0..3_000_000u32).map(|n| n as u8).collect();
    let exchange = |session: Session, expected: &[u8]| {
        let Session { mut reader, writer } = session;
        thread::scope(|scope| {
            scope.spawn(|| writer.send(&large, BOUND).unwrap());
            let mut received = Vec::new();
            while received.len() < expected.len() {
                let found = reader.read(&mut received, BOUND).unwrap();
                assert!(matches!(found, Received::Bytes(_)), "{found:?}");
            }
            assert!(received == expected);
        });
        writer
    };
    let (server, client) = (server.unwrap(), client.unwrap());
    thread::scope(|scope| {
        let one = scope.spawn(|| exchange(server, &large));
        let other = exchange(client, &large);
        drop((one.join().unwrap(), other));
    });
}

#[test]
fn what_does_not_fit_a_slice_comes_with_the_next_one() {
    let me = Identity::ephemeral("me").unwrap();
    let (server, client) = meet(&me, &Trust::Anyone);
    let (mut server, client) = (server.unwrap(), client.unwrap());
    let large: Vec<u8> = (0..1_000_000u32).map(|n| (n % 251) as u8).collect();
    thread::scope(|scope| {
        scope.spawn(|| client.writer.send(&large, BOUND).unwrap());
        let mut received = Vec::new();
        // As a head, a part of a body and a body are read.
        for size in [1, 32, 20_000, 100_000].into_iter().cycle() {
            let mut out = vec![0; size.min(large.len() - received.len())];
            match server.reader.read_slice(&mut out, BOUND).unwrap() {
                Received::Bytes(n) => received.extend_from_slice(&out[..n]),
                other => panic!("{other:?} after {} bytes", received.len()),
            }
            assert!(large.starts_with(&received), "{} bytes", received.len());
            if received.len() == large.len() {
                break;
            }
        }
        assert_eq!(server.reader.buffered(), 0);
    });
}

#[test]
fn closing_wakes_the_own_reader_and_tells_the_other() {
    let me = Identity::ephemeral("me").unwrap();
    let (server, client) = meet(&me, &Trust::Anyone);
    let (mut server, mut client) = (server.unwrap(), client.unwrap());
    let writer = client.writer.clone();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| client.reader.read(&mut Vec::new(), BOUND));
        writer.close();
        assert_eq!(waiting.join().unwrap().unwrap(), Received::End);
    });
    let told = server.reader.read(&mut Vec::new(), BOUND).unwrap();
    assert_eq!(told, Received::End);
    assert!(matches!(writer.send(b"late", BOUND), Err(TlsError::Closed)));
}

#[test]
fn a_name_is_found_in_no_broken_certificate() {
    let check = |bytes: &[u8], expected: Option<&str>| {
        assert_eq!(common_name(bytes).as_deref(), expected);
    };
    check(&[], None);
    check(&[6, 3, 0x55, 4, 3], None);
    check(&[6, 3, 0x55, 4, 3, 12, 3, b'a', b'b'], None);
    check(&[6, 3, 0x55, 4, 3, 12, 2, b'a', b'b'], Some("ab"));
    check(&[6, 3, 0x55, 4, 3, 12, 2, b'a', 27], None);
    check(&[6, 3, 0x55, 4, 3, 12, 1, 0xff], None);
}
