//! Starts servers in common use for tests.
//!
//! When the server is not installed the test is skipped; a running one is stopped when the test ends.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::skip;

/// Attempts to find a port that no other program takes before the server does.
const TRIES: usize = 5;
/// Longest time until a server listens.
const BOUND: Duration = Duration::from_secs(60);

/// A server that ends with the test.
pub struct Daemon {
    child: Child,
    /// Port on 127.0.0.1 on which it listens.
    pub port: u16,
    _place: tempfile::TempDir,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One process each: nothing stays behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server of one process. `words` returns its command line, given a directory of its own and its
/// port. `None`: it is not installed, and the reason has been printed.
pub fn start(program: &str, words: impl Fn(&Path, u16) -> Vec<String>) -> Option<Daemon> {
    let path = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        .map(|folder| Path::new(folder).join(program))
        .into_iter()
        .find(|path| path.is_file());
    let Some(path) = path else {
        skip(format!("{program} is not installed"));
        return None;
    };
    for _ in 0..TRIES {
        let place = tempfile::tempdir().expect("a temporary directory");
        let port = free_port();
        let child = Command::new(&path)
            .args(words(place.path(), port))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it can be started");
        let mut daemon = Daemon {
            child,
            port,
            _place: place,
        };
        if listens(&mut daemon) {
            return Some(daemon);
        }
    }
    panic!("{program} does not listen");
}

/// Starts unbound, a name server that knows these records and asks no other; it listens over UDP and
/// TCP. A record is written as in a zone: `www.example. 300 IN A 192.0.2.1`; names below `closed.` are
/// refused.
pub fn unbound(records: &[&str]) -> Option<Daemon> {
    start("unbound", |place, port| {
        let records = records
            .iter()
            .map(|record| format!("local-data: \"{record}\"\n"));
        let config = format!(
            "server:
               interface: 127.0.0.1
               port: {port}
               do-daemonize: no
               username: \"\"
               chroot: \"\"
               directory: \"{place}\"
               pidfile: \"\"
               use-syslog: no
               module-config: \"iterator\"
               local-zone: \"example.\" static
               local-zone: \"closed.\" refuse
               {}
             remote-control:
               control-enable: no
            ",
            records.collect::<String>(),
            place = place.display(),
        );
        let file = place.join("unbound.conf");
        std::fs::write(&file, config).expect("a directory of its own");
        vec!["-d".into(), "-c".into(), file.display().to_string()]
    })
}

/// Starts nginx. `listen` follows the port (`http2`, `ssl`); `directives`, given its directory, stand among
/// those of all servers; what lies in `www` there is served.
pub fn nginx(listen: &str, directives: impl Fn(&Path) -> String) -> Option<Daemon> {
    start("nginx", |place, port| {
        std::fs::create_dir(place.join("www")).expect("a folder");
        let more = directives(place);
        let place = place.display();
        let config = format!(
            "daemon off; master_process off; pid {place}/pid; error_log stderr;
             events {{ worker_connections 4096; }}
             http {{
               access_log off;
               client_body_temp_path {place}/a; proxy_temp_path {place}/b;
               fastcgi_temp_path {place}/c; uwsgi_temp_path {place}/d; scgi_temp_path {place}/e;
               {more}
               server {{ listen 127.0.0.1:{port} {listen}; root {place}/www; }}
             }}"
        );
        let file = format!("{place}/nginx.conf");
        std::fs::write(&file, config).expect("a file");
        vec!["-c".into(), file, "-p".into(), place.to_string()]
    })
}

/// A port that is free at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    listener.local_addr().expect("it is bound").port()
}

/// Waits until the server accepts a connection; false when it has ended.
fn listens(daemon: &mut Daemon) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < BOUND {
        if daemon.child.try_wait().expect("it is ours").is_some() {
            return false;
        }
        if TcpStream::connect(("127.0.0.1", daemon.port)).is_ok() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}
