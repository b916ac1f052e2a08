//! Finds servers in the other network namespaces of this machine: containers, and hosts made for a test.
//!
//! Nothing is entered: `/proc/PID/net` shows the tables of the namespace that a process is in, and inodes of
//! sockets are the same in all of them.

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;

use super::parse;
use super::select::{listed, pids};
use crate::Context;
use crate::reread::read_bounded;

/// Longest table of addresses that is read, bytes.
const MAX_ADDRESSES: u64 = 4 << 20;

/// Inodes of the sockets that listen on a port in the namespace which has this address. Empty where none has it,
/// and where several do: which of them answers is not known.
pub(super) fn listening(ctx: &Context, address: IpAddr, port: u16) -> BTreeSet<u64> {
    match with_address(ctx, address)[..] {
        [pid] => listed(ctx, &format!("{pid}/net"), port),
        _ => BTreeSet::new(),
    }
}

/// True when another network namespace of this machine has the address. Nothing is sent.
pub(crate) fn is_elsewhere(ctx: &Context, address: IpAddr) -> bool {
    !with_address(ctx, address).is_empty()
}

/// A process of each of the other namespaces that has the address.
fn with_address(ctx: &Context, address: IpAddr) -> Vec<u32> {
    let others = others(ctx).into_iter();
    others.filter(|pid| has(ctx, *pid, address)).collect()
}

/// A process of each network namespace but the calling thread's. Those of other users are left out, whose
/// namespace only root may see.
fn others(ctx: &Context) -> Vec<u32> {
    let namespace = |of: &str| fs::read_link(ctx.proc_path(&format!("{of}/ns/net"))).ok();
    let Some(own) = namespace("thread-self") else {
        return Vec::new();
    };
    let mut seen = BTreeSet::from([own]);
    let mut is_new = |pid: &u32| namespace(&pid.to_string()).is_some_and(|one| seen.insert(one));
    let all = pids(ctx).into_iter();
    all.filter(|pid| is_new(pid)).collect()
}

/// Whether the namespace of a process has the address on one of its interfaces.
fn has(ctx: &Context, pid: u32, address: IpAddr) -> bool {
    // Every namespace has those.
    if address.is_loopback() || address.is_unspecified() {
        return false;
    }
    let read = |file: &str| {
        let path = ctx.proc_path(&format!("{pid}/net/{file}"));
        read_bounded(&path, MAX_ADDRESSES).unwrap_or_default()
    };
    match address {
        IpAddr::V4(address) => parse::local_addresses(&read("fib_trie")).contains(&address),
        IpAddr::V6(address) => parse::interface_addresses(&read("if_inet6")).contains(&address),
    }
}
