//! Options, offers, counts and numbers that cannot be read: every workload names them, and none goes
//! on with defaults.

use std::sync::Arc;

use sokudo_i18n::english;
use sokudo_model::{FlowPlan, HostSpec, PhasePlan, PhaseSpec, RunId};
use sokudo_workload::{Phase, Workload};
use sokudo_workloads::{all, together};

fn spec(workload: &str, options: &str) -> PhaseSpec {
    let host = |index: u32| HostSpec {
        name: format!("host{index}"),
        address: "127.0.0.1".into(),
    };
    PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "p".into(),
            workload: workload.into(),
            options: options.into(),
            flows: vec![FlowPlan {
                id: 0,
                from: 0,
                to: 1,
                stream: 0,
            }],
            duration_ns: 1,
            bound_ns: 1,
            labels: Default::default(),
        },
        hosts: vec![host(0), host(1)],
        me: 0,
        seed: 1,
        tickets: vec![1],
    }
}

/// Every workload but the one that starts several others, which reads for itself.
fn loads() -> impl Iterator<Item = &'static dyn Workload> {
    all().filter(|workload| workload.descriptor().name != together::NAME)
}

/// Options that can be read.
fn readable(name: &str) -> &'static str {
    match name {
        "jmx" => r#"{"plan":"a.jmx"}"#,
        _ => "{}",
    }
}

#[test]
fn options_that_cannot_be_read_are_refused_with_their_place() {
    for workload in all() {
        let name = workload.descriptor().name;
        let field = match name {
            "jmx" => r#"{"plan":{}}"#,
            _ => r#"{"interval":{}}"#,
        };
        for (options, place) in [("{", "EOF"), ("[7]", "line 1"), (field, "")] {
            let refusals = [
                workload
                    .prepare(spec(name, options), Arc::new(|_| {}))
                    .err(),
                workload.join(&spec(name, options), &[]).err(),
            ];
            for refusal in refusals {
                let refusal = refusal.unwrap_or_else(|| panic!("{name} takes {options}"));
                let says = english(&refusal.says);
                assert!(says.contains(&format!("`{name}`")), "{says}");
                assert!(says.contains(place), "{says}");
                assert!(refusal.operator_error && refusal.hint.is_some());
            }
        }
    }
    for (name, options, field) in [
        ("rr", r#"{"window":"x"}"#, "window"),
        (
            "jmx",
            r#"{"plan":"a.jmx","unsupported":"ignore"}"#,
            "unsupported",
        ),
    ] {
        let workload = sokudo_workloads::find(name).expect("a workload");
        let refusal = workload.join(&spec(name, options), &[]).err();
        let says = english(&refusal.expect("a refusal").says);
        assert!(says.contains(field), "{says}");
    }
}

/// This host's part of a phase of one workload.
fn prepared(name: &str) -> Box<dyn Phase> {
    let options = match name {
        together::NAME => {
            r#"{"parts":[{"workload":"rr","options":"{}","duration_ns":1,"flows":[0]}]}"#
        }
        _ => "{}",
    };
    let workload = sokudo_workloads::find(name).expect("a workload");
    let prepared = workload.prepare(spec(name, options), Arc::new(|_| {}));
    prepared.unwrap_or_else(|refusal| panic!("{name}: {}", english(&refusal.says)))
}

#[test]
fn offers_that_cannot_be_read_are_refused_with_their_host() {
    let between = ["bus", "crr", "datagram", "probe", "rr", "stream"];
    for name in between.into_iter().chain(["http", together::NAME]) {
        for text in ["", "{", r#""offer""#] {
            let offers = [None, Some(text.to_owned())];
            let refusal = prepared(name).arm(&offers).expect_err(name);
            let says = english(&refusal.says);
            assert!(
                says.starts_with("the offer of host1 cannot be read: "),
                "{name} {text}: {says}"
            );
            assert!(!refusal.operator_error && refusal.hint.is_some());
        }
    }
}

#[test]
fn a_field_of_an_offer_that_cannot_be_read_is_named() {
    let texts = [
        (
            "rr",
            r#"{"places":{"0":{"Port":"many"}},"tls_key":null}"#,
            "places.0",
        ),
        (
            "datagram",
            r#"{"ports":{"0":-1},"sends":{},"tls_key":null}"#,
            "ports.0",
        ),
        ("http", r#"{"port":70000}"#, "port"),
    ];
    for (name, text, field) in texts {
        let offers = [None, Some(text.to_owned())];
        let refusal = prepared(name).arm(&offers).expect_err(name);
        let says = english(&refusal.says);
        assert!(says.contains(&format!("cannot be read: {field}")), "{says}");
    }
}

#[test]
fn an_offer_without_a_place_is_refused_with_its_host() {
    let offers = [None, Some(r#"{"places":{},"tls_key":null}"#.to_owned())];
    let refusal = prepared("rr").arm(&offers).expect_err("no place");
    assert_eq!(english(&refusal.says), "host1 offered no place of flow 0");
}

#[test]
fn counts_of_what_was_sent_that_cannot_be_read_are_refused_with_their_host() {
    for name in ["datagram", "stream", together::NAME] {
        for text in ["", "{", r#"{"0":"many","flows":7}"#] {
            let sent = [None, Some(text.to_owned())];
            let refusal = prepared(name).drain(&sent).expect_err(name);
            let says = english(&refusal.says);
            assert!(
                says.starts_with("the send count of host1 cannot be read: "),
                "{name} {text}: {says}"
            );
        }
    }
}

#[test]
fn numbers_that_cannot_be_read_leave_flows_incomplete_with_the_reason() {
    for workload in loads() {
        let name = workload.descriptor().name;
        let spec = spec(name, readable(name));
        for text in ["{", "7", r#"{"sent":7}"#, r#"["x"]"#] {
            let told = [Ok(text.to_owned()), Ok(text.to_owned())];
            let result = workload.join(&spec, &told).expect("options");
            assert!(!result.flows.is_empty(), "{name}");
            for flow in &result.flows {
                assert!(!flow.complete, "{name} {text}");
                assert!(flow.metrics.is_empty(), "{name} {text}: {flow:?}");
                let error = &flow.labels["error"];
                assert!(
                    error.starts_with("the numbers of host0 cannot be read: "),
                    "{name} {text}: {error}"
                );
            }
        }
        let gone = [Err("it was switched off".to_owned())];
        let result = workload.join(&spec, &gone).expect("options");
        let error = &result.flows[0].labels["error"];
        assert_eq!(error, "host0 gave no numbers: it was switched off");
    }
}

#[test]
fn a_field_that_cannot_be_read_is_named() {
    let rr = sokudo_workloads::find("rr").expect("a workload");
    let text = r#"{"asked":[],"answered":[{"flow":0,"answered":"many"}]}"#;
    let told = [Ok(r#"{"asked":[],"answered":[]}"#.into()), Ok(text.into())];
    let result = rr.join(&spec("rr", "{}"), &told).expect("options");
    let error = &result.flows[0].labels["error"];
    assert!(
        error.contains("host1") && error.contains("answered[0].answered"),
        "{error}"
    );
}
