//! Sums and words against what JMeter 5.6.3 sent for the same results.

use proptest::prelude::*;
use sokudo_jmeter::plan::{Chosen, Influx};

use super::speaker::datagrams;
use super::*;

fn backend(summary_only: bool) -> Backend {
    Backend {
        to: Destination::Nobody(String::new()),
        summary_only,
        labels: Chosen::Containing("good|bad|tx".into()),
        percentiles: vec![90.0, 99.9],
        interval_s: 1,
        window: 100,
        begins_anew: false,
    }
}

fn note(label: &str, elapsed_ms: u64, error: Option<(&str, &str)>) -> Note {
    Note {
        label: label.into(),
        elapsed_ms,
        hits: 1,
        sent_bytes: 100,
        bytes: 10,
        active: 2,
        is_transaction: label == "tx",
        error: error.map(|(code, message)| Box::new((code.into(), message.into()))),
    }
}

/// Of `good one`, `bad.two`, a transaction and a label that is not chosen.
fn summary(summary_only: bool) -> Summary {
    let backend = backend(summary_only);
    let choice = backend.labels.compile().expect("it compiles");
    let mut summary = Summary::new(backend, choice);
    (summary.begun, summary.active) = (3, 2);
    let error = Some(("500", "Server Error"));
    for (label, elapsed_ms, error) in [
        ("good one", 20, None),
        ("good one", 23, None),
        ("bad.two", 30, error),
        ("tx", 50, None),
        ("other", 7, None),
    ] {
        summary.add(&note(label, elapsed_ms, error));
    }
    summary
}

fn influx() -> Influx {
    Influx {
        url: String::new(),
        datagrams: false,
        token: "secret".into(),
        application: "my app,x=1".into(),
        measurement: "jmeter".into(),
        title: "My \"title\"".into(),
        event_tags: "e1,e2".into(),
        tags: vec![("host".into(), "h 1".into())],
    }
}

#[test]
fn graphite_hears_names_and_numbers() {
    let summary = summary(false);
    let text = words::lines(&words::graphite(&summary, "jm."), 17);
    let text = String::from_utf8(text).expect("text");
    let of = |label: &str| -> Vec<&str> {
        let own = text
            .lines()
            .filter_map(|line| line.strip_prefix(&format!("jm.{label}.")));
        own.collect()
    };
    assert_eq!(
        of("good-one"),
        [
            "ok.count 2 17",
            "ko.count 0 17",
            "a.count 2 17",
            "h.count 2 17",
            "sb.bytes 200 17",
            "rb.bytes 20 17",
            "ok.min 20.0 17",
            "ok.max 23.0 17",
            "ok.avg 21.5 17",
            "ok.pct90 23.0 17",
            "ok.pct99_9 23.0 17",
            "a.min 20.0 17",
            "a.max 23.0 17",
            "a.avg 21.5 17",
            "a.pct90 23.0 17",
            "a.pct99_9 23.0 17",
        ]
    );
    assert_eq!(of("bad_two").len(), 16);
    assert_eq!(of("other").len(), 0);
    // The transaction counts, its requests are not counted twice.
    assert_eq!(
        of("all")[..5],
        [
            "ok.count 4 17",
            "ko.count 1 17",
            "a.count 5 17",
            "h.count 4 17",
            "sb.bytes 400 17"
        ]
    );
    assert_eq!(of("tx")[3], "h.count 1 17");
    let users = [
        "minAT 2 17",
        "maxAT 2 17",
        "meanAT 2 17",
        "startedT 3 17",
        "endedT 1 17",
    ];
    assert_eq!(of("test"), users);
}

#[test]
fn what_is_pickled_is_a_list_of_names_times_and_values() {
    let said = [
        ("a'b".to_owned(), "1.5".to_owned()),
        ("c".to_owned(), "2".to_owned()),
    ];
    let message = words::pickled(&said, 17);
    let list = b"(l(S'a\\'b'\n(L17L\nS'1.5'\ntta(S'c'\n(L17L\nS'2'\ntta.";
    assert_eq!(message[..4], (list.len() as u32).to_be_bytes());
    assert_eq!(message[4..], list[..]);
}

#[test]
fn influx_hears_lines_with_tags() {
    let mut summary = summary(false);
    let text = words::influx(&summary, &influx(), 5);
    let lines: Vec<&str> = text.lines().collect();
    let head = r"jmeter,application=my\ app\,x\=1,transaction=";
    let expected = [
        r"all,statut=all,host=h\ 1 count=5,countError=1,avg=25.0,min=7.0,max=50.0,hit=4,sb=400,rb=40,pct90.0=50.0,pct99.9=50.0",
        r"bad.two,statut=all,host=h\ 1 count=1,avg=30.0,min=30.0,max=30.0,hit=1,sb=100,rb=10,pct90.0=30.0,pct99.9=30.0",
        r"bad.two,statut=ko,host=h\ 1 count=1,avg=30.0,min=30.0,max=30.0,hit=1,sb=100,rb=10,pct90.0=30.0,pct99.9=30.0",
        r"bad.two,responseCode=500,responseMessage=Server\ Error,host=h\ 1 count=1",
        r"good\ one,statut=all,host=h\ 1 count=2,avg=21.5,min=20.0,max=23.0,hit=2,sb=200,rb=20,pct90.0=23.0,pct99.9=23.0",
        r"good\ one,statut=ok,host=h\ 1 count=2,avg=21.5,min=20.0,max=23.0,hit=2,sb=200,rb=20,pct90.0=23.0,pct99.9=23.0",
        r"tx,statut=all,host=h\ 1 count=1,avg=50.0,min=50.0,max=50.0,hit=1,sb=100,rb=10,pct90.0=50.0,pct99.9=50.0",
        r"tx,statut=ok,host=h\ 1 count=1,avg=50.0,min=50.0,max=50.0,hit=1,sb=100,rb=10,pct90.0=50.0,pct99.9=50.0",
        r"internal,host=h\ 1 minAT=2,maxAT=2,meanAT=2,startedT=3,endedT=1",
    ];
    let expected: Vec<String> = expected
        .iter()
        .map(|rest| format!("{head}{rest} 5000000"))
        .collect();
    assert_eq!(lines, expected);
    // Nothing has come since: counts begin anew, and only users are told.
    summary.begin();
    assert_eq!(words::influx(&summary, &influx(), 5).lines().count(), 1);
    summary.add(&note("good one", 29, None));
    let again = words::influx(&summary, &influx(), 5);
    assert!(
        again.contains("count=1,avg=24.0,min=20.0,max=29.0"),
        "{again}"
    );
}

#[test]
fn a_summary_alone_has_no_labels_and_events_have_titles() {
    let text = words::influx(&summary(true), &influx(), 5);
    assert_eq!(text.lines().count(), 2);
    assert_eq!(
        words::event(&influx(), true, 5),
        "events,application=my\\ app\\,x\\=1,title=ApacheJMeter,host=h\\ 1,tags=e1\\,e2 \
         text=\"My \\\"title\\\" ended\" 5000000\n"
    );
}

proptest! {
    #[test]
    fn whatever_labels_say_each_line_is_one_line(label in "\\PC{0,20}[\n\r ,=\"]?\\PC{0,5}") {
        let mut backend = backend(false);
        backend.labels = Chosen::Containing(String::new());
        let choice = backend.labels.compile().expect("it compiles");
        let mut summary = Summary::new(backend, choice);
        summary.add(&note(&label, 1, None));
        let text = words::influx(&summary, &influx(), 5);
        prop_assert_eq!(text.matches('\n').count(), 4, "{}", text);
        prop_assert!(text.lines().all(|line| line.ends_with(" 5000000")), "{}", text);
        let text = words::lines(&words::graphite(&summary, ""), 17);
        let text = String::from_utf8(text).expect("text");
        prop_assert!(text.lines().all(|line| line.ends_with(" 17")), "{}", text);
    }

    #[test]
    fn datagrams_hold_whole_lines_within_bounds(lines in prop::collection::vec("[a-z]{0,30}", 0..20)) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let cut = datagrams(&text, 20);
        prop_assert!(cut.iter().all(|one| one.len() <= 20 && one.ends_with('\n')));
        let short = lines.iter().filter(|line| line.len() < 20);
        let kept: String = short.map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(cut.concat(), kept);
    }
}
