//! Finds the requested processes: by number, by name, by the port they listen on, or by the connections of this
//! program.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;

use super::namespaces;
use super::parse::{self, Table};
use crate::Context;
use crate::netlink::{self, Listeners};
use crate::reread::read_bounded;

/// More processes than this are not looked at.
const MAX_PROCESSES: usize = 65_536;
/// More open files of one process than this are not looked at.
const MAX_FILES: usize = 65_536;
/// Longest table of sockets that is read, bytes.
const MAX_TABLE: u64 = 64 << 20;
/// Sockets of this program whose other ends are looked at.
const MAX_OWN: usize = 1024;
/// Other ends whose processes are looked for.
const MAX_PEERS: usize = 16;
/// Tables of the calling thread's network namespace.
const OWN: &str = "thread-self/net";

/// Selection of processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selector {
    /// The one of this number.
    Pid(u32),
    /// All of this name.
    Name(String),
    /// All that listen on this port, TCP or UDP: here, or in the namespace which has the address.
    Port(u16, Option<IpAddr>),
    /// All servers on this machine with which this program has connections.
    Peers,
}

impl Selector {
    /// As it was typed.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Pid(pid) => format!("pid={pid}"),
            Self::Name(name) => format!("name={name}"),
            Self::Port(port, None) => format!("port={port}"),
            Self::Port(port, Some(address)) => format!("port={port},address={address}"),
            Self::Peers => "peers".to_owned(),
        }
    }

    /// True where looking for the processes means to read every connection of a server, which is not done again
    /// while there are some.
    pub(super) fn is_costly(&self) -> bool {
        matches!(self, Self::Port(_, Some(_)))
    }

    /// Numbers of the processes that are meant now, ascending; `None` where they are those of the last search.
    /// `peers` are the other ends of this program's connections that are known.
    pub(super) fn find(&self, ctx: &Context, peers: &mut BTreeSet<SocketAddr>) -> Option<Vec<u32>> {
        let found = match self {
            Self::Pid(pid) => {
                let exists = ctx.proc_path(&pid.to_string()).is_dir();
                exists.then_some(*pid).into_iter().collect()
            }
            Self::Name(name) => {
                let is_meant = |pid: &u32| is_called(ctx, *pid, name);
                pids(ctx).into_iter().filter(is_meant).collect()
            }
            Self::Port(port, address) => {
                let inodes = match address {
                    Some(address) => namespaces::listening(ctx, *address, *port),
                    None => listening(ctx, *port),
                };
                holders(ctx, &inodes)
            }
            Self::Peers => {
                let before = peers.len();
                // One to which no connection stands now is asked again.
                add_peers(ctx, peers);
                if !peers.is_empty() && peers.len() == before {
                    return None;
                }
                servers(ctx, peers)
            }
        };
        Some(found)
    }
}

/// Adds the other ends of this program's connections, up to a bound.
fn add_peers(ctx: &Context, peers: &mut BTreeSet<SocketAddr>) {
    let files = fs::read_dir(ctx.proc_path("self/fd"));
    let files = files.into_iter().flatten().flatten().take(MAX_OWN);
    let own: BTreeSet<u64> = files.filter_map(|file| inode_of(&file.path())).collect();
    let connections = netlink::connections().unwrap_or_default();
    let own = connections
        .iter()
        .filter(|one| own.contains(&u64::from(one.inode)));
    for one in own {
        if peers.len() < MAX_PEERS {
            peers.insert(one.peer);
        }
    }
}

/// Processes on this machine that listen on these ports: here, or in the namespace which has the address.
fn servers(ctx: &Context, peers: &BTreeSet<SocketAddr>) -> Vec<u32> {
    let is_here = |ip: IpAddr| UdpSocket::bind((ip, 0)).is_ok();
    let inodes = peers.iter().flat_map(|peer| {
        // An address of IPv4 may come over a socket of IPv6.
        let (ip, port) = (peer.ip().to_canonical(), peer.port());
        match is_here(ip) {
            true => listening(ctx, port),
            false => namespaces::listening(ctx, ip, port),
        }
    });
    holders(ctx, &inodes.collect())
}

/// Numbers of the processes that have one of these sockets open, ascending.
fn holders(ctx: &Context, inodes: &BTreeSet<u64>) -> Vec<u32> {
    let is_meant = |pid: &u32| holds(ctx, *pid, inodes);
    match inodes.is_empty() {
        true => Vec::new(),
        false => pids(ctx).into_iter().filter(is_meant).collect(),
    }
}

/// Numbers of all processes, ascending.
pub(super) fn pids(ctx: &Context) -> Vec<u32> {
    let entries = fs::read_dir(&ctx.proc_root).into_iter().flatten().flatten();
    let mut pids: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .take(MAX_PROCESSES)
        .collect();
    pids.sort_unstable();
    pids
}

fn is_called(ctx: &Context, pid: u32, name: &str) -> bool {
    let text = |file: &str| read_bounded(&ctx.proc_path(&format!("{pid}/{file}")), 4096);
    // Either may be gone: the process has ended meanwhile.
    let (Ok(comm), Ok(line)) = (text("comm"), text("cmdline")) else {
        return false;
    };
    parse::goes_by(name, comm.trim_end_matches('\n'), &line)
}

/// Inodes of all sockets that listen on a port, in the calling thread's network namespace.
fn listening(ctx: &Context, port: u16) -> BTreeSet<u64> {
    let tcp = listening_tcp(ctx, port);
    tcp.into_iter()
        .chain(of_tables(ctx, OWN, ["udp", "udp6"], Table::Udp, port))
        .collect()
}

/// The same, of the tables in a folder below `/proc`.
pub(super) fn listed(ctx: &Context, folder: &str, port: u16) -> BTreeSet<u64> {
    let tcp = of_tables(ctx, folder, ["tcp", "tcp6"], Table::Tcp, port);
    let udp = of_tables(ctx, folder, ["udp", "udp6"], Table::Udp, port);
    tcp.into_iter().chain(udp).collect()
}

/// Netlink tells the listeners alone. The tables of `/proc` also hold every connection that has been
/// closed within a minute: 30,000 lines for a server without keep-alive, read once per sample.
fn listening_tcp(ctx: &Context, port: u16) -> Vec<u64> {
    // Netlink would show this machine in a context that stands for another.
    let own = ctx.proc_root == Path::new("/proc");
    let listeners = own.then(|| Listeners::open().ok()?.read()).flatten();
    let Some(listeners) = listeners else {
        return of_tables(ctx, OWN, ["tcp", "tcp6"], Table::Tcp, port);
    };
    let meant = listeners.iter().filter(|one| one.address.port() == port);
    meant.map(|one| u64::from(one.inode)).collect()
}

fn of_tables(ctx: &Context, folder: &str, files: [&str; 2], table: Table, port: u16) -> Vec<u64> {
    let read = |file: &str| {
        let path = ctx.proc_path(&format!("{folder}/{file}"));
        let text = read_bounded(&path, MAX_TABLE).unwrap_or_default();
        parse::listening_inodes(&text, table, port)
    };
    files.into_iter().flat_map(read).collect()
}

/// Whether a process has one of these sockets open.
fn holds(ctx: &Context, pid: u32, inodes: &BTreeSet<u64>) -> bool {
    let is_one = |path: &Path| inode_of(path).is_some_and(|inode| inodes.contains(&inode));
    let files = fs::read_dir(ctx.proc_path(&format!("{pid}/fd")));
    let mut files = files.into_iter().flatten().flatten().take(MAX_FILES);
    files.any(|entry| is_one(&entry.path()))
}

/// Inode of the socket that a link below `/proc/PID/fd` leads to.
fn inode_of(path: &Path) -> Option<u64> {
    parse::socket_inode(fs::read_link(path).ok()?.to_str()?)
}
