//! The vendor's report layout.
//!
//! Numbers in, text out. For whole numbers the text is the vendor's; where a mean is not whole it
//! keeps up to three decimals (the vendor cuts them off, and its gap times under a millisecond
//! print as 0), and what was never measured reads `n/a`, not -1.

use std::fmt::Write as _;
use std::net::SocketAddr;

use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

use super::account::{Counts, mean};
use super::options::{HostPort, Layout, ReportInterval};

const MIB: f64 = (1u64 << 20) as f64;

/// First line of the table of results.
pub const LOG_HEADER: &str = "publisher\tduration ms\tpacket size\tthroughput mb/sec\tthroughput packets/sec\tsent packets\treceived packets\tmissing packets\tsuccess rate\tout of order\tavg out of order offset\tgaps\tavg gap size\tavg gap time ms\tavg ack ms\n";

/// Settings with which a listener starts.
#[derive(Debug, Clone, PartialEq)]
pub struct ListenerStart {
    /// Its address.
    pub at: SocketAddr,
    /// Bytes per packet.
    pub packet_size: u32,
    /// Receive buffer asked for, packets.
    pub buffer_packets: u32,
    /// Between two reports.
    pub report: ReportInterval,
    /// Bytes of each packet that are checked.
    pub process_bytes: u32,
    /// Name of the table of results.
    pub log: Option<String>,
    /// Between two rows.
    pub log_interval: ReportInterval,
}

/// Settings with which a publisher starts.
#[derive(Debug, Clone, PartialEq)]
pub struct PublisherStart {
    /// Its address.
    pub at: SocketAddr,
    /// Its destinations, as typed and as found.
    pub peers: Vec<(HostPort, SocketAddr)>,
    /// Bytes per packet.
    pub packet_size: u32,
    /// Send buffer asked for, packets.
    pub buffer_packets: u32,
    /// Between two reports.
    pub report: ReportInterval,
    /// Bytes of each packet that are filled.
    pub process_bytes: u32,
    /// MiB per second over all peers and local addresses.
    pub rate_mib_per_s: Option<f64>,
}

/// One publisher in a listener's report.
#[derive(Debug, Clone, PartialEq)]
pub struct RxBlock {
    /// The publisher.
    pub publisher: SocketAddr,
    /// Counts of what arrived.
    pub counts: Counts,
}

/// A listener's report.
#[derive(Debug, Clone, PartialEq)]
pub struct RxReport {
    /// Address of the listener.
    pub listener: SocketAddr,
    /// Wall clock, nanoseconds since the Unix epoch.
    pub unix_ns: i64,
    /// Since the publishers were first heard.
    pub life: Vec<RxBlock>,
    /// Since the last report; empty in the last one.
    pub now: Vec<RxBlock>,
}

/// Amount that a publisher sent in a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TxRate {
    /// Packets to all peers.
    pub packets: u64,
    /// Their counted bytes.
    pub bytes: u64,
    /// The time, nanoseconds.
    pub elapsed_ns: u64,
}

/// A publisher's report.
#[derive(Debug, Clone, PartialEq)]
pub struct TxReport {
    /// The listener of the same local address.
    pub listener: SocketAddr,
    /// Number of destinations.
    pub peers: usize,
    /// Since the start.
    pub life: TxRate,
    /// Since the last report.
    pub now: TxRate,
    /// With a rate: send calls in `now`, of which each is a burst.
    pub bursts: Option<u64>,
    /// Wall clock, nanoseconds since the Unix epoch.
    pub unix_ns: i64,
}

/// Writes text in one layout.
#[derive(Debug, Clone)]
pub struct Writer {
    /// Layout, by release.
    pub layout: Layout,
    /// Time zone of the completion times.
    pub zone: TimeZone,
    /// Packet size, for the banners' MBs.
    pub packet_size: u32,
}

impl Writer {
    /// The listener's banner.
    pub fn listener(&self, start: &ListenerStart) -> String {
        let log = start.log.as_deref().unwrap_or("null");
        let mut text = format!("starting listener: at {}\n", slashed(start.at));
        self.shape(&mut text, start.packet_size, start.buffer_packets);
        let _ = write!(
            text,
            "  report on: {}\n    process: {} bytes/packet\n        log: {log}\n     log on: {}\n\n",
            self.packets_and_mib(start.report),
            start.process_bytes,
            self.mib(start.log_interval),
        );
        text
    }

    /// The publisher's banner.
    pub fn publisher(&self, start: &PublisherStart) -> String {
        let peers: Vec<String> = start
            .peers
            .iter()
            .map(|(typed, found)| named(typed, *found))
            .collect();
        let rate = start
            .rate_mib_per_s
            .map_or("no limit".into(), |rate| rate.to_string());
        let mut text = format!(
            "starting publisher: at {} sending to {}\n",
            slashed(start.at),
            peers.join(", ")
        );
        self.shape(&mut text, start.packet_size, start.buffer_packets);
        let _ = write!(
            text,
            "  report on: {}\n    process: {} bytes/packet\n      peers: {}\n       rate: {rate}\n\n",
            self.packets_and_mib(start.report),
            start.process_bytes,
            start.peers.len(),
        );
        text
    }

    fn shape(&self, text: &mut String, packet_size: u32, buffer_packets: u32) {
        let _ = write!(
            text,
            "packet size: {packet_size} bytes\nbuffer size: {buffer_packets} packets\n"
        );
    }

    fn packets_and_mib(&self, interval: ReportInterval) -> String {
        match interval {
            ReportInterval::Packets(packets) => {
                format!("{packets} packets, {}", self.mib(interval))
            }
            other => self.mib(other),
        }
    }

    fn mib(&self, interval: ReportInterval) -> String {
        match interval {
            ReportInterval::Off => "never".into(),
            ReportInterval::Packets(packets) => {
                let bytes = u128::from(packets) * u128::from(self.packet_size);
                format!("{} MBs", bytes >> 20)
            }
            ReportInterval::Time(ns) => format!("{} ms", ns / 1_000_000),
        }
    }

    /// Said when a publisher begins: at which burst.
    pub fn go(&self, burst: Option<usize>) -> String {
        match burst {
            None => "no packet burst limit\n".into(),
            Some(burst) => format!("setting packet burst to {burst}\n"),
        }
    }

    /// Said when a listener hears another publisher.
    pub fn receiving(&self, listener: SocketAddr, publishers: usize) -> String {
        match self.layout {
            Layout::Manual => String::new(),
            Layout::Release24 => format!(
                "\n{} receiving data from {publishers} publisher(s).\n",
                slashed(listener)
            ),
        }
    }

    /// Said when all publishers of a listener have been silent for long enough.
    pub fn stopped(&self, report: &RxReport) -> String {
        format!("\nClients have stopped.\n{}", self.rx(report))
    }

    /// A listener's report.
    pub fn rx(&self, report: &RxReport) -> String {
        let mut text = String::new();
        for (title, blocks) in [("Lifetime", &report.life), ("Now", &report.now)] {
            if blocks.is_empty() {
                continue;
            }
            let _ = write!(text, "\n{title}:\n");
            for block in blocks {
                self.block(&mut text, report.listener, block);
                text.push('\n');
            }
            if blocks.len() > 1 {
                self.sum(&mut text, blocks, report.unix_ns);
            }
            match self.layout {
                Layout::Manual => {}
                Layout::Release24 => {
                    let _ = write!(text, "\n completed: {}\n", self.time(report.unix_ns));
                }
            }
        }
        text
    }

    fn line(&self, text: &mut String, label: &str, value: &str) {
        let indent = match self.layout {
            Layout::Manual => "        ",
            Layout::Release24 => "\t",
        };
        let mark = if label.is_empty() { ' ' } else { ':' };
        let _ = writeln!(text, "{indent}{label:>12}{mark} {value}");
    }

    fn block(&self, text: &mut String, listener: SocketAddr, block: &RxBlock) {
        let counts = &block.counts;
        let _ = writeln!(text, "Rx from publisher: {}", slashed(block.publisher));
        if self.layout == Layout::Release24 {
            self.line(text, "to listener", &slashed(listener));
        }
        self.line(text, "elapsed", &milliseconds(counts));
        self.line(text, "packet size", &packet_size(counts));
        self.numbers(text, counts);
    }

    fn sum(&self, text: &mut String, blocks: &[RxBlock], unix_ns: i64) {
        if self.layout == Layout::Manual {
            return;
        }
        let mut counts = Counts::default();
        for block in blocks {
            counts.add(&block.counts);
        }
        let _ = writeln!(text, "Rx Summary from {} publisher(s): ", blocks.len());
        self.line(text, "elapsed", &milliseconds(&counts));
        self.numbers(text, &counts);
        let _ = writeln!(text, "\t   completed: {}", self.time(unix_ns));
    }

    fn numbers(&self, text: &mut String, counts: &Counts) {
        let (mib, packets) = rates(counts.bytes, counts.received, counts.elapsed_ns());
        self.line(text, "throughput", &format!("{mib} MB/sec"));
        self.line(text, "", &format!("{packets} packets/sec"));
        let received = format!("{} of {}", counts.received, counts.of);
        self.line(text, "received", &received);
        self.line(text, "missing", &counts.missing().to_string());
        self.line(text, "success rate", &success(counts));
        self.line(text, "out of order", &counts.out_of_order.to_string());
        let offset = mean(counts.offset_sum, counts.out_of_order);
        self.line(text, "avg offset", &decimal(offset.unwrap_or(0.0)));
        if self.layout == Layout::Manual {
            return;
        }
        let gap_size = mean(counts.gap_packets, counts.gaps).unwrap_or(0.0);
        let gap_ns = mean(counts.gap_ns, counts.gaps).unwrap_or(0.0);
        let ack = ack_ms(counts).map_or("n/a".into(), |ms| format!("{ms}ms"));
        self.line(text, "gaps", &counts.gaps.to_string());
        self.line(text, "avg gap size", &decimal(gap_size));
        self.line(
            text,
            "avg gap time",
            &format!("{}ms", decimal(gap_ns / 1e6)),
        );
        self.line(
            text,
            "avg ack time",
            &format!("{ack}; acks {}", counts.acks),
        );
    }

    /// A publisher's report.
    pub fn tx(&self, report: &TxReport) -> String {
        let title = match self.layout {
            Layout::Manual => format!("Tx summary {} peers:", report.peers),
            Layout::Release24 => format!(
                "Tx summary for {} to {} peers:",
                slashed(report.listener),
                report.peers
            ),
        };
        let mut text = format!("\n{title}\n");
        for (label, rate) in [("life", &report.life), ("now", &report.now)] {
            let (mib, packets) = rates(rate.bytes, rate.packets, rate.elapsed_ns);
            let _ = writeln!(text, "{label:>7}: {mib} MB/sec, {packets} packets/sec");
        }
        if self.layout == Layout::Release24 {
            let _ = write!(
                text,
                "     duration: {}ms\n    completed: {}",
                report.life.elapsed_ns / 1_000_000,
                self.time(report.unix_ns)
            );
            if let Some((size, per_s)) = bursts(report) {
                let _ = write!(
                    text,
                    ", packets/burst: {size:.0}, bursts/second: {per_s:.1}"
                );
            }
            text.push('\n');
        }
        text
    }

    /// `2026-11-21 08:42:43.7`: milliseconds without trailing zeros, at least one digit.
    fn time(&self, unix_ns: i64) -> String {
        let Ok(at) = Timestamp::from_nanosecond(i128::from(unix_ns)) else {
            return "n/a".into();
        };
        let at = at.to_zoned(self.zone.clone());
        let text = strtime::format("%Y-%m-%d %H:%M:%S.%3f", &at).unwrap_or_default();
        let trimmed = text.trim_end_matches('0');
        if trimmed.ends_with('.') {
            format!("{trimmed}0")
        } else {
            trimmed.to_owned()
        }
    }
}

/// Tick marks for the intervals `from..to`: every tenth is a capital. At most 1000 are drawn.
pub fn ticks(small: char, large: char, from: u64, to: u64) -> String {
    const MOST: u64 = 1000;
    (from.max(to.saturating_sub(MOST))..to)
        .map(|tick| if tick % 10 == 9 { large } else { small })
        .collect()
}

/// One row of the table of results.
pub fn log_row(block: &RxBlock) -> String {
    let counts = &block.counts;
    let (mib, packets) = rates(counts.bytes, counts.received, counts.elapsed_ns());
    let columns = [
        slashed(block.publisher),
        (counts.elapsed_ns() / 1_000_000).to_string(),
        packet_size(counts),
        mib,
        packets,
        counts.of.to_string(),
        counts.received.to_string(),
        counts.missing().to_string(),
        success(counts),
        counts.out_of_order.to_string(),
        decimal(mean(counts.offset_sum, counts.out_of_order).unwrap_or(0.0)),
        counts.gaps.to_string(),
        decimal(mean(counts.gap_packets, counts.gaps).unwrap_or(0.0)),
        decimal(mean(counts.gap_ns, counts.gaps).unwrap_or(0.0) / 1e6),
        ack_ms(counts).unwrap_or_default(),
    ];
    // The vendor ends its rows, unlike its header, with a separator.
    let mut row = columns.join("\t");
    row.push_str("\t\n");
    row
}

/// An address as the vendor writes it: `/195.0.0.2:9999`.
pub fn slashed(address: SocketAddr) -> String {
    format!("/{address}")
}

/// A peer as the vendor writes it: with its name when one was typed.
fn named(typed: &HostPort, found: SocketAddr) -> String {
    if typed.host.parse::<std::net::IpAddr>().is_ok() {
        slashed(found)
    } else {
        format!("{}{}", typed.host, slashed(found))
    }
}

fn milliseconds(counts: &Counts) -> String {
    format!("{}ms", counts.elapsed_ns() / 1_000_000)
}

fn packet_size(counts: &Counts) -> String {
    mean(counts.bytes, counts.received).map_or("n/a".into(), |size| format!("{size:.0}"))
}

fn success(counts: &Counts) -> String {
    counts.success_ratio().map_or("n/a".into(), ratio)
}

fn ack_ms(counts: &Counts) -> Option<String> {
    mean(counts.ack_ns, counts.acks).map(|ns| {
        let ms = format!("{:.6}", ns / 1e6);
        trimmed(&ms, 1)
    })
}

/// MiB per second and packets per second, whole; `n/a` when no time passed.
fn rates(bytes: u64, packets: u64, elapsed_ns: u64) -> (String, String) {
    if elapsed_ns == 0 {
        return ("n/a".into(), "n/a".into());
    }
    let seconds = elapsed_ns as f64 / 1e9;
    let per_s = |n: f64| format!("{:.0}", n / seconds);
    (per_s(bytes as f64 / MIB), per_s(packets as f64))
}

/// Packets per burst and bursts per second of the last interval.
fn bursts(report: &TxReport) -> Option<(f64, f64)> {
    let bursts = report.bursts.filter(|bursts| *bursts > 0)? as f64;
    let seconds = report.now.elapsed_ns as f64 / 1e9;
    (seconds > 0.0).then(|| (report.now.packets as f64 / bursts, bursts / seconds))
}

/// A share with seven decimals, more where seven would make a loss look like none.
fn ratio(value: f64) -> String {
    let digits = (7..=17)
        .find(|digits| value >= 1.0 || !format!("{value:.digits$}").starts_with('1'))
        .unwrap_or(17);
    trimmed(&format!("{value:.digits$}"), 1)
}

/// A number with up to three decimals; whole numbers without.
fn decimal(value: f64) -> String {
    trimmed(&format!("{value:.3}"), 0)
}

/// Cuts zeros off the end behind the point, down to `least` decimals.
fn trimmed(text: &str, least: usize) -> String {
    let Some((whole, behind)) = text.split_once('.') else {
        return text.to_owned();
    };
    let kept = behind.trim_end_matches('0').len().max(least);
    if kept == 0 {
        return whole.to_owned();
    }
    format!("{whole}.{}", &behind[..kept])
}

#[cfg(test)]
mod tests;
