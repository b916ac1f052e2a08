use sokudo_i18n::english;
use sokudo_model::{FlowPlan, HostSpec, Labels, PhasePlan, RunId};
use sokudo_workload::limit::Purse;
use sokudo_workloads::together::{TogetherOptions, TogetherPart};

use super::*;

mod hostile;

/// A phase in which host 0 loads `to` with each of these workloads at once.
fn together(parts: &[&str], to: u32) -> PhaseSpec {
    let host = |name: &str, address: &str| HostSpec {
        name: name.into(),
        address: address.into(),
    };
    let part = |(flow, workload): (u32, &&str)| TogetherPart {
        workload: (*workload).into(),
        options: "{}".into(),
        duration_ns: 1,
        flows: vec![flow],
    };
    let flow = |id: u32| FlowPlan {
        id,
        from: 0,
        to,
        stream: 0,
    };
    let options = TogetherOptions {
        parts: (0..).zip(parts).map(part).collect(),
    };
    PhaseSpec {
        run: RunId("run".into()),
        phase: PhasePlan {
            name: "measure".into(),
            workload: sokudo_workloads::together::NAME.into(),
            options: options.to_json(),
            flows: (0..parts.len() as u32).map(flow).collect(),
            duration_ns: 1,
            bound_ns: 60_000_000_000,
            labels: Labels::new(),
        },
        hosts: vec![host("hosta", "0.0.0.0"), host("hostb", "192.0.2.7")],
        me: 0,
        seed: 0,
        tickets: vec![1; parts.len()],
    }
}

/// Several workloads under one name are judged one by one: what is refused alone is refused in company.
#[test]
fn a_policy_judges_every_part_of_a_phase() {
    let policy = |text| Policy::parse(text).expect("a policy");
    assert!(judge(&policy(""), &together(&["rr", "stream"], 1)).is_ok());
    for (text, parts, to, why) in [
        ("", &["rr", "http"][..], 0, "`strangers`"),
        ("", &["jmx"], 1, "`strangers`"),
        ("workloads = [\"rr\"]", &["rr", "stream"], 1, "`stream`"),
        (
            "max_rate = \"1Mb/s\"",
            &["rr", "stream"],
            1,
            "as much as it can",
        ),
        (
            "destinations = [\"198.51.100.0/24\"]",
            &["rr"],
            1,
            "`192.0.2.7`",
        ),
        ("", &["together"], 1, "no workload"),
        ("", &["imaginary"], 1, "no workload"),
    ] {
        let refusal = judge(&policy(text), &together(parts, to)).expect_err(why);
        assert!(
            refusal.operator_error && english(&refusal.says).contains(why),
            "{}",
            english(&refusal.says)
        );
    }
}

fn guard(policy: &str, folder: &std::path::Path) -> Arc<Guard> {
    let policy = Policy::parse(policy).expect("a policy");
    let audit = Audit::open(&folder.join("audit.jsonl")).expect("a log");
    Arc::new(Guard::new(policy, audit, None))
}

/// The load of other sessions counts, and counts no more when it is over.
#[test]
fn bounds_hold_for_all_sessions_together() {
    let folder = tempfile::tempdir().expect("a folder");
    for (text, one) in [
        (
            "max_flows = 3",
            Demand {
                connections: Some(2),
                ..Demand::NOTHING
            },
        ),
        (
            "max_rate = \"30/s\"",
            Demand {
                events_per_s: Some(20.0),
                ..Demand::NOTHING
            },
        ),
        (
            "max_rate = \"24kb/s\"",
            Demand {
                sent_bytes_per_s: Some(2000.0),
                ..Demand::NOTHING
            },
        ),
        (
            "max_rate = \"24kb/s\"",
            Demand {
                received_bytes_per_s: Some(2000.0),
                ..Demand::NOTHING
            },
        ),
    ] {
        let guard = guard(text, folder.path());
        let Ok(first) = Share::take(&guard, one, 1) else {
            panic!("there is room");
        };
        assert!(Share::take(&guard, one, 1).is_err(), "{text}");
        drop(first);
        assert!(Share::take(&guard, one, 1).is_ok(), "{text}");
    }
}

/// Load that was steered counts as what it is now.
#[test]
fn changed_load_counts_for_other_sessions() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = guard("max_rate = \"30/s\"", folder.path());
    let of = |per_s| Demand {
        events_per_s: Some(per_s),
        ..Demand::NOTHING
    };
    let Ok(first) = Share::take(&guard, of(1.0), 1) else {
        panic!("there is room");
    };
    let to = |rate| Change {
        rate_per_s: Some(rate),
        ..Change::default()
    };
    assert!(first.change(&to(31.0)).is_err());
    let before = first.change(&to(25.0)).expect("there is room");
    assert!(Share::take(&guard, of(10.0), 1).is_err(), "25/s go on");
    first.set(before);
    assert!(Share::take(&guard, of(10.0), 1).is_ok(), "1/s goes on");
}

/// Sessions behind each other take no more than one may.
#[test]
fn what_a_phase_took_ahead_is_owed_by_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = guard("max_rate = \"10/s\"", folder.path());
    let of = |per_s| Demand {
        events_per_s: Some(per_s),
        ..Demand::NOTHING
    };
    for (flows, fits_soon) in [(1, true), (64, false)] {
        let Ok(first) = Share::take(&guard, of(10.0), flows) else {
            panic!("nothing is owed");
        };
        let ahead = 10 + 2 * u64::from(flows);
        let paid = Purse::new(first.limit()).events(ahead);
        assert_eq!(paid, Ok(()), "that much is granted at once");
        drop(first);
        assert!(guard.loads.owes());
        assert_eq!(Share::take(&guard, of(10.0), flows).is_ok(), fits_soon);
    }
}
