//! Tests of callers that forge the proof of a flow: what was overheard elsewhere, other flows' secrets, messages of
//! the other end, the right secret when all is over, and many of them at once.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use sokudo_workload::consent;

use super::*;

/// Secret of no flow.
const WRONG: u64 = TICKET ^ 1;
/// Forgers of each kind at a time.
const AT_ONCE: usize = 20;

/// A stream that keeps what is written to it.
struct Overheard {
    tcp: TcpStream,
    said: Vec<u8>,
}

impl Read for Overheard {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.tcp.read(out)
    }
}

impl Write for Overheard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.said.extend_from_slice(bytes);
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Places of an offer by flow.
fn ports(offer: &str) -> Vec<(u32, u16)> {
    let offer: Value = serde_json::from_str(offer).expect("offers are JSON");
    let places = offer["places"].as_object().expect("places");
    let place = |(flow, place): (&String, &Value)| {
        let port = place["Port"].as_u64().expect("a port");
        (flow.parse().expect("a number"), port as u16)
    };
    places.iter().map(place).collect()
}

fn call(port: u16) -> io::Result<TcpStream> {
    let tcp = TcpStream::connect(("127.0.0.1", port))?;
    tcp.set_read_timeout(Some(BOUND))?;
    Ok(tcp)
}

/// What a caller says who belongs to the flow: overheard at another phase with the same secret.
fn overhear(case: &Case) -> Vec<u8> {
    let (called, _) = case.prepare(1);
    let (flow, port) = ports(&called.offer())[0];
    let mut stream = Overheard {
        tcp: call(port).expect("it listens"),
        said: Vec::new(),
    };
    consent::ask(&mut stream, flow, TICKET).expect("this one holds the secret");
    stream.said
}

/// Says something and reads until the other end hangs up: at most one message, which proves nothing.
fn is_turned_away(port: u16, said: &[u8]) {
    let Ok(mut tcp) = call(port) else { return };
    // It may hang up before all was said.
    let _ = tcp.write_all(said);
    let mut back = Vec::new();
    let read = tcp.read_to_end(&mut back);
    let is_reset = read.as_ref().is_err_and(|error| {
        use io::ErrorKind::{BrokenPipe, ConnectionReset};
        matches!(error.kind(), BrokenPipe | ConnectionReset)
    });
    assert!(read.is_ok() || is_reset, "{read:?}");
    assert!(back.len() <= MESSAGE_BYTES, "{} bytes", back.len());
    assert!(!holds_secret(&back));
}

fn asks_in_vain(port: u16, flow: u32, ticket: u64) {
    if let Ok(mut tcp) = call(port) {
        assert!(consent::ask(&mut tcp, flow, ticket).is_err());
    }
}

/// The proof as each forger tries it, all at the same time.
fn forge(port: u16, flow: u32, overheard: &[u8]) {
    let (hello, proof) = overheard.split_at(MESSAGE_BYTES);
    // The step of each message stands in its bytes 8 to 12.
    let mut welcome = hello.to_vec();
    welcome[11] = 2;
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| is_turned_away(port, overheard));
            scope.spawn(|| is_turned_away(port, proof));
            scope.spawn(|| is_turned_away(port, &[proof, hello].concat()));
            scope.spawn(|| is_turned_away(port, &welcome));
            scope.spawn(|| is_turned_away(port, &hello.repeat(2)));
            scope.spawn(|| asks_in_vain(port, flow, WRONG));
            scope.spawn(|| asks_in_vain(port, flow + 1, TICKET));
            scope.spawn(|| asks_in_vain(port, u32::MAX, TICKET));
            scope.spawn(|| is_turned_away(port, &WRONG.to_be_bytes()));
        }
    });
}

/// Plays a case whose called end is ready; both ends must give their numbers.
fn plays(case: &Case, mut called: Box<dyn Phase>) -> Box<dyn Phase> {
    let (mut calling, emitted) = case.prepare(0);
    let offers = [Some(calling.offer()), Some(called.offer())];
    called.arm(&offers).expect("it is ready");
    let armed = calling.arm(&offers);
    armed.unwrap_or_else(|refusal| panic!("{}: {}", case.name(), english(&refusal.says)));
    let at_ns = now_ns() + 20_000_000;
    for phase in [&mut called, &mut calling] {
        let started = phase.start(at_ns, at_ns);
        started.unwrap_or_else(|refusal| panic!("{}: {}", case.name(), english(&refusal.says)));
    }
    let sent = loop {
        if let Emitted::Sent(sent) = emitted.recv_timeout(BOUND).expect("it ends") {
            break sent;
        }
    };
    let sent = [Some(sent), None];
    let results = [calling.drain(&sent), called.drain(&sent)];
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    called
}

#[test]
fn who_forges_the_proof_gets_in_neither_before_nor_after_the_load() {
    let short = r#""duration":"100ms""#;
    for case in [
        case::<RrOptions>(&Rr, short),
        case::<RrOptions>(&Rr, &format!(r#"{short},"connections":3"#)),
        case::<CrrOptions>(&Crr, short),
        case::<StreamOptions>(&Stream, short),
        case::<BusOptions>(&Bus, short),
        case::<BusOptions>(&Bus, &format!(r#"{short},"single":true,"mode":"rr""#)),
    ] {
        let overheard = overhear(&case);
        assert_eq!(overheard.len(), 2 * MESSAGE_BYTES, "{}", case.name());
        let (called, _said) = case.prepare(1);
        let places = ports(&called.offer());
        for (flow, port) in &places {
            forge(*port, *flow, &overheard);
        }
        let _over = plays(&case, called);
        for (flow, port) in places {
            asks_in_vain(port, flow, TICKET);
            is_turned_away(port, &overheard);
        }
    }
}

/// The same over datagrams: nobody gets more back than a message for each one, and nothing in return for a proof.
#[test]
fn who_forges_the_proof_over_datagrams_gets_in_as_little() {
    let short = r#""duration":"100ms""#;
    for case in [
        case::<RrOptions>(&Rr, &format!(r#"{short},"transport":"udp""#)),
        case::<ProbeOptions>(&Probe, short),
        case::<DatagramOptions>(&Datagram, short),
    ] {
        let overheard = overhear(&super::case::<RrOptions>(&Rr, short));
        let (called, _said) = case.prepare(1);
        let offer: Value = serde_json::from_str(&called.offer()).expect("offers are JSON");
        let list = ["places", "ports"]
            .into_iter()
            .find_map(|list| offer[list].as_object());
        let list = list.expect("places").values();
        for place in list {
            let port = place.as_u64().or(place["Port"].as_u64()).expect("a port") as u16;
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
            socket.connect(("127.0.0.1", port)).expect("a route");
            let (hello, proof) = overheard.split_at(MESSAGE_BYTES);
            for message in [proof, &hello[1..], b"", &[proof, hello].concat()] {
                socket.send(message).expect("sent");
            }
            assert!(consent::ask_over(&[&socket], 0, WRONG).is_err());
            socket.set_nonblocking(true).expect("a mode");
            assert!(socket.recv(&mut [0; 128]).is_err(), "{}", case.name());
        }
        let _over = plays(&case, called);
    }
}
