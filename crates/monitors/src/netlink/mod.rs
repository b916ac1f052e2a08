//! Interfaces, queueing disciplines and listening sockets of the calling thread's network namespace, read over netlink.
//!
//! `/sys/class/net` shows the namespace in which `/sys` was mounted; netlink shows the thread's own.

// Elsewhere the layout is still tested, though nothing asks.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

pub(crate) mod message;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Listeners, Queues, connections, links, settings};

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(not(target_os = "linux"))]
pub(crate) use absent::{Listeners, Queues, connections, links, settings};

/// Settings of one interface that `ethtool` shows; `None` where the driver does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Name as in `ip link`.
    pub(crate) name: String,
    /// Offloads and other features that are on.
    pub(crate) features: Option<Vec<String>>,
    /// Descriptors of the receive ring, and the most that the device allows.
    pub(crate) rx_ring: Option<(u32, u32)>,
    /// Descriptors of the send ring, and the most that the device allows.
    pub(crate) tx_ring: Option<(u32, u32)>,
    /// Time that the device gathers packets before it interrupts, microseconds.
    pub(crate) rx_coalesce_us: Option<u32>,
    /// The device chooses that time by itself.
    pub(crate) rx_coalesce_is_adaptive: Option<bool>,
    /// Link speed, megabits per second.
    pub(crate) speed_mbit_per_s: Option<u32>,
    /// `full` or `half`.
    pub(crate) duplex: Option<&'static str>,
}
