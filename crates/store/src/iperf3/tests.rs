//! Tests that nothing is lost between iperf3's JSON and a record, and that malformed JSON is
//! harmless.

use proptest::prelude::*;
use serde_json::{Value, json};
use sokudo_model::RunStatus;

use super::*;

const TCP: &[u8] = include_bytes!("../../testdata/iperf3/tcp.json");
const REVERSE: &[u8] = include_bytes!("../../testdata/iperf3/reverse.json");
const BOTH: &[u8] = include_bytes!("../../testdata/iperf3/bidir.json");
const UDP: &[u8] = include_bytes!("../../testdata/iperf3/udp.json");

fn values(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap()
}

#[track_caller]
fn same(found: Option<&f64>, expected: &Value) {
    assert_eq!(found.copied(), expected.as_f64());
}

#[test]
fn two_connections_are_two_flows_with_their_sum() {
    let (imported, json) = (read(TCP).unwrap(), values(TCP));
    assert_eq!(
        (imported.workload, imported.status),
        ("stream", RunStatus::Ok)
    );
    assert_eq!(imported.version, "iperf 3.12");
    let result = &imported.phase.result;
    assert_eq!(result.flows.len(), 2);
    let sum = &json["end"]["sum_received"];
    let get = |name: &str| result.summary.get(name);
    same(
        get("stream.goodput_bits_per_second"),
        &sum["bits_per_second"],
    );
    same(get("stream.received_bytes"), &sum["bytes"]);
    same(get("stream.sent_bytes"), &json["end"]["sum_sent"]["bytes"]);
    for (flow, stream) in result
        .flows
        .iter()
        .zip(json["end"]["streams"].as_array().unwrap())
    {
        assert!(flow.complete && flow.from != flow.to);
        let bits = flow.metrics.get("stream.goodput_bits_per_second");
        same(bits, &stream["receiver"]["bits_per_second"]);
        assert_eq!(flow.labels["cc"], "bbr");
    }
    let rates = imported.batch.series.iter();
    let rates = rates.filter(|series| series.key.metric == "stream.sent_bits_per_second");
    let points: usize = rates.map(|series| series.points.len()).sum();
    let rows = json["intervals"].as_array().unwrap().len() * 2;
    assert_eq!(points, rows);
    let known = |name: &str| sokudo_model::metric::find(name).is_some();
    assert!(
        imported
            .batch
            .series
            .iter()
            .all(|series| known(&series.key.metric))
    );
    assert!(result.summary.keys().all(|name| known(name)));
    assert!(
        result
            .flows
            .iter()
            .flat_map(|f| f.metrics.keys())
            .all(|name| known(name))
    );
}

#[test]
fn the_other_direction_is_received_here() {
    let imported = read(REVERSE).unwrap();
    let flow = &imported.phase.result.flows[0];
    assert_eq!(flow.to, imported.hosts[0].name);
    assert_eq!((imported.flows[0].from, imported.flows[0].to), (1, 0));
    let cpu = &values(REVERSE)["end"]["cpu_utilization_percent"];
    let receiver = imported.phase.result.summary["stream.receiver_cpu_ratio"];
    assert_eq!(receiver, cpu["host_total"].as_f64().unwrap() / 100.0);
    let arrived = "stream.goodput_bits_per_second";
    assert!(
        imported
            .batch
            .series
            .iter()
            .any(|s| s.key.metric == arrived)
    );
}

#[test]
fn both_directions_add_up() {
    let (imported, json) = (read(BOTH).unwrap(), values(BOTH));
    let end = &json["end"];
    let bits = |sum: &str| end[sum]["bits_per_second"].as_f64().unwrap();
    let both = bits("sum_received") + bits("sum_received_bidir_reverse");
    let summary = &imported.phase.result.summary;
    assert_eq!(summary["stream.goodput_bits_per_second"], both);
    let flows = &imported.phase.result.flows;
    assert_eq!(
        (&flows[0].from, &flows[0].to),
        (&flows[1].to, &flows[1].from)
    );
}

#[test]
fn datagrams_are_datagrams() {
    let (imported, json) = (read(UDP).unwrap(), values(UDP));
    assert_eq!(imported.workload, "datagram");
    let (summary, sum) = (&imported.phase.result.summary, &json["end"]["sum"]);
    same(summary.get("datagram.sent_packets"), &sum["packets"]);
    same(
        summary.get("datagram.missing_packets"),
        &sum["lost_packets"],
    );
    let jitter = sum["jitter_ms"].as_f64().unwrap() / 1e3;
    assert_eq!(summary["datagram.jitter_seconds"], jitter);
}

#[test]
fn an_error_makes_it_partial_or_nothing() {
    let mut json = values(TCP);
    json["error"] = "interrupt - the client has terminated".into();
    let imported = read(json.to_string().as_bytes()).unwrap();
    assert_eq!(imported.status, RunStatus::Partial);
    assert_eq!(imported.problems.len(), 1);
    let nothing = json!({"start": {}, "intervals": [], "end": {}, "error": "unable to connect"});
    let refused = read(nothing.to_string().as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("unable to connect"));
}

#[test]
fn other_files_are_refused() {
    let check = |text: &str| assert!(read(text.as_bytes()).is_err(), "{text}");
    check("");
    check("[]");
    check("{\"start\":1}");
    check("{\"start\":{},\"end\":{\"streams\":7}}");
    let streams = vec![json!({"sender": {"bytes": 1}}); 5000];
    let many = json!({"start": {}, "end": {"streams": streams}}).to_string();
    assert_eq!(
        read(many.as_bytes()).unwrap_err(),
        Iperf3Error::ManyConnections
    );
}

/// JSON that resembles a result in part.
fn nearly() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|v| json!(v)),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    let names = [
        "start",
        "end",
        "streams",
        "sender",
        "receiver",
        "udp",
        "bytes",
        "bits_per_second",
        "socket",
        "intervals",
        "connected",
        "test_start",
        "protocol",
        "sum",
        "sum_received",
        "timestamp",
        "timesecs",
        "seconds",
        "packets",
        "system_info",
    ];
    leaf.prop_recursive(6, 200, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(names.to_vec()), inner), 0..8)
                .prop_map(|fields| fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_without_harm(start in nearly(), intervals in nearly(), end in nearly()) {
        let json = json!({"start": start, "intervals": intervals, "end": end});
        if let Ok(imported) = read(json.to_string().as_bytes()) {
            let numbers = imported.phase.result.summary.values();
            prop_assert!(numbers.chain(imported.phase.result.flows.iter().flat_map(|f| f.metrics.values())).all(|v| v.is_finite()));
            let times = imported.batch.series.iter().flat_map(|s| &s.points);
            prop_assert!(times.into_iter().all(|(t, v)| *t >= 0 && v.is_finite()));
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read(&bytes).is_err());
    }
}
