//! Tests of the numbers of `probe` over real sockets.
//!
//! Whole phases between two hosts of one process, through a relay whose delays, losses, repetitions
//! and swaps are scripted for each direction, and between network namespaces.

mod clocks;
mod delays;
mod losses;
mod play;
