//! A far end that does what a test tells it, and plans that ask it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// Action of a far end on a request.
pub enum Does {
    /// Answers these bytes.
    Says(Vec<u8>),
    /// Answers after this time.
    Later(Duration, Vec<u8>),
    /// Answers in portions, each so long after the one before it.
    Slowly(Vec<(Duration, Vec<u8>)>),
    /// Closes the connection without an answer.
    Closes,
    /// Resets it.
    Resets,
}

/// An answer of this status with this body.
pub fn says(status: u16, body: &str) -> Does {
    says_with(status, "", body)
}

/// An answer with further header lines, each with its end.
pub fn says_with(status: u16, headers: &str, body: &str) -> Does {
    let length = body.len();
    Does::Says(
        format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}

/// A far end and what it was asked.
pub struct Far {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Far {
    /// Requests so far: their heads with their bodies.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no server panics").clone()
    }
}

/// A far end on a free port of the loopback.
pub fn far(does: impl Fn(usize, &str) -> Does + Send + Sync + 'static) -> Far {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    far_on(listener, does)
}

/// A far end that listens here. Its closure gets the number of the request and its text.
pub fn far_on(
    listener: TcpListener,
    does: impl Fn(usize, &str) -> Does + Send + Sync + 'static,
) -> Far {
    far_over(listener, Some, does)
}

/// A far end that speaks TLS, and delays each handshake by this time.
pub fn secure_far(
    before_handshake: Duration,
    does: impl Fn(usize, &str) -> Does + Send + Sync + 'static,
) -> Far {
    secure_far_of(self_signed(None), before_handshake, does)
}

/// A far end that speaks to those alone who show a certificate that this one (DER) vouches for.
pub fn demanding_far(
    authority: &[u8],
    does: impl Fn(usize, &str) -> Does + Send + Sync + 'static,
) -> Far {
    secure_far_of(self_signed(Some(authority)), Duration::ZERO, does)
}

fn secure_far_of(
    config: ServerConfig,
    before_handshake: Duration,
    does: impl Fn(usize, &str) -> Does + Send + Sync + 'static,
) -> Far {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let config = Arc::new(config);
    let secured = move |stream| {
        thread::sleep(before_handshake);
        let connection = ServerConnection::new(Arc::clone(&config)).ok()?;
        Some(StreamOwned::new(connection, stream))
    };
    far_over(listener, secured, does)
}

/// A server's side of TLS with a certificate that nobody vouches for. Every caller has one that
/// `authority` vouches for, if there is one.
fn self_signed(authority: Option<&[u8]>) -> ServerConfig {
    let pair = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".into()]).expect("a name");
    let certificate = params.self_signed(&pair).expect("a certificate");
    let key = PrivatePkcs8KeyDer::from(pair.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions of this library");
    let builder = match authority {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            let authority = CertificateDer::from(authority.to_vec());
            roots.add(authority).expect("a certificate");
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.expect("a verifier"))
        }
    };
    builder
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .expect("a certificate and its key")
}

fn far_over<S: Read + Write>(
    listener: TcpListener,
    speaks: impl Fn(TcpStream) -> Option<S> + Send + Sync + 'static,
    does: impl Fn(usize, &str) -> Does + Send + Sync + 'static,
) -> Far {
    let address = listener.local_addr().expect("it is bound");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (does, heard) = (Arc::new((speaks, does)), Arc::clone(&asked));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (does, heard) = (Arc::clone(&does), Arc::clone(&heard));
            thread::spawn(move || {
                let (speaks, does) = &*does;
                let Ok(below) = stream.try_clone() else {
                    return;
                };
                if let Some(stream) = speaks(stream) {
                    serve(&below, stream, &heard, does);
                }
            });
        }
    });
    Far { address, asked }
}

/// Serves one connection until its end; `below` is its socket.
fn serve(
    below: &TcpStream,
    mut stream: impl Read + Write,
    heard: &Mutex<Vec<String>>,
    does: &(dyn Fn(usize, &str) -> Does + Send + Sync),
) {
    while let Some(request) = request(&mut stream) {
        let number = {
            let mut heard = heard.lock().expect("no server panics");
            heard.push(request.clone());
            heard.len() - 1
        };
        let close = request.contains("Connection: close\r\n");
        let portions = match does(number, &request) {
            Does::Says(answer) => vec![(Duration::ZERO, answer)],
            Does::Later(time, answer) => vec![(time, answer)],
            Does::Slowly(portions) => portions,
            Does::Closes => return,
            Does::Resets => {
                let _ = socket2::SockRef::from(below).set_linger(Some(Duration::ZERO));
                return;
            }
        };
        for (time, portion) in portions {
            thread::sleep(time);
            if stream
                .write_all(&portion)
                .and_then(|()| stream.flush())
                .is_err()
            {
                return;
            }
        }
        if close {
            return;
        }
    }
}

/// The next request of a connection with its body; `None`: there is none.
fn request(stream: &mut impl Read) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(text + &String::from_utf8_lossy(&body))
}

/// A plan of one group with this content, complete enough for JMeter itself.
pub fn plan(users: u32, loops: i64, content: &str) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="TestPlanGui" testname="P"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testname="Users"><stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">{loops}</intProp></elementProp></ThreadGroup>
<hashTree>{content}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// A GET of this path at the far end, with keep-alive, named after the path.
pub fn get(address: SocketAddr, path: &str, below: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testname="{path}"><stringProp name="HTTPSampler.domain">{}</stringProp><stringProp name="HTTPSampler.port">{}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree>{below}</hashTree>"#,
        address.ip(),
        address.port()
    )
}
