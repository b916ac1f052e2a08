use proptest::prelude::*;

use super::*;
use sokudo_i18n::english;

fn parsed(line: &[&str]) -> CoherenceDatagramOptions {
    match CoherenceDatagramOptions::parse(line) {
        Ok(CommandLine::Run(options)) => *options,
        other => panic!("{line:?} gave {other:?}"),
    }
}

fn refused(line: &[&str]) -> String {
    let refusal = CoherenceDatagramOptions::parse(line).expect_err("an operator error");
    assert!(refusal.operator_error && refusal.hint.is_some(), "{line:?}");
    assert!(!english(&refusal.says).ends_with('.'));
    english(&refusal.says)
}

fn at(host: &str, port: u16) -> HostPort {
    HostPort {
        host: host.into(),
        port,
    }
}

#[test]
fn the_manuals_examples_are_understood() {
    let options = parsed(&["-polite", "serverb"]);
    assert!(options.polite);
    assert_eq!(options.peers, [at("serverb", 9999)]);
    let options = parsed(&["-txRate", "100", "servera", "serverc:9000", "serverd"]);
    assert_eq!(options.tx_rate_mib_per_s, Some(100.0));
    assert_eq!(options.peers[1], at("serverc", 9000));
    assert_eq!(parsed(&["-local", ":7"]).local, [at("0.0.0.0", 7)]);
    assert_eq!(parsed(&[]), CoherenceDatagramOptions::default());
    assert_eq!(
        CoherenceDatagramOptions::parse(&["-?"]),
        Ok(CommandLine::Help)
    );
}

#[test]
fn every_option_lands_in_its_field() {
    let options = parsed(&[
        "-local",
        "10.0.0.1:9000..9002 [::1]:5 ::2",
        "-packetSize",
        "1468",
        "-payload",
        "1000",
        "-processBytes",
        "40",
        "-rxBufferSize",
        "10",
        "-txBufferSize",
        "20",
        "-rxTimeoutMs",
        "0",
        "-txIterations",
        "5",
        "-txDurationMs",
        "700",
        "-reportInterval",
        "0",
        "-tickInterval",
        "7",
        "-log",
        "a.tsv",
        "-logInterval",
        "500ms",
        "-provider",
        "tcp",
        "-rand",
        "-sokudoSeq64",
        "-sokudoLayout",
        "manual",
        "h:1..2",
    ]);
    let expected = CoherenceDatagramOptions {
        local: vec![
            at("10.0.0.1", 9000),
            at("10.0.0.1", 9001),
            at("10.0.0.1", 9002),
            at("::1", 5),
            at("::2", 9999),
        ],
        packet_size: Some(1468),
        payload: 1000,
        process_bytes: 40,
        rx_buffer_packets: 10,
        tx_buffer_packets: 20,
        rx_timeout_ms: 0,
        tx_rate_mib_per_s: None,
        tx_iterations: Some(5),
        tx_duration_ms: Some(700),
        report_interval: ReportInterval::Off,
        tick_interval: 7,
        log: Some(LogTarget::File("a.tsv".into())),
        log_interval: ReportInterval::Time(500_000_000),
        polite: false,
        provider: Provider::Tcp,
        random_size: true,
        peers: vec![at("h", 1), at("h", 2)],
        width: Width::Bits64,
        layout: Layout::Manual,
        notes: Vec::new(),
    };
    assert_eq!(options, expected);
    assert_eq!(options.sizes(1468), (469, 1468));
}

#[test]
fn the_documented_four_process_bytes_work() {
    let options = parsed(&["-processBytes", "4"]);
    assert_eq!(options.process_bytes, 20);
    assert_eq!(options.notes.len(), 1);
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    assert!(refused(&["-Polite", "h"]).contains("`-Polite`"));
    assert!(refused(&["-txRate"]).contains("no value"));
    assert!(refused(&["-txRate", "-polite", "h"]).contains("no value"));
    assert!(refused(&["-txRate", "NaN", "h"]).contains("NaN"));
    assert!(refused(&["-packetSize", "27"]).contains("27"));
    assert!(refused(&["-packetSize", "65508"]).contains("65508"));
    assert!(refused(&["-packetSize", "100", "-payload", "101"]).contains("payload"));
    assert!(refused(&["-packetSize", "100", "-processBytes", "96"]).contains("96"));
    assert!(refused(&["-processBytes", "22"]).contains("multiple of 4"));
    assert!(refused(&["-polite"]).contains("-polite"));
    assert!(refused(&["224.0.0.1"]).contains("multicast"));
    assert!(refused(&["h:9..8"]).contains("h:9..8"));
    assert!(refused(&["h:0"]).contains("h:0"));
    assert!(refused(&[":9"]).contains(":9"));
    assert!(refused(&["h:1..65535"]).contains("1024"));
    assert!(refused(&["-provider", "ssl"]).contains("TLS"));
    assert!(refused(&["-provider", "file:x.xml"]).contains("file:x.xml"));
    assert!(refused(&["-options", "x.xml"]).contains("-options"));
    assert!(refused(&["-reportInterval", "1ns"]).contains("1ns"));
}

#[test]
fn the_sizes_of_a_random_test_always_hold_the_header() {
    let options = parsed(&["-rand", "-packetSize", "100"]);
    assert_eq!(options.sizes(100), (28, 100));
    assert_eq!(options.check_size(100), Ok(()));
}

proptest! {
    #[test]
    fn any_command_line_is_answered(line in prop::collection::vec("(-[a-zA-Z?]{0,14}|[ -~]{0,20}|[0-9a-f:.\\[\\]]{0,20})", 0..8)) {
        let _ = CoherenceDatagramOptions::parse(&line);
    }

    #[test]
    fn an_address_is_read_as_it_is_written(host in "[a-z][a-z0-9.-]{0,20}", port in 1u16..) {
        let typed = at(&host, port);
        prop_assert_eq!(parsed(&[&typed.to_string()]).peers, vec![typed]);
    }
}
