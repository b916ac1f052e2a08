//! Golden files of written rows, in `testdata/jtl`.

use proptest::prelude::*;

use super::*;
use crate::properties::Origin;
use crate::run::{Asserted, Details, RowKind};

fn row() -> SampleRow<'static> {
    SampleRow {
        kind: RowKind::Sample,
        is_http: true,
        is_inner: false,
        start_ms: 1_700_000_000_123,
        elapsed_ms: 52,
        label: "検索, \"DB\"".into(),
        code: "200".into(),
        message: "OK".into(),
        thread_name: "Users 1-1".into(),
        data_type: "text",
        success: true,
        failure_message: "".into(),
        bytes: 321,
        sent_bytes: 123,
        group_threads: 2,
        all_threads: 4,
        url: "http://localhost:9080/stress/hoge".into(),
        latency_ms: 51,
        idle_ms: 0,
        connect_ms: 1,
        encoding: "utf-8".into(),
        intended_ns: 1_000_000,
        is_due: false,
        start_ns: 2_500_000,
        sent_ns: 3_000_000,
        end_ns: 54_500_000,
        errno: 0,
        spent: Default::default(),
        phase: "",
        failure: "".into(),
        variables: Vec::new(),
        details: None,
        below: Vec::new(),
    }
}

/// Two rows with the given properties, as one text.
fn written(properties: &[(&str, &str)], own: bool) -> String {
    let mut all = Properties::default();
    for (name, value) in properties {
        all.set(
            format!("jmeter.save.saveservice.{name}"),
            *value,
            Origin::CommandLine,
        );
    }
    let format = JtlFormat::new(&all, TimeZone::UTC, "generator-1", own);
    let mut out = Vec::new();
    format.begin(&mut out).unwrap();
    let mut rows = Rows::default();
    format.write(&row(), &mut rows);
    let failed = SampleRow {
        success: false,
        code: "Non HTTP response code: java.net.SocketException".into(),
        message: "Non HTTP response message: Connection reset".into(),
        failure_message: "two\nlines".into(),
        errno: 104,
        phase: "read",
        failure: "reset".into(),
        details: Some(Box::new(Details {
            assertions: vec![
                Asserted {
                    name: "holds".into(),
                    failed: false,
                    is_error: false,
                    says: None,
                },
                Asserted {
                    name: "breaks".into(),
                    failed: true,
                    is_error: false,
                    says: Some("two\nlines".into()),
                },
            ],
            ..Details::default()
        })),
        ..row()
    };
    format.write(&failed, &mut rows);
    let whole = SampleRow {
        kind: RowKind::Transaction,
        is_http: false,
        data_type: "",
        label: "all".into(),
        url: "null".into(),
        below: vec![row(), failed],
        ..row()
    };
    format.write(&whole, &mut rows);
    out.extend_from_slice(rows.text.as_bytes());
    format.end(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn csv_is_written_as_jmeter_does() {
    assert_eq!(
        written(&[], false),
        include_str!("../../testdata/jtl/written.csv")
    );
}

#[test]
fn properties_choose_columns_and_form() {
    let chosen = [
        ("url", "false"),
        ("thread_counts", "false"),
        ("hostname", "true"),
        ("sample_count", "true"),
        ("encoding", "true"),
        ("default_delimiter", ";"),
        ("timestamp_format", "yyyy/MM/dd HH:mm:ss.SSS"),
    ];
    assert_eq!(
        written(&chosen, true),
        include_str!("../../testdata/jtl/chosen.csv")
    );
    let bare = written(&[("print_field_names", "false")], false);
    assert!(bare.starts_with("1700000000123,52,"), "{bare}");
}

#[test]
fn xml_is_written_as_jmeter_does() {
    assert_eq!(
        written(&[("output_format", "xml")], false),
        include_str!("../../testdata/jtl/written.xml")
    );
}

#[test]
fn variables_stand_behind_the_columns() {
    let mut all = Properties::default();
    all.set("sample_variables", "a, b-1,c d", Origin::CommandLine);
    let row = SampleRow {
        variables: vec![Some("x,\"y\"".into()), None, Some("1".into())],
        ..row()
    };
    let csv = whole(&all, &row);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].ends_with(",Connect,\"a\",\"b-1\",\"c d\""),
        "{csv}"
    );
    assert!(lines[1].ends_with(",\"x,\"\"y\"\"\",null,1"), "{csv}");
    all.set(format!("{PREFIX}output_format"), "xml", Origin::CommandLine);
    let xml = whole(&all, &row);
    assert!(
        xml.contains(" a=\"x,&quot;y&quot;\" b-1=\"\" c_d=\"1\""),
        "{xml}"
    );
}

/// A file with this row only.
fn whole(properties: &Properties, row: &SampleRow<'_>) -> String {
    let format = JtlFormat::new(properties, TimeZone::UTC, "generator-1", false);
    let mut out = Vec::new();
    format.begin(&mut out).unwrap();
    let mut rows = Rows::default();
    format.write(row, &mut rows);
    out.extend_from_slice(rows.text.as_bytes());
    format.end(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn characters_that_xml_does_not_have_leave_a_file_that_can_be_read() {
    let mut all = Properties::default();
    all.set(format!("{PREFIX}output_format"), "xml", Origin::CommandLine);
    let row = SampleRow {
        label: "a\0b\u{1}c\u{1b}d\u{7f}e\u{85}f\u{fffe}g\u{ffff}h\u{fffd}\u{10ffff}".into(),
        ..row()
    };
    let text = whole(&all, &row);
    let label = "lb=\"a?b?c?d&#x7f;e&#x85;f?g?h\u{fffd}\u{10ffff}\"";
    assert!(text.contains(label), "{text}");
    let read = crate::xml::parse(&"x".into(), text.as_bytes());
    let read = read.unwrap_or_else(|_| panic!("{text}"));
    assert_eq!(
        read.children[0].attribute("lb"),
        Some("a?b?c?d\u{7f}e\u{85}f?g?h\u{fffd}\u{10ffff}")
    );
}

proptest! {
    #[test]
    fn every_text_is_quoted_where_it_must_be(
        texts in prop::array::uniform4("[a1,;\\t\"\n\r日]{0,5}"),
        delimiter in prop::sample::select(vec![',', ';', '\t', '1', '"', '日']),
        elapsed_ms: u64,
    ) {
        let [label, message, thread_name, failure_message] = texts.map(Into::into);
        let row = SampleRow { label, message, thread_name, failure_message, elapsed_ms, ..row() };
        let mut all = Properties::default();
        let name = format!("{PREFIX}default_delimiter");
        all.set(name, delimiter.to_string(), Origin::CommandLine);
        let format = JtlFormat::new(&all, TimeZone::UTC, "generator-1", true);
        let mut expected = String::new();
        format.cells(&row, &mut expected, |text, out| quote(text, delimiter, out));
        let mut out = String::from("before\n");
        format.csv_row(&row, &mut out);
        prop_assert_eq!(out, format!("before\n{expected}\n"));
    }
}
