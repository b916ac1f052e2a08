//! Tests that the relay applies what its script says, in both directions, and no other fault.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use sokudo_testkit::relay::{Counts, Options, Relay, Script};

const BOUND: Duration = Duration::from_secs(30);

fn bound_socket() -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("bind");
    socket.set_read_timeout(Some(BOUND)).expect("set bound");
    socket
}

/// Sends `n` numbered datagrams through the relay and returns the numbers on the first
/// `expected` that arrive.
fn send_through(relay: &Relay, target: &UdpSocket, n: u8, expected: usize) -> Vec<u8> {
    let client = bound_socket();
    for number in 0..n {
        client.send_to(&[number; 8], relay.address()).expect("send");
    }
    let mut bytes = [0; 64];
    let mut receive = || target.recv_from(&mut bytes).map(|_| bytes[0]);
    (0..expected).map(|_| receive().expect("receive")).collect()
}

#[test]
fn the_target_sees_what_the_script_left_and_the_counts_agree() {
    let target = bound_socket();
    let script = Script::new()
        .drop_exactly([3])
        .duplicate([5])
        .hold([7], 2)
        .corrupt([10], 0);
    let relay = Relay::start(script, target.local_addr().expect("address")).expect("start");
    let arrived = send_through(&relay, &target, 12, 12);
    assert_eq!(arrived, [0, 1, 2, 4, 5, 5, 6, 8, 9, 7, !10, 11]);
    let expected = Counts {
        squeezed: 0,
        received: 12,
        numbered: 12,
        forwarded: 12,
        dropped: 1,
        duplicated: 1,
        held: 1,
        corrupted: 1,
        refused: 0,
        overflowed: relay.counts().overflowed.map(|_| 0),
    };
    assert_eq!(relay.counts(), expected);
}

#[test]
fn answers_come_back_to_the_client_through_their_own_script() {
    let target = bound_socket();
    let relay = Relay::with(Options {
        local: Ipv4Addr::LOCALHOST.into(),
        target: target.local_addr().expect("address"),
        forward: Script::new(),
        backward: Script::new().drop_exactly([0]),
    })
    .expect("start");
    let client = bound_socket();
    client.send_to(b"question", relay.address()).expect("send");
    let mut bytes = [0; 64];
    let (_, from) = target.recv_from(&mut bytes).expect("receive");
    target.send_to(b"lost", from).expect("answer");
    target.send_to(b"answer", from).expect("answer");
    let (n, sender) = client.recv_from(&mut bytes).expect("receive");
    assert_eq!(&bytes[..n], b"answer");
    assert_eq!(sender, relay.address());
    assert_eq!(relay.counts_backward().dropped, 1);
}

#[test]
#[cfg(target_os = "linux")]
fn the_relay_knows_that_it_lost_nothing_itself() {
    let target = bound_socket();
    let relay = Relay::start(Script::new(), target.local_addr().expect("address")).expect("start");
    assert_eq!(relay.counts().overflowed, Some(0));
    assert_eq!(relay.counts_backward().overflowed, Some(0));
}

#[test]
fn dropping_the_relay_ends_it_even_in_the_middle_of_a_long_delay() {
    let target = bound_socket();
    let hour = Script::new().delay(Duration::from_secs(3_600));
    let relay = Relay::start(hour, target.local_addr().expect("address")).expect("start");
    let client = bound_socket();
    client.send_to(b"late", relay.address()).expect("send");
    drop(relay);
}
