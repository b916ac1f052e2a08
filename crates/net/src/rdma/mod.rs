//! Lists the RDMA devices of this host and opens one.
//!
//! Needs the feature `rdma` and libibverbs (package libibverbs-dev or rdma-core-devel). An opened
//! device has a protection domain and a completion queue, which every transfer needs; transfers
//! themselves are not part of this. What follows the list of devices has not been run on hardware.

#[cfg(all(feature = "rdma", target_os = "linux"))]
#[path = "present.rs"]
mod imp;
#[cfg(not(all(feature = "rdma", target_os = "linux")))]
#[path = "absent.rs"]
mod imp;

pub use imp::{Endpoint, devices};

/// Errors of RDMA.
#[derive(Debug, thiserror::Error)]
pub enum RdmaError {
    /// This program was built without it.
    #[error("this sokudo was built without RDMA")]
    NotBuilt,
    /// The library finds no device.
    #[error("this host has no RDMA device")]
    NoDevice,
    /// The list of devices cannot be read.
    #[error("the RDMA devices of this host cannot be listed: {0}")]
    List(std::io::Error),
    /// A device cannot be used.
    #[error("the RDMA device `{device}` cannot be opened: {what}: {why}")]
    Open {
        /// Name of the device.
        device: String,
        /// The operation.
        what: &'static str,
        /// The system's error.
        why: std::io::Error,
    },
}

impl RdmaError {
    /// The hint for the operator.
    pub fn hint(&self) -> &'static str {
        match self {
            RdmaError::NotBuilt => {
                "build it on Linux with libibverbs-dev installed: cargo build --release -p sokudo \
                 --features rdma"
            }
            RdmaError::NoDevice => {
                "`ibv_devices` lists them; without such hardware use --transport tcp"
            }
            RdmaError::List(_) => "look whether the kernel's module ib_uverbs is loaded",
            RdmaError::Open { .. } => {
                "look at the rights of /dev/infiniband and the limit on locked memory (ulimit -l)"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_devices_says_so() {
        match devices() {
            Ok(found) if found.is_empty() => {
                assert!(matches!(Endpoint::open_first(), Err(RdmaError::NoDevice)));
            }
            Ok(_) => match Endpoint::open_first() {
                Ok(endpoint) => assert!(!endpoint.device().is_empty()),
                Err(why) => eprintln!("skipped: {why}"),
            },
            Err(why) => assert!(!why.hint().is_empty()),
        }
    }
}
