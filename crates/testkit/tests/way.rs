//! Tests that a path between two hosts delays and loses what its script says.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::relay::Script;
use sokudo_testkit::way::Way;

const DELAY: Duration = Duration::from_millis(10);
const BOUND: Duration = Duration::from_secs(30);

#[test]
fn a_connection_crosses_it_and_waits_for_both_delays() {
    let Some(hosts) = Hosts::new(2) else { return };
    let scripts = || Script::new().delay(DELAY);
    let Some(_way) = Way::open(&hosts, scripts(), scripts()) else {
        return;
    };
    let listener = hosts.run_in(1, || TcpListener::bind((Way::address(1), 0)));
    let listener = listener.expect("a port on the far host");
    let address = listener.local_addr().expect("a bound port");
    let far = hosts.local().spawn_on(1, move || {
        let (mut caller, _) = listener.accept().expect("the near host calls");
        let mut one = [0];
        caller.read_exact(&mut one).expect("one byte");
        caller.write_all(&one).expect("one byte back");
    });
    let (answer, waited) = hosts.run_in(0, move || {
        let begun = Instant::now();
        let mut caller = TcpStream::connect_timeout(&address, BOUND).expect("the way is open");
        caller.set_read_timeout(Some(BOUND)).expect("a bound");
        caller.write_all(b"?").expect("one byte");
        let mut one = [0];
        caller.read_exact(&mut one).expect("the byte comes back");
        (one, begun.elapsed())
    });
    far.expect("a thread on the far host")
        .join()
        .expect("no panic");
    assert_eq!(&answer, b"?");
    // Connecting and asking are a round trip each; no busy machine makes it shorter.
    assert!(waited >= 4 * DELAY, "{waited:?}");
}

#[test]
fn packets_are_lost_by_script_alone() {
    let Some(hosts) = Hosts::new(2) else { return };
    let lossy = Script::new().drop_every(4);
    let Some(way) = Way::open(&hosts, lossy, Script::new()) else {
        return;
    };
    let receiver = hosts.run_in(1, || UdpSocket::bind((Way::address(1), 0)));
    let receiver = receiver.expect("a port on the far host");
    receiver.set_read_timeout(Some(BOUND)).expect("a bound");
    let to = receiver.local_addr().expect("a bound port");
    hosts.run_in(0, move || {
        let sender = UdpSocket::bind((Way::address(0), 0)).expect("a port");
        for number in 0..20u8 {
            sender.send_to(&[number], to).expect("room for a datagram");
        }
    });
    let mut buffer = [0];
    let arrived = (0..15).map(|_| {
        receiver.recv(&mut buffer).expect("three of four arrive");
        buffer[0]
    });
    let arrived: Vec<u8> = arrived.collect();
    let expected: Vec<u8> = (0..20).filter(|number| number % 4 != 3).collect();
    assert_eq!(arrived, expected);
    // The last one is dropped after the last one has arrived.
    let deadline = Instant::now() + BOUND;
    while way.counts().dropped < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!((way.counts().dropped, way.counts().refused), (5, 0));
}
