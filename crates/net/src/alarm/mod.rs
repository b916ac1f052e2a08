//! A timer that is waited for as a file is.
//!
//! A thread that gives the kernel a timeout with each wait for its streams has a timer started and stopped with each
//! of them. This one is set when the moment changes, and the waits have no timeout.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "absent.rs"]
mod imp;

pub use imp::Alarm;
