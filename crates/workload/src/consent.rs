//! Proof, before load flows, that the host at an address takes part in the flow.
//!
//! ```text
//! calling end                          called end
//!   hello: nonce A ───────────────────►  of a flow that it serves
//!   ◄─────────────── welcome: nonces A, B  it holds the flow's secret
//!   proof: nonces A, B ───────────────►  so does the calling end, at this very address
//!   ◄────────────────────────────── done  (datagrams only)
//! ```
//!
//! Each message ends with a keyed digest of the rest, so that the secret itself never leaves a host
//! before the other one has proven that it has it. All messages have [`MESSAGE_BYTES`]: no answer is
//! longer than what asked for it. An address that somebody else announced gets a connection or
//! [`SENDINGS`] datagrams at most, and no load.
//!
//! ```text
//!  0  8 B  "sokudo-c"
//!  8  u32  step: 1 hello, 2 welcome, 3 proof, 4 done
//! 12  u32  number of the flow
//! 16 16 B  nonce A of the calling end
//! 32 16 B  nonce B of the called end; zeros in a hello
//! 48 16 B  HMAC-SHA256 of bytes 0..48 with the flow's secret, cut
//! ```

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use sokudo_model::Refusal;
use sokudo_net::udp;

use crate::link::is_silence;
use crate::refusal::spawn;

/// Bytes of every message.
pub const MESSAGE_BYTES: usize = 64;
/// Most datagrams that an address gets without an answer.
pub const SENDINGS: u32 = 5;

/// Longest time that load goes to an address from which nothing comes: an agreement goes stale, as in
/// RFC 7675, section 5.1.
pub const SILENCE_BOUND_NS: i64 = 30_000_000_000;

/// Fewest looks that make a silence.
const LEAST_LOOKS: u32 = 10;

/// Begin of every message.
pub(crate) const MAGIC: &[u8; 8] = b"sokudo-c";
const SIGNED_BYTES: usize = 48;
const NONCE_BYTES: usize = 16;
/// Wait for the first answer to a datagram; the next waits are twice as long each.
const FIRST_WAIT: Duration = Duration::from_millis(160);
/// Longest time until a waiting thread notices that it is to end.
const LOOK: Duration = Duration::from_millis(10);
/// Room for the largest datagram.
const ROOM_BYTES: usize = 65_536;

type Nonce = [u8; NONCE_BYTES];
type Message = [u8; MESSAGE_BYTES];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Step {
    Hello = 1,
    Welcome,
    Proof,
    Done,
}

/// Secret that only the two ends of a flow know.
struct Secret {
    flow: u32,
    key: hmac::Key,
}

impl Secret {
    fn new(flow: u32, ticket: u64) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &ticket.to_be_bytes());
        Self { flow, key }
    }

    fn write(&self, step: Step, calling: &Nonce, called: &Nonce) -> Message {
        let mut message = [0; MESSAGE_BYTES];
        message[..8].copy_from_slice(MAGIC);
        message[8..12].copy_from_slice(&(step as u32).to_be_bytes());
        message[12..16].copy_from_slice(&self.flow.to_be_bytes());
        message[16..32].copy_from_slice(calling);
        message[32..48].copy_from_slice(called);
        let tag = hmac::sign(&self.key, &message[..SIGNED_BYTES]);
        message[SIGNED_BYTES..].copy_from_slice(&tag.as_ref()[..NONCE_BYTES]);
        message
    }

    /// The nonces of a message of this step and flow; `None` for any other bytes.
    fn read(&self, step: Step, bytes: &[u8]) -> Option<(Nonce, Nonce)> {
        let message: &Message = bytes.try_into().ok()?;
        let nonce = |at: usize| {
            let mut nonce = [0; NONCE_BYTES];
            nonce.copy_from_slice(&message[at..at + NONCE_BYTES]);
            nonce
        };
        let (calling, called) = (nonce(16), nonce(32));
        let wanted = self.write(step, &calling, &called);
        // Compared in a time that does not depend on the bytes.
        let differ = wanted
            .iter()
            .zip(message)
            .fold(0, |all, (a, b)| all | (a ^ b));
        (differ == 0).then_some((calling, called))
    }
}

/// True for bytes that look like a message of this handshake, from any sender.
fn is_message(bytes: &[u8]) -> bool {
    bytes.len() == MESSAGE_BYTES && bytes.starts_with(MAGIC)
}

/// A word that shows knowledge of a flow's secret in a public place, where the secret itself has no
/// business.
pub fn mark(ticket: u64) -> u64 {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &ticket.to_be_bytes());
    let tag = hmac::sign(&key, b"sokudo mark");
    tag.as_ref()
        .first_chunk()
        .copied()
        .map_or(0, u64::from_be_bytes)
}

fn nonce() -> io::Result<Nonce> {
    let mut nonce = [0; NONCE_BYTES];
    let filled = SystemRandom::new().fill(&mut nonce);
    filled.map_err(|_| io::Error::other("the system has no random numbers"))?;
    Ok(nonce)
}

fn unproven() -> io::Error {
    let why = "what answers there does not know the flow";
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// The calling end, over a stream whose reads and writes are bounded.
///
/// Errors: the stream ended or was silent; the called end does not hold the flow's secret.
pub fn ask(stream: &mut (impl Read + Write), flow: u32, ticket: u64) -> io::Result<()> {
    let (secret, own) = (Secret::new(flow, ticket), nonce()?);
    stream.write_all(&secret.write(Step::Hello, &own, &[0; NONCE_BYTES]))?;
    let mut welcome = [0; MESSAGE_BYTES];
    stream.read_exact(&mut welcome)?;
    let read = secret.read(Step::Welcome, &welcome);
    let (_, theirs) = read.filter(|(echo, _)| *echo == own).ok_or_else(unproven)?;
    stream.write_all(&secret.write(Step::Proof, &own, &theirs))
}

/// The called end, over a stream whose reads and writes are bounded; `ticket_of` gives the secret of
/// a flow that it serves. Returns which flow it is.
///
/// Errors: the stream ended or was silent; the calling end does not hold the flow's secret.
pub fn answer(
    stream: &mut (impl Read + Write),
    ticket_of: impl Fn(u32) -> Option<u64>,
) -> io::Result<u32> {
    let mut message = [0; MESSAGE_BYTES];
    stream.read_exact(&mut message)?;
    let flow = flow_of(&message);
    let secret = Secret::new(flow, ticket_of(flow).ok_or_else(unproven)?);
    let (theirs, _) = secret.read(Step::Hello, &message).ok_or_else(unproven)?;
    let own = nonce()?;
    stream.write_all(&secret.write(Step::Welcome, &theirs, &own))?;
    stream.read_exact(&mut message)?;
    match secret.read(Step::Proof, &message) {
        Some(echo) if echo == (theirs, own) => Ok(flow),
        _ => Err(unproven()),
    }
}

fn flow_of(message: &Message) -> u32 {
    u32::from_be_bytes([message[12], message[13], message[14], message[15]])
}

/// The calling ends of one flow over connected datagram sockets, all at once.
///
/// Errors: a socket failed, nothing answered, or no random numbers.
pub fn ask_over(sockets: &[&UdpSocket], flow: u32, ticket: u64) -> io::Result<()> {
    let secret = Secret::new(flow, ticket);
    let mut hellos = Vec::with_capacity(sockets.len());
    for _ in sockets {
        hellos.push((nonce()?, [0; NONCE_BYTES]));
    }
    let welcomed = repeat(&secret, sockets, (Step::Hello, Step::Welcome), &hellos)?;
    repeat(&secret, sockets, (Step::Proof, Step::Done), &welcomed)?;
    sockets
        .iter()
        .try_for_each(|socket| socket.set_read_timeout(None))
}

/// Sends one step over each socket until its answer is there; returns the nonces of the answers.
fn repeat(
    secret: &Secret,
    sockets: &[&UdpSocket],
    (step, wanted): (Step, Step),
    nonces: &[(Nonce, Nonce)],
) -> io::Result<Vec<(Nonce, Nonce)>> {
    let mut answers: Vec<Option<(Nonce, Nonce)>> = vec![None; sockets.len()];
    let mut wait = FIRST_WAIT;
    let mut refused = None;
    for _ in 0..SENDINGS {
        let left = answers.iter().zip(sockets).zip(nonces);
        for ((_, socket), (own, theirs)) in left.filter(|((answer, _), _)| answer.is_none()) {
            match socket.send(&secret.write(step, own, theirs)) {
                Ok(_) => {}
                // A filter of the own host may refuse some and let others pass.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    refused = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        let until = Instant::now() + wait;
        for ((answer, socket), sent) in answers.iter_mut().zip(sockets).zip(nonces) {
            if answer.is_none() {
                let fits = |(own, theirs): &(Nonce, Nonce)| {
                    *own == sent.0 && (step == Step::Hello || *theirs == sent.1)
                };
                *answer = listen(socket, until, |bytes| {
                    secret.read(wanted, bytes).filter(fits)
                })?;
            }
        }
        if answers.iter().all(Option::is_some) {
            return Ok(answers.into_iter().flatten().collect());
        }
        wait *= 2;
    }
    let silent = || io::Error::new(io::ErrorKind::TimedOut, "nothing answers there");
    Err(refused.unwrap_or_else(silent))
}

/// The first datagram that `read` takes, until a time.
fn listen<T>(
    socket: &UdpSocket,
    until: Instant,
    read: impl Fn(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    // A longer datagram than a message is cut, and is none.
    let mut room = [0; MESSAGE_BYTES + 1];
    loop {
        // What has come already is read in any case.
        let left = until
            .saturating_duration_since(Instant::now())
            .max(Duration::from_millis(1));
        socket.set_read_timeout(Some(left))?;
        match socket.recv(&mut room) {
            Ok(count) => {
                if let Some(found) = read(&room[..count]) {
                    return Ok(Some(found));
                }
                if Instant::now() >= until {
                    return Ok(None);
                }
            }
            Err(error) if is_silence(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// The called end of a socket for datagrams: which addresses have proven that they send which flow.
/// Keeps nothing about an address before that.
pub struct Door {
    flows: HashMap<u32, (Secret, u32)>,
    /// Makes the nonce of each address and flow; nobody else can.
    own: hmac::Key,
    peers: BTreeMap<u32, Vec<SocketAddr>>,
}

impl Door {
    /// A door for flows, each with its secret and its number of sending sockets.
    ///
    /// Errors: the system has no random numbers.
    pub fn new(flows: impl IntoIterator<Item = (u32, u64, u32)>) -> io::Result<Self> {
        let secret = |(flow, ticket, most)| (flow, (Secret::new(flow, ticket), most));
        Ok(Self {
            flows: flows.into_iter().map(secret).collect(),
            own: hmac::Key::new(hmac::HMAC_SHA256, &nonce()?),
            peers: BTreeMap::new(),
        })
    }

    /// The answer to a datagram from an address; `None` when it is not a message of a served flow.
    pub fn answer(&mut self, bytes: &[u8], from: SocketAddr) -> Option<[u8; MESSAGE_BYTES]> {
        let flow = flow_of(bytes.try_into().ok()?);
        let (secret, most) = self.flows.get(&flow)?;
        if let Some((theirs, _)) = secret.read(Step::Hello, bytes) {
            let own = self.nonce_for(&theirs, flow, from);
            return Some(secret.write(Step::Welcome, &theirs, &own));
        }
        let (theirs, echo) = secret.read(Step::Proof, bytes)?;
        if echo != self.nonce_for(&theirs, flow, from) {
            return None;
        }
        let peers = self.peers.entry(flow).or_default();
        if !peers.contains(&from) {
            if peers.len() >= *most as usize {
                return None;
            }
            peers.push(from);
        }
        Some(secret.write(Step::Done, &theirs, &echo))
    }

    fn nonce_for(&self, theirs: &Nonce, flow: u32, from: SocketAddr) -> Nonce {
        let mut context = hmac::Context::with_key(&self.own);
        context.update(theirs);
        context.update(&flow.to_be_bytes());
        context.update(from.to_string().as_bytes());
        let mut nonce = [0; NONCE_BYTES];
        nonce.copy_from_slice(&context.sign().as_ref()[..NONCE_BYTES]);
        nonce
    }

    /// True for an address that has proven itself.
    fn knows(&self, from: SocketAddr) -> bool {
        self.peers.values().any(|peers| peers.contains(&from))
    }

    /// The addresses that have proven themselves, by flow.
    pub fn peers(self) -> BTreeMap<u32, Vec<SocketAddr>> {
        self.peers
    }
}

/// A thread that answers at a socket until the load is to begin. Dropping it ends the thread.
pub struct Doorkeeper {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Door>>,
}

impl Doorkeeper {
    /// Begins to answer at a socket, of which nobody else reads meanwhile.
    ///
    /// Errors: no thread, no copy of the socket.
    pub fn begin(socket: &UdpSocket, mut door: Door) -> Result<Self, Refusal> {
        let broken = |error: io::Error| crate::refusal::failed(error.to_string(), None);
        let socket = socket.try_clone().map_err(broken)?;
        socket.set_read_timeout(Some(LOOK)).map_err(broken)?;
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = spawn("door", move || {
            let mut room = vec![0; ROOM_BYTES];
            while !seen.load(Ordering::Relaxed) {
                match next_for(&socket, &door, &mut room) {
                    Ok(Some((count, from))) => {
                        if let Some(answer) = door.answer(&room[..count], from) {
                            // An answer that is lost is asked for again.
                            let _ = socket.send_to(&answer, from);
                        }
                    }
                    Ok(None) => break,
                    Err(error) if is_silence(&error) || udp::is_passing(&error) => {}
                    Err(_) => break,
                }
            }
            door
        })?;
        Ok(Self {
            over,
            thread: Some(thread),
        })
    }

    /// Ends it; the addresses that have proven themselves, by flow.
    pub fn end(mut self) -> BTreeMap<u32, Vec<SocketAddr>> {
        self.over.store(true, Ordering::Relaxed);
        let door = self.thread.take().and_then(|thread| thread.join().ok());
        door.map(Door::peers).unwrap_or_default()
    }
}

/// The next datagram that is not load; `None` when load has begun, which stays in the socket.
fn next_for(
    socket: &UdpSocket,
    door: &Door,
    room: &mut [u8],
) -> io::Result<Option<(usize, SocketAddr)>> {
    let (count, from) = socket.peek_from(room)?;
    match door.knows(from) && !is_message(&room[..count]) {
        true => Ok(None),
        false => socket.recv_from(room).map(Some),
    }
}

impl Drop for Doorkeeper {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What a thread that panicked knew is missing.
            let _ = thread.join();
        }
    }
}

/// Time for which nothing has come from an address that gets load.
#[derive(Debug, Clone, Copy)]
pub struct Silence {
    heard: u64,
    since_ns: i64,
    bound_ns: i64,
    /// Looks since then.
    looks: u32,
}

impl Silence {
    /// From `since_ns` on, with the bound of [`SILENCE_BOUND_NS`].
    pub fn new(since_ns: i64) -> Self {
        Self::within(since_ns, SILENCE_BOUND_NS)
    }

    /// The same with another bound.
    pub fn within(since_ns: i64, bound_ns: i64) -> Self {
        Self {
            heard: 0,
            since_ns,
            bound_ns,
            looks: 0,
        }
    }

    /// True when `heard`, a count of what has come, has stood still for longer than the bound and over
    /// [`LEAST_LOOKS`] looks: who asks once a minute has not been ignored because of one loss.
    pub fn is_too_long(&mut self, heard: u64, now_ns: i64) -> bool {
        self.looks = self.looks.saturating_add(1);
        if heard != self.heard {
            (self.heard, self.since_ns) = (heard, self.since_ns.max(now_ns));
            self.looks = 0;
        }
        self.looks >= LEAST_LOOKS && now_ns.saturating_sub(self.since_ns) > self.bound_ns
    }

    /// Reason to end the load, for people.
    pub fn says(&self) -> String {
        let bound_s = self.bound_ns as f64 * 1e-9;
        format!("nothing came from the far end for {bound_s} s: the load to it was stopped")
    }
}

/// Lets a socket take datagrams of one address alone, when a single one has proven itself.
pub fn pin(socket: &UdpSocket, peers: &[SocketAddr]) -> io::Result<()> {
    match peers {
        [peer] => socket.connect(peer),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const BOUND: Duration = Duration::from_secs(20);

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    fn door() -> Door {
        Door::new([(3, 77, 1)]).expect("random numbers")
    }

    fn loopback() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").expect("a port")
    }

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (far, _) = listener.accept().expect("it called");
        for end in [&near, &far] {
            end.set_read_timeout(Some(BOUND)).expect("a bound");
        }
        (near, far)
    }

    #[test]
    fn both_ends_of_a_stream_prove_that_they_hold_the_secret() {
        let asked = |ticket: u64| {
            let (mut near, mut far) = pair();
            let called =
                std::thread::spawn(move || answer(&mut far, |flow| (flow == 3).then_some(77)).ok());
            let agreed = ask(&mut near, 3, ticket).is_ok();
            drop(near);
            (agreed, called.join().expect("no panic"))
        };
        assert_eq!(asked(77), (true, Some(3)));
        assert_eq!(asked(78), (false, None));
    }

    #[test]
    fn an_echo_proves_nothing_and_hears_no_secret() {
        let (mut near, mut far) = pair();
        let echo = std::thread::spawn(move || {
            let mut heard = Vec::new();
            let mut bytes = [0; MESSAGE_BYTES];
            while far.read_exact(&mut bytes).is_ok() {
                heard.extend(bytes);
                let _ = far.write_all(&bytes);
            }
            heard
        });
        let error = ask(&mut near, 3, 77).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        drop(near);
        let heard = echo.join().expect("no panic");
        assert_eq!(heard.len(), MESSAGE_BYTES);
        assert!(!heard.windows(8).any(|word| word == 77u64.to_be_bytes()));
    }

    #[test]
    fn a_door_opens_for_the_address_that_got_its_answer_and_for_no_other() {
        let (mut door, secret) = (door(), Secret::new(3, 77));
        let (here, elsewhere) = (address("192.0.2.1:5"), address("192.0.2.2:5"));
        let hello = secret.write(Step::Hello, &[1; 16], &[0; 16]);
        let welcome = door.answer(&hello, here).expect("a welcome");
        let (_, own) = secret.read(Step::Welcome, &welcome).expect("it is one");
        let proof = secret.write(Step::Proof, &[1; 16], &own);
        // A sender with a forged source address has not seen what was sent there.
        assert_eq!(door.answer(&proof, elsewhere), None);
        assert!(door.answer(&proof, here).is_some());
        // A repeated proof is answered again, another sender of the same flow is not.
        assert!(door.answer(&proof, here).is_some());
        let welcome = door.answer(&hello, elsewhere).expect("a welcome");
        let (_, own) = secret.read(Step::Welcome, &welcome).expect("it is one");
        let proof = secret.write(Step::Proof, &[1; 16], &own);
        assert_eq!(door.answer(&proof, elsewhere), None);
        assert_eq!(door.peers(), BTreeMap::from([(3, vec![here])]));
    }

    #[test]
    fn silence_is_counted_from_the_last_sign_of_life() {
        let mut silence = Silence::within(1_000, 100);
        let mut looks =
            |heard, now_ns| (0..LEAST_LOOKS).fold(false, |_, _| silence.is_too_long(heard, now_ns));
        // Before its begin, too.
        assert!(!looks(0, 0));
        assert!(!looks(0, 1_100));
        assert!(looks(0, 1_101));
        assert!(!looks(1, 1_150));
        assert!(!looks(1, 1_250));
        assert!(looks(1, 1_251));
        let mut rare = Silence::within(0, 100);
        assert!(!rare.is_too_long(0, 1_000_000), "one look is not silence");
        assert!(rare.says().contains("nothing came"));
    }

    #[test]
    fn a_door_answers_nobody_without_the_secret() {
        let mut door = door();
        let here = address("192.0.2.1:5");
        for stranger in [Secret::new(3, 78), Secret::new(4, 77)] {
            let hello = stranger.write(Step::Hello, &[1; 16], &[0; 16]);
            assert_eq!(door.answer(&hello, here), None);
        }
        assert_eq!(door.answer(&[0; MESSAGE_BYTES], here), None);
        assert_eq!(door.answer(b"sokudo-c", here), None);
        assert!(door.peers().is_empty());
    }

    #[test]
    fn datagram_sockets_agree_and_are_pinned() {
        let called = loopback();
        let door = Door::new([(3, 77, 2)]).expect("random numbers");
        let keeper = Doorkeeper::begin(&called, door).expect("a thread");
        let calling = [loopback(), loopback()];
        for socket in &calling {
            socket
                .connect(called.local_addr().expect("bound"))
                .expect("a route");
        }
        ask_over(&calling.each_ref(), 3, 77).expect("both agree");
        let mut peers = keeper.end().remove(&3).expect("the flow has come");
        peers.sort();
        let mut wanted = calling.map(|socket| socket.local_addr().expect("bound"));
        wanted.sort();
        assert_eq!(peers, wanted);
    }

    #[test]
    fn load_that_comes_before_the_door_is_closed_is_not_lost() {
        let called = loopback();
        let door = Door::new([(3, 77, 1)]).expect("random numbers");
        let keeper = Doorkeeper::begin(&called, door).expect("a thread");
        let (calling, stranger) = (loopback(), loopback());
        for socket in [&calling, &stranger] {
            socket
                .connect(called.local_addr().expect("bound"))
                .expect("a route");
        }
        stranger.send(b"from a stranger").expect("it is sent");
        ask_over(&[&calling], 3, 77).expect("they agree");
        calling.send(b"load").expect("it is sent");
        calling.send(b"more load").expect("it is sent");
        assert_eq!(keeper.end().len(), 1);
        called.set_read_timeout(Some(BOUND)).expect("a bound");
        let mut bytes = [0; 64];
        for wanted in [&b"load"[..], b"more load"] {
            let count = called.recv(&mut bytes).expect("it is still there");
            assert_eq!(&bytes[..count], wanted);
        }
    }

    #[test]
    fn an_address_that_never_agreed_gets_a_few_small_datagrams() {
        let (stranger, calling) = (loopback(), loopback());
        calling
            .connect(stranger.local_addr().expect("bound"))
            .expect("a route");
        let error = ask_over(&[&calling], 3, 77).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        stranger.set_nonblocking(true).expect("a mode");
        let mut bytes = [0; 256];
        let heard: Vec<usize> = std::iter::from_fn(|| stranger.recv(&mut bytes).ok()).collect();
        assert_eq!(heard, vec![MESSAGE_BYTES; SENDINGS as usize]);
    }
}
