//! Options as text, and what a result says of its clocks.

use proptest::prelude::*;
use sokudo_i18n::english;
use sokudo_model::{PhaseResult, Summary};
use sokudo_workload::contract::{Options, Workload};
use sokudo_workload::values::HowMany;

use super::*;

fn options(fields: &str) -> ProbeOptions {
    serde_json::from_str(&format!("{{{fields}}}")).expect("options of a test")
}

#[test]
fn options_come_back_from_json() {
    let all = options(
        r#""every":"250us","size":"100","duration":"3s","count":"7","timeout":"1s","dscp":46,"direction":"mesh","keep":"5""#,
    );
    let again: ProbeOptions = serde_json::from_str(&all.to_json()).unwrap();
    assert_eq!(again, all);
    assert_eq!(options(""), ProbeOptions::default());
    assert!(serde_json::from_str::<ProbeOptions>(r#"{"evry":"1s"}"#).is_err());
}

#[test]
fn what_cannot_be_probed_is_refused() {
    let check = |fields: &str, word: &str| {
        let refusal = options(fields).validate().expect_err(fields);
        assert!(
            refusal.operator_error && english(&refusal.says).contains(word),
            "{fields}: {refusal:?}"
        );
        assert!(refusal.hint.is_some(), "{fields}");
    };
    check(r#""size":"47""#, "--size");
    check(r#""size":"65508""#, "--size");
    check(r#""every":"99us""#, "--every");
    check(r#""every":"2min""#, "--every");
    check(r#""timeout":"21s""#, "--timeout");
    check(r#""interval":"1ms""#, "--interval");
    check(r#""dscp":64"#, "--dscp");
    check(r#""count":"0""#, "--count");
    check(r#""every":"100us","duration":"2min""#, "1200000 probes");
    assert!(
        options(r#""every":"100us","duration":"100s""#)
            .validate()
            .is_ok()
    );
}

#[test]
fn duration_and_count_bound_each_other() {
    assert_eq!(options("").probes(), 1000);
    assert_eq!(options(r#""duration":"95ms""#).probes(), 10);
    assert_eq!(options(r#""duration":"95ms","count":"3""#).probes(), 3);
    assert_eq!(options(r#""count":"5000""#).duration_ns(), 50_000_000_000);
}

#[test]
fn a_trial_changes_the_interval_and_nothing_else() {
    let before = options(r#""size":"200","dscp":8"#);
    let after = Probe
        .trial(&before.to_json(), Some(500.0), 3_000_000_000)
        .unwrap();
    let after: ProbeOptions = serde_json::from_str(&after).unwrap();
    assert_eq!((after.every, after.probes()), (Span(2_000_000), 1500));
    assert_eq!(
        (after.size, after.dscp, after.keep),
        (before.size, Some(8), HowMany(20_000))
    );
}

/// Key of the only note about clocks.
fn clock_note(numbers: &[(&str, f64)]) -> String {
    let mut summary: Summary = numbers.iter().map(|(k, v)| ((*k).into(), *v)).collect();
    summary.insert("probe.answered_packets".into(), 10.0);
    let result = PhaseResult {
        summary,
        ..PhaseResult::default()
    };
    let [note] = notes::notes(&result).try_into().expect("one note");
    note.key
}

#[test]
fn a_reader_hears_how_good_the_clocks_were() {
    let error = numbers::CLOCK_ERROR_SECONDS.name;
    let (up, down) = ("probe.owd_up_seconds", "probe.owd_down_seconds");
    let owd = |way: &str, which: &str| format!("{way}.{which}");
    assert_eq!(clock_note(&[]), "engine-probe-no-clock");
    assert_eq!(clock_note(&[(error, 0.0)]), "engine-probe-one-clock");
    assert_eq!(clock_note(&[(error, 1e-4)]), "engine-probe-clock-none");
    let some = clock_note(&[(error, 1e-4), (&owd(up, "max"), 2e-4)]);
    assert_eq!(some, "engine-probe-clock-some");
    let all = [owd(up, "min"), owd(down, "min"), owd(up, "max")];
    let all = clock_note(&[
        (error, 1e-4),
        (&all[0], 2e-4),
        (&all[1], 2e-4),
        (&all[2], 2e-4),
    ]);
    assert_eq!(all, "engine-probe-clock");
}

proptest! {
    #[test]
    fn a_result_of_any_bytes_joins_to_nothing(text in ".{0,200}") {
        let spec: PhaseSpec = serde_json::from_str(
            r#"{"run":"r","phase":{"name":"p","workload":"probe","options":"{}","flows":[{"id":0,"from":0,"to":1}],
                "duration_ns":1,"bound_ns":1},"flows":1,"others_stream":0,"hosts":2,
                "known":[[0,{"name":"a","address":""}],[1,{"name":"b","address":""}]],
                "me":0,"seed":1,"tickets":[[0,1]]}"#,
        ).unwrap();
        let result = Probe.join(&spec, &[Ok(text.clone()), Ok(text)]).expect("options");
        prop_assert!(result.summary.is_empty() && !result.flows[0].complete);
    }
}
