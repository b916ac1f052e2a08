//! What needs a system call to be tried?

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::{enter_network_namespace, free_bytes};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{enter_network_namespace, free_bytes};
