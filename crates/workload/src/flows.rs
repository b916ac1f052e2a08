//! Pairs of hosts of which one loads the other, and the flows of a phase.
//!
//! Number 0 is the host that gives the command; all others are its peers. A workload chooses the
//! pairs and how many flows run side by side in each; the numbers are given here.

use serde::{Serialize, Serializer};
use sokudo_model::FlowPlan;

use crate::choice::Choice;

/// A host and the one that it loads.
pub type Pair = (u32, u32);

/// The hosts that send, or ask, and those that they send to. Each load takes some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// This host to each of its peers.
    Up,
    /// Each peer to this host.
    Down,
    /// Both at once.
    Both,
    /// Every host to all others.
    Mesh,
    /// Every host to all hosts, itself included.
    MeshSelf,
}

impl Choice for Direction {
    fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Both => "both",
            Direction::Mesh => "mesh",
            Direction::MeshSelf => "mesh-self",
        }
    }
}

impl Serialize for Direction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Direction {
    /// Pairs of sender and receiver among so many hosts, of which number 0 gives the command.
    pub fn pairs(self, hosts: u32) -> Vec<Pair> {
        match self {
            Direction::Up => up(hosts).collect(),
            Direction::Down => down(hosts).collect(),
            Direction::Both => both(hosts).collect(),
            Direction::Mesh => mesh(hosts).collect(),
            Direction::MeshSelf => mesh_self(hosts).collect(),
        }
    }
}

/// This host to each of its peers.
pub fn up(hosts: u32) -> impl Iterator<Item = Pair> {
    (1..hosts).map(|peer| (0, peer))
}

/// Each peer to this host.
pub fn down(hosts: u32) -> impl Iterator<Item = Pair> {
    (1..hosts).map(|peer| (peer, 0))
}

/// Up and down, peer by peer.
pub fn both(hosts: u32) -> impl Iterator<Item = Pair> {
    up(hosts).zip(down(hosts)).flat_map(|(up, down)| [up, down])
}

/// Every host to all others.
pub fn mesh(hosts: u32) -> impl Iterator<Item = Pair> {
    mesh_self(hosts).filter(|(from, to)| from != to)
}

/// Every host to all hosts, itself included.
pub fn mesh_self(hosts: u32) -> impl Iterator<Item = Pair> {
    (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (from, to)))
}

/// Hosts that load a server which needs nothing of ours: the one that gives the command when it is
/// alone, else all the others.
pub fn loaders(hosts: u32) -> impl Iterator<Item = u32> {
    if hosts > 1 { 1..hosts } else { 0..1 }
}

/// Numbers the flows of a phase, `side_by_side` of them (at least one) for each pair.
pub fn numbered(pairs: impl IntoIterator<Item = Pair>, side_by_side: u32) -> Vec<FlowPlan> {
    let each = pairs
        .into_iter()
        .flat_map(|(from, to)| (0..side_by_side.max(1)).map(move |stream| (from, to, stream)));
    (0..)
        .zip(each)
        .map(|(id, (from, to, stream))| FlowPlan {
            id,
            from,
            to,
            stream,
        })
        .collect()
}

/// Part `number` of `parts` of a whole number; the first parts take what does not divide.
pub fn share(whole: u64, number: u64, parts: u64) -> u64 {
    whole / parts + u64::from(number < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_make_up_the_whole() {
        let shares = |whole, parts| {
            (0..parts)
                .map(|n| share(whole, n, parts))
                .collect::<Vec<_>>()
        };
        assert_eq!(shares(10, 3), [4, 3, 3]);
        assert_eq!(shares(2, 3), [1, 1, 0]);
    }
}
