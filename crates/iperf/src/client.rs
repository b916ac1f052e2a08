//! The client: loads a server.

use sokudo_model::Text;
use std::io::Write;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Clock;
use crate::control::Control;
use crate::flow::{Data, Flow, TestState};
use crate::options::Options;
use crate::proto::{
    COOKIE_BYTES, Params, State, StreamResult, UDP_HELLO, read_results, results_to_json,
};
use crate::show::{Told, print};
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
    control.send_json(&options.params.to_json())?;
    control.wait_for(State::CreateStreams)?;
    let data = streams(&options.params, place, &cookie)?;
    control.wait_for(State::TestStart)?;
    control.wait_for(State::TestRunning)?;
    let clock = Clock::start(options.interval, options.params.omit);
    let shared = Arc::new(TestState::default());
    let flows = data
        .into_iter()
        .map(|(id, sends, data)| Flow::start((id, sends), data, &options.params, &shared))
        .collect::<Result<_, _>>()?;
    Test {
        options,
        control,
        clock,
        told: Told::new(&options.params, options.json),
        flows,
        shared,
    }
    .run(out, stop)
}

/// The streams of a test, in the order of their ids: id, whether this end sends, and the connection.
fn streams(
    params: &Params,
    place: SocketAddr,
    cookie: &[u8],
) -> Result<Vec<(u64, bool, Data)>, IperfError> {
    let stream = |(at, id)| {
        let data = match params.udp {
            false => {
                let mut stream = connect_to(place)?;
                stream
                    .write_all(cookie)
                    .map_err(IperfError::io("beginning a stream"))?;
                Data::Tcp(stream)
            }
            true => Data::Udp(hello(place)?),
        };
        Ok((id, params.server_receives(at), data))
    };
    params.ids().into_iter().enumerate().map(stream).collect()
}

/// A test that runs.
struct Test<'a> {
    options: &'a Options,
    control: Control<'a>,
    clock: Clock,
    told: Told,
    flows: Vec<Flow>,
    shared: Arc<TestState>,
}

impl Test<'_> {
    fn run(mut self, out: &mut dyn Write, stop: &AtomicBool) -> Result<(), IperfError> {
        print(out, &self.told.begin(&self.flows))?;
        self.measure(out, stop)?;
        let own = self.end_flows(out)?;
        self.control.send_json(&results_to_json(&own))?;
        let far = read_results(&self.control.read_json()?);
        self.control.wait_for(State::DisplayResults)?;
        self.control.tell(State::Done)?;
        print(out, &self.told.end(&self.flows, &own, &far))?;
        if !self.options.json {
            print(out, "\niperf Done.\n")?;
        }
        Ok(())
    }

    /// Waits until the time or the amount is reached or `stop` is set, and tells the intervals.
    fn measure(&mut self, out: &mut dyn Write, stop: &AtomicBool) -> Result<(), IperfError> {
        let params = &self.options.params;
        let length = match params.seconds {
            0 => LONGEST,
            seconds => Duration::from_secs(seconds),
        };
        loop {
            if let Some(omit) = self.clock.end_omit() {
                self.omit(omit, out)?;
            }
            let now = self.clock.elapsed();
            let until = self.clock.omitting().unwrap_or(length);
            let ended = (now < until).then(|| self.clock.end_interval(now));
            if let Some(end) = ended.flatten() {
                print(out, &self.told.interval(&self.flows, end))?;
            }
            let has_enough = self.clock.omitting().is_none()
                && params.bytes > 0
                && self.shared.bytes.load(Ordering::Relaxed) >= params.bytes;
            if now >= length && self.clock.omitting().is_none()
                || has_enough
                || stop.load(Ordering::Relaxed)
            {
                return Ok(());
            }
            if let Some(broken) = self.shared.broken() {
                return Err(IperfError::Protocol(format!("a stream broke: {broken}")));
            }
            match self.control.state_within(until.saturating_sub(now))? {
                None => {}
                Some(State::ServerTerminate) => return Err(IperfError::Ended),
                Some(other) => {
                    return Err(IperfError::Protocol(format!("{other:?} during the test")));
                }
            }
        }
    }

    /// Leaves out what was measured so far.
    fn omit(&mut self, omit: Duration, out: &mut dyn Write) -> Result<(), IperfError> {
        if self.clock.tells_intervals() {
            print(out, &self.told.interval(&self.flows, omit.as_secs_f64()))?;
        }
        self.flows.iter_mut().for_each(Flow::omit);
        self.shared.bytes.store(0, Ordering::Relaxed);
        self.told.omit();
        Ok(())
    }

    /// Ends the sending of this end, tells the last interval and the server that the test is over, and gives
    /// what each flow carried.
    fn end_flows(&mut self, out: &mut dyn Write) -> Result<Vec<StreamResult>, IperfError> {
        let seconds = self.clock.elapsed().as_secs_f64();
        // What receivers take from now on belongs to no interval of the test.
        let received: Vec<_> = self.flows.iter().map(|it| it.so_far(seconds)).collect();
        self.shared.over.store(true, Ordering::Relaxed);
        let senders = self.flows.iter_mut().filter(|flow| flow.sends);
        senders.for_each(Flow::join);
        if self.clock.tells_intervals() {
            print(out, &self.told.interval(&self.flows, seconds))?;
        }
        self.control.tell(State::TestEnd)?;
        self.control.wait_for(State::ExchangeResults)?;
        let own = self.flows.iter().zip(received).map(|(flow, received)| {
            if flow.sends {
                flow.so_far(seconds)
            } else {
                received
            }
        });
        Ok(own.collect())
    }
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

fn connect_to(place: SocketAddr) -> Result<TcpStream, IperfError> {
    TcpStream::connect_timeout(&place, CONNECT).map_err(IperfError::io("connecting a stream"))
}

/// A stream of datagrams that the server knows of.
fn hello(place: SocketAddr) -> Result<UdpSocket, IperfError> {
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
