//! The load that moves trees of files between hosts.

pub mod replicate;
