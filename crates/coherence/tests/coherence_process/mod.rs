//! A process of the vendor's, started for a test, and the lines that it writes.
//!
//! The archive is fetched once by `mvn` into the ordinary local repository. Without `mvn`, `java`
//! or a registry there is none, and the test skips and says so.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use sokudo_testkit::maven;

const VERSION: &str = "24.09";
const ARTIFACT: &str = "com.oracle.coherence.ce:coherence";
/// No line takes this long, not even on a machine that is busy with something else.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A port of loopback that is free for datagrams and connections. It lies below the ports that the
/// system hands out by itself, so that nobody gets it before the vendor's process is up.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 16_000;
    const PORTS: u16 = 16_000;
    let own = std::process::id() as u16;
    let free = |port: &u16| {
        let at = (Ipv4Addr::LOCALHOST, *port);
        UdpSocket::bind(at).is_ok() && TcpListener::bind(at).is_ok()
    };
    let mut ports = (0..PORTS).map(|_| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        FIRST + own.wrapping_mul(31).wrapping_add(number) % PORTS
    });
    ports.find(free).expect("a free port")
}

/// The vendor's archive, or why there is none.
fn jar() -> Result<PathBuf, String> {
    static JAR: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    JAR.get_or_init(|| {
        maven::runs("java")?;
        let home = std::env::var_os("HOME").ok_or("no home folder")?;
        let path = PathBuf::from(home).join(format!(
            ".m2/repository/com/oracle/coherence/ce/coherence/{VERSION}/coherence-{VERSION}.jar"
        ));
        if !path.exists() {
            let artifact = format!("-Dartifact={ARTIFACT}:{VERSION}");
            let words = ["dependency:get", "-Dtransitive=false", &artifact];
            maven::fetch(&std::env::temp_dir(), &words, "the archive")?;
        }
        path.exists()
            .then_some(path)
            .ok_or_else(|| "mvn fetched no archive".into())
    })
    .clone()
}

/// A process of the vendor's; ended when dropped.
pub struct CoherenceProcess {
    /// The process.
    pub child: Child,
    lines: Receiver<String>,
}

impl CoherenceProcess {
    /// Starts `class` with the vendor's own arguments, and waits for a line with `ready` in it.
    /// `None`, and a word about it, where the archive or Java is missing.
    pub fn start(class: &str, arguments: &[&str], ready: &str) -> Option<Self> {
        let jar = match jar() {
            Ok(jar) => jar,
            Err(why) => {
                eprintln!("skipped: {why}");
                return None;
            }
        };
        let mut child = Command::new("java")
            .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(jar)
            .arg(class)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("java was seen to run");
        let (to, lines) = channel();
        // Banners and reports go to either, and so does what the libraries say.
        forward(child.stdout.take().expect("stdout is piped"), to.clone());
        forward(child.stderr.take().expect("stderr is piped"), to);
        let process = Self { child, lines };
        process.until(ready);
        Some(process)
    }

    /// Waits for a line that contains `part`; returns all lines up to and including it.
    pub fn until(&self, part: &str) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("no line with {part:?} came after {seen:#?}")
                }
            }
            if seen.last().is_some_and(|line| line.contains(part)) {
                return seen;
            }
        }
    }
}

fn forward(from: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
}

impl Drop for CoherenceProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
