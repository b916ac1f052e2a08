//! Logins with `caching_sha2_password`, the default of MySQL: on a MySQL server, and on a stand-in that knows the
//! exchange as the protocol's documentation describes it.
//!
//! ```text
//! client                          server
//!   │ ◄──────────── greeting: nonce │
//!   │ proof ──────────────────────► │  SHA256(p) xor SHA256(SHA256(SHA256(p)), nonce)
//!   │ ◄───────────── 3, OK │ or │ 4 │  it knows the hash of the password, or wants to be told it
//!   │ TLS: the password ──────────► │
//!   │ without: 2 ─────────────────► │
//!   │ ◄────────────────── 1, key    │
//!   │ RSA(password xor nonce) ────► │  OAEP with SHA-1
//!   │ ◄──────────────── OK or error │
//! ```

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sha2::{Digest as _, Sha256};
use sokudo_sql::{Class, Session, SqlError, Target};
use sokudo_testkit::databases::{self, DatabaseServer};
use sokudo_testkit::skip;

const BOUND: Duration = Duration::from_secs(30);
const PASSWORD: &str = "geheim with ünïcode and more bytes than a nonce has";
const NONCE: &[u8; 20] = b"0123456789abcdefghij";

/// Its capabilities: all that a login needs, and TLS.
const TLS: u16 = 0x0800;
const LOW: u16 = 0xf7ff & !TLS;
const HIGH: u16 = 0x81ff;

/// Way on which the stand-in was told a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// None: the proof was enough.
    Fast,
    /// Over TLS.
    Clear,
    /// Encrypted for its key.
    Rsa,
    /// The user has no password.
    Empty,
}

/// A login that the stand-in has seen, and whether it was let in.
type Seen = (Way, bool);

/// A stand-in of a MySQL server with one user.
struct StandIn {
    password: &'static str,
    key: PathBuf,
    public: Vec<u8>,
    tls: Option<Arc<ServerConfig>>,
    /// It knows the hash of the password: the user has logged in before.
    is_known: bool,
}

impl StandIn {
    /// One with a key of its own in this directory; `None`, with the reason printed, where no key can be made.
    fn new(place: &Path) -> Option<Self> {
        let key = place.join("key.pem");
        let made = openssl(&["genrsa", "2048"], &[])?;
        std::fs::write(&key, made).expect("a file");
        let public = openssl(&["rsa", "-pubout", "-in", key.to_str()?], &[])?;
        Some(Self {
            password: PASSWORD,
            key,
            public,
            tls: None,
            is_known: false,
        })
    }

    /// Answers so many connections; returns what it has seen of them.
    fn answer(mut self, connections: usize) -> (u16, thread::JoinHandle<Vec<Seen>>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let answering = thread::spawn(move || {
            let each = listener.incoming().take(connections);
            each.map(|stream| self.greet(stream.expect("a connection")))
                .collect()
        });
        (port, answering)
    }

    fn greet(&mut self, mut stream: TcpStream) -> Seen {
        stream.set_read_timeout(Some(BOUND)).expect("a bound");
        let low = LOW | if self.tls.is_some() { TLS } else { 0 };
        let body = [
            &b"\x0a8.4.0\0\x07\0\0\0"[..],
            &NONCE[..8],
            b"\0",
            &low.to_le_bytes(),
            b"\x2d\x02\0",
            &HIGH.to_le_bytes(),
            &[21],
            &[0; 10],
            &NONCE[8..],
            b"\0caching_sha2_password\0",
        ];
        send(&mut stream, 0, &body.concat());
        let (number, first) = receive(&mut stream).expect("a login");
        // A request for TLS is the first part of a login.
        match &self.tls {
            Some(tls) if first.len() == 32 => {
                let server = ServerConnection::new(Arc::clone(tls)).expect("a session");
                let mut stream = StreamOwned::new(server, stream);
                let (number, login) = receive(&mut stream).expect("a login");
                self.log_in(&mut stream, number, &login, true)
            }
            _ => self.log_in(&mut stream, number, &first, false),
        }
    }

    fn log_in(
        &mut self,
        stream: &mut (impl Read + Write),
        number: u8,
        login: &[u8],
        is_private: bool,
    ) -> Seen {
        let (way, is_right, number) = self.examine(stream, number, login, is_private);
        if !is_right {
            send(stream, number, b"\xff\x15\x04#28000Access denied for user");
            return (way, false);
        }
        self.is_known = true;
        send(stream, number, b"\0\0\0\x02\0\0\0");
        // Whatever the session asks for is done.
        while let Some((_, command)) = receive(stream) {
            // A session that ends says so.
            if command != [1] {
                send(stream, 1, b"\0\0\0\x02\0\0\0");
            }
        }
        (way, true)
    }

    /// The way of a login, whether its password is right, and the number of the next packet.
    fn examine(
        &self,
        stream: &mut (impl Read + Write),
        number: u8,
        login: &[u8],
        is_private: bool,
    ) -> (Way, bool, u8) {
        let proof = proof_of(login);
        if proof.is_empty() {
            return (Way::Empty, self.password.is_empty(), number + 1);
        }
        if self.is_known && proof == wanted(self.password) {
            send(stream, number + 1, b"\x01\x03");
            return (Way::Fast, true, number + 2);
        }
        send(stream, number + 1, b"\x01\x04");
        let ended = [self.password.as_bytes(), b"\0"].concat();
        if is_private {
            let (number, told) = receive(stream).expect("a password");
            return (Way::Clear, told == ended, number + 1);
        }
        let (number, asked) = receive(stream).expect("a request for the key");
        assert_eq!(asked, [2], "a request for the key");
        send(stream, number + 1, &[b"\x01", &self.public[..]].concat());
        let (number, told) = receive(stream).expect("a password");
        assert_eq!(told.len(), 256, "as long as the key");
        let key = self.key.to_str().expect("a path of letters");
        let oaep = [
            "-decrypt",
            "-inkey",
            key,
            "-pkeyopt",
            "rsa_padding_mode:oaep",
        ];
        let words: Vec<&str> = ["pkeyutl"].into_iter().chain(oaep).collect();
        let masked = openssl(&words, &told).expect("it has made the key");
        let nonce = NONCE.iter().cycle();
        let told: Vec<u8> = masked.iter().zip(nonce).map(|(a, b)| a ^ b).collect();
        (Way::Rsa, told == ended, number + 1)
    }
}

/// What the program `openssl` gives; `None`, with the reason printed, where it is not installed.
fn openssl(words: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("openssl");
    command.args(words).stdin(Stdio::piped());
    let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut running) = started else {
        skip("there is no openssl");
        return None;
    };
    let mut stdin = running.stdin.take().expect("its input");
    stdin.write_all(input).expect("it reads");
    drop(stdin);
    let done = running.wait_with_output().expect("it ends");
    assert!(done.status.success(), "openssl {words:?}");
    Some(done.stdout)
}

fn send(stream: &mut impl Write, number: u8, body: &[u8]) {
    let length = u32::try_from(body.len()).expect("a short body");
    let packet = [&length.to_le_bytes()[..3], &[number], body].concat();
    // The client may have gone.
    let _ = stream.write_all(&packet).and_then(|()| stream.flush());
}

/// The next packet and its number; `None` at the end of the connection.
fn receive(stream: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).ok()?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]);
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body).ok()?;
    Some((head[3], body))
}

/// The proof in a login: behind capabilities, sizes and the user's name.
fn proof_of(login: &[u8]) -> &[u8] {
    let user = login[32..].iter().position(|byte| *byte == 0);
    let at = 32 + user.expect("the end of a name") + 1;
    &login[at + 1..at + 1 + usize::from(login[at])]
}

/// The proof of somebody who knows the password.
fn wanted(password: &str) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask = Sha256::new().chain_update(twice).chain_update(NONCE);
    let pairs = once.into_iter().zip(mask.finalize());
    pairs.map(|(a, b)| a ^ b).collect()
}

/// Opens a session with this password, and asks for something.
fn log_in(port: u16, password: &str, options: &str) -> Result<(), SqlError> {
    let target = format!(
        "mysql://u:{}@127.0.0.1:{port}/d?{options}",
        encoded(password)
    );
    let target: Target = target.parse().expect("a target");
    block_on(async {
        let mut session = Session::connect(&target, BOUND).await?;
        session.batch("do 1").await
    })
}

/// A text as it stands in a URL.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    runtime.block_on(work)
}

#[track_caller]
fn denied(ended: Result<(), SqlError>) {
    let error = ended.expect_err("a wrong password");
    assert_eq!(error.class, Class::Denied, "{error}");
    assert!(!error.message.contains("falsch"), "{error}");
}

#[test]
fn a_password_is_encrypted_for_the_server_once_and_proved_afterwards() {
    let place = tempfile::tempdir().expect("a directory");
    let Some(server) = StandIn::new(place.path()) else {
        return;
    };
    let (port, answering) = server.answer(4);
    denied(log_in(port, "falsch", ""));
    for _ in 0..2 {
        log_in(port, PASSWORD, "").expect("a session");
    }
    denied(log_in(port, "falsch", ""));
    let seen = answering.join().expect("the server");
    let wrong = (Way::Rsa, false);
    assert_eq!(seen, [wrong, (Way::Rsa, true), (Way::Fast, true), wrong]);
}

#[test]
fn a_password_is_told_over_tls_once_and_proved_afterwards() {
    let place = tempfile::tempdir().expect("a directory");
    let Some(mut server) = StandIn::new(place.path()) else {
        return;
    };
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let tls =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], PrivateKeyDer::Pkcs8(key));
    server.tls = Some(Arc::new(tls.expect("a certificate")));
    let (port, answering) = server.answer(4);
    denied(log_in(port, "falsch", ""));
    for options in ["", "ssl-mode=REQUIRED", "ssl-mode=DISABLED"] {
        log_in(port, PASSWORD, options).expect("a session");
    }
    let seen = answering.join().expect("the server");
    let fast = (Way::Fast, true);
    assert_eq!(seen, [(Way::Clear, false), (Way::Clear, true), fast, fast]);
}

#[test]
fn a_user_without_a_password_proves_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    let Some(mut server) = StandIn::new(place.path()) else {
        return;
    };
    server.password = "";
    let (port, answering) = server.answer(1);
    log_in(port, "", "").expect("a session");
    let seen = answering.join().expect("the server");
    assert_eq!(seen, [(Way::Empty, true)]);
}

/// Executes statements on a server as somebody who may.
fn execute(server: &DatabaseServer, sql: &str) {
    let target: Target = server.dsn().parse().expect("a target");
    block_on(async {
        let mut session = Session::connect(&target, BOUND).await?;
        session.batch(sql).await
    })
    .expect(sql);
}

/// The same ways on MySQL itself, which forgets what it knows of passwords with `flush privileges`.
#[test]
fn mysql_lets_in_who_knows_the_password() {
    let Some(server) = databases::mysql() else {
        return;
    };
    let user = format!(
        "create user u identified with caching_sha2_password by '{PASSWORD}'; \
         create database d; grant all on d.* to u"
    );
    execute(&server, &user);
    for options in ["ssl-mode=DISABLED", "ssl-mode=REQUIRED", ""] {
        execute(&server, "flush privileges");
        denied(log_in(server.port, "falsch", options));
        for _ in 0..2 {
            log_in(server.port, PASSWORD, options).expect(options);
        }
        denied(log_in(server.port, "falsch", options));
    }
}
