//! `sokudo bus --wire …`: the far end is another tool's process.

use clap::ValueEnum;
use sokudo_coherence::bus::{self as coherence_bus, native};
use sokudo_controller::host_name;
use sokudo_i18n::I18n;
use sokudo_load_network::bus;
use sokudo_model::Text;
use sokudo_workload::Options;

use super::BusArgs;
use crate::cli::foreign::{Foreign, record};
use crate::cli::{Exit, Failure};

/// A wire that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Wire {
    /// The TCP message bus of a well-known data grid, version 0. HOST is `tmb://HOST:PORT`.
    #[value(name = "tmb")]
    CoherenceBus,
}

/// Carries it out. Without HOST it answers, for its duration since the first connection, or until
/// Ctrl-C.
pub fn run(wire: Wire, args: &BusArgs) -> Result<Exit, Failure> {
    let Wire::CoherenceBus = wire;
    if args.measure.is_asked() {
        return Err(Failure::operator(
            Text::new("error-foreign-no-phases"),
            Text::new("error-foreign-no-phases-hint"),
        ));
    }
    let options = native::options(&args.options, &args.hosts, &args.bind)?;
    let duration_ns = args.options.duration_ns();
    let foreign = Foreign {
        workload: bus::NAME,
        wire: native::WIRE,
        options: args.options.to_json(),
        duration_ns,
        interval_ns: args.options.interval.0,
        seed: args.call.seed,
        observe: &args.call.observe,
        show: &args.call.show,
    };
    let i18n = I18n::new(args.call.show.lang());
    record(&foreign, |stop| {
        let mut tell = |event| {
            if let coherence_bus::Event::Note(says) = event {
                eprintln!("  {}", i18n.text(&Text::recorded(says)));
            }
        };
        let mut enough = native::end_of(&options, duration_ns);
        let summary = coherence_bus::watch(&options, &mut tell, &mut enough, stop)?;
        let result = native::result(&summary, &host_name());
        Ok((result, summary.problems))
    })
}
