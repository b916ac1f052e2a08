//! Mapping of sokudo's own options and results to a test with a foreign far end.
//!
//! `sokudo datagram --wire datagram-test` runs the vendor's wire with our words: what cannot be
//! said on that wire is refused, what cannot be known is absent from the result.

use sokudo_load_network::datagram::options::{BufferSize, DatagramOptions};
use sokudo_model::kinds::datagram as metrics;
use sokudo_model::{
    FlowResult, Fold, HistogramSummary, Labels, Metric, PhaseResult, Refusal, Summary, Text,
};
use sokudo_workload::contract::Options;
use sokudo_workload::flows::Direction;
use sokudo_workload::joined;
use sokudo_workload::link::Transport;

use super::options::HostPort;
use super::protocol::Width;
use super::{CoherenceDatagramOptions, CoherenceDatagramSummary, Provider, ReportInterval};

/// Port of the vendor's listeners.
const COHERENCE_DATAGRAM_PORT: u16 = 9999;
const MIB: f64 = 1_048_576.0;
/// Datagram size when none is asked for: what the vendor's manual uses.
const SIZE_BYTES: u32 = 1468;

fn refuse(says: Text, hint: Text) -> Refusal {
    Refusal {
        operator_error: true,
        says,
        hint: Some(hint),
    }
}

/// The vendor's options for what was asked in ours. `peers` are `HOST` or `HOST:PORT`.
///
/// Errors: what the wire cannot do, with a hint.
pub fn options(
    native: &DatagramOptions,
    peers: &[String],
    width: Width,
) -> Result<CoherenceDatagramOptions, Refusal> {
    must_fit(native)?;
    let size = native.size.map_or(SIZE_BYTES, |size| size.max);
    let drawn = native.size.filter(|size| size.min < size.max);
    let in_packets = |buffer: Option<BufferSize>, default: u32| {
        let packets = |buffer: BufferSize| buffer.bytes(u64::from(size)) / u64::from(size.max(1));
        buffer.map_or(default, |buffer| {
            u32::try_from(packets(buffer)).unwrap_or(u32::MAX)
        })
    };
    let ours = CoherenceDatagramOptions::default();
    let rate = native.rate.map(|rate| rate.0.events_per_s(f64::from(size)));
    let per_peer = native
        .rate_per_peer
        .map(|rate| rate.0.events_per_s(f64::from(size)) * peers.len() as f64);
    Ok(CoherenceDatagramOptions {
        local: local(native),
        packet_size: Some(size),
        // A random size is drawn from `size - payload + 1` on.
        payload: match drawn {
            Some(drawn) => drawn.max - drawn.min + 1,
            None => native.payload.0 as u32,
        },
        process_bytes: native
            .verify
            .map_or(ours.process_bytes, |bytes| bytes.0 as u32),
        rx_buffer_packets: in_packets(native.rcvbuf, ours.rx_buffer_packets),
        tx_buffer_packets: in_packets(native.sndbuf, ours.tx_buffer_packets),
        rx_timeout_ms: native.idle_timeout.0 / 1_000_000,
        tx_rate_mib_per_s: rate.or(per_peer).map(|per_s| per_s * f64::from(size) / MIB),
        tx_iterations: native.count.map(|count| count.0),
        tx_duration_ms: match native.duration_ns() {
            0 => None,
            ns => Some(ns / 1_000_000),
        },
        report_interval: ReportInterval::Time(native.interval.0),
        tick_interval: 0,
        polite: native.polite,
        provider: if native.transport == Transport::Tcp {
            Provider::Tcp
        } else {
            Provider::System
        },
        random_size: drawn.is_some(),
        peers: peers.iter().map(|peer| host_port(peer)).collect(),
        width,
        ..ours
    })
}

/// Refuses what that wire cannot do, with a hint.
fn must_fit(native: &DatagramOptions) -> Result<(), Refusal> {
    if native.direction != Direction::Up {
        return Err(refuse(
            Text::new("error-coherence-direction"),
            Text::new("error-coherence-direction-hint"),
        ));
    }
    if native.transport == Transport::Tls {
        return Err(refuse(
            Text::new("error-coherence-transport"),
            Text::new("error-coherence-transport-hint"),
        ));
    }
    let is_drawn = native.size.is_some_and(|size| size.min < size.max);
    if is_drawn && native.payload.0 > 0 {
        return Err(refuse(
            Text::new("error-coherence-drawn"),
            Text::new("error-coherence-drawn-hint"),
        ));
    }
    Ok(())
}

/// Addresses to bind on this host, with the vendor's port where none was given.
fn local(native: &DatagramOptions) -> Vec<HostPort> {
    let bindings = native.bind.iter();
    let addresses = bindings.flat_map(|binding| binding.addresses());
    let place = |address: std::net::SocketAddr| HostPort {
        host: address.ip().to_string(),
        port: match address.port() {
            0 => COHERENCE_DATAGRAM_PORT,
            port => port,
        },
    };
    addresses.map(place).collect()
}

fn host_port(text: &str) -> HostPort {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if bare.parse::<std::net::IpAddr>().is_ok() {
        return HostPort {
            host: bare.into(),
            port: COHERENCE_DATAGRAM_PORT,
        };
    }
    match text
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host, port.parse().ok()?)))
    {
        Some((host, port)) => HostPort {
            host: host.trim_start_matches('[').trim_end_matches(']').into(),
            port,
        },
        None => HostPort {
            host: text.into(),
            port: COHERENCE_DATAGRAM_PORT,
        },
    }
}

/// Result of a test, as the result of a phase of host `host`.
///
/// Each direction is a flow of its own, complete as far as this end can know: the far end keeps its
/// numbers to itself.
pub fn result(summary: &CoherenceDatagramSummary, host: &str) -> PhaseResult {
    let flows = flows(summary, host);
    let mut totals = totals(&flows);
    let foreign: u64 = summary
        .listeners
        .iter()
        .map(|listener| listener.foreign)
        .sum();
    totals.insert(metrics::FOREIGN_PACKETS.into(), foreign as f64);
    PhaseResult {
        summary: totals,
        flows,
        histograms: Default::default(),
    }
}

/// Flows from `host` to each peer, and from each publisher to it.
fn flows(summary: &CoherenceDatagramSummary, host: &str) -> Vec<FlowResult> {
    let mut flows = Vec::new();
    let mut add = |from: String, to: String, metrics: Summary, rtt: Option<HistogramSummary>| {
        let histograms = rtt
            .map(|rtt| (metrics::ACK_RTT_SECONDS.into(), rtt))
            .into_iter()
            .collect();
        let labels: Labels = [("wire".to_owned(), "datagram-test".to_owned())].into();
        flows.push(FlowResult {
            id: flows.len() as u32,
            from,
            to,
            labels,
            metrics,
            histograms,
            complete: true,
        });
    };
    for publisher in &summary.publishers {
        for peer in &publisher.peers {
            add(host.into(), peer.peer.to_string(), peer.metrics(), None);
        }
    }
    for listener in &summary.listeners {
        for publisher in &listener.publishers {
            let metrics = publisher.counts.metrics();
            add(
                publisher.publisher.to_string(),
                host.into(),
                metrics,
                publisher.ack_rtt.clone(),
            );
        }
    }
    flows
}

/// All flows together.
fn totals(flows: &[FlowResult]) -> Summary {
    let added = metrics::METRICS.iter().copied();
    let added: Vec<Metric> = added.filter(|metric| metric.fold == Fold::Sum).collect();
    let mut totals = joined::totals(&added, flows);
    let get = |metric: Metric| metric.of(&totals);
    let arrived = get(metrics::RECEIVED_PACKETS).zip(get(metrics::MISSING_PACKETS));
    let bytes = get(metrics::DELIVERED_BYTES_PER_SECOND);
    if let Some((received, missing)) = arrived.filter(|(came, missing)| came + missing > 0.0) {
        let sent = received + missing;
        totals.insert(metrics::SUCCESS_RATIO.into(), received / sent);
        totals.insert(metrics::LOSS_RATIO.into(), missing / sent);
    }
    if let Some(bytes) = bytes {
        totals.insert(metrics::DELIVERED_BITS_PER_SECOND.into(), bytes * 8.0);
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_words_become_theirs() {
        let native = DatagramOptions {
            rate: Some("10MiB/s".parse().unwrap()),
            rcvbuf: Some("100pkt".parse().unwrap()),
            count: Some("500".parse().unwrap()),
            ..DatagramOptions::default()
        };
        let theirs = options(
            &native,
            &["127.0.0.1".into(), "hostb:7".into()],
            Width::Bits64,
        )
        .unwrap();
        assert_eq!(theirs.rx_buffer_packets, 100);
        assert_eq!(
            (theirs.tx_iterations, theirs.tx_duration_ms),
            (Some(500), None)
        );
        assert!((theirs.tx_rate_mib_per_s.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(theirs.peers[0].port, COHERENCE_DATAGRAM_PORT);
        assert_eq!(
            theirs.peers[1],
            HostPort {
                host: "hostb".into(),
                port: 7
            }
        );
    }

    #[test]
    fn what_the_wire_cannot_do_is_refused() {
        let both = DatagramOptions {
            direction: Direction::Both,
            ..DatagramOptions::default()
        };
        assert!(
            options(&both, &[], Width::Bits32)
                .unwrap_err()
                .operator_error
        );
    }
}
