//! Both halves over loopback: against each other, against hand-made packets, and against garbage.
//!
//! What one test sends fits the receive buffer as a whole, so that a slow machine loses nothing.

use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::options::{HostPort, LogTarget};
use super::protocol::{Round, Width, frame_word, opening, write_constant};
use super::report::LOG_HEADER;
use super::*;
use sokudo_i18n::english;

/// No event takes this long, not even on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(60);

fn loopback(port: u16) -> HostPort {
    HostPort {
        host: "127.0.0.1".into(),
        port,
    }
}

fn small(peers: Vec<HostPort>) -> CoherenceDatagramOptions {
    CoherenceDatagramOptions {
        local: vec![loopback(0)],
        packet_size: Some(64),
        rx_buffer_packets: 20_000,
        // Longer than any pause of a busy machine, which would look like the end.
        rx_timeout_ms: 1000,
        peers,
        ..CoherenceDatagramOptions::default()
    }
}

fn publisher(rounds: u64, peers: Vec<HostPort>) -> CoherenceDatagramOptions {
    CoherenceDatagramOptions {
        tx_iterations: Some(rounds),
        ..small(peers)
    }
}

struct Running {
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<CoherenceDatagramSummary, Refusal>>,
}

fn start(options: CoherenceDatagramOptions) -> Running {
    let (to, events) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let observe = move |event| {
        let _ = to.send(event);
    };
    let thread = std::thread::spawn(move || {
        let mut observe = observe;
        watch(&options, &mut observe, &flag)
    });
    Running {
        events,
        stop,
        thread,
    }
}

impl Running {
    /// Waits for an event from which something can be taken.
    fn until<T>(&self, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).expect("the event in time");
            if let Some(picked) = pick(&event) {
                return picked;
            }
        }
    }

    fn listening(&self) -> SocketAddr {
        self.until(|event| match event {
            Event::Listening(start) => Some(start.at),
            _ => None,
        })
    }

    fn stopped(&self) {
        self.until(|event| matches!(event, Event::Stopped(_)).then_some(()));
    }

    /// Ends the test and returns its result, and the events that were not waited for.
    fn end(self) -> (CoherenceDatagramSummary, Vec<Event>) {
        self.stop.store(true, Ordering::Relaxed);
        self.finished()
    }

    /// Waits for the test's own end.
    fn finished(self) -> (CoherenceDatagramSummary, Vec<Event>) {
        let summary = self.thread.join().unwrap().unwrap();
        assert_eq!(summary.problems(), Vec::<String>::new());
        (summary, self.events.try_iter().collect())
    }
}

/// Two free ports, for tests in which both sides must know each other's beforehand.
fn free_ports() -> [u16; 2] {
    let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port())
}

fn bytes_of(sequence: u64, width: Width, return_port: u16) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    write_constant(&mut bytes, return_port);
    let round = Round {
        sequence,
        send_ns: 5,
        ack_ns: None,
    };
    round.write(&mut bytes, width, 20);
    bytes
}

#[test]
fn our_two_halves_agree_in_both_widths() {
    for width in [Width::Bits32, Width::Bits64] {
        let listener = start(small(Vec::new()));
        let at = listener.listening();
        let sending = CoherenceDatagramOptions {
            width,
            ..publisher(300, vec![loopback(at.port())])
        };
        let (sent, events) = start(sending).finished();
        listener.stopped();
        let (heard, _) = listener.end();
        let sender = &sent.publishers[0];
        assert_eq!((sender.rounds, &sender.ended), (300, &Ended::Iterations));
        assert_eq!(
            (sender.peers[0].sent, sender.peers[0].bytes),
            (300, 300 * 64)
        );
        assert!(events.contains(&Event::IterationsReached));
        let got = &heard.listeners[0].publishers[0];
        assert_eq!(got.publisher, sent.listeners[0].local);
        assert_eq!((got.width, got.lowest), (Some(width), 1));
        assert_eq!((got.counts.received, got.counts.of), (300, 300));
        assert_eq!((got.counts.gaps, got.counts.out_of_order), (0, 0));
        assert_eq!(got.counts.bytes, 300 * 64);
        assert!(got.ack_rtt.is_none());
        for name in sender.peers[0].metrics().keys() {
            assert!(sokudo_model::metric::find(name).is_some(), "{name}");
        }
    }
}

#[test]
fn holes_swaps_and_doubles_are_counted_right() {
    for width in [Width::Bits32, Width::Bits64] {
        let listener = start(small(Vec::new()));
        let at = listener.listening();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut numbers: Vec<u64> = (1..=400).filter(|n| n % 100 != 50).collect();
        numbers.swap(10, 11);
        numbers.push(400);
        for number in &numbers {
            socket.send_to(&bytes_of(*number, width, 7), at).unwrap();
        }
        listener.stopped();
        let (heard, _) = listener.end();
        let got = &heard.listeners[0].publishers[0];
        assert_eq!(got.publisher, ([127, 0, 0, 1], 7).into());
        let counts = &got.counts;
        assert_eq!(
            (counts.received, counts.of, counts.missing()),
            (396, 400, 4)
        );
        assert_eq!((counts.out_of_order, counts.offset_sum), (1, 1));
        assert_eq!(counts.duplicates, 1);
        // Four holes, and the one that the swap opened for a moment.
        assert_eq!((counts.gaps, counts.gap_packets), (5, 5));
    }
}

#[test]
fn garbage_is_counted_and_survived() {
    let options = CoherenceDatagramOptions {
        process_bytes: 40,
        ..small(Vec::new())
    };
    let listener = start(options);
    let at = listener.listening();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let whole = bytes_of(9, Width::Bits32, 7);
    for length in 0..28 {
        socket.send_to(&whole[..length], at).unwrap();
    }
    let mut damaged = whole.clone();
    damaged[40] ^= 0xff;
    socket.send_to(&damaged, at).unwrap();
    let mut foreign = whole.clone();
    foreign[0] = 0;
    socket.send_to(&foreign, at).unwrap();
    socket.send_to(&[0xff; 2000], at).unwrap();
    let mut far = bytes_of(u64::MAX, Width::Bits64, 8);
    far[24..32].fill(0xff);
    socket.send_to(&far, at).unwrap();
    socket.send_to(&whole, at).unwrap();
    listener.stopped();
    let (heard, _) = listener.end();
    let heard = &heard.listeners[0];
    // The empty datagram included.
    assert_eq!((heard.foreign, heard.corrupted), (30, 1));
    let received = |port| {
        let of = |it: &&RxSummary| it.publisher.port() == port;
        heard
            .publishers
            .iter()
            .find(of)
            .map(|it| it.counts.received)
    };
    assert_eq!((received(7), received(8)), (Some(1), Some(1)));
}

#[test]
fn publishers_beyond_the_bound_are_not_followed() {
    let links = Links::new(&[]);
    let at = ([127, 0, 0, 1], 9999).into();
    let settings = listener::BookSettings::new(&CoherenceDatagramOptions::default(), at);
    let mut book = listener::Book::new(settings, &links, 0);
    for port in 1..=listener::MAX_PUBLISHERS as u16 + 10 {
        book.take_datagram(&bytes_of(1, Width::Bits32, port), at, 1);
    }
    let (report, rows) = book.close().unwrap();
    assert_eq!(report.life.len(), listener::MAX_PUBLISHERS);
    assert!(rows.is_empty(), "no table was asked for");
}

#[test]
fn the_polite_wait_for_the_first_packet_and_again_after_silence() {
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.set_read_timeout(Some(PATIENCE)).unwrap();
    let port = peer.local_addr().unwrap().port();
    let options = CoherenceDatagramOptions {
        polite: true,
        tx_rate_mib_per_s: Some(0.05),
        ..small(vec![loopback(port)])
    };
    let polite = start(options);
    let at = polite.listening();
    let mut bytes = [0; 100];
    for time in 0..2 {
        peer.send_to(&bytes_of(1 + time, Width::Bits32, port), at)
            .unwrap();
        polite.until(|event| matches!(event, Event::Go(Some(_))).then_some(()));
        assert_eq!(peer.recv(&mut bytes).unwrap(), 64);
        polite.stopped();
    }
    polite.end();
}

#[test]
fn nobody_polite_ever_begins_unasked() {
    let options = CoherenceDatagramOptions {
        polite: true,
        ..small(vec![loopback(free_ports()[0])])
    };
    let polite = start(options);
    polite.until(|event| matches!(event, Event::Publishing(_)).then_some(()));
    let (summary, events) = polite.end();
    assert_eq!(summary.publishers[0].rounds, 0);
    assert_eq!(summary.publishers[0].ended, Ended::Stopped);
    assert!(!events.iter().any(|event| matches!(event, Event::Go(_))));
}

#[test]
fn ticks_and_reports_add_up() {
    let listener = start(CoherenceDatagramOptions {
        tick_interval: 10,
        report_interval: ReportInterval::Packets(50),
        ..small(Vec::new())
    });
    let at = listener.listening();
    let sending = CoherenceDatagramOptions {
        tick_interval: 10,
        report_interval: ReportInterval::Packets(100),
        ..publisher(300, vec![loopback(at.port())])
    };
    let (_, sent) = start(sending).finished();
    let mut heard = Vec::new();
    listener.until(|event| {
        heard.push(event.clone());
        matches!(event, Event::Stopped(_)).then_some(())
    });
    listener.end();
    let ticks = |events: &[Event], wanted: PacketWay| -> u64 {
        let span = |event: &Event| match event {
            Event::Ticks { way, from, to } if *way == wanted => to - from,
            _ => 0,
        };
        events.iter().map(span).sum()
    };
    assert_eq!(
        (ticks(&sent, PacketWay::Out), ticks(&heard, PacketWay::In)),
        (30, 30)
    );
    let mut reported = 0;
    for event in &heard {
        match event {
            Event::Rx(report) => {
                reported += report.now[0].counts.received;
                assert_eq!(report.life[0].counts.received, reported);
            }
            Event::Stopped(report) => assert_eq!(report.life[0].counts.received, 300),
            _ => {}
        }
    }
    assert!(reported >= 50, "{reported}");
    let last = sent.iter().rev().find_map(|event| match event {
        Event::Tx(report) => Some(report.life.packets),
        _ => None,
    });
    assert_eq!(last, Some(300));
}

#[test]
fn several_addresses_and_peers_with_oneself_among_them() {
    let ports = free_ports();
    let addresses = ports.map(loopback).to_vec();
    let options = CoherenceDatagramOptions {
        local: addresses.clone(),
        tx_rate_mib_per_s: Some(0.1),
        ..publisher(100, addresses)
    };
    let (summary, _) = start(options).finished();
    let mut acks = (0, 0);
    for (half, listener) in summary.publishers.iter().zip(&summary.listeners) {
        assert_eq!(half.rounds, 100);
        assert!(half.peers.iter().all(|peer| peer.sent == 100));
        assert_eq!(listener.publishers.len(), 2);
        for it in &listener.publishers {
            assert_eq!((it.counts.received, it.counts.of), (100, 100));
            assert_eq!(it.counts.acks, it.ack_rtt.as_ref().map_or(0, |rtt| rtt.n));
            acks.0 += it.counts.acks;
        }
        acks.1 += half.peers.iter().map(|peer| peer.acks).sum::<u64>();
    }
    assert_eq!(acks.0, acks.1, "every ack given is received");
}

#[test]
fn random_sizes_are_counted_alike_at_both_ends() {
    let listener = start(small(Vec::new()));
    let at = listener.listening();
    let sending = CoherenceDatagramOptions {
        random_size: true,
        ..publisher(300, vec![loopback(at.port())])
    };
    let (sent, _) = start(sending).finished();
    listener.stopped();
    let (heard, _) = listener.end();
    let sent = sent.publishers[0].peers[0].bytes;
    assert_eq!(heard.listeners[0].publishers[0].counts.bytes, sent);
    assert!((300 * 28..300 * 64).contains(&sent), "{sent}");
}

#[test]
fn the_payload_is_what_counts() {
    let listener = start(CoherenceDatagramOptions {
        payload: 10,
        ..small(Vec::new())
    });
    let at = listener.listening();
    start(publisher(50, vec![loopback(at.port())])).finished();
    listener.stopped();
    let (heard, _) = listener.end();
    assert_eq!(heard.listeners[0].publishers[0].counts.bytes, 500);
}

#[test]
fn a_new_publisher_at_the_same_port_begins_a_new_account() {
    let listener = start(CoherenceDatagramOptions {
        rx_timeout_ms: 0,
        ..small(Vec::new())
    });
    let at = listener.listening();
    let port = free_ports()[0];
    for _ in 0..2 {
        let options = CoherenceDatagramOptions {
            local: vec![loopback(port)],
            ..publisher(50, vec![loopback(at.port())])
        };
        start(options).finished();
    }
    // A third publisher shows that everything before it has been taken.
    start(publisher(1, vec![loopback(at.port())])).finished();
    let two = |event: &Event| matches!(event, Event::Receiving { publishers: 2, .. }).then_some(());
    listener.until(two);
    let (heard, _) = listener.end();
    let counts = heard.listeners[0]
        .publishers
        .iter()
        .map(|it| (it.counts.received, it.counts.duplicates));
    assert_eq!(counts.collect::<Vec<_>>(), [(50, 0), (50, 0), (1, 0)]);
}

#[test]
fn a_duration_ends_a_publisher_at_any_rate() {
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    let options = CoherenceDatagramOptions {
        // One packet in several seconds: the vendor would divide by zero.
        tx_rate_mib_per_s: Some(0.000_02),
        tx_duration_ms: Some(500),
        ..small(vec![loopback(peer.local_addr().unwrap().port())])
    };
    let (summary, _) = start(options).finished();
    assert_eq!(summary.publishers[0].ended, Ended::Duration);
    assert!(summary.publishers[0].rounds <= 1);
}

#[test]
fn the_tcp_framing_loses_nothing() {
    for width in [Width::Bits32, Width::Bits64] {
        let listener = start(CoherenceDatagramOptions {
            provider: Provider::Tcp,
            ..small(Vec::new())
        });
        let at = listener.listening();
        // Strangers do not disturb.
        let mut stranger = TcpStream::connect(at).unwrap();
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let sending = CoherenceDatagramOptions {
            provider: Provider::Tcp,
            random_size: true,
            width,
            ..publisher(5000, vec![loopback(at.port())])
        };
        let (sent, _) = start(sending).finished();
        listener.stopped();
        let (heard, _) = listener.end();
        let heard = &heard.listeners[0];
        let got = &heard.publishers[0];
        assert_eq!((got.counts.received, got.counts.of), (5000, 5000));
        assert_eq!(got.counts.bytes, sent.publishers[0].peers[0].bytes);
        assert_eq!(got.width, Some(width));
        assert_eq!(heard.foreign, 1);
    }
}

#[test]
fn a_stream_is_read_in_pieces_and_given_up_when_out_of_step() {
    let listener = start(CoherenceDatagramOptions {
        provider: Provider::Tcp,
        ..small(Vec::new())
    });
    let at = listener.listening();
    let mut tcp = TcpStream::connect(at).unwrap();
    tcp.set_nodelay(true).unwrap();
    let mut stream = opening(9)[8..].to_vec();
    for number in 0..40u64 {
        let mut packet = bytes_of(number + 1, Width::Bits64, 7);
        packet[..4].copy_from_slice(&frame_word(64, number));
        stream.extend(packet);
    }
    for piece in stream.chunks(37) {
        tcp.write_all(piece).unwrap();
    }
    tcp.write_all(&[0xee; 64]).unwrap();
    listener.stopped();
    let (heard, _) = listener.end();
    let heard = &heard.listeners[0];
    assert_eq!(heard.publishers[0].counts.received, 40);
    assert_eq!(heard.foreign, 1);
}

#[test]
fn a_peer_that_is_not_there_over_tcp_is_a_problem_with_a_name() {
    let gone = free_ports()[0];
    let options = CoherenceDatagramOptions {
        provider: Provider::Tcp,
        ..publisher(5, vec![loopback(gone)])
    };
    let running = start(options);
    let summary = running.thread.join().unwrap().unwrap();
    let problems = summary.problems();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains(&format!("127.0.0.1:{gone}")),
        "{problems:?}"
    );
}

#[test]
fn the_table_is_appended_and_ends_with_totals() {
    let folder = std::env::temp_dir().join(format!("sokudo-vendor-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("table.tsv");
    let _ = std::fs::remove_file(&path);
    let port = free_ports()[0];
    for _ in 0..2 {
        let options = CoherenceDatagramOptions {
            local: vec![loopback(port)],
            log: Some(LogTarget::File(path.clone())),
            log_interval: ReportInterval::Packets(20),
            ..publisher(50, vec![loopback(port)])
        };
        let mut shown = Vec::new();
        let summary = run(options, &mut shown, &AtomicBool::new(false)).unwrap();
        assert_eq!(summary.problems(), Vec::<String>::new());
        let shown = String::from_utf8(shown).unwrap();
        assert!(
            shown.contains(&format!("log: {}\n", path.display())),
            "{shown}"
        );
    }
    let table = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(table.matches(LOG_HEADER).count(), 1);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect())
        .collect();
    let totals = rows.iter().filter(|row| row[5..7] == ["50", "50"]).count();
    assert!(totals >= 2, "{table}");
    assert!(rows.iter().all(|row| row.len() == 16 && row[15].is_empty()));
}

#[test]
fn a_whole_test_reads_like_the_vendors() {
    let port = free_ports()[0];
    let line = [
        "-local",
        &format!("127.0.0.1:{port}"),
        "-packetSize",
        "64",
        "-txIterations",
        "120",
        "-tickInterval",
        "10",
        "-reportInterval",
        "1000",
        "-rxTimeoutMs",
        "1000",
        "-rxBufferSize",
        "20000",
        &format!("localhost:{port}"),
    ];
    let Ok(CommandLine::Run(options)) = CoherenceDatagramOptions::parse(&line) else {
        panic!("the line is understood");
    };
    let mut shown = Vec::new();
    run(*options, &mut shown, &AtomicBool::new(false)).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    for part in [
        &format!("starting listener: at /127.0.0.1:{port}\npacket size: 64 bytes\n"),
        &format!("sending to localhost/127.0.0.1:{port}\n"),
        "no packet burst limit\n",
        "iteration limit reached\n",
        &format!("\nTx summary for /127.0.0.1:{port} to 1 peers:\n   life: "),
        &format!("/127.0.0.1:{port} receiving data from 1 publisher(s).\n"),
        "\nClients have stopped.\n\nLifetime:\nRx from publisher: ",
        "\t    received: 120 of 120\n\t     missing: 0\n\tsuccess rate: 1.0\n",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    let marks: String = shown
        .lines()
        .filter(|line| line.chars().all(|c| "oOiI".contains(c)))
        .collect();
    let drawn = |wanted: char| marks.chars().filter(|mark| *mark == wanted).count();
    assert_eq!(
        "oOiI".chars().map(drawn).collect::<Vec<_>>(),
        [11, 1, 11, 1]
    );
}

#[test]
fn an_address_that_is_not_ours_is_refused_with_a_hint() {
    let options = CoherenceDatagramOptions {
        local: vec![HostPort {
            host: "192.0.2.1".into(),
            port: 9999,
        }],
        ..small(Vec::new())
    };
    let refusal = watch(&options, &mut |_| {}, &AtomicBool::new(false)).unwrap_err();
    assert!(refusal.operator_error && english(&refusal.says).contains("192.0.2.1:9999"));
}

#[test]
fn a_listener_can_be_given_an_end() {
    let stop = AtomicBool::new(false);
    let summary = watch_for(&small(Vec::new()), 1_000_000, &stop).expect("loopback can be bound");
    assert!(stop.load(Ordering::Relaxed));
    assert_eq!(summary.listeners.len(), 1);
    assert!(summary.publishers.is_empty());
}
