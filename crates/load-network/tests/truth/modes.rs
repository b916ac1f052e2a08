//! Tests of all I/O modes, transports and directions: counts are exact.

use std::net::UdpSocket;

use sokudo_model::PhaseResult;
use sokudo_net::udp;
use sokudo_testkit::skip;

use sokudo_stats::Histogram;

use crate::play::{LEAD_NS, Play, check, loopback, only_flow, options, play, undisturbed, value};

/// Says why when this system cannot cut buffers into datagrams.
pub fn gso_works() -> bool {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
    let works = udp::segmentation(&socket, 1000);
    if let Err(error) = &works {
        skip(format!("no segmented sends here: {error}"));
    }
    works.is_ok()
}

/// Plays over loopback until the machine lost nothing.
fn calm(fields: &str, hosts: u8) -> PhaseResult {
    undisturbed(|| (play(&options(fields), hosts), false))
}

/// Every flow sent and got exactly so many, each once and in order.
#[track_caller]
fn exactly(result: &PhaseResult, flows: usize, count: f64) {
    assert_eq!(result.flows.len(), flows);
    for flow in &result.flows {
        assert!(flow.complete, "{flow:?}");
        let expected = [
            ("sent_packets", count),
            ("received_packets", count),
            ("missing_packets", 0.0),
            ("duplicate_packets", 0.0),
            ("out_of_order_packets", 0.0),
            ("corrupted_packets", 0.0),
            ("gaps", 0.0),
            ("success_ratio", 1.0),
        ];
        check(&flow.metrics, &expected);
        let bytes = value(&flow.metrics, "sent_bytes");
        check(&flow.metrics, &[("received_bytes", bytes)]);
    }
    check(&result.summary, &[("sent_packets", count * flows as f64)]);
}

#[test]
fn a_count_is_kept_in_every_mode() {
    // 301 is not a multiple of any batch.
    for (io, gro) in [
        ("plain", "off"),
        ("mmsg", "off"),
        ("gso", "off"),
        ("gso", "on"),
        ("auto", "auto"),
    ] {
        if io == "gso" && !gso_works() {
            continue;
        }
        let fields =
            format!(r#""count":"301","size":"64","verify":"64","io":"{io}","gro":"{gro}""#);
        let result = calm(&fields, 2);
        exactly(&result, 1, 301.0);
        check(
            &result.summary,
            &[("sent_bytes", 301.0 * 64.0), ("size_bytes", 64.0)],
        );
        if io != "auto" {
            assert_eq!(only_flow(&result).labels["io"], io);
        }
    }
}

#[test]
fn a_single_datagram_is_a_test_too() {
    exactly(&calm(r#""count":"1","size":"64""#, 2), 1, 1.0);
}

#[test]
fn random_sizes_are_counted_byte_by_byte() {
    for io in ["plain", "mmsg"] {
        let fields =
            format!(r#""count":"500","rate":"5k/s","size":"100..1000","verify":"100","io":"{io}""#);
        let result = calm(&fields, 2);
        exactly(&result, 1, 500.0);
        let mean = value(&result.summary, "size_bytes");
        check(&result.summary, &[("sent_bytes", mean * 500.0)]);
        // Uniform over 901 sizes: standard error 11.6 of the mean of 500; six of them.
        assert!((480.0..=620.0).contains(&mean), "{mean}");
    }
}

#[test]
fn both_directions_and_several_streams_are_kept_apart() {
    let fields = r#""count":"400","rate_per_peer":"4k/s","size":"64","streams":3,"direction":"both","io":"plain""#;
    let result = calm(fields, 2);
    exactly(&result, 6, 400.0);
    let froms: Vec<&str> = result.flows.iter().map(|flow| flow.from.as_str()).collect();
    assert_eq!(froms.iter().filter(|from| **from == "host0").count(), 3);
}

#[test]
fn a_mesh_serves_every_pair() {
    for (direction, flows) in [("mesh", 6), ("mesh-self", 9)] {
        let fields = format!(
            r#""count":"300","rate_per_peer":"2k/s","size":"64","io":"mmsg","direction":"{direction}""#
        );
        exactly(&calm(&fields, 3), flows, 300.0);
    }
}

#[test]
fn down_sends_from_the_peers() {
    let result = calm(
        r#""count":"300","rate":"4k/s","size":"64","direction":"down""#,
        3,
    );
    exactly(&result, 2, 300.0);
    assert!(result.flows.iter().all(|flow| flow.to == "host0"));
}

#[test]
fn streams_lose_nothing_and_keep_the_order() {
    for transport in ["tcp", "tls"] {
        let fields = format!(
            r#""count":"5000","size":"64..1400","verify":"64","transport":"{transport}","streams":2,"direction":"both""#
        );
        let result = play(&options(&fields), 2);
        exactly(&result, 4, 5000.0);
        for flow in &result.flows {
            assert_eq!(flow.labels["transport"], transport);
            // No counter of a datagram socket speaks of a stream.
            let at_socket = flow.metrics.get("datagram.lost_at_receiver_socket_packets");
            assert_eq!(at_socket, None);
        }
    }
}

#[test]
fn stream_meshes_connect_in_any_order() {
    for transport in ["tcp", "tls"] {
        let fields =
            format!(r#""count":"500","size":"200","transport":"{transport}","direction":"mesh""#);
        exactly(&play(&options(&fields), 3), 6, 500.0);
    }
}

#[test]
fn a_polite_host_waits_for_the_other_side_and_then_sends() {
    let fields = r#""count":"300","rate":"4k/s","size":"64","polite":true,"direction":"both""#;
    exactly(&calm(fields, 2), 2, 300.0);
}

#[test]
fn goodput_counts_the_payload_alone() {
    let result = calm(
        r#""count":"500","rate":"5k/s","size":"100","payload":"60""#,
        2,
    );
    exactly(&result, 1, 500.0);
    let delivered = value(&result.summary, "delivered_packets_per_second");
    let expected = [
        ("delivered_bytes_per_second", delivered * 100.0),
        ("delivered_bits_per_second", delivered * 800.0),
        ("goodput_bytes_per_second", delivered * 60.0),
    ];
    check(&result.summary, &expected);
}

/// Plays until the schedule was kept to its last datagram. A thread that gets no CPU for more than
/// 10 ms at the end leaves some out, and must never send more.
#[track_caller]
fn planned(fields: &str, planned: f64) -> Option<PhaseResult> {
    let mut starved = false;
    for _ in 0..5 {
        let result = play(&options(fields), 2);
        let sent = value(&result.summary, "sent_packets");
        assert!(
            sent <= planned,
            "{sent} are more than the planned {planned}"
        );
        if sent == planned {
            return Some(result);
        }
        let late_s = result.histograms["datagram.lateness_seconds"].max;
        starved |= late_s > 0.001 || waited_ratio(&result) > 0.01;
    }
    assert!(
        starved,
        "the schedule of {planned} was cut short five times without a reason"
    );
    skip("the sending thread gets too little CPU to keep a schedule");
    None
}

/// Share of the time that the sending thread had no CPU although it could run.
pub fn waited_ratio(result: &PhaseResult) -> f64 {
    let waited = result.summary.get("datagram.sender_wait_ratio");
    waited.copied().unwrap_or(0.0)
}

#[test]
fn a_rate_is_a_number_of_datagrams_over_the_planned_time() {
    // The same in datagrams, bits and bytes: 2000 datagrams of 100 B in half a second.
    for rate in ["4k/s", "3.2Mb/s", "400kB/s"] {
        let fields = format!(r#""rate":"{rate}","duration":"500ms","size":"100""#);
        if let Some(result) = planned(&fields, 2000.0) {
            check(&result.summary, &[("asked_packets_per_second", 4000.0)]);
        }
    }
}

#[test]
fn fast_schedules_are_sent_to_their_last_batch() {
    planned(
        r#""rate":"30k/s","duration":"101ms","size":"64","io":"mmsg""#,
        3030.0,
    );
}

#[test]
fn no_datagram_leaves_before_its_time() {
    let result = calm(
        r#""rate":"5k/s","count":"1000","size":"64","io":"plain""#,
        2,
    );
    let late_s = result.histograms["datagram.lateness_seconds"].max;
    let rate = value(&result.summary, "sent_packets_per_second");
    // 999 spaces of 0.2 ms; only a late first datagram can make their sum shorter.
    let shortest_s = 999.0 * 0.0002 - late_s * 1.001;
    assert!(
        shortest_s <= 0.0 || rate <= 999.0 / shortest_s * 1.000_001,
        "{rate}"
    );
    assert_eq!(result.histograms["datagram.lateness_seconds"].n, 1000);
}

#[test]
fn a_rate_is_shared_by_peers_and_streams() {
    let fields = r#""rate":"4k/s","duration":"500ms","size":"64","streams":2,"io":"plain""#;
    let result = calm(fields, 3);
    check(&result.summary, &[("asked_packets_per_second", 4000.0)]);
    for flow in &result.flows {
        check(&flow.metrics, &[("asked_packets_per_second", 1000.0)]);
        let sent = value(&flow.metrics, "sent_packets");
        assert!(sent <= 501.0, "{sent}");
    }
    let per_peer =
        r#""rate_per_peer":"1k/s","duration":"200ms","size":"64","streams":2,"io":"plain""#;
    let result = calm(per_peer, 3);
    check(&result.summary, &[("asked_packets_per_second", 2000.0)]);
    assert!(value(&result.summary, "sent_packets") <= 400.0);
}

/// Integral of a rate series, from the start of load on.
fn area(play: &Play, metric: &str) -> f64 {
    let all = play.batches.iter().flat_map(|batch| &batch.series);
    let points = all.filter(|series| series.key.metric == metric);
    let (mut before_ns, mut sum) = (LEAD_NS, 0.0);
    for (t_ns, rate) in points.flat_map(|series| &series.points) {
        assert!(*t_ns > before_ns, "{metric} goes back in time");
        sum += rate * (t_ns - before_ns) as f64 / 1e9;
        before_ns = *t_ns;
    }
    sum
}

#[test]
fn series_and_distributions_add_up_to_the_totals() {
    let fields = r#""count":"1000","rate":"2k/s","size":"64","io":"plain""#;
    let mut play = Play::prepare(&options(fields), &loopback(2)).expect("prepare");
    let offers = play.offers();
    let result = play.finish(&offers);
    for (metric, total) in [
        ("datagram.sent_packets_per_second", "sent_packets"),
        ("datagram.delivered_packets_per_second", "received_packets"),
    ] {
        let (sum, total) = (area(&play, metric), value(&result.summary, total));
        // Less than a quarter of the last interval (50 ms) may be left out.
        assert!(
            sum <= total + 1e-6 && sum >= total * 0.9,
            "{metric}: {sum} of {total}"
        );
    }
    for name in [
        "datagram.lateness_seconds",
        "datagram.ack_rtt_seconds",
        "datagram.interarrival_seconds",
    ] {
        let intervals = play.batches.iter().flat_map(|batch| &batch.histograms);
        let own = intervals.filter(|interval| interval.key.metric == name);
        let n: u64 = own
            .map(|interval| {
                assert!(interval.t0_ns < interval.t1_ns);
                Histogram::from_v2(&interval.hdr_v2)
                    .expect("own encoding")
                    .len()
            })
            .sum();
        assert_eq!(n, result.histograms[name].n, "{name}");
    }
}
