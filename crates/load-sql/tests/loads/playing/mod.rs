//! Plays whole phases through the workload's contract.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sokudo_model::kinds::sql;
use sokudo_model::{Batch, HostSpec, PhasePlan, PhaseResult, PhaseSpec, Refusal, RunId, Series};
use sokudo_net::clock::now_ns;
use sokudo_sql::{Session, Target};
use sokudo_workload::load::Load;
use sokudo_workload::{Emitted, Options, Phase, Workload};

/// Nothing that a test waits for takes longer.
pub const BOUND: Duration = Duration::from_secs(60);

/// One host's part of a phase.
pub struct Playing {
    spec: PhaseSpec,
    phase: Box<dyn Phase>,
    emitted: Receiver<Emitted>,
}

/// A phase of one host with these JSON fields over the defaults, its sessions made.
pub fn armed<L: Load<Options: Options>>(load: &L, fields: &str) -> Result<Playing, Refusal> {
    let text = format!(r#"{{"interval":"50ms",{fields}}}"#);
    let options: L::Options = serde_json::from_str(&text).expect("options of a test");
    let flows = options.flows(1);
    let spec = PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "load".into(),
            workload: L::KIND.name.into(),
            options: options.to_json(),
            flows: flows.clone(),
            duration_ns: options.duration_ns(),
            bound_ns: BOUND.as_nanos() as u64 / 2,
            labels: BTreeMap::new(),
        },
        hosts: vec![HostSpec {
            name: "hosta".into(),
            address: "127.0.0.1".into(),
        }],
        me: 0,
        seed: 7,
        tickets: vec![0; flows.len()],
    };
    let (emit, emitted) = mpsc::channel();
    let emit = Arc::new(move |said| {
        // The receiver goes when a test has seen enough.
        let _ = emit.send(said);
    });
    let mut phase = Workload::prepare(load, spec.clone(), emit)?;
    phase.arm(&[None])?;
    Ok(Playing {
        spec,
        phase,
        emitted,
    })
}

/// Intervals with transactions after which a load is ended that goes on after something happened to its
/// server, and intervals in all after which it has not recovered.
pub const WORKING: usize = 3;
const SAMPLES: usize = 1_000;

/// Whether a rate is not zero in an interval.
fn has(said: &Emitted, metric: &str) -> bool {
    let Emitted::Batch(batch) = said else {
        return false;
    };
    let mut rates = (batch.series.iter())
        .filter(|series| series.key.metric == metric)
        .flat_map(|series| &series.points);
    rates.any(|(_, rate)| *rate > 0.0)
}

/// Plays a phase; `meanwhile` runs once the first sample has come, and the load ends some time after it.
pub fn play<L: Load<Options: Options>>(
    load: &L,
    fields: &str,
    meanwhile: impl FnOnce(),
) -> PhaseResult {
    play_and_keep(load, fields, meanwhile).0
}

/// The same with all series that the phase told.
pub fn play_and_keep<L: Load<Options: Options>>(
    load: &L,
    fields: &str,
    meanwhile: impl FnOnce(),
) -> (PhaseResult, Vec<Series>) {
    play_until(load, fields, sql::TRANSACTIONS_PER_SECOND.name, meanwhile)
}

/// The same, for a load that is ended once this rate was not zero in [`WORKING`] intervals.
pub fn play_until<L: Load<Options: Options>>(
    load: &L,
    fields: &str,
    metric: &str,
    meanwhile: impl FnOnce(),
) -> (PhaseResult, Vec<Series>) {
    let Playing {
        spec,
        mut phase,
        emitted,
    } = armed(load, fields).expect("the database can be used");
    let at_ns = now_ns() + 20_000_000;
    phase.start(at_ns, at_ns).expect("it starts");
    let (mut meanwhile, mut samples, mut working) = (Some(meanwhile), 0, 0);
    let mut told = Batch::default();
    loop {
        let said = emitted.recv_timeout(BOUND).expect("the load ends");
        if let Emitted::Sent(_) = said {
            break;
        }
        keep(&said, &mut told);
        samples += 1;
        working += usize::from(has(&said, metric));
        if let Some(meanwhile) = meanwhile.take() {
            meanwhile();
            // Samples that came meanwhile are from before.
            let before: Vec<Emitted> = emitted.try_iter().collect();
            before.iter().for_each(|said| keep(said, &mut told));
            if before.iter().any(|said| matches!(said, Emitted::Sent(_))) {
                break;
            }
            (samples, working) = (0, 0);
        }
        if (working == WORKING || samples == SAMPLES) && spec.phase.duration_ns > 0 {
            phase.halt();
        }
    }
    let numbers = phase.drain(&[None]).expect("it has numbers");
    for said in emitted.try_iter() {
        keep(&said, &mut told);
    }
    let joined = Workload::join(load, &spec, &[Ok(numbers)]).expect("options");
    (joined, told.series)
}

/// Puts the points of what was said to those of before.
fn keep(said: &Emitted, told: &mut Batch) {
    let Emitted::Batch(batch) = said else { return };
    for series in &batch.series {
        for (t_ns, value) in &series.points {
            told.push(&series.key, *t_ns, *value);
        }
    }
}

/// A number of the result; counts that are zero may be left out.
pub fn get(result: &PhaseResult, name: &str) -> f64 {
    result.summary.get(name).copied().unwrap_or(0.0)
}

/// The tables are as they must be, and every acknowledged commit is there once.
#[track_caller]
pub fn all_kept(result: &PhaseResult, conditions: u32) {
    let told = format!("{:?} {:?}", result.summary, result.flows);
    let kept = get(result, "sql.kept_conditions");
    assert_eq!(kept, f64::from(conditions), "{told}");
    assert_eq!(get(result, "sql.broken_conditions"), 0.0, "{told}");
    assert_eq!(get(result, "sql.lost_acknowledged"), 0.0, "{told}");
    assert_eq!(get(result, "sql.duplicated_marks"), 0.0, "{told}");
    assert!(get(result, "sql.acknowledged") > 0.0, "{told}");
}

/// Data source name of a file in this directory.
pub fn file(place: &tempfile::TempDir) -> String {
    format!("sqlite:{}", place.path().join("a.db").display())
}

/// Runs something on a session of its own.
pub fn with_session<T>(target: &Target, what: impl AsyncFnOnce(&mut Session) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut session = Session::connect(target, BOUND).await.expect("a session");
        what(&mut session).await
    })
}
