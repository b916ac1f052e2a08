//! The TCP connections of a plan's users: who holds them, and how users reach them.
//!
//! ```text
//! event loop ─ call ─► thread of the connections: connects, sends, reads
//!      ▲                        │
//!      └── wakes the user ◄─ answer in its letter box
//! ```
//!
//! An event loop never waits for a socket of a TCP request. As many threads as there are event loops hold the
//! connections; those of one user are on one thread, and are closed when the user ends.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_jmeter::plan::{Plan, SamplerKind};
use sokudo_jmeter::run::{CallAnswer, TcpAnswer, TcpCall, TcpEnd, TcpPlace, Thrown};
use sokudo_model::Refusal;
use sokudo_net::clock::now_ns;
use sokudo_workload::refusal::{failed, spawn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::calls::Way;
use super::generator::locked;

/// Longest response that is kept, bytes.
const MOST_BYTES: usize = 64 << 20;
/// Bytes that one read takes at most, as in JMeter: whether a response ends is asked after each.
const READ_BYTES: usize = 4096;

/// A call on its way.
pub(super) struct SocketJob {
    pub call: TcpCall,
    pub way: Way,
}

enum Job {
    Call(Box<SocketJob>),
    /// A user has ended.
    Left(u64),
}

/// The connections of a running test.
#[derive(Default)]
pub(super) struct Sockets {
    lanes: Vec<UnboundedSender<Job>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Sockets {
    /// Starts what the plan needs: nothing where it has no TCP request.
    ///
    /// Errors: no thread could be started.
    pub fn start(plan: &Plan, loops: usize) -> Result<Self, Refusal> {
        let mut made = Self::default();
        let is_tcp = |kind: &SamplerKind| matches!(kind, SamplerKind::Tcp(_));
        if !plan.samplers.iter().any(|sampler| is_tcp(&sampler.kind)) {
            return Ok(made);
        }
        for _ in 0..loops {
            let (sender, mut jobs) = unbounded_channel::<Job>();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| failed(error.to_string(), None))?;
            let work = move || {
                let all = tokio::task::LocalSet::new();
                all.block_on(&runtime, async {
                    let users = Users::default();
                    while let Some(job) = jobs.recv().await {
                        users.take(job);
                    }
                });
                // A name that is still looked up does not hold the end up.
                runtime.shutdown_background();
            };
            locked(&made.threads).push(spawn("tcp", work)?);
            made.lanes.push(sender);
        }
        Ok(made)
    }

    /// Makes a call; false: nobody will answer it.
    pub fn call(&self, job: SocketJob) -> bool {
        let user = job.call.user;
        self.send(user, Job::Call(Box::new(job)))
    }

    /// Closes the connections of a user.
    pub fn leave(&self, user: u64) {
        self.send(user, Job::Left(user));
    }

    fn send(&self, user: u64, job: Job) -> bool {
        let lane = self.lanes.get(user as usize % self.lanes.len().max(1));
        lane.is_some_and(|lane| lane.send(job).is_ok())
    }
}

impl Drop for Sockets {
    /// Connections are closed with their threads.
    fn drop(&mut self) {
        self.lanes.clear();
        for thread in std::mem::take(&mut *locked(&self.threads)) {
            // Its users have been told already.
            let _ = thread.join();
        }
    }
}

/// The idle connections of the users of one thread. A connection in use is with its call.
#[derive(Default)]
struct Users {
    idle: Rc<RefCell<HashMap<u64, HashMap<TcpPlace, TcpStream>>>>,
}

impl Users {
    fn take(&self, job: Job) {
        let SocketJob { call, way } = match job {
            Job::Call(job) => *job,
            Job::Left(user) => return drop(self.idle.borrow_mut().remove(&user)),
        };
        let idle = Rc::clone(&self.idle);
        tokio::task::spawn_local(async move {
            let known = idle
                .borrow_mut()
                .entry(call.user)
                .or_default()
                .remove(&call.place);
            let (answer, stream) = carry_out(&call, known.filter(|_| call.reuses)).await;
            if let Some(stream) = stream {
                let mut idle = idle.borrow_mut();
                idle.entry(call.user)
                    .or_default()
                    .insert(call.place, stream);
            }
            way.answer(CallAnswer::Tcp(Box::new(answer)));
        });
    }
}

/// Carries a call out; the connection, where the next call may go on over it. As in JMeter this is also one
/// that the server has closed: the next response is empty then.
async fn carry_out(call: &TcpCall, known: Option<TcpStream>) -> (TcpAnswer, Option<TcpStream>) {
    let connected = match known {
        Some(stream) => Ok(stream),
        None => connect(call).await,
    };
    let mut answer = TcpAnswer {
        connected_ns: now_ns(),
        was_connected: connected.is_ok(),
        answered_ns: None,
        end_ns: 0,
        bytes: Vec::new(),
        outcome: Ok(()),
    };
    let stream = match connected {
        Ok(mut stream) => {
            answer.outcome = exchange(call, &mut stream, &mut answer).await;
            let stays = answer.outcome.is_ok() && call.reuses && !call.closes;
            stays.then_some(stream)
        }
        Err(thrown) => {
            answer.outcome = Err(thrown);
            None
        }
    };
    answer.end_ns = now_ns();
    (answer, stream)
}

async fn connect(call: &TcpCall) -> Result<TcpStream, Thrown> {
    let TcpPlace { server, port, .. } = &call.place;
    let unknown = |_| thrown("java.net.UnknownHostException", server.clone());
    // An empty name is that of this host, as in Java.
    let name = if server.is_empty() {
        "localhost"
    } else {
        server
    };
    let mut places = tokio::net::lookup_host((name, *port))
        .await
        .map_err(unknown)?;
    let place = places.next().ok_or_else(|| unknown(io::Error::other("")))?;
    let made = within(call.connect_timeout_ms, TcpStream::connect(place)).await;
    let stream = made.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => thrown(
            "java.net.SocketTimeoutException",
            "Connect timed out".into(),
        ),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            thrown("java.net.NoRouteToHostException", "No route to host".into())
        }
        _ => thrown("java.net.ConnectException", words(&error)),
    })?;
    let linger = call.linger_s.map(|s| Duration::from_secs(s.into()));
    let socket = socket2::SockRef::from(&stream);
    // JMeter only logs that an option cannot be set.
    let _ = socket.set_tcp_nodelay(call.no_delay);
    if linger.is_some() {
        let _ = socket.set_linger(linger);
    }
    Ok(stream)
}

/// Sends, and reads up to the end of the response into the answer.
async fn exchange(
    call: &TcpCall,
    stream: &mut TcpStream,
    answer: &mut TcpAnswer,
) -> Result<(), Thrown> {
    let sent = stream.write_all(&call.bytes).await;
    sent.map_err(|error| thrown("java.net.SocketException", words(&error)))?;
    let read = match call.ends {
        TcpEnd::Closed => read_until(call, stream, answer, None).await,
        TcpEnd::Byte(byte) => read_until(call, stream, answer, Some(byte)).await,
        TcpEnd::Counted(prefix) => read_counted(call, stream, answer, prefix).await,
    };
    read.map_err(|_| {
        let read = answer.bytes.len();
        let says = match call.is_text {
            true => format!("Error reading from server, bytes read: {read}"),
            false => String::new(),
        };
        thrown("org.apache.jmeter.protocol.tcp.sampler.ReadException", says)
    })
}

/// Reads until the connection ends, or until what was read ends with this byte.
async fn read_until(
    call: &TcpCall,
    stream: &mut TcpStream,
    answer: &mut TcpAnswer,
    end: Option<u8>,
) -> io::Result<()> {
    let mut buffer = [0; READ_BYTES];
    loop {
        let read = within(call.response_timeout_ms, stream.read(&mut buffer)).await?;
        let part = &buffer[..read];
        if part.is_empty() {
            return Ok(());
        }
        take(answer, part)?;
        if end.is_some() && part.last().copied() == end {
            return Ok(());
        }
    }
}

/// Reads as many bytes as the number before them says. A connection that ends before them is not an error.
async fn read_counted(
    call: &TcpCall,
    stream: &mut TcpStream,
    answer: &mut TcpAnswer,
    prefix: usize,
) -> io::Result<()> {
    let mut number = [0; 4];
    let prefix = &mut number[4 - prefix.min(4)..];
    let read = within(call.response_timeout_ms, stream.read(prefix)).await?;
    if read < prefix.len() {
        return Ok(());
    }
    answer.answered_ns = Some(now_ns());
    let length = u32::from_be_bytes(number) as usize;
    let mut buffer = [0; READ_BYTES];
    while answer.bytes.len() < length {
        let most = (length - answer.bytes.len()).min(READ_BYTES);
        let read = within(call.response_timeout_ms, stream.read(&mut buffer[..most])).await?;
        if read == 0 {
            // As JMeter shows it: zeros stand for what is missing.
            answer.bytes.resize(length.min(MOST_BYTES), 0);
            break;
        }
        take(answer, &buffer[..read])?;
    }
    Ok(())
}

fn take(answer: &mut TcpAnswer, part: &[u8]) -> io::Result<()> {
    if answer.bytes.len() + part.len() > MOST_BYTES {
        return Err(io::Error::other("the response is too long"));
    }
    answer.answered_ns.get_or_insert_with(now_ns);
    answer.bytes.extend_from_slice(part);
    Ok(())
}

/// Output of a future within so many milliseconds; 0: unbounded.
async fn within<T>(ms: u64, done: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match ms {
        0 => done.await,
        ms => tokio::time::timeout(Duration::from_millis(ms), done)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
    }
}

fn thrown(class: &str, message: String) -> Thrown {
    Thrown {
        class: class.into(),
        sql: None,
        message,
    }
}

/// The words of Java for an error of the system.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "Connection refused".into(),
        io::ErrorKind::ConnectionReset => "Connection reset".into(),
        io::ErrorKind::BrokenPipe => "Broken pipe".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// A server that answers each request on a connection with the next of these parts; after the last one it
    /// closes it.
    fn server(parts: &'static [&'static [u8]]) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                for part in parts {
                    let mut asked = [0; 64];
                    if stream.read(&mut asked).is_ok_and(|read| read > 0) {
                        // A caller that has left needs no answer.
                        let _ = stream.write_all(part);
                    }
                }
            }
        });
        port
    }

    fn call(port: u16, ends: TcpEnd) -> TcpCall {
        TcpCall {
            user: 1,
            place: TcpPlace {
                server: "127.0.0.1".into(),
                port,
                login: [String::new(), String::new()],
            },
            bytes: b"ask".to_vec(),
            ends,
            is_text: true,
            reuses: true,
            closes: false,
            no_delay: true,
            connect_timeout_ms: 0,
            response_timeout_ms: 0,
            linger_s: None,
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().expect("a runtime")
    }

    #[test]
    fn a_connection_is_kept_for_the_next_request() {
        let port = server(&[b"one\n", b"two\n"]);
        let call = call(port, TcpEnd::Byte(b'\n'));
        runtime().block_on(async {
            let (first, kept) = carry_out(&call, None).await;
            assert_eq!((first.outcome, first.bytes), (Ok(()), b"one\n".to_vec()));
            let (second, kept) = carry_out(&call, kept).await;
            assert_eq!(second.bytes, b"two\n");
            // The server has closed it: as in JMeter the next response is empty, or the connection broken.
            let (third, _) = carry_out(&call, kept).await;
            assert!(third.bytes.is_empty());
            let closing = TcpCall {
                closes: true,
                ..call.clone()
            };
            assert!(carry_out(&closing, None).await.1.is_none());
        });
    }

    #[test]
    fn a_response_ends_with_its_connection_or_its_count() {
        let port = server(&[b"\x00\x02abc"]);
        runtime().block_on(async {
            let (closed, _) = carry_out(&call(port, TcpEnd::Closed), None).await;
            assert_eq!(closed.bytes, b"\x00\x02abc");
            let (counted, _) = carry_out(&call(port, TcpEnd::Counted(2)), None).await;
            assert_eq!(counted.bytes, b"ab");
            assert!(counted.answered_ns.is_some());
            let (short, _) = carry_out(&call(port, TcpEnd::Counted(1)), None).await;
            assert_eq!((short.outcome, short.bytes), (Ok(()), Vec::new()));
        });
    }

    #[test]
    fn what_fails_is_told_in_the_words_of_java() {
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("bound").port();
        let waiting = TcpCall {
            response_timeout_ms: 20,
            ..call(port, TcpEnd::Closed)
        };
        runtime().block_on(async {
            let (late, kept) = carry_out(&waiting, None).await;
            let thrown = late.outcome.expect_err("nothing came");
            assert!(thrown.class.ends_with(".ReadException"), "{thrown:?}");
            assert_eq!(thrown.message, "Error reading from server, bytes read: 0");
            assert!(late.was_connected && kept.is_none());
            drop(silent);
            let (refused, _) = carry_out(&waiting, None).await;
            let thrown = refused.outcome.expect_err("nobody listens");
            assert_eq!(thrown.message, "Connection refused");
            assert!(!refused.was_connected);
        });
    }
}
