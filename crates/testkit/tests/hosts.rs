//! Tests that the rate limits between virtual hosts hold.

use std::net::UdpSocket;
use std::time::Duration;

use sokudo_testkit::hosts::{Hosts, Tbf};

const BOUND: Duration = Duration::from_secs(30);

/// Small enough that most of a burst finds the queue full.
const NARROW: Tbf = Tbf {
    rate_bits_per_s: 1_000_000,
    burst_bytes: 3_000,
    limit_bytes: 6_000,
};

#[test]
fn a_limited_path_drops_what_neither_host_counts() {
    let Some(hosts) = Hosts::new(2) else { return };
    if let Err(e) = hosts.limit_path_to(1, NARROW) {
        sokudo_testkit::skip(e);
        return;
    }
    let address = hosts.address(1);
    let receiver = hosts.run_in(1, move || UdpSocket::bind((address, 0)).expect("bind"));
    let to = receiver.local_addr().expect("address");
    let refused = hosts.run_in(0, move || {
        let sender = UdpSocket::bind("0.0.0.0:0").expect("bind");
        (0..100)
            .filter(|_| sender.send_to(&[0; 1_000], to).is_err())
            .count()
    });
    assert_eq!(refused, 0, "the sender must not feel it");
    receiver.set_read_timeout(Some(BOUND)).expect("set bound");
    receiver.recv(&mut [0; 1_500]).expect("receive the first");
    // What fits into the queue leaves it within 0.1 s; after a second, nothing more comes.
    let quiet = Some(Duration::from_secs(1));
    receiver.set_read_timeout(quiet).expect("set bound");
    let mut arrived = 1;
    while receiver.recv(&mut [0; 1_500]).is_ok() {
        arrived += 1;
    }
    assert!(arrived < 60, "{arrived} of 100 arrived");
}

#[test]
fn a_limited_sender_still_reaches_the_other_host() {
    let Some(hosts) = Hosts::with_mtu(2, Some(9_000)) else {
        return;
    };
    let wide = Tbf {
        rate_bits_per_s: 1_000_000_000,
        burst_bytes: 100_000,
        limit_bytes: 1_000_000,
    };
    if let Err(e) = hosts.limit_sending(0, wide) {
        sokudo_testkit::skip(e);
        return;
    }
    let address = hosts.address(1);
    let receiver = hosts.run_in(1, move || UdpSocket::bind((address, 0)).expect("bind"));
    receiver.set_read_timeout(Some(BOUND)).expect("set bound");
    let to = receiver.local_addr().expect("address");
    hosts.run_in(0, move || {
        let sender = UdpSocket::bind("0.0.0.0:0").expect("bind");
        sender.send_to(&[1; 8_900], to).expect("send");
    });
    assert_eq!(receiver.recv(&mut [0; 9_000]).expect("receive"), 8_900);
}
