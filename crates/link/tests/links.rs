//! Tests of links between real hosts: what arrives, what is counted, and what ends with the link.
//!
//! A busy machine makes everything later, so nothing here asks for a time from above.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_link::{By, Choice, Link, LinkRequest, Loss, Properties, Tally};
use sokudo_model::Text;

const BOUND: Duration = Duration::from_secs(60);
const PORT: u16 = 7_000;

fn asked(choice: Choice, way: Properties) -> LinkRequest {
    LinkRequest {
        ways: [way; 2],
        choice,
        seed: None,
    }
}

/// A link, or `None` after saying why there is none.
fn link(asked: &LinkRequest) -> Option<Link> {
    Link::open(asked)
        .inspect_err(|e| eprintln!("skipped: {e:?}"))
        .ok()
}

/// Does something on a host.
fn on<T: Send + 'static>(link: &Link, i: usize, f: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = link.hosts().spawn_on(i, f).expect("enter the host");
    thread.join().expect("nothing panics there")
}

/// A socket of a host that waits for packets within bounds.
fn socket(link: &Link, i: usize, port: u16) -> UdpSocket {
    let at = SocketAddr::new(link.address(i), port);
    let socket = on(link, i, move || UdpSocket::bind(at)).expect("bind");
    socket.set_read_timeout(Some(BOUND)).expect("a bound");
    socket
}

/// Waits until the link has seen what the test sent.
fn until(link: &Link, direction: usize, holds: impl Fn(&Tally) -> bool) -> Tally {
    let deadline = Instant::now() + BOUND;
    loop {
        let tally = link.tallies().expect("counters")[direction];
        if holds(&tally) {
            return tally;
        }
        assert!(Instant::now() < deadline, "{tally:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Sends datagrams of 1,000 bytes from host a to host b, and gives the tally that has seen them all.
fn offer(link: &Link, datagrams: u64) -> Tally {
    let near = socket(link, 0, PORT);
    let to = SocketAddr::new(link.address(1), PORT);
    for _ in 0..datagrams {
        near.send_to(&[0; 1_000], to).expect("send");
    }
    until(link, 0, |tally| tally.offered >= datagrams)
}

/// Sends a megabyte over a connection from host a to host b; every byte is compared there.
fn a_connection_carries_its_bytes(link: &Link) {
    let sent: Vec<u8> = (0..1_000_000u32).map(|i| (i * 7 / 3) as u8).collect();
    let at = SocketAddr::new(link.address(1), PORT);
    let listener = on(link, 1, move || TcpListener::bind(at)).expect("listen");
    let received = link.hosts().spawn_on(1, move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let mut received = Vec::new();
        stream.read_to_end(&mut received).expect("its bytes");
        received
    });
    let bytes = sent.clone();
    on(link, 0, move || {
        let mut stream = TcpStream::connect(at).expect("connect");
        stream.write_all(&bytes).expect("send");
    });
    let received = received.expect("enter the host").join().expect("received");
    assert!(received == sent, "{} of {}", received.len(), sent.len());
}

#[test]
fn connections_run_from_end_to_end_and_every_packet_is_counted() {
    for choice in [Choice::Tun, Choice::Kernel] {
        let way = Properties {
            rate_bits_per_s: Some(200_000_000),
            queue_bytes: 20_000_000,
            ..Properties::default()
        };
        let Some(link) = link(&asked(choice, way)) else {
            continue;
        };
        assert_eq!(matches!(link.by(), By::Tun(None)), choice == Choice::Tun);
        a_connection_carries_its_bytes(&link);
        let [there, back] = link.tallies().expect("counters");
        // 1448 bytes fit behind the headers of a packet.
        assert!(there.delivered >= 690, "{there:?}");
        assert!(there.delivered_bytes > 1_000_000 + 690 * 66, "{there:?}");
        assert!(back.delivered > 0, "{back:?}");
        for way in [there, back] {
            assert_eq!(
                (way.dropped_queue, way.dropped_loss, way.overflowed),
                (0, 0, 0),
                "{way:?}"
            );
            assert!(way.offered >= way.delivered, "{way:?}");
            assert_eq!(way.queue_max_bytes.is_some(), choice == Choice::Tun);
        }
    }
}

#[test]
fn a_connection_survives_loss_delay_and_jitter() {
    let way = Properties {
        rate_bits_per_s: Some(100_000_000),
        queue_bytes: 200_000,
        delay_ns: 2_000_000,
        jitter_ns: 1_000_000,
        loss: Loss::Share(0.02),
        ..Properties::default()
    };
    let Some(link) = link(&asked(Choice::Auto, way)) else {
        return;
    };
    let By::Tun(Some(why)) = link.by() else {
        panic!("{:?} cannot keep the order", link.by());
    };
    assert_eq!(why, Text::new("error-link-reorders"));
    a_connection_carries_its_bytes(&link);
    let [there, _] = link.tallies().expect("counters");
    assert!(there.dropped_loss > 0, "{there:?}");
    assert!(
        there.queue_max_bytes.is_some_and(|bytes| bytes <= 200_000),
        "{there:?}"
    );
}

#[test]
fn no_round_trip_is_shorter_than_the_delays() {
    for choice in [Choice::Tun, Choice::Kernel] {
        let way = Properties {
            delay_ns: 10_000_000,
            ..Properties::default()
        };
        let Some(link) = link(&asked(choice, way)) else {
            continue;
        };
        let [near, far] = [0, 1].map(|i| socket(&link, i, PORT));
        let to = far.local_addr().expect("an address");
        for number in 0..5u8 {
            let begun = Instant::now();
            near.send_to(&[number], to).expect("send");
            let mut bytes = [0; 8];
            let (n, from) = far.recv_from(&mut bytes).expect("it arrives");
            assert!(
                begun.elapsed() >= Duration::from_millis(10),
                "{:?}",
                begun.elapsed()
            );
            far.send_to(&bytes[..n], from).expect("answer");
            assert_eq!(near.recv(&mut bytes).expect("the answer"), 1);
            assert!(
                begun.elapsed() >= Duration::from_millis(20),
                "{:?}",
                begun.elapsed()
            );
            assert_eq!(bytes[0], number);
        }
    }
}

#[test]
fn a_full_queue_drops_and_a_lossy_line_loses() {
    const SENT: u64 = 50;
    for choice in [Choice::Tun, Choice::Kernel] {
        // One second for each packet: none of them leaves while the others are sent.
        let way = Properties {
            rate_bits_per_s: Some(8_336),
            queue_bytes: 6_000,
            ..Properties::default()
        };
        let Some(link) = link(&asked(choice, way)) else {
            continue;
        };
        let tally = offer(&link, SENT);
        assert_eq!(tally.offered, SENT, "{tally:?}");
        assert!(
            tally.dropped_queue > 0 && tally.dropped_loss == 0,
            "{tally:?}"
        );
        assert!(tally.delivered + tally.dropped_queue <= SENT, "{tally:?}");
        assert!(
            tally
                .queue_max_bytes
                .is_none_or(|bytes| (1_042..=6_000).contains(&bytes)),
            "{tally:?}"
        );
    }
    for choice in [Choice::Tun, Choice::Kernel] {
        let way = Properties {
            loss: Loss::Share(1.0),
            ..Properties::default()
        };
        let Some(link) = link(&asked(choice, way)) else {
            continue;
        };
        let tally = offer(&link, SENT);
        assert_eq!(
            (tally.dropped_loss, tally.delivered),
            (SENT, 0),
            "{tally:?}"
        );
    }
}

#[test]
fn order_is_kept_and_a_seed_repeats_the_losses() {
    // All fit into the buffer of the receiving socket.
    const SENT: u16 = 100;
    let way = Properties {
        jitter_ns: 3_000_000,
        loss: Loss::bursts(0.1, 4.0).expect("such a link exists"),
        ..Properties::default()
    };
    let arrived = || {
        let seeded = LinkRequest {
            seed: Some(11),
            ..asked(Choice::Auto, way)
        };
        let link = link(&seeded)?;
        assert!(matches!(link.by(), By::Tun(Some(_))));
        let [near, far] = [0, 1].map(|i| socket(&link, i, PORT));
        let to = far.local_addr().expect("an address");
        for number in 0..SENT {
            near.send_to(&number.to_be_bytes(), to).expect("send");
        }
        let sent = u64::from(SENT);
        let tally = until(&link, 0, |tally| {
            tally.delivered + tally.dropped_loss >= sent
        });
        assert_eq!(tally.offered, sent, "{tally:?}");
        let mut bytes = [0; 2];
        let numbers = (0..tally.delivered).map(|_| {
            far.recv(&mut bytes).expect("it has been delivered");
            u16::from_be_bytes(bytes)
        });
        Some(numbers.collect::<Vec<u16>>())
    };
    let (Some(first), Some(second)) = (arrived(), arrived()) else {
        return;
    };
    assert!(
        first.is_sorted() && first.len() < usize::from(SENT),
        "{first:?}"
    );
    assert_eq!(first, second);
}

/// A kernel without a discipline names it; whatever else it says would be a defect of the commands.
#[test]
fn the_kernel_understands_the_commands() {
    let bursts = Loss::bursts(0.01, 3.0).expect("such a link exists");
    for (loss, jitter_ns) in [(Loss::None, 0), (Loss::Share(0.001), 500_000), (bursts, 0)] {
        let way = Properties {
            rate_bits_per_s: Some(100_000_000),
            queue_bytes: 1_250_000,
            delay_ns: 20_000_000,
            jitter_ns,
            may_reorder: true,
            loss,
        };
        match Link::open(&asked(Choice::Kernel, way)) {
            Ok(link) => assert_eq!(link.by(), By::Kernel(&["netem", "tbf"])),
            Err(e) if e.what.key == "error-link-discipline" => eprintln!("skipped: {e:?}"),
            Err(e)
                if ["error-netns-refused", "error-netns-program"]
                    .contains(&e.what.key.as_str()) =>
            {
                eprintln!("skipped: {e:?}");
            }
            Err(e) => panic!("{e:?}"),
        }
    }
}

#[test]
fn programs_know_the_hosts_and_end_with_the_link() {
    let Some(link) = link(&asked(Choice::Auto, Properties::default())) else {
        return;
    };
    let mut names = Command::new("cat");
    names.arg("/etc/hosts").stdout(Stdio::piped());
    let names = link.start(1, names).expect("starts");
    let names = names.wait_with_output().expect("ends").stdout;
    let names = String::from_utf8(names).expect("text");
    let [a, b] = [0, 1].map(|i| link.address(i));
    assert!(names.starts_with(&format!("{a} a\n{b} b\n")), "{names}");
    let mut sleep = Command::new("sleep");
    sleep.arg("1000");
    let mut sleep = link.start(0, sleep).expect("starts");
    drop(link);
    assert_eq!(sleep.wait().expect("ends").signal(), Some(9));
}
