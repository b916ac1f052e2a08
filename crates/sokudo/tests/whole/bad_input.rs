//! Tests of wrong input: each gets a sentence, a hint and exit code 2, and leaves no file.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_net::tls;
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, Decoder, KeyId, MAX_FRAME_BEFORE_TICKET, PROTOCOL_VERSION, Ticket, Verdict, framing,
};

use crate::vocabulary::{GENTLE, no_panic, place, refused, serve, summary, told};

/// Wishes that a look at the command line is enough to refuse. `ADDR` needs no server.
const REFUSED: &[(&str, &str, &str)] = &[
    ("datagram", "<HOST>", "sokudo datagram --help"),
    ("datagram ADDR --nonsense", "--nonsense", "help"),
    ("nonsense", "unrecognized subcommand", "sokudo --help"),
    ("datagram ADDR --size 10Mb", "`b` is bits", "--help"),
    (
        "datagram ADDR --rate 10MB",
        "not a number per second",
        "--help",
    ),
    (
        "datagram ADDR --rate 10Mb",
        "not a number per second",
        "--help",
    ),
    ("datagram ADDR --rate 1Q/s", "no unit known", "--help"),
    ("datagram ADDR --rate 50", "no unit known", "--help"),
    ("stream ADDR --rate 50", "no unit known", "--help"),
    ("datagram ADDR --rate -1/s", "", "help"),
    (
        "datagram ADDR --rate 1e12/s",
        "cannot be paced",
        "rates from",
    ),
    (
        "datagram ADDR --rate 100Tb/s",
        "cannot be paced",
        "rates from",
    ),
    (
        "datagram ADDR --rate 0.0000001/s",
        "cannot be paced",
        "rates from",
    ),
    ("datagram ADDR --size 65508", "larger than UDP", "65507"),
    ("datagram ADDR --size 8", "cannot carry the", "--size"),
    ("datagram ADDR --size 900..100", "out of range", "--help"),
    ("datagram ADDR --count 0", "sends nothing", "1 or more"),
    (
        "datagram ADDR --count many",
        "does not start with a number",
        "--help",
    ),
    (
        "datagram ADDR --duration 0",
        "measures nothing",
        "--duration 10s",
    ),
    (
        "datagram ADDR --duration 25h",
        "24 h at most",
        "several runs",
    ),
    ("probe ADDR --duration 0", "measures nothing", ""),
    ("rr ADDR --slo p99<1", "lacks the unit", "rr --help"),
    (
        "datagram ADDR --duration 10parsecs",
        "no unit known",
        "--help",
    ),
    (
        "datagram ADDR --polite",
        "--polite waits",
        "--direction both",
    ),
    (
        "datagram ADDR --direction sideways",
        "possible values",
        "--help",
    ),
    ("datagram ADDR --streams 0", "--streams", "--help"),
    (
        "datagram ADDR --find p98<1ms",
        "is not a valid bound",
        "--help",
    ),
    (
        "datagram ADDR --find errors<1%",
        "does not measure `errors`",
        "loss",
    ),
    (
        "datagram ADDR --find loss<1% --rate 1k/s",
        "cannot be used with",
        "--rate",
    ),
    (
        "datagram ADDR --find loss<1% --sweep rate=1k/s,2k/s",
        "cannot be used with",
        "--help",
    ),
    ("datagram ADDR --sweep rate=9k/s", "less than two", "--help"),
    (
        "datagram ADDR --sweep colour=1,2",
        "no option `--colour`",
        "rate",
    ),
    (
        "datagram ADDR --rate 1k/s --sweep rate=1k/s,2k/s",
        "both say",
        "--rate",
    ),
    ("datagram ADDR --sweep size=64,1GiB", "", ""),
    ("datagram ADDR --bind nowhere", "", "--help"),
    ("datagram ADDR --lang xx", "not a language", "--help"),
    (
        "datagram ADDR --tsv no/such/directory/t.tsv",
        "cannot be written",
        "directory",
    ),
    ("datagram 127.0.0.1:99999", "is not a host", "hostb"),
    ("datagram http://hostb", "is not a host", "hostb"),
    ("datagram hostb:", "is not a host", "hostb"),
    ("datagram ADDR --ticks 0", "at least one", "--help"),
    ("datagram ADDR --report-every 0s", "between them", "--help"),
    ("datagram ADDR --interval 1ms", "--interval", "10ms"),
    ("serve --max-clients 0", "is not in 1..", "--help"),
    ("jmx check --generators 0", "", "sokudo jmx check --help"),
    (
        "jmx run plan.jmx --users 0",
        "is not in 1..",
        "jmx run --help",
    ),
    ("load plan.jmx", "no command `load`", "sokudo jmx run"),
    (
        "jmx probe plan.jmx --duration 2h",
        "at most 3600 s",
        "jmx probe --help",
    ),
    (
        "scenario pairs --local 2 --times 0",
        "exchanges nothing",
        "1 or more",
    ),
    ("scenario pairs --local 1", "of 1 host", "two hosts"),
    ("man /dev/null/pages", "cannot be written", "directory"),
    ("serve --bind nowhere", "not ADDR", "sokudo serve --help"),
    (
        "serve --bind 192.0.2.1:0 --open",
        "cannot listen",
        "address of this host",
    ),
    (
        "check nonsense",
        "no layer `nonsense`",
        "layers: probe, rr, ",
    ),
    (
        "check --max-loss 200%",
        "not a valid share below 100 %",
        "sokudo check --help",
    ),
    (
        "metrics nonsense",
        "no metric has `nonsense`",
        "sokudo metrics",
    ),
    ("datagram ADDR --durations 1s", "--durations", "--duration"),
    ("show nothing", "no run matches", "sokudo check"),
    ("show ./nothing", "is not a record", "run.json"),
    ("report latest", "no run matches", "sokudo check"),
    ("recover latest", "no run matches", "sokudo check"),
    ("export", "--to", "sokudo export --help"),
    (
        "export --to word",
        "possible values",
        "sokudo export --help",
    ),
];

/// Typical mistakes, and what of each the Japanese sentence quotes.
const REFUSED_IN_JAPANESE: &[(&str, &str)] = &[
    // What the parser of the command line finds.
    ("datagram", "<HOST>"),
    ("datagram ADDR --nonsense", "--nonsense"),
    ("datagram ADDR --durations 1s", "--durations"),
    ("nonsense", "nonsense"),
    ("chekc", "chekc"),
    ("group nonsense", "nonsense"),
    ("datagram ADDR --direction sideways", "sideways"),
    ("datagram ADDR --size", "--size"),
    ("datagram ADDR --size 1k --size 2k", "--size"),
    ("datagram ADDR --size 10Mb", "10Mb"),
    ("datagram ADDR --size 10parsecs", "10parsecs"),
    ("datagram ADDR --size 99999999999GB", "99999999999GB"),
    ("datagram ADDR --rate 10MB", "10MB"),
    ("datagram ADDR --rate 10Mb", "10Mb"),
    ("datagram ADDR --rate 1Q/s", "1Q/s"),
    ("datagram ADDR --count many", "many"),
    ("datagram ADDR --duration 10parsecs", "10parsecs"),
    ("datagram ADDR --streams 0", "--streams"),
    ("datagram ADDR --find loss<1% --rate 1k/s", "--rate"),
    ("datagram ADDR --lang xx", "xx"),
    ("rr ADDR --slo p99<1", "p99<1"),
    ("export --to word", "word"),
    ("load plan.jmx", "load"),
    // What the values of options are refused for.
    ("datagram ADDR --bind foo", "foo"),
    ("datagram ADDR --ticks 0", "--ticks"),
    ("datagram ADDR --sweep rate", "rate"),
    ("rr ADDR --wait jump", "jump"),
    ("stream ADDR --dscp 99", "99"),
    ("bus ADDR --out csv:x", "csv:x"),
    ("dns ADDR --type QQQ", "QQQ"),
    ("http foo://bar", "foo://bar"),
    ("http http://ADDR/ -H nocolon", "nocolon"),
    (
        "http http://ADDR/ --knee connections=9..1",
        "connections=9..1",
    ),
    ("jmx run plan.jmx --model foo", "foo"),
    ("jmx run plan.jmx --duration x", "x"),
    ("jmx run plan.jmx --unsupported maybe", "maybe"),
    ("jtl report x.jtl --percentiles 101", "101"),
    ("replicate /tmp ADDR:/x --level 99", "99"),
    ("serve --bind foo", "foo"),
    ("serve --data-ports x", "x"),
    ("group zenohd lab --valid 0", "0"),
    ("link up --rate 1", "100Mb/s"),
    ("link up --delay 5h", "5h"),
    ("compare a b --min-effect x", "x"),
    ("check --max-loss x", "x"),
    ("run x.sks --local 99", "99"),
    ("run x.js --set a", "a"),
    ("web --listen x", "x"),
    ("show --lang xx", "xx"),
    // Options in the wrong place, keys, tokens, monitors.
    ("rr ADDR --key short", "sk1-"),
    ("agent --join sj1-aaa", "@"),
    ("controller nothing", "nothing"),
    ("monitors nothing", "nothing"),
    ("rr ADDR --monitor nothing", "nothing"),
    ("rr ADDR --monitor process", "pid"),
    ("rr ADDR --monitor process:pid=x", "x"),
    ("rr ADDR --monitor process:what=1", "what"),
    ("rr ADDR --monitor openmetrics:url=x", "x"),
    ("serve --policy nothing.toml", "nothing.toml"),
    ("serve --policy script.txt.toml", "script.txt.toml"),
    // What the commands find.
    ("datagram ADDR --find errors<1%", "errors"),
    ("datagram 127.0.0.1:99999", "127.0.0.1:99999"),
    ("datagram http://hostb", "http://hostb"),
    ("datagram ADDR --size 65508", "65508"),
    ("datagram ADDR --size 8", "--size"),
    ("datagram ADDR --duration 0", "--duration"),
    ("datagram ADDR --duration 25h", "24"),
    ("datagram ADDR --polite", "--polite"),
    ("datagram ADDR --rate 100Tb/s", "100 Tb/s"),
    ("datagram ADDR --sweep colour=1,2", "colour"),
    ("datagram ADDR --interval 1ms", "--interval"),
    ("probe ADDR --every 1us", "--every"),
    ("rr ADDR --count 0", "--count"),
    ("stream ADDR --transport udp", "UDP"),
    ("crr ADDR --transport udp", "UDP"),
    ("bus ADDR --size 1GiB", "1073741824"),
    ("serve --bind 192.0.2.1:0 --open", "192.0.2.1:0"),
    ("datagram ADDR", "127.0.0.1:1"),
    ("datagram no.such.host.invalid", "no.such.host.invalid"),
    ("show nothing", "nothing"),
    ("show ./nothing", "./nothing"),
    ("http http://ADDR/ --streams 2", "--streams"),
    ("http http://ADDR/ --threads 9 -c 2", "9"),
    ("check nonsense", "nonsense"),
    ("metrics nonsense", "nonsense"),
    ("man /dev/null/pages", "/dev/null/pages"),
    ("run nothing.sks --local 2", "nothing.sks"),
    ("run script.txt --local 2", "script.txt"),
    ("run empty.sks", "--local"),
    ("import nothing.json", "nothing.json"),
    ("jmx check nothing.jmx", "nothing.jmx"),
    ("jtl report nothing.jtl -o dashboard", "nothing.jtl"),
    // What the far ends of other programs refuse.
    ("compat message-bus-test -txRate much", "-txRate much"),
    ("compat message-bus-test -bind tmbs://h:1", "tmbs://h:1"),
    ("compat message-bus-test -relay", "-relay"),
    ("compat datagram-test -packetSize 1", "-packetSize 1"),
    ("compat datagram-test -provider ssl", "-provider ssl"),
    ("compat datagram-test -polite", "-polite"),
    ("compat iperf3 -c", "--client"),
    ("compat iperf3 -c ADDR -R --bidir", "--bidir"),
    ("compat iperf3 -c ADDR -P many", "--parallel many"),
];

#[test]
fn mistakes_are_told_in_japanese() {
    // Words between quotes are what was typed, and code.
    let japanese = |text: &str| {
        let outside = text.split(['`', '\'']).step_by(2).collect::<String>();
        outside.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}'))
    };
    let place = place();
    place.write("script.txt", "");
    place.write("empty.sks", "");
    place.write("script.txt.toml", "no policy");
    for (wish, quoted) in REFUSED_IN_JAPANESE {
        let wish = wish.replace("ADDR", "127.0.0.1:1");
        let ended = place.sokudo(&wish).env("SOKUDO_LANG", "ja").run();
        ended.expect_code(2);
        let line = |start| ended.stderr.lines().find_map(|l| l.strip_prefix(start));
        let says = line("エラー: ").unwrap_or_else(|| panic!("no sentence: {ended}"));
        let hint = line("ヒント: ").unwrap_or_else(|| panic!("no hint: {ended}"));
        assert!(japanese(says) && japanese(hint), "{wish}: {ended}");
        let english = place.run(&wish);
        english.expect_code(2);
        assert!(!japanese(&english.stderr), "{wish}: {english}");
        let is_quoted = says.contains(quoted) || hint.contains(quoted);
        assert!(is_quoted, "{wish}: no `{quoted}` in {ended}");
        let rest = ["{$", "{ $", "[error-"]
            .iter()
            .find(|it| ended.stderr.contains(**it));
        assert_eq!(rest, None, "{wish}: {ended}");
    }
    let ended = place.run("rr 127.0.0.1:1 --nonsense --lang ja");
    assert!(ended.stderr.starts_with("エラー: "), "{ended}");
}

#[test]
fn wishes_that_cannot_be_are_refused_at_once() {
    let place = place();
    for (wish, says, hint) in REFUSED {
        let ended = place.run(&wish.replace("ADDR", "127.0.0.1:1"));
        refused(&ended, says, hint);
        assert!(ended.stdout.is_empty(), "{ended}");
    }
    assert!(place.records().is_empty(), "a record was left behind");
}

#[test]
fn hosts_that_cannot_be_reached_are_told_apart() {
    let place = place();
    let nobody = place.run("datagram 127.0.0.1:1 --duration 1s");
    refused(
        &nobody,
        "refused the connection",
        "is `sokudo serve` running",
    );
    let unknown = place.run("datagram no-such-host.invalid --duration 1s");
    refused(&unknown, "cannot be resolved", "check the name");
    assert!(place.records().is_empty(), "a record was left behind");
}

#[test]
fn what_a_host_refuses_is_the_operators_to_mend() {
    let place = place();
    let server = serve(&place);
    let foreign_address = place.run(&format!(
        "datagram {} --bind 192.0.2.1 --duration 1s",
        server.address
    ));
    refused(&foreign_address, "cannot listen on 192.0.2.1", "ip addr");
    let other_family = place.run(&format!(
        "datagram {} --bind ::1 --duration 1s",
        server.address
    ));
    refused(&other_family, "--bind ::1 cannot send", "one family");
    // No system grants that much without being told to.
    let buffers = place.run(&format!(
        "datagram {} --rcvbuf 1000MiB --strict-buffers --duration 1s",
        server.address
    ));
    refused(&buffers, "receive buffer", "--strict-buffers");
    assert!(place.records().is_empty(), "a record was left behind");
}

#[test]
fn a_datagram_larger_than_the_path_is_refused_unless_allowed() {
    let place = place();
    let server = serve(&place);
    let options = "--size 65507 --rate 200/s --duration 1s --json";
    // Loopback's MTU is 65,536: the largest datagram makes 65,535 with its headers.
    let fits = place.run(&format!("datagram {} {options}", server.address));
    fits.expect_code(0);
    summary(&fits).adds_up();
}

#[test]
fn a_port_in_use_is_told() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!("serve --bind {}", server.address));
    refused(
        &ended,
        "is in use by another program",
        "choose another port",
    );
    let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let ended = place.run(&format!(
        "datagram {} --bind {} --duration 1s",
        server.address,
        taken.local_addr().unwrap()
    ));
    refused(&ended, "in use", "");
}

#[test]
fn a_place_that_cannot_be_written_to_is_told() {
    let place = place();
    let server = serve(&place);
    std::fs::write(place.path().join("file"), "not a directory").unwrap();
    let ended = place
        .sokudo(&format!("datagram {} --duration 1s", server.address))
        .env("SOKUDO_RUNS", "file")
        .run();
    refused(&ended, "file", "SOKUDO_RUNS");
}

/// Answers every connection with these bytes after the first ones have come.
fn impostor(answer: &'static [u8]) -> std::net::SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the process; it holds nothing but its socket.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 512]);
            let _ = stream.write_all(answer);
        }
    });
    address
}

#[test]
fn other_servers_are_told_from_ours() {
    let place = place();
    let web: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    for answer in [web, b"SSH-2.0-OpenSSH_9.7\r\n", &[0xff; 64]] {
        let ended = place.run(&format!("datagram {} --duration 1s", impostor(answer)));
        refused(&ended, "is not sokudo", "check the port");
    }
    assert!(place.records().is_empty(), "a record was left behind");
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let place = place();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let ended = place.run(&format!(
        "datagram {} --duration 1s",
        listener.local_addr().unwrap()
    ));
    ended.expect_code(3);
    told(&ended, "did not answer in time", "try again");
    assert!(place.records().is_empty(), "a record was left behind");
}

#[test]
fn a_server_of_another_version_is_told() {
    let place = place();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (tcp, _) = listener.accept().unwrap();
        let me = tls::Identity::ephemeral("sokudo open").unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let session = tls::accept(tcp, &me, deadline).unwrap();
        let answer = Answer {
            protocol: PROTOCOL_VERSION + 1,
            product: "99.0.0".into(),
            verdict: Verdict::Version,
        };
        let frame = framing::encode(&answer.to_payload(), MAX_FRAME_BEFORE_TICKET).unwrap();
        session
            .writer
            .send(&frame, Duration::from_secs(60))
            .unwrap();
        // Held until the caller leaves.
        let mut reader = session.reader;
        let _ = reader.read(&mut Vec::new(), Duration::from_secs(60));
    });
    let ended = place.run(&format!("datagram {address} --duration 1s"));
    refused(&ended, "99.0.0", "install the same version");
    server.join().unwrap();
}

#[test]
fn a_caller_of_another_version_is_told_and_others_are_served() {
    let place = place();
    let server = serve(&place);
    let deadline = Instant::now() + Duration::from_secs(60);
    let tcp = TcpStream::connect(server.address).unwrap();
    let mut session = tls::connect(tcp, &tls::Trust::Anyone, deadline).unwrap();
    let ticket = Ticket {
        protocol: PROTOCOL_VERSION + 1,
        product: "99.0.0".into(),
        key: KeyId::NONE,
        name: "tomorrow".into(),
    };
    let channel = session.export(EXPORTER_LABEL).unwrap();
    let frame = framing::encode(&ticket.seal(None, &channel), MAX_FRAME_BEFORE_TICKET).unwrap();
    session
        .writer
        .send(&frame, Duration::from_secs(60))
        .unwrap();
    let mut decoder = Decoder::new(MAX_FRAME_BEFORE_TICKET);
    let answer = loop {
        if let Some(payload) = decoder.next_frame().unwrap() {
            break Answer::from_payload(&payload).unwrap();
        }
        let mut bytes = Vec::new();
        session
            .reader
            .read(&mut bytes, Duration::from_secs(60))
            .unwrap();
        decoder.push(&bytes);
        assert!(Instant::now() < deadline, "no answer");
    };
    assert_eq!(answer.verdict, Verdict::Version);
    place
        .run(&format!(
            "datagram {} --rate {GENTLE} --duration 1s",
            server.address
        ))
        .expect_code(0);
}

#[test]
fn garbage_at_the_door_disturbs_nobody() {
    let place = place();
    let mut server = serve(&place);
    let client = place
        .sokudo(&format!(
            "datagram {} --rate {GENTLE} --duration 3s --json",
            server.address
        ))
        .start();
    server
        .running
        .wait_for(|line| line.ends_with("has come").then_some(()));
    let strangers: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\nHost: sokudo\r\n\r\n",
        b"\x16\x03\x01\xff\xff\x01garbage after the head of a TLS record",
        &[0; 4096],
        &[0xff; 70_000],
        b"",
    ];
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for bytes in strangers.iter().cycle().take(50) {
        let mut stranger = TcpStream::connect(server.address).unwrap();
        // A server that hangs up in between does right.
        let _ = stranger.write_all(bytes);
        let _ = udp.send_to(&bytes[..bytes.len().min(1400)], server.address);
    }
    let ended = client.finish();
    ended.expect_code(0);
    summary(&ended).adds_up();
    server.running.interrupt();
    let ended = server.running.finish();
    ended.expect_code(0).expect_stderr("it does not speak TLS");
    no_panic(&ended);
}
