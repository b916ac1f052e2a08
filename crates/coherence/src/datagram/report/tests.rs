use super::*;

fn writer(layout: Layout) -> Writer {
    Writer {
        layout,
        zone: TimeZone::UTC,
        packet_size: 1468,
    }
}

fn counts(ms: i64, received: u64, of: u64, out_of_order: u64, offset_sum: u64) -> Counts {
    Counts {
        received,
        of,
        bytes: received * 1468,
        out_of_order,
        offset_sum,
        first_ns: Some(0),
        last_ns: ms * 1_000_000,
        ..Counts::default()
    }
}

fn manual_report() -> RxReport {
    let block = |counts| RxBlock {
        publisher: ([195, 0, 0, 2], 9999).into(),
        counts,
    };
    RxReport {
        listener: ([195, 0, 0, 1], 9999).into(),
        unix_ns: 1_795_250_563_700_000_000,
        life: vec![block(counts(8770, 600_000, 611_400, 2, 2))],
        now: vec![block(counts(1431, 100_000, 100_000, 0, 0))],
    }
}

#[test]
fn the_manuals_report_comes_out_as_printed() {
    let expected = "
Lifetime:
Rx from publisher: /195.0.0.2:9999
             elapsed: 8770ms
         packet size: 1468
          throughput: 96 MB/sec
                      68415 packets/sec
            received: 600000 of 611400
             missing: 11400
        success rate: 0.9813543
        out of order: 2
          avg offset: 1


Now:
Rx from publisher: /195.0.0.2:9999
             elapsed: 1431ms
         packet size: 1468
          throughput: 98 MB/sec
                      69881 packets/sec
            received: 100000 of 100000
             missing: 0
        success rate: 1.0
        out of order: 0
          avg offset: 0

";
    assert_eq!(writer(Layout::Manual).rx(&manual_report()), expected);
}

#[test]
fn the_newer_report_has_gaps_acks_and_times() {
    let mut report = manual_report();
    report.now.clear();
    let counts = &mut report.life[0].counts;
    (counts.gaps, counts.gap_packets, counts.gap_ns) = (4, 10, 2_000_000);
    (counts.acks, counts.ack_ns) = (2, 549_850);
    let expected = "
Lifetime:
Rx from publisher: /195.0.0.2:9999
\t to listener: /195.0.0.1:9999
\t     elapsed: 8770ms
\t packet size: 1468
\t  throughput: 96 MB/sec
\t              68415 packets/sec
\t    received: 600000 of 611400
\t     missing: 11400
\tsuccess rate: 0.9813543
\tout of order: 2
\t  avg offset: 1
\t        gaps: 4
\tavg gap size: 2.5
\tavg gap time: 0.5ms
\tavg ack time: 0.274925ms; acks 2


 completed: 2026-11-21 08:42:43.7
";
    assert_eq!(writer(Layout::Release24).rx(&report), expected);
}

#[test]
fn several_publishers_are_summed_up() {
    let mut report = manual_report();
    report.now.clear();
    let mut second = report.life[0].clone();
    second.publisher.set_port(9998);
    report.life.push(second);
    let text = writer(Layout::Release24).rx(&report);
    let summary = text.split("Rx Summary from 2 publisher(s): \n").nth(1);
    let expected = "\
\t     elapsed: 8770ms
\t  throughput: 192 MB/sec
\t              136830 packets/sec
\t    received: 1200000 of 1222800
\t     missing: 22800
\tsuccess rate: 0.9813543
\tout of order: 4
\t  avg offset: 1
\t        gaps: 0
\tavg gap size: 0
\tavg gap time: 0ms
\tavg ack time: n/a; acks 0
\t   completed: 2026-11-21 08:42:43.7

 completed: 2026-11-21 08:42:43.7
";
    assert_eq!(summary, Some(expected));
}

#[test]
fn the_manuals_banners_come_out_as_printed() {
    let writer = writer(Layout::Manual);
    let listener = ListenerStart {
        at: ([195, 0, 0, 2], 9999).into(),
        packet_size: 1468,
        buffer_packets: 1428,
        report: ReportInterval::Packets(100_000),
        process_bytes: 4,
        log: None,
        log_interval: ReportInterval::Packets(100_000),
    };
    let expected = "\
starting listener: at /195.0.0.2:9999
packet size: 1468 bytes
buffer size: 1428 packets
  report on: 100000 packets, 139 MBs
    process: 4 bytes/packet
        log: null
     log on: 139 MBs

";
    assert_eq!(writer.listener(&listener), expected);
    let servera = HostPort {
        host: "servera".into(),
        port: 9999,
    };
    let publisher = PublisherStart {
        at: ([195, 0, 0, 2], 9999).into(),
        peers: vec![(servera, ([195, 0, 0, 1], 9999).into())],
        packet_size: 1468,
        buffer_packets: 16,
        report: ReportInterval::Packets(100_000),
        process_bytes: 4,
        rate_mib_per_s: None,
    };
    let expected = "\
starting publisher: at /195.0.0.2:9999 sending to servera/195.0.0.1:9999
packet size: 1468 bytes
buffer size: 16 packets
  report on: 100000 packets, 139 MBs
    process: 4 bytes/packet
      peers: 1
       rate: no limit

no packet burst limit
";
    assert_eq!(writer.publisher(&publisher) + &writer.go(None), expected);
}

#[test]
fn the_manuals_publisher_report_comes_out_as_printed() {
    let rate = |packets: u64, elapsed_ns| TxRate {
        packets,
        bytes: packets * 1468,
        elapsed_ns,
    };
    let report = TxReport {
        listener: ([195, 0, 0, 2], 9999).into(),
        peers: 1,
        life: rate(696_420, 10_000_000_000),
        now: rate(69_735, 1_000_000_000),
        bursts: Some(69_735 / 7),
        unix_ns: 1_795_250_563_060_000_000,
    };
    let expected = "
Tx summary 1 peers:
   life: 97 MB/sec, 69642 packets/sec
    now: 98 MB/sec, 69735 packets/sec
";
    assert_eq!(writer(Layout::Manual).tx(&report), expected);
    let expected = "
Tx summary for /195.0.0.2:9999 to 1 peers:
   life: 97 MB/sec, 69642 packets/sec
    now: 98 MB/sec, 69735 packets/sec
     duration: 10000ms
    completed: 2026-11-21 08:42:43.06, packets/burst: 7, bursts/second: 9962.0
";
    assert_eq!(writer(Layout::Release24).tx(&report), expected);
}

#[test]
fn the_table_has_fifteen_columns() {
    assert_eq!(LOG_HEADER.trim_end().split('\t').count(), 15);
    let row = log_row(&manual_report().life[0]);
    assert_eq!(
        row,
        "/195.0.0.2:9999\t8770\t1468\t96\t68415\t611400\t600000\t11400\t0.9813543\t2\t1\t0\t0\t0\t\t\n"
    );
}

#[test]
fn every_tenth_tick_is_a_capital() {
    assert_eq!(ticks('o', 'O', 0, 12), "oooooooooOoo");
    assert_eq!(ticks('i', 'I', 12, 20), "iiiiiiiI");
    assert_eq!(ticks('i', 'I', 0, u64::MAX).len(), 1000);
}

#[test]
fn one_lost_packet_never_looks_like_none() {
    assert_eq!(ratio(0.999_999_999_6), "0.9999999996");
    assert_eq!(ratio(1.0), "1.0");
    assert_eq!(ratio(0.0), "0.0");
}

#[test]
fn a_single_packet_has_no_rate() {
    let mut report = manual_report();
    report.life[0].counts = counts(0, 1, 1, 0, 0);
    let text = writer(Layout::Manual).rx(&report);
    assert!(text.contains("throughput: n/a MB/sec\n"), "{text}");
}
