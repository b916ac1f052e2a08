//! Monitors of database servers on real ones.

use std::sync::mpsc;
use std::time::Duration;

use sokudo_model::Batch;
use sokudo_monitors::{Context, Files, Sampler, find, parse};
use sokudo_sql::{Session, Target};
use sokudo_testkit::databases::{self, DatabaseServer};

const SECOND: i64 = 1_000_000_000;
const BOUND: Duration = Duration::from_secs(20);

/// A monitor of a server, whose clock is handed in.
struct Observed {
    sampler: Box<dyn Sampler>,
    batch: Batch,
    t_ns: i64,
}

impl Observed {
    fn of(monitor: &str, server: &DatabaseServer) -> Self {
        let words = format!("{monitor}:dsn={}", server.dsn());
        let spec = parse(&words, Files::Refused).expect("options");
        let monitor = find(monitor).expect("it is known");
        let opened = monitor.open_with(&spec.options, &Context::host("hosta"));
        let mut observed = Self {
            sampler: opened.expect("it opens"),
            batch: Batch::default(),
            t_ns: 0,
        };
        observed.a_second_passes();
        observed
    }

    fn a_second_passes(&mut self) {
        self.sampler.sample(self.t_ns, &mut self.batch);
        self.t_ns += SECOND;
    }

    /// The last value of a metric whose labels have this value.
    fn last(&self, metric: &str, label: &str) -> Option<f64> {
        let mut series = self.batch.series.iter().filter(|s| s.key.metric == metric);
        let series = series
            .find(|s| label.is_empty() || s.key.labels.values().any(|value| value == label))?;
        series.points.last().map(|point| point.1)
    }

    /// Samples until a value is right. Panics when that does not happen.
    #[track_caller]
    fn until(&mut self, metric: &str, label: &str, is_right: impl Fn(f64) -> bool) {
        let begun = std::time::Instant::now();
        while begun.elapsed() < BOUND {
            self.a_second_passes();
            if self.last(metric, label).is_some_and(&is_right) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let events = &self.batch.events;
        let last = self.last(metric, label);
        panic!(
            "{metric} {label} is {last:?}; {events:?}; {:?}",
            self.batch.series
        );
    }
}

/// Ten commits, and then a session that waits for a row that another one has changed, while `look` is called.
fn contended(dsn: &str, look: impl FnOnce()) {
    let target: Target = dsn.parse().expect("a database");
    let (ready, is_ready) = mpsc::channel();
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime
                .expect("a runtime")
                .block_on(contend(&target, &ready, &is_done));
        });
        is_ready.recv_timeout(BOUND).expect("a row is waited for");
        look();
        drop(done);
    });
}

async fn contend(target: &Target, ready: &mpsc::Sender<()>, is_done: &mpsc::Receiver<()>) {
    const UPDATE: &str = "update hot set n = n + 1";
    let connect = || Session::connect(target, BOUND);
    let (mut holder, mut waiter) = (connect().await.unwrap(), connect().await.unwrap());
    let table = "create table hot (id int primary key, n int); insert into hot values (1, 0)";
    for statement in table.split("; ") {
        holder.batch(statement).await.unwrap();
    }
    for _ in 0..10 {
        holder.batch("begin").await.unwrap();
        holder.batch(UPDATE).await.unwrap();
        holder.batch("commit").await.unwrap();
    }
    holder.batch("begin").await.unwrap();
    holder.batch(UPDATE).await.unwrap();
    let mut waiting = Box::pin(waiter.batch(UPDATE));
    // Once this bound is over the statement is at the server, where it waits.
    let sent = tokio::time::timeout(Duration::from_millis(300), &mut waiting).await;
    assert!(sent.is_err(), "the row is not locked: {sent:?}");
    ready.send(()).unwrap();
    let _ = is_done.recv_timeout(BOUND);
    holder.batch("rollback").await.unwrap();
    waiting.await.unwrap();
}

#[test]
fn postgres_tells_commits_and_who_waits_for_what() {
    let Some(mut server) = databases::postgres(&["fsync=off"]) else {
        return;
    };
    let mut observed = Observed::of("postgres", &server);
    contended(&server.dsn(), || {
        observed.until("postgres.sessions", "Lock", |sessions| sessions == 1.0);
        assert_eq!(
            observed.last("postgres.wait_sessions", "Lock/transactionid"),
            Some(1.0)
        );
        assert_eq!(
            observed.last("postgres.row_queue.sessions", "hot"),
            Some(1.0)
        );
        assert_eq!(
            observed.last("postgres.row_queue.holders", "hot"),
            Some(1.0)
        );
        assert_eq!(observed.last("postgres.locks_waiting", ""), Some(1.0));
        assert_eq!(observed.last("postgres.client_read_ratio", ""), Some(0.5));
    });
    // The server collects what a session has counted when it ends, at the latest.
    observed.until("postgres.blocks_hit_per_second", "", |rate| rate > 0.0);
    for told in [
        "hit_ratio",
        "wal_bytes_per_second",
        "checkpoints",
        "deadlocks",
    ] {
        let name = format!("postgres.{told}");
        observed.until(&name, "", |_| true);
    }
    assert_eq!(observed.last("postgres.checkpointing_ratio", ""), Some(0.0));
    server.kill();
    observed.until("postgres.up", "", |up| up == 0.0);
    server.start_again();
    observed.until("postgres.up", "", |up| up == 1.0);
    let kinds: Vec<&str> = observed
        .batch
        .events
        .iter()
        .map(|e| e.kind.as_str())
        .collect();
    assert_eq!(kinds.first(), Some(&"monitor-scrape-failed"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"scrape-answers"), "{kinds:?}");
}

#[test]
fn mariadb_tells_commits_and_who_waits_for_what() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let mut observed = Observed::of("mariadb", &server);
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let dsn = server.dsn();
        let until_done = move || {
            let _ = is_done.recv_timeout(BOUND);
        };
        scope.spawn(move || contended(&dsn, until_done));
        // From before the row is locked: the server may keep what a look has seen as long as looks follow soon.
        observed.until("mariadb.sessions", "Lock", |sessions| sessions == 1.0);
        assert_eq!(observed.last("mariadb.client_wait_ratio", ""), Some(0.5));
        assert_eq!(observed.last("mariadb.row_locks_waiting", ""), Some(1.0));
        observed.until(
            "mariadb.statement_sessions",
            "update hot set n = n + ?",
            |it| it == 1.0,
        );
        observed.until("mariadb.row_queue.sessions", "hot", |sessions| {
            sessions == 1.0
        });
        assert_eq!(observed.last("mariadb.row_queue.holders", "hot"), Some(1.0));
        drop(done);
    });
    for told in ["statements_per_second", "hit_ratio", "log_bytes_per_second"] {
        let name = format!("mariadb.{told}");
        observed.until(&name, "", |value| value >= 0.0);
    }
    assert!(observed.last("mariadb.deadlocks", "") == Some(0.0));
}
