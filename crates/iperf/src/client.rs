//! The client: loads a server.

use sokudo_model::Text;
use std::io::Write;
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::control::Control;
use crate::flow::{Data, Flow, TestState};
use crate::options::Options;
use crate::proto::{COOKIE_BYTES, Params, State, UDP_HELLO, read_results, results_to_json};
use crate::show::Told;
use crate::{IperfError, proto};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Hellos of a stream of datagrams before it gives up, and the wait after each.
const HELLOS: u32 = 20;
const HELLO_WAIT: Duration = Duration::from_millis(250);
/// Longest test that an amount ends.
const LONGEST: Duration = Duration::from_secs(proto::SECONDS_MAX);

/// Carries the test out, and prints what the tool would print. `stop` ends it early; what was measured is
/// told.
pub fn run(options: &Options, out: &mut dyn Write, stop: &AtomicBool) -> Result<(), IperfError> {
    let (host, port) = (&options.host, options.port);
    let print = |out: &mut dyn Write, text: &str| {
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(IperfError::io("writing the results"))
    };
    if !options.json {
        print(out, &format!("Connecting to host {host}, port {port}\n"))?;
    }
    let control = connect(host, port)?;
    let place = control
        .peer_addr()
        .map_err(IperfError::io("asking for the server's address"))?;
    let mut control = Control::new(control, stop)?;
    let cookie = cookie();
    control.send(&cookie)?;
    control.wait_for(State::ParamExchange)?;
    let params = &options.params;
    control.send_json(&params.to_json())?;
    control.wait_for(State::CreateStreams)?;
    let mut data = Vec::new();
    for id in params.ids() {
        let at = data.len() as u64;
        let sends = if params.bidir {
            at < params.parallel
        } else {
            !params.reverse
        };
        let one = match params.udp {
            false => {
                let mut stream = connect_to(place)?;
                stream
                    .write_all(&cookie)
                    .map_err(IperfError::io("beginning a stream"))?;
                Data::Tcp(stream)
            }
            true => Data::Udp(hello(place)?),
        };
        data.push((id, sends, one));
    }
    control.wait_for(State::TestStart)?;
    control.wait_for(State::TestRunning)?;
    let mut begun = Instant::now();
    let shared = Arc::new(TestState::default());
    let flows = data.into_iter();
    let mut flows = flows
        .map(|(id, sends, data)| Flow::start((id, sends), data, params, &shared))
        .collect::<Result<Vec<_>, _>>()?;
    let mut told = Told::new(params, options.json);
    print(out, &told.begin(&flows))?;
    let length = match params.seconds {
        0 => LONGEST,
        seconds => Duration::from_secs(seconds),
    };
    let mut next = options.interval;
    let mut omit = Duration::from_secs(params.omit);
    let ended_early = loop {
        let now = begun.elapsed();
        if !omit.is_zero() && now >= omit {
            if !options.interval.is_zero() {
                print(out, &told.interval(&flows, omit.as_secs_f64()))?;
            }
            flows.iter_mut().for_each(Flow::omit);
            shared.bytes.store(0, Ordering::Relaxed);
            told.omit();
            begun += omit;
            (omit, next) = (Duration::ZERO, options.interval);
            continue;
        }
        let until = if omit.is_zero() { length } else { omit };
        if !options.interval.is_zero() && now >= next && now < until {
            print(out, &told.interval(&flows, next.as_secs_f64()))?;
            next += options.interval;
        }
        let has_enough = omit.is_zero()
            && params.bytes > 0
            && shared.bytes.load(Ordering::Relaxed) >= params.bytes;
        if now >= until || has_enough || stop.load(Ordering::Relaxed) {
            break None;
        }
        if let Some(broken) = shared.broken() {
            break Some(broken);
        }
        match control.state_within(until.saturating_sub(now)) {
            Ok(None) => {}
            Ok(Some(State::ServerTerminate)) | Err(IperfError::Ended) => {
                return Err(IperfError::Ended);
            }
            Ok(Some(other)) => {
                return Err(IperfError::Protocol(format!("{other:?} during the test")));
            }
            Err(error) => return Err(error),
        }
    };
    if let Some(broken) = ended_early {
        return Err(IperfError::Protocol(format!("a stream broke: {broken}")));
    }
    let seconds = begun.elapsed().as_secs_f64();
    // What receivers take from now on belongs to no interval of the test.
    let received: Vec<_> = flows.iter().map(|flow| flow.so_far(seconds)).collect();
    shared.over.store(true, Ordering::Relaxed);
    flows
        .iter_mut()
        .filter(|flow| flow.sends)
        .for_each(Flow::join);
    if !options.interval.is_zero() {
        print(out, &told.interval(&flows, seconds))?;
    }
    control.tell(State::TestEnd)?;
    control.wait_for(State::ExchangeResults)?;
    let own = flows.iter().zip(received);
    let own: Vec<_> = own
        .map(|(flow, received)| {
            if flow.sends {
                flow.so_far(seconds)
            } else {
                received
            }
        })
        .collect();
    control.send_json(&results_to_json(&own))?;
    let far = read_results(&control.read_json()?);
    control.wait_for(State::DisplayResults)?;
    control.tell(State::Done)?;
    let text = told.end(&flows, &own, &far);
    print(out, &text)?;
    if !options.json {
        print(out, "\niperf Done.\n")?;
    }
    Ok(())
}

fn connect(host: &str, port: u16) -> Result<TcpStream, IperfError> {
    let what = Text::new("error-iperf-connecting")
        .word("host", host)
        .with("port", port);
    let places = (host, port)
        .to_socket_addrs()
        .map_err(IperfError::io(what.clone()))?;
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for place in places {
        match TcpStream::connect_timeout(&place, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(IperfError::io(what)(last))
}

fn connect_to(place: std::net::SocketAddr) -> Result<TcpStream, IperfError> {
    TcpStream::connect_timeout(&place, CONNECT).map_err(IperfError::io("connecting a stream"))
}

/// A stream of datagrams that the server knows of.
fn hello(place: std::net::SocketAddr) -> Result<UdpSocket, IperfError> {
    let failed = |error| IperfError::io("connecting a stream")(error);
    let any = if place.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let socket = UdpSocket::bind(any).map_err(failed)?;
    socket.connect(place).map_err(failed)?;
    socket.set_read_timeout(Some(HELLO_WAIT)).map_err(failed)?;
    let mut answer = [0; 4];
    for _ in 0..HELLOS {
        socket.send(&UDP_HELLO).map_err(failed)?;
        // Refused or late: the server's next socket may not be there yet.
        if matches!(socket.recv(&mut answer), Ok(4)) {
            return Ok(socket);
        }
    }
    Err(IperfError::Protocol(
        "no datagram of the server came back".into(),
    ))
}

/// A cookie that no other client has: the time and an address of this process.
fn cookie() -> [u8; COOKIE_BYTES] {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut state = now.map_or(0, |it| it.as_nanos() as u64) ^ u64::from(std::process::id()) << 32;
    let mut cookie = [0; COOKIE_BYTES];
    for letter in &mut cookie[..COOKIE_BYTES - 1] {
        // Constants of Knuth's MMIX; a cookie tells clients apart and guards nothing.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *letter = LETTERS[(state >> 59) as usize];
    }
    cookie
}

impl Params {
    /// True when this end, as a server, receives the stream at this place.
    pub fn server_receives(&self, at: usize) -> bool {
        match self.bidir {
            true => (at as u64) < self.parallel,
            false => !self.reverse,
        }
    }
}
