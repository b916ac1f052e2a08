//! Events of a running test.

use std::net::SocketAddr;

use super::report::{ListenerStart, PublisherStart, RxBlock, RxReport, TxReport};

/// Direction of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketWay {
    /// Received here.
    In,
    /// Sent from here.
    Out,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Something was taken otherwise than asked for; a sentence.
    Note(String),
    /// A listener is ready.
    Listening(ListenerStart),
    /// A publisher is ready; with politeness it may wait now.
    Publishing(PublisherStart),
    /// A publisher begins to send: its largest burst, `None` without a rate.
    Go(Option<usize>),
    /// A listener hears so many publishers now.
    Receiving {
        /// The listener.
        listener: SocketAddr,
        /// Number of publishers that it hears.
        publishers: usize,
    },
    /// Tick intervals that have passed: from the `from`-th up to, not including, the `to`-th.
    Ticks {
        /// Sent or received.
        way: PacketWay,
        /// First interval, from 0.
        from: u64,
        /// One past the last.
        to: u64,
    },
    /// A listener's report.
    Rx(RxReport),
    /// A publisher's report.
    Tx(TxReport),
    /// Rows for the table of results.
    Rows {
        /// The listener.
        listener: SocketAddr,
        /// One per publisher.
        rows: Vec<RxBlock>,
    },
    /// All publishers of a listener have been silent for the timeout: their last report.
    Stopped(RxReport),
    /// A publisher has sent as many rounds as asked for.
    IterationsReached,
}
