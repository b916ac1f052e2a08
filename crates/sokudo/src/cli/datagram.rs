//! `sokudo datagram`: datagrams per second between hosts.

use std::path::PathBuf;

use clap::Args;
use sokudo_i18n::TextError;
use sokudo_load_network::datagram::DatagramOptions;
use sokudo_model::{Count, Nanos, Record, Text};
use sokudo_report::tsv;
use sokudo_workload::Options;

mod foreign;

use super::measure::{MeasureArgs, measure};
use super::observer::{ReportEvery, Terminal, Ticks};
use super::workload::{self, CallArgs};
use super::{Exit, Failure, table};

/// Send datagrams between hosts and say how many arrive and where the others are lost.
///
/// Start `sokudo serve` on each HOST first. Results of both ends are joined into one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sokudo datagram hostb                              as fast as possible, 10 s
  sokudo datagram hostb --rate 1Gb/s --duration 60s  does the link carry 1 Gb/s?
  sokudo datagram hostb --find 'loss<0.1%'           the highest rate that holds
  sokudo datagram hostb --sweep rate=1Gb/s..8Gb/s:8  what arrives as the load rises
  sokudo datagram hostb hostc --direction mesh       every host sends to all others
  sokudo datagram hostb --count 100000 --io plain    exactly 100,000, one call each

Rates: `1Gb/s` is bits, `125MB/s` bytes, `20k/s` datagrams per second.")]
pub struct DatagramArgs {
    /// Hosts on which `sokudo serve` runs: HOST or HOST:PORT. With --wire: foreign far ends; none
    /// makes this host a listener.
    #[arg(required_unless_present = "wire", value_name = "HOST")]
    hosts: Vec<String>,

    /// Speak another tool's wire: its own process is the far end, and no sokudo is needed there.
    #[arg(long, value_enum, conflicts_with_all = ["find", "repeat", "sweep", "key"])]
    wire: Option<foreign::Wire>,

    #[command(flatten)]
    options: DatagramOptions,

    #[command(flatten)]
    measure: MeasureArgs,

    /// Draw a mark for every N datagrams: o and O sent, i and I received.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000", value_parser = parse_ticks)]
    ticks: Option<Count>,

    /// Print a line about the rates so far after a time (`1s`) or a number of datagrams (`100kpkt`).
    #[arg(long, value_name = "TIME|N", value_parser = parse_every)]
    report_every: Option<ReportEvery>,

    /// Write the series as a table of tab-separated values when the run is over.
    #[arg(long, value_name = "FILE")]
    tsv: Option<PathBuf>,

    #[command(flatten)]
    call: CallArgs,
}

fn parse_every(text: &str) -> Result<ReportEvery, TextError> {
    let every = match text.strip_suffix("pkt") {
        Some(count) => count.parse::<Count>().map(|n| ReportEvery::Packets(n.0)),
        None => text.parse::<Nanos>().map(|n| ReportEvery::Time(n.0)),
    };
    match every {
        Ok(ReportEvery::Packets(0) | ReportEvery::Time(0)) => {
            Err(TextError(Text::new("error-value-every")))
        }
        other => Ok(other?),
    }
}

fn parse_ticks(text: &str) -> Result<Count, TextError> {
    match text.parse::<Count>() {
        Ok(Count(0)) => Err(TextError(Text::new("error-value-ticks"))),
        other => Ok(other?),
    }
}

/// Carries it out.
pub fn run(mut args: DatagramArgs) -> Result<Exit, Failure> {
    // One stream per binding, or more when more are asked for.
    let bindings = u32::try_from(args.options.bind.len()).unwrap_or(u32::MAX);
    args.options.streams = args.options.streams.max(bindings);
    args.options.validate()?;
    if let Some(file) = &args.tsv {
        table::must_be_writable(file)?;
    }
    if let Some(wire) = args.wire {
        return foreign::run(wire, args);
    }
    let planned = args.measure.plan(&args.options)?;
    let lang = args.call.show.lang();
    let call = args.call.to(&args.hosts, &args.options);
    let ticks = args.ticks.map(|every| Ticks { every: every.0 });
    let observer = Terminal::new(lang, ticks, args.report_every)
        .sampling_every(args.options.interval.0)
        .live(args.call.live);
    let also = |record: &Record| match &args.tsv {
        Some(file) => table::write(file, &tsv::datagram(record)),
        None => Ok(()),
    };
    workload::carry_out(&call, observer, |run| measure(planned, run, lang), also)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_after_a_time_or_a_number() {
        assert!(matches!(
            parse_every("100kpkt"),
            Ok(ReportEvery::Packets(100_000))
        ));
        assert!(matches!(
            parse_every("1s"),
            Ok(ReportEvery::Time(1_000_000_000))
        ));
    }
}
