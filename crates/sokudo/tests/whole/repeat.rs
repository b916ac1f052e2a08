//! Tests of `--repeat`: every run counts, and the median lies within its interval.

use serde_json::Value;

use crate::vocabulary::{place, serve, summary};

/// The values of a figure: as many as there were runs, the median within its interval, the interval
/// within the values.
fn check_figure(said: &Value, name: &str, runs: usize) {
    let figure = &said["repeats"]["figures"][name];
    let values = figure["values"].as_array().expect("a value per run");
    let number = |key: &str| {
        figure[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key}: {said:#}"))
    };
    assert_eq!(
        (values.len(), number("runs")),
        (runs, runs as f64),
        "{name}"
    );
    let mut values: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(
        (values[0], values[runs - 1]),
        (number("min"), number("max"))
    );
    let (low, median, high) = (number("low"), number("median"), number("high"));
    assert!(low <= median && median <= high, "{name}: {said:#}");
    assert!(values.contains(&low) && values.contains(&high), "{name}");
    let middle = (values[(runs - 1) / 2] + values[runs / 2]) / 2.0;
    assert!((median - middle).abs() <= middle * 1e-9, "{name}");
}

/// The A/A test: twenty runs of one measurement.
#[test]
fn twenty_equal_runs_have_a_median_and_its_interval() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "rr {} --repeat 20 --duration 100ms --interval 20ms --json",
        server.address
    ));
    let said = summary(&ended);
    assert_eq!(said.number("repeat.runs"), 20.0);
    assert_eq!(said.number("repeat.failed_runs"), 0.0);
    for name in [
        "rr.transactions_per_second",
        "rr.latency_seconds.p50",
        "rr.latency_seconds.p99",
        "rr.error_ratio",
    ] {
        check_figure(&said.0, name, 20);
        let confidence = &said.0["repeats"]["figures"][name]["confidence"];
        assert!(
            confidence
                .as_f64()
                .is_some_and(|it| (0.95..1.0).contains(&it))
        );
    }
    let phases = place.load().manifest.phases;
    assert_eq!(phases.len(), 20, "one record holds all runs");
    let numbers: Vec<&str> = phases
        .iter()
        .map(|phase| phase.labels["repeat"].as_str())
        .collect();
    let counted: Vec<String> = (1..=20).map(|number| number.to_string()).collect();
    assert_eq!(numbers, counted);
    // The totals are those of the run in the middle.
    let name = said.0["repeats"]["phase"].as_str().expect("a name");
    let middle = phases
        .iter()
        .find(|phase| phase.name == name)
        .expect("that run");
    let rate = "rr.transactions_per_second";
    assert_eq!(said.number(rate), middle.result.summary[rate]);
    let text = place.run("show latest").stdout;
    assert!(
        text.contains("Median of 20 runs") && text.contains("measure-20"),
        "{text}"
    );
    let report = place.run("report latest --form markdown --lang ja");
    assert!(
        report.stdout.contains("繰り返し測定") || report.code == Some(0),
        "{report}"
    );
}

/// Few runs say how little they say, whatever is measured.
#[test]
fn every_load_between_hosts_is_repeated() {
    let place = place();
    let server = serve(&place);
    for (load, rate) in [
        ("crr", "crr.connections_per_second"),
        ("stream --rate 8Mb/s", "stream.goodput_bits_per_second"),
        (
            "datagram --rate 8Mb/s",
            "datagram.delivered_bits_per_second",
        ),
        ("bus --rate 100/s", "bus.messages_per_second"),
        ("probe", "probe.answered_packets_per_second"),
    ] {
        let ended = place.run(&format!(
            "{load} {} --repeat 2 --duration 200ms --json",
            server.address
        ));
        let said = summary(&ended);
        check_figure(&said.0, rate, 2);
        let confidence = &said.0["repeats"]["figures"][rate]["confidence"];
        assert_eq!(confidence, 0.5, "{load}");
        assert!(
            said.0["verdict"].to_string().contains("at least six runs"),
            "{load}"
        );
    }
    let refused = place.run(&format!(
        "rr {} --repeat 2 --sweep window=1,2",
        server.address
    ));
    refused.expect_code(2);
}
