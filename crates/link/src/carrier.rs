//! Links whose packets this process carries, from one host to the other.
//!
//! ```text
//!   host 0                     this process                      host 1
//!   TUN device ─► read ─► course of this direction ─► write ─► TUN device
//!              ◄─ write ◄─ course of the other one ◄─ read ◄─
//! ```
//!
//! What is carried are IP packets, so that windows, round trips and retransmissions of the hosts' own
//! TCP are those of the link. A thread for each direction reads, applies the course, and writes.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sokudo_model::Text;
use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::netns::{Carried, LocalHosts, NetnsError};
use sokudo_net::urgency;

/// Largest packet of the link, bytes: its MTU.
pub const PACKET_MAX_BYTES: usize = 1500;

/// Time between two checks of a thread whether the link is to end.
const LOOK_UP: Duration = Duration::from_millis(50);
/// Packets that are read before the next look at what is due.
const READ_AT_ONCE: usize = 32;
/// Packets that a device keeps for this process: only the course may lose packets.
const DEVICE_QUEUE: u32 = 20_000;

/// Fate of the packets of one direction. Times are those of the monotonic clock.
pub trait PacketCourse: Send + 'static {
    /// Takes a packet that was read at `now_ns`.
    fn accept(&mut self, now_ns: i64, packet: Vec<u8>);

    /// The next packet that is to be written at `now_ns`.
    fn take_due(&mut self, now_ns: i64) -> Option<Vec<u8>>;

    /// Time at which [`PacketCourse::take_due`] has something next, if nothing is accepted before.
    fn next_due_ns(&self) -> Option<i64>;

    /// Says of the packet that was taken last whether the host took it.
    fn written(&mut self, is_taken: bool);
}

/// A link between hosts 0 and 1; it ends when this value is dropped.
#[derive(Debug)]
pub struct Carrier<C> {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// Of the way from host 0 to host 1, and of the way back.
    courses: [Arc<Mutex<C>>; 2],
}

impl<C: PacketCourse> Carrier<C> {
    /// Makes a link with this name and these addresses in both hosts.
    ///
    /// Errors: this machine has no such devices, or refuses them.
    pub fn open(
        hosts: &LocalHosts,
        name: &'static str,
        addresses: [IpAddr; 2],
        courses: [C; 2],
    ) -> Result<Self, NetnsError> {
        let [own, peer] = addresses;
        let near = Arc::new(make(hosts, 0, name, own, peer)?);
        let far = Arc::new(make(hosts, 1, name, peer, own)?);
        let mut carrier = Self {
            stop: Arc::default(),
            threads: Vec::new(),
            courses: courses.map(|course| Arc::new(Mutex::new(course))),
        };
        let ends = [(&near, &far), (&far, &near)];
        for (direction, (from, to)) in ends.into_iter().enumerate() {
            let course = Arc::clone(&carrier.courses[direction]);
            let (from, to) = (Arc::clone(from), Arc::clone(to));
            let stop = Arc::clone(&carrier.stop);
            let thread = thread::Builder::new().name(format!("carry-{direction}"));
            let thread = thread.spawn(move || carry(&from, &to, &course, &stop));
            carrier.threads.push(thread.map_err(|e| {
                NetnsError::new(
                    Text::new("error-link-thread").with("error", e),
                    Text::new("error-netns-thread-hint"),
                )
            })?);
        }
        Ok(carrier)
    }

    /// The course of a direction: 0 from host 0 to host 1, 1 back. While it is held, no packet of that
    /// direction is carried.
    pub fn course(&self, direction: usize) -> MutexGuard<'_, C> {
        locked(&self.courses[direction])
    }
}

impl<C> Drop for Carrier<C> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed it to stderr already.
            let _ = thread.join();
        }
    }
}

fn locked<C>(course: &Mutex<C>) -> MutexGuard<'_, C> {
    course.lock().expect("no thread panics holding it")
}

/// Makes the device of one host.
fn make(
    hosts: &LocalHosts,
    i: usize,
    name: &'static str,
    own: IpAddr,
    peer: IpAddr,
) -> Result<Carried, NetnsError> {
    let made = hosts.spawn_on(i, move || Carried::new(name))?.join();
    let made = made.unwrap_or_else(|_| Err(std::io::Error::other("its thread ended")));
    let device = made.map_err(|e| {
        NetnsError::new(
            Text::new("error-link-tun").with("error", e),
            Text::new("error-link-tun-hint"),
        )
    })?;
    let mut batch = String::new();
    if Path::new("/proc/sys/net/ipv6").exists() {
        // No solicitations of its own, which would be carried and counted with the rest.
        batch.push_str(&format!("link set {name} addrgenmode none\n"));
    }
    batch.push_str(&format!("address add {own} peer {peer} dev {name}\n"));
    batch.push_str(&format!(
        "link set {name} mtu {PACKET_MAX_BYTES} txqueuelen {DEVICE_QUEUE} up\n"
    ));
    hosts.set_up(i, "ip", &[], batch)?;
    Ok(device)
}

/// Carries packets until the link ends.
fn carry<C: PacketCourse>(from: &Carried, to: &Carried, course: &Mutex<C>, stop: &AtomicBool) {
    precise_timers();
    urgency::go_first();
    let mut packets = Packets::default();
    while !stop.load(Ordering::Relaxed) {
        let wait = write_due(to, &mut *locked(course), &mut packets);
        let mut packet = packets.empty();
        match from.read(&mut packet, wait) {
            Ok(Some(bytes)) => {
                let mut course = locked(course);
                packet.truncate(bytes);
                course.accept(now_ns(), packet);
                read_waiting(from, &mut *course, &mut packets);
            }
            Ok(None) => packets.used.push(packet),
            // A link that is down: what was read remains to be delivered.
            Err(_) => thread::sleep(LOOK_UP),
        }
    }
}

/// Writes what is due; gives how long nothing else is.
fn write_due<C: PacketCourse>(to: &Carried, course: &mut C, packets: &mut Packets) -> Duration {
    loop {
        let now_ns = now_ns();
        let Some(packet) = course.take_due(now_ns) else {
            let left_ns = course.next_due_ns().map(|due_ns| due_ns - now_ns);
            let left = left_ns.map(|ns| Duration::from_nanos(ns.max(0) as u64));
            return left.unwrap_or(LOOK_UP).min(LOOK_UP);
        };
        course.written(to.write(&packet).is_ok());
        packets.used.push(packet);
    }
}

/// Reads what is there already, up to a bound.
fn read_waiting<C: PacketCourse>(from: &Carried, course: &mut C, packets: &mut Packets) {
    for _ in 1..READ_AT_ONCE {
        let mut packet = packets.empty();
        let Ok(Some(bytes)) = from.read(&mut packet, Duration::ZERO) else {
            packets.used.push(packet);
            return;
        };
        packet.truncate(bytes);
        course.accept(now_ns(), packet);
    }
}

/// Memory of packets that have been written, for those that are read next.
#[derive(Debug, Default)]
struct Packets {
    used: Vec<Vec<u8>>,
}

impl Packets {
    /// Room for one packet.
    fn empty(&mut self) -> Vec<u8> {
        let mut packet = self.used.pop().unwrap_or_default();
        packet.resize(PACKET_MAX_BYTES, 0);
        packet
    }
}
