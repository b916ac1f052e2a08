//! Facilities that only a system call can show.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::{enter_network_namespace, free_bytes};

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(not(target_os = "linux"))]
pub(super) use absent::{enter_network_namespace, free_bytes};
