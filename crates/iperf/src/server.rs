//! The server: one test at a time; other clients are told that it is busy.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};
use sokudo_model::Text;

use crate::IperfError;
use crate::clock::Clock;
use crate::control::{Control, is_timeout};
use crate::flow::{Data, Flow, TestState};
use crate::options::Options;
use crate::proto::{
    COOKIE_BYTES, JSON_BYTES_MAX, Params, SECONDS_MAX, State, UDP_WELCOME, read_results,
    results_to_json,
};
use crate::show::{Told, print};

/// Longest wait for a stream of a client.
const STREAM: Duration = Duration::from_secs(20);
/// Receive buffer that is asked for a stream of datagrams, bytes.
const UDP_BUFFER: usize = 4 << 20;
/// Longest wait for a caller to say who it is, and callers that are waited for at a time.
const CALLER: (Duration, usize) = (Duration::from_secs(5), 64);
/// Longest wait between two looks at what else is to be done.
const LOOK: Duration = Duration::from_millis(50);
/// A test that its client does not end is ended so long after its time.
const GRACE: Duration = Duration::from_secs(30);
/// A test in which no byte moves for so long is ended: the client may have asked for a day, and others wait. It is
/// the idle timeout of iperf3 itself (`--rcv-timeout`).
const STILL: Duration = Duration::from_secs(120);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    place: SocketAddr,
}

impl Server {
    /// Listens; port 0 takes a free one.
    pub fn bind(options: &Options) -> Result<Self, IperfError> {
        let host = if options.host.is_empty() {
            "::"
        } else {
            &options.host
        };
        let what = Text::new("error-iperf-listening").with("port", options.port);
        let listener = TcpListener::bind((host, options.port));
        // A host without IPv6.
        let listener = match listener {
            Err(_) if options.host.is_empty() => TcpListener::bind(("0.0.0.0", options.port)),
            bound => bound,
        };
        let listener = listener.map_err(IperfError::io(what.clone()))?;
        listener
            .set_nonblocking(true)
            .map_err(IperfError::io(what.clone()))?;
        let place = listener.local_addr().map_err(IperfError::io(what))?;
        Ok(Self { listener, place })
    }

    /// Address on which it listens.
    pub fn place(&self) -> SocketAddr {
        self.place
    }

    /// A client and where it is; `None` when none came within a moment. What goes wrong with one caller, or
    /// for want of open files, concerns none of the later ones.
    fn accept(&self) -> Option<(TcpStream, SocketAddr)> {
        match self.listener.accept() {
            Ok((stream, peer)) => stream.set_nonblocking(false).ok().map(|()| (stream, peer)),
            Err(_) => {
                std::thread::sleep(LOOK);
                None
            }
        }
    }
}

/// Callers that have not said yet what they want. None of them is waited for alone: a caller that connects and is
/// silent holds nobody up.
#[derive(Default)]
struct Callers(VecDeque<Caller>);

struct Caller {
    stream: TcpStream,
    peer: SocketAddr,
    since: Instant,
    /// Name of its test, once it has said it and was asked for the rest.
    cookie: Option<[u8; COOKIE_BYTES]>,
}

impl Caller {
    /// Reads the name of its test when it is there whole.
    fn said_name(&mut self) -> Option<[u8; COOKIE_BYTES]> {
        let mut cookie = [0; COOKIE_BYTES];
        let count = self.stream.peek(&mut cookie).ok()?;
        (count == COOKIE_BYTES).then_some(())?;
        self.stream.read_exact(&mut cookie).ok().map(|()| cookie)
    }

    /// True when its parameters are there whole, or can never be. It is asked for them first.
    fn said_parameters(&mut self) -> bool {
        if self.cookie.is_none() {
            self.cookie = self.said_name();
            if self.cookie.is_some() {
                self.since = Instant::now();
                // It may have gone, which is seen the next time.
                let _ = self.stream.write_all(&[State::ParamExchange.byte()]);
            }
            return false;
        }
        let mut length = [0; 4];
        if !self.stream.peek(&mut length).is_ok_and(|count| count == 4) {
            return false;
        }
        let length = u32::from_be_bytes(length);
        let mut whole = vec![0; 4 + length.min(JSON_BYTES_MAX) as usize];
        let there = self.stream.peek(&mut whole);
        length > JSON_BYTES_MAX || there.is_ok_and(|count| count == whole.len())
    }

    /// The same, whose reads wait.
    fn waiting(self) -> Option<Self> {
        self.stream.set_nonblocking(false).ok().map(|()| self)
    }
}

impl Callers {
    /// Lets a caller wait; the oldest makes room.
    fn add(&mut self, (stream, peer): (TcpStream, SocketAddr)) {
        if self.0.len() >= CALLER.1 {
            self.0.pop_front();
        }
        if stream.set_nonblocking(true).is_ok() {
            self.0.push_back(Caller {
                stream,
                peer,
                since: Instant::now(),
                cookie: None,
            });
        }
    }

    /// Forgets those that have gone or have had their time.
    fn look(&mut self) {
        self.0.retain(|caller| {
            let is_there = match caller.stream.peek(&mut [0]) {
                Ok(count) => count > 0,
                Err(error) => is_timeout(&error),
            };
            is_there && caller.since.elapsed() < CALLER.0
        });
    }

    /// The first that has said what it wants.
    fn next(&mut self) -> Option<Caller> {
        self.look();
        let at = self.0.iter_mut().position(Caller::said_parameters)?;
        self.0.remove(at).and_then(Caller::waiting)
    }

    /// The first that has named a test, and its name.
    fn next_stream(&mut self) -> Option<(TcpStream, [u8; COOKIE_BYTES])> {
        self.look();
        let mut all = self.0.iter_mut().enumerate();
        let (at, cookie) = all.find_map(|(at, caller)| Some((at, caller.said_name()?)))?;
        let caller = self.0.remove(at).and_then(Caller::waiting)?;
        Some((caller.stream, cookie))
    }

    /// Those who wait hear that a test goes on.
    fn turn_away(&mut self) {
        for mut caller in self.0.drain(..) {
            // It may have gone.
            let _ = caller.stream.write_all(&[State::AccessDenied.byte()]);
        }
    }
}

/// Serves clients until `stop`, and prints what the tool would print. What a client does wrong ends its
/// test only.
pub fn run(
    server: &Server,
    options: &Options,
    out: &mut dyn Write,
    stop: &AtomicBool,
) -> Result<(), IperfError> {
    if !options.json {
        let port = server.place.port();
        let rule = "-".repeat(59);
        print(
            out,
            &format!("{rule}\nServer listening on {port}\n{rule}\n"),
        )?;
    }
    let mut callers = Callers::default();
    while !stop.load(Ordering::Relaxed) {
        if let Some(caller) = server.accept() {
            callers.add(caller);
        }
        let Some(caller) = callers.next() else {
            continue;
        };
        callers.turn_away();
        let peer = caller.peer;
        match one_test(server, options, caller, out, stop) {
            Err(error) if options.one_off => return Err(error),
            Err(error) => eprintln!("  ! {peer}: {error}"),
            Ok(()) if options.one_off => return Ok(()),
            Ok(()) => {}
        }
    }
    Ok(())
}

fn one_test(
    server: &Server,
    options: &Options,
    caller: Caller,
    out: &mut dyn Write,
    stop: &AtomicBool,
) -> Result<(), IperfError> {
    let (peer, cookie) = (caller.peer, caller.cookie.unwrap_or([0; COOKIE_BYTES]));
    let mut control = Control::new(caller.stream, stop)?;
    let params = Params::read(&control.read_json()?).map_err(IperfError::Protocol)?;
    if !options.json {
        let (address, port) = (peer.ip(), peer.port());
        print(
            out,
            &format!("Accepted connection from {address}, port {port}\n"),
        )?;
    }
    let data = streams(server, &params, &cookie, peer, &mut control)?;
    let mut test = Test::start(options, params, data, control)?;
    print(out, &test.told.begin(&test.flows))?;
    test.measure(server, out, stop)?;
    test.end(out)
}

/// A test that runs.
struct Test<'a> {
    params: Params,
    control: Control<'a>,
    clock: Clock,
    told: Told,
    flows: Vec<Flow>,
    shared: Arc<TestState>,
}

impl<'a> Test<'a> {
    /// Starts the flows: a receiving one before the client may send, a sending one once the client knows
    /// that the test runs.
    fn start(
        options: &Options,
        params: Params,
        data: Vec<Data>,
        mut control: Control<'a>,
    ) -> Result<Self, IperfError> {
        let shared = Arc::new(TestState::default());
        control.tell(State::TestStart)?;
        let mut flows = Vec::new();
        let mut senders = Vec::new();
        for (at, (id, data)) in params.ids().into_iter().zip(data).enumerate() {
            match params.server_receives(at) {
                true => flows.push(Flow::start((id, false), data, &params, &shared)?),
                false => senders.push((id, data)),
            }
        }
        control.tell(State::TestRunning)?;
        let clock = Clock::start(options.interval, params.omit);
        for (id, data) in senders {
            flows.push(Flow::start((id, true), data, &params, &shared)?);
        }
        Ok(Self {
            told: Told::new(&params, options.json),
            params,
            control,
            clock,
            flows,
            shared,
        })
    }

    /// Waits until the client ends the test, tells the intervals, and turns other clients away.
    fn measure(
        &mut self,
        server: &Server,
        out: &mut dyn Write,
        stop: &AtomicBool,
    ) -> Result<(), IperfError> {
        let longest = match self.params.seconds {
            0 => Duration::from_secs(SECONDS_MAX),
            seconds => Duration::from_secs(seconds + self.params.omit) + GRACE,
        };
        let mut movement = Movement::default();
        loop {
            if self.clock.end_omit().is_some() {
                self.flows.iter_mut().for_each(Flow::omit);
                self.told.omit();
            }
            let now = self.clock.elapsed();
            if let Some(end) = self.clock.end_interval(now) {
                print(out, &self.told.interval(&self.flows, end))?;
            }
            if stop.load(Ordering::Relaxed) {
                self.control.tell(State::ServerTerminate)?;
                return Err(IperfError::Ended);
            }
            if now > longest {
                let what = "the client does not end its test";
                return Err(IperfError::Protocol(what.into()));
            }
            if movement.is_still(self.shared.bytes.load(Ordering::Relaxed), now) {
                let what = "nothing moves in the client's test";
                return Err(IperfError::Protocol(what.into()));
            }
            turn_away(server)?;
            match self.control.state_within(LOOK)? {
                None => {}
                Some(State::TestEnd) => return Ok(()),
                Some(State::ClientTerminate) => return Err(IperfError::Ended),
                Some(other) => {
                    return Err(IperfError::Protocol(format!("{other:?} during the test")));
                }
            }
        }
    }

    /// Ends the flows, and exchanges and prints the results.
    fn end(mut self, out: &mut dyn Write) -> Result<(), IperfError> {
        let seconds = self.clock.elapsed().as_secs_f64();
        self.shared.over.store(true, Ordering::Relaxed);
        self.flows.iter_mut().for_each(Flow::join);
        let own: Vec<_> = self.flows.iter().map(|it| it.so_far(seconds)).collect();
        self.control.tell(State::ExchangeResults)?;
        let far = read_results(&self.control.read_json()?);
        self.control.send_json(&results_to_json(&own))?;
        self.control.tell(State::DisplayResults)?;
        // A client that is content says so; one that has gone has its results anyway.
        let _ = self.control.wait_for(State::Done);
        print(out, &self.told.end(&self.flows, &own, &far))
    }
}

/// When the bytes of all streams last grew.
#[derive(Default)]
struct Movement {
    bytes: u64,
    since: Duration,
}

impl Movement {
    /// True when they have not grown for too long.
    fn is_still(&mut self, bytes: u64, now: Duration) -> bool {
        if bytes != self.bytes {
            *self = Self { bytes, since: now };
        }
        now.saturating_sub(self.since) > STILL
    }
}

/// Other clients hear that a test goes on.
fn turn_away(server: &Server) -> Result<(), IperfError> {
    if let Ok((mut other, _)) = server.listener.accept() {
        // It may have gone.
        let _ = other.write_all(&[State::AccessDenied.byte()]);
    }
    Ok(())
}

/// The data connections of a client, in the order in which it makes them.
fn streams(
    server: &Server,
    params: &Params,
    cookie: &[u8; COOKIE_BYTES],
    peer: SocketAddr,
    control: &mut Control<'_>,
) -> Result<Vec<Data>, IperfError> {
    let wanted = params.ids().len();
    let mut udp = params.udp.then(|| udp_socket(server.place)).transpose()?;
    control.tell(State::CreateStreams)?;
    let due = Instant::now() + STREAM;
    let (mut data, mut callers) = (Vec::new(), Callers::default());
    while data.len() < wanted {
        if Instant::now() > due {
            return Err(IperfError::Protocol(
                "the client does not connect its streams".into(),
            ));
        }
        // A client that has gone connects nothing more.
        if let Some(said) = control.state_within(Duration::ZERO)? {
            return Err(match said {
                State::ClientTerminate => IperfError::Ended,
                other => IperfError::Protocol(format!("{other:?} before the test")),
            });
        }
        match udp.take() {
            Some(socket) => {
                if let Some(socket) = greeted(&socket, peer)? {
                    // The next one must be there before this client hears of the first.
                    udp = Some(udp_socket(server.place)?);
                    socket
                        .send(&UDP_WELCOME)
                        .map_err(IperfError::io("greeting a stream"))?;
                    data.push(Data::Udp(socket));
                } else {
                    udp = Some(socket);
                }
            }
            None => {
                if let Some(caller) = server.accept() {
                    callers.add(caller);
                }
                while let Some((mut stream, shown)) = callers.next_stream() {
                    match shown == *cookie && data.len() < wanted {
                        true => data.push(Data::Tcp(stream)),
                        // A foreign client: it hears that a test goes on.
                        false => drop(stream.write_all(&[State::AccessDenied.byte()])),
                    }
                }
            }
        }
    }
    Ok(data)
}

fn udp_socket(place: SocketAddr) -> Result<UdpSocket, IperfError> {
    let failed = |error| IperfError::io("listening for datagrams")(error);
    let domain = Domain::for_address(place);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP)).map_err(failed)?;
    socket.set_reuse_address(true).map_err(failed)?;
    // As much as the system grants: a burst of large datagrams fills the usual buffer.
    let _ = socket.set_recv_buffer_size(UDP_BUFFER);
    if place.is_ipv6() {
        socket.set_only_v6(false).map_err(failed)?;
    }
    socket.bind(&place.into()).map_err(failed)?;
    socket.set_read_timeout(Some(LOOK)).map_err(failed)?;
    Ok(socket.into())
}

/// The socket connected to the client whose first datagram it has received; `None` while none has come.
fn greeted(socket: &UdpSocket, peer: SocketAddr) -> Result<Option<UdpSocket>, IperfError> {
    let failed = |error| IperfError::io("greeting a stream")(error);
    let mut hello = [0; 64];
    match socket.recv_from(&mut hello) {
        Ok((_, from)) if from.ip() == peer.ip() => {
            socket.connect(from).map_err(failed)?;
            socket.try_clone().map(Some).map_err(failed)
        }
        // Somebody else's.
        Ok(_) => Ok(None),
        Err(error) if is_timeout(&error) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_in_which_nothing_moves_is_still_and_any_byte_moves_it() {
        let mut movement = Movement::default();
        let at = |seconds| Duration::from_secs(seconds);
        assert!(!movement.is_still(0, at(119)));
        assert!(!movement.is_still(1, at(119)));
        assert!(!movement.is_still(1, at(239)));
        assert!(!movement.is_still(2, at(240)));
        assert!(!movement.is_still(2, at(360)));
        assert!(movement.is_still(2, at(361)));
    }
}
