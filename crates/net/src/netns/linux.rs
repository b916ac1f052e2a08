//! Linux: namespaces held by descriptors, links made by the programs of iproute2.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, UnshareFlags};

pub use super::starter::{Starter, become_program};
use sokudo_model::Text;

use super::{NetnsError, address_v4, number, port_name};

/// Longest that one call of `ip` or `bridge` may take.
const PROGRAM_BOUND: Duration = Duration::from_secs(20);

/// A network namespace without a name; it exists as long as this, or a thread or socket inside.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
}

impl Namespace {
    /// Makes an empty namespace: only a loopback link, and that one down.
    ///
    /// A short-lived thread steps into it and hands its descriptor over; the caller's own thread
    /// stays where it is.
    pub fn new() -> Result<Self, NetnsError> {
        let made = thread::Builder::new()
            .name("netns".into())
            .spawn(|| -> Result<OwnedFd, NetnsError> {
                // SAFETY: the danger of `unshare` is losing sight of other threads' descriptors
                // (FILES); NEWNET moves only this thread's view of the network.
                unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.map_err(refused)?;
                let path = "/proc/thread-self/ns/net";
                let link = File::open(path).map_err(|e| {
                    NetnsError::new(
                        Text::new("error-netns-proc")
                            .word("path", path)
                            .with("error", e),
                        Text::new("error-netns-proc-hint"),
                    )
                })?;
                Ok(link.into())
            })
            .map_err(no_thread)?;
        let fd = made.join().map_err(|_| died())??;
        Ok(Self { fd })
    }

    /// Starts a thread inside the namespace.
    pub fn spawn<T, F>(&self, name: &str, f: F) -> Result<JoinHandle<T>, NetnsError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let fd = self.fd.try_clone().map_err(|e| {
            NetnsError::new(
                Text::new("error-netns-hold")
                    .word("name", name)
                    .with("error", e),
                Text::new("error-netns-hold-hint"),
            )
        })?;
        let name = name.to_owned();
        // The first thread moves; the second is born inside, so that `f` never runs outside.
        let mover = thread::Builder::new()
            .name("netns".into())
            .spawn(move || {
                let network = Some(LinkNameSpaceType::Network);
                rustix::thread::move_into_link_name_space(fd.as_fd(), network).map_err(refused)?;
                thread::Builder::new()
                    .name(name)
                    .spawn(f)
                    .map_err(no_thread)
            })
            .map_err(no_thread)?;
        mover.join().map_err(|_| died())?
    }

    /// Runs one of iproute2's programs inside the namespace with one command per line of `batch`; gives
    /// what it printed.
    pub fn run(
        &self,
        program: &'static str,
        options: &'static [&'static str],
        batch: String,
    ) -> Result<String, NetnsError> {
        self.spawn(program, move || run_batch(program, options, &batch))?
            .join()
            .map_err(|_| died())?
    }
}

/// Joins the namespaces by a bridge in `hub`, gives them addresses, and returns once datagrams
/// pass between them.
pub fn join(hub: &Namespace, hosts: &[Namespace], mtu: Option<u32>) -> Result<(), NetnsError> {
    let ipv6 = Path::new("/proc/sys/net/ipv6").exists();
    hub.run("ip", &[], hub_batch(hosts, mtu, ipv6))?;
    hub.run("bridge", &[], forwarding_batch(hosts.len()))?;
    for (i, host) in hosts.iter().enumerate() {
        host.run("ip", &[], host_batch(i, hosts.len(), ipv6))?;
    }
    wait_until_joined(hosts)
}

/// Commands of `ip` that make the bridge and one link to each host.
fn hub_batch(hosts: &[Namespace], mtu: Option<u32>, ipv6: bool) -> String {
    let pid = std::process::id();
    let mtu = mtu.map_or(String::new(), |m| format!(" mtu {m}"));
    let mut batch = String::new();
    line(&mut batch, "link add sk-hub type bridge mcast_snooping 0");
    quiet(&mut batch, "sk-hub", ipv6);
    line(&mut batch, "link set sk-hub up");
    for (i, host) in hosts.iter().enumerate() {
        let (port, fd, mac) = (port_name(i), host.fd.as_raw_fd(), hardware_address(i));
        line(
            &mut batch,
            &format!(
                "link add {port}{mtu} type veth peer name eth0{mtu} address {mac} \
                 netns /proc/{pid}/fd/{fd}"
            ),
        );
        quiet(&mut batch, &port, ipv6);
        line(&mut batch, &format!("link set {port} master sk-hub up"));
    }
    batch
}

/// Commands of `bridge` that set the port behind which each host is.
fn forwarding_batch(n: usize) -> String {
    let mut batch = String::new();
    for i in 0..n {
        let (mac, port) = (hardware_address(i), port_name(i));
        line(
            &mut batch,
            &format!("fdb add {mac} dev {port} master static"),
        );
    }
    batch
}

/// Commands of `ip` that bring up host `i` and add the hardware addresses of the other hosts to it.
fn host_batch(i: usize, n: usize, ipv6: bool) -> String {
    let mut batch = String::new();
    line(&mut batch, "link set lo up");
    quiet(&mut batch, "eth0", ipv6);
    line(&mut batch, "link set eth0 up");
    let own = address_v4(i);
    line(&mut batch, &format!("address add {own}/24 dev eth0"));
    for other in (0..n).filter(|other| *other != i) {
        let (address, mac) = (address_v4(other), hardware_address(other));
        line(
            &mut batch,
            &format!("neighbour add {address} lladdr {mac} dev eth0 nud permanent"),
        );
    }
    batch
}

/// Keeps a link from sending router solicitations and group reports of its own, which would
/// show up in its packet counters.
fn quiet(batch: &mut String, link: &str, ipv6: bool) {
    if ipv6 {
        line(batch, &format!("link set {link} addrgenmode none"));
    }
}

fn line(batch: &mut String, command: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(batch, "{command}");
}

/// Locally administered address of host `i`'s link.
fn hardware_address(i: usize) -> String {
    format!("02:00:0a:4d:00:{:02x}", number(i))
}

/// Sends one datagram around the ring of hosts until each has received the one of its predecessor: the
/// kernel opens a link some time after the command to do so.
fn wait_until_joined(hosts: &[Namespace]) -> Result<(), NetnsError> {
    const BOUND: Duration = Duration::from_secs(10);
    const RETRY: Duration = Duration::from_millis(10);
    let broken = |e: io::Error| {
        NetnsError::new(
            Text::new("error-netns-apart").with("error", e),
            Text::new("error-netns-apart-hint"),
        )
    };
    let mut sockets = Vec::new();
    for (i, host) in hosts.iter().enumerate() {
        let bind = move || UdpSocket::bind(SocketAddr::from((address_v4(i), 0)));
        let socket = host.spawn("netns", bind)?.join().map_err(|_| died())?;
        let socket = socket.map_err(broken)?;
        socket.set_read_timeout(Some(RETRY)).map_err(broken)?;
        sockets.push(socket);
    }
    let deadline = Instant::now() + BOUND;
    for (i, from) in sockets.iter().enumerate() {
        let to = &sockets[(i + 1) % sockets.len()];
        let address = to.local_addr().map_err(broken)?;
        loop {
            // A refused send means the same as a lost datagram: the link is not open yet.
            let _ = from.send_to(b"?", address);
            match to.recv_from(&mut [0]) {
                Ok(_) => break,
                Err(e) if Instant::now() >= deadline => return Err(broken(e)),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

fn run_batch(program: &'static str, options: &[&str], batch: &str) -> Result<String, NetnsError> {
    let mut child = Command::new(find_program(program))
        .args(options)
        .args(["-batch", "-"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| {
            NetnsError::new(
                Text::new("error-netns-program")
                    .word("program", program)
                    .with("error", e),
                Text::new("error-netns-program-hint"),
            )
        })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends early reports the reason on stderr.
        let _ = stdin.write_all(batch.as_bytes());
    }
    // What these programs print about a few links fits into a pipe: none waits for a reader.
    let succeeded = wait_bounded(&mut child, program)?;
    let (mut printed, mut said) = (String::new(), String::new());
    if let Some(mut stdout) = child.stdout.take() {
        let _ = stdout.read_to_string(&mut printed);
    }
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    if succeeded {
        return Ok(printed);
    }
    let said = said.trim().replace('\n', "; ");
    Err(NetnsError::new(
        Text::new("error-netns-set-up")
            .word("program", program)
            .word("said", said),
        Text::new("error-netns-set-up-hint"),
    ))
}

/// Waits for the end of a program that ends by itself within milliseconds; true on success.
fn wait_bounded(child: &mut Child, program: &str) -> Result<bool, NetnsError> {
    const POLL: Duration = Duration::from_millis(2);
    let deadline = Instant::now() + PROGRAM_BOUND;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
            Ok(None) | Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(NetnsError::new(
        Text::new("error-netns-endless")
            .word("program", program)
            .with("seconds", PROGRAM_BOUND.as_secs()),
        Text::new("error-netns-endless-hint"),
    ))
}

/// The program by its name, or where systems keep it for administrators: an ordinary user's PATH
/// often lacks the `sbin` directories.
fn find_program(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path);
    if directories.any(|directory| directory.join(name).is_file()) {
        return name.to_owned();
    }
    ["/usr/sbin", "/sbin"]
        .iter()
        .map(|directory| format!("{directory}/{name}"))
        .find(|full| Path::new(full).is_file())
        .unwrap_or_else(|| name.to_owned())
}

/// A TUN device (Documentation/networking/tuntap.rst of Linux).
#[derive(Debug)]
pub struct Carried {
    file: File,
}

impl Carried {
    /// Makes the device in the calling thread's namespace.
    pub fn new(name: &str) -> io::Result<Self> {
        // SAFETY: all members of the C structure are numbers or arrays of numbers, for which zero is
        // a value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // The kernel wants the zero at the end of the name, too.
        if name.len() >= request.ifr_name.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from.cast_signed() as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        // SAFETY: the descriptor is open, and the request points at a structure of the type that
        // TUNSETIFF reads and writes, which outlives the call.
        let made = unsafe {
            let request = std::ptr::from_mut(&mut request);
            libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as libc::Ioctl, request)
        };
        match made {
            0 => Ok(Self { file }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Reads one packet, waiting for so long at most.
    pub fn read(&self, buffer: &mut [u8], patience: Duration) -> io::Result<Option<usize>> {
        let none = |e: &io::Error| e.kind() == io::ErrorKind::WouldBlock;
        match (&self.file).read(buffer) {
            Err(e) if none(&e) && !patience.is_zero() => {}
            Err(e) if none(&e) => return Ok(None),
            read => return read.map(Some),
        }
        let patience = rustix::event::Timespec {
            tv_sec: patience.as_secs() as i64,
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        let mut wanted = [PollFd::new(&self.file, PollFlags::IN)];
        match rustix::event::poll(&mut wanted, Some(&patience)) {
            Ok(0) | Err(Errno::INTR) => Ok(None),
            Ok(_) => match (&self.file).read(buffer) {
                Err(e) if none(&e) => Ok(None),
                read => read.map(Some),
            },
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes one packet.
    pub fn write(&self, packet: &[u8]) -> io::Result<usize> {
        (&self.file).write(packet)
    }
}

fn refused(errno: Errno) -> NetnsError {
    NetnsError::new(
        Text::new("error-netns-refused").with("error", io::Error::from(errno)),
        Text::new("error-netns-refused-hint"),
    )
}

pub(super) fn no_thread(e: io::Error) -> NetnsError {
    NetnsError::new(
        Text::new("error-netns-thread").with("error", e),
        Text::new("error-netns-thread-hint"),
    )
}

pub(super) fn died() -> NetnsError {
    NetnsError::new(
        Text::new("error-netns-died"),
        Text::new("error-netns-died-hint"),
    )
}
