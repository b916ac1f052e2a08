//! A short test of the send and receive modes of this host.
//!
//! Short runs over loopback, one per I/O mode, sender and receiver on a thread each. The result
//! picks the mode for `--io auto` and lets a result say "generator-limited".

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sokudo_net::clock::now_ns;
use sokudo_net::udp::{
    MMSG_BATCH, Receiver, SendMode, Sender, bind, enable_gro, receive_bound, receive_buffer,
};

use super::options::DatagramOptions;
use super::protocol::Header;

/// Rate that one mode reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModeRate {
    /// Mode of the sender.
    pub mode: SendMode,
    /// Whether the receiver took several datagrams as one buffer.
    pub gro: bool,
    /// Datagrams per second handed to the kernel.
    pub sent_per_s: f64,
    /// Datagrams per second that arrived meanwhile.
    pub delivered_per_s: f64,
}

impl ModeRate {
    /// Name of the pair: `plain`, `mmsg`, `gso`, `gso+gro`.
    pub fn name(&self) -> String {
        format!("{}{}", self.mode.name(), if self.gro { "+gro" } else { "" })
    }
}

/// The pairs that are tried.
pub const PAIRS: [(SendMode, bool); 4] = [
    (SendMode::Plain, false),
    (SendMode::Mmsg, false),
    (SendMode::Gso, false),
    (SendMode::Gso, true),
];

/// Tries one mode for `span` with datagrams of `size_bytes`.
///
/// Fails with the system's error when it does not offer the mode.
pub fn try_mode(
    mode: SendMode,
    gro: bool,
    size_bytes: usize,
    span: Duration,
) -> io::Result<ModeRate> {
    let local: SocketAddr = ([127, 0, 0, 1], 0).into();
    let receiving = bind(local)?;
    receive_buffer(&receiving, Some(DatagramOptions::DEFAULT_RCVBUF_BYTES))?;
    receive_bound(&receiving, Duration::from_millis(10))?;
    if gro {
        enable_gro(&receiving)?;
    }
    let sending = bind(local)?;
    sending.connect(receiving.local_addr()?)?;
    let mut sender = Sender::new(sending, mode, size_bytes)?;
    let batch = if mode == SendMode::Plain {
        1
    } else {
        MMSG_BATCH
    };
    let mut receiver = Receiver::new(receiving, size_bytes, gro, batch);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let counting = std::thread::Builder::new()
            .name("selftest-rx".into())
            .spawn_scoped(scope, || {
                let mut delivered = 0u64;
                while !stop.load(Ordering::Relaxed) {
                    if receiver.receive()? > 0 {
                        receiver.for_each(|_| delivered += 1);
                    }
                }
                io::Result::Ok(delivered)
            })?;
        let start_ns = now_ns();
        let sent = blast(&mut sender, start_ns + span.as_nanos() as i64);
        let seconds = (now_ns() - start_ns) as f64 / 1e9;
        stop.store(true, Ordering::Relaxed);
        let delivered = counting
            .join()
            .map_err(|_| io::Error::other("the receiving thread died"))??;
        Ok(ModeRate {
            mode,
            gro,
            sent_per_s: sent as f64 / seconds,
            delivered_per_s: delivered as f64 / seconds,
        })
    })
}

fn blast(sender: &mut Sender, end_ns: i64) -> u64 {
    let mut sent = 0;
    let batch = sender.batch();
    let mut header = Header {
        ticket: 0,
        sequence: 0,
        send_ns: 0,
        ack_wanted: false,
        ack: false,
    };
    while now_ns() < end_ns {
        for index in 0..batch {
            header.sequence += 1;
            header.write(sender.slot(index));
        }
        sent += sender.send(batch).taken as u64;
    }
    sent
}

/// The mode that delivers most for datagrams of `size_bytes`, tried for `span` each.
///
/// Plain when nothing else works. Batching must win by 2 % to be chosen: it makes bursts.
pub fn best_mode(size_bytes: usize, span: Duration) -> SendMode {
    let mut best = (SendMode::Plain, 0.0);
    for (mode, gro) in [
        (SendMode::Plain, false),
        (SendMode::Mmsg, false),
        (SendMode::Gso, true),
    ] {
        if let Ok(rate) = try_mode(mode, gro, size_bytes, span)
            && rate.delivered_per_s > best.1 * 1.02
        {
            best = (mode, rate.delivered_per_s);
        }
    }
    best.0
}
