//! Client and server with each other, and each with iperf3 itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sokudo_iperf::{CommandLine, IperfError, Options, Server, run_client, run_server};
use sokudo_testkit::skip;

/// Time after which a server must be free of callers that hold it: less than it waits for a client in a test.
const FREE: Duration = Duration::from_secs(15);
/// Longest wait for what is due.
const BOUND: Duration = Duration::from_secs(60);

fn options(line: &str) -> Options {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    match CommandLine::parse(&words).expect("a command line") {
        CommandLine::Client(options) | CommandLine::Server(options) => options,
        other => panic!("{other:?}"),
    }
}

/// Sums that each end counted, bytes.
fn sums(json: &str) -> (f64, f64) {
    let value: serde_json::Value =
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let sum = |name: &str| value["end"][name]["bytes"].as_f64().unwrap_or_default();
    (sum("sum_sent"), sum("sum_received"))
}

/// Output of a client with these options about a server of ours.
fn with_own_server(line: &str) -> String {
    let listening = options("-s -B 127.0.0.1 -p 0 -1");
    let server = Server::bind(&listening).expect("a server");
    let port = server.place().port();
    let never = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let served = scope.spawn(|| {
            let mut told = Vec::new();
            run_server(&server, &listening, &mut told, &never).expect("served");
            String::from_utf8(told).expect("text")
        });
        let mut told = Vec::new();
        let client = options(&format!("-c 127.0.0.1 -p {port} {line}"));
        run_client(&client, &mut told, &never).expect("a test");
        let server = served.join().expect("a server");
        assert!(server.contains("receiver"), "{server}");
        String::from_utf8(told).expect("text")
    })
}

#[test]
fn both_ways_of_both_protocols_agree_on_what_arrived() {
    for line in [
        "-t 1 -J",
        "-t 1 -J -R -P 2",
        "-t 1 -J --bidir",
        "-n 4M -J",
        "-n 4M -J -R",
        "-t 1 -J -u -b 8M -l 1000",
        "-t 1 -J -u -b 8M -l 1000 -R",
        "-t 1 -J -u -b 8M -l 1000 --bidir -P 2",
    ] {
        let told = with_own_server(line);
        let (sent, received) = sums(&told);
        assert!(sent > 100_000.0, "{line}: {told}");
        assert!(
            (received - sent).abs() <= sent * 0.5,
            "{line}: {sent} {received}"
        );
    }
    let text = with_own_server("-t 1 -i 0.2 -P 2");
    for shown in [
        "Connecting to host",
        "[ ID] Interval",
        "0.00-0.20",
        "[SUM]",
        "sender",
        "receiver",
        "iperf Done.",
    ] {
        assert!(text.contains(shown), "no `{shown}`: {text}");
    }
}

/// A server until a test has ended, for what `meanwhile` does at its port.
fn with_callers(meanwhile: impl FnOnce(u16)) {
    let listening = options("-s -B 127.0.0.1 -p 0");
    let server = Server::bind(&listening).expect("a server");
    let port = server.place().port();
    let (stop, never) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| run_server(&server, &listening, &mut Vec::new(), &stop));
        meanwhile(port);
        let client = options(&format!("-c 127.0.0.1 -p {port} -n 1M -P 2"));
        let begun = Instant::now();
        let tested = loop {
            let tested = run_client(&client, &mut Vec::new(), &never);
            // The server may need a moment to notice that it is free.
            if tested.is_ok() || begun.elapsed() > FREE {
                break tested;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        stop.store(true, Ordering::Relaxed);
        tested.expect("a test");
    });
}

/// A caller that connects and is silent does not hold the server.
#[test]
fn silent_callers_hold_nobody_up() {
    let mut silent = Vec::new();
    with_callers(|port| {
        let call = || TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        silent.extend((0..20).map(|_| call()));
        for caller in silent.iter_mut().skip(10) {
            caller.write_all(b"half a cookie").expect("written");
        }
        // These name a test, and say half of what they want at most.
        for number in 0..10 {
            let mut caller = call();
            let said: &[u8] = [&b""[..], &[0, 0, 0, 40, b'{']][number % 2];
            caller.write_all(&[b'a'; 37]).expect("written");
            caller.write_all(said).expect("written");
            silent.push(caller);
        }
    });
}

/// Strangers that call while a client connects its streams do not keep it from that.
#[test]
fn silent_callers_keep_no_stream_out() {
    let listening = options("-s -B 127.0.0.1 -p 0");
    let server = Server::bind(&listening).expect("a server");
    let place = server.place();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| run_server(&server, &listening, &mut Vec::new(), &stop));
        let call = || TcpStream::connect(place).expect("a connection");
        let mut control = call();
        control.set_read_timeout(Some(BOUND)).expect("a bound");
        let mut state = [0];
        control.write_all(&[b'a'; 37]).expect("sent");
        control.read_exact(&mut state).expect("ParamExchange");
        let wants = message(r#"{"tcp":true,"time":1}"#);
        control.write_all(&wants).expect("sent");
        control.read_exact(&mut state).expect("CreateStreams");
        // Each one alone would be waited for.
        let mut strangers: Vec<TcpStream> = (0..15).map(|_| call()).collect();
        for stranger in strangers.iter_mut().skip(10) {
            stranger.write_all(b"half a cookie").expect("sent");
        }
        let mut stream = call();
        stream.write_all(&[b'a'; 37]).expect("sent");
        let begun = control.read_exact(&mut state);
        stop.store(true, Ordering::Relaxed);
        begun.expect("TestStart");
        assert_eq!(state, [1]);
    });
}

/// A client that goes before its streams are there leaves the server to the next one.
#[test]
fn a_client_that_goes_early_leaves_the_server_free() {
    with_callers(|port| {
        let mut control = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let wants = br#"{"tcp":true,"parallel":2,"time":1}"#;
        let length = u32::try_from(wants.len()).expect("short").to_be_bytes();
        control.write_all(&[b'a'; 37]).expect("written");
        control.read_exact(&mut [0]).expect("asked for its wishes");
        control.write_all(&length).expect("written");
        control.write_all(wants).expect("written");
        control.read_exact(&mut [0]).expect("asked for its streams");
        drop(control);
    });
}

/// A datagram test at a rate sends that rate, and counts what arrived.
#[test]
fn a_rate_of_datagrams_is_kept() {
    let told = with_own_server("-t 2 -J -u -b 4M -l 1000");
    let (sent, received) = sums(&told);
    let value: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let rate = value["end"]["sum_sent"]["bits_per_second"].as_f64();
    assert!(
        rate.is_some_and(|rate| (3.6e6..=4.2e6).contains(&rate)),
        "{told}"
    );
    assert!(received <= sent, "{told}");
}

/// The begin that is to be left out is in no result: at a rate, half of all bytes here.
#[test]
fn the_begin_of_a_test_is_left_out() {
    for line in [
        "-O 1 -t 1 -i 0.5 -J -u -b 4M -l 1000",
        "-O 1 -t 1 -i 0.5 -J -u -b 4M -l 1000 -R",
    ] {
        let told = with_own_server(line);
        let (sent, received) = sums(&told);
        let all = 2.0 * 4e6 / 8.0;
        assert!(sent < all * 0.8 && received < all * 0.8, "{line}: {told}");
        let value: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        let intervals = value["intervals"].as_array().expect("intervals");
        let is_omitted = |at: usize| intervals[at]["streams"][0]["omitted"].as_bool();
        assert_eq!(is_omitted(0), Some(true), "{told}");
        assert_eq!(is_omitted(intervals.len() - 1), Some(false), "{told}");
    }
    let text = with_own_server("-O 1 -t 1");
    assert!(text.contains("(omitted)"), "{text}");
}

/// A connection that does not speak the protocol ends its own test only, and the next client is served.
#[test]
fn a_server_survives_hostile_clients() {
    let listening = options("-s -B 127.0.0.1 -p 0");
    let server = Server::bind(&listening).expect("a server");
    let place = server.place();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| run_server(&server, &listening, &mut Vec::new(), &stop));
        let cookie = [b'a'; 37];
        let huge = [&cookie[..], &u32::MAX.to_be_bytes()].concat();
        let no_json = [&cookie[..], &5u32.to_be_bytes(), b"{\"a\":"].concat();
        let many = br#"{"parallel":1000000}"#;
        let many = [&cookie[..], &(many.len() as u32).to_be_bytes(), many].concat();
        for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &huge, &no_json, &many] {
            let mut client = TcpStream::connect(place).expect("a connection");
            client.write_all(bytes).expect("sent");
        }
        let mut told = Vec::new();
        let line = format!("-c 127.0.0.1 -p {} -t 1 -J", place.port());
        let mut tries = 0;
        // Until the server has read what the others sent, it is busy.
        while let Err(error) = run_client(&options(&line), &mut told, &AtomicBool::new(false)) {
            tries += 1;
            assert!(tries < 1_200, "{error}");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(sums(&String::from_utf8(told).expect("text")).0 > 0.0);
        stop.store(true, Ordering::Relaxed);
    });
}

/// A message as the protocol has it: its length, and JSON.
fn message(json: &str) -> Vec<u8> {
    [&(json.len() as u32).to_be_bytes(), json.as_bytes()].concat()
}

/// The client of one test with datagrams, until both are about to begin: its control connection and its stream.
fn datagram_client(place: SocketAddr, parameters: &str) -> (TcpStream, UdpSocket) {
    let mut control = TcpStream::connect(place).expect("a connection");
    control.set_read_timeout(Some(BOUND)).expect("a bound");
    let mut state = [0];
    control.write_all(&[b'a'; 37]).expect("sent");
    control.read_exact(&mut state).expect("ParamExchange");
    control.write_all(&message(parameters)).expect("sent");
    control.read_exact(&mut state).expect("CreateStreams");
    let stream = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    stream.set_read_timeout(Some(BOUND)).expect("a bound");
    stream.connect(place).expect("a peer");
    stream.send(b"9876").expect("sent");
    stream.recv(&mut [0; 64]).expect("a welcome");
    (control, stream)
}

/// Load towards a client that has gone ends, and so does what waits for its datagrams; so the next client is served.
/// Callers that hang up before they were accepted change nothing.
#[test]
fn a_client_that_goes_in_the_middle_leaves_nothing_behind() {
    let listening = options("-s -B 127.0.0.1 -p 0");
    let server = Server::bind(&listening).expect("a server");
    let place = server.place();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let served = scope.spawn(|| run_server(&server, &listening, &mut Vec::new(), &stop));
        for parameters in [
            r#"{"udp":true,"time":0,"num":1000000000000,"len":200,"bandwidth":80000,"reverse":true}"#,
            r#"{"udp":true,"time":600,"len":200,"bandwidth":80000}"#,
        ] {
            let (control, stream) = datagram_client(place, parameters);
            if parameters.contains("reverse") {
                stream.recv(&mut [0; 256]).expect("load");
            }
            drop(control);
            for _ in 0..20 {
                let caller = TcpStream::connect(place).expect("a connection");
                socket2::SockRef::from(&caller)
                    .set_linger(Some(Duration::ZERO))
                    .expect("it hangs up with a reset");
            }
            let begun = Instant::now();
            let line = format!("-c 127.0.0.1 -p {} -t 1 -J", place.port());
            let mut told = Vec::new();
            while let Err(error) = run_client(&options(&line), &mut told, &AtomicBool::new(false)) {
                assert!(begun.elapsed() < BOUND, "{error}");
                std::thread::sleep(Duration::from_millis(50));
            }
            // What was under way when the client went has arrived by now.
            stream.set_nonblocking(true).expect("it need not wait");
            while stream.recv(&mut [0; 256]).is_ok() {}
            stream.set_nonblocking(false).expect("it waits");
            let silence = Some(Duration::from_millis(300));
            stream.set_read_timeout(silence).expect("a bound");
            assert!(stream.recv(&mut [0; 256]).is_err(), "load goes on");
        }
        stop.store(true, Ordering::Relaxed);
        served.join().expect("a server").expect("no error");
    });
}

fn has_iperf3() -> bool {
    let there = Command::new("iperf3").arg("--version").output().is_ok();
    if !there {
        skip("no program `iperf3`");
    }
    there
}

/// A port that nothing listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

#[test]
fn a_server_of_iperf3_is_loaded() {
    if !has_iperf3() {
        return;
    }
    for line in [
        "-t 1 -J",
        "-t 1 -J -R -P 2",
        "-t 1 -J --bidir",
        "-n 4M -J",
        "-t 1 -J -O 1",
        "-t 1 -J -u -b 8M -l 1000",
        "-t 1 -J -u -b 8M -l 1000 -R",
    ] {
        let port = free_port();
        let mut server = Command::new("iperf3")
            .args([
                "-s",
                "-1",
                "-B",
                "127.0.0.1",
                "-p",
                &port.to_string(),
                "--forceflush",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .expect("iperf3");
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        let listens = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("listening")));
        assert!(listens.is_some(), "iperf3 does not listen");
        let mut told = Vec::new();
        let client = options(&format!("-c 127.0.0.1 -p {port} {line}"));
        let measured = run_client(&client, &mut told, &AtomicBool::new(false));
        let told = String::from_utf8(told).expect("text");
        measured.unwrap_or_else(|error| panic!("{line}: {error}: {told}"));
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        assert!(
            server.wait().expect("iperf3").success(),
            "{line}: {rest:#?}"
        );
        let (sent, received) = sums(&told);
        assert!(sent > 100_000.0 && received > 100_000.0, "{line}: {told}");
        assert!(
            (received - sent).abs() <= sent * 0.5,
            "{line}: {sent} {received}"
        );
    }
}

#[test]
fn clients_of_iperf3_are_served() {
    if !has_iperf3() {
        return;
    }
    for line in [
        "-t 1",
        "-t 1 -R -P 2",
        "-t 1 --bidir",
        "-n 4M",
        "-t 1 -O 1",
        "-t 1 -u -b 8M -l 1000",
        "-t 1 -u -b 8M -l 1000 -R",
    ] {
        let listening = options("-s -B 127.0.0.1 -p 0 -1");
        let server = Server::bind(&listening).expect("a server");
        let port = server.place().port().to_string();
        let output = std::thread::scope(|scope| {
            let served = scope.spawn(|| {
                run_server(
                    &server,
                    &listening,
                    &mut Vec::new(),
                    &AtomicBool::new(false),
                )
            });
            let mut client = Command::new("iperf3");
            client
                .args(["-J", "-c", "127.0.0.1", "-p", &port])
                .args(line.split(' '));
            let output = client.output().expect("iperf3");
            let served = served.join().expect("a server");
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            served.unwrap_or_else(|error| panic!("{line}: {error}: {told}"));
            output
        });
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{line}: {told}");
        let value: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        let end = &value["end"];
        let bytes = |name: &str| end[name]["bytes"].as_f64();
        let sent = bytes("sum_sent").or(bytes("sum")).unwrap_or_default();
        assert!(sent > 100_000.0, "{line}: {told}");
        if let Some(received) = bytes("sum_received") {
            assert!(
                (received - sent).abs() <= sent * 0.5,
                "{line}: {sent} {received}"
            );
        }
    }
}

/// A client whose server accepts and is silent ends when the operator says so.
#[test]
fn a_client_of_a_silent_server_can_be_ended() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let stop = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut caller, _) = listener.accept().expect("a caller");
            caller.read_exact(&mut [0; 37]).expect("its cookie");
            stop.store(true, Ordering::Relaxed);
            // It hangs up first.
            assert_eq!(caller.read(&mut [0]).ok(), Some(0));
        });
        let line = format!("-c 127.0.0.1 -p {port} -t 1");
        run_client(&options(&line), &mut Vec::new(), &stop)
    });
    assert!(matches!(ended, Err(IperfError::Stopped)), "{ended:?}");
}
