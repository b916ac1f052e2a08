//! Builds several virtual hosts on one machine from network namespaces, which the kernel removes
//! when the process ends.
//!
//! ```text
//!   host 0            host 1            host 2          one anonymous namespace each
//!   eth0 10.77.0.1    eth0 10.77.0.2    eth0 10.77.0.3
//!     │ veth            │ veth            │ veth
//!   sk-port0          sk-port1          sk-port2        a namespace of its own
//!     └──────────── bridge sk-hub ────────┘
//! ```
//!
//! The namespaces have no name in the file system: this process holds each one open by a file
//! descriptor and enters it thread by thread. When the process ends, however it ends, the kernel
//! closes the descriptors and takes the namespaces, the bridge and all links away. The machine's
//! own namespace never sees any of it.
//!
//! The hosts know each other's hardware addresses, and the bridge knows on which port each of
//! them is, before anything is sent: the first datagrams neither wait for address resolution nor
//! are flooded to the wrong hosts.
//!
//! What a thread inside a host must know: `/proc/net` shows the namespace of the process's first
//! thread, `/proc/thread-self/net` that of the reading thread; `/sys/class/net` shows neither,
//! but the namespace in which `/sys` was mounted.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod starter;
#[cfg(target_os = "linux")]
use linux as imp;

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(not(target_os = "linux"))]
use absent as imp;

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command};
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_model::Text;

/// Most hosts that one machine is divided into.
pub const HOSTS_MAX: usize = 64;

/// Smallest MTU that can be asked for, bytes: what every IPv4 link carries (RFC 791).
pub const MTU_MIN_BYTES: u32 = 68;

/// Largest MTU that can be asked for, bytes: the largest that a veth link accepts.
pub const MTU_MAX_BYTES: u32 = 65_535;

/// Errors of local hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct NetnsError {
    /// The step that failed, and the system's error.
    pub what: Text,
    /// Remedy for the operator.
    pub hint: Text,
}

impl NetnsError {
    /// The failure, and its remedy.
    pub fn new(what: Text, hint: Text) -> Self {
        Self { what, hint }
    }
}

/// Several hosts inside this machine, joined by one bridge. Dropping it takes them away as soon
/// as the last thread and socket inside them is gone.
#[derive(Debug)]
pub struct LocalHosts {
    hosts: Vec<imp::Namespace>,
    hub: imp::Namespace,
}

impl LocalHosts {
    /// Makes `n` hosts (1 to [`HOSTS_MAX`]) whose links have this MTU (bytes; 1500 when `None`).
    ///
    /// Takes some 20 ms per host. Needs Linux, the right to make network namespaces, and the
    /// programs `ip` and `bridge` (package iproute2).
    ///
    /// Errors: a number or MTU out of range, a missing right or program, a kernel without
    /// bridges or veth links; each with what can be done about it.
    pub fn new(n: usize, mtu: Option<u32>) -> Result<Self, NetnsError> {
        possible(n)?;
        if let Some(mtu) = mtu.filter(|m| !(MTU_MIN_BYTES..=MTU_MAX_BYTES).contains(m)) {
            return Err(NetnsError::new(
                Text::new("error-netns-mtu").with("mtu", mtu),
                Text::new("error-netns-mtu-hint")
                    .with("least", MTU_MIN_BYTES)
                    .with("most", MTU_MAX_BYTES),
            ));
        }
        let hub = imp::Namespace::new()?;
        let hosts = (0..n)
            .map(|_| imp::Namespace::new())
            .collect::<Result<Vec<_>, _>>()?;
        imp::join(&hub, &hosts, mtu)?;
        Ok(Self { hosts, hub })
    }

    /// Makes `n` hosts (1 to [`HOSTS_MAX`]) that nothing joins: each has only its loopback link. For
    /// links that the caller makes, such as [`Carried`]; nobody is beside the bridge.
    ///
    /// Errors: as [`LocalHosts::new`].
    pub fn apart(n: usize) -> Result<Self, NetnsError> {
        possible(n)?;
        let hub = imp::Namespace::new()?;
        let hosts = (0..n)
            .map(|_| imp::Namespace::new())
            .collect::<Result<Vec<_>, _>>()?;
        let hosts = Self { hosts, hub };
        for i in 0..n {
            hosts.set_up(i, "ip", &[], "link set lo up\n".into())?;
        }
        Ok(hosts)
    }

    /// The number of hosts.
    pub fn count(&self) -> usize {
        self.hosts.len()
    }

    /// Address of host `i` (from 0): `10.77.0.1` and so on, all in one /24.
    pub fn address(&self, i: usize) -> IpAddr {
        IpAddr::V4(address_v4(i))
    }

    /// Starts a thread on host `i`. Threads and processes that it starts are on that host, too.
    ///
    /// Errors: the system refused the thread, or the thread could not enter the namespace.
    /// Panics when there is no host `i`.
    pub fn spawn_on<T, F>(&self, i: usize, f: F) -> Result<JoinHandle<T>, NetnsError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.hosts[i].spawn(&format!("host{i}"), f)
    }

    /// Starts a thread beside the bridge, where the ports `sk-port0`, `sk-port1`, … of the hosts
    /// are: the place to limit or watch a path without touching a host.
    ///
    /// Errors: as [`LocalHosts::spawn_on`].
    pub fn spawn_on_hub<T, F>(&self, f: F) -> Result<JoinHandle<T>, NetnsError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.hub.spawn("hub", f)
    }

    /// Runs a program of iproute2 on host `i`, with these options and one command per line of `batch`;
    /// gives what it printed.
    ///
    /// Errors: no such program, or what it says about the command that failed.
    pub fn set_up(
        &self,
        i: usize,
        program: &'static str,
        options: &'static [&'static str],
        batch: String,
    ) -> Result<String, NetnsError> {
        self.hosts[i].run(program, options, batch)
    }

    /// The same beside the bridge.
    pub fn set_up_hub(
        &self,
        program: &'static str,
        options: &'static [&'static str],
        batch: String,
    ) -> Result<String, NetnsError> {
        self.hub.run(program, options, batch)
    }

    /// Makes a thread of host `i` that starts programs there. The kernel shows the thread under this
    /// name; the programs know the hosts in `known` by theirs.
    ///
    /// Errors: the system refused the thread, or a view of the file system for it.
    pub fn starter(
        &self,
        i: usize,
        name: &str,
        known: &[(IpAddr, &str)],
    ) -> Result<Starter, NetnsError> {
        let starter = imp::Starter::new(&self.hosts[i], name, known)?;
        Ok(Starter { starter })
    }
}

/// Starts programs on one host. They are killed when this value goes, and when this process ends,
/// however it does; what they started themselves is theirs.
#[derive(Debug)]
pub struct Starter {
    starter: imp::Starter,
}

impl Starter {
    /// Starts a program.
    ///
    /// Errors: it cannot be started.
    pub fn start(&self, command: Command) -> io::Result<Child> {
        self.starter.start(command)
    }
}

/// Becomes a program on a host of another process, the one whose [`Starter`] has this name. Returns only
/// when that fails.
pub fn become_program(process: u32, starter: &str, command: Command) -> NetnsError {
    imp::become_program(process, starter, command)
}

fn possible(n: usize) -> Result<(), NetnsError> {
    if n == 0 || n > HOSTS_MAX {
        return Err(NetnsError::new(
            Text::new("error-netns-hosts").with("n", n),
            Text::new("error-netns-hosts-hint").with("most", HOSTS_MAX),
        ));
    }
    Ok(())
}

/// A network link of one host whose packets this program carries: what the host sends is read here,
/// and what is written here arrives at the host. It goes with this value.
///
/// For links that the kernel does not offer on every system: with delay, with loss.
#[derive(Debug)]
pub struct Carried {
    link: imp::Carried,
}

impl Carried {
    /// Makes a link with this name, still down and without an address, in the calling thread's
    /// namespace.
    ///
    /// Errors: no such links on this system, no right to make them, a name in use.
    pub fn new(name: &str) -> io::Result<Self> {
        imp::Carried::new(name).map(|link| Self { link })
    }

    /// Reads one IP packet that the host sent; `None` when none came in time. A packet that is
    /// larger than `buffer` is cut.
    pub fn read(&self, buffer: &mut [u8], patience: Duration) -> io::Result<Option<usize>> {
        self.link.read(buffer, patience)
    }

    /// Hands one IP packet to the host.
    ///
    /// Errors: the link is down, or the bytes are not an IP packet.
    pub fn write(&self, packet: &[u8]) -> io::Result<usize> {
        self.link.write(packet)
    }
}

/// Name of the bridge's port towards host `i`, inside the hub's namespace.
pub fn port_name(i: usize) -> String {
    format!("sk-port{i}")
}

/// Last byte of the addresses of host `i`; `HOSTS_MAX` keeps it below 255.
fn number(i: usize) -> u8 {
    u8::try_from(i + 1).expect("at most HOSTS_MAX hosts are made")
}

fn address_v4(i: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, number(i))
}
