//! Virtual hosts of a test, with optional rate limits on the paths between them.

use std::io;
use std::net::IpAddr;
use std::process::Command;
use std::thread::JoinHandle;

use sokudo_net::netns::{LocalHosts, NetnsError, port_name};

/// Hosts inside this machine (see [`sokudo_net::netns`]), with helpers for tests.
#[derive(Debug)]
pub struct Hosts {
    local: LocalHosts,
}

/// A token bucket on one link (tc-tbf(8)).
#[derive(Debug, Clone, Copy)]
pub struct Tbf {
    /// Rate in bits per second, link-layer headers included.
    pub rate_bits_per_s: u64,
    /// Bucket size in bytes: what may pass at once after a pause.
    pub burst_bytes: u32,
    /// Queue in front of the bucket in bytes; what does not fit is dropped.
    pub limit_bytes: u32,
}

impl Hosts {
    /// Makes `n` hosts, or says why the test is skipped and returns `None`.
    pub fn new(n: usize) -> Option<Self> {
        Self::with_mtu(n, None)
    }

    /// As [`Hosts::new`], with an MTU for all links, bytes.
    pub fn with_mtu(n: usize, mtu: Option<u32>) -> Option<Self> {
        match LocalHosts::new(n, mtu) {
            Ok(local) => Some(Self { local }),
            Err(e) => {
                crate::skip(format!("no local hosts: {e:?}"));
                None
            }
        }
    }

    /// The hosts themselves, for a product interface that takes them.
    pub fn local(&self) -> &LocalHosts {
        &self.local
    }

    /// Address of host `i`, from 0.
    pub fn address(&self, i: usize) -> IpAddr {
        self.local.address(i)
    }

    /// Runs `f` on host `i` and returns what it returns. Panics when `f` does.
    pub fn run_in<T, F>(&self, i: usize, f: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        joined(self.local.spawn_on(i, f))
    }

    /// Pulls the cable of host `i`: nothing reaches it or leaves it, and it sees no carrier.
    pub fn pull_cable(&self, i: usize) -> io::Result<()> {
        self.set_link(i, "down")
    }

    /// Plugs it in again.
    pub fn plug_cable(&self, i: usize) -> io::Result<()> {
        self.set_link(i, "up")
    }

    /// Forbids host `i` to send to host `j`: its sends fail with `EACCES` from now on.
    pub fn forbid(&self, i: usize, j: usize) -> io::Result<()> {
        let peer = self.address(j);
        self.run_in(i, move || tool("ip", &format!("route add prohibit {peer}")))
    }

    fn set_link(&self, i: usize, state: &'static str) -> io::Result<()> {
        let set = move || {
            let port = port_name(i);
            tool("ip", &format!("link set dev {port} {state}"))
        };
        joined(self.local.spawn_on_hub(set))
    }

    /// Limits what host `i` sends. A full queue holds the sender itself back: its sends wait or
    /// are refused, as with a slow network card.
    pub fn limit_sending(&self, i: usize, tbf: Tbf) -> io::Result<()> {
        self.run_in(i, move || tbf.apply("eth0"))
    }

    /// Limits what reaches host `i`. Drops happen on the path: no counter of either host sees them.
    pub fn limit_path_to(&self, i: usize, tbf: Tbf) -> io::Result<()> {
        joined(self.local.spawn_on_hub(move || tbf.apply(&port_name(i))))
    }
}

impl Tbf {
    /// Puts the bucket on a link of the calling thread's namespace.
    ///
    /// Errors: no `tc` program, or a kernel without this queue (skip the test then).
    fn apply(self, link: &str) -> io::Result<()> {
        let (rate, burst) = (self.rate_bits_per_s, self.burst_bytes);
        let arguments = format!(
            "qdisc replace dev {link} root tbf rate {rate}bit burst {burst}b limit {}b",
            self.limit_bytes
        );
        tool("tc", &arguments)
    }
}

/// Runs a program that sets up a link.
///
/// Errors: the program does not exist, or its standard error when it failed.
fn tool(program: &str, arguments: &str) -> io::Result<()> {
    let done = Command::new(program)
        .args(arguments.split_ascii_whitespace())
        .output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(io::Error::other(format!(
        "{program} {arguments}: {}",
        said.trim()
    )))
}

pub(crate) fn joined<T>(started: Result<JoinHandle<T>, NetnsError>) -> T {
    let handle = started.expect("enter a local host");
    match handle.join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
