//! Tests of streams at their limits: a thousand at once, no free port, no answer.
#![cfg(target_os = "linux")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use sokudo_net::netns::LocalHosts;
use sokudo_net::stream::{
    Connector, Endpoint, Listener, Stream, StreamError, StreamKind, StreamOptions,
};
use sokudo_net::tcp::{self, TcpError, TcpOptions};
use sokudo_net::wait::{self, Interest, Trigger, Wait, Waiter};

const BOUND: Duration = Duration::from_secs(60);

/// Reads what has come; true when the peer has ended.
fn echo(stream: &mut Box<dyn Stream>, buffer: &mut [u8]) -> bool {
    loop {
        match stream.read(buffer) {
            Ok(0) => return true,
            Ok(n) => stream.write_all(&buffer[..n]).expect("echo"),
            Err(why) if why.kind() == ErrorKind::WouldBlock => return false,
            Err(why) => panic!("{why}"),
        }
    }
}

/// One thread serves all connections until each has ended.
fn serve(listener: &Listener, connections: usize, trigger: Trigger) {
    let mut waiter = Waiter::new(Wait::Epoll, trigger, 256).expect("epoll");
    let mut streams: Vec<Option<Box<dyn Stream>>> = Vec::new();
    for token in 0..connections {
        let incoming = listener.accept(BOUND).expect("accept").expect("a caller");
        let mut stream = incoming.establish(BOUND).expect("establish");
        stream.set_read_bound(Duration::ZERO).expect("bound");
        let source = stream.source().expect("a socket");
        waiter
            .add(source, token as u64, Interest::Read)
            .expect("watch");
        streams.push(Some(stream));
    }
    let mut buffer = vec![0; 4096];
    let mut left = connections;
    let deadline = Instant::now() + BOUND;
    while left > 0 {
        assert!(Instant::now() < deadline, "{left} connections never ended");
        for index in 0..waiter.wait(Duration::from_secs(1)).expect("wait") {
            let place = &mut streams[waiter.ready(index).token as usize];
            let ended = place
                .as_mut()
                .is_some_and(|stream| echo(stream, &mut buffer));
            if ended && let Some(stream) = place.take() {
                waiter
                    .remove(stream.source().expect("a socket"))
                    .expect("forget");
                left -= 1;
            }
        }
    }
}

fn a_thousand(kind: StreamKind, local: Endpoint, trigger: Trigger) {
    const CONNECTIONS: usize = 1_000;
    let room = wait::allow_open_files(2 * CONNECTIONS as u64 + 200).unwrap_or(u64::MAX);
    if room < 2 * CONNECTIONS as u64 + 100 {
        eprintln!("skipped: only {room} files may be open");
        return;
    }
    let options = StreamOptions::default();
    let listener = Listener::bind(kind, &local, &options).expect("listen");
    let there = listener.local().expect("address");
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&listener, CONNECTIONS, trigger));
        let connector = Connector::new(kind, options).expect("connector");
        let mut streams: Vec<_> = (0..CONNECTIONS)
            .map(|_| connector.connect(&there, BOUND).expect("connect").stream)
            .collect();
        for round in 0..3u8 {
            for stream in &mut streams {
                stream.write_all(&[round; 100]).expect("ask");
            }
            for stream in &mut streams {
                let mut answer = [0; 100];
                stream.read_exact(&mut answer).expect("answer");
                assert_eq!(answer, [round; 100]);
            }
        }
    });
}

#[test]
fn one_thread_serves_a_thousand_tcp_connections() {
    let local = || Endpoint::Ip((Ipv4Addr::LOCALHOST, 0).into());
    a_thousand(StreamKind::Tcp, local(), Trigger::Level);
    a_thousand(StreamKind::Tcp, local(), Trigger::Edge);
}

#[test]
fn one_thread_serves_a_thousand_unix_connections() {
    let name = format!("@sokudo-thousand-{}", std::process::id());
    let local = Endpoint::Local(sokudo_net::unix::Name::parse(&name));
    a_thousand(StreamKind::Unix, local, Trigger::Level);
}

/// A listener whose queue is full drops further calls without a word.
#[test]
fn silence_ends_at_the_bound() {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("socket");
    let any: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    socket.bind(&any.into()).expect("bind");
    socket.listen(0).expect("listen");
    let there = socket
        .local_addr()
        .expect("address")
        .as_socket()
        .expect("an IP address");
    let bound = Duration::from_millis(100);
    let mut queued = Vec::new();
    let why = loop {
        assert!(
            queued.len() < 100,
            "a queue of none takes {} calls",
            queued.len()
        );
        match tcp::connect(there, &TcpOptions::default(), bound) {
            Ok(connection) => queued.push(connection),
            Err(why) => break why,
        }
    };
    assert!(matches!(why, TcpError::TimedOut { .. }), "{why:?}");
    assert!(why.hint().is_some());
}

#[test]
fn a_lack_of_ports_and_of_routes_are_told_apart() {
    let hosts = match LocalHosts::new(2, None) {
        Ok(hosts) => hosts,
        Err(why) => return eprintln!("skipped: {why:?}"),
    };
    let there = SocketAddr::new(hosts.address(1), 7);
    let (ready, listening) = std::sync::mpsc::channel();
    let (finished, done) = std::sync::mpsc::channel::<()>();
    let server = hosts
        .spawn_on(1, move || {
            let listener = tcp::listen(there, &TcpOptions::default()).expect("listen");
            ready.send(()).expect("tell");
            // The kernel completes handshakes by itself; only the listener must stay.
            let _ = done.recv_timeout(BOUND);
            drop(listener);
        })
        .expect("enter host 1");
    listening.recv_timeout(BOUND).expect("a listener");
    let caller = hosts.spawn_on(0, move || {
        let ports = "/proc/sys/net/ipv4/ip_local_port_range";
        if let Err(why) = std::fs::write(ports, "40000 40003") {
            eprintln!("skipped: {ports}: {why}");
            return;
        }
        let options = TcpOptions::default();
        let mut held = Vec::new();
        let why = loop {
            assert!(
                held.len() <= 4,
                "four ports carry {} connections",
                held.len()
            );
            match tcp::connect(there, &options, BOUND) {
                Ok(connection) => held.push(connection),
                Err(why) => break why,
            }
        };
        assert_eq!(held.len(), 4);
        assert!(matches!(why, TcpError::PortsExhausted { .. }), "{why:?}");
        // 203.0.113.0/24 is documentation's (RFC 5737); these hosts have no way out.
        let nowhere = ([203, 0, 113, 1], 7).into();
        drop(held.pop());
        let why = tcp::connect(nowhere, &options, BOUND).expect_err("nobody is there");
        assert!(matches!(why, TcpError::Unreachable { .. }), "{why:?}");
    });
    caller.expect("enter host 0").join().expect("caller");
    drop(finished);
    server.join().expect("server");
}

#[test]
fn a_refusal_is_a_sentence_with_a_hint() {
    let connector = Connector::new(StreamKind::Tcp, StreamOptions::default()).expect("connector");
    let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("bind");
    let there = Endpoint::Ip(free.local_addr().expect("address"));
    drop(free);
    let why = connector
        .connect(&there, BOUND)
        .expect_err("nobody listens");
    assert!(matches!(why, StreamError::Tcp(TcpError::Refused { .. })));
    assert_eq!(why.to_string(), format!("{there} refuses the connection"));
    assert!(why.hint().is_some());
}
