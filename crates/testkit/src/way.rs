//! A path with delay and loss between two virtual hosts, for any protocol.
//!
//! ```text
//!   host 0                      this process                      host 1
//!   10.78.0.1 ─► sk-way ─► script: delay, loss ─► sk-way ─► 10.78.0.2
//!             ◄─────────── script of the other direction ◄─
//! ```
//!
//! Beside the bridge of [`Hosts`], two hosts get a link each whose packets this process carries: IP
//! packets, so that TCP's own windows, round trips and retransmissions are those of the path. Not
//! every kernel has a queueing discipline that delays; this works on every Linux with TUN devices.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use sokudo_net::clock;
use sokudo_net::netns::Carried;

use crate::hosts::Hosts;
use crate::relay::line::Line;
use crate::relay::{Arrival, Counts, LOOK_UP, QUEUE_MAX, Script, write};

/// Name of the link in both hosts.
const LINK: &str = "sk-way";
/// Largest packet of the link: its MTU.
const PACKET_MAX_BYTES: usize = 1500;

/// A path between hosts 0 and 1; it ends when this value is dropped.
#[derive(Debug)]
pub struct Way {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    forward: Arc<Mutex<Counts>>,
}

impl Way {
    /// Opens a way from host 0 to host 1 with a script for each direction, or says why the test is
    /// skipped and returns `None`.
    pub fn open(hosts: &Hosts, forward: Script, backward: Script) -> Option<Self> {
        match Self::try_open(hosts, forward, backward) {
            Ok(way) => Some(way),
            Err(e) => {
                crate::skip(format!("no link that a program carries: {e}"));
                None
            }
        }
    }

    /// As [`Way::open`]. Errors: this machine has no such devices, or refuses them.
    pub fn try_open(hosts: &Hosts, forward: Script, backward: Script) -> io::Result<Self> {
        let link = |i: usize| hosts.run_in(i, move || make(i)).map(Arc::new);
        let (near, far) = (link(0)?, link(1)?);
        let mut way = Self {
            stop: Arc::default(),
            threads: Vec::new(),
            forward: Arc::default(),
        };
        let counts = Arc::clone(&way.forward);
        way.carry(&near, &far, forward, counts)?;
        way.carry(&far, &near, backward, Arc::default())?;
        Ok(way)
    }

    /// Address of host 0 or 1 on this way.
    pub fn address(i: usize) -> IpAddr {
        IpAddr::V4(own(i))
    }

    /// Counts of the packets from host 0 to host 1, so far.
    pub fn counts(&self) -> Counts {
        *self.forward.lock().expect("no thread panics holding it")
    }

    fn carry(
        &mut self,
        from: &Arc<Carried>,
        to: &Arc<Carried>,
        script: Script,
        counts: Arc<Mutex<Counts>>,
    ) -> io::Result<()> {
        let (arrived, queue) = mpsc::sync_channel(QUEUE_MAX);
        let (stop, from) = (Arc::clone(&self.stop), Arc::clone(from));
        let reader = thread::Builder::new().name("way-read".into());
        let reader = reader.spawn(move || read(&from, &arrived, &stop))?;
        self.threads.push(reader);
        let to = Arc::clone(to);
        let writer = thread::Builder::new().name("way-write".into());
        let send = move |packet: &[u8]| to.write(packet);
        let writer = writer.spawn(move || write(Line::new(script), &queue, send, &counts))?;
        self.threads.push(writer);
        Ok(())
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed it to stderr already.
            let _ = thread.join();
        }
    }
}

fn own(i: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 78, 0, if i == 0 { 1 } else { 2 })
}

/// Makes one end in the calling thread's namespace.
fn make(i: usize) -> io::Result<Carried> {
    let link = Carried::new(LINK)?;
    let (own, peer) = (own(i), own(1 - i));
    let mut settings = vec![
        format!("address add {own} peer {peer} dev {LINK}"),
        // Room for packets that this process has not read yet: only the script may lose packets.
        format!("link set {LINK} mtu {PACKET_MAX_BYTES} txqueuelen 20000 up"),
    ];
    if Path::new("/proc/sys/net/ipv6").exists() {
        // No solicitations of its own, which would be numbered with the rest.
        settings.insert(0, format!("link set {LINK} addrgenmode none"));
    }
    for arguments in settings {
        let words = arguments.split_ascii_whitespace();
        let done = Command::new("ip").args(words).output()?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(io::Error::other(format!("ip {arguments}: {}", said.trim())));
        }
    }
    Ok(link)
}

/// Reads until the way ends.
fn read(from: &Carried, arrived: &SyncSender<Arrival>, stop: &AtomicBool) {
    let mut buffer = [0; PACKET_MAX_BYTES];
    while !stop.load(Ordering::Relaxed) {
        // An error is a link that is not up yet.
        let Ok(Some(n)) = from.read(&mut buffer, LOOK_UP) else {
            continue;
        };
        let packet = (clock::now_ns(), buffer[..n].to_vec());
        if arrived.send(packet).is_err() {
            return;
        }
    }
}
