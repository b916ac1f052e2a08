use std::fmt::Write as _;
use std::io::Read;

use proptest::prelude::*;
use sokudo_stats::requests::{Request, Settings, Tally};

use super::*;

const CSV: &[u8] = include_bytes!("../../testdata/jtl/default.jtl");
const XML: &[u8] = include_bytes!("../../testdata/jtl/default.xml");

/// The rows in one line each, and the outcome.
fn rows(bytes: &[u8]) -> (Vec<String>, ReadOutcome) {
    let mut out = Vec::new();
    let outcome = read(bytes, |row| out.push(line(row))).unwrap();
    (out, outcome)
}

fn line(row: &Request) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let mut out = format!("{} {} {}", row.start_ms, row.elapsed_ms, text(row.label));
    let _ = write!(
        out,
        " {} {} {}",
        text(row.code),
        row.success,
        text(row.failure)
    );
    let _ = write!(out, " {} {} {:?}", row.bytes, row.sent_bytes, row.threads);
    let _ = write!(
        out,
        " {:?} {:?} {}",
        row.latency_ms,
        row.connect_ms,
        text(row.host)
    );
    out
}

#[test]
fn csv_and_xml_of_one_test_say_the_same() {
    let (csv, from_csv) = rows(CSV);
    let (xml, from_xml) = rows(XML);
    assert_eq!(csv.len(), 5);
    assert_eq!(
        csv[3],
        "1700000000300 45 Home 200 false Test failed: text expected to contain \"Welcome\"\nand more 700 120 Some(2) Some(44) Some(0) "
    );
    assert_eq!(csv, xml);
    assert_eq!(from_csv.broken, Broken::default());
    assert_eq!(
        from_csv.format,
        Format::Csv {
            delimiter: b',',
            header: true
        }
    );
    assert_eq!(
        (from_xml.broken.n, from_xml.inner, from_xml.cut),
        (0, 1, false)
    );
}

#[test]
fn any_columns_in_any_order_are_read() {
    let (found, _) = rows(b"label;Hostname;elapsed;\"my var\";timeStamp\na;h1;5;x;1700000000000\n");
    assert_eq!(found, ["1700000000000 5 a  true  0 0 None None None h1"]);
    let (found, outcome) =
        rows(b"elapsed\ttimeStamp\tsuccess\r\n7\t2023/11/14 22:13:20.000\tFALSE\r\n");
    assert_eq!(found, ["1700000000000 7   false  0 0 None None None "]);
    assert_eq!(outcome.broken.n, 0);
}

#[test]
fn without_a_header_the_default_columns_are_meant() {
    let rest = CSV.iter().position(|b| *b == b'\n').unwrap() + 1;
    let (with, _) = rows(CSV);
    let (without, outcome) = rows(&CSV[rest..]);
    assert_eq!(with, without);
    assert_eq!(
        outcome.format,
        Format::Csv {
            delimiter: b',',
            header: false
        }
    );
    let error = read(&b"1700000000000,5,a\n"[..], |_| {}).unwrap_err();
    assert!(matches!(error, JtlError::NotJtl), "{error}");
}

#[test]
fn a_column_without_which_nothing_can_be_said_is_named() {
    let error = read(&b"elapsed,label\n5,a\n"[..], |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: the header has no column `timeStamp`"
    );
}

#[test]
fn broken_rows_are_counted_and_named() {
    let text = b"timeStamp,elapsed,label,success\n1,2,a,true\n1,x,a,true\n1,2,a\n\n1,2,\"a\nb\",maybe\n9,9,z,false\n";
    let (found, outcome) = rows(text);
    assert_eq!(found.len(), 2);
    let told: Vec<String> = outcome
        .broken
        .first
        .iter()
        .map(|b| format!("{}: {}", b.line, b.why))
        .collect();
    assert_eq!(
        told,
        [
            "3: `elapsed` is `x`",
            "4: 3 cells instead of 4",
            "6: `success` is `maybe`"
        ]
    );
}

#[test]
fn a_row_with_too_many_attributes_is_named() {
    let wide: String = (0..10_000).map(|i| format!(" a{i}='x'")).collect();
    let row = |more: &str| format!("<sample ts='1' t='2' lb='a' s='true'{more}/>");
    let text = format!("<testResults>{}{}</testResults>", row(&wide), row(""));
    let (found, outcome) = rows(text.as_bytes());
    assert_eq!(found.len(), 1);
    let told: Vec<_> = outcome
        .broken
        .first
        .iter()
        .map(|b| b.why.to_string())
        .collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("more than 4096 attributes"), "{told:?}");
}

#[test]
fn the_last_line_of_a_killed_generator_is_told_as_cut() {
    let text = b"timeStamp,elapsed,label,success\n1,2,a,true\n1,2,a,tr";
    let (found, outcome) = rows(text);
    assert_eq!((found.len(), outcome.cut), (1, true));
    assert_eq!(
        outcome.broken.first,
        [BrokenRow {
            line: 3,
            why: Why::Cut
        }]
    );
    let (found, outcome) = rows(b"timeStamp,elapsed,label\n1,2,a\n1,2,\"a");
    assert_eq!((found.len(), outcome.cut), (1, true));
    let (found, outcome) = rows(&XML[..XML.len() * 2 / 3]);
    assert!(
        found.len() < 5 && outcome.cut && outcome.broken.n <= 1,
        "{outcome:?}"
    );
}

#[test]
fn an_open_quote_costs_its_own_line_only() {
    let mut text = b"timeStamp,elapsed,label\n1,2,\"a\n".to_vec();
    for i in 0..9 {
        text.extend(format!("1,{i},b\n").bytes());
    }
    let (found, outcome) = rows(&text);
    assert_eq!(found.len(), 9);
    assert_eq!(
        outcome.broken.first,
        [BrokenRow {
            line: 2,
            why: Why::OpenQuote
        }]
    );
}

#[test]
fn files_put_together_from_several_are_read() {
    let (found, outcome) =
        rows(b"timeStamp,elapsed,label\n1,2,a\nlabel,timeStamp,elapsed\nb,3,4\n");
    assert_eq!((found.len(), outcome.broken.n), (2, 0));
    assert!(found[1].starts_with("3 4 b"));
}

#[test]
fn bad_bytes_stay_what_they_are() {
    let (found, outcome) = rows(b"\xef\xbb\xbftimeStamp,elapsed,label\n1,2,\xff\xfe\n");
    assert_eq!((found.len(), outcome.broken.n), (1, 0));
    let xml = b"<testResults><sample t=\"1\" ts=\"2\" lb=\"\xff\"/></testResults>";
    assert_eq!(rows(xml).0.len(), 1);
    let sjis = b"<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><testResults><sample t=\"1\" ts=\"2\" lb=\"\x82\xa0\"/></testResults>";
    assert!(rows(sjis).0[0].contains(" あ "));
}

#[test]
fn an_empty_file_has_no_rows() {
    for empty in [&b""[..], b"\n\n", b"timeStamp,elapsed\n", b"<testResults/>"] {
        let (found, outcome) = rows(empty);
        assert!(found.is_empty() && outcome.broken.n == 0, "{outcome:?}");
    }
}

#[test]
fn an_entity_bomb_expands_to_nothing() {
    let bomb = b"<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><testResults><sample t=\"1\" ts=\"2\" lb=\"&b;\"/></testResults>";
    let (found, outcome) = rows(bomb);
    assert_eq!((found.len(), outcome.broken.n), (0, 1));
}

#[test]
fn a_row_that_never_ends_needs_no_memory() {
    let head = &b"timeStamp,elapsed,label\n1,2,\""[..];
    let endless = std::io::repeat(b'x').take(40 << 20);
    let tail = &b"\n1,2,a\n"[..];
    let mut n = 0;
    let outcome = read(head.chain(endless).chain(tail), |_| n += 1).unwrap();
    assert_eq!((n, outcome.broken.n), (1, 1));
}

/// Rows as a generator writes them, from a seed; and the response times of the first label.
fn generated(n: u64, mut seed: u64) -> (Vec<u8>, Vec<u64>) {
    let mut text = DEFAULT_COLUMNS.join(",").into_bytes();
    text.push(b'\n');
    let mut of_first = Vec::new();
    for i in 0..n {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let draw = (seed >> 33) as f64 / (1u64 << 31) as f64;
        let elapsed = (-(1.0 - draw).ln() * 400.0) as u64 + 1;
        let label = (seed >> 20) % 7;
        if label == 0 {
            of_first.push(elapsed);
        }
        let good = seed >> 60 != 0;
        let row = format!(
            "{},{elapsed},page {label},{},{},Users 1-{},text,{good},,{},120,50,50,http://127.0.0.1/,{},0,0\n",
            1_700_000_000_000 + i * 3,
            if good { "200" } else { "500" },
            if good { "OK" } else { "Internal Server Error" },
            i % 50,
            elapsed * 3,
            elapsed / 2,
        );
        text.extend(row.into_bytes());
    }
    (text, of_first)
}

#[test]
fn percentiles_of_a_large_file_are_those_of_sorting() {
    let (text, mut exact) = generated(200_000, 7);
    let mut tally = Tally::new(Settings::default());
    let outcome = read(&text[..], |row| tally.add(row)).unwrap();
    assert_eq!((outcome.rows, outcome.broken.n), (200_000, 0));
    let all = tally.finish();
    assert_eq!((all.total.n, all.labels.len()), (200_000, 7));
    assert_eq!(all.labels[0].n, exact.len() as u64);
    exact.sort_unstable();
    for percent in [1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0] {
        let rank = (percent / 100.0 * exact.len() as f64).ceil() as usize;
        let (wanted, seen) = (exact[rank - 1], all.labels[0].percentile_ms(percent));
        assert!(
            seen.abs_diff(wanted) <= wanted / 1000,
            "{percent}: {seen} for {wanted}"
        );
    }
    let mean = exact.iter().sum::<u64>() as f64 / exact.len() as f64;
    assert!((all.labels[0].mean_ms() - mean).abs() < 1e-6);
}

/// A reader that gives a few bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(self.0.len()).min(out.len());
        out[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.into(),
    }
}

proptest! {
    #[test]
    fn whatever_was_written_is_read(labels in prop::collection::vec("[a-c,\"\nあ ]{1,6}", 1..20), at_once in 1usize..40) {
        let mut text = String::from("timeStamp,elapsed,label,success\n");
        for (i, label) in labels.iter().enumerate() {
            let _ = writeln!(text, "{},{},{},{}", 1000 + i, i, quoted(label), i % 2 == 0);
        }
        let mut seen = Vec::new();
        let outcome = read(Drops(text.as_bytes(), at_once), |row| {
            seen.push((row.elapsed_ms as usize, String::from_utf8_lossy(row.label).into_owned(), row.success));
        }).unwrap();
        let wanted: Vec<_> = labels.iter().enumerate().map(|(i, l)| (i, l.clone(), i % 2 == 0)).collect();
        prop_assert_eq!(seen, wanted);
        prop_assert_eq!(outcome.broken.n, 0);
    }

    #[test]
    fn damaged_files_are_read_or_refused(cut in 0usize..900, hits in prop::collection::vec((0usize..900, any::<u8>()), 0..6), xml: bool) {
        let mut bytes = if xml { XML.to_vec() } else { CSV.to_vec() };
        for (at, byte) in hits {
            let n = bytes.len();
            bytes[at % n] = byte;
        }
        bytes.truncate(cut.max(1));
        crate::entry::jtl(&bytes);
    }
}
