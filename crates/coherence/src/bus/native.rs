//! Mapping of sokudo's own options and results to a test on the vendor's bus.
//!
//! `sokudo bus --wire tmb` runs the vendor's wire with our words: what cannot be said on that wire
//! is refused, what cannot be known is absent from the result.

use std::time::{Duration, Instant};

use sokudo_load_network::bus::amounts::{self, Batch, Inflight};
use sokudo_load_network::bus::options::{BusOptions, Rx};
use sokudo_model::kinds::bus as metrics;
use sokudo_model::{FlowResult, Labels, PhaseResult, Refusal, Summary, Text};
use sokudo_net::wait::Wait;
use sokudo_workload::contract::Options;
use sokudo_workload::flows::Direction;
use sokudo_workload::joined::{Merged, put};
use sokudo_workload::link::Transport;
use sokudo_workload::refusal::operator;
use sokudo_workload::sample::Sample;

use super::account::{Block, Count, Totals};
use super::values::addresses;
use super::{CoherenceBusOptions, CoherenceBusSummary, Mode, State, Warmup};

/// Value of the label `wire`.
pub const WIRE: &str = "tmb";

/// The vendor's options for what was asked in ours. `peers` and `bind` are addresses such as
/// `tmb://host:8000`.
///
/// Errors: what the wire cannot do, with a hint.
pub fn options(
    native: &BusOptions,
    peers: &[String],
    bind: &[String],
) -> Result<CoherenceBusOptions, Refusal> {
    native.validate()?;
    check(native)?;
    let mean_bytes = f64::from(native.size.mean());
    let in_flight = match native.inflight {
        Inflight::Bytes(bytes) => bytes,
        Inflight::Messages(messages) => messages.saturating_mul(u64::from(native.size.mean())),
    };
    let unbounded = native.no_acks
        || native.no_flow_control
        || native.mode == sokudo_load_network::bus::options::Mode::Rr;
    let (mode, flush_every) = match native.mode {
        sokudo_load_network::bus::options::Mode::Rr => {
            let spin_ns = match native.wait.0 {
                Wait::Spin { for_ns } => for_ns,
                Wait::Block | Wait::Epoll => 0,
            };
            (Mode::Block { spin_ns }, native.window)
        }
        sokudo_load_network::bus::options::Mode::Stream => match native.batch {
            Batch::Auto => (Mode::Stream, 0),
            Batch::Count(count) => (Mode::Stream, count),
        },
    };
    let bytes_per_s = |rate| native.events_per_s(rate) * mean_bytes;
    let options = CoherenceBusOptions {
        bind: addresses("--bind", &bind.join(","))?,
        peers: addresses("HOST", &peers.join(","))?,
        rx_threads: match native.rx {
            Rx::Inline => 0,
            Rx::Queue | Rx::Poll => native.rx_threads.unwrap_or(1),
        },
        tx_threads: match native.relay {
            true => 0,
            false => native.tx_threads,
        },
        sizes: (native.size.min, native.size.max),
        chunk_bytes: native.touch.0 as u32,
        tx_bytes_per_s: native.rate.map(bytes_per_s),
        rx_bytes_per_s: native.consume_rate.map(bytes_per_s),
        max_backlog_bytes: (!unbounded).then_some(in_flight),
        flush_every,
        latency_every: match native.sampled() {
            Sample::All => 1,
            Sample::OneIn(n) => n.get(),
            Sample::None => 0,
        },
        receipts: !native.no_acks,
        polite: native.polite,
        report_ns: native.interval.0,
        mode,
        relay: native.relay,
        ignore_flow_control: native.no_flow_control,
        poll: native.rx == Rx::Poll,
        warmup: match native.warmup {
            amounts::Warmup::Time(ns) => Warmup::Time(ns),
            amounts::Warmup::Messages(n) => Warmup::Messages(n),
        },
        single: native.single,
        count: native.count.map(|count| count.0),
        patience_ns: native.timeout.0,
        ..CoherenceBusOptions::default()
    };
    Ok(options)
}

fn check(native: &BusOptions) -> Result<(), Refusal> {
    if native.direction != Direction::Up && !native.polite {
        return Err(operator(
            Text::new("error-coherence-direction"),
            Text::new("error-coherence-direction-hint"),
        ));
    }
    if native.transport != Transport::Tcp {
        return Err(operator(
            Text::new("error-coherence-tcp-alone"),
            Text::new("error-coherence-tcp-alone-hint"),
        ));
    }
    if native.step {
        return Err(operator(
            Text::new("error-coherence-step"),
            Text::new("error-coherence-step-hint"),
        ));
    }
    Ok(())
}

/// Says when a test with these options has come to its end: its time since the first connection is
/// over, its count is sent and receipted, or no peer is left to send to.
pub fn end_of(
    options: &CoherenceBusOptions,
    duration_ns: u64,
) -> impl FnMut(State) -> bool + use<> {
    let sends = !options.peers.is_empty() && !options.polite && !options.single;
    let counted = options.count.is_some() && !options.peers.is_empty();
    let mut since: Option<Instant> = None;
    move |state| {
        if state.connected > 0 {
            since.get_or_insert_with(Instant::now);
        }
        let over = since.is_some_and(|since| {
            duration_ns > 0 && since.elapsed() >= Duration::from_nanos(duration_ns)
        });
        let alone = sends && state.connected == 0 && state.calling == 0;
        over || alone || counted && state.sending == 0 && state.unreceipted == 0
    }
}

/// Result of a test, as the result of a phase of host `host`.
///
/// Each direction is a flow of its own, complete as far as this end can know: the far end keeps its
/// numbers to itself. Times are over all peers.
pub fn result(summary: &CoherenceBusSummary, host: &str) -> PhaseResult {
    let seconds = summary
        .life
        .as_ref()
        .map_or(0.0, |life| life.elapsed_ns as f64 / 1e9);
    let mut flows: Vec<FlowResult> = Vec::new();
    for ((_, peer), known) in &summary.peers {
        let totals = &known.totals;
        let out = totals.get(Count::OutMessages) > 0 || totals.get(Count::InMessages) == 0;
        let ways = [
            (out, host, peer.as_str(), sent(totals)),
            (
                totals.get(Count::InMessages) > 0,
                peer.as_str(),
                host,
                received(totals, seconds),
            ),
        ];
        for (_, from, to, metrics) in ways.into_iter().filter(|(there, ..)| *there) {
            let mut labels = Labels::from([("wire".to_owned(), WIRE.to_owned())]);
            labels.extend(known.why.clone().map(|why| ("error".to_owned(), why)));
            flows.push(FlowResult {
                id: flows.len() as u32,
                from: from.into(),
                to: to.into(),
                labels,
                metrics,
                histograms: Default::default(),
                complete: known.why.is_none(),
            });
        }
    }
    let mut totals = Summary::new();
    for flow in &flows {
        for (name, value) in &flow.metrics {
            *totals.entry(name.clone()).or_default() += value;
        }
    }
    let mut merged = Merged::default();
    if let Some(life) = &summary.life {
        whole(life, &mut totals);
        let book = &life.book;
        for (metric, times) in [
            (metrics::RESPONSE_LATENCY_SECONDS, &book.corrected),
            (metrics::SERVICE_SECONDS, &book.response),
            (metrics::RECEIPT_LATENCY_SECONDS, &book.receipt),
        ] {
            merged.add(metric, times);
        }
        merged.put_numbers(&mut totals);
    }
    PhaseResult {
        summary: totals,
        flows,
        histograms: merged.summaries(),
    }
}

fn sent(totals: &Totals) -> Summary {
    let mut metrics = Summary::new();
    for (name, count) in [
        (metrics::SENT_MESSAGES, Count::OutMessages),
        (metrics::SENT_BYTES, Count::OutBytes),
        (metrics::ANSWERS, Count::Responses),
    ] {
        put(&mut metrics, name, totals.get(count) as f64);
    }
    let receipts = totals.get(Count::Receipts);
    if receipts > 0 {
        let without = totals.get(Count::OutMessages).saturating_sub(receipts);
        put(
            &mut metrics,
            metrics::UNACKNOWLEDGED_MESSAGES,
            without as f64,
        );
    }
    metrics
}

fn received(totals: &Totals, seconds: f64) -> Summary {
    let mut metrics = Summary::new();
    let (messages, bytes) = (
        totals.get(Count::InMessages) as f64,
        totals.get(Count::InBytes) as f64,
    );
    put(&mut metrics, metrics::MESSAGES, messages);
    if seconds > 0.0 {
        put(
            &mut metrics,
            metrics::MESSAGES_PER_SECOND,
            messages / seconds,
        );
        put(&mut metrics, metrics::BYTES_PER_SECOND, bytes / seconds);
        put(
            &mut metrics,
            metrics::BITS_PER_SECOND,
            bytes * 8.0 / seconds,
        );
    }
    metrics
}

/// Puts the metrics that are known of the whole alone.
fn whole(life: &Block, totals: &mut Summary) {
    put(
        totals,
        metrics::SENT_PER_SECOND,
        life.per_second(Count::OutMessages),
    );
    put(
        totals,
        metrics::SENT_BYTES_PER_SECOND,
        life.per_second(Count::OutBytes),
    );
    put(
        totals,
        metrics::ERRORS,
        life.totals.get(Count::Errors) as f64,
    );
    put(
        totals,
        metrics::CONNECTIONS,
        life.totals.get(Count::Connects) as f64,
    );
    put(totals, metrics::BACKLOG_RATIO, life.out_ratio());
    put(
        totals,
        metrics::BACKLOG_EVENTS,
        life.totals.get(Count::OutEvents) as f64,
    );
    if life.gauges.readers > 0 {
        put(totals, metrics::QUEUE_FULL_RATIO, life.in_ratio());
    }
}

#[cfg(test)]
mod tests {
    use super::super::account::Meter;
    use super::super::node::PeerTotals;
    use super::*;
    use sokudo_i18n::english;

    fn refused(native: BusOptions) -> String {
        let peers = ["tmb://h:1".to_owned()];
        let refusal = options(&native, &peers, &[]).unwrap_err();
        assert!(refusal.operator_error && refusal.hint.is_some());
        english(&refusal.says)
    }

    #[test]
    fn our_words_become_theirs() {
        let native = BusOptions {
            rate: Some("10k/s".parse().unwrap()),
            count: Some("500".parse().unwrap()),
            ..BusOptions::default()
        };
        let peers = ["tmb://hostb:8000".to_owned()];
        let theirs = options(&native, &peers, &["tmb://127.0.0.1:0".into()]).unwrap();
        assert_eq!(theirs.tx_bytes_per_s, Some(10_000.0 * 4096.0));
        assert_eq!((theirs.count, theirs.latency_every), (Some(500), 100));
        assert_eq!(theirs.max_backlog_bytes, Some(512 << 10));
        assert_eq!((theirs.bind.len(), theirs.peers[0].port), (1, 8000));
        let asking = BusOptions {
            mode: sokudo_load_network::bus::options::Mode::Rr,
            window: 4,
            ..BusOptions::default()
        };
        let theirs = options(&asking, &peers, &[]).unwrap();
        assert_eq!((theirs.window(), theirs.latency_every), (Some(4), 1));
    }

    #[test]
    fn what_the_wire_cannot_do_is_refused() {
        let both = Direction::Both;
        let tls = Transport::Tls;
        assert!(
            refused(BusOptions {
                direction: both,
                ..BusOptions::default()
            })
            .contains("--direction")
        );
        assert!(
            refused(BusOptions {
                transport: tls,
                ..BusOptions::default()
            })
            .contains("TLS")
        );
        assert!(
            refused(BusOptions {
                step: true,
                ..BusOptions::default()
            })
            .contains("--step")
        );
    }

    #[test]
    fn it_ends_with_time_count_or_solitude() {
        let state = |connected, calling, sending| State {
            connected,
            calling,
            sending,
            unreceipted: 0,
        };
        let peers = ["tmb://h:1".to_owned()];
        let mut theirs = options(&BusOptions::default(), &peers, &[]).unwrap();
        let mut enough = end_of(&theirs, u64::MAX);
        assert!(!enough(state(0, 1, 1)), "still calling");
        assert!(!enough(state(1, 0, 1)));
        assert!(enough(state(0, 0, 1)), "nobody is left");
        let mut enough = end_of(&theirs, 1);
        assert!(
            !enough(state(0, 1, 1)),
            "time runs from the first connection"
        );
        assert!(!enough(state(0, 1, 1)));
        theirs.count = Some(3);
        let mut enough = end_of(&theirs, 0);
        assert!(!enough(state(1, 0, 1)));
        assert!(enough(state(1, 0, 0)));
    }

    #[test]
    fn every_metric_is_in_the_catalogue() {
        let meter = Meter::default();
        for count in [
            Count::OutMessages,
            Count::OutBytes,
            Count::InMessages,
            Count::InBytes,
            Count::Receipts,
        ] {
            meter.add(count, 5);
        }
        let mut life = Block {
            elapsed_ns: 1_000_000_000,
            totals: meter.totals(),
            ..Block::default()
        };
        life.book.responded(1000, 10);
        life.book.receipt.record(1000);
        let totals = PeerTotals {
            totals: meter.totals(),
            why: None,
        };
        let summary = CoherenceBusSummary {
            life: Some(life),
            peers: [(("tmb://a:1".into(), "tmb://b:2".into()), totals)].into(),
            problems: Vec::new(),
        };
        let result = result(&summary, "here");
        assert_eq!(result.flows.len(), 2);
        assert_eq!(result.summary["bus.messages_per_second"], 5.0);
        for name in result.summary.keys() {
            let base = name
                .rsplit_once('.')
                .map_or(name.as_str(), |(base, _)| base);
            let known = sokudo_model::metric::find(name).or(sokudo_model::metric::find(base));
            assert!(known.is_some(), "{name}");
        }
    }
}
