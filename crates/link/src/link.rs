//! A link between two hosts of this machine, carried by the kernel or by this process.

use std::io;
use std::net::IpAddr;
use std::process::{Child, Command};

use sokudo_model::Text;
use sokudo_net::clock;
use sokudo_net::netns::{LocalHosts, NetnsError, Starter};

use crate::carrier::{Carrier, PACKET_MAX_BYTES};
use crate::course::LinkCourse;
use crate::direction::Properties;
use crate::kernel;
use crate::tally::Tally;

/// Names by which programs on the hosts know them.
pub const NAMES: [&str; 2] = ["a", "b"];

/// Names of the threads that start programs on the hosts.
pub const STARTERS: [&str; 2] = ["link-a", "link-b"];

/// Name of the link in both hosts, with either carrier.
const DEVICE: &str = "eth0";

/// Wanted carrier of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The kernel where it can do what is asked as well as this process, otherwise this process.
    #[default]
    Auto,
    /// The kernel.
    Kernel,
    /// This process.
    Tun,
}

/// Carrier of a link.
#[derive(Debug, Clone, PartialEq)]
pub enum By {
    /// The kernel, by these disciplines.
    Kernel(&'static [&'static str]),
    /// This process, by TUN devices. Says why the kernel does not, where that was tried.
    Tun(Option<Text>),
}

/// Requirements of a link.
#[derive(Debug, Clone, Copy)]
pub struct LinkRequest {
    /// From host a to host b, and back.
    pub ways: [Properties; 2],
    /// Wanted carrier.
    pub choice: Choice,
    /// Seed of loss and jitter; none: another one each time.
    pub seed: Option<u64>,
}

/// Two hosts and the link between them. All ends with this value, and with this process.
#[derive(Debug)]
pub struct Link {
    // Programs end first, then what carries their packets, then their hosts.
    starters: [Starter; 2],
    carried: Carried,
    hosts: LocalHosts,
    ways: [Properties; 2],
}

#[derive(Debug)]
enum Carried {
    Kernel(&'static [&'static str]),
    Tun {
        carrier: Carrier<LinkCourse>,
        why: Option<Text>,
    },
}

impl Link {
    /// Makes hosts and link.
    ///
    /// Errors: no right to make network namespaces, or nothing that can carry the link; each with what
    /// can be done about it.
    pub fn open(asked: &LinkRequest) -> Result<Self, NetnsError> {
        let (hosts, carried) = match asked.choice {
            Choice::Kernel => by_kernel(asked)?,
            Choice::Tun => by_tun(asked, None)?,
            Choice::Auto => match better_by_kernel(asked) {
                Ok(made) => made,
                Err(why) => by_tun(asked, Some(why))?,
            },
        };
        let known: Vec<(IpAddr, &str)> = (0..2).map(|i| (hosts.address(i), NAMES[i])).collect();
        let starter = |i: usize| hosts.starter(i, STARTERS[i], &known);
        Ok(Self {
            starters: [starter(0)?, starter(1)?],
            carried,
            hosts,
            ways: asked.ways,
        })
    }

    /// Present carrier.
    pub fn by(&self) -> By {
        match &self.carried {
            Carried::Kernel(kinds) => By::Kernel(kinds),
            Carried::Tun { why, .. } => By::Tun(why.clone()),
        }
    }

    /// Address of host 0 or 1.
    pub fn address(&self, i: usize) -> IpAddr {
        self.hosts.address(i)
    }

    /// The hosts, for callers that look inside them.
    pub fn hosts(&self) -> &LocalHosts {
        &self.hosts
    }

    /// Starts a program on host 0 or 1. It is killed when the link ends, however it does.
    ///
    /// Errors: it cannot be started.
    pub fn start(&self, i: usize, command: Command) -> io::Result<Child> {
        self.starters[i].start(command)
    }

    /// Fate of the packets so far, from host 0 to host 1 and back.
    ///
    /// Errors: the kernel does not tell its counters.
    pub fn tallies(&self) -> Result<[Tally; 2], NetnsError> {
        let tally = |direction: usize| match &self.carried {
            Carried::Kernel(_) => kernel::tally(&self.hosts, direction, &self.ways[direction]),
            Carried::Tun { carrier, .. } => Ok(Tally::of(&carrier.course(direction))),
        };
        Ok([tally(0)?, tally(1)?])
    }
}

/// Errors: why this process is to carry it.
fn better_by_kernel(asked: &LinkRequest) -> Result<(LocalHosts, Carried), Text> {
    let reasons = [kernel::lacks, kernel::is_worse_at];
    let why = reasons
        .iter()
        .find_map(|reason| asked.ways.iter().find_map(reason));
    match why {
        Some(why) => Err(Text::new(why)),
        None => by_kernel(asked).map_err(|e| e.what),
    }
}

fn by_kernel(asked: &LinkRequest) -> Result<(LocalHosts, Carried), NetnsError> {
    if let Some(why) = asked.ways.iter().find_map(kernel::lacks) {
        return Err(lacks(why));
    }
    let draws = |way: &Properties| way.jitter_ns > 0 || !way.loss.is_none();
    if asked.seed.is_some() && asked.ways.iter().any(draws) {
        return Err(lacks("error-link-unseeded"));
    }
    let hosts = LocalHosts::new(2, Some(PACKET_MAX_BYTES as u32))?;
    let [there, back] = &asked.ways;
    kernel::set_up(&hosts, [there, back])?;
    Ok((hosts, Carried::Kernel(kernel::kinds(there))))
}

fn lacks(why: &str) -> NetnsError {
    NetnsError::new(
        Text::new("error-link-kernel").text("why", Text::new(why)),
        Text::new("error-link-kernel-hint"),
    )
}

fn by_tun(asked: &LinkRequest, why: Option<Text>) -> Result<(LocalHosts, Carried), NetnsError> {
    let hosts = LocalHosts::apart(2)?;
    let seed = asked
        .seed
        .unwrap_or_else(|| clock::unix_ns().cast_unsigned());
    let [there, back] = asked.ways;
    let courses = [
        LinkCourse::new(there, seed),
        LinkCourse::new(back, seed.wrapping_add(1)),
    ];
    let addresses = [hosts.address(0), hosts.address(1)];
    let carrier = Carrier::open(&hosts, DEVICE, addresses, courses)?;
    Ok((hosts, Carried::Tun { carrier, why }))
}
