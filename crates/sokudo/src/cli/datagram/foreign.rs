//! `sokudo datagram --wire …`: the far end is another tool's process.

use clap::ValueEnum;
use sokudo_coherence::datagram::protocol::Width;
use sokudo_coherence::datagram::{self as coherence_datagram, native};
use sokudo_controller::host_name;
use sokudo_load_network::datagram;
use sokudo_workload::Options;

use super::DatagramArgs;
use crate::cli::foreign::{Foreign, record};
use crate::cli::{Exit, Failure};

/// A wire that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Wire {
    /// The datagram test of a well-known data grid, sequence numbers of 32 bits.
    DatagramTest,
    /// The same with 64 bits: a listener of its release 24.09 then counts right.
    #[value(name = "datagram-test-64")]
    DatagramTest64,
}

/// Carries it out. A listener without HOST ends with its duration or with Ctrl-C.
pub fn run(wire: Wire, args: DatagramArgs) -> Result<Exit, Failure> {
    let width = match wire {
        Wire::DatagramTest => Width::Bits32,
        Wire::DatagramTest64 => Width::Bits64,
    };
    let options = native::options(&args.options, &args.hosts, width)?;
    let listening_ns = args.options.duration_ns();
    let foreign = Foreign {
        workload: datagram::NAME,
        wire: "datagram-test",
        options: args.options.to_json(),
        duration_ns: listening_ns,
        interval_ns: args.options.interval.0,
        seed: args.call.seed,
        observe: &args.call.observe,
        show: &args.call.show,
    };
    record(&foreign, |stop| {
        let summary = if options.peers.is_empty() && listening_ns > 0 {
            coherence_datagram::watch_for(&options, listening_ns, stop)?
        } else {
            coherence_datagram::watch(&options, &mut |_| {}, stop)?
        };
        let result = native::result(&summary, &host_name());
        Ok((result, summary.problems()))
    })
}
