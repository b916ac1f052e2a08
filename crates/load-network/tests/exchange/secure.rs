//! Tests of secure connections that fail: the result names the cause.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_net::stream::{Endpoint, Listener, StreamKind, StreamOptions};
use sokudo_net::tls::{Identity, PublicKey};

use super::far_end::{self, FarEnd, until_it_hangs_up};
use super::play::{crr, rr};

/// An end that really speaks TLS and owns `identity`.
fn secure_end(identity: &Identity) -> SocketAddr {
    let options = StreamOptions {
        identity: Some(identity.clone()),
        ..StreamOptions::default()
    };
    let any = Endpoint::Ip("127.0.0.1:0".parse().expect("an address"));
    let listener = Listener::bind(StreamKind::Tls, &any, &options).expect("a port");
    let Ok(Endpoint::Ip(address)) = listener.local() else {
        panic!("a TLS listener has an address");
    };
    std::thread::spawn(move || {
        while let Ok(incoming) = listener.accept(Duration::from_secs(60)) {
            // The handshake fails when the other side does not believe this one.
            let _ = incoming.map(|incoming| incoming.establish(Duration::from_secs(5)));
        }
    });
    address
}

fn some_key() -> PublicKey {
    let identity = Identity::ephemeral("expected").expect("an identity");
    identity.public_key().clone()
}

/// Fails unless `rr` and `crr` refuse to begin, both for the reason `says`.
#[track_caller]
fn check(far_end: SocketAddr, key: &PublicKey, says: &str) {
    let fields = r#""transport":"tls","count":"1""#;
    for plan in [rr(fields), crr(fields)] {
        let refusal = plan.try_against(far_end, Some(key)).err();
        let told = english(&refusal.expect("a refusal").says);
        assert!(told.contains(says), "{told}");
    }
}

#[test]
fn another_key_than_the_expected_one_is_named() {
    let impostor = Identity::ephemeral("impostor").expect("an identity");
    let says = "does not belong to the expected key";
    check(secure_end(&impostor), &some_key(), says);
}

#[test]
fn an_offer_without_a_key_is_refused_before_the_first_call() {
    let identity = Identity::ephemeral("far end").expect("an identity");
    for plan in [
        rr(r#""transport":"tls","count":"1""#),
        crr(r#""transport":"tls","rate":"10/s","duration":"300ms""#),
    ] {
        let refusal = plan.try_against(secure_end(&identity), None);
        let says = refusal.err().expect("a refusal").says;
        assert_eq!(
            english(&says),
            "host1 offered no public key for the connection of flow 0"
        );
    }
}

#[test]
fn plain_text_on_a_secure_port_is_named() {
    let plain: FarEnd = far_end::streams(|caller, _| {
        let _ = caller.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        until_it_hangs_up(caller);
    });
    check(plain.address, &some_key(), "does not speak TLS");
}

#[test]
fn a_handshake_that_stands_still_is_named_in_time() {
    let silent = far_end::streams(|caller, _| until_it_hangs_up(caller));
    let says = "no answer within the time allowed";
    check(silent.address, &some_key(), says);
}

#[test]
fn a_far_end_that_hangs_up_in_the_handshake_is_named() {
    let gone = far_end::streams(|_, _| ());
    let says = "the other side closed the connection";
    check(gone.address, &some_key(), says);
}

#[test]
fn a_secure_end_takes_no_harm_from_plain_text() {
    // The stranger is there before and while the own connections come.
    let far_end = Identity::ephemeral("far end").expect("an identity");
    let address = secure_end(&far_end);
    let mut stranger = TcpStream::connect(address).expect("the port is open");
    stranger
        .write_all(b"GET / HTTP/1.1\r\n\r\n")
        .expect("it listens");
    let played = crr(r#""transport":"tls","count":"20""#).play();
    assert_eq!(played.get("crr.connections"), 20.0, "{}", played.error());
}
