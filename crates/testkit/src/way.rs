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

use std::net::{IpAddr, Ipv4Addr};

use sokudo_link::carrier::{Carrier, PacketCourse};
use sokudo_net::netns::NetnsError;

use crate::hosts::Hosts;
use crate::relay::line::Line;
use crate::relay::{Counts, Script};

/// Name of the link in both hosts.
const LINK: &str = "sk-way";

/// A path between hosts 0 and 1; it ends when this value is dropped.
#[derive(Debug)]
pub struct Way {
    carrier: Carrier<Line>,
}

impl Way {
    /// Opens a way from host 0 to host 1 with a script for each direction, or says why the test is
    /// skipped and returns `None`.
    pub fn open(hosts: &Hosts, forward: Script, backward: Script) -> Option<Self> {
        match Self::try_open(hosts, forward, backward) {
            Ok(way) => Some(way),
            Err(e) => {
                crate::skip(format!("no link that a program carries: {e:?}"));
                None
            }
        }
    }

    /// As [`Way::open`]. Errors: this machine has no such devices, or refuses them.
    pub fn try_open(hosts: &Hosts, forward: Script, backward: Script) -> Result<Self, NetnsError> {
        let addresses = [Self::address(0), Self::address(1)];
        let lines = [Line::new(forward), Line::new(backward)];
        let carrier = Carrier::open(hosts.local(), LINK, addresses, lines)?;
        Ok(Self { carrier })
    }

    /// Address of host 0 or 1 on this way.
    pub fn address(i: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 78, 0, if i == 0 { 1 } else { 2 }))
    }

    /// Counts of the packets from host 0 to host 1, so far: a packet that was received has been counted.
    pub fn counts(&self) -> Counts {
        self.carrier.course(0).counts
    }
}

impl PacketCourse for Line {
    fn accept(&mut self, now_ns: i64, packet: Vec<u8>) {
        Line::accept(self, now_ns, packet);
    }

    fn take_due(&mut self, now_ns: i64) -> Option<Vec<u8>> {
        Line::take_due(self, now_ns)
    }

    fn next_due_ns(&self) -> Option<i64> {
        Line::next_due_ns(self)
    }

    fn written(&mut self, is_taken: bool) {
        match is_taken {
            true => self.counts.forwarded += 1,
            false => self.counts.refused += 1,
        }
    }
}
