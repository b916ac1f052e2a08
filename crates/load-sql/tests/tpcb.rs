//! Whole phases of `tpcb` on a file and on real servers, driven through the workload's contract.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use sokudo_load_sql::db::{self, Tables};
use sokudo_load_sql::tpcb::{Tpcb, TpcbOptions};
use sokudo_model::kinds::sql;
use sokudo_model::{HostSpec, PhasePlan, PhaseResult, PhaseSpec, Refusal, RunId};
use sokudo_net::clock::now_ns;
use sokudo_sql::{Session, Target};
use sokudo_testkit::databases;
use sokudo_workload::{Emitted, Options as _, Phase, Workload as _};

/// Nothing that a test waits for takes longer.
const BOUND: Duration = Duration::from_secs(60);

/// One host's part of a phase.
struct Playing {
    spec: PhaseSpec,
    phase: Box<dyn Phase>,
    emitted: Receiver<Emitted>,
}

/// A phase of one host with these JSON fields over the defaults, its sessions made.
fn armed(fields: &str) -> Result<Playing, Refusal> {
    let text = format!(r#"{{"interval":"50ms",{fields}}}"#);
    let options: TpcbOptions = serde_json::from_str(&text).expect("options of a test");
    let flows = options.flows(1);
    let spec = PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "transfers".into(),
            workload: "tpcb".into(),
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
    let mut phase = Tpcb.prepare(spec.clone(), emit)?;
    phase.arm(&[None])?;
    Ok(Playing {
        spec,
        phase,
        emitted,
    })
}

/// Intervals with transactions after which a load is ended that goes on after something happened to its
/// server, and intervals in all after which it has not recovered.
const WORKING: usize = 3;
const SAMPLES: usize = 1_000;

/// Whether transactions were carried out in an interval.
fn is_working(said: &Emitted) -> bool {
    let Emitted::Batch(batch) = said else {
        return false;
    };
    let mut rates = (batch.series.iter())
        .filter(|series| series.key.metric == sql::TRANSACTIONS_PER_SECOND.name)
        .flat_map(|series| &series.points);
    rates.any(|(_, rate)| *rate > 0.0)
}

/// Plays a phase; `meanwhile` runs once the first sample has come, and the load ends some time after it.
fn play(fields: &str, meanwhile: impl FnOnce()) -> PhaseResult {
    let Playing {
        spec,
        mut phase,
        emitted,
    } = armed(fields).expect("the database can be used");
    let at_ns = now_ns() + 20_000_000;
    phase.start(at_ns, at_ns).expect("it starts");
    let (mut meanwhile, mut samples, mut working) = (Some(meanwhile), 0, 0);
    loop {
        let said = emitted.recv_timeout(BOUND).expect("the load ends");
        if let Emitted::Sent(_) = said {
            break;
        }
        samples += 1;
        working += usize::from(is_working(&said));
        if let Some(meanwhile) = meanwhile.take() {
            meanwhile();
            // Samples that came meanwhile are from before.
            let before = emitted.try_iter();
            if before
                .into_iter()
                .any(|said| matches!(said, Emitted::Sent(_)))
            {
                break;
            }
            (samples, working) = (0, 0);
        }
        if (working == WORKING || samples == SAMPLES) && spec.phase.duration_ns > 0 {
            phase.halt();
        }
    }
    let numbers = phase.drain(&[None]).expect("it has numbers");
    Tpcb.join(&spec, &[Ok(numbers)]).expect("options")
}

/// A number of the result; counts that are zero may be left out.
fn get(result: &PhaseResult, name: &str) -> f64 {
    result.summary.get(name).copied().unwrap_or(0.0)
}

#[track_caller]
fn all_kept(result: &PhaseResult) {
    let told = format!("{:?} {:?}", result.summary, result.flows);
    assert_eq!(get(result, "sql.kept_conditions"), 3.0, "{told}");
    assert_eq!(get(result, "sql.broken_conditions"), 0.0, "{told}");
    assert_eq!(get(result, "sql.lost_acknowledged"), 0.0, "{told}");
    assert_eq!(get(result, "sql.duplicated_marks"), 0.0, "{told}");
    assert!(get(result, "sql.acknowledged") > 0.0, "{told}");
}

/// Every variant and both loops give the numbers that were asked for.
fn behaves(dsn: &str) {
    let target = format!(r#""target":"{dsn}","clients":4"#);
    for more in [
        r#""count":"100""#,
        r#""count":"100","variant":"no-branch""#,
        r#""count":"100","threads":2"#,
        r#""count":"50","rate":"200/s""#,
    ] {
        let result = play(&format!("{target},{more}"), || ());
        let count = if more.contains("rate") { 50.0 } else { 100.0 };
        assert_eq!(get(&result, "sql.transactions"), count, "{more} {result:?}");
        assert_eq!(get(&result, "sql.acknowledged"), count, "{more}");
        assert!(get(&result, "sql.client_cpu_seconds_per_transaction") > 0.0);
        all_kept(&result);
    }
    let select = play(
        &format!(r#"{target},"count":"100","variant":"select""#),
        || (),
    );
    assert_eq!(get(&select, "sql.transactions"), 100.0);
    assert!(!select.summary.contains_key("sql.acknowledged"));
}

fn file(place: &tempfile::TempDir) -> String {
    format!("sqlite:{}", place.path().join("a.db").display())
}

#[test]
fn a_file_of_its_own_is_made_loaded_and_checked() {
    let result = play(r#""count":"50","clients":2"#, || ());
    assert_eq!(get(&result, "sql.transactions"), 50.0);
    assert_eq!(get(&result, "tpcb.scale"), 1.0);
    all_kept(&result);
}

/// A database that forgets a commit and repeats another one is caught, whatever it acknowledged.
#[test]
fn lost_and_repeated_commits_are_found() {
    let place = tempfile::tempdir().expect("a directory");
    let dsn = file(&place);
    let target: Target = dsn.parse().expect("a target");
    db::init(&target, Tables::Tpcb, 1).expect("tables");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut session = Session::connect(&target, BOUND).await.expect("a session");
        let triggers = "create trigger forgets after insert on tpcb_history when new.sequence = 5 \
             begin delete from tpcb_history where rowid = new.rowid; end; \
             create trigger repeats after insert on tpcb_history when new.sequence = 7 \
             begin insert into tpcb_history select * from tpcb_history where rowid = new.rowid; end";
        session.batch(triggers).await.expect("triggers");
    });
    let result = play(&format!(r#""target":"{dsn}","count":"20""#), || ());
    assert_eq!(get(&result, "sql.lost_acknowledged"), 1.0, "{result:?}");
    assert_eq!(get(&result, "sql.duplicated_marks"), 1.0, "{result:?}");
    assert_eq!(get(&result, "sql.broken_conditions"), 3.0, "{result:?}");
    assert_eq!(
        db::check(&target, Tables::Tpcb)
            .expect("tables")
            .broken
            .len(),
        3
    );
}

#[test]
fn absent_tables_and_absent_servers_are_refused_without_secrets() {
    let place = tempfile::tempdir().expect("a directory");
    let refused = |dsn: &str| {
        let refusal = armed(&format!(r#""target":"{dsn}""#))
            .err()
            .expect("a refusal");
        assert!(refusal.operator_error && refusal.hint.is_some());
        let told = format!("{refusal:?}");
        assert!(!told.contains("geheim"), "{told}");
        told
    };
    assert!(refused(&file(&place)).contains("error-sql-no-tables"));
    let nobody = refused("postgres://bench:geheim@127.0.0.1:1/bench");
    assert!(
        nobody.contains("error-sql-refused-connection-hint"),
        "{nobody}"
    );
}

#[test]
fn postgres_keeps_what_it_acknowledged_when_it_is_killed() {
    let Some(mut server) = databases::postgres(&[]) else {
        return;
    };
    let dsn = server.dsn();
    db::init(&dsn.parse().expect("a target"), Tables::Tpcb, 2).expect("tables");
    behaves(&dsn);
    let fields = format!(r#""target":"{dsn}","clients":4,"duration":"55s""#);
    let result = play(&fields, || {
        server.kill();
        server.start_again();
    });
    assert!(get(&result, "sql.lost_sessions") > 0.0, "{result:?}");
    assert!(get(&result, "sql.made_connections") > 0.0, "{result:?}");
    all_kept(&result);
}

#[test]
fn mariadb_behaves() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    db::init(&dsn.parse().expect("a target"), Tables::Tpcb, 1).expect("tables");
    behaves(&dsn);
}
