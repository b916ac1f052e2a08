//! Tests that exported files hold the data of their record.

use super::*;

#[test]
fn reports_and_findings_can_be_added_and_replaced() {
    let root = root();
    let path = record(root.path(), "r", 1);
    attach(&path, "report.html", b"<p>1").unwrap();
    attach(&path, "report.html", b"<p>2").unwrap();
    attach(&path, "charts/rate.svg", b"<svg/>").unwrap();
    save_findings(&path, &[], &[check(), check()]).unwrap();
    assert_eq!(fs::read(path.join("report.html")).unwrap(), b"<p>2");
    assert_eq!(load(&path).unwrap().checks.len(), 2);
    let verified = verify(&path).unwrap();
    assert!(verified.is_intact());
    assert!(verified.unlisted.is_empty(), "{verified:?}");
    for bad in ["../x", "/x", "", "run.json"] {
        assert!(attach(&path, bad, b"").is_err(), "{bad}");
    }
}

fn exported(record: &Record) -> (String, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (mut series, mut flows, mut json) = (Vec::new(), Vec::new(), Vec::new());
    export::series(record, Format::Csv, &mut series).unwrap();
    export::flows(record, Format::Csv, &mut flows).unwrap();
    export::json(record, &mut json).unwrap();
    (text(series), text(flows), text(json))
}

#[test]
fn a_trace_has_a_slice_per_phase_and_flow_and_a_point_per_sample() {
    let root = root();
    let record = load(&record(root.path(), "x", 2)).unwrap();
    let mut bytes = Vec::new();
    export::perfetto::trace(&record, &mut bytes).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |kind: &str| {
        let own = events.iter().filter(|event| event["ph"] == kind);
        own.collect::<Vec<_>>()
    };
    let phases = &record.manifest.phases;
    let flows: usize = phases.iter().map(|phase| phase.result.flows.len()).sum();
    assert!(!phases.is_empty() && flows > 0, "the record has some");
    let slices = of("X");
    assert_eq!(slices.len(), phases.len() + flows);
    assert_eq!(slices[0]["name"], phases[0].name.as_str());
    assert_eq!(slices[0]["ts"], phases[0].t0_ns as f64 / 1e3);
    let long_ns = phases[0].t1_ns - phases[0].t0_ns;
    assert_eq!(slices[0]["dur"], long_ns as f64 / 1e3);
    let points = record.series.iter().flat_map(|series| &series.points);
    let finite = points.filter(|(_, value)| value.is_finite()).count();
    assert!(finite > 0);
    assert_eq!(of("C").len(), finite);
    assert_eq!(of("i").len(), record.events.len());
    let named = of("M")
        .into_iter()
        .filter(|it| it["name"] == "process_name");
    assert_eq!(named.count(), 1 + record.manifest.hosts.len());
}

#[test]
fn exports_hold_every_point_flow_and_quote() {
    let root = root();
    let path = record(root.path(), "x", 2);
    let (series, flows, json) = exported(&load(&path).unwrap());
    let mut lines = series.lines();
    assert_eq!(
        lines.next(),
        Some("time_seconds,host,source,metric,unit,labels,value")
    );
    assert_eq!(
        lines.next(),
        Some(
            r#"0.250000000,hosta,datagram,datagram.sent_bits_per_second,bits/second,"{""flow"":""0""}",1000000000"#
        )
    );
    assert_eq!(series.lines().count(), 1 + 4);
    assert_eq!(
        flows,
        "phase,workload,phase_labels,flow,from,to,labels,complete,datagram.sent_packets,\
         datagram.ack_rtt_seconds n,datagram.ack_rtt_seconds min,datagram.ack_rtt_seconds mean,\
         datagram.ack_rtt_seconds p50,datagram.ack_rtt_seconds p90,datagram.ack_rtt_seconds p99,\
         datagram.ack_rtt_seconds p999,datagram.ack_rtt_seconds max\n\
         p2p,datagram,{},0,hosta,hostb,\"{\"\"mode\"\":\"\"gso\"\"}\",true,12,3,0,0,0,0,0,0,0.5\n"
    );
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed["series"][0]["points"][0][0], 250_000_000);
    assert_eq!(parsed["histograms"][1]["n"], 100);
    assert_eq!(parsed["manifest"]["id"], "x");
    let differences =
        sokudo_testkit::document::differences(&export::RECORD, std::slice::from_ref(&parsed));
    assert!(differences.is_empty(), "{differences:#?}");
    let out = root.path().join("out");
    fs::create_dir(&out).unwrap();
    let record = load(&path).unwrap();
    assert_eq!(
        export::to_csv(&record, &out).unwrap(),
        [out.join("series.csv"), out.join("flows.csv")]
    );
    assert_eq!(export::to_tsv(&record, &out).unwrap().len(), 2);
    assert_eq!(
        fs::read_to_string(export::to_json(&record, &out).unwrap()).unwrap(),
        json
    );
}

#[test]
fn cells_cannot_become_formulas_or_break_rows() {
    let root = root();
    let mut record = load(&record(root.path(), "f", 0)).unwrap();
    record.manifest.phases[0].name = "@a\u{1b}[2J\u{202e}\u{9b}b".into();
    let flow = &mut record.manifest.phases[0].result.flows[0];
    flow.from = "=HYPERLINK(\"http://x\")".into();
    flow.to = "a\tb\nc,d".into();
    flow.metrics.insert("host.load_1min".into(), f64::NAN);
    let mut csv = Vec::new();
    export::flows(&record, Format::Csv, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains(r#","'=HYPERLINK(""http://x"")","#), "{csv}");
    assert!(csv.contains(",\"a\tb\nc,d\","), "{csv}");
    assert!(csv.contains(",true,12,,3,"), "{csv}");
    let mut tsv = Vec::new();
    export::flows(&record, Format::Tsv, &mut tsv).unwrap();
    let tsv = String::from_utf8(tsv).unwrap();
    assert!(tsv.contains("\ta\\tb\\nc,d\t"), "{tsv}");
    assert!(tsv.contains("\t'=HYPERLINK"), "{tsv}");
    for text in [&csv, &tsv] {
        let name = "'@a\u{fffd}[2J\u{fffd}\u{fffd}b";
        assert!(text.contains(name), "{text}");
    }
    assert_eq!(tsv.lines().count(), 2);
}

#[test]
fn round_trips_that_were_kept_are_a_table_of_their_own() {
    let root = root();
    let mut record = load(&record(root.path(), "t", 1)).unwrap();
    let phase = &mut record.manifest.phases[0];
    phase.workload = "rr".into();
    (phase.t0_ns, phase.t1_ns) = (0, 1_000_000_000);
    let flow = &mut phase.result.flows[0];
    (flow.from, flow.to) = ("a".into(), "b".into());
    flow.labels.insert("thread".into(), "2".into());
    flow.metrics.insert("rr.request_bytes".into(), 1000.0);
    flow.metrics.insert("rr.response_bytes".into(), 3000.0);
    let mut series = record.series[0].clone();
    series.key = key("a", "rr.round_trip_seconds", &[("flow", "a→b #2")]);
    // The last point belongs to another phase.
    series.points = vec![
        (5_000_000, 0.002),
        (7_500_000, 0.0025),
        (2_000_000_000, 1.0),
    ];
    record.series.push(series);
    let out = root.path().join("out");
    fs::create_dir(&out).unwrap();
    let files = export::to_csv(&record, &out).unwrap();
    assert_eq!(files.last(), Some(&out.join("round_trips.csv")));
    let name = record.manifest.phases[0].name.clone();
    assert_eq!(
        fs::read_to_string(&files[2]).unwrap(),
        format!(
            "phase,start_ms,end_ms,from,to,thread,request_bytes,response_bytes,round_trip_ms,\
             one_way_bytes_per_second,one_way_bits_per_second\n\
             {name},3.000000,5.000000,a,b,2,1000,3000,2.000000,2000000,16000000\n\
             {name},5.000000,7.500000,a,b,2,1000,3000,2.500000,1600000,12800000\n"
        )
    );
}
