//! Network access of this host: sockets, byte streams, clocks, and what the operating system
//! reports about them.

#[cfg(not(target_os = "linux"))]
mod absent;
pub mod alarm;
pub mod clock;
pub mod cores;
pub mod counters;
pub mod dns;
pub mod files;
pub mod host;
pub mod memory;
pub mod netns;
pub mod process;
pub mod quic;
pub mod rdma;
pub mod shm;
pub mod stamps;
pub mod stream;
pub mod tcp;
pub mod tls;
pub mod udp;
pub mod unix;
pub mod unless;
pub mod urgency;
pub mod wait;
